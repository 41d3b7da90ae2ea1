"""Pure rules: no I/O, no asyncio, no SQL, no Slack, no model."""

"""Is the event loop alive? A blocked loop acks nothing and starts nothing, so a beat that comes late is said aloud (C050)."""

import asyncio

import structlog

log = structlog.get_logger()

BEAT_S = 0.1
ALARM_S = 0.5


async def watch() -> None:
    """Log `loop_lag` whenever a beat came more than half a second late. Runs until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + BEAT_S
        await asyncio.sleep(BEAT_S)
        late = loop.time() - due
        if late > ALARM_S:
            log.error("loop_lag", seconds=round(late, 2))

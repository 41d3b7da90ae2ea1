"""Everything Slack: listeners, the presenter, and the pure views."""

"""Time that a test moves: the only double beside the model."""

from datetime import UTC, datetime, timedelta


class Clock:
    """Runs with the real clock, plus whatever a test has advanced it by."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def advance(self, **parts: float) -> None:
        """Move time forward: `advance(minutes=31)`."""
        self.ahead += timedelta(**parts)

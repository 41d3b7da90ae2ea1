"""Time that a test moves: the only double beside the model."""

from datetime import UTC, datetime, timedelta


class Clock:
    """Runs with the real clock, plus whatever a test has advanced it by, unless it was told to stand."""

    def __init__(self) -> None:
        self.ahead = timedelta()
        self.stands: datetime | None = None

    def __call__(self) -> datetime:
        return (self.stands or datetime.now(UTC)) + self.ahead

    def stand(self) -> None:
        """It is the coming noon, far from every change of day, and no time passes but what a test advances it by."""
        now = datetime.now(UTC)
        noon = now.replace(hour=12, minute=0, second=0, microsecond=0)
        self.stands = noon if noon > now else noon + timedelta(days=1)

    def advance(self, **parts: float) -> None:
        """Move time forward: `advance(minutes=31)`."""
        self.ahead += timedelta(**parts)

"""The workspace's own clock.

Trigger ids, response URLs and redeliveries live by this clock, and `POST /clock` can push it forward, so that an hour passes in a
millisecond. Message timestamps do not follow it: they are real time, because the bot compares them with its own clock.
"""

import time
from collections.abc import Callable


class Clock:
    """Real time plus an offset that only grows."""

    def __init__(self, *, read: Callable[[], float] = time.time, offset: float = 0.0) -> None:
        self._read = read
        self._listeners: list[Callable[[], None]] = []
        self.offset = offset

    def real(self) -> float:
        """Seconds since 1970, as the machine has it."""
        return self._read()

    def now(self) -> float:
        """Seconds since 1970, as the workspace has it."""
        return self._read() + self.offset

    def advance(self, seconds: float) -> None:
        """Let time pass at once; whoever waits for a moment looks again."""
        self.offset += seconds
        for listener in self._listeners:
            listener()

    def on_advance(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each jump."""
        self._listeners.append(listener)

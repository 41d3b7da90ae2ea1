"""How fast is polite: a budget of calls that fills up by the second, and can be closed for a while when Slack says "later"."""

from collections.abc import Callable


class Budget:
    """A token bucket: `burst` calls at once, then `per_minute`. `clock` gives seconds that only grow."""

    def __init__(self, *, per_minute: float, burst: int, clock: Callable[[], float]) -> None:
        self._rate = per_minute / 60
        self._burst = burst
        self._clock = clock
        self._left = float(burst)
        self._at = clock()
        self._closed_until = 0.0

    def take(self) -> bool:
        """Use up one call; False if there is none now."""
        self._fill()
        if self._clock() < self._closed_until or self._left < 1:
            return False
        self._left -= 1
        return True

    def give_back(self) -> None:
        """The call was not needed."""
        self._left = min(self._burst, self._left + 1)

    def close_for(self, seconds: float) -> None:
        """No call before that many seconds have passed; and no burst right after, since Slack has just had enough."""
        self._closed_until = max(self._closed_until, self._clock() + seconds)
        self._left = min(self._left, 1)

    @property
    def wait_s(self) -> float:
        """Seconds until the next call may be made; 0 if it may be made now."""
        self._fill()
        missing = max(0.0, 1 - self._left) / self._rate
        return max(missing, self._closed_until - self._clock(), 0.0)

    @property
    def left(self) -> int:
        """How many calls may be made now."""
        self._fill()
        return 0 if self._clock() < self._closed_until else int(self._left)

    def _fill(self) -> None:
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now

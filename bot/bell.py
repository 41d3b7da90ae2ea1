"""The bell: `ring(run_id)` after a commit, and everyone who listens looks at the row again.

The row is the truth and the ring only says where to look: a lost one costs seconds (supervisor and presenter sweep), never correctness.
"""

import asyncio
from collections.abc import Callable


class Bell:
    """An in-process signal. `ring` must be called on the event loop's thread."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[str], None]] = []
        self._of: dict[str, list[Callable[[str], None]]] = {}

    def listen(self, hear: Callable[[str], None], *, run_id: str | None = None) -> Callable[[], None]:
        """Call `hear(run_id)` at each ring (or at those of one run); it must not block. Returns the way to stop listening."""
        those = self._listeners if run_id is None else self._of.setdefault(run_id, [])
        those.append(hear)

        def stop() -> None:
            those.remove(hear)
            if run_id is not None and not those and self._of.get(run_id) is those:
                del self._of[run_id]

        return stop

    def ring(self, run_id: str) -> None:
        """Tell everyone that this run changed."""
        for hear in (*self._of.get(run_id, ()), *self._listeners):
            hear(run_id)


class Ear:
    """A set of run ids heard since the last look, with a way to wait for the next one. Bursts merge."""

    def __init__(self, bell: Bell) -> None:
        self._heard: set[str] = set()
        self._event = asyncio.Event()
        self.close = bell.listen(self._hear)

    def _hear(self, run_id: str) -> None:
        self._heard.add(run_id)
        self._event.set()

    async def next(self, *, within_s: float) -> set[str]:
        """The ids heard; waits until there is one, or returns an empty set after `within_s` seconds (time to sweep)."""
        try:
            async with asyncio.timeout(within_s):
                await self._event.wait()
        except TimeoutError:
            return set()
        self._event.clear()
        heard, self._heard = self._heard, set()
        return heard

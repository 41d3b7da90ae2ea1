"""Whose turn it is to call a tool that takes only so many calls at one time.

First come, first served within a run, and the runs take turns: one with two hundred calls in line does not keep another with a single call
waiting behind them all. Who stops waiting leaves the line, and a place that was given at that very instant goes to the next.
"""

import asyncio
from collections import OrderedDict, deque


class Turns:
    """The places of one tool, on the event loop that first waits for one."""

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once
        self._free = at_once
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()  # by run, the one to be served next first

    @property
    def free(self) -> bool:
        """Would `take` return at once?"""
        return self._free > 0

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return sum(map(len, self._waiting.values()))

    async def take(self, run_id: str) -> None:
        """Wait for a place and hold it until `give_back`. If the caller is cancelled it holds none."""
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(run_id, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(run_id, turn)
            else:
                self.give_back()
            raise

    def give_back(self) -> None:
        """Hand the place to whose turn it is, or keep it free."""
        while self._waiting:
            run_id, line = self._waiting.popitem(last=False)
            turn = line.popleft()
            if line:
                self._waiting[run_id] = line  # at the end: the other runs come first
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _leave(self, run_id: str, turn: asyncio.Future[None]) -> None:
        line = self._waiting.get(run_id)
        if line is not None and turn in line:
            line.remove(turn)
            if not line:
                del self._waiting[run_id]

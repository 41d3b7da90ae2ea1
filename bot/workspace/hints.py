"""Hints for the web page: something changed, look again.

A hint says what kind of thing changed and where, never what it is now: the page fetches that, as the person that it shows. So a lost or
doubled hint does no harm, and nothing private travels in one that is for somebody else.
"""

import asyncio
from collections.abc import Iterable

from bot.workspace.records import Json


class Hints:
    """The open streams of the page, by person."""

    def __init__(self) -> None:
        self._listeners: list[tuple[str, asyncio.Queue[Json | None]]] = []

    def listen(self, user_id: str) -> asyncio.Queue[Json | None]:
        """A queue of this person's hints; None ends it."""
        queue: asyncio.Queue[Json | None] = asyncio.Queue()
        self._listeners.append((user_id, queue))
        return queue

    def leave(self, queue: asyncio.Queue[Json | None]) -> None:
        self._listeners = [listener for listener in self._listeners if listener[1] is not queue]

    def tell(self, kind: str, *, users: Iterable[str], **where: str) -> None:
        """Tell these people's pages that something of this kind changed there."""
        concerned = set(users)
        for user_id, queue in self._listeners:
            if user_id in concerned:
                queue.put_nowait({"kind": kind, **where})

    def close(self) -> None:
        """End all streams, so that stopping the server need not wait for them."""
        for _, queue in self._listeners:
            queue.put_nowait(None)

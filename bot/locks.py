"""Locks by key: a tool may name what it must have for itself (`deploy:{env}`), and two runs never hold the same key.

A run takes a key before the first step that names it and keeps it until it pauses or ends. Everything is in memory, since one process runs
all steps of a database: a lock cannot outlive its holder.
"""

from collections import defaultdict


class Locks:
    """Who holds which key, and who waits for it."""

    def __init__(self) -> None:
        self._holders: dict[str, str] = {}
        self._waiting: defaultdict[str, set[str]] = defaultdict(set)

    def take(self, key: str, run_id: str) -> bool:
        """True if the run holds the key now; False if another does, and the run is remembered as waiting."""
        holder = self._holders.setdefault(key, run_id)
        if holder != run_id:
            self._waiting[key].add(run_id)
        return holder == run_id

    def holder(self, key: str) -> str | None:
        """The run that holds the key."""
        return self._holders.get(key)

    def release(self, run_id: str) -> set[str]:
        """Let go of all keys of the run. Returns the runs that waited for one of them: they look again."""
        mine = [key for key, holder in self._holders.items() if holder == run_id]
        woken: set[str] = set()
        for key in mine:
            del self._holders[key]
            woken |= self._waiting.pop(key, set())
        return woken

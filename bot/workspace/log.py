"""What went over the wire, with times: every Web API call, every envelope and its ack.

`GET /log` hands it out, so that acks, pace and rate limits can be measured from outside. Only small arguments are kept (which channel,
which message), never texts or blocks, and only the newest entries.
"""

from collections import deque

from bot.workspace.records import Json

KEPT = 20_000
SMALL = ("channel", "ts", "thread_ts", "user", "user_id", "view_id", "trigger_id", "name", "timestamp", "message_ts", "channel_id", "hash")


class WireLog:
    """The newest entries, oldest first. An entry is a plain dictionary; the one of an envelope is completed when its ack comes."""

    def __init__(self) -> None:
        self._entries: deque[Json] = deque(maxlen=KEPT)

    def add(self, kind: str, *, at: float, **facts: object) -> Json:
        """Append an entry and return it; `at` is real time in seconds."""
        entry: Json = {"at": at, "kind": kind, **facts}
        self._entries.append(entry)
        return entry

    def entries(self, *, since: float = 0.0) -> list[Json]:
        return [entry for entry in self._entries if entry["at"] >= since]


def small(args: Json) -> Json:
    """The arguments that say what a call was about."""
    return {name: args[name] for name in SMALL if isinstance(args.get(name), str | int | float)}

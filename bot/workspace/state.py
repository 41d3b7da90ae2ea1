"""The workspace as data: who is there, what was said, what is still to be told.

Tables of records by key, each change journaled before it is answered (`journal`). Messages are never changed in place: an edit puts a
new object, so whoever holds the old one still has `previous_message`. Two indexes (a channel's top level, a thread's replies) keep reading
cheap; dictionaries keep insertion order, and timestamps only grow, so both are in order of time.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from bot.workspace.journal import Entry, Journal
from bot.workspace.records import BOT_USER_ID, Channel, Group, Json, Person

MODELS: dict[str, type[Person] | type[Group] | type[Channel]] = {"people": Person, "groups": Group, "channels": Channel}
TABLES = ("meta", *MODELS, "messages", "ephemerals", "views", "homes", "events", "responses", "files", "threads")


class State:
    """All records of one workspace. `put` and `drop` are the only ways to change one."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
        self._top: dict[str, dict[str, None]] = {}
        self._threads: dict[tuple[str, str], dict[str, None]] = {}
        self._last_ts = 0
        for table, key, value in journal.read():
            self._apply(table, key, MODELS[table].model_validate(value) if table in MODELS and value is not None else value)
        journal.rewrite(self._entries())

    # changing

    def put(self, table: str, key: str, value: Any) -> None:
        """Store a record; when this returns, a killed server still has it."""
        self._apply(table, key, value)
        self._journal.append(table, key, _plain(value))
        if self._journal.is_overgrown:
            self._journal.rewrite(self._entries())

    def drop(self, table: str, key: str) -> None:
        """Remove a record; one that is not there is no fault."""
        if key in self._tables[table]:
            self._apply(table, key, None)
            self._journal.append(table, key, None)

    def put_message(self, channel_id: str, message: Json) -> None:
        self.put("messages", f"{channel_id} {message['ts']}", message)

    def drop_message(self, channel_id: str, ts: str) -> None:
        self.drop("messages", f"{channel_id} {ts}")

    def next_ts(self, real: float) -> str:
        """A timestamp that no message of this workspace has yet: `real` seconds, or just after the last one."""
        self._last_ts = max(int(real * 1_000_000), self._last_ts + 1)
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def close(self) -> None:
        self._journal.close()

    # reading

    def table(self, name: str) -> dict[str, Any]:
        """The records of one table, oldest first; not to be changed."""
        return self._tables[name]

    @property
    def people(self) -> dict[str, Person]:
        return self._tables["people"]

    @property
    def groups(self) -> dict[str, Group]:
        return self._tables["groups"]

    @property
    def channels(self) -> dict[str, Channel]:
        return self._tables["channels"]

    @property
    def bot(self) -> Person:
        return self.people[BOT_USER_ID]

    @property
    def is_fresh(self) -> bool:
        return "planted" not in self._tables["meta"]

    def message(self, channel_id: str, ts: str) -> Json | None:
        found: Json | None = self._tables["messages"].get(f"{channel_id} {ts}")
        return found

    def top_level(self, channel_id: str) -> list[Json]:
        """What stands in the channel itself, replies that were sent to the channel too included; oldest first."""
        return [self._tables["messages"][f"{channel_id} {ts}"] for ts in self._top.get(channel_id, ())]

    def last_ts(self, channel_id: str) -> str | None:
        """The newest timestamp at a channel's top level."""
        return next(reversed(self._top.get(channel_id, {})), None)

    def replies(self, channel_id: str, root_ts: str) -> list[Json]:
        """The replies of a thread without its root, oldest first."""
        return [self._tables["messages"][f"{channel_id} {ts}"] for ts in self._threads.get((channel_id, root_ts), ())]

    def has_replies(self, channel_id: str, root_ts: str) -> bool:
        return bool(self._threads.get((channel_id, root_ts)))

    # inside

    def _apply(self, table: str, key: str, value: Any) -> None:
        if table == "messages":
            self._index(key, value)
        if value is None:
            self._tables[table].pop(key, None)
        else:
            self._tables[table][key] = value

    def _index(self, key: str, message: Json | None) -> None:
        channel_id, ts = key.split(" ")
        seconds, _, micros = ts.partition(".")
        self._last_ts = max(self._last_ts, int(seconds) * 1_000_000 + int(micros))
        shown = message or self._tables["messages"].get(key, {})
        root = shown.get("thread_ts", ts)
        places = [self._threads.setdefault((channel_id, root), {})] if root != ts else []
        if root == ts or shown.get("subtype") == "thread_broadcast":
            places.append(self._top.setdefault(channel_id, {}))
        for place in places:
            if message is None:
                place.pop(ts, None)
            else:
                place[ts] = None

    def _entries(self) -> Iterator[Entry]:
        for table, records in self._tables.items():
            for key, value in records.items():
                yield table, key, _plain(value)


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json", exclude_defaults=True) if isinstance(value, BaseModel) else value

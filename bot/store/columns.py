"""Column types that keep promises which a database alone does not keep.

A time goes in aware and comes out aware, in UTC, whatever the database or the host's zone. A word from a closed list is checked by the
database too. JSON is written whole: nothing here tracks changes inside a value, so nothing can be changed in place and lost.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, CheckConstraint, DateTime, Dialect
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time, in UTC when read. A naive one is refused with `ValueError`: nobody knows which hour it means."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """To UTC before it is stored."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"the time {value.isoformat()} has no zone; give an aware one")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """SQLite keeps no zone: what it gives back is UTC because only UTC went in."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def json_column() -> JSON:
    """JSON in which Python's None is SQL's NULL."""
    return JSON(none_as_null=True)


def one_of(column: str, words: Iterable[Any], *, table: str) -> CheckConstraint:
    """The database's own check that a column holds one of these words (or NULL, where the column allows it)."""
    said = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({said})", name=f"{table}_{column}_known")

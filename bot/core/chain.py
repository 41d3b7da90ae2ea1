"""The chains of the record, as pure rules: how an entry is sealed, which entries are tied together, and what a chain must look like.

Each run has a chain of its own, so that runs never wait for each other; the chain of heads ties them together. A head seals the hash of one
run's entry and the head before it, so whoever keeps one head elsewhere can tell later whether anything that it covers has changed.
Nothing here knows a database: the same rules judge the tables, an exported file and what stands in the audit channel.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.core.states import FINAL, Event

NO_RUN = "-"  # the chain of what is about no run: freezes, reloads, heads, clicks on runs that there is no record of
HEADS = "heads"  # how `Broken` names the chain of heads

# Entries whose hash goes into the chain of heads at once, besides those that end a run. The others are tied in when a head is published.
DECISIONS = frozenset(
    {Event.OPENED, Event.RELEASED, Event.APPROVAL_GIVEN, Event.APPROVED, Event.CONFIRMED, Event.CONFIRM_REFUSED}
    | {Event.REVISED, Event.REDIRECTED, Event.FROZEN, Event.THAWED}
    | {Event.HAPPENED, Event.NOT_HAPPENED}
)


@dataclass(frozen=True)
class Broken:
    """Where a chain is broken first, and how. `run` is a run's id, "-", or "heads"; `seq` counts within that chain."""

    run: str
    seq: int
    says: str


@dataclass(frozen=True)
class Head:
    """One link of the chain of heads, as somebody keeps it elsewhere. `hash` may be only its first digits."""

    n: int
    hash: str


@dataclass(frozen=True)
class Seen:
    """One entry as somebody else has it. `hash` may be only its first digits."""

    run: str
    seq: int
    hash: str


def ties(run_id: str, event: str, data: Mapping[str, Any]) -> bool:
    """Does this entry go into the chain of heads at once? Decisions and ends do, and all that is about no run."""
    return run_id == NO_RUN or event in DECISIONS or data.get("to") in FINAL


def entry_hash(run: str, seq: int, at: datetime, actor: str, event: str, data: Mapping[str, Any], prev: str) -> str:
    """The hash of an entry: SHA-256, in hexadecimal, over everything that it says and the hash of the one before ("" for the first)."""
    return _sha256([run, seq, _iso(at), actor, str(event), data, prev])


def head_hash(n: int, run_id: str, seq: int, said: str, at: datetime, prev: str) -> str:
    """The hash of a head: over its number, the entry that it was made from and that entry's hash, its time, and the head before."""
    return _sha256([n, run_id, seq, said, _iso(at), prev])


def fault_of(entry: Mapping[str, Any], *, run: str, seq: int, prev: str | None) -> str | None:
    """What is wrong with an entry that should be number `seq` of this run, after the one with the hash `prev`; None: nothing.

    `prev` None: nobody knows what came before, as at the beginning of an excerpt.
    """
    if entry["seq"] != seq:
        return f"entry {seq} is missing"
    hashed = entry_hash(run, seq, entry["at"], entry["actor"], entry["event"], entry["data"], entry["prev"])
    if entry["hash"] != hashed:
        return f"entry {seq} was changed after it was written"
    if prev is not None and entry["prev"] != prev:
        return f"entry {seq} does not follow entry {seq - 1}: something was removed, swapped or slipped in"
    return None


def is_head(row: Mapping[str, Any], *, n: int, prev: str) -> bool:
    """Is this head number `n`, unchanged, and made after the head with the hash `prev`?"""
    hashed = head_hash(n, row["run_id"], row["seq"], row["head"], row["at"], prev)
    return bool(row["n"] == n and row["prev"] == prev and row["hash"] == hashed)


def agrees(known: str | None, remembered: str) -> bool:
    """Is the hash that stands here the one that somebody remembers, as far as they remember it?"""
    return known is not None and bool(remembered) and known.startswith(remembered)


def _sha256(said: list[Any]) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")

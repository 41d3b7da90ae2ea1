"""An exported record, judged by itself: each line an entry with what proves it, the last line the newest head.

An entry's hash covers everything that it says, so no line can be changed. In an export of everything each chain must begin at its first
entry and have no gap, and so must the chain of heads, which names every run that was ever opened: no run can be left out. An excerpt proves
what is in it and nothing about what is not.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.core.chain import HEADS, Broken, Head, agrees, fault_of, is_head, ties

END = "end"
ENTRY = frozenset({"run", "seq", "at", "actor", "event", "data", "prev", "hash"})
Json = dict[str, Any]


@dataclass(frozen=True)
class Found:
    """What came of it. `whole`: the file says that it is everything."""

    entries: int
    whole: bool
    broken: tuple[Broken, ...]


@dataclass
class _Walk:
    """How far each chain has been followed."""

    last: dict[str, tuple[int, str]] = field(default_factory=dict)
    heads: dict[int, tuple[str, str]] = field(default_factory=dict)  # number → hash and the one before
    entries: int = 0
    broken: dict[str, Broken] = field(default_factory=dict)
    jumps: dict[str, int] = field(default_factory=dict)  # where a chain has a gap
    untied: tuple[str, int] | None = None
    end: Json | None = None

    def find(self, run: str, seq: int, says: str) -> None:
        self.broken.setdefault(run, Broken(run, seq, says))


def last_line(head: Json | None, *, entries: int, filters: Mapping[str, Any]) -> Json:
    """What ends an export: the newest head, how many entries there are in the file, and what was asked for."""
    return {END: {"head": head, "entries": entries, "filters": {name: value for name, value in filters.items() if value}}}


def heads_in(lines: Iterable[str]) -> list[Head]:
    """Every head that a file holds as such: lines of `audit head --json`, and the last line of an export."""
    found = []
    for line in _parsed(lines):
        told = (line[END].get("head") if isinstance(line.get(END), dict) else line) if line else None
        if isinstance(told, dict) and isinstance(told.get("n"), int) and isinstance(told.get("hash"), str):
            found.append(Head(told["n"], told["hash"]))
    return found


def check(lines: Iterable[str], *, heads: Iterable[Head] = ()) -> Found:
    """Judge an export line by line; `heads` are kept elsewhere and must be in it, as far as it reaches."""
    walk = _Walk()
    for number, line in enumerate(_parsed(lines), start=1):
        if walk.end is not None:
            walk.find("file", number, f"line {number} stands after the end")
        elif line is None or not (END in line or set(line) >= ENTRY):
            walk.find("file", number, f"line {number} is not one of an export")
        elif END in line:
            walk.end = line[END]
        else:
            _entry(walk, line)
    whole = walk.end is not None and not walk.end.get("filters")
    _ending(walk, whole=whole)
    for head in heads:
        known = walk.heads.get(head.n)
        if (known and not agrees(known[0], head.hash)) or (known is None and whole):
            walk.find(HEADS, head.n, f"head {head.n} {'is not the one that was kept elsewhere' if known else 'is missing'}")
    return Found(walk.entries, whole, tuple(walk.broken.values()))


def _parsed(lines: Iterable[str]) -> Iterator[Json | None]:
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        yield found if isinstance(found, dict) else None


def _entry(walk: _Walk, line: Json) -> None:
    walk.entries += 1
    run, seq = str(line["run"]), line["seq"]
    known: tuple[int, str | None] = walk.last.get(run, (0, ""))
    try:
        if seq > known[0] + 1:
            walk.jumps.setdefault(run, known[0] + 1)
            known = (seq - 1, None)
        entry = {**line, "at": datetime.fromisoformat(line["at"])}
        fault = f"entry {seq} stands in the wrong place" if seq <= known[0] else None
        fault = fault or fault_of(entry, run=run, seq=known[0] + 1, prev=known[1])
        fault = fault or _head(walk, entry)
    except (TypeError, ValueError, KeyError):
        fault = f"entry {seq} cannot be read"
    if fault:
        walk.find(run, seq, fault)
    walk.last[run] = (seq, str(line["hash"]))


def _head(walk: _Walk, entry: Json) -> str | None:
    """Take in the link that ties the entry into the chain of heads, if it carries one."""
    link = entry.get("head")
    if link is None:
        if walk.untied is None and ties(entry["run"], entry["event"], entry["data"]):
            walk.untied = (entry["run"], entry["seq"])
        return None
    at = datetime.fromisoformat(link["at"])
    row = {"n": link["n"], "run_id": entry["run"], "seq": entry["seq"], "head": entry["hash"], "at": at, **_ends_of(link)}
    if not is_head(row, n=link["n"], prev=link["prev"]):
        return f"head {link['n']}, made from entry {entry['seq']}, was changed"
    walk.heads[link["n"]] = (link["hash"], link["prev"])
    return None


def _ends_of(link: Json) -> Json:
    return {"prev": link["prev"], "hash": link["hash"]}


def _ending(walk: _Walk, *, whole: bool) -> None:
    """What can only be judged at the end: gaps, the chain of heads, and whether the end is the end."""
    if walk.end is None:
        walk.find("file", walk.entries + 1, "the last line is missing: the file was cut off")
        return
    if walk.end.get("entries") != walk.entries:
        walk.find("file", walk.entries, f"the file holds {walk.entries} entries and says {walk.end.get('entries')}: lines are missing")
    told = walk.end.get("head") or {}
    for n, (_, prev) in sorted(walk.heads.items()):
        if n - 1 in walk.heads and walk.heads[n - 1][0] != prev:
            walk.find(HEADS, n, f"head {n} does not follow head {n - 1}")
    known = walk.heads.get(told.get("n", 0))
    if known is not None and known[0] != told.get("hash"):
        walk.find(HEADS, told["n"], f"head {told['n']} is not the one that the last line names")
    if whole:
        _whole(walk, told)


def _whole(walk: _Walk, told: Json) -> None:
    for run, seq in walk.jumps.items():
        walk.find(run, seq, f"entry {seq} is missing")
    missing = next((n for n in range(1, int(told.get("n") or 0) + 1) if n not in walk.heads), None)
    if missing is not None:
        walk.find(HEADS, missing, f"the entry that head {missing} was made from is missing: a run or the end of one was left out")
    elif len(walk.heads) > int(told.get("n") or 0):
        walk.find(HEADS, int(told.get("n") or 0), "there are heads after the one that the last line names")
    if walk.untied is not None:
        run, seq = walk.untied
        walk.find(HEADS, len(walk.heads) + 1, f"no head holds entry {seq} of {run}: heads were cut off")

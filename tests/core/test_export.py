"""An exported record is judged without a database: each kind of tampering with the file is named."""

import json
from collections.abc import Callable

import pytest

from bot.core import export
from bot.core.chain import HEADS, Head, entry_hash, head_hash
from tests.store.samples import NOW, later

Lines = list[str]


def record(runs: int = 3, each: int = 4) -> Lines:
    """Runs that are written in turn: opened and, at the end, answered; heads where they are due."""
    last: dict[str, str] = {}
    made, n, above = [], 0, ""
    for seq in range(1, each + 1):
        for run in (f"R-{number}" for number in range(runs)):
            event, data = {1: ("opened", {"to": "planning"}), each: ("answered", {"to": "succeeded"})}.get(seq, ("paused", {}))
            entry = {"run": run, "seq": seq, "at": later(seconds=seq).isoformat(), "actor": "U_X", "event": event, "data": data}
            prev = last.get(run, "")
            hash_of = last[run] = entry_hash(run, seq, later(seconds=seq), "U_X", event, data, prev)
            line = {**entry, "prev": prev, "hash": hash_of}
            if seq in (1, each):
                n, before = n + 1, above
                above = head_hash(n, run, seq, hash_of, NOW, before)
                line["head"] = {"n": n, "at": NOW.isoformat(), "prev": before, "hash": above}
            made.append(json.dumps(line))
    head = {"n": n, "hash": above, "at": NOW.isoformat()}
    return [*made, json.dumps(export.last_line(head, entries=len(made), filters={}))]


def changed(place: int, **fields: object) -> Callable[[Lines], Lines]:
    return lambda lines: [json.dumps({**json.loads(line), **fields}) if n == place else line for n, line in enumerate(lines)]


def without(*places: int) -> Callable[[Lines], Lines]:
    return lambda lines: [line for n, line in enumerate(lines) if n not in places]


def counted_anew(tamper: Callable[[Lines], Lines]) -> Callable[[Lines], Lines]:
    """The same by somebody who also mends the count in the last line."""

    def work(lines: Lines) -> Lines:
        *made, end = tamper(lines)
        said = json.loads(end)["end"]
        return [*made, json.dumps({"end": {**said, "entries": len(made)}})]

    return work


def swapped(lines: Lines) -> Lines:
    return [lines[3], *lines[1:3], lines[0], *lines[4:]]


def of_run(number: int) -> Callable[[Lines], Lines]:
    return counted_anew(lambda lines: [line for line in lines if json.loads(line).get("run") != f"R-{number}"])


def test_a_whole_export_proves_itself() -> None:
    found = export.check(record())

    assert (found.broken, found.entries, found.whole) == ((), 12, True)


@pytest.mark.parametrize(
    ("tamper", "run", "seq", "says"),
    [
        (changed(4, actor="U_Y"), "R-1", 2, "changed after it was written"),
        (changed(4, data={"to": "x"}), "R-1", 2, "changed after it was written"),
        (changed(4, at="2026-11-30T10:00:00+00:00"), "R-1", 2, "changed after it was written"),
        (changed(4, prev="f00d"), "R-1", 2, "changed after it was written"),
        (changed(0, at="yesterday"), "R-0", 1, "cannot be read"),
        (changed(0, head={"n": 1, "at": NOW.isoformat(), "prev": "", "hash": "f00d"}), "R-0", 1, "head 1, made from entry 1, was changed"),
        (counted_anew(without(4)), "R-1", 2, "entry 2 is missing"),
        (counted_anew(without(0)), "R-0", 1, "entry 1 is missing"),
        (swapped, "R-0", 1, "entry 1 stands in the wrong place"),
        (counted_anew(without(11)), HEADS, 6, "the entry that head 6 was made from is missing"),
        (of_run(1), HEADS, 2, "the entry that head 2 was made from is missing"),
        (without(4), "file", 11, "lines are missing"),
        (without(12), "file", 13, "the last line is missing: the file was cut off"),
        (lambda lines: [*lines, lines[0]], "file", 14, "stands after the end"),
        (lambda lines: ["nonsense", *lines], "file", 1, "line 1 is not one of an export"),
    ],
)
def test_what_was_done_to_the_file_is_named(tamper: Callable[[Lines], Lines], run: str, seq: int, says: str) -> None:
    found = export.check(tamper(record()))

    broken = next(each for each in found.broken if each.run == run)
    assert broken.seq == seq
    assert says in broken.says


def test_an_excerpt_proves_what_is_in_it() -> None:
    lines = record()
    some = [line for line in lines[:-1] if json.loads(line)["event"] == "answered"]
    end = json.dumps(export.last_line(json.loads(lines[-1])["end"]["head"], entries=len(some), filters={"events": ["answered"]}))

    assert export.check([*some, end]).broken == ()
    assert not export.check([*some, end]).whole
    (broken,) = export.check([changed(0, actor="U_Y")(some)[0], *some[1:], end]).broken
    assert (broken.run, broken.seq) == ("R-0", 4)


def test_an_export_is_held_against_a_head_that_was_kept_elsewhere() -> None:
    lines = record()
    kept = export.heads_in([lines[-1], json.dumps({"n": 1, "hash": json.loads(lines[0])["head"]["hash"], "at": ""}), "words"])

    assert [head.n for head in kept] == [6, 1]
    assert export.check(lines, heads=kept).broken == ()
    assert [(each.run, each.seq) for each in export.check(record(runs=2), heads=kept).broken] == [(HEADS, 6)]
    assert export.check(lines, heads=[Head(3, "f00d")]).broken[0].says == "head 3 is not the one that was kept elsewhere"

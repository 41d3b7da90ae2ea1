"""Planning without a model: plain notation as it is, and everyday phrases read by rules (`bot.llm.everyday`). Changes: see `following`.

It never guesses. One part that is not understood means no plan; every part is then given back with what was understood, the closest tools,
and an ask that would work (it was tried). The same ask gives the same draft, whatever happened before.
"""

import re
from dataclasses import dataclass, replace

from pydantic import ValidationError

from bot.core import notation
from bot.core.catalogue import Catalogue
from bot.core.characters import cut
from bot.core.drafts import Brief, Draft, Fault, Part
from bot.core.plan import Plan, Step
from bot.llm.everyday import rules
from bot.llm.everyday.clauses import ADDRESS, bare, split, split_weakly, tidy
from bot.llm.everyday.closest import closest
from bot.llm.everyday.places import CHANNEL, is_path
from bot.llm.everyday.scene import TEXTS, NotRead, Scene
from bot.llm.following import follow

GOAL_LIMIT = 230
ASK_LIMIT = 4000  # characters; longer asks are not everyday phrases
EXAMPLES = (
    "read notes/today.md, then summarize it, then post the summary to #ops",
    "list files, then post it to #ops",
    'post "hello" to #general',
    "list files",
    "what time is it",
)


class OfflinePlanner:
    """A `Planner` that asks nobody."""

    name = "offline"

    async def draft(self, brief: Brief) -> Draft:
        """A plan, or what was not understood, part by part. Never raises for what a person wrote."""
        if brief.rest is not None or (brief.current is not None and brief.changes):
            return follow(brief)
        if notation.looks_like(brief.ask):
            return _from_notation(brief)
        return _from_phrases(brief)


@dataclass(frozen=True)
class _Reading:
    """One clause as it was read; `instead` is a clause that would be understood in its place, if one is known."""

    part: Part
    instead: str = ""

    @property
    def is_step(self) -> bool:
        return self.part.understood and not self.part.note


def _from_phrases(brief: Brief) -> Draft:
    readings, scene = _read_all(brief.ask, brief.catalogue)
    parts = tuple(reading.part for reading in readings)
    if scene.steps and all(reading.is_step for reading in readings):
        plan = Plan(goal=goal_of(brief.ask), steps=scene.steps)
        return Draft(raw=notation.print_plan(plan), plan=plan, parts=parts)
    if not parts:
        parts = (Part(words=cut(brief.ask, 200), understood=False, note="nothing to do was said"),)
    raw = "\n".join(f"{'✓' if part.understood else '?'} {part.notation or part.words}" for part in parts)
    return Draft(raw=raw, parts=parts, suggestion=_suggestion(readings, brief.catalogue))


def goal_of(ask: str) -> str:
    """The ask as a plan's goal: one line, cut."""
    return cut(" ".join(ask.split()), GOAL_LIMIT)


def _read_all(ask: str, catalogue: Catalogue) -> tuple[list[_Reading], Scene]:
    scene = Scene(catalogue)
    if len(ask) > ASK_LIMIT:
        note = f"longer than {ASK_LIMIT:,} characters, which is too long to read without a model"
        return [_Reading(Part(words=cut(" ".join(ask.split()), 200), understood=False, note=note))], scene
    readings: list[_Reading] = []
    for clause in split(tidy(ask)):
        if bare(clause):
            more, scene = _read_clause(clause, scene)
            readings += more
    return readings, scene


def _read_clause(clause: str, scene: Scene) -> tuple[list[_Reading], Scene]:
    """The clause as a whole; if that is not understood, its pieces between commas and "and", if any of them is."""
    whole, after = _read_one(clause, scene)
    pieces = [piece for piece in split_weakly(clause) if bare(piece)]
    if whole.part.understood or len(pieces) < 2:
        return [whole], after
    readings, here = [], scene
    for piece in pieces:
        reading, here = _read_one(piece, here)
        readings.append(reading)
    return (readings, here) if any(reading.part.understood for reading in readings) else ([whole], scene)


def _read_one(clause: str, scene: Scene) -> tuple[_Reading, Scene]:
    """One clause; the scene stays as it was unless the clause became steps."""
    words = bare(clause)
    shown = cut(clause.strip(" ,"), 200)
    try:
        after = rules.read(words, replace(scene, words=words))
    except NotRead as lack:
        if lack.notation:
            return _Reading(Part(words=shown, understood=True, notation=lack.notation, note=lack.note)), scene
        return _unread(shown, words, scene, note=lack.note, instead=lack.try_instead), scene
    except ValidationError:  # a step that no plan could hold
        return _unread(shown, words, scene, note="it is too long for a step"), scene
    if after is None:
        return _unread(shown, words, scene), scene
    line = "; ".join(_written(step) for step in after.steps[len(scene.steps) :])
    return _Reading(Part(words=shown, understood=True, notation=line)), after


def _unread(shown: str, words: str, scene: Scene, *, note: str = "", instead: str = "") -> _Reading:
    near = closest(words, scene.catalogue, of_result=_is_about_result(words, scene))
    return _Reading(Part(words=shown, understood=False, note=note, closest=near), instead=instead or _nearest_phrase(words, scene))


def _written(step: Step) -> str:
    """The step in plain notation, without its id."""
    return re.sub(rf"^{re.escape(step.id)}:\s*", "", notation.print_step(step, purposes=False))


def _nearest_phrase(words: str, scene: Scene) -> str:
    """A clause about the same thing that would be understood; empty if the words name nothing known."""
    if address := re.search(ADDRESS, words, re.IGNORECASE):
        return f"fetch {address[0]}"
    if paths := [word for word in words.split() if is_path(word)]:
        return f"read {' and '.join(paths)}"
    if channel := re.search(CHANNEL, words):
        return f'post "…" to {channel[0]}'
    return "summarize it" if _is_about_result(words, scene) else ""


def _is_about_result(words: str, scene: Scene) -> bool:
    return bool(re.search(r"\b(?:it|them|that|this)\b", words, re.IGNORECASE) and scene.last(tuple(TEXTS)))


def _suggestion(readings: list[_Reading], catalogue: Catalogue) -> str:
    """An ask that gives a plan with these tools: the person's own, mended, or an example; empty if there is none."""
    mended = [bare(reading.part.words) if reading.part.understood else reading.instead for reading in readings]
    asks = (", then ".join(clause for clause in mended if clause), *EXAMPLES)
    return next((ask for ask in asks if ask and _plans(ask, catalogue)), "") or _plainest(catalogue)


def _plans(ask: str, catalogue: Catalogue) -> bool:
    readings, scene = _read_all(ask, catalogue)
    return bool(scene.steps) and all(reading.is_step for reading in readings)


def _plainest(catalogue: Catalogue) -> str:
    """The first tool in plain notation, for a bot that has none of the built-in ones."""
    for name, spec in catalogue.items():
        return " ".join([name, *(f'{key}="…"' for key in spec.args_schema.get("required", ()))])
    return ""


def _from_notation(brief: Brief) -> Draft:
    try:
        plan = notation.parse(brief.ask, catalogue=brief.catalogue)
    except notation.NotationError as error:
        return Draft(raw=brief.ask, faults=error.faults, parts=_lines(brief.ask, error.faults, brief.catalogue))
    return Draft(raw=brief.ask, plan=plan)


def _lines(text: str, faults: tuple[Fault, ...], catalogue: Catalogue) -> tuple[Part, ...]:
    """Each line of the notation with what is wrong with it."""
    wrong: dict[str, list[str]] = {}
    for fault in faults:
        wrong.setdefault(fault.field or "", []).append(fault.says + (f"; {fault.fix}" if fault.fix else ""))
    parts = []
    for number, line in enumerate(text.splitlines(), start=1):
        notes = wrong.get(f"line {number}", [])
        if line.strip():
            parts.append(_line(line.strip(), "; ".join(notes), catalogue))
    return tuple(parts)


def _line(line: str, note: str, catalogue: Catalogue) -> Part:
    if not note:
        return Part(words=cut(line, 200), understood=True, notation=line)
    return Part(words=cut(line, 200), understood=False, note=note, closest=closest(line, catalogue))

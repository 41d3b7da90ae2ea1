"""What the record says about how people and policy work together: sums over many runs, and what stands out in them.

For each tool and day: how often a step ran by itself, after an approval, after a confirmation; how often people refused it, nobody
answered, or it failed. How long decisions took; whether somebody approves faster than anybody reads; which tools are out of line, and why
that may be. Everything is computed from the record, so there are no counters that could be wrong.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from statistics import median

from bot.core.catalogue import Catalogue, Effect
from bot.core.ids import NOBODY
from bot.core.states import Event

QUICK_S = 3.0  # nobody reads a plan in less
FATIGUE = 3  # so many quick approvals in a row are a sign that nobody reads
FEWEST = 5  # cases of a tool before its shares say anything
MANY = 20  # runs by itself before anybody should look at what it does
REFUSED_SHARE = 0.4
FAILED_SHARE = 0.3


class How(StrEnum):
    """What became of one step."""

    BY_ITSELF = "by_itself"  # policy let it run: no person was asked
    APPROVED = "approved"  # covered by the plan's approval
    CONFIRMED = "confirmed"  # ... and seen once more with its real values
    REFUSED = "refused"  # a person said no, or policy did
    EXPIRED = "expired"  # nobody answered
    FAILED = "failed"  # it ran, or was to run, and did not succeed


@dataclass(frozen=True)
class Told:
    """The part of an audit entry that is counted."""

    at: datetime
    actor: str
    event: str
    step: str | None = None


@dataclass(frozen=True)
class Story:
    """One run: what is on record, in order, and its steps as they were planned last."""

    run: str
    told: tuple[Told, ...]
    tools: Mapping[str, str] = field(default_factory=dict)  # step: tool
    asked: frozenset[str] = frozenset()  # steps that no policy lets run by themselves


@dataclass(frozen=True)
class Deed:
    """One step, counted. A step that ran and failed is counted twice: as what let it run, and as failed."""

    day: date
    tool: str
    how: How


@dataclass(frozen=True)
class Decision:
    """One person's yes or no, and for how long it could have been given."""

    actor: str
    at: datetime
    shown_at: datetime
    yes: bool


@dataclass(frozen=True)
class Fatigue:
    """Somebody said yes so many times in a row, each within three seconds of seeing it."""

    actor: str
    count: int


@dataclass(frozen=True)
class OutOfLine:
    """A tool whose shares stand out, and the likely cause."""

    tool: str
    says: str
    cause: str


@dataclass(frozen=True)
class Figures:
    """All of it, for the days from `since` on."""

    since: date
    runs: int
    by_tool: Mapping[str, Counter[How]]
    by_day: Mapping[date, Counter[How]]
    decisions: int
    median_s: float | None
    fatigue: tuple[Fatigue, ...]
    out_of_line: tuple[OutOfLine, ...]

    def total(self, *hows: How) -> int:
        """How many steps came out like that."""
        return sum(counts[how] for counts in self.by_tool.values() for how in hows)


def figures(stories: Sequence[Story], catalogue: Catalogue, *, since: date) -> Figures:
    """The sums of these runs."""
    by_tool: dict[str, Counter[How]] = {}
    by_day: dict[date, Counter[How]] = {}
    for deed in (deed for story in stories for deed in deeds(story)):
        by_tool.setdefault(deed.tool, Counter())[deed.how] += 1
        by_day.setdefault(deed.day, Counter())[deed.how] += 1
    decided = [decision for story in stories for decision in decisions(story)]
    waits = [(decision.at - decision.shown_at).total_seconds() for decision in decided]
    return Figures(
        since=since,
        runs=len(stories),
        by_tool=dict(sorted(by_tool.items())),
        by_day=dict(sorted(by_day.items())),
        decisions=len(decided),
        median_s=median(waits) if waits else None,
        fatigue=tuple(tired(decided)),
        out_of_line=tuple(out_of_line(by_tool, catalogue)),
    )


def deeds(story: Story) -> Iterator[Deed]:
    """What became of each step of a run, in the order in which it was recorded."""
    approved = False
    confirmed: set[str] = set()
    started: set[str] = set()
    for told in story.told:
        day, step = told.at.date(), told.step or ""
        if told.event in (Event.APPROVED, Event.REDIRECTED):
            approved = True
        elif told.event == Event.CONFIRMED:
            confirmed.add(step)
        elif told.event in (Event.STEP_STARTED, Event.STEP_KEPT) and step in story.tools and step not in started:
            started.add(step)
            by_hand = How.APPROVED if approved and step in story.asked else How.BY_ITSELF
            yield Deed(day, story.tools[step], How.CONFIRMED if step in confirmed else by_hand)
        elif told.event in (Event.STEP_FAILED, Event.CONFIRM_REFUSED) and step in story.tools:
            yield Deed(day, story.tools[step], How.FAILED if told.event == Event.STEP_FAILED else How.REFUSED)
        elif told.event in _NO:
            left = {step} if told.event == Event.EXPIRED and step else set(story.asked) - started
            yield from (Deed(day, story.tools[each], _NO[told.event]) for each in sorted(left) if each in story.tools)


_NO: Mapping[str, How] = {Event.CANCELLED: How.REFUSED, Event.PLAN_REFUSED: How.REFUSED, Event.EXPIRED: How.EXPIRED}
_SHOWN = frozenset({Event.PLANNED, Event.REVISED, Event.REGRADED, Event.PLAN_KEPT, Event.REDIRECT_PLANNED, Event.HELD})
_SAID = {
    Event.APPROVAL_GIVEN: True,
    Event.APPROVED: True,
    Event.REDIRECTED: True,
    Event.CONFIRMED: True,
    Event.CONFIRM_REFUSED: False,
    Event.CANCELLED: False,
}


def decisions(story: Story) -> Iterator[Decision]:
    """Each yes or no of a person to something that was shown. What was shown before the record begins has no time and is left out."""
    shown_at: datetime | None = None
    for told in story.told:
        if told.event in _SHOWN:
            shown_at = told.at
        elif told.event in _SAID and shown_at is not None and _is_person(told.actor):
            yield Decision(told.actor, told.at, shown_at, _SAID[Event(told.event)])


def tired(decided: Iterable[Decision]) -> Iterator[Fatigue]:
    """Who said yes again and again faster than anybody reads: counted from when they were shown it, or from their last decision."""
    last: dict[str, datetime] = {}
    row: Counter[str] = Counter()
    longest: Counter[str] = Counter()
    for one in sorted(decided, key=lambda decision: decision.at):
        since = max(one.shown_at, last.get(one.actor, one.shown_at))
        quick = one.yes and (one.at - since).total_seconds() < QUICK_S
        row[one.actor] = row[one.actor] + 1 if quick else 0
        longest[one.actor] = max(longest[one.actor], row[one.actor])
        last[one.actor] = one.at
    return (Fatigue(actor, count) for actor, count in longest.most_common() if count >= FATIGUE)


def out_of_line(by_tool: Mapping[str, Counter[How]], catalogue: Catalogue) -> Iterator[OutOfLine]:
    """Tools that people often turn down, or that often fail while nobody looks, with the likely cause."""
    for tool, counts in sorted(by_tool.items()):
        alone, failed, no = counts[How.BY_ITSELF], counts[How.FAILED], counts[How.REFUSED] + counts[How.EXPIRED]
        asked = counts[How.APPROVED] + counts[How.CONFIRMED] + no
        if asked >= FEWEST and no / asked >= REFUSED_SHARE:
            yield OutOfLine(tool, f"was not approved in {no} of {asked} cases", _why_refused(tool, catalogue))
        if alone >= FEWEST and failed / alone >= FAILED_SHARE:
            yield OutOfLine(
                tool,
                f"failed {failed} times in {alone} runs by itself",
                "it is planned where it does not fit: say in its description when not",
            )
        if alone >= MANY and tool in catalogue and (catalogue[tool].effect is not Effect.READ or catalogue[tool].outward):
            yield OutOfLine(
                tool, f"ran by itself {alone} times", "its mode is loose for a tool that reaches outside: mode ask would show it to people"
            )


def _why_refused(tool: str, catalogue: Catalogue) -> str:
    spec = catalogue.get(tool)
    if spec is None:
        return "the tool is not there any more"
    if "not" not in spec.description.casefold().split():
        return "its description does not say when not to use it"
    return "its description is wider than what people want of it, or a rule should deny those cases"


def _is_person(actor: str) -> bool:
    return actor not in NOBODY

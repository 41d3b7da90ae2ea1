"""The budget of one run: how many starts of steps, how much time at work, how many tokens, how much money, and what is used up (P10).

Time is that in which the run ran: waiting for people costs nothing, waiting for another run does. Where something is used up the run holds,
and an approver may grant a quarter more, once of each; after that there is only Stop, or another rest that needs no further step.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from bot.core.policy_file import Limits, Price
from bot.core.run import Event, Hold, Run, RunStatus
from bot.core.snapshot import Entry, Snapshot

KINDS = ("tokens", "time", "steps", "money")
STARTS = 4  # of each step that a plan may have, on average: retries and other tries too
MORE = 1.25  # of what is used up, once it was granted
ACTIVE = frozenset({RunStatus.RUNNING.value, RunStatus.PAUSING.value, RunStatus.STOPPING.value})


@dataclass(frozen=True)
class Spent:
    """What a run has used so far, or (as bounds) may use. Money is US dollars; None: it has no bound."""

    tokens: int
    time: float  # seconds
    steps: int  # starts
    money: float | None

    def of(self, kind: str) -> float | None:
        """The one of that kind."""
        return {"tokens": self.tokens, "time": self.time, "steps": self.steps, "money": self.money}[kind]

    def as_data(self) -> dict[str, Any]:
        """As it goes on record."""
        return asdict(self)


def spent(snapshot: Snapshot, prices: Mapping[str, Price], *, now: datetime) -> Spent:
    """What the run has used until `now`. Time needs the entries of the snapshot."""
    return Spent(
        tokens=tokens(snapshot),
        time=active_s(snapshot.entries, now=now),
        steps=sum(step.attempt for step in snapshot.steps),
        money=planned_money(snapshot, prices) + sum(step.money for step in snapshot.steps),
    )


def tokens(snapshot: Snapshot) -> int:
    """Model tokens of planning, answering, and the tools of its steps."""
    return planned_tokens(snapshot) + sum(step.tokens for step in snapshot.steps)


def planned_tokens(snapshot: Snapshot) -> int:
    """Those of planning and answering alone."""
    answered = snapshot.answer.tokens_in + snapshot.answer.tokens_out if snapshot.answer else 0
    return answered + sum(attempt.tokens_in + attempt.tokens_out for attempt in snapshot.attempts)


def planned_money(snapshot: Snapshot, prices: Mapping[str, Price]) -> float:
    """What planning and answering cost; a model without a price costs nothing here."""
    said = [(one.planner, one.tokens_in, one.tokens_out) for one in snapshot.attempts]
    said += [(snapshot.answer.by, snapshot.answer.tokens_in, snapshot.answer.tokens_out)] if snapshot.answer else []
    return sum(cost(prices, *each) for each in said)


def cost(prices: Mapping[str, Price], model: str, tokens_in: int, tokens_out: int) -> float:
    """US dollars of one call."""
    price = prices.get(model)
    return (tokens_in * price.input + tokens_out * price.output) / 1_000_000 if price else 0.0


def active_s(entries: Iterable[Entry], *, now: datetime) -> float:
    """Seconds in which the run was at work, or stood in line for a key: all but those in which it waited for people or for its place."""
    seconds, since = 0.0, None
    for entry in entries:
        to = entry.data.get("to")
        if not to:
            continue
        if since is None and to in ACTIVE:
            since = entry.at
        elif since is not None and to not in ACTIVE:
            seconds, since = seconds + (entry.at - since).total_seconds(), None
    return seconds + ((now - since).total_seconds() if since is not None else 0.0)


def bounds(limits: Limits, passed: Collection[str] = ()) -> Spent:
    """What a run may use; of each kind that was granted (as `run.passed` says) a quarter more."""
    more = {kind: MORE if grant(kind) in passed else 1.0 for kind in KINDS}
    return Spent(
        tokens=int(limits.tokens * more["tokens"]),
        time=limits.wall.total_seconds() * more["time"],
        steps=int(limits.steps * STARTS * more["steps"]),
        money=limits.money * more["money"] if limits.money is not None else None,
    )


def exceeded(used: Spent, limits: Limits, passed: Collection[str] = ()) -> str | None:
    """Which of the four is used up, so that nothing further may start; None while there is some of each."""
    most = bounds(limits, passed)
    return next((kind for kind in KINDS if (bound := most.of(kind)) is not None and (used.of(kind) or 0) >= bound), None)


def grant(kind: str) -> str:
    """How `run.passed` says that more of it was granted: no step's id has a dot in it."""
    return f"budget.{kind}"


def used_up(run: Run, entries: Iterable[Entry]) -> str | None:
    """What the run that stands for its budget has used up, as the record says."""
    if run.reason is not Hold.BUDGET:
        return None
    held = [entry.data for entry in entries if entry.event == Event.HELD and entry.data.get("reason") == Hold.BUDGET]
    return str(held[-1]["kind"]) if held and held[-1].get("kind") in KINDS else None


def passes(run: Run, entries: Iterable[Entry]) -> str | None:
    """What Continue lets go for good: the breakpoint, or one quarter more of the budget. Nothing where it only looks on (unattended)."""
    if run.reason is Hold.BREAKPOINT:
        return run.held_step
    kind = used_up(run, entries)
    return grant(kind) if kind else None


def granted(entry: Entry) -> str | None:
    """Of what this entry granted more, if it did."""
    return next((kind for kind in KINDS if entry.event == Event.CONTINUED and entry.data.get("passes") == grant(kind)), None)


def is_final(run: Run, kind: str | None) -> bool:
    """Was more of it granted before? Then Continue is no move any more."""
    return kind is not None and grant(kind) in run.passed

"""The budget of a run: what counts as time, when something is used up, and what may be granted once (P10)."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.core import budget
from bot.core.budget import Spent
from bot.core.policy_file import Limits, Price
from bot.core.run import Event, Hold, Run, RunStatus
from bot.core.snapshot import Answer, Attempt, Entry, Snapshot, StepState

AT = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
PRICES = {"small": Price(input=1.0, output=5.0)}
NONE = Spent(tokens=0, time=0, steps=0, money=0.0)


def entry(seq: int, minutes: float, to: str = "", **data: object) -> Entry:
    said = {**data, **({"to": to, "version": seq} if to else {})}
    event = str(data.pop("event", Event.STARTED))
    return Entry(run="R-1", seq=seq, at=AT + timedelta(minutes=minutes), actor="pullcord", event=event, data=said, hash="")


def held(kind: str, *, passed: tuple[str, ...] = ()) -> tuple[Run, list[Entry]]:
    run = Run(id="R-1", status=RunStatus.PAUSED, reason=Hold.BUDGET, held_step="b", passed=passed, created_at=AT, updated_at=AT)
    return run, [entry(9, 5, event=Event.HELD, reason="budget", kind=kind)]


def test_time_is_that_in_which_the_run_ran_and_not_that_in_which_it_waited_for_people() -> None:
    record = [
        entry(1, 0, "in_review"),
        entry(2, 60, "queued"),
        entry(3, 61, "running"),
        entry(4, 62),  # a refused click moves nothing
        entry(5, 63, "running"),
        entry(6, 64, "pausing"),
        entry(7, 66, "paused"),
        entry(8, 300, "running"),
    ]
    assert budget.active_s(record, now=AT + timedelta(minutes=303)) == (5 + 3) * 60
    assert budget.active_s(record[:7], now=AT + timedelta(minutes=303)) == 5 * 60
    assert budget.active_s([], now=AT) == 0


def test_tokens_and_money_are_those_of_planning_of_tools_and_of_the_answer() -> None:
    run = Run(id="R-1", created_at=AT, updated_at=AT)
    snapshot = Snapshot(
        run=run,
        attempts=(Attempt(round=1, ok=True, raw="", planner="small", tokens_in=1000, tokens_out=200),),
        steps=(StepState(id="a", number=1, tool="t", attempt=2, tokens=50, money=0.25),),
        answer=Answer(text="Done.", by="unknown", tokens_in=7, tokens_out=3),
    )
    used = budget.spent(snapshot, PRICES, now=AT)

    assert (used.tokens, used.steps) == (1260, 2)
    assert used.money == pytest.approx(0.25 + 0.001 + 0.001)


@pytest.mark.parametrize(
    ("used", "passed", "kind"),
    [
        (NONE, (), None),
        (Spent(999, 0, 0, 0.0), (), None),
        (Spent(1000, 0, 0, 0.0), (), "tokens"),
        (Spent(1249, 0, 0, 0.0), ("budget.tokens",), None),
        (Spent(1250, 0, 0, 0.0), ("budget.tokens",), "tokens"),
        (Spent(0, 3600, 0, 0.0), (), "time"),
        (Spent(0, 3600, 0, 0.0), ("budget.tokens",), "time"),
        (Spent(0, 4499, 0, 0.0), ("budget.time",), None),
        (Spent(0, 0, 39, 0.0), (), None),
        (Spent(0, 0, 40, 0.0), (), "steps"),
        (Spent(0, 0, 49, 0.0), ("budget.steps",), None),
        (Spent(0, 0, 0, 1.99), (), None),
        (Spent(0, 0, 0, 2.0), (), "money"),
        (Spent(1000, 3600, 40, 2.0), (), "tokens"),
    ],
)
def test_what_is_used_up_is_named_unless_a_quarter_more_was_granted(used: Spent, passed: tuple[str, ...], kind: str | None) -> None:
    limits = Limits(steps=10, tokens=1000, wall=timedelta(hours=1), money=2.0)
    assert budget.exceeded(used, limits, passed) == kind


def test_money_without_a_bound_is_not_counted() -> None:
    assert budget.exceeded(Spent(0, 0, 0, 1e9), Limits()) is None


def test_continue_grants_what_is_used_up_once_and_then_no_more() -> None:
    run, record = held("tokens")
    assert budget.passes(run, record) == "budget.tokens"
    assert not budget.is_final(run, budget.used_up(run, record))

    run, record = held("tokens", passed=("budget.tokens",))
    assert budget.is_final(run, budget.used_up(run, record))


def test_continue_passes_a_breakpoint_and_nothing_where_it_only_looks_on() -> None:
    run, record = held("tokens")
    assert budget.passes(run.model_copy(update={"reason": Hold.BREAKPOINT}), record) == "b"
    assert budget.passes(run.model_copy(update={"reason": Hold.UNATTENDED}), record) is None

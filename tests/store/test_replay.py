"""Replaying a run's entries gives its state, whatever happened to it (P8)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from bot.core.ids import StepId
from bot.core.replay import opened as as_opened
from bot.core.replay import replay
from bot.core.run import (
    LETS_GO,
    STEP_EVENTS,
    STEP_TRANSITIONS,
    TRANSITIONS,
    Event,
    Hold,
    NotAllowed,
    Run,
    StepStatus,
    fits,
)
from bot.core.snapshot import StepState
from bot.store import audit, door, runs
from bot.store import engine as engines
from tests.store.samples import NOW, a_plan, later, opened, revise

RUN = "R-WALK"
RUN_MOVES = frozenset(event for _, event in TRANSITIONS)
ONLY_STEPS = frozenset(event for event in STEP_EVENTS if event.value.startswith("step_"))


@pytest.fixture(scope="module")
def file(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """One file for all walks; each is rolled back."""
    path = tmp_path_factory.mktemp("walks") / "pullcord.db"
    path.write_bytes(migrated.read_bytes())
    engine = engines.writing(f"sqlite:///{path}")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


class Walk:
    """A run that is pushed about by legal events, chosen by hypothesis."""

    def __init__(self, conn: Connection, draw: st.DataObject) -> None:
        self.conn, self.draw = conn, draw
        self.run = opened(conn, RUN)
        self.at = NOW
        self.revision = 0

    def step(self) -> None:
        """One more thing happens, if anything can."""
        self.at = later(seconds=(self.at - NOW).total_seconds() + 1)
        moves = self._moves()
        if not moves:
            return
        event, step = self.draw.draw(st.sampled_from(moves))
        change = door.StepChange(id=step, attempt=1, error="e") if step else None
        self.run = door.change(self.conn, RUN, event, actor="U_X", at=self.at, data=self._facts(event), step=change)
        if self.draw.draw(st.integers(0, 5)) == 0:
            door.note(self.conn, RUN, actor="U_Y", at=self.at)

    def _moves(self) -> list[tuple[Event, StepId | None]]:
        states = {step.id: step.status for step in runs.steps(self.conn, RUN)}
        found: list[tuple[Event, StepId | None]] = []
        for status, event in TRANSITIONS:
            if status is not self.run.status or not fits(self.run, event):
                continue
            fitting = [name for name, at in states.items() if (at, event) in STEP_TRANSITIONS]
            if event in STEP_EVENTS:
                found += [(event, name) for name in fitting]
            if event not in ONLY_STEPS:
                found.append((event, None))
        return found

    def _facts(self, event: Event) -> dict[str, object]:
        draw = self.draw.draw
        if event in (Event.PLANNED, Event.RELEASED, Event.REVISED):
            return self._revise()
        if event is Event.REDIRECT_PLANNED:
            return {"proposed": self._add(adopt=False)[0], "deadline": NOW}
        if event is Event.REDIRECTED:
            return self._adopt()
        if event is Event.HELD:
            return {
                "reason": draw(st.sampled_from([hold for hold in Hold if hold is not Hold.QUESTION])),
                "step": draw(st.sampled_from("abc")),
            }
        if event is Event.BREAKPOINT_SET:
            return {"breakpoints": draw(st.lists(st.sampled_from("abc"), unique=True))}
        if event in LETS_GO:
            return {"passes": draw(st.sampled_from(["a", "b:digest"])), "deadline": None}
        if event is Event.APPROVED:
            return {"approved": self.run.digest, "deadline": later(minutes=draw(st.integers(0, 90)))}
        return {}

    def _revise(self) -> dict[str, object]:
        revision, said = self._add(adopt=True)
        return {"revision": revision, "digest": said, "approved": said, "risk": self.draw.draw(st.sampled_from(["low", "high"]))}

    def _add(self, *, adopt: bool) -> tuple[int, str]:
        self.revision += 1
        names = self.draw.draw(st.lists(st.sampled_from("abcdef"), min_size=1, unique=True))
        return self.revision, revise(self.conn, RUN, a_plan(*names), revision=self.revision, adopt=adopt)

    def _adopt(self) -> dict[str, object]:
        """The proposed revision takes over; failed steps that it names may run again."""
        if self.run.proposed is None:
            revision, said = self._add(adopt=False)
        else:
            revision, said = self.run.proposed, str(runs.digest_of(self.conn, RUN, self.run.proposed))
        plan = runs.revision(self.conn, RUN, revision)[0]
        failed = [state.id for state in runs.steps(self.conn, RUN) if state.status is StepStatus.FAILED]
        again = [name for name in failed if any(step.id == name for step in plan.steps) and self.draw.draw(st.booleans())]
        runs.adopt_revision(self.conn, RUN, revision, again=again)
        return {"revision": revision, "digest": said, "approved": said, "risk": "low", "again": again}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(draw=st.data(), length=st.integers(1, 40))
def test_replaying_the_entries_of_any_run_gives_its_stored_state(file: Connection, draw: st.DataObject, length: int) -> None:
    transaction = engines.begin_writing(file)
    try:
        walk = Walk(file, draw)
        first = walk.run
        for _ in range(length):
            walk.step()

        entries = audit.entries(file, RUN)
        given_run, given_steps = replay(entries, as_opened(entries[0]))
        stored = runs.get(file, RUN)
        assert as_opened(entries[0]) == first
        assert given_run == stored == walk.run
        assert everything(given_steps, runs.steps(file, RUN)) == {step.id: step.status for step in runs.steps(file, RUN)}
        assert audit.verify(file) == []
    finally:
        transaction.rollback()


def everything(given_steps: dict[StepId, StepStatus], stored: tuple[StepState, ...]) -> dict[StepId, StepStatus]:
    """What the entries say of each step; a step that nothing happened to is pending."""
    assert set(given_steps) <= {step.id for step in stored}
    return {step.id: given_steps.get(step.id, StepStatus.PENDING) for step in stored}


def test_a_record_with_a_move_that_the_table_does_not_have_is_refused(conn: Connection) -> None:
    run: Run = opened(conn, RUN)
    first = audit.entries(conn, RUN)[0]
    forged = first.model_copy(update={"seq": 2, "event": "approved", "data": {"version": 2}})

    with pytest.raises(NotAllowed):
        replay([first, forged], run)

"""Every interleaving of two processes, every person's event and a crash anywhere, on the real core and door; and proof that it can fail.

`python -m tests.model` prints the same walks, `--deeper` larger ones.
"""

from collections.abc import Iterator, Sequence

import pytest
from sqlalchemy import Connection, update

from bot.activities.moves import Change
from bot.activities.steps import Ended
from bot.core.readiness import Next
from bot.core.run import TRANSITIONS, Event, Run, RunStatus, StepStatus
from bot.store import runs as rows
from bot.store import tables
from tests.model.shapes import CHAIN, CONFIRMED, SINGLE, Shape, usual
from tests.model.turns import Turn
from tests.model.walk import Report, Walk
from tests.model.world import World


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


@pytest.mark.parametrize("shape", usual(), ids=str)
@pytest.mark.timeout(600)
async def test_no_order_of_events_breaks_a_promise(world: World, shape: Shape) -> None:
    """P1–P6, P8, P10 at every state; C017, C020, C023, C052."""
    report = await Walk(world, shape).run()

    print(report.line())
    assert report.broken == {}, report.traces()
    assert report.places > 100


async def broken_by(turn: type[Turn], shape: Shape) -> Report:
    world = World()
    try:
        return await Walk(world, shape, turn=turn).run(until_broken=True)
    finally:
        world.close()


class Forgetful(Turn):
    """Thinks that every breakpoint has been let go."""

    def _decide(self) -> Next:
        passed = (*self.run.passed, *self.states)
        self.run = self.run.model_copy(update={"passed": passed})
        return super()._decide()


class Hasty(Turn):
    """Does not look whether the run has moved since it decided."""

    def _apply(self, conn: Connection, changes: list[Change]) -> tuple[Run, list[Change]]:
        self.run = rows.get(conn, self.run.id)
        return super()._apply(conn, changes)


class Trusting(Turn):
    """Starts what it once decided to start, whatever plan stands by now."""

    def _apply(self, conn: Connection, changes: list[Change]) -> tuple[Run, list[Change]]:
        if any(change.event is Event.STEP_STARTED for change in changes):
            self.run = rows.get(conn, self.run.id)
        return super()._apply(conn, changes)

    def _still_approved(self, run: Run) -> None:
        return


class Lax(Turn):
    """Asks nobody about the values of a step."""

    def _decide(self) -> Next:
        self.grades = {name: grade.model_copy(update={"confirms": False}) for name, grade in self.grades.items()}
        return super()._decide()


class Bold(Turn):
    """Takes every step that was cut off for one that may run again."""

    async def recover(self) -> None:
        self.tasks, self.looking = {}, False
        running = [step for step in self.plan.steps if self.states[step.id] is StepStatus.RUNNING]
        self.unwritten = [Ended(step, Event.STEP_REQUEUED) for step in running]
        await self._write([])


class Tireless(Turn):
    """Never says that nothing runs any more."""

    def _decide(self) -> Next:
        return super()._decide() if self.run.status is RunStatus.RUNNING else Next()


class Scribbler(Turn):
    """Writes past the door."""

    def _apply(self, conn: Connection, changes: list[Change]) -> tuple[Run, list[Change]]:
        done = super()._apply(conn, changes)
        conn.execute(update(tables.runs).values(breakpoints=["zz"]))
        return done


BROKEN: Sequence[tuple[type[Turn], Shape, str]] = (
    (Forgetful, CHAIN.bounded(), "a breakpoint before a was passed"),
    (Hasty, SINGLE.bounded(pause=1), "a step runs although the run is"),
    (Trusting, SINGLE.bounded(edit=1, pause=1), "P1"),
    (Lax, CONFIRMED.bounded(), "P3"),
    (Bold, SINGLE.bounded(crash=1), "P6"),
    (Tireless, SINGLE.bounded(pause=1), "P10"),
    (Scribbler, SINGLE.bounded(), "P8"),
)


@pytest.mark.parametrize(("turn", "shape", "finds"), BROKEN, ids=[turn.__name__ for turn, _, _ in BROKEN])
async def test_the_walk_finds_a_dispatcher_that_is(turn: type[Turn], shape: Shape, finds: str) -> None:
    report = await broken_by(turn, shape)

    assert report.traces().startswith(finds), report.traces() or "nothing was found"


async def test_the_walk_finds_a_table_that_lets_a_step_start_under_the_brake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TRANSITIONS, (RunStatus.PAUSING, Event.STEP_STARTED), RunStatus.PAUSING)  # type: ignore[arg-type]

    report = await broken_by(Hasty, SINGLE.bounded(pause=1))

    assert "P4: a started after the brake was recorded" in report.broken

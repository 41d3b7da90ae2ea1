"""What the walk found wrong, each as the shortest way to it."""

from collections.abc import Iterator

import pytest

from bot import runs
from bot.activities.redrafting import redraft
from bot.commands import confirming, controls, freezing, redirecting, review
from bot.core.run import Event, Hold, RunStatus
from bot.core.snapshot import Snapshot
from bot.store import door
from tests.doubles.parts import APPROVER, MEMBER, REQUESTER
from tests.model.moves import Moves
from tests.model.shapes import CHAIN, CONFIRMED, SINGLE, Shape
from tests.model.turns import Outcomes, Turn, ended
from tests.model.world import ADMIN, NOW, RUN, World


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


async def approved(world: World, shape: Shape) -> None:
    await Moves(world, shape).begin()
    await review.approve(world.deps, RUN, 1, who=APPROVER, received_at=NOW)


async def seen(world: World) -> Snapshot:
    return await runs.snapshot(world.deps, RUN, entries=True)


async def running(world: World, shape: Shape) -> None:
    await approved(world, shape)
    await world.store.write(lambda conn: door.change(conn, RUN, Event.STARTED, actor="pullcord", at=NOW))


class Looked:
    """A dispatcher that has decided and not written yet."""

    def __init__(self, turn: Turn, version: int, changes: list) -> None:
        self.turn, self.version, self.changes = turn, version, changes

    async def write(self) -> list[str]:
        return await self.turn.put_through(self.changes, version=self.version)


async def look(world: World, outcomes: Outcomes = ()) -> Looked:
    snapshot = await seen(world)
    turn = Turn(world.deps, snapshot, ended(snapshot, outcomes))
    return Looked(turn, snapshot.run.version, await turn.look() or [])


async def turned(world: World, outcomes: Outcomes = ()) -> list[str]:
    return await (await look(world, outcomes)).write()


async def test_a_breakpoint_that_is_set_while_the_dispatcher_decides_holds(world: World) -> None:
    await running(world, SINGLE)
    decided = await look(world)

    await controls.set_breakpoint(world.deps, RUN, "a", who=MEMBER)

    assert await decided.write() == []
    assert await turned(world) == []
    assert (await seen(world)).run.reason is Hold.BREAKPOINT


async def test_a_breakpoint_that_is_set_again_after_continue_holds_again(world: World) -> None:
    await running(world, CHAIN)
    await turned(world)
    await turned(world, (("r", "ok"),))
    await controls.proceed(world.deps, RUN, "a", who=REQUESTER)

    await controls.set_breakpoint(world.deps, RUN, "a", who=MEMBER)

    assert await turned(world) == []
    assert (await seen(world)).run.reason is Hold.BREAKPOINT


async def redirected(world: World, text: str) -> None:
    """The reply is followed, approved, and the run goes on."""
    await redirecting.redirect(world.deps, RUN, text=text, who=REQUESTER)
    if (await seen(world)).run.status is RunStatus.PAUSING:
        await turned(world)
    await redraft(world.deps, RUN)
    waits = (await seen(world)).run.proposed
    if waits:
        await review.approve(world.deps, RUN, waits, who=APPROVER, received_at=NOW)


async def test_to_let_go_of_a_breakpoint_is_not_to_let_go_of_the_step_that_takes_its_place(world: World) -> None:
    await running(world, CHAIN)
    await turned(world)
    await turned(world, (("r", "ok"),))
    await controls.proceed(world.deps, RUN, "a", who=REQUESTER)

    await redirected(world, "instead a: say.else name={{r.name}}")

    assert await turned(world) == []
    assert (await seen(world)).run.reason is Hold.BREAKPOINT


async def test_a_confirmation_does_not_cover_another_tool_with_the_same_values(world: World) -> None:
    """P3: what was confirmed is a call, not a set of values."""
    await running(world, CONFIRMED)
    await turned(world)
    filling = (await seen(world)).posts[-1].data["filling"]
    await confirming.confirm(world.deps, RUN, "a", digest8=filling, who=APPROVER, opened_all=True)

    await redirected(world, "instead a: ask.else name=a")

    assert await turned(world) == []
    assert (await seen(world)).run.reason is Hold.CONFIRM


async def test_a_rest_that_needs_no_yes_waits_for_the_thaw(world: World) -> None:
    """A redirect in a bot that is frozen: the planner's work is kept, and nothing goes on before an admin lets go."""
    await Moves(world, CHAIN).begin()
    await freezing.freeze(world.deps, who=ADMIN, why="drill")
    await review.approve(world.deps, RUN, 1, who=APPROVER, received_at=NOW)

    await redirected(world, "skip a")

    held = (await seen(world)).run
    assert (held.status, held.reason, held.redirect, held.revision) == (RunStatus.PAUSED, Hold.FREEZE, None, 2)
    await freezing.thaw(world.deps, who=ADMIN)
    assert (await seen(world)).run.status is RunStatus.QUEUED


async def test_nothing_runs_any_more_is_never_said_by_a_dispatcher_that_looked_too_early(world: World) -> None:
    """Two processes: stopped is claimed only once the call of the other one has ended."""
    await running(world, SINGLE)
    await controls.pause(world.deps, RUN, who=MEMBER)
    early = await look(world)
    await controls.resume(world.deps, RUN, who=REQUESTER)
    assert await turned(world) == ["a"]
    await controls.stop(world.deps, RUN, who=REQUESTER)

    await early.write()

    assert (await seen(world)).run.status is RunStatus.STOPPING
    await turned(world, (("a", "ok"),))
    assert (await seen(world)).run.status is RunStatus.STOPPED


async def test_a_start_that_a_redirect_has_overtaken_is_not_an_error(world: World) -> None:
    """Two processes: the step is not there any more."""
    await running(world, CHAIN)
    await turned(world)
    await turned(world, (("r", "ok"),))
    await controls.proceed(world.deps, RUN, "a", who=REQUESTER)
    early = await look(world)
    await redirected(world, "skip a")

    assert await early.write() == []

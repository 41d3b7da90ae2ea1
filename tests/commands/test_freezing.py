"""Freeze: everything is held, whoever lets go; it outlives the process; the thaw lets go only what stood for it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot import runs
from bot.commands import controls, freezing, redirecting, review
from bot.core.policy import Member
from bot.core.run import Event, Hold, Redirect, Run, RunStatus
from bot.deps import Deps
from bot.errors import Refused
from bot.store import audit
from bot.supervisor import Supervisor
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import APPROVER, MEMBER, REQUESTER, close_parts, open_parts
from tests.doubles.waiting import eventually

ADMIN = Member(id="U0ADMIN", team="T0HOME", is_admin=True)
Lines = Callable[[str], list[str]]
PLAN = "g: test.gate name=a\nb: test.change name=b after=g"


async def live(deps: Deps, lines: Lines, plan: str = PLAN) -> Run:
    run = await asked(deps, plan)
    await approved(deps, run.id)

    async def started() -> bool:
        return "a" in lines("gate")

    await eventually(started, "the first step to start")
    return await runs.get(deps, run.id)


async def test_a_freeze_holds_what_runs_and_the_thaw_lets_it_go_on(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    run = await live(supervised, lines)
    held = await freezing.freeze(supervised, who=ADMIN, why="Database move until 15:00.")
    assert (held.runs, held.running) == (1, 1)
    (tmp_path / "a.open").touch()
    paused = await until(supervised, run.id, RunStatus.PAUSED)
    assert (paused.reason, lines("change")) == (Hold.FREEZE, [])

    await freezing.thaw(supervised, who=ADMIN)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("change") == ["b"]


async def test_p4_nothing_is_let_go_and_nothing_is_asked_while_everything_is_held(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    waiting, run = await asked(supervised, PLAN), await live(supervised, lines)
    await controls.pause(supervised, run.id, who=MEMBER)
    await freezing.freeze(supervised, who=ADMIN, why="move")
    (tmp_path / "a.open").touch()
    await until(supervised, run.id, RunStatus.PAUSED)

    with pytest.raises(Refused, match="frozen"):
        await controls.resume(supervised, run.id, who=REQUESTER)
    with pytest.raises(Refused, match="frozen"):
        await asked(supervised, PLAN)
    approved = await review.approve(supervised, waiting.id, 1, who=APPROVER, received_at=supervised.now())
    assert approved.status is RunStatus.QUEUED

    await freezing.thaw(supervised, who=ADMIN)
    await until(supervised, waiting.id, RunStatus.SUCCEEDED)
    stands = await runs.get(supervised, run.id)
    assert (stands.status, stands.reason) == (RunStatus.PAUSED, Hold.PERSON), "the thaw lets go only what stood for the freeze"


async def test_stop_works_while_everything_is_held(supervised: Deps, lines: Lines) -> None:
    run = await live(supervised, lines)
    await freezing.freeze(supervised, who=ADMIN, why="")
    await controls.stop(supervised, run.id, who=MEMBER)
    await until(supervised, run.id, RunStatus.STOPPED)


async def test_a_freeze_at_a_breakpoint_leaves_the_breakpoint(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    run = await live(supervised, lines, PLAN + " !break")
    (tmp_path / "a.open").touch()
    held = await until(supervised, run.id, RunStatus.PAUSED)
    await freezing.freeze(supervised, who=ADMIN, why="")
    assert (await runs.get(supervised, run.id)).reason is Hold.BREAKPOINT
    with pytest.raises(Refused, match="frozen"):
        await controls.proceed(supervised, run.id, held.held_step, who=REQUESTER)
    await freezing.thaw(supervised, who=ADMIN)
    assert (await runs.get(supervised, run.id)).reason is Hold.BREAKPOINT
    await controls.proceed(supervised, run.id, held.held_step, who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)


async def test_a_redirect_that_is_approved_while_everything_is_held_waits_for_the_thaw(
    supervised: Deps, lines: Lines, tmp_path: Path
) -> None:
    run = await live(supervised, lines)
    await redirecting.redirect(supervised, run.id, text="add c: test.change name=c after=g", who=REQUESTER)
    (tmp_path / "a.open").touch()

    async def waits() -> bool:
        return (await runs.get(supervised, run.id)).redirect is Redirect.REVIEW

    await eventually(waits, "the new rest to wait")
    await freezing.freeze(supervised, who=ADMIN, why="")
    await review.approve(supervised, run.id, 2, who=APPROVER, received_at=supervised.now())
    stands = await runs.get(supervised, run.id)
    assert (stands.status, stands.reason, stands.revision) == (RunStatus.PAUSED, Hold.FREEZE, 2)
    await freezing.thaw(supervised, who=ADMIN)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert sorted(lines("change")) == ["b", "c"]


async def test_only_admins_freeze_and_thaw_and_it_is_on_record_for_the_whole_bot(deps: Deps) -> None:
    for who in (REQUESTER, APPROVER, MEMBER):
        with pytest.raises(Refused, match="not_admin"):
            await freezing.freeze(deps, who=who, why="")
    await freezing.freeze(deps, who=ADMIN, why="move")
    with pytest.raises(Refused, match="already_frozen"):
        await freezing.freeze(deps, who=ADMIN, why="again")
    with pytest.raises(Refused, match="not_admin"):
        await freezing.thaw(deps, who=APPROVER)
    await freezing.thaw(deps, who=ADMIN)
    with pytest.raises(Refused, match="not_frozen"):
        await freezing.thaw(deps, who=ADMIN)

    entries = await deps.store.read(lambda conn: audit.entries(conn, audit.NO_RUN))
    assert [(entry.event, entry.actor) for entry in entries] == [(Event.FROZEN, "U0ADMIN"), (Event.THAWED, "U0ADMIN")]
    assert await deps.store.read(audit.verify) == []


async def test_a_freeze_survives_a_restart(tmp_path: Path, clock: Clock, lines: Lines) -> None:
    first = await open_parts(tmp_path, clock=clock, PULLCORD_GRACE=0)
    attending = Supervisor(first)
    first.tasks.start(attending.run(), name="supervisor")
    run = await asked(first, "g: test.readgate name=r\nb: test.change name=b after=g")
    await review.approve(first, run.id, 1, who=APPROVER, received_at=first.now())

    async def reading() -> bool:
        return lines("readgate") == ["r"]

    await eventually(reading, "the read to start")
    await freezing.freeze(first, who=ADMIN, why="move")
    await attending.close()
    await close_parts(first)

    again = await open_parts(tmp_path, clock=clock)
    attending = Supervisor(again)
    again.tasks.start(attending.run(), name="supervisor")
    try:
        freeze = await runs.frozen(again)
        assert freeze is not None
        assert (freeze.by, freeze.why) == ("U0ADMIN", "move")
        (tmp_path / "r.open").touch()
        stands = await until(again, run.id, RunStatus.PAUSED)
        assert stands.reason is Hold.FREEZE
        await freezing.thaw(again, who=ADMIN)
        await until(again, run.id, RunStatus.SUCCEEDED)
    finally:
        await attending.close()
        await close_parts(again)

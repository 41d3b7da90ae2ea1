"""Keys from arguments: two runs never work under the same one, it is kept until its run ends, and nobody waits for ever."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot import runs
from bot.activities.dispatching import dispatch
from bot.commands import controls, freezing, redirecting
from bot.core import policy
from bot.core.run import Hold, Run, RunStatus, StepStatus
from bot.core.snapshot import LockWait
from bot.deps import Deps
from bot.store import locks
from bot.supervisor import Supervisor
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import MEMBER, REQUESTER, close_parts, open_parts
from tests.doubles.policies import DEMO_POLICY
from tests.doubles.waiting import eventually

Lines = Callable[[str], list[str]]
ADMIN = policy.Member(id="U0ADMIN", team="T0HOME", is_admin=True)


async def begun(deps: Deps, plan: str) -> Run:
    run = await asked(deps, plan)
    await approved(deps, run.id)
    return run


async def working(lines: Lines, name: str, times: int = 1) -> None:
    async def probe() -> bool:
        return lines("locked").count(name) == times

    await eventually(probe, f"{times} steps to have begun under the key {name}")


async def waits(deps: Deps, run: Run) -> LockWait:
    """What the run stands in line for."""

    async def probe() -> tuple[LockWait, ...]:
        return (await runs.snapshot(deps, run.id)).lock_waits

    return (await eventually(probe, f"{run.id} to wait for a key"))[0]


async def held(deps: Deps, run: Run) -> list[str]:
    return await deps.store.read(lambda conn: locks.held(conn, run.id))


async def test_a_second_run_waits_until_the_first_has_ended_and_says_for_whom(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    first = await begun(supervised, "a: test.locked name=x")
    await working(lines, "x")
    second = await begun(supervised, "b: test.locked name=x")

    wait = await waits(supervised, second)
    assert (wait.step, wait.key, wait.holder, wait.requester) == ("b", "test:x", first.id, REQUESTER.id)
    assert lines("locked") == ["x"]
    (tmp_path / "x.open").touch()
    await until(supervised, first.id, RunStatus.SUCCEEDED)
    await until(supervised, second.id, RunStatus.SUCCEEDED)

    assert lines("locked") == ["x", "x"]
    assert (await runs.snapshot(supervised, second.id)).lock_waits == ()
    assert await held(supervised, first) == await held(supervised, second) == []


async def test_a_key_is_kept_through_a_pause_and_let_go_by_stop(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    (tmp_path / "x.open").touch()
    first = await begun(supervised, "a: test.locked name=x\nb: test.change name=b after=a !break")
    await until(supervised, first.id, RunStatus.PAUSED)
    second = await begun(supervised, "b: test.locked name=x")

    assert (await waits(supervised, second)).holder == first.id
    await controls.stop(supervised, first.id, who=MEMBER)
    await until(supervised, second.id, RunStatus.SUCCEEDED)

    assert lines("locked") == ["x", "x"]


async def test_other_keys_are_free(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    await begun(supervised, "a: test.locked name=x")
    await working(lines, "x")
    (tmp_path / "y.open").touch()
    other = await begun(supervised, "a: test.locked name=y")

    await until(supervised, other.id, RunStatus.SUCCEEDED)


async def test_a_run_that_waits_can_be_paused_and_stopped(supervised: Deps, lines: Lines) -> None:
    await begun(supervised, "a: test.locked name=x")
    await working(lines, "x")
    second, third = await begun(supervised, "b: test.locked name=x"), await begun(supervised, "b: test.locked name=x")
    await waits(supervised, second)
    await waits(supervised, third)

    await controls.pause(supervised, second.id, who=MEMBER)
    assert (await until(supervised, second.id, RunStatus.PAUSED)).reason is Hold.PERSON
    await controls.stop(supervised, third.id, who=MEMBER)
    assert (await until(supervised, third.id, RunStatus.STOPPED)).status is RunStatus.STOPPED


async def test_of_two_runs_that_would_wait_for_one_another_the_later_one_fails(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    """Each holds what the other needs; one of them can go on, since the other says so and stops waiting."""
    (tmp_path / "x.open").touch()
    (tmp_path / "y.open").touch()
    first = await begun(supervised, "a: test.locked name=x\ng: test.gate name=one after=a\nb: test.locked name=y after=g")
    second = await begun(supervised, "a: test.locked name=y\ng: test.gate name=two after=a\nb: test.locked name=x after=g")
    await working(lines, "x")
    await working(lines, "y")
    (tmp_path / "one.open").touch()
    assert (await waits(supervised, first)).holder == second.id
    (tmp_path / "two.open").touch()

    stands = await until(supervised, second.id, RunStatus.PAUSED)
    assert (stands.reason, stands.held_step) == (Hold.STEP_FAILED, "b")
    error = (await runs.snapshot(supervised, second.id)).state("b").error or ""
    assert error.startswith(f"{first.id} holds test:x until it ends, and waits itself for what this run holds")
    await controls.skip(supervised, second.id, "b", who=REQUESTER)
    await until(supervised, second.id, RunStatus.SUCCEEDED)
    await until(supervised, first.id, RunStatus.SUCCEEDED)


async def test_the_policy_adds_keys_and_a_step_takes_all_of_them_or_none(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    text = DEMO_POLICY + 'locks: {"test.change": "thing:{name}", "test.locked": "house"}\n'
    supervised.rules.policy = policy.parse(text, source="policy.yml")
    first = await begun(supervised, "c: test.change name=z\ng: test.gate name=g after=c")

    async def has_it() -> bool:
        return await held(supervised, first) == ["thing:z"]

    await eventually(has_it, "the policy's key to be taken")
    (tmp_path / "x.open").touch()
    second = await begun(supervised, "a: test.locked name=x\nc: test.change name=z after=a")

    assert (await waits(supervised, second)).key == "thing:z"
    assert await held(supervised, second) == ["house", "test:x"]
    third = await begun(supervised, "a: test.locked name=q")
    assert (await waits(supervised, third)).key == "house"
    assert await held(supervised, third) == [], "test:q is not taken by one who cannot have the house"
    (tmp_path / "g.open").touch()
    (tmp_path / "q.open").touch()
    for run in (first, second, third):
        await until(supervised, run.id, RunStatus.SUCCEEDED)


async def test_a_step_that_another_revision_drops_waits_for_nothing(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    first = await begun(supervised, "a: test.locked name=x")
    await working(lines, "x")
    second = await begun(supervised, "b: test.locked name=x\nc: test.change name=c")
    await waits(supervised, second)

    await redirecting.redirect(supervised, second.id, text="skip b", who=REQUESTER)
    await until(supervised, second.id, RunStatus.SUCCEEDED)

    assert lines("change") == ["c"]
    (tmp_path / "x.open").touch()
    await until(supervised, first.id, RunStatus.SUCCEEDED)


@pytest.mark.parametrize("ended", [True, False])
async def test_a_key_outlives_the_process_and_not_the_run(deps: Deps, lines: Lines, tmp_path: Path, ended: bool) -> None:
    """The key is a row: whoever comes next finds it, in whatever process; a run that has ended keeps nothing."""
    from bot.activities.drafting import draft
    from bot.commands import intake

    async def prepared(plan: str) -> str:
        run = await intake.open_run(
            deps, ask=plan, who=REQUESTER, team="T0HOME", channel="C0OPS", thread_ts="1.1", source_ts=None, event_key=None
        )
        assert run is not None
        await draft(deps, run.id)
        await approved(deps, run.id)
        return run.id

    (tmp_path / "x.open").touch()
    first, second = await prepared("a: test.locked name=x\nb: test.change name=b after=a !break"), await prepared("a: test.locked name=x")
    await dispatch(deps, first, share=lambda: 4)
    if ended:
        await controls.stop(deps, first, who=MEMBER)
    rooms = iter([4, 4])
    await dispatch(deps, second, share=lambda: next(rooms, 0))  # the bot goes down after a look or two

    state = (await runs.snapshot(deps, second)).state("a")
    assert state.status is (StepStatus.SUCCEEDED if ended else StepStatus.PENDING)
    assert lines("locked") == (["x", "x"] if ended else ["x"])


async def test_a_run_that_only_waits_for_a_key_takes_no_place_from_others(tmp_path: Path, clock: Clock, lines: Lines) -> None:
    """The holder may need the place to come to its end: else both would wait for ever."""
    deps = await open_parts(tmp_path, clock=clock, PULLCORD_POOL=1)
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    (tmp_path / "x.open").touch()
    first = await begun(deps, "a: test.locked name=x\nb: test.change name=b after=a !break")
    await until(deps, first.id, RunStatus.PAUSED)
    second = await begun(deps, "a: test.locked name=x")
    await waits(deps, second)

    third = await begun(deps, "c: test.change name=c")
    await until(deps, third.id, RunStatus.SUCCEEDED)
    await freezing.freeze(deps, who=ADMIN, why="drill")
    await freezing.thaw(deps, who=ADMIN)  # whoever was running is in line for a place again
    await controls.proceed(deps, first.id, "b", who=REQUESTER)

    for run in (first, second):
        await until(deps, run.id, RunStatus.SUCCEEDED)
    await supervisor.close()
    await close_parts(deps)

"""So many steps with an effect in a row, and nobody looked: the run waits until somebody does."""

from collections.abc import Callable
from pathlib import Path

from bot import runs
from bot.commands import controls
from bot.core import policy
from bot.core.run import Event, Hold, Run, RunStatus
from bot.deps import Deps
from tests.conftest import until
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import REQUESTER
from tests.doubles.waiting import eventually

Lines = Callable[[str], list[str]]
POLICY = 'profile: team\napprovers: ["@ops-leads"]\ntools: {"test.*": {mode: ask}}\nlimits: {unattended: 2}\n'


async def begun(deps: Deps, plan: str) -> Run:
    deps.rules.policy = policy.parse(POLICY, source="policy.yml")
    run = await asked(deps, plan)
    await approved(deps, run.id)
    return run


async def stands(deps: Deps, run: Run, step: str, *ran: str) -> None:
    """It waits before that step, and says what ran since somebody acted."""
    now = await until(deps, run.id, RunStatus.PAUSED)
    assert (now.reason, now.held_step) == (Hold.UNATTENDED, step)
    found = await runs.snapshot(deps, run.id, entries=True)
    held = [entry for entry in found.entries if entry.event == Event.HELD][-1]
    assert (held.data["ran"], held.data["limit"]) == (list(ran), 2)


def chain(*names: str, tool: str = "test.change") -> str:
    """One after the other."""
    return "\n".join(f"{name}: {tool} name={name}{f' after={names[at - 1]}' if at else ''}" for at, name in enumerate(names))


async def test_two_effects_in_a_row_and_somebody_must_look(supervised: Deps, lines: Lines) -> None:
    run = await begun(supervised, chain("a", "b", "c", "d", "e"))

    await stands(supervised, run, "c", "a", "b")
    await controls.proceed(supervised, run.id, "c", who=REQUESTER)
    await stands(supervised, run, "e", "c", "d")
    await controls.proceed(supervised, run.id, "e", who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)

    assert lines("change") == list("abcde")


async def test_reads_do_not_count(supervised: Deps, lines: Lines) -> None:
    run = await begun(supervised, chain("r", "s", "t", tool="test.look") + "\nw: test.change name=w after=t")

    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("look") == list("rst")


async def test_never_more_than_that_are_out_at_once(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    run = await begun(supervised, "\n".join(f"{name}: test.gate name={name}" for name in "abcd"))

    async def held() -> bool:
        return (await runs.get(supervised, run.id)).status is RunStatus.PAUSING

    await eventually(held, "the hold while two steps run")
    assert sorted(lines("gate")) == ["a", "b"]
    for name in "abcd":
        (tmp_path / f"{name}.open").touch()
    await stands(supervised, run, "c", "a", "b")
    assert sorted(lines("gate")) == ["a", "b"]


async def test_whoever_acts_on_the_run_begins_the_count_anew(supervised: Deps, lines: Lines) -> None:
    """A breakpoint that somebody lets go is such an act; what nobody was let do is not."""
    run = await begun(supervised, chain("a", "b", "c", "d") + " !break")
    await stands(supervised, run, "c", "a", "b")
    await controls.proceed(supervised, run.id, "c", who=REQUESTER)

    now = await until(supervised, run.id, RunStatus.PAUSED)
    assert (now.reason, now.held_step) == (Hold.BREAKPOINT, "d")
    await controls.proceed(supervised, run.id, "d", who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)


async def test_continue_does_not_pass_a_breakpoint_that_comes_first(supervised: Deps, lines: Lines) -> None:
    run = await begun(supervised, chain("a", "b") + "\nc: test.change name=c after=b !break")

    now = await until(supervised, run.id, RunStatus.PAUSED)

    assert (now.reason, now.held_step) == (Hold.BREAKPOINT, "c")
    await controls.proceed(supervised, run.id, "c", who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)

"""P5: what a run has done is not done again by a later revision, unless what it read has changed since."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot import runs
from bot.commands import confirming, controls, redirecting, review
from bot.core.notation import parse
from bot.core.reuse import read_again
from bot.core.run import Event, Hold, Redirect, Run, RunStatus, StepStatus
from bot.deps import Deps
from bot.errors import Refused
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import APPROVER, APPROVER2, REQUESTER
from tests.doubles.waiting import eventually

Lines = Callable[[str], list[str]]
PLAN = "n: files.read path=n.md\nc: test.change name=c\nb: test.change name=b after=n,c !break"


async def at_the_breakpoint(deps: Deps, tmp_path: Path, plan: str = PLAN) -> Run:
    (tmp_path / "files" / "n.md").write_text("first")
    run = await asked(deps, plan)
    await approved(deps, run.id)
    return await until(deps, run.id, RunStatus.PAUSED)


async def redirected(deps: Deps, run: Run, text: str) -> None:
    """The change is planned and approved, and the run goes on past its breakpoint."""
    await redirecting.redirect(deps, run.id, text=text, who=REQUESTER)

    async def planned() -> Run | None:
        now = await runs.get(deps, run.id)
        return now if now.redirect is Redirect.REVIEW or now.redirect is None else None

    if (now := await eventually(planned, "the new rest")).proposed:
        await review.approve(deps, run.id, now.proposed, who=APPROVER, received_at=deps.now())
    await until(deps, run.id, RunStatus.PAUSED)
    await controls.proceed(deps, run.id, "b", who=REQUESTER)
    await until(deps, run.id, RunStatus.SUCCEEDED)


async def test_the_same_read_again_takes_the_result_that_is_there(supervised: Deps, tmp_path: Path) -> None:
    run = await at_the_breakpoint(supervised, tmp_path)
    await redirected(supervised, run, "add again: files.read path=n.md")

    snapshot = await runs.snapshot(supervised, run.id, entries=True)
    kept = next(entry for entry in snapshot.entries if entry.event == Event.STEP_KEPT)
    assert (kept.data["step"], kept.data["kept_from"]) == ("again", "n")
    again, first = snapshot.state("again"), snapshot.state("n")
    assert again.status is StepStatus.SUCCEEDED
    assert again.observation == first.observation
    assert again.attempt == 0, "the tool was not called"


async def test_a_read_whose_source_has_changed_runs_again(supervised: Deps, tmp_path: Path) -> None:
    run = await at_the_breakpoint(supervised, tmp_path)
    (tmp_path / "files" / "n.md").write_text("second, and longer")
    await redirected(supervised, run, "add again: files.read path=n.md")

    snapshot = await runs.snapshot(supervised, run.id)
    again = snapshot.state("again")
    assert again.attempt == 1
    assert again.observation is not None
    assert again.observation.value["text"] == "second, and longer"


async def test_a_read_that_waits_for_a_later_change_runs_again_whatever_its_tool_can_tell(supervised: Deps, tmp_path: Path) -> None:
    run = await at_the_breakpoint(
        supervised, tmp_path, "n: test.look name=n\nc: test.change name=c after=n\nb: test.change name=b after=c !break"
    )
    await redirected(supervised, run, "add again: test.look name=n after=c")
    assert (await runs.snapshot(supervised, run.id)).state("again").attempt == 1


async def test_p6_the_same_effect_again_is_taken_as_done(supervised: Deps, tmp_path: Path, lines: Lines) -> None:
    run = await at_the_breakpoint(supervised, tmp_path)
    await redirected(supervised, run, "add again: test.change name=c")
    assert sorted(lines("change")) == ["b", "c"]


async def test_a_read_that_a_plan_makes_twice_is_made_twice(supervised: Deps, tmp_path: Path) -> None:
    plan = "x: files.read path=n.md\nc: test.change name=c after=x\ny: files.read path=n.md after=c"
    (tmp_path / "files" / "n.md").write_text("first")
    run = await asked(supervised, plan)
    await approved(supervised, run.id)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    snapshot = await runs.snapshot(supervised, run.id)
    assert [snapshot.state(name).attempt for name in ("x", "y")] == [1, 1]


async def confirming_filling(deps: Deps, run_id: str, *, but: str = "") -> str:
    """The values that the run waits to have confirmed, once they are others than these."""

    async def probe() -> str | None:
        snapshot = await runs.snapshot(deps, run_id)
        cards = [post.data["filling"] for post in snapshot.posts if post.card == "confirm"]
        waits = snapshot.run.status is RunStatus.PAUSED and snapshot.run.reason is Hold.CONFIRM
        return cards[-1] if waits and cards and cards[-1] != but else None

    return await eventually(probe, "a step to wait for confirmation")


async def test_p3_a_confirmation_is_void_once_what_it_was_made_from_has_changed(supervised: Deps, tmp_path: Path, lines: Lines) -> None:
    (tmp_path / "files" / "n.md").write_text("first")
    plan = 'n: files.read path=n.md\nb: text.summarize text="{{n.text}}"\nd: test.destroy name="{{b.summary}}"'
    run = await asked(supervised, plan)
    await approved(supervised, run.id, APPROVER, APPROVER2)
    filling = await confirming_filling(supervised, run.id)

    (tmp_path / "files" / "n.md").write_text("second, and longer")
    await confirming.confirm(supervised, run.id, "d", digest8=filling, who=APPROVER)
    other = await confirming_filling(supervised, run.id, but=filling)
    assert lines("destroy") == []
    with pytest.raises(Refused, match="confirm_void"):
        await confirming.confirm(supervised, run.id, "d", digest8=filling, who=APPROVER)

    await confirming.confirm(supervised, run.id, "d", digest8=other, who=APPROVER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("destroy") == ["second,", "and", "longer"]
    assert (await runs.snapshot(supervised, run.id)).state("n").attempt == 2


async def test_what_never_stays_the_same_is_read_again_only_once(supervised: Deps, clock: Clock, lines: Lines) -> None:
    plan = 'n: time.now\nd: test.destroy name="{{n.iso}}"'
    run = await asked(supervised, plan)
    await approved(supervised, run.id, APPROVER, APPROVER2)
    filling = await confirming_filling(supervised, run.id)
    clock.advance(seconds=5)
    await confirming.confirm(supervised, run.id, "d", digest8=filling, who=APPROVER)
    other = await confirming_filling(supervised, run.id, but=filling)
    clock.advance(seconds=5)
    await confirming.confirm(supervised, run.id, "d", digest8=other, who=APPROVER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert len(lines("destroy")) == 1


def test_what_has_an_effect_is_not_repeated_because_its_source_has_changed() -> None:
    plan = parse('n: files.read path=n\nw: files.write path=x text="{{n.text}}"\nd: files.delete path="{{w.path}}"', goal="g")
    assert read_again(plan, "d", ["n"], ["n"]) == ()
    assert read_again(plan, "w", ["n"], ["n"]) == ("n",)

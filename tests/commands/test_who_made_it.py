"""A yes covers what it was given to and nothing else; who made a plan does not also approve it; what was taken back is not acted on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot import runs
from bot.activities.hearing import hear
from bot.commands import confirming, controls, editing, freezing, redirecting, review, silence
from bot.core.drafts import Reply
from bot.core.ids import Digest
from bot.core.policy import Member
from bot.core.run import Hold, Redirect, RunStatus
from bot.deps import Deps
from bot.errors import Refused
from bot.store import replies
from tests.commands.test_editing import confirming_run, edited
from tests.conftest import until
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import APPROVER, APPROVER2, MEMBER, REQUESTER
from tests.doubles.waiting import eventually

Lines = Callable[[str], list[str]]


async def reviewed_rest(deps: Deps, run_id: str, revision: int) -> None:
    async def probe() -> bool:
        return (await runs.get(deps, run_id)).proposed == revision

    await eventually(probe, f"revision {revision} to wait")


async def confirm_card(deps: Deps, run_id: str, step: str) -> dict[str, Any]:
    """The newest card that asks about that step, once the run waits there."""

    async def probe() -> dict[str, Any] | None:
        snapshot = await runs.snapshot(deps, run_id)
        cards = [post.data for post in snapshot.posts if post.card == "confirm" and post.data["step"] == step]
        waits = snapshot.run.status is RunStatus.PAUSED and snapshot.run.held_step == step
        return cards[-1] if cards and waits and cards[-1]["revision"] == snapshot.run.revision else None

    return await eventually(probe, f"step {step} to ask")


def redefine(deps: Deps, name: str) -> None:
    """The tool is another one since now, as after a restart with a new version of its file."""
    deps.tools._digests[name] = Digest("another")  # noqa: SLF001 - a registry takes each name once, and a process its file


async def test_p2_a_plan_that_is_reached_again_is_asked_again(supervised: Deps, lines: Lines) -> None:
    plan = "a: test.change name=a\nb: test.change name=b after=a !break\nd: test.change name=evil after=b"
    run = await asked(supervised, plan)
    await approved(supervised, run.id, APPROVER)
    await until(supervised, run.id, RunStatus.PAUSED)
    await redirecting.redirect(supervised, run.id, text="skip d", who=APPROVER)

    async def gone() -> bool:
        return (await runs.get(supervised, run.id)).revision == 2

    await eventually(gone, "the step to be gone")
    await until(supervised, run.id, RunStatus.PAUSED)
    back = await editing.save(supervised, run.id, base=2, plan=await edited(supervised, run.id, plan), who=REQUESTER)
    assert (back.proposed, back.redirect) == (3, Redirect.REVIEW)
    assert "evil" not in lines("change")


async def test_p2_an_edit_back_to_an_earlier_plan_takes_no_yes_with_it(supervised: Deps) -> None:
    plan = "a: test.change name=a\nd: test.destroy name=d after=a"
    run = await asked(supervised, plan)
    await approved(supervised, run.id, APPROVER)
    await editing.save(supervised, run.id, base=1, plan=await edited(supervised, run.id, "a: test.change name=a"), who=REQUESTER)
    await editing.save(supervised, run.id, base=2, plan=await edited(supervised, run.id, plan), who=REQUESTER)
    assert (await approved(supervised, run.id, APPROVER2, revision=3)).status is RunStatus.IN_REVIEW
    assert (await approved(supervised, run.id, APPROVER, revision=3)).status is RunStatus.QUEUED


async def test_p3_one_person_may_confirm_two_steps_with_the_same_values(supervised: Deps, lines: Lines) -> None:
    run = await asked(supervised, "d: test.destroy name=x\ne: test.destroy name=y after=d\np: test.change name=z after=e")
    await approved(supervised, run.id, APPROVER, APPROVER2)
    for step in ("d", "e"):
        card = await confirm_card(supervised, run.id, step)
        await confirming.confirm(supervised, run.id, step, digest8=card["filling"], revision=1, who=APPROVER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("destroy") == ["x", "y"]


async def test_p3_a_confirm_of_another_revision_is_void(supervised: Deps) -> None:
    run, filling = await confirming_run(supervised, "d: test.destroy name=d")
    with pytest.raises(Refused, match="confirm_void"):
        await confirming.confirm(supervised, run.id, "d", digest8=filling, revision=2, who=APPROVER)


async def test_p3_what_would_change_is_shown_anew_when_it_has_changed(supervised: Deps, tmp_path: Path) -> None:
    (tmp_path / "files" / "n.md").write_text("as it was")
    run = await asked(supervised, "d: files.delete path=n.md")
    await approved(supervised, run.id, APPROVER, APPROVER2)
    first = await confirm_card(supervised, run.id, "d")
    await controls.pause(supervised, run.id, who=MEMBER)
    (tmp_path / "files" / "n.md").write_text("precious, and new")
    await controls.resume(supervised, run.id, who=REQUESTER)
    second = await confirm_card(supervised, run.id, "d")
    assert (first["preview"]["before"], second["preview"]["before"]) == ("as it was", "precious, and new")


async def test_who_gave_a_high_risk_step_its_values_does_not_confirm_them(supervised: Deps, lines: Lines) -> None:
    run, filling = await confirming_run(supervised, "d: test.destroy name=d")
    await editing.change_arguments(supervised, run.id, "d", digest8=filling, args={"name": "everything"}, who=APPROVER)
    card = await confirm_card(supervised, run.id, "d")
    with pytest.raises(Refused, match="own_edit"):
        await confirming.confirm(supervised, run.id, "d", digest8=card["filling"], revision=2, who=APPROVER)
    assert lines("destroy") == []


async def test_a_later_revision_by_the_planner_washes_nobodys_hand_off_what_they_put_in(supervised: Deps) -> None:
    run = await asked(supervised, "a: test.change name=a")
    new = await edited(supervised, run.id, "a: test.change name=a\nevil: test.change name=evil")
    await editing.save(supervised, run.id, base=1, plan=new, who=APPROVER)
    await review.ask_changes(supervised, run.id, 2, words="add z: test.look name=z", who=APPROVER)
    await until(supervised, run.id, RunStatus.IN_REVIEW)
    with pytest.raises(Refused, match="own_edit"):
        await approved(supervised, run.id, APPROVER, revision=3)
    assert (await approved(supervised, run.id, APPROVER2, revision=3)).status is RunStatus.QUEUED


async def test_p5_an_effect_that_something_has_undone_is_not_taken_as_done(supervised: Deps, tmp_path: Path) -> None:
    plan = "a: files.write path=out.md text=draft\nb: files.write path=out.md text=final after=a\nc: test.change name=c after=b !break"
    run = await asked(supervised, plan)
    await approved(supervised, run.id, APPROVER)
    await until(supervised, run.id, RunStatus.PAUSED)
    await redirecting.redirect(supervised, run.id, text="add w: files.write path=out.md text=draft", who=REQUESTER)
    await reviewed_rest(supervised, run.id, 2)
    await approved(supervised, run.id, APPROVER, revision=2)
    await until(supervised, run.id, RunStatus.PAUSED)
    await controls.proceed(supervised, run.id, "c", who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert (tmp_path / "files" / "out.md").read_text() == "draft"


async def test_a_guard_that_is_skipped_has_what_it_guarded_asked_again(supervised: Deps, lines: Lines) -> None:
    run = await asked(supervised, "check: test.change name=check !break\ndeploy: test.change name=deploy after=check")
    await approved(supervised, run.id, APPROVER)
    await until(supervised, run.id, RunStatus.PAUSED)
    await redirecting.redirect(supervised, run.id, text="skip check", who=REQUESTER)
    await reviewed_rest(supervised, run.id, 2)
    assert lines("change") == []


async def test_never_mind_takes_back_what_is_still_being_made_out(supervised: Deps) -> None:
    run = await asked(supervised, "a: test.change name=a\nb: test.change name=b after=a !break")
    await approved(supervised, run.id, APPROVER)
    await until(supervised, run.id, RunStatus.PAUSED)
    said = Reply(ts="9.1", actor=REQUESTER.id, text="skip b")
    await supervised.store.write(lambda conn: replies.heard(conn, run.id, said, at=supervised.now(), kind=None))
    await redirecting.withdraw(supervised, run.id, who=REQUESTER)
    await hear(supervised, run.id)
    assert (await runs.get(supervised, run.id)).redirect is None


async def test_p4_what_was_said_before_the_stop_begins_no_other_run(supervised: Deps) -> None:
    run = await asked(supervised, "a: test.change name=a\nb: test.change name=b after=a !break")
    await approved(supervised, run.id, APPROVER)
    await until(supervised, run.id, RunStatus.PAUSED)
    said = Reply(ts="9.1", actor=REQUESTER.id, text="add c: test.look name=c")
    await supervised.store.write(lambda conn: replies.heard(conn, run.id, said, at=supervised.now(), kind=None))
    await controls.stop(supervised, run.id, who=MEMBER)
    await hear(supervised, run.id)
    assert [one.id for one in await runs.listing(supervised)] == [run.id]


async def test_an_old_never_mind_drops_no_newer_redirect(supervised: Deps) -> None:
    run = await asked(supervised, "a: test.change name=a\nb: test.change name=b after=a !break")
    await approved(supervised, run.id, APPROVER)
    await until(supervised, run.id, RunStatus.PAUSED)
    await redirecting.redirect(supervised, run.id, text="add c: test.change name=c", who=REQUESTER)
    await reviewed_rest(supervised, run.id, 2)
    await redirecting.redirect(supervised, run.id, text="add d: test.change name=d", who=REQUESTER)
    await reviewed_rest(supervised, run.id, 3)
    with pytest.raises(Refused, match="stale"):
        await redirecting.withdraw(supervised, run.id, who=REQUESTER, revision=2)


async def test_p10_changes_that_lead_nowhere_count_too(supervised: Deps) -> None:
    run = await asked(supervised, "a: test.change name=a")
    for _ in range(2):
        await review.ask_changes(supervised, run.id, 1, words="fax it to the moon", who=APPROVER)
        await until(supervised, run.id, RunStatus.IN_REVIEW)
    with pytest.raises(Refused, match="no_revisions_left"):
        await review.ask_changes(supervised, run.id, 1, words="fax it to the moon", who=APPROVER)


async def test_p9_nothing_of_a_live_run_expires_while_nobody_may_decide(supervised: Deps, clock: Any) -> None:
    run, _ = await confirming_run(supervised, "d: test.destroy name=d")
    admin = Member(id="U0ADMIN", is_admin=True)
    await freezing.freeze(supervised, who=admin, why="move")
    clock.advance(hours=2)
    assert await silence.expire(supervised) == []
    assert (await runs.get(supervised, run.id)).reason is Hold.CONFIRM


async def test_p11_the_words_of_a_freeze_are_masked(deps: Deps) -> None:
    token = "xoxb-1234567890-" + "abcdefghijkl"
    held = await freezing.freeze(deps, who=Member(id="U0ADMIN", is_admin=True), why=f"rotating {token}")
    assert token not in held.freeze.why


async def test_p2_a_tool_that_has_changed_is_not_approved_by_way_of_another_steps_arguments(supervised: Deps) -> None:
    run, filling = await confirming_run(supervised, "d: test.destroy name=d\ne: test.change name=e after=d")
    stored = await runs.snapshot(supervised, run.id)
    assert stored.tool_digests["test.change"] != Digest("")
    redefine(supervised, "test.change")
    with pytest.raises(Refused, match="tool_changed"):
        await editing.change_arguments(supervised, run.id, "d", digest8=filling, args={"name": "x"}, who=APPROVER)

"""Clicks that must not count, as Slack delivers them: of people who may not, forged, stale, and without what must be typed (C061, C067)."""

import asyncio
from typing import Any

import pytest

from bot.commands import silence
from bot.core.run import Event
from bot.workspace.records import Person
from tests.doubles.clock import Clock
from tests.doubles.policies import DEMO_POLICY
from tests.doubles.town import button_of, buttons, run_id_in, text_of
from tests.doubles.waiting import eventually
from tests.handlers.conftest import Hall, MakeHall
from tests.handlers.test_review import entries, reviewed, turn

HIGH = "test.destroy name=Prod"
CHANGE = "test.change name=a"
IN_WRITING = DEMO_POLICY + "\nstep_up: [high]\n"
Json = dict[str, Any]


def typed(words: str) -> Json:
    return {"typed": {"value": {"type": "plain_text_input", "value": words}}}


async def forged(hall: Hall, name: str, card: Json, label: str, **instead: Any) -> Any:
    """The press of a button, with something else in it than Slack would put there."""
    block_id, element = button_of(card, label)
    body = {"channel": "#ops", "message_ts": card["ts"], "action_id": element["action_id"], "block_id": block_id, "value": element["value"]}
    return await hall.people.call("POST", f"/people/{name}/actions", {**body, **instead})


async def group_is(hall: Hall, *people: str) -> None:
    """Somebody edits the user group @ops-leads."""
    state = hall.workspace._world.state  # noqa: SLF001 - the workspace's own page has no such form
    group = next(one for one in state.groups.values() if one.handle == "ops-leads")
    state.put("groups", group.id, group.model_copy(update={"users": tuple(people)}))


async def another_card(hall: Hall, run_id: str) -> Json:
    """The review of another run."""

    async def probe() -> Json | None:
        found = await hall.person("approver").card("#ops", "Approve")
        return found if run_id_in(found) != run_id else None

    return await eventually(probe, "the card of another run")


# people


@pytest.mark.parametrize(
    ("name", "words", "kind"),
    [
        ("member", "not among them", "not_allowed"),
        ("requester", "not among them", "not_allowed"),
        ("guest", "guests do not decide", "guest"),
        ("otherbot", "bots do not decide", "bot"),
    ],
)
async def test_who_may_not_is_told_privately_with_the_next_move_and_it_is_on_record(hall: Hall, name: str, words: str, kind: str) -> None:
    run_id, card = await reviewed(hall)
    await forged(hall, name, card, "Approve")

    async def recorded() -> list[Any]:
        return await entries(hall, run_id, Event.CLICK_REFUSED)

    (entry,) = await eventually(recorded, "the refused click to be on record")
    assert (entry.actor, entry.data["kind"]) == (f"U0{name.upper()}", kind)
    if name != "otherbot":  # Slack shows a bot nothing
        told = text_of(await hall.person(name).told(words))
        assert "Next:" in told
    assert (await hall.show(run_id)).run.status == "in_review"


async def test_somebody_of_another_workspace_decides_nothing_in_a_shared_channel(hall: Hall) -> None:
    await hall.person("requester").command("#partners", "/plan", CHANGE)
    card = await hall.person("partner").card("#partners", "Approve")
    await forged(hall, "partner", card, "Approve", channel="#partners")
    assert "Next:" in text_of(await hall.person("partner").told("another workspace"))
    assert [entry.data["kind"] for entry in await entries(hall, run_id_in(card), Event.CLICK_REFUSED)] == ["partner"]


async def test_a_name_that_looks_like_an_approvers_is_nobodys(hall: Hall) -> None:
    """C067: the person who presses is the id in what Slack signed; names decide nothing."""
    state = hall.workspace._world.state  # noqa: SLF001 - the workspace's own page has no such form
    state.put("people", "U0EVIL", Person(id="U0EVIL", name="аpprover", real_name="approver", team_id="T0HOME"))
    ops = state.channels["C0OPS"]
    state.put("channels", ops.id, ops.model_copy(update={"members": (*ops.members, "U0EVIL")}))
    run_id, card = await reviewed(hall)
    await forged(hall, "U0EVIL", card, "Approve")

    await hall.person("U0EVIL").told("not approved")
    assert (await hall.show(run_id)).run.status == "in_review"


async def test_who_left_the_group_a_second_ago_approves_nothing(hall: Hall) -> None:
    run_id, card = await reviewed(hall)
    await group_is(hall, "U0APPROVER2")
    hall.slack.directory.forget()  # as seconds do
    await hall.person("approver").press("Approve", card, "#ops")

    await hall.person("approver").told("not approved")
    assert (await hall.show(run_id)).run.status == "in_review"


async def test_who_joined_the_group_a_second_ago_is_looked_up_once_more_before_they_are_told_no(hall: Hall) -> None:
    run_id, card = await reviewed(hall)
    await hall.slack.directory.member("U0MEMBER")  # known a moment ago, as not of the group
    await group_is(hall, "U0APPROVER", "U0MEMBER")
    await hall.person("member").press("Approve", card, "#ops")

    await hall.until(run_id, "succeeded")
    assert await hall.person("member").ephemerals() == []
    assert await entries(hall, run_id, Event.CLICK_REFUSED) == []


async def test_who_presses_in_vain_again_and_again_does_not_use_up_slacks_limits(hall: Hall) -> None:
    _, card = await reviewed(hall)
    before = len(await hall.log("usergroups.users.list"))
    for _ in range(10):
        await hall.person("member").press("Approve", card, "#ops")

    async def told() -> bool:
        return len(await hall.person("member").ephemerals()) == 10

    await eventually(told, "ten answers")
    assert len(await hall.log("usergroups.users.list")) - before <= 3


# who made it


async def test_C061_whose_message_became_the_ask_is_told_that_somebody_else_decides(hall: Hall) -> None:
    ts = await hall.person("approver").say("#ops", CHANGE)
    body = {"callback_id": "plan_from_message", "channel": "#ops", "message_ts": ts}
    await hall.people.call("POST", "/people/requester/shortcuts", body)
    view = await hall.person("requester").modal("What do you want done?")
    await hall.person("requester").submit(view["id"], {"words": {"value": {"type": "plain_text_input", "value": CHANGE}}})
    card = await hall.person("approver").card("#ops", "Approve")
    assert "approver" in text_of(card)
    assert "(it is made from their message)" in text_of(card)

    await hall.person("approver").press("Approve", card, "#ops")
    await hall.person("approver").told("made from a message of yours")
    run_id = run_id_in(card)
    assert [entry.data["kind"] for entry in await entries(hall, run_id, Event.CLICK_REFUSED)] == ["source_author"]
    await hall.person("approver2").press("Approve", card, "#ops")
    await hall.until(run_id, "succeeded")


async def test_C061_who_has_somebody_else_ask_again_for_them_still_does_not_approve(hall: Hall, clock: Clock) -> None:
    await hall.person("approver").command("#ops", "/plan", HIGH)
    run_id = run_id_in(await hall.person("approver").card("#ops", "Approve"))
    clock.advance(hours=3)
    await silence.expire(hall.deps)
    await hall.until(run_id, "expired")
    card = await hall.person("requester").card("#ops", "Ask again")
    await hall.person("requester").press("Ask again", card, "#ops")
    again = await another_card(hall, run_id)

    await hall.person("approver").press("Approve", again, "#ops")
    await hall.person("approver").told("made from a message of yours")


# forged and stale


async def test_C067_the_value_of_one_run_on_the_card_of_another_counts_for_neither(hall: Hall) -> None:
    first, card = await reviewed(hall)
    await hall.person("requester").command("#ops", "/plan", "test.change name=b")
    other = await another_card(hall, first)
    value = button_of(other, "Approve")[1]["value"]
    for instead in ({"value": value}, {"message_ts": other["ts"]}, {"value": "R-NONE.1"}, {"value": "anything"}, {"value": f"{first}.2"}):
        seen = len(await hall.person("approver").ephemerals())
        await forged(hall, "approver", card, "Approve", **instead)
        await hall.person("approver").told("not", after=seen)
    assert {run.status for run in await hall.runs(2)} == {"in_review"}


async def test_C067_the_card_of_a_confirm_does_not_approve_a_plan_nor_the_other_way_round(hall: Hall) -> None:
    run_id, card = await reviewed(hall, HIGH)
    for name in ("approver", "approver2"):
        await hall.person(name).press("Approve", card, "#ops")
    confirm = await hall.person("approver").card("#ops", "Confirm")
    value = button_of(confirm, "Confirm")[1]["value"]
    run, revision, step, filling = value.split(".")
    for name, on, instead in (
        ("approver", card, {"action_id": "confirm.confirm", "value": value}),
        ("approver", confirm, {"value": f"{run}.{revision}.{step}.{'0' * 8 if filling != '0' * 8 else '1' * 8}"}),
        ("approver", confirm, {"value": f"{run}.{revision}.other.{filling}"}),
        ("approver", confirm, {"value": f"{run}.{revision}"}),
        ("approver", confirm, {"action_id": "review.approve", "value": f"{run}.{revision}"}),
    ):
        seen = len(await hall.person(name).ephemerals())
        label = "Confirm" if on is confirm else "Show all"
        await forged(hall, name, on, label, **instead)
        await hall.person(name).told("not", after=seen)
    assert (await hall.show(run_id)).run.reason == "confirm"


async def test_two_presses_of_one_person_at_the_same_moment_are_one_of_two_yeses(hall: Hall) -> None:
    run_id, card = await reviewed(hall, HIGH)
    approver = hall.person("approver")
    await asyncio.gather(approver.press("Approve", card, "#ops"), approver.press("Approve", card, "#ops"))
    await approver.told("another person is still needed")
    found = await hall.show(run_id)
    assert (found.run.status, len(found.approvals)) == ("in_review", 1)
    await hall.settled()
    waiting = await approver.card("#ops", "Approve", run=run_id)
    assert "Needs one more approval" in text_of(waiting)
    assert "Still needed: one more person" in text_of(waiting).replace("*", "")
    assert "Nothing has started" in text_of(waiting)


# in writing


async def test_a_high_risk_is_approved_in_writing_and_a_wrong_word_stays_in_the_form(make_hall: MakeHall) -> None:
    hall = await make_hall(policy=IN_WRITING)
    run_id, card = await reviewed(hall, HIGH)
    approver = hall.person("approver")
    await approver.press("Approve", card, "#ops")
    view = await approver.modal("Type Prod to approve")
    assert "asks for it in writing" in text_of(view)
    answer = await approver.submit(view["id"], typed("prod"))
    assert "Type Prod, with its capitals as they are" in str(answer)
    (entry,) = await entries(hall, run_id, Event.CLICK_REFUSED)
    assert (entry.actor, entry.data["kind"], entry.data["did"]) == ("U0APPROVER", "step_up", "Approve")
    assert (await hall.show(run_id)).approvals == ()
    await approver.submit(view["id"], typed(" Prod "))

    async def given() -> bool:
        return len((await hall.show(run_id)).approvals) == 1

    await eventually(given, "the yes to count")
    (entry,) = await entries(hall, run_id, Event.APPROVAL_GIVEN)
    assert entry.data["typed"] is True


async def test_who_may_not_is_told_so_in_the_form_and_asked_for_nothing(make_hall: MakeHall) -> None:
    hall = await make_hall(policy=IN_WRITING)
    run_id, card = await reviewed(hall, HIGH)
    await hall.person("member").press("Approve", card, "#ops")
    view = await hall.person("member").modal("Not approved")
    assert "Type Prod" not in text_of(view)
    await hall.person("member").told("not approved")
    assert [entry.data["kind"] for entry in await entries(hall, run_id, Event.CLICK_REFUSED)] == ["not_allowed"]


async def test_the_last_page_asks_for_it_in_writing_too(make_hall: MakeHall) -> None:
    hall = await make_hall(policy=IN_WRITING.replace("quorum: {high: 2}", "quorum: {high: 1}"))
    plan = "\n".join([HIGH, *(f"test.change name=n{number}" for number in range(24))])
    run_id, card = await reviewed(hall, plan)
    assert "Approve" not in buttons(card)
    approver = hall.person("approver")
    await approver.press("Show all", card, "#ops")
    for page in (2, 3):
        await turn(hall, "approver", await approver.modal(f"page {page - 1} of 3"), "Next")
    last = await approver.modal("page 3 of 3")
    await approver.submit(last["id"], {})
    form = await approver.modal("Type Prod to approve")
    assert (await hall.show(run_id)).run.status == "in_review"
    await approver.submit(form["id"], typed("Prod"))
    await hall.until(run_id, "paused", "running", "queued")


async def test_a_confirm_is_given_in_writing_and_the_form_of_a_value_that_moved_on_is_void(make_hall: MakeHall) -> None:
    hall = await make_hall(policy=IN_WRITING)
    run_id, card = await reviewed(hall, HIGH)
    for name in ("approver", "approver2"):
        await hall.person(name).press("Approve", card, "#ops")
        form = await hall.person(name).modal("Type Prod to approve")
        await hall.person(name).submit(form["id"], typed("Prod"))
    confirm = await hall.person("approver").card("#ops", "Confirm")
    await hall.person("approver").press("Confirm", confirm, "#ops")
    form = await hall.person("approver").modal("Type Prod to confirm")
    answer = await hall.person("approver").submit(form["id"], typed("no"))
    assert "That is not the name of the target" in str(answer)
    await hall.person("approver").submit(form["id"], typed("Prod"))
    await hall.until(run_id, "succeeded")
    (entry,) = await entries(hall, run_id, Event.CONFIRMED)
    assert entry.data["typed"] is True
    await hall.person("approver2").press("Confirm", confirm, "#ops")
    await hall.person("approver2").told("not")

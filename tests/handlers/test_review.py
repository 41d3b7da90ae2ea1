"""Presses on a review, as Slack sends them: early, late, twice, with triggers that are over."""

import asyncio
from typing import Any

from bot.core.run import Event
from tests.doubles.policies import DEMO_POLICY
from tests.doubles.town import buttons, find_button, run_id_in, text_of
from tests.doubles.waiting import eventually
from tests.handlers.conftest import Hall, MakeHall

CHANGE = "test.change name=a"


async def reviewed(hall: Hall, plan: str = CHANGE) -> tuple[str, dict[str, Any]]:
    await hall.person("requester").command("#ops", "/plan", plan)
    card = await hall.person("approver").card("#ops", "Show all")
    return run_id_in(card), card


async def entries(hall: Hall, run_id: str, event: Event) -> list[Any]:
    return [entry for entry in (await hall.show(run_id)).entries if entry.event == event]


async def test_C003_two_presses_of_one_person_are_one_approval_and_the_second_is_told(hall: Hall) -> None:
    run_id, card = await reviewed(hall)
    approver = hall.person("approver")

    await asyncio.gather(approver.press("Approve", card, "#ops"), approver.press("Approve", card, "#ops"))

    told = await approver.told("already")
    await hall.until(run_id, "succeeded")
    await hall.settled()
    assert "You approved this already" in text_of(told)
    assert len(await entries(hall, run_id, Event.APPROVED)) == 1
    assert len(await entries(hall, run_id, Event.CLICK_REFUSED)) == 1
    assert len(await entries(hall, run_id, Event.STEP_STARTED)) == 1


async def test_C003_fifty_presses_at_once_are_one_run_and_forty_nine_private_answers(hall: Hall) -> None:
    run_id, card = await reviewed(hall)
    people = [hall.person(name) for name in ("approver", "approver2")] * 25

    await asyncio.gather(*(person.press("Approve", card, "#ops") for person in people))

    async def answers() -> bool:
        return len(await hall.person("approver").ephemerals() + await hall.person("approver2").ephemerals()) == 49

    await hall.until(run_id, "succeeded")
    await eventually(answers, "49 private answers")
    assert len(await entries(hall, run_id, Event.APPROVED)) == 1
    assert len(await entries(hall, run_id, Event.CLICK_REFUSED)) == 49


async def test_one_who_may_not_approve_gets_a_private_answer_and_an_entry_on_record(hall: Hall) -> None:
    run_id, card = await reviewed(hall)
    await hall.person("requester").press("Approve", card, "#ops")

    told = await hall.person("requester").told("not approved")
    (entry,) = await entries(hall, run_id, Event.CLICK_REFUSED)
    assert told["thread_ts"] == card["thread_ts"]
    assert (entry.actor, entry.data["kind"]) == ("U0REQUESTER", "not_allowed")
    assert await hall.person("approver").ephemerals() == []
    await hall.person("member").read("#audit", "Refused: Approve")


async def test_C002_a_trigger_that_is_over_opens_nothing_changes_nothing_and_says_to_press_again(hall: Hall) -> None:
    run_id, card = await reviewed(hall)
    approver = hall.person("approver")
    for error in ("expired_trigger_id", "exchanged_trigger_id"):
        seen = len(await approver.ephemerals())
        await hall.spoil(method="views.open", error=error)
        answer = await approver.press("Show all", card, "#ops")
        told = await approver.told("press Show all again", after=seen)
        assert answer["acked"]
        assert "form did not open" in text_of(told)

    assert await approver.views() == []
    assert len(await hall.log("views.open")) == 2  # no trigger was used twice
    assert (await hall.show(run_id)).run.status == "in_review"
    await approver.press("Approve", card, "#ops")
    await hall.until(run_id, "succeeded")


async def test_C002_a_light_view_takes_the_trigger_before_anything_is_looked_up(hall: Hall) -> None:
    _, card = await reviewed(hall)
    approver = hall.person("approver")
    await hall.spoil(method="views.update", delay_ms=400)

    await approver.press("Show all", card, "#ops")

    await approver.modal("Loading")
    await approver.modal("test.change")


async def test_C004_a_hash_that_is_over_is_answered_with_the_newest_state_and_never_sent_empty(hall: Hall) -> None:
    _, card = await reviewed(hall)
    approver = hall.person("approver")
    await hall.spoil(method="views.update", error="hash_conflict")

    await approver.press("Show all", card, "#ops")

    await approver.modal("test.change")
    updates = await hall.log("views.update")
    assert [entry["ok"] for entry in updates] == [False, True]
    assert all(entry.get("hash", "something") for entry in updates)


async def test_a_plan_too_long_for_its_card_is_approved_on_its_last_page_by_one_who_has_opened_them_all(hall: Hall) -> None:
    plan = "\n".join(f"test.change name=n{number}" for number in range(25))
    run_id, card = await reviewed(hall, plan)
    approver = hall.person("approver")
    assert "Approve" not in buttons(card)

    await approver.press("Show all", card, "#ops")
    for page in (2, 3):
        view = await approver.modal(f"page {page - 1} of 3")
        assert "submit" not in view or view["submit"] is None
        await turn(hall, "approver", view, "Next")
    last = await approver.modal("page 3 of 3")
    assert last["submit"]["text"] == "Approve"
    await approver.submit(last["id"], {})

    await hall.until(run_id, "succeeded")


async def test_one_who_has_skipped_pages_has_no_approve_and_gets_none_by_sending_the_form(hall: Hall) -> None:
    plan = "\n".join(f"test.change name=n{number}" for number in range(25))
    run_id, card = await reviewed(hall, plan)
    approver2 = hall.person("approver2")
    await approver2.press("Show all", card, "#ops")
    view = await approver2.modal("page 1 of 3")
    await approver2.submit(view["id"], {})

    assert "not shown in full" in text_of(await approver2.told("not shown in full"))
    assert (await hall.show(run_id)).run.status == "in_review"


async def turn(hall: Hall, name: str, view: dict[str, Any], label: str) -> None:
    found = find_button(view, label)
    assert found
    body = {"block_id": found[0], "action_id": found[1]["action_id"], "value": found[1]["value"]}
    await hall.people.call("POST", f"/people/{name}/views/{view['id']}/actions", body)


async def test_cancel_asks_why_and_the_reason_is_on_record(hall: Hall) -> None:
    run_id, card = await reviewed(hall)
    requester = hall.person("requester")

    await requester.press("Cancel", card, "#ops")
    view = await requester.modal("Why?")
    values = {
        "why": {"value": {"type": "radio_buttons", "selected_option": {"value": "risk"}}},
        "words": {"value": {"type": "plain_text_input", "value": "on a Friday"}},
    }
    await requester.submit(view["id"], values)

    await hall.until(run_id, "cancelled")
    (entry,) = await entries(hall, run_id, Event.CANCELLED)
    assert entry.data["reason"] == "Too risky: on a Friday"
    closed = await requester.read("#ops", "Cancelled")
    assert "Approve" not in buttons(closed)


async def test_an_old_card_that_is_pressed_after_the_end_says_what_is_true_now(hall: Hall) -> None:
    run_id, card = await reviewed(hall)
    await hall.person("approver").press("Approve", card, "#ops")
    await hall.until(run_id, "succeeded")

    await hall.person("approver2").press("Approve", card, "#ops")
    assert "Already approved" in text_of(await hall.person("approver2").told("already approved"))


async def test_a_button_that_this_version_does_not_know_is_answered_and_not_swallowed(make_hall: MakeHall) -> None:
    hall = await make_hall(supervised=False)
    blocks = [
        {
            "type": "actions",
            "block_id": "b1",
            "elements": [
                {
                    "type": "button",
                    "action_id": "run.plan_again",
                    "text": {"type": "plain_text", "text": "Plan again"},
                    "value": "R-7K2QX",
                }
            ],
        }
    ]
    await hall.slack.client.chat_postMessage(channel="C0OPS", text="an older card", blocks=blocks)
    requester = hall.person("requester")
    card = await requester.card("#ops", "Plan again")

    answer = await requester.press("Plan again", card, "#ops")

    assert answer["acked"]
    await requester.told("cannot do that yet")


async def test_a_private_answer_reaches_a_person_who_is_not_in_the_channel_as_a_direct_message(hall: Hall) -> None:
    _, card = await reviewed(hall)
    await hall.spoil(method="chat.postEphemeral", error="user_not_in_channel")
    await hall.person("requester").press("Approve", card, "#ops")

    await hall.person("requester").read("@pullcord", "Not approved")


async def test_our_own_fault_is_an_apology_with_the_number_that_stands_in_the_log(hall: Hall) -> None:
    _, card = await reviewed(hall)
    hall.slack.directory.forget()
    await hall.spoil(method="usergroups.list", error="fatal_error", times=3)
    await hall.person("approver").press("Approve", card, "#ops")

    assert "F-" in text_of(await hall.person("approver").told("Something broke in Pullcord"))


async def test_a_review_in_two_places_is_one_review_and_both_cards_are_kept_true(make_hall: MakeHall) -> None:
    hall = await make_hall(policy=DEMO_POLICY.replace("review: [thread]", 'review: [thread, "#approvals"]'))
    run_id, _ = await reviewed(hall)
    approver = hall.person("approver")
    there = await approver.card("#approvals", "Approve")
    assert run_id in text_of(there)
    await approver.press("Approve", there, "#approvals")

    await hall.until(run_id, "succeeded")
    for channel in ("#ops", "#approvals"):
        await approver.read(channel, "Approved: ")
    await hall.settled()
    cards = [m for channel in ("#ops", "#approvals") for m in await approver.everything(channel) if "Approved: " in text_of(m)]
    assert len(cards) == 2
    assert all("Approve" not in buttons(card) for card in cards)

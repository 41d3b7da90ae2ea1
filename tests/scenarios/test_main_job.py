"""Conversations in, what people see out: the main job, and everything that can come in its way."""

import asyncio
import json

from bot.core.ids import short
from bot.core.run import Event, RunStatus
from tests.doubles.town import button_of, buttons, find_button, run_id_in, text_of
from tests.doubles.waiting import eventually
from tests.scenarios.conftest import NOTES, MakeTown, Town

PLAN = """notes: files.read path=notes/today.md
brief: text.summarize text="{{notes.text}}"
save: files.write path=out/brief.md text="{{brief.summary}}"
post: slack.post_message channel=#general text="{{brief.summary}}"
"""
PHRASE = "read notes/today.md, then summarize it, then post the summary to #general"


async def test_asked_in_everyday_words_approved_done_answered_and_on_record(town: Town) -> None:
    requester, approver = town.person("requester"), town.person("approver")

    taken = await requester.command("#ops", "/plan", PHRASE)
    assert taken["acked"]
    assert taken["ack_ms"] < 1000
    card = await approver.card("#ops", "Approve")
    run_id = run_id_in(card)
    assert "Needs approval" in text_of(card)
    assert "Medium risk" in text_of(card)
    assert {"Approve", "Edit", "Cancel"} <= set(buttons(card))

    await approver.press("Approve", card, "#ops")
    done = await town.until(run_id, "succeeded")

    answer = await requester.read("#ops", "Report")
    assert run_id in text_of(answer)
    posted = [m for m in await approver.messages("#general") if "login" in text_of(m) or "cache" in text_of(m)]
    assert len(posted) == 1
    audit = await approver.read("#audit", "Approved")
    assert short(done.run.digest or "") in text_of(audit)
    assert run_id in text_of(audit)
    assert done.answer is not None
    assert set(done.answer.cites) == {step.id for step in done.steps}
    run_card = await requester.read("#ops", "Done")
    assert find_button(run_card, "Pause") is None


async def test_mention_and_direct_message_ask_too(town: Town) -> None:
    requester = town.person("requester")

    await requester.say("#ops", "@Pullcord list files in notes")
    card = await requester.read("#ops", "Done")
    assert "list files in notes" in text_of(card).lower() or "Lists" in text_of(card)

    await requester.say("@pullcord", "read notes/today.md")
    await requester.read("@pullcord", "Done")
    assert len(await town.app.deps.store.read(_count)) == 2


def _count(conn: object) -> list[object]:
    from bot.store import runs

    return list(runs.listing(conn))  # type: ignore[arg-type]


async def test_an_all_read_plan_runs_at_once_and_says_so(town: Town) -> None:
    requester = town.person("requester")

    await requester.command("#ops", "/plan", "read notes/today.md, then summarize it")
    card = await requester.read("#ops", "Done")

    run = await town.until(run_id_in(card), "succeeded")
    assert not run.approvals
    assert Event.RELEASED in [entry.event for entry in run.entries]


async def test_a_plan_that_cannot_be_made_says_what_was_not_understood_and_what_would_be(town: Town) -> None:
    requester = town.person("requester")

    await requester.command("#ops", "/plan", "read notes/today.md, then frobnicate it, then post the summary to #general")
    card = await requester.read("#ops", "Not understood")

    assert "frobnicate" in text_of(card)
    assert "the closest tool" in text_of(card)
    assert "then summarize it, then post the summary to #general" in text_of(card)
    run = await town.until(run_id_in(card), "failed")
    assert run.attempts
    assert run.attempts[0].raw
    assert all(step.attempt == 0 for step in run.steps)


async def test_a_faulty_plan_names_step_field_and_fix(town: Town) -> None:
    requester = town.person("requester")

    await requester.command("#ops", "/plan", "a: files.raed path=notes/today.md")
    card = await requester.read("#ops", "files.read")

    run = await town.until(run_id_in(card), "failed")
    assert "files.raed" in " ".join(run.attempts[0].faults)


async def test_the_requester_alone_approves_nothing_and_is_told_why_C061(town: Town) -> None:
    requester, approver = town.person("requester"), town.person("approver")
    await requester.command("#ops", "/plan", PLAN)
    card = await approver.card("#ops", "Approve")
    before = len(await requester.ephemerals())

    pressed = await requester.press("Approve", card, "#ops")

    assert pressed["acked"]
    assert pressed["ack_ms"] < 1000
    await requester.told("not approved", after=before)
    run = await town.show(run_id_in(card))
    assert run.run.status is RunStatus.IN_REVIEW
    assert not town.files("out/brief.md").exists()
    refused = [entry for entry in run.entries if entry.event == Event.CLICK_REFUSED]
    assert [entry.data["kind"] for entry in refused] == ["not_allowed"]


async def test_guests_partners_and_outsiders_cannot_approve(town: Town) -> None:
    requester, approver = town.person("requester"), town.person("approver")
    await requester.command("#ops", "/plan", PLAN)
    card = await approver.card("#ops", "Approve")

    for name in ("guest", "member"):
        before = len(await town.person(name).ephemerals())
        await town.person(name).press("Approve", card, "#ops")
        await town.person(name).told("not approved", after=before)

    assert (await town.show(run_id_in(card))).run.status is RunStatus.IN_REVIEW


async def test_two_clicks_start_one_run_and_the_second_is_told_C003(town: Town) -> None:
    requester, approver, other = town.person("requester"), town.person("approver"), town.person("approver2")
    await requester.command("#ops", "/plan", PLAN)
    card = await approver.card("#ops", "Approve")

    await asyncio.gather(*(who.press("Approve", card, "#ops") for who in (approver, other, approver, other)))
    run = await town.until(run_id_in(card), "succeeded")

    assert len(run.approvals) == 1
    assert [entry.event for entry in run.entries].count(Event.APPROVED) == 1
    refused = [entry for entry in run.entries if entry.event == Event.CLICK_REFUSED]
    assert len(refused) == 3
    assert len([m for m in await approver.messages("#general") if "cache" in text_of(m)]) == 1


async def test_cancel_asks_for_a_reason_and_nothing_runs(town: Town) -> None:
    requester = town.person("requester")
    await requester.command("#ops", "/plan", PLAN)
    card = await requester.card("#ops", "Cancel")
    run_id = run_id_in(await requester.card("#ops", "Approve"))
    card = await requester.card("#ops", "Approve")

    await requester.press("Cancel", card, "#ops")
    view = await requester.modal("In your words")
    values = _values(view, "not needed any more")
    await requester.submit(view["id"], values)

    run = await town.until(run_id, "cancelled")
    entry = next(entry for entry in run.entries if entry.event == Event.CANCELLED)
    assert "not needed any more" in json.dumps(entry.data)
    closed = await requester.read("#ops", "not needed any more")
    assert find_button(closed, "Approve") is None
    assert not town.files("out/brief.md").exists()


def _values(view: dict[str, object], words: str) -> dict[str, dict[str, dict[str, object]]]:
    """Fill the first text input of a modal with these words."""
    values: dict[str, dict[str, dict[str, object]]] = {}
    for block in view["blocks"]:  # type: ignore[attr-defined]
        element = block.get("element") or {}
        if element.get("type") == "plain_text_input":
            values[block["block_id"]] = {element["action_id"]: {"type": "plain_text_input", "value": words}}
    return values


async def test_silence_expires_and_a_late_click_approves_nothing_C019(town: Town) -> None:
    requester, approver = town.person("requester"), town.person("approver")
    await requester.command("#ops", "/plan", PLAN)
    card = await approver.card("#ops", "Approve")
    run_id = run_id_in(card)
    before = len(await approver.ephemerals())

    town.clock.advance(hours=3)
    await approver.press("Approve", card, "#ops")

    await approver.told("expired", after=before)
    run = await town.until(run_id, "expired")
    entry = next(entry for entry in run.entries if entry.event == Event.EXPIRED)
    assert entry.actor == "clock"
    assert not run.approvals
    closed = await requester.read("#ops", "Expired")
    assert find_button(closed, "Approve") is None


async def test_a_restart_in_the_middle_loses_nothing_and_old_cards_work_C018(town: Town) -> None:
    requester, approver = town.person("requester"), town.person("approver")
    await requester.command("#ops", "/plan", PLAN)
    card = await approver.card("#ops", "Approve")

    await town.restart()
    pressed = await approver.press("Approve", card, "#ops")

    assert pressed["acked"]
    await town.until(run_id_in(card), "succeeded")
    await requester.read("#ops", "Report")
    assert town.files("out/brief.md").exists()


async def test_twenty_runs_at_once_all_end_and_each_is_answered(town: Town) -> None:
    requester, approver = town.person("requester"), town.person("approver")

    await asyncio.gather(*(requester.command("#ops", "/plan", f"files.write path=out/{n}.md text=hello-{n}") for n in range(20)))

    async def all_in_review() -> list[dict[str, object]] | None:
        cards = [m for m in await approver.everything("#ops") if find_button(m, "Approve")]
        return cards if len(cards) == 20 else None

    cards = await eventually(all_in_review, "twenty review cards", within_s=40)
    await asyncio.gather(*(approver.press("Approve", card, "#ops") for card in cards))
    for card in cards:
        await town.until(run_id_in(card), "succeeded", within_s=40)

    assert len(list(town.files("out").iterdir())) == 20

    async def answered() -> bool:
        return len([m for m in await requester.everything("#ops") if "Report" in text_of(m)]) == 20

    await eventually(answered, "twenty answers", within_s=60)


async def test_a_long_plan_is_approved_only_after_every_page_was_opened(town: Town) -> None:
    requester, approver = town.person("requester"), town.person("approver")
    plan = "\n".join(f"s{n}: files.write path=out/{n}.md text=part-{n}" for n in range(1, 26))
    await requester.command("#ops", "/plan", plan)
    card = await approver.card("#ops", "Show all")
    assert find_button(card, "Approve") is None

    # The same click forged from an older kind of card is refused as well.
    run_id = run_id_in(card)
    block_id, show_all = button_of(card, "Show all")
    body = {"channel": "#ops", "message_ts": card["ts"], "action_id": "review.approve", "block_id": block_id, "value": show_all["value"]}
    before = len(await approver.ephemerals())
    await town.people.call("POST", "/people/approver/actions", body)
    await approver.told("not shown in full", after=before)
    assert (await town.show(run_id)).run.status is RunStatus.IN_REVIEW

    await approver.press("Show all", card, "#ops")
    view = await approver.modal("1 of 3")
    for page in ("2 of 3", "3 of 3"):
        block_id, following = button_of(view, "Next")
        press = {"action_id": following["action_id"], "block_id": block_id, "value": following["value"]}
        await town.people.call("POST", f"/people/approver/views/{view['id']}/actions", press)
        view = await approver.modal(page)
    await approver.submit(view["id"], {})
    await town.until(run_id, "succeeded", within_s=40)
    assert len(list(town.files("out").iterdir())) == 25


async def test_a_fault_in_a_step_is_said_and_nothing_else_happens(town: Town) -> None:
    requester, approver = town.person("requester"), town.person("approver")
    await requester.command("#ops", "/plan", "f: test.fails name=f\nc: test.change name=c after=f")
    card = await approver.card("#ops", "Approve")
    await approver.press("Approve", card, "#ops")

    held = await requester.card("#ops", "Retry")
    assert "f is broken; mend it first" in text_of(held)
    assert {"Retry", "Skip", "Stop"} <= set(buttons(held))
    await requester.press("Stop", held, "#ops")
    stopped = await town.until(run_id_in(card), "stopped")

    assert town.lines("change") == []
    assert stopped.answer is None
    receipt = await requester.read("#ops", "Stopped")
    assert "Not started" in text_of(receipt)


async def test_the_channel_without_an_audit_channel_still_records(make_town: MakeTown) -> None:
    town = await make_town(policy="profile: team\napprovers: ['@ops-leads']\n", files={"notes/today.md": NOTES})
    requester = town.person("requester")

    await requester.command("#ops", "/plan", "read notes/today.md")
    card = await requester.read("#ops", "Done")

    assert (await town.show(run_id_in(card))).entries

"""The cord, pulled by buttons, commands and words; and everything by which a held run goes on."""

import os
from pathlib import Path

from bot.core.run import Event
from tests.doubles.town import Message, button_of, find_button, run_id_in, text_of
from tests.doubles.waiting import eventually
from tests.handlers.conftest import Hall


def touch(name: str) -> None:
    (Path(os.environ["PULLCORD_TEST_FOLDER"]) / name).touch()


async def started(hall: Hall, plan: str) -> tuple[str, Message]:
    """A run that somebody has approved, once that is on record, and its review card."""
    before = len(await hall.runs(0))
    await hall.person("requester").command("#ops", "/plan", plan)
    card = await hall.person("approver").card("#ops", "Approve", run=(await hall.runs(before + 1))[0].id)
    await hall.person("approver").press("Approve", card, "#ops")
    run_id = run_id_in(card)

    async def said_yes() -> bool:
        return bool((await hall.show(run_id)).approvals)

    await eventually(said_yes, f"the approval of {run_id}")
    return run_id, card


async def test_anyone_here_pauses_by_button_and_only_some_let_go(hall: Hall) -> None:
    run_id, _ = await started(hall, "a: test.gate name=a\nb: test.change name=b after=a")
    member, approver = hall.person("member"), hall.person("approver")
    await member.press("Pause", await member.card("#ops", "Pause", run=run_id), "#ops")
    await hall.until(run_id, "pausing")
    touch("a.open")
    await hall.until(run_id, "paused")

    await member.press("Resume", await member.card("#ops", "Resume", run=run_id), "#ops")
    await member.told("letting")
    assert (await hall.show(run_id)).run.status == "paused"
    await approver.press("Resume", await approver.card("#ops", "Resume", run=run_id), "#ops")
    await hall.until(run_id, "succeeded")


async def test_a_guest_may_pull_the_cord(hall: Hall) -> None:
    run_id, _ = await started(hall, "test.gate name=a")
    guest = hall.person("guest")
    await guest.press("Stop", await guest.card("#ops", "Stop", run=run_id), "#ops")

    assert (await hall.until(run_id, "stopped")).entries[-1].event in (Event.SETTLED, Event.CLICK_REFUSED)


async def test_a_stranger_may_not_and_is_told_so(hall: Hall) -> None:
    await hall.person("requester").command("#partners", "/plan", "test.gate name=a")
    card = await hall.person("approver").card("#partners", "Approve")
    run_id = run_id_in(card)
    partner = hall.person("partner")
    await partner.press("Approve", card, "#partners")
    await partner.told("another workspace")
    await hall.person("approver").press("Approve", card, "#partners")
    await hall.until(run_id, "running")

    await partner.press("Stop", await partner.card("#partners", "Stop", run=run_id), "#partners")
    await partner.told("not stopped")
    assert (await hall.show(run_id)).run.status == "running"


async def test_the_commands_mean_the_one_run_of_the_channel(hall: Hall) -> None:
    run_id, _ = await started(hall, "a: test.gate name=a\nb: test.change name=b after=a")
    member = hall.person("member")

    await member.command("#general", "/pause")
    await member.told("nothing to pause")
    await member.command("#ops", "/pause")
    await member.told(f"Paused: {run_id}")
    touch("a.open")
    await hall.until(run_id, "paused")
    await hall.person("requester").command("#general", "/resume", f"“{run_id.lower()}”")
    await hall.until(run_id, "succeeded")


async def test_among_others_runs_ones_own_only_one_is_meant(hall: Hall) -> None:
    own, _ = await started(hall, "test.gate name=a")
    await hall.person("approver2").command("#ops", "/plan", "test.gate name=b")
    await hall.runs(2)
    await hall.person("requester").command("#ops", "/stop")
    await hall.until(own, "stopped")


async def test_where_several_runs_could_be_meant_a_button_each_is_offered_and_works(hall: Hall) -> None:
    first, _ = await started(hall, "test.gate name=a")
    second, _ = await started(hall, "test.gate name=b")
    member = hall.person("member")

    await member.command("#ops", "/stop")
    which = await member.told("Which one?")
    assert first in text_of(which)
    assert second in text_of(which)
    block = next(block for block in which["blocks"] if first in str(block) and "accessory" in block)
    body = {"channel": "#ops", "message_ts": which["ts"], "block_id": block["block_id"]}
    body |= {"action_id": block["accessory"]["action_id"], "value": block["accessory"]["value"]}
    await hall.people.call("POST", "/people/member/actions", body)
    await hall.until(first, "stopped")
    assert (await hall.show(second)).run.status == "running"


async def test_stop_all_ends_everything_that_this_person_may_end(hall: Hall) -> None:
    ids = [(await started(hall, f"test.gate name={name}"))[0] for name in "ab"]
    await hall.person("member").command("#general", "/stop", "all")

    await hall.person("member").told("2 runs")
    for run_id in ids:
        await hall.until(run_id, "stopped")


async def test_stop_all_of_one_who_may_not_is_on_record_and_names_only_runs_that_they_can_see(hall: Hall) -> None:
    requester, member = hall.person("requester"), hall.person("member")
    await requester.command("#ops", "/plan", "test.change name=a")
    seen = run_id_in(await requester.card("#ops", "Approve"))
    await requester.say("@pullcord", "test.change name=b")
    hidden = run_id_in(await requester.card("@pullcord", "Approve"))

    await member.command("#general", "/stop", "all")

    told = text_of(await member.told("not yours to stop"))
    assert seen in told
    assert hidden not in told
    refused = [entry for entry in (await hall.show(seen)).entries if entry.event == Event.CLICK_REFUSED]
    assert [(entry.actor, entry.data["did"], entry.data["kind"]) for entry in refused] == [("U0MEMBER", "stop all", "not_allowed")]
    assert not any(entry.event == Event.CLICK_REFUSED for entry in (await hall.show(hidden)).entries)
    assert [(await hall.show(run_id)).run.status for run_id in (seen, hidden)] == ["in_review"] * 2


async def test_stop_all_of_one_whose_runs_are_hidden_from_others_says_nothing_of_them(hall: Hall) -> None:
    await hall.person("requester").say("@pullcord", "test.gate name=b")
    hidden = (await hall.runs())[0].id
    member = hall.person("member")
    gate, _ = await started(hall, "test.gate name=a")

    await member.command("#general", "/stop", "all")

    assert hidden not in text_of(await member.told("Stopped: 1 run"))
    await hall.until(gate, "stopped")
    assert not (await hall.show(hidden)).run.is_final


async def test_a_run_that_nobody_knows_is_refused_by_name(hall: Hall) -> None:
    await hall.person("member").command("#ops", "/pause", "R-ZZZZZ")

    await hall.person("member").told("there is no run")


async def test_a_brake_works_while_slack_does_not_say_who_pulls_it(hall: Hall) -> None:
    run_id, _ = await started(hall, "test.gate name=a")
    member = hall.person("member")
    card = await member.card("#ops", "Stop", run=run_id)
    hall.slack.directory.forget()
    await hall.spoil(method="users.info", error="internal_error", times=1)
    await member.press("Stop", card, "#ops")

    await hall.until(run_id, "stopped")


async def test_retry_and_skip_are_for_the_failed_step(hall: Hall) -> None:
    run_id, _ = await started(hall, "a: test.fails name=a\nb: test.change name=b")
    requester = hall.person("requester")
    card = await requester.card("#ops", "Retry", run=run_id)
    await requester.press("Retry", card, "#ops")
    await eventually(lambda: _failed_twice(hall, run_id), "the second try to fail")

    card = await eventually(lambda: _asks_about_the_second_try(hall, run_id), "the card to ask about the second try")
    await requester.press("Skip", card, "#ops")
    found = await hall.until(run_id, "succeeded", "failed")
    assert found.state("a").status == "skipped"


async def test_continue_goes_on_past_a_breakpoint(hall: Hall) -> None:
    run_id, _ = await started(hall, "a: test.change name=a\nb: test.change name=b after=a !break")
    requester = hall.person("requester")
    await requester.press("Continue", await requester.card("#ops", "Continue", run=run_id), "#ops")

    await hall.until(run_id, "succeeded")


async def test_a_breakpoint_is_set_from_the_card(hall: Hall) -> None:
    run_id, _ = await started(hall, "a: test.gate name=a\nb: test.change name=b after=a")
    card = await hall.person("member").card("#ops", "Pause", run=run_id)
    block = next(b for b in card["blocks"] if b["type"] == "actions")
    select = next(e for e in block["elements"] if e["type"] == "static_select")
    option = next(o for o in select["options"] if o["value"].endswith(".b"))
    body = {"channel": "#ops", "message_ts": card["ts"], "block_id": block["block_id"], "action_id": select["action_id"]}
    await hall.people.call("POST", "/people/member/actions", {**body, "selected_option": option})
    await eventually(lambda: _has_breakpoint(hall, run_id), "the breakpoint to be on record")
    touch("a.open")

    found = await hall.until(run_id, "paused")
    assert (found.run.reason, found.run.held_step) == ("breakpoint", "b")


async def _failed_twice(hall: Hall, run_id: str) -> bool:
    found = await hall.show(run_id)
    return (found.run.status, found.state("a").attempt) == ("paused", 2)


async def _asks_about_the_second_try(hall: Hall, run_id: str) -> Message | None:
    card = await hall.person("requester").card("#ops", "Skip", run=run_id)
    return card if button_of(card, "Skip")[1]["value"].endswith(".2") else None


async def _has_breakpoint(hall: Hall, run_id: str) -> bool:
    return (await hall.show(run_id)).run.breakpoints == ("b",)


async def test_a_confirm_names_its_filling_and_refuse_asks_why(hall: Hall) -> None:
    first, _ = await started(hall, "test.destroy name=a")
    await hall.person("approver2").press("Approve", await hall.person("approver2").card("#ops", "Approve", run=first), "#ops")
    card = await hall.person("approver").card("#ops", "Confirm", run=first)

    await hall.person("requester").press("Confirm", card, "#ops")
    await hall.person("requester").told("not confirmed")
    await hall.person("approver").press("Refuse", card, "#ops")
    view = await hall.person("approver").modal("Why?")
    await hall.person("approver").submit(view["id"], {"words": {"value": {"type": "plain_text_input", "value": "not on a Friday"}}})

    found = await hall.until(first, "succeeded", "failed", "stopped")
    assert found.state("s1").status == "skipped"
    assert "not on a Friday" in (found.state("s1").error or "")


async def test_a_confirm_lets_the_step_run(hall: Hall) -> None:
    run_id, _ = await started(hall, "test.destroy name=a")
    await hall.person("approver2").press("Approve", await hall.person("approver2").card("#ops", "Approve", run=run_id), "#ops")
    card = await hall.person("approver").card("#ops", "Confirm", run=run_id)
    await hall.person("approver").press("Confirm", card, "#ops")

    await hall.until(run_id, "succeeded")
    await hall.person("approver2").press("Confirm", card, "#ops")
    await hall.person("approver2").told("is done")


async def test_values_too_long_for_the_card_are_confirmed_on_their_last_page_by_one_who_has_opened_them_all(hall: Hall) -> None:
    await hall.person("requester").command("#ops", "/plan", f"test.destroy name={'x' * 30_000}")
    approver, second = hall.person("approver"), hall.person("approver2")
    run_id = (await hall.runs())[0].id
    for person in (approver, second):
        await person.press("Show all", await person.card("#ops", "Show all", run=run_id), "#ops")
        await to_the_last_page(hall, person.name)
    confirm = await approver.read("#ops", "Needs confirmation")

    await approver.press("Show all", confirm, "#ops")
    await to_the_last_page(hall, approver.name)
    await hall.until(run_id, "succeeded")


async def to_the_last_page(hall: Hall, name: str) -> None:
    """Turn every page of the open modal, then send it."""
    person, page = hall.person(name), 1
    while True:
        view = await person.modal(f"page {page} of ")
        found = find_button(view, "Next")
        if found is None:
            break
        body = {"block_id": found[0], "action_id": found[1]["action_id"], "value": found[1]["value"]}
        await hall.people.call("POST", f"/people/{name}/views/{view['id']}/actions", body)
        page += 1
    assert view["submit"]["text"] in ("Approve", "Confirm")
    await person.submit(view["id"], {})

"""App Home, the form for a new plan, and `/cord`."""

import json
from typing import Any

from bot.commands import intake, review
from handlers import whisper
from handlers.context import Place
from tests.doubles.parts import MEMBER, REQUESTER
from tests.doubles.town import run_id_in, text_of
from tests.doubles.waiting import eventually
from tests.handlers.conftest import Hall, MakeHall
from tests.handlers.test_posting import asked

TYPED = {"words": {"value": {"type": "plain_text_input", "value": "test.change name=a"}}}
IN_OPS = {"channel": {"value": {"type": "conversations_select", "selected_conversation": "C0OPS"}}}


async def home(hall: Hall, name: str, words: str) -> dict[str, Any]:
    """The Home of this person, opened, once it shows these words."""
    await hall.people.call("POST", f"/people/{name}/home", {})

    async def probe() -> dict[str, Any] | None:
        found = (await hall.people.call("GET", f"/people/{name}/home")).get("view")
        return found if found and words in json.dumps(found, ensure_ascii=False) else None

    return await eventually(probe, f"the Home of {name} with {words!r}")


async def test_home_shows_what_waits_for_this_person_and_what_they_asked_for(hall: Hall) -> None:
    await home(hall, "requester", "You have not asked for anything yet")
    await hall.person("requester").command("#ops", "/plan", "test.change name=a")
    run_id = run_id_in(await hall.person("approver").card("#ops", "Approve"))

    approvers = await home(hall, "approver", "Waiting for you · 1")
    requesters = await home(hall, "requester", run_id)
    assert run_id in json.dumps(approvers)
    assert "Waiting for you" not in json.dumps(requesters)


async def test_pause_all_on_home_pauses_and_home_says_so(hall: Hall) -> None:
    await hall.person("requester").command("#ops", "/plan", "test.gate name=a")
    card = await hall.person("approver").card("#ops", "Approve")
    await hall.person("approver").press("Approve", card, "#ops")
    await hall.until(run_id_in(card), "running")
    view = await home(hall, "member", "Pause all")
    block = next(block for block in view["blocks"] if block["type"] == "actions")
    body = {"block_id": block["block_id"], "action_id": block["elements"][0]["action_id"], "value": block["elements"][0]["value"]}
    await hall.people.call("POST", f"/people/member/views/{view['id']}/actions", body)

    await hall.until(run_id_in(card), "pausing")


async def test_the_global_shortcut_asks_for_words_and_a_channel(hall: Hall) -> None:
    requester = hall.person("requester")
    await hall.people.call("POST", "/people/requester/shortcuts", {"callback_id": "new_plan"})
    view = await requester.modal("What do you want done?")
    await requester.submit(view["id"], TYPED | IN_OPS)

    card = await requester.card("#ops", "Approve")
    assert "Changes a" in text_of(card)
    assert (await hall.runs())[0].requester == "U0REQUESTER"


async def test_plan_from_a_message_begins_with_its_words_and_stays_in_its_thread(hall: Hall) -> None:
    ts = await hall.person("member").say("#ops", "test.change name=b & c")
    body = {"callback_id": "plan_from_message", "channel": "#ops", "message_ts": ts}
    await hall.people.call("POST", "/people/requester/shortcuts", body)
    requester = hall.person("requester")
    view = await requester.modal("What do you want done?")
    assert "test.change name=b & c" in json.dumps(view, ensure_ascii=False)
    await requester.submit(view["id"], TYPED)

    card = await requester.card("#ops", "Approve")
    assert card["thread_ts"] == ts


async def test_a_form_for_a_channel_without_the_bot_is_answered_with_the_way_to_invite_it(hall: Hall) -> None:
    requester = hall.person("requester")
    await hall.people.call("POST", "/people/requester/shortcuts", {"callback_id": "new_plan"})
    view = await requester.modal("What do you want done?")
    place = {"channel": {"value": {"type": "conversations_select", "selected_conversation": "C0PRIVATE"}}}
    await requester.submit(view["id"], TYPED | place)

    await requester.read("@pullcord", "not in this channel")
    assert await hall.runs(0) == []


async def test_cord_lists_runs_of_channels_that_this_person_can_see(hall: Hall) -> None:
    await hall.person("requester").command("#ops", "/plan", "test.change name=a")
    run_id = run_id_in(await hall.person("approver").card("#ops", "Approve"))
    await hall.person("requester").say("@pullcord", "test.change name=secret")
    hidden = (await hall.runs(2))[0]

    await hall.person("member").command("#general", "/cord", "runs")
    listed = text_of(await hall.person("member").told("Live"))
    assert run_id in listed
    assert hidden.id not in listed
    await hall.person("member").command("#general", "/pause", hidden.id)
    await hall.person("member").told("there is no run")


async def test_a_persons_own_runs_are_found_however_many_others_there_are(make_hall: MakeHall) -> None:
    hall = await make_hall(supervised=False, presented=False)
    mine, live = await asked(hall), await asked(hall)
    await review.cancel(hall.deps, mine.id, None, who=REQUESTER, reason="")
    place: dict[str, Any] = {"team": "T0HOME", "channel": "C0OPS", "thread_ts": None, "source_ts": None, "event_key": None}
    for _ in range(110):
        other = await intake.open_run(hall.deps, ask="a", who=MEMBER, **place)
        assert other is not None
        await review.cancel(hall.deps, other.id, None, who=MEMBER, reason="")

    shown = json.dumps(await home(hall, "requester", mine.id))
    assert live.id in shown
    await hall.person("requester").command("#ops", "/cord", "runs")
    listed = text_of(await hall.person("requester").told("Live"))
    assert mine.id in listed
    assert live.id in listed


async def test_cord_explains_itself(hall: Hall) -> None:
    member = hall.person("member")
    await member.command("#ops", "/cord", "")
    assert "approved by anyone in @ops-leads" in text_of(await member.told("The cord"))
    await member.command("#ops", "/cord", "rnus")
    assert "runs" in text_of(await member.told("Unknown"))


async def test_C008_an_answer_whose_response_url_is_dead_comes_as_a_message_all_the_same(hall: Hall) -> None:
    place = Place(actor="U0REQUESTER", channel="C0OPS", response_url=f"{hall.workspace.url}/response/nothing")
    await whisper.tell(hall.slack, place, whisper.section("*Taken.* Its card follows."))

    await hall.person("requester").told("Taken.")

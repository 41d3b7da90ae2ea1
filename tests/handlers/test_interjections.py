"""Replies in a run's thread reach that run, count once, and have a visible outcome."""

import os
from pathlib import Path

import pytest
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.core.run import Event
from handlers import notices
from handlers.context import Message
from handlers.desk import Desk
from handlers.register import register
from handlers.slack import build_app
from tests.doubles.town import Message as Shown
from tests.doubles.town import text_of
from tests.doubles.waiting import eventually
from tests.handlers.conftest import Hall, MakeHall

BOT = "<@U0PULLCORD>"


async def running(hall: Hall, name: str = "a") -> tuple[str, str]:
    """A run that stands at a gate: its id, and the root of its thread."""
    before = len(await hall.runs(0))
    await hall.person("requester").command("#ops", "/plan", f"test.gate name={name}")
    run = (await hall.runs(before + 1))[0]
    card = await hall.person("approver").card("#ops", "Approve", run=run.id)
    await hall.person("approver").press("Approve", card, "#ops")
    found = await hall.until(run.id, "running")
    return run.id, found.run.thread_ts or ""


async def replies(hall: Hall, root: str) -> list[Shown]:
    return [message for message in await hall.person("requester").messages("#ops", root) if message.get("bot_id")]


async def test_C010_a_reply_reaches_only_the_run_whose_thread_it_stands_in(hall: Hall) -> None:
    first, root = await running(hall, "a")
    second, other = await running(hall, "b")
    await hall.person("member").say("#ops", "stop", thread_ts=other)

    await hall.until(second, "stopped")
    assert (await hall.show(first)).run.status == "running"
    assert not any(entry.event == Event.STOP_ASKED for entry in (await hall.show(first)).entries)
    assert root != other


async def test_C010_the_same_word_outside_any_runs_thread_brakes_nothing(hall: Hall) -> None:
    run_id, _ = await running(hall)
    requester = hall.person("requester")
    elsewhere = await requester.say("#ops", "talking")
    await requester.say("#ops", "stop", thread_ts=elsewhere)
    await requester.say("#ops", "stop")
    await requester.say("#ops", "status", thread_ts=(await hall.show(run_id)).run.thread_ts)

    await requester.read("#ops", "Running ·")
    assert (await hall.show(run_id)).run.status == "running"


async def test_words_in_the_thread_do_what_the_buttons_do_and_say_so(hall: Hall) -> None:
    run_id, root = await running(hall)
    member = hall.person("member")

    await member.say("#ops", "Pause!", thread_ts=root)
    await hall.until(run_id, "pausing")
    await member.read("#ops", "Paused: no further step starts")
    await member.say("#ops", "resume", thread_ts=root)
    assert "letting" in text_of(await member.told("not resumed"))
    await hall.person("requester").say("#ops", "resume", thread_ts=root)
    await hall.until(run_id, "running")


async def test_a_note_tells_of_the_run_as_the_word_left_it_however_late_it_is_posted(hall: Hall) -> None:
    run_id, root = await running(hall)
    requester = hall.person("requester")
    left = (await hall.show(run_id)).run
    ts = await requester.say("#ops", "stop", thread_ts=root)
    await hall.until(run_id, "stopped")

    said = Message(text="never mind", actor="U0REQUESTER", team="T0HOME", workspace="T0HOME", channel="C0OPS", ts=ts, thread_ts=root)
    await notices.say(Desk(hall.deps, hall.slack), said, run_id, "withdraw", left=left)
    told = text_of(await requester.read("#ops", "Withdrawn by"))
    assert f"{run_id} keeps revision 1, as it was approved. The run goes on." in told


async def test_what_is_not_understood_changes_nothing_and_is_answered_with_what_works(hall: Hall) -> None:
    run_id, root = await running(hall)
    await hall.person("member").say("#ops", "could you maybe do it differently", thread_ts=root)

    told = await hall.person("member").read("#ops", "Not understood")
    assert told["thread_ts"] == root
    assert (await hall.show(run_id)).run.status == "running"


async def test_C016_a_reply_told_again_or_also_sent_to_the_channel_counts_once(hall: Hall) -> None:
    _, root = await running(hall)
    body = {"channel": "#ops", "text": "status", "thread_ts": root, "reply_broadcast": True}
    await hall.people.call("POST", "/people/member/messages", body)
    await hall.person("member").read("#ops", "Running ·")
    await hall.socket(redeliver=3)

    await hall.person("member").say("#ops", "something else entirely", thread_ts=root)
    await hall.person("member").read("#ops", "Not understood")
    assert sum("as of" in text_of(message) and "Running ·" in text_of(message) for message in (await replies(hall, root))[1:]) == 1
    assert len(await hall.runs()) == 1


async def test_C011_our_own_posts_redraws_and_previews_start_nothing(hall: Hall) -> None:
    run_id, root = await running(hall)
    await hall.slack.client.chat_postMessage(channel="C0OPS", thread_ts=root, text="stop")
    answer = await hall.slack.client.chat_postMessage(channel="C0OPS", thread_ts=root, text="see https://a.example")
    for number in range(12):
        await hall.slack.client.chat_update(channel="C0OPS", ts=answer["ts"], text=f"pause {number}")

    async def heard() -> bool:
        return not (await hall.people.call("GET", "/log"))["pending_events"]

    await eventually(heard, "every event to be acknowledged")
    assert (await hall.show(run_id)).run.status == "running"
    assert len(await hall.runs()) == 1


async def test_a_mention_in_a_live_runs_thread_is_a_reply_and_in_a_finished_ones_a_new_ask(hall: Hall) -> None:
    run_id, root = await running(hall)
    requester = hall.person("requester")
    await requester.say("#ops", f"{BOT} stop", thread_ts=root)
    await hall.until(run_id, "stopped")

    await requester.say("#ops", f"{BOT} test.change name=b", thread_ts=root)
    found = await hall.runs(2)
    assert (found[0].ask, found[0].thread_ts) == ("test.change name=b", root)


async def tell(hall: Hall, events: tuple[str, ...], text: str, *, root: str, ts: str) -> None:
    """Let Slack tell of one message in a thread, in this order, each event once the one before has been dealt with."""
    app = build_app(hall.deps.settings, hall.slack)
    register(app, hall.deps, hall.slack)
    await hall.settled()
    idle = len(hall.deps.tasks)

    async def dealt_with() -> bool:
        return len(hall.deps.tasks) <= idle

    said = {"user": "U0REQUESTER", "text": text, "ts": ts, "thread_ts": root, "channel": "C0OPS", "team": "T0HOME"}
    for kind in events:
        event = {"type": kind, **said, **({"channel_type": "channel"} if kind == "message" else {})}
        body = {"type": "event_callback", "team_id": "T0HOME", "event": event, "event_id": f"Ev{kind}{ts}"}
        answer = await app.async_dispatch(AsyncBoltRequest(body=body, mode="socket_mode"))
        assert answer.status == 200
        await hall.settled()
        await eventually(dealt_with, f"{kind} to be dealt with")


FIRST, LAST = ("app_mention", "message"), ("message", "app_mention")
ORDERS = pytest.mark.parametrize("events", [FIRST, LAST, (*FIRST, "app_mention")])


@ORDERS
async def test_C016_a_mention_in_a_thread_is_one_ask_whichever_event_comes_first(make_hall: MakeHall, events: tuple[str, ...]) -> None:
    hall = await make_hall(supervised=False)
    root = await hall.person("member").say("#ops", "we should do something")

    await tell(hall, events, f"{BOT} test.change name=a", root=root, ts="1700000000.000100")

    (run,) = await hall.runs()
    assert (run.ask, run.thread_ts) == ("test.change name=a", root)
    assert not any("Not understood" in text_of(message) for message in await replies(hall, root))


@ORDERS
async def test_C016_a_mention_that_ends_the_run_of_its_thread_is_a_reply_and_no_new_ask(hall: Hall, events: tuple[str, ...]) -> None:
    await hall.person("requester").command("#ops", "/plan", "test.change name=a")
    (run,) = await hall.runs()
    await hall.person("approver").card("#ops", "Approve", run=run.id)
    root = (await hall.show(run.id)).run.thread_ts or ""

    await tell(hall, events, f"{BOT} stop", root=root, ts="1700000000.000100")

    await hall.until(run.id, "cancelled")
    assert len(await hall.runs()) == 1


async def test_a_reply_whose_answer_was_lost_is_answered_once_in_the_thread_and_the_person_hears_of_it(hall: Hall) -> None:
    _, root = await running(hall)
    await hall.person("requester").read("#ops", "Running ·")

    async def shown() -> bool:
        return not await hall.presenter.is_behind()

    await eventually(shown, "everything to be shown")
    await hall.spoil(method="chat.postMessage", after_effect=True)
    member = hall.person("member")

    await member.say("#ops", "status", thread_ts=root)

    await member.told("Running ·")
    assert sum("as of" in text_of(message) for message in (await replies(hall, root))[1:]) == 1
    assert not any("broke" in text_of(message) for message in await member.ephemerals())


async def test_a_reply_to_a_finished_run_is_told_that_it_was_late(hall: Hall) -> None:
    run_id, root = await running(hall)
    (Path(os.environ["PULLCORD_TEST_FOLDER"]) / "a.open").touch()
    await hall.until(run_id, "succeeded")
    await hall.person("requester").say("#ops", "and now the other one", thread_ts=root)

    await hall.person("requester").read("#ops", "had ended when this came")


async def test_a_control_word_as_a_direct_message_brakes_what_this_person_has_running(hall: Hall) -> None:
    run_id, _ = await running(hall)
    await hall.person("requester").say("@pullcord", "stop")

    await hall.until(run_id, "stopped")
    await hall.person("requester").told("Stopped")


async def test_an_event_that_nobody_listens_to_is_acknowledged_all_the_same(make_hall: MakeHall) -> None:
    hall = await make_hall(supervised=False)
    body = {"channel": "#ops", "text": "hello"}
    for _ in range(3):
        await hall.people.call("POST", "/people/member/messages", body)
    ts = await hall.person("member").say("#ops", "to be edited")
    await hall.person("member").edit("#ops", ts, "edited")
    await hall.person("member").delete("#ops", ts)

    async def heard() -> bool:
        return not (await hall.people.call("GET", "/log"))["pending_events"]

    await eventually(heard, "every event to be acknowledged")
    envelopes = [entry for entry in await hall.log() if entry.get("event_id")]
    assert envelopes
    assert not any(entry.get("retry_attempt") for entry in envelopes)

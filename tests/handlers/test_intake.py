"""Somebody asks, and one run comes of it, wherever and however often Slack says so."""

import asyncio

from bot.activities.drafting import draft
from bot.commands import review, silence
from bot.core.drafts import Brief, Draft, Question
from bot.core.run import RunStatus
from bot.llm.offline import OfflinePlanner
from tests.doubles.clock import Clock
from tests.doubles.parts import APPROVER
from tests.doubles.town import buttons, run_id_in, text_of
from tests.handlers.conftest import Hall, MakeHall

BOT = "<@U0PULLCORD>"


class SlowPlanner:
    """Counts its calls and waits until it is let go."""

    name = "slow"

    def __init__(self) -> None:
        self.calls = 0
        self.let_go = asyncio.Event()

    async def draft(self, brief: Brief) -> Draft:
        self.calls += 1
        await self.let_go.wait()
        return await OfflinePlanner().draft(brief)


async def test_C001_a_mention_told_three_times_is_one_run_one_card_and_one_planner_call(make_hall: MakeHall) -> None:
    planner = SlowPlanner()
    hall = await make_hall(planner=planner)
    requester = hall.person("requester")

    await requester.say("#ops", f"{BOT} test.change name=a")
    await hall.runs()
    await hall.socket(redeliver=True)  # the message event
    await hall.socket(redeliver=2)  # and the mention with it
    planner.let_go.set()
    card = await requester.card("#ops", "Approve")

    await hall.settled()
    envelopes = [entry for entry in await hall.log() if entry.get("event") in ("app_mention", "message") and entry.get("event_id")]
    ours = [entry for entry in envelopes if entry.get("retry_attempt")]
    assert len(ours) >= 3
    assert all(entry["acked"] and entry["ack_ms"] < 1000 for entry in envelopes)
    assert len(await hall.runs()) == 1
    assert planner.calls == 1
    assert run_id_in(card) == (await hall.runs())[0].id
    thread = [m for m in await requester.everything("#ops") if m.get("bot_id")]
    assert len(thread) == 2  # the run card and the review


async def test_C001_the_ack_waits_neither_for_slack_nor_for_the_planner(make_hall: MakeHall) -> None:
    hall = await make_hall(planner=SlowPlanner())
    await hall.spoil(method="*", delay_ms=1500, times=5)

    answer = await hall.person("requester").command("#ops", "/plan", "test.change name=a")

    assert (answer["acked"], answer["ack_ms"] < 1000) == (True, True)
    assert len(await hall.runs()) == 1


async def test_C009_a_command_begins_a_thread_of_its_own_and_says_how_to_ask_inside_one(hall: Hall) -> None:
    requester = hall.person("requester")
    root = await requester.say("#ops", "talking about something")
    await requester.say("#ops", "and more of it", thread_ts=root)

    await requester.command("#ops", "/plan", "test.change name=a")
    taken = await requester.told("Taken")
    (run,) = await hall.runs()

    assert run.id in text_of(taken)
    assert "mention Pullcord there" in text_of(taken)
    await hall.until(run.id, "in_review")
    await hall.settled()
    card = next(m for m in await requester.messages("#ops") if m.get("bot_id"))
    assert (await hall.show(run.id)).run.thread_ts == card["ts"]
    assert [m["text"] for m in await requester.messages("#ops", root)] == ["talking about something", "and more of it"]


async def test_C009_in_a_thread_a_mention_asks_and_the_cards_come_there(hall: Hall) -> None:
    requester = hall.person("requester")
    root = await requester.say("#ops", "talking about something")

    await requester.say("#ops", f"{BOT} test.change name=a", thread_ts=root)
    card = await requester.card("#ops", "Approve")

    assert card["thread_ts"] == root


async def test_an_empty_plan_command_is_answered_with_an_example(hall: Hall) -> None:
    await hall.person("requester").command("#ops", "/plan", "")

    example = await hall.person("requester").told("Say what you want")
    assert "/plan" in text_of(example)
    assert await hall.runs(0) == []


async def test_C013_a_command_in_a_channel_without_the_bot_is_answered_with_the_way_to_invite_it(hall: Hall) -> None:
    answer = await hall.person("requester").command("#private", "/plan", "test.change name=a")

    hint = await hall.person("requester").told("/invite")
    assert answer["acked"]
    assert "not in this channel" in text_of(hint)
    assert await hall.runs(0) == []


async def test_C014_what_was_typed_becomes_the_ask_decoded_once(hall: Hall) -> None:
    await hall.person("requester").command("#ops", "/plan", "run “deploy —dry-run” in ‘staging’ when a &lt; b &amp;&amp; c")

    (run,) = await hall.runs()
    assert run.ask == "run “deploy —dry-run” in ‘staging’ when a < b && c"


async def test_C014_a_mention_says_the_same_as_a_command(hall: Hall) -> None:
    await hall.person("requester").say("#ops", f"{BOT} run “deploy —dry-run” when a < b && c")

    (run,) = await hall.runs()
    assert run.ask == "run “deploy —dry-run” when a < b && c"


async def test_a_direct_message_asks(hall: Hall) -> None:
    requester = hall.person("requester")
    await requester.say("@pullcord", "test.change name=a")

    (run,) = await hall.runs()
    await hall.until(run.id, "in_review")
    assert (run.channel[0], run.requester) == ("D", "U0REQUESTER")


async def test_people_of_another_workspace_and_guests_are_told_why_they_cannot_ask(hall: Hall) -> None:
    for name, channel, says in (("guest", "#ops", "guest"), ("partner", "#partners", "another workspace")):
        await hall.person(name).say(channel, f"{BOT} test.change name=a")
        assert says in text_of(await hall.person(name).told("not started"))

    assert await hall.runs(0) == []


async def test_C011_other_bots_are_not_listened_to(hall: Hall) -> None:
    await hall.person("otherbot").say("#ops", f"{BOT} test.change name=a")
    await hall.person("requester").say("#ops", f"{BOT} test.change name=b")

    (run,) = await hall.runs()
    await hall.until(run.id, "in_review")
    assert [each.ask for each in await hall.runs()] == ["test.change name=b"]


async def test_C015_a_deletion_before_approval_drops_the_draft(make_hall: MakeHall) -> None:
    planner = SlowPlanner()
    hall = await make_hall(planner=planner)
    requester = hall.person("requester")
    ts = await requester.say("#ops", f"{BOT} test.change name=a")
    (run,) = await hall.runs()

    await requester.delete("#ops", ts)
    await hall.until(run.id, "cancelled")
    planner.let_go.set()
    await hall.settled()

    assert planner.calls == 1
    assert not [m for m in await requester.everything("#ops") if "Approve" in text_of(m)]


async def test_C015_a_deletion_that_overtakes_its_ask_takes_it_back_too(hall: Hall) -> None:
    requester = hall.person("requester")
    await hall.spoil(method="users.info", delay_ms=700)
    ts = await requester.say("#ops", f"{BOT} test.change name=a")
    await requester.delete("#ops", ts)

    (run,) = await hall.runs()
    await hall.until(run.id, "cancelled")
    await hall.settled()
    assert [m for m in await requester.everything("#ops") if m.get("bot_id")] == []  # nothing posted, nothing tried again
    states = {post.card: post.state for post in (await hall.show(run.id)).posts}
    assert states["run"] == "failed"


async def test_C015_a_deletion_after_approval_undoes_nothing_and_the_requester_is_told_where_the_run_goes_on(make_hall: MakeHall) -> None:
    hall = await make_hall(supervised=False, presented=False)
    requester = hall.person("requester")
    ts = await requester.say("#ops", f"{BOT} test.change name=a")
    (run,) = await hall.runs()
    await draft(hall.deps, run.id)
    await review.approve(hall.deps, run.id, 1, who=APPROVER, received_at=hall.deps.now())

    await requester.delete("#ops", ts)
    hall.deps.tasks.start(hall.presenter.run(), name="presenter")
    told = await requester.told("the run goes on")

    await hall.settled()
    assert (await hall.show(run.id)).run.status is RunStatus.QUEUED
    standing = [m for m in await requester.messages("#ops") if run.id in text_of(m)]
    assert len(standing) == 2  # the run card and the review, in the channel now
    assert all("thread_ts" not in m for m in standing)
    assert run.id in text_of(told)
    await hall.presenter.close()


async def test_C016_an_edit_changes_no_plan_and_the_thread_says_so(hall: Hall) -> None:
    requester = hall.person("requester")
    ts = await requester.say("#ops", f"{BOT} test.change name=repo-a")
    await requester.card("#ops", "Approve")
    (run,) = await hall.runs()
    before = (await hall.show(run.id)).run

    await requester.edit("#ops", ts, f"{BOT} test.change name=repo-a")  # the same words: a link preview, or a change of mind
    await requester.edit("#ops", ts, f"{BOT} test.change name=repo-b")

    await requester.read("#ops", "The ask has been edited")
    await hall.settled()
    after = await hall.show(run.id)
    assert (after.run.digest, after.run.revision, after.run.ask) == (before.digest, before.revision, before.ask)
    assert len(await hall.runs()) == 1
    assert sum("The ask has been edited" in text_of(m) for m in await requester.everything("#ops")) == 1


async def test_ask_again_makes_one_new_run_however_often_it_is_pressed(hall: Hall, clock: Clock) -> None:
    requester = hall.person("requester")
    await requester.command("#ops", "/plan", "test.change name=a")
    await requester.card("#ops", "Approve")
    clock.advance(minutes=31)
    await silence.expire(hall.deps)
    again = await requester.card("#ops", "Ask again")

    await requester.press("Ask again", again, "#ops")
    await requester.press("Ask again", again, "#ops")

    await requester.card("#ops", "Approve")
    await hall.settled()
    found = await hall.runs()
    assert [run.ask for run in found] == ["test.change name=a"] * 2
    assert found[0].thread_ts == found[1].thread_ts


class AskingPlanner:
    """Asks back once, then plans what it was told."""

    name = "asking"

    async def draft(self, brief: Brief) -> Draft:
        if not brief.answers:
            return Draft(raw="?", question=Question(says="Which one is meant?", choices=("test.change name=a", "test.change name=b")))
        return await OfflinePlanner().draft(brief.model_copy(update={"ask": brief.answers[-1]}))


async def test_a_question_is_answered_by_a_lettered_button_and_asks_nothing_any_more(make_hall: MakeHall) -> None:
    hall = await make_hall(planner=AskingPlanner())
    requester, member = hall.person("requester"), hall.person("member")
    await requester.command("#ops", "/plan", "change the thing")
    question = await requester.card("#ops", "B")

    await member.press("B", question, "#ops")
    await member.told("not taken as the answer")
    await requester.press("B", question, "#ops")

    card = await requester.card("#ops", "Approve")
    await hall.settled()
    assert "Changes b" in text_of(card)
    asked = next(m for m in await requester.everything("#ops") if m["ts"] == question["ts"])
    assert buttons(asked) == []
    await requester.press("A", question, "#ops")
    await requester.told("out of date")


async def test_a_question_is_answered_by_a_reply_of_the_requester(make_hall: MakeHall) -> None:
    hall = await make_hall(planner=AskingPlanner())
    requester = hall.person("requester")
    await requester.command("#ops", "/plan", "change the thing")
    question = await requester.card("#ops", "B")

    await requester.say("#ops", "test.change name=c", thread_ts=question["thread_ts"])
    assert "Changes c" in text_of(await requester.card("#ops", "Approve"))

"""Every outbox row becomes one message, whatever Slack or the process does in between (P12)."""

from dataclasses import dataclass
from typing import Any

import pytest

from bot import outbox
from bot.activities.drafting import draft
from bot.commands import intake
from bot.core.catalogue import Catalogue
from bot.core.run import Run
from bot.core.snapshot import Answer, Post, Snapshot
from handlers import posting
from handlers.desk import Desk
from handlers.presenter import Presenter
from tests.doubles.clock import Clock
from tests.doubles.parts import REQUESTER
from tests.doubles.policies import DEMO_POLICY
from tests.doubles.town import Message, text_of
from tests.doubles.waiting import eventually
from tests.handlers.conftest import Hall, MakeHall

LOST = {"method": "chat.postMessage", "after_effect": True}


async def asked(hall: Hall, ask: str = "test.change name=a", *, channel: str = "C0OPS") -> Run:
    run = await intake.open_run(
        hall.deps, ask=ask, who=REQUESTER, team="T0HOME", channel=channel, thread_ts=None, source_ts=None, event_key=None
    )
    assert run is not None
    return run


async def ours(hall: Hall, channel: str = "#ops") -> list[Message]:
    return [message for message in await hall.person("requester").everything(channel) if message.get("bot_id")]


async def present(hall: Hall) -> None:
    hall.deps.tasks.start(hall.presenter.run(), name="presenter")
    await hall.settled()


async def card(hall: Hall, run_id: str, name: str = "run") -> Post:
    return next(post for post in await outbox.of_run(hall.deps, run_id) if post.card == name)


@pytest.fixture
async def quiet(make_hall: MakeHall) -> Hall:
    """Nobody attends to runs, and nothing is presented by itself."""
    return await make_hall(supervised=False, presented=False)


async def test_a_slash_commands_run_card_becomes_the_root_of_its_thread(quiet: Hall) -> None:
    run = await asked(quiet)
    await draft(quiet.deps, run.id)
    await present(quiet)

    root, review = await ours(quiet)
    after = (await quiet.show(run.id)).run
    assert (after.thread_ts, after.channel) == (root["ts"], "C0OPS")
    assert review["thread_ts"] == root["ts"]
    assert "Review card" in text_of(root)  # the run card was drawn once more, now that its link is known
    assert review["ts"].replace(".", "") in text_of(root)


@pytest.mark.parametrize("fault", [LOST, {"method": "chat.postMessage", "status": 503, "after_effect": True}])
async def test_a_post_whose_answer_was_lost_stands_once(quiet: Hall, clock: Clock, fault: dict[str, Any]) -> None:
    run = await asked(quiet)
    await quiet.spoil(**fault)
    await present(quiet)

    (message,) = await ours(quiet)
    assert (await card(quiet, run.id)).ts == message["ts"]
    assert (await quiet.show(run.id)).run.thread_ts == message["ts"]


async def test_a_reply_whose_answer_was_lost_stands_once_in_its_thread(quiet: Hall) -> None:
    run = await asked(quiet)
    await present(quiet)
    await quiet.spoil(**LOST)
    await draft(quiet.deps, run.id)
    await eventually(lambda: _standing(quiet, run.id, "review"), "the review card")

    assert len([message for message in await ours(quiet) if "Who may approve" in text_of(message)]) == 1


async def _standing(hall: Hall, run_id: str, name: str) -> bool:
    return (await card(hall, run_id, name)).state == "posted"


async def test_a_post_that_did_not_arrive_is_posted_again(quiet: Hall) -> None:
    await asked(quiet)
    await quiet.spoil(method="chat.postMessage", status=500)
    await present(quiet)

    assert len(await ours(quiet)) == 1


@pytest.mark.parametrize("sent", [True, False])
async def test_a_process_that_died_between_the_mark_and_the_answer_doubles_nothing_and_loses_nothing(quiet: Hall, sent: bool) -> None:
    run = await asked(quiet)
    post = await card(quiet, run.id)
    await outbox.sending(quiet.deps, post.id)
    if sent:  # the message went out; the process died before it could write down where it stands
        metadata = {"event_type": "pullcord_card", "event_payload": {"card": "run", "version": 0, "run": run.id, "key": post.key}}
        await quiet.slack.once.chat_postMessage(channel="C0OPS", text="Planning", metadata=metadata)
    await present(quiet)

    (message,) = await ours(quiet)
    assert (await card(quiet, run.id)).ts == message["ts"]
    assert "Planning" in text_of(message)


async def test_nobody_elses_message_with_the_same_key_is_taken_for_ours(quiet: Hall) -> None:
    run = await asked(quiet)
    post = await card(quiet, run.id)
    await quiet.person("member").say("#ops", post.key)
    await outbox.sending(quiet.deps, post.id)
    await present(quiet)

    assert len(await ours(quiet)) == 1


async def test_C013_a_post_to_a_channel_without_the_bot_is_kept_with_the_way_to_invite_it_and_others_go_on(make_hall: MakeHall) -> None:
    hall = await make_hall(policy=DEMO_POLICY.replace("#audit", "#private"), supervised=False)
    run = await asked(hall)
    await draft(hall.deps, run.id)
    await hall.person("requester").card("#ops", "Approve")
    await hall.person("requester").press("Approve", await hall.person("requester").card("#ops", "Approve"), "#ops")
    await hall.person("requester").told("not approved")

    async def kept() -> Post | None:
        return next((post for post in (await hall.show(run.id)).posts if post.card == "audit" and post.error), None)

    audit = await eventually(kept, "the refused post to be kept")
    assert audit.state == "wanted"
    assert "/invite" in (audit.error or "")
    assert audit.not_before is not None
    assert any(entry.event == "click_refused" for entry in (await hall.show(run.id)).entries)


async def test_a_channel_that_slack_slows_down_holds_up_no_other(make_hall: MakeHall) -> None:
    hall = await make_hall(supervised=False, presented=False)
    first, other = await asked(hall), await asked(hall, channel="C0GENERAL")
    await hall.spoil(method="chat.postMessage", status=429, retry_after=2)
    hall.deps.tasks.start(hall.presenter.run(), name="presenter")

    await eventually(lambda: _one_stands(hall, first.id, other.id), "one of the two cards", within_s=1.5)
    await hall.settled()
    assert len(await ours(hall)) == len(await ours(hall, "#general")) == 1


async def _one_stands(hall: Hall, *run_ids: str) -> bool:
    return any([await _standing(hall, run_id, "run") for run_id in run_ids])


async def test_posts_of_one_channel_keep_their_order_through_a_rate_limit(quiet: Hall) -> None:
    asks = [await asked(quiet, f"test.change name=n{number}") for number in range(4)]
    await quiet.spoil(method="chat.postMessage", status=429, retry_after=1)
    await present(quiet)

    standing = await ours(quiet)
    assert [run.id in text_of(message) for run, message in zip(asks, standing, strict=True)] == [True] * 4


async def test_C005_a_card_that_slack_finds_too_much_stands_in_plainer_form(quiet: Hall) -> None:
    run = await asked(quiet)
    await quiet.spoil(method="chat.postMessage", error="invalid_blocks", times=2)
    await present(quiet)

    (message,) = await ours(quiet)
    assert run.id in message["text"]


async def test_C005_a_hostile_and_oversized_ask_is_shown_the_first_time(quiet: Hall) -> None:
    long = "x" * 12_000
    run = await asked(quiet, f'test.change name="{long}"')
    await draft(quiet.deps, run.id)
    await present(quiet)

    calls = [entry for entry in await quiet.log() if entry.get("method", "").startswith("chat.")]
    assert calls
    assert all(entry["ok"] for entry in calls)
    assert all(message["text"] for message in await ours(quiet))


@dataclass
class LongSynthesizer:
    text: str

    async def answer(self, snapshot: Snapshot, catalogue: Catalogue) -> Answer:
        return Answer(text=self.text, cites=(), by="a-model")


async def test_C006_a_long_answer_is_posted_in_parts_in_order_and_a_lost_answer_doubles_none(make_hall: MakeHall) -> None:
    words = " ".join(f"Sentence number {number} of the long answer 😀 & more." for number in range(180))
    hall = await make_hall(synthesizer=LongSynthesizer(f"{words}\n```\n{'code ' * 200}\n```"))
    requester = hall.person("requester")
    await requester.command("#ops", "/plan", "test.look name=a")
    (run,) = await hall.runs()
    await hall.until(run.id, "succeeded")
    await hall.settled()
    parts = [m for m in await ours(hall) if "Answer" in text_of(m) and "part " in text_of(m)]

    await hall.presenter.close()
    post = await card(hall, run.id, "answer")
    await outbox.sending(hall.deps, post.id)  # as if the process had died before it wrote down that all parts stand
    lost = (await card(hall, run.id, "answer")).model_copy(update={"ts": None})
    await posting.deliver(Desk(hall.deps, hall.slack), lost, shown=lambda *_: None)

    again = [m for m in await ours(hall) if "Answer" in text_of(m) and "part " in text_of(m)]
    assert len(parts) > 3
    assert [m["ts"] for m in again] == [m["ts"] for m in parts]
    assert "Sentence number 0 " in text_of(parts[0])
    assert post.ts == parts[0]["ts"]


async def test_a_presenter_that_is_started_again_goes_on_where_the_last_one_stopped(quiet: Hall) -> None:
    run = await asked(quiet)
    await present(quiet)
    await quiet.presenter.close()
    await draft(quiet.deps, run.id)

    second = Presenter(quiet.deps, quiet.slack)
    quiet.deps.tasks.start(second.run(), name="second presenter")
    await quiet.person("approver").card("#ops", "Approve")
    await second.close()
    assert len(await ours(quiet)) == 2

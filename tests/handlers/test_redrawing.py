"""Cards end showing the truth, at Slack's pace, whatever Slack does (P12, C007)."""

import os
from pathlib import Path
from typing import Any

import pytest

from bot.activities.drafting import draft
from bot.commands import review
from bot.core.snapshot import Post
from handlers.desk import Desk
from handlers.redrawing import BURST, PER_MINUTE, Redrawer, appearance
from tests.doubles.parts import REQUESTER
from tests.doubles.town import run_id_in, text_of
from tests.doubles.waiting import eventually
from tests.handlers.conftest import Hall, MakeHall
from tests.handlers.test_posting import asked, card, ours, present


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def stale(number: int, run: str = "R-AAAAA") -> Post:
    return Post(id=number, run=run, card="run", key=f"{run}:{number}", channel="C0OPS", ts=f"1.{number}", state="posted")


def gate(name: str) -> Path:
    """The file that opens a gate of the test tools."""
    return Path(os.environ["PULLCORD_TEST_FOLDER"]) / f"{name}.open"


async def updates(hall: Hall) -> list[dict[str, Any]]:
    return await hall.log("chat.update")


async def test_C007_a_burst_of_changes_is_a_few_redraws_and_the_last_state_is_shown(hall: Hall) -> None:
    requester, approver = hall.person("requester"), hall.person("approver")
    await requester.command("#ops", "/plan", "\n".join(f"test.look name=n{number}" for number in range(12)) + "\ntest.change name=a")
    review_card = await approver.card("#ops", "Approve")
    await approver.press("Approve", review_card, "#ops")

    await hall.until(run_id_in(review_card), "succeeded")
    await requester.read("#ops", "Done · 13 of 13")
    await hall.settled()
    assert len(await updates(hall)) <= 12  # some thirty changes


async def test_C007_a_rate_limit_holds_up_no_run_no_stop_and_the_last_state_reaches_the_card(hall: Hall) -> None:
    requester, approver = hall.person("requester"), hall.person("approver")
    await requester.command("#ops", "/plan", "test.gate name=g")
    found = await approver.card("#ops", "Approve")
    run_id = run_id_in(found)
    await hall.spoil(method="chat.update", status=429, retry_after=3)
    await approver.press("Approve", found, "#ops")
    await hall.until(run_id, "running")

    await requester.command("#ops", "/stop", run_id)

    await hall.until(run_id, "stopped", within_s=2.5)  # while Slack still says "later"
    await requester.read("#ops", "Stopped ·")
    calls = await updates(hall)
    refused = next(entry for entry in calls if entry["status"] == 429)
    waited = [entry["at"] - refused["at"] for entry in calls if entry["at"] > refused["at"] + 0.3]  # others were under way already
    assert min(waited) >= 2.9
    assert [entry["status"] for entry in calls].count(429) == 1


async def test_one_card_is_drawn_at_once_and_then_at_a_pace(make_hall: MakeHall) -> None:
    hall = await make_hall(supervised=False)
    run = await asked(hall)
    await hall.settled()
    time, standing = Time(), await card(hall, run.id)
    redrawer = Redrawer(Desk(hall.deps, hall.slack), clock=time)

    assert await redrawer.choose([standing]) == [standing]
    assert await redrawer.choose([standing]) == []  # it is being drawn
    await redrawer.draw(standing)
    assert await redrawer.choose([standing]) == []
    assert redrawer.wait_s([standing]) == pytest.approx(1.2)
    time.now += 1.3
    assert await redrawer.choose([standing]) == [standing]


async def test_all_cards_share_the_workspaces_budget(make_hall: MakeHall) -> None:
    hall = await make_hall(supervised=False, presented=False)
    time = Time()
    redrawer = Redrawer(Desk(hall.deps, hall.slack), clock=time)
    chosen = 0
    for second in range(60):
        chosen += len(await redrawer.choose([stale(1000 * second + number) for number in range(50)]))
        time.now += 1

    assert chosen <= BURST + PER_MINUTE


async def test_where_the_budget_is_short_those_that_wait_for_somebody_go_first(make_hall: MakeHall) -> None:
    hall = await make_hall(supervised=False, presented=False)
    time = Time()
    moving, waiting = await asked(hall), await asked(hall)
    await draft(hall.deps, waiting.id)
    redrawer = Redrawer(Desk(hall.deps, hall.slack), clock=time)
    await redrawer.choose([stale(number) for number in range(100, 100 + BURST - 1)])

    chosen = await redrawer.choose([stale(1, moving.id), stale(2, waiting.id)])

    assert [post.run for post in chosen] == [waiting.id]


async def test_a_deleted_card_stands_anew_once_and_shows_the_truth(make_hall: MakeHall) -> None:
    hall = await make_hall(supervised=False, presented=False)
    run = await asked(hall)
    await present(hall)
    first = (await ours(hall))[0]
    await hall.slack.client.chat_delete(channel="C0OPS", ts=first["ts"])
    await draft(hall.deps, run.id)
    await hall.person("requester").read("#ops", "Needs approval")
    await hall.settled()

    standing = await card(hall, run.id)
    roots = [message for message in await hall.person("requester").messages("#ops") if run.id in text_of(message)]
    assert standing.ts != first["ts"]
    assert [message["ts"] for message in roots] == [standing.ts]
    await hall.slack.client.chat_delete(channel="C0OPS", ts=str(standing.ts))
    await review.cancel(hall.deps, run.id, 1, who=REQUESTER, reason="")
    await eventually(lambda: _given_up(hall, run.id), "the card to be given up")


async def _given_up(hall: Hall, run_id: str) -> bool:
    return (await card(hall, run_id)).state == "failed"


async def test_a_card_whose_update_broke_is_drawn_again(make_hall: MakeHall) -> None:
    hall = await make_hall(supervised=False)
    run = await asked(hall)
    await hall.settled()
    for fault in ({"status": 500}, {"after_effect": True}):
        await hall.spoil(method="chat.update", **fault)
    await draft(hall.deps, run.id)

    await hall.person("requester").read("#ops", "Needs approval")
    await hall.settled()


async def test_a_draw_that_would_change_nothing_costs_no_call(hall: Hall) -> None:
    requester, approver = hall.person("requester"), hall.person("approver")
    await requester.command("#ops", "/plan", "a: test.gate name=a\nb: test.gate name=b after=a\nc: test.gate name=c after=b")
    found = await approver.card("#ops", "Approve")
    run_id = run_id_in(found)
    await approver.press("Approve", found, "#ops")
    for name in "abc":
        await eventually(lambda name=name: _runs_and_is_shown(hall, run_id, name), f"step {name} to run, and the card to say so")
        gate(name).touch()
    await hall.until(run_id, "succeeded")
    await hall.settled()

    closed, snapshot = await card(hall, run_id, "review"), await hall.show(run_id)
    drawn = [entry for entry in await updates(hall) if entry.get("ts") == closed.ts]
    assert closed.shown == snapshot.run.version > 8
    assert len(drawn) <= 2  # approved; has started


async def _runs_and_is_shown(hall: Hall, run_id: str, step: str) -> bool:
    found = await hall.show(run_id)
    return found.state(step).status == "running" and (await card(hall, run_id)).shown == found.run.version


def test_what_a_person_sees_decides_whether_a_card_looks_the_same() -> None:
    block = {"type": "section", "block_id": "review:R-7K2Q.17", "text": {"type": "mrkdwn", "text": "a"}}
    later = {**block, "block_id": "review:R-7K2Q.18"}

    assert appearance({"text": "t", "blocks": [block], "metadata": 1}) == appearance({"text": "t", "blocks": [later], "metadata": 2})
    assert appearance({"text": "t", "blocks": [block]}) != appearance({"text": "u", "blocks": [block]})

"""Whatever somebody tries who may not: a private answer with the next move, and an entry on record; every way to decide in turn."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bot.core.run import Event
from tests.doubles.town import run_id_in, text_of
from tests.doubles.waiting import eventually
from tests.handlers.conftest import Hall
from tests.handlers.test_attacks import HIGH, Json, forged
from tests.handlers.test_review import entries, reviewed

Try = Callable[[], Awaitable[Any]]


async def is_refused(hall: Hall, run_id: str, name: str, attempt: Try, *, kind: str) -> None:
    """The attempt changes nothing, is answered in private with the next move, and stands on record as this person's."""
    who, before = hall.person(name), await hall.show(run_id)
    seen, known = len(await who.ephemerals()), len(await entries(hall, run_id, Event.CLICK_REFUSED))
    await attempt()

    async def answered() -> list[Any]:
        told = (await who.ephemerals())[seen:]
        found = (await entries(hall, run_id, Event.CLICK_REFUSED))[known:]
        return [told[0], found[0]] if told and found else []

    told, entry = await eventually(answered, f"{name} to be refused")
    assert "Next:" in text_of(told)
    assert (entry.actor, entry.data["kind"]) == (f"U0{name.upper()}", kind)
    after = await hall.show(run_id)
    assert (after.run, after.approvals) == (before.run, before.approvals)


def press(hall: Hall, name: str, card: Json, label: str, **instead: Any) -> Try:
    return lambda: forged(hall, name, card, label, **instead)


def say(hall: Hall, name: str, card: Json, words: str) -> Try:
    return lambda: hall.person(name).say("#ops", words, card.get("thread_ts") or card["ts"])


async def test_on_a_review(hall: Hall) -> None:
    run_id, card = await reviewed(hall, HIGH)
    for label in ("Approve", "Edit", "Ask for changes", "Cancel"):
        await is_refused(hall, run_id, "guest", press(hall, "guest", card, label), kind="guest")
        await is_refused(hall, run_id, "member", press(hall, "member", card, label), kind="not_allowed")
    for word in ("resume", "stop"):
        await is_refused(hall, run_id, "guest", say(hall, "guest", card, word), kind="guest")


async def test_on_a_confirm(hall: Hall) -> None:
    run_id, card = await reviewed(hall, HIGH)
    for name in ("approver", "approver2"):
        await hall.person(name).press("Approve", card, "#ops")
    confirm = await hall.person("approver").card("#ops", "Confirm")
    for label in ("Confirm", "Refuse", "Change arguments"):
        await is_refused(hall, run_id, "guest", press(hall, "guest", confirm, label), kind="guest")
        await is_refused(hall, run_id, "member", press(hall, "member", confirm, label), kind="not_allowed")
    await is_refused(hall, run_id, "member", say(hall, "member", confirm, "skip s1"), kind="not_allowed")


async def test_at_a_breakpoint_and_while_a_new_rest_waits(hall: Hall) -> None:
    run_id, card = await reviewed(hall, "a: test.change name=a\nb: test.change name=b after=a !break")
    await hall.person("approver").press("Approve", card, "#ops")
    held = await hall.person("approver").card("#ops", "Continue")
    for label in ("Continue", "Change the rest"):
        await is_refused(hall, run_id, "guest", press(hall, "guest", held, label), kind="guest")
        await is_refused(hall, run_id, "member", press(hall, "member", held, label), kind="not_allowed")
    await hall.person("requester").say("#ops", "add c: test.change name=c", card["thread_ts"])
    redirect = await hall.person("approver").card("#ops", "Approve", run="the new rest")
    for label in ("Approve", "Edit", "Never mind"):
        await is_refused(hall, run_id, "guest", press(hall, "guest", redirect, label), kind="guest")
        await is_refused(hall, run_id, "member", press(hall, "member", redirect, label), kind="not_allowed")


async def test_at_a_step_that_failed_and_under_a_pause(hall: Hall, tmp_path: Path) -> None:
    run_id, card = await reviewed(hall, "test.fails name=f")
    await hall.person("approver").press("Approve", card, "#ops")
    failed = await hall.person("approver").card("#ops", "Retry")
    for label in ("Retry", "Skip"):
        await is_refused(hall, run_id, "guest", press(hall, "guest", failed, label), kind="guest")
        await is_refused(hall, run_id, "member", press(hall, "member", failed, label), kind="not_allowed")
    await hall.person("member").say("#ops", "pause", card["thread_ts"])
    paused = await hall.person("member").card("#ops", "Resume")
    await is_refused(hall, run_id, "member", press(hall, "member", paused, "Resume"), kind="not_allowed")
    await is_refused(hall, run_id, "member", say(hall, "member", card, "resume"), kind="not_allowed")
    await is_refused(hall, run_id, "member", lambda: hall.person("member").command("#ops", "/resume", run_id), kind="not_allowed")
    assert run_id_in(paused) == run_id
    (tmp_path / "f.mended").touch()


async def test_what_is_about_the_whole_bot(hall: Hall) -> None:
    """Freeze, thaw and asking have no run: the answer comes all the same."""
    for name, text, words in (("member", "freeze now", "Not frozen"), ("member", "thaw", "Not thawed")):
        answer = await hall.person(name).command("#ops", "/cord", text)
        assert answer["ok"]
        await hall.person(name).told(words)
    await hall.person("guest").command("#ops", "/plan", HIGH)
    await hall.person("guest").told("guests do not decide")
    assert await hall.runs(0) == []

"""The end in order, and what cuts it short: what ran is accounted for at the next start, and a freeze outlives them all (C018, C052)."""

import signal
from pathlib import Path

import pytest

from tests.crash.ends import check
from tests.crash.lives import Nursery
from tests.crash.stage import FINAL, Stage, staged
from tests.crash.stories import Story, asks, commands, event, opens, perform, presses
from tests.doubles.policies import DEMO_POLICY

GATES = Story(
    name="a read and an effect at their gates",
    policy=DEMO_POLICY + "\ncord: {freeze: [approver]}\n",
    deeds=(asks("sees: test.readgate name=sees\nacts: test.gate name=acts"), presses("approver", "Approve", event("approved"))),
    status="succeeded",
    steps={"sees": "succeeded", "acts": "succeeded"},
    happened={"passed": ["acts"]},
    meets=frozenset(),
)


async def at_the_gates(stage: Stage) -> None:
    stage.bot.start()
    await stage.bot.ready()
    await perform(GATES.deeds, stage)
    await stage.until(lambda _: stage.lines("gate") == ["acts"] and stage.lines("readgate") == ["sees"], what="both to be at their gates")


async def to_the_end(stage: Stage) -> None:
    """People settle the doubt, the gates open, and everything is right."""
    await stage.until(event("not_happened"), what="the doubt to be settled")
    await perform((opens("acts"), opens("sees")), stage)
    await stage.until(lambda now: now.status in FINAL, what="the run to end")
    await check(GATES, stage)
    assert stage.lines("gate") == ["acts", "acts"]
    assert stage.lines("readgate") == ["sees", "sees"], "a read simply runs again"


async def test_a_second_signal_during_the_end_is_as_safe_as_a_kill_C052(nursery: Nursery, tmp_path: Path) -> None:
    async with staged(tmp_path, nursery, policy=GATES.policy, grace_s=60) as stage:
        await at_the_gates(stage)
        stage.bot.signal(signal.SIGTERM)
        await stage.until(lambda now: now.status == "pausing" and now.reason == "shutdown", what="the bot to be ending")
        assert "ended" not in stage.bot.about, "it waits for what runs"

        stage.bot.signal(signal.SIGTERM)

        assert await stage.bot.gone() == 128 + signal.SIGTERM
        found = stage.facts()
        assert (found.status, found.reason, found.step("sees"), found.step("acts")) == ("pausing", "shutdown", "running", "running")
        stage.bot.start()
        await to_the_end(stage)


async def test_what_an_end_in_order_cuts_off_goes_on_at_the_next_start_C052(nursery: Nursery, tmp_path: Path) -> None:
    async with staged(tmp_path, nursery, policy=GATES.policy, grace_s=0.2) as stage:
        await at_the_gates(stage)

        stage.bot.signal(signal.SIGTERM)

        assert await stage.bot.gone() == 0
        found = stage.facts()
        assert (found.status, found.reason, found.step("sees"), found.step("acts")) == ("paused", "shutdown", "pending", "in_doubt")
        stage.bot.start()
        await to_the_end(stage)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_freeze_outlives_the_bot(number: signal.Signals, nursery: Nursery, tmp_path: Path) -> None:
    async with staged(tmp_path, nursery, policy=GATES.policy, grace_s=0.2) as stage:
        await at_the_gates(stage)
        await perform((commands("approver", "freeze maintenance", event("frozen"), lambda _: True),), stage)
        stage.bot.signal(number)
        await stage.bot.gone()

        stage.bot.start()

        await stage.bot.ready()
        await stage.until(lambda now: now.status == "paused" and now.step("acts") == "in_doubt", what="what ran to be accounted for")
        await stage.person("requester").say("#ops", "resume", thread_ts=stage.facts().thread_ts)
        await stage.person("requester").told("not resumed")
        found = stage.facts()
        assert (found.status, found.reason, found.step("sees")) == ("paused", "freeze", "pending")
        await perform((commands("approver", "thaw", event("thawed"), lambda _: True),), stage)
        await to_the_end(stage)

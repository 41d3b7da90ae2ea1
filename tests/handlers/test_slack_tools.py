"""Slack as a place where steps work: what is said pings nobody, stands once, and can be found again."""

import asyncio

import pytest

from bot.errors import ToolFailed
from bot.tools.registry import CannotTell, OutOfScope, TimedOut, ToolContext
from tests.doubles.town import Message
from tests.handlers.conftest import Hall, MakeHall

EVIL = "Close it <!channel> & tell <@U0APPROVER> if a<b, see <https://evil.example|https://bank.example> <!here> @here"


@pytest.fixture
async def quiet(make_hall: MakeHall) -> Hall:
    return await make_hall(supervised=False, presented=False)


def context(hall: Hall, key: str = "R-7K2QX.post.12345678") -> ToolContext:
    return ToolContext(run_id="R-7K2QX", step_id="post", key=key, now=hall.deps.now)


async def posted(hall: Hall, channel: str = "#general") -> list[Message]:
    return [message for message in await hall.person("requester").messages(channel) if message.get("bot_id")]


async def test_C012_what_is_posted_pings_nobody_and_hides_no_address(quiet: Hall) -> None:
    await quiet.deps.tools.call("slack.post_message", {"channel": "#general", "text": EVIL}, context(quiet))

    (message,) = await posted(quiet)
    assert "<!" not in message["text"]
    assert "<@" not in message["text"]
    assert "&lt;!channel&gt; &amp; tell" in message["text"]
    assert "https://evil.example" in message["text"]
    assert "@here" in message["text"]
    assert not message.get("blocks")


async def test_C012_only_hosts_that_somebody_named_are_live_links(quiet: Hall) -> None:
    """The plan's own words name one, policy another; the third came out of a page."""
    planned = {"channel": "#general", "text": "https://plan.example/a and {{page.text}}"}
    filled = {**planned, "text": "https://plan.example/a and https://policy.example/b and https://page.example/?leak=1"}
    ctx = ToolContext(run_id="R-7K2QX", step_id="post", key="k", now=quiet.deps.now, planned=planned, hosts=["policy.example"])
    await quiet.deps.tools.call("slack.post_message", filled, ctx)

    assert (await posted(quiet))[0]["text"] == "https://plan.example/a and https://policy.example/b and `https://page.example/?leak=1`"


async def test_C012_text_that_was_escaped_by_somebody_else_is_shown_as_it_is(quiet: Hall) -> None:
    await quiet.deps.tools.call("slack.post_message", {"channel": "#general", "text": "a &lt; b"}, context(quiet))

    assert (await posted(quiet))[0]["text"] == "a &amp;lt; b"


@pytest.mark.parametrize("channel", ["@approver", "U0APPROVER", "D0APPROVER", "C0GENERAL", "https://a.example", "#a b"])
async def test_people_and_anything_else_than_a_channel_are_out_of_bounds(quiet: Hall, channel: str) -> None:
    with pytest.raises(OutOfScope):
        await quiet.deps.tools.call("slack.post_message", {"channel": channel, "text": "hi"}, context(quiet))
    assert await quiet.log("chat.postMessage") == []


@pytest.mark.parametrize("channel", ["#private", "#no-such-channel"])
async def test_C013_a_channel_without_the_bot_fails_the_step_with_the_way_to_invite_it(quiet: Hall, channel: str) -> None:
    with pytest.raises(ToolFailed, match="/invite"):
        await quiet.deps.tools.call("slack.post_message", {"channel": channel, "text": "hi"}, context(quiet))


async def test_a_rate_limit_is_waited_for(quiet: Hall) -> None:
    await quiet.spoil(method="chat.postMessage", status=429, retry_after=1)
    await quiet.deps.tools.call("slack.post_message", {"channel": "#general", "text": "hi"}, context(quiet))

    assert len(await posted(quiet)) == 1


async def test_a_message_whose_answer_was_lost_is_found_by_its_key_and_never_sent_again(quiet: Hall) -> None:
    arguments = {"channel": "#general", "text": "hi"}
    await quiet.spoil(method="chat.postMessage", after_effect=True)
    with pytest.raises(TimedOut, match="nobody knows"):
        await quiet.deps.tools.call("slack.post_message", arguments, context(quiet))

    found = await quiet.deps.tools.verify("slack.post_message", arguments, context(quiet))

    (message,) = await posted(quiet)
    assert found is not None
    assert found.value["ts"] == message["ts"]
    assert await quiet.deps.tools.verify("slack.post_message", arguments, context(quiet, "another step")) is None


async def test_nobody_elses_words_count_as_ours(quiet: Hall) -> None:
    await quiet.person("member").say("#general", "R-7K2QX.post.12345678")

    assert await quiet.deps.tools.verify("slack.post_message", {"channel": "#general", "text": "hi"}, context(quiet)) is None


async def test_where_slack_does_not_answer_nobody_guesses(quiet: Hall) -> None:
    await quiet.spoil(method="conversations.history", error="fatal_error", times=5)

    with pytest.raises(CannotTell):
        await quiet.deps.tools.verify("slack.post_message", {"channel": "#general", "text": "hi"}, context(quiet))


async def test_a_call_that_is_out_is_accounted_for_when_it_is_cancelled(quiet: Hall) -> None:
    await quiet.spoil(method="chat.postMessage", delay_ms=400)
    ctx = context(quiet)
    call = asyncio.create_task(quiet.deps.tools.call("slack.post_message", {"channel": "#general", "text": "hi"}, ctx))
    await asyncio.sleep(0.1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    (message,) = await posted(quiet)
    assert ctx.outcome is not None
    assert ctx.outcome.value["ts"] == message["ts"]


async def test_a_channel_is_read_oldest_first_with_names_and_as_it_was_meant(quiet: Hall) -> None:
    await quiet.person("requester").say("#general", "is a < b & c?")
    root = await quiet.person("member").say("#general", "yes")
    await quiet.person("approver").say("#general", "no", thread_ts=root)

    seen = await quiet.deps.tools.call("slack.read_channel", {"channel": "#general", "limit": 2}, context(quiet))
    thread = await quiet.deps.tools.call("slack.read_thread", {"channel": "#general", "thread_ts": root}, context(quiet))

    assert seen.value["text"] == "requester: is a < b & c?\nmember: yes"
    assert thread.value["text"] == "member: yes\napprover: no"
    assert quiet.deps.tools.catalogue["slack.read_channel"].untrusted_output
    with pytest.raises(ToolFailed, match="no such thread"):
        await quiet.deps.tools.call("slack.read_thread", {"channel": "#general", "thread_ts": "1700000000.000100"}, context(quiet))

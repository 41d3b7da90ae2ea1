"""Outbox rows become messages: none lost, none doubled (P12).

The row is marked *sending* before the call. Whatever cuts the call short (a crash, a broken connection, a server error), the row comes up
again, and its message is looked for by the key in its metadata before it is posted a second time. What Slack refuses for now is tried
later, as long as it takes; what it will never take is kept with the reason, and reported. A thread that is gone with its root does not take
the message with it: an approved run tells its channel instead (C015).
"""

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Any

import structlog

from bot import outbox, runs
from bot.core.run import Run
from bot.core.snapshot import Post
from bot.errors import Refused
from handlers import scenes, whisper
from handlers.context import Place
from handlers.desk import Desk
from handlers.trouble import FAILURES, NO_THREAD, NOT_HERE, TOO_MUCH, Trouble, trouble
from handlers.views import audit_post, witness
from handlers.views.scene import Card, message

log = structlog.get_logger()

LOOK_AFTER_S = 2.0  # a call without an answer may still be under way
LONGEST_WAIT_S = 300.0
PAGE = 200
CLOCKS_DIFFER_S = 3600.0  # Slack's clock and ours: a message of ours may seem older than its run

WHOLE_BOT = "-"  # the chain of entries that are about no run
SEEN = "eyes"
REACTED = frozenset({"already_reacted", "message_not_found", "no_item_specified", "too_many_reactions"})

Json = dict[str, Any]


class Dropped(Exception):  # noqa: N818 - not an error: the thread is gone, and what was to be said in it with it
    """A draft's message for a thread that does not exist any more."""


async def deliver(desk: Desk, post: Post, *, shown: Callable[[Post, Json], None]) -> float | None:
    """Make one row a message (or several, where it is long), or put it off. `shown` is told what stands there now.

    Returns for how many seconds the whole channel should be left alone, None for not at all.
    """
    try:
        if post.card == "reaction":
            return await _react(desk, post)
        if post.run == WHOLE_BOT:
            return await _tell_of_all(desk, post)
        scene = await scenes.of_run(desk, post.run)
        thread_ts = scene.run.thread_ts if post.in_thread else None
        if post.in_thread and thread_ts is None:
            await outbox.later(desk.deps, post.id, seconds=1, error="its thread does not stand yet", unsent=True)
            return None
        channel = await desk.slack.directory.channel_id(post.channel)
        if channel is None:
            return await _put_off(desk, post, Trouble("channel_not_found"))
        standing = await find(desk, post, channel, thread_ts=thread_ts, run=scene.run) if post.state == "sending" else {}
        if not await outbox.claim(desk.deps, post):
            return None
        parts = scenes.messages(scene, post)
        await _post_missing(desk, post, parts, scene.run, channel, thread_ts, standing)
        if not standing:
            shown(post, parts[0][0])
    except (Refused, Dropped) as never:
        await outbox.failed(desk.deps, post.id, str(never))
    except FAILURES as failure:
        return await _put_off(desk, post, trouble(failure))
    except Exception as fault:
        log.exception("post_broken", run=post.run, card=post.card)
        await outbox.later(desk.deps, post.id, seconds=_backoff(post), error=f"{outbox.OWN_FAULT}{fault!r}")
    return None


async def _react(desk: Desk, post: Post) -> float | None:
    """A sign below a message that needs no words. One that is there already, or whose message is gone, is as good as made."""
    channel = await desk.slack.directory.channel_id(post.channel) or post.channel
    try:
        await desk.slack.once.reactions_add(channel=channel, timestamp=post.data["ts"], name=SEEN)
    except FAILURES as failure:
        if trouble(failure).code not in REACTED:
            raise
    await outbox.posted(desk.deps, post, channel=channel, ts=post.data["ts"], shown=0)
    return None


async def _tell_of_all(desk: Desk, post: Post) -> float | None:
    """An audit post about the whole bot: no run's state is in it."""
    channel = await desk.slack.directory.channel_id(post.channel)
    if channel is None:
        return await _put_off(desk, post, Trouble("channel_not_found"))
    card, at = await _of_all(desk, post)
    told = message(card, None, kind="audit", version=0, key=post.key, more=witness.payload(post.data))
    if not await outbox.claim(desk.deps, post):
        return None
    standing = await _standing(desk, post, channel, since=at.timestamp()) if post.state == "sending" else None
    ts = standing or (await desk.slack.once.chat_postMessage(channel=channel, **told))["ts"]
    await outbox.posted(desk.deps, post, channel=channel, ts=ts, shown=0)
    return None


async def _of_all(desk: Desk, post: Post) -> tuple[Card, datetime]:
    """What is to be told, and when it happened: an entry about the whole bot, or the state of the record itself."""
    card = witness.told(post.data)
    if card is not None:
        return card, datetime.fromisoformat(post.data["at"])
    entry = await runs.entry(desk.deps, post.run, post.data["seq"])
    name = await desk.slack.directory.name(entry.actor)
    return audit_post.whole_bot(entry, team_url=desk.slack.team_url, name=name, head=witness.head_in(post.data)), entry.at


async def _standing(desk: Desk, post: Post, channel: str, *, since: float) -> str | None:
    """The ts of the message of this row, if it stands already."""
    async for each in _written(desk, channel, None, since=f"{since - CLOCKS_DIFFER_S:.6f}"):
        if desk.slack.own_key(each) == post.key:
            return str(each["ts"])
    return None


async def find(desk: Desk, post: Post, channel: str, *, thread_ts: str | None, run: Run) -> dict[str, str]:
    """Key → ts of those messages of this row that stand already, in the thread or, where that is gone, in the channel."""
    found: dict[str, str] = {}
    async for each in _written(desk, channel, thread_ts, since=f"{run.created_at.timestamp() - CLOCKS_DIFFER_S:.6f}"):
        key = desk.slack.own_key(each)
        if key.partition("/")[0] == post.key:
            found[key] = each["ts"]
    return found


async def _written(desk: Desk, channel: str, thread_ts: str | None, *, since: str) -> AsyncIterator[Json]:
    client = desk.slack.client
    common: Json = {"channel": channel, "oldest": since, "include_all_metadata": True, "limit": PAGE}
    try:
        if thread_ts is not None:
            async for page in await client.conversations_replies(ts=thread_ts, **common):
                for message in page["messages"]:
                    yield message
            return
    except FAILURES as failure:
        if trouble(failure).code not in NO_THREAD:
            raise
    async for page in await client.conversations_history(**common):
        for message in page["messages"]:
            yield message


async def _post_missing(
    desk: Desk, post: Post, parts: list[scenes.Variants], run: Run, channel: str, thread_ts: str | None, standing: dict[str, str]
) -> None:
    """Post the parts that do not stand yet, in their order, and close the row; it names the first part."""
    key = scenes.key_of(parts[0])
    first = (channel, standing[key]) if key in standing else None
    shown = -1 if first else run.version
    for part in parts:
        if scenes.key_of(part) not in standing:
            sent = await _send(desk, post, run, channel, thread_ts, part)
            first = first or sent
    if first is not None:
        await outbox.posted(desk.deps, post, channel=first[0], ts=first[1], shown=shown)


async def _send(desk: Desk, post: Post, run: Run, channel: str, thread_ts: str | None, part: scenes.Variants) -> tuple[str, str]:
    """Post, in the thread if it is still there, and in plainer form if Slack finds it too much. Returns channel and ts."""
    try:
        answer = await desk.slack.once.chat_postMessage(channel=channel, thread_ts=thread_ts, **part[0])
    except FAILURES as failure:
        code = trouble(failure).code
        if code in TOO_MUCH and len(part) > 1:
            log.error("card_refused", run=post.run, card=post.card, error=code)
            return await _send(desk, post, run, channel, thread_ts, part[1:])
        if code in NO_THREAD and thread_ts is not None:
            return await _without_thread(desk, post, run, channel, part[0], code)
        raise
    return answer["channel"], answer["ts"]


async def _without_thread(desk: Desk, post: Post, run: Run, channel: str, part: Json, code: str) -> tuple[str, str]:
    """The asking message is gone. A draft goes with it; an approved run goes on, where its channel can see it."""
    if run.approved is None:
        raise Dropped(code)
    answer = await desk.slack.once.chat_postMessage(channel=channel, **part)
    if post.card not in ("run", "answer"):
        return answer["channel"], answer["ts"]
    here = desk.slack.link(answer["channel"], answer["ts"])
    says = f"*The message that asked for {run.id} is gone; the run goes on.* A deletion undoes no approval.\n*Next:* see <{here}|its card>."
    await whisper.tell(desk.slack, Place(actor=run.requester, channel=channel), whisper.section(says))
    return answer["channel"], answer["ts"]


async def _put_off(desk: Desk, post: Post, what: Trouble) -> float | None:
    """Try the row again later; say so in the log. Returns how long the channel should rest."""
    if what.retry_after_s is not None:
        await outbox.later(desk.deps, post.id, seconds=what.retry_after_s, error=what.code, unsent=True)
        return what.retry_after_s
    if what.unsure:
        log.warning("post_unanswered", run=post.run, card=post.card, error=what.code)
        await outbox.later(desk.deps, post.id, seconds=LOOK_AFTER_S, error=what.code)
        return LOOK_AFTER_S
    wait = _backoff(post)
    hint = f"invite the bot to {post.channel} with /invite" if what.code in NOT_HERE else ""
    log.error("post_refused", run=post.run, card=post.card, channel=post.channel, error=what.code, next=hint)
    error = f"{what.code}: {hint}" if hint else f"{outbox.OWN_FAULT}{what.code}"
    await outbox.later(desk.deps, post.id, seconds=wait, error=error, unsent=True)
    return wait if what.code in NOT_HERE else None


def _backoff(post: Post) -> float:
    return min(LONGEST_WAIT_S, 2.0 ** min(post.tries + 1, 10))

"""The one listener for messages: replies in the threads of runs, direct messages, edits and deletions of either.

Bolt runs only the first listener that matches, so everything of type `message` comes through here. Bots are left alone, our own redraws and
link previews too (C011). A reply reaches the run whose thread it stands in and no other (C010); told twice, by redelivery or broadcast, it
counts once (C016). Whatever a person says in a live run's thread has a visible outcome.
"""

from bot import runs
from bot.commands import intake, interjections, redirecting
from bot.core.replies import control_wish
from bot.core.run import Run
from bot.errors import Refused
from handlers import controls, notices
from handlers import intake as asking
from handlers.context import Change, Message, Press
from handlers.deciding import deciding
from handlers.desk import Desk


async def on_message(desk: Desk, said: Message) -> None:
    """Sort one message of a person: a reply, a direct ask, or nothing of ours."""
    if not desk.first_time(said.channel, said.ts):
        return
    run = await runs.by_thread(desk.deps, said.channel, said.thread_ts) if said.thread_ts else None
    if run is not None and run.source_ts == said.ts:
        return  # a mention is told twice; this one was heard as `app_mention` first, and it is the ask itself
    if run is not None and not (run.is_final and said.calls_us):
        desk.remember_reply(said.channel, said.ts)
        await on_reply(desk, said, run)
    elif said.is_direct:
        await asking.on_direct(desk, said)


async def on_reply(desk: Desk, said: Message, run: Run) -> None:
    """Words in a run's thread: the run decides what they are, and the thread is told what became of them."""
    if not said.text:
        return
    word = control_wish(said.text)
    if word is not None and word in controls.BY_WORD:
        left = await controls.BY_WORD[word](desk, run.id, actor=said.actor, team=said.team)
        await notices.say(desk, said, run.id, word, left=left)
        return
    outcome = await deciding(desk, said, lambda who: interjections.reply(desk.deps, run.id, text=said.text, who=who, ts=said.ts))
    withdrawn = None
    if outcome.kind == "withdraw":
        withdrawn = await deciding(desk, said, lambda who: redirecting.withdraw(desk.deps, run.id, who=who))
    if outcome.kind in notices.SAID_HERE:
        await notices.say(desk, said, run.id, outcome.kind, left=withdrawn)


async def on_never_mind(desk: Desk, press: Press) -> None:
    """Never mind: the old rest goes on."""
    target, at = press.target, press.received_at
    await deciding(desk, press, lambda who: redirecting.withdraw(desk.deps, target.run, who=who, revision=target.revision, received_at=at))


async def on_choice(desk: Desk, press: Press) -> None:
    """A lettered choice below the planner's question."""
    target = press.target
    asked = [attempt.question for attempt in (await runs.snapshot(desk.deps, target.run)).attempts if attempt.question]
    if target.question != len(asked) or not 0 < (target.choice or 0) <= len(asked[-1].choices):
        raise Refused("moved_on", run=target.run)
    chosen, at = asked[-1].choices[(target.choice or 0) - 1], press.received_at
    await deciding(desk, press, lambda who: interjections.answer_question(desk.deps, target.run, text=chosen, who=who, received_at=at))


async def on_change(desk: Desk, changed: Change) -> None:
    """An asking message or a reply was edited or deleted. An edit changes no plan (C016); a deletion drops a draft, no approved run (C015).

    A reply counts as it is now, until what it asked for is in force.
    """
    if await _was_reply(desk, changed):
        return
    if changed.text is None:
        desk.remember_gone(changed.channel, changed.ts)
        await intake.forget(desk.deps, channel=changed.channel, source_ts=changed.ts, actor=changed.actor)
    else:
        await intake.edited(desk.deps, channel=changed.channel, source_ts=changed.ts, text=changed.text, actor=changed.actor)


async def _was_reply(desk: Desk, changed: Change) -> bool:
    """True if the message was a reply to a run; its run knows what to make of the new words, or of there being none."""
    run = await runs.by_thread(desk.deps, changed.channel, changed.thread_ts) if changed.thread_ts else None
    if run is None or run.source_ts == changed.ts:
        return False
    who = await desk.slack.directory.member(changed.actor)
    await interjections.changed(desk.deps, run.id, ts=changed.ts, text=changed.text, who=who)
    await redirecting.reply_changed(desk.deps, run.id, ts=changed.ts, text=changed.text, who=who)
    return True

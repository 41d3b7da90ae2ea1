"""Somebody asks: by mention, by direct message, by `/plan`, or in the form. Each becomes one run, however often Slack tells of it (C001).

A slash command carries no thread, so its run card begins a thread of its own; no thread is guessed (C009). In a channel that the bot is not
in nothing could be shown, so the person is told how to invite it, by the command's response URL, which works there (C013).
"""

from bot import runs
from bot.commands import intake
from bot.core.replies import control_wish
from bot.core.run import Run
from bot.errors import Refused
from handlers import controls, whisper
from handlers.context import Command, Message, Press, Submission
from handlers.desk import Desk
from handlers.views import slash


async def on_mention(desk: Desk, said: Message) -> None:
    """A mention asks, unless it is a reply in the thread of a run that goes on: that one is read as a reply, by the message event.

    That event may come first, and the reply may have ended the run by now: it was a reply all the same.
    """
    run = await runs.by_thread(desk.deps, said.channel, said.thread_ts) if said.thread_ts else None
    if run is None or (run.is_final and (said.channel, said.ts) not in desk.replies):
        await ask(desk, said)


async def on_direct(desk: Desk, said: Message) -> None:
    """A direct message asks, too; a control word alone brakes what this person has running."""
    if word := control_wish(said.text):
        await controls.on_word(desk, said, word)
    else:
        await ask(desk, said)


async def ask(desk: Desk, said: Message) -> Run | None:
    """Open the run of a message. A message that was deleted meanwhile takes its draft with it (C015)."""
    who = await desk.slack.directory.member(said.actor, said.team)
    run = await intake.open_run(
        desk.deps,
        ask=said.text,
        who=who,
        team=said.workspace,
        channel=said.channel,
        thread_ts=said.root,
        source_ts=said.ts,
        event_key=said.event_key,
    )
    if (said.channel, said.ts) in desk.gone:
        await intake.forget(desk.deps, channel=said.channel, source_ts=said.ts, actor=said.actor)
    return run


async def on_plan(desk: Desk, typed: Command) -> None:
    """`/plan`: taken, with the run's id; the card follows as a message of its own."""
    if not typed.text:
        await whisper.tell(desk.slack, typed.place, slash.plan_empty(commands=desk.slack.commands))
        return
    channel = await desk.slack.directory.channel(typed.channel)
    if channel is None or not channel.is_member:
        raise Refused("no_access")
    who = await desk.slack.directory.member(typed.actor, typed.team)
    run = await intake.open_run(
        desk.deps, ask=typed.text, who=who, team=typed.team, channel=typed.channel, thread_ts=None, source_ts=None, event_key=None
    )
    if run is not None:
        await whisper.tell(desk.slack, typed.place, slash.plan_taken(run, commands=desk.slack.commands))


async def on_ask_again(desk: Desk, press: Press) -> None:
    """The same words once more, in the same thread: a fresh plan and a fresh review. One press, one run."""
    run = await runs.get(desk.deps, press.target.run)
    who = await desk.slack.directory.member(press.actor, press.team)
    again = await intake.open_run(
        desk.deps,
        ask=run.ask,
        who=who,
        team=run.team,
        channel=run.channel,
        thread_ts=run.thread_ts,
        source_ts=None,
        event_key=f"{run.team}:again:{run.id}",
        source_author=run.source_author or run.requester,
        follows=run.id,
    )
    if again is None:
        raise Refused("asked_again", run=run.id)


async def on_form_sent(desk: Desk, sent: Submission) -> None:
    """The form *New plan*, from a shortcut, Home or a message; its id keeps a form that is sent twice from asking twice."""
    channel_id, thread_ts, author = ((sent.values.get("channel") or sent.metadata).split(":") + ["", ""])[:3]
    if channel_id.startswith(("U", "W")):
        raise Refused("no_access")
    channel = await desk.slack.directory.channel(channel_id)
    if channel is None or not channel.is_member:
        raise Refused("no_access")
    who = await desk.slack.directory.member(sent.actor, sent.team)
    await intake.open_run(
        desk.deps,
        ask=sent.values.get("words", ""),
        who=who,
        team=sent.team,
        channel=channel_id,
        thread_ts=thread_ts or None,
        source_ts=None,
        event_key=f"{sent.team}:{sent.view_id}",
        source_author=author or None,
    )

"""Every listener, in one place, in tables that a test holds against the cards and the manifest.

A listener of ours does four things: ack, read, one command, return. The first two are the same everywhere and are done here: the ack goes
out before any look-up (C001), the payload becomes a small object, and the rest runs as a task that the bot owns. What no listener knows is
acknowledged all the same, since Slack would send it again. Some forms are told what is wrong with them by the ack itself: for those the ack
comes after work that has an end well before Slack's patience has.
"""

import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any

import structlog
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.core.replies import control_wish
from bot.deps import Deps
from bot.errors import Refused
from handlers import (
    confirming,
    context,
    controls,
    cord,
    editing,
    errors,
    freezing,
    home,
    intake,
    interjections,
    notation_form,
    review,
    shortcuts,
    step_forms,
    step_up,
    wishes,
)
from handlers.context import Command, Press, Shortcut, Submission
from handlers.desk import Desk
from handlers.modals import Answer
from handlers.slack import Slack
from handlers.views import ids

log = structlog.get_logger()

Json = dict[str, Any]
Work = Coroutine[Any, Any, None]
Listener = Callable[..., Awaitable[None]]

PRESSES: Mapping[str, Callable[[Desk, Press], Work]] = {
    ids.REVIEW_APPROVE: review.on_approve,
    ids.REVIEW_EDIT: editing.on_edit,
    ids.REVIEW_ASK: wishes.on_ask,
    ids.REVIEW_CANCEL: review.on_cancel,
    ids.REVIEW_BREAKPOINT: review.on_breakpoint,
    ids.REVIEW_SHOW_ALL: review.on_show_all,
    ids.RUN_SHOW_ALL: review.on_show_all,
    ids.PAGE_NEXT: confirming.on_turn,
    ids.PAGE_BACK: confirming.on_turn,
    ids.RUN_CANCEL: review.on_cancel_planning,
    ids.RUN_BREAKPOINT: review.on_breakpoint,
    ids.RUN_PAUSE: controls.on_pause,
    ids.RUN_STOP: controls.on_stop,
    ids.RUN_RESUME: controls.on_resume,
    ids.RUN_CONTINUE: controls.on_continue,
    ids.RUN_RETRY: controls.on_retry,
    ids.RUN_SKIP: controls.on_skip,
    ids.RUN_HAPPENED: controls.on_happened,
    ids.RUN_NOT_HAPPENED: controls.on_not_happened,
    ids.RUN_ASK_AGAIN: intake.on_ask_again,
    ids.RUN_CHANGE_REST: wishes.on_change_rest,
    ids.RUN_NEVER_MIND: interjections.on_never_mind,
    ids.CONFIRM_CONFIRM: confirming.on_confirm,
    ids.CONFIRM_REFUSE: confirming.on_refuse,
    ids.CONFIRM_SHOW_ALL: confirming.on_show_all,
    ids.CONFIRM_CHANGE: step_forms.on_change,
    ids.EDIT_STEP: editing.on_move,
    ids.EDIT_ADD: step_forms.on_add,
    ids.EDIT_AS_TEXT: notation_form.on_as_text,
    ids.HOME_NEW: shortcuts.on_new_pressed,
    ids.HOME_PAUSE_ALL: home.on_pause_all,
    ids.HOME_FREEZE: freezing.on_freeze,
    ids.HOME_THAW: freezing.on_thaw,
}
NUMBERED: Mapping[str, Callable[[Desk, Press], Work]] = {
    ids.QUESTION_CHOOSE: interjections.on_choice,
    ids.HOME_OPEN: home.on_open,
}
SUBMISSIONS: Mapping[str, Callable[[Desk, Submission], Work]] = {
    ids.VIEW_CANCEL: review.on_cancel_sent,
    ids.VIEW_REFUSE: confirming.on_refuse_sent,
    ids.VIEW_HAPPENED: controls.on_happened_sent,
    ids.VIEW_NEW: intake.on_form_sent,
    ids.VIEW_FREEZE: freezing.on_freeze_sent,
    ids.VIEW_ASK: wishes.on_ask_sent,
    ids.VIEW_REST: wishes.on_rest_sent,
}
# Forms whose ack says what is wrong with them, or what comes next: short work, and Slack's own questions have an end.
ANSWERS: Mapping[str, Callable[[Desk, Submission], Coroutine[Any, Any, Answer]]] = {
    ids.VIEW_PAGES: review.on_pages_sent,
    ids.VIEW_STEP_UP: step_up.on_approve_typed,
    ids.VIEW_CONFIRM_PAGES: confirming.on_pages_sent,
    ids.VIEW_CONFIRM_STEP_UP: step_up.on_confirm_typed,
    ids.VIEW_EDIT: editing.on_saved,
    ids.VIEW_STEP: step_forms.on_applied,
    ids.VIEW_ADD: step_forms.on_added,
    ids.VIEW_REMOVE: editing.on_removed,
    ids.VIEW_TEXT: notation_form.on_sent,
    ids.VIEW_ARGUMENTS: step_forms.on_changed,
}
COMMANDS: Mapping[str, Callable[[Desk, Command], Work]] = {
    "plan": intake.on_plan,
    "pause": partial(controls.on_command, word="pause"),
    "resume": partial(controls.on_command, word="resume"),
    "stop": partial(controls.on_command, word="stop"),
    "cord": cord.on_cord,
}
SHORTCUTS: Mapping[str, Callable[[Desk, Shortcut], Work]] = {
    "new_plan": shortcuts.on_new_plan,
    "plan_from_message": shortcuts.on_plan_from_message,
}
MESSAGE_EVENTS = ("message.channels", "message.groups", "message.im")  # Slack's subscriptions; all arrive as `message`
EVENTS = ("app_mention", "app_home_opened", *MESSAGE_EVENTS)
ANYTHING = re.compile(r".*")


def register(app: AsyncApp, deps: Deps, slack: Slack) -> None:
    """Attach every listener to the app."""
    desk = Desk(deps, slack)
    app.error(errors.on_error)
    _events(app, desk)
    for action_id, on_press in PRESSES.items():
        app.action(action_id)(_pressed(desk, on_press))
    for prefix, on_press in NUMBERED.items():
        app.action(re.compile(rf"{re.escape(prefix)}\.\d+"))(_pressed(desk, on_press))
    app.action(ANYTHING)(_pressed(desk, _on_unknown_press))
    for callback_id, on_sent in SUBMISSIONS.items():
        app.view(callback_id)(_sent(desk, on_sent))
    for callback_id, on_answered in ANSWERS.items():
        app.view(callback_id)(_answered(desk, on_answered))
    app.view_closed(ids.VIEW_EDIT)(_closed(desk))
    for command, on_command in COMMANDS.items():
        app.command(slack.commands[command])(_typed(desk, command, on_command))
    for callback_id, on_shortcut in SHORTCUTS.items():
        app.shortcut(callback_id)(_chosen(desk, on_shortcut))
    for catch in (app.view, app.view_closed, app.command, app.shortcut, app.options):
        catch(ANYTHING)(_only_ack)


def _events(app: AsyncApp, desk: Desk) -> None:
    """Events are acknowledged by bolt before the listener runs."""
    us = desk.slack.bot_user_id

    async def on_mention(body: Json) -> None:
        if said := context.message(body, bot_user_id=us):
            errors.start(desk, intake.on_mention(desk, said), place=said.place, did="ask")

    async def on_message(body: Json) -> None:
        if body["event"].get("subtype") in context.CHANGES:
            if changed := context.change(body, bot_user_id=us):
                errors.start(desk, interjections.on_change(desk, changed), place=changed.place, did="edit the ask")
        elif said := context.message(body, bot_user_id=us):
            errors.start(desk, interjections.on_message(desk, said), place=said.place, did=control_wish(said.text) or "reply")

    async def on_home(body: Json) -> None:
        opened = context.home(body)
        if opened is not None:
            errors.start(desk, home.on_home(desk, opened), place=opened.place, did="open Home")

    app.event("app_mention")(on_mention)
    app.event("message")(on_message)
    app.event("app_home_opened")(on_home)
    app.event(ANYTHING)(_nothing)


def _pressed(desk: Desk, on_press: Callable[[Desk, Press], Work]) -> Listener:
    async def listener(ack: AsyncAck, body: Json) -> None:
        await ack()
        press = context.press(body, received_at=desk.deps.now())
        errors.start(desk, on_press(desk, press), place=press.place, did=ids.LABELS.get(press.action_id, press.action_id))

    return listener


def _sent(desk: Desk, on_sent: Callable[[Desk, Submission], Work]) -> Listener:
    async def listener(ack: AsyncAck, body: Json) -> None:
        await ack()
        sent = context.submission(body, received_at=desk.deps.now())
        errors.start(desk, on_sent(desk, sent), place=sent.place, did=ids.SENT_AS.get(sent.callback_id, sent.callback_id))

    return listener


def _answered(desk: Desk, on_sent: Callable[[Desk, Submission], Coroutine[Any, Any, Answer]]) -> Listener:
    async def listener(ack: AsyncAck, body: Json) -> None:
        sent = context.submission(body, received_at=desk.deps.now())
        did = ids.SENT_AS[sent.callback_id]
        answer = await errors.answered(desk, on_sent(desk, sent), sent, did=did)
        await ack(**answer.ack)
        if answer.then is not None:
            errors.start(desk, answer.then(), place=sent.place, did=did)

    return listener


def _closed(desk: Desk) -> Listener:
    async def listener(ack: AsyncAck, body: Json) -> None:
        await ack()
        editing.forget(desk, body["view"].get("root_view_id") or body["view"]["id"])

    return listener


def _typed(desk: Desk, command: str, on_command: Callable[[Desk, Command], Work]) -> Listener:
    async def listener(ack: AsyncAck, body: Json) -> None:
        await ack()
        typed = context.command(body)
        errors.start(desk, on_command(desk, typed), place=typed.place, did=f"/{command}")

    return listener


def _chosen(desk: Desk, on_shortcut: Callable[[Desk, Shortcut], Work]) -> Listener:
    async def listener(ack: AsyncAck, body: Json) -> None:
        await ack()
        chosen = context.shortcut(body, bot_user_id=desk.slack.bot_user_id)
        errors.start(desk, on_shortcut(desk, chosen), place=chosen.place, did="New plan")

    return listener


async def _on_unknown_press(desk: Desk, press: Press) -> None:  # noqa: ARG001 - every listener is given the desk
    """A button of an older version of the bot, or of a move that this installation does not have."""
    log.warning("unknown_button", action=press.action_id)
    raise Refused("not_yet", run=press.target.run)


async def _only_ack(ack: AsyncAck, body: Json) -> None:
    await ack()
    log.warning("unknown_interaction", type=body.get("type", "command"), command=body.get("command"))


async def _nothing(body: Json) -> None:
    log.debug("unused_event", type=body["event"].get("type"))

"""Modals: opened at once with the trigger, filled a moment later.

A trigger lives for three seconds and opens one view once (C002): a light view takes it before anything is looked up, and `views.update`
brings the rest. `hash` goes along only where Slack gave one, and a conflict is answered with the newest state, once (C004).
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.errors import Refused, Unavailable
from handlers.context import Press, Shortcut
from handlers.desk import Desk
from handlers.trouble import FAILURES, trouble
from handlers.views import ids, loading

View = dict[str, object]
Build = Callable[[], Awaitable[View]]

T = TypeVar("T")

LOOK_UP_S = 1.2  # how long a form that is being answered waits for Slack: Slack waits three seconds for the answer
OVER = frozenset({"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id", "trigger_expired", "trigger_exchanged"})


@dataclass(frozen=True)
class Answer:
    """What a form is told that was sent: nothing closes it. `then` is what remains to be done once it has been told."""

    ack: Mapping[str, Any] = field(default_factory=dict)
    then: Callable[[], Coroutine[Any, Any, None]] | None = None

    @classmethod
    def errors(cls, errors: Mapping[str, str]) -> "Answer":
        """The form stays, with what is wrong at its fields."""
        return cls({"response_action": "errors", "errors": dict(errors)})

    @classmethod
    def update(cls, view: View, then: Callable[[], Coroutine[Any, Any, None]] | None = None) -> "Answer":
        """Another view in the place of the form."""
        return cls({"response_action": "update", "view": view}, then)

    @classmethod
    def clear(cls) -> "Answer":
        """The form is closed, and every modal below it."""
        return cls({"response_action": "clear"})


async def in_time(question: Awaitable[T]) -> T:
    """What Slack answers while a form waits for us. Raises `Unavailable` if it does not in time: the form stays as it is."""
    try:
        async with asyncio.timeout(LOOK_UP_S):
            return await question
    except FAILURES as silence:
        raise Unavailable("Slack does not answer in time") from silence


async def open_filled(desk: Desk, press: Press, build: Build) -> None:
    """Show a light view at once, then what `build` makes. Raises `Refused("form_expired")` if the trigger was over."""
    opened = await open_now(desk, press, loading.loading_view(press.action_id, press.value))
    await fill(desk, str(opened["id"]), str(opened.get("hash") or ""), build)


async def push_filled(desk: Desk, press: Press, build: Build) -> None:
    """The same, on top of the modal in which something was pressed."""
    pushing = desk.slack.once.views_push(trigger_id=press.trigger_id, view=loading.loading_view(press.action_id, press.value))
    opened = await _taken(pushing, ids.LABELS.get(press.action_id, "the button"))
    await fill(desk, str(opened["id"]), str(opened.get("hash") or ""), build)


async def open_now(desk: Desk, press: Press | Shortcut, view: View) -> View:
    """Open a view that needs no look-up; returns it as Slack has it."""
    pressed = press.action_id if isinstance(press, Press) else ids.HOME_NEW
    return await _taken(desk.slack.once.views_open(trigger_id=press.trigger_id, view=view), ids.LABELS.get(pressed, "the button"))


async def _taken(opening: Awaitable[AsyncSlackResponse], button: str) -> View:
    try:
        return dict((await opening)["view"])
    except FAILURES as failure:
        if trouble(failure).code in OVER:
            raise Refused("form_expired", button=button) from failure
        raise


async def refill(desk: Desk, press: Press, build: Build) -> None:
    """Change the view in which something was pressed."""
    await fill(desk, press.view_id or "", press.view_hash or "", build)


async def fill(desk: Desk, view_id: str, known_hash: str, build: Build) -> None:
    """Show what `build` makes in a modal that is open; `known_hash`: of the view that it is to replace, if that matters."""
    try:
        view = await build()
    except Refused as refused:
        await _update(desk, view_id, "", loading.refused_view(refused.kind, refused.facts))
        raise
    try:
        await _update(desk, view_id, known_hash, view)
    except FAILURES as failure:
        if trouble(failure).code != "hash_conflict":
            raise
        await _update(desk, view_id, "", await build())


async def _update(desk: Desk, view_id: str, known_hash: str, view: View) -> None:
    only_if = {"hash": known_hash} if known_hash else {}
    await desk.slack.client.views_update(view_id=view_id, view=view, **only_if)

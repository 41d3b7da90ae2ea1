"""Modals: opened at once with the trigger, filled a moment later.

A trigger lives for three seconds and opens one view once (C002): a light view takes it before anything is looked up, and `views.update`
brings the rest. `hash` goes along only where Slack gave one, and a conflict is answered with the newest state, once (C004).
"""

from collections.abc import Awaitable, Callable

from bot.errors import Refused
from handlers.context import Press, Shortcut
from handlers.desk import Desk
from handlers.trouble import FAILURES, trouble
from handlers.views import ids, loading

View = dict[str, object]
Build = Callable[[], Awaitable[View]]

OVER = frozenset({"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id", "trigger_expired", "trigger_exchanged"})


async def open_filled(desk: Desk, press: Press, build: Build) -> None:
    """Show a light view at once, then what `build` makes. Raises `Refused("form_expired")` if the trigger was over."""
    opened = await open_now(desk, press, loading.loading_view(press.action_id, press.value))
    await _fill(desk, str(opened["id"]), str(opened.get("hash") or ""), build)


async def open_now(desk: Desk, press: Press | Shortcut, view: View) -> View:
    """Open a view that needs no look-up; returns it as Slack has it."""
    try:
        return dict((await desk.slack.once.views_open(trigger_id=press.trigger_id, view=view))["view"])
    except FAILURES as failure:
        if trouble(failure).code in OVER:
            pressed = press.action_id if isinstance(press, Press) else ids.HOME_NEW
            raise Refused("form_expired", button=ids.LABELS.get(pressed, "the button")) from failure
        raise


async def refill(desk: Desk, press: Press, build: Build) -> None:
    """Change the view in which something was pressed."""
    await _fill(desk, press.view_id or "", press.view_hash or "", build)


async def _fill(desk: Desk, view_id: str, known_hash: str, build: Build) -> None:
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

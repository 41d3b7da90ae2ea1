"""The form *New plan*: from the shortcut menu, from a message, from a button."""

from handlers import modals
from handlers.context import Press, Shortcut
from handlers.desk import Desk
from handlers.views import new_plan_form


async def on_new_plan(desk: Desk, chosen: Shortcut) -> None:
    """The global shortcut: it has no channel, so the form asks for one."""
    await modals.open_now(desk, chosen, new_plan_form.new_plan())


async def on_plan_from_message(desk: Desk, chosen: Shortcut) -> None:
    """*Plan from this message*: its words to begin with; the card goes into its thread, and whose words they are stays known."""
    metadata = f"{chosen.channel}:{chosen.thread_ts}:{chosen.author}"
    await modals.open_now(desk, chosen, new_plan_form.new_plan(chosen.text, metadata=metadata))


async def on_new_pressed(desk: Desk, press: Press) -> None:
    """*New plan* on Home or below an empty `/plan`."""
    await modals.open_now(desk, press, new_plan_form.new_plan())

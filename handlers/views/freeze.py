"""Everything is held by an admin: who, since when, and in which words, for each card that has to say so."""

from bot.core.snapshot import Freeze
from handlers.views import blocks, words
from handlers.views.scene import Element, Scene
from handlers.views.text import date, date_element, is_person, outside, plain

LONGEST_REASON = 600


def said(freeze: Freeze, *, name: str = "") -> list[Element]:
    """`admin froze Pullcord, 14:06:` and the reason behind the bar. A mention, unless `name` stands for the person."""
    person = blocks.person(freeze.by) if is_person(freeze.by) and not name else blocks.said(outside(name or freeze.by, 60))
    end = ":" if freeze.why.strip() else "."
    opening = blocks.line(person, blocks.said(" froze Pullcord, "), date_element(freeze.at), blocks.said(end))
    return [opening, *([blocks.quote(blocks.said(outside(freeze.why, LONGEST_REASON)))] if freeze.why.strip() else [])]


def lines(scene: Scene) -> list[Element]:
    """The same for a run's card, which is only ever redrawn; nothing if nobody froze anything."""
    return said(scene.snapshot.freeze) if scene.snapshot.freeze else []


def how_it_ends(scene: Scene) -> Element:
    """What is held, what still works, and how the freeze ends."""
    held = blocks.said("No run starts and no step starts. It goes on by itself after ")
    return blocks.line(held, blocks.literal(f"{scene.command('cord')} thaw"), blocks.said(" (admins). Stop still works."))


def in_brief(scene: Scene) -> str:
    """One sentence for a card that is about something else, as mrkdwn; empty if nothing is frozen."""
    freeze = scene.snapshot.freeze
    if freeze is None:
        return ""
    who = words.profile(scene, freeze.by) if is_person(freeze.by) else plain(freeze.by, 40)
    return f"{words.STANDS} *Frozen* by {who}, {date(freeze.at, now=scene.now)}: until the thaw nothing here lets the run go on."

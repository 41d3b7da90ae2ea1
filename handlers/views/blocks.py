"""The small parts of Block Kit that cards are put together from, as plain dictionaries.

Rich text carries everything that comes from outside, because nothing in it is parsed. Its styles are set here and tell who speaks: plain
and **bold** are our own words, *italic* the planner's, `code` a literal value, a quote bar somebody else's. No other module writes a
style by hand, so no text can imitate a voice that is not its own.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from bot.core.characters import cut, utf16
from handlers.views import ids
from handlers.views.scene import Block, Element

MOST_BLOCKS = 45
MOST_CHARACTERS = 9_000
LONGEST_TEXT = 3_000
LONGEST_HEADER = 60
LONGEST_OPTION = 75
MOST_OPTIONS = 100
TEXT_KEYS = frozenset({"text", "title"})


def said(text: str) -> Element:
    """Our own words, plain."""
    return {"type": "text", "text": text}


def strong(text: str) -> Element:
    """Our own words, bold."""
    return _styled(text, bold=True)


def planned(text: str) -> Element:
    """The planner's words: purposes and choices."""
    return _styled(text, italic=True)


def aim(text: str) -> Element:
    """The goal, which stands second on every card."""
    return _styled(text, bold=True, italic=True)


def literal(text: str) -> Element:
    """A value, letter by letter."""
    return _styled(text, code=True)


def person(user: str) -> Element:
    """A mention in rich text. It notifies."""
    return {"type": "user", "user_id": user}


def linked(url: str, text: str) -> Element:
    """A link of our own."""
    return {"type": "link", "url": url, "text": text}


def _styled(text: str, **style: bool) -> Element:
    return {"type": "text", "text": text, "style": style}


def line(*elements: Element) -> Element:
    """One line of rich text; elements without text are left out, since Slack refuses them."""
    return {"type": "rich_text_section", "elements": _full(elements)}


def quote(*elements: Element) -> Element:
    """Somebody else's words, behind a bar."""
    return {"type": "rich_text_quote", "elements": _full(elements)}


def box(text: str) -> Element:
    """A longer literal value, in a box of its own."""
    return {"type": "rich_text_preformatted", "elements": _full([said(text)])}


def bullets(lines: Iterable[Sequence[Element]], *, indent: int = 0) -> Element:
    """A list, one entry for each sequence of elements."""
    return {"type": "rich_text_list", "style": "bullet", "indent": indent, "elements": [line(*entry) for entry in lines]}


def rich(*elements: Element) -> Block:
    """A block of lines, lists, quotes and boxes."""
    return {"type": "rich_text", "elements": list(elements)}


def _full(elements: Iterable[Element]) -> list[Element]:
    return [element for element in elements if element.get("text", True)] or [said("empty")]


def plain_text(text: str, *, ours: bool = True) -> Element:
    """A text that is not parsed; in somebody else's words not even `:names:` of emoji are."""
    return {"type": "plain_text", "text": text, "emoji": ours}


def mrkdwn(text: str) -> Element:
    """Our own sentence; whatever stands in it from outside has been through `text.plain` or `text.inline`."""
    return {"type": "mrkdwn", "text": text}


def header(text: str) -> Block:
    """The state line."""
    return {"type": "header", "text": plain_text(cut(text, LONGEST_HEADER))}


def section(text: str, *, accessory: Element | None = None, block_id: str | None = None) -> Block:
    """Our own sentences, never folded behind "see more"."""
    block: Block = {"type": "section", "text": mrkdwn(cut(text, LONGEST_TEXT)), "expand": True}
    if accessory is not None:
        block["accessory"] = accessory
    return {**block, "block_id": block_id} if block_id else block


def plain_section(text: str, *, accessory: Element, block_id: str) -> Block:
    """Somebody else's words beside a button."""
    return {"type": "section", "text": plain_text(text, ours=False), "accessory": accessory, "block_id": block_id}


def fields(*texts: str) -> Block:
    """Short facts side by side."""
    return {"type": "section", "fields": [mrkdwn(text) for text in texts], "expand": True}


def context(*texts: str) -> Block:
    """Muted facts of our own."""
    return {"type": "context", "elements": [mrkdwn(cut(text, LONGEST_TEXT)) for text in texts if text]}


def plain_context(text: str) -> Block:
    """Muted words from outside."""
    return {"type": "context", "elements": [plain_text(text, ours=False)]}


def divider() -> Block:
    """A line across."""
    return {"type": "divider"}


def actions(block_id: str, *elements: Element | None) -> list[Block]:
    """A row of what can be pressed, or nothing if nothing can."""
    found = [element for element in elements if element is not None]
    return [{"type": "actions", "block_id": block_id, "elements": found}] if found else []


def button(action: str, value: str, *, label: str = "", about: str = "", style: str = "") -> Element:
    """A button with the label that its action has; `about` is what screen readers hear after the label: "R-7K2Q, revision 1"."""
    words = label or ids.LABELS[action]
    made: Element = {"type": "button", "action_id": action, "text": plain_text(words), "value": value}
    if style:
        made["style"] = style
    return {**made, "accessibility_label": cut(f"{words} {about}", LONGEST_OPTION)} if about else made


def option(text: str, value: str) -> Element:
    """One line of a menu; the text may come from outside."""
    return {"text": plain_text(cut(text, LONGEST_OPTION), ours=False), "value": value}


def select(action: str, placeholder: str, options: list[Element]) -> Element | None:
    """A menu, or nothing if there is nothing to choose."""
    if not options:
        return None
    return {"type": "static_select", "action_id": action, "placeholder": plain_text(placeholder), "options": options[:MOST_OPTIONS]}


def fits(blocks: Sequence[Block]) -> bool:
    """Will Slack take these blocks as one message, with room to spare?"""
    return len(blocks) <= MOST_BLOCKS and size(blocks) <= MOST_CHARACTERS


def size(node: Any) -> int:
    """UTF-16 units of all texts in it."""
    if isinstance(node, dict):
        return sum(utf16(value) if key in TEXT_KEYS and isinstance(value, str) else size(value) for key, value in node.items())
    return sum(size(value) for value in node) if isinstance(node, list | tuple) else 0

"""Personal data, where the policy says what counts as such: e-mail addresses, phone numbers, payment cards, and patterns of its own.

Masked like secrets in what tools return, say and preview, before it is stored, shown or put before a model: `⟦email 3f2a⟧`. Words that
people type are left alone, or no step could be told whom to write to. A number is a card only if its check digit is right.
"""

import re
from collections.abc import Callable, Iterator

from bot.core.expressions import bounded
from bot.core.policy_file import Personal
from bot.tools.masks import MASK, mark

EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
PHONE = re.compile(
    r"(?<![\w+.-])(?<!\d )(?:\+\d{1,3}[ ./-]?(?:\(\d{1,4}\)[ ./-]?)?\d(?:[ ./-]?\d){5,12}|\(0?\d{2,4}\)[ ./-]?\d{3,4}(?:[ ./-]?\d){3,6}"
    r"|0\d{1,4}[ /-]\d(?:[ /-]?\d){4,10}|[2-9]\d{2}[ .-]\d{3}[ .-]\d{4})(?![\w-]|[ /.]\d)"
)
CARD = re.compile(r"(?<![\w.-])[3-6]\d(?:[ -]?\d){11,17}(?![\w-])")
Cover = Callable[[str], str]


def nothing(text: str) -> str:
    """Masks nothing."""
    return text


def masker(personal: Personal) -> Cover:
    """What masks the personal data of a text by this policy; the text itself where the policy names none."""
    kinds = tuple(_kinds(personal))
    if not kinds:
        return nothing

    def cover(text: str) -> str:
        for name, pattern, holds in kinds:
            text = _outside_masks(text, name, pattern, holds)
        return text

    return cover


def _kinds(personal: Personal) -> Iterator[tuple[str, re.Pattern[str], Callable[[str], bool]]]:
    if personal.email:
        yield "email", EMAIL, bool
    if personal.card:
        yield "card", CARD, _is_card
    if personal.phone:
        yield "phone", PHONE, bool
    for name, pattern in personal.patterns.items():
        yield _word(name), re.compile(bounded(pattern)), bool


def _word(name: str) -> str:
    """The name as it stands in a mask."""
    return re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:30] or "personal"


def _outside_masks(text: str, name: str, pattern: re.Pattern[str], holds: Callable[[str], bool]) -> str:
    """What is masked already is not looked at again."""

    def covered(found: re.Match[str]) -> str:
        return f"⟦{name} {mark(found[0])}⟧" if found[0] and holds(found[0]) else found[0]

    pieces, at = [], 0
    for mask in MASK.finditer(text):
        pieces += [pattern.sub(covered, text[at : mask.start()]), mask[0]]
        at = mask.end()
    return "".join([*pieces, pattern.sub(covered, text[at:])])


def _is_card(text: str) -> bool:
    """Luhn's check digit, over 13 to 19 digits."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(digit * 2, 10)) for place, digit in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and sum(doubled) % 10 == 0 and len(set(digits)) > 1

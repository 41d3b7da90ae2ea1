"""An everyday ask, cut into clauses: "read a.md, then summarize it" is two.

What stands in quotes or angle brackets and what is an address is one piece and is never cut. Strong separators ("then", a full stop, `;`, a
new line) always cut; weak ones (a comma, "and") only where the whole was not understood, because "read a.md and b.md" is one clause.
"""

import re

QUOTED = r'"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|`[^`]*`|(?<!\w)\'[^\'\n]*\'(?!\w)'
ADDRESS = r"https?://[^\s<>\"“”«»|]*[^\s<>\"“”«»|.,;:!?)\]]"
ATOM = re.compile(rf"{QUOTED}|<[^<>\s][^<>]*>|{ADDRESS}", re.IGNORECASE)
STRONG = re.compile(
    r"^[ \t]*(?:\d{1,2}[.)]|[-*•])[ \t]+"  # a list's marker
    r"|\n+|;|[.!?…]+(?=\s|$)"
    r"|,?(?= (?:and )?then\b)",
    re.MULTILINE | re.IGNORECASE,
)
WEAK = re.compile(r",(?: and\b)?|(?<= )and(?= )(?! then\b)", re.IGNORECASE)
POLITE = (
    r"and|then|now|first(?:ly)?|second(?:ly)?|next|also|finally|lastly|after that|afterwards|ok(?:ay)?|hi|hello|hey|pullcord|"
    r"please|pls|kindly|just|(?:can|could|would|will) you|i want you to|i(?:'d| would) like you to|let's"
)
LEAD = re.compile(rf"^(?:(?:{POLITE})\b(?!\s*#)[\s,:]*)+", re.IGNORECASE)
TAIL = ("please", "pls", "for me", "thanks", "thank you")
EMPTY = frozenset({"thanks", "thank you", "please", "pls", "cheers", "good morning", "@pullcord"})


def split(ask: str) -> list[str]:
    """The clauses between strong separators, as written, in order; none of them empty."""
    return _cut(ask, STRONG)


def split_weakly(clause: str) -> list[str]:
    """The clause cut at commas and "and" as well; a list of one if there are none."""
    return _cut(clause, WEAK)


def tidy(ask: str) -> str:
    """The ask with runs of spaces made one, outside of its atoms. Line ends stay."""
    pieces, here = [], 0
    for atom in ATOM.finditer(ask):
        pieces += [re.sub(r"[^\S\n]+", " ", ask[here : atom.start()]), atom[0]]
        here = atom.end()
    return "".join([*pieces, re.sub(r"[^\S\n]+", " ", ask[here:])]).strip()


def bare(clause: str) -> str:
    """The clause without politeness and punctuation around it; empty if it says nothing ("thanks")."""
    words = LEAD.sub("", clause.strip(" ,"))
    shorter = _tail_off(words)
    while shorter != words:
        words, shorter = shorter, _tail_off(shorter)
    return "" if words.casefold() in EMPTY else words


def _tail_off(words: str) -> str:
    words = words.rstrip(" \t\n.,;!?…")
    polite = next((word for word in TAIL if words.casefold().endswith(" " + word)), "")
    return words[: len(words) - len(polite)] if polite else words


def unquoted(text: str) -> str:
    """The text without the quotes around it, if it has any."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and re.fullmatch(QUOTED, text) else text


def _cut(text: str, separator: re.Pattern[str]) -> list[str]:
    """The stretches of `text` between the separators that stand outside its atoms."""
    masked = ATOM.sub(lambda atom: "\x00" * len(atom[0]), text)
    pieces, here = [], 0
    for match in separator.finditer(masked):
        pieces.append(text[here : match.start()])
        here = match.end()
    return [piece.strip() for piece in [*pieces, text[here:]] if piece.strip(" \t\n,")]

"""What a reply in a live run's thread is, as far as nobody needs to think about it: control words, exact forms, questions, thanks.

Only whole messages count, and only what is plain. Whatever is not (a wish in everyday words, a polite "can you also …?") is left to a
classifier. No reply can approve anything: "yes" and "approved" are words like any others.
"""

import re
import unicodedata
from collections.abc import Collection
from typing import Literal

from bot.core.arguments import closest
from bot.core.drafts import Kind
from bot.core.exact import Form, read_form, resolve
from bot.core.phrases import AROUND, CHATTER, NO_PROBLEM, ONE_WORD_QUESTIONS, QUESTION, REQUEST, SMALL, WISHES
from bot.core.plan import Plan
from bot.core.words import control_word

LONGEST_QUESTION = 2_000  # characters; what is longer is not read by rules
LONGEST_CHATTER = 120
SIGN = re.compile(r":[a-z0-9_+'-]+:|<@[A-Z0-9]+>|@pullcord\b", re.IGNORECASE)
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def sure(text: str, plan: Plan | None, *, tools: Collection[str] = ()) -> Kind | Literal["withdraw"] | None:
    """What the reply plainly is; None if somebody has to think about it. `tools`: names of the catalogue, as in `exact.read_form`."""
    if control_word(text):
        return "control"
    form = read_form(text, tools=tools)
    if form is not None and form.verb == "never mind":
        return "withdraw"
    if form is not None and _is_meant(form, plan):
        return "change"
    if control_wish(text):
        return "control"
    if is_question(text):
        return "question"
    return "chatter" if is_chatter(text) else None


def control_wish(text: str) -> str | None:
    """`pause`, `resume`, `stop` or `status`, if the message says that and nothing else but politeness: "please stop it now!"."""
    words = WORD.findall(text.casefold()) if len(text) < LONGEST_CHATTER and "?" not in text else []
    wishes = [WISHES[word] for word in words if word in WISHES]
    return wishes[0] if len(wishes) == 1 and all(word in WISHES or word in AROUND for word in words) else None


def is_question(text: str) -> bool:
    """Does somebody want to know something? A wish put as a question is not one: "can you also …?", "what about …?"."""
    said = _without_signs(text)
    if len(said) > LONGEST_QUESTION or REQUEST.match(said):
        return False
    ends = said.rstrip("\"'”’») !.…").endswith(("?", "？", "؟"))
    return ends or said.casefold().rstrip(".!") in ONE_WORD_QUESTIONS or bool(QUESTION.match(said))


def is_chatter(text: str) -> bool:
    """Thanks, praise, greetings, emoji: nothing that wants an answer or a change."""
    if not text.strip() or len(text) > LONGEST_CHATTER or "?" in text:
        return False
    said = _without_signs(text)
    left = NO_PROBLEM.sub("", said.casefold())
    words = WORD.findall(left)
    if not words:
        return not any(unicodedata.category(sign)[0] in "LN" for sign in left)
    if left.strip("! ") in ("+1", "+1s"):
        return True
    return all(word in CHATTER or word in SMALL for word in words) and (left != said.casefold() or any(word in CHATTER for word in words))


def _without_signs(text: str) -> str:
    """The text without emoji codes and mentions, on one line."""
    return " ".join(SIGN.sub(" ", unicodedata.normalize("NFC", text)).split())


def _is_meant(form: Form, plan: Plan | None) -> bool:
    """A form that names steps is one if these are steps, or nearly, or numbers: "skip lunch" is talk."""
    if form.verb not in ("skip", "stop after"):
        return True
    ids = [step.id for step in plan.steps] if plan else []
    return all((plan and resolve(word, plan)) or word.lstrip("#").isdigit() or closest(word, ids) for word in form.steps)

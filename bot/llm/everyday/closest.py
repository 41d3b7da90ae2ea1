"""For a clause that was not understood: the tools that come closest, by the words of their names and descriptions."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from bot.core.catalogue import Catalogue, ToolSpec

WORD = re.compile(r"[a-z]{3,}")
IDLE = frozenset(("the", "and", "then", "for", "from", "with", "into", "that", "this", "them", "its", "all", "any", "not", "you"))
ENOUGH = 0.5  # below this a tool has nothing to do with the words
ALIKE = 0.7  # two words that differ more than this are different words
SHOWN = 2
MOST_WORDS = 20  # of what was said: enough to tell what it is about
FOR_RESULTS = ("text.summarize", "slack.post_message")


def closest(words: str, catalogue: Catalogue, *, of_result: bool = False) -> tuple[str, ...]:
    """Up to two tool names, the closest first; none if no tool has to do with the words. `of_result`: they are about an earlier result."""
    asked = _words(words)[:MOST_WORDS]
    scored = sorted((-_score(asked, spec), name) for name, spec in catalogue.items())
    near = [name for score, name in scored if -score >= ENOUGH]
    near += [name for name in FOR_RESULTS if of_result and name in catalogue and name not in near]
    return tuple(near[:SHOWN])


def _words(text: str) -> list[str]:
    """Each once, in order."""
    return [word for word in dict.fromkeys(WORD.findall(text.casefold())) if word not in IDLE]


def _score(asked: Iterable[str], spec: ToolSpec) -> float:
    """How near the nearest pair of words is; words of the name count more than those of the description."""
    named, described = _words(spec.name), _words(spec.description)
    return max((max(_near(word, named), 0.8 * _near(word, described)) for word in asked), default=0.0)


def _near(word: str, others: Iterable[str]) -> float:
    return max((_alike(word, other) for other in others), default=0.0)


def _alike(word: str, other: str) -> float:
    if word == other or (len(word) > 3 and (word.startswith(other) or other.startswith(word))):
        return 1.0
    if len(word) < 4 or 2 * min(len(word), len(other)) < ALIKE * (len(word) + len(other)):
        return 0.0
    ratio = SequenceMatcher(None, word, other).ratio()
    return ratio if ratio >= ALIKE else 0.0

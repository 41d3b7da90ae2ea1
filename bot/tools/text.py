"""A short form of a text: by a model where the bot was given one as a worker, else by picking the sentences that say most.

The picked sentences are the text's own words in their own order, so nothing can be made up. Sentences are found by marks and line ends and
weighed by how often their words come back, in any language; Chinese and Japanese, which leave no spaces, by pairs of characters.
"""

import heapq
import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

from pydantic import BaseModel, ConfigDict, Field

from bot.errors import PullcordError
from bot.tools.context import ToolContext
from bot.tools.definition import Tool, tool

Spend = Callable[[str, int, int], None]  # (model, tokens in, tokens out): what was asked of a model, whatever came of it
Summarize = Callable[[str, int, Spend], Awaitable[str]]  # (text, sentences, spend) → summary

CANDIDATES = 200  # sentences that are compared with each other
EXTRACTIVE = "extractive, without a model"

_HEADING = re.compile(r"^\s{0,3}#{1,6}\s|^\s*(?:=+|-{3,}|\*{3,}|_{3,})\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_END = re.compile(r"[.!?…؟।]{1,8}[\"'”’»)\]]{0,4}(?=\s)|[。！？｡]{1,8}[」』”）]{0,4}")
_INITIAL = re.compile(r"(?:^|[\s(])(?:[^\W\d_]|Dr|Mr|Mrs|Ms|Prof|St|vs|No|Nr|ca)\.$")
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


class SummarizeArgs(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    text: str = Field(max_length=400_000, description="The text to shorten, usually a reference to an earlier step's text")
    sentences: int = Field(default=3, ge=1, le=20, description="How many sentences the summary may have")


class Summary(BaseModel):
    summary: str
    by: str = Field(description="Who wrote it: a model, or sentences picked from the text")


def text_tools(summarize: Summarize | None = None) -> list[Tool]:
    """The one tool; `summarize` is a model as a named worker, whose fault falls back to picking sentences."""
    return [_by_picking() if summarize is None else _by_model(summarize)]


DESCRIPTION = """Make a short version of a text.

Use it when a later step or the answer needs the gist of something long. Do not use it on texts whose exact words matter, to compare, to
translate or to write something new."""


def _by_picking() -> Tool:
    @tool(name="text.summarize", effect="read", says="Summarizes a text", description=DESCRIPTION)
    def summarize(args: SummarizeArgs, _ctx: ToolContext) -> Summary:
        return Summary(summary=pick(args.text, args.sentences), by=EXTRACTIVE)

    return summarize


def _by_model(ask: Summarize) -> Tool:
    @tool(name="text.summarize", effect="read", says="Summarizes a text", description=DESCRIPTION)
    async def summarize(args: SummarizeArgs, ctx: ToolContext) -> Summary:
        def spend(model: str, tokens_in: int, tokens_out: int) -> None:
            ctx.spent(tokens_in, tokens_out, model=model)

        try:
            words = (await ask(args.text, args.sentences, spend)).strip()
        except PullcordError:
            words = ""
        if words:
            return Summary(summary=words, by="a model")
        return Summary(summary=pick(args.text, args.sentences), by=f"{EXTRACTIVE}, which did not answer")

    return summarize


def pick(text: str, count: int) -> str:
    """The `count` sentences that say most, in their own order, one a line; a text of no more than that is kept as it is."""
    found = list(dict.fromkeys(sentences(text)))
    if len(found) <= count:
        return text.strip()
    terms = [_terms(sentence) for sentence in found]
    spread = Counter(term for held in terms for term in set(held))
    often = Counter(term for held in terms for term in held)
    weight = {term: often[term] * math.log(1 + len(found) / spread[term]) for term in often}
    chosen: list[int] = []
    left = set(heapq.nlargest(CANDIDATES, range(len(found)), key=lambda at: _score(terms[at], weight, set()) * _place(at, len(found))))
    covered: set[str] = set()
    while left and len(chosen) < count:
        best = max(left, key=lambda at: (_score(terms[at], weight, covered) * _place(at, len(found)), -at))
        chosen.append(best)
        left.discard(best)
        covered.update(terms[best])
    return "\n".join(found[at] for at in sorted(chosen))


def _score(terms: list[str], weight: dict[str, float], covered: set[str]) -> float:
    """What a sentence adds to those chosen, for its length: long ones must earn their place."""
    new = sum(weight[term] * (0.2 if term in covered else 1.0) for term in set(terms))
    return new / (8 + len(terms)) if terms else 0.0


def _place(at: int, count: int) -> float:
    """Texts say what they are about at the beginning, and often what follows from it at the end."""
    return 1.4 if at == 0 else 1.15 if at < 1 + count // 10 or at == count - 1 else 1.0


def _terms(sentence: str) -> list[str]:
    """What a sentence is weighed by: words of three letters and more, numbers, and pairs of unspaced characters."""
    terms = []
    for word in _WORD.findall(sentence.casefold()):
        if _UNSPACED.search(word):
            terms += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        elif len(word) > 2 or word.isdigit():
            terms.append(word)
    return terms


def sentences(text: str) -> Iterator[str]:
    """The sentences, headings and rules left out. A line is its own sentence unless the next one goes on in small letters."""
    for passage in _passages(text):
        start = 0
        for end in _END.finditer(passage):
            before, after = passage[max(0, end.end() - 8) : end.end()], passage[end.end() : end.end() + 8]
            if end[0].startswith(".") and (_INITIAL.search(before) or after.lstrip()[:1].islower()):
                continue
            if sentence := passage[start : end.end()].strip():
                yield sentence
            start = end.end()
        if rest := passage[start:].strip():
            yield rest


def _passages(text: str) -> Iterator[str]:
    """Lines joined where one sentence goes over several."""
    held = ""
    for row in text.splitlines():
        goes_on = held and row.lstrip()[:1].islower() and not _ITEM.match(row)
        if goes_on:
            held += " " + row.strip()
            continue
        if held:
            yield held
        held = "" if _HEADING.match(row) else _ITEM.sub("", row).strip()
    if held:
        yield held

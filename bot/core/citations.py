"""Does an answer say only what the steps found? A light check by code, sentence by sentence.

A sentence names its sources by step number, `[1][2]`. Each must be a step that really finished, and the numbers, quoted words, names in
backticks and links of the sentence must occur in what those steps returned (or were called with). A sentence that fails is marked with the
reason and stays: people read it with the mark. The check finds what is made up, not what is misunderstood.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.core.characters import cut
from bot.core.ids import StepId
from bot.core.run import StepStatus
from bot.core.snapshot import Snapshot, StepState

CITE = re.compile(r"\[(\d{1,3})\]")
CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
ABBREVIATED = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bca)(?<!\bapprox)(?<!\bz\.B)(?<!\bp\. ex)(?<!\bno)(?<!\bNo)(?<!\bDr)"
END = re.compile(ABBREVIATED + r"[.!?…]+[\"'”’»)*_`]*(?:\s*\[\d{1,3}\])*(?=\s+(?![a-z])|\s*$)|[。！？]+[”’»」』）]*(?:\s*\[\d{1,3}\])*")
LEAD = re.compile(r"^\s*(?:>\s*)*(?:(?:[-*•]|\d{1,3}[.)])\s+)?")
QUOTED = re.compile(r"\"([^\"\n]{2,300})\"|“([^”\n]{2,300})”|«\s?([^»\n]{2,300}?)\s?»|„([^“”\n]{2,300})[“”]|`([^`\n]{1,300})`")
LINK = re.compile(r"https?://[^\s<>|\"'`“”]+[^\s<>|\"'`“”.,;:!?)\]]", re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*(?!\d|st\b|nd\b|rd\b|th\b)")
ENDINGS = {
    StepStatus.FAILED: "which failed",
    StepStatus.SKIPPED: "which was skipped",
    StepStatus.CANCELLED: "which was cancelled",
    StepStatus.IN_DOUBT: "which is in doubt",
}


@dataclass(frozen=True)
class Mark:
    """A sentence that fails the check, as it stands in the text, and why in a few words: "no source", "14 is not in [6]"."""

    sentence: str
    why: str


@dataclass(frozen=True)
class Review:
    """Ids of the finished steps that the text cites, in order, and the sentences that fail the check."""

    cites: tuple[StepId, ...]
    marks: tuple[Mark, ...]


def review(text: str, snapshot: Snapshot) -> Review:
    """Check every sentence of an answer against the run. Never raises."""
    steps = {step.number: step for step in snapshot.steps}
    cites: dict[StepId, None] = {}
    marks = []
    for sentence in sentences(text):
        cited = [int(number) for number in CITE.findall(sentence)]
        cites |= {steps[number].id: None for number in cited if number in steps and steps[number].status is StepStatus.SUCCEEDED}
        if why := _why(sentence, cited, steps):
            marks.append(Mark(sentence, why))
    return Review(tuple(cites), tuple(marks))


def sentences(text: str) -> list[str]:
    """The sentences of a text, list items included, as they stand in it; code blocks, headings and lead-ins ("In short:") are none."""
    found = []
    for line in CODE.sub("\n", text).splitlines():
        rest = line[len(LEAD.match(line)[0]) :]  # type: ignore[index]  # it matches the empty string too
        found += [sentence for sentence in _cut(rest) if _claims(sentence)]
    return found


def _cut(line: str) -> Iterator[str]:
    here = 0
    for end in END.finditer(line):
        yield line[here : end.end()].strip()
        here = end.end()
    yield line[here:].strip()


def _claims(sentence: str) -> bool:
    """Does it say anything that needs a source?"""
    bare = CITE.sub("", sentence).strip(" *_.:")
    if not any(sign.isalnum() for sign in bare) or re.match(r"#{1,6}\s", sentence):
        return False
    leads_in = sentence.rstrip("*_ ").endswith((":", "：")) or re.fullmatch(r"\*\*[^*]+\*\*", sentence)
    return not leads_in or bool(re.search(r"\d", bare))


def _why(sentence: str, cited: list[int], steps: Mapping[int, StepState]) -> str:
    """What is wrong with the sentence, or an empty string."""
    if not cited:
        return "no source"
    for number in cited:
        if number not in steps:
            return f"cites {number}, which does not exist"
        if steps[number].status is not StepStatus.SUCCEEDED:
            return f"cites {number}, {ENDINGS.get(steps[number].status, 'which has not run')}"
    found = _normal("\n".join(said for number in dict.fromkeys(cited) for said in _said(steps[number])))
    missing = next((thing for thing in _things(sentence) if not _holds(found, thing)), None)
    return f"{cut(missing, 40)} is not in {''.join(f'[{number}]' for number in dict.fromkeys(cited))}" if missing else ""


def _things(sentence: str) -> Iterator[str]:
    """What can be looked up: quoted words, names in backticks, links, numbers."""
    rest = CITE.sub(" ", sentence)
    for pattern in (LINK, QUOTED):
        for match in pattern.finditer(rest):
            yield next((group for group in match.groups() if group), match[0])
        rest = pattern.sub(" ", rest)
    yield from (match[0] for match in NUMBER.finditer(rest))


def _holds(found: str, thing: str) -> bool:
    wanted = _normal(thing).strip(" .,;:!?")
    if not NUMBER.fullmatch(wanted):
        return wanted in found
    plain = wanted.replace(",", "")
    return _stands(wanted, found) or _stands(plain, found.replace(",", ""))


def _stands(number: str, where: str) -> bool:
    """Does the number stand there by itself, and not as a part of another one (14 in 14:05, 6 in 60)?"""
    return bool(re.search(rf"(?<!\d)(?<!\d[.:]){re.escape(number)}(?!\d|:\d|\.\d*[1-9])", where))


def _said(step: StepState) -> Iterator[str]:
    """Everything that is known of a finished step, as text: what it returned, what it was called with, and when."""
    if step.observation:
        yield from _texts(step.observation.value)
        yield step.observation.says
    yield from _texts(step.args)
    yield from (f"{at:%H:%M}" for at in (step.started_at, step.finished_at) if at)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif value is not None:
        yield str(value)


def _normal(text: str) -> str:
    """Composed, in lower case, with single spaces: what people would call the same words."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())

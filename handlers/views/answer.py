"""The closing message: what was found, with sources that code checked.

Model text becomes rich text, where nothing is parsed. A citation `[1]` of a step of this run becomes a link that only code can make; a
sentence that fails the check (`bot.core.citations`) keeps its words and gets a chip before it that says why. Long answers go on in
further messages, cut between sentences where that is possible, with code fences closed and opened again. The first message pings the
requester, once.
"""

import re
from collections.abc import Iterator

from bot.core import citations, findings, splitting
from bot.core.characters import utf16, visible
from bot.core.plan import Step
from bot.core.run import StepStatus
from bot.core.snapshot import Answer, StepState
from handlers.views import blocks, held_card, receipts, words
from handlers.views.scene import Block, Card, Element, Scene
from handlers.views.text import count, fallback, joined, one_line, ping, plain

PART = 2_800  # characters of one message's text
MOST_SOURCES = 12
EXCERPT = 1_500
ALL_EXCERPTS = 5_000
FIRST_CHIP = 0xE000  # outside text shows private characters as ⟦U+E000⟧, so none of these can come from it
MOST_CHIPS = 200
TOKENS = re.compile(rf"(?P<chip>[{chr(FIRST_CHIP)}-{chr(FIRST_CHIP + MOST_CHIPS)}])|\[(?P<cite>\d{{1,3}})\]|`(?P<code>[^`\n]+)`")
FENCE = re.compile(r"```[^\n`]*\n(?P<code>.*?)(?:\n```|```|\Z)", re.DOTALL)


def answer_cards(scene: Scene) -> list[Card]:
    """The messages of the answer, in order; at least one."""
    given = scene.snapshot.answer
    if given is None or not any(step.status is StepStatus.SUCCEEDED for step in scene.snapshot.steps):
        return [nothing_done(scene)]
    return [plain_report(scene)] if given.by == "report" else written(scene, given)


def written(scene: Scene, given: Answer) -> list[Card]:
    """An answer that a model wrote."""
    seen, whys = _with_chips(scene, given)
    parts = splitting.split(seen, PART)
    return [_part(scene, part, whys, place, len(parts)) for place, part in enumerate(parts, start=1)]


def _part(scene: Scene, text: str, whys: list[str], place: int, total: int) -> Card:
    title = "Answer" if total == 1 else f"Answer, part {place} of {total}"
    pinged = [blocks.person(scene.run.requester), blocks.said(" ")] if place == 1 else []
    made = [
        blocks.rich(blocks.line(*pinged, blocks.strong(title), blocks.said(f" · {words.goal_of(scene)}"))),
        *_text(scene, text, whys),
    ]
    if place < total:
        made.append(blocks.context(f"{scene.run.id} · part {place + 1} follows below"))
        named = f"part {place} of {total}"
    else:
        made += [*_sources(scene), blocks.context(_foot(scene, whys))]
        named = f"part {place} of {total}" if total > 1 else _summary(text)
    opening = f"{ping(scene.run.requester)} Answer to {scene.run.id}" if place == 1 else f"Answer to {scene.run.id}"
    marked = count(len(whys), "mark") if place == total and whys else ""
    return Card(fallback(opening, named, marked), made)


def _with_chips(scene: Scene, given: Answer) -> tuple[str, list[str]]:
    """The text with a private character before each sentence that fails the check, and the reasons in that order."""
    seen, here = visible(given.text), 0
    whys: list[str] = []
    marks = citations.review(given.text, scene.snapshot).marks
    known = {mark.sentence for mark in marks}
    extra = [citations.Mark(sentence, "no source") for sentence in given.unsupported if sentence not in known]
    for mark in (*marks, *extra)[:MOST_CHIPS]:
        sentence = visible(mark.sentence)
        at = seen.find(sentence, here)
        at = at if at >= 0 else seen.find(sentence)
        if at < 0:
            continue
        seen = seen[:at] + chr(FIRST_CHIP + len(whys)) + seen[at:]
        whys.append(mark.why)
        here = at + 1
    return seen, whys


def _text(scene: Scene, text: str, whys: list[str]) -> Iterator[Block]:
    """Prose and code of one message, as blocks of rich text."""
    elements: list[Element] = []
    here = 0
    for fence in FENCE.finditer(text):
        elements += _prose(scene, text[here : fence.start()], whys)
        elements.append(blocks.box(fence["code"]))
        here = fence.end()
    elements += _prose(scene, text[here:], whys)
    yield blocks.rich(*(elements or [blocks.line(blocks.said("The answer is empty."))]))


def _prose(scene: Scene, text: str, whys: list[str]) -> list[Element]:
    words_of = text.strip("\n")
    if not words_of.strip():
        return []
    numbers = {step.number: step for step in scene.snapshot.steps}
    found: list[Element] = []
    here = 0
    for token in TOKENS.finditer(words_of):
        found.append(blocks.said(words_of[here : token.start()]))
        found += _token(scene, token, numbers, whys)
        here = token.end()
    return [blocks.line(*found, blocks.said(words_of[here:]))]


def _token(scene: Scene, token: re.Match[str], numbers: dict[int, StepState], whys: list[str]) -> list[Element]:
    if token["chip"]:
        return [blocks.literal(one_line(whys[ord(token["chip"]) - FIRST_CHIP], 80)), blocks.said(" ")]
    if token["code"]:
        return [blocks.literal(token["code"])]
    here = scene.links.get("run")
    if here and int(token["cite"]) in numbers:
        return [blocks.linked(here, token[0])]
    return [blocks.said(token[0])]


def _sources(scene: Scene) -> list[Block]:
    """The cited steps and what each returned, in one line. It holds outside text, so it is not parsed."""
    given = scene.snapshot.answer
    text = given.text if given else ""
    cited = dict.fromkeys(int(number) for number in citations.CITE.findall(text))
    steps = [step for step in scene.plan.steps if step.number in cited]
    if not steps:
        return []
    said = [f"[{step.number}] {_source(scene, words.state_of(scene, step))}" for step in steps[:MOST_SOURCES]]
    more = [f"{len(steps) - MOST_SOURCES} more"] if len(steps) > MOST_SOURCES else []
    return [blocks.plain_context(" · ".join([*said, *more]))]


def _source(scene: Scene, state: StepState) -> str:
    step = scene.plan.step(state.id)
    if state.status is StepStatus.SUCCEEDED:
        came = state.observation.says if state.observation else ""
        return joined(words.lowered(words.does(scene, step, done=True)), one_line(came, 60), by=", ")
    return f"{citations.ENDINGS.get(state.status, 'which has not run').removeprefix('which ')}: {words.lowered(words.does(scene, step))}"


def _foot(scene: Scene, whys: list[str]) -> str:
    given = scene.snapshot.answer
    total = len(citations.sentences(given.text)) if given else 0
    missing = sum(why == "no source" for why in whys)
    marks = ""
    if whys and missing == len(whys):
        marks = f"*no source* marks a sentence that no finished step supports: {missing} of {max(total, missing)}"
    elif whys:
        marks = f"{len(whys)} of {count(max(total, len(whys)), 'sentence')} marked; the text is as the model wrote it"
    return joined(scene.run.id, words.card_link(scene, "run", "run card ↑"), marks)


def _summary(text: str) -> str:
    """The beginning of the answer for the notification, without marks."""
    bare = TOKENS.sub(lambda token: token["code"] or "", re.sub(r"\s*\[\d{1,3}\]", "", text))
    return plain(bare, 140)


def plain_report(scene: Scene) -> Card:
    """No model wrote this: what each step did and returned, results that no other step has used in a quote."""
    finished = [step for step in scene.plan.steps if words.state_of(scene, step).status is StepStatus.SUCCEEDED]
    elements: list[Element] = []
    pending: list[list[Element]] = []
    room = ALL_EXCERPTS
    for step in scene.plan.steps:
        state = words.state_of(scene, step)
        pending.append([blocks.said(_report_line(scene, state))])
        wanted = step in finished and (step.tool.startswith("text.") or not any(step.id in other.needs for other in finished))
        excerpt = _excerpt(scene, step, state) if wanted else ""
        if excerpt and utf16(excerpt) <= room:
            room -= utf16(excerpt)
            elements += [blocks.bullets(pending), blocks.quote(blocks.said(excerpt))]
            pending = []
    elements += [blocks.bullets(pending)] if pending else []
    who = blocks.line(
        blocks.person(scene.run.requester), blocks.said(" "), blocks.strong("Report"), blocks.said(f" · {words.goal_of(scene)}")
    )
    origin = joined(scene.run.id, words.card_link(scene, "run", "run card ↑"), "written without a model, from what the steps returned")
    done = f"{len(finished)} of {count(len(scene.plan.steps), 'step')} {'is' if len(finished) == 1 else 'are'} done"
    text = f"{ping(scene.run.requester)} Report of {scene.run.id}: {done}. Written without a model."
    return Card(text, [blocks.rich(who), blocks.rich(*elements), blocks.context(origin)])


def _excerpt(scene: Scene, step: Step, state: StepState) -> str:
    """What a finished step found out. Of a step that changed or sent something its line tells enough: what it returned is a receipt."""
    value = state.observation.value if state.observation else None
    tells = receipts.only_reads(scene, step) or findings.text_of(value)
    return held_card.boxed(findings.finding(value), EXCERPT) if tells and not findings.echoes(value, state.args or step.args) else ""


def _report_line(scene: Scene, state: StepState) -> str:
    step = scene.plan.step(state.id)
    done = state.status is StepStatus.SUCCEEDED
    named = words.numbered(scene, step, done=done)
    if done:
        came = receipts.came_back(state)
        return f"{named}: {one_line(came, 100)}" if came else named
    ended = citations.ENDINGS.get(state.status, "which has not run").removeprefix("which ").removeprefix("is ").removeprefix("was ")
    why = f" ({one_line(state.error, 150)})" if state.error else ""
    return f"{named}: {ended}{why}"


def nothing_done(scene: Scene) -> Card:
    """No step finished, so there is no answer."""
    who = blocks.person(scene.run.requester)
    line = blocks.line(who, blocks.said(" "), blocks.strong("No answer: "), blocks.said("the run ended before a step had finished."))
    there = words.card_link(scene, "run", "what happened stands on its card ↑")
    text = f"{ping(scene.run.requester)} {scene.run.id} ended before anything was found. There is no answer; its card says what happened."
    return Card(text, [blocks.rich(line), blocks.context(joined(scene.run.id, there))])

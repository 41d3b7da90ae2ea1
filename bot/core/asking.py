"""Questions about a run, answered from its state: no model, no guess.

A question about a step (by number, id, what it does, or a place that it names) is answered with that step; others by what they ask for:
who, why, how long, what is left, what was found. Everything else gets how far the run is, so no question stays without an answer.
"""

import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from bot.core.catalogue import Catalogue
from bot.core.estimate import estimate_seconds
from bot.core.plan import Plan, Step
from bot.core.run import Event, Redirect, RunStatus, StepStatus
from bot.core.snapshot import Snapshot
from bot.core.telling import ENDED, Facts, at, counted, listed, quoted, reach, result_told, running, span, step_told, why
from bot.core.wording import shown

AGES = 10_000_000  # seconds: longer than anything that runs
NOT_VERBS = frozenset({"ready", "wait", "waiting", "waits", "postpone", "list"})  # talk of the run, not of a tool
LONGEST = 2_000  # characters of a question that are looked at
ANSWERED = 2  # steps that one answer tells of
OPEN = frozenset({StepStatus.PENDING, StepStatus.RUNNING})
BY_NUMBER = re.compile(r"(?:\b(?:steps?|number|schritte?|étapes?|etapes?|pasos?)\s+#?|(?<![\w#])#)(\d{1,4})\b", re.IGNORECASE)
PLACE = re.compile(r"(?<![\w&])#[^\W\d][\w-]*|https?://[^\s<>]+|(?<![\w./-])[\w/-]+\.[A-Za-z]\w{0,5}\b(?!\.\w)")
WORD = re.compile(r"[^\W_][\w-]*")
RESULT = re.compile(
    r"\b(?:find|found|findings|results?|return\w*|output|sa(?:y|ys|id)|gefunden|ergebnis\w*|trouvé\w*|résultats?|encontr\w+|resultados?)\b"
)


def answer_from_state(text: str, snapshot: Snapshot, catalogue: Catalogue, now: datetime) -> str:
    """A few plain sentences, people by their ids. Never raises for what a person wrote; right in any state, with or without a plan."""
    facts = Facts(snapshot, catalogue, now)
    text = text[:LONGEST]
    asked = " ".join(text.casefold().split())
    return _asked_of_people(asked, facts) or _asked_of_steps(text, asked, facts) or _asked_of_run(asked, facts)


def _asked_of_people(asked: str, facts: Facts) -> str:
    return next((answer(facts) for pattern, answer in WHO if pattern.search(asked)), "")


def _asked_of_steps(text: str, asked: str, facts: Facts) -> str:
    about = _meant(text, facts)
    found = RESULT.search(asked)
    if about:
        return " ".join((result_told if found else step_told)(step, facts) for step in about[:ANSWERED])
    if numbers := BY_NUMBER.findall(text):
        return _not_in_plan(int(numbers[0]), facts)
    done = facts.standing(StepStatus.SUCCEEDED)
    if found and done:
        return result_told(done[-1], facts)
    places = PLACE.findall(text) if facts.steps else []
    return f"No step of this plan names {shown(places[0])}. {reach(facts)}" if places else ""


def _not_in_plan(number: int, facts: Facts) -> str:
    """A number of no step: of the new rest, if one waits for people."""
    new = facts.snapshot.proposal
    step = next((step for step in new.plan.steps if step.number == number), None) if new else None
    if new and step:
        return f"In the new rest, revision {new.revision}, which is not approved yet: {listed([step], facts)}."
    return f"There is no step {number} in this plan. {_summary(facts)}"


def _asked_of_run(asked: str, facts: Facts) -> str:
    answer = next((answer for pattern, answer in RUN if pattern.search(asked)), _summary)
    return answer(facts)


def _meant(text: str, facts: Facts) -> list[Step]:
    """The steps that a question names, by the surest way of naming in it."""
    numbers = {int(number) for number in BY_NUMBER.findall(text)}
    places = {place.casefold() for place in PLACE.findall(text)}
    words = {word.casefold() for word in WORD.findall(text)}
    ways: tuple[Callable[[Step], bool], ...] = (
        lambda step: step.number in numbers,
        lambda step: bool(places & {value.casefold() for value in step.args.values() if isinstance(value, str)}),
        lambda step: not places and step.id.casefold() in words,
        lambda step: not places and _is_about(words, step.tool),
    )
    return next((found for way in ways if (found := [step for step in facts.steps if way(step)])), [])


def _is_about(words: Iterable[str], tool: str) -> bool:
    """ "the summary" is about text.summarize, "posted" about slack.post_message."""
    verb = re.split(r"[^a-z0-9]+", tool.casefold().rpartition(".")[2])[0][:6]
    return len(verb) > 3 and any(word.startswith(verb) for word in words if word not in NOT_VERBS)


def _approvals(facts: Facts) -> str:
    snapshot, run = facts.snapshot, facts.snapshot.run
    plans = [one for one in snapshot.approvals if one.kind == "plan"]
    said = [f"Revision {one.revision} was approved by {one.actor}{at(one.at)}." for one in plans]
    said += [f"Step {one.step} was confirmed by {one.actor}{at(one.at)}." for one in snapshot.approvals if one.kind == "confirm"]
    if run.status is RunStatus.IN_REVIEW and not any(one.digest == run.digest for one in plans):
        said.append("Nobody has approved the plan yet.")
    if run.redirect is Redirect.REVIEW and not any(one.revision == run.proposed for one in plans):
        said.append(f"Revision {run.proposed}, the new rest, is not approved yet.")
    if not said:
        said.append("No approval was needed: every step only reads." if run.approved else "Nothing has been approved.")
    return " ".join(said)


def _asker(facts: Facts) -> str:
    run = facts.snapshot.run
    return f"{run.requester or 'Somebody'} asked for it{at(run.created_at)}, in these words: {quoted(run.ask)}"


STOPPED = {
    Event.PAUSE_ASKED: "paused it",
    Event.STOP_ASKED: "stopped it",
    Event.CANCELLED: "cancelled it",
    Event.FROZEN: "froze everything",
    Event.REDIRECT_ASKED: "asked for a change, which paused it",
}


def _who_stopped(facts: Facts) -> str:
    last = next((entry for entry in reversed(facts.snapshot.entries) if entry.event in STOPPED), None)
    if last is None:
        return f"Nobody has paused or stopped it. {why(facts)}"
    return f"{last.actor} {STOPPED[Event(last.event)]}{at(last.at)}. {why(facts)}"


def _left(facts: Facts) -> str:
    coming = facts.standing(StepStatus.PENDING)
    if facts.snapshot.run.is_final or not coming:
        return f"Nothing is still to come. {_summary(facts)}"
    return " ".join(filter(None, (f"Still to come: {listed(coming, facts)}.", counted(facts), running(facts))))


def _duration(facts: Facts) -> str:
    run = facts.snapshot.run
    if run.is_final:
        took, begun, ended = span(run.updated_at - run.created_at), at(run.created_at)[3:], at(run.updated_at)[3:]
        return f"{ENDED[run.status]}: it took {took}, from{begun} to{ended}."
    seconds = estimate_seconds(_unfinished(facts), facts.catalogue)
    work = (
        f"About {span(timedelta(seconds=min(seconds, AGES)))} of work is left, waiting for people not counted."
        if seconds
        else "No step is left to run."
    )
    return f"{work} {why(facts)}"


def _unfinished(facts: Facts) -> Plan:
    """The steps that are not over, waiting only for each other: what the estimate is about."""
    left = [step for step in facts.steps if facts.state(step).status in OPEN]
    ids = {step.id for step in left}
    waits = [tuple(name for name in step.needs if name in ids) for step in left]
    bare = [step.model_copy(update={"args": _seconds(step), "depends_on": needs}) for step, needs in zip(left, waits, strict=True)]
    return Plan(goal="-", steps=tuple(bare))


def _seconds(step: Step) -> dict[str, object]:
    return {"seconds": step.args["seconds"]} if isinstance(step.args.get("seconds"), int | float) else {}


def _summary(facts: Facts) -> str:
    """`2 of 4 steps are done. Running: 3 · brief (writes a summary). Next: 4 · post (sends a message to #ops).`"""
    run = facts.snapshot.run
    if not facts.steps:
        return why(facts)
    coming = [] if run.is_final else facts.standing(StepStatus.PENDING)
    following = f"Next: {listed(coming[:1], facts)}." if coming else ""
    return " ".join(filter(None, (counted(facts), running(facts), following, "" if run.status is RunStatus.RUNNING else why(facts))))


Answer = Callable[[Facts], str]


def _topics(*table: tuple[str, Answer]) -> tuple[tuple[re.Pattern[str], Answer], ...]:
    return tuple((re.compile(pattern), answer) for pattern, answer in table)


BY_WHOM = r"\b(?:who|whom|wer|wem|qui|quién|quien)\b.*\b"
# Asked of people, whatever step the question names.
WHO = _topics(
    (rf"{BY_WHOM}(?:approv|confirm|said yes|signed|freigegeben|genehmigt|approuv|aprob)|\b(?:approvals?|approved by)\b", _approvals),
    (rf"{BY_WHOM}(?:paus|stop|held|hold|froze|freeze|cancel|angehalten|gestoppt|arrêt|par[óo]\b)", _who_stopped),
    (rf"{BY_WHOM}(?:ask|request|start|want|gefragt|demand|pidi)", _asker),
)
# Asked of the run, where the question names no step.
RUN = _topics(
    (r"\b(?:how long|how much (?:time|longer)|when|eta|wie lange|wann|combien de temps|quand|cuándo|cuánto)\b", _duration),
    (r"\b(?:left|remain\w*|to come|to do|next|missing|noch|fehlt|reste|falta|queda)\b", _left),
    (r"\b(?:why|waiting|wait|paused|held|stuck|warum|wieso|pourquoi|por qué|blocked)\b", why),
)

"""Which steps of a plan everyday words mean: "step 3", "the summary", "posting it to #ops", "notes/today.md".

A step is meant by its number or id, by what its tool does (for tools without words of their own, by the words of the tool's name), and by a
place that it touches. Steps that have not started are meant before those that have; what never came about is never meant.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from bot.core.drafts import Rest
from bot.core.exact import AND, LOST, resolve
from bot.core.plan import Plan, Step, dependents
from bot.core.references import find, sources
from bot.llm.everyday.clauses import unquoted
from bot.llm.everyday.places import channel_of, is_path, url_of

KINDS = tuple(
    (re.compile(pattern, re.IGNORECASE), tools)
    for pattern, tools in (
        (r"summar(?:y|ies|i[sz]e[sd]?|i[sz]ing)|sum(?:ming)?(?: it)? up", ("text.summarize",)),
        (
            r"post(?:s|ing)?|messag(?:es?|ing)|send(?:s|ing)?|shar(?:e|ing)|tell(?:ing)?|announc(?:e|ing|ement)|say(?:ing)?",
            ("slack.post_message",),
        ),
        (r"read(?:s|ing)?|open(?:ing)?", ("files.read", "web.fetch", "slack.read_channel", "slack.read_thread")),
        (r"fetch(?:es|ing)?|page|download(?:s|ing)?", ("web.fetch",)),
        (r"search(?:es|ing)?|grep(?:ping)?", ("files.search",)),
        (r"list(?:s|ing)?", ("files.list",)),
        (r"wr(?:ite|iting)|sav(?:e|ing)|stor(?:e|ing)", ("files.write",)),
        (r"delet(?:e|ing|ion)|remov(?:e|ing|al)|eras(?:e|ing)", ("files.delete",)),
        (r"wait(?:s|ing)?", ("time.wait",)),
    )
)
STEP_WORD = re.compile(r"(?:steps?|numbers?|no\.?|nr\.?)\s+", re.IGNORECASE)
ARTICLE = re.compile(r"^(?:(?:the|a|an|that|this|these|those|my|our|its|any|all|both|doing|to)\s+)+", re.IGNORECASE)
THING = re.compile(
    r"^(?:\s+(?:it|them|this|that|these|those|anything|everything|something|of it|up|step|part|out"
    r"|(?:the |a )?(?:summary|message|messages|text|texts|result|results|file|files|page|notes?|contents?|news)))*(?=\s|$)",
    re.IGNORECASE,
)
BEFORE_PLACE = re.compile(r"^\s*(?:to|in|into|on|from|of|as|for|at|with|under)\s+(?:the (?:file|channel|page) )?", re.IGNORECASE)
GERUND = re.compile(r"(?:ing|s)$", re.IGNORECASE)
SHORTEST = 4  # letters of a word of a tool's name that may stand for the tool
PLACES = ("channel", "path", "url")


@dataclass(frozen=True)
class Named:
    """What words say of steps, whether or not there are any such steps."""

    steps: tuple[Step, ...] = ()  # those that fit
    place: str = ""  # "#ops", if one was named
    kind: bool = False  # was it said what they do?
    plural: bool = False  # may several be meant?


def named_in(words: str, rest: Rest) -> Named:
    """The steps that the words mean; none if they mean none for certain."""
    said = ARTICLE.sub("", words.strip(" .,!"))
    if explicit := _by_name(said, rest.plan):
        return Named(tuple(explicit), plural=True)
    if said.casefold() in ("it", "next step", "next one", "next"):
        open_now = [step for step in rest.plan.steps if step.id not in rest.fixed]
        return Named(tuple(open_now[:1] if len(open_now) == 1 else ()), kind=True)
    there = [step for step in rest.plan.steps if rest.statuses.get(step.id) not in LOST]
    if place := place_in(said):
        return Named(_best([step for step in there if touches(step, place)], rest), place=place)
    return _by_kind(said, there, rest)


def place_in(words: str) -> str:
    """The channel, path or address, if that is all that the words are ("to #ops"); empty otherwise."""
    said = unquoted(BEFORE_PLACE.sub("", words.strip()))
    return channel_of(said) or url_of(said) or (said if is_path(said) else "")


def kind_of(place: str) -> str:
    """The name of the argument that holds such a place."""
    if place.startswith("#"):
        return "channel"
    return "url" if url_of(place) else "path"


def touches(step: Step, place: str) -> bool:
    """Is this place written in one of its arguments?"""
    return any(isinstance(value, str) and value.casefold() == place.casefold() for value in step.args.values())


def without(steps: Collection[Step], plan: Plan, *gone: Step) -> tuple[Step, ...]:
    """The steps but for those and whatever needs them."""
    ids = {each.id for step in gone for each in (step, *dependents(plan, step.id))}
    return tuple(step for step in steps if step.id not in ids)


def _by_name(said: str, plan: Plan) -> list[Step]:
    """ "step 3", "3 and 4", "steps read and old"; an id alone counts too, unless it is a word for what several steps do."""
    about = STEP_WORD.match(said)
    words = re.split(AND, said[about.end() :] if about else said, flags=re.IGNORECASE)
    found = [resolve(word, plan) for word in words if " " not in word.strip()]
    if len(found) < len(words) or None in found or not (about or all(word.strip("# ").isdigit() for word in words)):
        return []
    return [step for step in found if step is not None]


def _by_kind(said: str, there: list[Step], rest: Rest) -> Named:
    for pattern, tools in KINDS:
        match = pattern.match(said)
        if match and not said[match.end() : match.end() + 1].isalnum():
            fitting = [step for step in there if step.tool in tools]
            return _at_place(said[match.end() :], fitting, rest, plural=bool(GERUND.search(match[0])))
    word, _, after = said.partition(" ")
    known = resolve(word, rest.plan)
    if known in there and known is not None:
        return _at_place(" " + after if after else "", [known], rest, plural=True)
    fitting = [step for step in there if _is_about(word, step.tool)]
    return _at_place(" " + after if after else "", fitting, rest, plural=bool(GERUND.search(word)))


def _at_place(after: str, fitting: list[Step], rest: Rest, *, plural: bool) -> Named:
    """What follows the kind: nothing, "it", "the text to #ops", "of notes/today.md"; anything else means nothing known."""
    thing = THING.match(after)
    left = after[thing.end() :].strip() if thing else after.strip()
    if not left:
        return Named(_best(fitting, rest), kind=True, plural=plural)
    place = place_in(left)
    if not place:
        return Named()
    here = [step for step in fitting if touches(step, place)] or [step for step in fitting if _comes_from(step, place, rest.plan)]
    return Named(_best(here, rest), place=place, kind=True, plural=plural)


def _comes_from(step: Step, place: str, plan: Plan) -> bool:
    """Is it made from the result of a step that touches the place? "The summary of a.md"."""
    used = sources(step.args)
    return bool(find(step.args)) and any(each.id in used and touches(each, place) for each in plan.steps)


def _best(steps: list[Step], rest: Rest) -> tuple[Step, ...]:
    """Those that have not started, if there are any."""
    open_now = tuple(step for step in steps if step.id not in rest.fixed)
    return open_now or tuple(steps)


def _is_about(word: str, tool: str) -> bool:
    """ "deploying" and "the deployment" mean site.deploy; "ready" does not mean files.read."""
    stem = _stem(word)
    return len(stem) >= SHORTEST and any(_stem(part) == stem for part in re.split(r"[^a-z0-9]+", tool.casefold())[-2:])


def _stem(word: str) -> str:
    return re.sub(r"(?:ing|ment|ion|es|s|e)$", "", word.casefold())

"""Everyday wishes about a plan that is there already: "also post it to #general", "without the summary", "read b.md instead".

Read one clause at a time against the rest as it stands. What leaves steps out, keeps only some, or puts something in a step's place is
tried first; whatever else the phrases of `rules` understand is added. Several steps that could be meant are a question, never a choice.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from bot.core import exact
from bot.core.catalogue import Catalogue, Effect
from bot.core.drafts import Rest
from bot.core.exact import LOST, Applied, Faults
from bot.core.ids import StepId
from bot.core.plan import Step
from bot.core.wording import joined, named
from bot.llm.everyday import rules
from bot.llm.everyday.clauses import bare
from bot.llm.everyday.naming import PLACES, Named, kind_of, named_in, place_in, touches, without
from bot.llm.everyday.places import CHANNEL
from bot.llm.everyday.scene import NotRead, Scene

LONGEST = 400  # characters of a clause about steps; words to be sent may be longer
TOO = re.compile(r"[, ]+(?:too|as well|also|in addition)$|^(?:in addition|on top of that),? ", re.IGNORECASE)
ORDERED = re.compile(r"\W*(?:(?:and|ok|okay|please|now|but)\W+)*(?:then|after that|afterwards|finally|lastly|next)\b", re.IGNORECASE)
JUST = re.compile(r"\W*(?:(?:and|please|no)\W+)*just\b(?!\W+also\b)", re.IGNORECASE)
REST = re.compile(
    r"(?:all )?(?:(?:the |of the )?(?:rest|remaining steps|other steps|others)|everything else|anything else|what is left)", re.IGNORECASE
)
SEND_IT = re.compile(
    r"(?:post|send|share|say|announce|put|write|save|store)(?: (?:it|that|this|them|everything|the (?:summary|text|message|result)))?"
    r" (?=(?:to|in|into|on|as) )",
    re.IGNORECASE,
)
SENDS, SAVES = ("slack.post_message",), ("files.write",)


@dataclass(frozen=True)
class Stage:
    """What a clause is read against."""

    rest: Rest
    catalogue: Catalogue
    clause: str  # as written
    taken: frozenset[str] = frozenset()  # ids that no new step may get, beside those of the plan


Done = Applied | Faults
Rule = Callable[[re.Match[str], Stage], Done | None]


def read(clause: str, rest: Rest, catalogue: Catalogue, *, taken: frozenset[str] = frozenset()) -> Done | None:
    """The new rest, or why it cannot be so; None if no phrase fits. Raises `NotRead` where the wish is clear but lacks something."""
    stage = Stage(rest, catalogue, clause, taken)
    words = bare(clause)
    for pattern, rule in PHRASES if len(words) <= LONGEST else ():
        if (match := pattern.fullmatch(words)) and (done := rule(match, stage)) is not None:
            return done
    return _add(words, stage)


def _skip(match: re.Match[str], stage: Stage) -> Done | None:
    return _left_out(match["what"], stage, many=False)


def _do_not(match: re.Match[str], stage: Stage) -> Done | None:
    return _left_out(match["what"], stage, many=True)


def _remove(match: re.Match[str], stage: Stage) -> Done | None:
    """ "remove step 3", but "remove notes/old.md" is about a file."""
    return None if place_in(match["what"]) else _left_out(match["what"], stage, many=False)


def _left_out(words: str, stage: Stage, *, many: bool) -> Done | None:
    if REST.fullmatch(words.strip()):
        return exact.keep((), stage.rest, stage.catalogue)
    found = named_in(words, stage.rest)
    if not found.steps:
        return None
    if not (many or found.plural):
        _the_one(found.steps, "skip")
    return exact.skip(found.steps, stage.rest, stage.catalogue)


def _stop_after(match: re.Match[str], stage: Stage) -> Done | None:
    found = named_in(match["what"], stage.rest)
    return exact.keep(found.steps, stage.rest, stage.catalogue) if found.steps else None


def _hold_before(match: re.Match[str], stage: Stage) -> Done | None:
    """A breakpoint before a step that has not started; "ask me before you post" as well."""
    found = named_in(re.sub(r"^(?:you|it|we) ", "", match["what"], flags=re.IGNORECASE), stage.rest)
    if not found.steps:
        return None
    if faults := exact.untouchable(found.steps, stage.rest, "cannot be held any more"):
        return faults
    kept = tuple(step.model_copy(update={"breakpoint": step.breakpoint or step in found.steps}) for step in exact.still_open(stage.rest))
    return exact.checked(kept, stage.rest, stage.catalogue)


def _only(match: re.Match[str], stage: Stage) -> Done | None:
    """ "only post it to #ops" is about where it is posted; "only the summary" about all that is done."""
    found = named_in(match["what"], stage.rest)
    if not (found.place and found.kind):
        return exact.keep(found.steps, stage.rest, stage.catalogue) if found.steps else _only_there(found, match["what"], stage)
    return _only_there(found, match["what"], stage)


def _only_there(found: Named, words: str, stage: Stage) -> Done | None:
    """Others that do the same elsewhere are left out; if none does it there, the only one is sent there."""
    alike = named_in(words.split()[0], stage.rest).steps if words.split() else ()
    place = found.place or place_in(SEND_IT.sub("", words))
    if not (alike and place):
        return None
    tools = {step.tool for step in (found.steps or alike)}
    others = [
        step for step in exact.still_open(stage.rest) if step.tool in tools and step not in found.steps and kind_of(place) in step.args
    ]
    if found.steps:
        return exact.skip(others, stage.rest, stage.catalogue)
    return exact.replace([_moved(_the_one(others, "instead"), place)], stage.rest, stage.catalogue) if others else None


def _instead(match: re.Match[str], stage: Stage) -> Done | None:
    """ "post it to #general instead (of #ops)", "read b.md instead of a.md", "#general, not #ops"."""
    wanted, unwanted = match["do"].strip(" ,"), match.groupdict().get("but") or ""
    old = named_in(unwanted, stage.rest).steps if unwanted else ()
    if unwanted and not old:
        return None
    place = place_in(SEND_IT.sub("", wanted))
    found = (old or _at_such_places(wanted, place, stage.rest)) if place else ()
    if found and all(kind_of(place) in step.args for step in found):
        return exact.replace([_moved(_the_one(found, "instead"), place)], stage.rest, stage.catalogue)
    return _done_instead(wanted, old, stage)


def _at_such_places(wanted: str, place: str, rest: Rest) -> tuple[Step, ...]:
    """The steps that could be sent to another place of this kind; those that have not started, if there are any."""
    tools = () if place_in(wanted) else SENDS if kind_of(place) == "channel" else SAVES
    fit = [step for step in rest.plan.steps if kind_of(place) in step.args and (not tools or step.tool in tools)]
    there = [step for step in fit if not touches(step, place) and rest.statuses.get(step.id) not in LOST]
    return tuple(step for step in there if step.id not in rest.fixed) or tuple(there)


def _done_instead(wanted: str, old: Collection[Step], stage: Stage) -> Done | None:
    """Another call in the place of one of the same tool, or of the only step with an effect."""
    first = _understood(wanted, stage, exact.still_open(stage.rest))
    if not first:
        return None
    tool = first[-1].tool
    same = [step for step in (old or _viable(stage.rest)) if step.tool == tool or old]
    same = [step for step in same if step.id not in stage.rest.fixed] or same
    if not same:
        effects = [step for step in exact.still_open(stage.rest) if _effect(step, stage.catalogue) is not Effect.READ]
        same = effects if len(effects) == 1 else []
    if not same:
        raise NotRead("instead of which step? Name it, as in: … instead of step 3")
    gone = _the_one(same, "instead")
    steps = _understood(wanted, stage, without(_viable(stage.rest), stage.rest.plan, gone)) or first
    if gone.id in stage.rest.fixed and _effect(gone, stage.catalogue) is Effect.READ:
        return _used_instead(gone, steps, stage)
    if steps[-1].tool == gone.tool:
        return _swapped(gone, steps, stage)
    fewer = exact.skip([gone], stage.rest, stage.catalogue)
    return _added(steps, exact.followed(stage.rest, fewer.plan), stage) if isinstance(fewer, Applied) else fewer


def _swapped(gone: Step, steps: tuple[Step, ...], stage: Stage) -> Done:
    """The last of the new steps takes the place of the old one; what it needs comes in beside it."""
    *before, last = steps
    if faults := exact.untouchable([gone], stage.rest, "cannot be replaced"):
        return faults
    new = exact.in_place(gone, last.model_copy(update={"id": gone.id, "depends_on": ()}))
    kept = tuple(new if step.id == gone.id else step for step in exact.still_open(stage.rest))
    return exact.checked((*kept, *before), stage.rest, stage.catalogue, changed=[step.id for step in (*before, new)])


def _used_instead(gone: Step, steps: tuple[Step, ...], stage: Stage) -> Done:
    """What was read stays read, but what is still to come uses another result. Where nothing uses it any more, it is too late."""
    users = [step for step in exact.still_open(stage.rest) if gone.id in step.needs]
    if not users or steps[-1].tool != gone.tool:
        return exact.untouchable([gone], stage.rest, "cannot be replaced")
    new = [step.model_copy(update={"depends_on": ()}) for step in steps]
    turned = {step.id: _turned(step, gone.id, new[-1].id) for step in users}
    kept = tuple(turned.get(step.id, step) for step in exact.still_open(stage.rest))
    changed = [*turned, *(step.id for step in new)]
    return exact.checked((*new, *kept), stage.rest, stage.catalogue, changed=changed)


def _turned(step: Step, old: str, new: str) -> Step:
    """The step with its references to one step turned to another."""
    reference = re.compile(rf"(?<=\{{\{{)(\s*){re.escape(old)}(?=[\s.\[}}])")
    waits = tuple(StepId(new) if name == old else name for name in step.depends_on)
    return step.model_copy(update={"args": _replaced(step.args, reference, new), "depends_on": waits})


def _replaced(value: Any, reference: re.Pattern[str], new: str) -> Any:
    if isinstance(value, str):
        return reference.sub(rf"\g<1>{new}", value)
    if isinstance(value, dict):
        return {name: _replaced(item, reference, new) for name, item in value.items()}
    return [_replaced(item, reference, new) for item in value] if isinstance(value, list | tuple) else value


def _moved(step: Step, place: str) -> Step:
    """The same call for another place."""
    name = kind_of(place) if kind_of(place) in step.args else next((name for name in PLACES if name in step.args), "")
    if not name:
        raise NotRead(f"step {named(step)} has no {kind_of(place)} that could change")
    return step.model_copy(update={"args": {**step.args, name: place}})


def _add(words: str, stage: Stage) -> Done | None:
    said = TOO.sub("", words)
    sends = [step for step in _viable(stage.rest) if step.tool in SENDS]
    channel = place_in(said)
    if channel.startswith("#") and sends and (said != words or re.match(r"\W*(?:and |also )", stage.clause, re.IGNORECASE)):
        again = _moved(sends[-1], channel).model_copy(update={"number": 0, "depends_on": (), "breakpoint": False})
        scene = _scene(stage, ()).add(again.tool, "post", **again.args)
        return exact.add(scene.steps, stage.rest, stage.catalogue)
    steps = _understood(said, stage, _viable(stage.rest))
    if not steps:
        return None
    if all(step.tool == "time.wait" for step in steps):
        raise NotRead("to hold the run, say pause; to add a wait: add time.wait seconds=60")
    if JUST.match(stage.clause):
        raise NotRead('say "also …" to add it, or "only …" to leave the others out', try_instead=f"also {said}")
    return _added(steps, stage.rest, stage)


def _added(steps: tuple[Step, ...], rest: Rest, stage: Stage) -> Done:
    """What is merely also wanted waits for what it uses; what was said with "then", and what takes things away, for all before it."""
    in_order = bool(ORDERED.match(stage.clause))
    done = {step.id for step in rest.plan.steps if rest.statuses.get(step.id) == "succeeded"}
    old = {step.id for step in rest.plan.steps}
    new = []
    for step in steps:
        stays = in_order or step.tool == "time.wait" or _effect(step, stage.catalogue) in (Effect.DELETE, Effect.EXECUTE)
        waits = tuple(name for name in step.depends_on if name not in done and (stays or name not in old))
        new.append(step.model_copy(update={"depends_on": waits}))
    return exact.add(new, rest, stage.catalogue)


def _understood(words: str, stage: Stage, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The new steps that the words mean beside these; none if no phrase fits."""
    scene = replace(_scene(stage, steps), words=words)
    after = rules.read(words, scene)
    return after.steps[len(scene.steps) :] if after else ()


def _scene(stage: Stage, steps: tuple[Step, ...]) -> Scene:
    return Scene(stage.catalogue, steps, bare(stage.clause), stage.taken | {step.id for step in stage.rest.plan.steps})


def _viable(rest: Rest) -> tuple[Step, ...]:
    """The steps that have a result, or may come to have one."""
    return tuple(step for step in rest.plan.steps if rest.statuses.get(step.id) not in (*LOST, "failed"))


def _effect(step: Step, catalogue: Catalogue) -> Effect:
    return catalogue[step.tool].effect if step.tool in catalogue else Effect.EXECUTE


def _the_one(steps: Collection[Step], verb: str) -> Step:
    """The only one. Several are a question."""
    first, *more = steps
    if more:
        raise NotRead(
            f"which one: {joined(map(named, steps)).replace(' and ', ' or ')}? Say it by number, such as {verb} {first.number or first.id}"
        )
    return first


def _phrases(*table: tuple[str, Rule]) -> tuple[tuple[re.Pattern[str], Rule], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE | re.DOTALL), rule) for pattern, rule in table)


USE = r"(?:(?:use|take|go with|switch to|make (?:it|that)) )?"
PHRASES = _phrases(
    (rf"instead of (?P<but>[^,]+), {USE}(?P<do>.+)", _instead),
    (rf"{USE}(?P<do>.+?),? instead of (?P<but>.+)", _instead),
    (rf"{USE}(?P<do>.+?),? instead", _instead),
    (rf"instead,? (?!of\b){USE}(?P<do>.+)", _instead),
    (r"(?:use|take|go with|switch to|make (?:it|that)) (?P<do>\S+)", _instead),
    (r"not (?:to |in |from )?(?P<but>\S+?),? but (?P<do>.+)", _instead),
    (rf"(?P<do>.+?),? (?:and )?not (?P<but>(?:to |in |on )?(?:{CHANNEL}|\S+))", _instead),
    (r"(?:change|switch|set) the (?:channel|file|path|address|url|place|target) to (?P<do>\S+)", _instead),
    (r"(?:change|switch|move|redirect) (?P<but>.+?) (?:to|into) (?P<do>\S+)", _instead),
    (r"replace (?P<but>.+?) (?:by|with) (?P<do>.+)", _instead),
    (r"(?:stop|end|finish|halt|quit)(?: it| right| there)* after (?P<what>.+)", _stop_after),
    (r"(?:pause|wait|hold|break|(?:ask|check with) (?:me|us)|let (?:me|us) (?:see|look)) before (?P<what>.+)", _hold_before),
    (r"(?:do )?nothing (?:more )?after (?P<what>.+)", _stop_after),
    (r"(?:only|nothing (?:but|except)) (?P<what>.+)", _only),
    (r"(?P<what>.+?),? (?:only|and nothing else)", _only),
    (r"(?:skip|omit|leave out|leave away|do without|without|forget(?: about)?|drop|cancel|take out) (?P<what>.+)", _skip),
    (r"leave (?P<what>.+) (?:out|away)", _skip),
    (r"(?:remove|delete) (?P<what>.+)", _remove),
    (
        r"(?:do not|don['’]?t|never|no longer|no need (?:to|for)|no|stop)(?: do(?:ing)?)? (?P<what>.+?)(?: (?:any ?more|at all|yet))?",
        _do_not,
    ),
    (r"(?P<what>.+?) (?:is not|are not|isn['’]?t|aren['’]?t) (?:needed|necessary|wanted)(?: any ?more)?", _skip),
)

"""Replies that change the rest of a run with no model: `skip STEP`, `add …`, `instead …`, `stop after STEP`, `never mind`.

A form is a whole message, case and a final dot aside, in backticks or not. STEP is a number or an id; what is added or put in its place is
plain notation, a line or several. A bare line of notation adds a step, or takes the place of the step that has its id; what it does not
say about how the step runs stays as it was. What has started is never touched, and nothing is guessed: a step or tool that does not exist
is a fault that names the nearest one.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from bot.core import notation
from bot.core.arguments import closest
from bot.core.catalogue import Catalogue
from bot.core.drafts import Fault, Rest
from bot.core.ids import StepId
from bot.core.plan import Plan, Step
from bot.core.references import sources
from bot.core.validation import validate
from bot.core.wording import cut, joined, named, visible

Verb = Literal["skip", "stop after", "add", "instead", "written", "never mind"]
Faults = tuple[Fault, ...]

NAME = r"#?[A-Za-z0-9][A-Za-z0-9_-]{0,39}"
AND = r"(?:\s*[,&]\s*(?:and\s+)?|\s+and\s+)"
ABOUT_STEPS = re.compile(rf"(?P<verb>skip|stop\s+after)\s+(?:steps?\s+)?(?P<names>{NAME}(?:{AND}{NAME})*)", re.IGNORECASE)
WITH_STEPS = re.compile(r"(?P<verb>add|instead(?:\s+of)?)(?:\s+steps?)?(?:\s*:(?=\s*[A-Za-z][\w-]*:)|(?=\s))\s*", re.IGNORECASE)
PLACED = re.compile(r"(?:#?(?P<number>\d{1,9})\s*(?::|\s)|(?P<id>[A-Za-z][\w-]{0,39})\s*(?::(?!/)|\s))\s*(?=[A-Za-z_])", re.ASCII)
FIRST_TOOL = re.compile(r"(?:[A-Za-z][\w-]*:\s*)?([^\s;]+)")
WITH_ID = re.compile(r"[A-Za-z][\w-]*\s*:(?!/)")
MARKS = re.compile(r"[`\"'“”„‘’«»*]")
MOST_STEPS = 500  # of any plan; how many a policy allows is for whoever knows the policy
WITHDRAWALS = frozenset(
    ("never mind", "nevermind", "nvm", "never mind that", "nevermind that", "forget it", "forget that", "forget about it", "scratch that")
    + ("ignore that", "disregard that", "as you were", "go on as before", "as before", "vergiss es", "schon gut", "laisse tomber")
    + ("oublie", "oublie ça", "olvídalo", "olvidalo", "déjalo")
)
POLITE = frozenset(
    (
        "please",
        "sorry",
        "ok",
        "okay",
        "oh",
        "ah",
        "actually",
        "no",
        "thanks",
        "thank",
        "you",
        "pullcord",
        "bitte",
        "danke",
        "merci",
        "gracias",
    )
)
STARTED = {
    "succeeded": "has run already and",
    "running": "is running and",
    "in_doubt": "was started, and nobody knows how it ended, so it",
    "skipped": "was skipped already and",
    "cancelled": "was cancelled already and",
    "failed": "has failed, what needs it was left out for that, and it",
    "pending": "is named by a step that was left out, so it",
}
LOST = ("skipped", "cancelled")


@dataclass(frozen=True)
class Form:
    """One reply in one of the forms. `steps`: the words that name steps, as they were said."""

    verb: Verb
    steps: tuple[str, ...] = ()
    notation: str = ""


@dataclass(frozen=True)
class Applied:
    """The whole new rest (no fixed step in it; it may be empty), and what goes with the change that nobody named."""

    plan: Plan
    says: str = ""  # "3 · brief and 4 · post go with it, since they use its result"


def read_form(text: str, *, tools: Collection[str] = ()) -> Form | None:
    """The form, if that is what the whole message is. `tools`: names that count as tools even where what follows them is not notation."""
    said = _bare(text)
    if is_withdrawal(said):
        return Form("never mind")
    if match := ABOUT_STEPS.fullmatch(MARKS.sub("", said).rstrip(" .!")):
        verb: Verb = "skip" if match["verb"].casefold() == "skip" else "stop after"
        return Form(verb, tuple(re.split(AND, match["names"], flags=re.IGNORECASE)))
    if match := WITH_STEPS.match(said):
        return _with_steps(match["verb"].casefold(), _bare(said[match.end() :]), tools)
    called = FIRST_TOOL.match(said)
    is_call = notation.looks_like(said) and called is not None and ("=" in said or called[1] in tools)
    return Form("written", notation=said) if is_call else None


def is_withdrawal(text: str) -> bool:
    """Does the whole message say that an earlier one is taken back?"""
    words = re.findall(r"[^\W_]+", text.casefold()) if len(text) < 80 else []
    return " ".join(words) in WITHDRAWALS or " ".join(word for word in words if word not in POLITE) in WITHDRAWALS


def apply(form: Form, rest: Rest, catalogue: Catalogue, *, taken: Collection[str] = ()) -> Applied | Faults:
    """The new rest, or what is wrong, in words. Pure; never raises. Steps that stay keep id and number, new ones have number 0.

    `taken`: ids that no step gets by itself, beside those of the plan.
    """
    if form.verb == "never mind":
        return Applied(rest.plan.model_copy(update={"steps": still_open(rest)}))
    meant = _named(form.steps, rest)
    if not isinstance(meant, list):
        return meant
    if form.verb in ("skip", "stop after"):
        return (skip if form.verb == "skip" else keep)(meant, rest, catalogue)
    if form.verb == "instead" and not meant and not WITH_ID.match(form.notation):
        return _nameless(form, rest)
    text = f"{meant[0].id}: {form.notation}" if meant else form.notation
    steps = _parsed(text, {*taken, *(step.id for step in rest.plan.steps)}, catalogue)
    return PUT[form.verb](steps, rest, catalogue) if isinstance(steps, list) else steps


def followed(rest: Rest, plan: Plan) -> Rest:
    """What stands after a new rest was made: the next reply is read against that."""
    fixed = [step for step in rest.plan.steps if step.id in rest.fixed]
    return rest.model_copy(update={"plan": rest.plan.model_copy(update={"steps": (*fixed, *plan.steps)})})


def still_open(rest: Rest) -> tuple[Step, ...]:
    """The steps that have not started, in the plan's order: the rest as it stands."""
    return tuple(step for step in rest.plan.steps if step.id not in rest.fixed)


def resolve(word: str, plan: Plan) -> Step | None:
    """The step that a number or an id means; an id in another case counts if no other id is like it."""
    word = word.strip().lstrip("#")
    if word.isascii() and word.isdigit():
        return next((step for step in plan.steps if step.number and step.number == int(word[:9])), None)
    alike = [step for step in plan.steps if step.id.casefold() == word.casefold()]
    exact = next((step for step in alike if step.id == word), None)
    return exact or (alike[0] if len(alike) == 1 else None)


def skip(steps: Collection[Step], rest: Rest, catalogue: Catalogue) -> Applied | Faults:
    """Without these. What uses their results goes with them; what only waited for them waits for what they waited for."""
    if faults := untouchable(steps, rest, "cannot be left out"):
        return faults
    gone = {step.id for step in steps}
    while more := {step.id for step in still_open(rest) if step.id not in gone and gone.intersection(sources(step.args))}:
        gone |= more
    along = [step for step in still_open(rest) if step.id in gone and step not in steps]
    does, its = ("goes", "it uses") if len(along) == 1 else ("go", "they use")
    says = f"{joined(map(named, along))} {does} with it, since {its} its result" if along else ""
    kept = tuple(_rewired(step, gone, rest.plan) for step in still_open(rest) if step.id not in gone)
    return checked(kept, rest, catalogue, says=says)


def keep(steps: Collection[Step], rest: Rest, catalogue: Catalogue) -> Applied | Faults:
    """Only these, what they need, and what is fixed."""
    needed = {step.id for step in (*steps, *rest.plan.steps) if step in steps or step.id in _settled(rest)}
    while more := {name for step in rest.plan.steps if step.id in needed for name in step.needs} - needed:
        needed |= more
    dropped = [step for step in still_open(rest) if step.id not in needed]
    says = f"{joined(map(named, dropped))} {'is' if len(dropped) == 1 else 'are'} left out" if dropped else "nothing comes after it"
    return checked(tuple(step for step in still_open(rest) if step.id in needed), rest, catalogue, says=says)


def add(steps: Collection[Step], rest: Rest, catalogue: Catalogue) -> Applied | Faults:
    """These as well; none of their ids may be in the plan."""
    ids = {step.id for step in rest.plan.steps}
    twice = [step for step in steps if step.id in ids]
    if twice:
        fix = "give the new one another id, or write instead to replace that step"
        return tuple(Fault(step=step.id, field="id", says=f"there is a step '{step.id}' already", fix=fix) for step in twice)
    return checked((*still_open(rest), *steps), rest, catalogue, changed=[step.id for step in steps])


def replace(steps: Collection[Step], rest: Rest, catalogue: Catalogue) -> Applied | Faults:
    """These in the place of the steps that have their ids; what needs them must still fit."""
    new = {step.id: step for step in steps}
    old = [step for step in rest.plan.steps if step.id in new]
    if faults := untouchable(old, rest, "cannot be replaced"):
        return faults
    kept = tuple(in_place(step, new[step.id]) if step.id in new else step for step in still_open(rest))
    return checked(kept, rest, catalogue, changed=list(new))


def in_place(old: Step, new: Step) -> Step:
    """The new step under the old one's number. What it does not say of its own (after, !break, and for the same tool the rest) stays."""
    kept = {"number": old.number, "breakpoint": old.breakpoint or new.breakpoint, "depends_on": new.depends_on or old.depends_on}
    if new.tool == old.tool:
        own = ("purpose", "timeout_s", "retries")
        kept |= {name: getattr(new, name) or getattr(old, name) for name in own}
        kept["on_failure"] = old.on_failure if new.on_failure == "ask" else new.on_failure
    return new.model_copy(update=kept)


def checked(
    steps: tuple[Step, ...], rest: Rest, catalogue: Catalogue, *, changed: Collection[str] = (), says: str = ""
) -> Applied | Faults:
    """The new rest if the whole plan would be sound with it. `changed`: the steps that were written now; others can only stop fitting."""
    whole = followed(rest, rest.plan.model_copy(update={"steps": steps})).plan
    if not whole.steps:
        return (Fault(says="no step would be left", fix="press Cancel to drop the plan"),)
    faults = [*_of_lost(steps, changed, rest), *validate(whole, catalogue, max_steps=MOST_STEPS, done=rest.fixed)]
    if not faults:
        return Applied(rest.plan.model_copy(update={"steps": steps}), says)
    steps_by_id = {step.id: step for step in whole.steps}
    return tuple(fault if fault.step is None or fault.step in changed else _unfit(fault, steps_by_id) for fault in faults)


def _bare(text: str) -> str:
    """Without blanks and the backticks around the whole of it."""
    said = text.strip().strip("\ufeff").strip()
    for fence in ("```", "`"):
        if len(said) > 2 * len(fence) and said.startswith(fence) and said.endswith(fence) and said.count(fence) == 2:
            return said[len(fence) : -len(fence)].strip()
    return said


def _with_steps(verb: str, call: str, tools: Collection[str]) -> Form | None:
    """`add …` or `instead …`, if what follows is a call; of "instead 4 slack.post_message …" the 4 is taken off."""
    steps: tuple[str, ...] = ()
    placed = PLACED.match(call) if verb != "add" else None
    if placed and _is_call(call[placed.end() :], tools):
        steps, call = (placed["number"] or placed["id"],), call[placed.end() :]
    return Form("add" if verb == "add" else "instead", steps, call) if _is_call(call, tools) else None


def _is_call(text: str, tools: Collection[str]) -> bool:
    called = FIRST_TOOL.match(text)
    return notation.looks_like(text) or (called is not None and called[1] in tools)


def _instead(steps: Collection[Step], rest: Rest, catalogue: Catalogue) -> Applied | Faults:
    known = [(step, resolve(step.id, rest.plan)) for step in steps]
    if unknown := [_unknown(step.id, rest.plan) for step, old in known if old is None]:
        return tuple(unknown)
    return replace([step.model_copy(update={"id": old.id}) for step, old in known if old is not None], rest, catalogue)


def _written(steps: Collection[Step], rest: Rest, catalogue: Catalogue) -> Applied | Faults:
    """Each line for itself: it takes the place of the step that has its id, or is a new one."""
    written = {step.id: step for step in steps}
    old = [step for step in rest.plan.steps if step.id in written]
    if faults := untouchable(old, rest, "cannot be replaced"):
        return faults
    kept = tuple(in_place(step, written[step.id]) if step.id in written else step for step in still_open(rest))
    new = tuple(step for step in steps if step.id not in {each.id for each in old})
    return checked((*kept, *new), rest, catalogue, changed=list(written))


PUT: Mapping[str, Callable[[list[Step], Rest, Catalogue], Applied | Faults]] = {"add": add, "instead": _instead, "written": _written}


def _nameless(form: Form, rest: Rest) -> Faults:
    near = [str(step.id) for step in still_open(rest) if step.tool == form.notation.split(maxsplit=1)[0]] or ["post"]
    fix = f"write its id first: instead {near[0]}: {cut(form.notation, 60)}"
    return (Fault(says="which step is to be replaced is not said", fix=fix),)


def _parsed(text: str, taken: Collection[str], catalogue: Catalogue) -> list[Step] | Faults:
    try:
        steps = notation.parse_steps(text, used=taken, catalogue=catalogue)
    except notation.NotationError as error:
        return error.faults
    twice = [step for place, step in enumerate(steps) if step.id in {other.id for other in steps[:place]}]
    return tuple(Fault(step=step.id, field="id", says=f"'{step.id}' stands there twice", fix="keep one") for step in twice) or list(steps)


def _named(words: Collection[str], rest: Rest) -> list[Step] | Faults:
    """The steps of those names, each once; faults for the names of none."""
    found = {word: resolve(word, rest.plan) for word in words}
    lost = tuple(_unknown(word, rest.plan) for word, step in found.items() if step is None)
    return lost or list({step.id: step for step in found.values() if step is not None}.values())


def _unknown(word: str, plan: Plan) -> Fault:
    near = closest(word, [step.id for step in plan.steps])
    known = joined(named(step) for step in plan.steps) if plan.steps else "none"
    fix = f"did you mean {named(plan.step(near))}?" if near else f"the steps are {cut(known, 200)}"
    return Fault(says=f"there is no step '{visible(cut(word, 40))}'", fix=fix)


def _settled(rest: Rest) -> set[StepId]:
    """The fixed steps, and failed ones that a fixed step still names: they were left out for it."""
    fixed = set(rest.fixed)
    return fixed | {name for step in rest.plan.steps if step.id in fixed for name in step.needs}


def untouchable(steps: Collection[Step], rest: Rest, cannot: str) -> Faults:
    """Faults for the steps that have started."""
    settled = _settled(rest)
    fix = "only steps that have not started can change"
    touched = [(step, STARTED.get(rest.statuses.get(step.id, ""), "has started and")) for step in steps if step.id in settled]
    return tuple(Fault(says=f"step {named(step)} {state} {cannot}", fix=fix) for step, state in touched)


def _rewired(step: Step, gone: Collection[str], plan: Plan) -> Step:
    """The step waiting no more for what is gone, but for what that waited for."""
    if not set(step.depends_on).intersection(gone):
        return step
    needs = {each.id: each.needs for each in plan.steps}
    waits, seen = list(step.depends_on), list[StepId]()
    while waits:
        name = waits.pop(0)
        if name not in seen:
            seen.append(name)
            waits += needs.get(name, ()) if name in gone else ()
    return step.model_copy(update={"depends_on": tuple(name for name in seen if name not in gone and name != step.id)})


def _of_lost(steps: Collection[Step], changed: Collection[str], rest: Rest) -> list[Fault]:
    """A new step that uses what never came about could only be skipped."""
    lost = {step.id: step for step in rest.plan.steps if rest.statuses.get(step.id) in LOST}
    return [
        Fault(step=step.id, says=f"it needs step {named(lost[name])}, which was {rest.statuses[name]}", fix="use another step's result")
        for step in steps
        if step.id in changed
        for name in step.needs
        if name in lost
    ]


def _unfit(fault: Fault, steps: Mapping[StepId, Step]) -> Fault:
    """A fault of a step that nobody has touched: it no longer fits."""
    step = steps.get(StepId(fault.step or ""))
    if step is None:
        return fault
    fix = "change it in the same reply, one line each, or skip it first"
    return Fault(says=f"step {named(step)} would no longer fit: {fault.says}", fix=fix)

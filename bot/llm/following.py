"""Replies followed without a model: exact forms, plain notation, and everyday phrases read against the plan as it stands.

One reply after another, each against what the one before has left; the later one counts. As with an ask, one part that is not understood
means no plan, and every part is given back with what it was taken for. Nothing that is fixed is ever in the draft.
"""

import re
from dataclasses import dataclass, replace

from pydantic import ValidationError

from bot.core import exact, notation
from bot.core.catalogue import Catalogue
from bot.core.characters import cut
from bot.core.comparison import compare
from bot.core.drafts import Brief, Draft, Fault, Part, Rest
from bot.core.exact import Applied, Faults
from bot.core.plan import Plan
from bot.core.wording import joined
from bot.llm.everyday import redirects
from bot.llm.everyday.clauses import bare, split, split_weakly, tidy
from bot.llm.everyday.closest import closest
from bot.llm.everyday.scene import NotRead

LONGEST = 4_000  # characters; longer replies are not everyday phrases
LONGEST_FORM = 12_000  # ... and more notation than this belongs in the edit form
MOST_WISHES = 20  # in one reply
FORMS = "say skip STEP, add STEP-IN-NOTATION, instead STEP-IN-NOTATION, stop after STEP, or never mind"
NOTHING = "nothing is left to do"
# How people begin to say something else; "no" counts with a comma only ("no summary" is a wish).
OPENING = re.compile(
    r"(?:(?:no|nope|yes|yeah|wait|great|thanks|perfect|cool|good|hm+|ah|oh|well|sorry|actually)\s*[,.!:;…]+\s*|(?:sorry|actually|but)\s+)+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Followed:
    """How far it has come: the rest as the replies so far have it, how they were read, and what is wrong."""

    start: Rest
    rest: Rest
    parts: tuple[Part, ...] = ()
    faults: Faults = ()

    @property
    def taken(self) -> frozenset[str]:
        """Ids that no new step may get: a step that was left out a moment ago does not come back as another."""
        return frozenset((*self.start.taken, *(step.id for step in self.start.plan.steps)))


def follow(brief: Brief) -> Draft:
    """The rest as the replies want it; or the plan under review as its reviewers do. Without a plan if any part was not understood."""
    if brief.rest is not None:
        start, said = brief.rest, [reply.text for reply in brief.rest.replies]
    elif brief.current is not None:
        start, said = Rest(plan=brief.current), list(brief.changes[-1:])  # the plan follows the earlier ones already
    else:
        raise ValueError("there is no plan to change")
    here = Followed(start, start)
    for text in said:
        here = _one(text, here, brief)
    if not here.parts or here.faults or not all(part.understood for part in here.parts):
        return _not_followed(here)
    plan = here.rest.plan.model_copy(update={"steps": exact.still_open(here.rest)})
    return Draft(raw=notation.print_plan(plan) or NOTHING, plan=plan, parts=here.parts)


def _not_followed(here: Followed) -> Draft:
    raw = "\n".join(f"{'✓' if part.understood else '?'} {part.notation or part.words}" for part in here.parts)
    nothing = () if here.parts else (Fault(says="nothing was said that could change the plan", fix=FORMS),)
    return Draft(raw=raw, parts=here.parts, faults=here.faults or nothing, suggestion=_suggestion(here.start))


def _suggestion(rest: Rest) -> str:
    """A reply that would be understood now."""
    left = exact.still_open(rest)
    return f"skip {left[-1].id}" if len(left) > 1 or (left and rest.fixed) else ""


def _one(text: str, here: Followed, brief: Brief) -> Followed:
    """One reply: a whole new plan, a form, or phrases."""
    if len(text) > LONGEST_FORM:
        return _lost(text, here, brief.catalogue, note=f"longer than {LONGEST_FORM:,} characters; edit the plan by hand")
    if brief.rest is None and (plan := _whole_plan(text, here.rest.plan, brief.catalogue)) is not None:
        return _taken(_line(text), plan, here, brief.catalogue)
    form = exact.read_form(text, tools=brief.catalogue)
    if form is None:
        return _phrases(text, here, brief.catalogue)
    if form.verb == "never mind":
        return replace(here, rest=here.start, parts=(*here.parts, Part(words=_line(text), understood=True, notation=form.verb)))
    done = exact.apply(form, here.rest, brief.catalogue, taken=here.taken)
    if form.verb in ("skip", "stop after") and not isinstance(done, Applied):
        other = _phrases(text, here, brief.catalogue)
        if not other.faults:
            return other
    return _taken(_line(text), done, here, brief.catalogue)


def _whole_plan(text: str, standing: Plan, catalogue: Catalogue) -> Applied | Faults | None:
    """Several lines of notation in a review are the whole plan anew; a step that keeps its id keeps its number."""
    form = exact.read_form(text, tools=catalogue)
    if form is None or form.verb != "written":
        return None
    try:
        plan = notation.parse(form.notation, goal=standing.goal, catalogue=catalogue)
    except notation.NotationError as error:
        return error.faults
    if len(plan.steps) < 2:
        return None
    numbers = {step.id: step.number for step in standing.steps}
    steps = tuple(step.model_copy(update={"number": numbers.get(step.id, 0)}) for step in plan.steps)
    return exact.checked(steps, Rest(plan=standing), catalogue, changed=[step.id for step in steps])


def _taken(words: str, done: Applied | Faults, here: Followed, catalogue: Catalogue) -> Followed:
    """What was read, in its place among what was read before."""
    if isinstance(done, Applied):
        after = exact.followed(here.rest, done.plan)
        part = Part(words=words, understood=True, notation=_as_forms(here.rest.plan, after.plan) or words)
        return replace(here, rest=after, parts=(*here.parts, part))
    part = Part(words=words, understood=False, note=cut("; ".join(map(str, done)), 500), closest=closest(words, catalogue))
    return replace(here, parts=(*here.parts, part), faults=(*here.faults, *done))


def _as_forms(before: Plan, after: Plan) -> str:
    """What has become of the plan, in the exact forms that would have done it."""
    found = compare(before, after)
    own = [name for name in found.changed if after.step(name) != before.step(name)]
    lines = [f"skip {before.step(name).number or name}" for name in found.removed]
    lines += [f"instead {notation.print_step(after.step(name), purposes=False)}" for name in own]
    lines += [f"add {notation.print_step(after.step(name), purposes=False)}" for name in found.added]
    return "; ".join(lines)


def _phrases(text: str, here: Followed, catalogue: Catalogue) -> Followed:
    """The reply clause by clause; of a clause that is not understood as a whole its pieces, if any of them is."""
    if len(text) > LONGEST:
        return _lost(text, here, catalogue, note=f"longer than {LONGEST:,} characters, which is too long to read without a model")
    said = tidy(text)
    opening = OPENING.match(said)
    clauses = [clause for clause in split(said[opening.end() :] if opening else said) if bare(clause)]
    if not 0 < len(clauses) <= MOST_WISHES:
        return _lost(text, here, catalogue, note=f"more than {MOST_WISHES} wishes at once" if clauses else "")
    for clause in clauses:
        here = _clause(clause, here, catalogue)
    return here


def _clause(clause: str, here: Followed, catalogue: Catalogue) -> Followed:
    whole = _read(clause, here, catalogue)
    pieces = [piece for piece in split_weakly(clause) if bare(piece)]
    if not 2 <= len(pieces) <= MOST_WISHES or len(whole.faults) == len(here.faults):
        return whole
    apart = here
    for piece in pieces:
        apart = _read(piece, apart, catalogue)
    return apart if any(part.understood for part in apart.parts[len(here.parts) :]) else whole


def _read(clause: str, here: Followed, catalogue: Catalogue) -> Followed:
    try:
        done = redirects.read(clause, here.rest, catalogue, taken=here.taken)
    except NotRead as lack:
        return _lost(clause, here, catalogue, note=lack.note, fix=f"say: {lack.try_instead}" if lack.try_instead else "")
    except ValidationError:  # a step that no plan could hold
        return _lost(clause, here, catalogue, note="it is too long for a step")
    return _lost(clause, here, catalogue) if done is None else _taken(_line(clause), done, here, catalogue)


def _lost(words: str, here: Followed, catalogue: Catalogue, *, note: str = "", fix: str = "") -> Followed:
    """Not understood: the closest tools, and the forms that always work."""
    near = closest(words, catalogue)
    tools = f"the closest tool{' is' if len(near) == 1 else 's are'} {joined(near)}" if near else ""
    fault = Fault(says=f"'{cut(_line(words), 120)}' is not understood" + (f": {note}" if note else ""), fix=fix or tools or FORMS)
    part = Part(words=_line(words), understood=False, note=note, closest=near)
    return replace(here, parts=(*here.parts, part), faults=(*here.faults, fault))


def _line(text: str) -> str:
    return cut(" ".join(text.split()).strip(" ,"), 200)

"""Is a plan sound? Everything that can be known before anybody looks at it, as faults that say where, what, and how to mend it.

Nothing is repaired and nothing is guessed: a near miss of a tool's name is named, not taken; "false" is text, not a no. Arguments are
judged by the tool's own schema (see `arguments`); here are the plan's own rules: names, references, loops, repeated work, sizes. Every
check is safe on any plan, loops included, so it runs before display, after edits and redirects, and on resume.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from bot.core import references
from bot.core.arguments import DEEPEST, check_args, closest, is_deep, items
from bot.core.catalogue import Catalogue, Effect, ToolSpec
from bot.core.drafts import Fault
from bot.core.plan import Plan, Step, canonical, cycle
from bot.core.references import Reference, find, syntax_faults

__all__ = ["check_args", "validate"]

LONGEST = 200_000  # characters of one argument: more than that nobody can read, so nobody can approve it
ROOT = re.compile(r'\s*(?:"([^"\\]+)"|([A-Za-z_][A-Za-z0-9_]*))\s*(\()?')


def validate(
    plan: Plan, catalogue: Catalogue, *, max_steps: int = 50, done: Collection[str] = (), secrets: Collection[str] | None = None
) -> list[Fault]:
    """Everything that is wrong with the plan; an empty list means valid. Never raises.

    `done`: steps that have run. One that says the same again is no fault: it takes the result that is there. `secrets`: the names that
    `{{secret:…}}` may have; None: they are not known here, and are judged later.
    """
    if not plan.steps:
        return [Fault(says="the plan has no steps", fix="add at least one step")]
    if len(plan.steps) > max_steps:
        return [Fault(says=f"the plan has {len(plan.steps)} steps, and {max_steps} are allowed", fix="do less, or do it in several runs")]
    unreadable = [fault for step in plan.steps for fault in _unreadable(step)]
    if unreadable:
        return unreadable
    return [
        *_repeated_names(plan),
        *(fault for step in plan.steps for fault in _check_step(step, plan, catalogue)),
        *(fault for step in plan.steps if step.id not in done for fault in _check_secrets(step, catalogue, secrets)),
        *_loops(plan),
        *_repeated_work(plan, catalogue, done),
    ]


def _check_step(step: Step, plan: Plan, catalogue: Catalogue) -> list[Fault]:
    spec = catalogue.get(step.tool)
    faults = [_unknown_tool(step.tool, catalogue)] if spec is None else _check_call(step, spec)
    faults += _check_needs(step, plan, catalogue)
    return [fault.model_copy(update={"step": step.id}) for fault in faults]


def _check_call(step: Step, spec: ToolSpec) -> list[Fault]:
    faults = check_args(spec, step.args, late=True)
    if step.retries and not spec.repeatable:
        says = f"{spec.name} may not be repeated by itself, since doing it twice would do it twice"
        faults.append(Fault(field="retries", says=says, fix="leave retries out"))
    return faults


def _unknown_tool(name: str, catalogue: Catalogue) -> Fault:
    """Names the closest tools; which of them is meant is for the planner or a person to say."""
    plain = {re.sub(r"[^a-z0-9]", "", known.casefold()): known for known in catalogue}
    near = difflib.get_close_matches(re.sub(r"[^a-z0-9]", "", name.casefold()), plain, n=3, cutoff=0.55)
    names = [plain[key] for key in near]
    fix = f"the closest {'is' if len(names) == 1 else 'are'} {', '.join(names)}" if names else "use a tool of the catalogue"
    return Fault(field="tool", says=f"the tool '{_brief(name)}' does not exist", fix=fix)


def _check_needs(step: Step, plan: Plan, catalogue: Catalogue) -> list[Fault]:
    """References and `depends_on`: each must name another step of this plan, wherever it is listed."""
    faults = []
    ids = [other.id for other in plan.steps]
    for name in step.depends_on:
        if name == step.id:
            faults.append(Fault(field="depends_on", says="the step waits for itself", fix=f"remove {name}"))
        elif name not in ids:
            faults.append(Fault(field="depends_on", says=f"there is no step '{name}'", fix=_use(name, ids, "remove it")))
    for argument, value in step.args.items():
        field = f"args.{argument}"
        faults += [Fault(field=field, says=said, fix="mend the reference") for said in syntax_faults({argument: value})]
        faults += [fault for reference in dict.fromkeys(find(value)) for fault in _check_reference(reference, field, step, plan, catalogue)]
    return faults


def _check_secrets(step: Step, catalogue: Catalogue, known: Collection[str] | None) -> list[Fault]:
    """Secrets that there are not, that stand where people or strangers would read them, or that share a text with a step's result."""
    faults, spec = [], catalogue.get(step.tool)
    for argument, value in step.args.items():
        named = references.secrets(value)
        field = f"args.{argument}"
        if named and spec is not None and not spec.takes_secrets(argument):
            where = f"put it into {' or '.join(spec.secrets)}" if spec.secrets else "leave it out"
            faults.append(Fault(step=step.id, field=field, says=f"{spec.name} must not be given a secret here", fix=where))
        absent = [name for name in named if known is not None and name not in known]
        told = [references.missing_secret(name, known or ()).partition("; ") for name in absent]
        faults += [Fault(step=step.id, field=field, says=says, fix=fix) for says, _, fix in told]
        if any(references.secrets(text) and find(text) for text in _strings(value)):
            says = "a secret and a reference to a step stand in one text"
            faults.append(Fault(step=step.id, field=field, says=says, fix="give each a value of its own"))
    return faults


def _check_reference(reference: Reference, field: str, step: Step, plan: Plan, catalogue: Catalogue) -> list[Fault]:
    others = {other.id: other for other in plan.steps if other.id != step.id}
    if reference.step == step.id:
        return [Fault(field=field, says=f"{reference} refers to the step itself", fix="refer to a step that runs before it")]
    source = next((other for name, other in others.items() if name == reference.step), None)
    if source is None:
        fix = _use(reference.step, [str(name) for name in others], "refer to a step of this plan")
        return [Fault(field=field, says=f"{reference} refers to a step that does not exist", fix=fix)]
    known = _fields(catalogue.get(source.tool))
    root = ROOT.match(reference.path)
    name = (root[1] or root[2]) if root and not root[3] else None
    if name is None or not known or name in known:
        return []
    says = f"{source.tool} returns no '{name}'; it returns {', '.join(known)}"
    near = closest(name, known)
    return [Fault(field=field, says=says, fix=f"use {Reference(source.id, near)}" if near else "use one of these")]


def _fields(spec: ToolSpec | None) -> list[str]:
    """The names that a tool's result is declared to have; empty if it may have others."""
    schema = spec.result_schema if spec else {}
    declared = schema.get("properties")
    return list(declared) if isinstance(declared, Mapping) and not schema.get("additionalProperties") else []


def _repeated_names(plan: Plan) -> list[Fault]:
    faults = []
    for key, name in (("id", "id"), ("number", "number")):
        seen: set[Any] = set()
        for step in plan.steps:
            value = getattr(step, key)
            if value and value in seen:
                faults.append(Fault(step=step.id, field=key, says=f"two steps have the {name} {value}", fix="give one of them another"))
            seen.add(value)
    return faults


def _loops(plan: Plan) -> list[Fault]:
    """A loop of several steps; that a step waits for itself is said where it does."""
    others = [(step, tuple(name for name in step.needs if name != step.id)) for step in plan.steps]
    bare = tuple(step.model_copy(update={"args": {}, "depends_on": needs}) for step, needs in others)
    loop = cycle(plan.model_copy(update={"steps": bare}))
    if not loop:
        return []
    fix = f"let {loop[0]} not wait for {loop[1]}"
    return [Fault(step=loop[0], field="depends_on", says=f"the steps wait for each other: {' → '.join(loop)}", fix=fix)]


def _repeated_work(plan: Plan, catalogue: Catalogue, done: Collection[str]) -> list[Fault]:
    """The same call twice. A read that waits for something else may be meant (before and after a change); an effect is not done twice."""
    faults, seen = [], dict[str, Step]()
    for step in plan.steps:
        spec = catalogue.get(step.tool)
        if spec is None:
            continue
        reads = spec.effect is Effect.READ
        work = canonical([step.tool, step.args, sorted(step.needs) if reads else None])
        first = seen.setdefault(work, step)
        if first is step or first.id == step.id or first.id in done:
            continue
        fix = f"refer to {first.id} instead" if reads else "remove one of the two, or let them differ"
        faults.append(Fault(step=step.id, field="tool", says=f"it does the same as step {first.id}", fix=fix))
    return faults


def _unreadable(step: Step) -> list[Fault]:
    """What nobody could read or store: too long, too deep, or not text. Comes first, since the other checks walk into the values."""
    faults = []
    for name, value in step.args.items():
        field = f"args.{_brief(str(name))}"
        if is_deep(value):
            faults.append(Fault(step=step.id, field=field, says=f"lists and objects are more than {DEEPEST} deep", fix="make it flatter"))
        elif (size := len(value if isinstance(value, str) else canonical(value))) > LONGEST:
            says = f"it has {size:,} characters, and nobody can read more than {LONGEST:,}"
            faults.append(Fault(step=step.id, field=field, says=says, fix="put less into one step"))
        elif any(_is_no_text(text) for text in _strings([name, value])):
            says = "it holds characters that are not text (NUL, or half of a pair)"
            faults.append(Fault(step=step.id, field=field, says=says, fix="remove them"))
    return faults


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    keys = [str(key) for key in value] if isinstance(value, Mapping) else []
    return [*keys, *(text for item in items(value) for text in _strings(item))]


def _is_no_text(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text) or "\0" in text


def _use(name: str, known: Iterable[str], otherwise: str) -> str:
    near = closest(name, known)
    return f"did you mean {near}?" if near else otherwise


def _brief(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"

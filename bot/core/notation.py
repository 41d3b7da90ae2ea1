"""Plain notation, both ways: one step per line (or `;` between steps), no model needed.

    config: files.read path=app/config.toml
    brief:  text.summarize text="{{config.text}}"  -- Make it short
    post:   slack.post_message channel=#ops text="{{brief.summary}}" after=config !break timeout=30 on_failure=stop retries=2

`id:` may be left out: then s1, s2, … that nobody else has. `-- words` at the end is the step's purpose. `after`, `timeout`, `on_failure`
and `retries` are the step's own; a tool's argument of that name is written in quotes: `"timeout"=5`. Quoting is that of `quoting`. With a
catalogue, a bare value of an argument that is text stays text: `path=2024`.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from pydantic import ValidationError

from bot.core import quoting
from bot.core.catalogue import Catalogue
from bot.core.characters import cut, hides, visible
from bot.core.drafts import Fault
from bot.core.ids import StepId
from bot.core.plan import Plan, Step
from bot.core.quoting import Statement, Word
from bot.core.references import find
from bot.errors import PullcordError

ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
TOOL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
OWN = frozenset({"after", "timeout", "on_failure", "retries"})
GOAL_LIMIT = 230
MOST_IN_GOAL = 4  # steps that a goal made from the steps names
FIRST_LINE = re.compile(r'(?:[A-Za-z][A-Za-z0-9_-]*:\s*)?[A-Za-z_][\w-]*(?:\.[\w-]+)+(?=\s*(?:;|$)|\s+(?:[\w.-]+=|"[^"]*"=|!break\b|--\s))')


class NotationError(PullcordError):
    """The text is no plan; `faults` say which lines, what, and how to mend them."""

    def __init__(self, faults: Collection[Fault]) -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


def parse(text: str, *, goal: str = "", catalogue: Catalogue | None = None) -> Plan:
    """The plan that a text in plain notation says. Raises `NotationError` with every fault found. Tools are not checked here."""
    steps = parse_steps(text, catalogue=catalogue)
    return Plan(goal=cut(goal.strip(), GOAL_LIMIT) or _goal(steps), steps=steps)


def parse_steps(text: str, *, used: Collection[str] = (), catalogue: Catalogue | None = None) -> tuple[Step, ...]:
    """The steps alone; ids in `used` are not given to steps without one."""
    found = list(quoting.statements(_unfenced(text), wants_text=_text_arguments(catalogue or {})))
    faults = [Fault(field=f"line {line}", says=says, fix=fix) for statement in found for line, says, fix in statement.faults]
    written = [_split(statement) for statement in found]
    taken = {*used, *(name for name, _, _ in written if name)}
    steps, number = [], 0
    for statement, (name, tool, words) in zip(found, written, strict=True):
        while not name:
            number += 1
            name = f"s{number}" if f"s{number}" not in taken else ""
        taken.add(name)
        made = _step(statement, name, tool, words)
        if isinstance(made, Step):
            steps.append(made)
        elif not statement.faults:
            faults += made
    if not found:
        faults.append(Fault(field="line 1", says="there is no step here", fix="write one step a line, such as files.read path=notes.md"))
    if faults:
        raise NotationError(faults)
    return tuple(steps)


def print_plan(plan: Plan, *, purposes: bool = True) -> str:
    """The plan's steps as text: parsed with the same goal it is the same plan, but for the numbers."""
    width = min(max((len(step.id) for step in plan.steps), default=0), 12) + 1
    return "\n".join(print_step(step, width=width, purposes=purposes) for step in plan.steps)


def print_step(step: Step, *, width: int = 0, purposes: bool = True) -> str:
    """One step on one line; `width` pads the id."""
    tool = step.tool if TOOL.fullmatch(step.tool) else quoting.quote(step.tool)
    parts = [f"{step.id}:".ljust(width), tool]
    parts += [f"{quoting.write_name(name, reserved=OWN)}={quoting.write(value)}" for name, value in step.args.items()]
    parts += [f"after={','.join(step.depends_on)}"] if step.depends_on else []
    parts += [f"timeout={quoting.write(_whole(step.timeout_s))}"] if step.timeout_s is not None else []
    parts += [f"on_failure={step.on_failure}"] if step.on_failure != "ask" else []
    parts += [f"retries={step.retries}"] if step.retries else []
    parts += ["!break"] if step.breakpoint else []
    parts += [f"-- {_print_purpose(step.purpose)}"] if step.purpose and purposes else []
    return " ".join(parts)


def looks_like(text: str) -> bool:
    """Is this meant as plain notation? Judged by its first line: `[id:] tool.name` alone or with `name=` behind it."""
    lines = (line.strip() for line in _unfenced(text).splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return bool(FIRST_LINE.match(first))


def _unfenced(text: str) -> str:
    """Without the backticks that people put around what looks like code; line numbers stay."""
    bare = text.strip().strip("\ufeff")
    if len(bare) > 6 and bare.startswith("```") and bare.endswith("```"):
        return bare[3:-3]
    if len(bare) > 2 and bare.startswith("`") and bare.endswith("`") and bare.count("`") == 2:
        return bare[1:-1]
    return text


def _split(statement: Statement) -> tuple[str, Word | None, list[Word]]:
    """Id ("" if none is written), tool, and the other words."""
    words = list(statement.words)
    name = ""
    if words and words[0].name is None and words[0].plain:
        before, colon, after = str(words[0].value).partition(":")
        if colon:
            name = before or ":"
            words[0:1] = [Word(after, words[0].line)] if after else []
    tool = words.pop(0) if words and words[0].name is None and words[0].value != "!break" else None
    return name, tool, words


def _step(statement: Statement, name: str, tool: Word | None, words: list[Word]) -> Step | list[Fault]:
    """The step, or its faults."""
    faults: list[Fault] = []

    def fault(says: str, fix: str, line: int = statement.line) -> None:
        faults.append(Fault(step=name if ID.fullmatch(name) else None, field=f"line {line}", says=says, fix=fix))

    if not ID.fullmatch(name):
        fault(f"'{visible(name)}' cannot be a step's id", "begin with a letter, then letters, digits, - and _")
    if tool is None:
        fault("the tool is missing", "write the tool before its arguments, as in files.read path=notes.md")
    fields: dict[str, Any] = {"id": name, "tool": tool.value if tool else "", "purpose": statement.purpose, "args": {}}
    for word in words:
        wrong = _take(word, fields)
        if wrong:
            fault(*wrong, word.line)
    if faults:
        return faults
    try:
        return Step.model_validate(fields)
    except ValidationError as error:
        for detail in error.errors():
            fault(f"{'.'.join(map(str, detail['loc']))}: {detail['msg'][:1].lower()}{detail['msg'][1:]}", "mend it")
        return faults


def _take(word: Word, fields: dict[str, Any]) -> tuple[str, str] | None:
    """Puts one word where it belongs in the step's fields, or says what is wrong with it."""
    if word.name is None:
        if word.value == "!break" and word.plain:
            fields["breakpoint"] = True
            return None
        return f"'{visible(cut(str(word.value), 60))}' is not name=value", "put quotes around a text with spaces in it"
    if word.name in OWN and not word.quoted_name:
        return OWN_WORDS[word.name](word.value, fields)
    if word.name in fields["args"]:
        return f"{visible(word.name)} stands there twice", "keep one"
    fields["args"][word.name] = word.value
    return None


def _take_after(value: Any, fields: dict[str, Any]) -> tuple[str, str] | None:
    names = [part.strip() for part in str(value).split(",")]
    wrong = next((name for name in names if not ID.fullmatch(name)), None)
    if wrong is not None or "depends_on" in fields:
        return f"after={visible(cut(str(value), 60))} does not name steps", "write ids with commas, as in after=config,old"
    fields["depends_on"] = tuple(StepId(name) for name in names)
    return None


def _take_timeout(value: Any, fields: dict[str, Any]) -> tuple[str, str] | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 86_400:
        return f"timeout={visible(cut(str(value), 60))} is not a time", "write seconds, from 1 to 86400"
    fields["timeout_s"] = float(value)
    return None


def _take_failure(value: Any, fields: dict[str, Any]) -> tuple[str, str] | None:
    if value not in ("ask", "stop", "continue"):
        return f"on_failure={visible(cut(str(value), 60))} is not known", "write ask, stop or continue"
    fields["on_failure"] = value
    return None


def _take_retries(value: Any, fields: dict[str, Any]) -> tuple[str, str] | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 5:
        return f"retries={visible(cut(str(value), 60))} is not a number of tries", "write 0 to 5"
    fields["retries"] = value
    return None


OWN_WORDS: Mapping[str, Callable[[Any, dict[str, Any]], tuple[str, str] | None]] = {
    "after": _take_after,
    "timeout": _take_timeout,
    "on_failure": _take_failure,
    "retries": _take_retries,
}


def _whole(seconds: float) -> float:
    return int(seconds) if seconds == int(seconds) else seconds


def _print_purpose(purpose: str) -> str:
    odd = purpose != purpose.strip() or hides(purpose) or any(sign in purpose for sign in "\n;") or purpose.startswith(('"', "\\"))
    return quoting.quote(purpose) if odd else purpose


def _text_arguments(catalogue: Catalogue) -> quoting.WantsText:
    """Is an argument text, and nothing else that a bare word could be read as?"""

    def wants_text(tool: str, argument: str) -> bool:
        spec = catalogue.get(tool)
        if spec is None or argument in OWN:
            return False
        kinds = _kinds(spec.args_schema.get("properties", {}).get(argument, {}), spec.args_schema)
        return "string" in kinds and kinds <= {"string", "null"}

    return wants_text


def _kinds(schema: Any, root: Mapping[str, Any], depth: int = 0) -> set[str]:
    """The JSON types that a schema allows, as far as it says so plainly."""
    if not isinstance(schema, Mapping) or depth > 8:
        return set()
    if isinstance(schema.get("$ref"), str):
        target: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target.get(part, {}) if isinstance(target, Mapping) else {}
        return _kinds(target, root, depth + 1)
    stated = schema.get("type")
    found = {stated} if isinstance(stated, str) else set(stated or ())
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        found |= _kinds(branch, root, depth + 1)
    return found


def _goal(steps: Collection[Step]) -> str:
    """What the steps are about, in words made from tools and literal arguments."""
    words = [" ".join(filter(None, (step.tool.rpartition(".")[2].replace("_", " "), _object(step)))) for step in steps]
    shown = words if len(words) <= MOST_IN_GOAL else [*words[: MOST_IN_GOAL - 1], f"{len(words) - MOST_IN_GOAL + 1} more steps"]
    goal = visible(" and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)).replace("\n", " ")
    return cut(goal[:1].upper() + goal[1:], GOAL_LIMIT)


def _object(step: Step) -> str:
    """The first short literal argument."""
    texts = (value for value in step.args.values() if isinstance(value, str) and 0 < len(value) <= 60)
    return next((text for text in texts if "\n" not in text and not find(text)), "")

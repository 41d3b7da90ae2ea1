"""A plan: an immutable graph of tool calls, the same for the planner, the card, the digest and the dispatcher.

The stored form is design data: `{"goal", "steps": [{"id", "purpose", "tool", "args", "depends_on", ...}]}`. Unknown fields are refused,
so nothing that a planner writes can claim a risk or an approval. A step's `number` is for life: people say "step 4", and edits keep it.
Every walk over the graph (order, ready steps, dependents) is here, and none of them trusts the graph to be free of cycles.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.core.ids import Digest, StepId
from bot.core.references import sources

FailureRule = Literal["ask", "stop", "continue"]


class Step(BaseModel):
    """One tool call. `args` may hold references `{{step.path}}`; each adds its step to what this one depends on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: StepId = Field(min_length=1, max_length=40, pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")
    number: int = 0  # 0: not numbered yet, see `numbered`
    purpose: str = Field(default="", max_length=120)  # the planner's words: why
    tool: str = Field(min_length=1, max_length=120)
    args: dict[str, Any] = Field(default_factory=dict)
    depends_on: tuple[StepId, ...] = ()  # as written; `needs` adds what references imply
    breakpoint: bool = False
    timeout_s: float | None = Field(default=None, gt=0, le=86_400)
    on_failure: FailureRule = "ask"
    retries: int = Field(default=0, ge=0, le=5)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> "Step":
        """A changed copy, which finds out anew what it needs."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("needs", None)
        copied.__dict__.pop("uses", None)
        return copied

    @cached_property
    def uses(self) -> tuple[StepId, ...]:
        """Ids of the steps whose results its arguments are made from, each once, in order."""
        return tuple(StepId(name) for name in sources(self.args))

    @cached_property
    def needs(self) -> tuple[StepId, ...]:
        """Ids of the steps that must have finished first: those written and those referred to, each once, in order."""
        return tuple(dict.fromkeys((*self.depends_on, *self.uses)))


class Plan(BaseModel):
    """What the run wants to reach, and the steps in the order in which they were written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    goal: str = Field(min_length=1, max_length=230)
    steps: tuple[Step, ...]

    def step(self, step_id: str) -> Step:
        """The step of that id; KeyError if there is none."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)

    def named(self, word: str) -> Step | None:
        """The step that a person means by a number or an id, or None."""
        for step in self.steps:
            if word in (step.id, str(step.number)):
                return step
        return None


def numbered(plan: Plan, *, used: Collection[int] = ()) -> Plan:
    """The plan with a number on every step: kept where it has one, else the next that neither the plan nor `used` holds."""
    taken = {*used, *(step.number for step in plan.steps if step.number)}
    following = max(taken, default=0)
    steps = []
    for step in plan.steps:
        if not step.number:
            following += 1
            step = step.model_copy(update={"number": following})  # noqa: PLW2901
        steps.append(step)
    return plan.model_copy(update={"steps": tuple(steps)})


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values, equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def fingerprint(value: Any) -> Digest:
    """SHA-256 of the canonical JSON of a value, in hexadecimal. Text that is no text (half of a surrogate pair) has one too."""
    return Digest(hashlib.sha256(canonical(value).encode(errors="surrogatepass")).hexdigest())


def digest(plan: Plan, tools: Mapping[str, Digest]) -> Digest:
    """What an approval names: every word of the plan, its order, and the definitions of the tools that it calls."""
    called = {step.tool: tools.get(step.tool, "") for step in plan.steps}
    return fingerprint({"plan": plan.model_dump(mode="json"), "tools": called})


def step_fingerprint(tool: str, args: Mapping[str, Any], tool_digest: str) -> Digest:
    """What makes two calls the same work: the tool, its definition and the filled-in arguments."""
    return fingerprint({"tool": tool, "args": args, "definition": tool_digest})


def call_fingerprint(tool: str, args: Mapping[str, Any]) -> Digest:
    """What makes two calls the same to a person who refused one: the tool and its arguments, in whatever order they are written."""
    return fingerprint({"tool": tool, "args": args})


def cycle(plan: Plan) -> list[StepId]:
    """The ids along one loop of dependencies, first repeated at the end; empty if there is none. Safe on any plan."""
    needs = {step.id: step.needs for step in plan.steps}
    done: set[StepId] = set()
    for start in needs:
        path: list[StepId] = []
        stack = [(start, iter(needs[start]))]
        while stack:
            here, rest = stack[-1]
            if here not in path:
                path.append(here)
            following = next((name for name in rest if name in needs and name not in done), None)
            if following is None:
                done.add(here)
                path.pop()
                stack.pop()
            elif following in path:
                return [*path[path.index(following) :], following]
            else:
                stack.append((following, iter(needs[following])))
    return []


def levels(plan: Plan) -> list[list[Step]]:
    """Steps in running order: each list may run together once the lists before it are done.

    Steps that can never become ready (on a loop, behind one, or needing a step that does not exist) are left out, as in `ready`.
    """
    placed: set[StepId] = set()
    rest, result = list(plan.steps), []
    while rest:
        ready = [step for step in rest if all(name in placed for name in step.needs)]
        if not ready:
            break
        result.append(ready)
        placed |= {step.id for step in ready}
        rest = [step for step in rest if step.id not in placed]
    return result


def dependents(plan: Plan, step_id: str) -> list[Step]:
    """Every step that needs this one, directly or through others, in the plan's order. Safe on any plan."""
    reached = {StepId(step_id)}
    grown = True
    while grown:
        found = {step.id for step in plan.steps if step.id not in reached and reached & set(step.needs)}
        grown = bool(found)
        reached |= found
    return [step for step in plan.steps if step.id in reached and step.id != step_id]


def ready(plan: Plan, *, finished: Collection[str], touched: Iterable[str]) -> list[Step]:
    """Steps whose needs are all in `finished` and that are not in `touched` (started, or closed), in the plan's order."""
    closed = set(touched)
    return [step for step in plan.steps if step.id not in closed and all(name in finished for name in step.needs)]

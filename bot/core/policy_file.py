"""The policy as the admin writes it: a YAML file as frozen models, and reading it with faults that name the line.

A broken file is never half used: `parse` gives a whole `Policy` or raises `ConfigurationError` with place, fault and mending. What may
not be said at all cannot be said here: `then: approve` exists for low risk only, and even there it counts only where every step reads
(see `policy`). A value left empty is refused everywhere, since in YAML an unquoted `#audit` is a comment and would quietly mean nothing.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from bot.core.catalogue import Effect
from bot.core.risk import Level, Mode
from bot.errors import ConfigurationError

Profile = Literal["personal", "team", "external"]
SPAN = re.compile(r"(?:\d{1,6}[smhd])+")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def read_span(value: Any) -> timedelta:
    """A duration such as "30m", "2h", "90s", "1d" or "1h30m"; ValueError otherwise, and for zero."""
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str) or not SPAN.fullmatch(value):
        raise ValueError("is not a duration; write it like 90s, 30m, 2h or 1d")
    span = timedelta(seconds=sum(int(part[:-1]) * UNITS[part[-1]] for part in re.findall(r"\d+[smhd]", value)))
    if not span:
        raise ValueError("must be longer than nothing")
    return span


Span = Annotated[timedelta, BeforeValidator(read_span)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Timer(_Part):
    """What happens while nobody answers. There is always an end, and it is never a yes where anything has an effect."""

    remind: Span | None = None
    escalate: Span | None = None
    expire: Span = timedelta(minutes=30)
    then: Literal["approve"] | None = None  # low only: plans that only read may go on

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        given = [span for span in (self.remind, self.escalate, self.expire) if span]
        if given != sorted(given):
            raise ValueError("must come in the order remind, escalate, expire; expire is 30m if not given")
        return self


class Places(_Part):
    """Where cards go. "thread" is the run's own thread."""

    review: tuple[str, ...] = ("thread",)
    audit: str | None = None


class ToolRule(_Part):
    """What the admin says of the tools whose names fit a pattern."""

    mode: Annotated[Mode, Field(strict=False)] | None = None
    effect: Annotated[Effect, Field(strict=False)] | None = None
    untrusted: bool | None = None


Wanted = str | bool | int | float


class Rule(_Part):
    """If all of `when` fits a step, `risk` and `mode` hold for it. `shadow`: only record what it would have done."""

    when: dict[str, Wanted | tuple[Wanted, ...]] = Field(min_length=1)
    risk: Annotated[Level, Field(strict=False)] | None = None
    mode: Annotated[Mode, Field(strict=False)] | None = None
    why: str = ""
    name: str = ""
    shadow: bool = False

    @field_validator("when", mode="after")
    @classmethod
    def _known(cls, when: dict[str, Any]) -> dict[str, Any]:
        wrong = next((key for key in when if key != "tool" and not key.startswith("args.")), None)
        if wrong is not None:
            raise ValueError(f"has the unknown condition '{wrong}'; use tool or args.NAME")
        return when

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.risk is None and self.mode is None:
            raise ValueError("says neither risk nor mode; add one of them")
        return self


class Limits(_Part):
    """Where everything ends."""

    steps: int = Field(default=50, ge=1, le=500)  # in one plan
    revisions: int = Field(default=3, ge=1, le=20)  # by the planner, the first one too
    redirects: int = Field(default=5, ge=0, le=50)
    unattended: int | None = Field(default=None, ge=1)  # steps with an effect in a row without a person; None: no such hold
    wall: Span = timedelta(hours=2)
    tokens: int = Field(default=200_000, ge=1)
    rounds: int = Field(default=2, ge=1, le=5)  # of planning


class Cord(_Part):
    """Who may brake, who may let go, who may change the rest, who may hold everything: lists of people, groups, and the words of `WHO`.

    Braking is wide and letting go is narrow on purpose: a brake that is pulled in error costs minutes.
    """

    pull: tuple[str, ...] = ("anyone",)  # pause, stop, set breakpoints
    let_go: tuple[str, ...] = ("requester", "approvers")  # resume, continue, retry, skip; also edit and cancel
    redirect: tuple[str, ...] = ("requester", "approvers")  # by a reply; what it adds is approved like any plan
    freeze: tuple[str, ...] = ("admins",)  # and thaw

    @field_validator("pull", "let_go", "redirect", "freeze", mode="after")
    @classmethod
    def _somebody(cls, who: tuple[str, ...]) -> tuple[str, ...]:
        if not who:
            raise ValueError(f"names nobody; name people and groups, or use {', '.join(WHO)}")
        return who


WHO = ("anyone", "requester", "approvers", "admins")


class Policy(_Part):
    """Who may decide, what may run, and where it ends. See the profiles for what holds where the file is silent."""

    profile: Profile = "team"
    approvers: tuple[str, ...] = ()  # people and user groups ("@ops-leads"); none means nobody may approve
    quorum: dict[Annotated[Level, Field(strict=False)], Annotated[int, Field(ge=1, le=10)]] = Field(default_factory=dict)
    admins: tuple[str, ...] = ()  # people and user groups; none: the workspace's own admins and owners
    cord: Cord = Cord()
    places: Places = Places()
    tools: dict[str, ToolRule] = Field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    timers: dict[Annotated[Level, Field(strict=False)], Timer] = Field(default_factory=dict)
    limits: Limits = Limits()

    @property
    def names(self) -> tuple[str, ...]:
        """Every entry of the file that means people."""
        cord = self.cord
        said = (*self.approvers, *self.admins, *cord.pull, *cord.let_go, *cord.redirect, *cord.freeze)
        return tuple(dict.fromkeys(entry for entry in said if entry not in WHO))

    @field_validator("timers", mode="after")
    @classmethod
    def _silence_is_safe(cls, timers: dict[Level, Timer]) -> dict[Level, Timer]:
        for level, timer in timers.items():
            if timer.then and level is not Level.LOW:
                raise ValueError(f"lets silence approve at {level} risk; `then: approve` is allowed for low only, where every step reads")
        return timers

    @model_validator(mode="after")
    def _complete(self) -> Self:
        """Levels that the file does not time take the profile's timer: no wait is without an end."""
        object.__setattr__(self, "timers", {level: self.timers.get(level, PROFILE_TIMERS[self.profile][level]) for level in Level})
        return self


def _timers(low: str, medium: str, high: str) -> Mapping[Level, Timer]:
    def timer(text: str) -> Timer:
        remind, escalate, expire = (read_span(word) for word in text.split())
        return Timer(remind=remind, escalate=escalate, expire=expire)

    return {Level.LOW: timer(low), Level.MEDIUM: timer(medium), Level.HIGH: timer(high)}


PROFILE_TIMERS: Mapping[str, Mapping[Level, Timer]] = {
    "personal": _timers("30m 1h 4h", "30m 1h 4h", "30m 1h 2h"),
    "team": _timers("10m 20m 30m", "10m 20m 30m", "5m 15m 30m"),
    "external": _timers("3m 6m 10m", "3m 6m 10m", "3m 6m 10m"),
}

KINDS = {
    "tuple_type": ("a list", "write it in brackets, as in [thread]"),
    "dict_type": ("a mapping", "write name: value lines"),
    "model_type": ("a mapping", "write name: value lines"),
    "string_type": ("text", "put it in quotes"),
    "int_type": ("a whole number", "write digits without quotes"),
    "bool_type": ("true or false", "write true or false without quotes"),
}

DEMO_POLICY = """\
# Who may say yes to what, and what happens if nobody answers.
# Check a change with: pullcord policy check FILE

profile: team                    # reads run at once; effects ask; deleting, executing, sending outside asks twice

approvers: ["@ops-leads"]        # people and user groups; quote names that begin with @ or #
quorum: {high: 2}                # how many must agree, by risk; 1 where nothing is said

places:
  review: [thread]               # where the review card goes; add "#approvals" to show it there too
  audit: "#audit"                # who approved what, and how each run ended

# What single tools may do; the most exact name counts. Modes: auto, ask, confirm, deny.
# tools:
#   "shell.*": {mode: deny}

# Rules look at arguments. The strictest rule that fits counts.
# rules:
#   - when: {tool: slack.post_message, args.channel: "#general"}
#     risk: high
#     why: everyone reads it

# How long a card waits. Nobody answered means expired: nothing with an effect ever runs on silence.
timers:
  low: {expire: 30m}
  medium: {expire: 30m}
  high: {expire: 30m}

limits: {steps: 50, rounds: 2, revisions: 3, redirects: 5}    # of one plan, of planning, of one review, of one run

# Who may do what with the cord: people, groups, and the words anyone, requester, approvers, admins (of the workspace, unless named here).
# cord: {pull: [anyone], let_go: [requester, approvers], redirect: [requester, approvers], freeze: [admins]}
"""


def default(profile: str) -> Policy:
    """The built-in profile of that name, with no approvers. Raises `ConfigurationError` for an unknown name."""
    if profile not in PROFILE_TIMERS:
        raise ConfigurationError(f"the policy profile '{profile}' does not exist; use personal, team or external")
    return Policy.model_validate({"profile": profile})


def parse(text: str, *, source: str) -> Policy:
    """The policy that a YAML text says. Raises `ConfigurationError`, one line: `source`, line, fault, mending."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        hint = "put quotes around names that begin with @" if "'@'" in str(error.problem) else "mend the YAML there"
        raise _fault(source, mark.line + 1 if mark else 1, f"{error.problem or 'not YAML'}", hint) from error
    except yaml.YAMLError as error:
        raise _fault(source, 1, " ".join(str(error).split()), "mend the YAML") from error
    if data is None:
        return default("team")
    if not isinstance(data, dict):
        raise _fault(source, 1, "the policy is not a mapping", "begin with `profile: team`")
    lines: dict[tuple[Any, ...], int] = {}
    for path, line, wrong in _walk(node, ()):
        if wrong:
            raise _fault(source, line, wrong[0], wrong[1])
        lines.setdefault(path, line)
    try:
        return Policy.model_validate(_tuples(data))
    except ValidationError as error:
        raise _explain(error, lines, source) from error


def _fault(source: str, line: int, what: str, fix: str) -> ConfigurationError:
    return ConfigurationError(f"{source}, line {line}: {what}; {fix}")


Walked = tuple[tuple[Any, ...], int, tuple[str, str] | None]


def _walk(node: yaml.Node | None, path: tuple[Any, ...], above: frozenset[int] = frozenset()) -> Iterator[Walked]:
    """Path and line of every value, with what is wrong at the level of YAML: repeated keys, empty values, loops, keys that are no names."""
    if node is None:
        return
    line = node.start_mark.line + 1
    if id(node) in above:
        yield path, line, ("an alias refers to itself", "write the value out")
        return
    yield path, line, _emptiness(node, path)
    within = above | {id(node)}
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _walk(item, (*path, index), within)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, item in node.value:
            name = str(key.value)
            if name in seen or not isinstance(key, yaml.ScalarNode) or name == "<<":
                wrong = (f"the key '{name}' stands there twice", "keep one") if name in seen else ("this key is not a name", "write a name")
                yield (*path, name), key.start_mark.line + 1, wrong
                return
            seen.add(name)
            yield (*path, name), key.start_mark.line + 1, None
            yield from _walk(item, (*path, name), within)


def _emptiness(node: yaml.Node, path: tuple[Any, ...]) -> tuple[str, str] | None:
    if path and isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null":
        return f"'{_place(path)}' is empty", "give it a value or remove it; a value that begins with # needs quotes"
    return None


def _tuples(data: Any) -> Any:
    """Lists as tuples (the models are strict, and frozen), keys as text."""
    if isinstance(data, dict):
        return {str(key): _tuples(value) for key, value in data.items()}
    return tuple(_tuples(item) for item in data) if isinstance(data, list) else data


def _explain(error: ValidationError, lines: Mapping[tuple[Any, ...], int], source: str) -> ConfigurationError:
    """The first fault in the file's order, and how many more there are."""
    found = []
    for detail in error.errors(include_url=False):
        path = tuple(detail["loc"])
        while path and path not in lines:
            path = path[:-1]  # pydantic adds the names of union branches and "[key]"
        found.append((lines.get(path, 1), path, detail))
    found.sort(key=lambda item: item[0])
    line, path, detail = found[0]
    what, fix = _say(path, detail)
    places = {path for _, path, _ in found}
    more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    return _fault(source, line, what, fix + more)


def _say(path: tuple[Any, ...], detail: Mapping[str, Any]) -> tuple[str, str]:
    kind, place = detail["type"], _place(path)
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(str(path[-1]), _keys(path[:-1]), n=1)
        return f"'{place}' is not a key of the policy", f"did you mean {near[0]}?" if near else f"use {', '.join(_keys(path[:-1]))}"
    if kind in ("enum", "literal_error"):
        wanted = str(detail["ctx"]["expected"]).replace("'", "")
        return f"'{place}' cannot be '{detail['input']}'", f"use {wanted}"
    if kind in KINDS:
        return f"'{place}' is not {KINDS[kind][0]}", KINDS[kind][1]
    said = str(detail["msg"]).removeprefix("Value error, ")
    if kind == "value_error" and ";" in said:
        what, _, fix = said.partition("; ")
        return f"'{place}' {what}" if place else f"the policy {what}", fix
    return f"'{place}' is not right: {said[0].lower()}{said[1:]}", "mend this value"


def _keys(path: tuple[Any, ...]) -> list[str]:
    """The keys that are known at this place of the file."""
    kinds: Mapping[str, type[BaseModel]] = {
        "places": Places,
        "tools": ToolRule,
        "rules": Rule,
        "timers": Timer,
        "limits": Limits,
        "cord": Cord,
    }
    return list((kinds[str(path[0])] if path else Policy).model_fields)


def _place(path: tuple[Any, ...]) -> str:
    return ".".join(str(part + 1) if isinstance(part, int) else str(part) for part in path)

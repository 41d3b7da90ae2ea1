"""The policy as the admin writes it, as frozen models; `policy_text` reads the YAML, `policy_terms` knows what single values look like.

Three things cannot be said here at all. **Silence never approves an effect**: `then: approve` exists for low risk (`_silence_is_safe`),
and counts only where every tool of the plan declares itself a read (`policy.evaluate`). **No plan grades itself**: the conditions of a
rule are a closed list, and none reads what the planner wrote about its plan (`policy_conditions`). **No hint of a server lowers a risk**:
there is no key for hints; only the admin's `tools: … effect` counts, and lowers only what is declared execute (`tool_rules.effect_of`).
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator
from pydantic_core import PydanticCustomError

from bot.core.catalogue import Effect
from bot.core.policy_conditions import condition
from bot.core.policy_terms import (
    MADE,
    WHO,
    Argument,
    Channel,
    ChannelGlob,
    Entry,
    Expression,
    HostGlob,
    KeptOut,
    PathGlob,
    Person,
    Place,
    Span,
    Template,
    ToolGlob,
    read_span,
)
from bot.core.risk import Level, Mode
from bot.errors import ConfigurationError

Profile = Literal["personal", "team", "external"]
Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]  # for people; stands on cards
Name = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=r"^[^\s()](?:[^()]*[^\s()])?$")]
RiskKey = Annotated[Level, Field(strict=False)]


def _at(*keys: str, says: str) -> PydanticCustomError:
    """A fault (what is wrong; how to mend it) of one key below the value at hand."""
    return PydanticCustomError("said", "{says}", {"says": says, "keys": keys})


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
            raise ValueError("is not in the order remind, escalate, expire; give each a longer duration (expire is 30m if not given)")
        return self


class Places(_Part):
    """Where cards go. "thread" is the run's own thread."""

    review: tuple[Place, ...] = ("thread",)
    audit: Channel | None = None

    @field_validator("review", mode="after")
    @classmethod
    def _somewhere(cls, review: tuple[str, ...]) -> tuple[str, ...]:
        if not review:
            raise ValueError("names no place; write [thread]")
        return review


class EffectRule(_Part):
    """What the admin says of all tools with one effect, unless `tools` names them. What has an effect asks once, whatever stands here."""

    mode: Annotated[Mode, Field(strict=False)]


class ToolRule(_Part):
    """What the admin says of the tools whose names fit a pattern. `effect` raises any tool, and lowers one that is declared execute."""

    mode: Annotated[Mode, Field(strict=False)] | None = None
    effect: Annotated[Effect, Field(strict=False)] | None = None
    untrusted: bool | None = None


class Rule(_Part):
    """If all of `when` fits a step, `risk` and `mode` hold for it, and `marks` for what it returns. `shadow`: only say what it would do."""

    when: dict[str, Any] = Field(min_length=1)  # see `policy_conditions`
    risk: Annotated[Level, Field(strict=False)] | None = None
    mode: Annotated[Mode, Field(strict=False)] | None = None
    marks: tuple[Literal["untrusted", "private"], ...] = ()
    why: Words = ""
    name: Name | Literal[""] = ""
    shadow: bool = False

    @field_validator("when", mode="after")
    @classmethod
    def _known(cls, when: dict[str, Any]) -> dict[str, Any]:
        for key, value in when.items():
            try:
                condition(key, value)
            except ValueError as fault:
                raise _at(key, says=str(fault)) from fault
        return when

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.risk is None and self.mode is None and not self.marks:
            raise ValueError("says neither risk nor mode nor marks; add one of them")
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
    money: float | None = Field(default=None, gt=0, allow_inf_nan=False)  # US dollars of one run, by `prices`; None: not counted


class Window(_Part):
    """How much one requester may do within a time, over all runs, so that splitting a plan does not pass below a threshold."""

    tool: ToolGlob = "*"  # "*" counts every step with an effect
    sum: Argument | None = None  # "args.amount": add up this number; None: count the steps
    most: float = Field(ge=0, allow_inf_nan=False)
    within: Span
    then: Literal["high", "confirm", "deny"] = "high"  # what happens to the steps that go beyond
    why: Words = ""


class Price(_Part):
    """US dollars for a million tokens of one model."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)


class Scopes(_Part):
    """Where steps may reach, as patterns; None: wherever the tools themselves allow. Looked at with the filled-in values."""

    paths: tuple[PathGlob, ...] | None = None  # of arguments named path
    hosts: tuple[HostGlob, ...] | None = None  # of arguments named url
    channels: tuple[ChannelGlob, ...] | None = None  # of arguments named channel


class Keep(_Part):
    """What stays, and for how long, once a run has ended. The record itself is never thinned out."""

    observations: Span | None = None  # what steps returned; None: for ever
    full_texts: Span | None = None  # long results whole, as files beside the database; None: only their beginning is kept


class Personal(_Part):
    """What counts as personal data here, and is masked like a secret."""

    email: bool = False
    phone: bool = False
    card: bool = False
    patterns: dict[Name, Expression] = Field(default_factory=dict, max_length=20)  # name: regular expression


class Cord(_Part):
    """Who may brake, who may let go, who may change the rest, who may hold everything: lists of people, groups, and the words of `WHO`.

    Braking is wide and letting go is narrow on purpose: a brake that is pulled in error costs minutes.
    """

    pull: tuple[Entry, ...] = ("anyone",)  # pause, stop, set breakpoints
    let_go: tuple[Entry, ...] = ("requester", "approvers")  # resume, continue, retry, skip; also edit and cancel
    redirect: tuple[Entry, ...] = ("requester", "approvers")  # by a reply; what it adds is approved like any plan
    freeze: tuple[Entry, ...] = ("admins",)  # and thaw

    @field_validator("pull", "let_go", "redirect", "freeze", mode="after")
    @classmethod
    def _somebody(cls, who: tuple[str, ...]) -> tuple[str, ...]:
        if not who:
            raise ValueError(f"names nobody; name people and groups, or use {', '.join(WHO)}")
        if wrong := next((entry for entry in who if entry in MADE and entry not in WHO), None):
            raise ValueError(f"has '{wrong}', which is not a word of the cord; name people and groups, or use {', '.join(WHO)}")
        return who


class Policy(_Part):
    """Who may decide, what may run, and where it ends. See the profiles for what holds where the file is silent."""

    profile: Profile = "team"
    approvers: tuple[Person, ...] = ()  # people, user groups ("@ops-leads"), members of a channel ("#leads"); none means nobody may approve
    quorum: dict[RiskKey, Annotated[int, Field(ge=1, le=10)]] = Field(default_factory=dict)
    admins: tuple[Person, ...] = ()  # people and user groups; none: the workspace's own admins and owners
    escalation: tuple[Person, ...] = ()  # people and groups who may approve too, once nobody has answered (`timers.….escalate`)
    may_not: dict[RiskKey, tuple[KeptOut, ...]] = Field(default_factory=dict)  # who may not approve: `MADE`, people, groups
    step_up: tuple[RiskKey, ...] = ()  # levels whose yes is typed, not only pressed
    cord: Cord = Cord()
    places: Places = Places()
    tools: dict[ToolGlob, ToolRule] = Field(default_factory=dict)  # a name counts before a pattern, a pattern before `effects`
    effects: dict[Annotated[Effect, Field(strict=False)], EffectRule] = Field(default_factory=dict)  # before what the profile says
    rules: tuple[Rule, ...] = ()
    timers: dict[RiskKey, Timer] = Field(default_factory=dict)
    limits: Limits = Limits()
    windows: tuple[Window, ...] = ()
    prices: dict[Annotated[str, Field(min_length=1)], Price] = Field(default_factory=dict)  # model: price
    scopes: Scopes = Scopes()
    locks: dict[ToolGlob, Template] = Field(default_factory=dict)  # pattern of tools: "deploy:{env}"; beside the tools' own
    keep: Keep = Keep()
    personal: Personal = Personal()
    hosts: tuple[HostGlob, ...] = ()  # hosts that may be live links in what comes from outside; others are shown as plain code

    @property
    def names(self) -> tuple[str, ...]:
        """Every entry of the file that means people."""
        cord = self.cord
        said = [*self.approvers, *self.escalation, *self.admins, *cord.pull, *cord.let_go, *cord.redirect, *cord.freeze]
        said += [entry for who in self.may_not.values() for entry in who]
        return tuple(dict.fromkeys(entry for entry in said if entry not in WHO and entry not in MADE))

    @field_validator("timers", mode="after")
    @classmethod
    def _silence_is_safe(cls, timers: dict[Level, Timer]) -> dict[Level, Timer]:
        for level, timer in timers.items():
            if timer.then and level is not Level.LOW:
                says = f"lets silence approve at {level} risk; `then: approve` is allowed for low only, where every step reads"
                raise _at(level, "then", says=says)
        return timers

    @model_validator(mode="after")
    def _complete(self) -> Self:
        """Levels of which the file says nothing take what the profile says, so that every wait ends, and as many people as lower ones."""
        object.__setattr__(self, "timers", {level: self.timers.get(level, PROFILE_TIMERS[self.profile][level]) for level in Level})
        said = {level: max(self.quorum.get(below, 1) for below in Level if below.rank <= level.rank) for level in Level}
        object.__setattr__(self, "quorum", {level: self.quorum.get(level, said[level]) for level in Level if said[level] > 1})
        object.__setattr__(self, "may_not", {level: self.may_not.get(level, PROFILE_MAY_NOT[self.profile][level]) for level in Level})
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


PROFILE_MAY_NOT: Mapping[str, Mapping[Level, tuple[str, ...]]] = {
    "personal": dict.fromkeys(Level, ()),
    "team": {
        Level.LOW: ("editors", "source_author"),
        Level.MEDIUM: ("editors", "source_author"),
        Level.HIGH: ("requester", "editors", "redirectors", "source_author"),
    },
    "external": dict.fromkeys(Level, MADE),
}

# The keys that are known inside each part, for "did you mean".
KEYS: Mapping[str, type[BaseModel]] = {
    "places": Places,
    "tools": ToolRule,
    "effects": EffectRule,
    "rules": Rule,
    "timers": Timer,
    "limits": Limits,
    "cord": Cord,
    "windows": Window,
    "prices": Price,
    "scopes": Scopes,
    "keep": Keep,
    "personal": Personal,
}


def default(profile: str) -> Policy:
    """The built-in profile of that name, with no approvers. Raises `ConfigurationError` for an unknown name."""
    if profile not in PROFILE_TIMERS:
        raise ConfigurationError(f"the policy profile '{profile}' does not exist; use personal, team or external")
    return Policy.model_validate({"profile": profile})

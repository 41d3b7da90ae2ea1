"""The policy as the admin writes it, as frozen models; `policy_text` reads the YAML.

What may not be said at all cannot be said here: `then: approve` exists for low risk only, and even there it counts only where every step
reads (see `policy`); no key lets a plan, or a server's hint about its tool, lower a grade.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

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
    money: float | None = Field(default=None, gt=0)  # US dollars of one run, by `prices`; None: not counted


class Window(_Part):
    """How much one requester may do within a time, over all runs, so that splitting a plan does not pass below a threshold."""

    tool: str = "*"  # pattern; "*" counts every step with an effect
    sum: str | None = None  # "args.amount": add up this number; None: count the steps
    most: float = Field(ge=0)
    within: Span
    then: Literal["high", "confirm", "deny"] = "high"  # what happens to the steps that go beyond
    why: str = ""


class Price(_Part):
    """US dollars for a million tokens of one model."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class Scopes(_Part):
    """Where steps may reach, as patterns; None: wherever the tools themselves allow. Looked at with the filled-in values."""

    paths: tuple[str, ...] | None = None  # of arguments named path
    hosts: tuple[str, ...] | None = None  # of arguments named url
    channels: tuple[str, ...] | None = None  # of arguments named channel


class Keep(_Part):
    """What stays, and for how long, once a run has ended. The record itself is never thinned out."""

    observations: Span | None = None  # what steps returned; None: for ever
    full_texts: Span | None = None  # long results whole, as files beside the database; None: only their beginning is kept


class Personal(_Part):
    """What counts as personal data here, and is masked like a secret."""

    email: bool = False
    phone: bool = False
    card: bool = False
    patterns: dict[str, str] = Field(default_factory=dict)  # name: regular expression


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
MADE = ("requester", "editors", "redirectors", "source_author")  # who had a hand in a plan: words for `may_not`


class Policy(_Part):
    """Who may decide, what may run, and where it ends. See the profiles for what holds where the file is silent."""

    profile: Profile = "team"
    approvers: tuple[str, ...] = ()  # people and user groups ("@ops-leads"); none means nobody may approve
    quorum: dict[Annotated[Level, Field(strict=False)], Annotated[int, Field(ge=1, le=10)]] = Field(default_factory=dict)
    admins: tuple[str, ...] = ()  # people and user groups; none: the workspace's own admins and owners
    escalation: tuple[str, ...] = ()  # people and groups who may approve too, once nobody has answered (`timers.….escalate`)
    may_not: dict[Annotated[Level, Field(strict=False)], tuple[str, ...]] = Field(
        default_factory=dict
    )  # who may not approve: `MADE`, people, groups
    step_up: tuple[Annotated[Level, Field(strict=False)], ...] = ()  # levels whose yes is typed, not only pressed
    cord: Cord = Cord()
    places: Places = Places()
    tools: dict[str, ToolRule] = Field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    timers: dict[Annotated[Level, Field(strict=False)], Timer] = Field(default_factory=dict)
    limits: Limits = Limits()
    windows: tuple[Window, ...] = ()
    prices: dict[str, Price] = Field(default_factory=dict)  # model: price
    scopes: Scopes = Scopes()
    locks: dict[str, str] = Field(default_factory=dict)  # pattern of tools: "deploy:{env}"; beside the tools' own
    keep: Keep = Keep()
    personal: Personal = Personal()
    hosts: tuple[str, ...] = ()  # hosts that may be live links in what comes from outside; others are shown as plain code

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
                raise ValueError(f"lets silence approve at {level} risk; `then: approve` is allowed for low only, where every step reads")
        return timers

    @model_validator(mode="after")
    def _complete(self) -> Self:
        """Levels of which the file says nothing take what the profile says: no wait is without an end."""
        object.__setattr__(self, "timers", {level: self.timers.get(level, PROFILE_TIMERS[self.profile][level]) for level in Level})
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

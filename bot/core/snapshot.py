"""All that is known of one run at one moment, as plain data: what cards, the command line and the synthesizer are made from."""

from typing import Any, Literal, Protocol

from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.core.catalogue import Catalogue
from bot.core.drafts import Part, Question
from bot.core.ids import Digest, RunId, StepId
from bot.core.plan import Plan
from bot.core.risk import Grade, Level
from bot.core.run import Run, StepStatus


class Observation(BaseModel):
    """The cleaned, bounded, stored result of a step; all that a model ever sees of it."""

    model_config = ConfigDict(frozen=True)

    value: Any  # JSON
    says: str = ""  # one line for cards: "38 lines"
    sha256: str = ""  # of the canonical JSON of the value before it was cut
    size: int = 0  # characters of that JSON
    cut: bool = False
    untrusted: bool = False  # written by strangers, or made from what was
    hidden: int = 0  # invisible characters that were removed
    full: str = ""  # name of the file with the whole of it, beside the database; empty where none is kept
    fresh: str | None = None  # the state of what was read, in the tool's own words; None where the tool cannot tell


class StepState(BaseModel):
    """One step's row."""

    model_config = ConfigDict(frozen=True)

    id: StepId
    revision: int = 1  # the one that brought it, or changed it last
    number: int
    tool: str
    status: StepStatus = StepStatus.PENDING
    attempt: int = 0  # how often it was started
    args: dict[str, Any] | None = None  # as filled in for the last start (or for a confirm)
    started_at: AwareDatetime | None = None
    finished_at: AwareDatetime | None = None
    observation: Observation | None = None
    error: str | None = None
    tokens: int = 0  # that its tool has used, over all tries
    money: float = 0.0  # ... in US dollars
    progress: str | None = None  # the tool's own words while it runs; not stored


class Revision(BaseModel):
    """One revision of the plan, as it was graded."""

    model_config = ConfigDict(frozen=True)

    revision: int
    plan: Plan
    digest: Digest
    risk: Level
    grades: dict[str, Grade]
    tool_digests: dict[str, Digest]
    author: str  # Slack user id of who wrote it by hand; "pullcord": the planner
    at: AwareDatetime


class Freeze(BaseModel):
    """An admin holds every run and every start."""

    model_config = ConfigDict(frozen=True)

    by: str
    at: AwareDatetime
    why: str = ""


class Approval(BaseModel):
    """One person's yes to one digest (of a revision, or of one step's filled-in arguments)."""

    model_config = ConfigDict(frozen=True)

    actor: str
    revision: int
    digest: Digest
    at: AwareDatetime
    kind: Literal["plan", "confirm"] = "plan"
    step: StepId | None = None


class Attempt(BaseModel):
    """One planning round, raw answer kept."""

    model_config = ConfigDict(frozen=True)

    round: int
    ok: bool
    raw: str
    faults: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    question: Question | None = None
    suggestion: str = ""
    planner: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class Answer(BaseModel):
    """The closing message. `cites` are ids of finished steps; `unsupported` are sentences that no finished step supports."""

    model_config = ConfigDict(frozen=True)

    text: str  # sentences end with their sources in brackets, by step number: "The timeout is 60 s [1][2]."
    cites: tuple[StepId, ...] = ()
    unsupported: tuple[str, ...] = ()
    by: str = "report"  # "report": built by code without a model; else the model's id
    tokens_in: int = 0
    tokens_out: int = 0


class Entry(BaseModel):
    """One audit entry: unchangeable, chained by `hash` to the one before of the same run."""

    model_config = ConfigDict(frozen=True)

    run: str
    seq: int
    at: AwareDatetime
    actor: str  # Slack user id, "clock" or "pullcord"
    event: str
    data: dict[str, Any]
    hash: str


class Post(BaseModel):
    """Something that must stand in Slack: an outbox row until `ts` is known, then (for cards) the message to keep true."""

    model_config = ConfigDict(frozen=True)

    id: int
    run: str
    card: str  # run, review, confirm, answer, audit, note
    key: str  # unique for ever: "R-7K2Q:review.1"; also in the message's metadata, so that a lost answer never doubles a post
    channel: str  # Slack id, or "#name" until the presenter has resolved it
    in_thread: bool = True
    ts: str | None = None
    shown: int = -1  # the run version that the message shows
    state: Literal["wanted", "sending", "posted", "failed"] = "wanted"
    data: dict[str, Any] = {}
    error: str | None = None
    tries: int = 0
    not_before: AwareDatetime | None = None


class NewPost(BaseModel):
    """A post to be inserted in the transaction of the change that causes it."""

    model_config = ConfigDict(frozen=True)

    run: str
    card: str
    key: str
    channel: str
    in_thread: bool = True
    ts: str | None = None
    data: dict[str, Any] = {}


class LockWait(BaseModel):
    """A step that cannot start yet: another run holds a key that it needs, until it ends."""

    model_config = ConfigDict(frozen=True)

    step: StepId
    key: str
    holder: RunId
    requester: str  # of the holder
    since: AwareDatetime | None = None  # when the holder's first step started
    channel: str = ""  # of the holder's card ...
    card_ts: str | None = None
    thread_ts: str | None = None


class Snapshot(BaseModel):
    """One run, whole."""

    model_config = ConfigDict(frozen=True)

    run: Run
    plan: Plan | None = None  # the current revision
    grades: dict[str, Grade] = {}
    tool_digests: dict[str, Digest] = {}
    revisions: tuple[Revision, ...] = ()  # all of them, oldest first; the one that stands is `run.revision`
    freeze: Freeze | None = None  # of the whole bot, if there is one now
    steps: tuple[StepState, ...] = ()
    approvals: tuple[Approval, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    answer: Answer | None = None
    posts: tuple[Post, ...] = ()
    entries: tuple[Entry, ...] = ()  # oldest first
    ahead: int = 0  # queued runs before this one
    lock_waits: tuple[LockWait, ...] = ()  # its steps that wait for another run's key

    def revised(self, n: int) -> Revision | None:
        """The revision of that number."""
        return next((one for one in self.revisions if one.revision == n), None)

    @property
    def proposal(self) -> Revision | None:
        """The revision that a redirect wants, while it waits for people."""
        return self.revised(self.run.proposed) if self.run.proposed is not None else None

    def state(self, step_id: str) -> StepState:
        """The state of that step; KeyError if the run has no such step."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)


class Synthesizer(Protocol):
    """Writes the answer: a model, or code where there is none. It has no tools."""

    async def answer(self, snapshot: Snapshot, catalogue: Catalogue) -> Answer:
        """The answer of a run whose steps are settled. Never raises for want of a model: a plain report stands in."""
        ...

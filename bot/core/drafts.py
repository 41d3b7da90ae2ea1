"""What a planner gives back: a plan, or a question, or what it did not understand; and what was wrong with it, as facts.

Planners (a model, or the offline rules) decide nothing: a `Draft` is checked by `validation`, graded by `policy` and shown to people.
"""

from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from bot.core.catalogue import Catalogue
from bot.core.ids import StepId
from bot.core.plan import Plan


class Fault(BaseModel):
    """One thing wrong with a plan: where, what, and how to mend it."""

    model_config = ConfigDict(frozen=True)

    says: str  # "the tool 'jira.close_all' does not exist"
    step: str | None = None  # id of the step, if it is one step's fault
    field: str | None = None  # "args.path", "depends_on", "line 3"
    fix: str = ""  # "use jira.close"

    def __str__(self) -> str:
        place = " · ".join(part for part in (f"step {self.step}" if self.step else "", self.field or "") if part)
        return (f"{place}: " if place else "") + (f"{self.says.removesuffix('.')}; {self.fix}" if self.fix else self.says)


class Question(BaseModel):
    """One thing that the planner needs to know before it can plan."""

    model_config = ConfigDict(frozen=True)

    says: str
    choices: tuple[str, ...] = ()


class Part(BaseModel):
    """One part of an ask as the offline planner read it: in plain notation if understood, else with the closest tools."""

    model_config = ConfigDict(frozen=True)

    words: str
    understood: bool
    notation: str = ""
    note: str = ""  # "needs a summary first"
    closest: tuple[str, ...] = ()


class Draft(BaseModel):
    """One planning round's reply, raw text kept whatever became of it."""

    model_config = ConfigDict(frozen=True)

    raw: str
    plan: Plan | None = None
    question: Question | None = None
    faults: tuple[Fault, ...] = ()
    parts: tuple[Part, ...] = ()  # offline only: what was understood and what was not
    suggestion: str = ""  # an ask that would be understood
    planner: str = "offline"  # or the model's id
    tokens_in: int = 0
    tokens_out: int = 0


class Reply(BaseModel):
    """What somebody said in the thread of a live run, and that is to change the rest."""

    model_config = ConfigDict(frozen=True)

    ts: str = ""  # of the message; empty if it was typed in a form
    actor: str
    text: str


class Rest(BaseModel):
    """What is to be planned again while a run stands: the steps that have not started. The others are `fixed` and cannot be changed.

    The draft that answers holds the *whole rest* and none of the fixed steps; its steps may refer to fixed ones. A step of the rest that
    stays as it is keeps its id and number.
    """

    model_config = ConfigDict(frozen=True)

    plan: Plan  # as it stands, or as the redirect that is still open has it
    fixed: tuple[StepId, ...] = ()
    taken: tuple[StepId, ...] = ()  # every id that this run has ever used: a new step gets another
    statuses: dict[str, str] = {}  # step → StepStatus, for every step of the plan
    observations: dict[str, Any] = {}  # what the finished steps returned
    replies: tuple[Reply, ...] = ()  # to be followed now, in this order; the later one counts
    followed: tuple[Reply, ...] = ()  # earlier ones, which the plan already follows


class Brief(BaseModel):
    """What a planner is told. It has no tools: the catalogue is text to it."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    ask: str
    catalogue: Catalogue
    refusals: tuple[str, ...] = ()  # reasons of earlier cancellations, which the next round must respect
    answers: tuple[str, ...] = ()  # what the requester answered to questions
    earlier: tuple[Draft, ...] = ()  # earlier rounds of this run; their faults are to be mended
    now: str = ""  # ISO time, for "today"
    before: str = ""  # what the run found that this ask follows: its answer
    current: Plan | None = None  # the plan under review, if another revision of it is wanted
    changes: tuple[str, ...] = ()  # ... and what the reviewers asked to be different, oldest first
    secrets: tuple[str, ...] = ()  # names that `{{secret:NAME}}` may have; nobody here knows a value
    rest: Rest | None = None  # the run is live: plan only its rest


class Planner(Protocol):
    """Two exist: `bot.llm.planner` asks a model, `bot.llm.offline` reads notation and everyday phrases."""

    name: str

    async def draft(self, brief: Brief) -> Draft:
        """One planning round. Raises `ModelFault` when the model gave nothing usable; a wrong plan comes back as a draft with faults."""
        ...


Kind = Literal["change", "question", "control", "chatter"]  # what a reply in a live run's thread is


class Classifier(Protocol):
    """Says what a reply is: a cheap model, or rules where there is none."""

    async def classify(self, brief: Brief) -> Kind | None:
        """What the last of `brief.rest.replies` is; None if that cannot be told. Never raises for what a person wrote."""
        ...

"""Runs to be drawn: one small plan (read, read, summarize, post), one risky plan of twelve steps, and every state either can be in."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.core.catalogue import Effect, ToolSpec
from bot.core.chain import Head
from bot.core.ids import Digest, RunId, StepId
from bot.core.plan import Plan, Step, fingerprint, numbered
from bot.core.policy_file import PROFILE_MAY_NOT
from bot.core.risk import Grade, Level, Mode, highest
from bot.core.run import Event, Hold, Redirect, Run, RunStatus, StepStatus
from bot.core.snapshot import Approval, Entry, Freeze, Observation, Revision, Snapshot, StepState
from handlers.views.scene import Scene

AT = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)
RUN = "R-7K2Q"
DIGEST = Digest("9f2c41d8" + "0" * 56)
REQUESTER, APPROVER, APPROVER2, MEMBER = "U0REQUESTER", "U0APPROVER", "U0APPROVER2", "U0MEMBER"
ADMIN = "U0ADMIN"
HEAD = Head(131, "5e1d9a0c77b24f08" + "0" * 48)  # of the chain of heads, as audit posts carry it
TEXT = {"type": "string"}


def schema(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys(names, TEXT), "additionalProperties": False}


CATALOGUE: Mapping[str, ToolSpec] = {
    spec.name: spec
    for spec in (
        ToolSpec("files.read", "Reads a file.", Effect.READ, schema("path"), target="path"),
        ToolSpec("files.search", "Searches files.", Effect.READ, schema("query", "path"), says="Searches {path}"),
        ToolSpec("web.fetch", "Fetches a page.", Effect.READ, schema("url"), says="Reads {url}", untrusted_output=True),
        ToolSpec("text.summarize", "Sums up.", Effect.READ, schema("text"), says="Writes a summary"),
        ToolSpec("files.write", "Writes a file.", Effect.WRITE, schema("path", "text"), target="path", previews=True),
        ToolSpec("slack.post_message", "Posts.", Effect.SEND, schema("channel", "text"), says="Sends a message to {channel}"),
        ToolSpec("site.deploy", "Deploys.", Effect.EXECUTE, schema("env", "version"), says="Changes web in {env}", verifies=True),
    )
}

SMALL = numbered(
    Plan(
        goal="Tell #ops what changed in the config",
        steps=(
            Step(id="config", purpose="Read the current config", tool="files.read", args={"path": "app/config.toml"}),
            Step(id="old", purpose="Read last week's copy", tool="files.read", args={"path": "backup/config.toml"}),
            Step(
                id="brief", purpose="Write a short comparison", tool="text.summarize", args={"text": "{{old.text}}\n---\n{{config.text}}"}
            ),
            Step(id="post", purpose="Tell the team", tool="slack.post_message", args={"channel": "#ops", "text": "{{brief.summary}}"}),
        ),
    )
)

RISKY = numbered(
    Plan(
        goal="Raise the request timeout to 60 s in production and tell #ops",
        steps=(
            Step(id="cfg", purpose="Read the config", tool="files.read", args={"path": "app/config.toml"}),
            Step(id="hosts", purpose="Read the host list", tool="files.read", args={"path": "ops/hosts.txt"}),
            Step(id="web1", purpose="Ask web1 how it is", tool="web.fetch", args={"url": "https://web1.example.com/health"}),
            Step(id="web2", purpose="Ask web2 how it is", tool="web.fetch", args={"url": "https://web2.example.com/health"}),
            Step(id="web3", purpose="Ask web3 how it is", tool="web.fetch", args={"url": "https://web3.example.com/health"}, retries=2),
            Step(id="logs", purpose="Look for time-outs", tool="files.search", args={"query": "timeout", "path": "logs/"}),
            Step(
                id="write",
                purpose="Set the timeout to 60 s",
                tool="files.write",
                args={"path": "app/config.toml", "text": '[server]\nhost = "0.0.0.0"\nrequest_timeout = 60\n'},
                depends_on=("cfg", "web1", "web2", "web3"),
            ),
            Step(id="build", purpose="Find the newest build", tool="files.read", args={"path": "build/latest.json"}),
            Step(
                id="deploy",
                purpose="Deploy the new timeout",
                tool="site.deploy",
                args={"env": "prod", "version": "{{build.version}}"},
                depends_on=("write",),
            ),
            Step(
                id="check",
                purpose="Ask web1 again",
                tool="web.fetch",
                args={"url": "https://web1.example.com/health"},
                depends_on=("deploy",),
            ),
            Step(id="brief", purpose="Sum up", tool="text.summarize", args={"text": "{{logs.matches}} {{check.text}}"}),
            Step(id="tell", purpose="Say what was done", tool="slack.post_message", args={"channel": "#ops", "text": "{{brief.summary}}"}),
        ),
    )
)

LEVELS = {Effect.READ: Level.LOW, Effect.WRITE: Level.MEDIUM, Effect.SEND: Level.MEDIUM, Effect.EXECUTE: Level.HIGH}
REASONS = {
    Level.LOW: (),
    Level.MEDIUM: ("41 people read #ops", "the text is made from files that anyone on the team can change"),
    Level.HIGH: ("it changes production", "part of it is filled in later"),
}


def grades(plan: Plan) -> dict[str, Grade]:
    found: dict[str, Grade] = {}
    for step in plan.steps:
        level = LEVELS[CATALOGUE[step.tool].effect]
        high = level is Level.HIGH
        rules = (f"effect.{CATALOGUE[step.tool].effect}",)
        mode = Mode.CONFIRM if high else Mode.ASK
        found[step.id] = Grade(step=step.id, level=level, mode=mode, reasons=REASONS[level], rules=rules, confirms=high)
    return found


def at(seconds: float = 0) -> datetime:
    return AT + timedelta(seconds=seconds)


ADOPTING = frozenset({Event.PLANNED, Event.REVISED, Event.RELEASED, Event.REDIRECTED})


def entry(seq: int, event: Event, actor: str = "pullcord", *, seconds: float = 0, **data: Any) -> Entry:
    """As the door writes it: what puts a revision into force names the steps that there are from then on."""
    if event in ADOPTING and "revision" in data:
        data.setdefault("plan_steps", [])
    return Entry(run=RUN, seq=seq, at=at(seconds), actor=actor, event=event, data=data, hash=fingerprint([seq, event, actor]))


def yes(actor: str = APPROVER, *, seconds: float = 300) -> Approval:
    return Approval(actor=actor, revision=1, digest=DIGEST, at=at(seconds))


def finished(step: Step, says: str = "38 lines", *, value: Any = None, seconds: float = 300, untrusted: bool = False) -> StepState:
    kept = Observation(value={"text": "request_timeout went from 30 to 60"} if value is None else value, says=says, untrusted=untrusted)
    return StepState(
        id=step.id,
        number=step.number,
        tool=step.tool,
        status=StepStatus.SUCCEEDED,
        attempt=1,
        args=dict(step.args),
        started_at=at(seconds),
        finished_at=at(seconds + 1),
        observation=kept,
    )


def standing(step: Step, status: StepStatus = StepStatus.PENDING, **more: Any) -> StepState:
    started = {"attempt": 1, "started_at": at(310)} if status not in (StepStatus.PENDING, StepStatus.SKIPPED) else {}
    ended = {"finished_at": at(316)} if status in (StepStatus.FAILED, StepStatus.CANCELLED) else {}
    return StepState(**{"id": step.id, "number": step.number, "tool": step.tool, "status": status, **started, **ended, **more})


def states(plan: Plan, done: int = 0, **others: StepStatus | dict[str, Any]) -> tuple[StepState, ...]:
    """The first `done` steps finished; `others` by id: a status, or fields of one; the rest not started."""
    found = []
    for place, step in enumerate(plan.steps):
        other = others.get(step.id)
        if isinstance(other, dict):
            found.append(standing(step, **other))
        elif other is not None:
            found.append(standing(step, other))
        else:
            found.append(finished(step) if place < done else standing(step))
    return tuple(found)


def run(status: RunStatus, plan: Plan | None = SMALL, **fields: Any) -> Run:
    levels = [grade.level for grade in grades(plan).values()] if plan else []
    known = {
        "id": RunId(RUN),
        "version": 7,
        "status": status,
        "ask": plan.goal if plan else "Tell #ops what changed in the config",
        "requester": REQUESTER,
        "channel": "C0OPS",
        "revision": 1 if plan else 0,
        "digest": DIGEST if plan else None,
        "approved": DIGEST if plan and status not in (RunStatus.IN_REVIEW, RunStatus.CANCELLED, RunStatus.EXPIRED) else None,
        "risk": highest(levels) if levels else None,
        "created_at": at(),
        "updated_at": at(400),
    }
    return Run(**{**known, **fields})


def scene(
    status: RunStatus,
    plan: Plan | None = SMALL,
    *,
    run_fields: dict[str, Any] | None = None,
    scene_fields: dict[str, Any] | None = None,
    **fields: Any,
) -> Scene:
    """A run in that state, on a stage where everything is known."""
    given = run(status, plan, **(run_fields or {}))
    approvals = fields.pop("approvals", (yes(),) if given.approved else ())
    steps = fields.pop("steps", states(plan) if plan else ())
    snapshot = Snapshot(run=given, plan=plan, grades=grades(plan) if plan else {}, approvals=approvals, steps=steps, **fields)
    known = {
        "snapshot": snapshot,
        "catalogue": CATALOGUE,
        "now": at(320),
        "team_url": "https://example.slack.com/",
        "names": {REQUESTER: "requester", APPROVER: "approver", APPROVER2: "approver2", MEMBER: "member", ADMIN: "admin"},
        "approvers": "anyone in <!subteam^S0OPSLEADS>",
        "approvers_plain": "anyone in @ops-leads",
        "links": {
            kind: f"https://example.slack.com/archives/C0OPS/p{number}"
            for number, kind in enumerate(("run", "review", "confirm", "answer", "redirect"), start=1)
        },
        "reach": {"#ops": 41, "#general": 1204},
        "may_not": PROFILE_MAY_NOT["team"],
    }
    return Scene(**{**known, **(scene_fields or {})})


def history(plan: Plan, done: int, *later: Entry) -> tuple[Entry, ...]:
    """The entries of a run of which the first `done` steps have finished, and those that came later."""
    moves: list[tuple[Event, dict[str, Any]]] = [(Event.PLANNED, {"revision": 1, "plan_steps": [step.id for step in plan.steps]})]
    for step in plan.steps[:done]:
        moves += [(Event.STEP_STARTED, {"step": step.id, "step_to": "running"})]
        moves += [(Event.STEP_SUCCEEDED, {"step": step.id, "step_to": "succeeded"})]
    begun = [entry(seq, event, seconds=10 + seq, version=seq, **data) for seq, (event, data) in enumerate(moves, start=3)]
    return (*begun, *later)


HELD = {"deadline": at(1800)}


def held(reason: Hold, step: str | None = None, plan: Plan = SMALL, **fields: Any) -> Scene:
    """A run that stands, for that reason."""
    given = {"reason": reason, "held_step": StepId(step) if step else None, "deadline": at(1800) if reason is Hold.CONFIRM else None}
    return scene(RunStatus.PAUSED, plan, run_fields=given, **fields)


# revisions and redirects

REST = numbered(
    SMALL.model_copy(
        update={
            "steps": (
                *SMALL.steps[:2],
                SMALL.steps[3].model_copy(update={"args": {"channel": "#ops", "text": "request_timeout is now {{config.text}}"}}),
                Step(
                    id="everyone",
                    purpose="Tell everyone too",
                    tool="slack.post_message",
                    args={"channel": "#general", "text": "request_timeout is now 60 s"},
                ),
            )
        }
    )
)
SKIPPED = SMALL.model_copy(update={"steps": SMALL.steps[:3]})
REPLY = "skip the summary, just post the new timeout, and post it to #general too"
FREEZE = Freeze(by=ADMIN, at=at(360), why="Database move until 15:00.")


def revision(number: int, plan: Plan = SMALL, *, author: str = "pullcord", seconds: float = 10) -> Revision:
    graded = grades(plan)
    return Revision(
        revision=number,
        plan=plan,
        digest=DIGEST if number == 1 else fingerprint([number, plan.model_dump(mode="json")]),
        risk=highest([grade.level for grade in graded.values()]),
        grades=graded,
        tool_digests={step.tool: CATALOGUE[step.tool].digest for step in plan.steps},
        author=author,
        at=at(seconds),
    )


def asked(seq: int = 9, text: str = REPLY, *, actor: str = REQUESTER, how: str = "reply", seconds: float = 360, **data: Any) -> Entry:
    return entry(seq, Event.REDIRECT_ASKED, actor, seconds=seconds, how=how, text=text, ts=f"17960475{seq:02}.000100", **data)


def proposed(seq: int = 11, number: int = 2, steps: tuple[str, ...] = ("post", "everyone"), **data: Any) -> Entry:
    return entry(seq, Event.REDIRECT_PLANNED, REQUESTER, seconds=380, proposed=number, asked=list(steps), words="1 added", **data)


PLANNED = entry(3, Event.PLANNED, seconds=10, revision=1)


def redirected(
    redirect: Redirect | None,
    *later: Entry,
    reason: Hold | None = Hold.REDIRECT,
    status: RunStatus = RunStatus.PAUSED,
    plan: Plan = REST,
    run_fields: dict[str, Any] | None = None,
    **fields: Any,
) -> Scene:
    """A run whose rest somebody wants to be different: `plan` is revision 2; `later` are entries after the reply."""
    review = redirect is Redirect.REVIEW
    known: dict[str, Any] = {
        "redirect": redirect,
        "reason": reason,
        "proposed": 2 if review else None,
        "deadline": at(1800) if review else None,
    }
    adopted = any(one.event == Event.REDIRECTED for one in later)
    stands = {"revision": 2, "digest": revision(2, plan).digest} if adopted else {}
    return scene(
        status,
        plan if adopted else SMALL,
        run_fields={**known, **stands, **(run_fields or {})},
        entries=(PLANNED, asked(), *later),
        revisions=(revision(1), revision(2, plan, seconds=380)),
        steps=fields.pop("steps", states(plan if adopted else SMALL, 2)),
        approvals=fields.pop("approvals", (yes(),)),
        scene_fields={"redirects_limit": 5, "revisions_limit": 3, **(fields.pop("scene_fields", None) or {})},
        **fields,
    )

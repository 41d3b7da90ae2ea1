"""What is told of a live run to whoever plans its rest again, or makes out what a reply is."""

from bot.activities.rounds import said
from bot.core import rest
from bot.core.drafts import Brief, Reply, Rest
from bot.core.ids import StepId
from bot.core.plan import Plan
from bot.core.run import Event, StepStatus
from bot.core.snapshot import Entry, Snapshot
from bot.deps import Deps


def brief_of(deps: Deps, snapshot: Snapshot, *, heard: Reply | None = None) -> Brief:
    """What the planner (or, with one reply more, the classifier) is told of a live run."""
    open_now = rest.opened(snapshot.entries)
    proposed = snapshot.revised(open_now.proposed) if open_now.proposed else None
    plan = proposed.plan if proposed else snapshot.plan or Plan(goal="nothing yet", steps=())
    states = states_of(snapshot)
    told = Rest(
        plan=plan,
        fixed=rest.fixed(plan, states),
        taken=tuple(dict.fromkeys(step.id for revision in snapshot.revisions for step in revision.plan.steps)),
        statuses={step.id: states.get(step.id, StepStatus.PENDING).value for step in plan.steps},
        observations={state.id: state.observation.value for state in snapshot.steps if state.observation},
        replies=(*open_now.replies[open_now.since :], *([heard] if heard else [])),
        followed=(*_adopted(snapshot.entries), *open_now.replies[: open_now.since]),
    )
    return Brief(
        ask=snapshot.run.ask,
        catalogue=deps.tools.catalogue,
        refusals=tuple(call.says() for call in rest.refused_calls(snapshot.entries)),
        answers=said(snapshot, Event.QUESTION_ANSWERED, "answer"),
        now=deps.now().isoformat(timespec="minutes"),
        secrets=tuple(sorted(deps.secrets.names(snapshot.run.id))),
        rest=told,
    )


def states_of(snapshot: Snapshot) -> dict[StepId, StepStatus]:
    """The status of each step that has a row."""
    return {state.id: state.status for state in snapshot.steps}


def _adopted(entries: tuple[Entry, ...]) -> tuple[Reply, ...]:
    """Replies of redirects that were adopted: the plan that stands follows them."""
    last = max((n for n, entry in enumerate(entries) if entry.event == Event.REDIRECTED), default=0)
    return tuple(
        Reply(ts=entry.data.get("ts", ""), actor=entry.actor, text=entry.data["text"])
        for entry in entries[:last]
        if entry.event == Event.REDIRECT_ASKED and entry.data.get("how") == "reply"
    )

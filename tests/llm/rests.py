"""Live runs whose rest is planned again, and reviews that want another revision, as the planners are told of them."""

from typing import Any

from bot.core.drafts import Brief, Draft, Reply, Rest
from bot.core.ids import StepId
from bot.core.notation import parse, print_step
from bot.core.plan import Plan, numbered
from tests.llm.catalogue import TOOLS

ASK = "read notes/today.md, then summarize it, then post the summary to #ops"
READ = "read: files.read path=notes/today.md"
SUMMARY = 'summary: text.summarize text="{{read.text}}"'
POST = 'post: slack.post_message channel=#ops text="{{summary.summary}}"'


def plan_of(*lines: str) -> Plan:
    """The plan of these lines, numbered."""
    return numbered(parse("\n".join(lines), goal=ASK, catalogue=TOOLS))


DEMO = plan_of(READ, SUMMARY, POST)


def rest_of(*replies: str, plan: Plan = DEMO, done: tuple[str, ...] = ("read",), **more: Any) -> Rest:
    """The rest of a run in which the first steps have run."""
    statuses = {step.id: "succeeded" if step.id in done else "pending" for step in plan.steps}
    said = tuple(Reply(ts=f"17960472{n:02d}.000100", actor="U0REQUESTER", text=text) for n, text in enumerate(replies))
    return Rest.model_validate(
        {"plan": plan, "fixed": [StepId(name) for name in done], "statuses": statuses, "replies": said, **more},
    )


def live(*replies: str, **more: Any) -> Brief:
    """A brief for the rest of a live run."""
    return Brief(ask=ASK, catalogue=TOOLS, rest=rest_of(*replies, **more))


def review(*changes: str, plan: Plan = DEMO) -> Brief:
    """A brief for another revision of a plan under review."""
    return Brief(ask=ASK, catalogue=TOOLS, current=plan, changes=changes)


def lines_of(draft: Draft) -> list[str]:
    """The drafted plan in plain notation."""
    assert draft.plan is not None, draft.faults
    return [print_step(step, purposes=False) for step in draft.plan.steps]

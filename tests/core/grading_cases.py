"""What the tables of grading cases are written in: a plan in plain notation, a policy, facts, and what the last step must come to."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from bot.core import policy
from bot.core.catalogue import Catalogue, Effect
from bot.core.facts import NOTHING, Facts, Reach
from bot.core.grading import grade
from bot.core.notation import parse_steps
from bot.core.plan import Plan, numbered
from bot.core.policy import Policy
from bot.core.risk import Grade
from tests.core.samples import CATALOGUE, TEXT, schema, spec

HTTP = spec(
    "http.request", Effect.SEND, schema(("url",), url=TEXT, method=TEXT, json={}), target="url", untrusted_output=True, outward=True
)
TALK = spec("slack.read_channel", Effect.READ, schema(("channel",), channel=TEXT), target="channel", untrusted_output=True)
DEPLOY = spec("site.deploy", Effect.EXECUTE, schema(("env",), env=TEXT), target="env")
CLONE = spec("git.clone", Effect.WRITE, schema(("repoUrl",), repoUrl=TEXT, targetPath=TEXT), target="repoUrl")
TELL = spec("chat.tell", Effect.SEND, schema(("channelId",), channelId=TEXT, text=TEXT), target="channelId")
PAY = spec("bank.pay", Effect.EXECUTE, schema(("amount",), amount={}, to=TEXT), target="to")
NOW = spec("time.now", Effect.READ, schema())
TOOLS: Catalogue = {**CATALOGUE, **{tool.name: tool for tool in (HTTP, TALK, DEPLOY, CLONE, TELL, PAY, NOW)}}

WORLD = replace(
    NOTHING,
    requester="U0REQUESTER",
    asked_in="#ops",
    reach={
        "#ops": Reach(people=12, name="ops"),
        "#team": Reach(people=51, name="team"),
        "#general": Reach(people=300, name="general"),
        "#partners": Reach(people=9, external=True, name="partners"),
        "#board": Reach(people=5, private=True, name="board"),
        "C0GENERAL1": Reach(people=300, name="general"),
        "C0PARTNER1": Reach(people=9, external=True, name="partners"),
    },
)


class Row(NamedTuple):
    """`plan`: notation, steps parted by `;`. `comes_to`: "high confirm", `why`: part of one reason, `rule`: one of the rules."""

    plan: str
    comes_to: str
    why: str = ""
    rule: str = ""
    rules: str = ""  # YAML of the policy
    facts: Facts = NOTHING
    filled: Mapping[str, Any] | None = None  # the values of the last step, once they are known


def drawn(text: str) -> Plan:
    """The plan of a row."""
    return numbered(Plan(goal="A goal", steps=parse_steps("\n".join(part.strip() for part in text.split(";")))))


def written(text: str) -> Policy:
    """The policy of a row; the team profile where it says nothing."""
    return policy.parse(text, source="p.yml") if text else policy.default("team")


def come_to(row: Row) -> Grade:
    """The grade of the row's last step."""
    plan = drawn(row.plan)
    step = plan.steps[-1]
    if row.filled is None:
        return grade(step, plan, TOOLS, written(row.rules), row.facts)
    step = step.model_copy(update={"args": {**step.args, **row.filled}})
    return grade(step, plan, TOOLS, written(row.rules), row.facts, filled=True)


def holds(row: Row) -> None:
    """The row is as it says; else the assertion shows what it came to."""
    found = come_to(row)
    assert f"{found.level} {found.mode}" == row.comes_to, found
    assert not row.why or any(row.why in reason for reason in found.reasons), found
    assert not row.rule or row.rule in found.rules, found

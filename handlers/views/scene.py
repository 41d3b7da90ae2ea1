"""What a card is made from, and what it is: a scene goes in, a card comes out, and nothing else is looked at.

The presenter makes the scene: the run as it is now, and the few things that only the Slack side knows (names, links, who may approve in
words). `message` turns a card into the arguments of a post; its metadata lets a lost answer be found again instead of posting twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from bot.core.catalogue import Catalogue
from bot.core.plan import Plan
from bot.core.risk import Level
from bot.core.run import Run
from bot.core.snapshot import Revision, Snapshot

Block = dict[str, Any]
Element = dict[str, Any]

# Moves that an installation may or may not have: a card shows only those that it was told exist (no button that cannot work).
OFFER_ASK = "ask"  # Ask for changes
OFFER_BREAKPOINT = "breakpoint"  # the select "Pause before…"
OFFER_CHANGE_REST = "change_rest"
OFFER_CHANGE_ARGUMENTS = "change_arguments"
OFFER_REDIRECT = "redirect"  # replies that change what is still to come, and Never mind
OFFER_ASK_AGAIN = "ask_again"
OFFER_SHOW_STEPS = "show_steps"  # Show all on a long run card
NO_OFFERS: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Scene:
    """Everything that a card may need beside the snapshot."""

    snapshot: Snapshot
    catalogue: Catalogue
    now: datetime
    team_url: str  # "https://example.slack.com/", for links to people
    names: Mapping[str, str] = field(default_factory=dict)  # user id → name, as far as known
    approvers: str = "the approvers"  # mrkdwn, may ping: "anyone in <!subteam^S0OPSLEADS>"
    approvers_plain: str = "the approvers"  # the same in plain words, for cards that must not ping
    first_list: str = ""  # who may approve without an escalation, if that is not everybody who may now
    first_list_plain: str = ""
    escalation: str = ""  # the second list, who may approve too once they were asked; mrkdwn, may ping
    silence_releases: bool = False  # nobody answers: the plan runs, since it only reads and the policy says so
    quorum: int = 1
    quorums: Mapping[Level, int] = field(default_factory=dict)  # by risk, for values that turn out riskier than what was approved
    may_not: Mapping[Level, tuple[str, ...]] = field(default_factory=dict)  # who may not approve, by risk: the policy's words
    able: frozenset[str] | None = None  # ids of all whom the lists of approvers mean; None: not known
    policy_name: str = "team"
    commands: Mapping[str, str] = field(default_factory=dict)  # "plan" → "/plan"
    links: Mapping[str, str] = field(default_factory=dict)  # kind of card ("run", "review", "answer", "confirm") → permalink
    reach: Mapping[str, int] = field(default_factory=dict)  # "#ops" → members
    revisions_limit: int = 0  # by "Ask for changes", in one review; 0: not known, and not said
    redirects_limit: int = 0  # of one run
    suggestions: Mapping[str, str] = field(default_factory=dict)  # step → why a breakpoint before it is suggested

    @property
    def run(self) -> Run:
        """The run's own row."""
        return self.snapshot.run

    @property
    def plan(self) -> Plan:
        """The current revision; a plan without steps before there is one."""
        return self.snapshot.plan or Plan(goal="a plan to come", steps=())

    def under(self, revision: Revision) -> "Scene":
        """The same run with that revision in the place of the one that stands: for what is drawn about it."""
        numbers = {"revision": revision.revision, "digest": revision.digest, "risk": revision.risk}
        of_plan = {"plan": revision.plan, "grades": revision.grades, "tool_digests": revision.tool_digests}
        snapshot = self.snapshot.model_copy(update={"run": self.run.model_copy(update=numbers), **of_plan})
        return replace(self, snapshot=snapshot)

    def command(self, name: str) -> str:
        """What people type in this workspace: `/plan` unless the workspace renamed it."""
        return self.commands.get(name, f"/{name}")


@dataclass(frozen=True)
class Card:
    """`text` is the fallback that notifications and screen readers use: mrkdwn, at most 300 characters."""

    text: str
    blocks: list[Block]


def message(
    card: Card, scene: Scene | None, *, kind: str, version: int, key: str | None = None, more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The arguments of a post or an update that show the card; the caller adds channel, thread and ts. `more`: for the metadata."""
    payload: dict[str, Any] = {"card": kind, "version": version, **(more or {})}
    if scene is not None:
        payload["run"] = scene.run.id
    if key is not None:
        payload["key"] = key
    return {
        "text": card.text,
        "blocks": card.blocks,
        "unfurl_links": False,
        "unfurl_media": False,
        "metadata": {"event_type": "pullcord_card", "event_payload": payload},
    }

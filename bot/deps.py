"""What commands and activities are given: built once by `app`, passed by hand, no container."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.bell import Bell
from bot.core.drafts import Classifier, Planner
from bot.core.facts import Reach
from bot.core.ids import RunId
from bot.core.policy import Policy
from bot.core.snapshot import Synthesizer
from bot.rules import Rules
from bot.settings import Settings
from bot.store.db import Database
from bot.tasks import Tasks
from bot.tools.registry import Registry
from bot.tools.secrets import Secrets


async def reach_unknown(channels: Collection[str]) -> Mapping[str, Reach]:  # noqa: ARG001 — nobody to ask
    """Nobody knows whom a channel reaches: there is no Slack here."""
    return {}


@dataclass(frozen=True)
class Deps:
    """Time and ids come from here, so that a test can move the one and know the other."""

    settings: Settings
    store: Database
    tools: Registry
    rules: Rules
    planner: Planner
    classifier: Classifier
    synthesizer: Synthesizer
    bell: Bell
    tasks: Tasks
    now: Callable[[], datetime]
    new_run_id: Callable[[], RunId]
    secrets: Secrets = field(default_factory=Secrets)  # by name; values are for `tools` alone
    progress: dict[tuple[str, str], str] = field(default_factory=dict)  # (run, step) → the tool's own words while it runs
    reach: Callable[[Collection[str]], Awaitable[Mapping[str, Reach]]] = reach_unknown  # whom words reach in these channels; asks Slack
    unheard: set[str] = field(default_factory=set)  # runs with replies to be made out, so that nobody has to look for them
    opened: OrderedDict[tuple[str, int | str, str], set[int]] = field(default_factory=OrderedDict)  # see `commands.reading`

    @property
    def policy(self) -> Policy:
        """The policy that holds now."""
        return self.rules.policy

    @property
    def audit_place(self) -> str:
        """The audit channel, by id or `#name`; empty if there is none."""
        return self.settings.audit_channel or self.policy.places.audit or ""

    @property
    def review_places(self) -> tuple[str, ...]:
        """Where a review stands: `thread`, and channels by id or `#name`."""
        more = (self.settings.approval_channel,) if self.settings.approval_channel else ()
        return tuple(dict.fromkeys((*self.policy.places.review, *more)))

"""Who had a hand in a plan, or in the values of one step: the people whom a policy may keep from also saying yes to it (`may_not`).

Four kinds: who asked, who wrote part of it by hand, whose replies it follows, and whose words became the ask. To ask for changes in a
review is to review, and makes nobody a maker. Pure; read from the run, its revisions and its record.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from bot.core import rest
from bot.core.ids import PULLCORD
from bot.core.plan import Plan
from bot.core.references import sources
from bot.core.run import Run
from bot.core.snapshot import Entry, Revision, StepState


@dataclass(frozen=True)
class Hands:
    """Ids of people."""

    requester: str
    editors: tuple[str, ...] = ()
    redirectors: tuple[str, ...] = ()
    source_author: str | None = None


def of_revision(run: Run, revisions: Iterable[Revision], entries: Iterable[Entry], upto: int) -> Hands:
    """Who made the revision `upto` what it is: all of a plan before anything ran, else what differs from the one that stands."""
    since = run.revision if run.redirect is not None else 0
    said = rest.opened(entries).replies if run.redirect is not None else ()
    return Hands(
        requester=run.requester,
        editors=rest.hand_authors(revisions, since=since, upto=upto),
        redirectors=tuple(dict.fromkeys(reply.actor for reply in said)),
        source_author=run.source_author,
    )


def of_step(run: Run, revisions: Iterable[Revision], entries: Iterable[Entry], plan: Plan, states: Iterable[StepState], step: str) -> Hands:
    """Who made one step, and the values that flow into it, what they are: by the revisions that brought them."""
    flows = feeding(plan, step)
    brought = {state.revision for state in states if state.id in flows}
    authors = [one.author for one in revisions if one.revision in brought and one.author != PULLCORD]
    record = tuple(entries)
    said = [reply.actor for n in sorted(brought) for reply in rest.followed(record, n)]
    return Hands(
        requester=run.requester,
        editors=tuple(dict.fromkeys(authors)),
        redirectors=tuple(dict.fromkeys(said)),
        source_author=run.source_author,
    )


def feeding(plan: Plan, step: str) -> set[str]:
    """The step and every step whose result flows into its arguments, however far back."""
    args = {str(one.id): one.args for one in plan.steps}
    found: set[str] = set()
    open_: Collection[str] = {step}
    while open_:
        found |= set(open_)
        open_ = {name for one in open_ for name in sources(args.get(one, {}))} - found
    return found

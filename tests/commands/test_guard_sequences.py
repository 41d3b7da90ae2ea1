"""No sequence of clicks without the needed people ever approves, and none starts an effect: on the real store, against a rule of its own.

Anybody does anything in any order: says yes (to this revision, another one, with the right name or a wrong one, in time or late), edits,
cancels, joins and leaves the group. What the guard let through is held against a plain account of who was allowed at that moment.
"""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot import runs
from bot.activities.dispatching import dispatch
from bot.activities.drafting import draft
from bot.commands import confirming, editing, intake, review
from bot.core.policy import Member
from bot.core.run import Event, Hold, Run, RunStatus
from bot.deps import Deps
from bot.errors import Refused
from tests.commands.test_editing import edited
from tests.doubles.clock import Clock
from tests.doubles.parts import close_parts, open_parts
from tests.doubles.policies import DEMO_POLICY

PEOPLE = ("asks", "wrote", "one", "two", "three", "guest", "other")
PLANS = ("d: test.destroy name=web", "c: test.change name=web")
NEEDED = {"high": 2, "medium": 1}
POLICY = DEMO_POLICY + "\nstep_up: [high]\n"

moves = st.lists(
    st.one_of(
        st.tuples(
            st.just("yes"), st.sampled_from(PEOPLE), st.sampled_from((0, 0, 0, -1)), st.sampled_from(("web", "web", "no")), st.booleans()
        ),
        st.tuples(st.just("edit"), st.sampled_from(PEOPLE), st.sampled_from(PLANS)),
        st.tuples(st.just("group"), st.sampled_from(PEOPLE), st.booleans()),
        st.tuples(st.just("confirm"), st.sampled_from(PEOPLE), st.sampled_from(("web", "no")), st.booleans()),
        st.tuples(st.just("run")),
    ),
    min_size=4,
    max_size=16,
)


@dataclass
class Story:
    """What happened, as the test sees it."""

    deps: Deps
    run: Run
    group: set[str] = field(default_factory=lambda: {"one", "two", "three", "guest", "wrote"})
    editors: set[str] = field(default_factory=set)
    yeses: dict[int, list[tuple[str, bool]]] = field(default_factory=dict)  # revision → who, and were they allowed then
    confirmed: list[tuple[str, bool]] = field(default_factory=list)

    def member(self, name: str) -> Member:
        listed = frozenset({"@ops-leads"}) if name in self.group else frozenset[str]()
        return Member(id=name, team="T0HOME", listed=listed, is_guest=name == "guest")

    def may(self, name: str, risk: str | None, typed: str, late: bool) -> bool:
        """The rule, once more and plainly."""
        high = risk == "high"
        made = name in self.editors or name == "wrote" or (high and name == "asks")
        return name in self.group and name != "guest" and not made and not late and (typed == "web" or not high)

    async def now(self) -> Run:
        return await runs.get(self.deps, self.run.id)


async def yes(story: Story, name: str, off: int, typed: str, late: bool) -> None:
    run, deps = await story.now(), story.deps
    at = (run.deadline or deps.now()) + timedelta(seconds=5) if late else deps.now()
    allowed = story.may(name, run.risk, typed, late and run.deadline is not None)
    plan = (await runs.snapshot(deps, run.id)).plan
    named = str(plan.steps[0].args["name"]) if plan and typed == "web" else typed
    await review.approve(deps, run.id, run.revision + off, who=story.member(name), received_at=at, typed=named)
    story.yeses.setdefault(run.revision, []).append((name, allowed and off == 0))


async def edit(story: Story, name: str, plan: str) -> None:
    run = await story.now()
    new = await edited(story.deps, run.id, plan + str(run.revision))
    after = await editing.save(story.deps, run.id, base=run.revision, plan=new, who=story.member(name))
    if after.revision != run.revision:
        story.editors.add(name)


async def group(story: Story, name: str, inside: bool) -> None:
    story.group = story.group | {name} if inside else story.group - {name}


async def confirm(story: Story, name: str, typed: str, late: bool) -> None:
    run, deps = await story.now(), story.deps
    if run.reason is not Hold.CONFIRM or run.held_step is None:
        return
    at = (run.deadline or deps.now()) + timedelta(seconds=5) if late else deps.now()
    card = [post.data for post in (await runs.snapshot(deps, run.id)).posts if post.card == "confirm"][-1]
    named = typed if typed == "no" else str(card["args"]["name"])
    allowed = story.may(name, "high", "web" if typed == "web" else "no", late)
    who = story.member(name)
    await confirming.confirm(deps, run.id, run.held_step, digest8=card["filling"], who=who, received_at=at, typed=named, opened_all=True)
    story.confirmed.append((name, allowed))


async def run(story: Story) -> None:
    """Whoever attends to runs does what can be done now."""
    if (await story.now()).status in (RunStatus.QUEUED, RunStatus.RUNNING):
        await dispatch(story.deps, story.run.id, share=lambda: 4)


DO: dict[str, Any] = {"yes": yes, "edit": edit, "group": group, "confirm": confirm, "run": run}


async def played(folder: Path, plan: str, sequence: list[tuple[Any, ...]]) -> None:
    deps = await open_parts(folder, clock=Clock(), policy_text=POLICY)
    try:
        asks = Member(id="asks", team="T0HOME")
        about: dict[str, Any] = {"team": "T0HOME", "channel": "C", "thread_ts": "1.1", "source_ts": None, "event_key": None}
        opened = await intake.open_run(deps, ask=plan, who=asks, source_author="wrote", **about)
        assert opened is not None
        await draft(deps, opened.id)
        story = Story(deps, opened)
        for move, *given_ in sequence:
            try:
                await DO[move](story, *given_)
            except Refused:
                continue
        await _holds(story, folder)
    finally:
        await close_parts(deps)


async def _holds(story: Story, folder: Path) -> None:
    snapshot = await runs.snapshot(story.deps, story.run.id, entries=True)
    assert all(allowed for said in story.yeses.values() for _, allowed in said), story.yeses
    assert all(allowed for _, allowed in story.confirmed), story.confirmed
    approved = [entry for entry in snapshot.entries if entry.event == Event.APPROVED]
    for entry in approved:
        revision = entry.data["revision"]
        given = {
            one.actor for one in snapshot.approvals if (one.kind, one.revision, one.digest) == ("plan", revision, entry.data["digest"])
        }
        standing = snapshot.revised(revision)
        assert standing is not None
        assert len(given) >= NEEDED[standing.risk], given
        assert given == {name for name, _ in story.yeses[revision]}
    effects = [line for name in ("destroy", "change") if (path := folder / f"{name}.log").exists() for line in path.read_text().split()]
    assert not effects or approved
    assert not (folder / "destroy.log").exists() or story.confirmed


@contextmanager
def own_folder() -> Iterator[Path]:
    """A folder for one example, which the test tools write into."""
    before = os.environ["PULLCORD_TEST_FOLDER"]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PULLCORD_TEST_FOLDER"] = folder
        try:
            yield Path(folder)
        finally:
            os.environ["PULLCORD_TEST_FOLDER"] = before


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(plan=st.sampled_from(PLANS), sequence=moves)
def test_no_sequence_of_clicks_without_the_needed_people_approves_or_starts_an_effect(plan: str, sequence: list[tuple[Any, ...]]) -> None:
    with own_folder() as folder:
        asyncio.run(played(folder, plan, sequence))


def test_the_same_account_finds_the_sequence_that_does_approve() -> None:
    """Were nothing ever approved, the property above would hold nothing."""
    sequence: list[tuple[Any, ...]] = [
        ("edit", "asks", PLANS[0]),
        ("yes", "one", 0, "web", False),
        ("yes", "asks", 0, "web", False),
        ("yes", "two", 0, "web", False),
        ("run",),
        ("confirm", "asks", "web", False),
        ("confirm", "three", "web", False),
        ("run",),
    ]
    with own_folder() as folder:
        asyncio.run(played(folder, PLANS[0], sequence))
        assert (folder / "destroy.log").read_text().split() == ["web1"]

"""From a run to what stands in Slack: the scene is set (the run as it is now, names, links, reach), and the view of that kind draws it.

Slack's own questions (names, channels) must not keep a card from being drawn: where Slack does not answer, ids and plain words stand in.
"""

from collections.abc import Awaitable
from typing import Any, TypeVar

import structlog

from bot import runs
from bot.core.references import sources
from bot.core.snapshot import Post, Snapshot
from handlers.desk import Desk
from handlers.trouble import FAILURES
from handlers.views.scene import Scene

log = structlog.get_logger()

Json = dict[str, Any]
T = TypeVar("T")


async def of_run(desk: Desk, run_id: str) -> Scene:
    """The scene of a run. Raises `Refused("unknown_run")`."""
    snapshot = await runs.snapshot(desk.deps, run_id, entries=True)
    directory, policy = desk.slack.directory, desk.deps.policy
    pinging, plain = await _or_else(directory.approver_words(), ("the approvers", "the approvers"))
    return Scene(
        snapshot=snapshot,
        catalogue=desk.deps.tools.catalogue,
        now=desk.deps.now(),
        team_url=desk.slack.team_url,
        names={person: await _or_else(directory.name(person), person) for person in _people(snapshot)},
        approvers=pinging,
        approvers_plain=plain,
        quorum=policy.quorum.get(snapshot.run.risk, 1) if snapshot.run.risk else 1,
        policy_name=policy.profile,
        commands=desk.slack.commands,
        links=_links(desk, snapshot),
        reach=await _reach(desk, snapshot),
    )


async def _or_else(question: Awaitable[T], instead: T) -> T:
    try:
        return await question
    except FAILURES as silence:
        log.warning("scene_without_directory", error=repr(silence))
        return instead


def _people(snapshot: Snapshot) -> set[str]:
    actors = {entry.actor for entry in snapshot.entries} | {approval.actor for approval in snapshot.approvals}
    return {actor for actor in actors | {snapshot.run.requester} if actor not in ("clock", "pullcord", "")}


def _links(desk: Desk, snapshot: Snapshot) -> dict[str, str]:
    """The newest message of each kind; of a review that stands in two places, the one in the thread."""
    standing = [post for post in snapshot.posts if post.ts is not None]
    standing.sort(key=lambda post: (post.in_thread, post.id))
    root = snapshot.run.thread_ts
    return {post.card: desk.link(post.channel, post.ts or "", root if post.in_thread else None) for post in standing}


async def _reach(desk: Desk, snapshot: Snapshot) -> dict[str, int]:
    """How many people each channel has that the plan names."""
    found: dict[str, int] = {}
    for step in snapshot.plan.steps if snapshot.plan else ():
        place = step.args.get("channel")
        if isinstance(place, str) and not sources(place) and place not in found:
            people = await _or_else(_people_in(desk, place), None)
            found |= {place: people} if people is not None else {}
    return found


async def _people_in(desk: Desk, place: str) -> int | None:
    channel_id = await desk.slack.directory.channel_id(place)
    channel = await desk.slack.directory.channel(channel_id) if channel_id else None
    return channel.people if channel else None

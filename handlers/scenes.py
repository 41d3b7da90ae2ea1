"""From a run to what stands in Slack: the scene is set (the run as it is now, names, links, reach), and the view of that kind draws it.

Slack's own questions (names, channels) must not keep a card from being drawn: where Slack does not answer, ids and plain words stand in.
"""

from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

import structlog

from bot import outbox, runs
from bot.core import comparison
from bot.core import policy as policies
from bot.core.ids import NOBODY
from bot.core.references import sources
from bot.core.risk import Level
from bot.core.run import Event, Hold, Redirect, Run, RunStatus
from bot.core.snapshot import Post, Snapshot
from bot.errors import Refused
from handlers import masking
from handlers.context import Press
from handlers.desk import Desk
from handlers.trouble import FAILURES
from handlers.views import (
    answer,
    asking,
    audit_post,
    confirm_card,
    held_redirect,
    ids,
    notes,
    record,
    redirect_card,
    review_card,
    run_card,
    witness,
)
from handlers.views.scene import (
    OFFER_ASK,
    OFFER_ASK_AGAIN,
    OFFER_BREAKPOINT,
    OFFER_CHANGE_ARGUMENTS,
    OFFER_CHANGE_REST,
    OFFER_REDIRECT,
    OFFER_SHOW_STEPS,
    Card,
    Scene,
    message,
)

log = structlog.get_logger()

Json = dict[str, Any]
T = TypeVar("T")
MOST_NAMED = 10  # approvers whose names are looked up for a card
Variants = list[Json]  # one message in forms that get plainer: Slack may find the first too much

OFFERS = frozenset(
    {OFFER_ASK, OFFER_ASK_AGAIN, OFFER_BREAKPOINT, OFFER_CHANGE_ARGUMENTS, OFFER_CHANGE_REST, OFFER_REDIRECT, OFFER_SHOW_STEPS}
)


async def of_run(desk: Desk, run_id: str) -> Scene:
    """The scene of a run. Raises `Refused("unknown_run")`."""
    return await staged(desk, await masking.masked(await runs.snapshot(desk.deps, run_id, entries=True)))


async def staged(desk: Desk, snapshot: Snapshot) -> Scene:
    """The scene of a run as it is given: it must be masked."""
    directory, policy = desk.slack.directory, desk.deps.policy
    pinging, plain = await _or_else(directory.approver_words(), ("the approvers", "the approvers"))
    second, second_plain = await _or_else(directory.escalation_words(), ("the second list", "the second list"))
    escalated = asking.is_escalated(snapshot)
    able = await _or_else(directory.people_of(policies.approver_words(policy, escalated)), None) if _waits(snapshot.run) else None
    first, first_plain = pinging, plain
    if second and escalated:
        pinging, plain = f"{pinging} or {second}", f"{plain} or {second_plain}"
    return Scene(
        snapshot=snapshot,
        catalogue=desk.deps.tools.catalogue,
        now=desk.deps.now(),
        team_url=desk.slack.team_url,
        names={person: await _or_else(directory.name(person), person) for person in {*_people(snapshot), *_few(able)}},
        approvers=pinging,
        approvers_plain=plain,
        first_list=first,
        first_list_plain=first_plain,
        escalation=second,
        silence_releases=_silence_releases(desk, snapshot),
        quorums=policy.quorum,
        may_not=policy.may_not,
        able=able,
        quorum=policy.quorum.get(level, 1) if (level := _level(snapshot)) else 1,
        policy_name=policy.profile,
        commands=desk.slack.commands,
        links=_links(desk, snapshot),
        reach=await _reach(desk, snapshot),
        revisions_limit=policy.limits.revisions,
        redirects_limit=policy.limits.redirects,
        suggestions=await _suggestions(desk, snapshot),
    )


def _waits(run: Run) -> bool:
    """Does it wait for people's yes, so that it matters who could still give it?"""
    return run.status is RunStatus.IN_REVIEW or run.redirect is Redirect.REVIEW or run.reason is Hold.CONFIRM


def _few(able: frozenset[str] | None) -> frozenset[str]:
    """Those who are worth a name: of many, nobody reads them."""
    return able if able is not None and len(able) <= MOST_NAMED else frozenset()


def _silence_releases(desk: Desk, snapshot: Snapshot) -> bool:
    """Does this plan run if nobody answers? The card says so then."""
    run = snapshot.run
    if run.status is not RunStatus.IN_REVIEW or run.risk is not Level.LOW or snapshot.plan is None:
        return False
    return policies.evaluate(snapshot.plan, desk.deps.tools.catalogue, desk.deps.policy).silence_releases


async def _suggestions(desk: Desk, snapshot: Snapshot) -> Mapping[str, str]:
    """Breakpoints are suggested where somebody reads a plan before it runs."""
    reads = snapshot.run.status is RunStatus.IN_REVIEW or snapshot.run.redirect is Redirect.REVIEW
    found = await runs.suggestions(desk.deps, snapshot) if reads else {}
    return {str(step): why for step, why in found.items()}


def _level(snapshot: Snapshot) -> Level | None:
    """What the quorum follows: the risk of the plan, or of what is asked about the new rest of a live run."""
    proposal = snapshot.proposal
    if proposal is None:
        return snapshot.run.risk
    planned = record.last(snapshot, Event.REDIRECT_PLANNED, Event.REGRADED)
    return comparison.level_of(proposal, held_redirect.asked_of(planned, proposal))


async def _or_else(question: Awaitable[T], instead: T) -> T:
    try:
        return await question
    except FAILURES as silence:
        log.warning("scene_without_directory", error=repr(silence))
        return instead


def _people(snapshot: Snapshot) -> set[str]:
    actors = {entry.actor for entry in snapshot.entries} | {approval.actor for approval in snapshot.approvals}
    actors |= {revision.author for revision in snapshot.revisions} | {snapshot.run.requester}
    actors |= {snapshot.freeze.by} if snapshot.freeze else set()
    actors |= {wait.requester for wait in snapshot.lock_waits}
    return {actor for actor in actors if actor and actor not in NOBODY}


def _links(desk: Desk, snapshot: Snapshot) -> dict[str, str]:
    """The newest message of each kind; of a review that stands in two places, the one in the thread."""
    standing = [post for post in snapshot.posts if post.ts is not None]
    standing.sort(key=lambda post: (post.in_thread, post.id))
    root = snapshot.run.thread_ts
    found = {post.card: desk.slack.link(post.channel, post.ts or "", root if post.in_thread else None) for post in standing}
    holding = next((wait for wait in snapshot.lock_waits if wait.card_ts), None)
    if holding is not None:
        found["holder"] = desk.slack.link(holding.channel, holding.card_ts or "", holding.thread_ts)
    return found


async def _reach(desk: Desk, snapshot: Snapshot) -> dict[str, int]:
    """How many people each channel has that the plan names."""
    found: dict[str, int] = {}
    plans = [plan for plan in (snapshot.plan, snapshot.proposal.plan if snapshot.proposal else None) if plan is not None]
    for step in (step for plan in plans for step in plan.steps):
        place = step.args.get("channel")
        if isinstance(place, str) and not sources(place) and place not in found:
            people = await _or_else(_people_in(desk, place), None)
            found |= {place: people} if people is not None else {}
    return found


async def _people_in(desk: Desk, place: str) -> int | None:
    channel_id = await desk.slack.directory.channel_id(place)
    channel = await desk.slack.directory.channel(channel_id) if channel_id else None
    return channel.people if channel else None


async def must_be_its_card(desk: Desk, press: Press) -> None:
    """A decision counts only on a card that asks for it: of that run, that revision or those values, where it stands (C067).

    Raises `Refused("unknown_run")` for a value from elsewhere.
    """
    asking_for_it = [post for post in await outbox.of_run(desk.deps, press.target.run) if _asks_for(post, press.target)]
    if press.message_ts is None or not any(_is_there(post, press) for post in asking_for_it):
        raise Refused("unknown_run", run=press.target.run)


def _asks_for(post: Post, target: ids.Target) -> bool:
    if target.filling is not None:
        return post.card == "confirm" and (post.data.get("step"), post.data.get("filling")) == (target.step, target.filling)
    return post.card in ("review", "redirect") and post.data.get("revision") in (None, target.revision)


def _is_there(post: Post, press: Press) -> bool:
    """Where it was pressed; one that is on its way may stand already, and nobody knows where."""
    return post.state == "sending" or (post.ts == press.message_ts and press.channel in (None, post.channel))


def messages(scene: Scene, post: Post) -> list[Variants]:
    """The arguments of the posts (or updates) that show this row; only an answer may need more than one."""
    cards = _cards(scene, post)
    return [_variants(scene, post, card, place) for place, card in enumerate(cards, start=1)]


def _cards(scene: Scene, post: Post) -> list[Card]:
    data = next(one.data for one in scene.snapshot.posts if one.id == post.id)  # the scene's own is masked
    if post.card == "answer":
        return answer.answer_cards(scene)
    if post.card == "review":
        return [review_card.review_card(scene, offers=OFFERS, revision=data.get("revision"))]
    if post.card == "redirect":
        return [redirect_card.redirect_card(scene, offers=OFFERS, revision=data.get("revision"), failed=data.get("failed"))]
    if post.card == "confirm":
        newest = [one.id for one in scene.snapshot.posts if one.card == "confirm" and one.data["step"] == data["step"]][-1:] == [post.id]
        filled = {"digest": data["filling"], "args": data["args"], "preview": data.get("preview"), "newest": newest}
        return [confirm_card.confirm_card(scene, data["step"], offers=OFFERS, **filled)]
    if post.card == "audit":
        entry = next(entry for entry in scene.snapshot.entries if entry.seq == data["seq"])
        return [audit_post.audit_post(scene, entry, head=witness.head_in(post.data))]
    if post.card == "note":
        return [notes.note_card(scene, data, offers=OFFERS)]
    return [run_card.run_card(scene, offers=OFFERS)]


def _variants(scene: Scene, post: Post, card: Card, place: int) -> Variants:
    key = post.key if place == 1 else f"{post.key}/{place}"
    forms = [card]
    if post.card == "run":
        forms.append(run_card.run_card(scene, offers=OFFERS, plain=True))
    more = witness.payload(post.data) if post.card == "audit" else None
    made = [message(form, scene, kind=post.card, version=scene.run.version, key=key, more=more) for form in forms]
    return [*made, {name: value for name, value in made[-1].items() if name != "blocks"}]


def key_of(part: Variants) -> str:
    """The key in the metadata of a part, the same in all its forms."""
    return str(part[0]["metadata"]["event_payload"]["key"])

"""Is what stands in Slack what the store says? Asked at the end of a conversation, when nothing is left to be posted or redrawn.

Every message of the outbox is drawn once more, from the run as it is now, and must read as it stands: that holds for cards, which are
redrawn, and for what is said once, which then cannot depend on the moment in which it was posted. Audit posts are also drawn from the run
as it was at each moment since their entry; that other way back to those moments is the replay of the whole run.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bot import runs
from bot.core.replay import opened, replay
from bot.core.snapshot import Entry, Snapshot, StepState
from handlers import scenes
from handlers.desk import Desk
from handlers.views.audit_post import audit_post
from handlers.views.scene import Scene, message
from tests.doubles import transcript
from tests.doubles.town import Message


async def untrue(town: Any, channels: tuple[str, ...]) -> list[str]:
    """What reads otherwise than it should, with both readings. `town`: as in the scenarios; its bot must be up."""
    standing: dict[str, Message] = {}
    for channel in channels:
        reader = town.person("approver" if channel != "@pullcord" else "requester")
        standing |= {each["ts"]: each for each in await reader.everything(channel)}
    desk = Desk(town.app.deps, town.app.slack)
    found: list[str] = []
    for run in await runs.listing(town.app.deps):
        scene = await scenes.of_run(desk, run.id)
        found += [*_drawn_otherwise(scene, standing), *_said_otherwise(scene)]
    return found


def _drawn_otherwise(scene: Scene, standing: dict[str, Message]) -> Iterator[str]:
    for post in scene.snapshot.posts:
        if post.state != "posted" or post.card == "reaction":
            continue
        now, stands = _read(scenes.messages(scene, post)[0][0]), _read(standing[post.ts or ""])
        if now != stands:
            yield _both(f"{post.key} stands as", stands, "and would now be drawn as", now)


def _said_otherwise(scene: Scene) -> Iterator[str]:
    told = {int(post.data["seq"]) for post in scene.snapshot.posts if post.card == "audit"}
    moments = [replace(scene, snapshot=as_it_was(scene.snapshot, entry.seq)) for entry in scene.snapshot.entries]
    for entry in (entry for entry in scene.snapshot.entries if entry.seq in told):
        now = _told(scene, entry)
        for moment in (moment for moment in moments if moment.snapshot.entries[-1].seq >= entry.seq):
            then = _told(moment, entry)
            if now != then:
                yield _both(f"entry {entry.seq} at entry {moment.snapshot.entries[-1].seq}", then, "and in the end", now)


def as_it_was(snapshot: Snapshot, seq: int) -> Snapshot:
    """All that was stored of the run when that entry had just been written."""
    entries = tuple(entry for entry in snapshot.entries if entry.seq <= seq)
    given, statuses = replay(entries, opened(entries[0]))
    run = given.model_copy(update={"channel": snapshot.run.channel, "thread_ts": snapshot.run.thread_ts})
    stands = snapshot.revised(run.revision)
    named = [int(entry.data.get(name) or 0) for entry in entries for name in ("revision", "proposed")]
    planned = {step.id: step for one in snapshot.revisions for step in one.plan.steps}
    states = [StepState(id=each, number=planned[each].number, tool=planned[each].tool, status=to) for each, to in statuses.items()]
    return snapshot.model_copy(
        update={
            "run": run,
            "plan": stands.plan if stands else None,
            "grades": stands.grades if stands else {},
            "tool_digests": stands.tool_digests if stands else {},
            "revisions": tuple(one for one in snapshot.revisions if one.revision <= max(named)),
            "steps": tuple(states),
            "approvals": tuple(one for one in snapshot.approvals if one.at <= entries[-1].at),
            "answer": snapshot.answer if run.is_final else None,
            "entries": entries,
        }
    )


def _told(scene: Scene, entry: Entry) -> list[str]:
    return _read(message(audit_post(scene, entry), scene, kind="audit", version=0))


def _read(said: Message) -> list[str]:
    return [transcript.tidy(line, {}) for line in transcript.card(said)]


def _both(before: str, one: list[str], between: str, other: list[str]) -> str:
    return "\n".join([f"{before}:", *one, f"{between}:", *other])

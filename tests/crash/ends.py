"""What must be true once a run has ended, whatever happened to the bot on the way."""

import json
from collections import Counter

from sqlalchemy import text

from bot.core.replay import opened, replay
from bot.core.snapshot import Snapshot
from bot.store import audit, engine, runs
from tests.crash.stage import Stage
from tests.crash.stories import Story
from tests.doubles.town import text_of
from tests.doubles.waiting import eventually


async def check(story: Story, stage: Stage) -> Snapshot:
    """The right end, each effect once, nothing lost, everything on record and said once. The run, for whoever wants to know more."""
    final, heard = stored(stage)
    _same(final.run.status, story.status)
    _same({step.id: str(step.status) for step in final.steps}, dict(story.steps))
    _same({kind: sorted(stage.lines(kind)) for kind in story.happened}, dict(story.happened))
    _same(heard, dict(story.replies))
    _nothing_finished_ran_again(final)
    _no_step_started_while_held(final)
    await _said_once(stage, final)
    return final


def _same(found: object, right: object) -> None:
    assert found == right, f"found {found}, right is {right}"


def stored(stage: Stage) -> tuple[Snapshot, dict[str, str]]:
    """The run as it is stored, and the replies as they were made out; the chains hold, and give that very state."""
    reading = engine.reading(stage.bot.environment["PULLCORD_DATABASE_URL"], connections=1)
    with reading.connect() as conn, engine.begin_reading(conn):
        broken = audit.verify(conn)
        (run,) = runs.listing(conn)
        final = runs.snapshot(conn, run.id, entries=True)
        heard = {row.text: row.kind for row in conn.execute(text("SELECT text, kind FROM replies ORDER BY at"))}
    reading.dispose()
    _same(broken, [])
    given, steps = replay(final.entries, opened(final.entries[0]))
    place = {"channel": final.run.channel, "thread_ts": final.run.thread_ts}
    _same(given.model_copy(update=place), final.run)
    _same(steps, {step.id: step.status for step in final.steps})
    return final, heard


def _nothing_finished_ran_again(final: Snapshot) -> None:
    finished = set()
    for entry in final.entries:
        if entry.event == "step_started":
            assert entry.data["step"] not in finished, f"{entry.data['step']} ran again"
        if entry.event in ("step_succeeded", "happened"):
            finished.add(entry.data["step"])


def _no_step_started_while_held(final: Snapshot) -> None:
    """Between each brake and what lets the run go, no start stands on record."""
    status = ""
    for entry in final.entries:
        assert entry.event != "step_started" or status == "running", f"a step started while {status}"
        status = entry.data.get("to", status)


async def _said_once(stage: Stage, final: Snapshot) -> None:
    """Every post stands, once; the answer is there; each reply has one outcome."""

    async def answered() -> bool:
        stage.bot.revive()
        if stage.is_behind():
            return False
        return any("Report" in text_of(message) for message in await stage.person("approver").everything("#ops"))

    await eventually(answered, "everything to stand in Slack", within_s=60, every_s=0.1)
    keys = await stage.keys()
    twice = [key for key, times in Counter(keys).items() if times > 1]
    if twice:
        (stage.folder / "wire.json").write_text(json.dumps(await stage.people.call("GET", "/log"), indent=1))
    _same(twice, [])
    reading = engine.reading(stage.bot.environment["PULLCORD_DATABASE_URL"], connections=1)
    with reading.connect() as conn, engine.begin_reading(conn):
        posts = {row.key for row in conn.execute(text("SELECT key FROM posts WHERE card != 'reaction'"))}
    reading.dispose()
    _same(posts - set(keys), set())
    said = [entry.data["ts"] for entry in final.entries if entry.event == "redirect_asked"]
    assert len(said) == len(set(said)), "a reply was acted on twice"

"""Other processes for the store's tests: `python -m tests.store.children VERB URL ARGUMENT...`.

Each opens the database, prints `ready`, waits for a line on standard input, does its verb and prints what came of it, one word a line.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection

from bot.commands import controls, freezing, review, silence
from bot.core import policy
from bot.core.ids import Digest, StepId
from bot.core.policy import Member
from bot.core.run import Event, NotAllowed, RunStatus
from bot.errors import Refused
from bot.rules import Rules
from bot.store import door, locks, runs
from bot.store.db import Database
from tests.store.samples import NOW

ADMIN = Member(id="U_ADMIN", is_admin=True)
REQUESTER = Member(id="U_REQ")
TOOLS = SimpleNamespace(digests=lambda: {"files.read": Digest("d")})  # as in tests.store.samples


def now() -> datetime:
    return datetime.now(UTC)


def say(word: str) -> None:
    print(word, flush=True)


async def approve(db: Database, actor: str, *names: str) -> None:
    """Approve each run, all at once; says for each whether this click was the one."""

    async def one(name: str) -> None:
        run = await db.read(lambda conn: runs.get(conn, name))
        try:
            await db.write(lambda conn: door.change(conn, name, Event.APPROVED, actor=actor, at=now(), data={"approved": run.digest}))
        except NotAllowed:
            say(f"{name} late")
        else:
            say(f"{name} won")

    await asyncio.gather(*(one(name) for name in names))


async def work(db: Database, name: str, *steps: str) -> None:
    """Start and end these steps of the run, all at once."""

    async def one(step: str) -> None:
        begun = door.StepChange(id=StepId(step), attempt=1, started_at=now())
        await db.write(lambda conn: door.change(conn, name, Event.STEP_STARTED, actor="pullcord", at=now(), step=begun))
        ended = door.StepChange(id=StepId(step), finished_at=now())
        await db.write(lambda conn: door.change(conn, name, Event.STEP_SUCCEEDED, actor="pullcord", at=now(), step=ended))

    await asyncio.gather(*(one(step) for step in steps))
    say("done")


async def start_until_braked(db: Database, name: str, *steps: str) -> None:
    """Start one step after the other and say so, until the brake is on."""
    for step in steps:
        begun = door.StepChange(id=StepId(step), attempt=1, started_at=now())
        try:
            await db.write(lambda conn, begun=begun: door.change(conn, name, Event.STEP_STARTED, actor="pullcord", at=now(), step=begun))
        except NotAllowed:
            say("braked")
            return
        say(step)


@dataclass(frozen=True)
class Parts:
    """As much of Deps as the commands here look at."""

    store: Database
    rules: Rules
    tools: Any
    now: Callable[[], datetime] = now
    audit_place: str = ""

    @property
    def policy(self) -> policy.Policy:
        return self.rules.policy


def parts(db: Database) -> Any:
    return Parts(db, Rules(policy.parse('profile: team\napprovers: ["@ops-leads"]\n', source="policy.yml")), TOOLS)


async def click(db: Database, name: str, first: str, last: str) -> None:
    """Approve one card as so many people at the same moment; says what each of them is told."""

    async def one(n: int) -> None:
        who = Member(id=f"U_{n}", listed=frozenset({"@ops-leads"}))
        try:
            await review.approve(parts(db), name, 1, who=who, received_at=NOW)
        except Refused as refused:
            say(f"U_{n} {refused.kind}")
        else:
            say(f"U_{n} approved")

    await asyncio.gather(*(one(n) for n in range(int(first), int(last))))


async def remind(db: Database, ahead: str) -> None:
    """Look at what the clock has to do, ten times at once, so many minutes ahead; says whom each look has reminded and whom escalated."""
    rules = policy.parse('approvers: ["@ops-leads"]\nescalation: ["@duty"]\n', source="policy.yml")
    moved = lambda: NOW + timedelta(minutes=int(ahead))  # noqa: E731
    tools = SimpleNamespace(digests=TOOLS.digests, catalogue={})
    deps: Any = SimpleNamespace(store=db, policy=rules, tools=tools, now=moved, audit_place="", review_places=("thread",))
    for done in await asyncio.gather(*(silence.look(deps) for _ in range(10))):
        for run_id in (*done.reminded, *done.escalated, *done.expired):
            say(run_id)


async def drive(db: Database, *names: str) -> None:
    """Start a step in each run over and over, as the dispatcher does, and again after each brake, until they are stopped."""

    def move(name: str, event: Event, step: str | None = None) -> Any:
        change = door.StepChange(id=StepId(step)) if step else None
        return db.write(lambda conn: door.change(conn, name, event, actor="pullcord", at=now(), step=change))

    async def goes_on(name: str) -> bool:
        """After a refused start: what the dispatcher does then, until somebody lets go. False once the run has ended."""
        while (status := (await db.read(lambda conn: runs.get(conn, name))).status) is not RunStatus.RUNNING:
            due = {RunStatus.PAUSING: Event.SETTLED, RunStatus.STOPPING: Event.SETTLED, RunStatus.QUEUED: Event.STARTED}.get(status)
            try:
                if due is not None:
                    await move(name, due)
            except (NotAllowed, door.Frozen):  # somebody was faster again
                continue
            if status is RunStatus.STOPPED:
                return False
            await asyncio.sleep(0.001)  # who lets go needs the lock that we would hold
        return True

    async def one(name: str) -> int:
        begun = 0
        while True:
            try:
                await move(name, Event.STEP_STARTED, "one")
            except NotAllowed:
                if not await goes_on(name):
                    return begun
            else:
                begun += 1
                await asyncio.sleep(0.02)  # what a step takes; without it the others would never get the lock
                await move(name, Event.STEP_REQUEUED, "one")

    say(f"started {sum(await asyncio.gather(*(one(name) for name in names)))}")


async def brake(db: Database, rounds: str, *names: str) -> None:
    """Pause all runs while steps start in them, and let them go again; every other time by a freeze; in the end stop them."""
    deps = parts(db)

    async def driven() -> None:
        """Until a step has been started in one of the runs since now."""
        since = {run.id: run.version for run in await db.read(runs.open_runs)}
        while all(run.status is not RunStatus.RUNNING or run.version == since[run.id] for run in await db.read(runs.open_runs)):
            await asyncio.sleep(0.001)

    async def refused() -> None:
        """Until the other process has met the brake in one of the runs."""
        while all(run.status is not RunStatus.PAUSED for run in await db.read(runs.open_runs)):
            await asyncio.sleep(0.001)

    for n in range(int(rounds)):
        await driven()
        if n % 2:
            await freezing.freeze(deps, who=ADMIN, why="drill")
            await refused()
            await freezing.thaw(deps, who=ADMIN)
        else:
            await asyncio.gather(*(controls.pause(deps, name, who=REQUESTER) for name in names))
            await refused()
            await asyncio.gather(*(controls.resume(deps, name, who=REQUESTER) for name in names))
    await asyncio.gather(*(controls.stop(deps, name, who=REQUESTER) for name in names))
    say("stopped")


async def under_one_key(db: Database, folder: str, *names: str) -> None:
    """Do one step of each run under the same key, all at once, and end the run; a file tells whether anybody else is at it."""
    mark = Path(folder) / "at work"

    def begin(conn: Connection, name: str) -> bool:
        if isinstance(locks.take(conn, name, "one", ("key", f"own:{name}"), at=now()), locks.Taken):
            return False
        begun = door.StepChange(id=StepId("one"), attempt=1, started_at=now())
        door.change(conn, name, Event.STEP_STARTED, actor="pullcord", at=now(), step=begun)
        return True

    async def one(name: str) -> None:
        while not await db.write(lambda conn: begin(conn, name)):
            await asyncio.sleep(0.005)
        mark.touch(exist_ok=False)
        await asyncio.sleep(0.002)
        mark.unlink()
        ended = door.StepChange(id=StepId("one"), finished_at=now())
        await db.write(lambda conn: door.change(conn, name, Event.STEP_SUCCEEDED, actor="pullcord", at=now(), step=ended))
        for event in (Event.STOP_ASKED, Event.SETTLED):
            await db.write(lambda conn, event=event: door.change(conn, name, event, actor="U_REQ", at=now()))

    await asyncio.gather(*(one(name) for name in names))
    say("done")


async def scribble(db: Database, name: str) -> None:
    """Put entry after entry on record, twenty at a time, and say each number once it is acknowledged; until somebody kills us."""

    async def one(hand: int) -> None:
        number = hand
        while True:
            await db.write(lambda conn, number=number: door.note(conn, name, actor="U_X", at=now(), data={"number": number}))
            say(str(number))
            number += 20

    await asyncio.gather(*(one(hand) for hand in range(20)))


async def write_on_record(db: Database, mark: str, writers: str, each: str, *names: str) -> None:
    """So many writers at once, each with so many entries, on all of these runs in turn; says each entry once it is acknowledged."""

    async def one(writer: int) -> None:
        for n in range(int(each)):
            name, number = names[(writer + n) % len(names)], f"{mark}.{writer}.{n}"
            await db.write(lambda conn, name=name, number=number: door.note(conn, name, actor="U_X", at=now(), data={"number": number}))
            say(f"{name} {number}")

    await asyncio.gather(*(one(writer) for writer in range(int(writers))))


async def main(verb: str, url: str, *arguments: str) -> None:
    db = await Database.open(url, synchronous="OFF" if verb in RACERS else "FULL")
    say("ready")
    sys.stdin.readline()
    await VERBS[verb](db, *arguments)
    await db.close()


RACERS = ("brake", "drive", "under_one_key")  # these are about who is first, not about power cuts
VERBS: dict[str, Any] = {
    "approve": approve,
    "brake": brake,
    "click": click,
    "drive": drive,
    "remind": remind,
    "scribble": scribble,
    "start": start_until_braked,
    "under_one_key": under_one_key,
    "work": work,
    "write": write_on_record,
}

if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

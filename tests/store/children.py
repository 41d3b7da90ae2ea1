"""Other processes for the store's tests: `python -m tests.store.children VERB URL ARGUMENT...`.

Each opens the database, prints `ready`, waits for a line on standard input, does its verb and prints what came of it, one word a line.
"""

import asyncio
import sys
from datetime import UTC, datetime

from bot.core.ids import StepId
from bot.core.run import Event, NotAllowed
from bot.store import door, runs
from bot.store.db import Database


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


async def scribble(db: Database, name: str) -> None:
    """Put entry after entry on record, twenty at a time, and say each number once it is acknowledged; until somebody kills us."""

    async def one(hand: int) -> None:
        number = hand
        while True:
            await db.write(lambda conn, number=number: door.note(conn, name, actor="U_X", at=now(), data={"number": number}))
            say(str(number))
            number += 20

    await asyncio.gather(*(one(hand) for hand in range(20)))


async def main(verb: str, url: str, *arguments: str) -> None:
    db = await Database.open(url)
    say("ready")
    sys.stdin.readline()
    await {"approve": approve, "work": work, "start": start_until_braked, "scribble": scribble}[verb](db, *arguments)
    await db.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

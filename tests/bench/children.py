"""Other processes for benchmarks: `python -m tests.bench.children VERB FOLDER ARGUMENT...`, one JSON object a line on standard output.

`Child` is such a process as its parent sees it. It does not outlive the `with` in which it was started.
"""

import asyncio
import gc
import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, func, select

from bot.commands import review
from bot.core.policy import Member
from bot.core.run import Hold
from bot.errors import Refused
from bot.store import tables
from bot.supervisor import Supervisor
from tests.bench import world
from tests.bench.world import Entry

ROOT = Path(__file__).parents[2]


class Child:
    """A process of ours; it says things, and may be told things or killed."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "tests.bench.children", *words]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT)
        assert self._process.stdin
        assert self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._stdin.close()
        self._stdout.close()

    def tell(self, word: str) -> None:
        """One line on its standard input."""
        self._stdin.write(f"{word}\n")
        self._stdin.flush()

    def heard(self) -> dict[str, Any]:
        """The next thing that it says. Raises `RuntimeError` if it ended instead."""
        line = self._stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args!s} ended with {self._process.wait()}")
        said: dict[str, Any] = json.loads(line)
        return said

    def kill(self) -> None:
        """SIGKILL, whatever it does."""
        self._process.kill()
        self._process.wait()


def say(**said: Any) -> None:
    print(json.dumps(said), flush=True)


async def approve(folder: Path, first: str, count: str) -> None:
    """For each run named on standard input: that many people approve it at once; says when, and how each was answered."""
    people = [Member(id=f"U{int(first) + n}", team="T0HOME", listed=frozenset({"@ops-leads"})) for n in range(int(count))]
    async with world.opened(folder, []) as deps:

        async def one(run_id: str, who: Member) -> str:
            try:
                await review.approve(deps, run_id, 1, who=who, received_at=datetime.now(UTC))
            except Refused as no:
                return no.kind
            return "approved"

        say(ready=len(people))
        while run_id := (await asyncio.to_thread(sys.stdin.readline)).strip():
            begun = time.monotonic()
            kinds = await asyncio.gather(*(one(run_id, who) for who in people))
            say(begun=begun, ended=time.monotonic(), kinds=kinds)


async def first_life(folder: Path, each: str) -> None:
    """Attend to what is stored, say so once every step is in flight, and live on until killed."""
    entries: list[Entry] = []
    async with world.opened(folder, entries, PULLCORD_POOL=2 * int(each)) as deps, world.supervised(deps):
        await world.until(lambda: len(entries) == 2 * int(each), "every step in flight")
        say(entries=len(entries))
        await asyncio.Event().wait()


async def second_life(folder: Path, each: str) -> None:
    """Attend to what the first life left, and say how long it took until every run is where it belongs."""
    entries: list[Entry] = []
    count = int(each)
    async with world.opened(folder, entries, PULLCORD_POOL=2 * count) as deps:
        begun = time.perf_counter()
        async with world.supervised(deps):
            await world.until(lambda: _entered(entries, "READ") == _entered(entries, "LINE") == count, "reads and the line at work")
            while (found := await deps.store.read(_standing))["in_doubt"] < count:
                await asyncio.sleep(0.01)
            took, ended = time.perf_counter() - begun, time.monotonic()
            strayed = 2 * count - found["held"] - found["in_review"]
            again = _entered(entries, "WRITE")
            say(took_s=took, ended=ended, reads=_entered(entries, "READ"), effects_again=again, strayed=strayed, in_doubt=found["in_doubt"])
            await asyncio.Event().wait()


def _entered(entries: list[Entry], kind: str) -> int:
    return len({entry.run for entry in entries if entry.run.startswith(f"R-{kind}")})


def _standing(conn: Connection) -> dict[str, int]:
    """How many runs stand, and for what."""
    table = tables.runs
    rows = conn.execute(select(table.c.status, table.c.reason, func.count()).group_by(table.c.status, table.c.reason))
    found = {(status, reason): count for status, reason, count in rows}
    return {
        "in_doubt": found.get(("paused", Hold.IN_DOUBT), 0),
        "held": found.get(("paused", Hold.PERSON), 0),
        "in_review": found.get(("in_review", None), 0),
    }


async def park(folder: Path, sweeps: str) -> None:
    """Say what this process holds after some sweeps; once told, say it again."""
    async with world.opened(folder, []) as deps, world.supervised(deps) as supervisor:
        while True:
            say(**await _held(supervisor, int(sweeps)))
            if not await asyncio.to_thread(sys.stdin.readline):
                return


async def _held(supervisor: Supervisor, sweeps: int) -> dict[str, float]:
    begun = time.perf_counter()
    for _ in range(sweeps):
        await supervisor.look(set())
    sweep_s = (time.perf_counter() - begun) / sweeps
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {"tasks": len(asyncio.all_tasks()), "rss": pages * 4096, "blocks": sys.getallocatedblocks(), "sweep_s": sweep_s}


VERBS = {"approve": approve, "first_life": first_life, "second_life": second_life, "park": park}

if __name__ == "__main__":
    asyncio.run(VERBS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:]))

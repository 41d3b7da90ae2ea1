"""Where bots are born and die: one process that has loaded everything, and forks a real bot for each line that it reads.

Loading the bot takes seconds of a processor and being forked none of it, so that a bot can be killed and begin again a hundred times. Each
line is an order in JSON: {"life", "environment", "log", "journal", "point"}. What comes of it is told on standard output, one line each:
`LIFE born PID`, `LIFE ready`, `LIFE ended STATUS`. The nursery ends, and its bots with it, when nobody can give orders any more.

A bot with a point, such as ["step_started", 2], kills itself with SIGKILL as soon as that change is stored, before anything else can follow
from it; with the point ["new", 1] as soon as it has stored something at which no life before it has died (the journal says). Any other
bot with a journal writes down each stored point that it comes to.
"""

import asyncio
import gc
import json
import os
import select
import signal
import sqlite3
import sys
import tempfile
import threading
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import bot.app
from bot.bell import Bell
from bot.cli.serving import until_told
from bot.logs import configure
from bot.settings import Settings, load

LOOK_S = 0.02


class Watch(Bell):
    """A bell that looks at what is stored before it rings, with a connection of its own: only what is really stored counts."""

    def __init__(self, database: Path, order: dict[str, Any]) -> None:
        super().__init__()
        self.database = sqlite3.connect(database)
        self.point, self.journal = order["point"], Path(order["journal"])
        self.journal.touch()
        self.entries, self.replies = self._stored() if self._is_made() else (Counter[str](), 0)

    def ring(self, run_id: str) -> None:
        self._look()
        super().ring(run_id)

    def _look(self) -> None:
        entries, replies = self._stored()
        if (entries, replies) == (self.entries, self.replies):
            return
        newest, step = self._newest(entries, replies)
        self.entries, self.replies = entries, replies
        if self.point == ["new", 1]:
            key = json.dumps([newest[0], step or newest[1]])
            if newest[0] != "click_refused" and key not in self.journal.read_text().splitlines():
                self._note(key)
                os.kill(os.getpid(), signal.SIGKILL)
        elif self.point and {**entries, "heard": replies}.get(self.point[0], 0) >= self.point[1]:
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            self._note(json.dumps(newest))

    def _note(self, line: str) -> None:
        with self.journal.open("a") as journal:
            journal.write(line + "\n")

    def _is_made(self) -> bool:
        return self.database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'replies'").fetchone()[0] > 0

    def _stored(self) -> tuple[Counter[str], int]:
        entries = Counter(event for (event,) in self.database.execute("SELECT event FROM audit WHERE run_id != '-'"))
        return entries, self.database.execute("SELECT count(*) FROM replies").fetchone()[0]

    def _newest(self, entries: Counter[str], replies: int) -> tuple[tuple[str, int], str]:
        """The last of what one transaction has stored: how many entries (or replies) of that kind there are, and which step it is about."""
        if entries == self.entries:
            return ("heard", replies), ""
        event, data = self.database.execute("SELECT event, data FROM audit WHERE run_id != '-' ORDER BY id DESC LIMIT 1").fetchone()
        return (event, entries[event]), json.loads(data).get("step") or ""


async def live(order: dict[str, Any], news: int) -> None:
    """The bot as `pullcord start` runs it."""
    settings = load()
    configure(settings.log_level)
    told = until_told(asyncio.get_running_loop())
    database = Path(settings.database_url.removeprefix("sqlite:///"))
    bot.app.Bell = lambda: Watch(database, order)
    app = await bot.app.App.start(settings)
    tell(news, f"{order['life']} ready")
    try:
        await app.serve(told)
    finally:
        await app.stop()


def be_born(order: dict[str, Any]) -> None:
    """The rest of a forked process's life; never returns."""
    status = 1
    try:
        news = os.dup(1)
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(log, stream)
        os.environ.clear()
        os.environ.update(order["environment"])
        asyncio.run(live(order, news))
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def tell(stream: int, line: str) -> None:
    """One line, whole: a pipe takes that much at once."""
    os.write(stream, f"{line}\n".encode())


def bury(children: dict[int, str]) -> None:
    """Tell of those that have ended."""
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        tell(1, f"{children.pop(pid)} ended {os.waitstatus_to_exitcode(status)}")


async def warm_up(folder: str) -> None:
    """Do once what every bot does at its start, so that nothing has to be loaded or worked out again."""
    settings = Settings(database_url=f"sqlite:///{folder}/warm.db", files_root=Path(folder) / "files", planner="offline")
    deps = await bot.app.open_deps(settings, bot.app.roles(settings))
    await deps.tools.close()
    await deps.store.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(warm_up(folder))
    assert threading.active_count() == 1, "only a process of one thread can be forked"
    gc.collect()
    gc.freeze()
    children: dict[int, str] = {}
    heard = b""
    while True:
        if select.select([0], [], [], LOOK_S)[0]:
            more = os.read(0, 65536)
            if not more:
                break
            *orders, heard = (heard + more).split(b"\n")
            for line in orders:
                order = json.loads(line)
                pid = os.fork()
                if pid == 0:
                    be_born(order)
                children[pid] = order["life"]
                tell(1, f"{order['life']} born {pid}")
        bury(children)
    for pid in children:
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()

"""Bots as processes of their own, ordered from the nursery: started, told to end, killed by themselves, and started again."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.doubles.waiting import eventually

ROOT = Path(__file__).parents[2]
Point = tuple[str, int]
NEW = ("new", 1)  # whatever is stored at which no life before has ended: one run that meets every death that there is


class Nursery:
    """The process that forks bots. Loading takes its time, so one serves many tests."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLACK_", "PULLCORD_"))}
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("nursery.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment | {"PYTHONPATH": str(ROOT)},
        )
        assert self.process.stdout
        os.set_blocking(self.process.stdout.fileno(), False)
        self.lives = 0
        self.heard = b""
        self.news: dict[str, dict[str, int]] = {}  # life → what has become of it: born (pid), ready, ended (status)

    def order(self, **order: object) -> str:
        """A bot is to be born; the name of its life."""
        self.lives += 1
        life = str(self.lives)
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"life": life, **order}).encode() + b"\n")
        self.process.stdin.flush()
        self.news[life] = {}
        return life

    def told(self, life: str) -> dict[str, int]:
        """What has become of that life so far."""
        assert self.process.stdout
        try:
            self.heard += os.read(self.process.stdout.fileno(), 65536)
        except BlockingIOError:
            return self.news[life]
        *lines, self.heard = self.heard.split(b"\n")
        for line in lines:
            of, word, *number = line.decode().split()
            self.news[of][word] = int(number[0]) if number else 1
        return self.news[life]

    def close(self) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Bot:
    """One bot's lives, one after another."""

    def __init__(self, nursery: Nursery, environment: dict[str, str], folder: Path) -> None:
        self.nursery, self.environment, self.folder = nursery, environment, folder
        self.life = ""
        self.deaths = 0  # by its own SIGKILL
        self.ended: list[int] = []  # status of each life that is over
        self.point: Point | None = None

    @property
    def about(self) -> dict[str, int]:
        return self.nursery.told(self.life)

    @property
    def is_ready(self) -> bool:
        return "ready" in self.about and "ended" not in self.about

    def start(self, point: Point | None = None) -> None:
        """A new life; with a point it ends there, without one the points that it comes to are written down."""
        self.point = point
        journal = str(self.folder / ("after.jsonl" if point is None and self.deaths else "points.jsonl"))
        order = {"environment": self.environment, "log": str(self.folder / "bot.log"), "journal": journal, "point": point}
        self.life = self.nursery.order(**order)

    def revive(self) -> None:
        """Start it again if it has ended: killed by itself at its point, or in order since it was told to."""
        status = self.about.get("ended")
        if status is None:
            return
        self.ended.append(status)
        assert status in (0, -signal.SIGKILL), f"the bot ended by itself with {status}; see {self.folder / 'bot.log'}"
        self.deaths += status == -signal.SIGKILL
        self.start(None if self.deaths and self.point != NEW else self.point)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.about["born"], number)

    async def ready(self) -> None:
        await self._until("ready")

    async def gone(self) -> int:
        """Its exit status, once it is over."""
        return await self._until("ended")

    async def _until(self, word: str) -> int:
        async def probe() -> bool:
            return word in self.about

        await eventually(probe, f"the bot to be {word}", within_s=60)
        return self.about[word]

    async def close(self) -> None:
        if self.life and "ended" not in self.about:
            await self._until("born")
            self.signal(signal.SIGKILL)
            await self.gone()

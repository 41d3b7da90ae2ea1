"""`python -m bot demo` as people start it: a process group of its own, with no key, no Slack and no settings from around it."""

import asyncio
import os
import signal
import sys
from collections import deque
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
STRANGE = ("ANTHROPIC_", "PULLCORD_", "SLACK_")  # settings that would make it another demo
READY_S = 60
END_S = 15


class DemoProcess:
    """Start with `start()`, end with `end()` or, as a crash would, with `kill()`; it can be started again on the same folder."""

    def __init__(self, data: Path, *more: str) -> None:
        self._data = data
        self._more = more
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._lines: deque[str] = deque(maxlen=200)
        self.front_page = ""

    async def start(self) -> str:
        """Run it and return the address of its page, once the bot is connected."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(STRANGE)}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            "demo",
            "--data",
            str(self._data),
            "--port",
            "0",
            "--no-browser",
            *self._more,
            cwd=REPOSITORY,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        async with asyncio.timeout(READY_S):
            self.front_page = await self._ready()
        self._reading = asyncio.create_task(self._read_on())
        return self.front_page

    async def kill(self) -> None:
        """End the whole group at once, as a crash of the machine would."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        await self._gone()

    async def end(self) -> None:
        """Ctrl-C; does nothing if it has ended."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            async with asyncio.timeout(END_S):
                await self._gone()
        except TimeoutError:
            await self.kill()
            raise

    async def _gone(self) -> None:
        assert self._process is not None
        await self._process.wait()
        if self._reading is not None:
            await self._reading  # ends with the last process of the group that holds the pipe
        self._process = None

    async def _ready(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self._lines.append(line.decode().rstrip())
            if self._lines[-1].startswith("ready "):
                return self._lines[-1].removeprefix("ready ")
        raise AssertionError("the demo ended before it was ready:\n" + "\n".join(self._lines))

    async def _read_on(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self._lines.append(line.decode().rstrip())

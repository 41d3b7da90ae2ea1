"""`start` and `workspace`: processes that run until they are told to end."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import ConfigurationError
from bot.settings import load

if TYPE_CHECKING:
    from bot.deps import Deps

PARENT = "PULLCORD_PARENT"  # process id of a demo: its bot ends with it, however it ends
WATCH_PARENT_S = 1.0


def until_told(loop: asyncio.AbstractEventLoop) -> asyncio.Event:
    """An event that SIGTERM or SIGINT sets; a second signal ends the process at once."""
    told = asyncio.Event()

    def hear(number: int) -> None:
        if told.is_set():
            os._exit(128 + number)  # as safe as SIGKILL: what was cut off is settled at the next start
        told.set()

    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, hear, each)
    return told


def on_hang_up(loop: asyncio.AbstractEventLoop, told: asyncio.Event, again: Callable[[], object]) -> None:
    """SIGHUP calls `again`; where it says that the terminal is gone from which we were started, it sets `told` instead."""
    by_hand = os.isatty(0)

    def hear() -> None:
        if by_hand and not os.isatty(0):
            told.set()
        else:
            again()

    loop.add_signal_handler(signal.SIGHUP, hear)


def run_bot(data: Path | None) -> int:
    """The bot, until it is told to end."""
    from bot.app import App
    from bot.logs import configure

    settings = load(data)
    configure(settings.log_level, secrets=settings.own_secrets)

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        told, again = until_told(loop), asyncio.Event()
        on_hang_up(loop, told, again.set)  # also while it starts: what is heard then is done once it is up
        app = await App.start(settings)
        app.deps.tasks.start(_reload_when(again, app.deps), name="reload")
        try:
            await app.serve(_or_orphaned(told, app.deps.tasks.start))
        finally:
            await app.stop()

    asyncio.run(serve())
    return 0


async def _reload_when(asked: asyncio.Event, deps: "Deps") -> None:
    """Read the policy again, each time that it is asked for."""
    from bot.commands import reloading

    while True:
        await asked.wait()
        asked.clear()
        await reloading.by_signal(deps)


def _or_orphaned(told: asyncio.Event, start: Callable[..., object]) -> asyncio.Event:
    """The same event, set also when the demo that started us is gone."""
    parent = int(os.environ.get(PARENT, "0"))

    async def watch() -> None:
        while os.getppid() == parent and not told.is_set():
            await asyncio.sleep(WATCH_PARENT_S)
        told.set()

    if parent:
        start(watch(), name="parent")
    return told


def own_manifest() -> Path:
    """Pullcord's own manifest: beside the package when installed, in the project's root when run from there."""
    here = Path(__file__).resolve().parent.parent
    for path in (here / "manifest.yml", here.parent / "manifest.yml"):
        if path.exists():
            return path
    raise ConfigurationError("manifest.yml is missing from the installation; install Pullcord again")


def run_workspace(data: Path | None, *, port: int, manifest: Path | None, people: Path | None) -> int:
    """The local workspace alone, until it is told to end."""
    from bot.workspace.server import start_workspace

    async def serve() -> None:
        told = until_told(asyncio.get_running_loop())
        served = await start_workspace(data=data, port=port, manifest=manifest or own_manifest(), people=people)
        try:
            if data is not None:
                served.write_about(data / "workspace.json")
            say(f"ready {served.url}/?token={served.people_token}")
            say(f"SLACK_API_URL={served.url}/api/ SLACK_BOT_TOKEN={served.bot_token} SLACK_APP_TOKEN={served.app_token}")
            await told.wait()
        finally:
            await served.stop()

    return run_until_done(serve)


def run_until_done(serve: Callable[[], Awaitable[None]]) -> int:
    """Run the coroutine; an address in use is the starter's to mend."""

    async def whole() -> None:
        await serve()

    try:
        asyncio.run(whole())
    except OSError as fault:
        where = f"{fault.filename}: " if fault.filename else ""
        raise ConfigurationError(f"{where}{fault.strerror or fault}; choose another --port or --data") from fault
    return 0


def say(line: str) -> None:
    """One line on standard output, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()

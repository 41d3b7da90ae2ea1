"""The real bot, which kills itself with SIGKILL right after a named change was stored.

`python tests/crash/bot_that_dies.py EVENT N`: dies after the N-th entry of that event of any run; without arguments it lives.
"""

import asyncio
import os
import signal
import sqlite3
import sys

from bot.app import App
from bot.cli.serving import until_told
from bot.logs import configure
from bot.settings import load


def die_after(database: str, event: str, count: int) -> None:
    """Look with a connection of our own, so that only what is really stored counts."""
    with sqlite3.connect(database) as conn:
        (stored,) = conn.execute("SELECT count(*) FROM audit WHERE event = ?", (event,)).fetchone()
    if stored >= count:
        os.kill(os.getpid(), signal.SIGKILL)


async def main() -> None:
    settings = load()
    configure(settings.log_level)
    told = until_told(asyncio.get_running_loop())
    app = await App.start(settings)
    if len(sys.argv) > 2:
        database = settings.database_url.removeprefix("sqlite:///")
        app.deps.bell.listen(lambda run_id: die_after(database, sys.argv[1], int(sys.argv[2])))
    print("ready", flush=True)
    await app.serve(told)
    await app.stop()


if __name__ == "__main__":
    asyncio.run(main())

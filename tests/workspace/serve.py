"""A workspace in a process of its own, for tests that kill it: `python -m tests.workspace.serve FOLDER`."""

import asyncio
import sys
from pathlib import Path

from bot.workspace import start_workspace
from tests.workspace.desk import MANIFEST


async def main(data: Path) -> None:
    workspace = await start_workspace(data=data, port=0, manifest=MANIFEST)
    workspace.write_about(data / "workspace.json")
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))

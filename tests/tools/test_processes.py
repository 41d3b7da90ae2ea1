"""Commands without a shell: what they say is kept within bounds, and when their step ends nothing of them is left, whatever they do."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from bot.errors import ToolFailed
from bot.tools import processes
from bot.tools.processes import Finished, run
from bot.tools.registry import Registry, TimedOut, ToolContext, tool
from tests.doubles.waiting import eventually
from tests.tools.conftest import context

Open = Callable[..., Registry]

# Tells its own number and its child's, then both append to a file for ever; neither ends when it is asked to.
STUBBORN = """
trap '' TERM
grow() { while :; do printf x >> "$2"; sleep 0.01; done; }
grow "$@" &
echo "$$ $!" > "$1.new"; mv "$1.new" "$1"
grow "$@"
"""

# Its child makes a session of its own, says its number and keeps the outputs open; it ends once that is said.
LEAVES = """
import os, time
said, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    print(os.getpid(), flush=True)
    os.write(tell, b"x")
    time.sleep(60)
os.read(said, 1)
"""


class Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Stubborn:
    """A command that ignores SIGTERM, with a child that does too."""

    def __init__(self, folder: Path) -> None:
        self.pids, self.grows = folder / "pids", folder / "grows"
        self.argv = ["sh", "-c", STUBBORN, "stubborn", str(self.pids), str(self.grows)]

    async def running(self) -> list[int]:
        """The numbers of both, once both are at work."""

        async def probe() -> list[int] | None:
            if not self.pids.exists() or not self.grows.exists():
                return None
            return [int(word) for word in self.pids.read_text().split()]

        return await eventually(probe, "the command and its child to be at work")


def alive(pid: int) -> bool:
    """Is it there and no zombie?"""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if not Path("/proc/self").exists():
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def gone(pids: list[int]) -> None:
    async def probe() -> bool:
        return not any(map(alive, pids))

    await eventually(probe, f"{pids} to be gone")


async def stays_as_it_is(path: Path) -> None:
    before = path.stat().st_size
    await run(["sleep", "0.2"])
    assert path.stat().st_size == before


async def test_what_a_command_says_on_both_outputs_and_its_code_are_told() -> None:
    done = await run(["sh", "-c", "cat; echo wrong >&2; exit 3"], stdin="geht so, nämlich\n")

    assert done == Finished(code=3, stdout="geht so, nämlich\n", stderr="wrong\n")


async def test_there_is_no_shell_and_nothing_to_read() -> None:
    assert (await run(["echo", "$HOME; ls *"])).stdout == "$HOME; ls *\n"
    assert (await run(["cat"])).stdout == ""


async def test_a_command_sees_no_environment_but_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "not for you")

    seen = (await run(["env"], env={"STAGE": "prod"})).stdout.splitlines()

    assert sorted(seen) == [f"PATH={os.environ['PATH']}", "STAGE=prod"]


async def test_a_signal_shows_in_the_code() -> None:
    assert (await run(["sh", "-c", "kill -9 $$"])).code == -signal.SIGKILL


async def test_a_flood_is_cut_and_does_not_hold_the_command_up() -> None:
    flood = "import sys; sys.stdout.write('ä' * 3_000_000); print('end', file=sys.stderr)"

    done = await run([sys.executable, "-c", flood], limit=1001, env={"PYTHONUTF8": "1"})

    assert (done.code, done.cut) == (0, True)
    assert done.stdout == "ä" * 500
    assert done.stderr == "end\n"


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["no-such-command-here"], "'no-such-command-here' cannot be started: No such file"),
        (["/"], "cannot be started: Permission denied"),
        (["echo", "a\0b"], "embedded null"),
        ([], "There is no command"),
    ],
)
async def test_what_cannot_be_started_fails_in_words(argv: list[str], says: str) -> None:
    with pytest.raises(ToolFailed, match=says):
        await run(argv)


async def test_cancelling_ends_a_command_that_ignores_it_and_its_child(tmp_path: Path) -> None:
    """C024"""
    stubborn = Stubborn(tmp_path)
    running = asyncio.create_task(run(stubborn.argv, grace_s=0.1))
    pids = await stubborn.running()

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    with pytest.raises(ChildProcessError):  # reaped: it is no child of ours any more
        os.waitpid(pids[0], os.WNOHANG)
    await gone(pids)
    await stays_as_it_is(stubborn.grows)


async def test_a_command_that_heeds_its_end_has_time_to_tidy_up(tmp_path: Path) -> None:
    tidied = tmp_path / "tidied"
    script = f"trap 'echo bye > {tidied}; exit 0' TERM; echo > {tmp_path / 'ready'}; while :; do sleep 0.01; done"
    running = asyncio.create_task(run(["sh", "-c", script], grace_s=20))

    async def ready() -> bool:
        return (tmp_path / "ready").exists()

    await eventually(ready, "the command to be ready")
    start = monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert tidied.read_text() == "bye\n"
    assert monotonic() - start < 10, "who ends by itself is not waited for"


async def test_a_second_cancel_cuts_the_grace_short_and_not_the_kill(tmp_path: Path) -> None:
    stubborn = Stubborn(tmp_path)
    running = asyncio.create_task(run(stubborn.argv, grace_s=60))
    pids = await stubborn.running()

    running.cancel()
    await asyncio.wait({running}, timeout=0.05)
    assert not running.done()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    await gone(pids)


async def test_what_a_command_leaves_in_the_background_ends_with_it() -> None:
    async with asyncio.timeout(10):
        done = await run(["sh", "-c", "sleep 60 & echo $!"])

    await gone([int(done.stdout)])


async def test_one_that_left_the_group_does_not_hold_the_answer_up() -> None:
    async with asyncio.timeout(15):
        done = await run([sys.executable, "-c", LEAVES])

    os.kill(int(done.stdout), signal.SIGKILL)


async def test_nothing_is_left_when_the_event_loop_ends(tmp_path: Path) -> None:
    stubborn = Stubborn(tmp_path)

    async def main() -> list[int]:
        task = asyncio.create_task(run(stubborn.argv, grace_s=0.1), name="left to the loop's end")
        pids = await stubborn.running()
        assert not task.done()
        return pids

    pids = await asyncio.to_thread(asyncio.run, main())

    await gone(pids)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")
def test_orphans_are_reaped_where_nobody_else_does() -> None:
    """In a container the bot may be the first process, whose children all orphans become."""
    script = (
        "import asyncio, ctypes, os\n"
        "from bot.tools.processes import run\n"
        "assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0\n"  # PR_SET_CHILD_SUBREAPER
        "print(asyncio.run(run(['sh', '-c', 'sleep 60 & sleep 60 & echo hi'])).stdout.strip())\n"
        "try:\n    os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError:\n    print('no child left')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(processes.__file__).parents[2])}
    said = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=True)

    assert said.stdout.split("\n")[:2] == ["hi", "no child left"]


async def test_a_tool_runs_commands_in_a_scratch_folder_of_its_own(open_registry: Open) -> None:
    @tool(name="t.async", effect="read", description="d")
    async def wide(args: Nothing, ctx: ToolContext) -> str:
        return (await ctx.run(["pwd"])).stdout.strip()

    @tool(name="t.sync", effect="read", description="d")
    def narrow(args: Nothing, ctx: ToolContext) -> str:
        return ctx.run_blocking(["cat"], stdin=str(ctx.scratch)).stdout

    registry = open_registry(wide, narrow)
    for name in ("t.async", "t.sync"):
        place = (await registry.call(name, {}, context())).value
        assert Path(place).name.startswith("pullcord-")
        assert not Path(place).exists()


def stubborn_tool(stubborn: Stubborn, *, blocking: bool) -> Any:
    if blocking:

        @tool(name="t.command", effect="execute", description="d")
        def narrow(args: Nothing, ctx: ToolContext) -> int:
            return ctx.run_blocking(stubborn.argv).code

        return narrow

    @tool(name="t.command", effect="execute", description="d")
    async def wide(args: Nothing, ctx: ToolContext) -> int:
        return (await ctx.run(stubborn.argv)).code

    return wide


@pytest.mark.parametrize("blocking", [False, True])
async def test_stopping_a_tool_ends_its_command_first(open_registry: Open, tmp_path: Path, blocking: bool) -> None:
    """C024"""
    stubborn = Stubborn(tmp_path)
    registry = open_registry(stubborn_tool(stubborn, blocking=blocking), grace_s=5)
    ctx = context()
    calling = asyncio.create_task(registry.call("t.command", {}, ctx))
    pids = await stubborn.running()

    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert ctx.outcome is None
    assert registry.stuck == ()
    await gone(pids)
    await stays_as_it_is(stubborn.grows)


@pytest.mark.parametrize("blocking", [False, True])
async def test_a_tool_whose_time_is_up_leaves_no_command_behind(open_registry: Open, tmp_path: Path, blocking: bool) -> None:
    stubborn = Stubborn(tmp_path)
    registry = open_registry(stubborn_tool(stubborn, blocking=blocking), grace_s=5)
    calling = asyncio.create_task(registry.call("t.command", {}, context(), timeout_s=2))
    pids = await stubborn.running()

    with pytest.raises(TimedOut):
        await calling

    await gone(pids)


async def test_closing_the_registry_ends_the_commands(tmp_path: Path) -> None:
    stubborn = Stubborn(tmp_path)
    registry = Registry([stubborn_tool(stubborn, blocking=False)], grace_s=5)
    calling = asyncio.create_task(registry.call("t.command", {}, context()))
    pids = await stubborn.running()

    assert await registry.close() == []

    await gone(pids)
    with pytest.raises(ToolFailed, match="was cut off"):
        await calling

"""Commands of the operating system, run for a tool without a shell, and ended whole: the command and everything that it has started.

Each command is the first of a session and process group of its own, so that one signal reaches its children's children too; only what
leaves the group on purpose (a daemon that makes a session for itself) escapes. A thread waits for each. The moment the command ends,
whoever is left of its group is killed and the command is reaped, whatever the event loop is doing, and even if nobody waits any more.
"""

import asyncio
import codecs
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import structlog

from bot.errors import ToolFailed

log = structlog.get_logger()

LIMIT = 200_000  # bytes kept of each output
GRACE_S = 2.0  # between asking a command to end and killing it
KILLED_S = 2.0  # a killed process is gone at once, unless it hangs in the kernel
DRAIN_S = 1.0  # for what is still in the pipes once the whole group is gone
LOOK_S = 0.05  # how often a blocking wait looks whether it was cancelled
CHUNK = 65_536


@dataclass(frozen=True)
class Finished:
    """How a command ended. `code` is negative where a signal ended it; `cut`: it said more than was kept."""

    code: int
    stdout: str
    stderr: str
    cut: bool = False


async def run(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | bytes | None = None,
    limit: int = LIMIT,
    grace_s: float = GRACE_S,
) -> Finished:
    """Run a command to its end; a code other than 0 is an answer and no failure. Raises `ToolFailed` if it cannot be started.

    Its environment is `env` and a PATH, nothing else; `stdin` is all that it can read (nothing by default); of each output the first
    `limit` bytes are kept. If the caller is cancelled the group gets SIGTERM, after `grace_s` SIGKILL, and `CancelledError` goes on once it
    is gone. Whatever the command leaves in the background ends with it.
    """
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more, and the command is reaped all the same
            loop.call_soon_threadsafe(ended.set)

    process = _Process(argv, cwd=cwd, env=env, stdin=stdin, limit=limit, on_end=tell)
    try:
        await ended.wait()
    finally:
        if not ended.is_set():
            await _end(process, ended, grace_s)
    return process.finished()


async def _end(process: "_Process", ended: asyncio.Event, grace_s: float) -> None:
    """Ask the group to end, then make it. A second cancel cuts the grace short, never the kill."""
    process.signal(signal.SIGTERM)
    try:
        await _within(ended, grace_s)
    finally:
        process.signal(signal.SIGKILL)
        if not await _within(ended, KILLED_S):
            log.error("process_does_not_end", pid=process.pid)


async def _within(ended: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await ended.wait()
    except TimeoutError:
        return False
    return True


def run_blocking(
    argv: Sequence[str],
    *,
    check: Callable[[], None],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | bytes | None = None,
    limit: int = LIMIT,
    grace_s: float = GRACE_S,
) -> Finished:
    """The same for a tool that has a thread of its own. `check` raises once the step is cancelled; the group is then ended as in `run`."""
    over = threading.Event()
    process = _Process(argv, cwd=cwd, env=env, stdin=stdin, limit=limit, on_end=over.set)
    try:
        while not over.wait(LOOK_S):
            check()
    finally:
        if not over.is_set():
            process.signal(signal.SIGTERM)
            over.wait(grace_s)
            process.signal(signal.SIGKILL)
            if not over.wait(KILLED_S):
                log.error("process_does_not_end", pid=process.pid)
    return process.finished()


@dataclass
class _Output:
    """The beginning of what a command says on one of its pipes; the rest is read and dropped, so that it is never held up."""

    pipe: IO[bytes]
    limit: int
    kept: bytearray = field(default_factory=bytearray)
    cut: bool = False

    def read(self) -> None:
        with self.pipe:
            while chunk := os.read(self.pipe.fileno(), CHUNK):
                room = self.limit - len(self.kept)
                self.kept += chunk[:room]
                self.cut = self.cut or len(chunk) > room

    def text(self) -> str:
        """As UTF-8; a character that the cut went through is left out."""
        return codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(self.kept), final=not self.cut)


class _Process:
    """One running command with its group. `on_end` is called once, from the thread that waits for it, when all of it is over."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | None,
        env: Mapping[str, str] | None,
        stdin: str | bytes | None,
        limit: int,
        on_end: Callable[[], None],
    ) -> None:
        self._lock = threading.Lock()
        self._reaped = False  # from then on the number may be somebody else's
        self._on_end = on_end
        self._popen = _start(argv, cwd, env, stdin)
        self.pid = self._popen.pid
        assert self._popen.stdout is not None
        assert self._popen.stderr is not None
        self._outputs = (_Output(self._popen.stdout, limit), _Output(self._popen.stderr, limit))
        self._readers = [threading.Thread(target=each.read, name=f"output {self.pid}", daemon=True) for each in self._outputs]
        try:
            for each in (*self._readers, threading.Thread(target=self._attend, name=f"process {self.pid}", daemon=True)):
                each.start()
        except RuntimeError as fault:
            _signal(self.pid, signal.SIGKILL)
            self._popen.wait()
            raise ToolFailed(f"The command '{argv[0]}' was not run: this machine has no more threads.") from fault

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole group, if the command is still there."""
        with self._lock:
            if not self._reaped:
                _signal(self.pid, number)

    def finished(self) -> Finished:
        """How it ended, once it has."""
        out, err = self._outputs
        code = self._popen.returncode
        return Finished(code=-signal.SIGKILL if code is None else code, stdout=out.text(), stderr=err.text(), cut=out.cut or err.cut)

    def _attend(self) -> None:
        """Wait for the command, kill whom it leaves behind, reap it. A dead command that is not reaped yet keeps its number from others."""
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._popen.wait()
        with self._lock:
            _signal(self.pid, signal.SIGKILL)
            self._popen.wait()
            self._reaped = True
        _reap_adopted(self.pid)
        for each in self._readers:
            each.join(DRAIN_S)  # one that left the group may hold the pipe open; what it says is not waited for
        self._on_end()


def _start(argv: Sequence[str], cwd: Path | None, env: Mapping[str, str] | None, stdin: str | bytes | None) -> subprocess.Popen[bytes]:
    """Start the command. What it may read is a file without a name, so that nobody has to feed it."""
    if not argv:
        raise ToolFailed("There is no command to run; name a program and its arguments.")
    data = stdin.encode() if isinstance(stdin, str) else stdin or b""
    with tempfile.TemporaryFile() as given:
        given.write(data)
        given.seek(0)
        try:
            return subprocess.Popen(
                list(argv),
                bufsize=0,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env={"PATH": os.environ.get("PATH", os.defpath), **(env or {})},
                start_new_session=True,
            )
        except OSError as fault:
            raise ToolFailed(f"The command '{argv[0]}' cannot be started: {fault.strerror or 'the system refused'}.") from fault
        except ValueError as fault:  # a NUL character
            raise ToolFailed(f"The command cannot be started: {fault}.") from fault


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # all of it is gone; some systems say of the dead that they may not be touched
        os.killpg(group, number)


def _reap_adopted(group: int) -> None:
    """Where this process is the first of its container, orphans become its children, and nobody else reaps them. All are killed by now."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-group, 0)

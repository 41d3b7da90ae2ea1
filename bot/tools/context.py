"""What a tool is given beside its arguments: whose step it works for, a way to speak, a way to be told to stop, a folder, commands to run.

One context belongs to one start of one step. It is safe to use from the thread of a synchronous tool: words travel to the event loop,
and `cancelled` is a plain threading event. Words said after the step was cancelled are dropped, since an abandoned thread may still speak.
"""

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.core.references import Unresolved, reveal
from bot.core.snapshot import Observation
from bot.errors import ToolFailed
from bot.tools import personal, processes
from bot.tools.processes import Finished
from bot.tools.sanitize import line


class Cancelled(ToolFailed):
    """`ctx.check()` found that the step was cancelled: leave the tool now, whatever is half done undone or kept as it is."""


class ToolContext:
    """Made by the dispatcher on the event loop for each start of a step; `key` is the same for every attempt at the same work."""

    def __init__(
        self,
        *,
        run_id: str,
        step_id: str,
        key: str,
        now: Callable[[], datetime],
        on_progress: Callable[[str], None] | None = None,
        planned: Mapping[str, Any] | None = None,
        secrets: Callable[[str], str] | None = None,
        hosts: Collection[str] = (),
        scope: Collection[str] | None = None,
        cover: Callable[[str], str] = personal.nothing,
        keep: Callable[[str], str] | None = None,
    ) -> None:
        self.run_id = run_id
        self.step_id = step_id
        self.key = key  # idempotency key: hand it to services that accept one
        self.now = now
        self.cover = cover  # masks personal data, as the policy has it now
        self.keep = keep  # stores the whole text of a result that had to be cut
        self.hosts = hosts  # that may be live links in what is posted
        self.scope = scope  # the hosts that the policy lets steps reach, as patterns; None: any
        self.planned = planned or {}  # the step's arguments as they were planned: the only ones whose `{{secret:…}}` count
        self._secrets = secrets  # name → value
        self._revealed: dict[str, str] = {}  # value → the reference that it stands for, of this call
        self.cancelled = threading.Event()
        self.started = False  # the tool was really called: a call that waited for its turn, or for a thread, may never be
        self.grace_s = processes.GRACE_S  # for commands that are told to end; the registry makes it fit into its own
        self.outcome: Observation | None = None  # set where a call that was cancelled or timed out had ended well all the same
        self._on_progress = on_progress
        self._loop = _running_loop()
        self._scratch: Path | None = None
        self._lock = threading.Lock()
        self._used: list[tuple[str, int, int]] = []

    def progress(self, text: str) -> None:
        """Say in a few words how far the work is ("3 of 10 files"); cards show the latest. One cleaned line of at most 120 characters."""
        if self._on_progress is None or self.cancelled.is_set():
            return
        if self._loop is None or self._loop is _running_loop():
            self._speak(self.cover(line(text)))
            return
        try:
            self._loop.call_soon_threadsafe(self._speak, self.cover(line(text)))
        except RuntimeError:
            self.cancelled.set()  # the loop is closed: the bot has stopped, and so should the tool

    def _speak(self, text: str) -> None:
        if self._on_progress is not None and not self.cancelled.is_set():
            self._on_progress(text)

    def check(self) -> None:
        """Raise `Cancelled` if the step was cancelled or timed out. Synchronous tools call it between two pieces of work."""
        if self.cancelled.is_set():
            raise Cancelled("The step was cancelled.")

    @property
    def scratch(self) -> Path:
        """An empty folder of this call's own, made at the first use and removed when the call ends."""
        with self._lock:
            if self._scratch is None:
                self._scratch = Path(tempfile.mkdtemp(prefix="pullcord-"))
            return self._scratch

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | bytes | None = None,
        limit: int = processes.LIMIT,
    ) -> Finished:
        """Run a command without a shell and give what it said; see `processes.run`. It stands in the scratch folder unless `cwd` is given.

        When the step is cancelled or its time is up, the command and all that it has started is ended before the tool is.
        """
        self.check()
        return await processes.run(argv, cwd=cwd or self.scratch, env=env, stdin=stdin, limit=limit, grace_s=self.grace_s)

    def run_blocking(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | bytes | None = None,
        limit: int = processes.LIMIT,
    ) -> Finished:
        """The same for synchronous tools: raises `Cancelled`, the command ended, once the step is cancelled or its time is up."""
        self.check()
        place, grace_s = cwd or self.scratch, self.grace_s
        return processes.run_blocking(argv, check=self.check, cwd=place, env=env, stdin=stdin, limit=limit, grace_s=grace_s)

    def secret(self, name: str) -> str:
        """The value of a secret that the tool needs. Raises `ToolFailed` if there is none of that name."""
        if self._secrets is None:
            raise ToolFailed(f"There is no secret '{line(name)}': no secrets are configured for tools.")
        value = self._secrets(name)
        self._revealed[value] = f"{{{{secret:{name}}}}}"
        return value

    def reveal(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with the values of the secrets that the plan names. Raises `ToolFailed` where one is not there (any more)."""
        try:
            given: dict[str, Any] = reveal(self.planned, args, self.secret)
        except Unresolved as fault:
            raise ToolFailed(f"{fault}.") from fault
        return given

    def named(self, text: str) -> str:
        """The text with the names of this call's secrets in place of their values."""
        for value, reference in sorted(self._revealed.items(), key=lambda pair: -len(pair[0])):
            text = text.replace(value, reference)
        return text

    def spent(self, tokens_in: int, tokens_out: int, *, model: str = "") -> None:
        """A model was asked for this call and took so many tokens: they count towards the run's budget, by the price of that model."""
        with self._lock:
            self._used.append((model, tokens_in, tokens_out))

    @property
    def used(self) -> tuple[tuple[str, int, int], ...]:
        """What `spent` was told: model, tokens in, tokens out."""
        with self._lock:
            return tuple(self._used)

    def close(self) -> None:
        """Remove the scratch folder. The registry calls it when the tool has really ended, in whatever thread that is."""
        with self._lock:
            folder, self._scratch = self._scratch, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None

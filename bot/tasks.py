"""Tasks with an owner: named, kept until done, their faults logged, awaited at shutdown. Nothing else starts a task."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

log = structlog.get_logger()


class Tasks:
    """A set of running tasks. `start` needs a running event loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        """Run the coroutine as a task of ours and return it. A fault in it is logged under its name."""
        task = asyncio.create_task(work, name=name)  # noqa: TID251 - the one place that may
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()):
            log.error("task_failed", task=task.get_name(), exc_info=fault)

    def __len__(self) -> int:
        return len(self._tasks)

    async def close(self, *, grace_s: float = 0) -> list[str]:
        """Wait up to `grace_s` for what runs, then cancel the rest. Returns the names of those that had to be cancelled."""
        pending = set(self._tasks)
        if pending and grace_s:
            _, pending = await asyncio.wait(pending, timeout=grace_s)
        cancelled = [task.get_name() for task in pending]
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending, timeout=5)
        return cancelled

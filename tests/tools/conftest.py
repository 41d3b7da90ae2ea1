"""What tests of tools share: a context, and a registry that is closed at the end."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

import pytest

from bot.tools.registry import Registry, Tool, ToolContext

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def context(said: list[str] | None = None, *, key: str = "R-1.s1.k", scope: tuple[str, ...] | None = None) -> ToolContext:
    """A context whose progress goes into `said`; its clock stands still."""
    speak = None if said is None else said.append
    return ToolContext(run_id="R-1", step_id="s1", key=key, now=lambda: NOON, on_progress=speak, scope=scope)


@pytest.fixture
async def open_registry() -> AsyncIterator[Callable[..., Registry]]:
    """Makes registries with a short grace time, and closes them."""
    made: list[Registry] = []

    def make(*tools: Tool, threads: int = 4, grace_s: float = 0.3) -> Registry:
        made.append(Registry(tools, threads=threads, grace_s=grace_s))
        return made[-1]

    yield make
    for registry in made:
        await registry.close()

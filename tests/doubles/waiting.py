"""Wait for something observable, never for time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def eventually(probe: Callable[[], Awaitable[T | None]], what: str, *, within_s: float = 15.0, every_s: float = 0.02) -> T:
    """The first truthy value of `probe()`; AssertionError with `what` if there is none in time."""
    end = asyncio.get_running_loop().time() + within_s
    while True:
        found = await probe()
        if found:
            return found
        if asyncio.get_running_loop().time() > end:
            raise AssertionError(f"waited {within_s:.0f} s in vain: {what}")
        await asyncio.sleep(every_s)

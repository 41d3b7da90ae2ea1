"""Waiting and looking at the clock."""

import asyncio
from time import monotonic

import pytest

from bot.errors import ToolFailed
from bot.tools.clock import clock_tools
from bot.tools.registry import InvalidArgs, Registry
from tests.doubles.waiting import eventually
from tests.tools.conftest import context


async def test_waiting_takes_its_time_and_says_how_far_it_is() -> None:
    said: list[str] = []
    start = monotonic()

    seen = await Registry(clock_tools()).call("time.wait", {"seconds": 1.2}, context(said))

    assert monotonic() - start >= 1.2
    assert said == ["1 of 1.2 s"]
    assert seen.value == {"seconds": 1.2}


async def test_waiting_ends_at_once_when_cancelled() -> None:
    registry = Registry(clock_tools())
    said: list[str] = []
    waiting = asyncio.create_task(registry.call("time.wait", {"seconds": 3600}, context(said)))

    async def spoken() -> bool:
        return bool(said)

    await eventually(spoken, "the first second")
    start = monotonic()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert monotonic() - start < 1
    assert said == ["1 of 3600 s"]


@pytest.mark.parametrize("seconds", [0, -1, 3601, "5", None])
async def test_odd_waits_are_refused(seconds: object) -> None:
    with pytest.raises(InvalidArgs):
        await Registry(clock_tools()).call("time.wait", {"seconds": seconds}, context())


@pytest.mark.parametrize(
    ("args", "iso", "weekday"),
    [
        ({}, "2026-03-02T12:00:00+00:00", "Monday"),
        ({"zone": "Europe/Berlin"}, "2026-03-02T13:00:00+01:00", "Monday"),
        ({"zone": "Pacific/Auckland"}, "2026-03-03T01:00:00+13:00", "Tuesday"),
    ],
)
async def test_the_time_is_told_in_a_zone(args: dict[str, str], iso: str, weekday: str) -> None:
    seen = (await Registry(clock_tools()).call("time.now", args, context())).value

    assert (seen["iso"], seen["weekday"]) == (iso, weekday)
    assert iso.startswith(f"{seen['date']}T{seen['time']}")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "/etc/localtime", "Europe", "\0"])
async def test_an_unknown_zone_is_told(zone: str) -> None:
    with pytest.raises(ToolFailed, match="There is no time zone"):
        await Registry(clock_tools()).call("time.now", {"zone": zone}, context())

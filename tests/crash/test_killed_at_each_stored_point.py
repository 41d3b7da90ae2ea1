"""SIGKILL at each stored point of runs that meet the whole cord: the bot starts again and the run ends rightly (C017, C018, C052).

Each story of `stories` is first played without a kill, which gives its stored points: each committed transaction that changed the run or
its replies. Then it is played once more for each point, with a bot that kills itself there. Nothing is done twice and nothing is lost.

That would be some eighty runs, so of each story's points an even sample of `MOST` is taken, with its first and last; besides, each story is
played by a bot that dies at one point after another. PULLCORD_CRASH_POINTS=all takes all of them, and
PULLCORD_CRASH_POINTS=step_started.2 that one.
Several stages are played side by side: most of the time is waiting.
"""

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.crash.ends import check
from tests.crash.lives import NEW, Nursery, Point
from tests.crash.stage import staged
from tests.crash.stories import STORIES, Story, play

CHOSEN = os.environ.get("PULLCORD_CRASH_POINTS", "")
MOST = 4  # points of one story
AT_ONCE = 8


@pytest.mark.timeout(1_800 if CHOSEN else 300)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
async def test_killed_anywhere_it_ends_rightly(story: Story, nursery: Nursery, tmp_path: Path) -> None:
    points = await undisturbed(story, nursery, tmp_path / "undisturbed")
    places = asyncio.Semaphore(AT_ONCE)
    faults: list[Exception] = []

    async def one(point: Point) -> None:
        async with places:
            try:
                await killed(story, point, nursery, tmp_path / f"{point[0]}.{point[1]}")
            except Exception as fault:
                fault.add_note(f"killed after {point[0]} {point[1]}: {tmp_path / f'{point[0]}.{point[1]}'}")
                faults.append(fault)

    async with asyncio.TaskGroup() as group:
        for point in chosen(points):
            group.create_task(one(point))  # noqa: TID251 - owned by the group
    if faults:
        raise ExceptionGroup(f"{len(faults)} of {len(points)} points", faults)


@pytest.mark.timeout(300)
async def test_killed_at_every_point_of_one_and_the_same_run_it_still_ends_rightly(nursery: Nursery, tmp_path: Path) -> None:
    """Each life of the bot ends at the first stored point at which none before it has ended, for each step anew.

    What is said in a thread while a bot dies twice a second may be acknowledged and not yet stored: whoever sees no answer says it again.
    """

    async def one(story: Story, folder: Path) -> None:
        async with staged(folder, nursery, policy=story.policy) as stage:
            stage.says_again_s = 5
            await play(story, stage, NEW)
            final = await check(story, stage)
            assert stage.bot.deaths >= len({entry.event for entry in final.entries})

    async with asyncio.TaskGroup() as group:
        for number, story in enumerate(STORIES):
            group.create_task(one(story, tmp_path / str(number)))  # noqa: TID251 - owned by the group


async def undisturbed(story: Story, nursery: Nursery, folder: Path) -> list[Point]:
    """Play it through, and give its stored points."""
    async with staged(folder, nursery, policy=story.policy) as stage:
        await play(story, stage)
        final = await check(story, stage)
    assert story.meets <= {str(entry.event) for entry in final.entries}
    lines = (folder / "points.jsonl").read_text().splitlines()
    return list(dict.fromkeys((event, count) for event, count in map(json.loads, lines) if event != "click_refused"))


async def killed(story: Story, point: Point, nursery: Nursery, folder: Path) -> None:
    async with staged(folder, nursery, policy=story.policy) as stage:
        await play(story, stage, point)
        await check(story, stage)
        assert stage.bot.deaths == 1


def chosen(points: list[Point]) -> list[Point]:
    """All of them, the one that was named, or an even sample."""
    if CHOSEN and CHOSEN != "all":
        return [point for point in points if f"{point[0]}.{point[1]}" == CHOSEN]
    if CHOSEN or len(points) <= MOST:
        return points
    return [points[round(n * (len(points) - 1) / (MOST - 1))] for n in range(MOST)]

"""Time: waiting for a while, and what time it is. Waiting shows how far it is and ends at once when the step is cancelled.

Once waited is waited: nothing that could change makes a finished wait unfinished, so its freshness is always the same. What the clock
showed is true for that moment only.
"""

import asyncio
from datetime import UTC
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field

from bot.errors import ToolFailed
from bot.tools.context import ToolContext
from bot.tools.definition import Tool, tool
from bot.tools.sanitize import line

LONGEST = 3600  # seconds


class WaitArgs(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    seconds: float = Field(gt=0, le=LONGEST, description="How long to wait, at most one hour")


class Waited(BaseModel):
    seconds: float


class NowArgs(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    zone: str = Field(default="UTC", min_length=1, max_length=60, description="Time zone, such as 'Europe/Berlin'; UTC if left out")


class Moment(BaseModel):
    iso: str = Field(description="Date, time and offset, such as 2026-03-01T09:30:00+01:00")
    date: str
    time: str
    weekday: str
    zone: str


def clock_tools() -> list[Tool]:
    """`time.wait` and `time.now`."""
    return [_wait(), _now()]


def _wait() -> Tool:
    @tool(name="time.wait", effect="read", says="Waits {seconds} seconds", timeout_s=LONGEST + 60)
    async def wait(args: WaitArgs, ctx: ToolContext) -> Waited:
        """Wait for some seconds before the steps that depend on it start.

        Use it when something needs time to take effect before it is looked at. Do not use it to run something at a certain hour or every
        day: that is what schedules are for.
        """
        clock = asyncio.get_running_loop().time
        start, done = clock(), 0
        while (left := args.seconds - (clock() - start)) > 0:
            await asyncio.sleep(min(left, done + 1 - (clock() - start)))
            if (passed := int(clock() - start)) > done:
                done = passed
                ctx.progress(f"{min(done, int(args.seconds))} of {args.seconds:g} s")
        return Waited(seconds=args.seconds)

    @wait.freshness
    async def waited(_args: WaitArgs, _ctx: ToolContext) -> str:
        return "waited"

    return wait


def _now() -> Tool:
    @tool(name="time.now", effect="read", says="Looks at the clock")
    async def now(args: NowArgs, ctx: ToolContext) -> Moment:
        """Tell the date, the time and the day of the week in a time zone.

        Use it when a step needs the current date or time as text. Do not use it to wait (time.wait), or when the date is known already.
        """
        try:
            zone = UTC if args.zone == "UTC" else ZoneInfo(args.zone)  # UTC needs no database of zones, which small images lack
        except (ZoneInfoNotFoundError, ValueError, OSError) as fault:
            raise ToolFailed(f"There is no time zone '{line(args.zone, 60)}'; write it like 'Europe/Berlin' or 'UTC'.") from fault
        here = ctx.now().astimezone(zone)
        return Moment(
            iso=here.isoformat(timespec="seconds"),
            date=here.date().isoformat(),
            time=here.strftime("%H:%M"),
            weekday=("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[here.weekday()],
            zone=args.zone,
        )

    @now.freshness
    async def moment(_args: NowArgs, ctx: ToolContext) -> str:
        return ctx.now().isoformat()

    return now

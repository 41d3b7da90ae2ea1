"""The alarm for a blocked event loop."""

import time

from structlog.testing import capture_logs

from bot import pulse
from bot.tasks import Tasks
from tests.doubles.waiting import eventually


async def test_a_blocked_loop_raises_the_alarm_C050() -> None:
    tasks = Tasks()
    with capture_logs() as lines:
        tasks.start(pulse.watch(), name="pulse")

        async def beating() -> bool:
            time.sleep(pulse.ALARM_S + 2 * pulse.BEAT_S)  # what a tool must never do on the loop
            return any(line["event"] == "loop_lag" for line in lines)

        await eventually(beating, "the alarm")
    await tasks.close()

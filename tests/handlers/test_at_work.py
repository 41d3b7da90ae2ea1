"""While a step runs for a while its card tells how long and how far, though nothing else about the run changes (P12)."""

import os
from pathlib import Path

from handlers import presenter
from handlers.presenter import Presenter
from tests.doubles.clock import Clock
from tests.doubles.town import run_id_in, text_of
from tests.doubles.waiting import eventually
from tests.handlers.conftest import Hall, MakeHall


async def test_the_card_of_a_long_step_is_drawn_again_as_time_passes(make_hall: MakeHall, clock: Clock) -> None:
    hall = await make_hall(presented=False)
    shown = Presenter(hall.deps, hall.slack, clock=lambda: clock().timestamp())
    hall.deps.tasks.start(shown.run(), name="presenter")
    requester, approver = hall.person("requester"), hall.person("approver")
    await requester.command("#ops", "/plan", "test.gate name=g")
    found = await approver.card("#ops", "Approve")
    await approver.press("Approve", found, "#ops")
    run_id = run_id_in(found)
    await eventually(lambda: _says(hall, run_id, "running, "), "the card to say that the step runs")
    before = (await hall.show(run_id)).run.version

    clock.advance(seconds=120 + presenter.TICK_S)
    hall.deps.bell.ring(run_id)

    await eventually(lambda: _says(hall, run_id, "2 min so far"), "the card to say for how long")
    assert (await hall.show(run_id)).run.version == before
    Path(os.environ["PULLCORD_TEST_FOLDER"], "g.open").touch()
    await hall.until(run_id, "succeeded")
    await shown.close()


async def _says(hall: Hall, run_id: str, words: str) -> bool:
    messages = await hall.person("requester").everything("#ops")
    return any(run_id in text_of(message) and words in text_of(message) for message in messages)

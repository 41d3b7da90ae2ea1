"""Letting a held step go: what a confirm covers, and what must have been seen before it (P2, P3)."""

from typing import Any

import pytest

from bot import runs
from bot.commands import confirming, intake, review
from bot.core.completeness import LONGEST_ARGUMENT, LONGEST_MESSAGE, LONGEST_PLAN, MOST_LINES, fits_card
from bot.core.run import RunStatus
from bot.core.snapshot import Snapshot
from bot.deps import Deps
from bot.errors import Refused
from tests.conftest import until
from tests.doubles.parts import APPROVER, APPROVER2, REQUESTER

TOKEN = "xoxb-" + "1234567890-" * 100


async def held(deps: Deps, name: str) -> tuple[str, str]:
    """A run that stands before a step which deletes `name`, and the filling that it asks about."""
    place: dict[str, Any] = {"team": "T0HOME", "channel": "C0OPS", "thread_ts": None, "source_ts": None, "event_key": None}
    run = await intake.open_run(deps, ask=f'test.destroy name="{name}"', who=REQUESTER, **place)
    assert run is not None
    await until(deps, run.id, RunStatus.IN_REVIEW)
    for who in (APPROVER, APPROVER2):
        await review.approve(deps, run.id, 1, who=who, received_at=deps.now(), opened_all=True)
    await until(deps, run.id, RunStatus.PAUSED)
    return run.id, _filling(await runs.snapshot(deps, run.id))


def _filling(snapshot: Snapshot) -> str:
    return next(str(post.data["filling"]) for post in snapshot.posts if post.card == "confirm")


async def test_values_that_their_card_shows_in_full_are_confirmed_from_it(supervised: Deps) -> None:
    run_id, filling = await held(supervised, "a")

    await confirming.confirm(supervised, run_id, "s1", digest8=filling, who=APPROVER)

    await until(supervised, run_id, RunStatus.SUCCEEDED)


async def test_values_too_long_for_their_card_are_confirmed_only_once_they_were_opened_whole(supervised: Deps) -> None:
    run_id, filling = await held(supervised, "x" * (LONGEST_ARGUMENT + 1))

    with pytest.raises(Refused, match="open_first") as refused:
        await confirming.confirm(supervised, run_id, "s1", digest8=filling, who=APPROVER)
    assert (refused.value.facts["run"], refused.value.facts["did"]) == (run_id, "confirm")
    assert not [given for given in (await runs.snapshot(supervised, run_id)).approvals if given.kind == "confirm"]
    await confirming.confirm(supervised, run_id, "s1", digest8=filling, who=APPROVER, opened_all=True)

    await until(supervised, run_id, RunStatus.SUCCEEDED)


async def test_who_may_not_confirm_hears_that_first(supervised: Deps) -> None:
    run_id, filling = await held(supervised, "x" * (LONGEST_ARGUMENT + 1))

    with pytest.raises(Refused, match="not_allowed"):
        await confirming.confirm(supervised, run_id, "s1", digest8=filling, who=REQUESTER)


async def test_a_long_secret_is_judged_as_its_card_shows_it(supervised: Deps) -> None:
    """C059: the card shows the mask, which is short, and has the button."""
    run_id, filling = await held(supervised, TOKEN)

    await confirming.confirm(supervised, run_id, "s1", digest8=filling, who=APPROVER)

    await until(supervised, run_id, RunStatus.SUCCEEDED)


async def test_a_reason_given_for_a_refusal_is_stored_masked(supervised: Deps) -> None:
    """C059"""
    run_id, filling = await held(supervised, "a")

    await confirming.refuse(supervised, run_id, "s1", digest8=filling, who=APPROVER, reason=f"it holds {TOKEN}")

    snapshot = await runs.snapshot(supervised, run_id, entries=True)
    assert "refused: it holds ⟦secret " in (snapshot.state("s1").error or "")
    assert TOKEN not in snapshot.model_dump_json()


@pytest.mark.parametrize(
    ("args", "more", "fits"),
    [
        ({}, {}, True),
        ({"a": "x" * LONGEST_ARGUMENT}, {}, True),
        ({"a": "x" * (LONGEST_ARGUMENT + 1)}, {}, False),
        ({"a": "\n" * (MOST_LINES - 1)}, {}, True),
        ({"a": "\n" * MOST_LINES}, {}, False),
        ({"a": ["x" * 300, "x" * 300]}, {}, False),
        ({f"a{n}": "x" * LONGEST_ARGUMENT for n in range(LONGEST_PLAN // LONGEST_ARGUMENT)}, {}, True),
        ({f"a{n}": "x" * LONGEST_ARGUMENT for n in range(LONGEST_PLAN // LONGEST_ARGUMENT + 1)}, {}, False),
        ({"text": "x" * LONGEST_MESSAGE}, {"sends": True}, True),
        ({"text": "x" * (LONGEST_MESSAGE + 1)}, {"sends": True}, False),
        ({"text": "x" * LONGEST_MESSAGE}, {}, False),
        ({"other": "x" * LONGEST_MESSAGE}, {"sends": True}, False),
        ({"content": "x" * 9_000}, {"after": "x" * 9_000}, True),
        ({"content": "x" * 9_000}, {"after": "y" * 9_000}, False),
    ],
)
def test_what_fits_a_confirm_card(args: dict[str, Any], more: dict[str, Any], fits: bool) -> None:
    assert fits_card(args, **more) is fits

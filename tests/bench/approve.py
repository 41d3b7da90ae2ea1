"""Fifty people approve one card at the same moment, through two processes on one database: one run is queued, everyone else is told.

Measured from the first call of the command to the last one's return, in either process; a refusal is what becomes a private answer. Slack's
part of a click is not in it.
"""

import argparse
import asyncio
import tempfile
from collections import Counter
from pathlib import Path

from bot import runs
from bot.core.run import Event, RunStatus
from bot.deps import Deps
from bot.store import audit
from tests.bench import seeding, world
from tests.bench.children import Child
from tests.bench.figures import Figure, parser, percentile, report

PROCESSES = 2


def main(argv: list[str]) -> None:
    """Measure and print."""
    options = parser("approve", __doc__)
    options.add_argument("--people", type=int, default=50, help="approvals of one card")
    options.add_argument("--cards", type=int, default=10, help="how often, each time another card")
    given = options.parse_args(argv)
    report(given, asyncio.run(measure(given)))


async def measure(given: argparse.Namespace) -> list[Figure]:
    """Let both processes loose on one card after the other."""
    said: list[dict[str, float]] = []
    answers: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        async with world.opened(Path(folder), []) as deps:
            ids = await seeding.seed(deps, "CARD", given.cards, world.chain("bench.writes", 2), seeding.IN_REVIEW)
            share = given.people // PROCESSES
            with Child("approve", folder, "0", str(share)) as one, Child("approve", folder, str(share), str(given.people - share)) as other:
                for child in (one, other):
                    await asyncio.to_thread(child.heard)  # both stand ready
                for run_id in ids:
                    one.tell(run_id)
                    other.tell(run_id)
                    both = [await asyncio.to_thread(child.heard) for child in (one, other)]
                    said.append({"ms": (max(each["ended"] for each in both) - min(each["begun"] for each in both)) * 1000})
                    answers.update(kind for each in both for kind in each["kinds"])
            once = [await _queued_once(deps, run_id) for run_id in ids]
    took = [each["ms"] for each in said]
    refused = given.people * given.cards - answers["approved"]
    return [
        Figure(f"{given.people} approvals of one card, median", percentile(took, 50), "ms", at_most=250),
        Figure("... slowest card", max(took), "ms"),
        Figure("cards of which not exactly one approval counted", once.count(False), at_most=0),
        Figure("refusals of each card", refused / given.cards, at_least=given.people - 1, at_most=given.people - 1),
        *(Figure(f"... of kind {kind}", count) for kind, count in sorted(answers.items()) if kind != "approved"),
    ]


async def _queued_once(deps: Deps, run_id: str) -> bool:
    run = await runs.get(deps, run_id)
    entries = await deps.store.read(lambda conn: audit.entries(conn, run_id))
    return run.status is RunStatus.QUEUED and [entry.event for entry in entries].count(Event.APPROVED) == 1

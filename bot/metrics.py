"""Figures for a machine that watches: `/metrics` in Prometheus' form, and `/healthz`.

Everything is read from the store when somebody asks. What only grows is counted on from where the last look ended, so that a look costs as
much as has happened since, and the sums go on over a restart.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from bot.deps import Deps
from bot.store import figures

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass
class Meter:
    """What was counted so far. One per process; `text` is safe to call from several requests at once."""

    deps: Deps
    events: Counter[str] = field(default_factory=Counter)
    upto: int = 0  # the last audit entry that is counted
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def text(self) -> bytes:
        """All figures, as Prometheus reads them. Raises `Unavailable` if the store does not answer."""
        async with self.turn:
            upto, since = await self.deps.store.read(lambda conn: figures.events_after(conn, self.upto))
            self.upto = upto
            self.events.update(since)
        now = await self.deps.store.read(figures.standing)
        return generate_latest(_registry(self.events, now))


def _registry(events: Mapping[str, int], now: figures.Standing) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_Found(tuple(_families(events, now))))
    return registry


@dataclass(frozen=True, eq=False)
class _Found:
    """What was read, in the form in which the library asks for it."""

    families: tuple[Metric, ...]

    def collect(self) -> Iterator[Metric]:
        """Asked by the library."""
        return iter(self.families)


def _families(events: Mapping[str, int], now: figures.Standing) -> Iterator[Metric]:
    runs = GaugeMetricFamily("pullcord_runs", "Runs by status, now.", labels=["status"])
    for status, number in sorted(now.runs.items()):
        runs.add_metric([status], number)
    yield runs
    entries = CounterMetricFamily("pullcord_audit_entries", "Audit entries by event, from the beginning of the record.", labels=["event"])
    for event, number in sorted(events.items()):
        entries.add_metric([event], number)
    yield entries
    posts = GaugeMetricFamily("pullcord_posts_waiting", "Messages that Slack has not taken yet.")
    posts.add_metric([], now.posts)
    yield posts
    frozen = GaugeMetricFamily("pullcord_frozen", "1 while an admin holds everything.")
    frozen.add_metric([], int(now.frozen))
    yield frozen


async def health(deps: Deps) -> Mapping[str, object]:
    """`{"ok": True, …}` if the store answers. Raises what the store raises if it does not."""
    found = await deps.store.read(figures.standing)
    return {"ok": True, "live": sum(number for status, number in found.runs.items() if status in figures.LIVE), "frozen": found.frozen}

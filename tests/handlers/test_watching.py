"""What a machine that watches is told: figures and health, over HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from bot.deps import Deps
from bot.metrics import Meter
from handlers import http
from tests.conftest import until
from tests.doubles.deeds import approved, asked


@pytest.fixture
async def watched(supervised: Deps) -> AsyncIterator[str]:
    front = await http.serve(http.watch(Meter(supervised)), host="127.0.0.1", port=0)
    yield f"http://{front.host}:{front.port}"
    await front.close()


async def get(address: str) -> tuple[int, str]:
    async with aiohttp.ClientSession(trust_env=False) as client, client.get(address) as answer:
        return answer.status, await answer.text()


async def test_figures_are_counted_on_from_the_last_look(watched: str, supervised: Deps, tmp_path: Path) -> None:
    status, before = await get(f"{watched}/metrics")
    assert status == 200
    assert "pullcord_runs{" not in before

    for _ in range(2):
        run = await asked(supervised, "a: test.change name=a")
        await approved(supervised, run.id)
        await until(supervised, run.id, "succeeded")
        _, after = await get(f"{watched}/metrics")

    assert 'pullcord_runs{status="succeeded"} 2.0' in after
    assert 'pullcord_audit_entries_total{event="approved"} 2.0' in after
    assert 'pullcord_audit_entries_total{event="step_succeeded"} 2.0' in after
    assert "pullcord_frozen 0.0" in after


async def test_a_look_counts_what_another_process_wrote_before(supervised: Deps) -> None:
    run = await asked(supervised, "a: test.change name=a")
    await approved(supervised, run.id)
    await until(supervised, run.id, "succeeded")

    text = (await Meter(supervised).text()).decode()
    assert 'pullcord_audit_entries_total{event="opened"} 1.0' in text


async def test_a_healthy_bot_says_so_and_one_without_its_store_does_not(deps: Deps) -> None:
    front = await http.serve(http.watch(Meter(deps)), host="127.0.0.1", port=0)
    try:
        address = f"http://{front.host}:{front.port}/healthz"
        assert await get(address) == (200, '{"ok": true, "live": 0, "frozen": false}')
        await deps.store.close()
        assert (await get(address))[0] == 503
    finally:
        await front.close()

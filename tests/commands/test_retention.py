"""What policy lets go once a run has ended, and what stays of it."""

import os
import stat
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot import runs
from bot.commands import retention
from bot.core.run import RunStatus
from bot.core.sealed_rows import is_dropped
from bot.deps import Deps
from bot.store import audit
from bot.supervisor import Supervisor
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.deeds import asked
from tests.doubles.parts import POLICY, close_parts, open_parts

KEEP = "keep: {observations: 30d, full_texts: 7d}\npersonal: {email: true}\n"
LONG = "name@example.com, and password = 'correct horse'\n" + "line by line\n" * 4_000


@pytest.fixture
async def keeping(tmp_path: Path, clock: Clock) -> AsyncIterator[Deps]:
    deps = await open_parts(tmp_path, clock=clock, policy_text=POLICY + KEEP)
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    (tmp_path / "files" / "long.md").write_text(LONG)
    yield deps
    await supervisor.close()
    await close_parts(deps)


async def test_values_go_when_their_time_has_passed_and_the_record_still_holds(keeping: Deps, clock: Clock) -> None:
    run = await asked(keeping, "a: files.list path=.\nb: files.read path=long.md")
    await until(keeping, run.id, RunStatus.SUCCEEDED)
    before = (await runs.snapshot(keeping, run.id)).state("a").observation
    assert before is not None
    clock.advance(days=29)
    assert "2 observations" not in await retention.sweep(keeping)

    clock.advance(days=2)
    assert "2 observations" in await retention.sweep(keeping)
    assert await retention.sweep(keeping) == []

    after = (await runs.snapshot(keeping, run.id)).state("a").observation
    assert after is not None
    assert is_dropped(after.value)
    assert (after.sha256, after.says, after.size) == (before.sha256, before.says, before.size)
    assert await keeping.store.read(audit.verify) == []


async def test_a_run_that_has_not_ended_keeps_everything(keeping: Deps, clock: Clock) -> None:
    run = await asked(keeping, "a: files.list path=.\nb: test.change name=x after=a !break")
    clock.advance(days=60)
    assert await retention.sweep(keeping) == []
    assert (await runs.get(keeping, run.id)).status is RunStatus.IN_REVIEW


async def test_a_long_result_is_kept_whole_as_a_file_cleaned_like_the_rest(keeping: Deps, tmp_path: Path, clock: Clock) -> None:
    run = await asked(keeping, "b: files.read path=long.md")
    await until(keeping, run.id, RunStatus.SUCCEEDED)
    seen = (await runs.snapshot(keeping, run.id)).state("b").observation
    assert seen is not None
    assert (seen.cut, seen.full) == (True, f"observations/{run.id}.b.1.txt")

    path = tmp_path / seen.full
    text = path.read_text()
    assert text.count("line by line") == 4_000
    assert "⟦email " in text
    assert "⟦secret " in text
    assert "name@example.com" not in text + seen.model_dump_json()
    assert "correct horse" not in text + seen.model_dump_json()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700

    written = (clock() - timedelta(days=8)).timestamp()
    os.utime(path, (written, written))
    assert await retention.sweep(keeping) == ["1 full texts"]
    assert not path.exists()


async def test_without_the_key_nothing_is_kept_whole_and_nothing_is_dropped(supervised: Deps, tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "files" / "long.md").write_text(LONG)
    run = await asked(supervised, "b: files.read path=long.md")
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    seen = (await runs.snapshot(supervised, run.id)).state("b").observation
    assert seen is not None
    assert (seen.cut, seen.full) == (True, "")
    assert not (tmp_path / "observations").exists()

    clock.advance(days=4_000)
    assert await retention.sweep(supervised) == []

"""No line of the log holds a secret, whoever wrote it (P11, C060)."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.logs import _masked, _ToStructlog
from bot.tools.masks import hold, release

EXACT = "correct horse battery"
SHAPED = "xoxb-1234567890-abcdefghijkl"
ROOT = Path(__file__).parents[2]

LIBRARIES = f"""
import logging, sys
from bot.logs import configure

configure("warning", secrets=[{EXACT!r}])
configure("warning", secrets=[{EXACT!r}])
logging.getLogger("apscheduler.executors").warning("the job said %s", {EXACT!r})
logging.getLogger("aiohttp.server").info("not worth a line: {SHAPED}")
logging.getLogger("aiohttp.client").warning("two places, one word: %s %s", {SHAPED!r})
logging.getLogger("odd").log(35, "between two levels")
try:
    raise ValueError("it was {SHAPED} and {EXACT}")
except ValueError:
    logging.getLogger("asyncio").exception("never retrieved")
"""


def lines_of(program: str) -> list[dict[str, Any]]:
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert SHAPED not in ended.stderr + ended.stdout
    assert EXACT not in ended.stderr + ended.stdout
    return [json.loads(line) for line in ended.stderr.splitlines()]


def test_lines_of_libraries_pass_the_mask_like_ours_and_each_comes_once() -> None:
    lines = lines_of(LIBRARIES)

    assert [line["source"] for line in lines] == ["apscheduler.executors", "aiohttp.client", "odd", "asyncio"]
    assert lines[0]["says"].startswith("the job said ⟦secret ")
    assert "⟦secret " in lines[1]["says"]
    assert [line["level"] for line in lines] == ["warning", "warning", "warning", "error"]
    assert "Traceback" in lines[3]["exception"]
    assert "it was ⟦secret " in lines[3]["exception"]


def test_a_task_that_nobody_awaited_is_told_through_the_mask() -> None:
    program = f"""
import asyncio, gc
from bot.logs import configure

configure("warning", secrets=[{EXACT!r}])

async def broken():
    raise RuntimeError("{EXACT}")

async def main():
    task = asyncio.get_running_loop().create_task(broken())
    await asyncio.sleep(0.01)
    del task
    gc.collect()

asyncio.run(main())
"""
    (line,) = lines_of(program)
    assert (line["source"], line["level"]) == ("asyncio", "error")
    assert "RuntimeError: ⟦secret " in line["exception"]


def test_c060_what_ends_the_process_leaves_through_the_mask() -> None:
    """In the main thread and in others, also where the value is written as base64."""
    program = f"""
import base64, sys, threading
from bot.logs import configure

configure("warning", secrets=[{EXACT!r}])

def broken():
    raise RuntimeError("{EXACT} {SHAPED} " + base64.b64encode({EXACT!r}.encode()).decode())

thread = threading.Thread(target=broken)
thread.start()
thread.join()
try:
    broken()
except RuntimeError:
    sys.excepthook(*sys.exc_info())
"""
    lines = lines_of(program)
    assert [line["event"] for line in lines] == ["uncaught", "uncaught"]
    assert all(line["exception"].count("⟦secret ") >= 3 for line in lines)


class Thing:
    def __repr__(self) -> str:
        return f"Thing({SHAPED})"


def masked(**line: Any) -> str:
    return json.dumps(_masked(None, "info", line), ensure_ascii=False)


@pytest.fixture
def held() -> Iterator[None]:
    hold([EXACT, "short"])
    yield
    release([EXACT, "short"])


@pytest.mark.usefixtures("held")
def test_a_secret_of_this_process_is_masked_wherever_it_stands_and_whatever_it_looks_like() -> None:
    for value in (EXACT, f"before {EXACT} after", {"a": [{"b": EXACT}]}, (EXACT,), {EXACT}, ValueError(EXACT)):
        assert EXACT not in masked(value=value)
        assert "⟦secret " in masked(value=value)


def test_what_looks_like_a_secret_is_masked_wherever_it_stands() -> None:
    for value in (SHAPED, f"token {SHAPED}.", {"a": [{"b": SHAPED}]}, Thing(), ValueError(SHAPED), Path(f"/tmp/{SHAPED}")):
        assert SHAPED not in masked(value=value)
        assert "⟦secret " in masked(value=value)


@pytest.mark.usefixtures("held")
def test_what_is_no_secret_stays_as_it_is() -> None:
    line = {"event": "fault", "count": 3, "share": 0.5, "ok": True, "none": None, "run": "R-7K2QX", "why": "a short word"}

    assert _masked(None, "info", dict(line)) == line  # five letters are too few to be replaced everywhere


async def test_the_loop_itself_writes_through_the_root_logger() -> None:
    """What `configure` hangs on the root must be where asyncio's own lines arrive."""
    records: list[logging.LogRecord] = []

    class Ear(_ToStructlog):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    ear = Ear()
    logging.getLogger().addHandler(ear)
    try:
        asyncio.get_running_loop().call_exception_handler({"message": "something broke"})
    finally:
        logging.getLogger().removeHandler(ear)
    assert [record.name for record in records] == ["asyncio"]

"""Calling `pullcord` as people do: through its entry point in this process, or as a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from bot.cli import main

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0
T = TypeVar("T")


@dataclass(frozen=True)
class Called:
    """What came of one call."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one line on standard error; nothing on standard output, and no trace."""
        assert "Traceback" not in self.err, self.err
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


class Caller:
    """`call("runs", "--data", folder)`: in this process. A fault that would be a trace on somebody's screen is raised."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def __call__(self, *arguments: object) -> Called:
        self._monkeypatch.setattr(sys, "argv", ["pullcord", *(str(each) for each in arguments)])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = self._capsys.readouterr()
        return Called(int(ended.value.code or 0), said.out, said.err)


def start(*arguments: object, **environment: str) -> "subprocess.Popen[str]":
    """`python -m bot …` as a process of its own, in the folder where the test is."""
    return subprocess.Popen(
        [sys.executable, "-m", "bot", *(str(each) for each in arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment_of(environment),
    )  # fmt: skip


def environment_of(more: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def ended(process: "subprocess.Popen[str]") -> Called:
    """What came of it, once it has ended by itself."""
    out, err = process.communicate(timeout=PATIENCE_S)
    return Called(process.returncode, out, err)


def read_until(process: "subprocess.Popen[str]", beginning: str) -> str:
    """The first line of its output that begins so. It must come before the output ends."""
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        if line.startswith(beginning):
            return line.rstrip("\n")
        seen.append(line)
    raise AssertionError(f"no line beginning {beginning!r} in {seen}; {process.stderr.read() if process.stderr else ''}")


def eventually(probe: Callable[[], T], what: str, *, within_s: float = 20.0) -> T:
    """The first truthy answer."""
    end = time.monotonic() + within_s
    while not (found := probe()):
        assert time.monotonic() < end, f"waited {within_s:.0f} s in vain: {what}"
        time.sleep(0.05)
    return found

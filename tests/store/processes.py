"""A test's hold on the other processes of `tests.store.children`."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
Start = Callable[..., "Child"]


class Child:
    """One of `tests.store.children`."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "tests.store.children", *words]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=ROOT)
        assert self.process.stdin
        assert self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def rest(self) -> list[str]:
        """What it said, once it has ended; it must have ended well."""
        said, faults = self.process.communicate(timeout=110)
        assert self.process.returncode == 0, faults
        return said.splitlines()


def go(*children: Child) -> None:
    """Wait until all are ready, then let them loose."""
    for child in children:
        assert child.stdout.readline() == "ready\n", child.process.communicate()
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()

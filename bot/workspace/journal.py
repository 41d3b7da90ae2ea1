"""The file that lets a killed workspace come back.

Every change is one JSON line, `[table, key, value]` (value null: gone), written to the file before the call that caused it is answered.
An unbuffered write is in the kernel's hands when it returns, so SIGKILL loses no answered call, and it costs microseconds, so it may
happen on the event loop. At start, and when the file has grown far beyond what is alive, it is rewritten from the living records.
"""

import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from bot.errors import ConfigurationError
from bot.one_process import hold

Entry = tuple[str, str, Any]
SMALL = 4_000_000  # bytes that may be appended before the file is looked at


TAKEN = "another workspace runs in this folder; stop it first, or name another with --data"


class Journal:
    """An append-only file of changes, for one server alone; without a path, changes are not kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: io.FileIO | None = None
        self._written = 0  # by the last rewrite
        self._appended = 0  # since then
        self._lock: IO[str] | None = None

    @property
    def is_overgrown(self) -> bool:
        """Whether most of the file is history. Then rewriting costs less than what was appended, and a start never reads much."""
        return self._appended > SMALL + 2 * self._written

    def read(self) -> list[Entry]:
        """Return all changes in order. The last line may be torn by a kill and is then left out: its call was never answered.

        Raises ConfigurationError where any other line cannot be read, or another server has this file: its rewrite would lose our lines.
        """
        if self._path is None:
            return []
        self._lock = hold(self._path.with_suffix(".lock"), says=TAKEN)
        if not self._path.exists():
            return []
        lines = self._path.read_bytes().split(b"\n")
        return [self._parse(number, line) for number, line in enumerate(lines[:-1], 1) if line]

    def _parse(self, number: int, line: bytes) -> Entry:
        try:
            table, key, value = json.loads(line)
        except ValueError as problem:
            self.close()
            raise ConfigurationError(f"{self._path}: line {number} is damaged; move the file away to begin afresh") from problem
        return table, key, value

    def rewrite(self, entries: Iterable[Entry]) -> None:
        """Replace the file by these entries, whole or not at all, and go on appending to the new one."""
        if self._path is None:
            return
        self._end()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fresh.touch(mode=0o600)  # the tokens are in it
        with fresh.open("wb") as file:
            file.writelines(_line(entry) for entry in entries)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        self._file = self._path.open("ab", buffering=0)
        self._written, self._appended = self._file.tell(), 0

    def append(self, table: str, key: str, value: Any) -> None:
        """Write one change; when this returns, a kill cannot lose it."""
        if self._file is not None:
            self._appended += self._file.write(_line((table, key, value))) or 0

    def close(self) -> None:
        self._end()
        if self._lock is not None:
            self._lock.close()

    def _end(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _line(entry: Entry) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"

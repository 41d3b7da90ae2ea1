"""Long results whole, as files beside the database, for as long as the policy lets them be kept. Cleaned and masked like every observation.

They are for people who look something up: nothing reads them back. A file is only its owner's to read, and bears the names of run, step and
attempt.
"""

import os
from datetime import datetime
from pathlib import Path


def write(folder: Path, name: str, text: str) -> str:
    """Store the text; the name under which it stands beside the database. Raises `OSError`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{name}.txt"
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(opened, "w", encoding="utf-8", errors="replace") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
    return f"{folder.name}/{path.name}"


def sweep(folder: Path, *, before: datetime | None) -> int:
    """Delete what was written earlier than that (None: everything); how many files that were."""
    if not folder.is_dir():
        return 0
    old = [path for path in folder.glob("*.txt") if before is None or path.stat().st_mtime < before.timestamp()]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)

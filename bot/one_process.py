"""One process at a time: a file that is locked for as long as its holder lives, however it ends."""

import fcntl
from pathlib import Path
from typing import IO

from bot.errors import ConfigurationError


def hold(path: Path, *, says: str) -> IO[str]:
    """Lock the file and return it; closing it lets go. Raises `ConfigurationError` with `says` if another process holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = path.open("w")
    except OSError as fault:
        raise ConfigurationError(f"{path.parent}: cannot be written ({fault.strerror}); name another folder with --data") from fault
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as taken:
        held.close()
        raise ConfigurationError(f"{path.parent}: {says}") from taken
    return held

"""One configured folder, and the only way into it: every step of a path opened from the one before, never through a link.

The operating system is asked for "this name in this open folder, and no link", so a folder that is exchanged for a link between check and
use leads nowhere. All errors are `ToolFailed` with the path as the asker wrote it; the place of the folder on the host is never shown.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.errors import ToolFailed
from bot.tools.paths import DEPTH, PathRefused, is_credential, joined

LARGEST = 2_000_000  # bytes of a file that is read or written
TEMPORARY = ".pullcord-"

_IN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_SAYS = {
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of it is no folder, or is a link; links are not followed",
    errno.EISDIR: "it is a folder",
    errno.EACCES: "the bot may not touch it",
    errno.EPERM: "the bot may not touch it",
    errno.ENOSPC: "the disk is full",
    errno.EROFS: "the folder is read-only",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOTEMPTY: "the folder is not empty",
}


@dataclass(frozen=True)
class Found:
    """A file as it lies there."""

    names: tuple[str, ...]
    size: int  # bytes
    modified: datetime  # UTC
    mark: str = ""  # changes with whatever is done to the file, also within one tick of its time


class Missing(ToolFailed):
    """There is no such file."""


class Folder:
    """A folder on the host. It need not exist before the first write."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, names: tuple[str, ...]) -> tuple[bytes, Found]:
        """The whole file. Raises `Missing`, or `ToolFailed` for links, folders, devices and files over `LARGEST`."""
        with self._inside(names[:-1], names) as parent, _told(names):
            handle = os.open(_last(names), _IN | os.O_NONBLOCK, dir_fd=parent)
            with os.fdopen(handle, "rb") as file:
                found = _found(names, os.fstat(handle))
                data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise ToolFailed(f"'{joined(names)}' is larger than {LARGEST // 1_000_000} MB ({found.size:,} bytes).")
        return data, found

    def look(self, names: tuple[str, ...]) -> Found:
        """The file's facts. Raises `Missing`, or `ToolFailed` for links, folders and devices."""
        with self._inside(names[:-1], names) as parent, _told(names):
            return _found(names, os.stat(_last(names), dir_fd=parent, follow_symlinks=False))

    def replace(self, names: tuple[str, ...], data: bytes) -> bool:
        """Put a file there, all or nothing and safe on disk when this returns; folders on the way are made. True if it is a new file."""
        name, temporary = _last(names), TEMPORARY + secrets.token_hex(8)
        with self._inside(names[:-1], names, make=True) as parent, _told(names):
            before = _look(name, parent)
            if before is not None:
                _found(names, before)
            mode = stat.S_IMODE(before.st_mode) if before else 0o644
            try:
                handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=parent)
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(handle)
                os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=parent)  # noqa: PTH108 - pathlib knows no open folders
                raise
            os.fsync(parent)
        return before is None

    def delete(self, names: tuple[str, ...]) -> Found:
        """Take the file away. Raises `Missing`, or `ToolFailed` for links, folders and devices."""
        with self._inside(names[:-1], names) as parent, _told(names):
            found = _found(names, os.stat(_last(names), dir_fd=parent, follow_symlinks=False))
            os.unlink(_last(names), dir_fd=parent)  # noqa: PTH108 - pathlib knows no open folders
            os.fsync(parent)
        return found

    def walk(self, names: tuple[str, ...]) -> Iterator[Found]:
        """Every plain file below that folder, by name, folders in their place; links, credentials and devices are passed over."""
        with self._inside(names, names) as here, _told(names):
            entries = sorted(os.listdir(here))  # noqa: PTH208 - pathlib knows no open folders
            seen = [(entry, _look(entry, here)) for entry in entries if not is_credential(entry) and not entry.startswith(TEMPORARY)]
        for entry, status in seen:
            if status is not None and stat.S_ISREG(status.st_mode):
                yield _found((*names, entry), status)
            elif status is not None and stat.S_ISDIR(status.st_mode) and len(names) < DEPTH:
                with suppress(ToolFailed):  # gone, or closed to us, since it was listed
                    yield from self.walk((*names, entry))

    @contextmanager
    def _inside(self, folders: tuple[str, ...], names: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        """An open handle of that folder, reached one name at a time without following a link."""
        with _told(names):
            if make:
                self._root.mkdir(parents=True, exist_ok=True)
            here = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in folders:
                with _told(names):
                    if make:
                        _make(name, here)
                    below = os.open(name, _IN | os.O_DIRECTORY, dir_fd=here)
                os.close(here)
                here = below
            yield here
        finally:
            os.close(here)


def _make(name: str, parent: int) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=parent)  # noqa: PTH102 - pathlib knows no open folders
    except FileExistsError:
        return
    os.fsync(parent)


def _last(names: tuple[str, ...]) -> str:
    if not names:
        raise ToolFailed("The path names the files folder itself; name a file in it.")
    return names[-1]


def _look(name: str, parent: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _found(names: tuple[str, ...], status: os.stat_result) -> Found:
    """The file's facts; raises `ToolFailed` if it is not a plain file."""
    if stat.S_ISLNK(status.st_mode):
        raise PathRefused(f"'{joined(names)}' is a link; the bot does not follow links.")
    if stat.S_ISDIR(status.st_mode):
        raise ToolFailed(f"'{joined(names)}' is a folder; name a file in it.")
    if not stat.S_ISREG(status.st_mode):
        raise ToolFailed(f"'{joined(names)}' is not a plain file.")
    mark = f"{status.st_ino:x}.{status.st_mtime_ns:x}.{status.st_ctime_ns:x}"
    return Found(names, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC), mark)


@contextmanager
def _told(names: tuple[str, ...]) -> Iterator[None]:
    """Errors of the operating system in words, without a path of the host."""
    shown = joined(names)
    try:
        yield
    except FileNotFoundError as fault:
        raise Missing(f"'{shown}': {_SAYS[errno.ENOENT]}. Use files.list to see what there is.") from fault
    except UnicodeEncodeError as fault:
        raise PathRefused(f"'{shown}' cannot be a file's name.") from fault
    except OSError as fault:
        if fault.errno == errno.ELOOP:
            raise PathRefused(f"'{shown}' passes through a link; the bot does not follow links.") from fault
        raise ToolFailed(f"'{shown}': {_SAYS.get(fault.errno or 0, os.strerror(fault.errno or 0))}.") from fault

"""Which file a path argument means, decided on the words alone: parts below one folder, or a sentence that says why not.

Paths are compared part by part and never as text, so `/srv/files-evil` is no neighbor of `/srv/files`. Nothing is decoded, expanded or
resolved: `%2e%2e` is a name, `~` and `..` are refused, and a name is the file of exactly those characters. Files that usually hold
credentials are refused wherever they lie. What the disk adds (links, changes between look and use) is `folder`'s business.
"""

import re
import unicodedata
from fnmatch import fnmatchcase

from bot.core.credentials import is_credential
from bot.errors import ToolFailed
from bot.tools.sanitize import clean, line

__all__ = ["PathRefused", "is_credential", "joined", "matches", "parts"]

PART_BYTES = 255
PATH_BYTES = 4000
DEPTH = 32

_DRIVE = re.compile(r"^[A-Za-z]:")


class PathRefused(ToolFailed):
    """The path leaves the folder, is malformed, or names a credential file."""


def parts(path: str) -> tuple[str, ...]:
    """The names that lead from the folder to the file; none for the folder itself. Raises `PathRefused` with a sentence to show."""
    shown = f"'{line(path, 80)}'"
    if "\0" in path:
        raise PathRefused(f"{shown} contains a NUL character.")
    if "\\" in path:
        raise PathRefused(f"{shown} contains a backslash; separate folders with '/'.")
    if path.startswith("/") or _DRIVE.match(path):
        raise PathRefused(f"{shown} is an absolute path; give one that begins in the files folder, such as 'notes/today.md'.")
    if path.startswith("~"):
        raise PathRefused(f"{shown} names a home folder; give a path that begins in the files folder.")
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    if len(names) > DEPTH or len(path.encode("utf-8", "replace")) > PATH_BYTES:
        raise PathRefused(f"{shown} is too long: at most {DEPTH} folders deep and {PATH_BYTES} bytes.")
    for name in names:
        _check(name, shown)
    return names


def _check(name: str, shown: str) -> None:
    if name == "..":
        raise PathRefused(f"{shown} goes up with '..'; give a path that begins in the files folder.")
    if len(name.encode("utf-8", "replace")) > PART_BYTES:
        raise PathRefused(f"{shown} has a name of more than {PART_BYTES} bytes.")
    if clean(name) != name or any(unicodedata.category(char) == "Cc" for char in name):
        raise PathRefused(f"{shown} contains characters that cannot be seen.")
    if is_credential(name):
        raise PathRefused(f"{shown} is where credentials are usually kept; the bot does not touch such files.")


def joined(names: tuple[str, ...]) -> str:
    """The path as results and cards show it; "." for the folder itself."""
    return "/".join(names) or "."


def matches(names: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Does the pattern, split at "/", fit all the names? `*` stays within a name, `**` stands for any number of folders."""
    if not pattern:
        return not names
    if pattern[0] == "**":
        return any(matches(names[skip:], pattern[1:]) for skip in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], pattern[0]) and matches(names[1:], pattern[1:])

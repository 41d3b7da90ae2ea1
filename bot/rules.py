"""The policy that holds now. It is swapped whole or not at all, and whoever asks in the middle of a decision has one or the other."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from bot.core import policy as policies
from bot.core.policy import Policy
from bot.errors import ConfigurationError


@dataclass
class Rules:
    """Ask `policy` anew for each decision, and once for one: a reload may put another one in its place at any await."""

    policy: Policy
    source: Path | None = None  # the file it came from; None: a built-in profile
    digest: str = ""  # SHA-256 of that file's text, in hexadecimal, so that anybody can compare

    def swap(self, other: "Rules") -> None:
        """From now on the other one holds."""
        self.policy, self.source, self.digest = other.policy, other.source, other.digest


def read(path: Path | None, *, called: str = "") -> Rules:
    """The rules of a policy file, or of the team profile where there is none. It blocks.

    Raises `ConfigurationError` with file (as it is `called`), line and fix.
    """
    if path is None:
        return Rules(policies.default("team"))
    named = called or str(path)
    try:
        raw = path.read_bytes()
        text = raw.decode()
    except OSError as fault:
        raise ConfigurationError(f"{named}: cannot be read ({fault.strerror}); name a policy file in PULLCORD_POLICY") from fault
    except UnicodeDecodeError as fault:
        raise ConfigurationError(f"{named}: this is not a text file in UTF-8; name a policy file in PULLCORD_POLICY") from fault
    return Rules(policies.parse(text, source=named), path, hashlib.sha256(raw).hexdigest())

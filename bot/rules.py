"""The policy that holds now. It is swapped whole or not at all, and whoever asks in the middle of a decision has one or the other."""

from dataclasses import dataclass
from pathlib import Path

from bot.core.policy import Policy


@dataclass
class Rules:
    """Ask `policy` anew for each decision, and once for one: a reload may put another one in its place at any await."""

    policy: Policy
    source: Path | None = None  # the file it came from; None: a built-in profile

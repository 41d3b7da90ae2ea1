"""Names of things. A run's id is short enough to be said aloud; everything else is derived from it."""

import secrets
from typing import NewType

RunId = NewType("RunId", str)
StepId = NewType("StepId", str)
Digest = NewType("Digest", str)

# Actors that are no person: what the bot does by itself (the planner's revisions too), and what passes because time has.
PULLCORD, CLOCK = "pullcord", "clock"
NOBODY = frozenset({PULLCORD, CLOCK})

# No I, L, O, U: they are misread, misheard, or spell things.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_run_id(length: int = 5) -> RunId:
    """A fresh id such as `R-7K2QX`. Unique only by chance: the store refuses a repeat and the caller draws again."""
    return RunId("R-" + "".join(secrets.choice(ALPHABET) for _ in range(length)))


def short(digest: str) -> str:
    """The first eight characters, as cards show a digest."""
    return digest[:8]

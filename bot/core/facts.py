"""What grading must know of the world beside the plan: gathered before, since grading itself asks nobody.

Everything here can only raise a grade. What is not known is None or missing, and counts for nothing. (That an id means "#ops" is no such
fact, but a part of the value: with it, a rule on names can judge the id.)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict


class Reach(BaseModel):
    """Whom words reach that are sent to one place."""

    model_config = ConfigDict(frozen=True)

    people: int | None = None
    external: bool = False  # people of other workspaces read there
    private: bool = False  # what is said there is not for everybody here
    name: str = ""  # of the channel, without "#"; empty where it is not known


@dataclass(frozen=True)
class Facts:
    """The world as it was looked at for one plan of one requester."""

    requester: str = ""  # Slack user id
    asked_in: str = ""  # "#name" of the channel in which it was asked, or its id
    reach: Mapping[str, Reach] = field(default_factory=dict)  # by channel, as the arguments have it ("#general")
    approved_before: frozenset[str] | None = None  # tools that people here have approved before; None: not known
    spent: Mapping[int, float] = field(default_factory=dict)  # by the window's place in the policy: what the requester has used up


NOTHING = Facts()

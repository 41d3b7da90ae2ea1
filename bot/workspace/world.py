"""The parts of one running workspace in one hand: what every call may use."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.workspace.clock import Clock
from bot.workspace.delivery import Delivery
from bot.workspace.faults import Faults
from bot.workspace.files import FileStore
from bot.workspace.hints import Hints
from bot.workspace.log import WireLog
from bot.workspace.manifest import Manifest
from bot.workspace.sockets import Sockets
from bot.workspace.state import State
from bot.workspace.triggers import Triggers


@dataclass(frozen=True)
class Tokens:
    people: str
    bot: str
    app: str


@dataclass(frozen=True)
class World:
    """Everything that a call may touch. `url` has no trailing slash; `new_id(prefix)` is unique."""

    url: str
    tokens: Tokens
    manifest: Manifest
    state: State
    clock: Clock
    sockets: Sockets
    delivery: Delivery
    triggers: Triggers
    hints: Hints
    faults: Faults
    log: WireLog
    files: FileStore
    new_id: Callable[[str], str]

"""Misbehaviour on purpose: the Web API fails, the socket drops, acks are not heard.

A method fault applies to the next `times` calls of its method (`*`: any). `after_effect` means that the call is carried out and only its
answer is spoilt, or lost altogether where neither an error nor a status is named. A socket fault is a number of things still to go wrong.
"""

from pydantic import BaseModel, ConfigDict, Field

from bot.workspace.records import Json


class MethodFault(BaseModel):
    """How the next calls of one method go wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str
    error: str | None = None  # {"ok": false, "error": …}
    status: int | None = Field(default=None, ge=100, le=599)  # HTTP status; 429 carries Retry-After
    retry_after: int | None = Field(default=None, ge=0)
    delay_ms: int = Field(default=0, ge=0)
    times: int = Field(default=1, ge=1)
    after_effect: bool = False

    @property
    def only_delays(self) -> bool:
        return self.error is None and self.status is None and not self.after_effect


class SocketFault(BaseModel):
    """What goes wrong on the socket. Numbers count; true stands for one (`refuse`, `deaf`: until cleared)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    drop: bool | int = 0  # close this many sockets now
    reason: str | None = None  # with `drop`: send a disconnect frame of this reason first
    refuse: bool | int = 0  # answer the next connection attempts with HTTP 409
    duplicate: bool | int = 0  # send the next events twice
    redeliver: bool | int = 0  # send the last events again now, as a retry
    deaf: bool | int = 0  # do not hear the next acks
    times: int = Field(default=1, ge=1)  # stands for true


FOREVER = 1_000_000_000


class Faults:
    """The faults that are waiting to happen."""

    def __init__(self) -> None:
        self._methods: list[tuple[MethodFault, int]] = []
        self._socket: dict[str, int] = {}

    def add(self, fault: MethodFault) -> None:
        self._methods.append((fault, fault.times))

    def take(self, method: str) -> MethodFault | None:
        """The fault that this call meets, if any; the oldest one first."""
        for place, (fault, left) in enumerate(self._methods):
            if fault.method in (method, "*"):
                if left > 1:
                    self._methods[place] = (fault, left - 1)
                else:
                    del self._methods[place]
                return fault
        return None

    def add_socket(self, fault: SocketFault) -> None:
        for name in ("refuse", "duplicate", "deaf"):
            wanted = getattr(fault, name)
            if wanted:
                self._socket[name] = self._socket.get(name, 0) + count(wanted, fault.times, endless=name != "duplicate")

    def take_socket(self, name: str) -> bool:
        """Whether this thing goes wrong now; uses up one of its times."""
        left = self._socket.get(name, 0)
        if left:
            self._socket[name] = left - 1
        return left > 0

    def clear(self) -> None:
        self._methods.clear()
        self._socket.clear()

    def waiting(self) -> Json:
        """What is still to go wrong, as data."""
        return {
            "methods": [fault.model_dump(exclude_defaults=True) | {"times": left} for fault, left in self._methods],
            "socket": {name: left for name, left in self._socket.items() if left},
        }


def count(wanted: bool | int, times: int, *, endless: bool = False) -> int:
    """The number that a socket fault's value stands for."""
    if wanted is True:
        return FOREVER if endless and times == 1 else times
    return int(wanted)

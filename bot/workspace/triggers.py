"""Trigger ids: the right to open a modal for somebody who has just done something, once, within three seconds."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.workspace.clock import Clock
from bot.workspace.wire import SlackError

LIFE_S = 3.0
REMEMBERED_S = 600.0  # how long a spent one is told from an invented one


@dataclass(frozen=True)
class Trigger:
    user_id: str
    issued_at: float
    root_view_id: str = ""  # the modal that it came from, if it came from one


class Triggers:
    """The trigger ids of the last minutes."""

    def __init__(self, *, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._clock, self._new_id = clock, new_id
        self._fresh: dict[str, Trigger] = {}
        self._used: dict[str, float] = {}

    def issue(self, user_id: str, *, root_view_id: str = "") -> str:
        self._forget()
        trigger_id = self._new_id("13345224609.738474920.")
        self._fresh[trigger_id] = Trigger(user_id, self._clock.now(), root_view_id)
        return trigger_id

    def exchange(self, trigger_id: str) -> Trigger:
        """Use it up. Raises SlackError: invalid_trigger_id, exchanged_trigger_id, expired_trigger_id."""
        if trigger_id in self._used:
            raise SlackError("exchanged_trigger_id")
        trigger = self._fresh.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if self._clock.now() - trigger.issued_at > LIFE_S:
            raise SlackError("expired_trigger_id")
        del self._fresh[trigger_id]
        self._used[trigger_id] = self._clock.now()
        return trigger

    def _forget(self) -> None:
        oldest = self._clock.now() - REMEMBERED_S
        self._fresh = {key: trigger for key, trigger in self._fresh.items() if trigger.issued_at > oldest}
        self._used = {key: at for key, at in self._used.items() if at > oldest}

"""What every listener has at hand: the rest of the bot, and Slack."""

from collections import OrderedDict
from dataclasses import dataclass, field

from bot.deps import Deps
from handlers.edits import Edit
from handlers.slack import Slack

MOST_REMEMBERED = 2_000
MOST_EDITS = 500


@dataclass(frozen=True)
class Desk:
    """What was heard is remembered for the listeners, a bounded while; lost at a restart, which the store's own keys make up for."""

    deps: Deps
    slack: Slack
    gone: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)  # a deletion may overtake the ask it takes back (C015)
    heard: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)
    replies: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)  # they ask for nothing, even if they end their run

    edits: OrderedDict[str, Edit] = field(default_factory=OrderedDict)  # by the lowest modal's id; Slack is only given ids

    def keep_edit(self, root: str, edit: Edit) -> None:
        """What stands unsaved in the form that this modal belongs to. The oldest give way when there are too many."""
        self.edits[root] = edit
        self.edits.move_to_end(root)
        while len(self.edits) > MOST_EDITS:
            self.edits.popitem(last=False)

    def remember_gone(self, channel: str, ts: str) -> None:
        """That message was deleted."""
        _remember(self.gone, channel, ts)

    def first_time(self, channel: str, ts: str) -> bool:
        """False if this reply was heard before: redelivered, or told as a broadcast too. Asks are told apart by the store, for ever."""
        known = (channel, ts) in self.heard
        _remember(self.heard, channel, ts)
        return not known

    def remember_reply(self, channel: str, ts: str) -> None:
        """That message was a reply to a run."""
        _remember(self.replies, channel, ts)


def _remember(memory: OrderedDict[tuple[str, str], None], channel: str, ts: str) -> None:
    memory[channel, ts] = None
    while len(memory) > MOST_REMEMBERED:
        memory.popitem(last=False)

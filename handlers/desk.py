"""What every listener has at hand: the rest of the bot, and Slack."""

from collections import OrderedDict
from dataclasses import dataclass, field

from bot.deps import Deps
from handlers.slack import Slack

MOST_REMEMBERED = 2_000


@dataclass(frozen=True)
class Desk:
    """What was heard is remembered for the listeners, a bounded while; lost at a restart, which the store's own keys make up for."""

    deps: Deps
    slack: Slack
    gone: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)  # a deletion may overtake the ask it takes back (C015)
    heard: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)
    replies: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)  # they ask for nothing, even if they end their run

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

"""What every listener has at hand: the rest of the bot, and Slack."""

from collections import OrderedDict
from dataclasses import dataclass, field

from bot.deps import Deps
from handlers.slack import Slack

MOST_GONE = 1_000


@dataclass(frozen=True)
class Desk:
    """Made once by `register`. `gone` remembers messages deleted a moment ago, since a deletion may overtake the ask it takes back (C015)."""

    deps: Deps
    slack: Slack
    gone: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)

    def remember_gone(self, channel: str, ts: str) -> None:
        """That message was deleted."""
        self.gone[channel, ts] = None
        while len(self.gone) > MOST_GONE:
            self.gone.popitem(last=False)

    def link(self, channel: str, ts: str, thread_ts: str | None = None) -> str:
        """The permalink of a message, made by rule: Slack need not be asked."""
        address = f"{self.slack.team_url.rstrip('/')}/archives/{channel}/p{ts.replace('.', '')}"
        return f"{address}?thread_ts={thread_ts}&cid={channel}" if thread_ts and thread_ts != ts else address

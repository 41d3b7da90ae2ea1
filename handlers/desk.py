"""What every listener has at hand: the rest of the bot, and Slack."""

from collections import OrderedDict
from dataclasses import dataclass, field

from bot.deps import Deps
from handlers.slack import Slack

MOST_REMEMBERED = 2_000


@dataclass(frozen=True)
class Desk:
    """Made once by `register`. `gone`: messages deleted a moment ago, since a deletion may overtake the ask that it takes back (C015)."""

    deps: Deps
    slack: Slack
    gone: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)
    heard: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)
    opened: dict[tuple[str, str, str], set[int]] = field(default_factory=dict)  # (run, filling, person) → pages of its values

    def remember_gone(self, channel: str, ts: str) -> None:
        """That message was deleted."""
        _remember(self.gone, channel, ts)

    def first_time(self, channel: str, ts: str) -> bool:
        """False if this reply was heard before: redelivered, or told as a broadcast too. Asks are told apart by the store, for ever."""
        known = (channel, ts) in self.heard
        _remember(self.heard, channel, ts)
        return not known

    def page_opened(self, run_id: str, filling: str, person: str, page: int, total: int) -> bool:
        """Remember that this person opened that page of a filling; True once they have opened all. Lost at a restart, on purpose."""
        seen = self.opened.setdefault((run_id, filling, person), set())
        seen.add(page)
        return len(seen) >= total

    def link(self, channel: str, ts: str, thread_ts: str | None = None) -> str:
        """The permalink of a message, made by rule: Slack need not be asked."""
        address = f"{self.slack.team_url.rstrip('/')}/archives/{channel}/p{ts.replace('.', '')}"
        return f"{address}?thread_ts={thread_ts}&cid={channel}" if thread_ts and thread_ts != ts else address


def _remember(memory: OrderedDict[tuple[str, str], None], channel: str, ts: str) -> None:
    memory[channel, ts] = None
    while len(memory) > MOST_REMEMBERED:
        memory.popitem(last=False)

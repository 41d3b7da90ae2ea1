"""What makes the audit channel a second witness: the marks on each post, the head that is published now and then, and what is broken.

A post names its entry and that entry's hash, and the newest link of the chain of heads as it was then: number and hash. Whoever changes or
cuts off anything older must make another head, and the one that stands in the channel stays. The first digits are for people; the whole
hashes are in the message's metadata, where `pullcord audit verify --channel` reads them.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.core.chain import HEADS, NO_RUN, Head
from bot.core.snapshot import Entry
from handlers.views import blocks, words
from handlers.views.scene import Card
from handlers.views.text import count, date, inline, joined, plain

SHOWN = 12  # digits of a hash that people see
CHECK = inline("pullcord audit verify")
CHECK_CHANNEL = inline("pullcord audit verify --channel")


def head_in(data: Mapping[str, Any]) -> Head | None:
    """The head that a row of the outbox carries; None for one from before they did."""
    return Head(int(data["head"]), str(data["head_hash"])) if data.get("head_hash") else None


def marks(entry: Entry, head: Head | None) -> str:
    """`entry 5 1f0c… · head 118 5e1d…`: what the post can be held against later."""
    mine = f"entry {entry.seq} `{entry.hash[:SHOWN]}`"
    return joined(mine, f"head {head.n} `{head.hash[:SHOWN]}`" if head else "")


def payload(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same, whole, for the message's metadata."""
    said = {"entry": data.get("seq"), "hash": data.get("hash"), "head": data.get("head"), "head_hash": data.get("head_hash")}
    return {name: value for name, value in said.items() if value}


def chain_head(data: Mapping[str, Any]) -> Card:
    """The newest head: it covers everything that is on record up to now."""
    n, hash_of_head, at = int(data["head"]), str(data["head_hash"]), datetime.fromisoformat(str(data["at"]))
    new = f"{count(int(data['entries']), 'entry', 'entries')} of {count(int(data['runs']), 'run')}"
    since = f"since head {int(data['since'])} ({date(datetime.fromisoformat(str(data['since_at'])), now=at)})" if data.get("since") else ""
    made = [
        blocks.section(f"*Chain head* · head {n} · `{plain(hash_of_head[:16], 16)}` · {date(at)}"),
        blocks.context(joined(f"{new} {since}".strip(), "it covers everything on record until now", f"check with {CHECK_CHANNEL}")),
    ]
    before = f" since head {int(data['since'])}" if since else ""
    return Card(f"Chain head {n}: {hash_of_head[:SHOWN]}. {new}{before}.", made)


def broken(data: Mapping[str, Any]) -> Card:
    """The nightly check found that the record is not what was recorded."""
    run, seq, says = str(data["run"]), int(data["seq"]), plain(str(data["says"]), 400)
    at = datetime.fromisoformat(str(data["at"]))
    where = {HEADS: f"head {seq} of the chain of heads", NO_RUN: f"entry {seq} of Pullcord's own chain"}.get(run, f"entry {seq}")
    named = "" if run in (HEADS, NO_RUN) else plain(run, 20)
    holds = f"what came before {'head' if run == HEADS else 'entry'} {seq} of this chain holds" if seq > 1 else ""
    trust = "later ones cannot be trusted"
    then = f"*Next:* {CHECK}, then compare with the heads in this channel: {CHECK_CHANNEL}"
    made = [
        blocks.section(f"{words.WRONG} *The record is broken at {where}* · {joined(named, f'found {date(at)}')}"),
        blocks.context(joined(says, holds, trust)),
        blocks.context(then),
    ]
    return Card(f"The record is broken at {where}{f': {named}' if named else ''}. {says}."[:300], made)


def told(data: Mapping[str, Any]) -> Card | None:
    """The post of the whole bot that is made from its row alone, by its kind; None for one that tells of an entry."""
    draw = {"head": chain_head, "broken": broken}.get(str(data.get("kind")))
    return draw(data) if draw else None

"""Another policy holds from now on, or the file was broken and nothing changed: told to the admin in private, and to the audit channel."""

from collections.abc import Mapping

from bot.core.ids import short
from bot.core.run import Event
from bot.core.snapshot import Entry
from handlers.views import blocks, words
from handlers.views.case import Case, Telling
from handlers.views.scene import Card
from handlers.views.text import count, inline, joined, outside, plain

TITLES: Mapping[str, tuple[str, str]] = {
    Event.RELOADED: (words.YES, "Policy reloaded"),
    Event.RELOAD_REFUSED: (words.WRONG, "Policy not reloaded"),
}


def done(*, before: str, after: str, waiting: int, regraded: int, denied: int) -> Card:
    """The reload is done; the digests are those of the files."""
    same = "the file is as it was" if before == after else f"digest `{short(before)}` → `{short(after)}`"
    facts = joined(_became(waiting, regraded, denied), "live runs go on; each step is judged by it when it starts")
    text = f"Policy reloaded: {_became(waiting, regraded, denied)}."
    return Card(text, [blocks.section(f"{words.YES} *Policy reloaded*: it holds from now on ({same})."), blocks.context(facts)])


def broken(fault: str, *, command: str) -> Card:
    """The file cannot be used; the policy stays as it was."""
    opening = blocks.section("*Not reloaded: the file is broken.* The policy stays as it was.")
    then = blocks.section(f"*Next:* mend it and say {command} again.")
    return Card(f"Not reloaded: {plain(fault, 200)}", [opening, blocks.plain_context(outside(fault, 400)), then])


def no_file(case: Case) -> Telling:  # noqa: ARG001 — the same for everybody
    """A built-in profile holds: there is nothing to be read again."""
    what = "Not reloaded: there is no policy file."
    return Telling(what, "A built-in profile holds.", f"write one, name it in {inline('PULLCORD_POLICY')}, and start Pullcord again.")


def of_entry(entry: Entry, *, who: str, when: str, marks: str) -> Card:
    """The post for the audit channel. `who` and `when` as it writes them, `marks`: the entry's number and head."""
    symbol, title = TITLES[entry.event]
    numbers = (int(entry.data.get("waiting") or 0), *(len(entry.data.get(name) or ()) for name in ("regraded", "denied")))
    is_new = entry.event == Event.RELOADED
    came = _became(*numbers) if is_new else "the policy stays as it was"
    about = str(entry.data.get("fault") or entry.data.get("file") or "the policy file")
    made = [
        blocks.section(f"{symbol} *{title}* · {joined(who, when)}"),
        blocks.plain_context(outside(about, 400)),
        blocks.context(joined(came, _digests(entry) if is_new else "", marks)),
    ]
    return Card(f"{title}: {came}", made)


def _digests(entry: Entry) -> str:
    before, after = (plain(short(str(entry.data.get(name) or "")), 8) for name in ("before", "after"))
    return "the file is as it was" if before == after else f"digest `{before}` → `{after}`"


def _became(waiting: int, regraded: int, denied: int) -> str:
    if not waiting:
        return "no review was waiting"
    anew = f"{count(regraded, 'review')} graded anew" if regraded else ""
    void = f"{count(denied, 'plan')} not allowed any more" if denied else ""
    return joined(anew, void) or f"{count(waiting, 'review')} waiting, none of them graded otherwise"

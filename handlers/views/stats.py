"""`/cord stats`: how people and policy work together, in one table, one line of days and a few sentences."""

from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta

from bot.core.figures import Fatigue, Figures, How, OutOfLine
from handlers.views import blocks, words
from handlers.views.scene import Block, Card
from handlers.views.text import count, duration, escape, one_line, outside

MOST_TOOLS = 30
MOST_DAYS = 31
BARS = "▁▂▃▄▅▆▇█"
COLUMNS: tuple[tuple[str, tuple[How, ...]], ...] = (
    ("By itself", (How.BY_ITSELF,)),
    ("Approved", (How.APPROVED,)),
    ("Confirmed", (How.CONFIRMED,)),
    ("Refused", (How.REFUSED,)),
    ("Expired", (How.EXPIRED,)),
    ("Failed", (How.FAILED,)),
)
RAN = (How.BY_ITSELF, How.APPROVED, How.CONFIRMED)


def stats(found: Figures, *, days: int, today: date, names: Mapping[str, str]) -> Card:
    """The answer to `/cord stats`. `names`: what people are called, by id."""
    title = f"Last {count(days, 'day')}"
    if not found.runs:
        says = f"*{title}*\nNothing was asked. What people ask for, approve and refuse is counted here, by tool."
        return Card(f"{title}: nothing was asked.", [blocks.section(says)])
    yes, no = found.total(How.APPROVED, How.CONFIRMED), found.total(How.REFUSED, How.EXPIRED)
    summary = f"{count(found.runs, 'run')}, {count(yes, 'step')} approved, {no} refused or expired"
    made: list[Block] = [blocks.section(f"*{title}* · {summary}"), *_table(found)]
    made.append(blocks.rich(*_sentences(found, names), blocks.line(blocks.said(_days(found, days=days, today=today)))))
    made += _hidden(found)
    return Card(f"{title}: {summary}.", made)


def no_days(word: str, *, most: int, commands: Mapping[str, str]) -> Card:
    """`/cord stats` with something that is no number of days."""
    example = f"{commands.get('cord', '/cord')} stats 30"
    lines = [
        blocks.line(
            blocks.strong("Not a number of days: "), blocks.literal(one_line(word, 40)), blocks.said(f". 1 to {most} can be counted.")
        ),
        blocks.line(blocks.strong("Next: "), blocks.literal(example)),
    ]
    return Card(escape(f"Not a number of days: {one_line(word, 40)}. Try {example}."), [blocks.rich(*lines)])


def summary(found: Figures, *, days: int, command: str) -> str:
    """One line for Home, as mrkdwn; empty where nothing was asked."""
    if not found.runs:
        return ""
    no = found.total(How.REFUSED, How.EXPIRED)
    flagged = len(found.fatigue) + len(found.out_of_line)
    signs = f" · {words.WRONG} {count(flagged, 'thing')} to look at" if flagged else ""
    return f"Last {count(days, 'day')}: {count(found.runs, 'run')}, {no} steps refused or expired{signs} · {command}"


def _table(found: Figures) -> list[Block]:
    """One row for each tool; columns in which nobody has anything are left out."""
    shown = list(found.by_tool.items())[:MOST_TOOLS]
    columns = [(title, hows) for title, hows in COLUMNS if found.total(*hows)]
    if not shown or not columns:
        return []
    rows = [["Tool", *(title for title, _ in columns)]]
    rows += [[one_line(tool, 60), *(str(sum(counts[how] for how in hows)) for _, hows in columns)] for tool, counts in shown]
    cells = [[{"type": "raw_text", "text": cell} for cell in row] for row in rows]
    return [{"type": "table", "rows": cells, "column_settings": [{"align": "left"}, *[{"align": "right"}] * len(columns)]}]


def _hidden(found: Figures) -> list[Block]:
    more = len(found.by_tool) - MOST_TOOLS
    return [blocks.context(f"{count(more, 'more tool')} not shown")] if more > 0 else []


def _sentences(found: Figures, names: Mapping[str, str]) -> list[dict[str, object]]:
    made = [_tool(one) for one in found.out_of_line] + [_person(one, names) for one in found.fatigue]
    if found.median_s is not None:
        made.append(blocks.line(blocks.said(f"Half of the {count(found.decisions, 'decision')} came within {duration(found.median_s)}.")))
    return made


def _tool(one: OutOfLine) -> dict[str, object]:
    says = f" {one.says}. The likely cause: {one.cause}."
    return blocks.line(blocks.said(f"{words.WRONG} "), blocks.literal(one.tool), blocks.said(says))


def _person(one: Fatigue, names: Mapping[str, str]) -> dict[str, object]:
    says = f" said yes {one.count} times in a row in under 3 s each. Nobody reads that fast."
    return blocks.line(blocks.said(f"{words.WRONG} "), blocks.strong(outside(names.get(one.actor, one.actor), 40)), blocks.said(says))


def _days(found: Figures, *, days: int, today: date) -> str:
    """Steps that ran, day by day, as small bars; the newest stands right."""
    span = [today - timedelta(days=back) for back in reversed(range(min(days, MOST_DAYS)))]
    ran = [sum(found.by_day.get(day, Counter())[how] for how in RAN) for day in span]
    most = max(ran, default=0)
    if not most:
        return "No step ran."
    bars = "".join(BARS[(number * (len(BARS) - 1) + most - 1) // most] for number in ran)
    return f"Steps by day: {bars}  (today {ran[-1]}, at most {most})"

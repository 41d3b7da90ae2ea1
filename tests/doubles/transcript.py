"""What people can read, as plain text: channels with their threads, cards as words and [buttons], private answers.

Pings stand as `@name`, so that it shows who is notified; links stand as their words. What differs from one play to the next (ids, times,
digests, durations) is replaced by `tidy`, so that two transcripts differ only where people would read something else.
"""

import re
from collections.abc import Iterator
from typing import Any

Node = dict[str, Any]

INDENT = "    "
DATE = re.compile(r"<!date\^[^>]*>")
MARK = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")
DIGEST = re.compile(r"\b[0-9a-f]{8}(?:[0-9a-f]{4,56})?\b")
SPENT = re.compile(r"(?<!Estimate: )(?<!\.)\b\d+ s\b")
STAMP = re.compile(r"\b\d{10}\.\d{6}\b|\bp\d{16}\b")
PORT = re.compile(r"(?<=127\.0\.0\.1):\d+")
FAULT = re.compile(r"\bF-[0-9A-Z]{4}\b")
MARKS = re.compile(r"\bentry (\d+) `<digest>` · head \d+ `<digest>`")  # the head's number: which of two runs was first
MINUTE = re.compile(r"\b\d\d:\d\d UTC\b")
NEVER_THE_SAME = (
    (DATE, "<time>"),
    (MINUTE, "<time>"),
    (DIGEST, "<digest>"),
    (SPENT, "<n> s"),
    (STAMP, "<ts>"),
    (PORT, ""),
    (FAULT, "F-<number>"),
    (MARKS, r"entry \1 · head `<digest>`"),
)


def messages(conversation: list[tuple[Node, list[Node]]]) -> list[str]:
    """Lines of a channel: each message with the replies in its thread below it, further in."""
    lines: list[str] = []
    for message, replies in conversation:
        lines += _message(message)
        for reply in replies:
            lines += [INDENT + line for line in _message(reply)]
    return lines


def _message(message: Node) -> list[str]:
    """Who, and below it the words; a short message of a person stands on one line."""
    who, blocks = message.get("username") or message.get("user", "?"), message.get("blocks") or []
    if not message.get("bot_id") or not blocks:
        first, *more = mrkdwn(message.get("text", "")).split("\n")
        edited = [f"{INDENT}(edited)"] if message.get("edited") and not message.get("bot_id") else []
        reactions = [f"{INDENT}({each['name']} from {len(each['users'])})" for each in message.get("reactions") or []]
        return [f"{who}: {first}", *(INDENT + line for line in more), *edited, *reactions]
    return [f"{who}:", *(INDENT + line for line in card(message))]


def card(message: Node) -> list[str]:
    """The words of a message, a private answer or a modal; first what a notification would say."""
    lines = [f"(notification: {mrkdwn(message['text'])})"] if message.get("text") else []
    lines += [f"# {message['title']['text']}"] if message.get("title") else []
    for block in message.get("blocks") or []:
        lines += _block(block)
    ways = [f"[{message[name]['text']}]" for name in ("submit", "close") if message.get(name)]
    return [*lines, " ".join(ways)] if ways else lines


def _block(block: Node) -> Iterator[str]:
    kind = block["type"]
    if kind == "header":
        yield f"# {block['text']['text']}"
    elif kind == "divider":
        yield "----"
    elif kind == "context":
        yield "· " + "   ".join(_text(each) for each in block["elements"])
    elif kind == "actions":
        yield " ".join(_control(each) for each in block["elements"])
    elif kind == "rich_text":
        for element in block["elements"]:
            yield from _rich(element)
    elif kind == "table":
        yield from (" | ".join(_text(cell) for cell in row) for row in block["rows"])
    elif kind == "plan":
        yield from _plan(block)
    elif kind == "input":
        first, *more = _control(block["element"]).split("\n")
        yield f"{_text(block['label'])} {first}"
        yield from (INDENT + line for line in more)
        yield from ([f"· {_text(block['hint'])}"] if block.get("hint") else [])
    else:
        yield from _section(block)


def _section(block: Node) -> Iterator[str]:
    texts = [block["text"]] if block.get("text") else []
    for text in [*texts, *block.get("fields", [])]:
        yield from _text(text).split("\n")
    if block.get("accessory"):
        yield _control(block["accessory"])


def _plan(block: Node) -> Iterator[str]:
    yield f"> {block['title']}"
    for task in block["tasks"]:
        yield f"  > {task['title']} ({task['status']})"
        for part in ("details", "output"):
            if task.get(part):
                yield from (f"      {line}" for element in task[part]["elements"] for line in _rich(element))


def _rich(element: Node) -> Iterator[str]:
    kind = element["type"]
    if kind == "rich_text_list":
        for entry in element["elements"]:
            yield "  " * element.get("indent", 0) + "• " + _run(entry)
        return
    sign = {"rich_text_quote": "| ", "rich_text_preformatted": "┆ "}.get(kind, "")
    yield from (sign + line for line in _run(element).split("\n"))


def _run(element: Node) -> str:
    return "".join(_piece(piece) for piece in element["elements"])


def _piece(piece: Node) -> str:
    kind, style = piece["type"], piece.get("style") or {}
    if kind == "text":
        signs = "".join(sign for name, sign in (("bold", "*"), ("italic", "_"), ("code", "`")) if style.get(name))
        words = piece["text"].rstrip()
        return signs + words + signs[::-1] + piece["text"][len(words) :]
    named = {"user": f"@{piece.get('user_id')}", "usergroup": f"@{piece.get('usergroup_id')}", "date": "<time>", "broadcast": "@here"}
    return named.get(kind) or str(piece.get("text") or piece.get("url") or kind)


def _text(node: Node) -> str:
    if node["type"] == "rich_text":
        return " ".join(line for element in node["elements"] for line in _rich(element))
    return mrkdwn(node["text"]) if node["type"] == "mrkdwn" else str(node.get("text", ""))


def mrkdwn(text: str) -> str:
    """Times, pings and links in a text that Slack parses, as people see them."""
    shown = MARK.sub(_marked, DATE.sub("\0", text))
    return shown.replace("\0", "<time>").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _marked(found: re.Match[str]) -> str:
    if found[1][0] == "@":
        return found[1]
    return f"@{found[1][9:]}" if found[1].startswith("!subteam^") else found[2] or found[1]


def _control(element: Node) -> str:
    kind = element["type"]
    if kind == "button":
        return f"[{element['text']['text']}]"
    options = " / ".join(option["text"]["text"] for option in element.get("options", []))
    shown = _begun(element) or element.get("placeholder", {}).get("text", "")
    return f"[{shown}{' ▾ ' if options else ''}{options}]"


def _begun(element: Node) -> str:
    """What stands in an input before anybody enters something."""
    chosen = [element["initial_option"]] if element.get("initial_option") else element.get("initial_options", [])
    picked = " + ".join(option["text"]["text"] for option in chosen)
    return str(element.get("initial_value") or element.get("initial_conversation") or picked)


def tidy(text: str, names: dict[str, str]) -> str:
    """The same text with runs, people and groups by their `names`, and whatever is never twice the same replaced."""
    for given, name in names.items():
        text = text.replace(given, name)
    for pattern, word in NEVER_THE_SAME:
        text = pattern.sub(word, text)
    return text

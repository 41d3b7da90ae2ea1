"""Words that name a place: a file's path, an address, a channel; also as Slack writes them, `<https://x|label>` and `<#C123|ops>`."""

import re

from bot.llm.everyday.clauses import ADDRESS

ADDRESS_ONLY = re.compile(ADDRESS, re.IGNORECASE)
SLACK_ADDRESS = re.compile(r"<(https?://[^|>\s]+)(?:\|[^>]*)?>", re.IGNORECASE)
CHANNEL = r"<#[A-Z0-9]+(?:\|[^>]*)?>|#\w[\w-]*"
CHANNEL_ONLY = re.compile(rf"(?:the )?(?:channel )?(?P<name>{CHANNEL})(?: channel)?", re.IGNORECASE)
SLACK_CHANNEL = re.compile(r"<#([A-Z0-9]+)(?:\|([^>]*))?>", re.IGNORECASE)
THREAD_LINK = re.compile(
    r"https://[^/\s]+/archives/(?P<channel>[CGD][A-Z0-9]+)/p(?P<s>\d{10})(?P<us>\d{6})(?:\?(?:\S*&)?thread_ts=(?P<root>\d+\.\d+)\S*)?"
)
BARE_FILES = frozenset({"readme", "license", "makefile", "dockerfile", "changelog", "todo", "notice"})
HOST = re.compile(r"(?:www\.)?[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|example|edu|gov|info)(?:/\S*)?", re.IGNORECASE)


def url_of(place: str) -> str | None:
    """The address, if that is all that the words are."""
    if match := SLACK_ADDRESS.fullmatch(place):
        return match[1].replace("&amp;", "&")
    return place if ADDRESS_ONLY.fullmatch(place) else None


def thread_of(url: str) -> dict[str, str] | None:
    """Channel and root of the thread that a link to a message names; None for any other address."""
    match = THREAD_LINK.fullmatch(url)
    return {"channel": match["channel"], "thread_ts": match["root"] or f"{match['s']}.{match['us']}"} if match else None


def channel_of(place: str) -> str | None:
    """`#name` (or the id, where Slack gave no name), if that is all that the words are."""
    match = CHANNEL_ONLY.fullmatch(place.strip())
    if not match:
        return None
    slack = SLACK_CHANNEL.fullmatch(match["name"])
    if not slack:
        return match["name"]
    return f"#{slack[2]}" if slack[2] else slack[1]


def is_path(word: str) -> bool:
    """Does this look like a file's path, and like nothing else? One word with a dot or a slash in it, or a well-known file."""
    if not word or re.search(r"[\s<>\"'“”{}]", word) or word.startswith("#") or "://" in word:
        return False
    return "/" in word or word.casefold() in BARE_FILES or bool(re.search(r"\w\.\w|^\.\w", word))


def looks_like_host(word: str) -> bool:
    """An address without its `https://`: not taken as one, but worth a hint."""
    return bool(HOST.fullmatch(word)) and not word.startswith("/")

"""Addresses in somebody else's words: live links only to hosts that somebody here named, and none that hides where it leads (C012)."""

import pytest

from handlers.views import links
from handlers.views.text import outgoing, plain

HOSTS = ("bank.example", "*.ours.example")


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("Close it <!channel> & tell <@U0CEO> if a<b", "Close it &lt;!channel&gt; &amp; tell &lt;@U0CEO&gt; if a&lt;b"),
        ("<https://evil.example|https://bank.example>", "https://bank.example (`https://evil.example`)"),
        ("<https://evil.example|bank>", "bank (`https://evil.example`)"),
        ("<https://bank.example/a?x=1&y=2|pay here>", "pay here (https://bank.example/a?x=1&amp;y=2)"),
        ("<!here> <!everyone>", "&lt;!here&gt; &lt;!everyone&gt;"),
        ("plain @here", "plain @here"),
        ("see https://evil.example/?leak=abc.", "see `https://evil.example/?leak=abc`."),
        ("see https://a.ours.example/x, and bank.example", "see https://a.ours.example/x, and bank.example"),
        ("[pay](https://evil.example)", "[pay](`https://evil.example`)"),
        ("*bold* _it_ • a list", "*bold* _it_ • a list"),
        ("`https://evil.example` stays", "`https://evil.example` stays"),
        ("```\nhttps://evil.example\n``` and https://evil.example", "```\nhttps://evil.example\n``` and `https://evil.example`"),
        ("``` https://evil.example", "''' `https://evil.example`"),
        ("a`https://evil.example`b", "a'`https://evil.example'b`"),
        ("読む1https://evil.example", "読む1`https://evil.example`"),
        ("www.evil.example slack://open mailto:a@b.example", "`www.evil.example` `slack://open` `mailto:a@b.example`"),
        ("notes/today.md is no address", "notes/today.md is no address"),
    ],
)
def test_C012_what_a_step_posts(text: str, sent: str) -> None:
    assert outgoing(text, hosts=HOSTS) == sent


@pytest.mark.parametrize(
    "address",
    [
        "https://bank.example@evil.example/",
        "https://bank.example\\@evil.example/",
        "https://evil.example\\.bank.example/",
        "https://bаnk.example/",  # a Cyrillic letter
        "https://bank.example.evil.example/",
        "https://evil.example/https://bank.example",
        "https://bank.example%2eevil.example/",
        "https://evilbank.example/",
        "javascript://bank.example/%0aalert(1)",
        "https://[bank.example",
        "https://ours.example/",
    ],
)
def test_C012_an_address_that_only_looks_like_a_known_one_is_code(address: str) -> None:
    assert outgoing(f"see {address} now", hosts=HOSTS).startswith(f"see `{address[:8]}")


def test_C012_inside_our_own_sentences_no_address_is_live() -> None:
    assert plain("read https://bank.example/a now") == "read `https://bank.example/a` now"


def test_hosts_that_were_said() -> None:
    assert list(links.hosts_in("to https://a.example/x and (http://b.example:8080), not c.example")) == ["a.example", "b.example"]

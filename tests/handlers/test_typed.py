"""What people typed comes through as they meant it, decoded once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers import typed


def test_C014_entities_are_decoded_once_and_quotes_and_dashes_stay() -> None:
    said = typed.plain("run “deploy —dry-run” in ‘staging’ when a &lt; b &amp;&amp; c")

    assert said == "run “deploy —dry-run” in ‘staging’ when a < b && c"


def test_C014_an_entity_that_somebody_wrote_out_stays_one() -> None:
    assert typed.plain("write &amp;lt; as text") == "write &lt; as text"


@pytest.mark.parametrize(
    ("raw", "meant"),
    [
        ("<@U0BOT> read it", "read it"),
        ("<@U0BOT|pullcord> read it <@U0BOT>", "read it"),
        ("post to <#C0OPS|ops>", "post to #ops"),
        ("ask <@U1|ada>", "ask @ada"),
        ("ask <@U1>", "ask <@U1>"),
        ("<!here> and <!channel>", "@here and @channel"),
        ("<!subteam^S1|@ops-leads>", "@ops-leads"),
        ("<https://a.example/x?a=1&amp;b=2>", "https://a.example/x?a=1&b=2"),
        ("<http://a.example|a.example>", "a.example"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
    ],
)
def test_tokens_read_as_people_saw_them(raw: str, meant: str) -> None:
    assert typed.plain(raw, bot_user_id="U0BOT") == meant


def test_angle_brackets_that_people_typed_are_no_tokens() -> None:
    said = "when a < b and c > d, then <p>text</p> and x<y>z"

    assert typed.plain(said) == said


def test_C012_a_masked_link_shows_where_it_leads() -> None:
    assert typed.plain("<https://evil.example|https://bank.example>") == "https://bank.example (https://evil.example)"


def test_flags_have_keyboard_dashes_and_no_quotes_around_them() -> None:
    assert typed.flags("“R‑7K2Q”  all") == ["R-7K2Q", "all"]


@given(st.text(alphabet=st.characters(blacklist_characters="<>", blacklist_categories=("Cs",))))
def test_decoding_undoes_what_slack_escapes_and_nothing_else(said: str) -> None:
    escaped = said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    assert typed.plain(escaped) == said.strip()

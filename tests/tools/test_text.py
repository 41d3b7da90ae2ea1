"""Summaries without a model: the text's own sentences, in its own order."""

import time

import pytest

from bot.errors import ModelFault
from bot.tools.registry import Registry
from bot.tools.text import EXTRACTIVE, Spend, pick, sentences, text_tools
from tests.tools.conftest import context

STANDUP = "# Standup\nThe login page was slow on Monday.\nThe cache was cold after the upgrade.\nLee restarted it at nine.\n"


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_standup_is_shortened_to_what_it_is_about(count: int) -> None:
    summary = pick(STANDUP, count)

    assert "login" in summary or "cache" in summary
    if count < 3:
        assert "Standup" not in summary
        assert len(summary.splitlines()) == count


def test_short_texts_stay_as_they_are() -> None:
    assert pick("Only one.", 3) == "Only one."
    assert pick("", 3) == ""
    assert pick(STANDUP, 3) == STANDUP.strip()


def test_picked_sentences_keep_their_order_and_words() -> None:
    text = "\n".join(f"Sentence {at} is about the cache and the login page." if at % 7 == 0 else f"Filler {at}." for at in range(60))

    chosen = pick(text, 4).splitlines()

    places = [text.index(sentence) for sentence in chosen]
    assert places == sorted(places)
    assert len(set(chosen)) == 4


def test_what_comes_back_often_is_what_it_is_about() -> None:
    text = (
        "Many things happened this week. The database was slow because the database ran out of disk. "
        "Somebody brought cake. After the disk was replaced, the database was fast again. Lunch was late."
    )

    assert "database" in pick(text, 1)
    assert "cake" not in pick(text, 2)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ("It costs 3.5 e.g. today. Next one.", ["It costs 3.5 e.g. today.", "Next one."]),
        ("Dr. Lee and J. Smith met. They spoke.", ["Dr. Lee and J. Smith met.", "They spoke."]),
        ('He said "stop." Then it stopped.', ['He said "stop."', "Then it stopped."]),
        ("今日は雨です。明日は晴れます！本当？はい。", ["今日は雨です。", "明日は晴れます！", "本当？", "はい。"]),
        ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        ("A line that goes\non in small letters.\nAnother one", ["A line that goes on in small letters.", "Another one"]),
        ("# Head\n## Sub\nTitle\n=====\n- first thing\n- second thing\n1. third\n---\n", ["Title", "first thing", "second thing", "third"]),
        ("\n\n  \n", []),
    ],
)
def test_sentences_are_found_in_any_script(text: str, found: list[str]) -> None:
    assert list(sentences(text)) == found


def test_chinese_and_japanese_are_weighed_without_spaces() -> None:
    text = "会議がありました。データベースが遅いです。ケーキを食べました。データベースを再起動しました。"

    assert "データベース" in pick(text, 1)


@pytest.mark.parametrize("text", ["word " * 80_000, "A b. " * 60_000, "." * 400_000, "雨。" * 100_000, "a\n" * 200_000, " J." * 100_000])
def test_no_text_makes_it_slow(text: str) -> None:
    start = time.monotonic()

    pick(text, 20)

    assert time.monotonic() - start < 30


async def test_the_tool_says_that_no_model_wrote_it() -> None:
    seen = await Registry(text_tools()).call("text.summarize", {"text": STANDUP, "sentences": 1}, context())

    assert seen.value["by"] == EXTRACTIVE
    assert seen.value["summary"]


async def test_a_model_writes_where_there_is_one() -> None:
    async def worker(text: str, count: int, spend: Spend) -> str:
        spend("small", 120, 8)
        return f" {count}: {text[:9]} "

    ctx = context()
    seen = await Registry(text_tools(worker)).call("text.summarize", {"text": STANDUP}, ctx)

    assert seen.value == {"summary": "3: # Standup", "by": "a model"}
    assert ctx.used == (("small", 120, 8),), "what it cost counts towards the run's budget"


@pytest.mark.parametrize("answer", ["", None])
async def test_a_model_that_does_not_answer_is_stood_in_for_and_that_is_said(answer: str | None) -> None:
    async def worker(text: str, count: int, spend: Spend) -> str:
        if answer is None:
            raise ModelFault("unreachable", "no line")
        return answer

    seen = await Registry(text_tools(worker)).call("text.summarize", {"text": STANDUP, "sentences": 1}, context())

    assert seen.value["by"].startswith(EXTRACTIVE)
    assert "login" in seen.value["summary"]


def test_the_definition_is_the_same_with_and_without_a_model() -> None:
    async def worker(text: str, count: int, spend: Spend) -> str:
        return text

    assert text_tools()[0].spec.digest == text_tools(worker)[0].spec.digest

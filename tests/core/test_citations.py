"""The light check of answers: what counts as a sentence, a source, and support."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.citations import review, sentences
from bot.core.run import StepStatus
from tests.llm.runs import done, ended, over

RUN = over(
    done("files.read", {"path": "app/config.toml"}, {"text": 'timeout = 60.0, "Web One"\nsize 12,500, 3.5'}, "3 lines"),
    ended("web.fetch", {"url": "https://x.example"}, StepStatus.FAILED, error="no answer"),
    done("web.fetch", {"url": "https://docs.example/a"}, {"text": "Café été. See https://docs.example/b?x=1 for 14 cases"}, name="docs"),
    ended("files.list", {"path": "."}, StepStatus.SKIPPED),
    ended("files.delete", {"path": "a"}, StepStatus.IN_DOUBT),
)


def marks(text: str) -> list[str]:
    return [mark.why for mark in review(text, RUN).marks]


@pytest.mark.parametrize(
    "text",
    [
        "The timeout is 60 s [1].",
        "The timeout is 60 s. [1]",
        "- timeout 60 [1]\n- three lines, 3 [1]",
        "It is called `Web One` [1]",
        'It is called "web one" [1].',
        "It holds 12500 or 12,500 at 3.5 [1].",
        "All of app/config.toml, see “timeout = 60.0” [1].",
        "See https://docs.example/b?x=1. [3]",
        "**In short:** 14 cases [3].",
        "Read at 14:05 [1][3].",
        "In short:\n\n# Result\n\nTimeout 60 [1].",
        "タイムアウトは60秒です。[1]",
        "Le délai de 60 s vient du « Café été » [1][3].",
        "web1 and v2 have no numbers of their own [1].",
        "```\nmade = 99\n```",
    ],
)
def test_supported_sentences_are_unmarked(text: str) -> None:
    assert marks(text) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The timeout is 60 s.", "no source"),
        ("web3 answers in 90 ms [2].", "cites 2, which failed"),
        ("There are files [4].", "cites 4, which was skipped"),
        ("The file is gone [5].", "cites 5, which is in doubt"),
        ("The timeout is 60 s [1][9].", "cites 9, which does not exist"),
        ("The logs show 14 time-outs [1].", "14 is not in [1]"),
        ("It is 6 s [1].", "6 is not in [1]"),
        ("It is 60.5 s [1].", "60.5 is not in [1]"),
        ("They call it `Web Two` [1][3].", "Web Two is not in [1][3]"),
        ("See https://evil.example/x [3].", "https://evil.example/x is not in [3]"),
        ("Er sagt „ganz anders“ [3].", "ganz anders is not in [3]"),
        ("これは本当です。", "no source"),
        ("There are 7 of these:", "no source"),
    ],
)
def test_sentence_that_fails_says_why(text: str, why: str) -> None:
    assert marks(text) == [why]


def test_marks_hold_the_sentence_as_it_stands_in_the_text() -> None:
    text = "1. The timeout is 60 s [1]. Probably fine.\n> And so on"
    found = review(text, RUN)
    assert [mark.sentence for mark in found.marks] == ["Probably fine.", "And so on"]
    assert all(mark.sentence in text for mark in found.marks)


def test_cites_are_ids_of_finished_steps_each_once() -> None:
    assert review("60 [1]. Gone [2]. 60 again [1]. Café [3].", RUN).cites == ("read", "docs")


def test_abbreviations_do_not_end_a_sentence() -> None:
    assert sentences("It is small, e.g. 60 s vs. 30 s [1]. Next one [1].") == ["It is small, e.g. 60 s vs. 30 s [1].", "Next one [1]."]


@given(st.text(max_size=400))
def test_any_text_can_be_reviewed(text: str) -> None:
    assert all(mark.sentence in text for mark in review(text, RUN).marks)

"""Values are opaque ids with a grammar; whatever is outside it is nobody's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import Refused
from handlers.views import ids
from handlers.views.ids import Target

STEP = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,39}", fullmatch=True)
RUN = st.from_regex(r"R-[0-9A-HJKMNP-TV-Z]{4,6}", fullmatch=True)


@pytest.mark.parametrize(
    ("value", "target"),
    [
        ("R-7K2Q", Target("R-7K2Q")),
        ("R-7K2Q.1", Target("R-7K2Q", 1)),
        ("R-7K2Q.1.post", Target("R-7K2Q", 1, "post")),
        ("R-7K2Q.1.p3", Target("R-7K2Q", 1, "p3", page=3)),
        ("R-7K2Q.q1.2", Target("R-7K2Q", question=1, choice=2)),
        ("R-7K2Q.1.post.c41f09d2", Target("R-7K2Q", 1, "post", "c41f09d2")),
        ("R-7K2Q.1.post.2", Target("R-7K2Q", 1, "post", "2")),
        ("R-7K2Q.1.post.c41f09d2.p2", Target("R-7K2Q", 1, "post", "c41f09d2", page=2)),
    ],
)
def test_a_value_is_read_as_it_was_meant(value: str, target: Target) -> None:
    assert ids.parse_value(value) == target


@pytest.mark.parametrize("value", ["", "7K2Q", "R-7K2Q.", "R-7K2Q.x", "R-7K2Q.1.post.zz", "R-7K2Q\n", "R-7K2Q.1.p o", "all", "R-7K2Q.1.1"])
def test_a_value_outside_the_grammar_is_an_unknown_run(value: str) -> None:
    with pytest.raises(Refused) as refused:
        ids.parse_value(value)
    assert refused.value.kind == "unknown_run"


@given(RUN, st.integers(1, 99), STEP, st.from_regex(r"[0-9a-f]{64}", fullmatch=True))
def test_what_is_encoded_is_read_back_and_short_enough_for_an_option(run: str, revision: int, step: str, digest: str) -> None:
    value = ids.encode(run, revision, step, digest)
    found = ids.parse_value(value)
    assert (found.run, found.revision, found.step, found.filling) == (run, revision, step, digest[:8])
    assert len(value) <= 150


@given(RUN, st.integers(1, 9), st.integers(1, 9))
def test_a_choice_is_read_back(run: str, question: int, choice: int) -> None:
    found = ids.parse_value(ids.encode_choice(run, question, choice))
    assert (found.run, found.question, found.choice) == (run, question, choice)

"""What a reply plainly is, and what is left to a classifier."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.notation import parse
from bot.core.plan import Plan, numbered
from bot.core.replies import control_wish, sure
from bot.core.words import control_word

PLAN = numbered(
    parse(
        """
        read: files.read path=notes/today.md
        brief: text.summarize text="{{read.text}}"
        post: slack.post_message channel=#ops text="{{brief.summary}}"
        """
    )
)
PLAIN = {
    "control": [
        "stop",
        "Pause!",
        "RESUME",
        "status",
        "please stop",
        "stop it now",
        "hold on",
        "ok, stop!",
        "STOP EVERYTHING",
        "bitte stop",
    ],
    "withdraw": ["never mind", "Nevermind.", "forget it, sorry", "vergiss es", "laisse tomber", "olvídalo"],
    "change": [
        "skip 2",
        "Skip post.",
        "skip brif",
        "skip 9",
        "stop after brief",
        "add files.read path=b.md",
        "instead post: slack.post_message channel=#general text=x",
        "post: slack.post_message channel=#general text=x",
    ],
    "question": [
        "what is left",
        "What's next?",
        "why is it paused",
        "who approved this",
        "how long",
        "when will it be done",
        "is it done",
        "did step 2 find anything",
        "will it post to #general",
        "status of step 2?",
        "?",
        "any news",
        "Was fehlt noch",
        "Warum steht das",
        "wie lange noch",
        "Ist es fertig?",
        "Qu'est-ce qui reste",
        "pourquoi",
        "où en est-on",
        "¿Qué falta",
        "por qué está parado",
        "終わった？",
    ],
    "chatter": [
        "thanks",
        "Thank you so much!",
        "ok",
        "👍",
        "🎉🎉",
        ":thumbsup:",
        ":tada: great job!",
        "+1",
        "lgtm",
        "sounds good",
        "no problem",
        "well done",
        "danke!",
        "vielen Dank",
        "merci beaucoup",
        "muchas gracias",
        "<@U0REQUESTER> thanks",
    ],
}
UNSURE = [
    "also post it to #general",
    "can you also post it to #general?",
    "could you skip the summary, please?",
    "what about #general?",
    "why not post it to #general",
    "when it is done, post it to #general",
    "skip lunch",
    "yes",
    "no",
    "approved",
    "yes, approve it",
    "I approve",
    "go ahead",
    "that is the problem",
    "great, skip it",
    "pause before step 3",
    "Lass den Schritt weg",
    "Kannst du es auch in #general posten?",
    "publie aussi dans #general",
    "Peux-tu aussi publier dans #general ?",
    "publícalo también en #general",
    "¿Puedes publicarlo también en #general?",
    "古いファイルを消して",
    "",
    "   ",
]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in PLAIN.items() for text in texts])
def test_plain_reply_needs_nobody(kind: str, text: str) -> None:
    assert sure(text, PLAN) == kind


@pytest.mark.parametrize("text", UNSURE)
def test_what_is_not_plain_is_left_to_a_classifier(text: str) -> None:
    assert sure(text, PLAN) is None


@pytest.mark.parametrize("word", ["stop", "Pause!", "resume", "status"])
def test_control_wish_says_what_the_control_words_say(word: str) -> None:
    assert control_wish(word) == control_word(word)


@pytest.mark.parametrize(
    ("text", "word"),
    [("please stop it now!", "stop"), ("hold on", "pause"), ("stop after 2", None), ("stop or pause", None), ("stop it?", None)],
)
def test_control_wish_is_nothing_but_the_wish(text: str, word: str | None) -> None:
    assert control_wish(text) == word


def test_run_without_a_plan_has_no_steps_to_skip() -> None:
    assert sure("skip the queue", None) is None
    assert sure("skip queue", Plan(goal="-", steps=())) is None
    assert sure("skip 2", None) == "change"


@given(st.text(max_size=300))
def test_no_text_makes_it_raise(text: str) -> None:
    assert sure(text, PLAN) in ("control", "withdraw", "change", "question", "chatter", None)

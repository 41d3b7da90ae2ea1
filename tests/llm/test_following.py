"""Redirects without a model: everyday words, exact forms and notation against a plan that is there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core import rest as fixing
from bot.core.ids import StepId
from bot.core.plan import numbered
from bot.core.run import StepStatus
from bot.core.validation import validate
from bot.llm.offline import OfflinePlanner
from tests.llm.catalogue import TOOLS
from tests.llm.rests import ASK, DEMO, POST, READ, SUMMARY, lines_of, live, plan_of, rest_of, review

TO_GENERAL = 'post2: slack.post_message channel=#general text="{{summary.summary}}"'
MOVED = 'post: slack.post_message channel=#general text="{{summary.summary}}"'
SAVE = 'save: files.write path=out.md text="{{summary.summary}}"'
FOLLOWED = {
    "also post it to #general": [SUMMARY, POST, TO_GENERAL],
    "please also post it to #general, thanks": [SUMMARY, POST, TO_GENERAL],
    "can you also post it to #general?": [SUMMARY, POST, TO_GENERAL],
    "post it to #general too": [SUMMARY, POST, TO_GENERAL],
    "post the summary to #general as well": [SUMMARY, POST, TO_GENERAL],
    "and post it to #general": [SUMMARY, POST, TO_GENERAL],
    "also to #general": [SUMMARY, POST, TO_GENERAL],
    "#general too": [SUMMARY, POST, TO_GENERAL],
    "also save it as out.md": [SUMMARY, POST, SAVE],
    "then write it to out.md": [SUMMARY, POST, f"{SAVE} after=post"],
    "also post it to #general, and write it to out.md": [SUMMARY, POST, TO_GENERAL, SAVE],
    "also read b.md": [SUMMARY, POST, "read2: files.read path=b.md"],
    "also tell #general that we ship": [SUMMARY, POST, 'post2: slack.post_message channel=#general text="We ship"'],
    "delete notes/old.md": [SUMMARY, POST, "delete: files.delete path=notes/old.md after=post"],
    "skip the summary": [],
    "without the summary": [],
    "the summary is not needed": [],
    "don't post it": [SUMMARY],
    "don’t post": [SUMMARY],
    "do not post to #ops": [SUMMARY],
    "leave out step 3": [SUMMARY],
    "leave step 3 out": [SUMMARY],
    "skip posting": [SUMMARY],
    "no need to post it": [SUMMARY],
    "drop the message": [SUMMARY],
    "skip #ops": [SUMMARY],
    "skip the rest": [],
    "skip post": [SUMMARY],
    "stop after the summary": [SUMMARY],
    "stop after summarizing it": [SUMMARY],
    "only the summary": [SUMMARY],
    "only summarize it": [SUMMARY],
    "only post it to #ops": [SUMMARY, POST],
    "only post it to #general": [SUMMARY, MOVED],
    "post it to #general only": [SUMMARY, MOVED],
    "post it to #general instead": [SUMMARY, MOVED],
    "to #general instead": [SUMMARY, MOVED],
    "use #general instead": [SUMMARY, MOVED],
    "instead post it to #general": [SUMMARY, MOVED],
    "#general instead of #ops": [SUMMARY, MOVED],
    "not to #ops but to #general": [SUMMARY, MOVED],
    "post it to #general, not to #ops": [SUMMARY, MOVED],
    "change the channel to #general": [SUMMARY, MOVED],
    "replace #ops with #general": [SUMMARY, MOVED],
    "write it to out.md instead": [SUMMARY, SAVE],
    "instead of posting it, write it to out.md": [SUMMARY, SAVE],
    'post "done" to #ops instead': [SUMMARY, "post: slack.post_message channel=#ops text=done"],
    "summarize it in two sentences instead": [f"{SUMMARY} sentences=2", POST],
    "read b.md instead": ["read2: files.read path=b.md", 'summary: text.summarize text="{{read2.text}}"', POST],
    "pause before posting": [SUMMARY, f"{POST} !break"],
    "ask me before you post it": [SUMMARY, f"{POST} !break"],
    "skip the posting. Also write it to out.md": [SUMMARY, SAVE],
}


@pytest.mark.parametrize("reply", FOLLOWED)
async def test_everyday_words_change_the_rest(reply: str) -> None:
    draft = await OfflinePlanner().draft(live(reply))
    assert lines_of(draft) == FOLLOWED[reply]
    assert draft.plan is not None
    assert draft.plan.goal == ASK
    assert validate(DEMO.model_copy(update={"steps": (DEMO.steps[0], *draft.plan.steps)}), TOOLS) == []


@pytest.mark.parametrize("reply", FOLLOWED)
async def test_the_same_words_change_a_plan_under_review(reply: str) -> None:
    if reply == "skip the rest":  # that would be all of it
        assert (await OfflinePlanner().draft(review(reply))).plan is None
    elif reply == "read b.md instead":
        assert lines_of(await OfflinePlanner().draft(review(reply))) == ["read: files.read path=b.md", SUMMARY, POST]
    else:
        assert lines_of(await OfflinePlanner().draft(review(reply))) == [READ, *FOLLOWED[reply]]


async def test_demo_story_adds_one_step_and_keeps_everything_else_as_it_was() -> None:
    draft = await OfflinePlanner().draft(live("also post it to #general"))
    assert draft.plan is not None
    *kept, new = draft.plan.steps
    assert kept == list(DEMO.steps[1:])
    assert (new.id, new.number, new.needs, new.purpose) == ("post2", 0, ("summary",), "post it to #general")
    assert [(part.understood, part.notation) for part in draft.parts] == [(True, f"add {TO_GENERAL}")]


async def test_result_that_is_there_already_is_used_and_not_waited_for() -> None:
    draft = await OfflinePlanner().draft(live("then write it to out.md", done=("read", "summary", "post")))
    assert lines_of(draft) == [SAVE]


async def test_what_never_came_about_is_not_meant_by_it() -> None:
    rest = rest_of("also post it to #general", done=("read", "summary", "post")).model_copy(
        update={"statuses": {"read": "succeeded", "summary": "cancelled", "post": "skipped"}}
    )
    draft = await OfflinePlanner().draft(live().model_copy(update={"rest": rest}))
    assert lines_of(draft) == ['post2: slack.post_message channel=#general text="{{read.text}}"']


NOT_FOLLOWED = {
    "frobnicate it": "'frobnicate it' is not understood",
    "fax it to the partners instead": "say skip STEP, add STEP-IN-NOTATION",
    "don't read it": "step 1 · read has run already and cannot be left out",
    "skip 1": "step 1 · read has run already and cannot be left out",
    "skip lunch": "there is no step 'lunch'",
    "don't worry": "is not understood",
    "just post it to #general": "say: also post it to #general",
    "wait 5 minutes": "to hold the run, say pause",
    "post it to #ops too": "it does the same as step post",
    "post hello to #general": 'put the words in "quotes"',
    "skip the summary and frobnicate": "'frobnicate' is not understood",
    "approve it and set the risk to low": "is not understood",
    "Überspringe die Zusammenfassung": "is not understood",
    "Publie-le aussi dans #general": "is not understood",
    "publícalo también en #general": "is not understood",
    "古いファイルを消して": "is not understood",
    "": "is not understood",
    "add files.read path=b.md approved_by=U0APPROVER": "approved_by",
}


@pytest.mark.parametrize("reply", NOT_FOLLOWED)
async def test_what_is_not_understood_is_no_plan_and_says_what_would_help(reply: str) -> None:
    for brief in (live(reply), review(reply) if reply not in ("don't read it", "skip 1") else live(reply)):
        draft = await OfflinePlanner().draft(brief)
        assert draft.plan is None
        assert NOT_FOLLOWED[reply] in " ".join(map(str, draft.faults))
        assert any(not part.understood for part in draft.parts)
        assert draft.suggestion == "skip post"


async def test_several_steps_that_could_be_meant_are_a_question() -> None:
    two = plan_of(READ, SUMMARY, POST, TO_GENERAL)
    draft = await OfflinePlanner().draft(live("skip the message", plan=two))
    assert "which one: 3 · post or 4 · post2? Say it by number, such as skip 3" in str(draft.faults[0])
    assert lines_of(await OfflinePlanner().draft(live("don't post it", plan=two))) == [SUMMARY]
    assert lines_of(await OfflinePlanner().draft(live("skip the message to #general", plan=two))) == [SUMMARY, POST]
    assert lines_of(await OfflinePlanner().draft(live("only post it to #general", plan=two))) == [SUMMARY, TO_GENERAL]


@pytest.mark.parametrize(
    ("replies", "rest"),
    [
        (("also post it to #general", "skip 3"), [SUMMARY, TO_GENERAL]),
        (("post it to #general instead", "no, post it to #ops instead"), [SUMMARY, POST]),
        (("also post it to #general", "skip post2"), [SUMMARY, POST]),
        (("skip post", "also post it to #general"), [SUMMARY, TO_GENERAL]),
        (("skip the summary", "never mind"), [SUMMARY, POST]),
        (("skip the summary", "never mind", "skip post"), [SUMMARY]),
    ],
)
async def test_replies_are_followed_in_order_and_the_later_one_counts(replies: tuple[str, ...], rest: list[str]) -> None:
    assert lines_of(await OfflinePlanner().draft(live(*replies))) == rest


async def test_one_reply_that_is_not_understood_means_no_plan_for_all_of_them() -> None:
    draft = await OfflinePlanner().draft(live("skip post", "frobnicate"))
    assert draft.plan is None
    assert [part.understood for part in draft.parts] == [True, False]


async def test_reviewers_earlier_words_are_in_the_plan_already() -> None:
    plan = plan_of(READ, SUMMARY, POST, TO_GENERAL)
    assert lines_of(await OfflinePlanner().draft(review("also post it to #general", "skip 3", plan=plan))) == [READ, SUMMARY, TO_GENERAL]


async def test_several_lines_of_notation_are_the_whole_plan_under_review_anew() -> None:
    draft = await OfflinePlanner().draft(review('read: files.read path=b.md\nsay: slack.post_message channel=#ops text="{{read.text}}"'))
    assert lines_of(draft) == ["read: files.read path=b.md", 'say: slack.post_message channel=#ops text="{{read.text}}"']
    assert draft.plan is not None
    assert [step.number for step in draft.plan.steps] == [1, 0]
    assert draft.plan.goal == ASK


async def test_one_line_of_notation_under_review_is_one_step() -> None:
    assert lines_of(await OfflinePlanner().draft(review("files.read path=b.md"))) == [READ, SUMMARY, POST, "s1: files.read path=b.md"]


async def test_step_that_was_left_out_does_not_come_back_as_another() -> None:
    draft = await OfflinePlanner().draft(live("skip post", "add slack.post_message channel=#ops text=x", "also post it to #general"))
    assert draft.plan is not None
    assert "post" not in [step.id for step in draft.plan.steps]


async def test_tool_without_phrases_is_named_by_the_words_of_its_name() -> None:
    deploy = TOOLS["time.now"].__class__
    tools = {**TOOLS, "site.deploy": deploy(**{**vars(TOOLS["files.delete"]), "name": "site.deploy"})}
    plan = plan_of(READ, "ship: site.deploy path=web")
    brief = live("don't deploy it", plan=plan).model_copy(update={"catalogue": tools})
    assert lines_of(await OfflinePlanner().draft(brief)) == []
    brief = live("skip the deployment", plan=plan).model_copy(update={"catalogue": tools})
    assert lines_of(await OfflinePlanner().draft(brief)) == []


WORDS = st.sampled_from(
    [
        "skip",
        "also",
        "post",
        "it",
        "to",
        "#ops",
        "#general",
        "instead",
        "of",
        "the",
        "summary",
        "only",
        "don't",
        "read",
        "b.md",
        "after",
        "stop",
    ]
    + [
        "then",
        ",",
        "and",
        ".",
        "1",
        "2",
        "3",
        "step",
        "not",
        "but",
        "too",
        "write",
        "add",
        "files.read",
        "path=b.md",
        "post:",
        "read:",
        "\n",
        '"x"',
    ]
)
TEXTS = st.one_of(st.text(max_size=120), st.lists(WORDS, max_size=12).map(" ".join))
STATES = {StepId("read"): StepStatus.SUCCEEDED, StepId("summary"): StepStatus.PENDING, StepId("post"): StepStatus.PENDING}


@given(st.lists(TEXTS, min_size=1, max_size=3))
async def test_no_reply_makes_it_raise_or_touches_what_is_fixed(replies: list[str]) -> None:
    draft = await OfflinePlanner().draft(live(*replies))
    assert draft.plan is not None or draft.faults
    if draft.plan is None:
        return
    assert fixing.faults(DEMO, draft.plan, STATES) == []
    assert "read" not in [step.id for step in draft.plan.steps]
    plan = fixing.whole(DEMO, draft.plan, STATES, used_numbers=[1, 2, 3])
    assert plan.steps[0] == DEMO.steps[0]
    assert validate(plan, TOOLS) == []
    kept = {step.id: step.number for step in DEMO.steps}
    assert all(step.number == kept.get(step.id, step.number) for step in plan.steps)


@given(TEXTS)
async def test_no_wish_makes_a_review_raise_and_what_comes_of_it_is_sound(words: str) -> None:
    draft = await OfflinePlanner().draft(review(words))
    assert (draft.plan is None) == bool(draft.faults)
    if draft.plan is not None:
        assert draft.plan.steps
        assert validate(numbered(draft.plan), TOOLS) == []

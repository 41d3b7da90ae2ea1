"""Replies that change the rest with no model: what is read as a form, and what becomes of the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.drafts import Fault, Rest
from bot.core.exact import Applied, Form, apply, followed, is_withdrawal, read_form, still_open
from bot.core.ids import StepId
from bot.core.notation import parse, print_step
from bot.core.plan import Plan, numbered
from bot.core.rest import whole
from bot.core.run import StepStatus
from bot.core.validation import validate
from tests.llm.catalogue import TOOLS

PLAN = numbered(
    parse(
        """
        read: files.read path=notes/today.md
        old: files.read path=notes/old.md
        brief: text.summarize text="{{read.text}} {{old.text}}"  -- Make it short
        wait: time.wait seconds=5 after=brief
        post: slack.post_message channel=#ops text="{{brief.summary}}" after=wait !break
        """,
        catalogue=TOOLS,
    )
)
RUNNING = Rest(plan=PLAN, fixed=(StepId("read"), StepId("old")), statuses={"read": "succeeded", "old": "running"})
BRIEF, WAIT, POST = (print_step(step, purposes=False) for step in PLAN.steps[2:])

READ = {
    "skip 3": Form("skip", ("3",)),
    "Skip step brief.": Form("skip", ("brief",)),
    "`SKIP brief`": Form("skip", ("brief",)),
    "skip “brief”!": Form("skip", ("brief",)),
    "skip #3": Form("skip", ("#3",)),
    "skip 3, 4 and post": Form("skip", ("3", "4", "post")),
    "stop after 3": Form("stop after", ("3",)),
    "Stop after step brief.": Form("stop after", ("brief",)),
    "add files.read path=b.md": Form("add", (), "files.read path=b.md"),
    "ADD b: files.read path=b.md": Form("add", (), "b: files.read path=b.md"),
    "add: b: files.read path=b.md": Form("add", (), "b: files.read path=b.md"),
    "add `files.read path=b.md`": Form("add", (), "files.read path=b.md"),
    "```add files.read path=b.md\nfiles.read path=c.md```": Form("add", (), "files.read path=b.md\nfiles.read path=c.md"),
    "add\n```\nfiles.read path=b.md; files.read path=c.md\n```": Form("add", (), "files.read path=b.md; files.read path=c.md"),
    'instead post: slack.post_message channel=#ops text="…"': Form("instead", ("post",), 'slack.post_message channel=#ops text="…"'),
    "instead 5: slack.post_message channel=#ops text=x": Form("instead", ("5",), "slack.post_message channel=#ops text=x"),
    "instead of step post slack.post_message channel=#ops text=x": Form("instead", ("post",), "slack.post_message channel=#ops text=x"),
    "post: slack.post_message channel=#ops text=x": Form("written", (), "post: slack.post_message channel=#ops text=x"),
    "never mind": Form("never mind"),
    "Never mind!": Form("never mind"),
    "sorry, forget it please": Form("never mind"),
}
NOT_READ = [
    "",
    "skip",
    "please skip the summary",
    "skip the summary",
    "stop",
    "stop after",
    "add more details",
    "add notes.md to the list",
    "add",
    "instead post it to #general",
    "example.com",
    "see e.g. this: it is fine",
    "never mind the weather",
    "I would never mind that at all",
]


@pytest.mark.parametrize("text", READ)
def test_whole_message_is_read_as_its_form(text: str) -> None:
    assert read_form(text) == READ[text]


@pytest.mark.parametrize("text", NOT_READ)
def test_everything_else_is_no_form(text: str) -> None:
    assert read_form(text) is None
    assert not is_withdrawal(text)


def test_tool_that_is_known_makes_a_call_of_words_that_are_no_notation() -> None:
    assert read_form("add slack.post_message to #general", tools=TOOLS) == Form("add", (), "slack.post_message to #general")
    assert read_form("time.now") is None
    assert read_form("time.now", tools=TOOLS) == Form("written", (), "time.now")


def follow(text: str, rest: Rest = RUNNING) -> Applied | tuple[Fault, ...]:
    form = read_form(text, tools=TOOLS)
    assert form is not None, text
    return apply(form, rest, TOOLS)


def lines(text: str, rest: Rest = RUNNING) -> list[str]:
    """The new rest in plain notation."""
    done = follow(text, rest)
    assert isinstance(done, Applied), done
    return [print_step(step, purposes=False) for step in done.plan.steps]


def faults(text: str, rest: Rest = RUNNING) -> list[str]:
    done = follow(text, rest)
    assert not isinstance(done, Applied), done
    return [str(fault) for fault in done]


GENERAL = "slack.post_message channel=#general text=x"
FOLLOWED = {
    "skip post": [BRIEF, WAIT],
    "skip 5": [BRIEF, WAIT],
    "skip 3": ["wait: time.wait seconds=5 after=read,old"],
    "skip 4 and 5": [BRIEF],
    "stop after 3": [BRIEF],
    "stop after 4": [BRIEF, WAIT],
    "stop after 5": [BRIEF, WAIT, POST],
    "stop after 2": [],
    "add files.read path=b.md": [BRIEF, WAIT, POST, "s1: files.read path=b.md"],
    f"add all: {GENERAL}": [BRIEF, WAIT, POST, f"all: {GENERAL}"],
    f"instead post: {GENERAL}": [BRIEF, WAIT, f"post: {GENERAL} after=wait !break"],
    f"instead of 5: {GENERAL} after=brief": [BRIEF, WAIT, f"post: {GENERAL} after=brief !break"],
    f"post: {GENERAL}": [BRIEF, WAIT, f"post: {GENERAL} after=wait !break"],
    f"say: {GENERAL}": [BRIEF, WAIT, POST, f"say: {GENERAL}"],
    "never mind": [BRIEF, WAIT, POST],
}


@pytest.mark.parametrize("text", FOLLOWED)
def test_form_changes_the_rest_and_nothing_else(text: str) -> None:
    assert lines(text) == FOLLOWED[text]


def test_what_uses_a_skipped_step_goes_with_it_and_is_named() -> None:
    done = follow("skip brief")
    assert isinstance(done, Applied)
    assert done.says == "5 · post goes with it, since it uses its result"


def test_what_only_waited_for_a_skipped_step_waits_for_what_that_waited_for() -> None:
    done = follow("skip wait")
    assert isinstance(done, Applied)
    assert [(step.id, step.depends_on, step.number) for step in done.plan.steps] == [("brief", (), 3), ("post", ("brief",), 5)]


def test_numbers_are_for_life() -> None:
    done = follow(f"instead post: {GENERAL}")
    assert isinstance(done, Applied)
    assert [step.number for step in done.plan.steps] == [3, 4, 5]
    added = follow(f"add {GENERAL}")
    assert isinstance(added, Applied)
    assert added.plan.steps[-1].number == 0  # a new one gets its number with the revision


def test_purpose_stays_with_a_step_that_calls_the_same_tool() -> None:
    done = follow('instead brief: text.summarize text="{{read.text}}"')
    assert isinstance(done, Applied)
    assert done.plan.step("brief").purpose == "Make it short"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("skip read", "step 1 · read has run already and cannot be left out"),
        ("skip 2", "step 2 · old is running and cannot be left out"),
        ("instead 1: files.read path=b.md", "step 1 · read has run already and cannot be replaced"),
        ("read: files.read path=b.md", "step 1 · read has run already and cannot be replaced"),
        ("skip pots", "there is no step 'pots'; did you mean 5 · post?"),
        ("skip 9", "there is no step '9'; the steps are 1 · read, 2 · old, 3 · brief, 4 · wait and 5 · post"),
        ("skip 0", "there is no step '0'"),
        (f"instead pots: {GENERAL}", "there is no step 'pots'; did you mean 5 · post?"),
        (f"instead {GENERAL}", "write its id first: instead post: slack.post_message"),
        (f"add post: {GENERAL}", "there is a step 'post' already; give the new one another id, or write instead"),
        ("add slack.pst_message channel=#ops text=x", "the tool 'slack.pst_message' does not exist; the closest is slack.post_message"),
        ("add files.read path", "'path' is not name=value"),
        ("add a: files.read path=b.md; a: files.read path=c.md", "'a' stands there twice"),
        ("instead brief: files.read path=b.md", "step 5 · post would no longer fit: files.read returns no 'summary'"),
        ("add files.write path=a.md text={{gone.text}}", "refers to a step that does not exist"),
        ("add slack.post_message channel=#ops text={{brief.summary}}", "it does the same as step post"),
        ("add files.read path=x risk=low", "risk"),
    ],
)
def test_what_cannot_be_is_said_in_words_that_name_what_is_near(text: str, said: str) -> None:
    """C030, C032, C034: nothing is mapped, nothing is guessed."""
    assert any(said in fault for fault in faults(text)), faults(text)


def test_dependent_that_is_changed_in_the_same_reply_fits() -> None:
    both = 'instead brief: files.read path=b.md\npost: slack.post_message channel=#ops text="{{brief.text}}"'
    assert lines(both)[0] == "brief: files.read path=b.md"


def test_loop_that_a_reply_would_make_is_named() -> None:
    """C029"""
    assert any("wait for each other" in fault for fault in faults('instead brief: text.summarize text="{{post.ts}}"'))


def test_failed_step_may_be_left_out_or_replaced() -> None:
    rest = RUNNING.model_copy(update={"statuses": {**RUNNING.statuses, "brief": "failed"}})
    assert lines("skip brief", rest) == ["wait: time.wait seconds=5 after=read,old"]
    assert lines('instead brief: text.summarize text="{{read.text}}"', rest)[0] == 'brief: text.summarize text="{{read.text}}"'


def test_failed_step_that_a_skipped_one_names_stays() -> None:
    statuses = {"read": "succeeded", "old": "succeeded", "brief": "failed", "post": "skipped"}
    rest = Rest(plan=PLAN, fixed=(StepId("read"), StepId("old"), StepId("post")), statuses=statuses)
    assert "has failed" in faults("skip brief", rest)[0]
    assert lines("stop after read", rest) == [BRIEF, WAIT]


def test_new_step_cannot_use_what_was_never_made() -> None:
    statuses = {"read": "succeeded", "old": "cancelled"}
    rest = RUNNING.model_copy(update={"statuses": statuses})
    assert any("2 · old, which was cancelled" in fault for fault in faults("add files.write path=a.md text={{old.text}}", rest))


def test_plan_under_review_keeps_at_least_one_step() -> None:
    one = Rest(plan=numbered(parse("files.read path=a.md")))
    assert faults("skip 1", one) == ["no step would be left; press Cancel to drop the plan"]


def test_next_form_is_read_against_what_the_one_before_left() -> None:
    done = follow(f"add all: {GENERAL}")
    assert isinstance(done, Applied)
    after = followed(RUNNING, done.plan)
    assert [step.id for step in after.plan.steps] == ["read", "old", "brief", "wait", "post", "all"]
    assert lines("skip all", after) == [BRIEF, WAIT, POST]


NAMES = st.sampled_from(["read", "old", "brief", "wait", "post", "1", "2", "3", "4", "5", "6", "Post", "gone"])
FORMS = st.one_of(
    st.builds("{} {}".format, st.sampled_from(["skip", "stop after"]), st.lists(NAMES, min_size=1, max_size=3).map(" and ".join)),
    st.builds("{}{}".format, st.sampled_from(["add ", "instead ", ""]), st.builds("{}: files.read path={}".format, NAMES, NAMES)),
    st.builds("instead {}: text.summarize text={{{{{}.text}}}} after={}".format, NAMES, NAMES, NAMES),
)


@given(st.lists(FORMS, max_size=4))
def test_kept_steps_keep_id_number_and_arguments_and_fixed_ones_are_never_touched(texts: list[str]) -> None:
    rest = RUNNING
    for text in texts:
        form = read_form(text)
        done = apply(form, rest, TOOLS) if form else ()
        if not isinstance(done, Applied):
            continue
        before, after = {step.id: step for step in rest.plan.steps}, {step.id: step for step in done.plan.steps}
        assert not set(after) & set(RUNNING.fixed)
        assert all(after[name].number == before[name].number for name in after if name in before)
        rest = followed(rest, done.plan)
        assert [rest.plan.step(name) for name in RUNNING.fixed] == [PLAN.step(name) for name in RUNNING.fixed]
        assert validate(rest.plan, TOOLS) == []


def test_rest_becomes_a_whole_plan_by_the_rules_of_a_redirect() -> None:
    done = follow(f"add all: {GENERAL}")
    assert isinstance(done, Applied)
    states = {StepId(name): StepStatus(status) for name, status in RUNNING.statuses.items()}
    plan = whole(PLAN, done.plan, states, used_numbers=range(1, 8))
    assert [(step.id, step.number) for step in plan.steps][-2:] == [("post", 5), ("all", 8)]


@given(st.text(max_size=120))
def test_no_text_makes_reading_or_applying_raise(text: str) -> None:
    for said in (text, f"skip {text}", f"add {text}", f"instead {text}", f"post: files.read {text}"):
        form = read_form(said, tools=TOOLS)
        if form:
            apply(form, RUNNING, TOOLS)
            apply(form, Rest(plan=Plan(goal="-", steps=())), TOOLS)


def test_still_open_steps_are_those_that_have_not_started() -> None:
    assert [step.id for step in still_open(RUNNING)] == ["brief", "wait", "post"]

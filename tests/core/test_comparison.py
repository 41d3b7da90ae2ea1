"""What differs between two revisions, and which of it people are asked about."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.comparison import asked, changes, compare, level_of
from bot.core.ids import Digest, StepId
from bot.core.notation import parse
from bot.core.plan import Plan, numbered
from bot.core.policy import default, evaluate
from bot.core.risk import Level
from bot.core.snapshot import Revision
from tests.core.samples import CATALOGUE

TEXT = (
    "notes: files.read path=a.md\nbrief: text.summarize text={{notes.text}}\npost: slack.post_message channel=#ops text={{brief.summary}}"
)


def plan(text: str) -> Plan:
    return numbered(parse(text, goal="g"))


def revision(text: str, n: int = 1, *, tools: str = "d") -> Revision:
    made = plan(text)
    verdict = evaluate(made, CATALOGUE, default("team"))
    return Revision(
        revision=n,
        plan=made,
        digest=Digest(str(n)),
        risk=verdict.level,
        grades={grade.step: grade for grade in verdict.grades},
        tool_digests={step.tool: Digest(tools) for step in made.steps},
        author="pullcord",
        at=datetime(2026, 11, 30, tzinfo=UTC),
    )


def test_the_same_plan_differs_in_nothing() -> None:
    assert compare(plan(TEXT), plan(TEXT)).is_same


def test_what_is_made_from_a_changed_step_counts_as_changed_too() -> None:
    differs = compare(plan(TEXT), plan(TEXT.replace("a.md", "b.md")))
    assert differs.changed == ("notes", "brief", "post")
    assert differs.words() == "3 changed"


def test_added_removed_and_kept_steps_are_told_apart() -> None:
    differs = compare(plan(TEXT), plan(TEXT.replace("brief:", "short:").replace("{{brief.", "{{short.") + "\nnow: time.now"))
    assert (differs.added, differs.changed, differs.removed, differs.kept) == (("short", "now"), ("post",), ("brief",), ("notes",))


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        ("a: files.read path=x", "a: files.read path=y", {"args.path"}),
        ("a: files.read path=x", "a: files.list path=x", {"tool"}),
        ("a: files.read path=x", "a: files.read path=x timeout=9", {"timeout_s"}),
        ("a: files.read path=x on_failure=stop", "a: files.read path=x", {"on_failure"}),
        ("a: files.read path=x !break", "a: files.read path=x", {"breakpoint"}),
        ("a: files.read path=x", "a: files.read path=x !break", set()),
    ],
)
def test_each_kind_of_difference_has_its_name_and_one_more_breakpoint_is_none(before: str, after: str, fields: set[str]) -> None:
    assert set(changes(plan(before).steps[0], plan(after).steps[0])) == fields


def test_a_step_that_waited_only_for_one_that_is_gone_is_as_it_was_if_the_order_of_the_others_is() -> None:
    old = plan("g: files.read path=g\nb: files.read path=b after=g\nc: files.read path=c after=b")
    assert compare(old, plan("g: files.read path=g\nc: files.read path=c after=g")).kept == ("g", "c")
    assert compare(old, plan("g: files.read path=g\nc: files.read path=c")).changed == ("c",)


def test_only_what_is_new_changed_or_riskier_is_asked_and_what_only_reads_goes_on_by_policy() -> None:
    old = revision(TEXT)
    more = revision(TEXT + '\nalso: slack.post_message channel=#general text="{{brief.summary}}"\nlook: files.read path=c.md', 2)
    assert asked(old, more, CATALOGUE) == ("also",)
    assert asked(old, revision("notes: files.read path=a.md", 2), CATALOGUE) == ()
    assert level_of(more, ("also",)) == more.grades["also"].level


def test_a_step_that_is_done_is_not_asked_whatever_became_of_its_tool() -> None:
    old = revision(TEXT)
    redefined = revision(TEXT, 2, tools="other")
    assert asked(old, redefined, CATALOGUE) == ("post",)
    assert asked(old, redefined, CATALOGUE, done=["post"]) == ()


def test_a_step_that_became_riskier_is_asked_again_although_it_says_the_same() -> None:
    old, new = revision(TEXT), revision(TEXT, 2)
    post = StepId("post")
    grades = {**new.grades, post: new.grades[post].model_copy(update={"level": Level.HIGH})}
    assert asked(old.model_copy(update={"grades": {**old.grades, post: old.grades[post].model_copy(update={"level": Level.LOW})}}),
                 new.model_copy(update={"grades": grades}), CATALOGUE) == ("post",)  # fmt: skip


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True), st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True))
def test_every_step_is_in_exactly_one_group(old: list[str], new: list[str]) -> None:
    def made(names: list[str]) -> Plan:
        return Plan.model_validate({"goal": "g", "steps": [{"id": name, "tool": "files.read", "args": {"path": name}} for name in names]})

    differs = compare(made(old), made(new))
    assert sorted([*differs.kept, *differs.added, *differs.changed]) == sorted(new)
    assert sorted(differs.removed) == sorted(set(old) - set(new))

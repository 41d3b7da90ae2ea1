"""What a running run does next once values are known: the same grade changes nothing, a stricter one asks, a denied one never runs."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.core.facts import NOTHING, Facts
from bot.core.grading import grade, grades
from bot.core.ids import Digest, RunId, short
from bot.core.judging import as_data, as_held, held_grade
from bot.core.plan import Plan, Step, digest, fingerprint
from bot.core.policy import Policy
from bot.core.readiness import Next, Scene, decide
from bot.core.risk import Grade, Level, Mode
from bot.core.run import Event, Hold, Run, RunStatus, StepStatus
from bot.core.snapshot import Entry
from tests.core.grading_cases import TOOLS, WORLD, drawn, written

NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)
WRITE = "notes: files.read path=notes.md; it: files.write path={{notes.text}} text=x"
TELL = "notes: files.read path=notes.md; it: slack.post_message channel={{notes.text}} text=x"


def scene(
    plan: Plan, policy: Policy, found: Any, *, facts: Facts = NOTHING, now: Policy | None = None, passed: tuple[str, ...] = ()
) -> Scene:
    """The first step has returned `found` as its text; the plan was graded by `policy`, and is judged by `now` (else the same)."""
    tools = {step.tool: TOOLS[step.tool].digest for step in plan.steps}
    whole = digest(plan, tools)

    def judge(step: Step, args: Mapping[str, Any]) -> Grade:
        filled = step.model_copy(update={"args": dict(args)})
        return grade(filled, plan, TOOLS, now or policy, facts, filled=True)

    run = Run(id=RunId("R-TEST"), status=RunStatus.RUNNING, approved=whole, digest=whole, passed=passed, created_at=NOW, updated_at=NOW)
    states = {step.id: StepStatus.SUCCEEDED if place == 0 else StepStatus.PENDING for place, step in enumerate(plan.steps)}
    stored = {each.step: each for each in grades(plan, TOOLS, policy)}
    return Scene(run, plan, states, {plan.steps[0].id: {"text": found}}, stored, TOOLS, tools, whole, judge=judge)


def after(plan: str, rules: str, found: Any, **more: Any) -> Next:
    return decide(scene(drawn(plan), written(rules), found, **more), room=5)


RULE = "rules: [{{when: {{path: 'prod/*'}}, {}, name: prod, why: it is production}}]"


def test_values_that_make_no_difference_change_nothing() -> None:
    found = after(WRITE, RULE.format("risk: high"), "test/a.md", now=written("rules: [{when: {path: 'prod/*'}, mode: deny}]"))
    assert found == Next(hold=Hold.CONFIRM, held_step=found.held_step, held_args={"path": "test/a.md", "text": "x"}), "high, late: as ever"
    assert after(WRITE, "scopes: {paths: ['test/*']}", "test/a.md").starts[0][1] == {"path": "test/a.md", "text": "x"}


@pytest.mark.parametrize(("says", "level", "mode"), [("risk: high", Level.HIGH, Mode.ASK), ("mode: confirm", Level.MEDIUM, Mode.CONFIRM)])
def test_values_that_a_stricter_rule_fits_hold_the_step_and_say_why(says: str, level: Level, mode: Mode) -> None:
    found = after(WRITE, "", "prod/a.md", now=written(RULE.format(says)))
    assert (found.hold, found.held_step, found.held_args) == (Hold.CONFIRM, "it", {"path": "prod/a.md", "text": "x"})
    assert found.held_grade is not None
    assert (found.held_grade.level, found.held_grade.mode, found.held_grade.confirms) == (level, mode, True)
    assert found.held_grade.reasons[0] == "it is production"
    assert found.held_grade.rules == ("prod",)


def test_a_filling_that_was_confirmed_runs_and_another_one_asks_again() -> None:
    passed = (f"it:{short(fingerprint({'path': 'prod/a.md', 'text': 'x'}))}",)
    strict = written(RULE.format("risk: high"))
    assert after(WRITE, "", "prod/a.md", now=strict, passed=passed).starts
    assert after(WRITE, "", "prod/b.md", now=strict, passed=passed).hold is Hold.CONFIRM


def test_values_that_are_denied_never_run_whoever_has_confirmed_them() -> None:
    passed = (f"it:{short(fingerprint({'path': 'prod/a.md', 'text': 'x'}))}",)
    found = after(WRITE, "", "prod/a.md", now=written(RULE.format("mode: deny")), passed=passed)
    assert found.fails == (("it", "the policy does not allow files.write here: it is production (prod)"),)
    assert not found.starts


OUT = "scopes: {paths: ['out/*']}"


@pytest.mark.parametrize(
    ("plan", "rules", "value", "says"),
    [
        (WRITE, OUT, "out/../in/x", "out/../in/x is not among the paths that the policy allows (scopes.paths)"),
        (WRITE, OUT, "/etc/passwd", "/etc/passwd is not among the paths that the policy allows (scopes.paths)"),
        (WRITE, OUT, "{{notes.text}}", "{{notes.text}} is not among the paths that the policy allows (scopes.paths)"),
        (TELL, "scopes: {channels: ['#ops']}", "#0ps", "#0ps is not among the channels that the policy allows (scopes.channels)"),
        (
            "notes: files.read path=notes.md; it: http.request url=https://{{notes.text}}/",
            "scopes: {hosts: [good.example]}",
            "good.example@evil.example",
            "evil.example is not among the hosts that the policy allows (scopes.hosts)",
        ),
    ],
)
def test_a_place_from_data_that_is_out_of_scope_is_never_reached(plan: str, rules: str, value: str, says: str) -> None:
    """C062, C063: what a step returned cannot lead outside."""
    tool = drawn(plan).steps[-1].tool
    assert after(plan, rules, value).fails == (("it", f"the policy does not allow {tool} here: {says}"),)


@pytest.mark.parametrize(
    ("value", "reason"),
    [("#general", "300 people read #general"), ("#partners", "people from outside read #partners"), ("#ops", None), ("#unknown", None)],
)
def test_a_channel_that_data_has_chosen_is_judged_by_whom_it_reaches(value: str, reason: str | None) -> None:
    found = after(TELL, "", value, facts=WORLD)
    if reason is None:
        assert found.starts
    else:
        assert found.held_grade is not None
        assert found.held_grade.reasons[0] == reason


def test_without_a_judge_the_stored_grades_decide() -> None:
    bare = replace(scene(drawn(WRITE), written(""), "prod/a.md", now=written(RULE.format("mode: deny"))), judge=None)
    assert decide(bare, room=5).starts


def test_what_the_values_made_of_a_step_is_read_back_from_the_record() -> None:
    stored = grades(drawn(WRITE), TOOLS, written(""))[1]
    risen = after(WRITE, "", "prod/a.md", now=written(RULE.format("risk: high"))).held_grade
    assert risen is not None
    filling = fingerprint({"path": "prod/a.md", "text": "x"})

    def held(seq: int, data: dict[str, Any]) -> Entry:
        return Entry(run="R-TEST", seq=seq, at=NOW, actor="pullcord", event=Event.HELD, data={"step": "it", **data}, hash="")

    entries = [held(1, {"filling": "00000000"}), held(2, {"filling": short(filling), **as_data(risen)})]
    assert held_grade(entries, stored, filling=filling) == risen
    assert held_grade(entries, stored, filling="0" * 64) == stored
    assert as_held(stored, {}) == stored
    assert as_data(None) == {}


def test_the_stored_plan_must_still_be_the_one_that_was_approved() -> None:
    found = decide(replace(scene(drawn(WRITE), written(""), "a.md"), digest=Digest("another")), room=5)
    assert found.fails == (("it", "the stored plan is not the one that was approved"),)

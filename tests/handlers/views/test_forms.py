"""The edit forms: as their golden files have them, within Slack's limits, and with nothing in them that Slack would read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.drafts import Fault
from bot.core.plan import Plan, Step, numbered
from bot.core.run import RunStatus
from bot.workspace.block_kit.limits import check_view
from handlers import edits
from handlers.views import edit_fields, edit_notices, edit_step_form, edit_steps, edit_text
from handlers.views.edit_steps import Unsaved
from tests.handlers.views import forms, rules
from tests.handlers.views.stage import CATALOGUE, SMALL, scene
from tests.handlers.views.test_hostile import MARKED, hostile_plan
from tests.handlers.views.test_modals import good

GOLDEN = Path(__file__).parent / "golden" / "forms"
EVERY = pytest.mark.parametrize(("name", "draw"), list(forms.every().items()), ids=list(forms.every()))


def strict(view: Any) -> Any:
    """As Slack would take it: by our own rules, and by those of the local workspace."""
    assert check_view(view) == []
    return good(view)


@EVERY
def test_a_form_is_drawn_as_its_golden_file_has_it(name: str, draw: Callable[[], Any], regenerate: bool) -> None:
    drawn = json.dumps(draw(), ensure_ascii=False, indent=1) + "\n"
    place = GOLDEN / f"{name}.json"
    if regenerate:
        place.parent.mkdir(exist_ok=True)
        place.write_text(drawn, encoding="utf-8")
    assert place.read_text(encoding="utf-8") == drawn


def test_no_golden_file_of_a_form_is_left_over() -> None:
    assert {place.stem for place in GOLDEN.glob("*.json")} == set(forms.every())


@EVERY
def test_a_form_is_what_slack_takes(name: str, draw: Callable[[], Any]) -> None:
    view = strict(draw())
    for text in rules.mrkdwns(view["blocks"]):
        rules.only_ours(text)
    rules.risk_has_its_word(view["blocks"])


def views_of(plan: Plan) -> list[Any]:
    given_scene = scene(RunStatus.IN_REVIEW, plan, revisions=(forms.revised(plan),))
    faults = [Fault(step=step.id, says=str(step.args), fix=step.purpose) for step in plan.steps]
    unsaved = Unsaved(base=forms.revised(plan), differs=[(1, plan.steps[0].purpose)], faults=faults)
    found: list[Any] = [edit_steps.edit_steps(given_scene, unsaved)]
    found.append(edit_steps.edit_steps(given_scene, unsaved, note=edit_steps.noted("*Not saved: 4 faults.*", edit_steps.says(faults[0]))))
    for step in plan.steps:
        fields = edit_fields.fields(CATALOGUE[step.tool], step.args, plan=plan)
        found.append(edit_step_form.step_form(given_scene, step, fields, base=1, others=list(plan.steps[:2])))
        found.append(edit_step_form.argument_form(given_scene, step, edit_fields.fields(None, step.args, plan=None), filling="c41f09d2"))
    found.append(edit_text.text_form(given_scene, plan, base=1, terms="Revision 1"))
    found.append(edit_notices.remove_form(given_scene, plan.steps[0], plan.steps[1:2], base=1))
    return [*found, edit_notices.too_late(given_scene, plan, edits.without(plan, {"post"}), base=1)]


@settings(max_examples=25)
@given(st.fixed_dictionaries(MARKED))
def test_no_outside_text_in_a_form_is_read_by_slack_and_hidden_characters_are_shown(words: dict[str, str]) -> None:
    """C012, C035: in rows, hints, fields, menus, boxes."""
    for view in views_of(hostile_plan(words)):
        strict(view)
        for text in rules.mrkdwns(view["blocks"]):
            rules.only_ours(text)
        begun = [part["initial_value"] for part in rules.walk(view["blocks"]) if isinstance(part.get("initial_value"), str)]
        for text in [*rules.texts(view["blocks"]), *begun]:
            assert not set(text) & set("\u202e\u200b\u0000"), text


def test_a_long_plan_keeps_to_slacks_number_of_blocks_and_says_what_is_left_out() -> None:
    plan = numbered(Plan(goal="Much", steps=tuple(Step(id=f"s{n}", tool="files.read", args={"path": str(n)}) for n in range(120))))
    view = strict(edit_steps.edit_steps(scene(RunStatus.IN_REVIEW, plan), Unsaved(base=forms.revised(plan))))
    assert any("and 35 more steps" in text for text in rules.texts(view["blocks"]))
    done = frozenset(f"s{n}" for n in range(100))
    view = strict(edit_steps.edit_steps(scene(RunStatus.PAUSED, plan), Unsaved(base=forms.revised(plan), fixed=done)))
    assert any("Steps 1 to 100 have run and stay as they are." in text for text in rules.texts(view["blocks"]))
    assert sum("accessory" in block for block in view["blocks"]) == 20


def test_a_plan_too_long_for_a_form_says_so() -> None:
    plan = numbered(Plan(goal="Much", steps=(Step(id="w", tool="files.write", args={"path": "a", "text": "word " * 9_000}),)))
    view = strict(edit_text.text_form(scene(RunStatus.IN_REVIEW, plan), plan, base=1, terms="Revision 1"))
    assert "submit" not in view
    assert any("too long for a form" in text for text in rules.texts(view["blocks"]))
    fields = edit_fields.fields(CATALOGUE["files.write"], plan.steps[0].args, plan=plan)
    form = strict(edit_step_form.step_form(scene(RunStatus.IN_REVIEW, plan), plan.steps[0], fields, base=1))
    assert "text: 45,000 characters, too long for a form. It stays as it is." in rules.texts(form["blocks"])


@given(st.lists(st.text(st.sampled_from("ab \n\té👩🏽‍🔧"), max_size=40), max_size=30).map("".join).map(lambda text: (text + "word\n") * 20))
def test_a_text_in_parts_is_the_very_same_text(text: str) -> None:
    parts = list(edit_fields.in_parts(text, 120))
    assert "".join(parts) == text
    assert all(len(part) <= 140 for part in parts)


def test_a_text_over_several_fields_is_read_as_one_plan_with_each_line_in_its_place() -> None:
    long = SMALL.step("post").model_copy(update={"args": {"channel": "#ops", "text": "word " * 1_500}})
    plan = edits.put(SMALL, long)
    sheets = edit_text.sheets(plan)
    values = {f"notation.{place}{'.more' if sheet.more else ''}": sheet.text for place, sheet in enumerate(sheets, start=1)}
    typed = edit_text.typed(values)
    assert len(sheets) == 4
    assert typed.text.count("\n") == 3
    assert typed.text.replace("\n", "") == "".join(sheet.text for sheet in sheets).replace("\n", "")
    assert typed.place(4) == ("notation.2", 1)
    assert typed.place(99) == ("notation.2", 1)

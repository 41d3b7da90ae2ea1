"""Sixty steps, one of them risky: it stands first and is counted, and nobody says yes before the whole list was opened."""

from dataclasses import replace
from typing import Any

from bot.core.facts import NOTHING, Reach
from bot.core.grading import grades
from bot.core.plan import Plan, Step, numbered
from bot.core.policy import default
from bot.core.run import RunStatus
from handlers.views import ids, pages, plan_body
from handlers.views.review_card import review_card
from handlers.views.scene import Scene, message
from tests.doubles.town import text_of
from tests.handlers.views.stage import CATALOGUE, at, scene

OFFERS = frozenset({"ask", "breakpoint"})
SIXTY = numbered(
    Plan(
        goal="Look through the sources and roll out",
        steps=(
            *(Step(id=f"r{n}", purpose="Read one", tool="files.read", args={"path": f"src/module_{n}.py"}) for n in range(57)),
            Step(id="note", purpose="Keep it", tool="files.write", args={"path": "out.md", "text": "done"}),
            Step(id="deploy", purpose="Roll out", tool="site.deploy", args={"env": "prod", "version": "1"}),
            Step(id="last", purpose="Read one more", tool="files.read", args={"path": "src/last.py"}),
        ),
    )
)
WORLD = replace(NOTHING, reach={"#general": Reach(people=1204, external=True, name="general")}, approved_before=frozenset())


def under_review(plan: Plan, **facts: Any) -> Scene:
    found = {str(grade.step): grade for grade in grades(plan, CATALOGUE, default("team"), **facts)}
    level = max((grade.level for grade in found.values()), key=lambda level: level.rank)
    made = scene(RunStatus.IN_REVIEW, plan, run_fields={"risk": level, "deadline": at(900)})
    return replace(made, snapshot=made.snapshot.model_copy(update={"grades": found}))


def buttons(made: dict[str, Any]) -> list[str]:
    return [element["action_id"] for block in made["blocks"] for element in block.get("elements", []) if "action_id" in element]


def test_a_card_of_sixty_steps_counts_them_and_has_no_approve() -> None:
    given = under_review(SIXTY)
    card = message(review_card(given, offers=OFFERS), given, kind="review", version=1, key="k")
    said = text_of(card)

    assert "High risk: 1 of 60" in said
    assert "60 steps: 1 high, 1 medium, 58 low" in said
    assert said.index("High risk · 1 step") < said.index("Medium risk · 1 step") < said.index("Low risk · 58 steps")
    assert ids.REVIEW_APPROVE not in buttons(card)
    assert ids.REVIEW_SHOW_ALL in buttons(card)


def test_its_pages_end_in_approve_for_one_who_has_opened_all_of_them() -> None:
    given = under_review(SIXTY)
    total = pages.page_count(given)
    assert total > 1
    for page in range(1, total + 1):
        view = pages.show_all(given, page, may_approve=True, opened_all=page == total)
        assert ("submit" in view) is (page == total)
    assert "submit" not in pages.show_all(given, total, may_approve=True, opened_all=False)
    assert "submit" not in pages.show_all(given, total, may_approve=False, opened_all=True)
    every = [text_of(pages.show_all(given, page)) for page in range(1, total + 1)]
    assert all(any(str(step.args.get("path", "prod")) in said for said in every) for step in SIXTY.steps)


def test_many_reasons_read_as_one_sentence_with_the_weightiest_first_and_their_rules_behind_show_all() -> None:
    step = Step(id="tell", tool="slack.post_message", args={"channel": "#general", "text": "pay\u202e"})
    given = under_review(numbered(Plan(goal="Tell everybody", steps=(step,))), facts=WORLD)
    block, whole = plan_body.step_block(given, given.plan.steps[0], in_full=True, rules=True)
    said = text_of({"blocks": [block]})

    assert whole
    why = said[said.index("Why high") :]
    order = [
        "its text holds characters that cannot be seen; people from outside read #general; it sends words to ",
        "; 1,204 people read #general; nobody here has approved slack.post_message before.",
    ]
    assert 0 < why.index(order[0]) < why.index(order[1])
    assert "built-in: hidden characters" in said
    assert "built-in: reach" in said
    assert "built-in: novelty" not in said, "it only says something"

"""Outside text can do nothing but be read (C005, C012, C035): in every place where it may stand, on every card."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.core.plan import Plan, Step, numbered
from bot.core.run import Event, Hold, RunStatus, StepStatus
from bot.core.snapshot import Answer, Attempt
from handlers.views import answer, audit_post, confirm_card, notes, pages, review_card, run_card, slash
from handlers.views.scene import Card, Scene
from tests.handlers.views import corded, rules
from tests.handlers.views.stage import ADMIN, APPROVER, MEMBER, REQUESTER, at, entry, held, scene, standing, yes

BITS = [
    *(
        "<!channel>",
        "<!here>",
        "<@U0EVIL>",
        "<!subteam^S0EVIL>",
        "<https://evil.example|https://bank.example>",
        "&",
        "&amp;",
        "<",
        ">",
        "|",
    ),
    *("*b*", "_i_", "~s~", "`c`", "```", "\n", "\r\n", "\t", "\u202e", "\u200b", "\u2066", "\u0000", "\ue000", "\ue001", "[1]", "[99]"),
    *(
        "{{config.text}}",
        "{{secret:KEY}}",
        "🔺 High risk",
        "👩🏽‍🔧",
        "🇩🇪",
        "e\u0301",
        "שלום",
        "مرحبا",
        "設定の変更",
        "a",
        "word ",
        " ",
        "]] ",
    ),
    *("x" * 90, "y" * 700, "z\n" * 30),
]
HOSTILE = st.lists(st.one_of(st.sampled_from(BITS), st.text(st.characters(exclude_categories=("Cs",)), max_size=8)), max_size=8).map(
    "".join
)
MARKED = {
    name: HOSTILE.map(lambda text, name=name: f"{name}{text}") for name in ("GOAL", "PURPOSE", "VALUE", "FOUND", "ERROR", "REASON", "NAME")
}


def hostile_plan(words: dict[str, str]) -> Plan:
    purpose, value = words["PURPOSE"][:110], words["VALUE"]
    return numbered(
        Plan(
            goal=words["GOAL"][:230],
            steps=(
                Step(id="config", purpose=purpose, tool="files.read", args={"path": value}),
                Step(id="write", purpose=purpose, tool="files.write", args={"path": value, "text": f"{value} {{{{config.text}}}}"}),
                Step(id="post", purpose=purpose, tool="slack.post_message", args={"channel": value, "text": value}),
                Step(
                    id="deploy", purpose=purpose, tool="site.deploy", args={"env": value, "version": "{{config.text}}", value[:40]: [value]}
                ),
            ),
        )
    )


def drawn(words: dict[str, str]) -> list[Card]:
    """Cards on which each of these words stands somewhere."""
    plan = hostile_plan(words)
    names = {"names": {REQUESTER: words["NAME"], APPROVER: words["NAME"]}}
    bad = {"error": words["ERROR"]}
    found = {"value": {"text": words["FOUND"]}, "says": words["FOUND"][:60], "untrusted": True}
    done = standing(plan.steps[0], StepStatus.SUCCEEDED, observation=found, finished_at=at(311))
    steps = (
        done,
        standing(plan.steps[1], StepStatus.FAILED, **bad),
        standing(plan.steps[2], StepStatus.RUNNING, progress=words["FOUND"][:100]),
        standing(plan.steps[3], StepStatus.IN_DOUBT, args=dict(plan.steps[3].args)),
    )
    entries = (
        entry(4, Event.CANCELLED, APPROVER, reason=words["REASON"]),
        entry(5, Event.PAUSE_ASKED, MEMBER),
        entry(6, Event.CONFIRM_REFUSED, APPROVER, step="deploy", reason=words["REASON"]),
        entry(7, Event.HAPPENED, APPROVER, step="deploy", note=words["REASON"]),
        entry(8, Event.CLICK_REFUSED, MEMBER, did=words["REASON"], kind=words["REASON"], facts="{}"),
    )
    common: dict[str, Any] = {"steps": steps, "entries": entries, "scene_fields": names}
    made = [run_card.run_card(scene(status, plan, **common)) for status in RunStatus if status is not RunStatus.PLANNING]
    made += [run_card.run_card(held(reason, step, plan, **common)) for reason in Hold for step in ("write", "deploy")]
    made += [
        review_card.review_card(scene(status, plan, **common)) for status in (RunStatus.IN_REVIEW, RunStatus.CANCELLED, RunStatus.EXPIRED)
    ]
    failed = Attempt(round=1, ok=False, raw="", faults=(words["ERROR"],))
    made.append(run_card.run_card(scene(RunStatus.FAILED, None, attempts=(failed,), scene_fields=names)))
    stands = held(Hold.STEP_FAILED, "write", plan, **common)
    made += [notes.note_card(stands, {"kind": kind, "reason": "step_failed", "step": "write"}) for kind in ("needs_you", "status")]
    values = {"path": words["FOUND"], "text": words["FOUND"]}
    preview = {"target": words["FOUND"], "facts": [words["FOUND"]], "before": words["VALUE"], "after": words["FOUND"]}
    made += [
        confirm_card.confirm_card(waiting(plan, values, common), "write", args=values, digest="c41f09d2", preview=shown)
        for shown in (preview, None)
    ]
    made += [audit_post.audit_post(scene(RunStatus.RUNNING, plan, **common), one) for one in entries]
    said = Answer(text=f"{words['FOUND']} It is so [1]. {words['REASON']}", cites=("config",), by="a-model")
    for closing in (said, Answer(text="report")):
        made += answer.answer_cards(scene(RunStatus.SUCCEEDED, plan, answer=closing, **common))
    made.append(slash.done(scene(RunStatus.RUNNING, plan, **common), word="pause"))
    return made + corded.hostile(plan, words, common)


def waiting(plan: Plan, values: dict[str, Any], common: dict[str, Any]) -> Scene:
    steps = (common["steps"][0], standing(plan.steps[1], args=values), *common["steps"][2:])
    return held(Hold.CONFIRM, "write", plan, **{**common, "steps": steps})


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.fixed_dictionaries(MARKED))
def test_no_outside_text_is_ever_read_by_slack(words: dict[str, str]) -> None:
    """C012: no mention, no broadcast, no masked link, no style, wherever the text stands; and every limit holds (C005)."""
    for card in drawn(words):
        rules.check(card)
        for part in rules.walk(card.blocks):
            assert part.get("type") != "user" or part["user_id"] in (REQUESTER, APPROVER, MEMBER, ADMIN)
            assert part.get("type") != "link" or part["url"].startswith("https://example.slack.com/")
            assert part.get("type") not in ("emoji", "usergroup", "broadcast", "channel")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.fixed_dictionaries(MARKED))
def test_no_outside_text_speaks_in_a_voice_that_is_not_its_own(words: dict[str, str]) -> None:
    """Italic is the planner's, bold is ours (and names what a step touches), code is a literal value."""
    for card in drawn(words):
        for part in rules.walk(card.blocks):
            style, text = part.get("style"), part.get("text")
            if not isinstance(style, dict) or not isinstance(text, str):
                continue
            if style.get("italic"):
                assert not any(mark in text for mark in ("VALUE", "FOUND", "ERROR", "REASON")), text
            if style.get("bold") and not style.get("italic"):
                assert not any(mark in text for mark in ("PURPOSE", "FOUND", "ERROR", "REASON")), text


@settings(max_examples=25, deadline=None)
@given(st.fixed_dictionaries(MARKED))
def test_hidden_characters_are_shown(words: dict[str, str]) -> None:
    """C035: what a reader cannot see is written out, on cards and in modals."""
    plan = hostile_plan(words)
    given_scene = scene(RunStatus.IN_REVIEW, plan, approvals=(yes(),))
    views = [review_card.review_card(given_scene).blocks, pages.show_all(given_scene)["blocks"]]
    for blocks in views:
        for text in rules.texts(blocks):  # type: ignore[arg-type]
            assert not set(text) & set("\u202e\u200b\u2066\u0000"), text


def test_a_limit_is_kept_by_cutting_between_characters_and_saying_so() -> None:
    """C005: a 12,000-character argument, a goal and a purpose at their limits; the card posts, says what is cut, and cannot be approved."""
    sql = "SELECT 👩🏽‍🔧 FROM t; " * 600
    plan = numbered(Plan(goal="g" * 230, steps=(Step(id="q", purpose="p" * 120, tool="files.read", args={"path": sql}),)))
    card = review_card.review_card(scene(RunStatus.IN_REVIEW, plan))
    rules.check(card)
    assert any("the first" in text and "characters" in text for text in rules.texts(card.blocks))
    assert "review.approve" not in [button["action_id"] for button in rules.buttons(card.blocks)]


def test_words_that_are_only_blanks_leave_no_empty_text() -> None:
    plan = numbered(Plan(goal=" \n ", steps=(Step(id="q", purpose="  ", tool="files.read", args={"path": "", " ": " "}),)))
    for status in (RunStatus.IN_REVIEW, RunStatus.RUNNING, RunStatus.SUCCEEDED):
        rules.check(run_card.run_card(scene(status, plan, scene_fields={"names": {REQUESTER: " "}})))
    rules.check(review_card.review_card(scene(RunStatus.IN_REVIEW, plan)))
    rules.check(audit_post.audit_post(scene(RunStatus.RUNNING, plan), entry(1, Event.APPROVED, APPROVER)))

"""What the cards of a pulled cord promise: the difference is shown, a yes covers what is asked, and each state says the next move."""

from typing import Any

import pytest

from bot.core.completeness import is_complete
from bot.core.plan import Plan, numbered
from bot.core.risk import Level
from bot.core.run import Event, Hold, Redirect, RunStatus, StepStatus
from handlers.views import audit_post, changes, home, ids, pages, receipts, redirect_card, refusals, replies, review_card, run_card
from handlers.views.scene import Card, Scene
from tests.handlers.views import corded, rules
from tests.handlers.views.stage import (
    ADMIN,
    APPROVER,
    APPROVER2,
    FREEZE,
    REQUESTER,
    REST,
    RISKY,
    SKIPPED,
    SMALL,
    asked,
    at,
    entry,
    finished,
    held,
    proposed,
    redirected,
    revision,
    scene,
    standing,
    states,
)


def said(card: Card) -> str:
    """Everything on a card, a line for each text, with the parts of a line of rich text joined."""
    lines = []
    for part in rules.walk(card.blocks):
        pieces = [piece for piece in part.get("elements", []) if isinstance(piece, dict) and isinstance(piece.get("text"), str)]
        lines += ["".join(piece["text"] for piece in pieces)] if pieces else []
        lines += [part["text"]] if part.get("type") in ("mrkdwn", "plain_text") else []
    return "\n".join(lines)


def pressed(card: Card) -> dict[str, str]:
    return {button["action_id"]: button.get("style", "") for button in rules.buttons(card.blocks)}


# the redirect card


def test_what_is_asked_stands_first_and_in_full() -> None:
    lines = said(corded.redirect(redirected(Redirect.REVIEW, proposed())))
    order = [
        "Added · 1",
        "5 · Sends a message to #general",
        "Changed · 1",
        "4 · Sends a message to #ops",
        "Removed · 1",
        "Kept · 2, not asked again",
    ]
    assert [lines.index(words) for words in order] == sorted(lines.index(words) for words in order)
    assert "text: request_timeout is now 60 s" in lines
    assert "text: from 3 · brief → from 1 · config, with words around it" in lines


def test_approvals_count_for_what_is_asked_only() -> None:
    lines = said(corded.redirect(redirected(Redirect.REVIEW, proposed(steps=("everyone",)))))
    assert "*Approvals:* 0 of 1, for step 5 only" in lines
    assert "1 of 1 asked" in lines
    assert "Changed · 1, not asked" in lines


@pytest.mark.parametrize("plan", [REST, SKIPPED, corded.MANY, RISKY])
def test_a_redirect_card_never_shows_an_approve_that_the_rules_would_refuse(plan: Plan) -> None:
    """P2: what is not shown in full cannot be approved from the card."""
    steps = tuple(step.id for step in plan.steps)
    moves = pressed(corded.redirect(redirected(Redirect.REVIEW, proposed(steps=steps), plan=plan)))
    assert (ids.REVIEW_APPROVE in moves) <= is_complete(plan)
    assert moves[ids.REVIEW_APPROVE if ids.REVIEW_APPROVE in moves else ids.REVIEW_SHOW_ALL] == "primary"


def test_the_new_rest_can_be_read_in_full_and_approved_on_the_last_page() -> None:
    given = redirected(Redirect.REVIEW, proposed(steps=tuple(f"say{n}" for n in range(15))), plan=corded.MANY)
    total = pages.page_count(given, 2)
    assert total > 1
    view = pages.show_all(given, total, may_approve=True, opened_all=True, revision=2)
    assert view["submit"] == {"type": "plain_text", "text": "Approve", "emoji": True}
    assert view["private_metadata"] == "R-7K2Q.2"
    assert "submit" not in pages.show_all(given, 1, may_approve=True, revision=1)


def test_a_step_that_only_got_riskier_is_among_the_changed_ones_with_its_reason() -> None:
    grade = revision(1).grades["brief"]
    same = redirected(Redirect.REVIEW, proposed(steps=("brief",)), plan=SMALL)
    old = revision(1).model_copy(update={"grades": {**revision(1).grades, "brief": grade}})
    risky = revision(2).model_copy(update={"grades": {**revision(2).grades, "brief": grade.model_copy(update={"level": Level.MEDIUM})}})
    given = Scene(**{**vars(same), "snapshot": same.snapshot.model_copy(update={"revisions": (old, risky)})})
    lines = said(corded.redirect(given))
    assert "Changed · 1" in lines
    assert "risk: low → medium" in lines
    assert "Kept · 3" in lines


def test_who_made_the_change_is_named_as_one_who_may_not_approve_it() -> None:
    by_hand = redirected(Redirect.REVIEW, proposed())
    made = tuple(one.model_copy(update={"author": APPROVER2}) if one.revision == 2 else one for one in by_hand.snapshot.revisions)
    given = Scene(**{**vars(by_hand), "snapshot": by_hand.snapshot.model_copy(update={"revisions": made})})
    assert "not <https://example.slack.com/team/U0APPROVER2|approver2> (it is their change)" in said(corded.redirect(given))
    high = redirected(Redirect.REVIEW, proposed(steps=("deploy",)), plan=RISKY)
    assert "not <https://example.slack.com/team/U0REQUESTER|requester> (it is their change)" in said(corded.redirect(high))


def test_a_reply_counts_as_it_is_now() -> None:
    """C015, C016: an edited reply shows its new words, a deleted one is gone."""
    first, second = asked(9, "skip post"), asked(10, "and tell #general")
    edited = entry(11, Event.REDIRECT_ASKED, REQUESTER, how="edited", ts=first.data["ts"], text="skip brief")
    gone = entry(12, Event.REDIRECT_ASKED, REQUESTER, how="gone", ts=second.data["ts"], text="")
    base = redirected(Redirect.PLANNING)
    snapshot = base.snapshot.model_copy(update={"entries": (first, second, edited, gone)})
    lines = said(run_card.run_card(Scene(**{**vars(base), "snapshot": snapshot})))
    assert "skip brief" in lines
    assert "skip post" not in lines
    assert "and tell #general" not in lines


def test_a_later_reply_stands_below_the_earlier_one() -> None:
    base = redirected(Redirect.PLANNING, asked(10, "and then stop", seconds=370))
    lines = said(run_card.run_card(base))
    assert lines.index("skip the summary") < lines.index("and then stop")


@pytest.mark.parametrize("reason", [Hold.PERSON, Hold.FREEZE])
@pytest.mark.parametrize("redirect", list(Redirect))
def test_a_run_that_somebody_holds_says_both_while_its_rest_is_changed(reason: Hold, redirect: Redirect) -> None:
    later = (proposed(), entry(12, Event.PAUSE_ASKED, APPROVER, seconds=420))
    card = run_card.run_card(redirected(redirect, *later, reason=reason, freeze=FREEZE if reason is Hold.FREEZE else None))
    rules.check(card)
    assert ("Paused by" in said(card)) == (reason is Hold.PERSON)
    assert ("froze Pullcord" in said(card)) == (reason is Hold.FREEZE)
    assert (ids.RUN_RESUME in pressed(card)) == (reason is Hold.PERSON)
    assert {ids.RUN_NEVER_MIND, ids.RUN_STOP} <= set(pressed(card))


@pytest.mark.parametrize("status", [RunStatus.RUNNING, RunStatus.PAUSED, RunStatus.ANSWERING, RunStatus.SUCCEEDED, RunStatus.STOPPED])
def test_a_closed_redirect_never_asks(status: RunStatus) -> None:
    for later in ((proposed(), corded.ADOPTED), (corded.AT_ONCE,), (proposed(), entry(13, Event.WITHDRAWN, REQUESTER))):
        card = corded.redirect(redirected(None, *later, reason=Hold.PERSON if status is RunStatus.PAUSED else None, status=status))
        rules.check(card)
        assert set(pressed(card)) <= {ids.REVIEW_SHOW_ALL, ids.RUN_PAUSE, ids.RUN_STOP}


# what is different


def test_a_difference_far_inside_a_long_value_is_seen() -> None:
    long = "the same words again and again, " * 20
    step = SMALL.steps[0]
    old, new = (
        SMALL.model_copy(update={"steps": (step.model_copy(update={"args": {"path": f"{long}{end}"}}),)}) for end in ("left", "right")
    )
    given = scene(RunStatus.IN_REVIEW, new)
    (line,) = changes.of_step(given.under(revision(1, old)), given.under(revision(2, new)), step.id)
    texts = [piece["text"] for piece in line]
    assert texts[1].endswith("left")
    assert texts[3].endswith("right")
    assert all(len(text) <= 80 for text in texts)


def test_a_step_fed_with_something_new_says_so() -> None:
    first = SMALL.steps[0].model_copy(update={"args": {"path": "other.toml"}})
    new = SMALL.model_copy(update={"steps": (first, *SMALL.steps[1:])})
    given = scene(RunStatus.IN_REVIEW, new, run_fields={"revision": 2}, revisions=(revision(1), revision(2, new)))
    lines = said(review_card.review_card(given))
    assert "→ 1 · config  path: app/config.toml → other.toml" in lines
    assert "→ 3 · brief  takes what 1 will bring, which is new" in lines


def test_ask_for_changes_is_gone_when_the_revisions_are_used_up() -> None:
    draw = corded.reviews()
    assert ids.REVIEW_ASK in pressed(draw["review_revised"]())
    assert ids.REVIEW_ASK not in pressed(draw["review_last_revision"]())
    assert ids.REVIEW_ASK not in pressed(draw["review_kept_twice"]()), "what led nowhere was asked for too"


# the receipt


def test_the_receipt_of_a_redirected_run_counts_what_began_and_not_what_was_dropped() -> None:
    new = numbered(SMALL.model_copy(update={"steps": (SMALL.steps[0], SMALL.steps[3])}))
    rows = (finished(SMALL.steps[0]), standing(SMALL.steps[1], StepStatus.CANCELLED), standing(SMALL.steps[2]), standing(new.steps[1]))
    given = scene(
        RunStatus.STOPPED, new, steps=rows, revisions=(revision(1), revision(2, new)), entries=(entry(9, Event.STOP_ASKED, APPROVER),)
    )
    assert receipts.counts(given) == "1 cancelled, 1 finished, 1 not started"
    lines = said(run_card.run_card(given))
    assert "2 · Reads backup/config.toml" in lines
    assert "Writes a summary" not in lines


# freeze


def test_home_shows_the_freeze_on_top_and_thaw_to_admins_only() -> None:
    mine = [scene(RunStatus.SUCCEEDED)]
    for admin in (True, False):
        view = home.home_view(home.Overview(mine=mine, freeze=FREEZE, held=6, may_freeze=admin))
        made = view["blocks"]
        assert isinstance(made, list)
        assert made[0]["text"]["text"] == "⏸️ Frozen: everything is held"
        assert (ids.HOME_THAW in {button["action_id"] for button in rules.buttons(made)}) == admin
        assert sum(button.get("style") == "primary" for button in rules.buttons(made)) <= 1
        rules.within_limits(made)


def test_home_offers_freeze_to_admins_only() -> None:
    for admin in (True, False):
        made = home.home_view(home.Overview(may_freeze=admin))["blocks"]
        assert isinstance(made, list)
        assert (ids.HOME_FREEZE in {button["action_id"] for button in rules.buttons(made)}) == admin


def test_posts_about_the_whole_bot_ping_nobody_and_keep_the_limits() -> None:
    for name, draw in corded.of_the_whole_bot().items():
        card = draw()
        rules.only_ours(card.text)
        for text in rules.mrkdwns(card.blocks):
            rules.only_ours(text)
        rules.within_limits(card.blocks)
        rules.slack_takes_it_back(card.blocks)
        assert rules.pings(card) == [], name


def test_who_is_refused_by_a_freeze_reads_who_and_why_and_gets_the_words_back() -> None:
    facts = {"did": "ask", "by": ADMIN, "at": at(360), "why": "Database move until 15:00.", "words": "post it to #general"}
    lines = said(refusals.refusal("frozen", facts, scene(RunStatus.SUCCEEDED)))
    assert "*Not started: Pullcord is frozen by <https://example.slack.com/team/U0ADMIN|admin>" in lines
    assert "Database move until 15:00." in lines
    assert "post it to #general" in lines


# replies


@pytest.mark.parametrize("status", list(RunStatus))
@pytest.mark.parametrize("kind", [*replies.KINDS, "reply_not_understood", "reply_something_new"])
def test_every_outcome_of_a_reply_has_words_in_every_state(kind: str, status: RunStatus) -> None:
    rules.check(corded.told(scene(status), kind, says="It has not run yet."))


def test_an_answer_from_the_state_does_not_change_with_each_redraw() -> None:
    early, late = (scene(RunStatus.RUNNING, scene_fields={"now": at(seconds)}) for seconds in (320, 900))
    assert corded.told(early, "reply_question", says="It runs.") == corded.told(late, "reply_question", says="It runs.")


def test_the_forms_that_need_no_model_name_steps_of_this_plan() -> None:
    card = corded.told(scene(RunStatus.RUNNING, steps=states(SMALL, 2)), "reply_not_understood")
    forms = [part["text"] for part in rules.walk(card.blocks) if part.get("style") == {"code": True}]
    assert forms[:4] == [
        "skip post",
        'instead post: slack.post_message channel="…" text="…"',
        'add note: files.write path=out.md text="…"',
        "stop after brief",
    ]


@pytest.mark.parametrize("event", list(Event))
def test_every_kind_of_entry_can_be_told_to_the_audit_channel(event: Event) -> None:
    of_revision = {"revision": 2, "proposed": 2, "step": "post", "asked": ["post"], "words": "1 added", "text": "words", "how": "reply"}
    facts: tuple[dict[str, Any], ...] = ({}, of_revision)
    for data in facts:
        rules.check(audit_post.audit_post(redirected(Redirect.REVIEW, proposed()), entry(40, event, APPROVER, **data)))


def test_a_card_of_a_revision_nobody_knows_decides_nothing() -> None:
    assert pressed(redirect_card.redirect_card(held(Hold.PERSON), revision=9)) == {}

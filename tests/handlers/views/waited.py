"""Cards of waits on which the clock has acted, or in which the policy has changed."""

from collections.abc import Callable
from typing import Any

from bot.core.policy import Member
from bot.core.risk import Level
from bot.core.run import Event, Hold, RunStatus
from bot.core.snapshot import Entry
from handlers.views import audit_post, closed_review, notes, reloaded, review_card
from handlers.views.scene import OFFER_ASK_AGAIN, OFFER_BREAKPOINT, Card, Scene
from tests.handlers.views import stage
from tests.handlers.views.stage import at, entry, held, revision, scene, yes

Draws = dict[str, Callable[[], Card]]
E, S = Event, RunStatus
OFFERS = frozenset({OFFER_ASK_AGAIN, OFFER_BREAKPOINT})
ADMIN = Member(id="U0ADMIN")
WAITS = {"deadline": at(1920)}
DUTY = {"escalation": "anyone in <!subteam^S0DUTY>"}
PLANNED = entry(3, E.PLANNED, seconds=120, revision=1)
REMINDED = entry(7, E.REMINDED, "clock", seconds=720, wait="review.1", who=["@ops-leads"])
ESCALATED = entry(8, E.ESCALATED, "clock", seconds=1320, wait="review.1", who=["@duty"])
EXPIRED = entry(9, E.EXPIRED, "clock", seconds=1921, until=at(1920).isoformat(), to="expired")
HELD = entry(6, E.HELD, seconds=120, step="post", reason="confirm", filling="9f2c41d8")
REGRADED = entry(9, E.REGRADED, seconds=900, revision=2, revision_was=1, policy="b" * 64, quorum=2, quorum_was=1, plan_steps=[])
CONFIRM = {"wait": "confirm.post.9f2c41d8"}


def of_runs() -> Draws:
    """Notes, closed cards and audit posts."""
    asked = {"scene_fields": DUTY, "entries": (PLANNED, REMINDED, ESCALATED), "revisions": (revision(1),)}
    waiting = scene(S.IN_REVIEW, run_fields=WAITS, **asked)
    half = scene(S.IN_REVIEW, run_fields=WAITS, approvals=(yes(),), **{**asked, "scene_fields": {**DUTY, "quorum": 2}})
    reminded = REMINDED.model_copy(update={"data": {**CONFIRM, "who": ["@ops-leads"]}})
    held_up = held(Hold.CONFIRM, "post", scene_fields=DUTY, entries=(HELD, reminded))
    over = scene(S.RUNNING, **asked)
    reads = scene(S.IN_REVIEW, run_fields={**WAITS, "risk": Level.LOW}, scene_fields={"silence_releases": True})
    silent = entry(9, E.RELEASED, "clock", seconds=420, until=at(420).isoformat(), revision=1)
    return {
        "reminder": lambda: notes.note_card(waiting, {"kind": "reminder", "wait": "review.1"}),
        "reminder_of_a_confirm": lambda: notes.note_card(held_up, {"kind": "reminder", **CONFIRM}),
        "reminder_over": lambda: notes.note_card(over, {"kind": "reminder", "wait": "review.1"}),
        "escalation": lambda: notes.note_card(waiting, {"kind": "escalation", "wait": "review.1"}),
        "escalation_when_one_has_answered": lambda: notes.note_card(half, {"kind": "escalation", "wait": "review.1"}),
        "escalation_over": lambda: notes.note_card(over, {"kind": "escalation", "wait": "review.1"}),
        "closed_expired_after_all_were_asked": lambda: closed_review.closed_review(ended(S.EXPIRED, EXPIRED), offers=OFFERS),
        "closed_released_by_silence": lambda: closed_review.closed_review(scene(S.QUEUED, approvals=(), entries=(PLANNED, silent))),
        "review_that_silence_releases": lambda: review_card.review_card(reads, offers=OFFERS),
        "review_graded_anew": lambda: review_card.review_card(anew(), offers=OFFERS),
        "closed_policy_changed": lambda: review_card.review_card(anew(), offers=OFFERS, revision=1),
        "closed_policy_denies": lambda: closed_review.closed_review(ended(S.REFUSED, entry(9, E.PLAN_REFUSED, seconds=900)), offers=OFFERS),
        "note_denied": lambda: notes.note_card(ended(S.REFUSED, entry(9, E.PLAN_REFUSED, seconds=900)), {"kind": "denied"}),
        "audit_expired_after_all_were_asked": lambda: audited(ended(S.EXPIRED, EXPIRED), EXPIRED),
        "audit_escalated": lambda: audited(waiting, ESCALATED),
        "audit_regraded": lambda: audited(anew(), REGRADED),
    }


def ended(status: RunStatus, last: Entry) -> Scene:
    return scene(status, approvals=(), entries=(PLANNED, REMINDED, ESCALATED, last), revisions=(revision(1),))


def anew() -> Scene:
    """The same plan under another policy: it was approved by one, and is high now."""
    high = revision(2, seconds=900).model_copy(update={"risk": Level.HIGH, "digest": stage.DIGEST})
    now = {"revision": 2, "risk": Level.HIGH, **WAITS}
    both = (revision(1), high)
    entries = (PLANNED, REGRADED)
    return scene(S.IN_REVIEW, run_fields=now, scene_fields={"quorum": 2}, approvals=(yes(),), revisions=both, entries=entries)


def audited(of: Scene, told: Entry) -> Card:
    return audit_post.audit_post(of, told)


def of_the_whole_bot() -> Draws:
    """Cards about no run."""
    files = {"file": "policy.yml", "before": "a" * 64, "after": "b" * 64}
    data: dict[str, Any] = {**files, "waiting": 3, "regraded": ["R-1", "R-2"], "denied": []}
    done = Entry(run="-", seq=124, at=at(360), actor=ADMIN.id, event=E.RELOADED, data=data, hash="5e1d9a0c77b2")
    fault = "policy.yml, line 3: 'quorum' is not a mapping; write name: value lines"
    broken = done.model_copy(update={"event": E.RELOAD_REFUSED, "data": {"file": "policy.yml", "fault": fault}})
    by_signal = done.model_copy(update={"actor": "pullcord", "data": {**data, "after": "a" * 64, "waiting": 0, "regraded": []}})
    place: dict[str, Any] = {"team_url": "https://example.slack.com/", "name": "admin"}
    return {
        "audit_reloaded": lambda: audit_post.whole_bot(done, **place),
        "audit_reloaded_by_signal": lambda: audit_post.whole_bot(by_signal, team_url="https://example.slack.com/", name="pullcord"),
        "audit_reload_refused": lambda: audit_post.whole_bot(broken, **place),
        "slash_reloaded": lambda: reloaded.done(before="a" * 64, after="b" * 64, waiting=3, regraded=2, denied=1),
        "slash_reload_broken": lambda: reloaded.broken(fault, command="`/cord reload`"),
    }

"""The cards of a run whose cord was pulled: redirects, another revision, a freeze, what became of replies. Part of `cards`."""

from collections.abc import Callable
from typing import Any

from bot.core.chain import Broken
from bot.core.plan import Plan, Step, fingerprint, numbered
from bot.core.run import Event, Hold, Redirect, RunStatus, StepStatus
from bot.core.snapshot import Entry
from handlers.views import audit_list, audit_post, confirm_card, notes, redirect_card, review_card, run_card, slash, witness
from handlers.views import replies as reply_notes
from handlers.views.scene import (
    OFFER_ASK,
    OFFER_ASK_AGAIN,
    OFFER_BREAKPOINT,
    OFFER_CHANGE_ARGUMENTS,
    OFFER_CHANGE_REST,
    OFFER_REDIRECT,
    Card,
    Scene,
)
from tests.handlers.views.stage import (
    ADMIN,
    APPROVER,
    APPROVER2,
    FREEZE,
    HEAD,
    MEMBER,
    PLANNED,
    REQUESTER,
    REST,
    RISKY,
    SKIPPED,
    SMALL,
    asked,
    at,
    entry,
    held,
    proposed,
    redirected,
    revision,
    scene,
    states,
    yes,
)

ALL = frozenset({OFFER_ASK, OFFER_ASK_AGAIN, OFFER_BREAKPOINT, OFFER_CHANGE_ARGUMENTS, OFFER_CHANGE_REST, OFFER_REDIRECT})
E, H, R, S, P = Event, Hold, Redirect, RunStatus, StepStatus
Draws = dict[str, Callable[[], Card]]

TWICE = numbered(
    Plan(
        goal="Post the weekly figures",
        steps=(
            Step(id="figures", purpose="Read the figures", tool="files.read", args={"path": "reports/week48.csv"}),
            Step(id="post", purpose="Post the figures", tool="slack.post_message", args={"channel": "#ops", "text": "{{figures.text}}"}),
            Step(id="post2", purpose="Post the figures", tool="slack.post_message", args={"channel": "#ops", "text": "{{figures.text}}"}),
        ),
    )
)
BY_HAND = SMALL.model_copy(
    update={"steps": (*SMALL.steps[:2], SMALL.steps[3].model_copy(update={"args": {"channel": "#ops", "text": "The timeout is 60 s."}}))}
)
MANY = numbered(
    SMALL.model_copy(
        update={
            "steps": (
                *SMALL.steps[:2],
                *(Step(id=f"say{n}", tool="slack.post_message", args={"channel": "#ops", "text": f"{n}: {'x' * 500}"}) for n in range(15)),
            )
        }
    )
)
FAILED = entry(
    11,
    E.REDIRECT_FAILED,
    seconds=380,
    faults=["no tool here can send a fax; the closest are slack.post_message and http.request"],
    version=8,
)
ADOPTED = entry(
    13, E.REDIRECTED, APPROVER, seconds=480, revision=2, asked=["post", "everyone"], words="1 added, 1 changed, 1 removed, 2 kept"
)
AT_ONCE = entry(11, E.REDIRECTED, REQUESTER, seconds=380, revision=2, asked=[], again=[])


def redirect(given: Scene, revision_: int | None = 2, **more: Any) -> Card:
    return redirect_card.redirect_card(given, offers=ALL, revision=revision_, **more)


def redirects() -> Draws:
    two: dict[str, Any] = {"scene_fields": {"quorum": 2}}
    yes2 = yes(APPROVER, seconds=420).model_copy(update={"revision": 2, "digest": revision(2, REST).digest})
    by_hand = (asked(10, "", actor=APPROVER, how="edit", seconds=370), proposed())
    return {
        "redirect": lambda: redirect(redirected(R.REVIEW, proposed(), **two)),
        "redirect_one_of_two": lambda: redirect(redirected(R.REVIEW, proposed(), approvals=(yes(), yes2), **two)),
        "redirect_by_hand": lambda: redirect(redirected(R.REVIEW, *by_hand)),
        "redirect_too_long": lambda: redirect(redirected(R.REVIEW, proposed(steps=tuple(f"say{n}" for n in range(15))), plan=MANY, **two)),
        "redirect_paused_by_person": lambda: redirect(redirected(R.REVIEW, proposed(), reason=H.PERSON)),
        "redirect_nothing_asked": lambda: redirect(redirected(None, AT_ONCE, reason=None, status=S.RUNNING, plan=SKIPPED)),
        "redirect_nothing_asked_stands": lambda: redirect(redirected(None, AT_ONCE, reason=H.PERSON, plan=SKIPPED)),
        "redirect_nothing_asked_ended": lambda: redirect(redirected(None, AT_ONCE, reason=None, status=S.SUCCEEDED, plan=SKIPPED)),
        "redirect_impossible": lambda: redirect(redirected(R.NO_PLAN, FAILED), None, failed=7),
        "redirect_impossible_closed": lambda: redirect(
            redirected(R.PLANNING, FAILED, asked(12, "then post it", seconds=400)), None, failed=7
        ),
        "redirect_closed_approved": lambda: redirect(
            redirected(None, proposed(), ADOPTED, reason=None, status=S.RUNNING, approvals=(yes(), yes2))
        ),
        "redirect_closed_withdrawn": lambda: redirect(
            redirected(None, proposed(), entry(13, E.WITHDRAWN, REQUESTER, seconds=420), reason=None, status=S.RUNNING)
        ),
        "redirect_closed_replaced": lambda: redirect(redirected(R.PLANNING, proposed(), asked(13, "no, only #ops", seconds=420))),
        "redirect_closed_expired": lambda: redirect(
            redirected(None, proposed(), entry(13, E.EXPIRED, "clock", seconds=1800), reason=None, status=S.STOPPED)
        ),
        "redirect_closed_stopped": lambda: redirect(
            redirected(None, proposed(), entry(13, E.STOP_ASKED, MEMBER, seconds=420), reason=None, status=S.STOPPED)
        ),
        "redirect_forgotten": lambda: redirect(scene(S.RUNNING), 7),
    }


def card_of(given: Scene) -> Card:
    return run_card.run_card(given, offers=ALL)


def held_runs() -> Draws:
    paused = entry(12, E.PAUSE_ASKED, MEMBER, seconds=420)
    mark = entry(5, E.BREAKPOINT_SET, APPROVER, seconds=100, step="post")
    mark = mark.model_copy(update={"data": {**mark.data, "from": "in_review"}})
    kept = (entry(9, E.STEP_KEPT, step="old", kept_from="config"),)
    halves = states(SMALL, 1, old={"status": P.PENDING, "attempt": 1})
    return {
        "run_paused_redirect": lambda: card_of(redirected(R.PLANNING)),
        "run_paused_redirect_review": lambda: card_of(redirected(R.REVIEW, proposed())),
        "run_paused_redirect_no_plan": lambda: card_of(redirected(R.NO_PLAN, FAILED)),
        "run_paused_redirect_by_person": lambda: card_of(redirected(R.REVIEW, proposed(), paused, reason=H.PERSON)),
        "run_paused_redirect_frozen": lambda: card_of(redirected(R.PLANNING, reason=H.FREEZE, freeze=FREEZE)),
        "run_pausing_redirect": lambda: card_of(redirected(R.PLANNING, status=S.PAUSING, steps=states(SMALL, 1, old=P.RUNNING))),
        "run_pausing_freeze": lambda: card_of(
            scene(S.PAUSING, run_fields={"reason": H.FREEZE}, steps=states(SMALL, 1, old=P.RUNNING), freeze=FREEZE)
        ),
        "run_paused_freeze": lambda: card_of(held(H.FREEZE, steps=states(SMALL, 2), freeze=FREEZE)),
        "run_queued_frozen": lambda: card_of(scene(S.QUEUED, freeze=FREEZE)),
        "run_paused_breakpoint_frozen": lambda: card_of(held(H.BREAKPOINT, "post", steps=states(SMALL, 3), freeze=FREEZE, entries=(mark,))),
        "run_paused_restart": lambda: card_of(held(H.SHUTDOWN, steps=halves, entries=(entry(9, E.HELD, seconds=360, reason="shutdown"),))),
        "run_running_kept": lambda: card_of(scene(S.RUNNING, entries=kept, steps=states(SMALL, 2, brief=P.RUNNING))),
    }


def reviewed(number: int, *plans: Plan, authors: tuple[str, ...] = (), entries: tuple[Entry, ...] = (), **fields: Any) -> Card:
    """The review of the last of these revisions."""
    made = tuple(
        revision(place, plan, author=authors[place - 1] if authors else "pullcord", seconds=10 + 400 * (place - 1))
        for place, plan in enumerate(plans, start=1)
    )
    given = scene(
        S.IN_REVIEW,
        plans[-1],
        run_fields={"revision": number, "digest": made[-1].digest, "deadline": at(1920), "risk": made[-1].risk},
        scene_fields={"revisions_limit": 3, **(fields.pop("scene_fields", None) or {})},
        revisions=made,
        entries=(PLANNED, *entries),
        approvals=(),
        **fields,
    )
    return review_card.review_card(given, offers=ALL)


def reviews() -> Draws:
    words = (entry(5, E.CHANGES_ASKED, APPROVER, seconds=400, words="shorter, and only to #ops"),)
    twice = (*words, entry(9, E.CHANGES_ASKED, APPROVER, seconds=800, words="shorter, and only to #ops"))
    kept = (*words, entry(8, E.PLAN_KEPT, seconds=430, faults=["step post · args: channel is missing"]))
    old = (revision(1), revision(2, BY_HAND, author=APPROVER2, seconds=410))
    return {
        "review_revised": lambda: reviewed(2, SMALL, BY_HAND, authors=("pullcord", APPROVER2)),
        "review_last_revision": lambda: reviewed(3, SMALL, BY_HAND, SMALL.model_copy(update={"steps": BY_HAND.steps[2:]}), entries=twice),
        "review_same": lambda: reviewed(3, SMALL, BY_HAND, SMALL, authors=("pullcord", APPROVER2, APPROVER)),
        "review_kept_twice": lambda: reviewed(1, SMALL, entries=(*twice, entry(10, E.PLAN_KEPT, seconds=830, faults=["no such tool"]))),
        "review_kept": lambda: reviewed(1, SMALL, entries=kept),
        "review_suggestion": lambda: reviewed(
            1,
            TWICE,
            scene_fields={"suggestions": {"post": "It was stopped here in 3 of the last 5 runs.", "figures": "It was paused here."}},
        ),
        "review_planned_again": lambda: review_card.review_card(
            scene(S.PLANNING, entries=(PLANNED, *words), revisions=(revision(1),)), offers=ALL
        ),
        "closed_superseded_by_hand": lambda: review_card.review_card(
            scene(S.IN_REVIEW, BY_HAND, run_fields={"revision": 2}, revisions=old), revision=1
        ),
        "closed_approved_redirected": lambda: review_card.review_card(
            redirected(None, entry(5, E.APPROVED, APPROVER, revision=1), proposed(), ADOPTED, reason=None, status=S.RUNNING), revision=1
        ),
    }


def confirms() -> Draws:
    values = {"env": "prod", "version": "1.9.0"}
    digest = fingerprint(values)
    waits = entry(8, E.HELD, seconds=600, reason="confirm", step="deploy", filling=digest[:8])

    def card(given: Scene) -> Card:
        return confirm_card.confirm_card(given, "deploy", args=values, digest=digest, offers=ALL)

    filled = states(RISKY, 8, deploy={"status": P.PENDING, "args": values})
    paused = entry(9, E.PAUSE_ASKED, MEMBER, seconds=700)
    without = RISKY.model_copy(update={"steps": RISKY.steps[:8]})
    gone: dict[str, Any] = {"revisions": (revision(1, RISKY), revision(2, without)), "run_fields": {"revision": 2}}
    return {
        "confirm_changeable": lambda: card(held(H.CONFIRM, "deploy", RISKY, steps=filled, entries=(waits,), freeze=FREEZE)),
        "confirm_paused": lambda: card(held(H.PERSON, None, RISKY, steps=filled, entries=(waits, paused))),
        "confirm_redirecting": lambda: card(held(H.REDIRECT, None, RISKY, steps=filled, entries=(waits, asked(9, seconds=700)))),
        "confirm_closed_left_out": lambda: card(scene(S.RUNNING, without, steps=states(without, 8), **gone)),
        "confirm_closed_plan_changed": lambda: card(
            scene(
                S.RUNNING,
                RISKY,
                steps=states(RISKY, 8),
                entries=(waits, asked(9), entry(10, E.REDIRECTED, APPROVER, seconds=720, revision=2)),
            )
        ),
    }


def told(given: Scene, kind: str, **data: Any) -> Card:
    return notes.note_card(given, {"kind": kind, "ts": "1796047509.000100", "text": "…", "actor": REQUESTER, **data}, offers=ALL)


def replies() -> Draws:
    running = scene(S.RUNNING, steps=states(SMALL, 2, brief=P.RUNNING))
    changes = entry(5, E.CHANGES_ASKED, APPROVER, seconds=400, words="…")
    planning = scene(S.PLANNING, entries=(PLANNED, changes), revisions=(revision(1),))
    again = scene(S.IN_REVIEW, entries=(PLANNED, changes, entry(6, E.PLANNED, revision=2)))
    withdrawn = entry(13, E.WITHDRAWN, REQUESTER, seconds=420)
    return {
        "note_reply_change": lambda: told(redirected(R.PLANNING), "reply_change"),
        "note_reply_change_pausing": lambda: told(redirected(R.PLANNING, status=S.PAUSING), "reply_change"),
        "note_reply_change_waits": lambda: told(redirected(R.REVIEW, proposed()), "reply_change"),
        "note_reply_change_done": lambda: told(redirected(None, AT_ONCE, reason=None, status=S.RUNNING, plan=SKIPPED), "reply_change"),
        "note_reply_change_no_plan": lambda: told(redirected(R.NO_PLAN, FAILED), "reply_change"),
        "note_reply_change_withdrawn": lambda: told(redirected(None, withdrawn, reason=None, status=S.RUNNING), "reply_change"),
        "note_reply_changes": lambda: told(planning, "reply_changes"),
        "note_reply_changes_done": lambda: told(again, "reply_changes"),
        "note_reply_too_early": lambda: told(planning, "reply_too_early"),
        "note_reply_question": lambda: told(
            running, "reply_question", says="Step 4 sends a message to #ops, 41 people.\nIt has not run yet."
        ),
        "note_reply_refused": lambda: told(running, "reply_refused", why="no_redirects_left", limit=5),
        "note_reply_refused_review": lambda: told(scene(S.IN_REVIEW), "reply_refused", why="no_revisions_left", limit=3),
        "note_reply_not_understood": lambda: told(running, "reply_not_understood"),
        "note_reply_late": lambda: told(scene(S.SUCCEEDED), "reply_late"),
        "note_reply_follow_up": lambda: told(scene(S.SUCCEEDED), "reply_follow_up", follower="R-7K9B"),
        "note_withdrawn": lambda: told(redirected(None, withdrawn, reason=None, status=S.RUNNING), "withdrawn"),
        "note_redirect_failed": lambda: told(redirected(R.NO_PLAN, FAILED), "redirect_failed"),
    }


def audits() -> Draws:
    edited = entry(121, E.REVISED, APPROVER2, seconds=410, revision=2)
    both = (revision(1), revision(2, BY_HAND, author=APPROVER2))
    revised = scene(S.IN_REVIEW, BY_HAND, run_fields={"revision": 2}, revisions=both, entries=(PLANNED, edited))
    live = redirected(R.REVIEW, proposed())
    adopted = redirected(None, proposed(), ADOPTED, reason=None, status=S.RUNNING)
    changes = entry(5, E.CHANGES_ASKED, APPROVER, seconds=400, words="shorter & only to #ops", revision_was=1)
    posts = {
        "audit_edited": (revised, edited),
        "audit_changes_asked": (scene(S.PLANNING, revisions=(revision(1),)), changes),
        "audit_redirect_asked": (live, asked()),
        "audit_redirect_planned": (live, proposed()),
        "audit_redirected": (adopted, ADOPTED),
        "audit_withdrawn": (live, entry(13, E.WITHDRAWN, REQUESTER, seconds=420, why="the reply was deleted")),
        "audit_breakpoint": (live, entry(13, E.BREAKPOINT_SET, APPROVER, seconds=420, step="post")),
    }
    return {name: lambda given=given, one=one: audit_post.audit_post(given, one, head=HEAD) for name, (given, one) in posts.items()}  # type: ignore[misc]


def _of_the_record() -> Draws:
    """The record's own posts, and `/cord audit`."""
    at_three = at(3600).isoformat()
    head = {"kind": "head", "head": HEAD.n, "head_hash": HEAD.hash, "at": at_three, "since": 118, "since_at": at(303).isoformat()}
    counts = {"entries": 13, "runs": 3}
    broken = {"kind": "broken", "run": "R-3C7N", "seq": 87, "says": "entry 87 was changed after it was written", "at": at_three}
    done = tuple(
        entry(seq, event, actor, seconds=80 * seq, **data)
        for seq, (event, actor, data) in enumerate(
            (
                (E.OPENED, REQUESTER, {}),
                (E.ATTEMPTED, "pullcord", {"round": 1, "ok": True}),
                (E.PLANNED, "pullcord", {"revision": 1, "digest": "9f2c41d8" + "0" * 56, "risk": "medium"}),
                (E.CLICK_REFUSED, MEMBER, {"did": "approve", "kind": "not_allowed"}),
                (E.APPROVED, APPROVER, {"revision": 1, "digest": "9f2c41d8" + "0" * 56, "count": 1, "needed": 1}),
                (E.STARTED, "pullcord", {}),
                (E.STEP_STARTED, "pullcord", {"step": "config"}),
                (E.STEP_STARTED, "pullcord", {"step": "old"}),
                (E.STEP_SUCCEEDED, "pullcord", {"step": "config"}),
                (E.STEP_FAILED, "pullcord", {"step": "old"}),
                (E.HELD, "pullcord", {"reason": "step_failed", "step": "old"}),
                (E.SETTLED, "pullcord", {}),
                (E.SKIPPED_BY_PERSON, APPROVER2, {"step": "old"}),
                (E.STOP_ASKED, MEMBER, {"to": "stopped"}),
            ),
            start=1,
        )
    )
    ended = scene(S.STOPPED, entries=done)
    people = {APPROVER: "approver", APPROVER2: "approver2", MEMBER: "member"}
    commands = {"cord": "/cord", "plan": "/plan"}
    changed = Broken("R-7K2Q", 5, "entry 5 was changed after it was written")
    newest = [done[13], done[12], done[4]]
    return {
        "audit_chain_head": lambda: witness.chain_head({**head, **counts}),
        "audit_chain_head_first": lambda: witness.chain_head({**head, "since": 0, "since_at": "", "entries": 1, "runs": 1}),
        "audit_broken": lambda: witness.broken(broken),
        "audit_broken_heads": lambda: witness.broken({**broken, "run": "heads", "seq": 12, "says": "head 12 is missing or was changed"}),
        "slash_audit": lambda: audit_list.of_run(ended, None, commands=commands),
        "slash_audit_broken": lambda: audit_list.of_run(ended, changed, commands=commands),
        "slash_audit_newest": lambda: audit_list.newest(newest, people, HEAD, commands=commands),
        "slash_audit_empty": lambda: audit_list.newest([], {}, None, commands=commands),
    }


def of_the_whole_bot() -> Draws:
    """Cards about no run: `rules.check` wants a run, these are checked without."""
    frozen = Entry(
        run="-", seq=123, at=at(360), actor=ADMIN, event=E.FROZEN, data={"why": FREEZE.why, "held": 6, "running": 2}, hash="5e1d9a0c77b2"
    )
    thawed = frozen.model_copy(update={"event": E.THAWED, "data": {"why": FREEZE.why, "held": 6, "running": 0}})
    place: dict[str, Any] = {"team_url": "https://example.slack.com/", "name": "admin", "head": HEAD}
    commands = {"cord": "/cord", "pause": "/pause"}
    return {
        "audit_frozen": lambda: audit_post.whole_bot(frozen, **place),
        "audit_thawed": lambda: audit_post.whole_bot(thawed, **place),
        **_of_the_record(),
        "slash_freeze": lambda: slash.frozen(FREEZE, held=6, running=2, commands=commands),
        "slash_thaw": lambda: slash.thawed(FREEZE, held=6),
        "slash_freeze_why": lambda: slash.freeze_why(commands=commands),
    }


def hostile(plan: Plan, words: dict[str, str], common: dict[str, Any]) -> list[Card]:
    """Cards of a pulled cord on which each of these words stands somewhere; `plan` holds some of them too."""
    last = plan.steps[-1].model_copy(update={"args": {"env": words["VALUE"], "version": words["VALUE"] * 2, "why": words["FOUND"]}})
    other = numbered(
        plan.model_copy(
            update={"steps": (*plan.steps[:1], *plan.steps[2:3], last, plan.steps[1].model_copy(update={"id": "new", "number": 0}))}
        )
    )
    said = (
        asked(9, words["REASON"]),
        proposed(steps=tuple(step.id for step in other.steps)),
        entry(12, E.PAUSE_ASKED, MEMBER),
        entry(13, E.REDIRECT_FAILED, faults=[words["ERROR"], {"says": words["ERROR"], "step": words["VALUE"][:40]}], version=8),
        entry(14, E.CHANGES_ASKED, APPROVER, words=words["REASON"]),
        entry(15, E.PLAN_KEPT, faults=[words["ERROR"]]),
        entry(16, E.WITHDRAWN, REQUESTER, why=words["REASON"]),
    )
    freeze = FREEZE.model_copy(update={"why": words["REASON"]})
    hints = {
        "suggestions": dict.fromkeys((step.id for step in plan.steps), "It was stopped here."),
        "revisions_limit": 1,
        "redirects_limit": 5,
    }
    common = {**common, "freeze": freeze, "revisions": (revision(1, plan), revision(2, other, author=APPROVER)), "approvals": (yes(),)}
    common["scene_fields"] = {**common["scene_fields"], **hints}

    def at_entry(seq: int, **fields: Any) -> Scene:
        entries = (PLANNED, *(one for one in said if one.seq <= seq))
        known = {"reason": H.REDIRECT, "deadline": at(1800), **fields}
        return scene(S.PAUSED, plan, run_fields=known, **{**common, "entries": entries})

    review = at_entry(12, redirect=R.REVIEW, proposed=2)
    made = [redirect(review), redirect(at_entry(16)), redirect(at_entry(13, redirect=R.NO_PLAN), None, failed=1)]
    made += [card_of(given) for given in (review, at_entry(12, redirect=R.PLANNING), at_entry(12, redirect=R.PLANNING, reason=H.FREEZE))]
    made += [card_of(scene(S.QUEUED, plan, **common)), card_of(held(H.FREEZE, plan=plan, **common))]
    under = {**common, "entries": (PLANNED, *said)}
    made += [
        review_card.review_card(scene(S.IN_REVIEW, other, run_fields={"revision": 2}, **under), offers=ALL, revision=number)
        for number in (1, 2)
    ]
    made.append(review_card.review_card(scene(S.PLANNING, plan, **under)))
    kinds = {"says": words["FOUND"], "why": "no_redirects_left", "limit": 5, "follower": words["VALUE"]}
    made += [told(review, kind, **kinds) for kind in reply_notes.KINDS if kind != "reply_follow_up"]
    made += [told(review, "reply_not_understood")]
    return [*made, *(audit_post.audit_post(review, one) for one in said)]

"""Every card in every state, by name: what the golden files hold and what the rules are checked on."""

from collections.abc import Callable, Iterator
from typing import Any

from bot.core.drafts import Part, Question
from bot.core.plan import Plan, Step, fingerprint, numbered
from bot.core.run import Event, Hold, RunStatus, StepStatus
from bot.core.snapshot import Answer, Attempt
from handlers.views import answer, audit_post, closed_review, confirm_card, notes, planning_card, review_card, run_card
from handlers.views.scene import OFFER_ASK_AGAIN, OFFER_BREAKPOINT, Card, Scene
from tests.handlers.views import corded, limited, stage, waited
from tests.handlers.views.stage import APPROVER, APPROVER2, MEMBER, REQUESTER, RISKY, SMALL, at, entry, held, scene, states, yes

OFFERS = frozenset({OFFER_ASK_AGAIN, OFFER_BREAKPOINT})
WAITS = {"deadline": at(1920)}
S, P, H, E = RunStatus, StepStatus, Hold, Event

READS = numbered(
    Plan(
        goal="What changed in the config since last week?",
        steps=(
            Step(id="config", purpose="Read the current config", tool="files.read", args={"path": "app/config.toml"}),
            Step(id="old", purpose="Read last week's copy", tool="files.read", args={"path": "backup/config.toml"}),
            Step(id="brief", purpose="Compare the two", tool="text.summarize", args={"text": "{{old.text}} {{config.text}}"}),
        ),
    )
)
FORTY = numbered(
    Plan(
        goal="Add the licence line to the 19 source files and tell #ops",
        steps=(
            Step(id="find", purpose="List the sources", tool="files.search", args={"query": "def", "path": "src/"}),
            *(Step(id=f"read{n}", purpose="Read one", tool="files.read", args={"path": f"src/module_{n}/main.py"}) for n in range(19)),
            *(
                Step(
                    id=f"write{n}",
                    purpose="Put the licence line on top",
                    tool="files.write",
                    args={"path": f"src/module_{n}/main.py", "text": f"# SPDX-License-Identifier: MIT\n{{{{read{n}.text}}}}"},
                )
                for n in range(19)
            ),
            Step(id="tell", purpose="Say that it is done", tool="slack.post_message", args={"channel": "#ops", "text": "Done."}),
        ),
    )
)
LONG = numbered(
    Plan(
        goal="Put a long text into a file",
        steps=(Step(id="write", purpose="Write it", tool="files.write", args={"path": "out.md", "text": "one line of it\n" * 900}),),
    )
)


def review(status: RunStatus = S.IN_REVIEW, plan: Plan = SMALL, **fields: Any) -> Card:
    return review_card.review_card(scene(status, plan, run_fields=WAITS if status is S.IN_REVIEW else {}, **fields), offers=OFFERS)


def running(status: RunStatus = S.RUNNING, plan: Plan = SMALL, **fields: Any) -> Card:
    return run_card.run_card(scene(status, plan, **fields), offers=OFFERS)


def standing(reason: Hold, step: str | None = None, plan: Plan = SMALL, **fields: Any) -> Card:
    return run_card.run_card(held(reason, step, plan, **fields), offers=OFFERS)


def planning(status: RunStatus = S.PLANNING, **fields: Any) -> Scene:
    return scene(status, None, **fields)


def reviews() -> dict[str, Callable[[], Card]]:
    two = {"scene_fields": {"quorum": 2}}
    cancelled = (entry(4, E.CANCELLED, APPROVER, seconds=420, reason="The backup is from the wrong week & the team knows already."),)
    return {
        "review_medium": review,
        "review_high": lambda: review(plan=RISKY, **two),
        "review_high_quorum_1of2": lambda: review(plan=RISKY, approvals=(yes(),), **two),
        "review_forty": lambda: review(plan=FORTY),
        "review_long_text": lambda: review(plan=LONG),
        "closed_approved": lambda: review(S.RUNNING),
        "closed_approved_quorum": lambda: review(S.RUNNING, RISKY, approvals=(yes(), yes(APPROVER2, seconds=480)), **two),
        "closed_cancelled": lambda: review(S.CANCELLED, entries=cancelled),
        "closed_expired": lambda: review(S.EXPIRED, entries=(entry(4, E.EXPIRED, "clock", seconds=1920),)),
        "closed_superseded": lambda: review_card.review_card(scene(S.IN_REVIEW, run_fields={"revision": 2}), revision=1),
        "closed_released_reads": lambda: review(S.RUNNING, READS, approvals=(), entries=(entry(3, E.RELEASED, seconds=10),)),
        "closed_void": lambda: closed_review.void(scene(S.IN_REVIEW, approvals=(yes(),)), tools=["site.deploy"]),
    }


def before_running() -> dict[str, Callable[[], Card]]:
    faults = ("step post · args: channel is missing", "step old: files.raed is no tool here; use files.read")
    bad = Attempt(round=1, ok=False, raw="{}", faults=faults, planner="a model")
    asked = Attempt(
        round=1, ok=False, raw="?", question=Question(says="Which config is meant?", choices=("app/config.toml", "ops/hosts.toml"))
    )
    parts = (
        Part(words="read notes/today.md", understood=True, notation="files.read path=notes/today.md"),
        Part(words="then frobnicate it", understood=False, closest=("text.summarize", "files.search")),
    )
    lost = Attempt(round=1, ok=False, raw="", parts=parts, suggestion="read notes/today.md, then summarize it", faults=("not understood",))
    waits = {"run_fields": {"reason": H.QUESTION, "deadline": at(1800)}, "attempts": (asked,)}
    refused = (entry(3, E.PLAN_REFUSED, faults=["step sh · tool: the policy does not allow shell.run (tools.shell.*)"]),)
    return {
        "planning": lambda: run_card.run_card(planning()),
        "planning_second_round": lambda: run_card.run_card(planning(attempts=(bad,))),
        "planning_waits": lambda: run_card.run_card(planning(**waits)),
        "planning_question": lambda: planning_card.question_card(planning(**waits)),
        "planning_answered": lambda: planning_card.question_card(
            planning(attempts=(asked,), entries=(entry(3, E.QUESTION_ANSWERED, REQUESTER, answer="the first"),))
        ),
        "planning_failed": lambda: run_card.run_card(planning(S.FAILED, attempts=(bad, bad)), offers=OFFERS),
        "planning_not_understood": lambda: run_card.run_card(planning(S.FAILED, attempts=(lost,))),
        "planning_refused": lambda: run_card.run_card(scene(S.REFUSED, entries=refused)),
        "run_in_review": lambda: run_card.run_card(scene(S.IN_REVIEW, run_fields=WAITS)),
        "run_cancelled": lambda: running(S.CANCELLED, entries=(entry(4, E.CANCELLED, APPROVER, reason="Not needed any more"),)),
        "run_expired": lambda: running(S.EXPIRED, entries=(entry(4, E.EXPIRED, "clock", seconds=1920),)),
    }


def runs() -> dict[str, Callable[[], Card]]:
    parallel = dict.fromkeys(("web1", "web2", "logs"), P.RUNNING)
    parallel |= {"web3": {"status": P.RUNNING, "attempt": 2}, "logs": {"status": P.RUNNING, "progress": "120 of 300 files"}}  # type: ignore[dict-item]
    paused = (entry(9, E.PAUSE_ASKED, MEMBER, seconds=600),)
    stopped = (entry(9, E.STOP_ASKED, MEMBER, seconds=600), entry(10, E.SETTLED, seconds=610))
    busy = states(RISKY, 4, web3=P.RUNNING, logs=P.RUNNING, build=P.SUCCEEDED)
    ended = states(RISKY, 8, logs=P.CANCELLED, deploy=P.IN_DOUBT)
    return {
        "run_queued": lambda: running(S.QUEUED, ahead=2),
        "run_queued_reads": lambda: running(S.QUEUED, READS, approvals=()),
        "run_running": lambda: running(steps=states(SMALL, 2, brief=P.RUNNING)),
        "run_running_reads": lambda: running(plan=READS, approvals=(), steps=states(READS, 2, brief=P.RUNNING)),
        "run_running_parallel": lambda: running(plan=RISKY, steps=states(RISKY, 2, **parallel)),
        "run_running_long": lambda: running(plan=FORTY, steps=states(FORTY, 24, write4=P.RUNNING, write5=P.RUNNING)),
        "run_pausing": lambda: running(S.PAUSING, RISKY, run_fields={"reason": H.PERSON}, steps=busy, entries=paused),
        "run_stopping": lambda: running(S.STOPPING, RISKY, steps=busy, entries=stopped[:1]),
        "run_answering": lambda: running(S.ANSWERING, steps=states(SMALL, 4)),
        "run_succeeded": lambda: running(S.SUCCEEDED, steps=states(SMALL, 4), answer=Answer(text="Done. [1]", cites=("config",))),
        "run_succeeded_plain": lambda: run_card.run_card(scene(S.SUCCEEDED, steps=states(SMALL, 4)), plain=True),
        "run_failed": lambda: running(S.FAILED, steps=states(SMALL, 3, post={"status": P.FAILED, "error": "not_in_channel"})),
        "run_stopped": lambda: running(S.STOPPED, RISKY, steps=ended, entries=stopped),
        "run_stopped_clean": lambda: running(S.STOPPED, steps=states(SMALL, 2, brief=P.CANCELLED), entries=stopped),
    }


def holds() -> dict[str, Callable[[], Card]]:
    paused = (entry(9, E.PAUSE_ASKED, MEMBER, seconds=600),)
    real = {"status": P.IN_DOUBT, "args": {"env": "prod", "version": "1.9.0"}}
    error = {"status": P.FAILED, "error": "The model did not answer within 20 s."}
    return {
        "run_paused_person": lambda: standing(H.PERSON, steps=states(SMALL, 2), entries=paused),
        "run_paused_breakpoint": lambda: standing(H.BREAKPOINT, "post", steps=states(SMALL, 3)),
        "run_paused_confirm": lambda: standing(H.CONFIRM, "deploy", RISKY, steps=states(RISKY, 8)),
        "run_paused_step_failed": lambda: standing(H.STEP_FAILED, "brief", steps=states(SMALL, 2, brief=error)),
        "run_paused_in_doubt": lambda: standing(H.IN_DOUBT, "deploy", RISKY, steps=states(RISKY, 8, deploy=real)),
        "run_paused_shutdown": lambda: standing(H.SHUTDOWN, steps=states(SMALL, 2)),
    }


def confirms() -> dict[str, Callable[[], Card]]:
    values = {"env": "prod", "version": "1.9.0"}
    digest = fingerprint(values)
    before, after = "[server]\nrequest_timeout = 30\nlog = false\n", "[server]\nrequest_timeout = 60\nlog = false\n"
    table = {
        "target": "web in prod",
        "facts": ["3 hosts"],
        "before": '{"version": "1.8.2", "hosts": 3}',
        "after": '{"version": "1.9.0", "hosts": 3}',
    }
    write = {"path": "app/config.toml", "text": after}
    lines = {"target": "app/config.toml", "facts": ["3 lines"], "before": before, "after": after}
    message = {"channel": "#ops", "text": "request_timeout went from 30 to 60. <!channel>"}

    def card(step: str, args: dict[str, Any], preview: dict[str, Any] | None, plan: Plan = RISKY, **fields: Any) -> Card:
        filled = states(plan, 8, **{step: {"status": P.PENDING, "args": args}})
        given = held(H.CONFIRM, step, plan, steps=filled, **fields)
        return confirm_card.confirm_card(given, step, args=args, digest=fingerprint(args), preview=preview)

    def closed(event: Event, status: RunStatus = S.RUNNING, **data: Any) -> Card:
        entries = (entry(9, event, APPROVER, seconds=700, step="deploy", filling=digest, **data),)
        return confirm_card.confirm_card(
            scene(status, RISKY, entries=entries, steps=states(RISKY, 8)), "deploy", args=values, digest=digest
        )

    return {
        "confirm_text": lambda: card("write", write, lines),
        "confirm_structured": lambda: card("deploy", values, table),
        "confirm_message": lambda: card("tell", message, None),
        "confirm_no_preview": lambda: card("deploy", values, None),
        "confirm_too_long": lambda: card("write", {**write, "text": "x\n" * 900}, {**lines, "after": "x\n" * 900}),
        "confirm_closed_confirmed": lambda: closed(E.CONFIRMED),
        "confirm_closed_refused": lambda: closed(E.CONFIRM_REFUSED, reason="1.9.0 is a beta & the partners are not told yet."),
        "confirm_closed_expired": lambda: closed(E.EXPIRED, S.STOPPED),
        "confirm_closed_void": lambda: closed(E.STARTED),
    }


def endings() -> dict[str, Callable[[], Card]]:
    said = "The request timeout went from 30 to 60 seconds [1][2]. This was probably done for the upgrade. Two lines were removed [9]."
    done = states(SMALL, 4)
    return {
        "answer": lambda: answer.answer_cards(
            scene(S.SUCCEEDED, steps=done, answer=Answer(text=said, cites=("config", "old"), by="a-model"))
        )[0],
        "answer_plain_report": lambda: answer.answer_cards(scene(S.SUCCEEDED, steps=done, answer=Answer(text="…")))[0],
        "answer_nothing_done": lambda: answer.answer_cards(scene(S.STOPPED))[0],
        "note_needs_you": lambda: _note({"kind": "needs_you", "reason": "step_failed", "step": "brief"}, H.STEP_FAILED, "brief"),
        "note_settled": lambda: notes.note_card(scene(S.RUNNING), {"kind": "needs_you", "reason": "step_failed", "step": "brief"}),
        "note_in_doubt": lambda: _note({"kind": "in_doubt", "reason": "in_doubt", "step": "post"}, H.IN_DOUBT, "post"),
        "note_status": lambda: notes.note_card(scene(S.RUNNING, steps=states(SMALL, 2, brief=P.RUNNING)), {"kind": "status"}),
        "note_expired": lambda: notes.note_card(
            scene(S.EXPIRED, entries=(entry(4, E.EXPIRED, "clock", seconds=1920),)), {"kind": "expired"}
        ),
        "note_ask_edited": lambda: notes.note_card(scene(S.IN_REVIEW), {"kind": "ask_edited"}),
        "note_not_understood": lambda: notes.note_card(scene(S.RUNNING), {"kind": "not_understood"}),
        "note_late": lambda: notes.note_card(scene(S.SUCCEEDED), {"kind": "late"}),
    }


def _note(data: dict[str, Any], reason: Hold, step: str) -> Card:
    return notes.note_card(held(reason, step), data)


AUDITED = {
    "approved": (E.APPROVED, APPROVER, {"revision": 1, "digest": stage.DIGEST, "count": 1, "needed": 1}),
    "approved_quorum": (E.APPROVED, APPROVER2, {"revision": 1, "digest": stage.DIGEST, "count": 2, "needed": 2}),
    "cancelled": (E.CANCELLED, APPROVER, {"reason": "Wrong week"}),
    "refused_click": (E.CLICK_REFUSED, REQUESTER, {"did": "approve", "kind": "own_request", "facts": "{}"}),
    "expired": (E.EXPIRED, "clock", {"to": "expired"}),
    "expired_while_held": (E.EXPIRED, "clock", {"to": "stopped"}),
    "confirmed": (E.CONFIRMED, APPROVER, {"step": "deploy", "filling": "77aa10c3" + "0" * 56}),
    "refused_step": (E.CONFIRM_REFUSED, APPROVER, {"step": "deploy", "filling": "77aa10c3" + "0" * 56, "reason": "a beta & untold"}),
    "paused": (E.PAUSE_ASKED, MEMBER, {}),
    "resumed": (E.RESUMED, REQUESTER, {}),
    "stopped": (E.STOP_ASKED, MEMBER, {"to": "stopping"}),
    "stopped_at_once": (E.STOP_ASKED, MEMBER, {"to": "stopped"}),
    "settled": (E.HAPPENED, APPROVER, {"step": "deploy", "note": "1.9.0 is live on web1"}),
    "released": (E.RELEASED, "pullcord", {"revision": 1}),
    "ended": (E.ANSWERED, "pullcord", {"to": "succeeded"}),
}


def audits() -> dict[str, Callable[[], Card]]:
    return {f"audit_{name}": lambda name=name: audited(name) for name in AUDITED}  # type: ignore[misc]


def audited(name: str) -> Card:
    event, actor, data = AUDITED[name]
    first = entry(90, E.APPROVAL_GIVEN, APPROVER, seconds=300, revision=1, digest=stage.DIGEST, count=1, needed=2)
    told = entry(118, event, actor, seconds=303, **data)
    done = 12 if name == "ended" else 2
    entries = stage.history(RISKY, done, *([first] if name == "approved_quorum" else []), told)
    given = scene(S.RUNNING, RISKY, steps=states(RISKY, done), entries=entries, revisions=(stage.revision(1, RISKY),))
    return audit_post.audit_post(given, told, head=stage.HEAD)


def every() -> Iterator[tuple[str, Callable[[], Card]]]:
    """All of them, by name."""
    groups = (reviews(), before_running(), runs(), holds(), confirms(), endings(), audits())
    more = (corded.redirects(), corded.held_runs(), corded.reviews(), corded.confirms(), corded.replies(), corded.audits())
    more += (waited.of_runs(), limited.of_runs())
    for group in (*groups, *more):
        yield from group.items()

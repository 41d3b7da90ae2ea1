"""Questions about a run, answered from its state."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.asking import answer_from_state
from bot.core.ids import Digest, RunId, StepId
from bot.core.plan import Plan, Step, numbered
from bot.core.risk import Grade, Level, Mode
from bot.core.run import Hold, Redirect, Run, RunStatus, StepStatus
from bot.core.snapshot import Approval, Entry, Freeze, Observation, Revision, Snapshot, StepState
from tests.core.samples import CATALOGUE, plan, post, read

AT = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)
NOW = AT + timedelta(seconds=12)
PLAN = plan(
    read("config", "app/config.toml"),
    read("old", "backup/config.toml"),
    {"id": "brief", "tool": "text.summarize", "args": {"text": "{{config.text}}{{old.text}}"}},
    post("post", "{{brief.summary}}"),
)
STATES = {
    "config": {
        "status": StepStatus.SUCCEEDED,
        "finished_at": AT,
        "observation": Observation(value={"text": "timeout = 60\n" * 40}, says="40 lines", untrusted=True),
    },
    "old": {"status": StepStatus.RUNNING, "started_at": AT, "progress": "half of it"},
}


def snapshot(
    status: RunStatus = RunStatus.RUNNING, *, of: Plan | None = PLAN, states: dict[str, Any] | None = None, **run: Any
) -> Snapshot:
    """A run with this plan; `states` are fields of the steps' rows."""
    known = STATES if states is None else states
    steps = of.steps if of else ()
    rows = [StepState(id=step.id, number=step.number, tool=step.tool, **known.get(step.id, {})) for step in steps]
    facts = {
        "ask": "what changed in the config?",
        "requester": "U0REQ",
        "digest": Digest("d"),
        "approved": Digest("d"),
        "revision": 1,
        **run,
    }
    made = Run(id=RunId("R-7K2QX"), status=status, created_at=AT, updated_at=NOW, **facts)
    return Snapshot(run=made, plan=of, steps=tuple(rows), entries=(entry("pause_asked", "U0MEMBER"),))


def entry(event: str, actor: str) -> Entry:
    return Entry(run="R-7K2QX", seq=1, at=AT, actor=actor, event=event, data={}, hash="")


def answer(text: str, of: Snapshot | None = None) -> str:
    return answer_from_state(text, of or snapshot(), CATALOGUE, NOW)


SUMMARY = "1 of 4 steps are done. Running: 2 · old (reads backup/config.toml). Next: 3 · brief (writes a summary)."
LATER = "It has not run yet; it waits for 3 · brief. Its text is filled in later from 3 · brief."
TOLD = {
    "will it post to #ops?": f"Step 4 · post sends a message to #ops. {LATER}",
    "step 4?": f"Step 4 · post sends a message to #ops. {LATER}",
    "Was macht Schritt 4?": f"Step 4 · post sends a message to #ops. {LATER}",
    "and #1?": "Step 1 · config read app/config.toml. It finished at 14:02 UTC: 40 lines.",
    "what about app/config.toml": "Step 1 · config read app/config.toml. It finished at 14:02 UTC: 40 lines.",
    "how is old doing?": "Step 2 · old reads backup/config.toml. It has been running for 12 s: half of it.",
    "is the summary done?": (
        "Step 3 · brief writes a summary. It has not run yet; it waits for 2 · old. Its text is filled in later from 1 and 2."
    ),
    "does it post to #general?": "No step of this plan names #general. What it changes or sends: 4 · post (sends a message to #ops).",
    "what is left": (
        "Still to come: 3 · brief (writes a summary) and 4 · post (sends a message to #ops). 1 of 4 steps are done. "
        "Running: 2 · old (reads backup/config.toml)."
    ),
    "how long?": "About 5 s of work is left, waiting for people not counted. It is running.",
    "who asked for this?": "U0REQ asked for it at 14:02 UTC, in these words: what changed in the config?",
    "who paused it?": "U0MEMBER paused it at 14:02 UTC. It is running.",
    "what did step 4 find?": "Step 4 · post has returned nothing. It has not run yet; it waits for 3 · brief.",
    "what about step 9?": f"There is no step 9 in this plan. {SUMMARY}",
    "huh?": SUMMARY,
    "ça avance ?": SUMMARY,
}


@pytest.mark.parametrize("text", TOLD)
def test_question_is_answered_from_the_state(text: str) -> None:
    assert answer(text) == TOLD[text]


def test_what_was_found_is_quoted_cut_and_said_to_be_outside_text() -> None:
    said = answer("what did step 1 find?")
    assert said.startswith("Step 1 · config returned (the first 200 of 519 characters; outside text): timeout = 60 timeout = 60")
    assert len(said) < 300
    assert answer("what was found so far?") == said


def test_hidden_characters_of_a_result_are_shown() -> None:
    odd = snapshot(states={"config": {"status": StepStatus.SUCCEEDED, "observation": Observation(value={"text": "a\u202eb"})}})
    assert "a⟦U+202E⟧b" in answer("what did step 1 find?", odd)


HOLDS = {
    Hold.PERSON: "It is paused: U0MEMBER pulled the cord at 14:02 UTC, and Resume lets it go on.",
    Hold.BREAKPOINT: "It is paused: there is a breakpoint before step 4 · post, and Continue goes on.",
    Hold.CONFIRM: "It is paused: step 4 · post waits until somebody has seen its filled-in arguments and confirms them.",
    Hold.STEP_FAILED: "It is paused: step 4 · post failed, and Retry, Skip or a change of the rest is needed.",
    Hold.IN_DOUBT: "It is paused: nobody knows whether step 4 · post took effect, and somebody has to say so.",
    Hold.FREEZE: "It is paused: U0ADMIN froze everything at 14:02 UTC (a bad deployment).",
    Hold.SHUTDOWN: "It is paused: the bot is being restarted, and it goes on by itself.",
}


@pytest.mark.parametrize("hold", HOLDS)
def test_why_it_stands_names_the_hold_and_the_next_move(hold: Hold) -> None:
    paused = snapshot(RunStatus.PAUSED, reason=hold, held_step=StepId("post"))
    frozen = paused.model_copy(update={"freeze": Freeze(by="U0ADMIN", at=AT, why="a bad deployment.")})
    besides = "; besides, U0ADMIN froze everything at 14:02 UTC (a bad deployment)."
    assert answer("why is it paused?", frozen) == (HOLDS[hold] if hold is Hold.FREEZE else HOLDS[hold].removesuffix(".") + besides)
    if hold is not Hold.FREEZE:
        assert answer("why is it paused?", paused) == HOLDS[hold]


@pytest.mark.parametrize("hold", list(Hold))
@pytest.mark.parametrize("redirect", [None, *Redirect])
def test_every_hold_has_words(hold: Hold, redirect: Redirect | None) -> None:
    said = answer("why?", snapshot(RunStatus.PAUSED, reason=hold, redirect=redirect, proposed=2))
    assert said.startswith("It is paused: ")
    assert (redirect is None) or "; " in said


@pytest.mark.parametrize("status", list(RunStatus))
@pytest.mark.parametrize("text", ["status?", "how long?", "what is left?", "why?", "who approved it?", "step 1?", "what did it find?"])
def test_every_state_of_a_run_has_an_answer(status: RunStatus, text: str) -> None:
    for of in (None, PLAN):
        said = answer(text, snapshot(status, of=of))
        assert said[-1] in ".?…"
        assert "None" not in said


def test_approvals_are_named_with_time_and_what_they_were_for() -> None:
    given_ = (
        Approval(actor="U0APPR", revision=1, digest=Digest("d"), at=AT),
        Approval(actor="U0APPR2", revision=1, digest=Digest("e"), at=AT, kind="confirm", step=StepId("post")),
    )
    approved = snapshot().model_copy(update={"approvals": given_})
    assert answer("who approved it?", approved) == (
        "Revision 1 was approved by U0APPR at 14:02 UTC. Step post was confirmed by U0APPR2 at 14:02 UTC."
    )
    assert answer("who approved it?", snapshot(RunStatus.IN_REVIEW)) == "Nobody has approved the plan yet."
    assert answer("who approved it?") == "No approval was needed: every step only reads."


def test_step_of_the_new_rest_is_said_to_be_not_approved_yet() -> None:
    new = numbered(PLAN.model_copy(update={"steps": (*PLAN.steps, Step.model_validate(post("post2", "x", channel="#general")))}))
    revision = Revision(revision=2, plan=new, digest=Digest("n"), risk=Level.MEDIUM, grades={}, tool_digests={}, author="pullcord", at=AT)
    run = snapshot(RunStatus.PAUSED, reason=Hold.REDIRECT, redirect=Redirect.REVIEW, proposed=2).model_copy(
        update={"revisions": (revision,)}
    )
    assert (
        answer("what is step 5?", run) == "In the new rest, revision 2, which is not approved yet: 5 · post2 (sends a message to #general)."
    )


def test_step_that_stops_for_a_confirmation_says_so() -> None:
    grade = Grade(step=StepId("post"), level=Level.HIGH, mode=Mode.CONFIRM, confirms=True)
    assert answer("step 4", snapshot().model_copy(update={"grades": {"post": grade}})).endswith("It will stop for a confirmation first.")


def test_run_that_is_over_says_how_it_ended_and_how_long_it_took() -> None:
    over = snapshot(RunStatus.STOPPED)
    assert answer("how long?", over) == "The run was stopped: it took 12 s, from 14:02 UTC to 14:02 UTC."
    assert answer("step 4", over) == "Step 4 · post sends a message to #ops. It did not run."


@given(st.text(max_size=200))
def test_no_question_makes_it_raise_or_stay_silent(text: str) -> None:
    assert answer(text).strip()
    assert answer(f"what about step {text}").strip()

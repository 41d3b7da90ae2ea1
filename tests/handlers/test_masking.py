"""A run is masked before anything is drawn from it (C059)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.core.drafts import Part, Question
from bot.core.plan import Plan, Step
from bot.core.risk import Grade, Level, Mode
from bot.core.run import Run, RunStatus
from bot.core.snapshot import Answer, Attempt, Entry, Observation, Post, Snapshot, StepState
from bot.tools.masks import redacted
from handlers.masking import AT_ONCE, masked
from tests.doubles.town import text_of
from tests.handlers.conftest import Hall

TOKEN = "xoxb-1234567890-abcdefghijkl"
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----"
AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def run_of(steps: int = 3, *, words: str = "", secret: str = "", field: str = "note") -> Snapshot:
    """A run at work; `secret` stands wherever somebody writes, `words` make it long."""
    plan = tuple(_step(number, secret, field) for number in range(1, steps + 1))
    entries = [_entry(number, secret, field) for number in range(4 * steps)]
    return Snapshot(
        run=Run(id="R-7K2QX", ask=f"do it {words}{secret}", requester="U1", team="T1", channel="C1", created_at=AT, updated_at=AT),
        plan=Plan(goal=f"a goal {secret}", steps=plan),
        grades={step.id: Grade(step=step.id, level=Level.LOW, mode=Mode.ASK, reasons=(f"it names {secret}",)) for step in plan},
        steps=tuple(_state(step, secret) for step in plan),
        attempts=(_attempt(secret),),
        answer=Answer(text=f"It is done {secret} [1].", unsupported=(f"what {secret}",)),
        posts=(Post(id=1, run="R-7K2QX", card="confirm", key="k", channel="C1", data={"step": "s1", "args": {field: secret}}),),
        entries=tuple(entries),
    )


def _step(number: int, secret: str, field: str) -> Step:
    args = {"path": f"notes/{number}.md", "lines": ["Some plain words of a note, nothing else.", {field: secret}]}
    return Step(id=f"s{number}", number=number, tool="files.write", purpose=f"to keep {secret}", args=args)


def _state(step: Step, secret: str) -> StepState:
    found = Observation(value={"text": "plain words " * 200}, says="38 lines", sha256="a" * 64, size=2_000)
    return StepState(id=step.id, number=step.number, tool=step.tool, args=step.args, observation=found, error=f"refused: {secret}")


def _attempt(secret: str) -> Attempt:
    parts = (Part(words=secret, understood=False, notation=secret, note=secret, closest=(secret,)),)
    question = Question(says=secret, choices=(secret,))
    return Attempt(round=1, ok=True, raw=secret, faults=(secret,), parts=parts, question=question, suggestion=secret)


def _entry(number: int, secret: str, field: str) -> Entry:
    data = {"step": f"s{number}", "step_from": "pending", "step_to": "running", "args_sha256": "b" * 64, "attempt": 1, field: secret}
    return Entry(run="R-7K2QX", seq=number, at=AT, actor="pullcord", event="step_started", data=data, hash="c" * 64)


@pytest.mark.parametrize("secret", [TOKEN, KEY, f"password = '{TOKEN}'"])
@pytest.mark.parametrize("words", ["", "plain words " * AT_ONCE])
async def test_C059_a_secret_is_masked_wherever_people_planners_and_tools_write(secret: str, words: str) -> None:
    snapshot = run_of(secret=secret, words=words)

    seen = await masked(snapshot)

    assert secret not in str(seen)
    assert "MIIEvQ" not in str(seen)
    assert seen == Snapshot.model_validate(redacted(snapshot.model_dump(mode="json")))


async def test_C059_what_is_called_a_secret_is_one_whatever_it_looks_like() -> None:
    seen = await masked(run_of(secret="hunter", field="password"))

    plan, entry, post = seen.plan, seen.entries[0], seen.posts[0]
    assert plan is not None
    assert "hunter" not in f"{plan.steps[0].args} {seen.steps[0].args} {entry.data} {post.data}"


async def test_a_run_without_secrets_stays_the_very_same() -> None:
    for words in ("", "words of an api_key that nobody gives: " * 1_000):
        snapshot = run_of(words=words)
        assert await masked(snapshot) is snapshot


async def test_two_texts_make_no_secret_together() -> None:
    snapshot = run_of()
    entry = snapshot.entries[0].model_copy(update={"data": {"a": "password=", "b": "hunter2", "c": "Bearer", "d": "abcdefghijklmnopqrst"}})

    seen = await masked(snapshot.model_copy(update={"entries": (entry,)}))

    assert seen.entries[0].data == entry.data


async def test_C059_no_card_of_a_run_shows_the_secret_that_was_asked_with(hall: Hall) -> None:
    requester = hall.person("requester")
    await requester.command("#ops", "/plan", f'test.destroy name="{TOKEN}"')
    run = (await hall.runs())[0]
    for name in ("approver", "approver2"):
        await hall.person(name).press("Approve", await hall.person(name).card("#ops", "Approve", run=run.id), "#ops")
    await hall.person("approver").card("#ops", "Confirm", run=run.id)
    await hall.until(run.id, RunStatus.PAUSED)
    await hall.settled()

    said: list[dict[str, Any]] = [m for channel in ("#ops", "#audit") for m in await hall.person("approver").everything(channel)]
    assert any("{{secret:TYPED_" in text_of(message) for message in said)
    assert not any(TOKEN in str(message) for message in said if message.get("bot_id"))

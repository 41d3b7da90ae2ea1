"""No secret reaches a card: what people, planners and policies wrote into a run is masked before anything is drawn (C059).

Before, because a card cuts texts, and half a secret has no shape. What steps returned is masked when it is stored and is not looked at
again. The rest is looked at in one piece first, since most runs hold no secret, and value by value only where something was found. For most
runs that takes a millisecond or two; a long run is looked at in a thread, so that no click waits for it.
"""

import asyncio
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel

from bot.core.plan import Plan
from bot.core.risk import Grade
from bot.core.snapshot import Revision, Snapshot
from bot.tools.masks import redact, redacted

BETWEEN = "\n\x00\n"  # no shape but a whole key's reaches across it, so texts are judged together as they would be one by one
AT_ONCE = 8_000  # characters that may be looked at on the event loop, and the size of a piece in a thread

M = TypeVar("M", bound=BaseModel)


async def masked(snapshot: Snapshot) -> Snapshot:
    """The same run with every secret in it masked; the very same object if it holds none."""
    texts: list[str] = []
    if not _gather(_written(snapshot), texts):
        pieces = _pieces(texts)
        if len(pieces) == 1 and len(pieces[0]) <= AT_ONCE:
            clean = _are_clean(pieces)
        else:
            clean = await asyncio.to_thread(_are_clean, pieces)
        if clean:
            return snapshot
    return await asyncio.to_thread(_covered, snapshot)


def _written(snapshot: Snapshot) -> list[Any]:
    """Everything in a run that is not masked when it is stored, as JSON."""
    plan, answer = snapshot.plan, snapshot.answer
    return [
        snapshot.run.ask,
        [plan.goal, [[step.purpose, step.args] for step in plan.steps]] if plan else [],
        [list(grade.reasons) for grade in snapshot.grades.values()],
        [_of_revision(one) for one in snapshot.revisions if one.plan != plan],
        [snapshot.freeze.why] if snapshot.freeze else [],
        [[state.args, state.error] for state in snapshot.steps],
        [attempt.model_dump(mode="json") for attempt in snapshot.attempts],
        [answer.text, list(answer.unsupported)] if answer else [],
        [post.data for post in snapshot.posts],
        [entry.data for entry in snapshot.entries],
        [wait.key for wait in snapshot.lock_waits],
    ]


def _of_revision(one: Revision) -> list[Any]:
    grades = [list(grade.reasons) for grade in one.grades.values()]
    return [one.plan.goal, [[step.purpose, step.args] for step in one.plan.steps], grades]


def _gather(value: Any, texts: list[str]) -> bool:
    """Put every text of a JSON value into the list. True, and no more is gathered, if the name of a field says that it holds a secret."""
    if isinstance(value, str):
        texts.append(value)
        return False
    if isinstance(value, dict):
        return any(_gather(item, texts) or (isinstance(item, str) and _names_a_secret(key)) for key, item in value.items())
    return isinstance(value, list) and any(_gather(item, texts) for item in value)


@lru_cache(maxsize=1_000)
def _names_a_secret(field: str) -> bool:
    return bool(redacted({field: "anything"})[field] != "anything")


def _pieces(texts: list[str]) -> list[str]:
    """The texts joined, in pieces: whoever looks through one piece keeps everybody else waiting meanwhile, in a thread too."""
    pieces: list[list[str]] = [[]]
    room = AT_ONCE
    for text in texts:
        if len(text) > room and pieces[-1]:
            pieces.append([])
            room = AT_ONCE
        pieces[-1].append(text)
        room -= len(text) + len(BETWEEN)
    return [BETWEEN.join(piece) for piece in pieces]


def _are_clean(pieces: list[str]) -> bool:
    return all(redact(piece) == piece for piece in pieces)


def _covered(snapshot: Snapshot) -> Snapshot:
    """The run with everything in it masked that `_written` names."""
    plan, answer = snapshot.plan, snapshot.answer
    found: dict[str, Any] = {
        "run": _with(snapshot.run, "ask"),
        "plan": plan_covered(plan) if plan else None,
        "grades": _grades_covered(snapshot.grades),
        "revisions": tuple(
            one.model_copy(update={"plan": plan_covered(one.plan), "grades": _grades_covered(one.grades)}) for one in snapshot.revisions
        ),
        "freeze": _with(snapshot.freeze, "why") if snapshot.freeze else None,
        "steps": tuple(_with(state, "args", "error") for state in snapshot.steps),
        "attempts": tuple(attempt.model_validate(redacted(attempt.model_dump(mode="json"))) for attempt in snapshot.attempts),
        "answer": _with(answer, "text", "unsupported") if answer else None,
        "posts": tuple(_with(post, "data") for post in snapshot.posts),
        "entries": tuple(_with(entry, "data") for entry in snapshot.entries),
        "lock_waits": tuple(_with(wait, "key") for wait in snapshot.lock_waits),
    }
    return snapshot.model_copy(update=found)


def plan_covered(plan: Plan) -> Plan:
    """The plan with every secret in it masked."""
    return _with(plan, "goal").model_copy(update={"steps": tuple(_with(step, "purpose", "args") for step in plan.steps)})


def _grades_covered(grades: dict[str, Grade]) -> dict[str, Grade]:
    return {step: _with(grade, "reasons") for step, grade in grades.items()}


def _with(one: M, *fields: str) -> M:
    return one.model_copy(update={name: _clean(getattr(one, name)) for name in fields})


def _clean(value: Any) -> Any:
    return tuple(redacted(list(value))) if isinstance(value, tuple) else redacted(value)

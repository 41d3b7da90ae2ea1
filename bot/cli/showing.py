"""`runs` and `show`: what the database holds, for people and as data. Nothing here changes a run; an older file is migrated."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from sqlalchemy import Connection

from bot.core.characters import cut, visible
from bot.core.ids import short
from bot.core.run import Run
from bot.core.snapshot import Snapshot, StepState
from bot.errors import ConfigurationError
from bot.settings import load
from bot.store import runs
from bot.store.db import Database

T = TypeVar("T")

console = Console(highlight=False, soft_wrap=True)


def read(data: Path | None, question: Callable[[Connection], T]) -> T:
    """Ask the database one question. Raises `ConfigurationError` if there is no database yet."""
    url = load(data).database_url
    path = Path(url.removeprefix("sqlite:///"))
    if url.startswith("sqlite:///") and not path.exists():
        raise ConfigurationError(f"{path}: no database there; name the folder with --data, or start with `pullcord demo`")

    async def ask() -> T:
        store = await Database.open(url)
        try:
            return await store.read(question)
        finally:
            await store.close()

    return asyncio.run(ask())


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n")


def list_runs(data: Path | None, *, as_json: bool, limit: int) -> int:
    """The newest runs first."""
    found = read(data, lambda conn: runs.listing(conn, limit=limit))
    if as_json:
        _print_json([_row(run) for run in found])
        return 0
    if not found:
        console.print("No runs yet. Ask for something in Slack: /plan …")
        return 0
    _print_table([("run", "status", "risk", "asked by", "updated (UTC)", "ask"), *(_cells(run) for run in found)])
    return 0


def _cells(run: Run) -> tuple[str, ...]:
    state = f"{run.status} ({run.reason})" if run.reason else str(run.status)
    return run.id, state, str(run.risk or "–"), run.requester, f"{run.updated_at:%Y-%m-%d %H:%M:%S}", cut(" ".join(run.ask.split()), 200)


def _print_table(rows: list[tuple[str, ...]]) -> None:
    """Columns under each other. Where a terminal is too narrow only the last one gives way; into a pipe everything goes."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    for *cells, last in rows:
        line = "  ".join([*(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)), last])
        _say(cut(line, console.width) if console.is_terminal else line)


def _row(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "status": run.status,
        "reason": run.reason,
        "ask": run.ask,
        "requester": run.requester,
        "risk": run.risk,
        "created_at": run.created_at.isoformat(),
        "updated_at": run.updated_at.isoformat(),
    }


def show_run(data: Path | None, run_id: str, *, as_json: bool, attempts: bool) -> int:
    """One run. Raises `Refused("unknown_run")`."""
    found = read(data, lambda conn: runs.snapshot(conn, run_id, entries=True))
    if as_json:
        _print_json(as_data(found))
    elif attempts:
        _print_attempts(found)
    else:
        _print_run(found)
    return 0


def as_data(found: Snapshot) -> dict[str, Any]:
    """The run as data; its keys are an interface."""
    run = found.run
    return {
        **_row(run),
        "channel": run.channel,
        "thread_ts": run.thread_ts,
        "revision": run.revision,
        "digest": run.digest,
        "plan": found.plan.model_dump(mode="json") if found.plan else None,
        "steps": [_step(found, step) for step in found.steps],
        "approvals": [approval.model_dump(mode="json") for approval in found.approvals],
        "attempts": [attempt.model_dump(mode="json") for attempt in found.attempts],
        "audit": [entry.model_dump(mode="json", exclude={"run"}) for entry in found.entries],
        "answer": found.answer.model_dump(mode="json") if found.answer else None,
    }


def _step(found: Snapshot, step: StepState) -> dict[str, Any]:
    grade = found.grades.get(step.id)
    return {
        "id": step.id,
        "tool": step.tool,
        "status": step.status,
        "risk": grade.level if grade else None,
        "risk_reasons": list(grade.reasons) if grade else [],
        "rules": list(grade.rules) if grade else [],
        "attempt": step.attempt,
        "started_at": step.started_at.isoformat() if step.started_at else None,
        "finished_at": step.finished_at.isoformat() if step.finished_at else None,
        "observation": step.observation.value if step.observation else None,
        "error": step.error,
    }


def _say(text: str) -> None:
    """A line whose words may come from anybody: signs that would steer a terminal are shown instead."""
    console.print(visible(text), markup=False)


def _print_attempts(found: Snapshot) -> None:
    for attempt in found.attempts:
        console.print(f"round {attempt.round} · {attempt.planner} · {'ok' if attempt.ok else 'not usable'}", style="bold")
        for fault in attempt.faults:
            _say(f"  fault: {fault}")
        _say(attempt.raw)
    if not found.attempts:
        console.print("No planning round yet.")


def _print_run(found: Snapshot) -> None:
    run = found.run
    digest = f" · digest {short(run.digest)}" if run.digest else ""
    _say(f"{run.id} · {run.status}{f' ({run.reason})' if run.reason else ''} · risk {run.risk or '–'}{digest}")
    _say(f"asked by {run.requester}: {run.ask}")
    for step in found.steps:
        note = step.error or (step.observation.says if step.observation else "")
        _say(f"  {step.number} · {step.id} · {step.tool} · {step.status}{f' · {note}' if note else ''}")
    for approval in found.approvals:
        _say(f"approved by {approval.actor}, {approval.at:%Y-%m-%d %H:%M:%S} UTC ({approval.kind})")
    if found.answer:
        _say(found.answer.text)
    console.print(f"{len(found.entries)} audit entries")


def upgrade_database(data: Path | None) -> int:
    """Run the migrations."""
    from bot.store.migrations import upgrade

    url = load(data).database_url
    upgrade(url)
    console.print("The database is up to date.")
    return 0

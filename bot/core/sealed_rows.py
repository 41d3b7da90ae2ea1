"""What a run's rows must hold, told by its entries: the rows beside the chain are only as good as what the chain says of them.

Whoever changes a plan, a grade, an approval, an observation or an answer in the file leaves the entries as they are; but each entry seals
the rows that its change brought (`data["sealed"]`, fingerprints by name). Here the entries are walked again, and out comes what every row
must be. Entries from before there were such seals vouch for nothing, and nothing is held against the rows that they brought.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from bot.core.plan import fingerprint
from bot.core.states import Event, StepStatus

YES = frozenset({Event.APPROVAL_GIVEN, Event.APPROVED, Event.CONFIRMED, Event.REDIRECTED})  # events that an approval's row stands behind
PLANS = frozenset(
    {Event.PLANNED, Event.REVISED, Event.RELEASED, Event.REDIRECTED, Event.REDIRECT_PLANNED, Event.REGRADED, Event.PLAN_REFUSED}
)
ENDS = frozenset({Event.ANSWERED, Event.ANSWERED_FAILED})

SEALED = "sealed"
DROPPED = "dropped"  # the one key of what stands in an observation's place once the policy lets it go
_GIVEN = ("attempt", "error", "args_sha256")  # what an entry says of a step under its own names
_OUTCOME = ("finished_at", "error", "value", "result")  # what a step that starts again loses

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """A step's row, as the entries tell it. `known` False: some entry of it is from before there were seals."""

    revision: int
    seq: int  # of the last entry about it
    status: str = StepStatus.PENDING
    known: bool = True
    said: Mapping[str, Any] = field(default_factory=dict)  # attempt, error, times; fingerprints of args, value and the rest of the result


def revision_named(event: str, data: Row) -> int:
    """The revision that an entry of such an event is about, 0 if none."""
    return int(data.get("proposed") or data.get("revision") or 0) if event in PLANS else 0


def revision_seal(row: Row) -> str:
    """The fingerprint of a revision's row: plan, digest, risk, grades, definitions of the tools, author."""
    return fingerprint({name: row[name] for name in ("plan", "digest", "risk", "grades", "tool_digests", "author")})


def approval_seal(row: Row) -> str:
    """The fingerprint of an approval's row."""
    said = {name: row[name] for name in ("revision", "digest", "kind", "step", "actor")}
    return fingerprint({**said, "at": row["at"].isoformat()})


def attempt_seal(row: Row) -> str:
    """The fingerprint of a planning round's row."""
    return fingerprint({"round": row["round"], "at": row["at"].isoformat(), "reply": row["reply"]})


def observation_seal(observation: Mapping[str, Any]) -> dict[str, str]:
    """Two fingerprints, since the value may be dropped some day and the rest stays."""
    rest = {name: value for name, value in observation.items() if name != "value"}
    return {"value": fingerprint(observation.get("value")), "result": fingerprint(rest)}


def is_dropped(value: Any) -> bool:
    """Does this stand in the place of a value that the policy has let go: nothing but when that was?"""
    if not isinstance(value, dict) or set(value) != {DROPPED}:
        return False
    try:
        return bool(datetime.fromisoformat(value[DROPPED]))
    except (TypeError, ValueError):  # words where a time should stand: somebody wants to be read
        return False


def steps(entries: Iterable[Row], plans: Mapping[int, Row]) -> dict[str, Step]:
    """Every step's row after these entries, oldest first; `plans` are the revisions' stored plans."""
    found: dict[str, Step] = {}
    for entry in entries:
        data = entry["data"]
        if "plan_steps" in data:
            found = _adopted(found, int(data["revision"]), entry, plans)
        name = data.get("step")
        if name in found and ("step_to" in data or "args_sha256" in data or SEALED in data):
            found[name] = _moved(found[name], entry)
    return found


def _adopted(found: Mapping[str, Step], n: int, entry: Row, plans: Mapping[int, Row]) -> dict[str, Step]:
    """As `store.runs.adopt_revision` does it: new steps are pending, changed pending ones are blank, pending ones it lacks are gone."""
    planned = {step["id"]: step for step in plans[n]["steps"]} if n in plans else {}
    again = entry["data"].get("again", ())
    after = {name: step for name, step in found.items() if step.status != StepStatus.PENDING or name in planned}
    for name, step in planned.items():
        before = found.get(name)
        if before is None:
            after[name] = Step(revision=n, seq=entry["seq"])
        elif name in again or (before.status == StepStatus.PENDING and as_planned(before, name, plans) != step):
            kept = {"attempt": before.said["attempt"]} if "attempt" in before.said else {}
            after[name] = replace(before, revision=n, seq=entry["seq"], status=StepStatus.PENDING, said=kept)
    return after


def as_planned(step: Step, name: str, plans: Mapping[int, Row]) -> Row | None:
    """The step as the revision that brought it has it."""
    return next((one for one in plans.get(step.revision, {}).get("steps", ()) if one["id"] == name), None)


def _moved(step: Step, entry: Row) -> Step:
    data, said = entry["data"], dict(step.said)
    to = data.get("step_to", step.status)
    if to != data.get("step_from", to) and to in (StepStatus.RUNNING, StepStatus.PENDING):
        said = {name: value for name, value in said.items() if name not in _OUTCOME}
    said |= {name: data[name] for name in _GIVEN if name in data}
    said |= {name: value for name, value in (data.get(SEALED) or {}).items() if name in ("started_at", *_OUTCOME)}
    return replace(step, status=to, seq=entry["seq"], said=said, known=step.known and SEALED in data)


def faults_of_step(step: Step, row: Row, planned: Row | None) -> list[str]:
    """Which columns of the row are not what its entries say."""
    stored: dict[str, Any] = {"error": row["error"] or None}
    stored |= {name: row[name].isoformat() if row[name] else None for name in ("started_at", "finished_at")}
    stored["attempt"] = row["attempt"] or None
    stored["args_sha256"] = fingerprint(row["args"]) if row["args"] is not None else None
    seals = observation_seal(row["observation"]) if row["observation"] is not None else {}
    if seals and is_dropped(row["observation"]["value"]) and "value" in step.said:
        seals["value"] = step.said["value"]
    stored |= {name: seals.get(name) for name in ("value", "result")}
    faults = ["status"] if row["status"] != step.status else []
    faults += ["revision"] if row["revision"] != step.revision else []
    if planned is not None and (row["tool"], row["number"]) != (planned["tool"], planned["number"]):
        faults.append("tool or number")
    if step.known:
        faults += [_NAMES.get(name, name) for name, value in stored.items() if value != (step.said.get(name) or None)]
    return list(dict.fromkeys(faults))


_NAMES = {"args_sha256": "arguments", "value": "observation", "result": "observation", "started_at": "start", "finished_at": "end"}


def vouched(entries: Sequence[Row], name: str) -> list[tuple[int, str]]:
    """Number of the entry → the fingerprint of that name that it seals, oldest first."""
    return [(entry["seq"], entry["data"][SEALED][name]) for entry in entries if name in (entry["data"].get(SEALED) or {})]


def before_seals(entries: Sequence[Row], events: Iterable[str]) -> list[Row]:
    """Entries of these events from before there were seals: what they brought cannot be held against anybody."""
    wanted = frozenset(str(event) for event in events)
    return [entry for entry in entries if entry["event"] in wanted and SEALED not in entry["data"]]

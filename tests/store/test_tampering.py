"""Somebody with the file in hand changes a row: `verify` names the entry that vouched for it (C066).

The run is a real one: planned, approved by two people, one step that failed and was tried again, one that was confirmed, answered.
"""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection

from bot.core import sealed_rows
from bot.core.chain import HEADS, Head, Seen, ties
from bot.core.ids import Digest, StepId
from bot.core.run import Event, Hold
from bot.core.snapshot import Answer, Approval, Attempt, Observation
from bot.store import audit, door, runs
from tests.store.samples import BY, NOW, a_plan, later, opened, revise, start
from tests.store.test_audit import SHORT_CIRCUIT

RUN, OTHER = "R-7K2QX", "R-OTHER"
TAMPERED = [*SHORT_CIRCUIT]


def played(conn: Connection, run_id: str) -> None:
    """Everything that a run can bring: rounds, revisions, approvals, observations, an answer."""
    opened(conn, run_id)
    runs.add_attempt(conn, run_id, Attempt(round=1, ok=True, raw="one; two", planner="offline", tokens_in=3), NOW)
    door.change(conn, run_id, Event.ATTEMPTED, actor="pullcord", at=NOW, data={"round": 1, "ok": True})
    said = revise(conn, run_id, a_plan("one", "two"))
    facts = {"revision": 1, "digest": said, "risk": "low", "deadline": later(minutes=30)}
    door.change(conn, run_id, Event.PLANNED, **BY, data=facts)
    _yes(conn, run_id, "U_APPR", said, Event.APPROVAL_GIVEN)
    _yes(conn, run_id, "U_APPR2", said, Event.APPROVED, approved=said, deadline=None)
    door.change(conn, run_id, Event.STARTED, actor="pullcord", at=NOW)
    start(conn, "one", run_id)
    failed = door.StepChange(id=StepId("one"), error="no such file", finished_at=NOW)
    door.change(conn, run_id, Event.STEP_FAILED, actor="pullcord", at=NOW, step=failed)
    held = {"reason": Hold.STEP_FAILED, "step": "one"}
    door.change(conn, run_id, Event.HELD, actor="pullcord", at=NOW, data=held)
    door.change(conn, run_id, Event.SETTLED, actor="pullcord", at=NOW)
    door.change(conn, run_id, Event.RETRIED, **BY, step=door.StepChange(id=StepId("one")))
    for number, step in enumerate(("one", "two"), start=1):
        start(conn, step, run_id, attempt=3 - number)
        ended = door.StepChange(id=StepId(step), finished_at=later(seconds=9), observation=_seen(f"{step}: 30 s"))
        door.change(conn, run_id, Event.STEP_SUCCEEDED, actor="pullcord", at=NOW, step=ended)
    door.note(conn, run_id, actor="U_MEMBER", at=NOW, data={"did": "approve", "kind": "not_allowed"})
    door.change(conn, run_id, Event.STEPS_DONE, actor="pullcord", at=NOW)
    runs.set_answer(conn, run_id, Answer(text="The timeout is 30 s [1].", cites=(StepId("one"),)))
    door.change(conn, run_id, Event.ANSWERED, actor="pullcord", at=NOW)


def _seen(text: str) -> Observation:
    return Observation(value={"text": text, "number": 0.1}, says="1 line", sha256="f00d", size=12, fresh="v1")


def _yes(conn: Connection, run_id: str, actor: str, digest: Digest, event: Event, **more: object) -> None:
    runs.add_approval(conn, run_id, Approval(actor=actor, revision=1, digest=digest, at=later(seconds=-5)))
    door.change(conn, run_id, event, actor=actor, at=NOW, data={"revision": 1, "digest": digest, **more})


@pytest.fixture
def record(conn: Connection) -> Connection:
    """Two such runs, a freeze that was lifted, and the triggers taken away."""
    for run_id in (RUN, OTHER):
        played(conn, run_id)
    door.note(conn, audit.NO_RUN, Event.FROZEN, actor="U_ADMIN", at=NOW, data={"why": "drill"})
    assert audit.verify(conn) == []
    for trigger in TAMPERED:
        conn.exec_driver_sql(f"DROP TRIGGER {trigger}")
    conn.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
    return conn


def seq_of(conn: Connection, event: Event, *, last: bool = False) -> int:
    found = [entry.seq for entry in audit.entries(conn, RUN) if entry.event == event]
    return found[-1 if last else 0]


ANOTHER_APPROVAL = (
    "INSERT INTO approvals (run_id, revision, digest, kind, step, actor, at)"
    " SELECT run_id, revision, digest, kind, step, 'U_FORGED', at FROM approvals WHERE run_id = '{run}' AND actor = 'U_APPR'"
)
LAST = Event.ANSWERED  # what no entry vouches for is told at the last one

ROWS = [
    ("UPDATE approvals SET actor = 'U_FORGED' WHERE run_id = '{run}' AND actor = 'U_APPR'", Event.APPROVAL_GIVEN, "changed or removed"),
    ("UPDATE approvals SET at = '2026-11-30 09:00:00' WHERE run_id = '{run}' AND actor = 'U_APPR2'", Event.APPROVED, "changed or removed"),
    ("UPDATE approvals SET digest = 'other' WHERE run_id = '{run}' AND actor = 'U_APPR2'", Event.APPROVED, "changed or removed"),
    (ANOTHER_APPROVAL, LAST, "an approval by U_FORGED is in no entry"),
    ("DELETE FROM approvals WHERE run_id = '{run}' AND actor = 'U_APPR'", Event.APPROVAL_GIVEN, "changed or removed"),
    ("UPDATE revisions SET plan = replace(plan, 'one.md', 'etc.md') WHERE run_id = '{run}'", Event.PLANNED, "its plan or tools"),
    ("UPDATE revisions SET digest = 'other' WHERE run_id = '{run}'", Event.PLANNED, "its plan or tools"),
    ("UPDATE revisions SET grades = replace(grades, '\"low\"', '\"high\"') WHERE run_id = '{run}'", Event.PLANNED, "its grades or author"),
    ("UPDATE revisions SET risk = 'high' WHERE run_id = '{run}'", Event.PLANNED, "its grades or author were"),
    ("UPDATE revisions SET tool_digests = '{{\"files.read\":\"x\"}}' WHERE run_id = '{run}'", Event.PLANNED, "its plan or tools"),
    ("UPDATE revisions SET author = 'U_REQ' WHERE run_id = '{run}'", Event.PLANNED, "its grades or author were"),
    ("DELETE FROM revisions WHERE run_id = '{run}'", Event.PLANNED, "revision 1, which entry 3 brought, is missing"),
    ("UPDATE attempts SET reply = replace(reply, 'one', 'won') WHERE run_id = '{run}'", Event.ATTEMPTED, "planning round 1 is not what"),
    ("DELETE FROM attempts WHERE run_id = '{run}'", Event.ATTEMPTED, "planning round 1 is missing"),
    ("UPDATE runs SET answer = replace(answer, '30', '60') WHERE id = '{run}'", Event.ANSWERED, "the answer is not what entry"),
    ("UPDATE runs SET answer = NULL WHERE id = '{run}'", Event.ANSWERED, "the answer is not what entry"),
    ("UPDATE runs SET status = 'failed' WHERE id = '{run}'", LAST, "the run's row was changed: status is failed"),
]
STEPS = [
    ("observation = replace(observation, '30 s', '60 s')", "observation changed"),
    ("observation = replace(observation, '1 line', '2 lines')", "observation changed"),
    ("observation = NULL", "observation changed"),
    ('args = \'{{"path":"etc.md"}}\'', "arguments changed"),
    ("args = NULL", "arguments changed"),
    ("status = 'failed'", "status changed"),
    ("attempt = 1", "attempt changed"),
    ("error = 'it was me'", "error changed"),
    ("started_at = '2026-11-30 09:00:00'", "start changed"),
    ("finished_at = NULL", "end changed"),
    ("tool = 'shell.run'", "tool or number changed"),
    ("number = 7", "tool or number changed"),
    ("revision = 2", "revision changed"),
]


def found_in(record: Connection) -> tuple[str, int, str]:
    (broken,) = audit.verify(record)
    return broken.run, broken.seq, broken.says


@pytest.mark.parametrize(("statement", "event", "says"), ROWS)
def test_a_row_that_was_changed_is_named_by_the_entry_that_vouches_for_it(
    record: Connection, statement: str, event: Event, says: str
) -> None:
    seq = seq_of(record, event)
    assert record.exec_driver_sql(statement.format(run=RUN)).rowcount > 0

    run, broken_at, said = found_in(record)

    assert (run, broken_at) == (RUN, seq)
    assert says in said


@pytest.mark.parametrize(("change", "says"), STEPS)
def test_a_steps_row_that_was_changed_is_named_by_its_last_entry(record: Connection, change: str, says: str) -> None:
    seq = next(entry.seq for entry in reversed(audit.entries(record, RUN)) if entry.data.get("step") == "one")
    record.exec_driver_sql(f"UPDATE steps SET {change.format()} WHERE run_id = '{RUN}' AND step_id = 'one'")

    run, broken_at, said = found_in(record)

    assert (run, broken_at) == (RUN, seq)
    assert said == f"step one is not what entry {seq} recorded: {says}"


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("DELETE FROM steps WHERE run_id = '{run}' AND step_id = 'two'", "step two, of which entry"),
        ("INSERT INTO steps SELECT run_id, 'three', revision, 3, tool, status, attempt, args, started_at, finished_at, observation, error,"
         " tokens, money FROM steps WHERE run_id = '{run}' AND step_id = 'two'", "step three is in no entry"),
        ("INSERT INTO attempts SELECT run_id, 2, at, reply FROM attempts WHERE run_id = '{run}'", "planning round 2 is in no entry"),
        ("INSERT INTO revisions SELECT run_id, 2, plan, digest, risk, grades, tool_digests, author, at FROM revisions"
         " WHERE run_id = '{run}'", "revision 2 is in no entry"),
    ],
)  # fmt: skip
def test_a_row_that_was_taken_away_or_slipped_in_is_named(record: Connection, statement: str, says: str) -> None:
    assert record.exec_driver_sql(statement.format(run=RUN)).rowcount > 0

    assert says in found_in(record)[2]


def test_what_the_policy_lets_go_is_not_broken_but_anything_else_in_its_place_is(record: Connection) -> None:
    others = ('{"dropped":"2027-01-01","text":"60 s"}', '{"dropped":"60 s"}', '"gone"')
    for value, fine in (('{"dropped":"2027-01-01"}', True), *((other, False) for other in others)):
        record.exec_driver_sql(f"UPDATE steps SET observation = json_set(observation, '$.value', json('{value}')) WHERE step_id = 'one'")

        assert (audit.verify(record) == []) is fine, value


def test_runs_from_before_there_were_seals_are_not_broken_by_that(conn: Connection) -> None:
    """Their chain is checked, and what it says; the rows that nothing vouches for are not."""
    played(conn, RUN)
    for trigger in TAMPERED:
        conn.exec_driver_sql(f"DROP TRIGGER {trigger}")
    strip_seals(conn)
    assert audit.verify(conn) == []

    conn.exec_driver_sql("UPDATE revisions SET author = 'U_X'")
    conn.exec_driver_sql("UPDATE approvals SET at = '2026-11-30 09:00:00' WHERE actor = 'U_APPR'")
    conn.exec_driver_sql("UPDATE runs SET answer = NULL")
    assert audit.verify(conn) == []

    conn.exec_driver_sql("UPDATE audit SET actor = 'U_X' WHERE seq = 5")
    assert [broken.seq for broken in audit.verify(conn)] == [5]


def strip_seals(conn: Connection) -> None:
    """Write the same record as an older version did, chains and heads anew."""
    rows = [dict(row) for row in conn.exec_driver_sql("SELECT id FROM audit ORDER BY id").mappings()]
    entries = audit.entries(conn, RUN)
    conn.exec_driver_sql("DELETE FROM heads")
    conn.exec_driver_sql("DELETE FROM audit")
    assert len(rows) == len(entries)
    prev = ""
    for entry in entries:
        data = {name: value for name, value in entry.data.items() if name != "sealed"}
        made = audit.sealed(RUN, entry.seq, at=entry.at, actor=entry.actor, event=entry.event, data=data, prev=prev)
        audit.write(conn, made)
        prev = made["hash"]
    conn.exec_driver_sql(f"UPDATE runs SET head = '{prev}' WHERE id = '{RUN}'")


# A file that was rewritten as a whole agrees with itself: only others can tell.

Rewrite = Callable[[Connection], None]


def remove_the_run(conn: Connection) -> None:
    """The run with its rows, entries and heads, and the chain of heads made anew without it."""
    for table in ("steps", "approvals", "attempts", "revisions", "audit", "heads"):
        conn.exec_driver_sql(f"DELETE FROM {table} WHERE run_id = '{RUN}'")
    conn.exec_driver_sql(f"DELETE FROM runs WHERE id = '{RUN}'")
    make_heads_anew(conn)


def cut_the_tail_with_the_row(conn: Connection) -> None:
    """The last entry of the run, its row set back, its head gone: an answer that was never given."""
    last = audit.entries(conn, RUN)[-1]
    before = audit.entries(conn, RUN)[-2]
    conn.exec_driver_sql(f"DELETE FROM audit WHERE run_id = '{RUN}' AND seq = {last.seq}")
    conn.exec_driver_sql(
        f"UPDATE runs SET seq = {before.seq}, head = '{before.hash}', status = 'answering', version = version - 1, answer = NULL"
        f" WHERE id = '{RUN}'"
    )
    conn.exec_driver_sql(f"DELETE FROM heads WHERE run_id = '{RUN}' AND seq = {last.seq}")
    make_heads_anew(conn)


def put_another_approver(conn: Connection) -> None:
    """Another name at the approval, with every hash after it made anew."""
    entries = audit.entries(conn, RUN)
    conn.exec_driver_sql(f"DELETE FROM audit WHERE run_id = '{RUN}'")
    conn.exec_driver_sql(f"DELETE FROM heads WHERE run_id = '{RUN}'")
    conn.exec_driver_sql(f"UPDATE approvals SET actor = 'U_FORGED' WHERE run_id = '{RUN}' AND actor = 'U_APPR2'")
    (row,) = conn.exec_driver_sql(f"SELECT id FROM approvals WHERE run_id = '{RUN}' AND actor = 'U_FORGED'").all()
    prev = ""
    for entry in entries:
        actor, data = entry.actor, entry.data
        if entry.event == Event.APPROVED:
            actor = "U_FORGED"
            yes = next(each for each in runs.approvals(conn, RUN) if each.actor == actor)
            seal = sealed_rows.approval_seal({**yes.model_dump(), "step": ""})
            data = {**data, "sealed": {**data["sealed"], "approval": seal}}
        made = audit.sealed(RUN, entry.seq, at=entry.at, actor=actor, event=entry.event, data=data, prev=prev)
        conn.execute(audit._INSERT, made)
        prev = made["hash"]
    assert row
    conn.exec_driver_sql(f"UPDATE runs SET head = '{prev}' WHERE id = '{RUN}'")
    make_heads_anew(conn)


def make_heads_anew(conn: Connection) -> None:
    conn.exec_driver_sql("DELETE FROM heads")
    for line in [*audit.lines(conn)]:
        if ties(line["run"], line["event"], line["data"]):
            audit._tie(conn, line["run"], line["seq"], line["hash"], at=NOW)


@pytest.mark.parametrize("rewrite", [remove_the_run, cut_the_tail_with_the_row, put_another_approver])
def test_a_file_that_was_rewritten_as_a_whole_is_found_by_a_head_that_was_kept_elsewhere(record: Connection, rewrite: Rewrite) -> None:
    n, kept = audit.last_head(record)

    rewrite(record)

    assert audit.verify(record) == []
    (broken,) = audit.verify(record, heads=[Head(n, kept)])
    assert (broken.run, broken.seq) == (HEADS, n)


@pytest.mark.parametrize("rewrite", [remove_the_run, cut_the_tail_with_the_row, put_another_approver])
def test_and_by_what_the_audit_channel_tells_of_its_entries(record: Connection, rewrite: Rewrite) -> None:
    last = audit.entries(record, RUN)[-1]

    rewrite(record)

    (broken,) = audit.verify(record, seen=[Seen(RUN, last.seq, last.hash[:12])])
    assert (broken.run, broken.seq) == (RUN, last.seq)


def test_heads_and_entries_that_are_still_what_they_were_break_nothing(record: Connection) -> None:
    heads = [Head(1, record.exec_driver_sql("SELECT hash FROM heads WHERE n = 1").scalar_one()[:12]), Head(*audit.last_head(record))]
    seen = [Seen(entry.run, entry.seq, entry.hash) for entry in audit.entries(record, RUN)]

    assert audit.verify(record, heads=heads, seen=seen) == []
    assert [broken.seq for broken in audit.verify(record, heads=[Head(99, "f00d")])] == [99]


def test_a_published_head_covers_entries_that_are_no_decisions_too(conn: Connection) -> None:
    """A pause is tied in at the next interval: from then on its end cannot be cut off, whatever is mended beside it."""
    opened(conn, RUN)
    door.note(conn, RUN, actor="U_X", at=NOW)
    (before,) = [audit.last_head(conn)]
    audit.tie_open_ends(conn, at=NOW)
    n, _ = audit.last_head(conn)
    assert n == before[0] + 1
    assert audit.tie_open_ends(conn, at=NOW) == 2
    assert audit.last_head(conn)[0] == n
    first = audit.entries(conn, RUN)[0]
    for trigger in TAMPERED:
        conn.exec_driver_sql(f"DROP TRIGGER {trigger}")

    conn.exec_driver_sql("DELETE FROM audit WHERE seq = 2")
    conn.exec_driver_sql(f"UPDATE runs SET seq = 1, head = '{first.hash}'")

    assert found_in(conn) == (RUN, 2, f"entry 2 is missing that head {n} was made from")


@pytest.mark.parametrize(
    "statement",
    ["UPDATE steps SET observation = '1'", """UPDATE runs SET breakpoints = '[{"zz": 1}]'""", "UPDATE revisions SET plan = '[]'"],
)
def test_what_cannot_be_read_is_named_and_hides_no_other_run(record: Connection, statement: str) -> None:
    record.exec_driver_sql(f"{statement} WHERE {'id' if 'runs' in statement else 'run_id'} = '{RUN}'")  # noqa: S608

    assert [broken.run for broken in audit.verify(record)] == [RUN]

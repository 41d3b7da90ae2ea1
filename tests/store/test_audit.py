"""What is on record stays as it was written, or `verify` says where it was touched first (C066)."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from bot.core.chain import HEADS, entry_hash
from bot.core.ids import StepId
from bot.core.run import Event
from bot.store import audit, door
from tests.store.samples import BY, NOW, in_review, later, opened, running, start

RUN, OTHER = "R-7K2QX", "R-OTHER"
SHORT_CIRCUIT = ("audit_no_update", "audit_no_delete", "heads_no_update", "heads_no_delete", "runs_no_delete")


@pytest.fixture
def record(conn: Connection) -> Connection:
    """Two finished runs with a dozen entries between them, and the triggers taken away by somebody with the file in hand."""
    for run_id in (RUN, OTHER):
        running(conn, run_id)
        for step in ("one", "two"):
            start(conn, step, run_id)
            ended = door.StepChange(id=StepId(step), finished_at=NOW)
            door.change(conn, run_id, Event.STEP_SUCCEEDED, actor="pullcord", at=NOW, step=ended)
        door.note(conn, run_id, actor="U_MEMBER", at=NOW)
        door.change(conn, run_id, Event.STEPS_DONE, actor="pullcord", at=NOW)
        door.change(conn, run_id, Event.ANSWERED, actor="pullcord", at=NOW)
    assert audit.verify(conn) == []
    for trigger in SHORT_CIRCUIT:
        conn.exec_driver_sql(f"DROP TRIGGER {trigger}")
    conn.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
    return conn


def run_sql(*statements: str) -> Callable[[Connection], None]:
    def work(conn: Connection) -> None:
        for statement in statements:
            assert conn.exec_driver_sql(statement).rowcount > 0, statement

    return work


def swap_8_and_9(conn: Connection) -> None:
    for old, new in ((8, -1), (9, 8), (-1, 9)):
        conn.exec_driver_sql(f"UPDATE audit SET seq = {new} WHERE run_id = '{RUN}' AND seq = {old}")


def insert_between_10_and_11(conn: Connection) -> None:
    tenth = audit.entries(conn, RUN)[9].hash
    conn.exec_driver_sql(f"UPDATE audit SET seq = seq + 100 WHERE run_id = '{RUN}' AND seq > 10")
    conn.exec_driver_sql(f"UPDATE audit SET seq = seq - 99 WHERE run_id = '{RUN}' AND seq > 100")
    forged = audit.sealed(RUN, 11, at=NOW, actor="U_APPR", event="approved", data={}, prev=tenth)
    conn.execute(audit._INSERT, forged)


def rewrite_the_last_entry_with_a_fresh_hash(conn: Connection) -> None:
    last = audit.entries(conn, RUN)[-1]
    prev = audit.entries(conn, RUN)[-2].hash
    forged = audit.sealed(RUN, last.seq, at=last.at, actor="U_SOMEBODY", event=last.event, data=last.data, prev=prev)
    conn.exec_driver_sql(f"UPDATE audit SET actor = 'U_SOMEBODY', hash = '{forged['hash']}' WHERE run_id = '{RUN}' AND seq = {last.seq}")
    conn.exec_driver_sql(f"UPDATE runs SET head = '{forged['hash']}' WHERE id = '{RUN}'")


def of_run(rest: str) -> str:
    return f"{rest} run_id = '{RUN}' AND"


@pytest.mark.parametrize(
    ("tamper", "run", "seq", "says"),
    [
        (run_sql(of_run("UPDATE audit SET actor = 'U_OTHER' WHERE") + " seq = 5"), RUN, 5, "changed after it was written"),
        (run_sql(of_run('UPDATE audit SET data = \'{"approved":"other"}\' WHERE') + " seq = 3"), RUN, 3, "changed after"),
        (run_sql(of_run("UPDATE audit SET at = '2026-11-30 11:00:00.000000' WHERE") + " seq = 4"), RUN, 4, "changed after"),
        (run_sql(of_run("UPDATE audit SET event = 'cancelled' WHERE") + " seq = 3"), RUN, 3, "changed after"),
        (run_sql(of_run("DELETE FROM audit WHERE") + " seq = 7"), RUN, 7, "entry 7 is missing"),
        (run_sql(of_run("DELETE FROM audit WHERE") + " seq = 1"), RUN, 1, "entry 1 is missing"),
        (swap_8_and_9, RUN, 8, "changed after"),
        (insert_between_10_and_11, RUN, 12, "changed after"),
        (run_sql(of_run("DELETE FROM audit WHERE") + " seq > 9"), RUN, 10, "entries are missing after entry 9"),
        (run_sql(f"DELETE FROM audit WHERE run_id = '{RUN}'"), RUN, 1, "every entry of this run is missing"),
        (rewrite_the_last_entry_with_a_fresh_hash, RUN, 11, "is not the one that head"),
        (run_sql(f"UPDATE runs SET approved = 'other' WHERE id = '{RUN}'"), RUN, 11, "the run's row was changed: approved is other"),
        (run_sql(f"UPDATE runs SET requester = 'U_APPR' WHERE id = '{RUN}'"), RUN, 11, "requester is U_APPR, recorded was U_REQ"),
        (run_sql("DELETE FROM heads WHERE n = 2"), HEADS, 2, "head 2 is missing"),
        (run_sql("UPDATE heads SET head = 'other' WHERE n = 3"), HEADS, 3, "head 3 is missing or was changed"),
        (run_sql("DELETE FROM heads WHERE n = 6"), HEADS, 6, "heads were cut off"),
    ],
)
def test_verify_names_the_first_broken_entry(
    record: Connection, tamper: Callable[[Connection], None], run: str, seq: int, says: str
) -> None:
    tamper(record)

    found = audit.verify(record)

    assert [(broken.run, broken.seq) for broken in found] == [(run, seq)]
    assert says in found[0].says


def test_a_run_that_was_removed_with_everything_is_named_by_the_chain_of_heads(record: Connection) -> None:
    for table, key in (("audit", "run_id"), ("steps", "run_id"), ("revisions", "run_id"), ("runs", "id")):
        record.exec_driver_sql(f"DELETE FROM {table} WHERE {key} = '{RUN}'")

    assert [(broken.run, broken.says) for broken in audit.verify(record)] == [(RUN, "entry 1 is missing that head 1 was made from")]


def test_a_run_whose_row_was_removed_is_named(record: Connection) -> None:
    for table, key in (("steps", "run_id"), ("revisions", "run_id"), ("runs", "id")):
        record.exec_driver_sql(f"DELETE FROM {table} WHERE {key} = '{RUN}'")

    assert [(broken.run, broken.says) for broken in audit.verify(record)] == [(RUN, "the run's own row was removed")]


def test_a_tail_that_was_cut_off_with_the_row_adjusted_is_named_by_the_chain_of_heads(record: Connection) -> None:
    """Who cuts the end off and mends the run's row to match still cannot make the heads forget it."""
    tenth = audit.entries(record, RUN)[9]
    record.exec_driver_sql(f"DELETE FROM audit WHERE run_id = '{RUN}' AND seq > 10")
    record.exec_driver_sql(
        f"UPDATE runs SET seq = 10, head = '{tenth.hash}', status = 'answering', version = version - 1 WHERE id = '{RUN}'"
    )

    assert [(broken.run, broken.seq, broken.says) for broken in audit.verify(record)] == [
        (RUN, 11, "entry 11 is missing that head 3 was made from")
    ]


def test_each_broken_chain_is_named_once(record: Connection) -> None:
    record.exec_driver_sql("UPDATE audit SET actor = 'U_X' WHERE seq IN (2, 5)")

    assert [(broken.run, broken.seq) for broken in audit.verify(record)] == [(RUN, 2), (OTHER, 2)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET actor = 'U_X'",
        "DELETE FROM audit",
        "UPDATE heads SET head = ''",
        "DELETE FROM heads",
        "DELETE FROM runs",
        "REPLACE INTO audit SELECT * FROM audit",
    ],
)
def test_the_database_refuses_to_change_what_is_on_record(conn: Connection, statement: str) -> None:
    """C066 and C047: not even the bot's own connection may."""
    opened(conn)

    with pytest.raises(IntegrityError):
        conn.exec_driver_sql(statement)

    assert audit.verify(conn) == []


def test_an_export_proves_itself_entry_by_entry(conn: Connection) -> None:
    in_review(conn, RUN)
    opened(conn, OTHER)
    door.note(conn, RUN, actor="U_X", at=later(minutes=1))

    last: dict[str, str] = {}
    exported = list(audit.export(conn))
    for entry in exported:
        sealed = entry_hash(entry.run, entry.seq, entry.at, entry.actor, entry.event, entry.data, last.get(entry.run, ""))
        assert sealed == entry.hash
        last[entry.run] = entry.hash

    assert [(entry.run, entry.seq) for entry in exported] == [(RUN, 1), (RUN, 2), (OTHER, 1), (RUN, 3)]
    assert [entry.seq for entry in audit.export(conn, run_id=RUN, since=later(seconds=1))] == [3]
    assert audit.count(conn) == 4
    assert audit.head(conn, RUN) == (3, last[RUN])
    assert audit.head(conn, "R-NONE") == (0, "")


def test_odd_words_from_outside_do_not_break_the_chain(conn: Connection) -> None:
    """Half a surrogate pair, a NUL, a number that is none: tools return such things."""
    in_review(conn)
    odd = {"text": "\ud800 \x00 \u2028 é", "number": float("nan"), "big": 2**70, "small": 1e-7, **{"nested": [{"a": (1, 2)}]}}

    door.note(conn, RUN, **{**BY, "actor": "é"}, data=odd)

    assert audit.verify(conn) == []
    assert audit.entries(conn, RUN)[-1].data["text"] == odd["text"]

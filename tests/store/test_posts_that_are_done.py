"""Whoever looks for work looks past posts that nothing changes any more, and misses none that something does."""

import sqlite3
from pathlib import Path

from alembic import command
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, select

from bot.core.run import Event
from bot.core.snapshot import NewPost, Post
from bot.store import door, engine, posts, tables
from bot.store.migrations import configuration, upgrade
from tests.store.samples import BY, NOW, in_review, later, opened

RUN = "R-7K2QX"
CARDS = ("run", "review", "redirect", "confirm", "note", "answer", "audit")


def post(conn: Connection, card: str, *, run: str = RUN, shown: int | None = None) -> Post:
    """A post of that kind; with `shown` it stands in Slack."""
    posts.add(conn, NewPost(run=run, card=card, key=f"{run}:{card}", channel="C"))
    found = next(each for each in posts.of_run(conn, run) if each.card == card)
    if shown is not None:
        posts.posted(conn, found.id, channel="C", ts=f"1.{found.id}", shown=shown)
    return posts.get(conn, found.id)


def looked_at(conn: Connection) -> set[str]:
    """Kinds of the posts that are not done."""
    return set(conn.execute(select(tables.posts.c.card).where(tables.posts.c.done.is_(False))).scalars())


def test_what_is_said_once_is_done_when_it_is_said(conn: Connection) -> None:
    opened(conn)
    for card in CARDS:
        post(conn, card, shown=1)

    assert looked_at(conn) == set(posts.KEPT_TRUE)


def test_a_card_is_done_once_it_shows_how_its_run_ended(conn: Connection) -> None:
    opened(conn)
    card = post(conn, "run", shown=1)
    door.change(conn, RUN, Event.CANCELLED, **BY)

    posts.shown(conn, card.id, 1)  # drawn from a look a moment before the end
    assert looked_at(conn) == {"run"}
    assert posts.stale(conn) == [posts.get(conn, card.id)]
    posts.shown(conn, card.id, 2)

    assert looked_at(conn) == set()
    assert posts.stale(conn) == []


def test_a_card_that_is_done_stands_anew_when_its_message_is_gone(conn: Connection) -> None:
    opened(conn)
    door.change(conn, RUN, Event.CANCELLED, **BY)
    card = post(conn, "run", shown=2)

    posts.later(conn, card.id, not_before=NOW, error="message_not_found", unsent=True)

    assert [each.id for each in posts.waiting(conn, NOW)] == [card.id]


def test_a_card_that_is_done_is_drawn_again_when_something_else_has_changed(conn: Connection) -> None:
    opened(conn)
    door.change(conn, RUN, Event.CANCELLED, **BY)
    card, _ = post(conn, "run", shown=2), post(conn, "answer", shown=2)

    posts.redraw(conn, [RUN])

    assert [each.id for each in posts.stale(conn)] == [card.id]


def test_looking_for_work_asks_only_for_what_is_open(conn: Connection) -> None:
    """However many cards there have ever been: the index holds the others only."""
    for words in (posts.stale, lambda conn: posts.waiting(conn, NOW)):
        asked: list[str] = []
        driver = engine.driver(conn)
        driver.set_trace_callback(asked.append)
        words(conn)
        driver.set_trace_callback(None)
        plan = [row[-1] for row in conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {asked[-1]}")]
        assert plan[0] == "SEARCH posts USING INDEX posts_open (state=?)"
        assert not [line for line in plan if line.startswith("SCAN")]


MOVES = st.lists(st.sampled_from(("review", "cancel", "wish", "post", "draw", "late", "lose", "break", "redraw")), max_size=12)


@given(card=st.sampled_from(CARDS), moves=MOVES)
def test_nothing_that_is_behind_is_missed(migrated: Path, card: str, moves: list[str]) -> None:
    """The same answer as from every card that there has ever been, after any moves."""
    writer = engine.writing(f"sqlite:///{migrated}")
    with writer.connect() as conn:
        transaction = engine.begin_writing(conn)
        opened(conn)
        for move in moves:
            _make(conn, move, card)
            assert posts.stale(conn) == _behind(conn)
            assert {each.state for each in posts.waiting(conn, NOW)} == {each.state for each in _all(conn)} & {"wanted", "sending"}
        transaction.rollback()
    writer.dispose()


def _make(conn: Connection, move: str, card: str) -> None:
    found = next(iter(_all(conn)), None)
    run = conn.execute(select(tables.runs.c.version, tables.runs.c.status)).one()
    if move == "wish":
        post(conn, card)
    elif move == "cancel" and run.status == "planning":
        door.change(conn, RUN, Event.CANCELLED, **BY)
    elif move == "review" and run.status == "planning":
        door.change(conn, RUN, Event.QUESTION_ASKED, **BY, data={"deadline": later(minutes=1)})
    elif found is not None and found.state in ("wanted", "sending"):
        if move == "post":
            posts.posted(conn, found.id, channel="C", ts="1.1", shown=run.version)
        elif move == "late":
            posts.posted(conn, found.id, channel="C", ts="1.1", shown=-1)
        elif move == "break":
            posts.failed(conn, found.id, "channel_not_found")
    elif found is not None and found.state == "posted":
        if move == "draw":
            posts.shown(conn, found.id, run.version)
        elif move == "late":
            posts.shown(conn, found.id, run.version - 1)
        elif move == "lose":
            posts.later(conn, found.id, not_before=NOW, error="message_not_found", unsent=True)
        elif move == "redraw":
            posts.redraw(conn, [RUN])


def _all(conn: Connection) -> list[Post]:
    return posts.of_run(conn, RUN)


def _behind(conn: Connection) -> list[Post]:
    version = conn.execute(select(tables.runs.c.version).where(tables.runs.c.id == RUN)).scalar_one()
    return [each for each in _all(conn) if each.state == "posted" and each.card in posts.KEPT_TRUE and each.shown < version]


def test_an_older_file_has_its_posts_marked(tmp_path: Path) -> None:
    """What stood before the mark was there is looked at as before, but for what nothing changes any more."""
    path = tmp_path / "pullcord.db"
    _older(path)

    upgrade(f"sqlite:///{path}")

    with sqlite3.connect(path) as file:
        found = dict(file.execute("SELECT key, done FROM posts"))
    file.close()
    assert found == {"open": 0, "ended": 1, "behind": 0, "wanted": 0, "failed": 1, "said": 1, "none": 1}


def _older(path: Path) -> None:
    """A file of the version before, with a run that is open and one that has ended, and a post of each kind."""
    url = f"sqlite:///{path}"
    upgrade(url)
    writer = engine.writing(url, foreign_keys=False)
    with writer.connect() as conn:
        with engine.begin_writing(conn):
            in_review(conn, "R-OPEN")
            opened(conn, "R-ENDED")
            door.change(conn, "R-ENDED", Event.CANCELLED, **BY)
        with engine.begin_writing(conn):
            conn.exec_driver_sql("DROP INDEX posts_open")
            conn.exec_driver_sql("ALTER TABLE posts DROP COLUMN done")
            for later in ("INDEX steps_by_start", "INDEX heads_by_entry", "TABLE timers", "TABLE locks", "TABLE lock_waits"):
                conn.exec_driver_sql(f"DROP {later}")
            for later in ("tokens", "money"):
                conn.exec_driver_sql(f"ALTER TABLE steps DROP COLUMN {later}")
            conn.exec_driver_sql("ALTER TABLE runs DROP COLUMN source_author")
            conn.exec_driver_sql("CREATE INDEX posts_by_state ON posts (state, card)")
            command.stamp(configuration(conn), "0002")
            for key, run, card, state, shown in (
                ("open", "R-OPEN", "run", "posted", 2),
                ("ended", "R-ENDED", "run", "posted", 2),
                ("behind", "R-ENDED", "review", "posted", 1),
                ("wanted", "R-ENDED", "note", "wanted", -1),
                ("failed", "R-ENDED", "note", "failed", -1),
                ("said", "R-OPEN", "audit", "posted", -1),
                ("none", "-", "note", "posted", -1),
            ):
                columns = "run_id, card, key, channel, in_thread, shown, state, data, tries"
                words = f"INSERT INTO posts ({columns}) VALUES (?, ?, ?, 'C', 1, ?, ?, '{{}}', 0)"
                conn.exec_driver_sql(words, (run, card, key, shown, state))
    writer.dispose()

"""The outbox: nothing lost, nothing doubled, nothing forgotten."""

from typing import Any

import pytest
from sqlalchemy import Connection

from bot.core.run import Event
from bot.core.snapshot import NewPost, Post
from bot.store import door, posts
from bot.store.db import noted
from tests.store.samples import BY, NOW, in_review, later, opened

RUN = "R-7K2QX"


def wish(key: str = "run", **fields: Any) -> NewPost:
    return NewPost(**{"run": RUN, "card": "run", "key": f"{RUN}:{key}", "channel": "#ops", **fields})


def only(conn: Connection) -> Post:
    (post,) = posts.of_run(conn, RUN)
    return post


def test_a_post_is_wished_for_once_however_often_it_is_added(conn: Connection) -> None:
    assert posts.add(conn, wish(data={"a": [1]}))
    assert not posts.add(conn, wish(channel="#other"))

    post = only(conn)
    assert post == Post(id=post.id, run=RUN, card="run", key=f"{RUN}:run", channel="#ops", data={"a": [1]})
    assert posts.get(conn, post.id) == post
    assert noted(conn) == {RUN}


def test_a_post_goes_from_wanted_to_posted(conn: Connection) -> None:
    posts.add(conn, wish())
    post = only(conn)
    posts.sending(conn, post.id)
    assert only(conn).state == "sending"
    posts.posted(conn, post.id, channel="C_OPS", ts="12.5", shown=3)

    done = only(conn)
    assert (done.state, done.channel, done.ts, done.shown) == ("posted", "C_OPS", "12.5", 3)
    assert posts.waiting(conn, NOW) == []


def test_what_was_being_sent_when_the_process_died_is_still_waiting(conn: Connection) -> None:
    for key in ("a", "b", "c"):
        posts.add(conn, wish(key))
    first, second, third = posts.waiting(conn, NOW)
    posts.sending(conn, second.id)
    posts.failed(conn, third.id, "channel_not_found")

    assert [(post.key, post.state) for post in posts.waiting(conn, NOW)] == [(first.key, "wanted"), (second.key, "sending")]
    assert posts.get(conn, third.id).error == "channel_not_found"


def test_a_post_that_did_not_work_waits_for_its_time(conn: Connection) -> None:
    posts.add(conn, wish())
    post = only(conn)
    posts.sending(conn, post.id)

    posts.later(conn, post.id, not_before=later(seconds=30), error="timed out")

    assert posts.waiting(conn, later(seconds=29)) == []
    waiting = posts.waiting(conn, later(seconds=30))
    assert [(one.state, one.tries, one.error) for one in waiting] == [("sending", 1, "timed out")]
    posts.later(conn, post.id, not_before=later(seconds=60), error="ratelimited", unsent=True)
    assert (only(conn).state, only(conn).tries) == ("wanted", 2)


def test_cards_that_show_an_older_version_are_stale(conn: Connection) -> None:
    """P12."""
    opened(conn)
    for card in ("run", "review", "confirm", "note", "answer", "audit"):
        posts.add(conn, wish(card, card=card))
    for post in posts.of_run(conn, RUN):
        posts.posted(conn, post.id, channel="C", ts=f"1.{post.id}", shown=1)
    assert posts.stale(conn) == []

    door.change(conn, RUN, Event.CANCELLED, **BY)

    behind = posts.stale(conn)
    assert [post.card for post in behind] == ["run", "review", "confirm", "note"]
    posts.shown(conn, behind[0].id, 2)
    assert [post.card for post in posts.stale(conn)] == ["review", "confirm", "note"]


def test_a_card_that_is_not_posted_yet_is_not_stale(conn: Connection) -> None:
    in_review(conn)
    posts.add(conn, wish())
    assert posts.stale(conn) == []


def test_a_post_may_be_about_no_run(conn: Connection) -> None:
    posts.add(conn, wish("2026-11-30:chain_head", run="-", card="audit"))
    assert [post.run for post in posts.waiting(conn, NOW)] == ["-"]


def test_a_post_that_does_not_exist_is_a_fault(conn: Connection) -> None:
    for mark in (lambda: posts.sending(conn, 7), lambda: posts.get(conn, 7)):
        with pytest.raises(posts.UnknownPost, match="7"):
            mark()

"""The audit channel is the second witness: nothing is lost or doubled on the way, and what stands there finds a rewritten file (C013)."""

import re
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import Connection

from bot import outbox, witness
from bot.activities.drafting import draft
from bot.commands import review
from bot.core.chain import NO_RUN, ties
from bot.core.snapshot import Post
from bot.store import audit, posts, verification
from bot.workspace.records import BOT_USER_ID, Channel
from handlers import witness as channel
from handlers.presenter import Presenter
from tests.doubles.parts import APPROVER
from tests.doubles.policies import DEMO_POLICY
from tests.doubles.town import Message, text_of
from tests.doubles.waiting import eventually
from tests.handlers.conftest import Hall, MakeHall
from tests.handlers.test_posting import asked, ours, present

LOST = {"method": "chat.postMessage", "after_effect": True}
ELSEWHERE = DEMO_POLICY.replace("#audit", "#record")


async def decided(hall: Hall, *names: str) -> list[str]:
    """A run for each name, asked for and approved; each is two posts in the audit channel's outbox at least."""
    found = []
    for name in names:
        run = await asked(hall, f"test.change name={name}")
        await draft(hall.deps, run.id)
        await review.approve(hall.deps, run.id, 1, who=APPROVER, received_at=hall.deps.now())
        found.append(run.id)
    return found


async def rows(hall: Hall) -> list[Post]:
    """The outbox's audit posts, oldest first."""

    def work(conn: Connection) -> list[Post]:
        ids = conn.exec_driver_sql("SELECT id FROM posts WHERE card = 'audit' ORDER BY id").scalars().all()
        return [posts.get(conn, post_id) for post_id in ids]

    return await hall.deps.store.read(work)


async def all_stand(hall: Hall) -> bool:
    return all(post.state == "posted" for post in await rows(hall))


def key_of(hall: Hall, message: Message) -> str:
    return hall.slack.own_key(message)


async def standing(hall: Hall, place: str) -> list[str]:
    """The keys of our posts in that channel, oldest first, as Slack has them."""
    found: list[str] = []
    pages = await hall.slack.client.conversations_history(channel=place, include_all_metadata=True, limit=200)
    async for page in pages:
        found += [key for message in page["messages"] if (key := key_of(hall, message))]
    return found[::-1]


@pytest.fixture
async def quiet(make_hall: MakeHall) -> Hall:
    return await make_hall(supervised=False, presented=False)


@pytest.mark.parametrize(
    "fault",
    [
        {"method": "chat.postMessage", "status": 429, "retry_after": 1, "times": 3},
        {**LOST, "times": 2},
        {"method": "chat.postMessage", "status": 503, "after_effect": True, "times": 2},
        {"method": "chat.postMessage", "status": 500, "times": 2},
    ],
)
async def test_every_audit_post_stands_once_and_in_order_whatever_slack_does(quiet: Hall, fault: dict[str, Any]) -> None:
    await decided(quiet, "a", "b", "c")
    wanted = [post.key for post in await rows(quiet)]
    await quiet.spoil(**fault)

    await present(quiet)

    await eventually(lambda: all_stand(quiet), "all audit posts", within_s=30)
    assert len(wanted) >= 3
    assert await standing(quiet, "C0AUDIT") == wanted


async def test_C013_posts_for_a_channel_that_is_not_there_wait_and_stand_in_order_once_it_is_also_after_a_restart(
    make_hall: MakeHall,
) -> None:
    hall = await make_hall(policy=ELSEWHERE, supervised=False, presented=False)
    await decided(hall, "a", "b")
    hall.deps.tasks.start(hall.presenter.run(), name="presenter")
    await eventually(lambda: _first_refused(hall), "the first post to be refused")
    await hall.presenter.close(grace_s=0)
    await decided(hall, "c")
    wanted = [post.key for post in await rows(hall)]
    made = Channel(id="C0RECORD", name="record", members=(BOT_USER_ID, "U0REQUESTER"), created=0)

    hall.workspace._world.state.put("channels", made.id, made)
    second = Presenter(hall.deps, hall.slack)
    hall.deps.tasks.start(second.run(), name="second presenter")

    await eventually(lambda: all_stand(hall), "all audit posts", within_s=40)
    await second.close()
    assert await standing(hall, made.id) == wanted


async def _first_refused(hall: Hall) -> bool:
    first, *others = await rows(hall)
    return bool(first.error and "channel_not_found" in first.error and others)


async def test_a_post_that_cannot_be_drawn_holds_up_no_other(quiet: Hall) -> None:
    await decided(quiet, "a", "b")
    first, second, *_ = await rows(quiet)

    def work(conn: Connection) -> list[int]:
        posts.later(conn, first.id, not_before=quiet.deps.now().replace(year=2099), error=f"{outbox.OWN_FAULT}KeyError()", unsent=True)
        return [post.id for post in posts.waiting(conn, quiet.deps.now()) if post.card == "audit"]

    assert (await quiet.deps.store.write(work))[0] == second.id


async def test_each_post_carries_its_entry_and_the_head_as_of_then(quiet: Hall) -> None:
    (run_id,) = await decided(quiet, "a")
    await present(quiet)

    told = await channel.read(quiet.slack.client, "#audit")

    record = await quiet.deps.store.read(lambda conn: {(e.run, e.seq): e.hash for e in audit.export(conn)})
    assert told.entries
    assert {(each.run, each.seq): each.hash for each in told.entries}.items() <= record.items()
    assert await witness.differing(quiet.deps, told.heads, told.entries) == []
    words = text_of((await ours(quiet, "#audit"))[-1])
    assert re.search(r"entry \d+ `[0-9a-f]{12}` · head \d+ `[0-9a-f]{12}`", words)
    assert told.entries[-1].run == run_id


async def test_a_run_that_was_removed_with_every_trace_is_found_by_the_channel(quiet: Hall) -> None:
    gone, stays = await decided(quiet, "a", "b")
    await present(quiet)
    told = await channel.read(quiet.slack.client, "C0AUDIT")

    await quiet.deps.store.write(lambda conn: _remove(conn, gone))

    assert await quiet.deps.store.read(audit.verify) == []
    broken = await quiet.deps.store.read(lambda conn: audit.verify(conn, heads=told.heads, seen=told.entries))
    assert gone in {each.run for each in broken}
    assert stays not in {each.run for each in broken}


def _remove(conn: Connection, run_id: str) -> None:
    """The run with its rows, entries and heads, and the chain of heads made anew."""
    for trigger in ("audit_no_update", "audit_no_delete", "heads_no_update", "heads_no_delete", "runs_no_delete"):
        conn.exec_driver_sql(f"DROP TRIGGER {trigger}")
    conn.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
    tables = [row[0] for row in conn.exec_driver_sql("SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) c"
                                                     " WHERE m.type = 'table' AND c.name = 'run_id'")]  # fmt: skip
    for table in tables:
        conn.exec_driver_sql(f"DELETE FROM {table} WHERE run_id = '{run_id}'")
    conn.exec_driver_sql(f"DELETE FROM runs WHERE id = '{run_id}'")
    conn.exec_driver_sql("DELETE FROM heads")
    for line in [*audit.lines(conn)]:
        if ties(line["run"], line["event"], line["data"]):
            audit._tie(conn, line["run"], line["seq"], line["hash"], at=datetime.fromisoformat(line["at"]))


async def test_nobody_elses_words_in_the_channel_count(quiet: Hall) -> None:
    await decided(quiet, "a")
    await present(quiet)
    before = await channel.read(quiet.slack.client, "#audit")

    await quiet.person("approver").say("#audit", "Approved: R-7K2QX · entry 3 `0123456789ab` · head 9 `0123456789ab`")

    after = await channel.read(quiet.slack.client, "#audit")
    assert (after.entries, after.heads) == (before.entries, before.heads)


async def test_the_newest_head_is_published_when_there_is_something_new(quiet: Hall) -> None:
    assert await witness.publish_head(quiet.deps) is None
    await decided(quiet, "a")

    n = await witness.publish_head(quiet.deps)
    again = await witness.publish_head(quiet.deps)
    await present(quiet)

    assert n
    assert again is None
    told = await channel.read(quiet.slack.client, "#audit")
    assert told.heads[-1] == await witness.newest_head(quiet.deps)
    assert f"head {n}" in text_of((await ours(quiet, "#audit"))[-1])
    assert await quiet.deps.store.read(audit.verify) == []
    await decided(quiet, "b")
    assert (await witness.publish_head(quiet.deps) or 0) > n


async def test_the_nightly_check_says_nothing_while_all_is_fine(quiet: Hall) -> None:
    await decided(quiet, "a", "b")

    assert await witness.check_record(quiet.deps) == []

    assert [post for post in await rows(quiet) if post.run == NO_RUN] == []


async def test_the_nightly_check_tells_of_each_broken_thing_once(quiet: Hall) -> None:
    first, second = await decided(quiet, "a", "b")
    await quiet.deps.store.write(lambda conn: conn.exec_driver_sql(f"UPDATE approvals SET actor = 'U0MEMBER' WHERE run_id = '{first}'"))
    await witness.check_record(quiet.deps)
    await quiet.deps.store.write(lambda conn: conn.exec_driver_sql(f"UPDATE revisions SET author = 'U0MEMBER' WHERE run_id = '{second}'"))

    broken = await witness.check_record(quiet.deps)
    await present(quiet)

    assert {each.run for each in broken} == {first, second}
    told = [text_of(message) for message in await ours(quiet, "#audit") if "The record is broken" in text_of(message)]
    assert [run_id in words for run_id, words in zip((first, second), told, strict=True)] == [True, True]


async def test_the_nightly_check_finds_what_the_command_finds_in_slices(quiet: Hall) -> None:
    await decided(quiet, *"abcdefghijk")
    await quiet.deps.store.write(lambda conn: _break_heads(conn))

    broken = await witness.check_record(quiet.deps)

    assert broken == await quiet.deps.store.read(verification.verify)
    assert [each.run for each in broken] == ["heads"]


def _break_heads(conn: Connection) -> None:
    conn.exec_driver_sql("DROP TRIGGER heads_no_delete")
    conn.exec_driver_sql("DELETE FROM heads WHERE n = 7")


async def test_cord_audit_tells_a_run_in_words_and_that_its_chain_holds(quiet: Hall) -> None:
    (run_id,) = await decided(quiet, "a")

    await quiet.person("member").command("#ops", "/cord", f"audit {run_id.lower()}")

    words = text_of(await quiet.person("member").told("the chain holds"))
    assert "asked by requester" in words
    assert "approved by approver" in words


async def test_cord_audit_says_where_a_record_is_broken(quiet: Hall) -> None:
    (run_id,) = await decided(quiet, "a")
    await quiet.deps.store.write(lambda conn: conn.exec_driver_sql("UPDATE approvals SET actor = 'U0MEMBER'"))

    await quiet.person("member").command("#ops", "/cord", f"audit {run_id}")

    await quiet.person("member").told("the record is broken at entry")


async def test_cord_audit_without_a_run_tells_the_newest_decisions_and_how_to_check(quiet: Hall) -> None:
    await quiet.person("member").command("#ops", "/cord", "audit")
    await quiet.person("member").told("Nothing was decided yet")
    (run_id,) = await decided(quiet, "a")

    await quiet.person("member").command("#ops", "/cord", "audit")

    words = text_of(await quiet.person("member").told("The newest decisions"))
    assert f"{run_id} approved by approver" in words
    assert "pullcord audit verify" in words


async def test_cord_audit_of_a_run_that_is_not_known_is_a_no(quiet: Hall) -> None:
    await quiet.person("member").command("#ops", "/cord", "audit R-NONE")

    await quiet.person("member").told("R-NONE")

"""The second witness: what the bot tells the audit channel about the record itself, so that a rewritten file is found by what stands there.

At intervals the newest head is published, which covers everything on record by then. Once a day the whole record is checked, in slices, and
what is broken is told there, once for each broken thing. Both work on the store alone; the outbox carries the posts.
"""

import asyncio
from typing import Any

import structlog
from sqlalchemy import Connection

from bot.core.chain import NO_RUN, Broken, Head, Seen
from bot.core.plan import fingerprint
from bot.core.snapshot import Entry, NewPost
from bot.deps import Deps
from bot.store import audit, door, verification, witness

log = structlog.get_logger()

RUNS_AT_ONCE = 8  # runs that one read looks at
HEADS_AT_ONCE = 500
PAUSE_S = 0.02  # between reads, so that steps and clicks never notice


async def publish_head(deps: Deps) -> int | None:
    """Tie in what is not tied yet and post the newest head, if anything was written since the last one. Returns its number."""
    place = deps.audit_place

    def work(conn: Connection) -> int | None:
        last = witness.last_published(conn)
        if not place or not witness.written_since(conn, last.upto):
            return None
        upto = audit.tie_open_ends(conn, at=deps.now(), since=last.upto)
        n, hash_of_head = audit.last_head(conn)
        entries, of_runs = witness.counted(conn, after=last.upto, upto=upto)
        data = {"kind": "head", "head": n, "head_hash": hash_of_head, "at": deps.now().isoformat(), "upto": upto}
        data |= {"entries": entries, "runs": of_runs, "since": last.n, "since_at": last.at}
        door.tell(conn, NewPost(run=NO_RUN, card="audit", key=f"{NO_RUN}:head.{n}", channel=place, in_thread=False, data=data))
        return n

    return await deps.store.write(work)


async def check_record(deps: Deps) -> list[Broken]:
    """Look at the whole record, a slice at a time, and tell the audit channel of what is broken, unless it was told of that before."""
    broken = await _looked_through(deps)
    if not broken:
        log.info("record_holds")
        return []
    for each in broken:
        log.error("record_broken", run=each.run, entry=each.seq, says=each.says, next="pullcord audit verify")
    if deps.audit_place:
        await deps.store.write(lambda conn: door.tell(conn, *(_of_broken(deps, each) for each in broken)))
    return broken


async def _looked_through(deps: Deps) -> list[Broken]:
    checked: list[verification.Checked] = []
    every = await deps.store.read(verification.run_ids)
    for first in range(0, len(every), RUNS_AT_ONCE):
        some = every[first : first + RUNS_AT_ONCE]
        checked += await deps.store.read(lambda conn, some=some: [verification.check_run(conn, run_id) for run_id in some])  # type: ignore[misc]
        await asyncio.sleep(PAUSE_S)
    of_heads: list[Broken] = []
    reached, before = verification.Reached(), -1
    while reached.whole and reached.n != before:
        before = reached.n
        found, reached = await deps.store.read(lambda conn, at=reached: verification.check_heads(conn, at, limit=HEADS_AT_ONCE))  # type: ignore[misc]
        of_heads += found
        await asyncio.sleep(PAUSE_S)
    return verification.settled(checked, of_heads, reached)


def _of_broken(deps: Deps, broken: Broken) -> NewPost:
    what = {"run": broken.run, "seq": broken.seq, "says": broken.says}
    data: dict[str, Any] = {"kind": "broken", **what, "at": deps.now().isoformat()}
    key = f"{NO_RUN}:broken.{fingerprint(what)[:16]}"
    return NewPost(run=NO_RUN, card="audit", key=key, channel=deps.audit_place, in_thread=False, data=data)


async def check_run(deps: Deps, run_id: str) -> Broken | None:
    """Does the record of this one run hold? None: it does."""
    return (await deps.store.read(lambda conn: verification.check_run(conn, run_id))).broken


async def newest_head(deps: Deps) -> Head | None:
    """The newest head, None if nothing is on record."""
    n, hash_of_head = await deps.store.read(audit.last_head)
    return Head(n, hash_of_head) if n else None


async def decisions(deps: Deps, *, limit: int) -> list[Entry]:
    """The newest decisions over all runs, newest first."""
    return await deps.store.read(lambda conn: audit.decisions(conn, limit=limit))


async def differing(deps: Deps, heads: list[Head], seen: list[Seen]) -> list[Broken]:
    """What others keep of the record and what stands here no longer agree on."""
    return await deps.store.read(lambda conn: verification.check_kept(conn, heads, seen))

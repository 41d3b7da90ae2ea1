"""A refused attempt is on record too: who tried what, and why it was not done."""

from typing import Any

from sqlalchemy import Connection

from bot.core.audit import audit_post
from bot.core.plan import canonical
from bot.core.run import Event
from bot.deps import Deps
from bot.errors import Refused
from bot.store import door, runs
from bot.tools.masks import redacted


async def record(deps: Deps, refused: Refused, *, run_id: str | None, actor: str, did: str) -> None:
    """Write the audit entry of a refused attempt. It changes no run; one without a run goes to the bot's own chain."""
    data: dict[str, Any] = {"did": did, "kind": refused.kind, "facts": canonical(redacted(dict(refused.facts)))}

    def work(conn: Connection) -> None:
        known = run_id is not None and runs.exists(conn, run_id)  # an old card may name a run of another database
        tell = audit_post(deps.audit_place, run_id, Event.CLICK_REFUSED) if run_id and known else ()
        door.note(conn, run_id or "-", event=Event.CLICK_REFUSED, actor=actor, at=deps.now(), data=data, tell=tell)

    await deps.store.write(work)

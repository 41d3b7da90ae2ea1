"""`pullcord audit`: does the record hold, what is its head, and the record itself as lines that prove themselves.

What is kept elsewhere is the better witness: a head on paper or in another system, the posts of the audit channel, an exported file.
`verify --file` needs no database: it judges an export by itself.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import Connection

from bot.app import read_policy
from bot.cli.checking import with_demo_slack
from bot.cli.showing import read
from bot.core import export
from bot.core.audit import TOLD
from bot.core.chain import DECISIONS, Broken, Head, Seen
from bot.core.characters import visible
from bot.errors import ConfigurationError, Refused
from bot.settings import Settings, load
from bot.store import audit, runs
from handlers import witness

console = Console(highlight=False, soft_wrap=True)


def verify_audit(data: Path | None, *, as_json: bool, heads: Path | None, file: Path | None, channel: bool) -> int:
    """0 if everything holds, 1 with the first broken entry of each chain that does not, 2 if what it is held against cannot be read."""
    kept = _kept(heads) if heads is not None else []
    if file is not None:
        found = export.check(_lines_of(file), heads=kept)
        return _report(found.broken, f"{found.entries} entries", as_json=as_json, entries=found.entries, more=_excerpt(found))
    seen: list[Seen] = []
    if channel:
        of_channel = asyncio.run(_channel(data))
        kept, seen = [*kept, *of_channel.heads], of_channel.entries
    broken, count = read(data, lambda conn: (audit.verify(conn, heads=kept, seen=seen), audit.count(conn)))
    against = f"; {len(seen)} entries and {len(kept)} heads kept elsewhere agree" if kept or seen else ""
    return _report(broken, f"{count} entries", as_json=as_json, entries=count, more=against)


def _report(broken: Sequence[Broken], what: str, *, as_json: bool, entries: int, more: str = "") -> int:
    if as_json:
        found = {"ok": not broken, "entries": entries, "broken": [vars(each) for each in broken]}
        sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    for each in () if as_json else broken:
        console.print(visible(f"broken: {each.run} entry {each.seq}: {each.says}"), markup=False)
    if not broken and not as_json:
        console.print(f"{what}, every chain holds{more}", markup=False)
    return 1 if broken else 0


def _excerpt(found: export.Found) -> str:
    return "" if found.whole else "; an excerpt: what it leaves out is not judged"


def _lines_of(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8") as file:
            yield from file
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigurationError(f"{path}: cannot be read ({fault}); name a file that `pullcord audit` has written") from fault


def _kept(path: Path) -> list[Head]:
    """The heads in a file: what `audit head --json` printed, once or often, or an export."""
    found = export.heads_in(_lines_of(path))
    if not found:
        raise ConfigurationError(f"{path}: there is no head in it; write one with `pullcord audit head --json`")
    return found


async def _channel(data: Path | None) -> witness.Testimony:
    """What stands in the audit channel. Raises `ConfigurationError` if there is none, or Slack does not show it."""
    settings = with_demo_slack(load(data), data)
    place = settings.audit_channel or read_policy(settings.policy).places.audit
    if not place:
        raise ConfigurationError("there is no audit channel; name one in PULLCORD_AUDIT_CHANNEL, or as places.audit in the policy")
    try:
        return await witness.read(_client(settings), place)
    except SlackApiError as refused:
        raise ConfigurationError(f"{place}: Slack says {refused.response['error']}; `pullcord check` says what to do") from refused
    except (OSError, TimeoutError) as silence:
        raise ConfigurationError(f"{settings.slack_api_url} does not answer ({silence}); check SLACK_API_URL and the network") from silence


def _client(settings: Settings) -> AsyncWebClient:
    if settings.slack_bot_token is None:
        raise ConfigurationError("SLACK_BOT_TOKEN: needed; it is on the app's page under Install App")
    return AsyncWebClient(token=settings.slack_bot_token.get_secret_value(), base_url=settings.slack_api_url)


def show_head(data: Path | None, *, as_json: bool) -> int:
    """The newest head: number, hash and time, to be kept where nobody who can change the database can change it. 1 if there is none."""
    head = read(data, audit.newest_head)
    if head is None:
        sys.stderr.write("pullcord: nothing is on record yet, so there is no head to keep\n")
        return 1
    if as_json:
        sys.stdout.write(json.dumps(head) + "\n")
    else:
        console.print(f"head {head['n']} · {head['hash']} · {head['at']}", markup=False)
    return 0


def export_audit(
    data: Path | None,
    *,
    run_id: str | None,
    since: str | None,
    until: str | None,
    actor: str | None,
    events: Sequence[str],
    decisions: bool,
) -> int:
    """Entries as JSON lines in the order in which they were written, and the head as the last line. Raises `Refused("unknown_run")`."""
    wanted = {*events, *(str(event) for event in (TOLD | DECISIONS if decisions else ()))}
    filters: dict[str, Any] = {"run": run_id, "since": since, "until": until, "actor": actor, "events": sorted(wanted)}
    times = {"since": _time("--since", since), "until": _time("--until", until)}

    def work(conn: Connection) -> None:
        if run_id is not None and not runs.exists(conn, run_id) and audit.head(conn, run_id)[0] == 0:
            raise Refused("unknown_run", run=run_id)
        number = 0
        for line in audit.lines(conn, run_id=run_id, actor=actor, events=tuple(sorted(wanted)), **times):
            _write(line)
            number += 1
        _write(export.last_line(audit.newest_head(conn), entries=number, filters=filters))

    _quietly(lambda: read(data, work))
    return 0


def _time(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError as fault:
        raise ConfigurationError(f"{option}: {text!r} is no time; write it like 2026-11-30 or 2026-11-30T14:05:00+00:00") from fault
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _write(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line, separators=(", ", ": ")) + "\n")  # ASCII: no half of a surrogate pair can break the line


def _quietly(work: Callable[[], None]) -> None:
    """Whoever reads through a pipe may have read enough."""
    try:
        work()
    except BrokenPipeError:
        sys.stdout = None  # nothing is left to be flushed at the end

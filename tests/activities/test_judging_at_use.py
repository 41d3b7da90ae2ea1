"""From data to deed: what a step returned can neither lead another step astray nor be taken for more than letters (P3, P7)."""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot import runs
from bot.commands import confirming
from bot.core.facts import Reach
from bot.core.run import Event, Hold, RunStatus
from bot.core.snapshot import Snapshot
from bot.deps import Deps
from bot.supervisor import Supervisor
from bot.tools.registry import ToolContext, tool
from bot.tools.secrets import Secrets
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import APPROVER, APPROVER2, close_parts, open_parts

POLICY = """\
profile: team
approvers: ["@ops-leads"]
quorum: {high: 2}
rules:
  - {when: {tool: files.write, path: "prod/*"}, risk: high, mode: confirm, name: production, why: customers read it}
  - {when: {tool: files.write, path: "vault/*"}, mode: deny, name: vault, why: keys lie there}
tools: {files.write: {mode: ask}}
scopes: {paths: ["notes/*", "prod/*", "vault/*", "open/*"]}
"""
PLAN = 'a: files.read path=notes/where.txt\nw: files.write path="{{a.text}}" text=hello'


class Told(BaseModel):
    channel: str


class Tell(BaseModel):
    model_config = ConfigDict(extra="forbid")

    channel: str
    text: str


@tool(name="test.tell", effect="send", says="Tells {channel}", target="channel")
async def tell(args: Tell, ctx: ToolContext) -> Told:  # noqa: ARG001 - every tool is given its context
    """Tell a channel something. Use it in tests that need words sent. Not for real work."""
    return Told(channel=args.channel)


async def reach(channels: Collection[str]) -> Mapping[str, Reach]:
    known = {"#partners": Reach(people=9, external=True, name="partners"), "#ops": Reach(people=9, name="ops")}
    return {name: known[name] for name in channels if name in known}


@asynccontextmanager
async def bot(folder: Path, clock: Clock, *, says: str, policy: str = POLICY) -> AsyncIterator[Deps]:
    """A bot whose file notes/where.txt says that."""
    secrets = Secrets({"TOKEN": "correct-horse-battery"})
    deps = replace(await open_parts(folder, clock=clock, policy_text=policy, secrets=secrets), reach=reach)
    deps.tools.add(tell)
    (folder / "files/notes").mkdir()
    (folder / "files/notes/where.txt").write_text(says)
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    try:
        yield deps
    finally:
        await supervisor.close()
        await close_parts(deps)


def held(snapshot: Snapshot) -> dict[str, Any]:
    """What the record says of the last hold."""
    return [entry.data for entry in snapshot.entries if entry.event == Event.HELD][-1]


async def stands(deps: Deps, run_id: str) -> Snapshot:
    await until(deps, run_id, RunStatus.PAUSED, RunStatus.SUCCEEDED)
    return await runs.snapshot(deps, run_id, entries=True)


async def test_p3_a_path_from_data_that_nothing_forbids_needs_nobody(tmp_path: Path, clock: Clock) -> None:
    loose = POLICY.replace('  - {when: {tool: files.write, path: "vault/*"}, mode: deny, name: vault, why: keys lie there}\n', "")
    loose = loose.replace("risk: high, mode: confirm, ", "risk: medium, ")
    async with bot(tmp_path, clock, says="open/a.md", policy=loose) as deps:
        run = await asked(deps, PLAN)
        await approved(deps, run.id, APPROVER)
        await until(deps, run.id, RunStatus.SUCCEEDED)
    assert (tmp_path / "files/open/a.md").read_text() == "hello"


async def test_p3_a_path_from_data_that_a_rule_forbids_is_not_written_whoever_approved(tmp_path: Path, clock: Clock) -> None:
    async with bot(tmp_path, clock, says="vault/key") as deps:
        run = await asked(deps, PLAN)
        await approved(deps, run.id, APPROVER, APPROVER2)
        found = await stands(deps, run.id)
        assert (found.run.reason, found.run.held_step) == (Hold.STEP_FAILED, "w")
        assert found.state("w").error == "the policy does not allow files.write here: keys lie there (vault)"  # type: ignore[arg-type]
    assert not (tmp_path / "files/vault").exists()


async def test_c062_a_path_from_data_cannot_leave_the_scope(tmp_path: Path, clock: Clock) -> None:
    async with bot(tmp_path, clock, says="elsewhere/a.md") as deps:
        run = await asked(deps, PLAN)
        await approved(deps, run.id, APPROVER, APPROVER2)
        found = await stands(deps, run.id)
        assert "is not among the paths that the policy allows (scopes.paths)" in (found.state("w").error or "")  # type: ignore[arg-type]
    assert not (tmp_path / "files/elsewhere").exists()


async def test_p3_a_channel_from_data_that_people_outside_read_asks_as_many_as_high_risk_needs(tmp_path: Path, clock: Clock) -> None:
    async with bot(tmp_path, clock, says="#partners") as deps:
        run = await asked(deps, 'a: files.read path=notes/where.txt\nt: test.tell channel="{{a.text}}" text=hello')
        await approved(deps, run.id, APPROVER)
        found = await stands(deps, run.id)
        assert (found.run.reason, found.run.risk) == (Hold.CONFIRM, "medium")
        said = held(found)
        assert (said["level"], said["mode"]) == ("high", "ask")
        assert said["reasons"][0] == "people from outside read #partners"
        card = next(post.data for post in found.posts if post.card == "confirm")
        assert (card["level"], card["reasons"]) == (said["level"], said["reasons"])
        await confirming.confirm(deps, run.id, "t", digest8=said["filling"], who=APPROVER)
        assert (await runs.get(deps, run.id)).status is RunStatus.PAUSED, "high risk needs two, and nobody had approved a high one"
        await confirming.confirm(deps, run.id, "t", digest8=said["filling"], who=APPROVER2)
        await until(deps, run.id, RunStatus.SUCCEEDED)


async def test_p7_what_looks_like_a_reference_in_data_stays_letters(tmp_path: Path, clock: Clock) -> None:
    says = "{{secret:TOKEN}} and {{a.text}} and {{b.nothing}}"
    async with bot(tmp_path, clock, says=says) as deps:
        run = await asked(deps, 'a: files.read path=notes/where.txt\nw: files.write path=open/a.md text="{{a.text}}"')
        await approved(deps, run.id, APPROVER)
        await until(deps, run.id, RunStatus.SUCCEEDED)
    assert (tmp_path / "files/open/a.md").read_text() == says

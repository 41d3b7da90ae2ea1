"""What tests of commands begin with: somebody asks, somebody says yes."""

from bot import runs
from bot.commands import intake, review
from bot.core.policy import Member
from bot.core.run import Run, RunStatus
from bot.deps import Deps
from tests.conftest import until
from tests.doubles.parts import APPROVER, REQUESTER


async def asked(deps: Deps, plan: str) -> Run:
    """The run of this ask, once its plan waits for people (or needed nobody)."""
    run = await intake.open_run(
        deps, ask=plan, who=REQUESTER, team="T0HOME", channel="C0OPS", thread_ts="1.1", source_ts=None, event_key=None
    )
    assert run is not None
    return await until(deps, run.id, RunStatus.IN_REVIEW, RunStatus.SUCCEEDED)


async def approved(deps: Deps, run_id: str, *people: Member, revision: int = 1) -> Run:
    """The run after each of these people (else one approver) has said yes to that revision."""
    for who in people or (APPROVER,):
        await review.approve(deps, run_id, revision, who=who, received_at=deps.now())
    return await runs.get(deps, run_id)

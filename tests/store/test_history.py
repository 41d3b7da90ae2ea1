"""What people here have said yes to before, read from the runs that came to an end."""

from dataclasses import replace

from bot import facts
from bot.core.facts import Reach
from bot.core.plan import Plan
from bot.core.run import RunStatus
from bot.deps import Deps
from bot.store import history
from tests.conftest import until
from tests.core.grading_cases import drawn
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import APPROVER, REQUESTER

TOOLS = {"test.change", "test.look", "test.fails"}


async def known(deps: Deps, besides: str = "") -> frozenset[str] | None:
    return await deps.store.read(lambda conn: history.approved_tools(conn, TOOLS, besides=besides))


async def test_a_tool_is_known_once_a_step_of_it_has_run_as_people_approved(supervised: Deps) -> None:
    assert await known(supervised) is None, "in a new place nothing can be new"
    reads = await asked(supervised, "test.look name=a")
    await until(supervised, reads.id, RunStatus.SUCCEEDED)
    assert await known(supervised) is None, "nobody has approved anything yet"
    run = await asked(supervised, "a: test.change name=a\nb: test.fails name=b after=a")
    assert await known(supervised) is None
    await approved(supervised, run.id, APPROVER)
    await until(supervised, run.id, RunStatus.PAUSED)
    assert await known(supervised) == {"test.change"}, "the other one failed"
    assert await known(supervised, besides=run.id) is None, "the run at hand does not count"


async def test_what_is_asked_about_the_world_before_a_plan_is_graded(supervised: Deps) -> None:
    async def reach(channels: object) -> dict[str, Reach]:
        known = {"#ops": Reach(people=7, name="ops"), "C0OPS": Reach(people=7, name="ops"), "#none": None}
        return {name: found for name in channels if (found := known.get(name))}  # type: ignore[attr-defined]

    deps = replace(supervised, reach=reach)
    plan: Plan = drawn("a: test.look name=x; b: slack.post_message channel=#ops text=x; c: chat.tell channelId={{a.name}} text=x")
    found = await facts.gather(deps, plan, run=None, requester=REQUESTER.id, channel="C0OPS")
    assert (found.requester, found.asked_in, found.approved_before, dict(found.spent)) == (REQUESTER.id, "#ops", None, {})
    assert dict(found.reach) == {"#ops": Reach(people=7, name="ops")}
    unknown = await facts.gather(deps, plan, run=None, requester=REQUESTER.id, channel="C0ELSE")
    assert unknown.asked_in == "C0ELSE"

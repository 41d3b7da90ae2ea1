"""What somebody types is given to the tool and kept nowhere: not in the database, the record, or what a planner is told. C059."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot import runs
from bot.commands import controls, editing, intake, interjections, redirecting, review
from bot.core.drafts import Brief, Draft
from bot.core.run import RunStatus, StepStatus
from bot.core.snapshot import Revision
from bot.deps import Deps
from bot.llm.offline import OfflinePlanner
from bot.supervisor import Supervisor
from bot.tools.masks import mark
from bot.tools.secrets import Secrets
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import APPROVER, REQUESTER, close_parts, open_parts
from tests.doubles.waiting import eventually

Lines = Callable[[str], list[str]]
CONFIGURED = "a plain value"
KEY = "sk-ant" + "-api03-abcdefghijklmnopqrstuvwxyz0123456789"
OTHER = "ghp" + "_0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass
class Spy:
    """The offline planner, and all that it was told."""

    told: list[str] = field(default_factory=list)
    name: str = "offline"

    async def draft(self, brief: Brief) -> Draft:
        self.told.append(str(brief.model_dump(exclude={"catalogue"})))
        return await OfflinePlanner().draft(brief)


@pytest.fixture
async def told(tmp_path: Path, clock: Clock) -> AsyncIterator[tuple[Deps, Spy]]:
    """Deps with a supervisor, a secret, and a planner that remembers what it was told; nothing of what was typed is stored in the end."""
    spy = Spy()
    deps = await open_parts(tmp_path, clock=clock, planner=spy, secrets=Secrets({"API_KEY": CONFIGURED}))
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    yield deps, spy
    everything = str([await runs.snapshot(deps, run.id, entries=True) for run in await runs.listing(deps)])
    await supervisor.close()
    await close_parts(deps)
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("pullcord.db*"))
    for value in (KEY, OTHER, CONFIGURED):
        assert value not in everything
        assert value.encode() not in stored
        assert not any(value in said for said in spy.told)
    assert spy.told


async def test_c059_the_tool_receives_what_was_typed_and_nothing_stores_it(told: tuple[Deps, Spy], lines: Lines) -> None:
    deps, _ = told
    run = await asked(deps, f"a: test.change name={KEY} !break\nb: test.change name=plain after=a")
    await approved(deps, run.id)
    await until(deps, run.id, RunStatus.PAUSED)

    await interjections.reply(deps, run.id, text=f"add c: test.change name={OTHER}", who=REQUESTER, ts="2.1")
    proposed = await eventually(lambda: _proposed(deps, run.id), "the other rest to be proposed")
    assert proposed.plan.step("c").args == {"name": f"{{{{secret:TYPED_{mark(OTHER).upper()}}}}}"}
    await redirecting.withdraw(deps, run.id, who=REQUESTER)
    await until(deps, run.id, RunStatus.PAUSED)
    await controls.proceed(deps, run.id, "a", who=APPROVER)
    await until(deps, run.id, RunStatus.SUCCEEDED)

    assert lines("change") == [KEY, "plain"]


async def _proposed(deps: Deps, run_id: str) -> Revision | None:
    return (await runs.snapshot(deps, run_id)).proposal


async def test_c059_words_of_a_review_are_kept_without_their_secrets(told: tuple[Deps, Spy]) -> None:
    deps, _ = told
    run = await asked(deps, "a: test.change name=x")
    await review.ask_changes(deps, run.id, 1, words=f"a: test.change name={KEY}", who=REQUESTER)
    await until(deps, run.id, RunStatus.IN_REVIEW)
    await review.cancel(deps, run.id, None, who=REQUESTER, reason=f"{OTHER} is not for this")

    entries = (await runs.snapshot(deps, run.id, entries=True)).entries
    assert "⟦secret " in entries[-1].data["reason"]


async def test_c059_an_edit_by_hand_names_the_secret_that_was_typed(told: tuple[Deps, Spy], lines: Lines) -> None:
    deps, _ = told
    run = await asked(deps, "a: test.change name=x")
    plan = (await runs.snapshot(deps, run.id)).plan
    assert plan is not None
    step = plan.steps[0].model_copy(update={"args": {"name": KEY}})
    await editing.save(deps, run.id, base=1, plan=plan.model_copy(update={"steps": (step,)}), who=REQUESTER)
    await approved(deps, run.id, revision=2)
    await until(deps, run.id, RunStatus.SUCCEEDED)

    assert lines("change") == [KEY]


async def test_p11_a_plan_names_a_configured_secret_and_an_unknown_one_is_refused(told: tuple[Deps, Spy], lines: Lines) -> None:
    deps, spy = told
    run = await asked(deps, 'a: test.change name="key {{secret:API_KEY}}"')
    await approved(deps, run.id)
    await until(deps, run.id, RunStatus.SUCCEEDED)
    assert lines("change") == ["key", *CONFIGURED.split()]
    assert "'API_KEY'" in spy.told[0]

    ask = 'a: test.change name="{{secret:API_KYE}}"'
    unknown = await intake.open_run(
        deps, ask=ask, who=REQUESTER, team="T0HOME", channel="C0OPS", thread_ts="2.1", source_ts=None, event_key=None
    )
    assert unknown is not None
    await until(deps, unknown.id, RunStatus.FAILED)
    assert "there is no secret API_KYE; did you mean API_KEY?" in str((await runs.snapshot(deps, unknown.id)).attempts[-1].faults)


async def test_what_was_typed_is_known_to_the_run_that_asks_again_and_to_no_other(told: tuple[Deps, Spy]) -> None:
    deps, _ = told
    run = await asked(deps, f"a: test.change name={KEY}")
    where = {"who": REQUESTER, "team": "T0HOME", "channel": "C0OPS", "source_ts": None, "event_key": None}
    again = await intake.open_run(deps, ask=run.ask, thread_ts="2.1", follows=run.id, **where)
    stolen = await intake.open_run(deps, ask=run.ask, thread_ts="3.1", **where)

    assert again is not None
    assert stolen is not None
    await until(deps, again.id, RunStatus.IN_REVIEW)
    await until(deps, stolen.id, RunStatus.FAILED)


async def test_after_a_restart_the_step_says_that_it_is_not_kept(told: tuple[Deps, Spy], tmp_path: Path, lines: Lines) -> None:
    """The plan was approved before; the process that knew the value is gone."""
    deps, _ = told
    run = await asked(deps, f"g: test.gate name=g\na: test.change name={KEY} after=g")
    await approved(deps, run.id)
    deps.secrets.close()
    (tmp_path / "g.open").touch()

    await until(deps, run.id, RunStatus.FAILED, RunStatus.SUCCEEDED, RunStatus.PAUSED)

    state = (await runs.snapshot(deps, run.id)).state("a")
    assert state.status is StepStatus.FAILED
    assert "which was typed, is not kept over a restart or for other runs; ask again" in (state.error or "")
    assert lines("change") == []


async def test_p11_a_file_cannot_have_a_secret_looked_up(told: tuple[Deps, Spy], tmp_path: Path, lines: Lines) -> None:
    """Template injection: the file says `{{secret:API_KEY}}`, and the plan passes it on."""
    deps, _ = told
    (tmp_path / "files" / "page.md").write_text("{{secret:API_KEY}}")
    run = await asked(deps, 'p: files.read path=page.md\na: test.change name="{{p.text}}"')
    await approved(deps, run.id)
    await until(deps, run.id, RunStatus.SUCCEEDED, RunStatus.PAUSED)
    assert lines("change") == ["{{secret:API_KEY}}"]

"""Deps for tests: real store, real tools, real rules; only the clock can be moved."""

from pathlib import Path
from typing import Any

from bot.bell import Bell
from bot.core import policy
from bot.core.ids import new_run_id
from bot.core.policy import Member
from bot.deps import Deps
from bot.llm.offline import OfflinePlanner
from bot.llm.report import Reporter
from bot.llm.rules import RulesClassifier
from bot.rules import Rules
from bot.settings import Settings
from bot.store.db import Database
from bot.tasks import Tasks
from bot.tools.builtin import builtin_tools
from bot.tools.registry import Registry, load_file
from bot.tools.secrets import Secrets
from tests.doubles.clock import Clock
from tests.doubles.policies import DEMO_POLICY

REQUESTER = Member(id="U0REQUESTER", team="T0HOME")
APPROVER = Member(id="U0APPROVER", team="T0HOME", listed=frozenset({"@ops-leads"}))
APPROVER2 = Member(id="U0APPROVER2", team="T0HOME", listed=frozenset({"@ops-leads"}))
MEMBER = Member(id="U0MEMBER", team="T0HOME")

POLICY = DEMO_POLICY


async def open_parts(
    folder: Path,
    *,
    clock: Clock,
    policy_text: str = POLICY,
    planner: Any = None,
    classifier: Any = None,
    secrets: Secrets | None = None,
    **settings: Any,
) -> Deps:
    """Everything but Slack, in a folder of its own. `PULLCORD_TEST_FOLDER` must name the folder of the test tools."""
    bell = Bell()
    given = Settings.model_validate({"PULLCORD_DATABASE_URL": f"sqlite:///{folder / 'pullcord.db'}", "PULLCORD_GRACE": 2, **settings})
    files = folder / "files"
    files.mkdir(exist_ok=True)
    tools = Registry(builtin_tools(files_root=files, summarize=None), grace_s=1.0)
    for each in load_file(Path(__file__).parent / "tools_for_tests.py"):
        tools.add(each)
    return Deps(
        settings=given,
        store=await Database.open(given.database_url, on_change=bell.ring),
        tools=tools,
        rules=Rules(policy.parse(policy_text, source="policy.yml")),
        planner=planner or OfflinePlanner(),
        classifier=classifier or RulesClassifier(),
        synthesizer=Reporter(),
        bell=bell,
        secrets=secrets or Secrets(),
        tasks=Tasks(),
        now=clock,
        new_run_id=new_run_id,
    )


async def close_parts(deps: Deps) -> None:
    await deps.tasks.close(grace_s=2)
    await deps.tools.close()
    await deps.store.close()
    deps.secrets.close()

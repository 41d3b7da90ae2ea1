"""Connecting: what is wrong is said in one line that names the setting."""

import asyncio

import pytest

from bot.core import policy
from bot.errors import ConfigurationError
from bot.rules import Rules
from bot.settings import Settings
from handlers import errors
from handlers.context import Place
from handlers.desk import Desk
from handlers.slack import build_app, command_names, connect, open_slack
from tests.handlers.conftest import Hall, MakeHall


def settings(hall: Hall, **changed: str) -> Settings:
    tokens = {"SLACK_BOT_TOKEN": hall.workspace.bot_token, "SLACK_APP_TOKEN": hall.workspace.app_token}
    given = {"SLACK_API_URL": f"{hall.workspace.url}/api", **tokens}
    return Settings.model_validate(given | changed)


async def test_it_knows_who_it_is_and_where(hall: Hall) -> None:
    assert (hall.slack.team_id, hall.slack.bot_user_id, hall.slack.bot_id) == ("T0HOME", "U0PULLCORD", "B0PULLCORD")
    assert hall.slack.team_url.startswith("http://127.0.0.1:")
    assert hall.slack.client.base_url.endswith("/api/")


@pytest.mark.parametrize(
    ("changed", "named"),
    [({"SLACK_BOT_TOKEN": "xoxb-wrong"}, "SLACK_BOT_TOKEN"), ({"SLACK_API_URL": "http://127.0.0.1:9/api/"}, "SLACK_API_URL")],
)
async def test_a_wrong_setting_is_named(hall: Hall, changed: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        await open_slack(settings(hall, **changed), Rules(policy.default("team")))


async def test_a_wrong_app_token_is_named(hall: Hall) -> None:
    app = build_app(settings(hall), hall.slack)
    with pytest.raises(ConfigurationError, match="SLACK_APP_TOKEN"):
        await connect(app, settings(hall, SLACK_APP_TOKEN="xapp-wrong"))


def test_commands_can_be_renamed_and_a_wrong_name_is_refused() -> None:
    assert command_names("plan=/pc-plan, cord=/pc")["plan"] == "/pc-plan"
    assert command_names("")["stop"] == "/stop"
    for wrong in ("plan", "plan=pc", "deploy=/d", "plan=/"):
        with pytest.raises(ConfigurationError, match="PULLCORD_COMMANDS"):
            command_names(wrong)


async def test_C049_what_a_listener_started_is_owned_until_it_is_done(make_hall: MakeHall) -> None:
    hall = await make_hall(supervised=False, presented=False)
    let_go = asyncio.Event()
    done: list[str] = []

    async def work() -> None:
        await let_go.wait()
        done.append("done")

    errors.start(Desk(hall.deps, hall.slack), work(), place=Place(actor="U0REQUESTER"), did="test")
    assert len(hall.deps.tasks) == 1
    let_go.set()
    assert await hall.deps.tasks.close(grace_s=2) == []
    assert done == ["done"]

"""The connection to Slack: two clients with one token, who we are there, and the bolt app.

`Slack.client` repeats a call after a rate limit or a broken connection: right for questions and for private answers, which may come twice.
`Slack.once` never repeats one: right for posts, where a lost answer may mean that the message stands already; who uses it looks first.
The SDK reads HTTPS_PROXY and HTTP_PROXY for every call, also to loopback, and does not know NO_PROXY: for a server on this machine they
must be unset.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncConnectionErrorRetryHandler, AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import ConfigurationError
from bot.rules import Rules
from bot.settings import Settings
from handlers.directory import Directory

TOKEN_TWICE = "As you gave `client` as well"  # bolt finds the token in the environment too, and says that it will not use it
COMMANDS = ("plan", "pause", "resume", "stop", "cord")


@dataclass(frozen=True)
class Slack:
    """Everything that the handlers know of the workspace they serve."""

    client: AsyncWebClient
    once: AsyncWebClient
    directory: Directory
    team_id: str
    team_url: str  # https://acme.slack.com/
    bot_user_id: str
    bot_id: str
    commands: Mapping[str, str]  # our word → what this workspace calls it: {"plan": "/plan"}

    def link(self, channel: str, ts: str, thread_ts: str | None = None) -> str:
        """The permalink of a message, made by rule: Slack need not be asked."""
        address = f"{self.team_url.rstrip('/')}/archives/{channel}/p{ts.replace('.', '')}"
        return f"{address}?thread_ts={thread_ts}&cid={channel}" if thread_ts and thread_ts != ts else address

    def own_key(self, message: Mapping[str, Any]) -> str:
        """The key in the metadata of a message that we wrote; empty for one without, and for everybody else's."""
        if message.get("bot_id") != self.bot_id:
            return ""
        return str(((message.get("metadata") or {}).get("event_payload") or {}).get("key") or "")


async def open_slack(settings: Settings, rules: Rules) -> Slack:
    """Ask Slack who we are. ConfigurationError if the token is missing or not good, or nobody answers."""
    client = _client(settings)
    try:
        me = await client.auth_test()
    except SlackApiError as refused:
        says = refused.response["error"]
        raise ConfigurationError(f"SLACK_BOT_TOKEN: Slack says {says}; copy the bot token of the installed app") from refused
    except (OSError, TimeoutError) as silence:
        why = str(silence) or type(silence).__name__
        raise ConfigurationError(f"SLACK_API_URL: {client.base_url} does not answer ({why}); check it, and the network") from silence
    return Slack(
        client=client,
        once=_client(settings, retries=False),
        directory=Directory(client, rules, team_id=me["team_id"]),
        team_id=me["team_id"],
        team_url=me["url"],
        bot_user_id=me["user_id"],
        bot_id=me["bot_id"],
        commands=command_names(settings.commands),
    )


def unconnected(rules: Rules) -> Slack:
    """A Slack that nobody asks anything: for the definitions of its tools, where only those are wanted."""
    client = AsyncWebClient()
    return Slack(
        client=client,
        once=client,
        directory=Directory(client, rules, team_id=""),
        team_id="",
        team_url="",
        bot_user_id="",
        bot_id="",
        commands=command_names(""),
    )


def build_app(settings: Settings, slack: Slack) -> AsyncApp:
    """The bolt app, without listeners. It asks Slack nothing by itself: who we are is known already, and no ack waits for it (C001)."""
    known = AuthorizeResult(
        enterprise_id=None,
        team_id=slack.team_id,
        url=slack.team_url,
        bot_user_id=slack.bot_user_id,
        bot_id=slack.bot_id,
        bot_token=slack.client.token,
    )

    async def authorize() -> AuthorizeResult:
        return known

    secret = settings.slack_signing_secret
    return AsyncApp(
        name="pullcord",
        logger=_logger(settings),
        client=_client(settings, token=None),
        authorize=authorize,
        signing_secret=secret.get_secret_value() if secret else "",
        request_verification_enabled=secret is not None,
        attaching_conversation_kwargs_enabled=False,
    )


async def connect(app: AsyncApp, settings: Settings) -> AsyncSocketModeHandler:
    """Open the socket and return its handler; end it with `close_async()`. ConfigurationError if Slack refuses the app token."""
    if settings.slack_app_token is None:
        raise ConfigurationError(
            "SLACK_APP_TOKEN: needed for Socket Mode; make an app-level token with connections:write, or be heard over HTTP (PULLCORD_HTTP)"
        )
    token = settings.slack_app_token.get_secret_value()
    try:
        await app.client.apps_connections_open(app_token=token)  # the SDK itself would try a wrong token for ever
    except SlackApiError as refused:
        says = refused.response["error"]
        raise ConfigurationError(f"SLACK_APP_TOKEN: Slack says {says}; copy the app-level token with connections:write") from refused
    handler = AsyncSocketModeHandler(app, token)
    await handler.connect_async()  # type: ignore[no-untyped-call]
    return handler


def command_names(renamed: str) -> dict[str, str]:
    """What the workspace calls our commands; `renamed` as in PULLCORD_COMMANDS. ConfigurationError names a wrong part."""
    names = {command: f"/{command}" for command in COMMANDS}
    for part in (part.strip() for part in renamed.split(",") if part.strip()):
        ours, _, theirs = (side.strip() for side in part.partition("="))
        if ours not in names or not theirs.startswith("/") or not theirs[1:]:
            raise ConfigurationError(f"PULLCORD_COMMANDS: {part!r} is not like plan=/pc-plan; ours are {', '.join(COMMANDS)}")
        names[ours] = theirs
    return names


def _client(settings: Settings, *, retries: bool = True, token: str | None = "") -> AsyncWebClient:
    if token == "":
        if settings.slack_bot_token is None:
            raise ConfigurationError("SLACK_BOT_TOKEN: needed; it is on the app's page under Install App")
        token = settings.slack_bot_token.get_secret_value()
    client = AsyncWebClient(token=token, base_url=settings.slack_api_url, logger=_logger(settings), retry_handlers=[])
    if retries:
        client.retry_handlers = [AsyncConnectionErrorRetryHandler(), AsyncRateLimitErrorRetryHandler(max_retry_count=2)]
    return client


def _says_something(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith(TOKEN_TWICE)


def _logger(settings: Settings) -> logging.Logger:
    """The SDK's own lines; they go where those of every library go (see `bot.logs`)."""
    logger = logging.getLogger("pullcord.slack")
    logger.addFilter(_says_something)  # a filter that is there already is not added again
    logger.setLevel(logging.DEBUG if settings.log_level == "debug" else logging.WARNING)
    return logger

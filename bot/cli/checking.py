"""`pullcord check`, the doctor: each line is ok, or says what to do.

It opens the database as the bot would, and so makes one where none is.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml
from rich.console import Console
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.app import read_policy, registry, with_slack
from bot.cli.serving import own_manifest
from bot.core import policy as policies
from bot.core.policy import Policy
from bot.core.risk import Level
from bot.errors import ConfigurationError
from bot.rules import Rules
from bot.settings import Settings, load
from bot.store.db import Database
from bot.tools.lint import lint
from bot.tools.secrets import open_secrets
from handlers.directory import Directory

console = Console(highlight=False, soft_wrap=True)


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's."""

    about: str
    ok: bool
    says: str


def run_check(data: Path | None, *, as_json: bool) -> int:
    """0 if nothing is wrong, 1 otherwise."""
    findings = asyncio.run(_collect(data))
    if as_json:
        sys.stdout.write(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1) + "\n")
    else:
        for finding in findings:
            console.print(f"{'ok   ' if finding.ok else 'WRONG'} {finding.about}: {finding.says}", markup=False)
    return 0 if all(finding.ok for finding in findings) else 1


async def _collect(data: Path | None) -> list[Finding]:
    settings = with_demo_slack(load(data), data)
    findings = [Finding("settings", True, f"planner {'a model' if settings.model_planner else 'offline (no model)'}, pool {settings.pool}")]
    policy, tools = None, None
    try:
        policy = read_policy(settings.policy)
        tools = registry(settings)
        findings.append(Finding("policy", True, f"profile {policy.profile}, approvers {', '.join(policy.approvers) or 'nobody'}"))
        findings += [Finding("policy", False, remark) for remark in policies.remarks(policy, with_slack(tools, policy).catalogue)]
        findings.append(Finding("tools", True, f"{len(tools.catalogue)} tools"))
        findings += [Finding("tool words", False, says) for name in tools.catalogue for says in lint(tools.get(name))]
    except ConfigurationError as fault:
        findings.append(Finding("policy and tools", False, str(fault)))
    findings += _secrets(settings)
    findings.append(await _database(settings))
    async for finding in _slack(settings, policy):
        findings.append(finding)
    return findings


def with_demo_slack(settings: Settings, data: Path | None) -> Settings:
    """The settings with the tokens of a demo's workspace, where none are set and the folder has one."""
    about = data / "workspace.json" if data is not None else None
    if about is None or settings.slack_bot_token is not None or not about.exists():
        return settings
    found = json.loads(about.read_text())
    given = {"SLACK_API_URL": f"{found['url']}/api/", "SLACK_BOT_TOKEN": found["bot_token"], "SLACK_APP_TOKEN": found["app_token"]}
    fresh = Settings.model_validate(given)
    return settings.model_copy(
        update={
            "slack_api_url": fresh.slack_api_url,
            "slack_bot_token": fresh.slack_bot_token,
            "slack_app_token": fresh.slack_app_token,
        }
    )


def _secrets(settings: Settings) -> list[Finding]:
    """By name, and what an admin should mend; no value is shown."""
    try:
        found = open_secrets(os.environ, source=settings.secrets, keyring=settings.keyring)
    except ConfigurationError as fault:
        return [Finding("secrets", False, str(fault))]
    names = ", ".join(sorted(found.names())) or "none"
    return [Finding("secrets", True, f"for tools: {names}"), *(Finding("secrets", False, remark) for remark in found.remarks)]


async def _database(settings: Settings) -> Finding:
    try:
        store = await Database.open(settings.database_url)
    except Exception as fault:
        return Finding("database", False, f"{settings.database_url} cannot be opened ({fault}); check PULLCORD_DATABASE_URL")
    await store.close()
    return Finding("database", True, settings.database_url)


async def _slack(settings: Settings, policy: Policy | None) -> AsyncIterator[Finding]:
    """Tokens, scopes against the manifest, and the channels that the policy names."""
    if settings.slack_bot_token is None:
        yield Finding("slack", False, "SLACK_BOT_TOKEN is not set; it is on the app's page under Install App")
        return
    client = AsyncWebClient(token=settings.slack_bot_token.get_secret_value(), base_url=settings.slack_api_url)
    try:
        me = await client.auth_test()
    except SlackApiError as refused:
        yield Finding("slack", False, f"SLACK_BOT_TOKEN: Slack says {refused.response['error']}; copy the bot token of the installed app")
        return
    except Exception as silence:
        yield Finding("slack", False, f"{settings.slack_api_url} does not answer ({silence}); check SLACK_API_URL and the network")
        return
    yield Finding("slack", True, f"{me['user']} in {me['team']}")
    yield _scopes(dict(me.headers))
    if settings.slack_app_token is None and not settings.http:
        yield Finding("slack", False, "SLACK_APP_TOKEN is not set; make an app-level token with connections:write")
    if settings.slack_app_token is None and settings.http and settings.slack_signing_secret is None:
        yield Finding("slack", False, "SLACK_SIGNING_SECRET is not set; Slack can be heard over HTTP only with it")
    async for finding in _channels(client, settings, policy):
        yield finding
    if policy is not None:
        async for finding in _people(Directory(client, Rules(policy), team_id=me["team_id"]), policy):
            yield finding


def _scopes(headers: dict[str, str]) -> Finding:
    lower = {name.lower(): value for name, value in headers.items()}
    granted = {scope.strip() for scope in lower.get("x-oauth-scopes", "").split(",") if scope.strip()}
    needed = set(yaml.safe_load(own_manifest().read_text())["oauth_config"]["scopes"]["bot"])
    if not granted:
        return Finding("scopes", True, "the server does not say which scopes the token has")
    missing = sorted(needed - granted)
    if missing:
        return Finding("scopes", False, f"missing {', '.join(missing)}; update the app from manifest.yml and install it again")
    return Finding("scopes", True, "complete")


async def _channels(client: AsyncWebClient, settings: Settings, policy: Policy | None) -> AsyncIterator[Finding]:
    """Every channel where cards go must be there, with the bot in it (C013)."""
    if policy is None:
        return
    places = [settings.audit_channel or policy.places.audit or "", settings.approval_channel, *policy.places.review]
    wanted = {place.removeprefix("#") for place in places if place and place != "thread"}
    found = await client.conversations_list(types="public_channel,private_channel", limit=999, exclude_archived=True)
    known = {channel["name"]: channel for channel in found["channels"]} | {channel["id"]: channel for channel in found["channels"]}
    for place in sorted(wanted):
        channel = known.get(place)
        if channel is None:
            yield Finding("channel", False, f"#{place} is not there, or is private without the bot; make it, and /invite the bot in it")
        elif not channel.get("is_member"):
            yield Finding("channel", False, f"the bot is not in #{place}; write /invite @Pullcord there")
        else:
            yield Finding("channel", True, f"#{channel['name']}")


async def _people(directory: Directory, policy: Policy) -> AsyncIterator[Finding]:
    """Whoever the policy names must be somebody here: a name that means nobody lets nobody in, and keeps nobody out (`may_not`)."""
    try:
        found = {entry: await directory.people_of([entry]) for entry in policy.names}
    except SlackApiError as refused:
        yield Finding("people", False, f"Slack says {refused.response['error']}; update the app from manifest.yml and install it again")
        return
    for entry in (entry for entry, people in found.items() if not people):
        yield Finding("people", False, f"{entry} means nobody in this workspace; correct the name in the policy, or give the id")
    able = {person for entry in (*policy.approvers, *policy.escalation) for person in found[entry]}
    for level in (level for level in Level if policy.approvers and policy.quorum.get(level, 1) > len(able)):
        yield Finding("people", False, f"quorum.{level} is {policy.quorum[level]}, but only {len(able)} people are on the lists; name more")
    if able:
        yield Finding("people", True, f"{len(able)} people are on the lists of those who may approve")

"""Who people are and where channels lie, asked of Slack at the moment it matters.

Membership is looked up at the click, never at boot: whoever left the group a moment ago may not approve. A memory of seconds only keeps a
burst of clicks from becoming a burst of calls, and concurrent questions share one answer; `forget` drops it after a refusal, so that the
next click sees the world as it is then. The brake is different: it may use what was known minutes ago, and does not wait for Slack at all.
An entry of the policy means a person by id, by user name where exactly one person of this workspace has it, or by group (`@handle`);
display names mean nobody, since everyone chooses their own.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.facts import Reach
from bot.core.policy import Member
from bot.rules import Rules
from handlers.trouble import FAILURES

AT_THE_CLICK_S = 5.0  # how old may be what decides on a yes
NOT_OLD_S = -1.0  # nothing that is kept is new enough
FOR_CARDS_S = 60.0  # names, channels, the list of everybody
FOR_THE_BRAKE_S = 600.0
BRAKE_WAITS_S = 1.0
USER_ID = re.compile(r"[UW][A-Z0-9]{2,}")
GROUP_ID = re.compile(r"S[A-Z0-9]{2,}")
CHANNEL_ID = re.compile(r"[CGD][A-Z0-9]{2,}")
MOST_KEPT = 5_000
EXTERNAL = ("is_ext_shared", "is_pending_ext_shared", "is_shared")
REACH_S = 2.0
MOST_REACHED = 10  # channels of one plan

Json = dict[str, Any]

log = structlog.get_logger()


@dataclass(frozen=True)
class Channel:
    """A conversation as the bot sees it."""

    id: str
    name: str = ""
    is_member: bool = False
    is_private: bool = False
    people: int | None = None
    is_external: bool = False  # shared with another workspace, or about to be


class Directory:
    """Questions about people, groups and channels. A failing call raises `SlackApiError`, so that doubt never lets anybody in."""

    def __init__(self, client: AsyncWebClient, rules: Rules, *, team_id: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._rules = rules
        self._team_id = team_id
        self._clock = clock
        self._kept: dict[str, tuple[float, Any]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._anew: dict[str, float] = {}  # whom a refusal had looked up once more, and when
        self._forgot = clock() - AT_THE_CLICK_S

    def forget(self) -> None:
        """Ask anew next time. Not more often than every few seconds: who presses in vain again and again must not use up Slack's limits."""
        if self._clock() - self._forgot >= AT_THE_CLICK_S:
            self._forgot = self._clock()
            self._kept.clear()

    async def member(self, user_id: str, team_id: str = "", *, within_s: float = AT_THE_CLICK_S) -> Member:
        """The person as the rules know them, from facts at most `within_s` old. `team_id`: where the click came from, if it said so."""
        person = await self._person(user_id, within_s)
        stranger = bool(person.get("is_stranger")) or any(self._is_elsewhere(team) for team in (person.get("team_id"), team_id))
        return Member(
            id=user_id,
            team=team_id or person.get("team_id", ""),
            listed=frozenset() if stranger else await self._listed(user_id, person, within_s),
            is_guest=bool(person.get("is_restricted") or person.get("is_ultra_restricted")),
            is_bot=bool(person.get("is_bot")),
            is_deactivated=bool(person.get("deleted")),
            is_stranger=stranger,
            is_admin=not stranger and bool(person.get("is_admin") or person.get("is_owner")),
        )

    async def afresh(self, user_id: str, team_id: str = "") -> Member | None:
        """The person as Slack knows them at this moment; None if this person was looked up so within the last seconds.

        For one who is about to be told no by what was known: who presses in vain again and again must not use up Slack's limits.
        """
        if self._clock() - self._anew.get(user_id, -AT_THE_CLICK_S) < AT_THE_CLICK_S:
            return None
        if len(self._anew) > MOST_KEPT:
            self._anew.clear()
        self._anew[user_id] = self._clock()
        return await self.member(user_id, team_id, within_s=NOT_OLD_S)

    async def at_the_cord(self, user_id: str, team_id: str = "") -> Member:
        """The person who brakes: as known, or as Slack says within a second, else by the click's own workspace. A brake must not wait."""
        try:
            async with asyncio.timeout(BRAKE_WAITS_S):
                return await self.member(user_id, team_id, within_s=FOR_THE_BRAKE_S)
        except (TimeoutError, OSError, SlackApiError) as silence:
            log.warning("brake_without_directory", user=user_id, error=repr(silence))
            return Member(id=user_id, team=team_id, is_stranger=self._is_elsewhere(team_id))

    async def name(self, user_id: str) -> str:
        """What people call them; the id where Slack does not say."""
        if not USER_ID.fullmatch(user_id):
            return user_id
        person = await self._person(user_id, FOR_CARDS_S)
        profile = person.get("profile") or {}
        return str(profile.get("display_name") or person.get("real_name") or person.get("name") or user_id)

    async def approver_words(self) -> tuple[str, str]:
        """Who may approve, as mrkdwn that may ping, and in plain words that do not."""
        said = [await self._words(entry) for entry in self._rules.policy.approvers]
        if not said:
            return "nobody: the policy names no approvers", "nobody: the policy names no approvers"
        return " or ".join(pinging for pinging, _ in said), " or ".join(plain for _, plain in said)

    async def people_of(self, entries: Collection[str]) -> frozenset[str]:
        """Ids of everybody whom these entries of the policy mean, as known lately. Guests and bots among them may still be told no."""
        found: set[str] = set()
        for entry in entries:
            group = None if USER_ID.fullmatch(entry) else await self._group_id(entry, FOR_CARDS_S)
            if USER_ID.fullmatch(entry):
                found.add(entry)
            elif group is not None:
                found |= await self._known(f"group {group}", FOR_CARDS_S, lambda: self._group_users(group))  # noqa: B023 - awaited here
            elif entry.startswith("#") or CHANNEL_ID.fullmatch(entry):
                found |= await self._in_channel(entry, FOR_CARDS_S)
            elif user_id := await self._only_one(entry, FOR_CARDS_S):
                found.add(user_id)
        return frozenset(found)

    async def escalation_words(self) -> tuple[str, str]:
        """The second list, who may approve too once they were asked; empty where there is none."""
        said = [await self._words(entry) for entry in self._rules.policy.escalation]
        return " or ".join(pinging for pinging, _ in said), " or ".join(plain for _, plain in said)

    async def channel(self, channel_id: str) -> Channel | None:
        """The conversation, or None if the bot cannot see it (a private one without it looks as if it did not exist)."""
        raw = await self._known(f"channel {channel_id}", FOR_CARDS_S, lambda: self._channel_info(channel_id))
        if not raw:
            return None
        return Channel(
            id=channel_id,
            name=raw.get("name", ""),
            is_member=bool(raw.get("is_member") or raw.get("is_im")),
            is_private=bool(raw.get("is_private") or raw.get("is_im")),
            people=raw.get("num_members"),
            is_external=any(raw.get(sign) for sign in EXTERNAL),
        )

    async def reach(self, places: Collection[str]) -> Mapping[str, Reach]:
        """Whom words reach in these channels (ids, or `#name`). Asked for a bounded time; what Slack does not tell is left out."""
        found: dict[str, Reach] = {}
        try:
            async with asyncio.timeout(REACH_S):
                for place in list(dict.fromkeys(places))[:MOST_REACHED]:
                    found |= await self._reach(place)
        except TimeoutError:
            log.warning("reach_unknown", places=sorted(set(places) - set(found)))
        return found

    async def _reach(self, place: str) -> dict[str, Reach]:
        try:
            channel_id = await self.channel_id(place)
            channel = await self.channel(channel_id) if channel_id else None
        except FAILURES as silence:
            log.warning("reach_unknown", places=[place], error=repr(silence))
            return {}
        if channel is None:
            return {}
        return {place: Reach(people=channel.people, external=channel.is_external, private=channel.is_private, name=channel.name)}

    async def channel_id(self, place: str) -> str | None:
        """The id of `#name` (an id is its own); None if there is no such channel, or the bot cannot see it."""
        if not place.startswith("#"):
            return place if CHANNEL_ID.fullmatch(place) or USER_ID.fullmatch(place) else None
        known: dict[str, str] = await self._known("channels", FOR_CARDS_S, self._channel_names)
        if place[1:] not in known:
            known = await self._known("channels", AT_THE_CLICK_S, self._channel_names)
        return known.get(place[1:])

    # inside

    async def _known(self, key: str, within_s: float, ask: Callable[[], Awaitable[Any]]) -> Any:
        """What `ask` answered at most `within_s` ago; asks again if that is longer. Only one asks at a time."""
        async with self._locks.setdefault(key, asyncio.Lock()):
            kept = self._kept.get(key)
            if kept is not None and self._clock() - kept[0] <= within_s:
                return kept[1]
            answer = await ask()
            if len(self._kept) > MOST_KEPT:
                self._kept.clear()
                self._locks = {name: lock for name, lock in self._locks.items() if lock.locked()}
            self._kept[key] = (self._clock(), answer)
            return answer

    def _is_elsewhere(self, team_id: str | None) -> bool:
        return bool(team_id) and team_id != self._team_id

    async def _person(self, user_id: str, within_s: float) -> Json:
        found: Json = await self._known(f"person {user_id}", within_s, lambda: self._user_info(user_id))
        return found

    async def _user_info(self, user_id: str) -> Json:
        try:
            return dict((await self._client.users_info(user=user_id))["user"])
        except SlackApiError as no:
            if no.response["error"] in ("user_not_found", "user_not_visible"):
                return {"id": user_id, "is_stranger": True}
            raise

    async def _listed(self, user_id: str, person: Json, within_s: float) -> frozenset[str]:
        return frozenset([entry for entry in self._rules.policy.names if await self._means(entry, user_id, person, within_s)])

    async def _means(self, entry: str, user_id: str, person: Json, within_s: float) -> bool:
        if entry == user_id:
            return True
        group = await self._group_id(entry, within_s)
        if group is not None:
            return user_id in await self._known(f"group {group}", within_s, lambda: self._group_users(group))
        if entry.startswith("#") or CHANNEL_ID.fullmatch(entry):
            return user_id in await self._in_channel(entry, within_s)
        return entry == person.get("name") and await self._only_one(entry, within_s) == user_id

    async def _in_channel(self, entry: str, within_s: float) -> frozenset[str]:
        """Who is in that channel; nobody, if the bot cannot see it."""
        channel = await self.channel_id(entry)

        async def ask() -> frozenset[str]:
            found: set[str] = set()
            async for page in await self._client.conversations_members(channel=channel or "", limit=500):
                found |= set(page["members"])
            return frozenset(found)

        known: frozenset[str] = await self._known(f"members {channel}", within_s, ask) if channel else frozenset()
        return known

    async def _group_id(self, entry: str, within_s: float) -> str | None:
        if GROUP_ID.fullmatch(entry):
            return entry
        return (await self._groups(within_s)).get(entry[1:]) if entry.startswith("@") else None

    async def _groups(self, within_s: float) -> dict[str, str]:
        async def ask() -> dict[str, str]:
            answer = await self._client.usergroups_list(include_disabled=False)
            return {group["handle"]: group["id"] for group in answer["usergroups"]}

        found: dict[str, str] = await self._known("groups", within_s, ask)
        return found

    async def _group_users(self, group_id: str) -> frozenset[str]:
        return frozenset((await self._client.usergroups_users_list(usergroup=group_id))["users"])

    async def _only_one(self, name: str, within_s: float) -> str | None:
        """The id of the one person of this workspace with that user name; None if there is none, or more than one."""

        async def ask() -> dict[str, list[str]]:
            ids: dict[str, list[str]] = {}
            async for page in await self._client.users_list(limit=500):
                for person in page["members"]:
                    if person.get("team_id") == self._team_id and not person.get("deleted"):
                        ids.setdefault(person["name"], []).append(person["id"])
            return ids

        found = (await self._known("people", max(within_s, FOR_CARDS_S), ask)).get(name, [])
        return found[0] if len(found) == 1 else None

    async def _words(self, entry: str) -> tuple[str, str]:
        if USER_ID.fullmatch(entry):
            return f"<@{entry}>", await self.name(entry)
        group = await self._group_id(entry, FOR_CARDS_S)
        if group is not None:
            handle = next((f"@{handle}" for handle, known in (await self._groups(FOR_CARDS_S)).items() if known == group), entry)
            return f"anyone in <!subteam^{group}>", f"anyone in {handle}"
        if entry.startswith("#") and (channel := await self.channel_id(entry)):
            return f"anyone in <#{channel}>", f"anyone in {entry}"
        user_id = None if entry.startswith("@") else await self._only_one(entry, FOR_CARDS_S)
        return (f"<@{user_id}>", entry) if user_id else (f"{entry} (unknown here)", f"{entry} (unknown here)")

    async def _channel_info(self, channel_id: str) -> Json:
        try:
            return dict((await self._client.conversations_info(channel=channel_id, include_num_members=True))["channel"])
        except SlackApiError as no:
            if no.response["error"] == "channel_not_found":
                return {}
            raise

    async def _channel_names(self) -> dict[str, str]:
        names: dict[str, str] = {}
        pages = await self._client.conversations_list(types="public_channel,private_channel", exclude_archived=True, limit=500)
        async for page in pages:
            names |= {channel["name"]: channel["id"] for channel in page["channels"]}
        return names

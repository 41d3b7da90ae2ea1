"""Who a person is, is asked of the workspace at the click; names that people choose themselves mean nobody."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core import policy
from bot.rules import Rules
from bot.workspace.server import Workspace, start_workspace
from handlers.directory import Directory

MANIFEST = Path(__file__).parents[2] / "manifest.yml"


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def workspace() -> AsyncIterator[Workspace]:
    started = await start_workspace(data=None, port=0, manifest=MANIFEST)
    yield started
    await started.stop()


def directory(workspace: Workspace, *approvers: str, clock: Time | None = None) -> Directory:
    client = AsyncWebClient(token=workspace.bot_token, base_url=f"{workspace.url}/api/")
    rules = Rules(policy.default("team").model_copy(update={"approvers": approvers}))
    return Directory(client, rules, team_id="T0HOME", clock=clock or Time())


async def calls(workspace: Workspace, method: str) -> int:
    headers = {"Authorization": f"Bearer {workspace.people_token}"}
    async with aiohttp.ClientSession(headers=headers) as http, http.get(f"{workspace.url}/log") as answer:
        entries = (await answer.json())["entries"]
    return sum(entry.get("method") == method for entry in entries)


async def spoil(workspace: Workspace, **fault: object) -> None:
    headers = {"Authorization": f"Bearer {workspace.people_token}"}
    async with aiohttp.ClientSession(headers=headers) as http, http.post(f"{workspace.url}/faults", json=fault) as answer:
        assert answer.status == 200, await answer.text()


@pytest.mark.parametrize("entry", ["@ops-leads", "approver", "U0APPROVER", "S0OPSLEADS"])
async def test_an_approver_is_listed_by_group_user_name_or_id(workspace: Workspace, entry: str) -> None:
    people = directory(workspace, entry)

    assert (await people.member("U0APPROVER", "T0HOME")).listed == {entry}
    assert (await people.member("U0REQUESTER", "T0HOME")).listed == frozenset()


@pytest.mark.parametrize("entry", ["Approver", "@approver", "@nobody", "U0", ""])
async def test_display_names_and_unknown_words_mean_nobody(workspace: Workspace, entry: str) -> None:
    assert (await directory(workspace, entry).member("U0APPROVER", "T0HOME")).listed == frozenset()


async def test_guests_bots_the_deactivated_and_strangers_are_known_as_such(workspace: Workspace) -> None:
    people = directory(workspace, "guest", "U0PARTNER")
    guest, bot = await people.member("U0GUEST"), await people.member("U0OTHERBOT")
    gone, partner = await people.member("U0DEACTIVATED"), await people.member("U0PARTNER")

    assert (guest.is_guest, bot.is_bot, gone.is_deactivated, partner.is_stranger) == (True, True, True, True)
    assert guest.listed == {"guest"}  # the rules refuse a guest, listed or not
    assert partner.listed == frozenset()


async def test_a_click_from_another_workspace_is_a_strangers_whatever_the_id(workspace: Workspace) -> None:
    member = await directory(workspace, "U0APPROVER").member("U0APPROVER", "T0ELSEWHERE")

    assert member.is_stranger
    assert member.listed == frozenset()


async def test_fifty_clicks_at_once_are_one_question_and_the_next_moment_asks_anew(workspace: Workspace) -> None:
    clock = Time()
    people = directory(workspace, "@ops-leads", clock=clock)

    await asyncio.gather(*(people.member("U0APPROVER") for _ in range(50)))
    assert (await calls(workspace, "users.info"), await calls(workspace, "usergroups.users.list")) == (1, 1)
    clock.now += 6
    await people.member("U0APPROVER")
    assert await calls(workspace, "usergroups.users.list") == 2


async def test_what_was_known_is_forgotten_after_a_refusal(workspace: Workspace) -> None:
    people = directory(workspace, "@ops-leads")
    await people.member("U0MEMBER")
    people.forget()
    await people.member("U0MEMBER")

    assert await calls(workspace, "usergroups.users.list") == 2


async def test_doubt_lets_nobody_approve_but_everybody_brake(workspace: Workspace) -> None:
    people = directory(workspace, "@ops-leads")
    await spoil(workspace, method="users.info", error="internal_error", times=2)

    with pytest.raises(SlackApiError):
        await people.member("U0APPROVER", "T0HOME")
    braking = await people.at_the_cord("U0APPROVER", "T0HOME")

    assert (braking.id, braking.listed, braking.is_stranger) == ("U0APPROVER", frozenset(), False)


async def test_the_brake_waits_a_second_for_a_slow_directory_and_no_longer(workspace: Workspace) -> None:
    await spoil(workspace, method="users.info", delay_ms=5000)
    started = asyncio.get_running_loop().time()

    assert (await directory(workspace).at_the_cord("U0PARTNER", "T0PARTNER")).is_stranger
    assert asyncio.get_running_loop().time() - started < 2


async def test_approvers_are_named_in_words_that_ping_and_words_that_do_not(workspace: Workspace) -> None:
    people = directory(workspace, "@ops-leads", "member", "U0APPROVER", "nobody-here")

    assert await people.approver_words() == (
        "anyone in <!subteam^S0OPSLEADS> or <@U0MEMBER> or <@U0APPROVER> or nobody-here (unknown here)",
        "anyone in @ops-leads or member or approver or nobody-here (unknown here)",
    )
    assert (await directory(workspace).approver_words())[1].startswith("nobody")


async def test_channels_are_found_by_name_or_id_and_a_private_one_without_us_is_not(workspace: Workspace) -> None:
    people = directory(workspace)
    ops = await people.channel("C0OPS")

    assert [await people.channel_id(place) for place in ("#ops", "C0OPS")] == ["C0OPS", "C0OPS"]
    assert [await people.channel_id(place) for place in ("#private", "#none", "ops", "@ada")] == [None] * 4
    assert ops is not None
    assert (ops.name, ops.is_member, ops.is_private) == ("ops", True, False)
    assert ops.people is not None
    assert await people.channel("C0PRIVATE") is None


async def test_whom_words_reach_is_known_by_name_and_by_id(workspace: Workspace) -> None:
    people = directory(workspace)
    found = await people.reach(["#partners", "C0PARTNERS", "#ops", "#none", "C0PRIVATE", "@ada", "#ops"])

    assert set(found) == {"#partners", "C0PARTNERS", "#ops"}
    assert found["#partners"] == found["C0PARTNERS"]
    assert (found["#partners"].external, found["#partners"].private, found["#partners"].name) == (True, False, "partners")
    assert (found["#ops"].external, found["#ops"].people) == (False, (await people.channel("C0OPS")).people)  # type: ignore[union-attr]


async def test_whom_a_channel_reaches_is_asked_once_and_of_ten_channels_at_most(workspace: Workspace) -> None:
    people = directory(workspace)
    await asyncio.gather(*(people.reach(["C0OPS"]) for _ in range(20)))
    assert await calls(workspace, "conversations.info") == 1
    await people.reach([f"C0NONE{number}" for number in range(30)])
    assert await calls(workspace, "conversations.info") == 11


async def test_a_directory_that_does_not_answer_leaves_the_reach_unknown_and_holds_nobody_up(workspace: Workspace) -> None:
    people = directory(workspace)
    await spoil(workspace, method="conversations.info", error="internal_error", times=1)
    assert await people.reach(["C0OPS"]) == {}
    await spoil(workspace, method="conversations.info", delay_ms=30_000)
    began = asyncio.get_running_loop().time()
    assert await people.reach(["C0OPS"]) == {}
    assert asyncio.get_running_loop().time() - began < 10


async def test_a_channel_among_the_approvers_means_those_who_are_in_it_now(workspace: Workspace) -> None:
    people = directory(workspace, "#approvals")

    assert (await people.member("U0APPROVER", "T0HOME")).listed == {"#approvals"}
    assert (await people.member("U0GUEST", "T0HOME")).listed == frozenset()
    assert (await directory(workspace, "#private").member("U0APPROVER", "T0HOME")).listed == frozenset(), "the bot cannot see it"
    assert await people.approver_words() == ("anyone in <#C0APPROVALS>", "anyone in #approvals")


async def test_all_whom_the_lists_mean_are_known_by_id(workspace: Workspace) -> None:
    people = directory(workspace)

    assert await people.people_of(["@ops-leads", "member", "U0GUEST", "nobody-here"]) == {
        "U0APPROVER",
        "U0APPROVER2",
        "U0MEMBER",
        "U0GUEST",
    }
    assert "U0REQUESTER" in await people.people_of(["#approvals"])
    assert await people.people_of([]) == frozenset()


async def test_before_a_no_the_person_is_looked_up_afresh_but_once_in_a_while(workspace: Workspace) -> None:
    clock = Time()
    people = directory(workspace, "@ops-leads", clock=clock)
    await people.member("U0MEMBER")

    assert [await people.afresh("U0MEMBER") is not None for _ in range(3)] == [True, False, False]
    assert await people.afresh("U0REQUESTER") is not None
    clock.now += 6
    assert await people.afresh("U0MEMBER") is not None
    assert await calls(workspace, "usergroups.users.list") == 4

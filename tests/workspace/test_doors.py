"""Who is let in: loopback names only, no other origins, people only with their token."""

import aiohttp
import pytest

from bot.workspace import Workspace
from tests.doubles.town import People

FOR_PEOPLE = ["/", "/people", "/workspace", "/log", "/page/index.html", "/people/member/stream", "/people/member/channels"]
EVERYWHERE = [*FOR_PEOPLE, "/api/auth.test", "/link/", "/response/x", "/files/x/y", "/archives/C0OPS/p1"]


async def status(workspace: Workspace, path: str, *, method: str = "GET", **head: str) -> int:
    url = workspace.url + path
    async with aiohttp.ClientSession() as http, http.request(method, url, headers=head, allow_redirects=False) as answer:
        return answer.status


@pytest.mark.parametrize("path", EVERYWHERE)
async def test_another_origin_is_refused_everywhere(workspace: Workspace, path: str) -> None:
    bearer = f"Bearer {workspace.people_token}"

    assert await status(workspace, path, Origin="http://evil.example", Authorization=bearer) == 403
    assert await status(workspace, path, Origin="null", Authorization=bearer) == 403
    assert await status(workspace, path, Host="evil.example", Authorization=bearer) == 403


async def test_the_own_origin_by_any_loopback_name_is_let_in(workspace: Workspace) -> None:
    port = workspace.url.rpartition(":")[2]
    bearer = f"Bearer {workspace.people_token}"

    for name in ("127.0.0.1", "localhost", "[::1]"):
        own = f"{name}:{port}"
        assert await status(workspace, "/people", Origin=f"http://{own}", Host=own, Authorization=bearer) == 200


@pytest.mark.parametrize("path", FOR_PEOPLE)
async def test_people_need_their_token(workspace: Workspace, path: str) -> None:
    assert await status(workspace, path) == 403
    assert await status(workspace, path, Authorization=f"Bearer {workspace.bot_token}") == 403
    assert await status(workspace, path, Cookie="pullcord_people=wrong") == 403


async def test_the_printed_address_becomes_a_cookie_that_scripts_cannot_read(workspace: Workspace) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
        async with http.get(f"{workspace.url}/?token={workspace.people_token}", allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (302, "/")
            cookie = answer.headers["Set-Cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=Strict" in cookie
        async with http.get(f"{workspace.url}/people") as answer:
            assert (await answer.json())["ok"]
        async with http.get(f"{workspace.url}/") as answer:
            assert answer.status == 200
            assert answer.headers["Content-Security-Policy"].startswith("default-src 'self'; img-src 'self' data:")
        async with http.get(f"{workspace.url}/?token=wrong", allow_redirects=False) as answer:
            assert answer.status == 403


async def test_a_stranger_is_told_which_address_to_open(workspace: Workspace) -> None:
    async with aiohttp.ClientSession() as http, http.get(workspace.url) as answer:
        assert "address that the workspace printed" in await answer.text()


async def test_a_page_file_is_never_one_from_elsewhere(workspace: Workspace) -> None:
    bearer = f"Bearer {workspace.people_token}"

    assert await status(workspace, "/page/..%2Fserver.py", Authorization=bearer) == 404
    assert await status(workspace, "/page/nothing.js", Authorization=bearer) == 404


async def test_the_people_and_the_app_are_told(people: People) -> None:
    everybody = (await people.call("GET", "/people"))["people"]
    about = await people.call("GET", "/workspace")

    names = {"requester", "approver", "approver2", "member", "guest", "deactivated", "partner", "otherbot", "pullcord"}
    assert {person["name"] for person in everybody} == names
    assert about["app"] == {"name": "Pullcord", "bot_user_id": "U0PULLCORD", "bot_id": "B0PULLCORD", "app_id": "A0PULLCORD"}
    assert [command["command"] for command in about["commands"]] == ["/plan", "/told"]
    assert about["home"]


async def test_each_person_sees_their_own_channels(people: People) -> None:
    async def names(user: str) -> set[str]:
        return {channel["name"] for channel in (await people.call("GET", f"/people/{user}/channels"))["channels"]}

    assert await names("guest") == {"general", "ops", "Pullcord"}
    assert await names("partner") == {"partners", "Pullcord"}
    assert "private" in await names("approver")
    private = [c for c in (await people.call("GET", "/people/approver/channels"))["channels"] if c["name"] == "private"][0]
    assert (private["is_private"], private["bot_is_member"], private["num_members"]) == (True, False, 4)

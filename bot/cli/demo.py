"""`pullcord demo`: the local workspace in this process, the bot in a child that knows it only by Slack's own protocol.

Everything stands in one folder. A demo that was killed comes back with its messages and its open runs.
"""

import asyncio
import os
import signal
import sys
import webbrowser
from pathlib import Path

from bot.cli.serving import PARENT, on_hang_up, own_manifest, run_until_done, say, until_told
from bot.errors import ConfigurationError
from bot.policies import example
from bot.workspace.server import Workspace, start_workspace

# Slack's SDK sends even loopback calls through a proxy, and knows no exception list.
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
CONNECT_S = 60.0

DOCUMENTS = {
    "notes/today.md": (
        "# Today\n"
        "The login page was slow on Monday morning: pages took nine seconds instead of one.\n"
        "The cache was cold after Sunday's upgrade, so every visitor went to the database.\n"
        "Lee warmed the cache at nine and the page was fast again within ten minutes.\n"
        "Next time the upgrade should warm the cache before traffic is let in.\n"
        "Sam offered to write that step and to test it on Thursday.\n"
    ),
    "app/config.toml": '[server]\nhost = "0.0.0.0"\nport = 8080\nrequest_timeout = 30\n\n[cache]\nwarm_on_start = false\n',
    "backup/config.toml": '[server]\nhost = "0.0.0.0"\nport = 8080\nrequest_timeout = 60\n\n[cache]\nwarm_on_start = false\n',
    "ops/hosts.txt": "web1.example.com\nweb2.example.com\ndb1.example.com\n",
}


def run_demo(data: Path, *, port: int, browser: bool, policy: Path | None, tools: list[Path]) -> int:
    """Run until told to end; 1 if the bot ended by itself."""
    try:
        seed(data)
    except OSError as fault:
        raise ConfigurationError(f"{data}: cannot be used ({fault.strerror}); name another folder with --data") from fault
    environment = child_environment(data, policy=policy, tools=tools)
    ended: list[int] = []

    async def serve() -> None:
        told = until_told(asyncio.get_running_loop())
        served = await start_workspace(data=data, port=port, manifest=own_manifest(), people=None)
        try:
            ended.append(await _with_bot(served, data, environment, told, browser=browser))
        finally:
            await served.stop()

    run_until_done(serve)
    if ended[0] == 1:
        sys.stderr.write("pullcord: the bot ended by itself; start the demo again, and it goes on where it was\n")
    return ended[0]


def seed(data: Path) -> None:
    """The demo's policy and, where there are no files yet, a few documents to try things on."""
    data.mkdir(parents=True, exist_ok=True)
    policy = data / "policy.yml"
    if not policy.exists():
        policy.write_text(example("demo"))
    files = data / "files"
    if files.exists():
        return
    for name, text in DOCUMENTS.items():
        path = files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def child_environment(data: Path, *, policy: Path | None, tools: list[Path]) -> dict[str, str]:
    """What the bot is told; paths must exist, so that a typing error is said here and not in a log."""
    for path in (*tools, *((policy,) if policy else ())):
        if not path.exists():
            raise ConfigurationError(f"{path}: there is no such file")
    environment = {key: value for key, value in os.environ.items() if key not in PROXIES and not key.startswith("SLACK_")}
    environment["PULLCORD_POLICY"] = str((policy or data / "policy.yml").resolve())
    environment["PULLCORD_DATABASE_URL"] = f"sqlite:///{(data / 'pullcord.db').resolve()}"
    environment["PULLCORD_FILES"] = str((data / "files").resolve())
    environment[PARENT] = str(os.getpid())
    environment.setdefault("PULLCORD_LOG", "warning")  # the terminal is for the greeting and for what goes wrong
    if tools:
        environment["PULLCORD_TOOLS"] = os.pathsep.join(str(path.resolve()) for path in tools)
    return environment


async def _with_bot(served: Workspace, data: Path, environment: dict[str, str], told: asyncio.Event, *, browser: bool) -> int:
    environment |= {
        "SLACK_API_URL": f"{served.url}/api/",
        "SLACK_BOT_TOKEN": served.bot_token,
        "SLACK_APP_TOKEN": served.app_token,
    }
    bot = await asyncio.create_subprocess_exec(sys.executable, "-m", "bot", "start", env=environment)
    ending = asyncio.ensure_future(bot.wait())  # noqa: TID251 - owned and awaited in this function
    asked = asyncio.ensure_future(told.wait())  # noqa: TID251
    connected = asyncio.ensure_future(served.wait_connected())  # noqa: TID251
    on_hang_up(asyncio.get_running_loop(), told, lambda: bot.send_signal(signal.SIGHUP) if connected.done() else None)
    try:
        await asyncio.wait({ending, asked, connected}, timeout=CONNECT_S, return_when=asyncio.FIRST_COMPLETED)
        if connected.done():
            _greet(served, data, browser=browser)
        elif not asked.done() and not ending.done():
            raise ConfigurationError(f"the bot did not connect within {CONNECT_S:.0f} s; its own lines above say why")
        await asyncio.wait({ending, asked}, return_when=asyncio.FIRST_COMPLETED)
        return 0 if asked.done() else max(1, ending.result())  # 2: its settings are wrong, and it has said which
    finally:
        for waiting in (asked, connected):
            waiting.cancel()
        if not ending.done():
            bot.terminate()
            await ending


def _greet(served: Workspace, data: Path, *, browser: bool) -> None:
    served.write_about(data / "workspace.json")
    address = f"{served.url}/?token={served.people_token}"
    say("")
    say("Pullcord's demo: a workspace of your own, on this machine only.")
    say("  1. As requester, in #ops:  /plan read notes/today.md, then summarize it, then post the summary to #general")
    say("  2. Switch to approver, open the thread, press Approve.")
    say("  3. Look at #general, and at #audit for who approved what. Ctrl-C ends the demo; everything stays in " + str(data))
    say("")
    say(f"ready {address}")
    if browser:
        webbrowser.open(address)

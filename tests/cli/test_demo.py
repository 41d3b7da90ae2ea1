"""`pullcord demo` as a process: it is ready, it is alone, it ends whole, and it comes back with what was said."""

import contextlib
import fcntl
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import PATIENCE_S, ended, environment_of, eventually, read_until, start

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "demo"


@pytest.fixture
def demo(data: Path) -> Iterator[Start]:
    """Start a demo and wait for its `ready`; whatever still runs at the end is killed, and its bot with it."""
    started = []

    def go(*arguments: object) -> "subprocess.Popen[str]":
        process = start("demo", "--no-browser", "--port", 0, "--data", data, *arguments)
        started.append(process)
        read_until(process, "ready ")
        return process

    yield go
    for process in started:
        process.kill()
        process.communicate()
    eventually(lambda: is_free(data), "the bot to be gone")


def is_free(data: Path) -> bool:
    """Does no bot hold the database of this folder?"""
    path = data / "pullcord.lock"
    if not path.exists():
        return True
    with path.open("a") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


def people(data: Path, path: str, body: Any = None) -> Any:
    about = json.loads((data / "workspace.json").read_text())
    headers = {"Authorization": f"Bearer {about['people_token']}", "Content-Type": "application/json"}
    asked = urllib.request.Request(about["url"] + path, json.dumps(body).encode() if body else None, headers)
    with urllib.request.urlopen(asked, timeout=20) as answer:
        return json.loads(answer.read())


def said(data: Path) -> list[str]:
    return [message["text"] for message in people(data, f"/people/member/channels/{urllib.parse.quote('#general')}/messages")["messages"]]


def test_it_is_ready_and_ends_whole_when_told(demo: Start, data: Path) -> None:
    process = demo()
    assert (data / "files" / "notes" / "today.md").exists()
    assert not is_free(data)

    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    told = ended(process)

    assert (told.code, told.err) == (0, "")
    assert time.monotonic() - began < 15
    assert is_free(data)


def test_its_bot_does_not_outlive_it(demo: Start, data: Path) -> None:
    process = demo()

    process.kill()
    process.communicate()

    eventually(lambda: is_free(data), "the bot to be gone")


def test_it_ends_and_says_so_where_its_bot_ends_by_itself(demo: Start, data: Path) -> None:
    process = demo()
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.splitlines()
    (bot,) = [int(pid) for pid, parent in map(str.split, listed) if int(parent) == process.pid]

    os.kill(bot, signal.SIGKILL)
    told = ended(process)

    assert (told.code, told.err) == (1, "pullcord: the bot ended by itself; start the demo again, and it goes on where it was\n")


GOOD = 'approvers: ["@ops-leads"]\nplaces: {audit: "#audit"}\n'


@pytest.mark.parametrize(("policy", "heard"), [(GOOD, "Policy reloaded"), ("profile: [\n", "Policy not reloaded")])
def test_sighup_reads_the_policy_again_and_ends_nothing(demo: Start, data: Path, policy: str, heard: str) -> None:
    process = demo()
    (data / "policy.yml").write_text(policy)

    process.send_signal(signal.SIGHUP)

    def told() -> bool:
        messages = people(data, "/people/approver/channels/%23audit/messages")["messages"]
        return any(heard in json.dumps(message, ensure_ascii=False) for message in messages)

    eventually(told, f"the audit channel to hear: {heard}")
    assert process.poll() is None


def test_it_ends_with_the_terminal_from_which_it_was_started(data: Path) -> None:
    process, terminal = in_a_terminal("demo", "--no-browser", "--port", 0, "--data", data)
    eventually(lambda: (data / "workspace.json").exists(), "the demo to be ready", within_s=PATIENCE_S)

    os.close(terminal)
    with contextlib.suppress(ProcessLookupError):  # the kernel may have said so already
        process.send_signal(signal.SIGHUP)

    process.wait(timeout=30)
    eventually(lambda: is_free(data), "the bot to be gone")


def in_a_terminal(*arguments: object) -> "tuple[subprocess.Popen[bytes], int]":
    """`python -m bot …` at a terminal of its own; the terminal is gone once the number returned is closed."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "bot", *(str(each) for each in arguments)]
    process = subprocess.Popen(command, stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment_of({}))
    os.close(theirs)
    return process, ours


def test_a_second_one_in_the_same_folder_is_turned_away_and_takes_nothing_from_the_first(demo: Start, data: Path) -> None:
    first = demo()
    people(data, "/people/member/messages", {"channel": "#general", "text": "before"})

    second = ended(start("demo", "--no-browser", "--port", 0, "--data", data))

    assert (second.code, second.out) == (2, "")
    assert "stop it first" in second.complaint
    people(data, "/people/member/messages", {"channel": "#general", "text": "after"})
    first.kill()
    first.communicate()
    eventually(lambda: is_free(data), "the bot to be gone")
    demo()
    assert said(data) == ["before", "after"]


def test_a_port_that_is_taken_is_said_in_one_line(data: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()

        told = ended(start("demo", "--no-browser", "--port", other.getsockname()[1], "--data", data))

    assert (told.code, told.out) == (2, "")
    assert "cannot be used (Address already in use); choose another with --port" in told.complaint


@pytest.mark.parametrize(
    ("option", "name", "content", "says"),
    [
        ("--tools", "broken.py", b"def (:\n", "broken.py:1: invalid syntax"),
        ("--tools", "needs.py", b"import nosuch\n", "No module named 'nosuch'"),
        ("--tools", "tools.txt", b"", "a tool file is a Python file that ends in .py"),
        ("--policy", "broken.yml", b"profile: [\n", "broken.yml, line "),
        ("--policy", "binary.yml", bytes(range(256)), "this is not a text file in UTF-8"),
    ],
)
def test_a_broken_file_is_said_in_one_line(tmp_path: Path, data: Path, option: str, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)

    told = ended(start("demo", "--no-browser", "--port", 0, "--data", data, option, tmp_path / name))

    assert (told.code, told.out) == (2, "")
    assert says in told.complaint
    assert is_free(data)


@pytest.mark.parametrize("option", ["--tools", "--policy"])
def test_a_file_that_is_not_there_is_said_before_anything_starts(data: Path, option: str) -> None:
    told = ended(start("demo", "--no-browser", "--port", 0, "--data", data, option, "nosuch"))

    assert (told.code, told.complaint) == (2, "pullcord: nosuch: there is no such file")


def test_a_file_in_the_place_of_its_folder_is_said(data: Path) -> None:
    data.write_text("not a folder")

    told = ended(start("demo", "--no-browser", "--port", 0, "--data", data))

    assert told.code == 2
    assert told.complaint.startswith(f"pullcord: {data}: ")
    assert told.complaint.endswith("(File exists); name another folder with --data")

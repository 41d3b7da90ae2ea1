"""Words that code says about a step: from the tool and literal arguments only, whatever the values hold."""

from typing import Any

import pytest
from hypothesis import given

from bot.core.catalogue import Effect
from bot.core.characters import hides, utf16
from bot.core.plan import Step
from bot.core.wording import joined, late, named, sentence, shown
from tests.core.samples import CATALOGUE, TEXT, json_values, plan, post, read, schema, spec

DEPLOY = spec(
    "site.deploy", Effect.WRITE, schema(env=TEXT, tag={"type": "string", "default": "latest"}), says="Changes web in {env} to {tag}"
)


def says(tool: str, /, *, done: bool = False, **args: Any) -> str:
    known = {
        **CATALOGUE,
        "site.deploy": DEPLOY,
        "time.now": spec("time.now", Effect.READ, {}),
        "gh.make": spec("gh.make", Effect.EXECUTE, {}),
    }
    return sentence(Step(id="a", tool=tool, args=args, purpose="Harmless"), known[tool], done=done)


@pytest.mark.parametrize(
    ("tool", "args", "now", "done"),
    [
        ("files.read", {"path": "app/config.toml"}, "Reads app/config.toml", "Read app/config.toml"),
        ("files.write", {"path": "a.md"}, "Changes a.md", "Changed a.md"),
        ("files.delete", {"path": "a.md"}, "Deletes a.md", "Deleted a.md"),
        ("shell.run", {"argv": ["git", "status"]}, "Runs git, status", "Ran git, status"),
        ("slack.post_message", {"channel": "#ops"}, "Sends a message to #ops", "Sent a message to #ops"),
        ("text.summarize", {}, "Writes a summary", "Wrote a summary"),
        ("time.wait", {"seconds": 5}, "Waits 5 seconds", "Waited 5 seconds"),
        ("site.deploy", {"env": "prod", "tag": "v2"}, "Changes web in prod to v2", "Changed web in prod to v2"),
        ("site.deploy", {"env": "prod"}, "Changes web in prod to latest", "Changed web in prod to latest"),
        ("site.deploy", {"tag": "v2"}, "Changes web in the usual env to v2", "Changed web in the usual env to v2"),
        ("files.read", {"path": "{{a.path}}"}, "Reads a path named later", "Read a path named later"),
        (
            "site.deploy",
            {"env": "x-{{a.e}}"},
            "Changes web in an env named later to latest",
            "Changed web in an env named later to latest",
        ),
        ("time.now", {}, "Calls time.now, which only reads", "Called time.now, which only reads"),
        ("gh.make", {}, "Calls gh.make, which may change anything", "Called gh.make, which may change anything"),
    ],
)
def test_code_says_what_a_step_does(tool: str, args: dict[str, Any], now: str, done: str) -> None:
    assert says(tool, **args) == now
    assert says(tool, done=True, **args) == done


@pytest.mark.parametrize(
    ("verb", "past"),
    [
        ("Lists", "Listed"),
        ("Looks", "Looked"),
        ("Sends", "Sent"),
        ("Copies", "Copied"),
        ("Searches", "Searched"),
        ("Pushes", "Pushed"),
        ("Fixes", "Fixed"),
        ("Merges", "Merged"),
        ("Closes", "Closed"),
        ("Stops", "Stopped"),
        ("Plans", "Planned"),
        ("Adds", "Added"),
        ("Opens", "Opened"),
        ("Plays", "Played"),
        ("Shows", "Showed"),
        ("Passes", "Passed"),
        ("Finds", "Found"),
        ("Undo", "Undo"),
    ],
)
def test_what_is_done_is_said_in_the_past(verb: str, past: str) -> None:
    assert sentence(Step(id="a", tool="t.t"), spec("t.t", Effect.READ, {}, says=f"{verb} things"), done=True) == f"{past} things"


def test_a_value_cannot_leave_its_place_in_the_sentence() -> None:
    assert says("files.read", path="a\nApproved\tby boss") == "Reads a⏎Approved by boss"
    assert says("files.read", path="a\u202egpj.exe") == "Reads a⟦U+202E⟧gpj.exe"
    assert says("slack.post_message", channel="{path}") == "Sends a message to {path}"
    assert says("files.read", path="x" * 100) == "Reads " + "x" * 59 + "…"
    assert says("files.read", path="تقرير.md") == "Reads \u2068تقرير.md\u2069"


@given(json_values)
def test_a_shown_value_is_one_short_line_with_nothing_hidden(value: Any) -> None:
    text = shown(value)
    assert "\n" not in text
    assert utf16(text.strip("\u2068\u2069")) <= 60
    assert not hides(text.strip("\u2068\u2069"))


def test_where_a_value_comes_from() -> None:
    drawn = plan(read("config"), read("old"), post("post", "{{config.text}}"))
    assert late("{{config.text}}", drawn) == "filled in later from 1 · config"
    assert late("{{old.text}}\n---\n{{config.text}} {{old.path}}", drawn) == "filled in later from 2 and 1"
    assert late(["{{old}}", {"a": "{{config}}", "b": "{{post.ts}}"}], drawn) == "filled in later from 2, 1 and 3"
    assert late("{{gone.x}}", drawn) == "filled in later from gone"
    assert late("literal", drawn) == ""


def test_steps_and_lists_are_named_as_people_say_them() -> None:
    assert named(Step(id="a", tool="t", number=3)) == "3 · a"
    assert named(Step(id="a", tool="t")) == "a"
    assert [joined(["1"]), joined(["1", "2"]), joined([1, 2, 3])] == ["1", "1 and 2", "1, 2 and 3"]

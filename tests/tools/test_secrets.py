"""Secrets by name: where they come from, who is given them, and that they are seen nowhere else (P11)."""

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import BaseModel, ConfigDict

from bot.core.plan import Plan, Step
from bot.errors import ConfigurationError, ToolFailed
from bot.tools.masks import hold, mask, redact, redacted, release
from bot.tools.registry import Preview, Registry, ToolContext, tool
from bot.tools.secrets import Secrets, open_secrets

VALUE = 'pa"ss wörd/with+all?of it'
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
KEY = "sk-ant" + "-api03-abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def secrets() -> Iterator[Secrets]:
    held = Secrets({"API_KEY": VALUE, "OTHER": "another value"})
    yield held
    held.close()


# where they come from


def test_the_environment_counts_before_a_file_and_a_file_before_the_keyring(tmp_path: Path) -> None:
    path = tmp_path / "secrets"
    path.write_text("# ours\nexport A=from the file\n\nB='from the file'\n")
    path.chmod(0o600)
    asked: list[tuple[str, str]] = []

    def ring(service: str, name: str) -> str:
        asked.append((service, name))
        return "from the ring"

    found = open_secrets({"PULLCORD_SECRET_A": "from env", "HOME": "/x"}, source=path, keyring="ours:A,B,C", ask=ring)

    assert [found.value(name) for name in "ABC"] == ["from env", "from the file", "from the ring"]
    assert asked == [("ours", "A"), ("ours", "B"), ("ours", "C")]
    assert found.remarks == ()
    found.close()


def test_a_folder_has_one_file_for_each_name_and_a_value_may_have_several_lines(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir(mode=0o700)
    (folder / "PEM_KEY").write_text("first line of it\nsecond line of it\n")
    (folder / "PEM_KEY").chmod(0o600)
    (folder / ".hidden").write_text("no secret")

    found = open_secrets({}, source=folder)

    assert found.names() == {"PEM_KEY"}
    assert found.value("PEM_KEY") == "first line of it\nsecond line of it"
    assert "second line" not in redact("it says: second line of it")
    found.close()


def test_what_an_admin_should_mend_is_said_without_a_value(tmp_path: Path) -> None:
    path = tmp_path / "secrets"
    path.write_text("SHORT=abc12\nlower=long enough\nGOOD=long enough too\n")
    path.chmod(0o644)

    found = open_secrets({}, source=path)

    assert found.names() == {"GOOD"}
    said = "\n".join(found.remarks)
    assert f"chmod 600 {path}" in said
    assert "the secret SHORT has 5 characters, and 6 or more are needed" in said
    assert "lower: this is no name for a secret" in said
    assert not any(value in said for value in ("abc12", "long enough"))
    found.close()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"source": Path("nowhere")}, "PULLCORD_SECRETS: nowhere cannot be read"),
        ({"keyring": "ours"}, "write it as service:NAME,NAME"),
        ({"keyring": "ours:A", "ask": lambda _service, _name: None}, "'ours' has no A"),
    ],
)
def test_a_source_that_is_named_and_cannot_be_read_refuses_to_start(more: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        open_secrets({}, **more)


def test_a_line_that_cannot_be_read_is_named_by_its_number_only(tmp_path: Path) -> None:
    path = tmp_path / "secrets"
    path.write_text("A=long enough\nhunter2hunter2\n")
    with pytest.raises(ConfigurationError, match="line 2 is not NAME=value") as caught:
        open_secrets({}, source=path)
    assert "hunter2" not in str(caught.value)


# masked wherever it stands


@pytest.mark.parametrize(
    "text",
    [
        VALUE,
        f"before {VALUE} after",
        json.dumps({"k": VALUE}),
        quote(VALUE, safe=""),
        "Basic " + base64.b64encode(f"user:{VALUE}".encode()).decode(),
        base64.urlsafe_b64encode(VALUE.encode()).decode(),
        base64.b64encode(b"x" + VALUE.encode() + b"yz").decode(),
    ],
)
@pytest.mark.usefixtures("secrets")
def test_p11_a_secret_of_this_process_is_masked_however_it_is_written(text: str) -> None:
    shown = redact(text)
    assert mask(VALUE) in shown
    assert VALUE not in shown
    assert redact(shown) == shown


@pytest.mark.usefixtures("secrets")
def test_p11_a_secret_is_masked_in_the_names_of_fields_too() -> None:
    assert redacted({VALUE: [VALUE]}) == {mask(VALUE): [mask(VALUE)]}


def test_what_is_held_twice_is_masked_until_it_is_released_twice() -> None:
    hold(["some value"])
    hold(["some value"])
    release(["some value"])
    assert "some value" not in redact("it is some value")
    release(["some value"])
    assert redact("it is some value") == "it is some value"


@pytest.mark.parametrize("value", ["", "short", "secret"])
def test_words_that_ordinary_text_has_are_not_held(value: str) -> None:
    hold([value])
    assert redact(f"the {value} word in ⟦secret 3f2a⟧") == f"the {value} word in ⟦secret 3f2a⟧"
    release([value])


def test_no_value_is_in_what_python_says_of_it(secrets: Secrets) -> None:
    assert repr(secrets) == "Secrets(API_KEY, OTHER)"
    with pytest.raises(ToolFailed, match="there is no secret API_KYE; did you mean API_KEY") as caught:
        secrets.value("API_KYE")
    assert VALUE not in str(caught.value)


# what somebody types


def test_c059_what_is_typed_is_named_and_the_tool_still_receives_it(secrets: Secrets) -> None:
    words = secrets.typed(f"call it with {KEY}, then postgres://u:hunter22@h/db", "R-1")

    names = sorted(name for name in secrets.names("R-1") if name.startswith("TYPED_"))
    assert len(names) == 2
    assert sorted(secrets.value(name, "R-1") for name in names) == ["hunter22", KEY]
    assert KEY not in words
    assert "hunter22" not in words
    assert all(f"{{{{secret:{name}}}}}" in words for name in names)
    assert secrets.typed(words, "R-1") == words
    assert redact(words) == words


def test_what_is_typed_in_one_run_is_unknown_in_every_other_but_the_one_that_follows(secrets: Secrets) -> None:
    secrets.typed(f"use {KEY}", "R-1")
    (name,) = secrets.names("R-1") - secrets.names()

    assert name not in secrets.names("R-2")
    with pytest.raises(ToolFailed, match="is not kept over a restart or for other runs; ask again"):
        secrets.value(name, "R-2")
    secrets.follow("R-1", "R-2")
    assert secrets.value(name, "R-2") == KEY


def test_a_configured_secret_that_is_typed_out_is_named(secrets: Secrets) -> None:
    assert secrets.typed(f"send {VALUE} there", "R-1") == "send {{secret:API_KEY}} there"


def test_the_bots_own_tokens_are_masked_and_given_to_no_tool(secrets: Secrets) -> None:
    hold(["own token of ours"])
    assert secrets.typed("say own token of ours", "R-1") == f"say {mask('own token of ours')}"
    release(["own token of ours"])


def test_c059_a_plan_that_was_written_by_hand_keeps_no_value(secrets: Secrets) -> None:
    args = {"headers": {"Authorization": f"Bearer {KEY}"}, "password": "plain words", "n": 5}
    step = Step(id="a", tool="x.y", purpose=f"with {KEY}", args=args)
    plan = secrets.typed_plan(Plan(goal="g", steps=(step,)), "R-1")

    assert KEY not in plan.model_dump_json()
    assert "plain words" not in plan.model_dump_json()
    assert plan.steps[0].args["n"] == 5
    assert secrets.typed_plan(plan, "R-1") is plan


def test_only_so_many_typed_values_are_remembered() -> None:
    held = Secrets()
    for number in range(400):
        held.typed(f"password={number:05}xyz!", "R-1")
    assert len(held.names("R-1")) == 300
    assert redact("see 00000xyz! and 00399xyz!") == f"see 00000xyz! and {mask('00399xyz!')}"
    held.close()
    assert redact("00399xyz!") == "00399xyz!"


# at the call


class Given(BaseModel):
    model_config = ConfigDict(extra="forbid")
    headers: dict[str, str]
    text: str = ""


class Echo(BaseModel):
    said: dict[str, str]


def registry(seen: list[Given]) -> Registry:
    @tool(name="test.call", effect="write", says="Calls")
    def call(args: Given, ctx: ToolContext) -> Echo:
        """Call it. Use it for tests. Not for anything else."""
        seen.append(args)
        ctx.progress(f"with {args.headers}")
        if args.text == "fail":
            raise ToolFailed(f"it said no to {args.headers['key']}")
        if args.text == "ask":
            return Echo(said={"other": ctx.secret("OTHER")})
        return Echo(said=args.headers)

    @call.preview
    def preview(args: Given, _ctx: ToolContext) -> Preview:
        return Preview(target="it", facts=(args.headers["key"],), after=f"key: {args.headers['key']}")

    return Registry([call])


def context(secrets: Secrets, planned: dict[str, Any], said: list[str] | None = None) -> ToolContext:
    told = said.append if said is not None else None
    return ToolContext(run_id="R-1", step_id="a", key="k", now=lambda: NOON, on_progress=told, planned=planned, secrets=secrets.value)


async def test_p11_the_tool_receives_the_value_and_nobody_else_does(secrets: Secrets) -> None:
    seen: list[Given] = []
    said: list[str] = []
    args = {"headers": {"key": "Bearer {{secret:API_KEY}}"}}

    found = await registry(seen).call("test.call", args, context(secrets, args, said))

    assert seen[0].headers == {"key": f"Bearer {VALUE}"}
    assert VALUE not in found.model_dump_json()
    assert VALUE not in str(said)
    assert found.value == {"said": {"key": f"Bearer {mask(VALUE)}"}}


async def test_p11_a_preview_names_the_secret(secrets: Secrets) -> None:
    args = {"headers": {"key": "{{secret:API_KEY}}"}}
    shown = await registry([]).preview("test.call", args, context(secrets, args))
    assert shown is not None
    assert (shown.facts, shown.after) == (("{{secret:API_KEY}}",), "key: {{secret:API_KEY}}")


async def test_p11_a_failure_does_not_tell_the_value(secrets: Secrets) -> None:
    args = {"headers": {"key": "{{secret:API_KEY}}"}, "text": "fail"}
    with pytest.raises(ToolFailed) as caught:
        await registry([]).call("test.call", args, context(secrets, args))
    assert str(caught.value) == f"it said no to {mask(VALUE)}"


async def test_p11_data_that_names_a_secret_is_given_as_it_is(secrets: Secrets) -> None:
    """Template injection: the plan says `{{page.text}}`, and the page says `{{secret:API_KEY}}`."""
    seen: list[Given] = []
    planned = {"headers": {"key": "{{page.text}}"}}
    await registry(seen).call("test.call", {"headers": {"key": "{{secret:API_KEY}}"}}, context(secrets, planned))
    assert seen[0].headers == {"key": "{{secret:API_KEY}}"}


async def test_a_secret_that_is_gone_at_the_call_is_said_and_nothing_is_called(secrets: Secrets) -> None:
    seen: list[Given] = []
    args = {"headers": {"key": "{{secret:GONE}}"}}
    with pytest.raises(ToolFailed, match="there is no secret GONE; have an admin set it as PULLCORD_SECRET_GONE"):
        await registry(seen).call("test.call", args, context(secrets, args))
    assert seen == []


async def test_a_tool_may_ask_for_a_secret_by_itself(secrets: Secrets) -> None:
    args = {"headers": {}, "text": "ask"}
    found = await registry([]).call("test.call", args, context(secrets, args))
    assert found.value == {"said": {"other": mask("another value")}}

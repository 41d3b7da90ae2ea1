"""What `@tool` reads from a function, and what it refuses with a sentence that says what to do."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from bot.core.catalogue import Effect
from bot.errors import ConfigurationError
from bot.tools.registry import Preview, Registry, Tool, ToolContext, tool


class Args(BaseModel):
    model_config = ConfigDict(extra="forbid")
    env: str = Field(description="Where")


class Loose(BaseModel):
    env: str


class Nested(BaseModel):
    model_config = ConfigDict(extra="forbid")
    inner: Loose


class Result(BaseModel):
    url: str


def define(**changed: Any) -> Tool:
    """A tool that is right but for what is changed."""

    @tool(**{"name": "site.deploy", "effect": "write", "description": "Deploys the site", **changed})
    def deploy(args: Args, ctx: ToolContext) -> Result:
        return Result(url=args.env)

    return deploy


def test_the_spec_holds_what_the_rules_need() -> None:
    @tool(name="site.deploy", effect="write", says="Changes web in {env}", target="env", lock="deploy:{env}", outward=True, timeout_s=9)
    async def deploy(args: Args, ctx: ToolContext) -> Result:
        """Deploy the site.

        Use it when asked to.
        """
        return Result(url="x")

    spec = deploy.spec
    assert spec.name == "site.deploy"
    assert spec.effect is Effect.WRITE
    assert spec.description == "Deploy the site.\n\nUse it when asked to."
    assert spec.args_schema["additionalProperties"] is False
    assert spec.args_schema["properties"]["env"]["description"] == "Where"
    assert spec.result_schema["properties"]["url"]["type"] == "string"
    assert (spec.lock, spec.outward, spec.timeout_s, spec.idempotent) == ("deploy:{env}", True, 9, False)
    assert (spec.previews, spec.verifies, spec.scope) == (False, False, None)


def test_preview_verify_and_scope_show_in_the_spec() -> None:
    deploy = define()

    @deploy.preview
    def preview(args: Args, ctx: ToolContext) -> Preview:
        return Preview(target=args.env)

    @deploy.verify
    def verify(args: Args, ctx: ToolContext) -> Result | None:
        return None

    @deploy.scope
    def scope(args: Mapping[str, Any]) -> str | None:
        return "too far" if args.get("env") == "mars" else None

    assert deploy.spec.previews
    assert deploy.spec.verifies
    assert deploy.spec.scope is not None
    assert deploy.spec.scope({"env": "mars"}) == "too far"
    assert deploy.spec.scope({}) is None


def test_the_digest_follows_the_definition() -> None:
    assert define().spec.digest == define().spec.digest
    assert define().spec.digest != define(description="Deploys another site").spec.digest


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"effect": "explode"}, "effect 'explode' is unknown; use one of read, write"),
        ({"name": "Site deploy!"}, "must look like 'system.verb'"),
        ({"name": "x" * 121}, "at most 120"),
        ({"description": ""}, "write a docstring"),
        ({"target": "host"}, "target 'host' is no field of Args"),
        ({"says": "Changes {host}"}, "says names '{host}'"),
        ({"says": "Changes {env.__class__}"}, "is no field of Args"),
        ({"lock": "deploy:{"}, "is no pattern"),
        ({"timeout_s": 0}, "timeout_s must be above 0"),
    ],
)
def test_a_wrong_definition_names_the_tool_and_the_mend(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=r"Tool '.*': ") as refused:
        define(**changed)
    assert says in str(refused.value)


def test_functions_that_cannot_be_tools_are_refused() -> None:
    def no_model(args: dict[str, str], ctx: ToolContext) -> None: ...
    def one_argument(args: Args) -> None: ...
    def no_result(args: Args, ctx: ToolContext): ...  # type: ignore[no-untyped-def]
    def loose(args: Loose, ctx: ToolContext) -> None: ...
    def loose_inside(args: Nested, ctx: ToolContext) -> None: ...
    def odd_result(args: Args, ctx: ToolContext) -> Registry: ...  # type: ignore[empty-body]
    def yields(args: Args, ctx: ToolContext) -> Any:
        yield 1

    wrong: list[tuple[Any, str]] = [
        (no_model, "annotate 'args' with a pydantic model"),
        (one_argument, r"must take \(args, ctx\), not \(args\)"),
        (no_result, "annotate what it returns"),
        (loose, "'Loose' must refuse unknown fields"),
        (loose_inside, "'Loose' must refuse unknown fields"),
        (odd_result, "return a pydantic model"),
        (yields, "must not yield"),
    ]
    for function, says in wrong:
        with pytest.raises(ConfigurationError, match=says):
            tool(name="a.b", effect="read", description="x")(function)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="two tools named 'site.deploy'"):
        Registry([define(), define()])


def test_the_catalogue_is_a_view_of_names_and_specs() -> None:
    deploy = define()

    registry = Registry([deploy])

    assert registry.catalogue["site.deploy"] is deploy.spec
    assert registry.get("site.deploy") is deploy
    assert registry.digests() == {"site.deploy": deploy.spec.digest}
    with pytest.raises(KeyError):
        registry.get("site.destroy")
    with pytest.raises(TypeError):
        registry.catalogue["x"] = deploy.spec  # type: ignore[index]

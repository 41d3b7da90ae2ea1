"""How a tool is written: a typed function, `@tool(...)` above it, and what else it can tell: a preview, a verify, a freshness, a scope.

    @tool(name="site.deploy", effect="write", says="Changes web in {env}", target="env", lock="deploy:{env}")
    async def deploy(args: DeployArgs, ctx: ToolContext) -> Deployment: ...

Everything that the rules need is read once from the type hints and kept as a `ToolSpec`; a definition that cannot work is refused when it
is made, with a sentence that says what to do. Nothing here runs a tool: see `registry`.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from string import Formatter
from typing import Any, NoReturn, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.errors import PydanticUserError

from bot.core.catalogue import Effect, ToolSpec
from bot.errors import ConfigurationError
from bot.tools.context import ToolContext

Function = Callable[[Any, ToolContext], Any]  # (args, ctx) → result, or an awaitable of it
Scope = Callable[[Mapping[str, Any]], str | None]

NAME = re.compile(r"^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$")


class Preview(BaseModel):
    """What a step would do, as far as the tool can tell without doing it. `before` and `after` are whole texts; None: there is none."""

    model_config = ConfigDict(frozen=True)

    target: str  # what would be touched: "notes/today.md"
    facts: tuple[str, ...] = ()  # "38 lines", "a new file"
    before: str | None = None
    after: str | None = None


class Tool:
    """A function that a step may call, with its `spec`. `run(args, ctx)` is the bare function: nothing checked, nothing cleaned."""

    def __init__(self, run: Function, spec: ToolSpec, args_model: type[BaseModel], result: TypeAdapter[Any]) -> None:
        self.run = run
        self.spec = spec
        self.args_model = args_model
        self.result = result
        self.previewer: Function | None = None
        self.verifier: Function | None = None
        self.teller: Function | None = None  # of freshness

    def __repr__(self) -> str:
        return f"<tool {self.spec.name}>"

    def preview(self, function: Function) -> Function:
        """Decorator: `(args, ctx) -> Preview`, which must not change anything."""
        self.previewer = function
        self.spec = replace(self.spec, previews=True)
        return function

    def verify(self, function: Function) -> Function:
        """Decorator: `(args, ctx)` → the result if the call happened, None if it did not; it raises if it cannot tell."""
        self.verifier = function
        self.spec = replace(self.spec, verifies=True)
        return function

    def freshness(self, function: Function) -> Function:
        """Decorator: `(args, ctx) -> str | None`: in which state is that what the call reads? It must not change anything.

        A short text that is another one as soon as the call would return something else (a hash, a time and size); None: it cannot tell.
        Raises `ConfigurationError` for a tool that does not only read: what it did is done, however the world has changed since.
        """
        if self.spec.effect is not Effect.READ:
            _fault(self.spec.name, "freshness is for tools that only read: a finished effect is never repeated because something changed.")
        self.teller = function
        self.spec = replace(self.spec, tells_freshness=True)
        return function

    def scope(self, function: Scope) -> Scope:
        """Decorator: `(args) -> str | None`. Gets those arguments that are known by now; a sentence says what is out of bounds."""
        self.spec = replace(self.spec, scope=function)
        return function


def tool(
    *,
    name: str,
    effect: str,
    says: str = "",
    target: str = "",
    idempotent: bool = False,
    lock: str = "",
    untrusted_output: bool = False,
    outward: bool = False,
    secrets: tuple[str, ...] | None = None,
    timeout_s: float = 120.0,
    at_once: int | None = None,
    description: str = "",
) -> Callable[[Function], Tool]:
    """Make a `Tool` of a function `(args: Model, ctx: ToolContext) -> Result`, synchronous or not; fields as in `ToolSpec`.

    The description is the docstring unless given. Raises `ConfigurationError` naming the tool and what to change.
    """

    def define(function: Function) -> Tool:
        args_model, result = _types(name, function)
        spec = ToolSpec(
            name=name,
            description=inspect.cleandoc(description or function.__doc__ or ""),
            effect=_effect(name, effect),
            args_schema=_args_schema(name, args_model),
            result_schema=_result_schema(name, result),
            says=says,
            target=target,
            idempotent=idempotent,
            lock=lock,
            untrusted_output=untrusted_output,
            outward=outward,
            secrets=secrets,
            timeout_s=timeout_s,
            at_once=at_once,
        )
        _check(spec, args_model)
        return Tool(function, spec, args_model, result)

    return define


def _fault(name: str, says: str) -> NoReturn:
    raise ConfigurationError(f"Tool '{name}': {says}")


def _types(name: str, function: Function) -> tuple[type[BaseModel], TypeAdapter[Any]]:
    """The argument model and the result type, from the hints."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        _fault(name, "a tool returns one result; it must not yield.")
    try:
        hints = get_type_hints(function)
        parameters = list(inspect.signature(function).parameters)
    except (NameError, TypeError, ValueError) as fault:
        _fault(name, f"its type hints cannot be read ({fault}); define the models at the top level of the file.")
    if len(parameters) != 2:
        _fault(name, f"the function must take (args, ctx), not ({', '.join(parameters)}).")
    model = hints.get(parameters[0])
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        _fault(name, f"annotate '{parameters[0]}' with a pydantic model of the arguments.")
    if "return" not in hints:
        _fault(name, "annotate what it returns: a pydantic model, a type that JSON can hold, or None.")
    try:
        return model, TypeAdapter(hints["return"])
    except PydanticUserError as fault:
        _fault(name, f"its result cannot be described ({fault.message}); return a pydantic model.")


def _effect(name: str, effect: str) -> Effect:
    if effect not in tuple(Effect):
        _fault(name, f"effect '{effect}' is unknown; use one of {', '.join(Effect)}.")
    return Effect(effect)


def _args_schema(name: str, model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    for part, described in {model.__name__: schema, **schema.get("$defs", {})}.items():
        is_model = described.get("type") == "object" and ("properties" in described or "additionalProperties" not in described)
        if is_model and described.get("additionalProperties") is not False:
            _fault(name, f"the model '{part}' must refuse unknown fields: model_config = ConfigDict(extra='forbid').")
    return schema


def _result_schema(name: str, result: TypeAdapter[Any]) -> dict[str, Any]:
    try:
        return result.json_schema(mode="serialization")
    except PydanticUserError as fault:
        _fault(name, f"its result is not JSON ({fault.message}); return a pydantic model.")


def _check(spec: ToolSpec, model: type[BaseModel]) -> None:
    """Names, placeholders and times that no later step could mend."""
    if not NAME.match(spec.name) or len(spec.name) > 120:
        _fault(spec.name, "its name must look like 'system.verb', at most 120 characters.")
    if not spec.description:
        _fault(spec.name, "it has no description; write a docstring that says what it does, when to use it and when not.")
    if spec.timeout_s <= 0:
        _fault(spec.name, f"timeout_s must be above 0, not {spec.timeout_s}.")
    if spec.at_once is not None and spec.at_once < 1:
        _fault(spec.name, f"at_once must be 1 or more, not {spec.at_once}; leave it out for no bound.")
    fields = set(spec.args_schema.get("properties", {}))
    if spec.target and spec.target not in fields:
        _fault(spec.name, f"target '{spec.target}' is no field of {model.__name__}.")
    for field in set(spec.secrets or ()) - fields:
        _fault(spec.name, f"secrets names '{field}', which is no field of {model.__name__}.")
    for word, pattern in (("says", spec.says), ("lock", spec.lock)):
        for field in _placeholders(spec.name, word, pattern):
            if field not in fields:
                _fault(spec.name, f"{word} names '{{{field}}}', which is no field of {model.__name__}.")


def _placeholders(name: str, word: str, pattern: str) -> list[str]:
    try:
        return [field for _, field, _, _ in Formatter().parse(pattern) if field is not None]
    except ValueError as fault:
        _fault(name, f"{word} '{pattern}' is no pattern: {fault}.")

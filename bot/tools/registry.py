"""The tools that there are, and the one way to call them: checked arguments in, a cleaned observation out, whatever the tool does.

The rules read `catalogue` (data); the dispatcher calls `call`, `preview`, `verify` and `freshness`. A failure is always a `ToolFailed`
with words for people: the tool's own, or the class and text of what went wrong, cleaned and masked like a result.
"""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ValidationError

from bot.core.catalogue import Catalogue, ToolSpec
from bot.core.ids import Digest
from bot.core.plan import fingerprint
from bot.core.snapshot import Observation
from bot.errors import ConfigurationError, ToolFailed
from bot.tools.calls import TURN_S, Calls, NotStarted, TimedOut, Unresponsive
from bot.tools.context import Cancelled, ToolContext
from bot.tools.definition import Function, Preview, Tool, tool
from bot.tools.loading import load_file
from bot.tools.sanitize import LIMIT, line, observe, tidy

__all__ = [
    "Cancelled",
    "CannotTell",
    "InvalidArgs",
    "NotStarted",
    "OutOfScope",
    "Preview",
    "Registry",
    "TimedOut",
    "Tool",
    "ToolContext",
    "Unresponsive",
    "load_file",
    "tool",
]

LOOK_S = 30.0  # a preview, a verify or a freshness takes no longer
TOKEN = 100  # characters of a freshness; a longer one is kept as its hash
LARGE, MANY = 100_000, 500  # characters, entries: results that look larger than this are cleaned in a thread


class InvalidArgs(ToolFailed):
    """The arguments do not fit the tool's model; the tool was not called."""


class OutOfScope(ToolFailed):
    """The arguments reach where the tool must not; the tool was not called."""


class CannotTell(ToolFailed):
    """The tool has no verify, or it failed: whether the call happened is for a person to say."""


class Registry:
    """Every tool of this bot. `threads` bounds the synchronous calls at one time, `grace_s` how long a cancelled call may take to end.

    `turn_s` is how long a call may wait where its tool takes only so many at one time.
    """

    def __init__(self, tools: Iterable[Tool] = (), *, threads: int = 32, grace_s: float = 5.0, turn_s: float = TURN_S) -> None:
        self._tools: dict[str, Tool] = {}
        self._specs: dict[str, ToolSpec] = {}
        self._digests: dict[str, Digest] = {}
        self._calls = Calls(threads=threads, grace_s=grace_s, turn_s=turn_s)
        for each in tools:
            self.add(each)

    def add(self, new: Tool) -> None:
        """Take in one more tool; it is complete from now on. Raises `ConfigurationError` if its name is taken."""
        name = new.spec.name
        if name in self._tools:
            raise ConfigurationError(f"There are two tools named '{name}'; rename one of them.")
        self._tools[name] = new
        self._specs[name] = new.spec
        self._digests[name] = new.spec.digest

    @property
    def catalogue(self) -> Catalogue:
        """Name → what the rules know of the tool. A live view, read-only."""
        return MappingProxyType(self._specs)

    @property
    def stuck(self) -> tuple[str, ...]:
        """Names of tools that were told to stop and are still at work: an admin should know."""
        return self._calls.stuck

    def get(self, name: str) -> Tool:
        """The tool of that name; KeyError if there is none."""
        return self._tools[name]

    def digests(self) -> dict[str, Digest]:
        """Name → fingerprint of the definition."""
        return dict(self._digests)

    async def call(self, name: str, args: Mapping[str, Any], ctx: ToolContext, *, timeout_s: float | None = None) -> Observation:
        """Run the tool and return its observation. `timeout_s` defaults to the tool's own; the wait for its turn, where it takes only so
        many calls `at_once`, does not count. Looks (preview, verify, freshness) do not stand in line.

        Raises `InvalidArgs`, `OutOfScope` or `NotStarted` (nothing was called), `TimedOut`, `Unresponsive`, or another `ToolFailed` in the
        tool's words. If the calling task is cancelled the tool is too, and `CancelledError` goes on once it has ended (see
        `ToolContext.outcome`).
        """
        found, given = self._admit(name, args, ctx)
        work = self._work(found, found.run, given, ctx)
        seconds = found.spec.timeout_s if timeout_s is None else timeout_s
        observation: Observation = await self._run(found, work, ctx, seconds, at_once=found.spec.at_once)
        return observation

    async def preview(self, name: str, args: Mapping[str, Any], ctx: ToolContext) -> Preview | None:
        """What the call would change, cleaned and masked; None if the tool cannot tell beforehand. Raises as `call` does."""
        found, given = self._admit(name, args, ctx)
        if found.previewer is None:
            return None
        work = _bound(found.previewer, given, ctx)
        return _cleaned(await self._run(found, work, ctx, min(LOOK_S, found.spec.timeout_s)), ctx)

    async def verify(self, name: str, args: Mapping[str, Any], ctx: ToolContext) -> Observation | None:
        """The observation of a call whose end nobody saw, or None if it did not happen. Raises `CannotTell` if that cannot be known."""
        try:
            found, given = self._admit(name, args, ctx)
        except ToolFailed as fault:
            raise CannotTell(str(fault)) from fault
        if found.verifier is None:
            raise CannotTell(f"{name} cannot tell whether it happened.")
        if self._calls.at_work(ctx.key):
            raise CannotTell(f"{name} is still at work, so it may happen yet.")
        work = self._work(found, found.verifier, given, ctx, absent=True)
        try:
            seen: Observation | None = await self._run(found, work, ctx, min(LOOK_S, found.spec.timeout_s))
        except ToolFailed as fault:
            raise CannotTell(f"{name} could not find out whether it happened: {fault}") from fault
        return seen

    async def freshness(self, name: str, args: Mapping[str, Any], ctx: ToolContext) -> str | None:
        """The state of what the call reads, as one short text: another one means that it may return something else now.

        None if the tool cannot tell. Raises a `ToolFailed` where it could not find out.
        """
        found, given = self._admit(name, args, ctx)
        if found.teller is None:
            return None
        token = await self._run(found, _bound(found.teller, given, ctx), ctx, min(LOOK_S, found.spec.timeout_s))
        if token is not None and not isinstance(token, str):
            raise ToolFailed(f"The freshness is a {type(token).__name__} and not a text.")
        return token if token is None or token == line(token, TOKEN) else fingerprint(token)

    async def close(self) -> list[str]:
        """Cancel what still runs, start nothing more, wait a short time. Returns the names of tools that did not stop."""
        return await self._calls.close()

    def _admit(self, name: str, args: Mapping[str, Any], ctx: ToolContext) -> tuple[Tool, BaseModel]:
        """The tool and its arguments, checked as strictly as JSON allows: nothing is coerced, nothing unknown is let through.

        Secrets are put in here and nowhere else.
        """
        found = self._tools.get(name)
        if found is None:
            raise InvalidArgs(f"There is no tool '{line(name)}'.")
        try:
            args = ctx.reveal(args)
        except ToolFailed as fault:
            raise InvalidArgs(f"{name}: {_text(str(fault))}") from fault
        try:
            given = found.args_model.model_validate_json(json.dumps(dict(args), allow_nan=False), strict=True)
        except ValidationError as fault:
            raise InvalidArgs(f"{name}: {_said(fault)}") from fault
        except (TypeError, ValueError, RecursionError) as fault:
            raise InvalidArgs(f"{name}: the arguments are not JSON ({line(str(fault))}).") from fault
        if found.spec.scope and (beyond := found.spec.scope(args)):
            raise OutOfScope(_text(beyond))
        return found, given

    def _work(self, found: Tool, function: Function, given: BaseModel, ctx: ToolContext, *, absent: bool = False) -> Callable[[], Any]:
        """The call and the making of its observation, both where the tool runs. `absent`: None means that there is nothing to observe."""

        def observed(value: Any) -> Observation | None:
            return None if absent and value is None else _observed(found, value, ctx)

        if not inspect.iscoroutinefunction(function):
            return lambda: observed(function(given, ctx))

        async def work() -> Observation | None:
            value = await function(given, ctx)
            return await asyncio.to_thread(observed, value) if _is_large(value) else observed(value)

        return work

    async def _run(self, found: Tool, work: Callable[[], Any], ctx: ToolContext, timeout_s: float, *, at_once: int | None = None) -> Any:
        """The work's value; every fault a `ToolFailed` with cleaned words, the original chained."""
        try:
            return await self._calls.run(work, ctx, name=found.spec.name, timeout_s=timeout_s, at_once=at_once)
        except ToolFailed as fault:
            # In place: its class says what happened, and no log must hold the words as they were.
            fault.args = (ctx.cover(_text(str(fault))),)
            raise
        except (Exception, SystemExit) as fault:
            words = f"{found.spec.name} failed: {type(fault).__name__}: {fault}".rstrip(": ")
            raise ToolFailed(ctx.cover(_text(words))) from fault


def _bound(function: Function, given: BaseModel, ctx: ToolContext) -> Callable[[], Any]:
    if not inspect.iscoroutinefunction(function):
        return lambda: function(given, ctx)

    async def work() -> Any:
        result: Awaitable[Any] = function(given, ctx)
        return await result

    return work


def _observed(found: Tool, value: Any, ctx: ToolContext) -> Observation:
    """The result against the tool's own schema, then as an observation."""
    try:
        value = found.result.validate_python(value)
    except ValidationError as fault:
        words = f"{found.spec.name} did its work, but what it returned is not what it declares: {_said(fault)}"
        raise ToolFailed(words) from fault
    return observe(value, untrusted=found.spec.untrusted_output, cover=ctx.cover, keep=ctx.keep)


def _is_large(value: Any) -> bool:
    """A guess that costs nothing: is there a long text or list at the top?"""
    if isinstance(value, BaseModel):
        value = vars(value)
    parts = tuple(value.values()) if isinstance(value, dict) else (value,)
    texts = (part for part in parts if isinstance(part, (str, bytes)))
    lists = (part for part in parts if isinstance(part, (list, dict)))
    return any(len(text) > LARGE for text in texts) or any(len(entries) > MANY for entries in lists)


def _said(fault: ValidationError) -> str:
    """The first three things that are wrong, by field; never the values, which may be long or secret."""
    errors = fault.errors(include_url=False, include_input=False, include_context=False)
    said = [f"{'.'.join(str(part) for part in error['loc']) or 'the whole'}: {error['msg']}" for error in errors[:3]]
    more = [f"and {len(errors) - 3} more"] if len(errors) > 3 else []
    return line("; ".join([*said, *more]), 600)


def _text(words: str, limit: int = 2000) -> str:
    """Words of a tool made fit for people: cleaned, masked, bounded."""
    return tidy(words, limit)


def _cleaned(seen: Any, ctx: ToolContext) -> Preview:
    """Fit for people; a secret that the plan names is named here, too."""
    if not isinstance(seen, Preview):
        raise ToolFailed(f"The preview is a {type(seen).__name__} and not a Preview.")
    return Preview(
        target=ctx.cover(line(ctx.named(seen.target), 300)),
        facts=tuple(ctx.cover(line(ctx.named(fact), 200)) for fact in seen.facts),
        before=None if seen.before is None else ctx.cover(_text(ctx.named(seen.before), LIMIT)),
        after=None if seen.after is None else ctx.cover(_text(ctx.named(seen.after), LIMIT)),
    )

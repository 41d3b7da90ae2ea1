"""One way to ask a model, for every role: a system text, a user text, perhaps a schema for the reply; no tools, ever.

Requests go to Anthropic or to a server that speaks its protocol. `stop_reason` is looked at first and blocks are picked by type, so that a
refusal, a cut or an empty reply has a name (`ModelFault.kind`) and is never taken for an answer. One more try is made where it may help:
more room after a cut, the same again after nothing, no enforced schema where a server cannot take it. The whole call has one time limit.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import anthropic
import structlog
from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
from anthropic.types import Message

from bot.core.plan import fingerprint
from bot.errors import ModelFault
from bot.llm import endpoint
from bot.settings import Settings

log = structlog.get_logger()

ROOM = 32_000  # most tokens of a reply, after a second try with more room
RAW_LIMIT = 20_000  # characters of a reply kept with a fault
SCHEMA_REFUSED = re.compile(r"schema|grammar|output_config|output_format|response_format|structured", re.IGNORECASE)
TOO_LONG = re.compile(r"too long|context|too many tokens", re.IGNORECASE)


@dataclass(frozen=True)
class Question:
    """What is asked, whole. `example` is a reply that fits the schema."""

    model: str
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    example: str = ""
    max_tokens: int = 4096


@dataclass(frozen=True)
class Reply:
    """What the model said, and what it cost with every try that it took."""

    text: str
    model: str
    tokens_in: int = 0
    tokens_out: int = 0


class ModelClient:
    """Holds the connection, the limit on calls at one time, and which schemas the server could not take. `close` it."""

    def __init__(self, settings: Settings, *, parallel: int = 4, timeout_s: float = 180.0, retries: int = 2) -> None:
        self.planner_model, self.fast_model = settings.planner_model, settings.fast_model
        self._address = endpoint.address(settings)
        self._api = AsyncAnthropic(
            api_key=endpoint.key(settings),
            base_url=self._address,
            timeout=timeout_s,
            max_retries=retries,
            http_client=DefaultAsyncHttpxClient(trust_env=False) if endpoint.is_local(self._address) else None,
        )
        self._gate = asyncio.Semaphore(parallel)
        self._timeout_s = timeout_s
        self._unenforced: set[str] = set()  # fingerprints of schemas that this server could not take

    async def ask(self, question: Question) -> Reply:
        """The reply, never empty. Raises `ModelFault`; its tokens are counted too."""
        async with self._gate:
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await self._ask_twice(question)
            except TimeoutError as error:
                raise ModelFault("unreachable", f"The model gave no answer within {self._timeout_s:g} s. Try again.") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._api.close()

    async def _ask_twice(self, question: Question) -> Reply:
        """One more try after a cut (with more room) and after no answer (the same again)."""
        try:
            return await self._ask_once(question)
        except ModelFault as first:
            if first.kind not in ("cut", "no_answer"):
                raise
            room = min(2 * question.max_tokens, ROOM) if first.kind == "cut" else question.max_tokens
            spent_in, spent_out = first.tokens_in, first.tokens_out
        try:
            reply = await self._ask_once(replace(question, max_tokens=room))
        except ModelFault as second:
            second.tokens_in, second.tokens_out = second.tokens_in + spent_in, second.tokens_out + spent_out
            raise
        return replace(reply, tokens_in=reply.tokens_in + spent_in, tokens_out=reply.tokens_out + spent_out)

    async def _ask_once(self, question: Question) -> Reply:
        enforce = question.schema is not None and fingerprint(question.schema) not in self._unenforced
        try:
            return _reply(await self._send(question, enforce=enforce), question.model)
        except anthropic.BadRequestError as error:
            if not (enforce and SCHEMA_REFUSED.search(str(error))):
                raise _fault(error, question.model) from error
            self._unenforced.add(fingerprint(question.schema))
            log.warning("schema_not_enforced", model=question.model, why=str(error)[:300])
        except anthropic.AnthropicError as error:
            raise _fault(error, question.model) from error
        try:
            return _reply(await self._send(question, enforce=False), question.model)
        except anthropic.AnthropicError as error:
            raise _fault(error, question.model) from error

    async def _send(self, question: Question, *, enforce: bool) -> object:
        """The message, or whatever else a server that is not quite compatible has sent with status 200."""
        extra: dict[str, Any] = {}
        if enforce and question.schema is not None:
            extra["output_config"] = {"format": {"type": "json_schema", "schema": self._enforced(question.schema)}}
        return await self._api.messages.create(
            model=question.model,
            max_tokens=question.max_tokens,
            system=[{"type": "text", "text": _system(question), "cache_control": {"type": "ephemeral"}}],
            messages=[{"role": "user", "content": question.user}],
            timeout=self._timeout_s,
            **extra,
        )

    def _enforced(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Anthropic refuses bounds, so there they become words; other servers need them, or a small model runs on for ever."""
        return anthropic.transform_schema(dict(schema)) if endpoint.is_anthropic(self._address) else dict(schema)


def _system(question: Question) -> str:
    """The system text; with a schema, also the schema and an example in words, for servers that ignore `output_config`."""
    if question.schema is None:
        return question.system
    schema = json.dumps(question.schema, ensure_ascii=False, separators=(",", ":"))
    example = f"\n\nFor example:\n{question.example}" if question.example else ""
    return f"{question.system}\n\nReply with one JSON object that fits this JSON Schema, and with nothing else:\n{schema}{example}"


def _reply(message: object, model: str) -> Reply:
    """The text of a message. Raises `ModelFault` for everything that is no answer."""
    if not isinstance(message, Message) or message.content is None or message.type != "message":
        raw = message.model_dump_json(warnings=False) if isinstance(message, Message) else str(message)
        raise ModelFault("malformed", "The model's server sent something that is no message.", raw=raw[:RAW_LIMIT])
    tokens_in, tokens_out = _tokens(message)
    text = "".join(block.text for block in message.content if block.type == "text" and block.text)
    kind, say = _shortfall(message, text)
    if kind:
        raw = (text or message.model_dump_json(warnings=False))[:RAW_LIMIT]
        raise ModelFault(kind, say, raw=raw, tokens_in=tokens_in, tokens_out=tokens_out)
    return Reply(text=text, model=model, tokens_in=tokens_in, tokens_out=tokens_out)


def _shortfall(message: Message, text: str) -> tuple[str, str]:
    """Kind and words of what is wrong with the message; two empty strings if nothing is."""
    if message.stop_reason == "refusal":
        return "refused", "The model refused to answer this."
    if message.stop_reason == "max_tokens":
        return "cut", "The model's reply was cut off at its length limit." if text.strip() else "The model thought and never came to reply."
    if message.stop_reason == "model_context_window_exceeded":
        return "too_long", "There is more to read here than the model can take in."
    if not text.strip():
        return "no_answer", "The model gave an empty answer."
    return "", ""


def _tokens(message: Message) -> tuple[int, int]:
    """Read and written tokens. The three figures for input exclude one another; servers may leave any of them out."""
    usage = message.usage
    if usage is None:
        return 0, 0
    read = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
    return sum(figure or 0 for figure in read), usage.output_tokens or 0


def _fault(error: anthropic.AnthropicError, model: str) -> ModelFault:
    """The library's error in our words: what failed and what to do."""
    if not isinstance(error, anthropic.APIStatusError):
        if isinstance(error, anthropic.APIConnectionError):
            return ModelFault("unreachable", "The model cannot be reached. Check ANTHROPIC_BASE_URL and the network.", raw=str(error))
        return ModelFault("malformed", "The model's server sent something unreadable.", raw=str(error)[:RAW_LIMIT])
    status, raw = error.status_code, error.response.text[:RAW_LIMIT]
    if status == 413 or (status == 400 and TOO_LONG.search(raw)):
        return ModelFault("too_long", "There is more to read here than the model can take in.", raw=raw)
    if status in (408, 409, 429) or status >= 500:
        return ModelFault("unreachable", f"The model's server is busy or broken (status {status}). Try again later.", raw=raw)
    if status in (401, 403):
        return ModelFault("rejected", "The model's server does not accept the key. Check ANTHROPIC_API_KEY.", raw=raw)
    if status == 404:
        where = "Check PULLCORD_PLANNER_MODEL and PULLCORD_FAST_MODEL."
        return ModelFault("rejected", f"The model's server does not know '{model}'. {where}", raw=raw)
    return ModelFault("rejected", f"The model's server refused the request (status {status}).", raw=raw)

"""Asking a model: what is sent, what each reply becomes, and what it costs. The library is real, the server a script on loopback."""

import asyncio
from typing import Any

import pytest

from bot.errors import ConfigurationError, ModelFault
from bot.llm import endpoint
from bot.llm.client import ModelClient, Question, Reply
from bot.settings import Settings
from tests.doubles.model import Answer, ModelServer, fails, gives, message, model_server, says

SCHEMA = {"type": "object", "properties": {"x": {"type": "integer", "maximum": 9}}, "required": ["x"], "additionalProperties": False}
NOW = {"retry-after-ms": "1"}


def settings_for(url: str = "", key: str | None = None) -> Settings:
    return Settings(_env_file=None, anthropic_base_url=url, anthropic_api_key=key, planner_model="big", fast_model="small")


async def ask(server: ModelServer, *, timeout_s: float = 10, retries: int = 2, key: str | None = None, **question: Any) -> Reply:
    client = ModelClient(settings_for(server.url, key), timeout_s=timeout_s, retries=retries)
    try:
        return await client.ask(Question(**{"model": "big", "system": "Be brief.", "user": "Hello", **question}))
    finally:
        await client.close()


async def fault(*script: Answer, **question: Any) -> ModelFault:
    """The fault that this script ends in."""
    async with model_server(*script) as server:
        with pytest.raises(ModelFault) as raised:
            await ask(server, **question)
    return raised.value


async def test_request_carries_the_texts_and_no_tools() -> None:
    async with model_server(says("Hi")) as server:
        reply = await ask(server)
    assert reply == Reply(text="Hi", model="big", tokens_in=10, tokens_out=5)
    (call,) = server.calls
    assert call.path == "/v1/messages"
    assert call.body.keys() == {"model", "max_tokens", "system", "messages"}
    assert (call.body["model"], call.system, call.user) == ("big", "Be brief.", "Hello")


async def test_schema_goes_into_the_request_and_into_the_prompt() -> None:
    async with model_server(gives({"x": 1})) as server:
        await ask(server, schema=SCHEMA, example='{"x": 7}')
    (call,) = server.calls
    assert call.body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert '"maximum":9' in call.system
    assert '{"x": 7}' in call.system


async def test_bounds_become_words_only_for_anthropic() -> None:
    own = ModelClient(settings_for())
    other = ModelClient(settings_for("http://localhost:1"))
    assert "maximum" not in own._enforced(SCHEMA)["properties"]["x"]
    assert other._enforced(SCHEMA) == SCHEMA
    await own.close()
    await other.close()


async def test_letters_of_every_script_are_sent_as_they_are() -> None:
    """C035"""
    text = "Supprime « été » 🧹 早安 ąé"
    async with model_server(says(text)) as server:
        reply = await ask(server, user=text, system=text)
    assert reply.text == server.calls[0].user == server.calls[0].system == text


async def test_thinking_before_the_text_is_passed_over() -> None:
    async with model_server(says("Hi", thinking="Hm.")) as server:
        assert (await ask(server)).text == "Hi"


async def test_the_three_figures_for_input_are_added() -> None:
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 7}
    async with model_server(says("Hi", usage=usage)) as server:
        reply = await ask(server)
    assert (reply.tokens_in, reply.tokens_out) == (123, 7)


async def test_usage_that_a_server_leaves_out_counts_as_nothing() -> None:
    async with model_server(says("Hi", usage={"output_tokens": 7}), message([{"type": "text", "text": "Hi"}], usage={})) as server:
        assert (await ask(server)).tokens_in == 0
        assert (await ask(server)).tokens_out == 0


async def test_cut_reply_gets_more_room_once() -> None:
    """C027"""
    async with model_server(says('{"x":', stop="max_tokens"), gives({"x": 1})) as server:
        reply = await ask(server, max_tokens=100)
    assert [call.body["max_tokens"] for call in server.calls] == [100, 200]
    assert (reply.tokens_in, reply.tokens_out) == (20, 10)


async def test_reply_that_is_cut_twice_is_a_fault_with_its_text() -> None:
    """C027"""
    raw = '{"steps":[{"id":"s1","tool":"backup.create","args":{}},{"id":"s2","tool":"db.drop","args":{"name":"tmp"'
    found = await fault(says(raw, stop="max_tokens"), says(raw, stop="max_tokens"))
    assert (found.kind, found.raw, found.tokens_in, found.tokens_out) == ("cut", raw, 20, 10)


async def test_thinking_up_to_the_limit_is_a_cut() -> None:
    """C028"""
    found = await fault(says("", thinking="Hm.", stop="max_tokens"), says("", thinking="Hm.", stop="max_tokens"))
    assert found.kind == "cut"
    assert "Hm." in found.raw


@pytest.mark.parametrize("nothing", [says("  \n"), says("", thinking="Hm."), message([])], ids=["blank", "thinking", "empty"])
async def test_nothing_usable_is_asked_for_once_more_and_then_a_fault(nothing: Answer) -> None:
    """C028"""
    found = await fault(nothing, nothing)
    assert (found.kind, found.tokens_in) == ("no_answer", 20)
    assert found.raw


async def test_second_answer_after_nothing_counts() -> None:
    async with model_server(says(""), says("Hi")) as server:
        assert (await ask(server)).text == "Hi"


@pytest.mark.parametrize("text", ["", "I cannot help with that."])
async def test_refusal_is_told_apart_and_not_tried_again(text: str) -> None:
    """C028"""
    found = await fault(says(text, stop="refusal"))
    assert found.kind == "refused"


@pytest.mark.parametrize(
    "odd",
    [Answer({"choices": []}), Answer("<html>Welcome</html>"), message(None), Answer({"type": "message", "content": None})],
    ids=["other protocol", "page", "no content", "half a message"],
)
async def test_success_that_is_no_message_is_a_fault(odd: Answer) -> None:
    """C028"""
    found = await fault(odd)
    assert found.kind == "malformed"
    assert found.raw


async def test_full_context_is_too_long() -> None:
    assert (await fault(says("Hi", stop="model_context_window_exceeded"))).kind == "too_long"
    assert (await fault(fails(400, "prompt is too long: 300000 tokens > 200000 maximum"))).kind == "too_long"
    assert (await fault(fails(413, "request_too_large"))).kind == "too_long"


async def test_schema_that_a_server_cannot_take_is_asked_for_in_words_and_remembered() -> None:
    refused = fails(400, "output_config.format: The compiled grammar is too large")
    async with model_server(refused, gives({"x": 1}), gives({"x": 2}), gives({"y": 3})) as server:
        client = ModelClient(settings_for(server.url))
        question = Question(model="big", system="Be brief.", user="Hello", schema=SCHEMA)
        first = await client.ask(question)
        again = await client.ask(question)
        other = await client.ask(Question(model="big", system="", user="Hello", schema={"type": "object", "properties": {}}))
        await client.close()
    assert (first.text, again.text, other.text) == ('{"x": 1}', '{"x": 2}', '{"y": 3}')
    assert ["output_config" in call.body for call in server.calls] == [True, False, False, True]
    assert all('"maximum":9' in call.system for call in server.calls[:3])


async def test_other_refused_requests_are_not_tried_again() -> None:
    found = await fault(fails(400, "max_tokens: must be positive"), schema=SCHEMA)
    assert found.kind == "rejected"
    assert "max_tokens" in found.raw


@pytest.mark.parametrize("status", [429, 500, 529])
async def test_busy_server_is_asked_again(status: int) -> None:
    async with model_server(fails(status, "busy", headers=NOW), says("Hi")) as server:
        assert (await ask(server)).text == "Hi"


async def test_server_that_stays_busy_is_unreachable() -> None:
    busy = fails(529, "overloaded", headers=NOW)
    found = await fault(busy, busy, busy)
    assert found.kind == "unreachable"
    assert "529" in str(found)


async def test_slow_server_is_left_after_the_time_limit_whatever_the_retries() -> None:
    async with model_server(says("late", delay_s=60)) as server:
        with pytest.raises(ModelFault) as raised:
            await ask(server, timeout_s=2)
        assert raised.value.kind == "unreachable"
        assert "2 s" in str(raised.value)


async def test_wait_that_a_busy_server_asks_for_is_bounded_by_the_time_limit() -> None:
    async with model_server(fails(429, "busy", headers={"retry-after": "30"})) as server:
        with pytest.raises(ModelFault) as raised:
            await ask(server, timeout_s=2)
    assert raised.value.kind == "unreachable"


async def test_nobody_at_the_address_says_what_to_check() -> None:
    async with model_server() as server:
        url = server.url
    client = ModelClient(settings_for(url), retries=0)
    with pytest.raises(ModelFault, match="ANTHROPIC_BASE_URL") as raised:
        await client.ask(Question(model="big", system="", user="Hello"))
    await client.close()
    assert raised.value.kind == "unreachable"


@pytest.mark.parametrize(("status", "hint"), [(401, "ANTHROPIC_API_KEY"), (403, "ANTHROPIC_API_KEY"), (404, "PULLCORD_PLANNER_MODEL")])
async def test_wrong_configuration_says_which_variable(status: int, hint: str) -> None:
    found = await fault(fails(status, "no"))
    assert found.kind == "rejected"
    assert hint in str(found)


async def test_calls_at_one_time_are_bounded() -> None:
    async with model_server(*[says("Hi", delay_s=0.05)] * 4) as server:
        client = ModelClient(settings_for(server.url), parallel=1)
        asked = [client.ask(Question(model="big", system="", user=str(number))) for number in range(4)]
        started = asyncio.get_running_loop().time()
        await asyncio.gather(*asked)
        await client.close()
    assert asyncio.get_running_loop().time() - started >= 0.2


async def test_key_of_the_environment_is_never_sent_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-real")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-real")
    async with model_server(says("Hi"), says("Hi"), says("Hi")) as server:
        await ask(server)
        await ask(server, key="sk-ant-real")
        await ask(server, key="for-this-server")
    keys = [call.headers["Authorization"] for call in server.calls]
    assert keys == ["Bearer local", "Bearer local", "Bearer for-this-server"]


def test_key_goes_to_anthropic_and_to_a_gateway() -> None:
    assert endpoint.key(settings_for(key="sk-ant-real")) == "sk-ant-real"
    assert endpoint.key(settings_for("https://gateway.example", "sk-ant-real")) == "sk-ant-real"
    assert endpoint.key(settings_for("http://127.0.0.1:8080", "sk-ant-real")) == "local"
    assert endpoint.key(settings_for("http://[::1]:8080", "mine")) == "mine"
    assert endpoint.key(settings_for("https://gateway.example")) == "local"


async def test_address_that_ends_in_v1_is_asked_without() -> None:
    async with model_server(says("Hi")) as server:
        server.url += "/v1/"
        await ask(server)
    assert server.calls[0].path == "/v1/messages"


def test_address_that_is_none_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="ANTHROPIC_BASE_URL"):
        endpoint.address(settings_for("localhost:8080"))

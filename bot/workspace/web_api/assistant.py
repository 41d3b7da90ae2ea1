"""assistant.threads.*: "is thinking…", a thread's title, prompts to choose from. Kept with the thread, for the page to show."""

from bot.workspace.records import Channel, Json
from bot.workspace.web_api import places
from bot.workspace.wire import Call, SlackError
from bot.workspace.world import World

STATUS_S = 120.0  # a status that nobody renews disappears
MOST_PROMPTS = 4
MOST_LOADING_MESSAGES = 10


async def set_status(world: World, call: Call) -> Json:
    loading = call.structure("loading_messages") or []
    if len(loading) > MOST_LOADING_MESSAGES:
        raise SlackError("invalid_arguments", response_metadata={"messages": ["[ERROR] no more than 10 items allowed: loading_messages"]})
    return _keep(world, call, status=call.text("status"), loading_messages=loading, status_at=world.clock.now())


async def set_title(world: World, call: Call) -> Json:
    return _keep(world, call, title=call.needed("title"))


async def set_suggested_prompts(world: World, call: Call) -> Json:
    prompts = call.structure("prompts")
    if not isinstance(prompts, list) or not 1 <= len(prompts) <= MOST_PROMPTS:
        raise SlackError("invalid_arguments", response_metadata={"messages": ["[ERROR] between 1 and 4 prompts are allowed: prompts"]})
    return _keep(world, call, prompts=prompts, prompts_title=call.text("title"))


def thread(world: World, channel: Channel, thread_ts: str) -> Json:
    """What a thread shows beside its messages: status, title, prompts."""
    kept: Json = world.state.table("threads").get(f"{channel.id} {thread_ts}", {})
    if world.clock.now() - kept.get("status_at", 0.0) > STATUS_S:
        return {name: value for name, value in kept.items() if name not in ("status", "loading_messages")}
    return kept


def _keep(world: World, call: Call, **facts: object) -> Json:
    channel = places.readable(world, call.needed("channel_id"))
    thread_ts = call.text("thread_ts")
    if thread_ts and world.state.message(channel.id, thread_ts) is None:
        raise SlackError("invalid_thread_ts")
    key = f"{channel.id} {thread_ts}"
    world.state.put("threads", key, world.state.table("threads").get(key, {}) | facts)
    world.hints.tell("status", users=channel.members, channel=channel.id, thread_ts=thread_ts)
    return {}


METHODS = {
    "assistant.threads.setStatus": set_status,
    "assistant.threads.setTitle": set_title,
    "assistant.threads.setSuggestedPrompts": set_suggested_prompts,
}

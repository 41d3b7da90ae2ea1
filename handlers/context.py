"""What Slack sends, read once: payloads become small frozen objects at the edge, and nothing behind it looks into a payload again.

The root of a thread is its `thread_ts`, or else the message's own `ts` (C010); timestamps stay strings, since they are keys. A button
carries an opaque id and never a fact, so a `Press` says what was pressed and by whom, and the store says everything else.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from handlers import typed
from handlers.views import ids

Json = dict[str, Any]

PICKED = ("selected_conversation", "selected_channel", "selected_user", "selected_date", "selected_time")
CHANGES = frozenset({"message_changed", "message_deleted"})  # subtypes that tell of a message said before


@dataclass(frozen=True)
class Place:
    """Where a private answer to this person belongs. Without a channel it goes to the run's thread, or as a direct message."""

    actor: str
    channel: str | None = None
    thread_ts: str | None = None
    response_url: str | None = None  # slash commands: works in channels that the bot is not in


@dataclass(frozen=True)
class Press:
    """A button or a select, on a message, in a modal or on Home."""

    action_id: str
    value: str
    actor: str
    team: str
    trigger_id: str
    received_at: datetime
    channel: str | None = None
    message_ts: str | None = None
    thread_ts: str | None = None
    view_id: str | None = None
    view_hash: str | None = None
    root_view_id: str | None = None  # the lowest of the modals that lie on each other

    @property
    def target(self) -> ids.Target:
        """What it is about. Raises `Refused("unknown_run")` for a value that is none of ours."""
        return ids.parse_value(self.value)

    @property
    def place(self) -> Place:
        """In the thread where the card stands."""
        return Place(actor=self.actor, channel=self.channel, thread_ts=self.thread_ts)


@dataclass(frozen=True)
class Submission:
    """A modal that was sent. `values` holds what was typed or chosen, by block id; what is empty is left out.

    `many` holds what allows several choices, by block id; `view` is the modal as Slack has it, to be shown again with a word on top.
    """

    callback_id: str
    metadata: str
    actor: str
    team: str
    view_id: str
    received_at: datetime
    values: dict[str, str] = field(default_factory=dict)
    many: dict[str, tuple[str, ...]] = field(default_factory=dict)
    root_view_id: str = ""
    view: Json = field(default_factory=dict)

    @property
    def target(self) -> ids.Target:
        """The run (revision, step, …) that the modal was opened for."""
        return ids.parse_value(self.metadata)

    @property
    def place(self) -> Place:
        """A modal has no channel: the run's thread, or a direct message."""
        return Place(actor=self.actor)


@dataclass(frozen=True)
class Command:
    """A slash command."""

    text: str
    words: tuple[str, ...]
    actor: str
    team: str
    channel: str
    trigger_id: str
    response_url: str

    @property
    def place(self) -> Place:
        """By response URL, which works wherever the command was typed."""
        return Place(actor=self.actor, channel=self.channel, response_url=self.response_url)


@dataclass(frozen=True)
class Shortcut:
    """A shortcut; `text` and the message's place only for one on a message."""

    actor: str
    team: str
    trigger_id: str
    channel: str | None = None
    thread_ts: str | None = None
    text: str = ""
    author: str = ""  # who wrote the message

    @property
    def place(self) -> Place:
        """Beside the message, if there is one."""
        return Place(actor=self.actor, channel=self.channel, thread_ts=self.thread_ts)


@dataclass(frozen=True)
class Message:
    """Something that a person wrote: a mention, a direct message, a reply."""

    text: str
    actor: str
    team: str  # the author's own; in a shared channel it may be another one than ours
    workspace: str
    channel: str
    ts: str
    thread_ts: str | None = None
    is_direct: bool = False
    calls_us: bool = False  # the bot is mentioned in it

    @property
    def root(self) -> str:
        """The ts of the thread's root: its own if it begins one."""
        return self.thread_ts or self.ts

    @property
    def event_key(self) -> str:
        """One key for one text, however many events tell of it (mention and message, redelivery, broadcast)."""
        return f"{self.workspace}:{self.channel}:{self.ts}"

    @property
    def place(self) -> Place:
        """In the thread."""
        return Place(actor=self.actor, channel=self.channel, thread_ts=self.thread_ts)


@dataclass(frozen=True)
class Change:
    """A message of a person that was edited (`text` is new) or deleted (`text` is None)."""

    channel: str
    ts: str
    actor: str
    text: str | None
    thread_ts: str | None = None  # of the thread that it stands in, if it is a reply

    @property
    def place(self) -> Place:
        """In the channel; the message may be gone."""
        return Place(actor=self.actor, channel=self.channel)


@dataclass(frozen=True)
class Home:
    """Somebody looks at the app's Home."""

    actor: str
    team: str

    @property
    def place(self) -> Place:
        """By direct message."""
        return Place(actor=self.actor)


def press(body: Json, *, received_at: datetime) -> Press:
    """From a `block_actions` payload."""
    action, container = body["actions"][0], body.get("container") or {}
    message_ts, thread_ts = container.get("message_ts"), container.get("thread_ts") or (body.get("message") or {}).get("thread_ts")
    view = body.get("view") or {}
    return Press(
        action_id=action["action_id"],
        value=_chosen(action) or "",
        actor=body["user"]["id"],
        team=_team(body),
        trigger_id=body.get("trigger_id", ""),
        received_at=received_at,
        channel=(body.get("channel") or {}).get("id") or container.get("channel_id"),
        message_ts=message_ts,
        thread_ts=thread_ts if thread_ts != message_ts else None,  # on a root card the presser looks at the channel
        view_id=view.get("id"),
        view_hash=view.get("hash"),
        root_view_id=view.get("root_view_id") or view.get("id"),
    )


def submission(body: Json, *, received_at: datetime) -> Submission:
    """From a `view_submission` payload."""
    view = body["view"]
    blocks: dict[str, dict[str, Json]] = (view.get("state") or {}).get("values") or {}
    said = {block: next(iter(elements.values()), {}) for block, elements in blocks.items()}
    return Submission(
        callback_id=view["callback_id"],
        metadata=view.get("private_metadata") or "",
        actor=body["user"]["id"],
        team=_team(body),
        view_id=view["id"],
        received_at=received_at,
        values={block: value for block, element in said.items() if (value := _chosen(element))},
        many={block: chosen for block, element in said.items() if (chosen := _all_chosen(element))},
        root_view_id=view.get("root_view_id") or view["id"],
        view=view,
    )


def command(body: Json) -> Command:
    """From a slash command."""
    text = body.get("text") or ""
    return Command(
        text=typed.plain(text),
        words=tuple(typed.flags(text)),
        actor=body["user_id"],
        team=body["team_id"],
        channel=body["channel_id"],
        trigger_id=body.get("trigger_id", ""),
        response_url=body["response_url"],
    )


def shortcut(body: Json, *, bot_user_id: str) -> Shortcut:
    """From a global or a message shortcut."""
    message = body.get("message") or {}
    return Shortcut(
        actor=body["user"]["id"],
        team=_team(body),
        trigger_id=body["trigger_id"],
        channel=(body.get("channel") or {}).get("id"),
        thread_ts=message.get("thread_ts") or message.get("ts"),
        text=typed.plain(message.get("text") or "", bot_user_id=bot_user_id),
        author=message.get("user") or "",
    )


def message(body: Json, *, bot_user_id: str) -> Message | None:
    """From an `app_mention` or `message` event; None if no person said it, or nothing was said (C011).

    Bots' messages may come without a subtype, so the bot's id decides; of the subtypes only those count that carry new words of a person.
    """
    event = body["event"]
    by_person = bool(event.get("user")) and not event.get("bot_id") and not event.get("hidden")
    if not by_person or event.get("subtype") not in (None, "thread_broadcast", "file_share"):
        return None
    text = typed.plain(event.get("text") or "", bot_user_id=bot_user_id)
    return Message(
        text=text,
        actor=event["user"],
        team=event.get("user_team") or event.get("team") or body.get("team_id") or "",
        workspace=body.get("team_id") or "",
        channel=event["channel"],
        ts=event["ts"],
        thread_ts=event.get("thread_ts") if event.get("thread_ts") != event["ts"] else None,
        is_direct=event.get("channel_type") == "im",
        calls_us=f"<@{bot_user_id}" in (event.get("text") or ""),
    )


def change(body: Json, *, bot_user_id: str) -> Change | None:
    """From `message_changed` and `message_deleted`; None for bots, for link previews, and where the words stayed the same (C011, C016)."""
    event = body["event"]
    before, after = event.get("previous_message") or {}, event.get("message") or {}
    told = before or after  # the author is in the nested message, never at the top
    if not told.get("user") or told.get("bot_id") or told["user"] == bot_user_id:
        return None
    if event["subtype"] == "message_deleted" or after.get("subtype") == "tombstone":
        gone = event.get("deleted_ts") or told["ts"]
        return Change(channel=event["channel"], ts=gone, actor=told["user"], text=None, thread_ts=told.get("thread_ts"))
    if "edited" not in after or after.get("text") == before.get("text"):
        return None
    return Change(
        channel=event["channel"],
        ts=after["ts"],
        actor=after.get("edited", {}).get("user") or told["user"],
        text=typed.plain(after.get("text") or "", bot_user_id=bot_user_id),
        thread_ts=after.get("thread_ts") or told.get("thread_ts"),
    )


def home(body: Json) -> Home | None:
    """From `app_home_opened`; None for another tab than Home."""
    event = body["event"]
    return Home(actor=event["user"], team=body.get("team_id") or "") if event.get("tab") == "home" else None


def _team(body: Json) -> str:
    """The presser's own workspace: `team` is where the card stands, which in a shared channel is not the same."""
    return body["user"].get("team_id") or (body.get("team") or {}).get("id") or ""


def _chosen(element: Json) -> str | None:
    """What an element holds, whatever its kind."""
    option = element.get("selected_option") or {}
    found = element.get("value") or option.get("value") or next((element[name] for name in PICKED if element.get(name)), None)
    return str(found) if found else None


def _all_chosen(element: Json) -> tuple[str, ...]:
    """What is ticked, in an element that allows several."""
    return tuple(option["value"] for option in element.get("selected_options") or ())

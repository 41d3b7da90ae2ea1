"""A bot of one page: enough to press, fill in and ask for everything that the workspace's page can show.

It speaks Slack's own protocol through bolt and Socket Mode, so what the browser tests prove holds for any bot.
"""

from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

MANIFEST = """
display_information: {name: Pullcord}
features:
  app_home: {home_tab_enabled: true, messages_tab_enabled: true}
  bot_user: {display_name: Pullcord, always_online: true}
  slash_commands:
    - {command: /plan, description: Plan something, usage_hint: what you want}
    - {command: /cord, description: Look and steer, usage_hint: "help"}
  shortcuts:
    - {name: New plan, type: global, callback_id: new_plan, description: Ask for something}
    - {name: Plan from this message, type: message, callback_id: plan_from, description: Ask with these words}
oauth_config:
  scopes:
    bot: [app_mentions:read, channels:history, channels:read, chat:write, commands, im:history, im:write, users:read]
settings:
  event_subscriptions: {bot_events: [app_mention, app_home_opened, message.channels, message.im]}
  interactivity: {is_enabled: true}
  socket_mode_enabled: true
"""


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def button(text: str, action: str, **more: Any) -> dict[str, Any]:
    return {"type": "button", "text": plain(text), "action_id": action, "value": "R-7K2Q", "accessibility_label": f"{text} R-7K2Q", **more}


def card(state: str, ask: str, *buttons: dict[str, Any]) -> list[dict[str, Any]]:
    goal = {"type": "rich_text_section", "elements": [{"type": "text", "text": ask, "style": {"bold": True}}]}
    blocks: list[dict[str, Any]] = [{"type": "header", "text": plain(state)}, {"type": "rich_text", "elements": [goal]}]
    return [*blocks, {"type": "actions", "elements": list(buttons)}] if buttons else blocks


OPEN_BUTTONS = (
    button("Approve", "approve", style="primary"),
    button("Ask for changes", "ask"),
    button("Redraw", "redraw"),
    button("Deaf", "deaf"),
    button(
        "Sure",
        "sure",
        confirm={
            "title": plain("Really?"),
            "text": plain("It cannot be taken back."),
            "confirm": plain("Do it"),
            "deny": plain("Better not"),
        },
    ),
)


def words_form(kept: str = "") -> dict[str, Any]:
    return {
        "type": "modal",
        "callback_id": "words",
        "title": plain("Ask for changes"),
        "submit": plain("Save"),
        "close": plain("Back"),
        "private_metadata": kept,
        "blocks": [
            {
                "type": "input",
                "block_id": "words",
                "label": plain("What should change"),
                "element": {"type": "plain_text_input", "action_id": "value", "multiline": True},
            }
        ],
    }


def build(client: AsyncWebClient) -> AsyncApp:
    """The bot, with all its listeners."""
    app = AsyncApp(client=client)
    on_messages(app)
    on_clicks(app)
    on_forms(app)
    return app


def on_messages(app: AsyncApp) -> None:
    @app.event("app_mention")
    async def mentioned(event: dict[str, Any], client: AsyncWebClient) -> None:
        ask = event["text"].partition("> ")[2]
        await client.chat_postMessage(
            channel=event["channel"],
            thread_ts=event.get("thread_ts", event["ts"]),
            text=f"Needs approval: {ask}",
            blocks=card("Needs approval", ask, *OPEN_BUTTONS),
        )

    @app.event("message")
    async def said(event: dict[str, Any]) -> None:
        """Nothing to do: it only must not be unhandled."""

    @app.event("app_home_opened")
    async def home(event: dict[str, Any], client: AsyncWebClient) -> None:
        blocks = card("Waiting for you", "Nothing", button("New plan", "ask"))
        await client.views_publish(user_id=event["user"], view={"type": "home", "blocks": blocks})

    @app.command("/plan")
    async def plan(ack: Any, command: dict[str, Any], client: AsyncWebClient) -> None:
        await ack(text=f"Taken, {len(command['text'].splitlines())} lines.")
        await client.chat_postMessage(channel=command["channel_id"], text="Planning", blocks=card("Planning", command["text"]))

    @app.command("/cord")
    async def cord(ack: Any) -> None:
        await ack(blocks=[{"type": "section", "text": {"type": "mrkdwn", "text": "*Anyone here can pull the cord.*"}}], text="Help")


def on_clicks(app: AsyncApp) -> None:
    @app.action("approve")
    async def approve(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        if body["user"]["name"] == "requester":
            await client.chat_postEphemeral(
                channel=body["channel"]["id"],
                user=body["user"]["id"],
                thread_ts=body["message"]["thread_ts"],
                text="Not approved: you asked for it yourself.",
            )
            return
        await redraw(client, body, card(f"Approved by {body['user']['name']}", "Running", button("Stop", "stop", style="danger")))

    @app.action("redraw")
    async def again(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await redraw(client, body, card("Drawn again", "The same", *OPEN_BUTTONS))

    @app.action("sure")
    async def sure(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await redraw(client, body, card("Sure", "Done"))

    @app.action("ask")
    async def ask(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        kept = f"{body['channel']['id']} {body['message']['ts']}" if "channel" in body else ""
        await client.views_open(trigger_id=body["trigger_id"], view=words_form(kept))

    @app.action("deaf")
    async def deaf(body: dict[str, Any]) -> None:
        """Never acknowledges."""

    @app.shortcut("new_plan")
    @app.shortcut("plan_from")
    async def shortcut(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        form = words_form()
        form["blocks"][0]["element"]["initial_value"] = body.get("message", {}).get("text", "from the menu")
        await client.views_open(trigger_id=body["trigger_id"], view=form)


def on_forms(app: AsyncApp) -> None:
    @app.view("words")
    async def submitted(ack: Any, view: dict[str, Any], client: AsyncWebClient) -> None:
        words = view["state"]["values"]["words"]["value"]["value"]
        if "please" in words:
            await ack(response_action="errors", errors={"words": "Say what, not please."})
            return
        await ack()
        channel, _, ts = view["private_metadata"].partition(" ")
        if ts:
            await client.chat_update(channel=channel, ts=ts, text="Changed", blocks=card("Changed", words))


async def redraw(client: AsyncWebClient, body: dict[str, Any], blocks: list[dict[str, Any]]) -> None:
    await client.chat_update(channel=body["channel"]["id"], ts=body["message"]["ts"], text=blocks[0]["text"]["text"], blocks=blocks)

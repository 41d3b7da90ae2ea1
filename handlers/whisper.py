"""Private answers: only the person who acted sees them, where they acted.

A slash command is answered by its response URL, which works in channels that the bot is not in. Everything else is an ephemeral message in
the thread; where Slack cannot show one there (the person is not in the channel, or there is none) the same words go as a direct message.
"""

from typing import Any

from slack_sdk.webhook.async_client import AsyncWebhookClient

from handlers.context import Place
from handlers.slack import Slack
from handlers.trouble import FAILURES, NO_THREAD, NOT_TO_YOU, trouble
from handlers.views.scene import Card

Json = dict[str, Any]


def section(says: str) -> Card:
    """A few words of our own, in mrkdwn."""
    return Card(text=says.replace("*", ""), blocks=[{"type": "section", "text": {"type": "mrkdwn", "text": says}, "expand": True}])


async def tell(slack: Slack, place: Place, card: Card) -> None:
    """Say it to this one person. Raises what the SDK raises if it cannot be said at all."""
    if place.response_url is not None and await _respond(place.response_url, card):
        return
    if place.channel is None or not await _show(slack, place, card):
        await slack.client.chat_postMessage(channel=place.actor, text=card.text, blocks=card.blocks, unfurl_links=False, unfurl_media=False)


async def _respond(url: str, card: Card) -> bool:
    """Answer a slash command; False if its URL is used up, expired or out of reach (C008)."""
    try:
        answer = await AsyncWebhookClient(url).send(text=card.text, blocks=card.blocks, response_type="ephemeral")
    except FAILURES:
        return False
    return answer.status_code == 200


async def _show(slack: Slack, place: Place, card: Card) -> bool:
    """An ephemeral message; False where Slack cannot show one to this person."""
    for thread_ts in dict.fromkeys((place.thread_ts, None)):
        try:
            await slack.client.chat_postEphemeral(
                channel=place.channel or "", user=place.actor, thread_ts=thread_ts, text=card.text, blocks=card.blocks
            )
        except FAILURES as failure:
            code = trouble(failure).code
            if code in NO_THREAD and thread_ts is not None:
                continue
            if code in NOT_TO_YOU:
                return False
            raise
        return True
    return False

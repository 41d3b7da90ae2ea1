"""What went wrong in a call to Slack, as one small value: Slack's own code, how long to wait, and whether it may have been carried out.

`ok: false` with HTTP 200 is a failure like any other (C013). The last question matters most: after a broken connection, a timeout or a
server error nobody knows whether the message stands, so whoever posts must look for it before posting again.
"""

from dataclasses import dataclass

import aiohttp
from slack_sdk.errors import SlackApiError

FAILURES = (SlackApiError, aiohttp.ClientError, OSError, TimeoutError)

NOT_HERE = frozenset({"channel_not_found", "not_in_channel", "is_archived", "restricted_action", "restricted_action_read_only_channel"})
NO_THREAD = frozenset({"thread_not_found", "invalid_thread_ts", "cannot_reply_to_message", "message_not_found"})
NO_MESSAGE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "is_inactive"})
TOO_MUCH = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_too_long", "msg_blocks_too_long", "metadata_too_large"})
NOT_TO_YOU = frozenset({"user_not_in_channel", "messages_tab_disabled"}) | NOT_HERE
_UNSURE = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout"})


@dataclass(frozen=True)
class Trouble:
    """`unsure`: the call may have been carried out all the same."""

    code: str
    retry_after_s: float | None = None
    unsure: bool = False


def trouble(error: Exception) -> Trouble:
    """What a failed call means."""
    if not isinstance(error, SlackApiError):
        return Trouble(f"no_answer ({type(error).__name__})", unsure=True)
    answer = error.response
    status = int(getattr(answer, "status_code", 0) or getattr(answer, "status", 0))
    if status == 429:
        return Trouble("ratelimited", retry_after_s=_seconds(answer.headers.get("Retry-After")))
    code = answer.get("error") if hasattr(answer, "get") else None
    if code:
        return Trouble(str(code), retry_after_s=1.0 if code in ("ratelimited", "rate_limited") else None, unsure=code in _UNSURE)
    return Trouble(f"http_{status}", unsure=status >= 500 or status < 400)


def _seconds(header: str | None) -> float:
    return float(header) if header and header.isdigit() else 1.0

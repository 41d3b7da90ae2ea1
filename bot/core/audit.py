"""Which changes the audit channel hears of, and the outbox row that tells it."""

from collections.abc import Sequence

from bot.core.run import Event
from bot.core.snapshot import NewPost

# Who decided what, and how it ended. Steps and planning rounds are in the chain, not in the channel.
TOLD = frozenset(
    {
        Event.RELEASED,
        Event.PLAN_REFUSED,
        Event.APPROVAL_GIVEN,
        Event.APPROVED,
        Event.CHANGES_ASKED,
        Event.REVISED,
        Event.REDIRECT_ASKED,
        Event.REDIRECT_PLANNED,
        Event.REDIRECTED,
        Event.WITHDRAWN,
        Event.BREAKPOINT_SET,
        Event.FROZEN,
        Event.THAWED,
        Event.CANCELLED,
        Event.EXPIRED,
        Event.ESCALATED,
        Event.REGRADED,
        Event.RELOADED,
        Event.RELOAD_REFUSED,
        Event.PAUSE_ASKED,
        Event.RESUMED,
        Event.CONTINUED,
        Event.CONFIRMED,
        Event.CONFIRM_REFUSED,
        Event.RETRIED,
        Event.SKIPPED_BY_PERSON,
        Event.HAPPENED,
        Event.NOT_HAPPENED,
        Event.STOP_ASKED,
        Event.ANSWERED,
        Event.ANSWERED_FAILED,
        Event.CLICK_REFUSED,
    }
)


def audit_post(place: str, run_id: str, event: Event) -> Sequence[NewPost]:
    """The row for the audit channel, or nothing where there is none or the event is not told. The door adds the entry's number."""
    if not place or event not in TOLD:
        return []
    return [NewPost(run=run_id, card="audit", key=f"{run_id}:audit", channel=place, in_thread=False)]

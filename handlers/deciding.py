"""Who decides is looked up at the click, and once more before anybody is told no.

What is known of people is seconds old at most, and so may a refusal be: somebody who joined the group a moment ago is asked after afresh,
once, before the answer goes out. Nobody is let in by it who was not: the second look is only what Slack says now.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from bot.core.policy import Member
from bot.errors import Refused
from handlers import modals
from handlers.desk import Desk

# What is said of a person by what Slack knows of them, and not by what they did.
BY_MEMBERSHIP = frozenset({"not_allowed", "not_admin", "guest", "partner", "deactivated", "bot"})

T = TypeVar("T")


class Acted(Protocol):
    """Somebody did something: a press, a form that was sent, a message."""

    @property
    def actor(self) -> str: ...

    @property
    def team(self) -> str: ...


async def deciding(desk: Desk, acted: Acted, work: Callable[[Member], Awaitable[T]], *, in_time: bool = False) -> T:
    """Do it as the person who acted; refused by membership, look once more and try again. Raises the refusal that then holds.

    `in_time`: a form waits for the answer, so looking up has an end well before Slack's patience has (`modals.in_time`).
    """
    return await as_person(desk, acted.actor, acted.team, work, in_time=in_time)


async def as_person(desk: Desk, actor: str, team: str, work: Callable[[Member], Awaitable[T]], *, in_time: bool = False) -> T:
    """The same for somebody who is named."""
    directory = desk.slack.directory
    asked = directory.member(actor, team)
    who = await (modals.in_time(asked) if in_time else asked)
    try:
        return await work(who)
    except Refused as refused:
        if refused.kind not in BY_MEMBERSHIP:
            raise
        again = directory.afresh(actor, team)
        now = await (modals.in_time(again) if in_time else again)
        if now is None or now == who:
            raise
    return await work(now)

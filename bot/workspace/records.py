"""The people, user groups and channels of a workspace as data, and the ids that never change.

Messages, views and files stay what they are on the wire (JSON objects in Slack's shape); these three have a life of their own here
and are turned into Slack's shape by `shapes`.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict

Json = dict[str, Any]

TEAM_ID = "T0HOME"
TEAM_NAME = "Workspace"
TEAM_DOMAIN = "home"
PARTNER_TEAM_ID = "T0PARTNER"
APP_ID = "A0PULLCORD"
BOT_ID = "B0PULLCORD"
BOT_USER_ID = "U0PULLCORD"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Person(_Record):
    """Somebody who can be addressed: a member, a guest, somebody from another workspace, or a bot."""

    id: str
    name: str
    real_name: str
    team_id: str = TEAM_ID
    email: str = ""
    tz: str = "Etc/UTC"
    is_admin: bool = False
    is_restricted: bool = False  # a guest
    is_ultra_restricted: bool = False  # a guest of one channel
    deleted: bool = False
    bot_id: str = ""  # bots only
    app_id: str = ""  # bots only

    @property
    def is_bot(self) -> bool:
        return bool(self.bot_id)

    @property
    def is_stranger(self) -> bool:
        return self.team_id != TEAM_ID


class Group(_Record):
    """A user group; `handle` is what people type after @."""

    id: str
    handle: str
    name: str
    users: tuple[str, ...] = ()


class Channel(_Record):
    """A public or private channel, or a direct message between one person and the bot."""

    id: str
    name: str
    members: tuple[str, ...] = ()  # user ids
    created: int
    topic: str = ""
    is_private: bool = False
    is_ext_shared: bool = False
    is_archived: bool = False
    user: str = ""  # direct messages only: the person at the other end

    @property
    def is_im(self) -> bool:
        return bool(self.user)

    @property
    def kind(self) -> str:
        """Slack's `channel_type`."""
        if self.is_im:
            return "im"
        return "group" if self.is_private else "channel"

"""What the app's manifest says: its commands, shortcuts, events and scopes.

The server is told the path of the same `manifest.yml` that a real workspace is given, and holds the bot to it: a command that is not in it
does not exist, an event that is not subscribed is not sent.
"""

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import ConfigurationError
from bot.workspace.records import Json


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Command(_Part):
    command: str
    description: str = ""
    usage_hint: str = ""
    should_escape: bool = False


class Shortcut(_Part):
    name: str
    type: str  # message, global
    callback_id: str
    description: str = ""


class Manifest(_Part):
    """The parts of a manifest that a server has to know."""

    name: str
    bot_name: str
    commands: tuple[Command, ...] = ()
    shortcuts: tuple[Shortcut, ...] = ()
    bot_events: frozenset[str] = Field(default=frozenset())
    bot_scopes: frozenset[str] = Field(default=frozenset())
    home_enabled: bool = False

    def command(self, name: str) -> Command | None:
        return next((command for command in self.commands if command.command == name), None)

    def shortcut(self, callback_id: str) -> Shortcut | None:
        return next((shortcut for shortcut in self.shortcuts if shortcut.callback_id == callback_id), None)


def read_manifest(path: Path) -> Manifest:
    """Return what the file says; ConfigurationError names the file and what is wrong with it."""
    try:
        return _from_json(yaml.safe_load(path.read_text()))
    except FileNotFoundError as problem:
        raise ConfigurationError(f"{path}: there is no such manifest; name one with --manifest") from problem
    except OSError as problem:
        raise ConfigurationError(f"{path}: cannot be read: {problem.strerror}; name a manifest with --manifest") from problem
    except UnicodeDecodeError as problem:
        raise ConfigurationError(f"{path}: this is not a text file in UTF-8; name a manifest with --manifest") from problem
    except yaml.YAMLError as problem:
        raise ConfigurationError(f"{path}: not YAML: {' '.join(str(problem).split())}") from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        raise ConfigurationError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from problem
    except (AttributeError, TypeError) as problem:
        raise ConfigurationError(f"{path}: this is not an app manifest; name one with --manifest") from problem


def _from_json(raw: Json) -> Manifest:
    features = raw.get("features") or {}
    settings = raw.get("settings") or {}
    name = (raw.get("display_information") or {}).get("name")
    return Manifest.model_validate(
        {
            "name": name,
            "bot_name": (features.get("bot_user") or {}).get("display_name") or name,
            "commands": features.get("slash_commands") or (),
            "shortcuts": features.get("shortcuts") or (),
            "bot_events": (settings.get("event_subscriptions") or {}).get("bot_events") or (),
            "bot_scopes": ((raw.get("oauth_config") or {}).get("scopes") or {}).get("bot") or (),
            "home_enabled": (features.get("app_home") or {}).get("home_tab_enabled", False),
        }
    )

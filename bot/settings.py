"""The environment as typed settings. A wrong one refuses to start with one line that names the variable."""

import os
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.errors import ConfigurationError


class Settings(BaseSettings):
    """One field per variable; `.env` in the working directory is read too."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", env_ignore_empty=True, populate_by_name=True)

    slack_bot_token: SecretStr | None = Field(default=None, alias="SLACK_BOT_TOKEN")
    slack_app_token: SecretStr | None = Field(default=None, alias="SLACK_APP_TOKEN")
    slack_signing_secret: SecretStr | None = Field(default=None, alias="SLACK_SIGNING_SECRET")
    slack_api_url: str = Field(default="https://slack.com/api/", alias="SLACK_API_URL")
    database_url: str = Field(default="sqlite:///pullcord-data/pullcord.db", alias="PULLCORD_DATABASE_URL")
    policy: Path | None = Field(default=None, alias="PULLCORD_POLICY")
    tools: str = Field(default="", alias="PULLCORD_TOOLS")  # paths, separated as in PATH
    files_root: Path = Field(default=Path("pullcord-data/files"), alias="PULLCORD_FILES")
    audit_channel: str = Field(default="", alias="PULLCORD_AUDIT_CHANNEL")
    approval_channel: str = Field(default="", alias="PULLCORD_APPROVAL_CHANNEL")
    anthropic_api_key: SecretStr | None = Field(default=None, alias="ANTHROPIC_API_KEY")
    anthropic_base_url: str = Field(default="", alias="ANTHROPIC_BASE_URL")
    secrets: Path | None = Field(default=None, alias="PULLCORD_SECRETS")  # a file of NAME=value lines, or a folder of one file each
    keyring: str = Field(default="", alias="PULLCORD_KEYRING")  # "service:NAME,NAME"
    planner_model: str = Field(default="claude-sonnet-5-5", alias="PULLCORD_PLANNER_MODEL")
    fast_model: str = Field(default="claude-haiku-5-5", alias="PULLCORD_FAST_MODEL")
    planner: Literal["anthropic", "offline", ""] = Field(default="", alias="PULLCORD_PLANNER")
    http: str = Field(default="", alias="PULLCORD_HTTP")  # "127.0.0.1:3000": hear Slack there over HTTP; needs the signing secret
    metrics: str = Field(default="", alias="PULLCORD_METRICS")  # "127.0.0.1:9464": /metrics and /healthz there
    commands: str = Field(default="", alias="PULLCORD_COMMANDS")  # "plan=/pc-plan,cord=/pc": names that differ from the manifest's
    pool: int = Field(default=20, ge=1, le=1000, alias="PULLCORD_POOL")  # runs at once
    parallel: int = Field(default=8, ge=1, le=100, alias="PULLCORD_PARALLEL")  # steps of one run at once
    steps: int = Field(default=64, ge=1, le=1000, alias="PULLCORD_STEPS")  # steps of all runs at once
    grace_s: float = Field(default=10, ge=0, le=600, alias="PULLCORD_GRACE")  # for what runs, at stop and at shutdown
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", alias="PULLCORD_LOG")

    @property
    def observations(self) -> Path:
        """The folder beside the database where long results are kept whole, if the policy says so."""
        prefix = "sqlite:///"
        path = self.database_url.removeprefix(prefix) if self.database_url.startswith(prefix) else ""
        return (Path(path).parent if path else self.files_root.parent) / "observations"

    @property
    def own_secrets(self) -> tuple[str, ...]:
        """Every secret value that this process holds for itself, to be masked in whatever it says."""
        held = (self.slack_bot_token, self.slack_app_token, self.slack_signing_secret, self.anthropic_api_key)
        return tuple(secret.get_secret_value() for secret in held if secret)

    @property
    def model_planner(self) -> bool:
        """Plan with a model? As said; unsaid, when there is a key or an endpoint of our own to ask."""
        if self.planner:
            return self.planner == "anthropic"
        return bool(self.anthropic_api_key or self.anthropic_base_url)

    @property
    def tool_paths(self) -> list[Path]:
        """Files that `PULLCORD_TOOLS` names."""
        return [Path(part) for part in self.tools.split(os.pathsep) if part]


def load(data: Path | None = None) -> Settings:
    """Settings from the environment; `data` is a folder whose parts stand in for what the environment leaves out.

    Raises `ConfigurationError` naming the variable that is wrong.
    """
    try:
        settings = Settings()
    except ValidationError as fault:
        first = fault.errors()[0]
        raise ConfigurationError(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from fault
    except UnicodeDecodeError as fault:
        raise ConfigurationError(".env: this is not a text file in UTF-8; mend it, or take it out of this folder") from fault
    if data is None:
        return settings
    said = settings.model_fields_set
    changed: dict[str, object] = {}
    if "database_url" not in said:
        changed["database_url"] = f"sqlite:///{data / 'pullcord.db'}"
    if "files_root" not in said:
        changed["files_root"] = data / "files"
    if "policy" not in said and (data / "policy.yml").exists():
        changed["policy"] = data / "policy.yml"
    return settings.model_copy(update=changed)

"""Where the model is asked, and with which key: decided here in the open, never left to what happens to be in the environment.

The library takes a key from the environment for whatever address it is given, so a key is always passed: the one from the settings, or the
word `local` where there is none. An Anthropic key (`sk-ant-…`) is never sent to a server on this machine: it is of no use there.
"""

from ipaddress import ip_address
from urllib.parse import urlsplit

import structlog

from bot.errors import ConfigurationError
from bot.settings import Settings

log = structlog.get_logger()

ANTHROPIC = "https://api.anthropic.com"
NO_KEY = "local"
OWN_KEY = "sk-ant-"


def address(settings: Settings) -> str:
    """The base address without a trailing `/v1`, which the library adds itself. Raises `ConfigurationError` if it is no address."""
    said = (settings.anthropic_base_url or ANTHROPIC).strip().rstrip("/")
    parts = urlsplit(said)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"ANTHROPIC_BASE_URL: '{said}' is not an address; write it as http://localhost:8080")
    if said.endswith("/v1"):
        log.warning("base_url_shortened", note="ANTHROPIC_BASE_URL should not end in /v1; it is asked without", address=said)
        said = said.removesuffix("/v1")
    return said


def key(settings: Settings) -> str:
    """The key for that address. Never empty."""
    given = settings.anthropic_api_key.get_secret_value().strip() if settings.anthropic_api_key else ""
    if not given or (is_local(address(settings)) and given.startswith(OWN_KEY)):
        return NO_KEY
    return given


def is_local(url: str) -> bool:
    """Is it a server on this machine?"""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_anthropic(url: str) -> bool:
    """Is it Anthropic's own service?"""
    host = urlsplit(url).hostname or ""
    return host == "anthropic.com" or host.endswith(".anthropic.com")

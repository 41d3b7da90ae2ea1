"""The policy files that are shipped: one for each profile to begin from, and the demo's. They show every key, each with what it does."""

from functools import cache
from importlib.resources import files

from bot.errors import ConfigurationError

NAMES = ("personal", "team", "external", "demo")


@cache
def example(name: str) -> str:
    """The text of one of `NAMES`, comments and all. Raises `ConfigurationError` for another name."""
    if name not in NAMES:
        raise ConfigurationError(f"there is no example '{name}'; name one of {', '.join(NAMES)}")
    return (files(__name__) / f"{name}.yml").read_text(encoding="utf-8")

"""Keys from arguments: text with holes, the same key for the same thing, and no expression that is evaluated."""

from typing import Any

import pytest

from bot.core.catalogue import Effect, ToolSpec
from bot.core.keys import LONGEST, keys
from bot.core.policy import parse

SCHEMA = {"properties": {"env": {"type": "string", "default": "test"}, "service": {"type": "string"}, "where": {"type": "object"}}}
POLICY = parse('profile: team\nlocks:\n  "site.*": "site:{service}"\n  "db.*": "db"\n', source="policy.yml")


def tool(lock: str = "", name: str = "site.deploy") -> ToolSpec:
    return ToolSpec(name, "Deploys.", Effect.EXECUTE, SCHEMA, lock=lock)


@pytest.mark.parametrize(
    ("lock", "args", "found"),
    [
        ("deploy:{env}", {"env": "prod", "service": "web"}, ("deploy:prod", "site:web")),
        ("deploy:{env}", {"service": "web"}, ("deploy:test", "site:web")),  # the default
        ("deploy:{env}", {"env": " prod  eu ", "service": "web"}, ("deploy:prod eu", "site:web")),
        ("deploy:{where.region}", {"where": {"region": "eu"}, "service": "web"}, ("deploy:eu", "site:web")),
        ("deploy:{where.region}", {"service": "web"}, ("deploy:", "site:web")),
        ("{env}{env}", {"env": 3, "service": "web"}, ("33", "site:web")),
        ("{where}", {"where": {"b": 1, "a": 2}, "service": "web"}, ("site:web", '{"a":2,"b":1}')),
        ("", {}, ("site:",)),
        ("site:web", {"service": "web"}, ("site:web",)),
        ("{env.__class__}{0}{}", {"env": "prod", "service": "web"}, ("", "site:web")),
    ],
)
def test_a_key_is_its_pattern_with_the_values_of_the_call(lock: str, args: dict[str, Any], found: tuple[str, ...]) -> None:
    assert keys(tool(lock), args, POLICY) == found


def test_a_tool_without_a_lock_needs_none() -> None:
    assert keys(tool(name="files.read"), {"path": "a"}, POLICY) == ()


def test_a_long_value_makes_a_bounded_key_that_is_still_its_own() -> None:
    one, other = (keys(tool("{service}", "x.y"), {"service": "a" * 500 + end}, POLICY)[0] for end in "bc")
    assert len(one) == len(other) == LONGEST
    assert one != other

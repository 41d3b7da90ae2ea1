"""The shipped policies: each is sound, has no remarks, and shows every key there is, in a form that holds once its sign is taken away."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from bot.core import policy
from bot.core.policy_file import KEYS, Policy
from bot.errors import ConfigurationError
from bot.policies import NAMES, example
from bot.tools.builtin import builtin_tools
from bot.tools.registry import Registry

COMMENTED = re.compile(r"^( *)# ( *(?:- )?(?:[\w.-]+|\"[^\"]+\"):(?: .*)?)$")


def uncommented(text: str) -> str:
    """Every key that is shown as a comment, put in force."""
    return "\n".join(COMMENTED.sub(r"\1\2", line) for line in text.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_sound_and_has_no_remarks(name: str, tmp_path: Path) -> None:
    rules = policy.parse(example(name), source=name)
    catalogue = Registry(builtin_tools(files_root=tmp_path), grace_s=1).catalogue
    assert rules.profile == ("team" if name == "demo" else name)
    assert policy.remarks(rules, catalogue) == []


@pytest.mark.parametrize("name", NAMES)
def test_an_example_shows_every_key_and_every_key_that_it_shows_may_be_put_in_force(name: str) -> None:
    whole = uncommented(example(name))
    policy.parse(whole, source=name)
    shown: dict[str, Any] = yaml.safe_load(whole)
    assert set(shown) == set(Policy.model_fields)
    for key in ("cord", "places", "limits", "scopes", "keep", "personal"):
        assert set(shown[key]) == set(KEYS[key].model_fields), key
    assert keys_of(shown["windows"]) == {*KEYS["windows"].model_fields}
    assert keys_of(shown["rules"]) == {*KEYS["rules"].model_fields}


def keys_of(parts: list[dict[str, Any]]) -> set[str]:
    return {key for part in parts for key in part}


@pytest.mark.parametrize("name", NAMES)
def test_every_line_that_sets_something_fits_a_screen(name: str) -> None:
    assert max(len(line) for line in example(name).splitlines()) <= 140


@pytest.mark.parametrize("name", ["team", "external"])
def test_what_an_example_says_of_its_profile_is_what_the_profile_says(name: str) -> None:
    """The lists that stand there as comments are those that hold without them."""
    rules = policy.parse(uncommented(example(name)), source=name)
    assert rules.may_not == policy.default(name).may_not
    assert rules.timers == policy.default(name).timers


def test_an_example_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ConfigurationError, match="name one of personal, team, external, demo"):
        example("lax")


def test_every_part_of_the_policy_is_known_to_the_reader() -> None:
    """Otherwise "did you mean" would offer the keys of the whole file."""
    parts = {name for name, field in Policy.model_fields.items() if _holds_a_part(field.annotation)}
    assert parts <= set(KEYS)


def _holds_a_part(annotation: Any) -> bool:
    inside = getattr(annotation, "__args__", ())
    return (isinstance(annotation, type) and issubclass(annotation, BaseModel)) or any(_holds_a_part(each) for each in inside)

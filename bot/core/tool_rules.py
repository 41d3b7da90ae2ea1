"""What the policy says of a tool as such, before anybody looks at arguments: its effect, its mode, whether its words are trusted."""

import re
from fnmatch import fnmatchcase
from typing import Any

from bot.core.catalogue import Effect, ToolSpec
from bot.core.policy_file import Policy, ToolRule
from bot.core.risk import Mode

STRENGTH = {Effect.READ: 0, Effect.WRITE: 1, Effect.SEND: 1, Effect.DELETE: 2, Effect.EXECUTE: 3}


def fits(name: str, glob: str) -> bool:
    """Does a tool's name fit a pattern of the policy?"""
    return fnmatchcase(name, glob)


def ruling(name: str, policy: Policy) -> ToolRule:
    """What `tools:` says of a tool: each key from the most exact pattern that sets it."""
    found = sorted((glob for glob in policy.tools if fits(name, glob)), key=_exactness)
    merged: dict[str, Any] = {}
    for glob in found:
        merged |= policy.tools[glob].model_dump(exclude_none=True)
    return ToolRule.model_validate(merged)


def effect_of(spec: ToolSpec, policy: Policy) -> Effect:
    """The tool's effect as policy sees it. The file may raise any tool, and lower only what is declared as `execute`.

    A tool of which nothing is known (a server's hints count for nothing) is declared so; a declared write, send or delete stays one.
    """
    wanted = ruling(spec.name, policy).effect
    if wanted and (spec.effect is Effect.EXECUTE or STRENGTH[wanted] >= STRENGTH[spec.effect]):
        return wanted
    return spec.effect


def mode_of(spec: ToolSpec, policy: Policy) -> Mode:
    """The tool's mode before the rules: what `tools:` says of its name, else of a pattern, else `effects:`, else the profile."""
    stated = ruling(spec.name, policy)
    if stated.mode:
        return stated.mode
    effect = effect_of(spec, policy)
    if effect in policy.effects:
        return policy.effects[effect].mode
    if effect is Effect.READ:
        listed = policy.profile != "external" or any(fits(spec.name, glob) for glob in policy.tools)
        return Mode.AUTO if listed else Mode.CONFIRM
    outside = spec.outward and policy.profile == "team"
    return Mode.CONFIRM if policy.profile == "external" or outside or STRENGTH[effect] > 1 else Mode.ASK


def mode_source(spec: ToolSpec, policy: Policy) -> str:
    """The line of the file that says so: "tools.files.*", "effects.send"; "profile team" where none does."""
    stating = [glob for glob in policy.tools if fits(spec.name, glob) and policy.tools[glob].mode]
    if stating:
        return f"tools.{max(stating, key=_exactness)}"
    effect = effect_of(spec, policy)
    return f"effects.{effect}" if effect in policy.effects else f"profile {policy.profile}"


def _exactness(glob: str) -> tuple[bool, int, str]:
    """Sorts patterns from loose to exact: a name without wildcards last, else by the number of literal characters."""
    literal = re.sub(r"[*?]|\[[^]]*\]", "", glob)
    return literal == glob, len(literal), glob

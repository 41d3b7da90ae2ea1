"""What single values of a policy look like: durations, patterns, people, places, templates; and what is wrong with one, in words.

A value that fits nothing is refused here, not passed over later: a pattern that can never match, or a name that means nobody, would make
a rule look as if it held. Every fault reads "what is wrong; how to mend it", and `policy_text` puts file, line and key before it.
"""

import difflib
import re
from datetime import timedelta
from string import Formatter
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from bot.core.expressions import expression

WHO = ("anyone", "requester", "approvers", "admins")
MADE = ("requester", "editors", "redirectors", "source_author")  # who had a hand in a plan: words for `may_not`

SPAN = re.compile(r"(?:\d{1,6}[smhd])+")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
LONGEST_SPAN = timedelta(days=3650)
CLASS = r"\[!?[^\[\]!][^\[\]]*\]"
GLOB = re.compile(rf"(?:[^\[\]\s]|{CLASS})+")
TOOL = re.compile(rf"(?:[\w.*?-]|{CLASS})+")
HOST = re.compile(rf"(?:[\w.*?:-]|{CLASS}|\[[0-9A-Fa-f:.]+\])+")
ID = re.compile(r"[CGDUWS][A-Z0-9]{2,}")
ENTRY = re.compile(r"[@#]?[^\s@#<>,;*?]+")
ARGUMENT = re.compile(r"args(?:\.[A-Za-z_][\w-]*)+")


def read_span(value: Any) -> timedelta:
    """A duration such as "30m", "2h", "90s", "1d" or "1h30m"; ValueError otherwise, for zero, and for more than ten years."""
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str) or not SPAN.fullmatch(value):
        raise ValueError("is not a duration; write it like 90s, 30m, 2h or 1d")
    span = timedelta(seconds=min(sum(int(part[:-1]) * UNITS[part[-1]] for part in re.findall(r"\d+[smhd]", value)), 10**9))
    if not span:
        raise ValueError("must be longer than nothing; write it like 90s, 30m, 2h or 1d")
    if span > LONGEST_SPAN:
        raise ValueError("is longer than ten years; write at most 3650d")
    return span


def tool_glob(value: str) -> str:
    """A pattern of tool names, such as files.* or *; ValueError for what can fit no tool."""
    if not TOOL.fullmatch(value):
        raise ValueError(f"is '{value}', which is not a pattern of tools; write a tool's name, with * for any letters, as in files.*")
    return value


def host_glob(value: str) -> str:
    """A pattern of hosts, with a port where it is not the usual one."""
    if not HOST.fullmatch(value):
        raise ValueError(f"is '{value}', which is not a pattern of hosts; write the host alone, as in docs.example.com or *.example.com")
    return value


def path_glob(value: str) -> str:
    """A pattern of paths in their plain form, as arguments are compared."""
    if not GLOB.fullmatch(value) or "\\" in value:
        raise ValueError(f"is '{value}', which is not a pattern of paths; write it like reports/* or notes/*.md")
    if set(re.sub(r"^(?:\.\./)+", "", value).split("/")) & {".", ".."} or "//" in value:
        raise ValueError(f"is '{value}', which never fits, since paths are compared in their plain form; write it without . and .. and //")
    return value


def channel_glob(value: str) -> str:
    """A pattern of channel names, which begin with #, or a channel's id."""
    if not GLOB.fullmatch(value) or not (value[0] in "#*" or ID.fullmatch(value)):
        raise ValueError(f'is \'{value}\', which is not a pattern of channels; write it like "#ops" or "#team-*", or a channel\'s id')
    return value


def place(value: str) -> str:
    """Where cards go: `thread`, a channel, or an id."""
    if value != "thread" and not ID.fullmatch(value) and not (value.startswith("#") and ENTRY.fullmatch(value)):
        raise ValueError(f"is '{value}', which is not a place; write thread, or a channel in quotes, as in \"#approvals\"")
    return value


def channel(value: str) -> str:
    """One channel, for what goes nowhere else."""
    if place(value) == "thread":
        raise ValueError('cannot be a thread; write a channel in quotes, as in "#audit"')
    return value


def entry(value: str) -> str:
    """People as the file may name them: a user id or name, a group (@handle, or its id), the members of a channel (#name, or its id)."""
    if not ENTRY.fullmatch(value):
        raise ValueError(f'is \'{value}\', which means nobody; write a user id, a user name, "@group" or "#channel"')
    return value


def person(value: str) -> str:
    """An entry where the words of the cord mean nothing."""
    if value in WHO or value in MADE:
        raise ValueError(f"is '{value}', which is a word of other keys; name people and groups here, by id if somebody is really called so")
    return entry(value)


def kept_out(value: str) -> str:
    """An entry of `may_not`: one of its words, or people and groups. A word that is nearly one of them is one misspelt."""
    if value in MADE:
        return value
    near = difflib.get_close_matches(value.casefold().replace("-", "_"), MADE, n=1, cutoff=0.6) if value[:1] not in ("@", "#") else []
    if near and not ID.fullmatch(value):
        raise ValueError(f"is '{value}', which is not a word of may_not; did you mean {near[0]}? Name a person of that name by id")
    if value in WHO:
        raise ValueError(f"is '{value}', which is not a word of may_not; use {', '.join(MADE)}, or name people and groups")
    return entry(value)


def argument(value: str) -> str:
    """A number among the arguments, such as args.amount."""
    if not ARGUMENT.fullmatch(value):
        raise ValueError(f"is '{value}', which is not an argument; write it like args.amount")
    return value


def template(value: str) -> str:
    """A lock's key, in which only {argument} is filled in."""
    wrong = f"is '{value}', which is not a key of a lock; write words with arguments in braces, as in deploy:{{env}}"
    try:
        fields = [(name, spec, how) for _, name, spec, how in Formatter().parse(value) if name is not None]
    except ValueError as fault:
        raise ValueError(wrong) from fault
    plain = all(not spec and not how and all(part.isidentifier() for part in name.split(".")) for name, spec, how in fields)
    if not value.strip() or not plain:
        raise ValueError(wrong)
    return value


Span = Annotated[timedelta, BeforeValidator(read_span)]
ToolGlob = Annotated[str, AfterValidator(tool_glob)]
HostGlob = Annotated[str, AfterValidator(host_glob)]
PathGlob = Annotated[str, AfterValidator(path_glob)]
ChannelGlob = Annotated[str, AfterValidator(channel_glob)]
Place = Annotated[str, AfterValidator(place)]
Channel = Annotated[str, AfterValidator(channel)]
Entry = Annotated[str, AfterValidator(entry)]
Person = Annotated[str, AfterValidator(person)]
KeptOut = Annotated[str, AfterValidator(kept_out)]
Argument = Annotated[str, AfterValidator(argument)]
Template = Annotated[str, AfterValidator(template)]
Expression = Annotated[str, AfterValidator(expression)]

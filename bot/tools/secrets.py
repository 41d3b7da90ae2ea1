"""Secrets by name: `{{secret:NAME}}` in an argument stands for a value that only the tool is given, at the call.

Read once at the start: `PULLCORD_SECRET_<NAME>` of the environment, then what `PULLCORD_SECRETS` names (a file of NAME=value lines, or a
folder with one file for each name), then the system's keyring (`PULLCORD_KEYRING=service:NAME,NAME`). The first that has a name counts.
What somebody types into an ask or a form is kept here too, in memory and for its run alone, under a name such as TYPED_3F2A; a restart
forgets it. Every value is held for masking (`masks.hold`), and none is in a repr, an error or a log line.
"""

import importlib
import re
import stat
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bot.core.plan import Plan
from bot.core.references import ENVIRONMENT, TYPED, missing_secret
from bot.errors import ConfigurationError, ToolFailed
from bot.tools.held_secrets import SHORTEST
from bot.tools.masks import by_shape, hold, is_named_secret, mark, mask, redact, release

NAME = re.compile(r"[A-Z][A-Z0-9_]*")
MOST_TYPED = 300  # values remembered at one time, of all runs; the oldest is forgotten first
Ask = Callable[[str, str], str | None]  # service and name → value, as a keyring answers


class Secrets:
    """The names that there are, and their values for those who call tools. `remarks`: what an admin should mend."""

    def __init__(self, values: Mapping[str, str] | None = None, *, remarks: tuple[str, ...] = ()) -> None:
        self.remarks = (*remarks, *(_unfit(name, value) for name, value in (values or {}).items() if not _fits(value)))
        self._values = {name: value for name, value in (values or {}).items() if _fits(value)}
        self._typed: OrderedDict[tuple[str, str], str] = OrderedDict()  # (run, name) → value
        hold(self._values.values())

    def __repr__(self) -> str:
        return f"Secrets({', '.join(sorted(self._values)) or 'none'})"

    def close(self) -> None:
        """The process holds them no more."""
        release([*self._values.values(), *self._typed.values()])
        self._values, self._typed = {}, OrderedDict()

    def names(self, run_id: str = "") -> frozenset[str]:
        """What a plan may name: what is configured, and what was typed in that run."""
        return frozenset([*self._values, *(name for run, name in self._typed if run == run_id)])

    def value(self, name: str, run_id: str = "") -> str:
        """For the tool that is called, and for nobody else. Raises `ToolFailed`, saying what to do."""
        found = self._typed.get((run_id, name), self._values.get(name))
        if found is None:
            raise ToolFailed(missing_secret(name, self.names(run_id)))
        return found

    def typed(self, text: str, run_id: str) -> str:
        """A person's words with a reference in place of each secret in them: nothing stores the value, and the tool still receives it.

        What this process holds for itself (its own tokens) is masked, and can be given to no tool.
        """
        known = [*self._values.items(), *((name, value) for (run, name), value in self._typed.items() if run == run_id)]
        for name, value in known:
            if len(value) >= SHORTEST:
                text = text.replace(value, reference(name))
        return redact(by_shape(text, lambda secret: self._kept(secret, run_id)))

    def typed_in(self, value: Any, run_id: str) -> Any:
        """The same for a JSON value; a field whose name says that it holds a secret (`password`) is one whole."""
        if isinstance(value, str):
            return self.typed(value, run_id)
        if isinstance(value, list | tuple):
            return [self.typed_in(item, run_id) for item in value]
        if isinstance(value, dict):
            named = {key: isinstance(key, str) and is_named_secret(key, item) for key, item in value.items()}
            return {key: self._kept(item, run_id) if named[key] else self.typed_in(item, run_id) for key, item in value.items()}
        return value

    def typed_plan(self, plan: Plan, run_id: str) -> Plan:
        """A plan that somebody wrote or drafted, with references in place of the secrets in its arguments; the very same if it has none."""
        args = [self.typed_in(step.args, run_id) for step in plan.steps]
        words = [redact(plan.goal), *(redact(step.purpose) for step in plan.steps)]
        if args == [step.args for step in plan.steps] and words == [plan.goal, *(step.purpose for step in plan.steps)]:
            return plan
        steps = tuple(
            step.model_copy(update={"args": own, "purpose": said}) for step, own, said in zip(plan.steps, args, words[1:], strict=True)
        )
        return plan.model_copy(update={"goal": words[0], "steps": steps})

    def follow(self, run_id: str, follower: str) -> None:
        """What was typed in one run may be named in the one that follows it: asked again, or asked in its thread."""
        for (run, name), value in [*self._typed.items()]:
            if run == run_id:
                self._remember(follower, name, value)

    def _kept(self, secret: str, run_id: str) -> str:
        """The reference to a value that was typed."""
        if "{{" in secret:
            return mask(secret)
        digits = 4
        while self._typed.get((run_id, name := TYPED + mark(secret, digits).upper()), secret) != secret:
            digits += 2
        self._remember(run_id, name, secret)
        return reference(name)

    def _remember(self, run_id: str, name: str, value: str) -> None:
        if (run_id, name) in self._typed:
            return
        hold([value])
        self._typed[run_id, name] = value
        while len(self._typed) > MOST_TYPED:
            release([self._typed.popitem(last=False)[1]])


def reference(name: str) -> str:
    """How an argument names it."""
    return f"{{{{secret:{name}}}}}"


def open_secrets(environ: Mapping[str, str], *, source: Path | None = None, keyring: str = "", ask: Ask | None = None) -> Secrets:
    """Everything that can be read now. Raises `ConfigurationError` where a source that was named cannot be read.

    `ask`: who answers for the keyring; not given, the `keyring` package, if it is installed.
    """
    found: dict[str, str] = {}
    remarks: list[str] = []
    if keyring:
        found |= _from_keyring(keyring, ask)
    if source is not None:
        values, said = _from_path(source)
        found |= values
        remarks += said
    found |= {name.removeprefix(ENVIRONMENT): value for name, value in environ.items() if name.startswith(ENVIRONMENT) and value}
    remarks += [f"{ENVIRONMENT if ENVIRONMENT + name in environ else ''}{name}: {ODD}" for name in found if not NAME.fullmatch(name)]
    return Secrets({name: value for name, value in found.items() if NAME.fullmatch(name)}, remarks=tuple(remarks))


ODD = "this is no name for a secret: capital letters, digits and _, beginning with a letter; rename it"


def _from_path(source: Path) -> tuple[dict[str, str], list[str]]:
    """The values of a file or a folder, and what is wrong with who may read it."""
    try:
        is_folder = source.is_dir()
        files = sorted(path for path in source.iterdir() if path.is_file() and path.name[0] != ".") if is_folder else [source]
        found = {path.name: path.read_text().rstrip("\r\n") for path in files} if is_folder else _lines(source)
        wide = [path for path in (source, *files) if stat.S_IMODE(path.stat().st_mode) & 0o077]
    except (OSError, UnicodeDecodeError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is not text in UTF-8"
        raise ConfigurationError(f"PULLCORD_SECRETS: {source} cannot be read ({why}); mend that, or leave the setting out") from fault
    remarks = [f"{path}: others than its owner may read it; chmod {700 if path.is_dir() else 600} {path}" for path in dict.fromkeys(wide)]
    return found, remarks


def _lines(source: Path) -> dict[str, str]:
    """NAME=value in each line; lines that are empty or begin with # say nothing. Raises `ConfigurationError` with the line's number."""
    found: dict[str, str] = {}
    for number, line in enumerate(source.read_text().splitlines(), start=1):
        name, sign, value = line.strip().removeprefix("export ").partition("=")
        if not name or name.startswith("#"):
            continue
        if not sign:
            raise ConfigurationError(f"{source}: line {number} is not NAME=value")
        found[name.strip()] = _unquoted(value.strip())
    return found


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _from_keyring(setting: str, ask: Ask | None) -> dict[str, str]:
    """The entries that the setting names: `service:NAME,NAME`. Raises `ConfigurationError` for one that is not there."""
    service, _, listed = setting.partition(":")
    names = [name.strip() for name in listed.split(",") if name.strip()]
    if not service or not names:
        raise ConfigurationError("PULLCORD_KEYRING: write it as service:NAME,NAME; a keyring cannot tell which names it holds")
    ask = ask or _keyring()
    found = {name: ask(service, name) for name in names}
    absent = [name for name, value in found.items() if value is None]
    if absent:
        raise ConfigurationError(f"PULLCORD_KEYRING: '{service}' has no {absent[0]}; store it there, or take the name out of the setting")
    return {name: value for name, value in found.items() if value is not None}


def _keyring() -> Ask:
    try:
        asked: Ask = importlib.import_module("keyring").get_password
    except ImportError as fault:
        raise ConfigurationError("PULLCORD_KEYRING: the package keyring is not installed; pip install keyring, or leave it out") from fault
    return asked


def _fits(value: str) -> bool:
    return len(value) >= SHORTEST and value not in mask(value)


def _unfit(name: str, value: str) -> str:
    why = f"{len(value)} characters" if len(value) < SHORTEST else "a value that stands in ordinary words"
    return f"the secret {name} has {why}, and {SHORTEST} or more are needed, or plain words would be masked with it; lengthen it"

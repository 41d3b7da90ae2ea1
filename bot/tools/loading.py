"""A team's own tools: Python files named by path, imported once, their `Tool` objects collected.

What goes wrong in such a file is the team's to mend, so every fault is one line with the path, the line and what was wrong there.
"""

import hashlib
import importlib.util
import json
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from bot.errors import ConfigurationError
from bot.tools.definition import Tool


def load_file(path: Path) -> list[Tool]:
    """The tools that a Python file defines at its top level, alone or in lists, in that order.

    Raises `ConfigurationError` if there is no such file, it does not import, or it holds no tool; MCP server lists are not read yet.
    """
    if not path.is_file():
        raise ConfigurationError(f"{path}: there is no such tool file.")
    if path.suffix == ".json":
        raise ConfigurationError(_about_json(path))
    if path.suffix != ".py":
        raise ConfigurationError(f"{path}: a tool file is a Python file that ends in .py.")
    tools = list(dict.fromkeys(_tools(vars(_imported(path)).values())))
    if not tools:
        raise ConfigurationError(f"{path}: it defines no tool; put @tool(...) from bot.tools.registry above a function.")
    return tools


def _about_json(path: Path) -> str:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        return f"{path}: it is not readable JSON ({fault})."
    if isinstance(held, dict) and "mcpServers" in held:
        return f"{path}: MCP servers come with a later version; for now name Python files with tools."
    return f"{path}: JSON is read for MCP servers only, which come with a later version; name Python files with tools."


def _imported(path: Path) -> ModuleType:
    """The module, under a name of its own that two files of the same name do not share."""
    place = path.resolve()
    name = f"pullcord_tools_{place.stem}_{hashlib.sha256(str(place).encode()).hexdigest()[:8]}".replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{path}: Python cannot import it.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and postponed annotations look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as fault:
        del sys.modules[name]
        raise ConfigurationError(_where(path, place, fault)) from fault
    return module


def _where(path: Path, place: Path, fault: BaseException) -> str:
    """`tools.py:12: NameError: name 'x' is not defined`."""
    if isinstance(fault, SyntaxError) and fault.filename == str(place):
        return f"{path}:{fault.lineno}: {fault.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(fault.__traceback__) if frame.filename == str(place)]
    says = str(fault) if isinstance(fault, ConfigurationError) else f"{type(fault).__name__}: {fault}"
    return f"{path}:{lines[-1] if lines else 1}: {says.splitlines()[0] if says else type(fault).__name__}"


def _tools(values: Iterable[Any]) -> Iterable[Tool]:
    for value in values:
        if isinstance(value, Tool):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (item for item in value if isinstance(item, Tool))

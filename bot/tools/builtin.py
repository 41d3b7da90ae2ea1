"""The tools that every Pullcord has, put together; those that speak to the chat itself come from the side that knows it."""

from collections.abc import Collection
from pathlib import Path

from bot.tools.clock import clock_tools
from bot.tools.definition import Tool
from bot.tools.files import files_tools
from bot.tools.text import Summarize, text_tools
from bot.tools.web import web_tools


def builtin_tools(*, files_root: Path, summarize: Summarize | None = None, allow_private_hosts: Collection[str] = ()) -> list[Tool]:
    """Files below `files_root`, the web, texts, time. `summarize` is a model as a worker; the hosts are "host" or "host:port" inside."""
    return [*files_tools(files_root), *web_tools(allow_private_hosts), *text_tools(summarize), *clock_tools()]

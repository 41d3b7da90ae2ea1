"""Log lines: one event name per line plus its facts, on standard error. Secrets are masked in the last step, whoever wrote the line.

The libraries' own lines (Slack's, the scheduler's, asyncio's) go the same way as ours, so that none of them passes the mask by.
The run's id is bound to the task that works for it, so every line of an activity carries `run`.
"""

import logging
import sys
import threading
from collections.abc import Iterable, MutableMapping
from types import TracebackType
from typing import Any

import structlog

from bot.tools.masks import hold, redact

log = structlog.get_logger()


def configure(level: str, *, secrets: Iterable[str] = ()) -> None:
    """Set up structlog for this process, and send warnings of the standard library's `logging` through it.

    `secrets` are values that this process holds: from now on they appear in nothing that it says, whatever their form.
    """
    hold(secrets)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _masked,
            structlog.dev.ConsoleRenderer(colors=False) if sys.stderr.isatty() else structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    root = logging.getLogger()
    root.handlers = [*(handler for handler in root.handlers if not isinstance(handler, _ToStructlog)), _ToStructlog()]
    root.setLevel(logging.WARNING)
    logging.captureWarnings(True)
    sys.excepthook, threading.excepthook = _uncaught, _uncaught_in_thread


def _uncaught(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
    """What ends the process leaves through the mask, too."""
    log.critical("uncaught", exc_info=(kind, fault, trace))


def _uncaught_in_thread(told: threading.ExceptHookArgs) -> None:
    if told.exc_value is not None:
        _uncaught(told.exc_type, told.exc_value, told.exc_traceback)


class _ToStructlog(logging.Handler):
    """Lines of libraries go where ours go."""

    def emit(self, record: logging.LogRecord) -> None:
        level = min(max(record.levelno // 10 * 10, logging.DEBUG), logging.CRITICAL)
        log.log(level, "library", source=record.name, says=_says(record), exc_info=record.exc_info or None)


def _says(record: logging.LogRecord) -> str:
    """The record's words; as they were written where its arguments do not fit them."""
    try:
        return record.getMessage()
    except Exception as fault:
        return f"{record.msg} {record.args!r} ({fault})"


def _masked(_logger: Any, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The processor that no value passes unread: exact secrets of this process first, then everything that looks like one."""
    return {key: _clean(value) for key, value in line.items()}


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_clean(part) for part in value]
    return value if isinstance(value, (int, float, bool)) or value is None else _clean(str(value))

"""Log lines: one event name per line plus its facts, on standard error. Secrets are masked in the last step, whoever wrote the line.

The run's id is bound to the task that works for it, so every line of an activity carries `run`.
"""

import logging
import sys
from collections.abc import Iterable, MutableMapping
from typing import Any

import structlog

from bot.tools.sanitize import redact


def configure(level: str, *, secrets: Iterable[str] = ()) -> None:
    """Set up structlog for this process. `secrets` are values that must appear in no line, whatever their form."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _Mask(secrets),
            structlog.dev.ConsoleRenderer(colors=False) if sys.stderr.isatty() else structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


class _Mask:
    """The processor that no value passes unread: exact secrets of this process first, then everything that looks like one."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self.secrets = tuple(secret for secret in secrets if len(secret) >= 6)

    def __call__(self, _logger: Any, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {key: self._clean(value) for key, value in line.items()}

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            for secret in self.secrets:
                value = value.replace(secret, "⟦secret⟧")
            return redact(value)
        if isinstance(value, dict):
            return {key: self._clean(part) for key, part in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self._clean(part) for part in value]
        return value if isinstance(value, (int, float, bool)) or value is None else self._clean(str(value))

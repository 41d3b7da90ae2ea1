"""Secrets, masked wherever text leaves the bot: observations, errors, cards, prompts, logs.

First those that this process holds (`held_secrets`), exactly as they are; then those that betray themselves by their shape: about a dozen
anchored patterns, each with a part that ordinary prose and code do not have. Entropy is not measured, because it fires on plain text.
A mask is `⟦secret 3f2a⟧`: the four digits come from the secret, so that people can tell two apart and see one come again. Text that was
masked once stays as it is when masked again.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import Any

from bot.tools.held_secrets import Held

_MASKED = ("secret", "quoted", "single")
MASK = re.compile(r"⟦[a-z][\w-]{0,30} [0-9a-f]{4}⟧")  # of secrets, and of personal data: ⟦email 3f2a⟧
_REFERENCES = re.compile(r"(?:\{\{\s*secret:[^{}]*\}\})+")

# Words without which a pattern cannot match (in small letters), and the pattern; looking for the words first makes plain text cheap.
# The group `secret` (or `quoted`, `single`) is what is masked; what stands around it stays readable. A look-behind keeps words whole.
_PATTERNS = (
    # Slack tokens, app tokens, incoming webhooks
    (("xox", "xapp-"), r"(?<![A-Za-z0-9])(?P<secret>x(?:ox[a-z]|app)-(?:\d+-)?[A-Za-z0-9-]{10,})"),
    (("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,})"),
    # Anthropic and OpenAI
    (("sk-",), r"(?<![A-Za-z0-9])(?P<secret>sk-(?:(?:ant|proj|svcacct|admin)-[A-Za-z0-9_-]{16,}|[A-Za-z0-9]{40,}))"),
    # GitHub and GitLab
    (("gh", "github_pat_"), r"(?<![A-Za-z0-9])(?P<secret>gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
    (("gl",), r"(?<![A-Za-z0-9])(?P<secret>gl(?:pat|ptt|dt|rt|cbt|soat|agent|oas)-[A-Za-z0-9_-]{16,})"),
    # Amazon: the key's id by itself, the secret by its name
    (("akia", "asia"), r"(?<![A-Za-z0-9])(?P<secret>(?:AKIA|ASIA)[A-Z2-7]{16})(?![A-Za-z0-9])"),
    (("aws",), r"(?i:aws_?secret_?(?:access_?)?key)[\"']?\s*[:=]\s*[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"),
    # Google
    (("aiza",), r"(?<![A-Za-z0-9])(?P<secret>AIza[A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])"),
    (("ya29.",), r"(?<![A-Za-z0-9])(?P<secret>ya29\.[A-Za-z0-9_-]{20,})"),
    # Stripe, npm, PyPI
    (("_live_",), r"(?<![A-Za-z0-9])(?P<secret>(?:sk|rk)_live_[A-Za-z0-9]{16,})"),
    (("npm_", "pypi-"), r"(?<![A-Za-z0-9])(?P<secret>npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,})"),
    # JSON web tokens
    (("eyj",), r"(?<![A-Za-z0-9_-])(?P<secret>eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})"),
    # Authorization headers
    (("bearer",), r"(?i:\bbearer)\s+(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)"),
    (("authorization",), r"(?i:\bauthorization)[\"']?\s*[:=]\s*[\"']?(?i:basic|token)\s+(?P<secret>[A-Za-z0-9._~+/-]{8,}=*)"),
    # postgres://user:password@host
    (("://",), r"://[^\s/:@\"'<>]{0,100}:(?P<secret>[^\s/@\"'<>]{1,200})@(?=[A-Za-z0-9\[])"),
    # password = "…", api_key: …, DB_PASSWORD=…; not `password: str`, `password = get()` or `password=$VAR`
    (
        ("passw", "passphrase", "pwd", "key", "secret", "token"),
        r"(?i:passwo?r?d|passphrase|pwd|api[_-]?key|(?:secret|private)[_-]?key|client[_-]?secret|(?:access|auth|refresh)[_-]?token)"
        r"[\"']?\s*[=:]\s*(?:\"(?P<quoted>[^\"\n\\$<{]{4,200})\"|'(?P<single>[^'\n\\$<{]{4,200})'"
        r"|(?P<secret>(?=[^\s\"']{0,200}[0-9!#%^&*+])[^\s\"'$<{}()\[\],;&⟦]{6,200}))",
    ),
)
_PEM = re.compile(
    r"(?P<head>-----BEGIN (?P<kind>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----)(?P<secret>.*?)(?P<tail>-----END (?P=kind)-----|\Z)",
    re.DOTALL,
)
_NAMES = re.compile(
    r"(?i)^.{0,40}(?:password|passwd|passphrase|api[_-]?key|secret[_-]?key|private[_-]?key|client[_-]?secret|access[_-]?token|auth[_-]?token"
    r"|refresh[_-]?token|bot[_-]?token|authorization|cookie)$|^(?:secret|token|pwd)$"
)
_EACH = tuple((words, re.compile(pattern)) for words, pattern in _PATTERNS)


def redact(text: str) -> str:
    """The text with every secret that is held, and every one of a known shape, replaced by its mask. Safe to call twice."""
    return by_shape(_HELD.covered(text), mask)


def by_shape(text: str, cover: Callable[[str], str]) -> str:
    """The text with every secret of a known shape replaced by `cover(secret)`; references to secrets, and masks, stay."""

    def covered(found: re.Match[str]) -> str:
        return _covered(found, cover)

    if "PRIVATE KEY" in text:
        text = _PEM.sub(covered, text)
    small = text.lower()
    for words, pattern in _EACH:
        if any(word in small for word in words):
            text = pattern.sub(covered, text)
    return text


def hold(values: Iterable[str]) -> None:
    """Mask these values, exactly, in everything that this process says from now on; also written as base64, in addresses and in JSON.

    Those shorter than `held_secrets.SHORTEST` are left out: they would mask ordinary words.
    """
    for value in values:
        _HELD.add(value, mask(value))


def release(values: Iterable[str]) -> None:
    """The process holds them no more (as often as they were held)."""
    for value in values:
        _HELD.drop(value)


def redacted(value: Any) -> Any:
    """A JSON value with its secrets masked: in its texts by shape, and whole where the field's name says that it is one (`password`)."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redacted(item) for item in value]
    if isinstance(value, dict):
        return {_HELD.covered(key): mask(item) if is_named_secret(key, item) else redacted(item) for key, item in value.items()}
    return value


def mask(secret: str) -> str:
    """What stands in for a secret: four digits of its fingerprint, equal for equal secrets, too few to guess it from."""
    return f"⟦secret {mark(secret)}⟧"


def mark(value: str, digits: int = 4) -> str:
    """The first digits of a value's fingerprint."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def is_named_secret(key: str, item: Any) -> bool:
    """Does the field's name say that its whole text is a secret? `{{secret:NAME}}` and other references are names, not secrets."""
    if not isinstance(item, str) or not item or "{{" in item or MASK.search(item) or not _NAMES.search(key):
        return False
    return redact(item) == item  # what shows its shape is masked in part, and stays readable around it


def _covered(found: re.Match[str], cover: Callable[[str], str]) -> str:
    group, secret = next((name, held) for name, held in found.groupdict().items() if held is not None and name in _MASKED)
    if MASK.fullmatch(secret.strip()) or _REFERENCES.fullmatch(secret.strip()):
        return found[0]
    start = found.start()
    return found[0][: found.start(group) - start] + cover(secret) + found[0][found.end(group) - start :]


_HELD = Held()

"""Secrets that betray themselves by their shape, masked wherever text leaves the bot: observations, errors, cards, logs.

About a dozen anchored patterns, each with a part that ordinary prose and code do not have; entropy is not measured, because it fires on
plain text. A mask is `⟦secret 3f2a⟧`: the four digits come from the secret, so that people can tell two apart and see one come again.
Text that was masked once stays as it is when masked again.
"""

import hashlib
import re
from typing import Any

_MASKED = ("secret", "quoted", "single")
MASK = re.compile(r"⟦secret [0-9a-f]{4}⟧")

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
    """The text with every secret of a known shape replaced by its mask. Safe to call twice."""
    if "PRIVATE KEY" in text:
        text = _PEM.sub(_masked, text)
    small = text.lower()
    for words, pattern in _EACH:
        if any(word in small for word in words):
            text = pattern.sub(_masked, text)
    return text


def redacted(value: Any) -> Any:
    """A JSON value with its secrets masked: in its texts by shape, and whole where the field's name says that it is one (`password`)."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redacted(item) for item in value]
    if isinstance(value, dict):
        return {key: _by_name(key, item) for key, item in value.items()}
    return value


def mask(secret: str) -> str:
    """What stands in for a secret: four digits of its fingerprint, equal for equal secrets, too few to guess it from."""
    return f"⟦secret {hashlib.sha256(secret.encode('utf-8', 'surrogatepass')).hexdigest()[:4]}⟧"


def _by_name(key: str, item: Any) -> Any:
    """`{{secret:NAME}}` and other references are names, not secrets."""
    plain = redacted(item)
    if not isinstance(item, str) or not item or plain != item or MASK.search(item) or "{{" in item or not _NAMES.search(key):
        return plain
    return mask(item)


def _masked(found: re.Match[str]) -> str:
    group, secret = next((name, held) for name, held in found.groupdict().items() if held is not None and name in _MASKED)
    if MASK.fullmatch(secret.strip()):
        return found[0]
    start = found.start()
    return found[0][: found.start(group) - start] + mask(secret) + found[0][found.end(group) - start :]

"""Secrets are masked by their shape wherever text goes out; what only looks a little like one stays. C059, C060."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tools.masks import MASK, mask, redact, redacted

# Written in halves, so that no scanner takes this file for a leak.
PLANTED = {
    "slack bot": "xoxb" + "-123456789012-123456789012-AbCdEfGhIjKlMnOpQrStUvWx",
    "slack app": "xapp" + "-1-A012ABCDEFG-123456789012-0123456789abcdef0123456789abcdef",
    "slack user": "xoxp" + "-123456789012-123456789012-AbCdEfGhIjKl",
    "anthropic": "sk-ant" + "-api03-abcdefghijklmnopqrstuvwxyz0123456789",
    "openai": "sk-" + "a1B2c3D4e5" * 5,
    "github": "ghp" + "_0123456789abcdefghijklmnopqrstuvwxyz",
    "github fine": "github_pat" + "_11ABCDEFG0123456789_abcdefghijklmnopqrstuvwxyz",
    "gitlab": "glpat" + "-abcdefghij0123456789",
    "amazon id": "AKIA" + "IOSFODNN7EXAMPLE",
    "google": "AIza" + "SyA-1234567890abcdefghijklmnopqrstu",
    "stripe": "sk_live" + "_0123456789abcdefghijklmn",
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
}

# Around the secret, what must be left as it was.
FRAMED = [
    ("Authorization: Bearer ", "abcdefghijklmnop1234", ""),
    ("authorization: Basic ", "dXNlcjpwYXNzd29yZA==", ""),
    ("postgres://u:", "p-w", "@h/db"),
    ("https://user:", "hunter22", "@example.com/x?y=1"),
    ("redis://:", "topsecret", "@cache:6379"),
    ('password = "', "correct horse", '"'),
    ("DB_PASSWORD=", "s3cr3t-value!", ""),
    ("api_key: '", "abcdef123456", "'"),
    ('{"client_secret": "', "0a1b2c3d4e5f", '"}'),
    ("aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""),
    ("see https://hooks.slack.com/services/", "T000/B000/abcdefghijklmnop", ""),
]

CLEAN = [
    "The password policy says: at least twelve characters.",
    "def login(user: str, password: str) -> Token: ...",
    'password = os.environ["DB_PASSWORD"]',
    "export DB_PASSWORD=$VAULT_DB_PASSWORD",
    "token = {{secret:DEPLOY}}",
    "the bearer of this letter, a glass of asia and some basket-work",
    "https://example.com:8080/path@2?x=1",
    "git@github.com:owner/name.git and mailto:someone@example.com",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8, sha256 " + "0a" * 32,
    "a task-force, a disk-utility, gh_something and skill-set",
    "11e7a3f2-4a64-4c9a-9f6e-2f1b7c1d2e3f 2026-03-02T12:00:00Z",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "Password: ask an admin",
]


@pytest.mark.parametrize("name", PLANTED)
def test_tokens_of_a_known_shape_are_masked(name: str) -> None:
    secret = PLANTED[name]

    for text in (
        secret,
        f"before {secret} after",
        json.dumps({"k": secret}),
        f"({secret})",
        f"key={secret}\n",
        f"https://x.example/?t={secret}",
    ):
        assert secret not in redact(text)
        assert MASK.search(redact(text))


@pytest.mark.parametrize(("before", "secret", "after"), FRAMED)
def test_what_stands_around_a_secret_stays_readable(before: str, secret: str, after: str) -> None:
    assert redact(before + secret + after) == before + mask(secret) + after


@pytest.mark.parametrize("text", CLEAN)
def test_plain_text_and_code_stay_as_they_are(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("kind", ["", "RSA ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize("end", ["\n", "\\n", "\r\n"])
def test_private_keys_over_several_lines_are_masked(kind: str, end: str) -> None:
    body = end.join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + str(row) for row in range(20))
    key = f"-----BEGIN {kind}PRIVATE KEY-----{end}{body}{end}-----END {kind}PRIVATE KEY-----"

    shown = redact(f"a {key} b")

    assert "MIIE" not in shown
    assert shown.startswith(f"a -----BEGIN {kind}PRIVATE KEY-----⟦secret ")
    assert shown.endswith("PRIVATE KEY----- b")
    assert "MIIE" not in redact(key[:300])


def test_equal_secrets_have_equal_masks_and_others_do_not() -> None:
    first, second = PLANTED["slack bot"], PLANTED["slack app"]

    assert redact(f"{first} {first} {second}") == f"{mask(first)} {mask(first)} {mask(second)}"
    assert mask(first) != mask(second)


@pytest.mark.parametrize("text", [*PLANTED.values(), *("".join(parts) for parts in FRAMED)])
def test_masking_twice_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(st.text(max_size=200))
def test_any_text_can_be_masked_twice(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_values_are_masked_by_the_names_of_their_fields_too() -> None:
    """C059"""
    args = {
        "headers": {"Authorization": "Bearer abcdefghijklmnop", "Accept": "text/plain"},
        "dsn": "postgres://u:pw@h/db",
        "password": "hunter",
        "items": [{"api_key": "k"}, PLANTED["github"]],
        "secret": "{{secret:DEPLOY}}",
        "page_token": "abc",
        "note": "ok",
    }

    shown = redacted(args)

    assert shown["headers"]["Accept"] == "text/plain"
    assert shown["headers"]["Authorization"].startswith("Bearer ⟦secret ")
    assert shown["dsn"] == f"postgres://u:{mask('pw')}@h/db"
    assert shown["password"] == mask("hunter")
    assert shown["items"][0]["api_key"] == mask("k")
    assert (shown["secret"], shown["page_token"], shown["note"]) == ("{{secret:DEPLOY}}", "abc", "ok")
    assert redacted(shown) == shown


@pytest.mark.parametrize("part", ["a:", "://", "password=", "password = '", "eyJ", "sk-", "bearer ", "-----BEGIN PRIVATE KEY-----"])
def test_no_text_makes_masking_slow(part: str) -> None:
    start = time.monotonic()

    redact(part * (120_000 // len(part)))

    assert time.monotonic() - start < 30

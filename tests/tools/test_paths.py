"""Which paths are let in, decided on their words. C062"""

import pytest

from bot.tools.paths import PathRefused, is_credential, joined, matches, parts

HOSTILE = {
    "../../etc/passwd": "goes up with '..'",
    "notes/../../x": "goes up with '..'",
    "notes/../today.md": "goes up with '..'",
    "a/../.git/config": "goes up with '..'",
    "..": "goes up with '..'",
    "/etc/passwd": "is an absolute path",
    "/srv/ws-evil/a": "is an absolute path",
    "//server/share": "is an absolute path",
    "C:/Windows/x": "is an absolute path",
    "c:x": "is an absolute path",
    "~/.ssh/id_rsa": "names a home folder",
    "~root/x": "names a home folder",
    "notes\\today.md": "contains a backslash",
    "..\\..\\x": "contains a backslash",
    "notes/a\0.md": "contains a NUL",
    "notes/a\n.md": "cannot be seen",
    "notes/a\u202egnp.md": "cannot be seen",
    "notes/.e\u200bnv": "cannot be seen",
    "notes/\ud800": "cannot be seen",
    "%2e%2e%2f.env": "credentials",
    ".env": "credentials",
    ".ENV": "credentials",
    "a/.env.local": "credentials",
    "a/prod.env": "credentials",
    ".env.": "credentials",
    ".env ": "credentials",
    ".env::$DATA": "credentials",
    "．env": "credentials",
    ".git/config": "credentials",
    "sub/.GIT/HEAD": "credentials",
    ".ssh/config": "credentials",
    "keys/id_rsa": "credentials",
    "keys/Id_Ed25519": "credentials",
    "tls/server.pem": "credentials",
    "tls/server.key": "credentials",
    ".netrc": "credentials",
    ".aws/credentials": "credentials",
    "credentials.json": "credentials",
    "config/secrets.yml": "credentials",
    "x" * 256: "more than 255 bytes",
    "é" * 128: "more than 255 bytes",
    "a/" * 33 + "b": "too long",
    ("é" * 100 + "/") * 20 + "a": "too long",
}


@pytest.mark.parametrize("path", HOSTILE)
def test_hostile_names_are_refused_with_a_reason(path: str) -> None:
    with pytest.raises(PathRefused) as refused:
        parts(path)

    assert HOSTILE[path] in str(refused.value)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("notes/today.md", ("notes", "today.md")),
        ("./notes//today.md", ("notes", "today.md")),
        ("notes/", ("notes",)),
        (".", ()),
        ("", ()),
        ("%2e%2e/x", ("%2e%2e", "x")),
        ("...", ("...",)),
        ("a..b", ("a..b",)),
        ("environment/.gitignore", ("environment", ".gitignore")),
        (".env.example", (".env.example",)),
        ("keys.md", ("keys.md",)),
        ("Bericht – été 日本.md", ("Bericht – été 日本.md",)),
        ("e\u0301.md", ("e\u0301.md",)),
    ],
)
def test_ordinary_names_are_taken_as_they_are_written(path: str, names: tuple[str, ...]) -> None:
    assert parts(path) == names


def test_composed_and_decomposed_letters_are_two_names() -> None:
    """C035: the stated rule is that a name is the file of exactly those characters."""
    assert parts("\u00e9.md") != parts("e\u0301.md")


def test_credentials_are_known_by_their_usual_names_only() -> None:
    assert is_credential("id_rsa")
    assert not is_credential("id_rsa.pub")
    assert not is_credential("environment.md")


def test_the_folder_itself_is_shown_as_a_dot() -> None:
    assert (joined(()), joined(("a", "b"))) == (".", "a/b")


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("**/*.md", "a/b/c.md", True),
        ("**/*.md", "c.md", True),
        ("*.md", "a/c.md", False),
        ("a/*.md", "a/c.md", True),
        ("a/*.md", "a/b/c.md", False),
        ("a/**/c.md", "a/c.md", True),
        ("a/**", "a/b/c", True),
        ("a/?.md", "a/c.md", True),
        ("[!a]*", "a.md", False),
    ],
)
def test_patterns_stay_within_a_name_but_for_two_stars(pattern: str, path: str, fits: bool) -> None:
    assert matches(tuple(path.split("/")), tuple(pattern.split("/"))) == fits

"""Hosts, paths and channels, by every trick of writing them: rules and scopes judge the place that is really reached."""

import pytest

from bot.core.facts import NOTHING
from bot.core.places import Kind, places
from tests.core.grading_cases import WORLD, Row, holds

HOST_RULE = "rules: [{when: {host: [evil.example, '*.evil.example']}, risk: high, mode: deny, name: no evil}]"
HOSTS = "scopes: {hosts: [good.example, '*.good.example', 'inside.example:8443', 192.0.2.7, '2001:db8::7']}"
PATHS = "scopes: {paths: ['reports/*', notes.md]}"
ROOTED = "scopes: {paths: ['/srv/ws/*']}"
CHANNELS = "scopes: {channels: ['#ops', '#team-*', C0LISTED99]}"


def fetch(url: str) -> str:
    return f"it: web.fetch url={url!r}" if "'" not in url else f'it: web.fetch url="{url}"'


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/x",
        "https://EVIL.Example/x",
        "https://evil.example./x",
        "https://evil.example:8443/x",
        "https://evil.example:443/",
        "http://evil.example",
        "https://good.example@evil.example/",
        "https://good.example:pw@evil.example/",
        "https://good.example%2f@evil.example/",
        "https://a.b.evil.example/?u=https://good.example",
        "https://ｅvil.example/",
        "https://evil。example/",
        "//evil.example/x",
        " https://evil.example/ ",
        "wss://evil.example/socket",
        "https://evil.example#@good.example/",
        "https://evil.example?@good.example/",
        "https://evil.example/{{a.b}}",
    ],
)
def test_c063_a_rule_on_a_host_is_not_dodged_by_spelling_it_differently(url: str) -> None:
    holds(Row(f"a: time.now; {fetch(url)}", "high deny", "no evil", "no evil", HOST_RULE))


@pytest.mark.parametrize(
    "url",
    [
        "https://good.example/?next=https://evil.example",
        "https://good.example/evil.example",
        "https://evil.example.good.example/",
        "https://notevil.example/",
        "https://evil.example@good.example/",
        "https://evil.example.com/",
        "https://good.example#evil.example",
    ],
)
def test_what_only_names_a_host_beside_the_address_is_not_that_host(url: str) -> None:
    holds(Row(fetch(url), "low auto", rules=HOST_RULE))


@pytest.mark.parametrize(
    "url",
    [
        "https://good.example/x",
        "https://GOOD.example./x",
        "https://docs.good.example/a/b?c=d#e",
        "https://good.example:443/",
        "http://good.example:80/",
        "https://inside.example:8443/x",
        "http://192.0.2.7/",
        "http://3221225991/",  # 192.0.2.7
        "http://0xc0.0.2.7/",
        "http://0300.0.2.07/",
        "http://192.0.519/",
        "http://[2001:db8::7]/",
        "http://[2001:0DB8:0:0:0:0:0:7]/",
        "http://[::ffff:192.0.2.7]/",
        "https://ｇood.example/",
    ],
)
def test_what_the_scope_allows_stays_as_it_was(url: str) -> None:
    holds(Row(fetch(url), "low auto", rules=HOSTS))


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/",
        "https://good.example@evil.example/",
        "https://good.example.evil.example/",
        "https://notgood.example/",
        "https://good.example:8443/",  # a list without a port means the usual one
        "https://inside.example/",
        "https://inside.example:8444/",
        "http://good.example:443/",
        "http://192.0.2.8/",
        "http://3221225992/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://127.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[fe80::1%25eth0]/",
        "http://169.254.169.254/latest",
        "http://metadata.google.internal/",
        "https://gооd.example/",  # two letters of another script
        "https://xn--gd-fmca.example/",
        "https://good.example%2eevil.example/",
        "https://good.example%00.evil.example/",
        "https://evil.example\\\\@good.example/",
        "https://good.example\\\\.evil.example/",
        "https://exa\u00admple.example/",
        "https://good.example\u200b/",
        "https://good .example/",
        "https://good.example:99999/",
        "file:///etc/passwd",
        "gopher://x/",
        "javascript:alert(1)",
        "https:good.example",
        "https:///good.example",
        "good",
        "nonsense",
        "{{a.b}}.good.example/",
        "https://{{a.b}}/",
    ],
)
def test_c063_every_other_address_is_outside_of_the_scope(url: str) -> None:
    """What is filled in later is outside too once it is filled in with itself: braces in data are letters."""
    row = Row("it: web.fetch url=x", "high deny", "is not among the hosts that the policy allows", "scopes.hosts", HOSTS)
    holds(row._replace(filled={"url": url}))


@pytest.mark.parametrize(
    ("plan", "comes_to"),
    [
        ("it: git.clone repoUrl=https://evil.example/r", "high deny"),
        ("it: git.clone repoUrl=https://good.example/r", "medium ask"),
        ("it: git.clone repoUrl=ssh://git@good.example/r", "medium ask"),
        ("it: git.clone repoUrl=ssh://good.example@evil.example/r", "high deny"),
        ("it: http.request url=https://evil.example method=POST", "high deny"),
        ('it: mail.send to=["https://evil.example"]', "medium confirm"),
        ("it: slack.post_message channel=#ops text=https://evil.example", "medium ask"),
        ("it: time.now", "low auto"),
    ],
)
def test_an_argument_is_an_address_by_its_name(plan: str, comes_to: str) -> None:
    holds(Row(plan, comes_to, rules=HOSTS))


def test_an_address_deep_inside_an_argument_is_one_too() -> None:
    holds(Row("it: http.request url=https://good.example", "high deny", rules=HOSTS, filled={"json": {"url": "https://evil.example"}}))


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("reports/a.md", True),
        ("reports/2026/a.md", True),
        ("./reports//a.md", True),
        ("reports/x/../a.md", True),
        ("notes.md", True),
        ("reports/ü.md", True),
        ("reports", False),
        ("reports/", False),
        ("reports/..", False),
        ("reports/../etc/passwd", False),
        ("reports/../../etc/passwd", False),
        ("reports/%2e%2e/secret", False),
        ("reports/%2E%2E%2Fsecret", False),
        ("reports%2f..%2f..%2fx", False),
        ("..%2freports/a.md", False),
        ("../../etc/passwd", False),
        ("..", False),
        ("/etc/passwd", False),
        ("/reports/a.md", False),
        ("//reports/a.md", False),
        ("~/reports/a.md", False),
        ("~root/.ssh/id_rsa", False),
        ("reports-evil/a.md", False),
        ("Reports/a.md", False),
        ("reports\\a.md", False),
        ("reports\\..\\..\\x", False),
        ("C:\\reports\\a.md", False),
        ("C:reports/a.md", False),
        ("reports/a\0.md", False),
        ("", False),
        (" ", False),
        ("ｒeports/a.md", False),
        ("{{a.text}}", False),
        ("reports/{{a.text}}", True),  # a file of that name
        (".env", False),
    ],
)
@pytest.mark.parametrize("tool", ["files.read", "files.write"])
def test_c062_a_path_is_in_scope_by_its_parts_in_every_reading(tool: str, path: str, inside: bool) -> None:  # noqa: FBT001
    usual = "low auto" if tool == "files.read" else "medium ask"
    says = "" if inside else "is not among the paths that the policy allows"
    rule = "" if inside else "scopes.paths"
    holds(Row(f"it: {tool} path=x", usual if inside else "high deny", says, rule, PATHS, filled={"path": path}))


@pytest.mark.parametrize(
    ("path", "inside"), [("/srv/ws/a", True), ("/srv/ws/../x", False), ("/srv/ws-evil/a", False), ("srv/ws/a", False), ("/etc/x", False)]
)
def test_c062_a_list_of_absolute_paths_means_those(path: str, inside: bool) -> None:  # noqa: FBT001
    holds(Row("it: files.read path=x", "low auto" if inside else "high deny", rules=ROOTED, filled={"path": path}))


@pytest.mark.parametrize("path", ["/etc/x", "../x", "~/x", "a/../../x", "%2e%2e/x"])
def test_c062_a_star_alone_stays_below_the_root(path: str) -> None:
    holds(Row("it: files.read path=x", "high deny", rules="scopes: {paths: ['*']}", filled={"path": path}))


@pytest.mark.parametrize(
    "path",
    ["secrets/key", "./secrets/key", "secrets//key", "a/../secrets/key", "Secrets/KEY", "ｓecrets/key", "%73ecrets/key", "secrets%2Fkey"],
)
@pytest.mark.parametrize("tool", ["files.read", "files.delete", "git.clone"])
def test_a_rule_on_a_path_finds_it_in_any_tool_and_spelling(tool: str, path: str) -> None:
    named, level = {"files.read": ("path", "low"), "files.delete": ("path", "high"), "git.clone": ("targetPath", "medium")}[tool]
    more = " repoUrl=https://a.example" if tool == "git.clone" else ""
    rules = "rules: [{when: {path: 'secrets/*'}, mode: deny, name: vault, why: keys lie there}]"
    holds(Row(f"it: {tool}{more} {named}=x", f"{level} deny", "keys lie there", "vault", rules, filled={named: path}))


@pytest.mark.parametrize(
    ("channel", "comes_to"),
    [
        ("#ops", "medium ask"),
        ("#team-a", "medium ask"),
        ("ops", "medium ask"),
        ("C0LISTED99", "medium ask"),
        ("#0ps", "high deny"),
        ("#ops2", "high deny"),
        ("#Ops", "high deny"),
        ("#оps", "high deny"),
        ("#ｏps", "high deny"),
        ("# ops", "high deny"),
        ("#op\u200bs", "high deny"),
        ("#ops,#general", "high deny"),
        ("##ops", "high deny"),
        ("@ops", "high deny"),
        ("U0SOMEBODY", "high deny"),
        ("D0SOMEBODY", "high deny"),
        ("C0UNKNOWN1", "high deny"),
        ("", "high deny"),
    ],
)
def test_a_channel_is_in_scope_by_the_very_name_that_is_listed(channel: str, comes_to: str) -> None:
    row = Row("it: slack.post_message channel=x text=hi", comes_to, rules=CHANNELS, filled={"channel": channel})
    if "\u200b" in channel:
        row = row._replace(why="⟦U+200B⟧")
    holds(row)


@pytest.mark.parametrize(
    ("channel", "comes_to", "facts"),
    [
        ("#general", "high deny", NOTHING),
        ("general", "high deny", NOTHING),
        ("#General", "high deny", NOTHING),
        (" #general ", "high deny", NOTHING),
        ("#ｇeneral", "high deny", NOTHING),
        ("C0GENERAL1", "high deny", WORLD),
        ("C0PARTNER1", "high ask", WORLD),  # known by its name, and read by people from outside
        ("C0UNKNOWN1", "high confirm", WORLD),  # nobody knows which channel that is
        ("#genera1", "medium ask", WORLD),
        ("#general2", "medium ask", WORLD),
    ],
)
def test_a_rule_on_a_channel_finds_it_by_name_look_alike_and_id(channel: str, comes_to: str, facts: object) -> None:
    rules = "rules: [{when: {channel: '#general'}, risk: high, mode: deny, name: loud}]"
    holds(Row("it: chat.tell channelId=x text=hi", comes_to, rules=rules, facts=facts, filled={"channelId": channel}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("args", "kinds"),
    [
        ({"url": "https://a.example"}, [Kind.HOST]),
        ({"base_url": "https://a.example", "path": "x"}, [Kind.HOST, Kind.PATH]),
        ({"webhook": "https://a.example"}, [Kind.HOST]),
        ({"filePath": "a", "file-path": "b", "paths": ["c", "d"]}, [Kind.PATH] * 4),
        ({"channel": "#a", "channels": ["#b"], "channel_id": "C0AAAAAA"}, [Kind.CHANNEL] * 3),
        ({"host": "a.example"}, [Kind.HOST]),
        ({"inner": {"deep": [{"url": "x"}]}}, [Kind.HOST]),
        ({"text": "https://a.example", "purl": "x", "pathology": "x", "path": None}, []),
    ],
)
def test_what_an_argument_names_is_told_by_its_name(args: dict[str, object], kinds: list[Kind]) -> None:
    assert [place.kind for place in places(args, NOTHING)] == kinds

"""What a policy makes of single tools and of plans, as tables: profile by effect, and which line counts before which."""

import pytest

from bot.core import policy
from bot.core.catalogue import Effect
from bot.core.plan import Plan
from bot.core.policy import evaluate
from bot.core.risk import Level, Mode
from bot.core.tool_rules import mode_of, mode_source
from tests.core.samples import CATALOGUE, plan, read, spec

STEPS = {
    "read": read("it"),
    "write": {"id": "it", "tool": "files.write", "args": {"path": "a.md", "text": "x"}},
    "send": {"id": "it", "tool": "slack.post_message", "args": {"channel": "#ops", "text": "x"}},
    "mail": {"id": "it", "tool": "mail.send", "args": {"to": ["a@b.example"]}},
    "delete": {"id": "it", "tool": "files.delete", "args": {"path": "a.md"}},
    "execute": {"id": "it", "tool": "shell.run", "args": {"argv": ["ls"]}},
}

# profile | step | mode | level | what happens
PROFILES = """
personal | read    | auto    | low    | runs
personal | write   | ask     | medium | waits
personal | send    | ask     | medium | waits
personal | mail    | ask     | medium | waits
personal | delete  | confirm | high   | waits
personal | execute | confirm | high   | waits
team     | read    | auto    | low    | runs
team     | write   | ask     | medium | waits
team     | send    | ask     | medium | waits
team     | mail    | confirm | medium | waits
team     | delete  | confirm | high   | waits
team     | execute | confirm | high   | waits
external | read    | confirm | low    | waits
external | write   | confirm | medium | waits
external | send    | confirm | medium | waits
external | mail    | confirm | medium | waits
external | delete  | confirm | high   | waits
external | execute | confirm | high   | waits
"""

# what the file says | step | mode | level | what happens
FILES = """
effects: {read: {mode: ask}}                                                | read    | ask     | low    | waits
effects: {read: {mode: deny}}                                               | read    | deny    | low    | denied
effects: {read: {mode: auto}}                                               | write   | ask     | medium | waits
effects: {write: {mode: auto}}                                              | write   | ask     | medium | waits
effects: {send: {mode: confirm}}                                            | send    | confirm | medium | waits
effects: {send: {mode: ask}}                                                | mail    | ask     | medium | waits
effects: {delete: {mode: deny}}                                             | delete  | deny    | high   | denied
effects: {execute: {mode: ask}}                                             | execute | ask     | high   | waits
effects: {send: {mode: deny}}, tools: {"slack.*": {mode: ask}}              | send    | ask     | medium | waits
effects: {send: {mode: deny}}, tools: {"mail.*": {mode: ask}}               | send    | deny    | medium | denied
effects: {send: {mode: ask}}, tools: {"*": {mode: deny}}                    | send    | deny    | medium | denied
effects: {read: {mode: auto}}, tools: {"*": {mode: confirm}}                | read    | confirm | low    | waits
tools: {"*": {mode: deny}, "files.*": {mode: ask}}                          | read    | ask     | low    | waits
tools: {"files.*": {mode: deny}, files.read: {mode: auto}}                  | read    | auto    | low    | runs
tools: {"files.*": {mode: deny}, files.read: {untrusted: true}}             | read    | deny    | low    | denied
tools: {"*": {mode: auto}}                                                  | delete  | ask     | high   | waits
tools: {"*": {mode: auto}}                                                  | execute | ask     | high   | waits
tools: {"files.*": {effect: execute}}                                       | read    | confirm | high   | waits
tools: {files.delete: {effect: read, mode: auto}}                           | delete  | ask     | high   | waits
tools: {shell.run: {effect: read}}                                          | execute | auto    | low    | runs
tools: {shell.run: {effect: write}}                                         | execute | ask     | medium | waits
tools: {shell.run: {effect: send}}, effects: {send: {mode: confirm}}        | execute | confirm | medium | waits
rules: [{when: {tool: "*"}, mode: confirm}]                                 | read    | confirm | low    | waits
rules: [{when: {tool: "*"}, risk: high}]                                    | read    | ask     | high   | waits
rules: [{when: {tool: "*"}, risk: low, mode: auto}]                         | write   | ask     | low    | waits
rules: [{when: {tool: "*"}, risk: low, mode: auto}]                         | delete  | ask     | low    | waits
rules: [{when: {effect: delete}, mode: deny}]                               | delete  | deny    | high   | denied
rules: [{when: {effect: [send, write]}, risk: high}]                        | send    | ask     | high   | waits
rules: [{when: {effect: [send, write]}, risk: high}]                        | read    | auto    | low    | runs
rules: [{when: {tool: [x, "files.*"]}, mode: ask}]                          | read    | ask     | low    | waits
rules: [{when: {tool: "*"}, mode: deny, shadow: true}]                      | send    | ask     | medium | waits
tools: {"slack.*": {mode: deny}}, rules: [{when: {tool: "*"}, mode: ask}]   | send    | deny    | medium | denied
tools: {"slack.*": {mode: deny}}, rules: [{when: {tool: "*"}, mode: auto, risk: low}] | send | deny | low | denied
profile: external, tools: {"files.*": {untrusted: false}}                   | read    | auto    | low    | runs
profile: external, effects: {read: {mode: auto}}                            | read    | auto    | low    | runs
profile: personal, effects: {delete: {mode: ask}}                           | delete  | ask     | high   | waits
scopes: {channels: ["#dev"]}                                                | send    | deny    | high   | denied
scopes: {channels: ["#ops"]}                                                | send    | ask     | medium | waits
scopes: {paths: []}                                                         | read    | deny    | high   | denied
windows: [{most: 0, within: 1d}]                                            | send    | ask     | high   | waits
windows: [{most: 0, within: 1d, then: deny}]                                | send    | deny    | high   | denied
windows: [{most: 1, within: 1d, then: deny}]                                | send    | ask     | medium | waits
"""

Row = tuple[str, str, Mode, Level, str]


def rows(table: str) -> list[Row]:
    cut = [[cell.strip() for cell in line.rsplit("|", 4)] for line in table.strip().splitlines()]
    return [(said, step, Mode(mode), Level(level), happens) for said, step, mode, level, happens in cut]


def check(rules: policy.Policy, drawn: Plan, mode: Mode, level: Level, happens: str) -> None:
    verdict = evaluate(drawn, CATALOGUE, rules)
    went = "denied" if verdict.denied else "runs" if verdict.releases else "waits"
    assert (verdict.grades[0].mode, verdict.level, went) == (mode, level, happens)


@pytest.mark.parametrize(("profile", "step", "mode", "level", "happens"), rows(PROFILES))
def test_what_each_profile_makes_of_each_effect(profile: str, step: str, mode: Mode, level: Level, happens: str) -> None:
    check(policy.default(profile), plan(STEPS[step]), mode, level, happens)


@pytest.mark.parametrize(("said", "step", "mode", "level", "happens"), rows(FILES))
def test_what_a_line_of_the_file_makes_of_a_step(said: str, step: str, mode: Mode, level: Level, happens: str) -> None:
    check(policy.parse(f"{{{said}}}", source="p"), plan(STEPS[step]), mode, level, happens)


@pytest.mark.parametrize(
    ("said", "tool", "mode", "source"),
    [
        ("{}", "files.read", Mode.AUTO, "profile team"),
        ("effects: {read: {mode: ask}}", "files.read", Mode.ASK, "effects.read"),
        ("effects: {read: {mode: ask}}", "files.write", Mode.ASK, "profile team"),
        ("effects: {read: {mode: ask}}\ntools: {'*': {mode: confirm}}", "files.read", Mode.CONFIRM, "tools.*"),
        ("tools: {'*': {mode: confirm}, 'files.*': {mode: ask}}", "files.read", Mode.ASK, "tools.files.*"),
        ("tools: {files.read: {mode: deny}, 'files.*': {mode: ask}}", "files.read", Mode.DENY, "tools.files.read"),
        ("tools: {files.read: {untrusted: true}, 'files.*': {mode: ask}}", "files.read", Mode.ASK, "tools.files.*"),
        ("tools: {shell.run: {effect: read}}\neffects: {read: {mode: confirm}}", "shell.run", Mode.CONFIRM, "effects.read"),
    ],
)
def test_a_name_counts_before_a_pattern_a_pattern_before_an_effect_an_effect_before_the_profile(
    said: str, tool: str, mode: Mode, source: str
) -> None:
    rules = policy.parse(said, source="p")
    assert (mode_of(CATALOGUE[tool], rules), mode_source(CATALOGUE[tool], rules)) == (mode, source)


def test_no_word_of_a_server_about_its_own_tool_lowers_it() -> None:
    """A tool of which nothing is known is declared `execute`, whatever its name and description claim; only the admin's file lowers it."""
    claims = spec("github.read_only_list", Effect.EXECUTE, {}, says="Only reads", idempotent=True)
    drawn = plan({"id": "it", "tool": claims.name, "args": {}})
    for profile in ("personal", "team", "external"):
        verdict = evaluate(drawn, {claims.name: claims}, policy.default(profile))
        assert (verdict.level, verdict.grades[0].mode, verdict.releases) == (Level.HIGH, Mode.CONFIRM, False)
    lowered = policy.parse("tools: {'github.*': {effect: read}}\ntimers: {low: {expire: 5m, then: approve}}", source="p")
    verdict = evaluate(drawn, {claims.name: claims}, lowered)
    assert (verdict.level, verdict.releases, verdict.silence_releases) == (Level.LOW, True, False)

"""A stricter policy never lets more through: whatever the file says, one line that tightens it takes away and never gives."""

import copy
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core import policy
from bot.core.catalogue import Effect
from bot.core.grading import STRICTNESS
from bot.core.plan import Plan
from bot.core.policy import Member, Policy, evaluate, may_approve
from bot.core.policy_terms import MADE
from bot.core.risk import Level, Mode
from tests.core.samples import CATALOGUE, plan, post, read
from tests.core.test_policy_who import hands, people

File = dict[str, Any]
Tighten = Callable[[File, st.DataObject], None]
levels = st.sampled_from([level.value for level in Level])
modes = st.sampled_from([mode.value for mode in Mode])
effects = st.sampled_from([effect.value for effect in Effect])
globs = st.sampled_from(["*", "files.*", "files.read", "slack.*", "shell.run", "mail.send"])
names = st.sampled_from(["boss", "@leads", "#leads", "@managers", "U0SECOND", "@interns"])
barred = st.lists(names | st.sampled_from(MADE), max_size=3, unique=True)
conditions = st.sampled_from(
    [{"tool": "*"}, {"effect": "send"}, {"tool": "files.*"}, {"args.path": "a*"}, {"channel": "#ops"}, {"untrusted": True}, {"reach": ">5"}]
)
rules = st.fixed_dictionaries({"when": conditions, "mode": modes}, optional={"risk": levels, "shadow": st.booleans()})

files = st.fixed_dictionaries(
    {
        "profile": st.sampled_from(["personal", "team", "external"]),
        "approvers": st.lists(names, max_size=3, unique=True),
        "escalation": st.lists(names, max_size=2, unique=True),
        "may_not": st.dictionaries(levels, barred, max_size=3),
        "quorum": st.dictionaries(levels, st.integers(1, 4), max_size=3),
        "step_up": st.lists(levels, max_size=2, unique=True),
        "tools": st.dictionaries(globs, st.fixed_dictionaries({"mode": modes}), max_size=3),
        "effects": st.dictionaries(effects, st.fixed_dictionaries({"mode": modes}), max_size=2),
        "rules": st.lists(rules, max_size=3),
        "timers": st.fixed_dictionaries(
            {"low": st.fixed_dictionaries({"expire": st.just("20m")}, optional={"then": st.just("approve")})},
            optional={"high": st.just({"expire": "40m"})},
        ),
    }
)


def deny_or_confirm(file: File, data: st.DataObject) -> None:
    rule = {"when": data.draw(conditions), "mode": data.draw(st.sampled_from(["confirm", "deny"]))}
    file["rules"].insert(data.draw(st.integers(0, len(file["rules"]))), rule)


def deny_a_tool(file: File, data: st.DataObject) -> None:
    file["tools"][data.draw(st.sampled_from(["files.read", "shell.run", "mail.send"]))] = {"mode": "deny"}


def raise_a_quorum(file: File, data: st.DataObject) -> None:
    for level in Level:  # at all levels, so that none of them is left with fewer than one below it
        file["quorum"][level.value] = read_as(file).quorum.get(level, 1) + 1


def keep_somebody_out(file: File, data: st.DataObject) -> None:
    level = data.draw(levels)
    file["may_not"][level] = [*read_as(file).may_not[Level(level)], data.draw(names | st.sampled_from(MADE))]


def name_fewer(file: File, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(["approvers", "escalation"]))
    file[key] = file[key][1:]


def shorten_a_timer(file: File, data: st.DataObject) -> None:
    file["timers"]["low"] = {**file["timers"]["low"], "expire": "10m"}


def let_silence_expire(file: File, data: st.DataObject) -> None:
    file["timers"]["low"].pop("then", None)


def ask_in_writing(file: File, data: st.DataObject) -> None:
    file["step_up"] = list(dict.fromkeys([*file["step_up"], data.draw(levels)]))


def bound_the_reach(file: File, data: st.DataObject) -> None:
    file["scopes"] = {"paths": ["b/*"], "channels": ["#dev"]}


TIGHTENINGS: tuple[Tighten, ...] = (
    deny_or_confirm,
    deny_a_tool,
    raise_a_quorum,
    keep_somebody_out,
    name_fewer,
    shorten_a_timer,
    let_silence_expire,
    ask_in_writing,
    bound_the_reach,
)

steps = st.lists(
    st.sampled_from(
        [
            read("a"),
            read("b", "b/x.md"),
            post("c", "hi"),
            post("d", "{{a.text}}"),
            {"id": "e", "tool": "files.delete", "args": {"path": "a.md"}},
            {"id": "f", "tool": "shell.run", "args": {"argv": ["ls"]}},
            {"id": "g", "tool": "mail.send", "args": {"to": ["{{b.text}}"]}},
            {"id": "h", "tool": "web.fetch", "args": {"url": "https://a.example"}},
            {"id": "i", "tool": "files.write", "args": {"path": "{{h.text}}", "text": "x"}},
        ]
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda step: str(step["id"]),
)


def read_as(file: File) -> Policy:
    return policy.parse(str(file), source="p")  # Python's dictionaries are YAML


def lets(rules: Policy, drawn: Plan, who: Member, facts: File, *, typed: bool) -> bool:
    """Does the plan come to run without anybody, or does this person's yes to it count?"""
    verdict = evaluate(drawn, CATALOGUE, rules)
    if verdict.denied:
        return False
    counts = may_approve(rules, who, level=verdict.level, **facts) is None and (typed or verdict.level not in rules.step_up)
    return verdict.releases or verdict.silence_releases or counts


@settings(max_examples=250)
@given(files, st.sampled_from(TIGHTENINGS), steps, people, hands, st.booleans(), st.data())
def test_whatever_tightens_a_policy_lets_no_more_through(
    file: File, tighten: Tighten, given_steps: list[File], who: Member, facts: File, typed: bool, data: st.DataObject
) -> None:
    tightened = copy.deepcopy(file)
    tighten(tightened, data)
    before, after, drawn = read_as(file), read_as(tightened), plan(*given_steps)
    then, now = evaluate(drawn, CATALOGUE, before), evaluate(drawn, CATALOGUE, after)
    assert not lets(after, drawn, who, facts, typed=typed) or lets(before, drawn, who, facts, typed=typed)
    assert not now.releases or then.releases
    assert not now.silence_releases or then.silence_releases or then.releases
    assert {fault.step for fault in then.denied} <= {fault.step for fault in now.denied}
    assert now.denied or (now.quorum >= then.quorum and now.expires_after <= then.expires_after)
    for old, new in zip(then.grades, now.grades, strict=True):
        assert new.level.rank >= old.level.rank
        assert STRICTNESS[new.mode] >= STRICTNESS[old.mode]
        assert new.confirms or not old.confirms or new.mode is Mode.DENY


@given(files, steps, st.text(max_size=120), st.text(min_size=1, max_size=200))
def test_no_word_of_the_planner_about_its_plan_changes_what_the_policy_makes_of_it(
    file: File, given_steps: list[File], purpose: str, goal: str
) -> None:
    """No plan grades itself (C022): neither its goal nor the purpose of a step is read."""
    rules = read_as(file)
    told = plan(*({**step, "purpose": purpose} for step in given_steps), goal=goal)
    assert evaluate(told, CATALOGUE, rules) == evaluate(plan(*given_steps), CATALOGUE, rules)


@given(files, steps)
def test_silence_never_lets_an_effect_run(file: File, given_steps: list[File]) -> None:
    """P9, C019."""
    verdict = evaluate(plan(*given_steps), CATALOGUE, read_as(file))
    if verdict.silence_releases:
        assert verdict.level is Level.LOW
        assert {CATALOGUE[str(step["tool"])].effect for step in given_steps} == {Effect.READ}

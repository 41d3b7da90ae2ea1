"""Who may approve, as tables: profile by person by risk, before and after escalation, and what `may_not` makes of it."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core import policy
from bot.core.policy import Member, Policy, may_approve
from bot.core.policy_terms import MADE
from bot.core.risk import Level

PEOPLE = 'approvers: [boss, "@leads", "#leads"]\nescalation: ["@managers", U0SECOND]\n'
POLICIES = {
    "team": policy.parse("profile: team\n" + PEOPLE, source="p"),
    "external": policy.parse("profile: external\n" + PEOPLE, source="p"),
    "personal": policy.parse("profile: personal\n" + PEOPLE, source="p"),
    "alone": policy.default("personal"),
    "nobody": policy.default("team"),
    "late only": policy.parse('escalation: ["@managers"]', source="p"),
    "trusting": policy.parse("may_not: {low: [], medium: [], high: []}\n" + PEOPLE, source="p"),
    "careful": policy.parse('may_not: {low: [requester, redirectors, "@interns"], high: [requester, boss]}\n' + PEOPLE, source="p"),
}


@dataclass(frozen=True)
class Person:
    """Somebody before a plan, and what they had to do with it."""

    member: Member
    facts: dict[str, Any]


def member(*listed: str, **facts: bool) -> Member:
    return Member(id="U0ME", listed=frozenset(listed), **facts)


def person(who: Member, **facts: Any) -> Person:
    return Person(who, {"requester": "U0ELSE", **facts})


LEAD = member("@leads")
CAST = {
    "lead": person(LEAD),
    "boss": person(member("boss")),
    "in the channel": person(member("#leads")),
    "manager": person(member("@managers")),
    "by id": person(member("U0SECOND")),
    "nobody special": person(member()),
    "requester": person(member(), requester="U0ME"),
    "asking lead": person(LEAD, requester="U0ME"),
    "editing lead": person(LEAD, editors=["U0ME"]),
    "lead who edited their own": person(LEAD, requester="U0ME", editors=["U0ME"]),
    "replying lead": person(LEAD, redirectors=["U0ME"]),
    "lead whose words it was": person(LEAD, source_author="U0ME"),
    "lead who asked with their own words": person(LEAD, requester="U0ME", source_author="U0ME"),
    "lead, again": person(LEAD, already=["U0ME"]),
    "lead after another": person(LEAD, already=["U0OTHER"]),
    "interning lead": person(member("@leads", "@interns")),
    "guest": person(replace(LEAD, is_guest=True)),
    "bot": person(replace(LEAD, is_bot=True)),
    "gone": person(replace(LEAD, is_deactivated=True)),
    "partner": person(replace(LEAD, is_stranger=True)),
    "admin": person(member(is_admin=True)),
}

# profile | who | low | medium | high; one word where all three are the same
TABLE = """
team     | lead                                | yes
team     | boss                                | yes
team     | in the channel                      | yes
team     | manager                             | not_allowed
team     | by id                               | not_allowed
team     | nobody special                      | not_allowed
team     | admin                               | not_allowed
team     | requester                           | not_allowed
team     | asking lead                         | yes           | yes           | own_request
team     | editing lead                        | own_edit
team     | lead who edited their own           | own_edit      | own_edit      | own_request
team     | replying lead                       | yes           | yes           | own_edit
team     | lead whose words it was             | source_author
team     | lead who asked with their own words | yes           | yes           | own_request
team     | lead, again                         | double
team     | lead after another                  | yes
team     | guest                               | guest
team     | bot                                 | bot
team     | gone                                | deactivated
team     | partner                             | partner
external | lead                                | yes
external | boss                                | yes
external | in the channel                      | yes
external | manager                             | not_allowed
external | nobody special                      | not_allowed
external | requester                           | not_allowed
external | asking lead                         | own_request
external | editing lead                        | own_edit
external | lead who edited their own           | own_request
external | replying lead                       | own_edit
external | lead whose words it was             | source_author
external | lead who asked with their own words | own_request
external | lead, again                         | double
external | guest                               | guest
external | partner                             | partner
personal | lead                                | yes
personal | nobody special                      | not_allowed
personal | requester                           | yes
personal | asking lead                         | yes
personal | editing lead                        | yes
personal | replying lead                       | yes
personal | lead whose words it was             | yes
personal | lead, again                         | double
personal | guest                               | guest
alone    | requester                           | yes
alone    | lead                                | nobody_set
alone    | nobody special                      | nobody_set
alone    | lead who edited their own           | yes
nobody   | lead                                | nobody_set
nobody   | asking lead                         | nobody_set
nobody   | admin                               | nobody_set
nobody   | guest                               | nobody_set
late only | manager                            | nobody_set
trusting | asking lead                         | yes
trusting | lead who edited their own           | yes
trusting | replying lead                       | yes
trusting | lead whose words it was             | yes
trusting | requester                           | not_allowed
careful  | lead                                | yes
careful  | boss                                | yes           | yes           | not_allowed
careful  | interning lead                      | not_allowed   | yes           | yes
careful  | asking lead                         | own_request   | yes           | own_request
careful  | editing lead                        | yes           | own_edit      | yes
careful  | replying lead                       | own_edit      | yes           | yes
careful  | lead whose words it was             | yes           | source_author | yes
"""

# the same people once nobody has answered
LATE = """
team     | lead                                | yes
team     | manager                             | yes
team     | by id                               | yes
team     | nobody special                      | not_allowed
team     | asking lead                         | yes           | yes           | own_request
team     | guest                               | guest
external | manager                             | yes
external | editing lead                        | own_edit
personal | manager                             | yes
late only | manager                            | nobody_set
nobody   | manager                             | nobody_set
alone    | manager                             | nobody_set
"""


def rows(table: str) -> list[tuple[str, str, Level, str]]:
    cut = [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]
    return [
        (name, who, level, said[place if len(said) == 3 else 0])
        for name, who, *said in cut
        for place, level in enumerate(Level)
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "who", "level", "expected"), rows(TABLE))
def test_c061_who_may_approve_what(name: str, who: str, level: Level, expected: str) -> None:
    at_hand = CAST[who]
    assert (may_approve(POLICIES[name], at_hand.member, level=level, **at_hand.facts) or "yes") == expected


@pytest.mark.parametrize(("name", "who", "level", "expected"), rows(LATE))
def test_who_may_approve_once_nobody_has_answered(name: str, who: str, level: Level, expected: str) -> None:
    at_hand = CAST[who]
    assert (may_approve(POLICIES[name], at_hand.member, level=level, escalated=True, **at_hand.facts) or "yes") == expected


def test_who_is_asked_grows_once_nobody_has_answered() -> None:
    assert policy.approver_words(POLICIES["team"]) == ("boss", "@leads", "#leads")
    assert policy.approver_words(POLICIES["team"], escalated=True) == ("boss", "@leads", "#leads", "@managers", "U0SECOND")


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("word", MADE)
def test_a_file_that_separates_who_made_it_separates_at_every_level_and_in_every_profile(word: str, level: Level) -> None:
    """C061: also the personal one, where requesters approve their own asks otherwise."""
    facts: dict[str, Any] = {"requester": "U0ELSE", "source_author": None}
    facts |= {"requester": "U0ME"} if word == "requester" else {word: "U0ME" if word == "source_author" else ["U0ME"]}
    for profile in ("personal", "team", "external"):
        rules = policy.parse(f"profile: {profile}\nmay_not: {{{level}: [{word}]}}\n{PEOPLE}", source="p")
        assert may_approve(rules, LEAD, level=level, **facts) in ("own_request", "own_edit", "source_author")


ENTRIES = ("boss", "@leads", "#leads", "@managers", "U0SECOND", "@interns")
people = st.builds(
    Member,
    id=st.just("U0ME"),
    listed=st.frozensets(st.sampled_from(ENTRIES)),
    is_guest=st.booleans(),
    is_bot=st.booleans(),
    is_deactivated=st.booleans(),
    is_stranger=st.booleans(),
    is_admin=st.booleans(),
)
hands = st.fixed_dictionaries(
    {
        "requester": st.sampled_from(["U0ME", "U0ELSE"]),
        "editors": st.sampled_from([[], ["U0ME"]]),
        "redirectors": st.sampled_from([[], ["U0ME"]]),
        "source_author": st.sampled_from([None, "U0ME"]),
        "escalated": st.booleans(),
    }
)


@given(st.sampled_from(list(POLICIES)), people, hands, st.sampled_from(list(Level)))
def test_nobody_says_yes_who_is_not_able_to_or_whom_no_list_means(name: str, who: Member, facts: dict[str, Any], level: Level) -> None:
    rules: Policy = POLICIES[name]
    if may_approve(rules, who, level=level, **facts) is None:
        assert not any((who.is_guest, who.is_bot, who.is_deactivated, who.is_stranger))
        own = rules.profile == "personal" and facts["requester"] == who.id
        assert own or who.listed & {*policy.approver_words(rules, facts["escalated"])}


@given(st.sampled_from(list(POLICIES)), people, hands, st.sampled_from(list(Level)))
def test_escalation_only_adds_people(name: str, who: Member, facts: dict[str, Any], level: Level) -> None:
    early = may_approve(POLICIES[name], who, level=level, **{**facts, "escalated": False})
    late = may_approve(POLICIES[name], who, level=level, **{**facts, "escalated": True})
    assert early is not None or late is None

"""What a card says of who may say yes: who has, who is missing, who may not and why, and whether enough are left."""

from dataclasses import replace

import pytest

from bot.core.hands import Hands
from bot.core.policy_file import PROFILE_MAY_NOT
from bot.core.risk import Level
from bot.core.run import Event, Hold, RunStatus
from handlers.views import confirm_card, step_up, who_may
from handlers.views.scene import Scene
from handlers.views.who_may import Asked
from tests.handlers.views import rules
from tests.handlers.views.stage import APPROVER, APPROVER2, MEMBER, REQUESTER, RISKY, entry, held, scene, states, yes

MADE = Hands(REQUESTER, editors=(APPROVER,))


def on_stage(*able: str, profile: str = "team") -> Scene:
    return replace(scene(RunStatus.IN_REVIEW), able=frozenset(able) or None, may_not=PROFILE_MAY_NOT[profile])


def said(given: Scene, asked: Asked, **more: str) -> str:
    words = "\n".join(who_may.lines(given, asked, **more))
    rules.only_ours(words)
    return rules_plain(words)


def rules_plain(words: str) -> str:
    """Links by their labels, without markup."""
    for user, name in ((REQUESTER, "requester"), (APPROVER, "approver"), (APPROVER2, "approver2"), (MEMBER, "member")):
        words = words.replace(f"<https://example.slack.com/team/{user}|{name}>", name).replace(f"<@{user}>", f"@{name}")
    return words.replace("<!subteam^S0OPSLEADS>", "@ops-leads").replace("*", "")


def test_one_yes_is_asked_of_the_approvers_but_not_of_who_made_it() -> None:
    assert said(on_stage(), Asked(Level.MEDIUM, MADE)) == "Who may approve: anyone in @ops-leads, not approver (edited this plan)"
    assert said(on_stage(), Asked(Level.MEDIUM, Hands(REQUESTER))) == "Who may approve: anyone in @ops-leads"
    high = said(on_stage(), Asked(Level.HIGH, MADE), verb="confirm")
    assert high == "Who may confirm: anyone in @ops-leads, not approver (edited this plan) and not requester"


def test_everybodys_part_is_named_with_what_it_was() -> None:
    made = Hands(REQUESTER, editors=(APPROVER,), redirectors=(MEMBER,), source_author=APPROVER2)
    words = said(on_stage(), Asked(Level.HIGH, made))
    assert "not approver (edited this plan), not member (it is their change), not approver2 (it is made from their message)" in words
    assert said(on_stage(profile="personal"), Asked(Level.HIGH, made)) == "Who may approve: anyone in @ops-leads"


def test_of_two_the_one_who_has_said_yes_and_the_one_who_is_missing() -> None:
    words = said(on_stage(), Asked(Level.HIGH, Hands(REQUESTER), (yes(APPROVER),), 2))
    first, second = words.split("\n")
    assert first.startswith("Approvals: 1 of 2 · ✓ @approver ")
    assert second == "Still needed: one more person: anyone in @ops-leads, not requester or approver. Nothing has started."


@pytest.mark.parametrize(
    ("able", "given", "says"),
    [
        ((), (), ""),  # nobody knows who is in the group
        ((APPROVER, APPROVER2, MEMBER), (), ""),
        ((APPROVER, APPROVER2), (), "only approver2 could still say yes, and two are needed"),
        ((APPROVER, APPROVER2), (yes(APPROVER2),), "nobody is left who could say yes, and one is needed"),
        ((APPROVER, REQUESTER), (), "nobody is left who could say yes, and two are needed"),
    ],
)
def test_where_too_few_are_left_the_card_says_who_and_what_becomes_of_it(
    able: tuple[str, ...], given: tuple[object, ...], says: str
) -> None:
    words = said(on_stage(*able), Asked(Level.HIGH, MADE, given, 2))  # type: ignore[arg-type]
    assert ("Too few are left" in words) == bool(says)
    assert says in words
    assert not says or "it expires" in words


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("", "Type prod, or press Back."),
        ("PROD", "That is not the name of the target. Type prod, in small letters, or press Back."),
        ("web", "That is not the name of the target. Type prod, or press Back."),
    ],
)
def test_a_wrong_word_is_answered_at_the_field(typed: str, says: str) -> None:
    assert step_up.wrong("prod", typed, run="R-7K2Q") == says
    assert step_up.wrong("R-7K2Q", "x", run="R-7K2Q").startswith("That is not the id of the run. Type R-7K2Q")


def test_values_that_are_riskier_than_what_was_approved_ask_as_many_as_their_own_risk() -> None:
    given = yes(APPROVER).model_copy(update={"kind": "confirm", "step": "write", "digest": "0" * 64})
    on_hold = replace(held(Hold.CONFIRM, "write", RISKY, approvals=(yes(), given)), quorums={Level.HIGH: 2})
    write = RISKY.step("write")
    asked = who_may.of_values(on_hold, write, level=Level.HIGH, filling="0" * 8)
    assert (asked.needed, asked.missing, [one.actor for one in asked.given]) == (2, 1, [APPROVER])
    assert who_may.of_values(on_hold, write, level=Level.MEDIUM, filling="0" * 8).needed == 1
    assert who_may.of_values(on_hold, write, level=Level.HIGH, filling="1" * 8).given == []
    words = said(on_hold, asked, verb="confirm", so_far="The step has not started.")
    assert "Approvals: 1 of 2 · ✓ @approver" in words
    assert words.endswith("The step has not started.")


def test_a_confirm_that_one_more_must_give_says_so_in_its_header() -> None:
    changed = entry(9, Event.REDIRECTED, REQUESTER, revision=1, changed=["deploy"], asked=[])
    given = yes(APPROVER).model_copy(update={"kind": "confirm", "step": "deploy", "digest": "0" * 64})
    args = {"env": "prod", "version": "1.4.2"}
    steps = states(RISKY, 8, deploy={"args": args})
    on_hold = replace(
        held(Hold.CONFIRM, "deploy", RISKY, approvals=(yes(), given), steps=steps, entries=(changed,)), quorums={Level.HIGH: 2}
    )
    card = confirm_card.confirm_card(on_hold, "deploy", args=args, digest="0" * 64)
    assert card.blocks[0]["text"]["text"] == "✋ Needs one more confirmation · 🔺 High risk"
    assert card.text.startswith("Needs one more confirmation: R-7K2Q step 9")

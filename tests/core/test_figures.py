"""What the record says of people and policy: sums, times, and what stands out."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta

import pytest

from bot.core.catalogue import Effect, ToolSpec
from bot.core.figures import Decision, Fatigue, How, Story, Told, decisions, deeds, figures, out_of_line, tired
from bot.core.states import Event

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
TOOLS = {"n": "files.read", "p": "slack.post_message", "d": "site.deploy"}
ASKED = frozenset({"p", "d"})


def told(*said: str) -> Story:
    """`"12 approver approved step"`: seconds after NOW, who, what, and of which step."""
    entries = []
    for line in said:
        at, actor, event, *step = line.split()
        entries.append(Told(NOW + timedelta(seconds=float(at)), actor, event, step=step[0] if step else None))
    return Story("R-1", tuple(entries), TOOLS, ASKED)


def ended(story: Story) -> list[str]:
    return [f"{deed.tool} {deed.how}" for deed in deeds(story)]


@pytest.mark.parametrize(
    ("said", "came_out"),
    [
        (["1 pullcord released", "2 pullcord step_started n"], ["files.read by_itself"]),
        (
            ["1 U1 approved", "2 pullcord step_started n", "3 pullcord step_started p"],
            ["files.read by_itself", "slack.post_message approved"],
        ),
        (["1 U1 approved", "2 U1 confirmed d", "3 pullcord step_started d"], ["site.deploy confirmed"]),
        (["1 U1 approved", "2 U1 confirm_refused d"], ["site.deploy refused"]),
        (["1 U1 cancelled"], ["site.deploy refused", "slack.post_message refused"]),
        (["1 clock expired"], ["site.deploy expired", "slack.post_message expired"]),
        (["1 U1 approved", "2 pullcord step_started p", "3 clock expired d"], ["slack.post_message approved", "site.deploy expired"]),
        (["1 pullcord plan_refused"], ["site.deploy refused", "slack.post_message refused"]),
        (
            ["1 U1 approved", "2 pullcord step_started p", "3 pullcord step_failed p", "4 pullcord step_started p"],
            ["slack.post_message approved", "slack.post_message failed"],
        ),
        (["1 U1 approved", "2 pullcord step_kept n"], ["files.read by_itself"]),
        (["1 U1 redirected", "2 pullcord step_started p"], ["slack.post_message approved"]),
    ],
)
def test_each_step_is_counted_as_what_became_of_it(said: list[str], came_out: list[str]) -> None:
    assert ended(told(*said)) == came_out


def test_a_run_without_a_plan_counts_no_steps() -> None:
    story = Story("R-1", (Told(NOW, "U1", Event.CANCELLED),))
    assert list(deeds(story)) == []


def test_a_decision_is_timed_from_what_was_shown_last() -> None:
    story = told(
        "0 pullcord planned", "60 U1 revised", "65 U2 approval_given", "95 U1 approved", "99 pullcord held", "100 U2 confirm_refused d"
    )
    found = [(one.actor, (one.at - one.shown_at).total_seconds(), one.yes) for one in decisions(story)]
    assert found == [("U2", 5, True), ("U1", 35, True), ("U2", 1, False)]


def test_the_clock_decides_nothing_and_what_was_shown_before_has_no_time() -> None:
    assert list(decisions(told("0 U1 approved", "1 pullcord planned", "2 clock cancelled"))) == []


def yes(actor: str, shown: float, at: float, said: bool = True) -> Decision:
    return Decision(actor, NOW + timedelta(seconds=at), NOW + timedelta(seconds=shown), said)


@pytest.mark.parametrize(
    ("decided", "found"),
    [
        ([yes("A", 0, 2), yes("A", 10, 11), yes("A", 20, 22.9)], [Fatigue("A", 3)]),
        ([yes("A", 0, 2), yes("A", 10, 11)], []),
        ([yes("A", 0, 2), yes("A", 10, 11), yes("A", 20, 24), yes("A", 30, 31)], []),
        ([yes("A", 0, 2), yes("A", 10, 11), yes("A", 20, 21, said=False), yes("A", 30, 31)], []),
        ([yes("A", 0, 2), yes("B", 0, 2), yes("A", 5, 6), yes("B", 5, 6)], []),
        # three cards were open for long, and were clicked away one after the other
        ([yes("A", 0, 600), yes("A", 0, 601), yes("A", 0, 602), yes("A", 0, 603)], [Fatigue("A", 3)]),
    ],
    ids=["three in a row", "two", "one was read", "one was a no", "two people", "a pile clicked away"],
)
def test_fatigue_is_yes_after_yes_faster_than_anybody_reads(decided: list[Decision], found: list[Fatigue]) -> None:
    assert list(tired(decided)) == found


def spec(name: str, description: str, *, outward: bool = False, effect: Effect = Effect.READ) -> ToolSpec:
    return ToolSpec(name=name, description=description, effect=effect, args_schema={}, outward=outward)


CATALOGUE = {
    "site.deploy": spec("site.deploy", "Deploys.", effect=Effect.EXECUTE),
    "web.fetch": spec("web.fetch", "Fetches a page. Not for downloads.", outward=True),
    "files.read": spec("files.read", "Reads a file. Use it when. Not for folders."),
}


@pytest.mark.parametrize(
    ("tool", "counts", "said"),
    [
        ("site.deploy", Counter({How.APPROVED: 2, How.REFUSED: 3}), "was not approved in 3 of 5 cases · does not say when not"),
        ("site.deploy", Counter({How.APPROVED: 1, How.REFUSED: 3}), ""),
        ("web.fetch", Counter({How.APPROVED: 2, How.REFUSED: 1, How.EXPIRED: 2}), "was not approved in 3 of 5 cases · wider than"),
        ("gone.tool", Counter({How.REFUSED: 5}), "was not approved in 5 of 5 cases · not there any more"),
        ("files.read", Counter({How.BY_ITSELF: 10, How.FAILED: 3}), "failed 3 times in 10 runs by itself · does not fit"),
        ("files.read", Counter({How.BY_ITSELF: 1000}), ""),
        ("web.fetch", Counter({How.BY_ITSELF: 20}), "ran by itself 20 times · mode"),
    ],
)
def test_a_tool_out_of_line_is_named_with_the_likely_cause(tool: str, counts: Counter[How], said: str) -> None:
    found = list(out_of_line({tool: counts}, CATALOGUE))
    if not said:
        assert found == []
        return
    says, cause = said.split(" · ")
    assert [(one.tool, one.says) for one in found] == [(tool, says)]
    assert cause in found[0].cause


def test_the_sums_are_by_tool_and_by_day() -> None:
    day = 86_400
    stories = [
        told("0 pullcord planned", "10 U1 approved", "11 pullcord step_started p"),
        told(f"{day} pullcord planned", f"{day + 30} U1 approved", f"{day + 31} pullcord step_started p"),
        told(f"{day} pullcord planned", f"{day + 50} clock expired"),
    ]
    found = figures(stories, CATALOGUE, since=date(2026, 11, 24))

    assert found.runs == 3
    assert found.by_tool["slack.post_message"] == Counter({How.APPROVED: 2, How.EXPIRED: 1})
    assert {day.isoformat(): dict(counts) for day, counts in found.by_day.items()} == {
        "2026-11-30": {How.APPROVED: 1},
        "2026-12-01": {How.APPROVED: 1, How.EXPIRED: 2},
    }
    assert (found.decisions, found.median_s) == (2, 20)
    assert found.total(How.EXPIRED, How.REFUSED) == 2

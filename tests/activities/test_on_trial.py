"""A rule on trial holds nobody up: what it would have done stands in the grades, and in the entry of the plan."""

from bot.core import policy
from bot.core.run import Event, RunStatus
from bot.deps import Deps
from bot.store import audit, runs
from tests.doubles.deeds import asked

TRIAL = """
approvers: ["@ops-leads"]
rules:
  - {when: {effect: write}, mode: deny, risk: high, name: "no writing", shadow: true}
"""


async def test_what_a_rule_on_trial_would_have_done_goes_on_record_and_changes_nothing(supervised: Deps) -> None:
    supervised.rules.policy = policy.parse(TRIAL, source="policy.yml")

    run = await asked(supervised, "a: files.read path=a.md\nb: files.write path=b.md text=hi")

    assert run.status is RunStatus.IN_REVIEW
    grades = (await supervised.store.read(lambda conn: runs.revision(conn, run.id, 1)))[1]
    assert grades["b"].shadow == ("no writing (shadow: would be high risk and deny)",)
    assert (grades["b"].mode, grades["b"].held) == ("ask", ())
    entries = await supervised.store.read(lambda conn: audit.entries(conn, run.id))
    planned = next(entry for entry in entries if entry.event == Event.PLANNED)
    assert planned.data["shadow"] == ["b: no writing (shadow: would be high risk and deny)"]


async def test_where_no_rule_is_on_trial_the_entry_says_nothing_of_it(supervised: Deps) -> None:
    run = await asked(supervised, "b: files.write path=b.md text=hi")

    entries = await supervised.store.read(lambda conn: audit.entries(conn, run.id))
    assert all("shadow" not in entry.data for entry in entries)

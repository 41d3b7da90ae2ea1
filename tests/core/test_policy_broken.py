"""Policy files that cannot be used: each refuses to start with file, line, fault and mending. The table is `broken_policies.txt`."""

from pathlib import Path

import pytest

from bot.core import policy
from bot.core.policy_text import LONGEST, MOST_VALUES
from bot.errors import ConfigurationError

TABLE = (Path(__file__).parent / "broken_policies.txt").read_text()
CASES = [tuple(block.rsplit("\n→ ", 1)) for block in TABLE.rstrip("\n").split("\n~~~~\n")[1:]]


def refusal(text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        policy.parse(text, source="policy.yml")
    return str(caught.value)


@pytest.mark.parametrize(("text", "says"), CASES)
def test_a_broken_file_says_file_line_fault_and_mending(text: str, says: str) -> None:
    assert refusal(text) == says


def test_the_table_is_large_and_each_line_of_it_names_a_place_and_a_next_move() -> None:
    assert len(CASES) >= 150
    for text, says in CASES:
        where, _, rest = says.partition(": ")
        number = int(where.removeprefix("policy.yml, line "))
        fault, _, mending = rest.partition("; ")
        assert 1 <= number <= len(text.splitlines()) + 1
        assert fault
        assert mending
        assert "\n" not in says


def test_what_is_no_text_is_refused() -> None:
    assert refusal("a: \0").startswith("policy.yml, line 1: unacceptable character #x0000")


def test_a_file_that_grows_without_end_when_its_aliases_are_written_out_is_refused_at_once() -> None:
    rows = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
    assert f"the policy has more than {MOST_VALUES} values; write fewer aliases (*name)" in refusal("\n".join(rows))


def test_a_file_beyond_all_measure_is_refused_unread() -> None:
    assert f"the policy is longer than {LONGEST} characters" in refusal("# " + "x" * LONGEST)


def test_a_number_of_thousands_of_digits_is_a_fault_and_no_trace() -> None:
    assert refusal(f"limits: {{steps: {'9' * 5000}}}").startswith("policy.yml, line 1: ")


def test_lists_that_are_nested_without_end_are_a_fault_and_no_trace() -> None:
    assert refusal("approvers: " + "[" * 3000 + "]" * 3000).startswith("policy.yml, line 1: ")

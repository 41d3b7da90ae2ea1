"""Each benchmark runs and says its figures. What they are is no test's business."""

import json

import pytest

from tests.bench import approve, door, parked, pause, recovery, resume, steps
from tests.bench.__main__ import NAMES
from tests.bench.figures import Figure, percentile

SMALL = {
    door: "--runs 3 --steps 2 --alone 3",
    steps: "--runs 3 --steps 2 --repeats 2",
    pause: "--runs 3 --step-ms 10 --clicks 4",
    resume: "--runs 2 --step-ms 10 --clicks 3",
    approve: "--people 4 --cards 2",
    recovery: "--runs 10",
    parked: "--runs 20 --sweeps 1",
}


def test_every_name_is_tried() -> None:
    assert {module.__name__.rpartition(".")[2] for module in SMALL} == set(NAMES)


@pytest.mark.parametrize("module", SMALL, ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_benchmark_reports(module, capsys: pytest.CaptureFixture[str]) -> None:
    module.main([*SMALL[module].split(), "--json"])

    said = json.loads(capsys.readouterr().out)
    assert {"benchmark", "given", "figures", "load_before", "load_after", "cores"} <= said.keys()
    assert all(isinstance(figure["measured"], int | float) for figure in said["figures"])
    assert said["figures"]


def test_a_figure_says_what_there_is_to_reach() -> None:
    assert Figure("", 3, "ms", at_most=2).reach == "≤ 2 ms"
    assert Figure("", 3, at_least=4000).reach == "≥ 4,000"
    assert Figure("", 0, at_most=0).reach == "0"
    assert [Figure("", 3, "ms", at_most=2).reached, Figure("", 5, at_least=4).reached, Figure("", 5).reached] == [False, True, None]
    assert Figure("", 49, at_most=49, at_least=49).reach == "49"


def test_percentiles_of_few_values() -> None:
    assert [percentile([], 99), percentile([2.0], 99), percentile([1.0, 2.0, 3.0], 50)] == [0, 2, 2]

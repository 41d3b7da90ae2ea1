"""What a benchmark says: each figure that was measured beside the one to reach, and how busy the machine was.

A busy machine is no failure, so nothing here ends with an error: whoever reads it judges.
"""

import argparse
import json
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Figure:
    """One figure. Without `at_most` and `at_least` it stands beside the others to explain them."""

    says: str
    measured: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def reach(self) -> str:
        """The figure to reach, in words; empty if there is none."""
        if self.at_most is not None and self.at_most == self.at_least:
            return f"{self.at_most:,g} {self.unit}".strip()
        if self.at_most is not None:
            return f"≤ {self.at_most:,g} {self.unit}".strip() if self.at_most else "0"
        return f"≥ {self.at_least:,g} {self.unit}".strip() if self.at_least is not None else ""

    @property
    def reached(self) -> bool | None:
        """None where there is nothing to reach."""
        if self.at_most is None and self.at_least is None:
            return None
        return (self.at_most is None or self.measured <= self.at_most) and (self.at_least is None or self.measured >= self.at_least)


def parser(name: str, story: str | None) -> argparse.ArgumentParser:
    """The options of one benchmark, to which it adds its own."""
    found = argparse.ArgumentParser(prog=f"python -m tests.bench {name}", description=story)
    found.add_argument("--json", action="store_true", help="one JSON object in place of the table")
    found.set_defaults(name=name, load=os.getloadavg()[0])
    return found


def report(given: argparse.Namespace, figures: Sequence[Figure]) -> None:
    """Print the figures, with what was asked for and the load before and after."""
    asked = {name: value for name, value in vars(given).items() if name not in ("name", "json", "load")}
    before, after = given.load, os.getloadavg()[0]
    if given.json:
        said = {"benchmark": given.name, "given": asked, **_machine(before, after), "figures": [_data(each) for each in figures]}
        print(json.dumps(said, default=str))
        return
    table = Table("", "measured", "to reach", "")
    for each in figures:
        verdict = {None: "", True: "yes", False: "no"}[each.reached]
        table.add_row(each.says, f"{_short(each.measured)} {each.unit}".strip(), each.reach, verdict)
    console = Console(width=120)
    console.print(table)
    console.print(" ".join(f"{name}={value}" for name, value in asked.items()))
    console.print(f"load of the last minute {before:.2f} before, {after:.2f} after, on {os.cpu_count()} cores")


def _machine(before: float, after: float) -> dict[str, Any]:
    return {"load_before": before, "load_after": after, "cores": os.cpu_count()}


def _data(figure: Figure) -> dict[str, Any]:
    reach = {"at_most": figure.at_most, "at_least": figure.at_least}
    said = {"says": figure.says, "measured": figure.measured, "unit": figure.unit}
    return {**said, "reach": {name: value for name, value in reach.items() if value is not None}, "reached": figure.reached}


def _short(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.3g}"


def percentile(values: Sequence[float], percent: int) -> float:
    """That percentile of what was measured; of a single value, itself; 0 of nothing."""
    if len(values) < 2:
        return values[0] if values else 0.0
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]

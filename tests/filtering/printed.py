"""The figures of Lewis and Tong (1992), tables 2 and 3, as the sample data contain them."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

from evalhouse.warehouse.filtering.contingency import Printed
from evalhouse.warehouse.filtering.generality import KeyCounts

FOLDER = Path(__file__).resolve().parent.parent.parent / "sample_data" / "published"

Row = dict[str, Printed]


def keys() -> dict[str, KeyCounts]:
    """Key counts by test set."""
    with (FOLDER / "key_counts.csv").open(encoding="utf-8", newline="") as source:
        return {
            row["test_set"]: KeyCounts(int(row["relevant"]), int(row["optional"]), int(row["nonrelevant"]))
            for row in csv.DictReader(source)
        }


def rows() -> dict[tuple[str, str], Row]:
    """What was printed, by test set and system, then measure."""
    found: dict[tuple[str, str], Row] = {}
    for table in (2, 3):
        with (FOLDER / f"lewis_tong_1992_table{table}.csv").open(encoding="utf-8", newline="") as source:
            for row in csv.DictReader(source):
                figure = Printed(Decimal(row["value"]), Decimal(row["resolution"]))
                found.setdefault((row["test_set"], row["system"]), {})[row["measure"]] = figure
    return found


def values(measure: str, *test_sets: str) -> list[list[Decimal]]:
    """The values of a measure on each test set, in hundredths, of the systems that took part in all of them."""
    printed = rows()
    systems = sorted({system for _, system in printed if system != "allrel"})
    both = [system for system in systems if all((test_set, system) in printed for test_set in test_sets)]
    return [[100 * printed[test_set, system][measure].value for system in both] for test_set in test_sets]

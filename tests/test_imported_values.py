"""Imported values that no decimal number represents exactly: ties between them, values of very different size, and
values of 0 or 1.

The Wilcoxon p-values of reciprocal ranks are those of R 4.2.2 with coin 1.4.2 (wilcoxsign_test, zero.method
"Wilcoxon"), which was given the values times 2520, so that they are whole numbers. Up to 13 topics they are exact, and
exactRankTests 0.8.35 (wilcox.exact) gives the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportions_ztest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance import matched
from evalhouse.warehouse.store.connecting import in_memory
from tests.conftest import write_csv

RECIPROCAL_RANKS = (
    (6, 1, 0.28125, 0.140625),
    (6, 2, 0.0625, 0.03125),
    (9, 1, 0.41796875, 0.208984375),
    (9, 2, 0.234375, 0.1171875),
    (12, 1, 0.89697265625, 0.448486328125),
    (12, 2, 0.1181640625, 0.05908203125),
    (13, 1, 0.77685546875, 0.388427734375),
    (13, 2, 0.0888671875, 0.04443359375),
    (14, 1, 0.752933377308616, 0.376466688654308),
    (14, 2, 0.0463327297933953, 0.0231663648966977),
    (25, 1, 0.428853661000839, 0.214426830500419),
    (25, 2, 0.00532695313156673, 0.00266347656578336),
    (60, 1, 0.317516010014447, 0.158758005007223),
    (60, 2, 0.0458350701360266, 0.0229175350680133),
    (200, 1, 0.55967069887544, 0.27983534943772),
    (200, 2, 0.134948286171297, 0.0674741430856483),
)
"""Topics, which ranks, and the two-sided and the one-sided level."""


def ranks(topics: int, which: int) -> tuple[list[int], list[int]]:
    """The ranks of two systems on so many topics, from 1 to 10, by a formula that R evaluates too."""
    first = [1 + (31 * i * i + 17 * i + which) % 97 % 10 for i in range(topics)]
    second = [1 + (53 * i * i + 7 * i + 2 * which) % 97 % 10 for i in range(topics)]
    return first, second


def asking(folder: Path, systems: Mapping[str, Iterable[Any]], measure: str = "M") -> Session:
    """A session on the values of some systems, in the order of their documents."""
    rows = [
        ("T", name, f"d{place:04}", measure, repr(value))
        for name, values in systems.items()
        for place, value in enumerate(values)
    ]
    database = in_memory()
    load(database, write_csv(folder / "values.csv", "test_set system document measure value", rows), "values")
    return Session(database)


def compared(session: Session, statement: str) -> dict[str, Any]:
    """The one row of a comparison."""
    [row] = session.run(statement).table.records()
    return dict(row)


# --- ties -------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(("topics", "which"), [row[:2] for row in RECIPROCAL_RANKS])
def test_wilcoxon_of_reciprocal_ranks_ties_as_whole_numbers_do(topics: int, which: int, tmp_path: Path) -> None:
    """As whole numbers count every choice of signs of the ranks of 2520/a − 2520/b."""
    first, second = ranks(topics, which)
    session = asking(tmp_path, {"A": [1 / rank for rank in first], "B": [1 / rank for rank in second]})
    whole = [2520 // a - 2520 // b for a, b in zip(first, second, strict=True) if a != b]
    sizes = [round(2 * rank) for rank in stats.rankdata([abs(value) for value in whole])]
    wins = sum(size for size, value in zip(sizes, whole, strict=True) if value > 0)
    ways = [1] + [0] * sum(sizes)
    for size in sizes:
        for total in range(sum(sizes), size - 1, -1):
            ways[total] += ways[total - size]
    found = compared(session, "compare M for A, B on T test wilcoxon one-sided")
    assert found["p"] == pytest.approx(sum(ways[wins:]) / 2 ** len(sizes), rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("sides", ["two-sided", "one-sided"])
def test_exchanges_of_reciprocal_ranks_tie_as_fractions_do(sides: str, tmp_path: Path) -> None:
    """Sums of few such values are off by more roundings than there are topics."""
    for topics in (4, 7, 10):
        for which in range(4):
            first, second = ranks(topics, which)
            differences = [Fraction(1, a) - Fraction(1, b) for a, b in zip(first, second, strict=True)]
            observed = sum(differences, Fraction(0))
            reached = 0
            for signs in product((1, -1), repeat=topics):
                exchanged = sum((sign * d for sign, d in zip(signs, differences, strict=True)), Fraction(0))
                reached += abs(exchanged) >= abs(observed) if sides == "two-sided" else exchanged >= observed
            session = asking(tmp_path, {"A": [1 / rank for rank in first], "B": [1 / rank for rank in second]})
            assert compared(session, f"compare M for A, B on T exact {sides}")["p"] == reached / 2**topics
            session.close()


def test_differences_that_only_rounding_keeps_apart_are_settled() -> None:
    """Of random fractions, whose differences tie as fractions or do not."""
    source = np.random.default_rng(1)
    for _ in range(200):
        over = source.integers(0, 8, (2, 30))
        under = source.integers(1, 12, (2, 30))
        floats = over / under
        settled = matched.settle_ties(floats[0], floats[1], 2.0**-51 * floats.sum(axis=0))
        exact = [
            Fraction(int(a), int(c)) - Fraction(int(b), int(d))
            for a, b, c, d in zip(over[0], over[1], under[0], under[1], strict=True)
        ]
        sizes = {size: place for place, size in enumerate(sorted({abs(difference) for difference in exact}))}
        expected = [sizes[abs(difference)] for difference in exact]
        assert np.unique(np.abs(settled), return_inverse=True)[1].tolist() == expected
        assert np.sign(settled).tolist() == [(difference > 0) - (difference < 0) for difference in exact]


def test_continuous_values_are_settled_as_they_are() -> None:
    values = np.random.default_rng(2).normal(0, 1, (2, 100_000))
    settled = matched.settle_ties(values[0], values[1], 2.0**-51 * np.abs(values).sum(axis=0))
    assert np.array_equal(settled, values[0] - values[1])


# --- values of very different size ------------------------------------------------------------------------------------

SMALL = {
    "A": [value + k / 97 for k in range(6) for value in (0.5571, 0.2, 1 / 3, 0.9, 0.61, 0.77)],
    "B": [value + k / 89 for k in range(6) for value in (0.5582, 0.4, 2 / 3, 0.8, 0.91, 0.15)],
}


def huge(values: Iterable[float], value: float = 1e14) -> list[float]:
    """The values with another one in place of the first."""
    _, *rest = values
    return [value, *rest]


@pytest.mark.long
@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign", "bootstrap shuffles 999", "two-sample-t"])
def test_a_huge_value_of_a_third_system_does_not_change_a_pair(test: str, tmp_path: Path) -> None:
    alone = compared(asking(tmp_path, SMALL), f"compare M for A, B on T test {test}")
    three = asking(tmp_path, {**SMALL, "C": huge(SMALL["A"])})
    result = three.run(f"compare M for A, B, C on T test {test}")
    beside = next(row for row in result.table.records() if (row["system_a"], row["system_b"]) == ("A", "B"))
    for column in ("value_a", "value_b", "difference", "p", "nge", "statistic", "differing", "correlation", "ci_low"):
        if isinstance(alone[column], float):
            assert beside[column] == pytest.approx(alone[column], rel=1e-14, abs=1e-16), column
        else:
            assert beside[column] == alone[column], column


def test_values_beside_a_huge_one_are_right_to_the_last_digit(tmp_path: Path) -> None:
    """0.55775 and not 0.5574, as score says too."""
    session = asking(tmp_path, {"A": huge([0.5] * 4), "B": [0.5574, 0.5581, 0.5577, 0.5578]})
    row = compared(session, "compare M for B, A on T")
    assert row["value_a"] == 0.55775
    assert row["value_b"] == (10**14 + 1.5) / 4
    assert session.run("score M for B on T").table.column("M") == (0.55775,)


def test_exchanges_beside_a_huge_value_tie_as_fractions_do(tmp_path: Path) -> None:
    """On the first document A has 10^14 more, so that only the rest decides: sevenths, which fixed point is too coarse
    to hold but fine enough to tell apart."""
    over = [[3, 1, 6, 2, 2, 5, 1, 4], [1, 2, 3, 3, 1, 6, 5, 2]]
    first, second = ([number / 7 for number in of_system] for of_system in over)
    rest = [a - b for a, b in zip(*over, strict=True)]
    reached = sum(
        sum(sign * difference for sign, difference in zip(signs, rest, strict=True)) >= sum(rest)
        for signs in product((1, -1), repeat=len(rest))
    )
    session = asking(tmp_path, {"A": [1e14, *first], "B": [0.0, *second]})
    assert compared(session, "compare M for A, B on T exact one-sided")["p"] == reached / 2**9
    assert compared(session, "compare M for A, B on T exact")["p"] == reached / 2**8


# --- values that are 0 or 1 -------------------------------------------------------------------------------------------


def test_z_and_chi_square_take_values_that_are_0_or_1(tmp_path: Path) -> None:
    source = np.random.default_rng(3)
    right = (source.random((2, 80)) < np.array([[0.7], [0.5]])).astype(int)
    session = asking(tmp_path, {"A": right[0].tolist(), "B": right[1].tolist()}, "accuracy")
    hits = right.sum(axis=1)
    statistic, p = proportions_ztest(hits, [80, 80])
    found = compared(session, "compare accuracy for A, B on T test z")
    assert (found["statistic"], found["p"]) == (pytest.approx(statistic), pytest.approx(p))
    table = [[hits[0], 80 - hits[0]], [hits[1], 80 - hits[1]]]
    oracle = stats.chi2_contingency(table, correction=False)
    found = compared(session, "compare accuracy for A, B on T test chi-square")
    assert (found["statistic"], found["p"]) == (pytest.approx(oracle.statistic), pytest.approx(oracle.pvalue))
    with pytest.raises(Exception, match="values that are 0 or 1"):
        compared(asking(tmp_path, SMALL), "compare M for A, B on T test z")

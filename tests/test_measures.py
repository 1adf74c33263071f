"""The measures: their formulas on worked numbers, and the law that the result in SQL equals the result in numpy."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures import MEASURES, Measure, Ratio, find_measure, settle
from evalhouse.warehouse.measures.extraction import COLUMNS as COUNTS
from evalhouse.warehouse.measures.extraction import MATCH
from evalhouse.warehouse.measures.filtering import auc
from evalhouse.warehouse.plans import scores
from evalhouse.warehouse.plans.plan import Entry, StoredSystem, TestSet
from evalhouse.warehouse.store.connecting import in_memory
from tests.conftest import write_csv

GE_TST3 = {
    "possible": 1661,
    "actual": 1769,
    "correct": 889,
    "partial": 143,
    "incorrect": 100,
    "spurious": 637,
    "missing": 529,
    "noncommittal": 1624,
}
"""The ALL TEMPLATES row of GE's official score report on TST3."""

GE_CELLS = {"a": 58, "b": 9, "c": 7, "d": 22, "x": 4, "y": 0}
"""GE's decisions on TST3 as whole documents; table 2 of Lewis and Tong prints recall 91, precision 87, fallout 28."""


def value(name: str, task: str, counts: dict[str, int], **parameters: Decimal | str) -> Fraction:
    measure = find_measure(name, task)
    assert measure is not None
    ratio = settle(measure, parameters).computation
    assert isinstance(ratio, Ratio)
    over = sum(coefficient * counts[column] for column, coefficient in ratio.numerator)
    under = sum(coefficient * counts[column] for column, coefficient in ratio.denominator)
    return ratio.factor * Fraction(over, under)


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("recall", {}, Fraction(2 * 889 + 143, 2 * 1661)),
        ("precision", {}, Fraction(2 * 889 + 143, 2 * 1769)),
        ("F", {}, Fraction(2 * 889 + 143, 1661 + 1769)),
        ("F", {"beta": Decimal("0.5")}, Fraction(5, 4) * Fraction(1921, 2) / (Fraction(1661, 4) + 1769)),
        ("F", {"beta": Decimal(2)}, 5 * Fraction(1921, 2) / (4 * 1661 + 1769)),
        ("recall", {"partial": Decimal(0)}, Fraction(889, 1661)),
        ("recall", {"partial": Decimal(1)}, Fraction(889 + 143, 1661)),
        ("overgeneration", {}, Fraction(637, 1769)),
        ("undergeneration", {}, Fraction(529, 1661)),
        ("substitution", {}, (100 + Fraction(143, 2)) / (889 + 143 + 100)),
        ("error", {}, (100 + Fraction(143, 2) + 529 + 637) / (889 + 143 + 100 + 529 + 637)),
        ("error", {"partial": Decimal(1)}, Fraction(100 + 529 + 637, 889 + 143 + 100 + 529 + 637)),
    ],
)
def test_extraction_on_the_official_totals_of_ge(name: str, parameters: dict[str, Decimal], expected: Fraction) -> None:
    assert value(name, "extraction", GE_TST3, **parameters) == expected


def test_f_is_the_weighted_harmonic_mean_of_recall_and_precision() -> None:
    recall, precision = (value(name, "extraction", GE_TST3) for name in ("recall", "precision"))
    for beta in (Decimal("0.5"), Decimal(1), Decimal("3.7")):
        weight = Fraction(beta) ** 2
        expected = (weight + 1) * precision * recall / (weight * precision + recall)
        assert value("F", "extraction", GE_TST3, beta=beta) == expected


@pytest.mark.parametrize(
    ("name", "optional", "expected"),
    [
        ("recall", "credit", Fraction(62, 69)),
        ("recall", "excluded", Fraction(58, 65)),
        ("recall", "relevant", Fraction(62, 69)),
        ("recall", "nonrelevant", Fraction(58, 65)),
        ("precision", "credit", Fraction(62, 71)),
        ("precision", "excluded", Fraction(58, 67)),
        ("precision", "nonrelevant", Fraction(58, 71)),
        ("fallout", "credit", Fraction(9, 31)),
        ("fallout", "nonrelevant", Fraction(13, 35)),
        ("accuracy", "credit", Fraction(84, 100)),
        ("accuracy", "excluded", Fraction(80, 96)),
        ("accuracy", "nonrelevant", Fraction(80, 100)),
    ],
)
def test_filtering_with_each_way_to_count_optional_documents(name: str, optional: str, expected: Fraction) -> None:
    assert value(name, "filtering", GE_CELLS, optional=optional) == expected


def test_auc_is_the_share_of_pairs_in_the_right_order_ties_counting_one_half() -> None:
    confidence = np.array([0.9, 0.5, 0.5, 0.1, 0.99])
    label = np.array(["relevant", "relevant", "nonrelevant", "nonrelevant", "optional"])
    assert auc(confidence, label, "credit") == (1 + 1 + 0.5 + 1) / 4
    assert auc(confidence, label, "nonrelevant") == (1 + 1 + 0 + 0.5 + 1 + 0) / 6
    assert auc(confidence[:2], label[:2], "credit") is None


RATIOS = [measure for measure in MEASURES if isinstance(settle(measure, {}).computation, Ratio)]


@pytest.mark.parametrize("measure", RATIOS, ids=lambda measure: f"{measure.kind} {measure.name}")
def test_the_denominator_is_positive_and_the_coefficients_are_coprime(measure: Measure) -> None:
    ratio = settle(measure, {}).computation
    assert isinstance(ratio, Ratio)
    assert all(coefficient > 0 for _, coefficient in ratio.denominator)
    for form in (ratio.numerator, ratio.denominator):
        assert np.gcd.reduce([coefficient for _, coefficient in form]) == 1


tuples = st.tuples(*(st.integers(0, 9) for _ in range(10)))


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(rows=st.lists(tuples, min_size=1, max_size=8), beta=st.sampled_from(["0.5", "1", "1.25", "2"]))
def test_the_sql_reading_equals_the_numpy_reading(
    rows: list[tuple[int, ...]], beta: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Random tuples, stored and summed in the database, and summed in numpy: numerators and denominators are the
    same.
    """
    counts: dict[str, list[int]] = {name: [] for name in COUNTS}
    for correct, partial, incorrect, *others in rows:
        spurious, missing = others[:2]
        matched = correct + partial + incorrect
        row = (matched + missing, matched + spurious, correct, partial, incorrect, *others)
        for name, count in zip(COUNTS, row, strict=True):
            counts[name].append(count)
    path = write_csv(
        Path(tmp_path_factory.mktemp("law")) / "rows.csv",
        f"test_set system document {' '.join(COUNTS)}",
        [("T", "S", f"d{k}", *(counts[name][k] for name in COUNTS)) for k in range(len(rows))],
    )
    statistics = tuple(
        settle(measure, {**({"beta": Decimal(beta)} if measure.name == "F" else {}), **match})
        for measure in RATIOS
        if measure.kind == "extraction"
        for match in ({}, *({"match": way} for way in MATCH.choices))
    )
    with in_memory() as database:
        load(database, path, "scores")
        entry = Entry(TestSet(1, "T", "T"), KINDS["extraction"], statistics, (StoredSystem(1, "S"),))
        ((_, documents, *sums),) = database.rows(scores.score_sums(entry, (), None))
    assert documents == len(rows)
    arrays = {name: np.array(column, dtype=np.int64) for name, column in counts.items()}
    for place, statistic in enumerate(statistics):
        assert isinstance(statistic.computation, Ratio)
        over, under = statistic.computation.read(arrays)
        assert (int(over.sum()), int(under.sum())) == (sums[2 * place], sums[2 * place + 1])

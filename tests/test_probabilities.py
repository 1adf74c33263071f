"""Brier score, log loss and calibration error of confidences: compared with scikit-learn and with definitions, and
their exact tests with enumeration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures import Probabilities, find_measure, settle
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

Answers = Sequence[tuple[bool, float]]
"""Whether a document is relevant, and the probability that it is."""

probabilities = st.one_of(
    st.floats(0, 1, allow_subnormal=False),
    st.sampled_from([0.0, 0.25, 0.5, 0.6, 1.0]),
    st.integers(0, 15).map(lambda k: k / 15),
)
answers: st.SearchStrategy[Answers] = st.lists(st.tuples(st.booleans(), probabilities), min_size=1, max_size=12)


def calibration_error(pairs: Answers, bins: int) -> float:
    """Bin by bin, as in the definition."""
    top = [(max(p, 1 - p), (p > 0.5) == relevant) for relevant, p in pairs]
    total = 0.0
    for place in range(bins):
        of_bin = [(p, right) for p, right in top if int(np.ceil(p * bins)) - 1 == place]
        if of_bin:
            accuracy, confidence = np.mean([right for _, right in of_bin]), np.mean([p for p, _ in of_bin])
            total += float(abs(accuracy - confidence)) * len(of_bin) / len(pairs)
    return total


def brier(pairs: Answers) -> float:
    return float(brier_score_loss([int(of) for of, _ in pairs], [p for _, p in pairs], pos_label=1))


def loss(pairs: Answers) -> float:
    return float(log_loss([int(of) for of, _ in pairs], [p for _, p in pairs], labels=[0, 1]))


ORACLES: dict[str, Callable[[Answers], float]] = {
    "brier": brier,
    "log-loss": loss,
    "ECE(bins=15)": lambda pairs: calibration_error(pairs, 15),
}


def computed(name: str, pairs: Answers, bins: int | None = None) -> float | None:
    measure = find_measure(name.partition("(")[0], "filtering")
    assert measure is not None
    computation = settle(measure, {} if bins is None else {"bins": Decimal(bins)}).computation
    assert isinstance(computation, Probabilities)
    labels = np.array(["relevant" if relevant else "nonrelevant" for relevant, _ in pairs])
    return computation.value(np.array([p for _, p in pairs]), labels)


@given(answers)
def test_values_are_those_of_the_oracles(pairs: Answers) -> None:
    for name, oracle in ORACLES.items():
        assert computed(name, pairs) == pytest.approx(oracle(pairs), abs=1e-12)


@given(answers)
def test_what_is_no_probability_has_no_value(pairs: Answers) -> None:
    for name in ORACLES:
        assert computed(name, [*pairs, (True, 1.5)]) is None
        assert computed(name, [*pairs, (True, float("nan"))]) is None


@given(answers, st.integers(1, 9))
def test_bins_never_make_the_error_smaller_than_that_of_one(pairs: Answers, bins: int) -> None:
    """One bin compares the accuracy with the mean confidence, and errors of finer bins may cancel there."""
    of_bins, of_one = computed("ECE", pairs, bins), computed("ECE", pairs, 1)
    assert of_bins is not None
    assert of_one is not None
    assert of_bins == pytest.approx(calibration_error(pairs, bins), abs=1e-12)
    assert of_bins >= of_one - 1e-12


def loaded(folder: Path, systems: dict[str, Answers]) -> Session:
    with create(folder / "w.duckdb") as database:
        for system, pairs in systems.items():
            rows = [(f"d{k:02}", int(of), int(p >= 0.5), repr(p)) for k, (of, p) in enumerate(pairs)]
            path = write_csv(folder / f"{system}.csv", "id y_true y_pred score", rows)
            load(database, path, "sklearn", fields={"test_set": "T", "system": system})
    return Session.open(folder / "w.duckdb")


plain = st.integers(1, 99).map(lambda percent: percent / 100)


@pytest.mark.long
@settings(max_examples=8)
@given(st.lists(st.tuples(st.booleans(), plain, plain), min_size=2, max_size=6))
@example([(False, 0.9, 0.8), (False, 0.2, 0.4), (False, 0.8, 0.1)])  # every exchange ties in ECE, as decimals do
def test_exact_p_counts_every_exchange_of_documents(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[bool, float, float]]
) -> None:
    systems: dict[str, Answers] = {side: [(row[0], row[place]) for row in rows] for place, side in ((1, "a"), (2, "b"))}
    with loaded(tmp_path_factory.mktemp("probable"), systems) as session:
        found = session.run(f"compare {', '.join(ORACLES)} for a, b on T exact").rows
        scores = session.run(f"score {', '.join(ORACLES)} for a on T").rows
    for row in found:
        value = ORACLES[str(row["measure"])]
        assert row["value_a"] == pytest.approx(value(systems["a"]), abs=1e-9)
        assert scores[0][str(row["measure"])] == pytest.approx(value(systems["a"]), abs=1e-12)
        differences = []
        for swapped in product((False, True), repeat=len(rows)):
            sides = [
                [(of, pair[swap ^ place]) for (of, *pair), swap in zip(rows, swapped, strict=True)] for place in (0, 1)
            ]
            differences.append(abs(value(sides[0]) - value(sides[1])))
        assert row["p"] == pytest.approx(sum(of >= differences[0] - 1e-12 for of in differences) / len(differences))


def test_a_missing_document_has_no_probability(tmp_path: Path) -> None:
    with loaded(tmp_path, {"a": [(True, 0.5), (False, 0.25)], "b": [(True, 0.5)]}) as session:
        with pytest.raises(QueryError, match="brier needs one"):
            session.run("compare brier for a, b on T missing zero")
        (row,) = session.run("compare brier for a, b on T missing drop").rows
        alone = {of["system"]: of["brier"] for of in session.run("score brier for all on T interval").rows}
    assert row["difference"] == 0
    assert alone == {"a": pytest.approx((0.25 + 0.0625) / 2), "b": 0.25}

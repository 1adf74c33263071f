"""`missing bounds`: every completion of the missing documents, by brute force, lies between the bounds, and both bounds
are reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

RIGHT = {"A": "1101?11?", "B": "01001?01", "C": "00000000"}
"""Right and wrong answers to eight questions; ? where there is none."""

TUPLES = {
    "A": {"d1": (4, 3, 3), "d2": (5, 5, 2), "d3": (3, 2, 2), "d4": None},
    "B": {"d1": (4, 4, 1), "d2": None, "d3": (3, 4, 1), "d4": (6, 5, 2)},
}
"""possible, actual, correct."""

DECIDED = {"A": "yyny?nny", "B": "ynn?ynyn"}
KEY = "RRNRNRON"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    tmp_path = tmp_path_factory.mktemp("bounds")
    values = [("t", s, f"q{k}", "m", int(v)) for s, of in RIGHT.items() for k, v in enumerate(of) if v != "?"]
    scores = [("t", s, d, *counts, 0) for s, of in TUPLES.items() for d, counts in of.items() if counts]
    said = {"y": "yes", "n": "no"}
    decisions = [("t", s, f"e{k}", said[v]) for s, of in DECIDED.items() for k, v in enumerate(of) if v != "?"]
    label = {"R": "relevant", "N": "nonrelevant", "O": "optional"}
    labels = [("t", f"e{k}", label[v]) for k, v in enumerate(KEY)]
    files = [
        (write_csv(tmp_path / "v.csv", "test_set system document measure value", values), "values"),
        (
            write_csv(tmp_path / "s.csv", "test_set system document possible actual correct partial", scores),
            "scores",
        ),
        (write_csv(tmp_path / "d.csv", "test_set system document decision", decisions), "decisions"),
        (write_csv(tmp_path / "l.csv", "test_set document label", labels), "labels"),
    ]
    with create(tmp_path / "w.duckdb") as database:
        for path, reader in files:
            load(database, path, reader)
    with Session.open(tmp_path / "w.duckdb") as opened:
        yield opened


def exchanged(first: list[int], second: list[int]) -> float:
    """The exact two-sided p of all exchanges of right and wrong answers."""
    steps = [a - b for a, b in zip(first, second, strict=True)]
    sums = [abs(sum(s * d for s, d in zip(signs, steps, strict=True))) for signs in product((1, -1), repeat=len(steps))]
    return sum(total >= abs(sum(steps)) for total in sums) / len(sums)


def test_right_and_wrong_answers_lie_between_the_bounds(session: Session) -> None:
    (row,) = session.run("compare m for A, B on t missing bounds").rows
    gaps = [(s, k) for s in "AB" for k, v in enumerate(RIGHT[s]) if v == "?"]
    differences, levels = [], []
    for filled in product((0, 1), repeat=len(gaps)):
        answers = {
            s: [int(v) if v != "?" else filled[gaps.index((s, k))] for k, v in enumerate(RIGHT[s])] for s in "AB"
        }
        differences.append((sum(answers["A"]) - sum(answers["B"])) / 8)
        levels.append(exchanged(answers["A"], answers["B"]))
    assert (row["difference_low"], row["difference_high"]) == (min(differences), max(differences))
    assert float(row["p_low"] or 0) == pytest.approx(min(levels))
    assert float(row["p_high"] or 0) == pytest.approx(max(levels))
    assert row["verdict"] == "not significant"


@pytest.mark.long
def test_a_difference_is_significant_only_if_it_is_with_every_completion(session: Session) -> None:
    (row,) = session.run("compare m for A, C on t missing bounds level 0.1").rows
    assert (row["verdict"], row["difference_low"], row["difference_high"]) == ("significant", 0.625, 0.875)
    result = session.run("compare m for A, C on t missing bounds level 0.02")
    assert [row["verdict"] for row in result.rows] == ["undecided"]
    assert any("depends on the missing documents" in note for note in result.notes)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_few_shuffles_make_no_verdict_sure(session: Session, seed: int) -> None:
    result = session.run(f"compare m for A, C on t missing bounds shuffles 60 level 0.1 seed {seed}")
    assert [row["verdict"] for row in result.rows] == ["undecided"]
    assert any("undecided, as at confidence 0.99 the exact p" in note for note in result.notes)
    assert not any("depends on the missing documents" in note for note in result.notes)
    [row] = session.run(f"compare m for A, C on t missing bounds shuffles 5000 level 0.1 seed {seed}").rows
    assert row["verdict"] == "significant"


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("recall", lambda p, a, c: c / p),
        ("precision", lambda p, a, c: c / a),
        ("F", lambda p, a, c: 2 * c / (p + a)),
    ],
)
def test_score_tuples_lie_between_the_bounds(session: Session, measure: str, value: Callable[..., float]) -> None:
    (row,) = session.run(f"compare {measure} of extraction for A, B on t missing bounds").rows
    options = {"d4": [(6, a, c) for a in range(7) for c in range(a + 1)], "d2": []}
    options["d2"] = [(5, a, c) for a in range(6) for c in range(a + 1)]

    def totals(system: str, gap: str, filled: tuple[int, int, int]) -> tuple[int, ...]:
        rows = [filled if d == gap else counts for d, counts in TUPLES[system].items()]
        return tuple(sum(column) for column in zip(*[row for row in rows if row], strict=True))

    # d4 could have been answered 5 times at most as wrong as B's, or right in all of its 6.
    first = [value(*totals("A", "d4", o)) for o in options["d4"] if o[1] <= 5 or o == (6, 6, 6)]
    second = [value(*totals("B", "d2", o)) for o in options["d2"]]
    assert row["difference_low"] == pytest.approx(min(first) - max(second))
    assert row["difference_high"] == pytest.approx(max(first) - min(second))


def test_decisions_lie_between_the_bounds(session: Session) -> None:
    (row,) = session.run("compare F of filtering for A, B on t missing bounds").rows
    values: dict[str, list[float]] = {}
    for system, decided in DECIDED.items():
        for filled in "yn":
            said = decided.replace("?", filled)
            both = list(zip(said, KEY, strict=True))
            a, b, c = (both.count(cell) for cell in (("y", "R"), ("y", "N"), ("n", "R")))
            # An optional document that was found counts as relevant.
            a += both.count(("y", "O"))
            values.setdefault(system, []).append(2 * a / (2 * a + b + c))
    assert row["difference_low"] == pytest.approx(min(values["A"]) - max(values["B"]))
    assert row["difference_high"] == pytest.approx(max(values["A"]) - min(values["B"]))


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("group m for all on t missing bounds", "works only with compare"),
        ("compare MCC for A, B on t missing bounds", "needs a ratio of sums"),
    ],
)
def test_what_has_no_bounds_is_refused(session: Session, statement: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        session.run(statement)

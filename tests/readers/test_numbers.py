"""Predicted numbers beside true ones: which tables hold them, what the measures are, and how systems are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

import evalhouse as eh
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing.numbers import Predicted, sums_of_ranks, value
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.records import NUMBERS as PREDICTIONS
from evalhouse.warehouse.loading.export import export_form
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import READERS, Start
from evalhouse.warehouse.measures import find_measure, settle
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.slices import contributions
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.conftest import write_csv
from tests.store.texts import Load

TRUTHS = [0.5, 1.5, 2.0, 3.5, 4.0, 4.5, 1.0, 3.0]
FIRST = [0.7, 1.1, 2.4, 3.1, 4.2, 4.0, 1.6, 2.9]
SECOND = [1.9, 0.8, 2.0, 2.2, 4.9, 3.1, 2.7, 3.3]

Measured = Callable[[Iterable[float], Iterable[float]], float]
MEASURES: dict[str, Measured] = {
    "pearson": lambda truths, said: stats.pearsonr(truths, said)[0],
    "spearman": lambda truths, said: stats.spearmanr(truths, said)[0],
    "kendall": lambda truths, said: stats.kendalltau(truths, said)[0],
    "rmse": metrics.root_mean_squared_error,
    "mae": metrics.mean_absolute_error,
    "r2": metrics.r2_score,
}
"""As SciPy and scikit-learn compute them."""


def of(name: str, truths: list[float], said: list[float]) -> float | None:
    measure = find_measure(name, "numbers")
    assert measure is not None
    return value(settle(measure, {}).computation, np.array(truths), np.array(said))  # type: ignore[arg-type]


def asking(folder: Path, text: str = "") -> Session:
    """A warehouse with the two systems, or with a table."""
    path = folder / "sts.csv"
    if text:
        path.write_text(text, encoding="utf-8")
    else:
        rows = [(f"p{place}", *row) for place, row in enumerate(zip(TRUTHS, FIRST, SECOND, strict=True))]
        path = write_csv(path, "id gold first second", rows)
    database = in_memory().__enter__()
    load(database, path, "numbers", fields={"test_set": "sts"})
    return Session(database)


def row(session: Session, statement: str) -> dict[str, object]:
    table = session.run(statement).table
    return dict(zip((column.name for column in table.columns), table.rows[0], strict=True))


# === values ===========================================================================================================

NUMBERS = st.one_of(st.integers(-5, 5).map(float), st.floats(-100, 100, allow_subnormal=False))
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=30)


@pytest.mark.parametrize("name", MEASURES)
@settings(deadline=None)
@given(pairs=PAIRS)
def test_values_are_those_of_scipy_and_scikit_learn(name: str, pairs: list[tuple[float, float]]) -> None:
    truths, said = map(list, zip(*pairs, strict=True))
    assume(np.ptp(truths) > 1e-3 and np.ptp(said) > 1e-3)
    assert of(name, truths, said) == pytest.approx(MEASURES[name](truths, said), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_a_correlation_of_numbers_that_do_not_vary_is_undefined(name: str) -> None:
    assert of(name, TRUTHS, [2.0] * len(TRUTHS)) is None


@given(pairs=PAIRS, by=st.sampled_from([0.25, 2.0, 8.0]), more=st.integers(-9, 9))
def test_pearson_does_not_see_scale_and_origin(pairs: list[tuple[float, float]], by: float, more: int) -> None:
    truths, said = map(list, zip(*pairs, strict=True))
    assume(np.ptp(truths) > 1e-3 and np.ptp(said) > 1e-3)
    assert of("pearson", truths, [by * number + more for number in said]) == pytest.approx(
        of("pearson", truths, said), abs=1e-9
    )


@given(pairs=st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=30))
def test_correlations_of_ranks_see_only_the_order(pairs: list[tuple[int, int]]) -> None:
    truths, said = ([float(number) for number in side] for side in zip(*pairs, strict=True))
    for name in ("spearman", "kendall"):
        assert of(name, truths, said) == of(name, truths, [number**3 for number in said])


# === comparisons ======================================================================================================


def brute_force(name: str, first: list[float], second: list[float]) -> float:
    """The share of all exchanges whose difference is at least the observed one."""
    differences = []
    for turned in product((False, True), repeat=len(TRUTHS)):
        sides = [(b, a) if turn else (a, b) for turn, a, b in zip(turned, first, second, strict=True)]
        of_each = [MEASURES[name](TRUTHS, list(side)) for side in zip(*sides, strict=True)]
        differences.append(abs(np.subtract(*np.nan_to_num(of_each))))
    return float(np.mean(np.array(differences) >= differences[0] - 1e-9))


@pytest.mark.parametrize("name", MEASURES)
def test_exact_p_is_that_of_all_exchanges(name: str, tmp_path: Path) -> None:
    found = row(asking(tmp_path), f"compare {name} for first, second on sts test randomization")
    assert found["value_a"] == pytest.approx(MEASURES[name](TRUTHS, FIRST), abs=1e-12)
    assert found["value_b"] == pytest.approx(MEASURES[name](TRUTHS, SECOND), abs=1e-12)
    assert (found["method"], found["differing"]) == ("exact", len(TRUTHS))
    assert found["p"] == pytest.approx(brute_force(name, FIRST, SECOND), abs=1e-12)


def test_equal_predictions_do_not_differ(tmp_path: Path) -> None:
    pairs = enumerate(zip(TRUTHS, FIRST, strict=True))
    text = "id,gold,a,b\n" + "".join(f"p{n},{t},{a},{a if n else 9.5}\n" for n, (t, a) in pairs)
    for name in MEASURES:
        found = row(asking(tmp_path, text), f"compare {name} for a, b on sts")
        assert (found["differing"], found["p"]) == (1, 1.0)


def test_lower_errors_are_better(tmp_path: Path) -> None:
    session = asking(tmp_path)
    for name in ("rmse", "mae"):
        table = session.run(f"rank {name} for all on sts").table
        assert table.column("system") == ("first", "second")
    assert row(session, "expect better compare rmse for first against second on sts")["met"] is True


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_has_intervals(name: str, tmp_path: Path) -> None:
    drawn = np.random.default_rng(7)
    truths = drawn.normal(size=60)
    rows = [f"d{n},{t:.4f},{t + drawn.normal():.4f},{t + drawn.normal():.4f}" for n, t in enumerate(truths)]
    session = asking(tmp_path, "\n".join(["id,gold,a,b", *rows, ""]))
    found = row(session, f"score {name} for all on sts interval")
    assert found[f"ci_low({name})"] < found[name] < found[f"ci_high({name})"]  # type: ignore[operator]
    pair = row(session, f"compare {name} for a, b on sts shuffles 500")
    assert pair["ci_low"] < pair["difference"] < pair["ci_high"]  # type: ignore[operator]


def test_a_document_without_a_prediction_has_none(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="missing zero gives no prediction to a document that a system lacks"):
        asking(tmp_path).run("compare pearson for first, second on sts missing zero")


# === documents behind a difference ====================================================================================

EACH = st.lists(st.tuples(*[st.integers(0, 5).map(float)] * 5), min_size=4, max_size=12)
"""Of each document the true number, and what four systems predict; many are equal."""


def sums(name: str, rows: list[tuple[float, ...]]) -> Sums:
    measure = find_measure(name, "numbers")
    assert measure is not None
    truths, *predictions = (np.array(column) for column in zip(*rows, strict=True))
    numbers = Predicted.of(np.stack([truths] * 4), np.stack(predictions), np.arange(len(rows)))
    return sums_of_ranks([numbers], settle(measure, {}).computation)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["spearman", "kendall"])
@given(rows=EACH, pair=st.permutations(range(4)).map(lambda places: places[:2]))
def test_two_of_several_systems_have_their_values(name: str, rows: list[tuple[float, ...]], pair: list[int]) -> None:
    everyone = sums(name, rows)
    two = everyone.only(pair)
    assert two.valuation is not everyone.valuation
    np.testing.assert_array_equal(two.values(), everyone.values()[pair])
    assert [two.exactly(place) for place in range(2)] == [everyone.exactly(place) for place in pair]


@pytest.mark.parametrize("name", ["spearman", "kendall"])
@given(rows=EACH)
def test_half_of_each_system_is_every_document_with_both_predictions(name: str, rows: list[tuple[float, ...]]) -> None:
    two = sums(name, rows).only((0, 1))
    mixed = two.valuation.values(two.counts.sum(axis=(0, 2))[:, None] / 2)[0]
    truths, first, second, *_ = (list(column) for column in zip(*rows, strict=True))
    expected = of(name, truths * 2, first + second)
    assert mixed == pytest.approx(np.nan if expected is None else expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["spearman", "kendall"])
@given(rows=EACH)
def test_contributions_add_up_and_are_of_documents_that_differ(name: str, rows: list[tuple[float, ...]]) -> None:
    two = sums(name, rows).only((0, 1))
    assume(np.isfinite(two.values()).all())
    found = contributions(two)
    assert found.sum() == pytest.approx(two.values()[0] - two.values()[1], abs=1e-7)
    alike = [first == second for _, first, second, *_ in rows]
    assert (np.abs(found[alike]) < 1e-12).all()
    np.testing.assert_allclose(contributions(sums(name, rows).only((1, 0))), -found, atol=1e-6)


@pytest.mark.parametrize("name", ["spearman", "kendall"])
def test_of_too_many_documents_neighbours_are_exchanged_together(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalhouse.warehouse.comparing.numbers.CELLS", 2 * 4**2)
    session = asking(tmp_path)
    result = session.run(f"compare {name} for first, second on sts")
    assert f"{name} on sts: 8 documents are exchanged in 4 blocks of neighbouring ones" in result.notes
    assert result.table.column("p")[0] * 16 % 1 == 0  # type: ignore[operator]
    for asked in ("documents {} for first, second on sts", "compare {} for first, second on sts anytime"):
        with pytest.raises(
            QueryError, match="combines 8 documents in 4 blocks, so the values of single ones are not known"
        ):
            session.run(asked.format(name))


# === tables ===========================================================================================================


@pytest.mark.parametrize(
    ("reader", "table"),
    [
        ("numbers", "id,gold,a,b\n1,0,0.1,0.5\n2,2,0.2,0.1\n"),
        ("numbers", "id,y_true,y_pred\n1,2.5,2.1\n2,1.0,3.0\n"),
        ("numbers", "id,model,human,prediction\n1,m,3,4\n2,m,1,1\n"),
        ("sklearn", "id,y_true,y_pred\n1,2,3\n2,1,1\n"),
        ("sklearn", "id,y_true,y_pred\n1,1,0.9\n2,0,0.2\n"),
        ("", "id,gold,f1\n1,0.5,0.7\n2,0.1,0.3\n"),
        ("", "id,label,score\n1,1,0.7\n2,0,0.3\n"),
    ],
)
def test_fractions_are_numbers_and_whole_numbers_classes(reader: str, table: str) -> None:
    start = Start("in.csv", table)
    claimed = [name for name in ("numbers", "sklearn") if READERS[name].recognizes(start)]
    assert claimed == ([reader] if reader else [])


def test_cells_that_are_no_numbers_have_their_places(tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        asking(tmp_path, "id,gold,a\np1,0.5,x\np2,,1\n")
    assert [(fault.line, fault.message) for fault in error.value.faults] == [
        (2, "a is 'x', not a number from -1e15 to 1e15"),
        (3, "gold is empty"),
    ]


SYSTEM_BY_SYSTEM = "id,system,gold,prediction\np1,a,1.5,2\np2,a,3,2\n"


@pytest.mark.parametrize(
    ("later", "place"),
    [
        (
            "id,gold,b\np1,1.50,2\np2,3.25,2\n",
            (3, "the true number of document p2 of sts is 3.25, but 3.0 for a in in.csv"),
        ),
        (
            "id,system,gold,prediction\np3,b,1.5,2\np3,c,2.5,2\n",
            (2, "the true number of document p3 of sts is 1.5, but 2.5 for c"),
        ),
    ],
)
def test_a_document_has_one_true_number(
    later: str, place: tuple[int, str], database: Database, load_text: Load
) -> None:
    load_text(SYSTEM_BY_SYSTEM, "numbers", fields={"test_set": "sts"})
    with pytest.raises(DataError) as error:
        load_text(later, "numbers", fields={"test_set": "sts"}, file="later.csv")
    (fault,) = error.value.faults
    assert (fault.line, fault.message) == (place[0], place[1])
    assert database.rows(Sql("select count(*) from prediction")) == [(2,)]
    load_text(later.replace("2.5", "1.5").replace("3.25", "3.0"), "numbers", fields={"test_set": "sts"})


@pytest.mark.parametrize(
    ("file", "text", "named"),
    [
        ("sts.csv", "id,gold,a,b\n1,0,0.1,0.5\n2,2,0.2,0.1\n", {("sts", "a"), ("sts", "b")}),
        ("sts.csv", "id,gold,a\n1,0,0.1\n2,2,0.2\n", {("sts", "a")}),
        ("sts.csv", "id,model,human,prediction\n1,m,0,0.1\n1,n,0,0.1\n", {("sts", "m"), ("sts", "n")}),
        ("m.csv", "id,y_true,y_pred\n1,0.5,0.1\n2,2,1.1\n", {("FOLDER", "m")}),
        ("m.csv", "id,dataset,y_true,y_pred\n1,s,0.5,0.1\n2,t,2,1.1\n", {("s", "m"), ("t", "m")}),
    ],
)
def test_names_that_no_column_gives_are_those_of_the_file(
    file: str, text: str, named: set[tuple[str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "FOLDER" / file
    path.parent.mkdir()
    path.write_text(text)
    with in_memory() as database:
        load(database, path, "numbers")
        assert set(database.rows(Sql("select test_set, system from predictions"))) == named


def test_what_was_exported_is_loaded_again(tmp_path: Path) -> None:
    database, rows = asking(tmp_path).database, Sql("select * exclude (import_id) from predictions order by all")
    export_form(database, PREDICTIONS, tmp_path / "numbers.csv")
    with in_memory() as again:
        load(again, tmp_path / "numbers.csv", "numbers")
        assert again.rows(rows) == database.rows(rows)


# === tables in memory =================================================================================================

IDS = [f"p{place}" for place in range(len(TRUTHS))]
WIDE = {"gold": TRUTHS, "first": FIRST, "second": SECOND}


@pytest.mark.parametrize(
    "data",
    [
        WIDE,
        {"id": IDS, **WIDE},
        {"id": IDS, "truth": TRUTHS, "first": np.array(FIRST), "second": np.array(SECOND)},
        pd.DataFrame(WIDE),
        pd.DataFrame(WIDE, index=pd.Index(IDS, name="id")),
        pd.DataFrame(
            {"id": IDS * 2, "model": ["first"] * 8 + ["second"] * 8, "human": TRUTHS * 2, "prediction": FIRST + SECOND}
        ),
        [{"id": name, "gold": t, "first": a, "second": b} for name, t, a, b in zip(IDS, *WIDE.values(), strict=True)],
    ],
)
@pytest.mark.parametrize("name", ["pearson", "kendall"])
def test_python_asks_about_true_numbers_and_predictions(name: str, data: object) -> None:
    (found,) = eh.compare(data, name, "first", "second").rows
    assert (found["task"], found["documents"]) == ("numbers", 8)
    assert found["value_a"] == pytest.approx(MEASURES[name](TRUTHS, FIRST), abs=1e-12)
    assert found["p"] == pytest.approx(brute_force(name, FIRST, SECOND), abs=1e-12)


def test_whole_numbers_are_numbers_for_a_correlation() -> None:
    stars = {"id": IDS, "gold": [1, 2, 3, 4, 5, 1, 2, 3], "a": [1, 2, 3, 3, 5, 1, 2, 2]}
    (found,) = eh.score(stars, ["spearman", "mae"]).rows
    assert found["spearman"] == pytest.approx(stats.spearmanr(stars["gold"], stars["a"])[0])
    assert found["mae"] == 0.25


# === systems on different scales ======================================================================================


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_standardized_predictions_are_exchanged_as_z_scores(name: str, tmp_path: Path) -> None:
    """A system on another scale has the p that it has on the scale of the z-scores, and the same value."""
    wide = [100 * number - 7 for number in SECOND]
    rows = [f"p{n},{t},{a},{b}" for n, (t, a, b) in enumerate(zip(TRUTHS, FIRST, wide, strict=True))]
    session = asking(tmp_path, "\n".join(["id,gold,first,second", *rows, ""]))
    plain = session.run(f"compare {name} for first, second on sts")
    scaled = session.run(f"compare {name}(standardized=yes) for first, second on sts")
    (as_they_are,), (found,) = plain.rows, scaled.rows
    said = "on different scales, and exchanges mix them"
    assert any(said in note and f"{name}(standardized=yes) exchanges z-scores" in note for note in plain.notes)
    assert not any(said in note for note in scaled.notes)
    assert found["measure"] == f"{name}(standardized=yes)"
    for side in ("value_a", "value_b"):
        assert found[side] == pytest.approx(as_they_are[side], abs=1e-12)
    z_scores = [list(stats.zscore(numbers)) for numbers in (FIRST, SECOND)]
    assert found["p"] == pytest.approx(brute_force(name, *z_scores), abs=1e-12)


def test_errors_are_of_predictions_as_they_are(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="standardized"):
        asking(tmp_path).run("compare rmse(standardized=yes) for first, second on sts")

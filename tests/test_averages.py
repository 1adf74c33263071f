"""Averages over units: `macro(M)`, `weighted(M)` and `support`, compared with scikit-learn and seqeval, their exact
tests with enumeration, and laws that any mean over units keeps.
"""

from __future__ import annotations

import random
import statistics
import warnings
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import seqeval.metrics
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures import UnitAverage, find_measure, settle
from evalhouse.warehouse.measures.averages import of_unit, unit_measure
from evalhouse.warehouse.measures.extraction import ANSWERS, SUPPORT
from evalhouse.warehouse.measures.filtering import average_of_classes
from evalhouse.warehouse.measures.forms import Function, Ratio, of_ratio
from evalhouse.warehouse.results import Cell
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance import standardized
from evalhouse.warehouse.significance.bootstrap import bootstrap_t
from evalhouse.warehouse.significance.bootstrap.bootstrap_t import Resampled, functions
from evalhouse.warehouse.significance.bootstrap.resamples import Resamples
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.shuffles.studentized import studentized_test
from evalhouse.warehouse.significance.sums import Sums, Valuation
from tests.conftest import write_csv
from tests.empty import create

MEASURES = ("precision", "recall", "F")
HOSTILE = ("calm", "Calm", "a b", 'say "hi"', "x' drop table score --", "of unit 1", "макро", "[red]", "$x", "%", "O")
"""Names of classes."""

Classes = tuple[list[str], list[str]]
labels = st.sampled_from(HOSTILE[:5])
predicted: st.SearchStrategy[Classes] = st.lists(st.tuples(labels, labels), min_size=1, max_size=14).map(
    lambda pairs: ([key for key, _ in pairs], [given for _, given in pairs])
)


def average_over(name: str, units: Sequence[int], weighted: bool = False) -> UnitAverage:
    measure = find_measure(name, "extraction")
    assert measure is not None
    computation = settle(measure, {}).computation
    assert isinstance(computation, Ratio)
    return UnitAverage.over_stored(unit_measure(computation, SUPPORT, ANSWERS), weighted, units)


def counts_of(key: Sequence[str], given_: Sequence[str]) -> dict[str, dict[str, list[int]]]:
    """For each class its counts in each document."""
    pairs = list(zip(key, given_, strict=True))
    return {
        name: {
            "possible": [int(of == name) for of, _ in pairs],
            "actual": [int(of == name) for _, of in pairs],
            "correct": [int(a == b == name) for a, b in pairs],
            "partial": [0] * len(pairs),
        }
        for name in sorted({*key, *given_})
    }


def columns_of(average: UnitAverage, counts: Mapping[str, Mapping[str, Sequence[int]]]) -> np.ndarray[Any, Any]:
    """The forms of an average in each document, the classes being units 1, 2 …; of shape (forms, documents)."""
    named = {
        of_unit(count, unit): np.array(numbers)
        for unit, of_class in enumerate(counts.values(), 1)
        for count, numbers in of_class.items()
    }
    return np.stack([sum(by * named[column] for column, by in form) for form in average.forms])


def number(cell: Cell) -> float:
    assert isinstance(cell, float)
    return cell


def reported(key: Sequence[Any], given_: Sequence[Any], average: str) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = precision_recall_fscore_support(key, given_, average=average, zero_division=0)
    return dict(zip(MEASURES, found[:3], strict=True))


# === values ===========================================================================================================


@given(predicted, st.booleans())
def test_classes_are_averaged_as_by_scikit_learn(classes: Classes, weighted: bool) -> None:
    """Also where a class is only true or only answered, and where a measure is undefined for it."""
    counts, wanted = counts_of(*classes), reported(*classes, "weighted" if weighted else "macro")
    for name in MEASURES:
        average = average_over(name, range(1, len(counts) + 1), weighted)
        sums = columns_of(average, counts).sum(axis=1)
        assert average.value(sums.tolist()) == pytest.approx(wanted[name], abs=1e-12)
        assert average.values(sums[:, None].astype(float))[0] == pytest.approx(wanted[name], abs=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=14), st.booleans())
def test_yes_and_no_are_averaged_as_by_scikit_learn(pairs: list[tuple[bool, bool]], weighted: bool) -> None:
    key, given_ = ([pair[place] for pair in pairs] for place in (0, 1))
    wanted = reported(key, given_, "weighted" if weighted else "macro")
    cells = dict.fromkeys("abcdxy", 0)
    for true, said in pairs:
        cells["ac"[not said] if true else "bd"[not said]] += 1
    for name in MEASURES:
        measure = find_measure(name, "filtering")
        assert measure is not None
        average = average_of_classes(measure, settle(measure, {}).settings, weighted)
        assert average is not None
        sums = [sum(by * cells[cell] for cell, by in form) for form in average.forms]
        assert average.value(sums) == pytest.approx(wanted[name], abs=1e-12)


@given(
    st.lists(st.sampled_from("abcdxy"), min_size=1, max_size=12),
    st.sampled_from(["credit", "excluded", "relevant", "nonrelevant"]),
)
def test_optional_documents_are_of_one_class_for_both(decisions: list[str], convention: str) -> None:
    """As if each had been given the class that the convention gives it, or were not there."""
    given_as = {
        "credit": {"x": "a", "y": "d"},
        "excluded": {"x": "", "y": ""},
        "relevant": {"x": "a", "y": "c"},
        "nonrelevant": {"x": "b", "y": "d"},
    }[convention]
    plain = [cell for of in decisions if (cell := given_as.get(of, of))]
    assume(plain)
    for name in MEASURES:
        measure = find_measure(name, "filtering")
        assert measure is not None
        average = average_of_classes(measure, settle(measure, {"optional": convention}).settings, weighted=False)
        assert average is not None
        sums = [sum(by * decisions.count(cell) for cell, by in form) for form in average.forms]
        wanted = reported([cell in "ac" for cell in plain], [cell in "ab" for cell in plain], "macro")
        assert average.value(sums) == pytest.approx(wanted[name], abs=1e-12)


def loaded(folder: Path, systems: Mapping[str, Classes], attributes: Path | None = None) -> Session:
    with create(folder / "w.duckdb") as database:
        for system, (key, given_) in systems.items():
            rows = [(f"d{k:02}", *pair) for k, pair in enumerate(zip(key, given_, strict=True))]
            path = write_csv(folder / f"{system}.csv", "id y_true y_pred", rows)
            load(database, path, "sklearn", fields={"test_set": "T", "system": system})
        if attributes is not None:
            load(database, attributes, "documents")
    return Session.open(folder / "w.duckdb")


hostile = st.sampled_from(HOSTILE)


@pytest.mark.long
@settings(max_examples=12)
@given(st.lists(st.tuples(hostile, hostile, hostile), min_size=2, max_size=9))
def test_what_is_loaded_is_averaged_as_by_scikit_learn(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    """With classes of any name, of which each system may know others; scores, comparisons and tables agree."""
    key, first, second = (list(column) for column in zip(*rows, strict=True))
    asked = ", ".join(f"{word}({name})" for word in ("macro", "weighted") for name in MEASURES)
    with loaded(tmp_path_factory.mktemp("classes"), {"a": (key, first), "b": (key, second)}) as session:
        scores = {row["system"]: row for row in session.run(f"score {asked}, support for all on T").rows}
        pairs = {row["measure"]: row for row in session.run(f"compare {asked} for a, b on T").rows}
    for system, side, given_ in (("a", "value_a", first), ("b", "value_b", second)):
        assert scores[system]["support"] == len(key)
        for word in ("macro", "weighted"):
            wanted = reported(key, given_, word)
            for name in MEASURES:
                label = f"{word}({name})" if name != "F" else f"{word}(F(beta=1))"
                assert scores[system][label] == pytest.approx(wanted[name], abs=1e-12)
                assert pairs[label][side] == pytest.approx(wanted[name], abs=1e-12)


TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-X-Y")
tagged = st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), min_size=1, max_size=5)


@pytest.mark.long
@settings(max_examples=12)
@given(st.lists(tagged, min_size=1, max_size=4))
def test_entity_types_are_averaged_as_by_seqeval(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[tuple[str, str]]]
) -> None:
    """Types that only the key has, or only the answers, and sentences without any entity."""
    gold, found = ([[pair[place] for pair in of] for of in sentences] for place in (0, 1))
    assume(any(tag != "O" for of in gold for tag in of) and any(tag != "O" for of in found for tag in of))
    folder = tmp_path_factory.mktemp("entities")
    (folder / "s.conll").write_text("\n\n".join("\n".join(map(" ".join, of)) for of in sentences) + "\n")
    with create(folder / "w.duckdb") as database:
        load(
            database,
            folder / "s.conll",
            "conll",
            fields={"test_set": "T", "system": "s"},
            columns={"gold": "1", "answers": "2"},
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report: Any = seqeval.metrics.classification_report(gold, found, output_dict=True, zero_division=0)
    with Session.open(folder / "w.duckdb") as session:
        for word in ("macro", "weighted"):
            asked = f"score {word}(precision), {word}(recall), {word}(F1), support for s on T"
            (row,) = session.run(asked).rows
            wanted = report[f"{word} avg"]
            if wanted["support"] or word == "macro":
                assert row[f"{word}(precision)"] == pytest.approx(wanted["precision"], abs=1e-12)
                assert row[f"{word}(recall)"] == pytest.approx(wanted["recall"], abs=1e-12)
                assert row[f"{word}(F1)"] == pytest.approx(wanted["f1-score"], abs=1e-12)
            assert row["support"] == wanted["support"]


# === laws =============================================================================================================


@given(predicted)
def test_recall_weighted_by_support_is_recall(classes: Classes) -> None:
    """Σ support · correct / support over Σ support."""
    counts = counts_of(*classes)
    average = average_over("recall", range(1, len(counts) + 1), weighted=True)
    sums = columns_of(average, counts).sum(axis=1).tolist()
    right = sum(a == b for a, b in zip(*classes, strict=True))
    assert average.exact(sums) == Fraction(right, len(classes[0]))


@given(predicted, st.permutations(range(5)), st.sampled_from(MEASURES), st.booleans())
def test_neither_names_nor_the_order_of_units_nor_units_without_anything_matter(
    classes: Classes, order: list[int], name: str, weighted: bool
) -> None:
    counts = counts_of(*classes)
    nothing = {"possible": [0], "actual": [0], "correct": [0], "partial": [0]}
    padded = [*counts.values(), *[{key: of * len(classes[0]) for key, of in nothing.items()}] * (5 - len(counts))]
    permuted = {str(place): padded[place] for place in order}
    plain, others = average_over(name, range(1, len(counts) + 1), weighted), average_over(name, range(1, 6), weighted)
    value = plain.exact(columns_of(plain, counts).sum(axis=1).tolist())
    assert others.exact(columns_of(others, permuted).sum(axis=1).tolist()) == value


@given(predicted, st.sampled_from(MEASURES), st.integers(2, 5))
def test_documents_that_are_there_several_times_change_nothing(classes: Classes, name: str, times: int) -> None:
    counts = counts_of(*classes)
    average = average_over(name, range(1, len(counts) + 1))
    sums = columns_of(average, counts).sum(axis=1)
    assert average.exact((sums * times).tolist()) == average.exact(sums.tolist())


@given(predicted, st.booleans())
def test_a_ratio_and_the_same_as_an_expression_have_one_average(classes: Classes, weighted: bool) -> None:
    """The same value, exactly and in floating point, and the same gradient."""
    counts = counts_of(*classes)
    ratio = average_over("F", range(1, len(counts) + 1), weighted)
    measure = find_measure("F", "extraction")
    assert measure is not None
    computation = measure.formula(beta=Decimal(1), partial=Decimal("0.5"))
    assert isinstance(computation, Ratio)
    function = UnitAverage.over_stored(
        unit_measure(Function(of_ratio(computation)), SUPPORT, ANSWERS), weighted, range(1, len(counts) + 1)
    )
    of_ratios, of_functions = (columns_of(average, counts).sum(axis=1) for average in (ratio, function))
    assert ratio.exact(of_ratios.tolist()) == function.exact(of_functions.tolist())
    moved = [of.gradients(sums[:, None].astype(float))[:, 0] @ columns_of(of, counts).astype(float)
             for of, sums in ((ratio, of_ratios), (function, of_functions))]  # fmt: skip
    assert moved[0] == pytest.approx(moved[1], abs=1e-6)


@given(predicted, st.sampled_from(MEASURES), st.booleans())
def test_gradients_are_those_of_small_steps(classes: Classes, name: str, weighted: bool) -> None:
    counts = counts_of(*classes)
    average = average_over(name, range(1, len(counts) + 1), weighted)
    sums = columns_of(average, counts).sum(axis=1).astype(float)
    steps = np.eye(len(sums)) * 1e-6
    there = sums > 0.5  # a class that is not there at all appears with a jump
    beside = average.values(sums[:, None] + steps) - average.values(sums[:, None] - steps)
    assert average.gradients(sums[:, None])[there, 0] == pytest.approx(beside[there] / 2e-6, abs=1e-5)


# === tests ============================================================================================================


def macro_f(pairs: Sequence[tuple[str, str]]) -> Fraction:
    """The mean of F over the classes of the key and of the answers."""
    names = {name for pair in pairs for name in pair}
    right = {name: sum(a == b == name for a, b in pairs) for name in names}
    sizes = {name: sum((a == name) + (b == name) for a, b in pairs) for name in names}
    return sum((Fraction(2 * right[name], sizes[name]) for name in names), Fraction(0)) / len(names)


def weighted_f(pairs: Sequence[tuple[str, str]]) -> Fraction:
    names = {a for a, _ in pairs}
    total = Fraction(0)
    for name in names:
        size = sum((a == name) + (b == name) for a, b in pairs)
        total += sum(a == name for a, _ in pairs) * Fraction(2 * sum(a == b == name for a, b in pairs), size)
    return total / len(pairs)


def enumerated(rows: Sequence[tuple[str, str, str]], value: Callable[[Sequence[tuple[str, str]]], Fraction]) -> float:
    """The share of all exchanges of whole documents with a difference at least as large."""

    def difference(exchanged: Sequence[bool]) -> Fraction:
        first = [(key, b if swap else a) for (key, a, b), swap in zip(rows, exchanged, strict=True)]
        second = [(key, a if swap else b) for (key, a, b), swap in zip(rows, exchanged, strict=True)]
        return abs(value(first) - value(second))

    observed = difference([False] * len(rows))
    every = list(product((False, True), repeat=len(rows)))
    return sum(difference(exchanged) >= observed for exchanged in every) / len(every)


few = st.sampled_from("xyz")


@pytest.mark.long
@settings(max_examples=15)
@given(st.lists(st.tuples(few, few, few), min_size=1, max_size=7))
def test_exact_p_counts_every_exchange_of_documents(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    """Which classes count is decided anew in each exchange."""
    key, first, second = (list(column) for column in zip(*rows, strict=True))
    with loaded(tmp_path_factory.mktemp("exact"), {"a": (key, first), "b": (key, second)}) as session:
        found = session.run("compare macro(F1), weighted(F1) for a, b on T exact").rows
    assert [row["p"] for row in found] == pytest.approx([enumerated(rows, macro_f), enumerated(rows, weighted_f)])


@pytest.mark.long
@settings(max_examples=8)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=7))
def test_exact_p_of_yes_and_no_counts_every_exchange(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[bool, bool, bool]]
) -> None:
    said = [tuple("yes" if one else "no" for one in row) for row in rows]
    key, first, second = (list(column) for column in zip(*said, strict=True))
    with loaded(tmp_path_factory.mktemp("exact"), {"a": (key, first), "b": (key, second)}) as session:
        (row,) = session.run("compare macro(F1) for a, b on T exact").rows
    assert row["p"] == pytest.approx(enumerated(said, macro_f))  # type: ignore[arg-type]


def test_shuffles_come_near_the_exact_p(tmp_path: Path) -> None:
    chance = random.Random(5)
    key = [chance.choice("uvwx") for _ in range(40)]
    answers = {system: [name if chance.random() < share else chance.choice("uvwx") for name in key]
               for system, share in (("a", 0.85), ("b", 0.7))}  # fmt: skip
    with loaded(tmp_path, {system: (key, of) for system, of in answers.items()}) as session:
        (exact,) = session.run("compare macro(F1) for a, b on T exact").rows
        (drawn,) = session.run("compare macro(F1) for a, b on T shuffles 20000").rows
        (studentized,) = session.run("compare macro(F1) for a, b on T test studentized shuffles 20000").rows
    assert drawn["p"] == pytest.approx(exact["p"], abs=0.01)
    assert studentized["p"] == pytest.approx(exact["p"], abs=0.04)


def test_documents_of_a_cluster_change_sides_together(tmp_path: Path) -> None:
    """Three clusters have eight exchanges."""
    rows = [("x", "x", "y"), ("y", "y", "y"), ("z", "x", "z"), ("x", "x", "x"), ("y", "z", "y"), ("z", "z", "x")]
    key, first, second = (list(column) for column in zip(*rows, strict=True))
    pages = write_csv(tmp_path / "p.csv", "test_set document page", [("T", f"d{k:02}", k // 2) for k in range(6)])
    loaded(tmp_path, {"a": (key, first), "b": (key, second)}, pages).close()
    with Session.open(tmp_path / "w.duckdb") as session:
        (row,) = session.run("compare macro(F1) for a, b on T exchange by document.page exact").rows
    differences = []
    for swapped in product((False, True), repeat=3):
        sides = [[(of, pair[swapped[k // 2] ^ place]) for k, (of, *pair) in enumerate(rows)] for place in (0, 1)]
        differences.append(abs(macro_f(sides[0]) - macro_f(sides[1])))
    assert row["units"] == 3
    assert row["p"] == pytest.approx(sum(of >= differences[0] for of in differences) / 8)


# === many units =======================================================================================================


def two_systems(units: int, documents: int) -> Sums:
    """Two systems that answer with one of many classes."""
    chance = np.random.default_rng(3)
    key = chance.integers(0, units, documents)
    rows = []
    average = average_over("F", range(1, units + 1))
    for share in (0.9, 0.7):
        given_ = np.where(chance.random(documents) < share, key, chance.integers(0, units, documents))
        counts = counts_of([*map(str, key), *map(str, range(units))], [*map(str, given_), *map(str, range(units))])
        rows.append(columns_of(average, counts))
    return Sums.of_counts(np.stack(rows), Valuation(average.values, average.exact, slopes=average.gradients))


def test_with_many_counts_intervals_come_out_the_same_without_their_products(monkeypatch: pytest.MonkeyPatch) -> None:
    two = two_systems(6, 80)
    smooth = functions(two.counts, two.valuation, np.ones(two.units, dtype=np.int64))
    resampled = Resampled.of(smooth, Resamples.of_units(two.units, Draws(300)))
    first, second = np.array([0, 0]), np.array([1, 0])
    variances, covariances = resampled.variances(), resampled.covariances(first, second)
    monkeypatch.setattr(bootstrap_t, "MANY_COLUMNS", 0)
    monkeypatch.setattr(bootstrap_t, "INFLUENCES", 1000)
    assert resampled.variances() == pytest.approx(variances, rel=1e-9)
    assert resampled.covariances(first, second) == pytest.approx(covariances, rel=1e-9, abs=1e-15)


def test_with_many_counts_the_studentized_exchange_comes_out_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    two = two_systems(6, 81).pair(0, 1)
    before = studentized_test(two, Draws(12_000))
    monkeypatch.setattr(standardized, "MANY_COLUMNS", 0)
    assert studentized_test(two, Draws(12_000)) == before


def test_hundreds_of_classes_have_an_interval_and_the_studentized_test() -> None:
    """Products of 400 columns with one another would take 400 · 400 · 300 numbers."""
    two = two_systems(200, 100).pair(0, 1)
    smooth = functions(two.counts, two.valuation, np.ones(two.units, dtype=np.int64))
    variances = Resampled.of(smooth, Resamples.of_units(two.units, Draws(200))).variances()
    assert (variances > 0).all()
    assert studentized_test(two, Draws(999)).p < 0.01


# === what is in the warehouse =========================================================================================


SCORES = "test_set system document unit possible actual correct partial"


def test_a_system_that_lacks_a_unit_altogether_has_none_of_its_items(tmp_path: Path) -> None:
    """Rows that are not there are no missing documents: nothing was answered and nothing is in the key."""
    rows = [
        *(
            ("T", "a", "d1", "PER", 1, 1, 1, 0),
            ("T", "a", "d1", "LOC", 0, 1, 0, 0),
            ("T", "a", "d2", "PER", 1, 0, 0, 0),
        ),
        *(("T", "b", "d1", "PER", 1, 1, 1, 0), ("T", "b", "d2", "PER", 1, 1, 1, 0)),
    ]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "s.csv", SCORES, rows), "scores")
    with Session.open(tmp_path / "w.duckdb") as session:
        (row,) = session.run("compare macro(F1) for a, b on T").rows
    assert (row["value_a"], row["value_b"]) == pytest.approx((1 / 3, 1.0))


def test_rows_about_whole_documents_are_in_no_unit_and_a_note_says_so(tmp_path: Path) -> None:
    rows = [("T", "a", "d1", "PER", 1, 1, 1, 0), ("T", "a", "d2", "", 1, 1, 0, 0)]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "s.csv", SCORES, rows), "scores")
    with Session.open(tmp_path / "w.duckdb") as session:
        result = session.run("score macro(F1) for a on T")
    assert result.rows[0]["macro(F1)"] == 1.0
    assert any("whole documents" in note for note in result.notes)


def test_where_no_unit_has_anything_the_average_is_undefined(tmp_path: Path) -> None:
    rows = [("T", system, "d1", "PER", 0, 0, 0, 0) for system in "ab"]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "s.csv", SCORES, rows), "scores")
    with Session.open(tmp_path / "w.duckdb") as session:
        result = session.run("score macro(F1), weighted(F1) for a on T")
        assert [result.rows[0][label] for label in ("macro(F1)", "weighted(F1)")] == [None, None]
        with pytest.raises(QueryError, match="undefined"):
            session.run("compare macro(F1) for a, b on T")


def test_counts_that_the_data_name_have_averages_too(tmp_path: Path) -> None:
    rows = [("T", "s", "d1", unit, count, number) for unit, of in (("x", (3, 4)), ("y", (1, 2)))
            for count, number in zip(("right", "tokens"), of, strict=True)]  # fmt: skip
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "c.csv", "test_set system document unit count number", rows), "counts")
    with Session.open(tmp_path / "w.duckdb") as session:
        (row,) = session.run("score token-accuracy, macro(token-accuracy) for s on T").rows
        assert row["token-accuracy"] == pytest.approx(4 / 6)
        assert row["macro(token-accuracy)"] == pytest.approx((3 / 4 + 1 / 2) / 2)
        with pytest.raises(QueryError, match="no key items"):
            session.run("score weighted(token-accuracy) for s on T")


def test_runs_are_averaged_before_units_are(tmp_path: Path) -> None:
    """Two equal runs are one; the deviation of others is that of their own averages."""
    rows = [("T", f"{system}#{run}", f"d{k}", unit, 1, 1, int((k + run * (system == "b")) % 3 > 0), 0)
            for system in "ab" for run in (1, 2) for k in range(4) for unit in ("x", "y")]  # fmt: skip
    systems = [(f"{system}#{run}", system) for system in "ab" for run in (1, 2)]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "s.csv", SCORES, rows), "scores")
        load(database, write_csv(tmp_path / "m.csv", "system model", systems), "systems")
    with Session.open(tmp_path / "w.duckdb") as session:
        alone = {
            row["system"]: number(row["macro(F1)"])
            for row in session.run("score macro(F1) for all on T runs apart").rows
        }
        asked = "score macro(F1), macro(P) for all on T replicates by system.model interval"
        runs = {row["system"]: row for row in session.run(asked).rows}
        (row,) = session.run("compare macro(F1) for a, b on T replicates by system.model").rows
    assert runs["a"]["macro(F1)"] == alone["a#1"] == row["value_a"]
    assert runs["a"]["sd(macro(F1))"] == 0.0
    assert runs["b"]["macro(F1)"] == pytest.approx((number(alone["b#1"]) + number(alone["b#2"])) / 2)
    assert runs["b"]["sd(macro(F1))"] == pytest.approx(abs(number(alone["b#1"]) - number(alone["b#2"])) / 2**0.5)


@settings(max_examples=12)
@given(
    st.lists(st.sampled_from("abc"), min_size=2, max_size=6),
    st.integers(min_value=2, max_value=4),
    st.randoms(use_true_random=False),
)
def test_averages_of_several_runs_are_those_of_all_their_answers_together(
    tmp_path_factory: pytest.TempPathFactory, gold: list[str], seeds: int, chance: random.Random
) -> None:
    """The counts are means over runs, so a class has the F of what all runs answered, as scikit-learn gives it for
    their answers in one list. The deviation is that of what it gives for each run. All statements agree.
    """
    folder = tmp_path_factory.mktemp("runs")
    said = {system: [[chance.choice("abcd") for _ in gold] for _ in range(seeds)] for system in ("m", "n")}
    rows = [
        (system, seed, f"d{k}", right, answers[k])
        for system, runs in said.items()
        for seed, answers in enumerate(runs)
        for k, right in enumerate(gold)
    ]
    with create(folder / "w.duckdb") as database:
        file = write_csv(folder / "in.csv", "model seed id y_true y_pred", rows)
        load(database, file, "sklearn", fields={"test_set": "T"})
    measures = ", ".join(f"{word}({name})" for word in ("macro", "weighted") for name in MEASURES)
    with Session.open(folder / "w.duckdb") as session:
        scores = {row["system"]: row for row in session.run(f"score {measures}, support for all on T").rows}
        pairs = {row["measure"]: row for row in session.run(f"compare {measures} for m, n on T").rows}
        ranked = {row["system"]: row for row in session.run("rank macro(F1) for all on T").rows}
    for system, side in (("m", "value_a"), ("n", "value_b")):
        runs = said[system]
        together = [answer for answers in runs for answer in answers]
        assert (scores[system]["runs"], scores[system]["support"]) == (seeds, len(gold))
        for word in ("macro", "weighted"):
            wanted = reported(gold * seeds, together, word)
            alone = [reported(gold, answers, word) for answers in runs]
            for name in MEASURES:
                label = f"{word}({name})" if name != "F" else f"{word}(F(beta=1))"
                assert scores[system][label] == pytest.approx(wanted[name], abs=1e-12)
                assert pairs[label][side] == pytest.approx(wanted[name], abs=1e-12)
                deviation = statistics.stdev(one[name] for one in alone)
                assert scores[system][f"sd({label})"] == pytest.approx(deviation, abs=1e-12)
        assert ranked[system]["value"] == pytest.approx(reported(gold * seeds, together, "macro")["F"], abs=1e-12)


def test_over_test_sets_each_mean_over_units_counts_once(tmp_path: Path) -> None:
    with create(tmp_path / "w.duckdb") as database:
        rows = [(t, s, f"d{k}", unit, 1, 1, int((k * n + len(s) * u) % 3 > 0), 0)
                for n, t in enumerate(("S", "T"), 1) for s in ("a", "bb") for k in range(4 * n)
                for u, unit in enumerate(("x", "y"))]  # fmt: skip
        load(database, write_csv(tmp_path / "s.csv", SCORES, rows), "scores")
    with Session.open(tmp_path / "w.duckdb") as session:
        scores = session.run("score macro(F1) for all").rows
        values = {(row["test_set"], row["system"]): number(row["macro(F1)"]) for row in scores}
        (row,) = session.run("compare macro(F1) for a, bb on S, T over test sets").rows
    assert row["value_a"] == pytest.approx((number(values["S", "a"]) + number(values["T", "a"])) / 2)
    assert row["value_b"] == pytest.approx((number(values["S", "bb"]) + number(values["T", "bb"])) / 2)

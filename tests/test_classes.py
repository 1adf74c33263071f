"""Measures of classes: accuracy, balanced accuracy, kappa and MCC of one class a document, and accuracy of several,
compared with scikit-learn; their exact tests with enumeration; and laws that do not depend on what classes are called.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)
from sklearn.preprocessing import MultiLabelBinarizer

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.kinds.counted import OF_LABELS
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.measures import OverUnits, find_measure
from evalhouse.warehouse.session.first_questions import first_tables
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

MEASURES = ("balanced-accuracy", "kappa", "MCC")
Pairs = Sequence[tuple[str, str]]
pairs_of_classes: st.SearchStrategy[Pairs] = st.lists(
    st.tuples(st.sampled_from("vwxyz"), st.sampled_from("vwxyz")), min_size=1, max_size=14
)


def silently(function: Callable[..., Any], *arguments: Any, **options: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(*arguments, **options))


def reported(pairs: Pairs) -> dict[str, float]:
    """What scikit-learn gives."""
    key, answers = zip(*pairs, strict=True)
    return {
        "accuracy": silently(accuracy_score, key, answers),
        "balanced-accuracy": silently(balanced_accuracy_score, key, answers),
        "kappa": silently(cohen_kappa_score, key, answers),
        "MCC": silently(matthews_corrcoef, key, answers),
    }


def computed(name: str, classes: Sequence[str]) -> OverUnits:
    measure = find_measure(name, "extraction")
    assert measure is not None
    assert measure.over_classes is not None
    return measure.over_classes(range(1, len(classes) + 1))


def sums_of(computation: OverUnits, pairs: Pairs, classes: Sequence[str]) -> list[int]:
    counts = {
        f"{count} of unit {unit}": number
        for unit, name in enumerate(classes, 1)
        for count, number in (
            ("possible", sum(key == name for key, _ in pairs)),
            ("actual", sum(answer == name for _, answer in pairs)),
            ("correct", sum(key == answer == name for key, answer in pairs)),
        )
    }
    return [sum(by * counts[column] for column, by in form) for form in computation.forms]


# === values ===========================================================================================================


@given(pairs_of_classes)
def test_values_are_those_of_scikit_learn(pairs: Pairs) -> None:
    wanted = reported(pairs)
    for name in MEASURES:
        computation = computed(name, "vwxyz")
        sums = sums_of(computation, pairs, "vwxyz")
        if isnan(wanted[name]):
            assert computation.value(sums) is None
            continue
        assert computation.value(sums) == pytest.approx(wanted[name], abs=1e-12)
        assert computation.values(np.array(sums, dtype=np.float64)[:, None])[0] == pytest.approx(
            wanted[name], abs=1e-12
        )


@given(pairs_of_classes, st.permutations(range(5)), st.integers(1, 4))
def test_neither_names_nor_repetitions_matter(pairs: Pairs, order: list[int], times: int) -> None:
    renamed = [("vwxyz"[order["vwxyz".index(a)]], "vwxyz"[order["vwxyz".index(b)]]) for a, b in pairs]
    for name in MEASURES:
        computation = computed(name, "vwxyz")
        value = computation.exact(sums_of(computation, pairs, "vwxyz"))
        assert computation.exact(sums_of(computation, [*renamed] * times, "vwxyz")) == value


@given(pairs_of_classes)
def test_agreement_of_key_and_answers_is_that_of_answers_and_key(pairs: Pairs) -> None:
    for name in ("kappa", "MCC"):
        computation = computed(name, "vwxyz")
        turned = [(answer, key) for key, answer in pairs]
        assert computation.exact(sums_of(computation, pairs, "vwxyz")) == computation.exact(
            sums_of(computation, turned, "vwxyz")
        )


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(["x", "y", "z", "none"])), min_size=2, max_size=12))
def test_no_answer_is_a_class_that_is_never_right(pairs: Pairs) -> None:
    for name in ("kappa", "MCC"):
        computation = computed(name, "xyz")
        value, wanted = computation.value(sums_of(computation, pairs, "xyz")), reported(pairs)[name]
        assert (value is None and isnan(wanted)) or value == pytest.approx(wanted, abs=1e-12)


@given(pairs_of_classes)
def test_gradients_are_those_of_small_steps(pairs: Pairs) -> None:
    for name in ("kappa", "MCC"):
        computation = computed(name, "vwxyz")
        sums = np.array(sums_of(computation, pairs, "vwxyz"), dtype=np.float64)
        steps = np.eye(len(sums)) * 1e-5
        beside = [computation.values(sums[:, None] + by * steps) for by in (1, -1)]
        slopes = (beside[0] - beside[1]) / 2e-5
        if not len({a for a, _ in pairs}) > 1 < len({b for _, b in pairs}):
            continue  # a single class of the key or of the answers has no slope
        assert computation.gradients(sums[:, None])[:, 0] == pytest.approx(slopes, abs=1e-3, rel=1e-3)


# === what is loaded ===================================================================================================


def loaded(folder: Path, systems: Mapping[str, Pairs]) -> Session:
    with create(folder / "w.duckdb") as database:
        for system, pairs in systems.items():
            path = write_csv(
                folder / f"{system}.csv", "id y_true y_pred", [(f"d{k:02}", *p) for k, p in enumerate(pairs)]
            )
            load(database, path, "sklearn", fields={"test_set": "T", "system": system})
    return Session.open(folder / "w.duckdb")


def enumerated(rows: Sequence[tuple[str, str, str]], value: Callable[[Pairs], float]) -> float:
    """The share of all exchanges of whole documents with a difference at least as large."""
    differences = []
    for swapped in product((False, True), repeat=len(rows)):
        sides = [
            [(key, pair[swap ^ place]) for (key, *pair), swap in zip(rows, swapped, strict=True)] for place in (0, 1)
        ]
        differences.append(abs(value(sides[0]) - value(sides[1])))
    return sum(of >= differences[0] - 1e-12 for of in differences) / len(differences)


few = st.sampled_from("xyz")


@pytest.mark.long
@settings(max_examples=12)
@given(st.lists(st.tuples(few, few, few), min_size=3, max_size=7))
def test_exact_p_counts_every_exchange_of_documents(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    rows = [("x", "x", "y"), ("y", "y", "z"), *rows]  # so that there are classes to tell apart, and kappa is defined
    systems = {side: [(row[0], row[place]) for row in rows] for place, side in ((1, "a"), (2, "b"))}
    with loaded(tmp_path_factory.mktemp("exact"), systems) as session:
        found = {
            row["measure"]: row
            for row in session.run("compare accuracy, balanced-accuracy, kappa, MCC for a, b on T exact").rows
        }
    for name, row in found.items():
        assert row["value_a"] == pytest.approx(reported(systems["a"])[str(name)], abs=1e-12)
        assert row["p"] == pytest.approx(enumerated(rows, lambda pairs, name=str(name): reported(pairs)[name]))  # type: ignore[misc]


several = st.frozensets(st.sampled_from("abcd"), min_size=1, max_size=3)


@pytest.mark.long
@settings(max_examples=12)
@given(st.lists(st.tuples(several, several), min_size=2, max_size=9), st.sampled_from("|;"))
def test_several_classes_are_scored_as_by_scikit_learn(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[frozenset[str], frozenset[str]]], mark: str
) -> None:
    rows = [(frozenset("ab"), frozenset("a")), *rows]
    cells = [(mark.join(sorted(key)), mark.join(sorted(answers))) for key, answers in rows]
    binary = MultiLabelBinarizer(classes=sorted(frozenset().union(*(key | answers for key, answers in rows))))
    binary.fit([])
    key, answers = (binary.transform([row[place] for row in rows]) for place in (0, 1))
    wanted = {"accuracy": silently(accuracy_score, key, answers)}
    for called, score in (("F1", f1_score), ("precision", precision_score), ("recall", recall_score)):
        wanted[called] = silently(score, key, answers, average="micro", zero_division=0)
        for word in ("macro", "weighted"):
            wanted[f"{word}({called})"] = silently(score, key, answers, average=word, zero_division=0)
    with loaded(tmp_path_factory.mktemp("several"), {"s": cells}) as session:
        (row,) = session.run(f"score {', '.join(wanted)} for s on T").rows
    assert {name: row[name] for name in wanted} == pytest.approx(wanted, abs=1e-12)


def test_what_is_of_one_class_is_refused_where_there_are_several(tmp_path: Path) -> None:
    with loaded(tmp_path, {"s": [("a|b", "a"), ("b", "b")]}) as session:
        for name in MEASURES:
            with pytest.raises(QueryError, match="is of one class a document, and documents of T have several"):
                session.run(f"score {name} for s on T")


@pytest.mark.parametrize("wrong", ["macro(MCC)", "mean(kappa)", "weighted(accuracy)"])
def test_what_needs_all_classes_is_no_average_over_some(tmp_path: Path, wrong: str) -> None:
    with loaded(tmp_path, {"s": [("a", "a"), ("b", "c")]}) as session:
        with pytest.raises(QueryError, match="is computed from all classes together"):
            session.run(f"score {wrong} for s on T")
        with pytest.raises(QueryError, match="computed over all units, so it cannot be split by unit"):
            session.run("score accuracy for s on T by unit")


def test_classes_are_first_asked_for_accuracy_and_macro_f(tmp_path: Path) -> None:
    """Micro averages of one class a document are all its accuracy."""
    with loaded(tmp_path, {"s": [("a", "a"), ("b", "c")]}) as session:
        assert [table.measures for table in first_tables(session.catalog)] == [("accuracy", "macro(F1)")]


def test_seeds_of_one_class_have_the_mean_accuracy_and_of_several_are_told_apart(tmp_path: Path) -> None:
    with create(tmp_path / "w.duckdb") as database:
        for test_set, rows in (("one", [(1, "a", "a"), (2, "a", "b")]), ("many", [(1, "a|b", "a"), (2, "a|b", "a|b")])):
            path = write_csv(tmp_path / f"{test_set}.csv", "id seed y_true y_pred", [("d1", *row) for row in rows])
            load(database, path, "sklearn", fields={"test_set": test_set, "system": "s"})
    with Session.open(tmp_path / "w.duckdb") as session:
        (row,) = session.run("score accuracy for s on one").rows
        assert row["accuracy"] == float(Fraction(1, 2))
        with pytest.raises(QueryError, match="so it does not follow from averages") as told:
            session.run("score accuracy for s on many")
        assert "write runs apart for each run by itself" in told.value.hints
        apart = session.run("score accuracy for s on many runs apart").rows
    assert {row["system"]: row["accuracy"] for row in apart} == {"s#1": 0.0, "s#2": 1.0}


def test_readers_of_classes_are_readers() -> None:
    assert {*OF_LABELS} <= {reader.name for reader in READERS.values()}


# === over test sets ===================================================================================================


@pytest.mark.parametrize("seed", range(3))
def test_test_sets_pooled_are_scored_as_concatenated(tmp_path: Path, seed: int) -> None:
    """The classes of one test set need not be those of the other."""
    draw = np.random.default_rng(seed)
    test_sets = {"T": "vwx", "U": "wxyz"}
    rows = {name: [(str(a), str(b)) for a, b in draw.choice(list(of), (25, 2))] for name, of in test_sets.items()}
    with create(tmp_path / "w.duckdb") as database:
        for name, pairs in rows.items():
            path = write_csv(tmp_path / f"{name}.csv", "id y_true y_pred", [(k, *p) for k, p in enumerate(pairs)])
            load(database, path, "sklearn", fields={"test_set": name, "system": "s"})
    together = [pair for pairs in rows.values() for pair in pairs]
    key, answers = zip(*together, strict=True)
    wanted = reported(together)
    for called, score in (("F1", f1_score), ("precision", precision_score), ("recall", recall_score)):
        for word in ("macro", "weighted"):
            wanted[f"{word}({called})"] = silently(score, key, answers, average=word, zero_division=0)
    with Session.open(tmp_path / "w.duckdb") as session:
        (row,) = session.run(f"score {', '.join(wanted)} for s on T, U over test sets pooled").rows
    assert {name: row[name] for name in wanted} == pytest.approx(wanted, abs=1e-12)


def _macro_f(pairs: Pairs) -> float:
    return silently(f1_score, *zip(*pairs, strict=True), average="macro", zero_division=0)


def _reported(name: str, pairs: Pairs) -> float:
    return reported(pairs)[name]


def test_pooled_test_sets_exchange_all_documents(tmp_path: Path) -> None:
    """As one test set of all documents, whose classes are those of both."""
    rows = {"T": [("x", "x", "y"), ("y", "y", "x"), ("x", "x", "x")], "U": [("z", "z", "x"), ("y", "z", "y")]}
    with create(tmp_path / "w.duckdb") as database:
        for name, documents in rows.items():
            for place, system in ((1, "a"), (2, "b")):
                pairs = [(f"{name}{k}", row[0], row[place]) for k, row in enumerate(documents)]
                path = write_csv(tmp_path / f"{name}{system}.csv", "id y_true y_pred", pairs)
                load(database, path, "sklearn", fields={"test_set": name, "system": system})
    together = [row for documents in rows.values() for row in documents]
    with Session.open(tmp_path / "w.duckdb") as session:
        names = "kappa, MCC, macro(F1)"
        found = session.run(f"compare {names} for a, b on T, U over test sets pooled").rows
        assert session.run(f"score {names} for a, b on T, U over test sets pooled interval").rows
    for row in found:
        measured = _macro_f if row["measure"] == "macro(F1)" else partial(_reported, str(row["measure"]))
        assert row["value_a"] == pytest.approx(measured([row[:2] for row in together]), abs=1e-12)
        assert row["p"] == pytest.approx(enumerated(together, measured), abs=1e-12)

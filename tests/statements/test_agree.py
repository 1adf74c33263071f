"""`agree` from files to numbers: who the annotators are; against the krippendorff package, and kappa by definition."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import krippendorff
import numpy as np
import pytest

from tests.conftest import write_csv
from warehouse.loading.ingest import load
from warehouse.session import Session
from warehouse.store.replacement import create

LEVELS = ("nonrelevant", "optional", "relevant")
Labels = dict[tuple[str, str], str]
"""The label of each annotator and document; the key is the annotator without a name."""


@pytest.fixture(scope="module")
def labels() -> Labels:
    draws = random.Random(4)
    return {
        (annotator, f"d{k}"): draws.choice(LEVELS)
        for annotator in ("", "ann", "bob", "eve")
        for k in range(40)
        if annotator == "" or draws.random() < 0.8
    }


@pytest.fixture(scope="module")
def session(labels: Labels, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("labels")
    rows = [("T", document, label, annotator) for (annotator, document), label in labels.items()]
    sources = [("T", f"d{k}", "radio" if k % 2 else "press") for k in range(40)]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "l.csv", "test_set document label annotator", rows), "labels")
        load(database, write_csv(folder / "s.csv", "test_set document source", sources), "documents")
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


def kappa(labels: Labels, first: str, second: str) -> float:
    """Cohen 1960: the agreement beyond that of two who label by chance, each with his own shares."""
    pairs = [
        (label, labels[second, document])
        for (annotator, document), label in labels.items()
        if annotator == first and (second, document) in labels
    ]
    alike = sum(a == b for a, b in pairs) / len(pairs)
    ours, theirs = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    by_chance = sum(ours[level] * theirs[level] for level in LEVELS) / len(pairs) ** 2
    return (alike - by_chance) / (1 - by_chance)


def alpha(labels: Labels, annotators: tuple[str, ...], documents: range = range(40)) -> float:
    table = [
        [LEVELS.index(labels[name, f"d{k}"]) if (name, f"d{k}") in labels else np.nan for k in documents]
        for name in annotators
    ]
    of = krippendorff.alpha(reliability_data=table, value_domain=[0, 1, 2], level_of_measurement="nominal")
    return float(of)


@pytest.mark.parametrize(
    ("statement", "annotators"),
    [
        ("agree on T", ("ann", "bob", "eve")),
        ("agree on T with key", ("", "ann", "bob", "eve")),
        ('agree on T where annotator in ("ann", "eve")', ("ann", "eve")),
        ('agree on T where annotator not in ("ann", "eve") with key', ("", "bob")),
        ('agree on T where annotator like "%b" or annotator = "ann"', ("ann", "bob")),
    ],
)
def test_annotators_are_those_that_are_chosen_and_the_key_only_where_it_is_asked_for(
    session: Session, labels: Labels, statement: str, annotators: tuple[str, ...]
) -> None:
    result = session.run(statement)
    names = {"key": ""}
    pairs = {(names.get(str(a), str(a)), names.get(str(b), str(b))) for a, b in named(result.rows)}
    assert {frozenset(pair) for pair in pairs} == {frozenset(pair) for pair in combinations(annotators, 2)}
    for row, (a, b) in zip(result.rows, named(result.rows), strict=True):
        assert row["kappa"] == pytest.approx(kappa(labels, names.get(a, a), names.get(b, b)), abs=1e-12)
    [summary] = result.summary
    assert summary["annotators"] == len(annotators)
    assert summary["alpha"] == pytest.approx(alpha(labels, annotators), abs=1e-12)


def named(rows: list[dict[str, object]] | list[dict[str, str | int | float | bool | None]]) -> list[tuple[str, str]]:
    return [(str(row["annotator_a"]), str(row["annotator_b"])) for row in rows]


def test_other_conditions_are_of_the_key_too(session: Session, labels: Labels) -> None:
    where = 'where annotator = "bob" and document.source = "radio"'
    [row] = session.run(f"agree on T {where} with key").rows
    [summary] = session.run(f"agree on T {where} with key").summary
    assert row["documents"] == sum(name == "bob" and int(document[1:]) % 2 for name, document in labels)
    assert summary["alpha"] == pytest.approx(alpha(labels, ("", "bob"), range(1, 40, 2)), abs=1e-12)


def test_who_is_alone_agrees_with_nobody(session: Session) -> None:
    said = "T needs labels of two annotators, and has only those of bob; with key takes in the key"
    assert session.run('agree on T where annotator = "bob"').notes == (said,)
    assert session.run('agree on T where annotator = "nobody" with key').notes == (
        "T needs labels of two annotators, and has only those of key",
    )

"""`agree` from files to numbers: who the annotators are; results compared with the krippendorff package, and kappa by
definition.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import krippendorff
import numpy as np
import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

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
    sources = [("T", f"d{k}", "radio" if k % 2 else "press", f"s{k // 4}") for k in range(40)]
    kinds = [("ann", "human"), ("bob", "human"), ("eve", "model")]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "l.csv", "test_set document label annotator", rows), "labels")
        load(database, write_csv(folder / "s.csv", "test_set document source story", sources), "documents")
        load(database, write_csv(folder / "k.csv", "system kind", kinds), "systems")
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
    said = "agree needs labels of two annotators, and T has only those of bob; add with key to count the key"
    assert session.run('agree on T where annotator = "bob"').notes == (said,)
    assert session.run('agree on T where annotator = "nobody" with key').notes == (
        "agree needs labels of two annotators, and T has only those of key",
    )


# --- groups -----------------------------------------------------------------------------------------------------------


def test_an_attribute_of_documents_makes_groups_of_documents(session: Session) -> None:
    split = session.run("agree on T by document.source")
    for source in ("press", "radio"):
        alone = session.run(f'agree on T where document.source = "{source}"')
        for whole, part in ((split.rows, alone.rows), (split.summary, alone.summary)):
            of_source = [row for row in whole if row["document.source"] == source]
            assert [{**row, "document.source": source} for row in part] == of_source


def test_an_attribute_of_systems_makes_groups_of_pairs_of_annotators(session: Session) -> None:
    result = session.run("agree on T by system.kind")
    assert [(row["system.kind"], *named([row])[0]) for row in result.rows] == [
        ("human", "ann", "bob"),
        ("human and model", "ann", "eve"),
        ("human and model", "bob", "eve"),
    ]
    alike = session.run("agree on T").rows
    plain = {pair: row["kappa"] for pair, row in zip(named(alike), alike, strict=True)}
    human, mixed = result.summary
    assert (human["annotators"], human["pairs"], human["kappa"]) == (2, 1, plain["ann", "bob"])
    mean = (float(str(plain["ann", "eve"])) + float(str(plain["bob", "eve"]))) / 2
    assert (mixed["annotators"], mixed["pairs"], mixed["kappa"]) == (3, 2, pytest.approx(mean))
    # Alpha does not know which of the annotators is which, so there is none across kinds.
    assert mixed["alpha"] is mixed["ci_low"] is None
    [alone] = session.run('agree on T where annotator in ("ann", "bob")').summary
    assert (human["alpha"], human["ci_low"], human["ci_high"]) == (alone["alpha"], alone["ci_low"], alone["ci_high"])


def test_the_key_is_a_kind_of_its_own_and_who_has_no_kind_is_named(session: Session) -> None:
    kinds = [row["system.kind"] for row in session.run("agree on T by system.kind with key").summary]
    assert kinds == ["human", "human and key", "human and model", "key and model"]
    with pytest.raises(QueryError, match=r"unknown attribute 'system\.sort'"):
        session.run("agree on T by system.sort")


# --- intervals --------------------------------------------------------------------------------------------------------


def number(cell: object) -> float:
    assert isinstance(cell, float)
    return cell


@pytest.mark.long
def test_intervals_hold_their_value_and_grow_with_confidence(session: Session) -> None:
    for kind in ("studentized", "percentile", "bca"):
        narrow, wide = (session.run(f"agree on T interval {kind} level {level}") for level in (0.2, 0.01))
        for rows in (narrow.rows, narrow.summary):
            assert all(number(row["ci_low"]) < number(row["ci_high"]) for row in rows)
        assert all(number(row["ci_low"]) < number(row["kappa"]) < number(row["ci_high"]) for row in narrow.rows)
        for inner, outer in zip([*narrow.rows, *narrow.summary], [*wide.rows, *wide.summary], strict=True):
            assert number(outer["ci_low"]) < number(inner["ci_low"])
            assert number(outer["ci_high"]) > number(inner["ci_high"])
    [summary] = session.run("agree on T").summary
    for name in ("kappa", "ceiling"):
        assert number(summary[f"{name}_low"]) < number(summary[name]) < number(summary[f"{name}_high"])


def test_documents_that_share_an_attribute_are_resampled_together(session: Session) -> None:
    apart, together = (session.run(f"agree on T{of}") for of in ("", " exchange by document.story"))
    assert [row["kappa"] for row in apart.rows] == [row["kappa"] for row in together.rows]
    assert [row["ci_low"] for row in apart.rows] != [row["ci_low"] for row in together.rows]
    assert "over units of document.story" in together.caption
    with pytest.raises(QueryError, match="system cannot be resampled"):
        session.run("agree on T exchange by system")


def test_the_ceiling_is_the_mean_of_both_ways_of_all_pairs(session: Session) -> None:
    result = session.run("agree on T with key")
    scores = [number(row[name]) for row in result.rows for name in ("f_a", "f_b")]
    assert result.summary[0]["ceiling"] == pytest.approx(np.mean(scores), abs=1e-12)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """One label only, full agreement, no document in common, and one document."""
    folder = tmp_path_factory.mktemp("odd")
    said = {
        "same": {"ann": "rrrr", "bob": "rrrr"},
        "full": {"ann": "rnrn", "bob": "rnrn"},
        "apart": {"ann": "rn  ", "bob": "  rn"},
        "one": {"ann": "r", "bob": "n"},
    }
    words = {"r": "relevant", "n": "nonrelevant"}
    rows = [
        (test_set, f"d{place}", words[letter], annotator)
        for test_set, of in said.items()
        for annotator, letters in of.items()
        for place, letter in enumerate(letters)
        if letter.strip()
    ]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "l.csv", "test_set document label annotator", rows), "labels")
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


@pytest.mark.parametrize(
    ("test_set", "kappa", "notes"),
    [
        ("same", None, "kappa is undefined where both annotators give only one label: ann and bob"),
        ("full", 1.0, "the documents do not vary, so there is no interval for ann and bob"),
        ("apart", None, "these annotators have no document in common: ann and bob"),
        ("one", 0.0, "the documents do not vary, so there is no interval for ann and bob"),
    ],
)
def test_what_cannot_be_had_is_null_and_said(odd: Session, test_set: str, kappa: float | None, notes: str) -> None:
    for kind in ("studentized", "percentile", "bca"):
        result = odd.run(f"agree on {test_set} interval {kind}")
        [row] = result.rows
        assert (row["kappa"], row["se"], row["ci_low"], row["ci_high"]) == (kappa, None, None, None)
        assert notes in " ".join(result.notes)
    assert [row["test_set"] for row in odd.run("agree").rows] == ["apart", "full", "one", "same"]


def test_resamples_without_kappa_are_counted_and_few_documents_are_said(session: Session) -> None:
    few = session.run('agree on T where document in ("d1", "d2", "d3", "d4", "d5") interval percentile')
    said = " ".join(few.notes)
    assert "intervals leave out those without a value" in said
    assert "documents say little about kappa in general" in said


def test_what_agreement_is_no_matter_of_is_refused(session: Session) -> None:
    for of in ("label", "document", "system", "docment"):
        with pytest.raises(QueryError, match=f"agree cannot be grouped by {of}") as refused:
            session.run(f"agree on T by {of}")
        assert refused.value.hints == ("write by document.attribute, or by system.attribute if annotators are systems",)

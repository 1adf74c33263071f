"""Pairs of ids and labels, compared with scikit-learn."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_recall_fscore_support

from evalhouse.warehouse.loading.readers import READERS, Evidence, Recognition, Role, Start
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.store.texts import Complaints, Load

ON = {"test_set": "moods", "system": "ours"}
KEY = {"options": {"gold": "gold.tsv"}, "fields": ON}


def written(labels: list[str], separator: str = "\t") -> str:
    return "".join(f"t{number}{separator}{label}\n" for number, label in enumerate(labels))


@pytest.mark.parametrize("separator", ["\t", ",", " "])
def test_the_sums_are_those_of_scikit_learn(database: Database, load_text: Load, separator: str) -> None:
    chance = random.Random(7)
    gold = chance.choices(["joy", "fear", "anger"], k=60)
    ours = [label if chance.random() < 0.6 else chance.choice(["joy", "fear", "awe"]) for label in gold]
    load_text(written(gold, separator), "pairs", "gold.tsv")
    load_text(written(ours, separator), "pairs", "ours.tsv", **KEY)
    [row] = Session(database).run("score F1 for all on moods").rows
    assert row["F1"] == pytest.approx(f1_score(gold, ours, average="micro"))
    kinds = sorted({*gold, *ours})
    _, _, _, support = precision_recall_fscore_support(gold, ours, labels=kinds, zero_division=0)
    assert database.rows(Sql("select unit, sum(possible) from scores group by 1 order by 1")) == [
        (kind, count) for kind, count in zip(kinds, support.tolist(), strict=True)
    ]
    assert check(database) == ()


def test_yes_and_no_are_filtering(database: Database, load_text: Load) -> None:
    load_text("id\tlabel\na\t1\nb\t0\nc\t1\n", "pairs", "gold.tsv")
    loaded = load_text("id\tlabel\na\t1\nb\t1\n", "pairs", "ours.tsv", **KEY)
    assert database.rows(Sql("select document, label from labels order by 1")) == [
        ("a", "relevant"),
        ("b", "nonrelevant"),
        ("c", "relevant"),
    ]
    assert database.rows(Sql("select document, decision from decisions order by 1")) == [("a", True), ("b", True)]
    assert "no label: c" in loaded.notes
    assert database.rows(Sql("select item, reason from failures")) == [("c", "no answer")]


def test_gold_and_answers_may_be_in_one_table(database: Database, load_text: Load) -> None:
    load_text(READERS["pairs"].example, "pairs", "in.tsv", fields=ON)
    assert database.rows(Sql("select sum(possible), sum(actual), sum(correct) from scores")) == [(3, 3, 2)]


@pytest.mark.parametrize(
    ("name", "text", "beside", "role"),
    [
        ("gold.tsv", written(["joy", "fear"]), set(), Role.KEY),
        ("ours.tsv", written(["joy", "fear"]), {"gold.tsv", "ours.tsv"}, Role.FACTS),
        ("ours.tsv", written(["joy", "fear"]), {"ours.tsv"}, None),
        ("ours.txt", written(["0.5", "0.25"]), {"gold.tsv"}, None),
        ("gold.txt", "Ada B-PER\nAda O\n", set(), None),
        ("gold.txt", "Ada B-PER\nran O\n", set(), None),
        ("ours.txt", "Ada PER\n\nBo PER\n", {"gold.txt"}, None),
        ("gold.csv", "id,y_true,y_pred\n1,a,b\n2,a,a\n", set(), None),
        ("x.csv", "id,label,prediction\n1,a,b\n2,a,a\n", set(), Role.FACTS),
        ("ours.tsv", "id\tlabel\na\tjoy\na\tfear\n", {"gold.tsv"}, Role.FACTS),
        ("ours.tsv", "id\tlabel\na\tjoy\nb\n", {"gold.tsv"}, Role.FACTS),
        ("ours.tsv", "a\tjoy\na\tfear\n", {"gold.tsv"}, None),
    ],
)
def test_each_is_recognized(name: str, text: str, beside: set[str], role: Role | None) -> None:
    known = READERS["pairs"].recognizes(Start(name, text, path=Path(name), beside=frozenset(beside)))
    assert (known.role if isinstance(known, Recognition) else None) == role


@given(st.integers(0, 5), st.sampled_from(["t0\tjoy", "t9", "t9\t", "\tjoy", "t9\tjoy\tfear", "no sign of one"]))
def test_a_wrong_line_makes_no_other_reader_claim_a_table_of_ids_and_labels(at: int, line: str) -> None:
    """What the first line names is read as that, and the line is told; so no team's file becomes something else."""
    lines = written(["joy", "fear", "joy", "awe", "fear"]).splitlines()
    text = "\n".join(["id\tlabel", *lines[:at], line, *lines[at:]]) + "\n"
    known = READERS["pairs"].recognizes(
        Start("ours.tsv", text, path=Path("ours.tsv"), beside=frozenset({"gold.tsv", "ours.tsv"}))
    )
    assert isinstance(known, Recognition)
    assert (known.role, known.evidence) == (Role.FACTS, Evidence.NAMES)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a\tjoy\nb\n", "in:2: this line is not an id and a label, with a tab, a comma or a blank between"),
        ("a\tjoy\na\tfear\n", "in:2: 'a' has a label already, on line 1"),
        ("a\tjoy\n", "in: it has one label for each id; --gold FILE names the file with the gold labels"),
    ],
)
def test_what_is_wrong_is_named(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "pairs", "in", fields=ON) == [sentence]

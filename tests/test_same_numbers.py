"""The same rows give the same numbers to the last digit: on any number of threads, and in any order of loading."""

from __future__ import annotations

import random
import re
from collections.abc import MutableSequence, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.sql import Sql
from tests.conftest import write_csv
from tests.counting import Count

QUESTIONS = (
    "score bleu, ter for all on V",
    "score bleu for all on V by document.genre",
    "compare bleu for all on V shuffles 199",
    "compare bleu for S0, S1 on V test bootstrap shuffles 199",
    "compare bleu, ter for all against S0 on V test t",
    "compare bleu for all on V test wilcoxon",
    "compare bleu for all on V shuffles 99 exchange by document.genre adjust maxt",
    "group ter for all on V shuffles 99",
    "score F, mean(recall), overgeneration for all on C",
    "compare F, mean(recall) for all on C shuffles 99",
    "power bleu for S0, S1 on V detect 1000000 documents 20, 2000",
    "power F for S0, S1 on C detect 1% documents 20",
    "documents bleu for S0, S1 on V",
    "differ bleu for S0, S1 on V by document.genre shuffles 99",
    "documents F, mean(recall) for S0, S1 on C",
    "score recall, precision, fallout, auc of filtering for all on D",
    "compare F of filtering for all on D shuffles 99",
)
SEED_OF_FIGURES = 11


def _rows(documents: int) -> dict[str, tuple[str, MutableSequence[Any]]]:
    """By reader, a header and rows whose sums in floating point depend on their order."""
    chance = random.Random(SEED_OF_FIGURES)
    names, numbers = [f"S{k}" for k in range(4)], range(documents)
    values = [
        ("V", name, f"d{k}", measure, repr(chance.choice((1, 1e-9, 1e7)) * chance.random()))
        for name in names
        for k in numbers
        for measure in ("bleu", "ter")
    ]
    counts = []
    for name in names:
        for k in numbers:
            possible, actual = chance.randrange(12), chance.randrange(12)
            correct = chance.randint(0, min(possible, actual))
            partial = chance.randint(0, min(possible, actual) - correct)
            counts.append(("C", name, f"d{k}", possible, actual, correct, partial, actual - correct - partial))
    decided = [
        ("D", name, f"d{k}", chance.choice(("yes", "no")), repr(chance.random())) for name in names for k in numbers
    ]
    labels = [("D", f"d{k}", chance.choice(("relevant", "nonrelevant", "optional"))) for k in numbers]
    return {
        "documents": (
            "test_set document genre",
            [("V", f"d{k}", chance.choice("abc")) for k in numbers],
        ),
        "values": ("test_set system document measure value", values),
        "scores": ("test_set system document possible actual correct partial spurious", counts),
        "labels": ("test_set document label", labels),
        "decisions": ("test_set system document decision confidence", decided),
    }


def _answers(folder: Path, documents: int, threads: int, order: random.Random | None) -> list[str]:
    """What is answered to each question; rows and files come in an order of chance, in pieces, if there is an
    `order`.
    """
    pieces = [
        (reader, header, rows[start::step])
        for reader, (header, rows) in _rows(documents).items()
        for step in ((1 if order is None else 3),)
        for start in range(step)
    ]
    if order is not None:
        order.shuffle(pieces)
    with in_memory() as database:
        database.run(Sql(f"set threads = {threads}"))
        for reader, header, rows in pieces:
            if order is not None:
                order.shuffle(rows)
            load(database, write_csv(folder / "rows.csv", header, rows), reader)
        session = Session(database)
        # Which files the rows were in is another question, which the signature answers in its own part; with how many
        # imports they came, a note says.
        answered = [session.run(question) for question in QUESTIONS]
        return [
            re.sub(r"[|] data [0-9a-f+]+ ", "", replace(result, notes=_but_looks(result.notes)).to_json())
            for result in answered
        ]


def _but_looks(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(note for note in notes if " imports, so this may be look number " not in note)


def same(folder: Path, documents: int, orders: int, count: Count) -> None:
    """Answers the questions again and again, of the same rows in other orders and on more and fewer threads."""
    expected = _answers(folder, documents, 1, None)
    assert all("| numbers " in answer for answer in expected)
    for number in range(orders):
        assert _answers(folder, documents, 1 + number % 4, random.Random(number)) == expected
    count(
        "results that came out again to the last digit, in another order and on other threads", orders * len(QUESTIONS)
    )


@pytest.mark.long
def test_neither_threads_nor_the_order_of_loading_change_a_digit(tmp_path: Path, count: Count) -> None:
    same(tmp_path, 60, 2, count)


@pytest.mark.soak
def test_nor_with_many_rows_and_orders(tmp_path: Path, count: Count) -> None:
    same(tmp_path, 60, 10, count)
    same(tmp_path, 2_000, 2, count)


def test_the_sums_would_differ_in_floating_point() -> None:
    """So what is tested above could fail."""
    values = [float(row[4]) for row in _rows(60)["values"][1] if row[1] == "S0"]
    # One after the other: `sum` of Python 3.12 and later makes up for what it rounds off.
    assert len({reduce(add, random.Random(k).sample(values, len(values))) for k in range(20)}) > 1

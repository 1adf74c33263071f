"""The same spans give the same figures, whether tagged tokens or annotations of BRAT brought them, and those are the
figures of seqeval.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import seqeval.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.staging.spans import COLUMNS
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.readers.test_muc_report import archive

Spans = list[tuple[str, int, int]]
"""The type of each span, its first token and the token after its last one."""

Counts = dict[str, tuple[int, ...]]

TOKENS = 8


@st.composite
def spans(draw: st.DrawFn) -> Spans:
    """Spans in a sentence of TOKENS tokens, from left to right and without a common token."""
    limits = sorted(draw(st.sets(st.integers(0, TOKENS), max_size=6)))
    pairs = zip(limits[::2], limits[1::2], strict=False)
    return [(draw(st.sampled_from("ABC")), start, end) for start, end in pairs]


def tags(spans: Spans) -> list[str]:
    tags = ["O"] * TOKENS
    for kind, start, end in spans:
        tags[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
    return tags


def of_brat(spans: Spans) -> str:
    """As BRAT writes them, with two characters for each token."""
    return "".join(
        f"T{number}\t{kind} {2 * start} {2 * end - 1}\tw\n" for number, (kind, start, end) in enumerate(spans)
    )


def loaded(folder: Path, content: str | bytes, reader: str, overlap: str) -> Counts:
    """The counts of all documents together, by type, of a file with gold and answers."""
    file = folder / "in.tar.gz"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with in_memory() as database:
        load(database, file, reader, fields={"test_set": reader, "system": "x"}, options={"overlap": overlap})
        return counts(database)


def counts(database: Database) -> Counts:
    sums = ", ".join(f"sum({count})::integer" for count in COLUMNS)
    rows = database.rows(Sql(f"select unit, {sums} from scores group by unit having sum(possible + actual) > 0"))
    return {unit: tuple(of_unit) for unit, *of_unit in rows}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


@pytest.mark.long
@settings(max_examples=30)
@given(st.lists(st.tuples(spans(), spans()), min_size=1, max_size=4), st.sampled_from(["wrong", "partial"]))
def test_the_same_spans_give_the_same_counts(folder: Path, texts: list[tuple[Spans, Spans]], overlap: str) -> None:
    if not (any(gold for gold, _ in texts) and any(found for _, found in texts)):
        return  # a column of tags without any entity is refused
    lines = ("\n".join(f"w {g} {f}" for g, f in zip(tags(gold), tags(found), strict=True)) for gold, found in texts)
    (folder / "in.conll").write_text("\n\n".join(lines) + "\n")
    with in_memory() as database:
        fields = {"test_set": "t", "system": "x"}
        options = {"overlap": overlap}
        columns = {"gold": "2", "answers": "3"}
        load(database, folder / "in.conll", "conll", fields=fields, columns=columns, options=options)
        tagged = counts(database)
    members = [(f"gold/{n}.ann", of_brat(gold)) for n, (gold, _) in enumerate(texts)]
    members += [(f"x/{n}.ann", of_brat(found)) for n, (_, found) in enumerate(texts)]
    assert loaded(folder, archive(*members), "brat", overlap) == tagged
    if overlap == "wrong":
        assert_as_seqeval([tags(gold) for gold, _ in texts], [tags(found) for _, found in texts], tagged)


def assert_as_seqeval(gold: list[list[str]], found: list[list[str]], counts: Counts) -> None:
    """Precision and recall of each type, and of all together, are those of seqeval, which has 0 for undefined ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report: dict[str, Any] = seqeval.metrics.classification_report(gold, found, output_dict=True, zero_division=0)
    together = tuple(map(sum, zip(*counts.values(), strict=True)))
    for unit, (possible, actual, correct, *_) in {**counts, "micro avg": together}.items():
        said = report[unit]
        assert said["precision"] == pytest.approx(correct / actual if actual else 0)
        assert said["recall"] == pytest.approx(correct / possible if possible else 0)
        assert said["support"] == possible


def test_a_wrong_type_is_charged_to_the_type_of_the_answer(folder: Path) -> None:
    """Nothing is answered as LOC, so its precision is undefined; the one answer as ORG is wrong."""
    gold, found = [("LOC", 0, 1), ("PER", 2, 3)], [("ORG", 0, 1), ("PER", 2, 3)]
    both = archive(("gold/d.ann", of_brat(gold)), ("x/d.ann", of_brat(found)))
    assert loaded(folder, both, "brat", "wrong") == {
        "LOC": (1, 0, 0, 0, 0, 0, 1),
        "ORG": (0, 1, 0, 0, 0, 1, 0),
        "PER": (1, 1, 1, 0, 0, 0, 0),
    }


def test_the_pieces_of_an_annotation_are_its_place(folder: Path) -> None:
    """The same first piece alone is another place, and overlaps."""
    both = archive(("gold/d.ann", "T1\tA 0 3;6 9\tx\nT2\tA 20 22\tx\n"), ("x/d.ann", "T1\tA 0 3\tx\nT2\tA 8 9\tx\n"))
    assert loaded(folder, both, "brat", "wrong") == {"A": (2, 2, 0, 0, 0, 2, 2)}
    assert loaded(folder, both, "brat", "partial") == {"A": (2, 2, 0, 1, 0, 1, 1)}

"""A measure of items that are matched with wrong ones is no number where data never match them so."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures import MEASURES, Measure, Ratio
from evalhouse.warehouse.session.session import Session
from tests.empty import create

CLASSES = "id,y_true,y_pred\nD1,joy,war\nD2,war,war\nD3,art,art\n"
SETS = "id,y_true,y_pred\nD1,joy|war,war\nD2,war,war|art\nD3,art,art\n"
TAGS = "Ada B-PER B-LOC\nsaw O B-PER\nRome B-LOC B-LOC\n"
QRELS, RUN = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\n", "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s\nq2 Q0 d9 1 1 s\n"
SLOTS = "document,unit,possible,actual,correct,partial,incorrect\nD1,who,3,3,2,0,1\nD1,where,1,1,1,0,0\n"
PARTS = "document,unit,possible,actual,correct,partial\nD1,who,3,3,2,1\n"
WHOLE = "document,possible,actual,correct,partial,incorrect\nD1,3,3,2,0,0\n"

DATA: dict[str, tuple[str, Mapping[str, str], bool]] = {
    "classes": ("sklearn", {"in.csv": CLASSES}, False),
    "sets of classes": ("sklearn", {"in.csv": SETS}, False),
    "tags": ("conll", {"in.conll": TAGS}, False),
    "a run": ("trec", {"qrels.txt": QRELS, "s.run": RUN}, False),
    "slots": ("scores", {"in.csv": SLOTS}, True),
    "partial items": ("scores", {"in.csv": PARTS}, True),
    "counts of whole documents": ("scores", {"in.csv": WHOLE}, True),
}
"""The reader and the files of each kind of data, and whether its items may be matched with wrong ones."""

MATCHED = {"correct", "partial", "incorrect"}


def loaded(folder: Path, reader: str, files: Mapping[str, str]) -> Session:
    with create(folder / "w.duckdb") as database:
        for name, text in files.items():
            (folder / name).write_text(text)
            load(database, folder / name, reader, fields={"test_set": "T", "system": "s"})
    return Session.open(folder / "w.duckdb")


def is_of_wrong_matches(measure: Measure) -> bool:
    """Whether a measure is computed from matched items alone, and 0 where all of them are right."""
    settings = {one.name: Decimal(one.default) for one in measure.parameters if isinstance(one.default, Decimal)}
    computation = measure.formula(**settings)
    if not isinstance(computation, Ratio) or not MATCHED.issuperset(computation.columns):
        return False
    return "correct" not in dict(computation.numerator)


def test_such_a_measure_is_substitution() -> None:
    extraction = [measure for measure in MEASURES if measure.kind == "extraction"]
    refused = [measure for measure in extraction if measure.not_without_wrong_matches]
    assert [measure.name for measure in refused] == ["substitution"]
    assert refused == [measure for measure in extraction if is_of_wrong_matches(measure)]


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize(
    "statement",
    ["score substitution for all on T", "score substitution(partial=0), F for s", "score mean(substitution) for s"],
)
def test_it_is_refused_where_nothing_is_matched_with_a_wrong_item(tmp_path: Path, kind: str, statement: str) -> None:
    reader, files, there = DATA[kind]
    with loaded(tmp_path, reader, files) as session:
        if there:
            assert session.run(statement).rows
        else:
            with pytest.raises(QueryError, match="matched with wrong ones") as caught:
                session.run(statement)
            assert "overgeneration" in caught.value.hints[0]


def test_of_several_test_sets_those_are_left_out_that_lack_it(tmp_path: Path) -> None:
    with create(tmp_path / "w.duckdb") as database:
        for test_set, reader, text in (("moods", "sklearn", CLASSES), ("slots", "scores", SLOTS)):
            (tmp_path / "in.csv").write_text(text)
            load(database, tmp_path / "in.csv", reader, fields={"test_set": test_set, "system": "s"})
    with Session.open(tmp_path / "w.duckdb") as session:
        assert [row["test_set"] for row in session.run("score substitution for all").rows] == ["slots"]

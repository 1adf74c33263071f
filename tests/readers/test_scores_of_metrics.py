"""Scores of segments as the metrics of translation write them: files of mt-metrics-eval, and the JSON of COMET."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalhouse.warehouse.loading.readers import READERS, Start
from evalhouse.warehouse.loading.readers.comet import EXAMPLE
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

ON = {"test_set": "wmt"}


def values(database: Database) -> list[tuple[str, str, str, float]]:
    return database.rows(Sql("select system, document, measure, value from document_values order by all"))


@pytest.mark.parametrize(
    ("file", "measure"),
    [("BLEURT-20-refA.seg.score", "BLEURT-20"), ("COMET.seg.score", "COMET"), ("CometKiwi-src.seg.score", "CometKiwi")],
)
def test_a_line_is_a_system_and_its_score(database: Database, load_text: Load, file: str, measure: str) -> None:
    loaded = load_text("k1\t0.5\nk1\tNone\nk2\t0.75\nk2\t-0.5\n", "sacrebleu", file, fields=ON)
    assert "segments without a score: 1" in loaded.notes
    assert values(database) == [("k1", "1", measure, 0.5), ("k2", "1", measure, 0.75), ("k2", "2", measure, -0.5)]
    assert READERS["sacrebleu"].recognizes(Start(file, "k1\t0.5\n", path=Path(file)))


def test_human_scores_of_mqm_are_penalties(database: Database, load_text: Load) -> None:
    load_text("k1\t-5.0\nk1\t0.0\nk2\t-0.1\nk2\tNone\n", "sacrebleu", "en-de.mqm.seg.score", fields=ON)
    assert values(database) == [("k1", "1", "MQM", 5.0), ("k1", "2", "MQM", 0.0), ("k2", "1", "MQM", 0.1)]


def test_systems_have_the_same_segments(complaints: Complaints) -> None:
    said = complaints("k1\t0.5\nk2\t0.5\nk2\t1\n", "sacrebleu", "X.seg.score", fields=ON)
    assert said == ["X.seg.score: the systems have different numbers of segments: 1 of k1, 2 of k2"]
    assert complaints("k1\tgood\n", "sacrebleu", "X.seg.score", fields=ON) == [
        "X.seg.score:1: this line is not a system and its score"
    ]


def test_comet_names_systems_by_their_files(database: Database, load_text: Load) -> None:
    text = json.dumps(
        {**json.loads(EXAMPLE), "out/tuned.txt": [{"src": "Der Hund schläft.", "mt": "x", "COMET": 0.93}]}
    )
    load_text(text, "comet", "out.json", fields=ON, texts=True)
    assert values(database) == [("base", "1", "COMET", 0.81), ("tuned", "1", "COMET", 0.93)]
    rows = Session(database).run("score COMET for all on wmt").rows
    assert [row["COMET"] for row in rows] == pytest.approx([0.93, 0.81])


def test_comet_scores_the_same_segments(complaints: Complaints) -> None:
    segment = {"src": "a", "mt": "b", "COMET": 0.5}
    said = complaints(json.dumps({"a": [segment], "b": []}), "comet", "out.json", fields=ON)
    assert said == ["out.json: the systems have different numbers of segments: 1 in a, 0 in b"]

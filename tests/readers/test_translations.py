"""Translations and their references: scored segment by segment, and found by the names of their files."""

from __future__ import annotations

from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU, CHRF  # type: ignore[attr-defined]

from tests.store.texts import Complaints, Load
from warehouse.loading.ingest import load
from warehouse.loading.readers import Role
from warehouse.loading.readers.recognition import recognize
from warehouse.loading.readers.translations import EXAMPLE
from warehouse.store.database import Database
from warehouse.store.sql import Sql

REFERENCE = ["the cat sat on the mat", "a dog barked", ""]
BASE = ["the cat sits on a mat", "a dog barks", "what"]


def values(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select test_set, system, document, measure, value from document_values order by all"))


def written(folder: Path, name: str, lines: list[str]) -> Path:
    (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return folder / name


def test_files_beside_a_reference_are_of_systems(database: Database, tmp_path: Path) -> None:
    reference, base = written(tmp_path, "ted.ref.en", REFERENCE), written(tmp_path, "ted.base.en", BASE)
    assert recognize(reference, database).role is Role.PART
    assert recognize(base, database).reader == "segments"
    load(database, base, "segments")
    bleu, chrf = BLEU(effective_order=True), CHRF()
    wanted = []
    for number, (given, gold) in enumerate(zip(BASE, REFERENCE, strict=True), start=1):
        scores = {"sentence-BLEU": bleu, "sentence-chrF": chrf}
        wanted += [
            ("ted", "base", str(number), name, metric.sentence_score(given, [gold]).score)
            for name, metric in scores.items()
        ]
    assert values(database) == wanted


def test_a_table_has_both_texts(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "segments", "da.tsv", fields={"test_set": "wmt"})
    assert [row[:4] for row in values(database)] == [
        ("wmt", "base", number, measure) for number in "12" for measure in ("sentence-BLEU", "sentence-chrF")
    ]


def test_a_reference_can_be_named(database: Database, tmp_path: Path) -> None:
    gold, base = written(tmp_path, "gold.txt", REFERENCE), written(tmp_path, "base.txt", BASE)
    load(database, base, "segments", fields={"test_set": "ted"}, options={"reference": str(gold)})
    assert {row[:2] for row in values(database)} == {("ted", "base")}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a\nb\n", "base.txt: no reference lies beside it; --reference FILE names it"),
        ("mt\tref\na\n", "base.txt:2: 1 cell in this row, and 2 in the header"),
    ],
)
def test_what_has_no_reference_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "segments", "base.txt") == [sentence]


def test_a_reference_of_another_length_is_refused(complaints: Complaints, tmp_path: Path) -> None:
    gold = written(tmp_path, "gold.txt", REFERENCE)
    said = complaints("a\n", "segments", "base.txt", options={"reference": str(gold)})
    assert said == [f"base.txt: 1 segment, and 3 in the reference {gold}"]


def test_real_translations_are_found_beside_their_reference(database: Database, real_files: Path) -> None:
    roles = {file.name: recognize(file, database).role for file in (real_files / "mt").iterdir()}
    assert roles["ted.ref.detok.eng"] is Role.PART
    assert roles["ted.sys1.detok.eng"] is roles["ted.sys2.detok.eng"] is Role.FACTS

"""Translations and their references: counted segment by segment, and recognized by the names of their files."""

from __future__ import annotations

from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU  # type: ignore[attr-defined]

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import Role
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.loading.readers.translations import EXAMPLE
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

REFERENCE = ["the cat sat on the mat", "a dog barked", ""]
SAID = {"test_set": "ted", "system": "base"}
BASE = ["the cat sits on a mat", "a dog barks", "what"]


def counts(database: Database, family: str) -> dict[tuple[str, str, str], list[int]]:
    """By test set, system and segment the numbers of one metric, in the order of their names."""
    stored = database.rows(
        Sql(
            "select test_set, system, document, list(number order by count) from counts "
            "where starts_with(count, ? || '|') group by all order by max(document::integer)",
            (family,),
        )
    )
    return {(test_set, system, document): numbers for test_set, system, document, numbers in stored}


def written(folder: Path, name: str, lines: list[str]) -> Path:
    (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return folder / name


def test_files_beside_a_reference_are_of_systems(database: Database, tmp_path: Path) -> None:
    reference, base = written(tmp_path, "ted.ref.en", REFERENCE), written(tmp_path, "ted.base.en", BASE)
    assert recognize(reference, database).role is Role.PART
    assert recognize(base, database).reader == "segments"
    load(database, base, "segments")
    metric = BLEU()
    wanted = {}
    for number, (given, gold) in enumerate(zip(BASE, REFERENCE, strict=True), start=1):
        score = metric.corpus_score([given], [[gold]])
        wanted["ted", "base", str(number)] = [*score.counts, score.ref_len, score.sys_len, *score.totals]
    assert counts(database, "BLEU") == wanted
    names = database.rows(Sql("select distinct count from counts where starts_with(count, 'TER') order by 1"))
    how = "TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no"
    assert names == [(f"{how}|edits",), (f"{how}|length",)]


def test_the_source_beside_a_reference_is_found_in_its_own_language(database: Database, tmp_path: Path) -> None:
    source = written(tmp_path, "ted.src.de", ["die Katze saß", "ein Hund bellte", "nichts"])
    written(tmp_path, "ted.ref.en", REFERENCE)
    base = written(tmp_path, "ted.base.en", BASE)
    assert recognize(source, database).role is Role.PART
    load(database, base, "segments", options={"metrics": "BLEU"}, texts=True)
    inputs = Sql("select text from texts where kind = 'input' order by document::integer")
    assert database.rows(inputs) == [("die Katze saß",), ("ein Hund bellte",), ("nichts",)]


def test_of_two_sources_none_is_taken(database: Database, tmp_path: Path) -> None:
    for name in ("ted.src.de", "ted.src.fr", "ted.ref.en"):
        written(tmp_path, name, REFERENCE)
    load(database, written(tmp_path, "ted.base.en", BASE), "segments", options={"metrics": "BLEU"}, texts=True)
    assert database.rows(Sql("select count(*) from texts where kind = 'input'")) == [(0,)]


def test_a_table_has_both_texts(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "segments", "da.tsv", fields={"test_set": "wmt"})
    assert list(counts(database, "chrF")) == [("wmt", "base", number) for number in "12"]


def test_a_table_may_have_several_references(database: Database, load_text: Load) -> None:
    load_text("mt\trefA\trefB\nthe cat\ta cat sat\tthe cat\n", "segments", "da.tsv", fields=SAID)
    assert counts(database, "TER") == {("ted", "base", "1"): [0, 5]}, "edits to the nearest, and both lengths"
    assert database.rows(Sql("select count(*) from counts where contains(count, '|nrefs:2|')")) != [(0,)]


def test_all_references_beside_a_file_are_taken(database: Database, tmp_path: Path) -> None:
    written(tmp_path, "ted.ref0.en", REFERENCE)
    written(tmp_path, "ted.ref1.en", BASE)
    load(database, written(tmp_path, "ted.base.en", BASE), "segments", options={"metrics": "TER"})
    assert [edits for edits, _ in counts(database, "TER").values()] == [0, 0, 0]


def test_a_reference_can_be_named(database: Database, tmp_path: Path) -> None:
    gold, base = written(tmp_path, "gold.txt", REFERENCE), written(tmp_path, "base.txt", BASE)
    load(database, base, "segments", fields={"test_set": "ted"}, options={"reference": str(gold)})
    assert {key[:2] for key in counts(database, "BLEU")} == {("ted", "base")}


def test_what_is_counted_can_be_said(database: Database, tmp_path: Path, load_text: Load) -> None:
    gold = written(tmp_path, "gold.txt", REFERENCE)
    text = "".join(f"{line}\n" for line in BASE)
    options = {"reference": f"{gold},{gold}", "metrics": "BLEU", "tokenize": "char"}
    load_text(text, "segments", "base.txt", fields=SAID, options=options)
    assert database.rows(Sql("select distinct regexp_replace(count, '\\|[^|]*$', '') from counts")) == [
        ("BLEU|nrefs:2|case:mixed|tok:char",)
    ]
    with pytest.raises(DataError, match="there is no metric 'METEOR'; the metrics are BLEU, chrF, chrF2\\+\\+, TER"):
        load_text(text, "segments", "other.txt", fields=SAID, options={"reference": str(gold), "metrics": "METEOR"})
    with pytest.raises(DataError, match="--tokenize is 'moses', not 13a or intl or char or zh or none"):
        load_text(text, "segments", "other.txt", fields=SAID, options={"reference": str(gold), "tokenize": "moses"})


@pytest.mark.parametrize("measure", ["BLEU", "chrF2++", "TER"])
def test_finished_scores_of_segments_are_called_so(database: Database, load_text: Load, measure: str) -> None:
    loaded = load_text("31.4\n0\n", "sacrebleu", "scores.txt", fields=SAID, options={"measure": measure})
    assert loaded.measures == (f"sentence-{measure}",)
    assert f"the {measure} of the corpus is not their mean" in loaded.notes[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a\nb\n", "base.txt: there is no reference beside it; --reference FILE names one"),
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

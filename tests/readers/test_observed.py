"""The names and clusters of documents in each format, as they are stored; also in files that other tools wrote."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.kinds.kind import Observed
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import Reader
from evalhouse.warehouse.store.catalog import Catalog
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.readers.test_every_reader import OTHERS, each_reader, words
from tests.store.texts import Load

PAIRS = Observed("topic-document pair", "topic")
ON = {"test_set": "T"}


def observed(database: Database) -> dict[str, Observed]:
    """What holds of the first test set, by the tasks that have rows."""
    known = Catalog(database)
    test_set = known.test_sets[0]
    return {
        task: known.observed(task, test_set.id)
        for task in KINDS
        if KINDS[task].by_document and known.has_rows(task, test_set.id)
    }


@each_reader
def test_its_example_is_called_by_its_noun(database: Database, load_text: Load, reader: Reader) -> None:
    load_text(reader.example, reader.name, "example", **words(reader))
    # The documents of a table are called as their column is.
    own = "question" if reader.name == "table" else reader.noun
    for task, of_task in observed(database).items():
        assert of_task.noun == ("topic-document pair" if KINDS[task].has_key and reader.observed_in else own)


def test_readers_have_the_nouns_of_their_fields() -> None:
    assert {reader.name: reader.noun for reader in OTHERS} == {
        "table": "",
        "muc-report": "message",
        "trec": "topic",
        "trec-eval": "topic",
        "conll": "sentence",
        "spans": "document",
        "lm-eval": "sample",
        "helm": "sample",
        "inspect": "sample",
        "every-eval-ever": "sample",
        "alpaca-eval": "instruction",
        "mqm": "segment",
        "mteb": "",
        "swe-bench": "instance",
        "promptfoo": "test",
        "deepeval": "test case",
        "human-eval": "task",
        "tau-bench": "task",
        "openai-evals": "sample",
        "lighteval": "sample",
        "opencompass": "sample",
        "llm-judge": "question",
        "sacrebleu": "segment",
        "segments": "segment",
        "comet": "segment",
        "numbers": "",
        "sklearn": "",
        "pairs": "document",
        "answers": "question",
    }


@pytest.mark.long
@pytest.mark.parametrize(
    ("reader", "files", "settings", "wanted"),
    [
        (
            "trec",
            ["trec/qrels.test", "trec/results.test"],
            {"fields": ON},
            {"filtering": PAIRS, "extraction": Observed("topic"), "rankings": Observed("topic")},
        ),
        ("trec-eval", ["trec/out.test.aq"], {"fields": ON}, {"values": Observed("topic")}),
        ("inspect", ["inspect/data_arc_qwen.json"], {}, {"values": Observed("sample")}),
        (
            "lm-eval",
            ["lm_eval/EleutherAI__pythia/samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl"],
            {},
            {"values": Observed("sample")},
        ),
        (
            "helm",
            [
                "helm/commonsense-dataset=hellaswag,method=multiple_choice_joint,model=eleutherai_pythia-1b-v0"
                "/per_instance_stats.json"
            ],
            {},
            {"values": Observed("sample")},
        ),
        (
            "muc-report",
            ["muc4/score-reports.tst3.tar.gz"],
            {},
            {"extraction": Observed("message"), "filtering": Observed("message")},
        ),
    ],
)
def test_real_files_too(
    database: Database,
    real_files: Path,
    reader: str,
    files: list[str],
    settings: dict[str, dict[str, str]],
    wanted: dict[str, Observed],
) -> None:
    for file in files:
        load(database, real_files / file, reader, **settings)  # type: ignore[arg-type]
    assert observed(database) == wanted


def test_documents_of_topics_and_of_pairs_are_counted_apart(database: Database, real_files: Path) -> None:
    for file in ("qrels.test", "results.test"):
        load(database, real_files / "trec" / file, "trec", fields=ON)
    known = Catalog(database)
    lines = (real_files / "trec" / "qrels.test").read_text().splitlines()
    assert known.documents("filtering", 1) == len(lines)
    assert known.documents("rankings", 1) == len({line.split()[0] for line in lines})


def test_texts_of_an_archive_are_numbered_through(database: Database, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("-DOCSTART- O O\nAda B-PER B-PER\n\nsaw O O\n-DOCSTART- O O\nTurin B-LOC O\n")
    with tarfile.open(tmp_path / "both.tar", "w") as archive:
        for name in ("a", "b"):
            archive.add(tmp_path / name, name)
    load(database, tmp_path / "both.tar", "conll", fields={**ON, "system": "crf"})
    texts = database.rows(Sql("select value from document_attributes order by document"))
    assert [text for (text,) in texts] == ["1", "1", "2", "3", "3", "4"]

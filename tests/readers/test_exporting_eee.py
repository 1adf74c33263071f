"""Records of Every Eval Ever that are written from a warehouse: they fit the schemas, and load as the same data."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cli
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.export_eee import Evaluator, RecordsWritten, export_eee
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import (
    alpaca_eval,
    every_eval_ever,
    helm,
    inspect_log,
    lm_eval,
    mteb,
    swe_bench,
)
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Load

FACTS = (
    # Which of two runs is the replicate depends on the order in which they are loaded.
    "select test_set, split_part(system, '#', 1), document, measure, value from document_values order by all",
    "select test_set, system, measure, value, documents, standard_error from published_figures order by all",
)
LOG = "samples_arith_2026-01-16T15-23-47.jsonl"


Given = tuple[str, str, str, dict[str, str]]
LOGS: list[Given] = [
    (lm_eval.EXAMPLE, "lm-eval", LOG, {"system": "acme/m1"}),
    (lm_eval.EXAMPLE.replace("1.0", "0.5"), "lm-eval", LOG.replace("16T", "17T"), {"system": "acme/m1"}),
    (inspect_log.EXAMPLE, "inspect", "log.json", {}),
    (helm.EXAMPLE, "helm", "h.json", {"test_set": "mmlu:subject=law", "system": "gpt2"}),
    (every_eval_ever.EXAMPLE, "every-eval-ever", "e.json", {}),
    (alpaca_eval.EXAMPLE, "alpaca-eval", "a.json", {}),
    (mteb.EXAMPLE, "mteb", "m.json", {"system": "e5"}),
    (swe_bench.EXAMPLE, "swe-bench", "acme__m2.first.json", {"test_set": "lite"}),
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A warehouse with an example of each log. No test stores anything in it."""
    folder = tmp_path_factory.mktemp("logs")
    with in_memory() as database:
        for text, reader, name, fields in LOGS:
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
            load(database, folder / name, reader, fields=fields)
        yield database


def records(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    return [(file, json.loads(file.read_text())) for file in sorted(folder.rglob("*.json"))]


def samples(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in sorted(folder.rglob("*.jsonl")) for line in file.read_text().splitlines()]


def test_a_record_has_what_the_schema_requires(filled: Database, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    written = export_eee(filled, folder, Evaluator("Acme", "first_party"))
    listed = records(folder)
    assert written == RecordsWritten(len(listed), len(samples(folder)))
    for file, record in listed:
        assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", file.stem)
        assert len(file.relative_to(folder).parts) == 5
        assert record["schema_version"] == "0.3.0"
        assert record["source_metadata"]["source_organization_name"] == "Acme"
        assert {"deployment_type", "model_availability"} <= record["model_info"]["additional_details"].keys()
        assert record["evaluation_results"]
        for result in record["evaluation_results"]:
            assert {"evaluation_name", "source_data", "metric_config", "score_details"} <= result.keys()
        if "detailed_evaluation_results" in record:
            details = record["detailed_evaluation_results"]
            content = (folder / details["file_path"]).read_bytes()
            assert details["checksum"] == hashlib.sha256(content).hexdigest()
            assert details["total_rows"] == len(content.splitlines())
    wanted = (
        *("schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "interaction_type", "input"),
        *("output", "answer_attribution", "evaluation"),
    )
    assert all(sample.keys() >= set(wanted) for sample in samples(folder))


def test_records_fit_the_schemas(filled: Database, tmp_path: Path, real_files: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    folder = tmp_path / "out"
    export_eee(filled, folder, Evaluator())
    schemas = (real_files / "eee" / name for name in ("eval.schema.json", "instance_level_eval.schema.json"))
    of_record, of_sample = (jsonschema.Draft7Validator(json.loads(schema.read_text())) for schema in schemas)
    for _, record in records(folder):
        of_record.validate(record)
    for sample in samples(folder):
        of_sample.validate(sample)


@pytest.mark.long
def test_records_load_as_what_they_were(filled: Database, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    export_eee(filled, folder, Evaluator())
    with in_memory() as other:
        for file in sorted(folder.rglob("*.json*")):
            load(other, file, "every-eval-ever")
        values, figures = (other.rows(Sql(query)) for query in FACTS)
        assert values == filled.rows(Sql(FACTS[0]))
        # The means of values are figures now, too.
        assert set(filled.rows(Sql(FACTS[1]))) <= set(figures)
        twice = sorted(folder.rglob("*.json*"))[0]
        assert load(other, twice, "every-eval-ever").rows_new == 0


def test_a_mean_has_its_uncertainty(filled: Database, tmp_path: Path) -> None:
    export_eee(filled, tmp_path / "out", Evaluator())
    [record] = [record for _, record in records(tmp_path / "out") if record["evaluation_id"].startswith("popularity")]
    [result] = [result for result in record["evaluation_results"] if result["metric_config"]["metric_id"] == "accuracy"]
    assert record["eval_library"]["name"] == "inspect_ai"
    assert result["metric_config"]["metric_kind"] == "accuracy"
    assert result["score_details"] == {
        "score": 0.5,
        "uncertainty": {
            "num_samples": 2,
            "standard_error": {"value": pytest.approx(0.5), "method": "analytic"},
            "standard_deviation": pytest.approx(0.5**0.5),
        },
    }


def test_what_is_simulated_is_left_out(database: Database, load_text: Load, tmp_path: Path) -> None:
    load_text(inspect_log.EXAMPLE, "inspect", "log.json", simulated=True)
    assert export_eee(database, tmp_path / "out", Evaluator()) == RecordsWritten(0, 0)


def test_a_folder_that_is_there_is_not_written_over(filled: Database, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(DataError, match="out: already exists"):
        export_eee(filled, tmp_path / "out", Evaluator())
    with pytest.raises(DataError, match="there is no folder"):
        export_eee(filled, tmp_path / "none" / "out", Evaluator())
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.long
def test_the_command_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, db, out = tmp_path / "log.json", tmp_path / "w.duckdb", tmp_path / "out"
    log.write_text(inspect_log.EXAMPLE)
    assert cli.main(["init", str(db)]) == 0
    assert cli.main(["load", str(log), "--as", "inspect", "--db", str(db)]) == 0
    capsys.readouterr()
    assert cli.main(["export-eee", str(out), "--db", str(db), "--organization", "Acme"]) == 0
    assert capsys.readouterr().err == f"note: {out}: 1 record, 4 samples\n"
    assert cli.main(["export-eee", str(out), "--db", str(db)]) == 1
    assert "already exists" in capsys.readouterr().err


@pytest.mark.long
def test_texts_are_written_and_loaded_again(database: Database, load_text: Load, tmp_path: Path) -> None:
    sample = {"target": "4", "arguments": {"gen_args_0": {"arg_0": "2 + 2?\n"}}, "resps": [["four", "x" * 20_000]]}
    known = {"doc_id": 0, "filter": "none", "metrics": ["acc"], "acc": 1.0}
    other = {**sample, "arguments": {"gen_args_0": {"arg_0": "<user>"}}}
    for model, said in (("acme/m1", sample), ("acme/m2", other)):
        text = json.dumps({**known, **said})
        load_text(text, "lm-eval", LOG, fields={"system": model}, texts=True)
    query = Sql("select document, system, kind, number, text from texts order by all")
    export_eee(database, tmp_path / "out", Evaluator("Acme", "first_party"))
    with in_memory() as again:
        for file in sorted((tmp_path / "out").rglob("*_samples.jsonl")):
            load(again, file, "every-eval-ever", texts=True)
        assert len(again.rows(query)) == 7
        assert again.rows(query) == database.rows(query)

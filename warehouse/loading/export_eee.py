"""Exports a warehouse to records of Every Eval Ever, schema 0.3: one record for each run of a model on a test set, and
a file of its samples beside it, one per line.

Values become samples, and their means become results. Published figures become results unchanged. Score tuples and
decisions are left out, because the schema has no place for them; simulated data are left out too. The folder appears
whole or not at all. Nothing here reads such records.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from evalhouse.warehouse.faults import file_error
from evalhouse.warehouse.kinds.records import INPUT, OUTPUT, REFERENCE
from evalhouse.warehouse.measures.measure import lower_by_name
from evalhouse.warehouse.measures.values import ACCURACY
from evalhouse.warehouse.process.publishing import folder_at
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.version import __version__

SCHEMA = "0.3.0"

LIBRARIES = {"lm-eval": "lm_eval", "inspect": "inspect_ai", "helm": "helm"}
"""For each reader, the name of the library that wrote its files."""


class Evaluator(Struct, frozen=True):
    """The organization that publishes the records, and its relationship to the models."""

    organization: str = "unknown"
    relationship: str = "other"


class RecordsWritten(Struct, frozen=True):
    """How many records were written, and how many samples beside them."""

    records: int
    samples: int


class _ExportedRun(Struct, frozen=True):
    """A system on a test set as a run of a model, with the details that its first import gives."""

    test_set: int
    system: int
    test_set_name: str
    model: str
    run: str | None
    date: str | None
    imported: datetime
    reader: str

    @property
    def id(self) -> str:
        """The id of the evaluation: that of the loaded record, or else one made of the test set, the model and what
        identifies the run.
        """
        if self.run and "/" in self.run:
            return self.run
        told_by = self.run or self.date or _seconds(self.imported)
        return "/".join(map(_part, (self.test_set_name, self.model, told_by)))


def export_eee(database: Database, folder: Path, source: Evaluator) -> RecordsWritten:
    """Writes records for all values and figures into a new folder.

    Raises DataError if the folder exists already or cannot be written.
    """
    if folder.exists() or folder.is_symlink():
        raise file_error(folder, "already exists")
    if not folder.absolute().parent.is_dir():
        raise file_error(folder, f"there is no folder {folder.absolute().parent}")
    try:
        with folder_at(folder.absolute()) as draft:
            samples = [_write(database, draft, run, source) for run in _runs(database)]
    except OSError as error:
        raise file_error(folder, f"cannot be written: {error.strerror or error}") from None
    return RecordsWritten(len(samples), sum(samples))


def _runs(database: Database) -> list[_ExportedRun]:
    """The systems and test sets that have values or figures that are not simulated, in alphabetical order."""
    query = Sql(
        "select f.test_set_id, f.system_id, any_value(t.name), coalesce(any_value(r.model), any_value(s.name)), "
        "any_value(r.run), any_value(r.date), min(i.imported_at), arg_min(i.reader, i.id) from ("
        "select distinct test_set_id, system_id, import_id from value union "
        "select distinct test_set_id, system_id, import_id from published) f "
        "join test_set t on t.id = f.test_set_id join system s on s.id = f.system_id "
        "join import i on i.id = f.import_id "
        "left join run r on r.test_set_id = f.test_set_id and r.system_id = f.system_id "
        "where not i.simulated group by f.test_set_id, f.system_id order by 3, 4, 2"
    )
    return [_ExportedRun(*row) for row in database.rows(query)]


def _write(database: Database, folder: Path, run: _ExportedRun, source: Evaluator) -> int:
    """Writes the record of a run, and its samples if there are any. Returns how many samples were written."""
    developer, _, name = run.model.rpartition("/")
    within = Path("data", _part(run.test_set_name), _part(developer or "unknown"), _part(name))
    file = _uuid(f"{run.id} {run.test_set}")
    place = folder / within
    place.mkdir(parents=True, exist_ok=True)
    results = _results(database, run)
    lines = [json.dumps(line, ensure_ascii=False) for line in _samples(database, run, results)]
    said: dict[str, Any] = {
        "schema_version": SCHEMA,
        "evaluation_id": run.id,
        **({"evaluation_timestamp": _timestamp(run.date)} if run.date else {}),
        "retrieved_timestamp": _seconds(run.imported),
        "source_metadata": {
            "source_name": "evalhouse",
            "source_type": "evaluation_run",
            "source_organization_name": source.organization,
            "evaluator_relationship": source.relationship,
            "additional_details": {"evalhouse_version": __version__},
        },
        "eval_library": {"name": LIBRARIES.get(run.reader, "unknown"), "version": "unknown"},
        "model_info": {
            "name": name,
            "id": run.model,
            **({"developer": developer} if developer else {}),
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": list(results.values()),
    }
    if lines:
        text = "".join(f"{line}\n" for line in lines)
        (place / f"{file}_samples.jsonl").write_text(text, encoding="utf-8")
        said["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{within.as_posix()}/{file}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(text.encode()).hexdigest(),
            "total_rows": len(lines),
        }
    (place / f"{file}.json").write_text(json.dumps(said, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return len(lines)


def _results(database: Database, run: _ExportedRun) -> dict[str, dict[str, Any]]:
    """The results of a run by measure: its published figures, or else the means of its values."""
    declared = {
        str(name): bool(lower) for name, lower in database.rows(Sql("select measure, lower_is_better from direction"))
    }
    query = (
        "select measure, {} from {} f join import i on i.id = f.import_id where test_set_id = ? and system_id = ? "
        "and not i.simulated {} order by measure"
    )
    key = (run.test_set, run.system)
    means = "avg(value), stddev_samp(value), count(*), bool_and(value in (0, 1))"
    of_values = database.rows(Sql(query.format(means, "value", "group by measure"), key))
    columns = "value::double, documents, standard_error, ci_low, ci_high, ci_level"
    of_figures = database.rows(Sql(query.format(columns, "published", ""), key))
    results: dict[str, dict[str, Any]] = {}
    for measure, mean, deviation, count, binary in of_values:
        uncertainty = {"num_samples": count}
        if deviation is not None:
            error = {"value": deviation / count**0.5, "method": "analytic"}
            uncertainty |= {"standard_error": error, "standard_deviation": deviation}
        kind = {"score_type": "binary"} if binary else {}
        results[measure] = _result(run, measure, declared, mean, uncertainty, kind)
    for measure, value, documents, error, low, high, level in of_figures:
        uncertainty = {} if documents is None else {"num_samples": documents}
        uncertainty |= {} if error is None else {"standard_error": {"value": error}}
        if low is not None and high is not None:
            limits = {"lower": low, "upper": high}
            uncertainty["confidence_interval"] = limits | ({} if level is None else {"confidence_level": level})
        results[measure] = _result(run, measure, declared, value, uncertainty, {})
    return results


def _result(
    run: _ExportedRun,
    measure: str,
    declared: Mapping[str, bool],
    score: float,
    uncertainty: Mapping[str, Any],
    kind: Mapping[str, str],
) -> dict[str, Any]:
    return {
        "evaluation_result_id": f"{run.test_set_name}.{measure}",
        "evaluation_name": run.test_set_name,
        "source_data": {"dataset_name": run.test_set_name, "source_type": "other"},
        "metric_config": {
            "metric_id": measure,
            "metric_name": measure,
            **({"metric_kind": ACCURACY} if measure == ACCURACY else {}),
            "lower_is_better": declared.get(measure, lower_by_name(measure)),
            **kind,
        },
        "score_details": {"score": score, **({"uncertainty": dict(uncertainty)} if uncertainty else {})},
    }


def _samples(database: Database, run: _ExportedRun, results: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The samples of a run, one for each value, with the texts of its document if they are stored."""
    texts = _texts(database, run)
    query = (
        "select f.measure, d.name, f.value, x.reason, a.said from value f join document d on d.id = f.document_id "
        "join import i on i.id = f.import_id "
        "left join failure x on x.test_set_id = f.test_set_id and x.system_id = f.system_id and x.item = d.name "
        "left join (select document_id, map_from_entries(list((name, value) order by name)) as said "
        "from document_attribute group by document_id) a on a.document_id = d.id "
        "where f.test_set_id = ? and f.system_id = ? and not i.simulated order by f.measure, d.name"
    )
    for measure, name, value, reason, attributes in database.rows(Sql(query, (run.test_set, run.system))):
        of_document = texts.get(name, {})
        yield {
            "schema_version": SCHEMA,
            "evaluation_id": run.id,
            "model_id": run.model,
            "evaluation_name": run.test_set_name,
            "evaluation_result_id": results[measure]["evaluation_result_id"],
            "sample_id": name,
            "interaction_type": "single_turn",
            "input": {"raw": "\n\n".join(of_document.get(INPUT, [])), "reference": of_document.get(REFERENCE, [])},
            "output": {"raw": of_document.get(OUTPUT, [])},
            "answer_attribution": [],
            "evaluation": {"score": value, "is_correct": value == 1},
            **({"error": reason} if reason else {}),
            **({"metadata": attributes} if attributes else {}),
        }


def _texts(database: Database, run: _ExportedRun) -> dict[str, dict[str, list[str]]]:
    """The texts of a run by document and kind. An input of this system goes before the input of the document."""
    query = (
        "with own as (select document_id, kind, number, piece, text from system_text "
        "where test_set_id = ? and system_id = ?), shown as (from own union all "
        "select document_id, kind, number, piece, text from document_text as d where test_set_id = ? and not exists "
        "(from own where own.document_id = d.document_id and own.kind = d.kind)) "
        "select name, kind, list(text order by number) from (select d.name, kind, number, "
        "string_agg(text, '' order by piece) as text from shown join document d on d.id = document_id group by all) "
        "group by all"
    )
    texts: dict[str, dict[str, list[str]]] = {}
    for document, kind, said in database.rows(Sql(query, (run.test_set, run.system, run.test_set))):
        texts.setdefault(document, {})[kind] = said
    return texts


def _part(name: str) -> str:
    """A name, made safe as a part of a path."""
    return re.sub(r"[^\w.+=@-]", "_", name).strip(".") or "_"


def _uuid(text: str) -> str:
    """An id that looks random but is the same each time the same run is exported."""
    return str(uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=4))


def _seconds(time: datetime) -> str:
    return str(int(time.replace(tzinfo=UTC).timestamp()))


def _timestamp(date: str) -> str:
    """A date as seconds since 1970 if it can be parsed, else unchanged."""
    plain = re.sub(r"T(\d\d)-(\d\d)-(\d\d)", r"T\1:\2:\3", date)
    try:
        time = datetime.fromisoformat(plain)
    except ValueError:
        return date
    return _seconds(time) if time.tzinfo is None else str(int(time.timestamp()))

"""Reads records of Every Eval Ever, schema 0.3 (and 0.2).

Figures of a model are in `<id>.json`, and samples in `<id>_samples.jsonl`. The store has many records in a file of
Parquet, `dataset.parquet`, and their samples in `dataset_samples.parquet`. The test set is the evaluation, the system
is the model, and the id of the evaluation identifies the run.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import fmean
from string import ascii_uppercase
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.faults import UnreadableError
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import DOCUMENTS, FAILURES, PUBLISHED, VALUES
from evalhouse.warehouse.loading.staging.cells import FIGURES, decimal_text, finite
from evalhouse.warehouse.loading.staging.identity import ANSWER
from evalhouse.warehouse.loading.staging.lines import documents, filled_lines
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start, as_text
from evalhouse.warehouse.loading.staging.resources import Resources, directions
from evalhouse.warehouse.loading.staging.sheets import Sheets, TextSheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure, Values
from evalhouse.warehouse.loading.staging.tabular import parquet_columns
from evalhouse.warehouse.measures.values import ACCURACY, foremost
from evalhouse.warehouse.store.sql import Sql, pattern_of

# === parts of a record ================================================================================================
# The parts that are stored: the model, the run, and results with their uncertainty.

Uncertainty = tuple[int | None, float | None, float | None, float | None, float | None]
"""The number of samples, the standard error, the limits of an interval and its level; None for each one that is not
given.
"""


class RecordedResult(Struct, frozen=True):
    """One figure: its evaluation and measure, its id, and its details. `part` is the split or the data set, if it tells
    the figure apart from another of the same evaluation, `parameters` are those of the metric, and `is_mean` says
    whether the figure is the mean of samples.
    """

    id: str | None
    evaluation: str
    split: str
    dataset: str
    measure: str
    parameters: str
    is_mean: bool
    percent: bool
    score: float
    uncertainty: Uncertainty
    lower_is_better: bool | None
    part: str | None = None


class Record(Struct, frozen=True):
    """The contents of a record. The model and the id are None if there is no record."""

    model: str | None = None
    id: str | None = None
    date: str | None = None
    results: tuple[RecordedResult, ...] = ()

    def is_of(self, sample: Mapping[str, Any]) -> bool:
        """Whether a sample is of the evaluation that the record is about."""
        return (sample["model_id"], sample["evaluation_id"]) == (self.model, self.id)

    def result(self, number: object, evaluation: str) -> RecordedResult | None:
        """The result that a sample belongs to: the one with its id, or else the only result of its evaluation."""
        by_id = [result for result in self.results if number is not None and result.id == number]
        of_name = [result for result in self.results if result.evaluation == evaluation]
        found = by_id or (of_name if len(of_name) == 1 else [])
        return found[0] if found else None


def parse_record(said: Any) -> Record:
    """Parses the JSON of a record. Raises ValueError if it is not a record."""
    if not isinstance(said, dict) or not isinstance(said.get("evaluation_results"), list):
        raise ValueError("it has no evaluation_results")
    model = _object(said, "model_info").get("id")
    if not isinstance(model, str) or not model:
        raise ValueError("its model_info has no id")
    results = [_result(place, result) for place, result in enumerate(said["evaluation_results"], start=1)]
    date = said.get("evaluation_timestamp") or said.get("retrieved_timestamp")
    identity = said.get("evaluation_id")
    return Record(model, str(identity) if identity else None, _date(date), tuple(_name_measures(results)))


def _result(place: int, said: Any) -> RecordedResult:
    config, details = (_object(said, key) for key in ("metric_config", "score_details"))
    name, score = said.get("evaluation_name") if isinstance(said, dict) else None, finite(details.get("score"))
    if not isinstance(name, str) or not name:
        raise ValueError(f"result {place} has no evaluation_name")
    if score is None:
        raise ValueError(f"result {place} has no finite score")
    lower, number = config.get("lower_is_better"), said.get("evaluation_result_id")
    source, parameters = _object(said, "source_data"), _object(config, "metric_parameters")
    measure = _measure(config)
    return RecordedResult(
        id=str(number) if number is not None else None,
        evaluation=name,
        split=str(source.get("hf_split") or ""),
        dataset=str(source.get("dataset_name") or ""),
        measure=measure,
        parameters=", ".join(f"{key}={as_text(value)}" for key, value in sorted(parameters.items())),
        is_mean=foremost((measure,)) is not None or config.get("metric_kind") in _MEANS,
        percent=config.get("metric_unit") == "percent",
        score=score,
        uncertainty=_uncertainty(_object(details, "uncertainty"), _object(said, "source_data")),
        lower_is_better=lower if isinstance(lower, bool) else None,
    )


def _measure(config: Mapping[str, Any]) -> str:
    """The name of a metric. Records of schema 0.2 have only a description: "Exact Match on MATH"."""
    said = (config.get(key) for key in ("metric_id", "metric_name", "metric_kind"))
    name = next((str(text) for text in said if text), None)
    if name is None:
        described = re.match(r"\s*(\S.*?)\s+on\s", str(config.get("evaluation_description") or ""))
        name = re.sub(r"\W+", "_", described[1].casefold()) if described else "score"
    return name


_MEANS = ("accuracy", "exact_match", "mean", "pass_rate", "win_rate")
"""The kinds of metrics whose figure is the mean of the scores of samples."""


def _name_measures(results: list[RecordedResult]) -> Iterator[RecordedResult]:
    """The results with the names of their measures. One measure of an evaluation may become `accuracy`. Results of the
    same name are told apart by the parameters of the metric, `pass_at_k(k=5)`, or by the split or the data set, which
    then are parts of the evaluation; if nothing tells them apart, the later ones are numbered.
    """
    right: dict[str, str | None] = {}
    for evaluation in dict.fromkeys(result.evaluation for result in results):
        right[evaluation] = foremost(result.measure for result in results if result.evaluation == evaluation)
    alike: dict[tuple[str, str], list[RecordedResult]] = {}
    for result in results:
        alike.setdefault((result.evaluation, result.measure), []).append(result)
    times: Counter[tuple[str, str | None, str]] = Counter()
    for result in results:
        others = alike[result.evaluation, result.measure]
        measure = ACCURACY if result.measure == right[result.evaluation] else result.measure
        if result.parameters and (measure != ACCURACY or len({other.parameters for other in others}) > 1):
            measure = f"{measure}({result.parameters})"
        part = None
        if len({other.split for other in others}) > 1:
            part = None if result.split in ("", "test") else result.split
        elif len({other.dataset for other in others}) > 1:
            part = result.dataset
        times[result.evaluation, part, measure] += 1
        again = times[result.evaluation, part, measure]
        yield replace(result, part=part, measure=measure if again == 1 else f"{measure}:{again}")


def _uncertainty(said: Mapping[str, Any], source: Mapping[str, Any]) -> Uncertainty:
    counted = said.get("num_samples", source.get("samples_number"))
    samples = counted if isinstance(counted, int) and not isinstance(counted, bool) and counted > 0 else None
    error = finite(_object(said, "standard_error").get("value"))
    deviation = finite(said.get("standard_deviation"))
    if error is None and deviation is not None and samples:
        error = deviation / math.sqrt(samples)
    interval = _object(said, "confidence_interval")
    low, high, level = (finite(interval.get(key)) for key in ("lower", "upper", "confidence_level"))
    return (samples, error, low, high, level) if None not in (low, high) else (samples, error, None, None, None)


def _date(said: Any) -> str | None:
    """A time as it is stored; seconds since 1970 become a date and time."""
    if said is None or not str(said).strip():
        return None
    text = str(said).strip()
    try:
        return datetime.fromtimestamp(float(text), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return text


def _object(said: Any, key: str) -> dict[str, Any]:
    part = said.get(key) if isinstance(said, dict) else None
    return part if isinstance(part, dict) else {}


# === figures and samples ==============================================================================================
# Figures become published figures, with their uncertainty if it is given. Samples become values under the metric's name
# in the record beside them. Without that record, `accuracy` says whether an answer was correct, and `score` is its
# score.

EXAMPLE = """\
{"schema_version": "0.3.0", "evaluation_id": "quiz/acme_m1/1750000000", "retrieved_timestamp": "1750000000",
 "source_metadata": {"source_type": "evaluation_run", "source_organization_name": "Acme",
                     "evaluator_relationship": "first_party"},
 "eval_library": {"name": "unknown", "version": "unknown"},
 "model_info": {"name": "m1", "id": "acme/m1",
                "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"}},
 "evaluation_results": [
  {"evaluation_name": "quiz", "source_data": {"dataset_name": "quiz", "source_type": "other"},
   "metric_config": {"metric_id": "accuracy", "lower_is_better": false},
   "score_details": {"score": 0.75, "uncertainty": {"standard_error": {"value": 0.25}, "num_samples": 4}}}]}
"""

LARGEST = 16 * 1024 * 1024
"""The largest record that is read, in bytes."""

SAMPLES, SAMPLES_OF_STORE = "_samples.jsonl", "_samples.parquet"
"""The endings of files of samples; those of their records are .json and .parquet."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the figures of a record, or samples. Raises DataError if the file is neither."""
    if _is_parquet(staging.source):
        try:
            header = parquet_columns(staging.source, staging.database)
        except UnreadableError:
            raise staging.refusal("this is not a sound Parquet file") from None
        return _stage_samples(staging) if "sample_id" in header else _stage_records(staging)
    first = next((line for _, _, line in filled_lines(staging)), "")
    return _stage_samples(staging) if '"sample_id"' in first else _stage_records(staging)


def _stage_records(staging: Staging) -> tuple[Staged, ...]:
    left_out, lower = 0, dict[str, bool]()
    with Sheets(staging, VALUES, FAILURES, DOCUMENTS, PUBLISHED) as sheets:
        figures = sheets.open(PUBLISHED, *FIGURES)
        for record, result in ((one, result) for one in _records(staging) for result in one.results):
            model = staging.named("system", record.model, "the record does not name the model")
            test_set = _test_set(staging, result, "record")
            system = staging.replicate(model, test_set, run=record.id, date=record.date)
            digits = decimal_text(result.score)
            if digits is None:
                left_out += 1
            else:
                figures.add(None, test_set, system, "values", result.measure, *digits, *result.uncertainty)
                if result.lower_is_better is not None:
                    lower[result.measure] = result.lower_is_better
        notes = (
            [f"left out (not finite numbers of at most 9 digits): {quantity(left_out, 'score')}"] if left_out else []
        )
        return sheets.staged(notes, lower)


def _records(staging: Staging) -> Iterator[Record]:
    """The records of a file. Raises DataError if it is none."""
    if _is_parquet(staging.source):
        for row, written in _rows(staging):
            yield _parse(staging, written.encode(), f"row {row}")
        return
    for document in documents(staging):
        yield _parse(staging, document.whole(LARGEST), "this")


def _is_parquet(path: Path) -> bool:
    return path.suffix.casefold() == ".parquet"


_AT_ONCE = 1_000
"""How many rows of Parquet are read at a time."""


def _rows(staging: Staging) -> Iterator[tuple[int, str]]:
    """The rows of a file of Parquet as JSON, and their numbers from 1."""
    row, found = 0, True
    reading = "select to_json(r)::varchar from (select * exclude (file_row_number) from read_parquet(?, "
    reading += "hive_partitioning=false, file_row_number=true) where file_row_number between ? and ?) as r"
    while found:
        found = False
        for (written,) in staging.database.rows(Sql(reading, (pattern_of(staging.source), row, row + _AT_ONCE - 1))):
            row, found = row + 1, True
            yield row, written


def _without_nulls(said: Any) -> Any:
    """A value without the keys that have no value. In Parquet every row has the keys of all rows."""
    if isinstance(said, dict):
        return {key: _without_nulls(value) for key, value in said.items() if value is not None}
    return [_without_nulls(item) for item in said] if isinstance(said, list) else said


def _test_set(staging: Staging, result: RecordedResult, said_by: str) -> str:
    """The test set of a result: its evaluation, with its part."""
    missing = f"the {said_by} does not name the evaluation"
    return staging.part(staging.named("test_set", result.evaluation, missing), result.part)


ANY = ""
"""Stands for every evaluation."""


def _records_beside(staging: Staging) -> tuple[str, dict[str, Record]]:
    """The name of the file with the records of samples, and these by the ids of their evaluations. The one record of
    a JSON file is that of all its samples.
    """
    name = staging.source.name
    if _is_parquet(staging.source):
        of_records = name.removesuffix(SAMPLES_OF_STORE) + ".parquet"
        path = staging.source.parent / of_records
        if not name.endswith(SAMPLES_OF_STORE) or not staging.has_beside(of_records):
            return of_records, {}
        records = _records(replace(staging, source=path, called=""))
        return of_records, {record.id: record for record in records if record.id}
    of_record = name.removesuffix(SAMPLES) + ".json"
    beside = staging.beside(of_record, LARGEST) if name.endswith(SAMPLES) else None
    return of_record, {ANY: _parse(staging, beside, f"the record beside it, {of_record},")} if beside else {}


def _stage_samples(staging: Staging) -> tuple[Staged, ...]:
    of_record, records = _records_beside(staging)
    systems: dict[RecordedResult, dict[str, float]] = {}
    lower: dict[str, bool] = {}
    known_of: dict[tuple[str, str], dict[str, str]] = {}
    with Sheets(staging, VALUES, FAILURES, DOCUMENTS, PUBLISHED) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        failures = sheets.open(FAILURES, "test_set", "system", "item", "reason")
        for member, number, sample in _samples(staging):
            record = records.get(sample["evaluation_id"], records.get(ANY, Record()))
            model = staging.named("system", sample["model_id"], "the sample does not name the model")
            test_set = staging.named("test_set", sample["evaluation_name"], "the sample does not name the evaluation")
            result = record.result(sample.get("evaluation_result_id"), sample["evaluation_name"])
            test_set = staging.part(test_set, result.part) if result is not None else test_set
            system = staging.replicate(model, test_set, run=sample["evaluation_id"], date=record.date)
            name, score = str(sample["sample_id"]), sample["evaluation"]
            if result is not None and record.is_of(sample):
                largest = systems.setdefault(result, {})
                largest[system] = max(largest.get(system, 0.0), float(score["score"]))
            for measure, value in {**dict(_resources(sample)), **dict(_values(result, score))}.items():
                values.add(number, test_set, system, name, measure, value, member=member)
                lower |= directions([measure])
            given = sample["input"] if isinstance(sample.get("input"), dict) else {}
            # The raw input is what the system was given, and no question: prompts may differ between systems.
            answer = {ANSWER: "\n".join(_texts(given.get("reference")))}
            sheets.identify(number, answer, member=member, test_set=test_set, document=name)
            _add_texts(sheets.texts, member, number, sample, test_set, system)
            if error := sample.get("error"):
                failures.add(number, test_set, system, name, _reason(str(error)), member=member)
            known = known_of.setdefault((test_set, name), {})
            known_of[test_set, name] = {**_attributes(sample), **known}
        names = list(dict.fromkeys(attribute for known in known_of.values() for attribute in known))
        attributes = sheets.open(DOCUMENTS, "test_set", "document", *names)
        for (test_set, name), known in known_of.items() if names else ():
            attributes.add(None, test_set, name, *map(known.get, names))
        for result, largest in systems.items():
            # A record may give percentages of scores from 0 to 1.
            scale = 100.0 if result.percent and max(largest.values()) <= 1 else 1.0
            if result.is_mean:
                staging.state(
                    StatedFigure(
                        _test_set(staging, result, "sample"),
                        tuple(largest),
                        result.measure,
                        f"{result.measure} of {result.evaluation}",
                        of_record,
                        result.score,
                        over_documents=partial(_scaled_mean, scale),
                    )
                )
        stated = [result for record in records.values() for result in record.results]
        lower |= {it.measure: it.lower_is_better for it in stated if it.lower_is_better is not None}
        return sheets.staged(directions=lower)


def _scaled_mean(scale: float, values: Values) -> float:
    return scale * fmean(values)


def _add_texts(
    texts: TextSheets, member: str | None, line: int | None, sample: dict[str, Any], test_set: str, system: str
) -> None:
    """Adds the raw input with its choices, the references, and the raw outputs. For a conversation, the output is its
    last answer.
    """
    if not texts.wanted:
        return
    given, answered, messages = (sample.get(key) for key in ("input", "output", "messages"))
    given, answered = (said if isinstance(said, dict) else {} for said in (given, answered))
    document, question = str(sample["sample_id"]), given.get("raw")
    outputs = answered.get("raw")
    if not outputs and isinstance(messages, list):
        said = [turn.get("content") for turn in messages if isinstance(turn, dict) and turn.get("role") == "assistant"]
        outputs = said[-1:]
    references = _texts(given.get("reference"))
    choices = (
        f"{letter}) {choice}" for letter, choice in zip(ascii_uppercase, _texts(given.get("choices")), strict=False)
    )
    question = "\n".join((question, *choices)) if isinstance(question, str) else None
    texts.references(line, references, member=member, test_set=test_set, document=document)
    texts.input(line, question, member=member, test_set=test_set, system=system, document=document)
    texts.outputs(line, _texts(outputs), member=member, test_set=test_set, system=system, document=document)


def _texts(said: object) -> list[str]:
    """The texts in a list, or a single text as a list."""
    return [text for text in (said if isinstance(said, list) else [said]) if isinstance(text, str)]


def _attributes(sample: dict[str, Any]) -> dict[str, str]:
    """The attributes of a sample's question: its hash, and its metadata except keys that are named like a field."""
    metadata = sample.get("metadata")
    said = {"sample_hash": sample.get("sample_hash"), **(metadata if isinstance(metadata, dict) else {})}
    fields = {field.name for field in DOCUMENTS.fields}
    return {key: text for key, text in said.items() if key and key not in fields and isinstance(text, str) and text}


def _values(result: RecordedResult | None, score: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """The values of a sample, by measure."""
    if result is not None:
        yield result.measure, float(score["score"])
    else:
        yield ACCURACY, float(score["is_correct"])
        yield "score", float(score["score"])


def _resources(sample: dict[str, Any]) -> Resources:
    """What a sample took."""
    usage, performance = _object(sample, "token_usage"), _object(sample, "performance")
    milliseconds = finite(performance.get("latency_ms"))
    return Resources(
        tokens=finite(usage.get("total_tokens")),
        input_tokens=finite(usage.get("input_tokens")),
        output_tokens=finite(usage.get("output_tokens")),
        seconds=None if milliseconds is None else milliseconds / 1000,
    )


def _reason(error: str) -> str:
    """Why a sample failed, in words that `coverage` shows."""
    said = error.casefold()
    if "refus" in said or "content_filter" in said or "content filter" in said:
        return "refused"
    return "no answer" if "no answer" in said or "empty" in said else "error"


def _parse(staging: Staging, written: bytes, called: str) -> Record:
    try:
        return parse_record(_without_nulls(staging.json(written, called)))
    except ValueError as error:
        raise staging.refusal(f"{called} is not a record of Every Eval Ever: {error}") from None


def _samples(staging: Staging) -> Iterator[tuple[str | None, int | None, dict[str, Any]]]:
    """The samples of a file, each with the member of an archive and the line that it is in."""
    if _is_parquet(staging.source):
        for row, written in _rows(staging):
            yield None, None, _sample(staging, None, None, written, f"row {row}")
        return
    for document, number, line in filled_lines(staging):
        yield document.member, number, _sample(staging, document.member, number, line, "this")


def _sample(staging: Staging, member: str | None, number: int | None, line: str, called: str) -> dict[str, Any]:
    sample: dict[str, Any] = _without_nulls(staging.json(line, "this line", number, member))
    for key in ("evaluation_id", "model_id", "evaluation_name", "sample_id"):
        if not isinstance(sample, dict) or not sample.get(key) or not isinstance(sample[key], str):
            raise staging.refusal(f"{called} is not a sample of Every Eval Ever: it has no {key}", number, member)
    evaluation = sample.get("evaluation")
    said = evaluation if isinstance(evaluation, dict) else {}
    score, is_correct = (said.get(key) for key in ("score", "is_correct"))
    if finite(score) is None or not isinstance(is_correct, bool):
        raise staging.refusal(
            f"the evaluation of {'this sample' if number else called} has no finite score, or no is_correct",
            number,
            member,
        )
    return sample


def _recognizes(start: Start) -> str | None:
    if start.named >= {"evaluation_id", "sample_id", "evaluation"}:
        return "its columns evaluation_id and sample_id"
    if start.named >= {"evaluation_id", "model_info", "evaluation_results"}:
        return "its columns evaluation_id, model_info and evaluation_results"
    if {("evaluation_id",), ("sample_id",), ("evaluation",)} <= start.keys:
        return "its evaluation_id and sample_id"
    return "its evaluation_id and model_info" if {("evaluation_id",), ("model_info", "id")} <= start.keys else None


READER = Reader(
    "every-eval-ever",
    "records of Every Eval Ever 0.3: figures with their uncertainty, and samples",
    (VALUES, FAILURES, DOCUMENTS, PUBLISHED),
    EXAMPLE,
    stage,
    noun="sample",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
)

"""The parts of a record of Every Eval Ever that are stored: the model, the run, and results with their uncertainty."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from warehouse.loading.staging.cells import finite
from warehouse.measures.correctness import ACCURACY, foremost

Uncertainty = tuple[int | None, float | None, float | None, float | None, float | None]
"""The number of samples, the standard error, the limits of an interval and its level; None for each one that is not
given.
"""


class RecordedResult(Struct, frozen=True):
    """One figure: its evaluation and measure, its id, and its details."""

    id: str | None
    evaluation: str
    measure: str
    score: float
    uncertainty: Uncertainty
    lower_is_better: bool | None


class Record(Struct, frozen=True):
    """The contents of a record. The model and the id are None if there is no record."""

    model: str | None = None
    id: str | None = None
    date: str | None = None
    results: tuple[RecordedResult, ...] = ()

    def result(self, number: object, evaluation: str) -> RecordedResult | None:
        """The result that a sample belongs to: the one with its id, or else the only result of its evaluation."""
        by_id = [result for result in self.results if number is not None and result.id == number]
        of_name = [result for result in self.results if result.evaluation == evaluation]
        found = by_id or (of_name if len(of_name) == 1 else [])
        return found[0] if found else None


def parsed(said: Any) -> Record:
    """Parses the JSON of a record. Raises ValueError if it is not a record."""
    if not isinstance(said, dict) or not isinstance(said.get("evaluation_results"), list):
        raise ValueError("it has no evaluation_results")
    model = _object(said, "model_info").get("id")
    if not isinstance(model, str) or not model:
        raise ValueError("its model_info has no id")
    results = [_result(place, result) for place, result in enumerate(said["evaluation_results"], start=1)]
    date = said.get("evaluation_timestamp") or said.get("retrieved_timestamp")
    identity = said.get("evaluation_id")
    return Record(model, str(identity) if identity else None, _date(date), tuple(_named(results)))


def _result(place: int, said: Any) -> RecordedResult:
    config, details = (_object(said, key) for key in ("metric_config", "score_details"))
    name, score = said.get("evaluation_name") if isinstance(said, dict) else None, finite(details.get("score"))
    if not isinstance(name, str) or not name:
        raise ValueError(f"result {place} has no evaluation_name")
    if score is None:
        raise ValueError(f"result {place} has no finite score")
    lower, number = config.get("lower_is_better"), said.get("evaluation_result_id")
    return RecordedResult(
        id=str(number) if number is not None else None,
        evaluation=name,
        measure=_measure(config),
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


def _named(results: list[RecordedResult]) -> Iterator[RecordedResult]:
    """The results with the names of their measures. One measure of an evaluation may become `accuracy`. If several
    results have the same name, the later ones are numbered.
    """
    right: dict[str, str | None] = {}
    for evaluation in dict.fromkeys(result.evaluation for result in results):
        right[evaluation] = foremost(result.measure for result in results if result.evaluation == evaluation)
    times: Counter[tuple[str, str]] = Counter()
    for result in results:
        measure = ACCURACY if result.measure == right[result.evaluation] else result.measure
        times[result.evaluation, measure] += 1
        again = times[result.evaluation, measure]
        yield replace(result, measure=measure if again == 1 else f"{measure}:{again}")


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

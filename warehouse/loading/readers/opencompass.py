"""Outputs of OpenCompass: results with details, `results/MODEL/DATASET.json`, and the summary, `summary_DATE.csv`.

The dataset is the test set, and a sample is a document, by its number. `accuracy` is whether a sample is right. If a
dataset was run several times, each time is a run. What has no details is a published figure of the summary; its
accuracies, which are percentages, become shares. Predictions are read with the results. The accuracy of a results file
is compared with its details.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from msgspec import Struct

from evalhouse.warehouse.kinds.records import PUBLISHED, VALUES
from evalhouse.warehouse.loading.staging.cells import FIGURES, decimal_text, finite, is_number
from evalhouse.warehouse.loading.staging.decoding import LARGEST, text_of
from evalhouse.warehouse.loading.staging.identity import ANSWER
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.naming import name_of_run
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure, Values
from evalhouse.warehouse.measures.values import ACCURACY

EXAMPLE = """\
{"accuracy": 50.0, "details": {
  "0": {"prompt": "1 + 1?", "origin_prediction": "It is 2.", "predictions": "2", "references": "2", "correct": true},
  "1": {"prompt": "2 + 2?", "origin_prediction": "It is 5.", "predictions": "5", "references": "4", "correct": false},
  "type": "GEN"}}
"""

_SUMMARY = re.compile(r"summary_(\d{8}_\d{6})\.csv", re.IGNORECASE)
_TIME = re.compile(r"\d{8}_\d{6}")
_HEAD = ("dataset", "version", "metric", "mode")
_CORRECT = ("correct", "is_correct", "cascade_correct")
"""What evaluators call whether a sample is right, in the order in which OpenCompass looks for it."""
_RUNS = re.compile(r"accuracy( \(\d+ runs average\))?")


class _Sample(Struct, frozen=True):
    """A sample of the details: whether each answer was right, and the texts."""

    name: str
    correct: list[bool]
    prompt: str | None
    answers: list[str | None]
    references: list[str | None]


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the details of a dataset, or the figures of a summary. Raises DataError if the file is neither."""
    if _SUMMARY.fullmatch(staging.source.name) or staging.source.name.casefold().endswith(".csv"):
        return _stage_summary(staging)
    return _stage_details(staging)


def _stage_details(staging: Staging) -> tuple[Staged, ...]:
    folder = staging.source.absolute().parent
    test_set = staging.named("test_set", staging.source.name.partition(".json")[0], "")
    said = folder.name if folder.parent.name == "results" else None
    model = staging.named("system", said, "no folder names the model")
    date = _time_of(folder.parent.parent)
    with Sheets(staging, VALUES) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        for document in documents(staging):
            results = document.json(LARGEST)
            samples = list(_samples(document, results))
            several = any(len(sample.correct) > 1 for sample in samples)
            systems: dict[str, None] = {}
            for sample in samples:
                of: dict[str, object] = {"test_set": test_set, "document": sample.name}
                references = [text for text in sample.references if text is not None]
                sheets.identify(None, {ANSWER: "\n".join(references)}, member=document.member, **of)
                sheets.texts.references(None, references, member=document.member, **of)
                for number, right in enumerate(sample.correct, start=1):
                    run = name_of_run(date, number, several)
                    system = staging.replicate(model, test_set, run=run)
                    systems[system] = None
                    values.add(None, test_set, system, sample.name, ACCURACY, int(right), member=document.member)
                    answers = sample.answers[number - 1 : number]
                    sheets.texts.input(None, sample.prompt, member=document.member, system=system, **of)
                    sheets.texts.outputs(None, answers, member=document.member, system=system, **of)
            for called, value in results.items():
                if _RUNS.fullmatch(called) and finite(value) is not None:
                    staging.state(
                        StatedFigure(
                            *(test_set, tuple(systems), ACCURACY, called, "the results file", value),
                            over_documents=_percentage,
                        )
                    )
        return sheets.staged()


def _percentage(values: Values) -> float:
    return 100 * fmean(values)


def _samples(document: Document, results: Any) -> Iterator[_Sample]:
    """The samples of the details: objects by number, or a list in which runs are lists."""
    details = results.get("details") if isinstance(results, dict) else None
    if isinstance(details, dict):
        listed = [(number, said) for number, said in details.items() if isinstance(said, dict)]
    elif isinstance(details, list):
        listed = [(str(place), said) for place, said in enumerate(details) if isinstance(said, dict)]
    else:
        raise document.refusal("these are not results of OpenCompass with details; run it with --dump-eval-details")
    for number, said in listed:
        marks = _marks(said)
        if not marks:
            raise document.refusal(f"the details of sample {number} do not say whether it is correct")
        yield _Sample(
            name=number,
            correct=marks,
            prompt=_prompt(said.get("prompt")),
            answers=_texts(said, ("origin_prediction", "predictions", "pred"), many=len(marks) > 1),
            references=_texts(said, ("references", "answer", "answers"), many=len(marks) > 1)[:1],
        )


def _marks(said: dict[str, Any]) -> list[bool]:
    """Whether the answers to a sample were right, by run."""
    for key in _CORRECT:
        marks = said.get(key)
        listed: list[Any] = marks if isinstance(marks, list) else [marks]
        if listed and all(isinstance(mark, bool) for mark in listed):
            return listed
    return []


def _prompt(said: Any) -> str | None:
    """A prompt: a text, or messages, each under its role."""
    if isinstance(said, list):
        messages = [message for message in said if isinstance(message, dict)]
        return "\n\n".join(f"{message.get('role')}: {text_of(message.get('prompt'))}" for message in messages) or None
    return text_of(said)


def _texts(said: dict[str, Any], keys: tuple[str, ...], *, many: bool) -> list[str | None]:
    """The texts under the first of these keys that is there: one for each run if there are many."""
    found = next((said[key] for key in keys if said.get(key) is not None), None)
    return [text_of(item) for item in found] if many and isinstance(found, list) else [text_of(found)]


# === the summary ======================================================================================================


def _stage_summary(staging: Staging) -> tuple[Staged, ...]:
    """Stages the figures of models on datasets whose results have no details."""
    folder = staging.source.absolute().parent.parent
    named = _SUMMARY.fullmatch(staging.source.name)
    date = _time_of(folder) or (named[1] if named else None)
    with Sheets(staging, PUBLISHED) as sheets:
        figures = sheets.open(PUBLISHED, *FIGURES)
        for document in documents(staging):
            rows = csv.reader(text for _, text in document.lines() if text.strip())
            header = next(rows, [])
            if tuple(header[: len(_HEAD)]) != _HEAD:
                begins = ",".join(_HEAD)
                raise document.refusal(f"this is not a summary of OpenCompass: it does not begin with {begins}")
            for number, row in enumerate(rows, start=2):
                if len(row) != len(header):
                    raise document.refusal(f"this line has {len(row)} cells, and the first {len(header)}", number)
                cells = dict(zip(header, row, strict=True))
                metric = cells["metric"]
                test_set = staging.named("test_set", cells["dataset"], "")
                for column in header[len(_HEAD) :]:
                    figure = cells[column].strip()
                    if not is_number(figure):
                        continue
                    system = staging.replicate(staging.named("system", column, ""), test_set, run=date)
                    if _has_details(staging, folder / "results" / column / f"{cells['dataset']}.json"):
                        continue
                    value = float(figure) / 100 if metric == ACCURACY else float(figure)
                    if digits := decimal_text(value):
                        figures.add(
                            *(number, test_set, system, "values", metric, *digits, None, None, None, None, None),
                            member=document.member,
                        )
        return sheets.staged()


def _has_details(staging: Staging, results: Path) -> bool:
    """Whether the samples of a dataset are beside the summary. They give the same figure and more."""
    try:
        with staging.door.open(results) as file:
            return b'"details"' in file.read(LARGEST)
    except OSError:
        return False


def _time_of(folder: Path) -> str | None:
    """The time that names the folder of a run."""
    return folder.name if _TIME.fullmatch(folder.name) else None


def _recognizes(start: Start) -> Recognition | str | None:
    if _SUMMARY.fullmatch(start.name) and tuple(start.header[: len(_HEAD)]) == _HEAD:
        return "its name and its columns dataset, version, metric and mode"
    keys = start.keys
    predicted = {path[1] for path in keys if len(path) == 2 and path[0].isdecimal()}
    if {"prediction", "origin_prompt"} <= predicted:
        return Recognition("its predictions, which the results have too", Role.PART)
    of_samples = {path[2] for path in keys if len(path) == 3 and path[0] == "details"}
    if ("details",) in keys and (of_samples & {"predictions", "pred"} or "example_abbr" in of_samples):
        return "its details of predictions"
    return None


READER = Reader(
    "opencompass",
    "outputs of OpenCompass: results with details, and the figures of the summary",
    (VALUES, PUBLISHED),
    EXAMPLE,
    stage,
    noun="sample",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
)

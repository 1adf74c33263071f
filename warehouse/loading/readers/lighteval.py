"""Outputs of lighteval: the details of each sample in Parquet, and the results of a run in JSON.

The task is the test set, and the model is the folder that lighteval made for it. The number of examples before a
question is a setting of the system, and the date of a run tells the runs of a model. Metrics that are numbers are
measures; the one that says whether an answer is right is `accuracy`. Tasks whose details are not there become published
figures. The figures of a run are compared with its details.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct

from evalhouse.warehouse.faults import UnreadableError
from evalhouse.warehouse.kinds.records import PUBLISHED, VALUES
from evalhouse.warehouse.loading.staging.cells import FIGURES, decimal_text, finite
from evalhouse.warehouse.loading.staging.decoding import LARGEST, decode_whole, text_of
from evalhouse.warehouse.loading.staging.identity import QUESTION
from evalhouse.warehouse.loading.staging.json_values import NotReadError, parse_json
from evalhouse.warehouse.loading.staging.lines import brief, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure
from evalhouse.warehouse.loading.staging.tabular import parquet_columns
from evalhouse.warehouse.measures.values import ACCURACY, foremost
from evalhouse.warehouse.store.sql import Sql, name, pattern_of

EXAMPLE = """\
{"config_general": {"model_name": "acme/m1"},
 "results": {"quiz|5": {"em": 0.75, "em_stderr": 0.25}, "all": {"em": 0.75, "em_stderr": 0.25}},
 "versions": {"quiz|5": 0}, "config_tasks": {}, "summary_tasks": {}, "summary_general": {}}
"""

ALL = "all"
"""The mean over all tasks, which is none."""

AT_ONCE = 2_000
"""How many rows of details are read at a time."""

_DATE = r"(?P<date>\d{4}-\d\d-\d\dT[0-9.:-]+)"
_DETAILS = re.compile(rf"details_(?P<task>.+)_{_DATE}\.parquet", re.IGNORECASE)
_RESULTS = re.compile(rf"results_{_DATE}\.json(\.gz|\.zst)?", re.IGNORECASE)
_TASK = re.compile(r"(?P<task>.+?)\|(?P<shots>\d+)(\|\d+)?")
_STANDARD_ERROR = "_stderr"

# === contents =========================================================================================================


class _About(Struct, frozen=True):
    model_name: str | None = None


class _Results(Struct, frozen=True):
    """The results of a run: metrics by task."""

    results: dict[str, dict[str, Any]] = {}
    config_general: _About = _About()

    def of_task(self, task: str) -> dict[str, float]:
        """The metrics of a task that are numbers, without their standard errors."""
        numbers = {metric: finite(item) for metric, item in self.results.get(task, {}).items()}
        return {
            metric: number
            for metric, number in numbers.items()
            if number is not None and not metric.endswith(_STANDARD_ERROR)
        }


class _Task(Struct, frozen=True):
    """A task as lighteval names it: `leaderboard|gsm8k|5` with five examples before each question."""

    called: str

    @property
    def name(self) -> str:
        found = _TASK.fullmatch(self.called)
        return found["task"] if found else self.called

    @property
    def settings(self) -> str:
        """The number of examples, as a setting of the system."""
        found = _TASK.fullmatch(self.called)
        return f"n_shot={found['shots']}" if found else ""


class _Sample(Struct, frozen=True):
    """A row of details: the document, its metrics, and what the model answered."""

    document: str
    metrics: dict[str, float]
    question: str | None
    references: list[str]
    answers: list[str]


# === reading it =======================================================================================================


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the details of a task, or the figures of a run. Raises DataError if the file is neither."""
    details = _DETAILS.fullmatch(staging.source.name)
    return _stage_details(staging, details["task"], details["date"]) if details else _stage_results(staging)


def _stage_details(staging: Staging, called: str, date: str) -> tuple[Staged, ...]:
    task = _Task(called)
    results = _results_of(staging, date)
    said = (results.config_general.model_name if results else None) or _model_of_folder(staging, "details")
    test_set = staging.named("test_set", task.name, "")
    model = staging.named("system", said, "no folder named details is around the file to name the model")
    system = staging.replicate(model, test_set, date=date, settings=task.settings)
    right: str | None = None
    taken: dict[str, None] = {}
    with Sheets(staging, VALUES) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        for sample in _samples(staging):
            if not taken:
                right = staging.accuracy(test_set, sample.metrics, foremost(sample.metrics))
            for metric, value in sample.metrics.items():
                values.add(None, test_set, system, sample.document, ACCURACY if metric == right else metric, value)
                taken[metric] = None
            of = {"test_set": test_set, "document": sample.document}
            sheets.identify(None, {QUESTION: sample.question}, member=None, **of)
            sheets.texts.input(None, sample.question, member=None, **of)
            sheets.texts.references(None, sample.references, member=None, **of)
            sheets.texts.outputs(None, sample.answers, member=None, system=system, **of)
        for metric, value in (results.of_task(called) if results else {}).items():
            if metric in taken:
                measure = ACCURACY if metric == right else metric
                staging.state(StatedFigure(test_set, (system,), measure, metric, f"results_{date}.json", value))
        notes = staging.notes_on_settings()
        if right not in (None, ACCURACY):
            notes.append(f"{ACCURACY} is {right}")
        return sheets.staged(notes, accuracy=right or "")


def _stage_results(staging: Staging) -> tuple[Staged, ...]:
    """Stages the figures of tasks that have no details."""
    with Sheets(staging, PUBLISHED) as sheets:
        figures = sheets.open(PUBLISHED, *FIGURES)
        for document in documents(staging):
            results = decode_whole(document, _Results, "the results of lighteval")
            named = _RESULTS.fullmatch(staging.source.name)
            date = named["date"] if named else None
            said = results.config_general.model_name or _model_of_folder(staging, "results")
            model = staging.named("system", said, "neither the file nor its folder names the model")
            detailed = _tasks_with_details(staging, date)
            for called in results.results:
                if called == ALL:
                    continue
                task = _Task(called)
                test_set = staging.named("test_set", task.name, "")
                system = staging.replicate(model, test_set, date=date, settings=task.settings)
                if called in detailed:
                    continue
                metrics = results.of_task(called)
                right = staging.accuracy(test_set, metrics, foremost(metrics))
                for metric, value in metrics.items():
                    error = finite(results.results[called].get(metric + _STANDARD_ERROR))
                    measure = ACCURACY if metric == right else metric
                    if digits := decimal_text(value):
                        figures.add(
                            *(None, test_set, system, "values", measure, *digits, None, error, None, None, None),
                            member=document.member,
                        )
        return sheets.staged(staging.notes_on_settings())


# === files of one run =================================================================================================
# lighteval writes results/MODEL/results_DATE.json and details/MODEL/DATE/details_TASK_DATE.parquet. The name of a model
# may have several parts.


def _around(staging: Staging, named: str) -> tuple[Path, PurePosixPath] | None:
    """The output folder around a folder of this name, and the path from that to the file's folder; None if there is no
    such folder.
    """
    folder = staging.source.absolute().parent
    for above in (folder, *folder.parents):
        if above.name == named:
            return above.parent, PurePosixPath(folder.relative_to(above).as_posix())
    return None


def _model_of_folder(staging: Staging, named: str) -> str | None:
    around = _around(staging, named)
    if around is None:
        return None
    parts = around[1].parts[:-1] if named == "details" else around[1].parts
    return "/".join(parts) or None


def _tasks_with_details(staging: Staging, date: str | None) -> frozenset[str]:
    """The tasks of a run whose details are there."""
    around = _around(staging, "results")
    if around is None or date is None:
        return frozenset()
    try:
        names = staging.door.names(around[0] / "details" / around[1] / date)
    except OSError:
        return frozenset()
    return frozenset(found["task"] for name in names if (found := _DETAILS.fullmatch(name)))


def _results_of(staging: Staging, date: str) -> _Results | None:
    """The results of the run that details are of; None if they are not there."""
    around = _around(staging, "details")
    if around is None:
        return None
    try:
        with staging.door.open(around[0] / "results" / around[1].parent / f"results_{date}.json") as file:
            said = parse_json(file.read(LARGEST))
    except (OSError, NotReadError):
        return None
    return _Results(
        results={task: metrics for task, metrics in _object(said, "results").items() if isinstance(metrics, dict)},
        config_general=_About(text_of(_object(said, "config_general").get("model_name"))),
    )


def _object(said: Any, key: str) -> dict[str, Any]:
    part = said.get(key) if isinstance(said, dict) else None
    return part if isinstance(part, dict) else {}


# === rows of details ==================================================================================================


def _samples(staging: Staging) -> Iterator[_Sample]:
    """The rows of a file of details, a part of it at a time. Raises DataError if it is not one."""
    try:
        columns = parquet_columns(staging.source, staging.database)
    except UnreadableError as error:
        raise staging.refusal(f"this is not a sound Parquet file: {brief(str(error))}") from None
    metrics = next((column for column in ("metric", "metrics") if column in columns), None)
    if metrics is None:
        raise staging.refusal("these are not details of lighteval: no column is called metric")
    wanted = [metrics, *(column for column in ("doc", "example", "model_response", "predictions") if column in columns)]
    listed = ", ".join(f"to_json({name(column).text})::varchar" for column in wanted)
    rows = f"select file_row_number, {listed} from read_parquet(?, hive_partitioning=false, file_row_number=true) "
    begin = 0
    while True:
        where = "where file_row_number between ? and ? order by file_row_number"
        of_file = (pattern_of(staging.source), begin, begin + AT_ONCE - 1)
        found = staging.database.rows(Sql(rows + where, of_file))
        for number, *cells in found:
            said: dict[str, Any] = {column: _value(cell) for column, cell in zip(wanted, cells, strict=True)}
            yield _sample(int(number), said, said[metrics])
        if len(found) < AT_ONCE:
            return
        begin += AT_ONCE


def _value(cell: str | None) -> Any:
    """A cell as a value. lighteval writes what Parquet cannot hold as Python writes it."""
    said = parse_json(cell) if cell else None
    if isinstance(said, str) and said[:1] in ("{", "["):
        try:
            return ast.literal_eval(said)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return said
    return said


def _sample(number: int, said: dict[str, Any], metrics: Any) -> _Sample:
    doc = _object(said, "doc")
    numbers = {metric: finite(item) for metric, item in (metrics if isinstance(metrics, dict) else {}).items()}
    document = doc.get("id")
    response = said.get("model_response")
    answers = response.get("text") if isinstance(response, dict) else said.get("predictions")
    return _Sample(
        document=str(number) if document in (None, "") else str(document),
        metrics={metric: value for metric, value in numbers.items() if value is not None},
        question=text_of(doc.get("query") or said.get("example")),
        references=_right_choices(doc),
        answers=[text for answer in _list(answers) if (text := text_of(answer)) is not None],
    )


def _right_choices(doc: dict[str, Any]) -> list[str]:
    """The choices of a document that are right."""
    choices, right = _list(doc.get("choices")), _list(doc.get("gold_index"))
    places = [place for place in right if isinstance(place, int) and 0 <= place < len(choices)]
    return [text for place in places if (text := text_of(choices[place])) is not None]


def _list(said: Any) -> list[Any]:
    return said if isinstance(said, list) else [] if said is None else [said]


def _recognizes(start: Start) -> str | None:
    if _DETAILS.fullmatch(start.name):
        detailed = ("metric" in start.columns and "doc" in start.columns) or "metrics" in start.columns
        return "its name and its metrics" if detailed else None
    keys = start.keys
    if {("config_general",), ("results",)} <= keys and {("config_tasks",), ("versions",), ("summary_tasks",)} & keys:
        return "its config_general and results"
    return None


READER = Reader(
    "lighteval",
    "outputs of lighteval: details of samples in Parquet, and results",
    (VALUES, PUBLISHED),
    EXAMPLE,
    stage,
    noun="sample",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
)

"""Test runs of DeepEval: `.deepeval/.latest_test_run.json`, or a file of the folder that DEEPEVAL_RESULTS_FOLDER names.

A document is a test case, named by its input; the same input again is another run. `accuracy` is 1 for cases that
succeeded and 0 for those that failed, and each metric is a measure. Whether a lower score is better is seen from the
cases that pass the threshold of the metric. The hyperparameter `model`, if there is one, is the system. What the run
counts is compared with its cases.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any

from msgspec import Struct

from evalhouse.warehouse.kinds.records import FAILURES, VALUES
from evalhouse.warehouse.loading.staging.cells import finite
from evalhouse.warehouse.loading.staging.decoding import LARGEST, convert, text_of
from evalhouse.warehouse.loading.staging.identity import QUESTION
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.naming import name_of_run, name_of_text
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start
from evalhouse.warehouse.loading.staging.resources import Resources, directions
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure
from evalhouse.warehouse.measures.values import ACCURACY

EXAMPLE = """\
{"testRunData": {"testCases": [
  {"name": "test_case_0", "input": "Name a bird", "actualOutput": "A wren", "success": true, "order": 0,
   "metricsData": [{"name": "Faithfulness", "threshold": 0.5, "success": true, "score": 0.9}]},
  {"name": "test_case_1", "input": "Name a town", "actualOutput": "A wren", "success": false, "order": 1,
   "metricsData": [{"name": "Faithfulness", "threshold": 0.5, "success": false, "score": 0.25}]}],
 "metricsScores": [{"metric": "Faithfulness", "scores": [0.9, 0.25], "passes": 1, "fails": 1, "errors": 0}],
 "testPassed": 1, "testFailed": 1}}
"""

CALLED = "a test run of DeepEval"

# === contents of a test run ===========================================================================================


class _Metric(Struct, frozen=True, rename="camel"):
    """The score of a test case by one metric, and whether it passed the threshold."""

    name: str
    score: float | None = None
    threshold: float | None = None
    success: bool | None = None


class _Case(Struct, frozen=True, rename="camel"):
    """A test case; one of a conversation has a scenario in place of an input."""

    name: str = ""
    input: str | None = None
    scenario: str | None = None
    actual_output: str | None = None
    expected_output: str | None = None
    expected_outcome: str | None = None
    turns: list[dict[str, Any]] = []
    success: bool | None = None
    metrics_data: list[_Metric] | None = None
    input_token_count: float | None = None
    output_token_count: float | None = None
    completion_time: float | None = None
    token_cost: float | None = None

    @property
    def question(self) -> str:
        """What the case asks."""
        return self.input or self.scenario or self.name

    def values(self) -> Iterator[tuple[str, float]]:
        """The measures of the case."""
        yield ACCURACY, float(self.success is True)
        for metric in self.metrics_data or ():
            if (value := finite(metric.score)) is not None:
                yield metric.name, value
        tokens = [count for count in (self.input_token_count, self.output_token_count) if count is not None]
        total = sum(tokens) if len(tokens) == 2 else None
        yield from Resources(
            total, self.input_token_count, self.output_token_count, self.completion_time, self.token_cost
        )

    def answer(self) -> str | None:
        """What the system said: its output, or its turns of the conversation."""
        said = [text_of(turn.get("content")) for turn in self.turns if turn.get("role") == "assistant"]
        return self.actual_output or "\n\n".join(text for text in said if text) or None


class _Scores(Struct, frozen=True):
    """What the run states of a metric: its scores of all cases."""

    metric: str
    scores: list[float | None] = []


class _Run(Struct, frozen=True, rename="camel"):
    test_cases: list[_Case] = []
    conversational_test_cases: list[_Case] = []
    metrics_scores: list[_Scores] = []
    hyperparameters: dict[str, Any] | None = None
    identifier: str | None = None
    test_file: str | None = None
    test_passed: int | None = None

    @property
    def model(self) -> str | None:
        """The model that the hyperparameters name."""
        said = (self.hyperparameters or {}).get("model")
        return said if isinstance(said, str) and said else None


# === reading it =======================================================================================================


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the outcome and the scores of each test case. Raises DataError if the file is not a test run."""
    with Sheets(staging, VALUES, FAILURES) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        failures = sheets.open(FAILURES, "test_set", "system", "item", "reason")
        lower: dict[str, bool] = {}
        for document in documents(staging):
            run = _decode(document)
            cases = [*run.test_cases, *run.conversational_test_cases]
            test_set = staging.named("test_set", PurePath(run.test_file).stem if run.test_file else None, "")
            model = staging.named("system", run.model, "the file does not name the system")
            times = Counter(case.question for case in cases)
            numbers: Counter[str] = Counter()
            systems: dict[str, None] = {}
            for case in cases:
                numbers[case.question] += 1
                run_id = name_of_run(run.identifier, numbers[case.question], max(times.values()) > 1)
                system = staging.replicate(model, test_set, run=run_id)
                systems[system] = None
                name = name_of_text(case.question)
                if case.success is None:
                    failures.add(None, test_set, system, name, "not scored", member=document.member)
                    continue
                for measure, value in dict(case.values()).items():
                    values.add(None, test_set, system, name, measure, value, member=document.member)
                    lower |= directions([measure])
                of: dict[str, object] = {"test_set": test_set, "document": name}
                sheets.identify(None, {QUESTION: case.question}, member=document.member, **of)
                expected = case.expected_output or case.expected_outcome
                sheets.texts.input(None, case.question, member=document.member, **of)
                sheets.texts.references(None, [expected], member=document.member, **of)
                sheets.texts.outputs(None, [case.answer()], member=document.member, system=system, **of)
            lower |= _directions(metric for case in cases for metric in case.metrics_data or ())
            _state(staging, run, test_set, tuple(systems))
        return sheets.staged(directions=lower)


def _decode(document: Document) -> _Run:
    said = document.json(LARGEST)
    run = said.get("testRunData", said) if isinstance(said, dict) else said
    return convert(document, run, _Run, CALLED)


def _directions(metrics: Iterable[_Metric]) -> dict[str, bool]:
    """For each metric whose cases tell, whether lower scores are better: those up to the threshold pass."""
    up: dict[str, list[bool]] = defaultdict(list)
    down: dict[str, list[bool]] = defaultdict(list)
    for metric in metrics:
        if metric.score is not None and metric.threshold is not None and metric.success is not None:
            up[metric.name].append(metric.success == (metric.score >= metric.threshold))
            down[metric.name].append(metric.success == (metric.score <= metric.threshold))
    return {name: all(down[name]) for name in up if all(up[name]) != all(down[name])}


def _state(staging: Staging, run: _Run, test_set: str, systems: tuple[str, ...]) -> None:
    """Hands over what the run counts: the cases that passed, and the scores of each metric."""
    place = "the test run"
    if run.test_passed is not None:
        figure = StatedFigure(
            *(test_set, systems, ACCURACY, "testPassed", place, run.test_passed),
            over_runs=sum,
            over_documents=sum,
            computed_as="the number of cases that succeeded here",
        )
        staging.state(figure)
    for stated in run.metrics_scores:
        scores = [score for score in stated.scores if score is not None]
        if scores:
            figure = StatedFigure(
                *(test_set, systems, stated.metric, f"the sum of {stated.metric}", place, sum(scores)),
                over_runs=sum,
                over_documents=sum,
                computed_as="the sum over the cases here",
            )
            staging.state(figure)


def _recognizes(start: Start) -> str | None:
    keys = start.keys
    if ("testRunData", "testCases") in keys:
        return "its testRunData"
    if ("testCases",) in keys and {("testCases", "[]", "metricsData"), ("metricsScores",)} & keys:
        return "its testCases and metrics"
    return None


READER = Reader(
    "deepeval",
    "test runs of DeepEval: which cases succeeded, and the scores of metrics",
    (VALUES, FAILURES),
    EXAMPLE,
    stage,
    noun="test case",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={"test_set": "deepeval"},
)

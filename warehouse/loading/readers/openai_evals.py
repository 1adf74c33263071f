"""Logs of OpenAI's evals (`oaieval`): a line with the specification, a line for each event, and the final report.

A document is a sample. `accuracy` is whether it matched; the numbers of events called `metrics` are measures of their
own names. The model is the first of the completion functions. A sample that was asked and has no score is a failure.
The final report is compared with the samples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean
from typing import Any

from msgspec import Struct, field

from evalhouse.warehouse.kinds.records import FAILURES, VALUES
from evalhouse.warehouse.loading.staging.cells import finite
from evalhouse.warehouse.loading.staging.decoding import decode_lines, text_of
from evalhouse.warehouse.loading.staging.identity import ANSWER, QUESTION
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start
from evalhouse.warehouse.loading.staging.resources import Resources, directions
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure
from evalhouse.warehouse.measures.values import ACCURACY

EXAMPLE = """\
{"spec": {"completion_fns": ["m1"], "eval_name": "birds.dev.v0", "base_eval": "birds", "split": "dev", "run_id": "26A"}}
{"run_id": "26A", "event_id": 0, "sample_id": "birds.dev.0", "type": "sampling", "data": {"prompt": "Name a bird", \
"sampled": "wren"}}
{"run_id": "26A", "event_id": 1, "sample_id": "birds.dev.0", "type": "match", "data": {"correct": true, \
"expected": "wren", "picked": "wren"}}
{"run_id": "26A", "event_id": 2, "sample_id": "birds.dev.1", "type": "match", "data": {"correct": false, \
"expected": "lark", "picked": null}}
{"final_report": {"accuracy": 0.5}}
"""

# === contents =========================================================================================================


class _Spec(Struct, frozen=True):
    completion_fns: list[str] = []
    eval_name: str | None = None
    base_eval: str | None = None
    run_id: str | None = None
    created_at: str | None = None

    @property
    def model(self) -> str | None:
        """The first completion function; others grade."""
        return self.completion_fns[0] if self.completion_fns else None


class _Line(Struct, frozen=True):
    """A line of a log: the specification, the final report, or an event of a sample."""

    spec: _Spec | None = None
    final_report: dict[str, Any] | None = None
    sample_id: str | int | None = None
    type: str | None = None
    data: Any = None


class _Sample(Struct):
    """The events of a sample, and the line of the first."""

    line: int
    matches: list[bool] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)
    took: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    failed: bool = False
    prompt: Any = None
    sampled: Any = None
    expected: Any = None

    def add(self, kind: str, data: dict[str, Any]) -> None:
        """Adds an event of a kind."""
        if kind == "match" and isinstance(data.get("correct"), bool):
            self.matches.append(data["correct"])
            self.expected = data.get("expected", self.expected)
        elif kind == "metrics":
            numbers = {name: finite(item) for name, item in data.items()}
            self.metrics |= {name: number for name, number in numbers.items() if number is not None}
        elif kind == "sampling":
            self.prompt = data.get("prompt") if self.prompt is None else self.prompt
            self.sampled = data.get("sampled", self.sampled)
            usage = data.get("usage")
            for name, key in _USAGE.items():
                self.took[name] += (finite(usage.get(key)) if isinstance(usage, dict) else None) or 0
        elif kind == "raw_sample":
            self.expected = data.get("ideal") if self.expected is None else self.expected
        elif kind == "error":
            self.failed = True

    def values(self) -> dict[str, float]:
        """The measures of the sample. If it matched several times, the share of the right ones."""
        right = {ACCURACY: fmean(self.matches)} if self.matches else {}
        return {**dict(Resources(**self.took)), **self.metrics, **right}

    @property
    def question(self) -> str | None:
        """What was asked: a text, or what the user says in messages. What the system is told may differ."""
        if isinstance(self.prompt, list):
            said = [message for message in self.prompt if isinstance(message, dict)]
            texts = [text_of(message.get("content")) for message in said if message.get("role") != "system"]
            return "\n\n".join(text for text in texts if text) or None
        return text_of(self.prompt)

    def references(self) -> list[str]:
        """The right answers."""
        expected = self.expected if isinstance(self.expected, list) else [self.expected]
        return [text for answer in expected if (text := text_of(answer)) is not None]

    def outputs(self) -> list[str]:
        """What was answered in the end."""
        sampled = self.sampled if isinstance(self.sampled, list) else [self.sampled]
        return [text for answer in sampled if (text := text_of(answer)) is not None]


_USAGE = {"tokens": "total_tokens", "input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}

# === reading it =======================================================================================================


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the scores of all samples. Raises DataError if the file is not a log of evals."""
    spec, report, samples = _read(staging)
    if not samples:
        raise staging.refusal("this is not a log of evals: it has no events of samples")
    test_set = staging.named("test_set", spec.base_eval or spec.eval_name, "the log does not name the eval")
    model = staging.named("system", spec.model, "the log does not name the completion function")
    system = staging.replicate(model, test_set, run=spec.run_id, date=spec.created_at)
    measures: dict[str, None] = {}
    with Sheets(staging, VALUES, FAILURES) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        failures = sheets.open(FAILURES, "test_set", "system", "item", "reason")
        for name, sample in samples.items():
            scores = sample.values()
            for measure, value in scores.items():
                values.add(sample.line, test_set, system, name, measure, value)
                measures[measure] = None
            if not sample.matches and not sample.metrics:
                failures.add(sample.line, test_set, system, name, "error" if sample.failed else "not scored")
            references = sample.references()
            of = {"test_set": test_set, "document": name}
            said = {QUESTION: sample.question, ANSWER: "\n".join(references)}
            sheets.identify(sample.line, said, member=None, **of)
            sheets.texts.input(sample.line, sample.question, member=None, **of)
            sheets.texts.references(sample.line, references, member=None, **of)
            sheets.texts.outputs(sample.line, sample.outputs(), member=None, system=system, **of)
        for figure in _stated(report, measures):
            staging.state(StatedFigure(test_set, (system,), figure, figure, "the final report", report[figure]))
        return sheets.staged(directions=directions(measures))


def _read(staging: Staging) -> tuple[_Spec, dict[str, Any], dict[str, _Sample]]:
    """The specification, the final report, and the samples by their ids."""
    spec, report, samples = _Spec(), dict[str, Any](), dict[str, _Sample]()
    for _, number, line in decode_lines(staging, _Line, "a line of a log of evals"):
        spec = line.spec or spec
        report = line.final_report or report
        if line.sample_id is not None and line.type is not None:
            sample = samples.setdefault(str(line.sample_id), _Sample(number))
            sample.add(line.type, line.data if isinstance(line.data, dict) else {})
    return spec, report, samples


def _stated(report: dict[str, Any], measures: dict[str, None]) -> Iterator[str]:
    """The figures of the report that are means of the samples' measures."""
    for called, value in report.items():
        if called in measures and finite(value) is not None and not isinstance(value, bool):
            yield called


def _recognizes(start: Start) -> str | None:
    keys = start.keys
    if {("spec", "completion_fns"), ("spec", "eval_name")} & keys and {("sample_id",), ("final_report",)} & keys:
        return "its spec and events"
    return None


READER = Reader(
    "openai-evals",
    "logs of OpenAI's evals: matches and metrics of samples",
    (VALUES, FAILURES),
    EXAMPLE,
    stage,
    noun="sample",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
)

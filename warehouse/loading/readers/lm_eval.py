"""Reads logs of lm-evaluation-harness: samples, and the results file of the same date.

Samples are in `samples_<task>_<date>.jsonl`, results in `results_<date>.json`. A document is a sample, named by its
doc_id. Its doc_hash is stored as an attribute, so a log with other samples under the same numbers contradicts what is
stored.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from evalhouse.warehouse.kinds import COUNTS as COUNTED
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import BETWEEN, COUNTS, DOCUMENTS, FAILURES, PUBLISHED, SCORES, VALUES
from evalhouse.warehouse.loading.readers.translations import count_segments, metrics_of_sacrebleu
from evalhouse.warehouse.loading.staging.cells import FIGURES, decimal_text, finite, quote_cell
from evalhouse.warehouse.loading.staging.identity import ANSWER, QUESTION
from evalhouse.warehouse.loading.staging.lines import Document, documents, filled_lines
from evalhouse.warehouse.loading.staging.reader import Evidence, Option, Reader, Start
from evalhouse.warehouse.loading.staging.sheets import Sheet, Sheets
from evalhouse.warehouse.loading.staging.spans import COLUMNS, OTHER, SpanCounts, span_counts, tally_labelled_spans
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure
from evalhouse.warehouse.measures import Function, Ratio, find_measure, settle
from evalhouse.warehouse.measures.harness import (
    BILLION,
    BILLIONTHS,
    CELLS,
    FALSE_ALARMS,
    HITS,
    INSTRUCTIONS,
    MISSES,
    NATS,
    REJECTIONS,
    RIGHT,
)
from evalhouse.warehouse.measures.values import ACCURACY, foremost

# === texts of a sample ================================================================================================
# The prompt, the right answers, and the answers of the model. If the model did not generate text but chose among
# continuations, the right answer and its choice are continuations.


class SampleTexts(Struct, frozen=True):
    """The texts of a sample; the input is None if the log has none."""

    input: str | None
    references: tuple[str, ...]
    outputs: tuple[str, ...]


def texts_of(sample: Mapping[str, Any]) -> SampleTexts:
    """The texts of a sample."""
    requests = _requests(sample.get("arguments"))
    prompt = requests[0][0] if requests and requests[0] and isinstance(requests[0][0], str) else None
    choices = tuple(request[1] for request in requests if len(request) > 1 and isinstance(request[1], str))
    chosen = _likeliest(sample.get("resps")) if choices and len(choices) == len(requests) else None
    target: Any = sample.get("target")
    if chosen is None or chosen >= len(choices):
        return SampleTexts(prompt, _references(target), _answers(sample.get("resps")))
    place = int(target) if str(target).isdecimal() and len(str(target)) < 9 else len(choices)
    references = (choices[place],) if len(choices) > 1 and place < len(choices) else _references(target)
    return SampleTexts(prompt, references, (choices[chosen],))


def _document_of(sample: Mapping[str, Any]) -> str | None:
    """The document of the data set, as text; None if the log has none."""
    document = sample.get("doc")
    return None if document is None else json.dumps(document, sort_keys=True, ensure_ascii=False)


def _target_of(sample: Mapping[str, Any]) -> str:
    """The right answer, or all of them, as text; empty if the log has none."""
    return "\n".join(_references(sample.get("target")))


def _requests(said: Any) -> list[list[Any]]:
    """The requests, one list of arguments per request, from either form that logs have had."""
    listed = list(said.values()) if isinstance(said, dict) else said if isinstance(said, list) else []
    requests = (list(request.values()) if isinstance(request, dict) else request for request in listed)
    return [request for request in requests if isinstance(request, list)]


def _likeliest(said: Any) -> int | None:
    """The index of the answer with the highest log likelihood, if the answers are log likelihoods."""
    likelihoods: list[float] = []
    for answers in said if isinstance(said, list) else ():
        first = answers[0] if isinstance(answers, list) and answers else None
        try:
            number = finite(float(first[0])) if isinstance(first, list) and first else None
        except (TypeError, ValueError):
            number = None
        if number is None:
            return None
        likelihoods.append(number)
    return likelihoods.index(max(likelihoods)) if likelihoods else None


def _references(target: Any) -> tuple[str, ...]:
    """The target, or the targets if it is a list of texts. A target that is not a text is written as JSON."""
    if target is None:
        return ()
    if isinstance(target, list) and all(isinstance(text, str) for text in target):
        return tuple(target)
    return (target if isinstance(target, str) else json.dumps(target, ensure_ascii=False),)


def _answers(said: Any) -> tuple[str, ...]:
    """What the model wrote for each request."""
    listed = said if isinstance(said, list) else []
    times = (answer for answers in listed for answer in (answers if isinstance(answers, list) else [answers]))
    return tuple(answer for answer in times if isinstance(answer, str))


# === results files ====================================================================================================
# The model, its tasks and groups, and their figures. The results file says how the samples beside it are to be read.
# Nothing is stored here.

LARGEST = 16 * 1024 * 1024
"""The largest results file that is read, in bytes."""

_STDERR = "_stderr"


class TaskFigure(Struct, frozen=True):
    """A figure of a task or group: its metric and filter, the value, and, if the file gives them, its standard error
    and number of samples.
    """

    task: str
    metric: str
    filtered: str
    value: float
    standard_error: float | None
    samples: int | None

    @property
    def called(self) -> str:
        """Its name in the results file: exact_match,strict-match."""
        return f"{self.metric},{self.filtered}"


class Results(Struct, frozen=True):
    """The contents of a results file: the figures of tasks; for each task, the metrics that compare labelled spans,
    those whose figure is another function of the samples than their mean, those of which it is the mean, its groups,
    the outermost first, and how many examples were shown before each sample, which for a group may be several numbers;
    and for each metric, whether lower is better.
    """

    model: str | None = None
    figures: tuple[TaskFigure, ...] = ()
    spans: Mapping[str, frozenset[str]] = field(default_factory=dict)
    not_means: Mapping[str, frozenset[str]] = field(default_factory=dict)
    means: Mapping[str, frozenset[str]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shots: Mapping[str, frozenset[int]] = field(default_factory=dict)
    lower_is_better: Mapping[str, bool] = field(default_factory=dict)

    def settings(self, task: str) -> str:
        """The settings of a task with which its runs have a common mean: n_shot=5. Empty if the file states none."""
        return f"n_shot={'/'.join(map(str, sorted(self.shots[task])))}" if task in self.shots else ""

    def of(self, task: str) -> tuple[TaskFigure, ...]:
        """The figures of one task."""
        return tuple(figure for figure in self.figures if figure.task == task)


def parse_results(said: Any) -> Results:
    """Parses the JSON of a results file. Raises ValueError if it is not one."""
    if not isinstance(said, dict) or not isinstance(said.get("results"), dict):
        raise ValueError("it has no results")
    configs = _objects(said, "configs")
    return Results(
        model=str(said["model_name"]) if said.get("model_name") else None,
        figures=tuple(_figures(said)),
        spans={task: _stated_spans(config) for task, config in configs.items()},
        not_means={task: _metrics(config, means=False) for task, config in configs.items()},
        means={task: _metrics(config, means=True) for task, config in configs.items()},
        groups=_groups(said),
        shots=_shots(said),
        lower_is_better=_stated_directions(said),
    )


def _shots(said: Mapping[str, Any]) -> dict[str, frozenset[int]]:
    """For each task, how many examples were shown before each sample, if the file says so; for a group, whose number
    the file does not say, those of its tasks.
    """
    there = said.get("n-shot")
    stated = {str(task): n for task, n in there.items() if isinstance(n, int)} if isinstance(there, dict) else {}
    shots = {task: {n} for task, n in stated.items()}
    for task, groups in _groups(said).items():
        for group in groups:
            if group not in stated and task in stated:
                shots.setdefault(group, set()).add(stated[task])
    return {task: frozenset(numbers) for task, numbers in shots.items()}


def _objects(said: Mapping[str, Any], key: str) -> dict[str, dict[str, Any]]:
    """The objects under a key, by name. Anything else under the key is ignored."""
    there = said.get(key)
    return (
        {str(name): item for name, item in there.items() if isinstance(item, dict)} if isinstance(there, dict) else {}
    )


def _figures(said: Mapping[str, Any]) -> Iterator[TaskFigure]:
    """The figures of tasks and groups. Newer files list groups separately."""
    counts = _objects(said, "n-samples")
    for task, of_task in (_objects(said, "results") | _objects(said, "groups")).items():
        samples = counts.get(task, {}).get("effective")
        for key, value in of_task.items():
            metric, comma, filtered = key.partition(",")
            if not comma or metric.endswith(_STDERR) or not isinstance(value, int | float):
                continue
            error = of_task.get(f"{metric}{_STDERR},{filtered}")
            yield TaskFigure(
                task,
                metric,
                filtered,
                float(value),
                float(error) if isinstance(error, int | float) else None,
                samples if isinstance(samples, int) and samples > 0 else None,
            )


_MEANS = ("mean", "nanmean")
"""The aggregations of a task's configuration that are means of the samples."""


def _aggregations(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The metrics of a task that say how their figure is made of the samples, each with that: a name, or a program."""
    listed = config.get("metric_list")
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict) and item.get("aggregation"):
            yield str(item.get("metric")), str(item["aggregation"])


def _stated_spans(config: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(metric for metric, how in _aggregations(config) if "span_f1" in how)


def _metrics(config: Mapping[str, Any], *, means: bool) -> frozenset[str]:
    """The metrics whose figure is the mean of the samples, or those whose figure is another function of them."""
    return frozenset(metric for metric, how in _aggregations(config) if (how in _MEANS) == means)


def _groups(said: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """For each task, the groups around it. If a task is in several groups that are not nested, the first one counts."""
    listed = said.get("group_subtasks")
    parts = {str(group): tasks for group, tasks in listed.items()} if isinstance(listed, dict) else {}
    around: dict[str, str] = {}
    for group, tasks in parts.items():
        for task in tasks if isinstance(tasks, list) else ():
            around.setdefault(str(task), group)
    groups: dict[str, tuple[str, ...]] = {}
    for task in around:
        path: list[str] = []
        inner: str | None = around[task]
        while inner is not None and inner not in path:
            path.insert(0, inner)
            inner = around.get(inner)
        groups[task] = tuple(path)
    return groups


def _stated_directions(said: Mapping[str, Any]) -> dict[str, bool]:
    """For each metric, whether lower is better, if all tasks agree."""
    directions: dict[str, set[bool]] = {}
    for of_task in _objects(said, "higher_is_better").values():
        for metric, higher in of_task.items():
            if isinstance(higher, bool):
                directions.setdefault(metric, set()).add(not higher)
    return {metric: lower.pop() for metric, lower in directions.items() if len(lower) == 1}


# === metrics over all samples together ================================================================================
# What the harness logs of a sample for a metric that is no mean of the samples, as counts that can be summed.

_Cells = Mapping[str, int]
_Counting = Callable[[Any], _Cells | None]


def _instructions(item: Any) -> _Cells | None:
    """For each instruction of a prompt, whether the answer follows it."""
    if not isinstance(item, list) or not item or not {bool}.issuperset(map(type, item)):
        return None
    return {RIGHT: sum(item), INSTRUCTIONS: len(item)}


def _two_classes(item: Any) -> _Cells | None:
    """The right class and the answered one, each 0 or 1."""
    if not isinstance(item, list) or len(item) != 2 or any(cell not in (0, 1) for cell in item):
        return None
    here = {(1, 1): HITS, (0, 1): FALSE_ALARMS, (1, 0): MISSES, (0, 0): REJECTIONS}[int(item[0]), int(item[1])]
    return {cell: int(cell == here) for cell in CELLS}


def _surprise(likelihood: Any, **per: Any) -> _Cells | None:
    """A log likelihood, and what it is divided by."""
    number = finite(likelihood)
    if number is None or number > 0 or -number >= LARGEST_COUNT:
        return None
    if any(type(length) is not int or not 0 <= length < LARGEST_COUNT for length in per.values()):
        return None
    nats, billionths = divmod(round(-number * BILLION), BILLION)
    return {NATS: nats, BILLIONTHS: billionths, **per}


def _weighed(per: str) -> _Counting:
    def counting(item: Any) -> _Cells | None:
        return _surprise(item[0], **{per: item[1]}) if isinstance(item, list) and len(item) == 2 else None

    return counting


def _of_sample(item: Any) -> _Cells | None:
    return _surprise(item, samples=1)


_COUNTED: Mapping[str, _Counting] = {
    "inst_level_strict_acc": _instructions,
    "inst_level_loose_acc": _instructions,
    "f1": _two_classes,
    "mcc": _two_classes,
    "perplexity": _of_sample,
    "word_perplexity": _weighed("words"),
    "byte_perplexity": _weighed("bytes"),
    "bits_per_byte": _weighed("bytes"),
}
"""How a sample is counted, by metric. An item that does not fit is taken as that of any other metric."""

LARGEST_COUNT = 2**31


def _count(metric: str, item: Any) -> _Cells | None:
    """The counts of a sample for a metric over all samples together; None if it is none."""
    return _COUNTED[metric](item) if metric in _COUNTED else None


def _counted_as(metric: str, filtered: str, count: str) -> str:
    return BETWEEN.join((metric, *(() if filtered == _NO_FILTER else (filtered,)), count))


def _computed(metric: str, sums: Mapping[str, int]) -> float | None:
    """The value of a metric from the sums of its counts."""
    measure = find_measure(metric, COUNTED.name)
    computation = None if measure is None else settle(measure, {}).sums
    if not isinstance(computation, Ratio | Function):
        return None
    return computation.value([sum(by * sums[count] for count, by in form) for form in computation.forms])


# === translations ====================================================================================================
# Of bleu, chrf and ter the harness logs the reference and the answer of each sample. sacreBLEU counts them, as the
# harness lets it do over all samples.

_OF_SACREBLEU: Mapping[str, str] = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}
"""The metrics, with their names here."""

PERCENT = 100.0
"""What the harness multiplies their values by."""


class _Segment(Struct, frozen=True):
    """The answer to a sample and its references, with the line of the log, the system and the document."""

    line: int
    member: str | None
    system: str
    document: str
    answer: str
    references: tuple[str, ...]


def _texts(metric: str, item: Any) -> tuple[tuple[str, ...], str] | None:
    """The references and the answer of a sample for one of these metrics; None for anything else."""
    if metric not in _OF_SACREBLEU or not isinstance(item, list) or len(item) != 2 or not isinstance(item[1], str):
        return None
    references = (item[0],) if isinstance(item[0], str) else tuple(item[0]) if isinstance(item[0], list) else ()
    return (references, item[1]) if references and all(isinstance(text, str) for text in references) else None


def _count_translations(task: str, contents: _Contents, counts: Sheet) -> None:
    """Adds the counts of all translations to a sheet. Only those of the first filter have a name of their own."""
    known = metrics_of_sacrebleu()
    for (metric, filtered), segments in contents.segments.items():
        called = _OF_SACREBLEU[metric]
        numbers_of_references = {len(segment.references) for segment in segments}
        if not known or len(numbers_of_references) > 1:
            contents.unmapped[metric] += len(segments)
            continue
        answers = [segment.answer for segment in segments]
        of_each = [segment.references for segment in segments]
        [(names, counted)] = count_segments(answers, of_each, {called: known[called]()})
        sums: Counter[str] = Counter()
        for segment, numbers in zip(segments, counted, strict=True):
            for name, number in zip(names, numbers, strict=True):
                counts.add(segment.line, task, segment.system, segment.document, name, number, member=segment.member)
                sums[name.rpartition(BETWEEN)[2]] += number
        contents.counted[metric, filtered] = sums


# === logs of samples ==================================================================================================
# A metric with a number for each sample becomes values. The first metric that says whether an answer is right is called
# `accuracy`; every other metric keeps its name, followed by `:filter` unless its first filter is none. A metric that
# compares labelled spans becomes score tuples by label; the answers after a second filter are another test set,
# `task:filter`, because score tuples do not name a metric. If a log has the same sample more than once, several runs
# were appended to it. Figures of tasks and groups without samples become published figures.

EXAMPLE = """\
{"doc_id": 0, "doc_hash": "9f2c", "filter": "none", "metrics": ["acc"], "acc": 1.0}
{"doc_id": 1, "doc_hash": "77ab", "filter": "none", "metrics": ["acc"], "acc": 0.0}
"""

_SAMPLES = re.compile(r"samples_(.+?)_(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.?\d*)\.jsonl?(\.gz|\.zst)?", re.I)
_RESULTS = re.compile(r"results_(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.?\d*)\.json(\.gz|\.zst)?", re.I)
_NO_FILTER = "none"

_OF_RESULTS = frozenset({("higher_is_better",), ("n-samples",), ("n-shot",), ("group_subtasks",)})
"""Keys that results files have beside the results."""


class _Naming(Struct):
    """Decides the names of metrics: the first that says whether an answer is right becomes `accuracy`."""

    accuracy_of: Callable[[Collection[str], str | None], str | None] = lambda metrics, right: right
    """Which of some metrics is the accuracy, where `right` would be and another one may be stored."""
    kept: str = ""
    """The metric that would have become `accuracy`, were it not another one in the warehouse."""
    right: tuple[str, str] | None = None
    """The metric and filter that became `accuracy`; None until one was found."""
    first_filter: dict[str, str] = field(default_factory=dict)
    """The first filter of each metric."""
    measures: dict[tuple[tuple[str, ...], str], tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """For the metrics and the filter of a sample, its metrics with their measures. Most samples of a log have the same.
    """

    def measures_of(self, metrics: tuple[str, ...], filtered: str) -> tuple[tuple[str, str], ...]:
        """The metrics of a sample, each with its measure. Also records them."""
        named = self.measures.get((metrics, filtered))
        if named is None:
            self.note(metrics, filtered)
            named = tuple((metric, self.called(metric, filtered)) for metric in metrics)
            self.measures[metrics, filtered] = named
        return named

    def note(self, metrics: Sequence[str], filtered: str) -> None:
        """Records the metrics of a sample. The order of samples and figures is the order of the filters."""
        for metric in metrics:
            self.first_filter.setdefault(metric, filtered)
        if self.right is not None:
            return
        labels = {_label(metric, filtered): metric for metric in metrics}
        first = foremost(metrics)
        label = _label(first, filtered) if first is not None else None
        accuracy = self.accuracy_of(labels, label)
        if accuracy is not None:
            self.right = labels[accuracy], filtered
        self.kept = self.kept or ("" if accuracy == label else label or "")

    @property
    def accuracy(self) -> str:
        """The metric that is `accuracy`, with its filter if it has one; empty if there is none."""
        return _label(*self.right) if self.right else ""

    def called(self, metric: str, filtered: str) -> str:
        """The name of the measure for a metric and a filter."""
        if (metric, filtered) == self.right:
            return ACCURACY
        return metric if filtered == self.first_filter.get(metric) == _NO_FILTER else f"{metric}:{filtered}"


def _label(metric: str, filtered: str) -> str:
    """A metric with its filter: exact_match:strict-match."""
    return metric if filtered == _NO_FILTER else f"{metric}:{filtered}"


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the samples of a log, or the figures of a results file. Raises DataError if the file is neither."""
    return _stage_results(staging) if _RESULTS.fullmatch(staging.source.name) else _stage_samples(staging)


class _Contents(Struct):
    """What the samples of a log contain beside their rows, collected until all are read. There may be millions."""

    runs: defaultdict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    """How often each sample occurred, by filter and document."""
    doc_hashes: dict[str, int] = field(default_factory=dict)
    """For each document, a number for its doc_hash, once that is stored as its attribute."""
    spans: dict[tuple[str, str], list[tuple[int, str, str, SpanCounts]]] = field(default_factory=dict)
    """For metrics that compare labelled spans, with their filters: line, system, document and counts."""
    unmapped: Counter[str] = field(default_factory=Counter)
    """For each metric, the number of samples whose item is not a number."""
    taken: dict[tuple[str, str], None] = field(default_factory=dict)
    """The metrics that have values, with their filters."""
    counted: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    """The sums of the counts of metrics over all samples together, with their filters."""
    segments: dict[tuple[str, str], list[_Segment]] = field(default_factory=dict)
    """The answers and references of metrics that count words or characters, with their filters."""

    @property
    def most_runs(self) -> int:
        """How many runs follow one another in the log."""
        return max((max(runs.values()) for runs in self.runs.values()), default=0)


MOST_RUNS = 1_000
"""How many runs may be appended to one log. Each becomes a system, and its name is searched among all."""


def _stage_samples(staging: Staging) -> tuple[Staged, ...]:
    named = _SAMPLES.fullmatch(staging.source.name)
    logged, date = named.group(1, 2) if named else (None, None)
    of_results = f"results_{date}.json"
    results = _results_beside(staging, of_results) if named else Results()
    task = staging.named("test_set", logged, "the name of the file does not name the task")
    said = results.model or _model_of_folder(staging)
    model = staging.named("system", said, "no folder or results file names the model")
    groups = results.groups.get(logged or task, ())
    for group in groups:
        staging.in_group(task, group)
    spans = results.spans.get(logged or task, frozenset()) | {staging.options.get("spans")}
    naming, contents, systems = _Naming(partial(staging.accuracy, task)), _Contents(), dict[int, str]()
    means = results.means.get(logged or task, frozenset())
    with Sheets(staging, VALUES, SCORES, COUNTS, DOCUMENTS, FAILURES) as sheets:
        of_all = sheets.open(COUNTS, "test_set", "system", "document", "count", "number")
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        scores = sheets.open(SCORES, "test_set", "system", "document", "unit", *COLUMNS)
        attributes = sheets.open(DOCUMENTS, "test_set", "document", "doc_hash", *groups[:1])
        failures = sheets.open(FAILURES, "test_set", "system", "item", "reason")
        for document, number, sample in _samples(staging):
            name, filtered = str(sample["doc_id"]), str(sample.get("filter") or _NO_FILTER)
            runs = contents.runs[filtered]
            run = runs[name] = runs.get(name, 0) + 1
            if run > MOST_RUNS:
                raise document.refusal(f"doc_id {quote_cell(name)} appears more than {MOST_RUNS:,} times", number)
            if run not in systems:
                systems[run] = _system(staging, model, task, date, run, results.settings(logged or task))
            system, not_finite = systems[run], 0
            for metric, measure in naming.measures_of(tuple(sample["metrics"]), filtered):
                item = sample.get(metric)
                if metric not in means and (cells := _count(metric, item)) is not None:
                    contents.counted.setdefault((metric, filtered), Counter()).update(cells)
                    for count, cell in cells.items():
                        called = _counted_as(metric, filtered, count)
                        of_all.add(number, task, system, name, called, cell, member=document.member)
                elif (value := finite(item)) is not None:
                    values.add(number, task, system, name, measure, value, member=document.member)
                    contents.taken[metric, filtered] = None
                elif (texts := _texts(metric, item)) is not None and filtered == naming.first_filter[metric]:
                    segment = _Segment(number, document.member, system, name, texts[1], texts[0])
                    contents.segments.setdefault((metric, filtered), []).append(segment)
                elif metric in spans:
                    of_metric = contents.spans.setdefault((metric, filtered), [])
                    of_metric.append((number, system, name, _spans(document, number, item)))
                else:
                    contents.unmapped[metric] += 1
                    not_finite += isinstance(item, float)
            if sheets.texts.wanted:
                beside = texts_of(sample)
                of: dict[str, object] = {"test_set": task, "document": name}
                sheets.texts.references(number, beside.references, member=document.member, **of)
                sheets.texts.input(number, beside.input, member=document.member, **of, system=system)
                sheets.texts.outputs(number, beside.outputs, member=document.member, **of, system=system)
            if not_finite and not_finite == len(sample["metrics"]):
                failures.add(number, task, system, name, "not scored", member=document.member)
            question = None if sample.get("doc_hash") else _document_of(sample)
            is_about = {QUESTION: question, ANSWER: _target_of(sample)}
            sheets.identify(number, is_about, member=document.member, test_set=task, document=name)
            doc_hash = sample.get("doc_hash")
            stands = hash(str(doc_hash))
            if (doc_hash or groups) and contents.doc_hashes.get(name) != stands:
                contents.doc_hashes[name] = stands
                inner = [(*groups, task)[1]] if groups else []
                attributes.add(number, task, name, doc_hash, *inner, member=document.member)
        _count_translations(task, contents, of_all)
        for key, tuples in contents.spans.items():
            labels = {label for *_, counts in tuples for label, (possible, _, _) in counts.items() if possible}
            for number, system, name, counts in tuples:
                test_set = _test_set_of_spans(staging, task, contents, key)
                for label, tally in tally_labelled_spans(counts, [*sorted(labels), OTHER]).items():
                    scores.add(number, test_set, system, name, label, *tally.cells)
        directions = _directions(results, naming, contents.taken)
        notes = [*staging.notes_on_settings(), *_notes(contents, naming)]
        if contents.most_runs == 1:
            not_means = results.not_means.get(logged or task, frozenset())
            for figure in results.of(logged or task):
                key = figure.metric, figure.filtered
                if figure.metric in not_means and key in contents.taken and key not in contents.counted:
                    notes.append(f"not checked, because the results file does not give its mean: {figure.called}")
                else:
                    staging.state(_stated(figure, task, systems[1], contents, naming, of_results))
        return sheets.staged(notes, directions, naming.accuracy)


def _test_set_of_spans(staging: Staging, task: str, contents: _Contents, of_metric: tuple[str, str]) -> str:
    """The test set of the spans of a metric and a filter: the task for the first, and a part of it for others."""
    first, (metric, filtered) = next(iter(contents.spans)), of_metric
    if of_metric == first:
        return task
    return staging.part(task, metric if metric != first[0] else None, filtered)


def _stated(
    figure: TaskFigure, task: str, system: str, contents: _Contents, naming: _Naming, place: str
) -> StatedFigure:
    """A figure of the results file, to be compared with the samples: their mean, or the F of all labelled spans."""
    key = figure.metric, figure.filtered
    stated = StatedFigure(task, (system,), naming.called(*key), figure.called, place, figure.value)
    if key in contents.counted:
        value = _computed(_OF_SACREBLEU.get(figure.metric, figure.metric), contents.counted[key])
        times = PERCENT if figure.metric in _OF_SACREBLEU else 1.0
        computed = () if value is None else (value * times,)
        return replace(stated, values=computed or None, computed_as="the value over all samples together")
    if key not in contents.spans:
        return stated
    tallies = [tally for *_, counts in contents.spans[key] for tally in counts.values()]
    both, correct = sum(possible + actual for possible, actual, _ in tallies), sum(tally[2] for tally in tallies)
    return replace(stated, values=(2 * correct / both if both else 0.0,), computed_as="the F of the spans")


def _stage_results(staging: Staging) -> tuple[Staged, ...]:
    """Stages the figures of tasks and groups that have no samples beside the file."""
    results = Results()
    for document in documents(staging):
        results = _parse(staging, document.whole(LARGEST), "this")
    named = _RESULTS.fullmatch(staging.source.name)
    date = named[1] if named else None
    said = results.model or _model_of_folder(staging)
    model = staging.named("system", said, "neither the file nor its folder names the model")
    with Sheets(staging, PUBLISHED) as sheets:
        figures = sheets.open(PUBLISHED, *FIGURES)
        left_out, directions = 0, dict[str, bool]()
        for task in dict.fromkeys(figure.task for figure in results.figures):
            system = _system(staging, model, task, date, 1, results.settings(task))
            if _has_samples(staging, task, date):
                continue
            naming = _Naming(partial(staging.accuracy, task))
            for figure in results.of(task):
                naming.note([figure.metric], figure.filtered)
            for figure in results.of(task):
                digits = decimal_text(figure.value)
                left_out += digits is None
                if digits is not None:
                    measure = naming.called(figure.metric, figure.filtered)
                    error = figure.standard_error
                    error = error if error is not None and math.isfinite(error) else None
                    figures.add(None, task, system, "values", measure, *digits, figure.samples, error, None, None, None)
                    directions |= _directions(results, naming, [(figure.metric, figure.filtered)])
        notes = staging.notes_on_settings()
        if left_out:
            notes.append(f"left out (not finite numbers of at most 9 digits): {left_out} figures")
        return sheets.staged(notes, directions)


def _directions(results: Results, naming: _Naming, taken: Iterable[tuple[str, str]]) -> dict[str, bool]:
    """For measures of these metrics and filters, whether lower is better, if the results file says so."""
    directions = ((naming.called(*key), results.lower_is_better.get(key[0])) for key in taken)
    return {measure: lower for measure, lower in directions if lower is not None}


def _has_samples(staging: Staging, task: str, date: str | None) -> bool:
    """Whether the samples of a task are beside its results file. They give the same figures and more."""
    names = (f"samples_{task}_{date}.{ending}" for ending in ("jsonl", "jsonl.gz", "jsonl.zst", "json"))
    return any(staging.has_beside(name) for name in names)


def _system(staging: Staging, model: str, task: str, date: str | None, run: int, settings: str) -> str:
    """The name under which a run of a model is stored. Runs after the first were appended to the log."""
    if date is None:
        return staging.replicate(model, task, run=str(run), settings=settings)
    run_id = f"{date}+{run}" if run > 1 else None
    return staging.replicate(model, task, run=run_id, date=date, settings=settings)


def _model_of_folder(staging: Staging) -> str | None:
    folder = staging.source.absolute().parent.name
    return folder.replace("__", "/") if "__" in folder else None


def _results_beside(staging: Staging, name: str) -> Results:
    written = staging.beside(name, LARGEST)
    return Results() if written is None else _parse(staging, written, f"the results file beside it, {name},")


def _parse(staging: Staging, written: bytes, called: str) -> Results:
    try:
        return parse_results(staging.json(written, called))
    except ValueError:
        raise staging.refusal(f"{called} is not a results file of lm-evaluation-harness") from None


def _samples(staging: Staging) -> Iterator[tuple[Document, int, dict[str, Any]]]:
    """The samples of a log, each with its line number."""
    for document, number, line in filled_lines(staging):
        yield document, number, _sample(document, number, line)


def _sample(document: Document, number: int, line: str) -> dict[str, Any]:
    sample = document.json_line(number, line)
    if not isinstance(sample, dict) or "doc_id" not in sample:
        raise document.refusal("this is not a sample: it has no doc_id", number)
    metrics = sample.get("metrics")
    if not isinstance(metrics, list) or not {str}.issuperset(map(type, metrics)):
        raise document.refusal("this sample has no list of metrics", number)
    return sample


def _spans(document: Document, number: int, item: Any) -> SpanCounts:
    if not isinstance(item, list) or len(item) != 2:
        raise document.refusal(f"expected a gold and a predicted text, not {quote_cell(json.dumps(item))}", number)
    return span_counts(item[0], item[1])


def _notes(contents: _Contents, naming: _Naming) -> list[str]:
    """The notes: metrics that were renamed or left out, and whether there are several runs."""
    notes = [
        f"left out ({metric} has items that are not finite numbers): {quantity(count, 'sample')}"
        for metric, count in contents.unmapped.items()
    ]
    if naming.right is not None and (metric := ",".join(naming.right)) != f"{ACCURACY},{_NO_FILTER}":
        notes.append(f"{ACCURACY} is {metric}")
    if naming.kept:
        notes.append(f"{naming.kept} keeps its name, because another metric is the {ACCURACY} of what is stored")
    if contents.most_runs > 1:
        notes.append(f"{contents.most_runs} runs follow one another in this log; each is a run")
    return notes


def _recognizes(start: Start) -> str | None:
    keys = start.keys
    # Other harnesses name their files like this, too, but not the metrics in them: `acc,none`.
    filtered = any(path[0] in ("results", "groups") and len(path) == 3 and "," in path[-1] for path in keys)
    if _RESULTS.fullmatch(start.name) and ("results",) in keys and (filtered or not keys.isdisjoint(_OF_RESULTS)):
        return "its name and its results"
    named = start.first.startswith('{"doc_id"') or _SAMPLES.fullmatch(start.name)
    return "its doc_id and metrics" if named and ("doc_id",) in keys else None


READER = Reader(
    "lm-eval",
    "sample logs of lm-evaluation-harness, with the results file beside them",
    (VALUES, SCORES, COUNTS, DOCUMENTS, FAILURES, PUBLISHED),
    EXAMPLE,
    stage,
    options=(Option("spans", "a metric that compares labelled spans, if no results file says so"),),
    noun="sample",
    recognizes=_recognizes,
    evidence=Evidence.NAMES,
    unsaid={},
)

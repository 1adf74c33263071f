"""Sample logs of lm-evaluation-harness, `samples_<task>_<date>.jsonl`, with the results file of the same date beside.

A document is a sample, by its doc_id; its doc_hash is kept as an attribute, so that a log of other samples under the
same numbers contradicts what is stored. A metric whose items are numbers becomes values, under the name `acc`, or
`acc:strict` where it was taken after a filter. A metric that compares labelled spans (`PER: Ada $$ LOC: Turin`) becomes
score tuples by label. Samples that stand more than once in a log are of runs that were appended to it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from warehouse.loading.staging.cells import finite, shown
from warehouse.loading.staging.lines import Document, documents
from warehouse.loading.staging.mentions import COLUMNS, Tally
from warehouse.loading.staging.reader import Evidence, Option, Reader, Start
from warehouse.loading.staging.sheets import Sheets
from warehouse.loading.staging.staged import Staged, Staging
from warehouse.tasks.records import DOCUMENTS, SCORES, VALUES

EXAMPLE = """\
{"doc_id": 0, "doc_hash": "9f2c", "filter": "none", "metrics": ["acc"], "acc": 1.0}
{"doc_id": 1, "doc_hash": "77ab", "filter": "none", "metrics": ["acc"], "acc": 0.0}
"""

OTHER = "other"
"""The unit of spans whose label no gold span of the log has."""

LARGEST_RESULTS = 64 * 1024 * 1024
_FILE = re.compile(r"samples_(.+?)_(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.?\d*)\.jsonl?(\.gz|\.zst)?")
_PUNCTUATION = re.compile(r"""[!"#$%&'()*+,\-./:;<=>?\[\]^_`{|}~•@]+""")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WIDE = re.compile(r"\s{3,}|\t")


@dataclass(slots=True)
class _Log:
    """What is known of a log before its samples are read."""

    task: str | None = None
    system: str | None = None
    spans: set[str] = field(default_factory=set)
    metrics: dict[str, Any] = field(default_factory=dict)


_SpanCounts = dict[str, tuple[int, int, int]]
"""The span counts of a sample: by label possible, actual and correct."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the samples of a log. Raises DataError where a line is no sample."""
    # A system that is set is the first run's; the sheets would give its name to later ones too.
    others = {name: text for name, text in staging.fields.items() if name != "system"}
    with Sheets(replace(staging, fields=others), VALUES, SCORES, DOCUMENTS) as sheets:
        log = _about(staging)
        test_set = staging.named("test_set", log.task, "the name of the file does not say the task")
        system = staging.named("system", log.system, "no folder or results file says the model")
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        scores = sheets.open(SCORES, "test_set", "system", "document", "unit", *COLUMNS)
        hashes = sheets.open(DOCUMENTS, "test_set", "document", "doc_hash")
        seen: Counter[tuple[str, str]] = Counter()
        unmapped: Counter[str] = Counter()
        spans: list[tuple[int, str, str, _SpanCounts]] = []
        hashed: set[tuple[str, str]] = set()
        sums: dict[str, list[float]] = {}
        for document in documents(staging):
            for number, line in document.lines():
                if not line.strip():
                    continue
                sample = _sample(document, number, line)
                name, filtered = str(sample["doc_id"]), str(sample.get("filter") or "none")
                seen[name, filtered] += 1
                run = seen[name, filtered]
                called = system if run == 1 else f"{system}:run{run}"
                for metric in sample["metrics"]:
                    item = sample.get(metric)
                    measure = metric if filtered == "none" else f"{metric}:{filtered}"
                    if (value := finite(item)) is not None:
                        values.add(number, test_set, called, name, measure, value, member=document.member)
                        sums.setdefault(f"{metric},{filtered}", []).append(value)
                    elif metric in log.spans:
                        spans.append((number, called, name, _span_counts(document, number, item)))
                    else:
                        unmapped[metric] += 1
                doc_hash = sample.get("doc_hash")
                if doc_hash and (name, doc_hash) not in hashed:
                    hashed.add((name, doc_hash))
                    hashes.add(number, test_set, name, doc_hash, member=document.member)
        labels = {label for *_, counts in spans for label, (possible, _, _) in counts.items() if possible}
        for number, called, name, counts in spans:
            for label, tally in _tallies(counts, [*sorted(labels), OTHER]).items():
                scores.add(number, test_set, called, name, label, *tally.cells)
        runs = max(seen.values(), default=0)
        notes = [
            f"left out, {metric} having items that are no finite numbers: {count} samples"
            for metric, count in unmapped.items()
        ]
        if runs > 1:
            notes.append(f"{runs} runs were appended to this log; the later ones are {system}:run2 and so on")
        notes += _differences(log, sums) if runs == 1 else ()
        return sheets.staged(notes)


def _about(staging: Staging) -> _Log:
    """What the name of the file, its folder and the results file beside it say."""
    log = _Log()
    folder = staging.source.absolute().parent
    named = _FILE.fullmatch(staging.source.name)
    if named is not None:
        log.task = named[1]
        _read_results(log, staging, folder / f"results_{named[2]}.json")
    if log.system is None and "__" in folder.name:
        log.system = folder.name.replace("__", "/")
    if metric := staging.options.get("spans"):
        log.spans.add(metric)
    return log


def _read_results(log: _Log, staging: Staging, path: Path) -> None:
    if not path.is_file() or path.stat().st_size > LARGEST_RESULTS:
        return
    try:
        results = json.loads(path.read_bytes())
        log.system = results.get("model_name") or None
        log.metrics = dict(results.get("results", {}).get(log.task, {}))
        for listed in results.get("configs", {}).get(log.task, {}).get("metric_list", []):
            if "span_f1" in str(listed.get("aggregation")):
                log.spans.add(listed["metric"])
    except (ValueError, AttributeError, TypeError, KeyError):
        raise staging.refusal(f"the results file beside it, {path.name}, is not one of lm-evaluation-harness") from None


def _sample(document: Document, number: int, line: str) -> dict[str, Any]:
    try:
        sample = json.loads(line)
    except (ValueError, RecursionError):
        raise document.refusal("this line is not JSON", number) from None
    if not isinstance(sample, dict) or "doc_id" not in sample:
        raise document.refusal("this is no sample: it has no doc_id", number)
    metrics = sample.get("metrics")
    if not isinstance(metrics, list) or not all(isinstance(metric, str) for metric in metrics):
        raise document.refusal("this sample has no list of metrics", number)
    return sample


def _span_counts(document: Document, number: int, item: Any) -> _SpanCounts:
    if not isinstance(item, list) or len(item) != 2:
        raise document.refusal(f"a gold and a predicted text are wanted, not {shown(json.dumps(item))}", number)
    gold, predicted = Counter(labelled_spans(item[0])), Counter(labelled_spans(item[1]))
    possible, actual, correct = (
        Counter(label for label, _ in pairs.elements()) for pairs in (gold, predicted, gold & predicted)
    )
    return {label: (possible[label], actual[label], correct[label]) for label in possible | actual}


def _tallies(counts: _SpanCounts, labels: list[str]) -> dict[str, Tally]:
    """By label of the key, the counts of a sample; what has another label is counted under `other`."""
    tallies = {label: Tally(*counts.get(label, (0, 0, 0))) for label in labels}
    others = sum(actual for label, (_, actual, _) in counts.items() if label not in tallies)
    tallies[OTHER] = tallies[OTHER]._replace(actual=tallies[OTHER].actual + others)
    return tallies


def labelled_spans(text: Any) -> list[tuple[str, str]]:
    """The (label, text) pairs in `PER: Ada $$ LOC: Turin`, without case, punctuation and articles.

    Pairs end at `$`, at `. ` and at `, `; what is no label and text, parted by `: `, is passed over. This is how the
    span F1 of multilingual T5 and of the tasks after it takes answers apart.
    """
    whole = " ".join(str(part).strip() for part in text) if isinstance(text, list) else str(text)
    pieces = (
        piece.strip()
        for part in whole.strip().split("$")
        if part
        for sentence in part.strip().split(". ")
        for piece in sentence.split(", ")
    )
    pairs = (piece.split(": ") for piece in pieces)
    return [(_plain(pair[0]), _plain(pair[1])) for pair in pairs if len(pair) == 2]


def _plain(text: str) -> str:
    text = _ARTICLES.sub(" ", _PUNCTUATION.sub(" ", text.strip()))
    return re.sub(r"\s+", " ", _WIDE.sub("", text)).lower()


def _differences(log: _Log, sums: dict[str, list[float]]) -> list[str]:
    """Notes on means that the results file gives otherwise."""
    means = {key: sum(items) / len(items) for key, items in sums.items()}
    return [
        f"the results file gives {key} as {printed:.6g}, and the mean of the samples is {mean:.6g}"
        for key, mean in means.items()
        if isinstance(printed := log.metrics.get(key), float) and abs(printed - mean) > 1e-9
    ]


def _recognizes(start: Start) -> str | None:
    named = start.first.startswith('{"doc_id"') or start.name.startswith("samples_")
    return "its doc_id and metrics" if named else None


READER = Reader(
    "lm-eval",
    "sample logs of lm-evaluation-harness, with the results file beside them",
    (VALUES, SCORES, DOCUMENTS),
    EXAMPLE,
    stage,
    options=(Option("spans", "a metric that compares labelled spans, if no results file says so"),),
    noun="sample",
    recognizes=_recognizes,
    evidence=Evidence.NAMES,
)

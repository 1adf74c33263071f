"""Reads logs of Inspect: an `.eval` archive, or the same log as JSON.

A document is a sample, named by its id; the test set is the task, and the system is the model. Epochs are replicates.
Another version or other arguments of a task ask something else, so they are part of the name of the test set. Other
settings of a model, or another solver, answer otherwise, so they are part of the name of the system. What the log
states of its scorers is compared with the samples, after the same reduction of epochs.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from math import comb, nan
from statistics import fmean, median
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import DOCUMENTS, FAILURES, PUBLISHED, VALUES, WHOLE_RUN
from evalhouse.warehouse.loading.staging.cells import FIGURES, arguments_text, decimal_text, finite, quote_cell
from evalhouse.warehouse.loading.staging.identity import ANSWER, QUESTION
from evalhouse.warehouse.loading.staging.lines import MOST_MEMBERS, Document, damages, documents, meter_of, start_of
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start
from evalhouse.warehouse.loading.staging.resources import Resources, directions
from evalhouse.warehouse.loading.staging.sheets import Sheets, TextSheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure, Values
from evalhouse.warehouse.measures.values import ACCURACY, foremost

if TYPE_CHECKING:
    from evalhouse.warehouse.loading.staging.zstandard import zipfile


# === contents of a log ================================================================================================
# The task, model and run of a log, its samples, and its summary figures. This part must not open a log or store
# anything.

LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""The numbers for correct, partial, incorrect and no answer in the accuracy that Inspect prints."""

WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""The numbers for other answers in words, in any letter case."""

_ATTACHED = "attachment://"
"""The prefix of a reference to an attachment of a sample."""

_ENDED = {"error": "error", "cancelled": "cancelled", "started": "not finished"}
"""For each status of a log, why samples are missing from it."""


_OPERATION = frozenset(
    (
        *("seed", "cache", "cache_prompt", "batch", "logprobs", "top_logprobs"),
        *("timeout", "attempt_timeout", "max_retries", "max_connections", "adaptive_connections"),
    )
)
"""The settings of generation that do not change what a model would say. The seed tells runs, and the log has its run.
"""


class Header(Struct, frozen=True):
    """The header of a log. `lacking` says why samples are missing; it is empty if all are there. `planned` are the
    samples that were to be answered; it is empty if the log does not list them. `question` is what distinguishes the
    task from others of its name, and `answering` what distinguishes the system from the model as such.
    """

    task: str | None
    question: str
    dataset: str | None
    model: str | None
    answering: str
    run: str | None
    created: str | None
    lacking: str
    planned: tuple[str, ...]
    epochs: int


class ScorerFigure(Struct, frozen=True):
    """A metric of a scorer over all samples: its value, its standard error, and the number of samples. `reducer` says
    how the epochs of a sample became one score; it is empty for their mean.
    """

    scorer: str
    metric: str
    reducer: str
    value: float
    standard_error: float | None
    samples: int | None

    @property
    def called(self) -> str:
        """The figure as a note names it: accuracy of match (max)."""
        return f"{self.metric} of {self.scorer}" + (f" ({self.reducer})" if self.reducer else "")


def header_of(log: Mapping[str, Any]) -> Header:
    """Reads the header of a log."""
    said = _sample_object(log, "eval")
    dataset, config = _sample_object(said, "dataset"), _sample_object(said, "config")
    planned = dataset.get("sample_ids")
    epochs = config.get("epochs")
    return Header(
        task=_text(said, "task"),
        question=arguments_text(_question(said)),
        dataset=_text(dataset, "name"),
        model=_text(said, "model"),
        answering=arguments_text(_answering(said, _sample_object(_sample_object(log, "plan"), "config"))),
        # A retry of a task keeps its id and takes over the samples that were answered before.
        run=_text(said, "task_id") or _text(said, "eval_id") or _text(said, "run_id"),
        created=_text(said, "created"),
        lacking=_ENDED.get(str(log.get("status")), ""),
        planned=tuple(map(str, planned)) if isinstance(planned, list) else (),
        epochs=epochs if isinstance(epochs, int) and epochs > 0 else 1,
    )


def _question(said: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked beside the name of the task: its version, its arguments, and the models that it uses in roles, such
    as the grader. How many of the samples were asked makes no other task.
    """
    roles = {role: _sample_object({"": model}, "").get("model") for role, model in _passed(said, "model_roles").items()}
    return {"version": said.get("task_version") or None, **_passed(said, "task_args"), **roles}


def _answering(said: Mapping[str, Any], planned: Mapping[str, Any]) -> dict[str, Any]:
    """How the model answered: its arguments, how it generated, and the solver in place of that of the task."""
    generated = {**_sample_object(said, "model_generate_config"), **planned}
    return {
        **_passed(said, "model_args"),
        **{key: setting for key, setting in generated.items() if key not in _OPERATION},
        "solver": said.get("solver"),
        **(_passed(said, "solver_args") if said.get("solver") else {}),
    }


def _passed(said: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Arguments that were passed, or all of them if the log does not tell them from defaults."""
    passed = said.get(f"{key}_passed")
    return passed if isinstance(passed, dict) else _sample_object(said, key)


def scores_of(sample: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values of a sample by scorer; if a scorer gives several values, by `scorer.key`."""
    scores = sample.get("scores") or sample.get("score") or {}
    if not isinstance(scores, dict):
        return
    if "value" in scores and not isinstance(scores["value"], dict):
        scores = {"score": scores}
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else None
        if isinstance(value, dict):
            for key, part in value.items():
                yield f"{scorer}.{key}", part
        elif value is not None:
            yield scorer, value


def value_of(answer: Any) -> float | None:
    """The value of an answer: a letter or a word as Inspect counts it, a number unchanged; None for anything else."""
    if not isinstance(answer, str):
        return finite(answer)
    if answer.isascii() and answer.replace(".", "", 1).isdigit():
        return float(answer)
    return LETTERS.get(answer, WORDS.get(answer.lower()))


def resources_of(sample: Mapping[str, Any], model: str | None) -> Resources:
    """What a sample took: the tokens of the model that is evaluated, and not those of a grader; and the time it worked,
    without the time that it waited for others.
    """
    usages = _sample_object(sample, "model_usage")
    called = model if model in usages else next(iter(usages)) if len(usages) == 1 else None
    usage = _sample_object(usages, called) if called is not None else _sample_object({}, "")
    times = (finite(sample.get(key)) for key in ("working_time", "total_time"))
    return Resources(
        tokens=finite(usage.get("total_tokens")),
        input_tokens=finite(usage.get("input_tokens")),
        output_tokens=finite(usage.get("output_tokens")),
        seconds=next((time for time in times if time), finite(_sample_object(sample, "output").get("time"))),
        cost=finite(usage.get("total_cost")),
    )


def failure_of(sample: Mapping[str, Any]) -> str:
    """Why a sample has no score."""
    if sample.get("error"):
        return "error"
    output = _sample_object(sample, "output")
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    if "content_filter" in (output.get("stop_reason"), first.get("stop_reason")):
        return "refused"
    return "not scored" if choices or output.get("completion") else "no answer"


def question_of(sample: Mapping[str, Any]) -> str | None:
    """The question of a sample: what the user says in its input. What the system is told may differ between models."""
    attachments, said = _sample_object(sample, "attachments"), sample.get("input")
    if isinstance(said, list):
        messages = [message for message in said if isinstance(message, dict) and message.get("role") == "user"]
        return "\n\n".join(_content(message.get("content"), attachments) for message in messages)
    return _content(said, attachments) if isinstance(said, str) else None


def input_of(sample: Mapping[str, Any]) -> str | None:
    """The input of a sample: a text, or messages, each under its role; then the choices, if any, one per line."""
    attachments, said = _sample_object(sample, "attachments"), sample.get("input")
    if isinstance(said, list):
        messages = [message for message in said if isinstance(message, dict)]
        texts = [(str(message.get("role")), _content(message.get("content"), attachments)) for message in messages]
        question = texts[0][1] if len(texts) == 1 else "\n\n".join(f"{role}: {text}" for role, text in texts)
    elif isinstance(said, str):
        question = _content(said, attachments)
    else:
        return None
    choices = sample.get("choices")
    listed = zip(ascii_uppercase, choices, strict=False) if isinstance(choices, list) else ()
    return "\n".join((question, *(f"{letter}) {_content(choice, attachments)}" for letter, choice in listed)))


def references_of(sample: Mapping[str, Any]) -> list[str]:
    """The right answers: the target or targets of a sample."""
    target, attachments = sample.get("target"), _sample_object(sample, "attachments")
    targets = target if isinstance(target, list) else [target]
    return [_content(text, attachments) for text in targets if isinstance(text, str)]


def outputs_of(sample: Mapping[str, Any]) -> list[str]:
    """The answers of the model: its choices, usually one, or else its completion."""
    output, attachments = _sample_object(sample, "output"), _sample_object(sample, "attachments")
    choices = output.get("choices")
    messages = [_sample_object(choice, "message") for choice in choices or () if isinstance(choice, dict)]
    if messages:
        return [_content(message.get("content"), attachments) for message in messages]
    completion = output.get("completion")
    return [_content(completion, attachments)] if isinstance(completion, str) else []


def _content(said: Any, attachments: Mapping[str, Any]) -> str:
    """The text of a message: only its parts that are text. Long texts may be stored among the attachments."""
    if isinstance(said, list):
        parts = (part.get("text") for part in said if isinstance(part, dict))
        return "\n".join(_content(part, attachments) for part in parts if isinstance(part, str))
    text = said if isinstance(said, str) else "" if said is None else str(said)
    return str(attachments.get(text.removeprefix(_ATTACHED), text)) if text.startswith(_ATTACHED) else text


def right_of(scorers: Iterable[str], lettered: frozenset[str], figures: Iterable[ScorerFigure]) -> str | None:
    """The scorer that says whether an answer is right: the first that gives letters or words, or else one whose metric
    is accuracy, or else one with accuracy as its name.
    """
    scorers = list(scorers)
    by_metric = {figure.scorer for figure in figures if figure.metric == ACCURACY}
    for deciding in (lettered, by_metric):
        if first := next((scorer for scorer in scorers if scorer in deciding), None):
            return first
    return foremost(scorers)


def figures_of(log: Mapping[str, Any], scorers: Collection[str]) -> Iterator[ScorerFigure]:
    """The summary metrics of every scorer in a log, whose samples have scores of these scorers. Standard errors are not
    metrics of their own: they are attached to the others.
    """
    results = _sample_object(log, "results")
    listed = results.get("scores")
    for score in listed if isinstance(listed, list) else ():
        metrics = _sample_object(score, "metrics") if isinstance(score, dict) else {}
        numbers = {str(name): finite(_sample_object(metrics, name).get("value")) for name in metrics}
        counted = score.get("scored_samples", results.get("completed_samples")) if metrics else None
        for metric, value in numbers.items():
            if value is not None and metric not in ("stderr", "std", "var", "bootstrap_stderr"):
                error = numbers.get("stderr", numbers.get("bootstrap_stderr"))
                samples = counted if isinstance(counted, int) and counted > 0 else None
                reducer = str(score.get("reducer") or "")
                yield ScorerFigure(
                    _scorer(score, scorers), metric, "" if reducer == "mean" else reducer, value, error, samples
                )


def _scorer(score: Mapping[str, Any], scorers: Collection[str]) -> str:
    """The scorer of a figure as samples name it: `scorer.key` for one of several values that a scorer gives."""
    name, scorer = score.get("name") or score.get("scorer"), score.get("scorer") or score.get("name")
    possible = (str(name) if name == scorer else f"{scorer}.{name}", str(name), str(scorer))
    return next((called for called in possible if called in scorers), possible[0])


_MEANS = (ACCURACY, "mean")
"""The metrics that are means of the samples."""


def measure_of(figure: ScorerFigure, right: str | None) -> str:
    """The measure of a figure: accuracy, if the scorer is the one that says whether an answer is right; for a mean, the
    scorer; otherwise the scorer and its metric. The reducer follows if it is not the mean.
    """
    name = figure.scorer if figure.metric in _MEANS else f"{figure.scorer}.{figure.metric}"
    name = ACCURACY if figure.metric in _MEANS and figure.scorer == right else name
    return f"{name}:{figure.reducer}" if figure.reducer else name


# === reducers =========================================================================================================
# How Inspect makes one score of the epochs of a sample.

_NUMBERED = re.compile(r"(at_least|pass_at|pass_k)_([0-9]+)")


def reduction_of(reducer: str) -> Callable[[Values], float] | None:
    """The reducer of a figure as a function of the values of a sample; None for one that is not known here."""
    if numbered := _NUMBERED.fullmatch(reducer):
        return partial(_passes, numbered[1], int(numbered[2]))
    known: dict[str, Callable[[Values], float]] = {"": fmean, "median": median, "max": max, "mode": _mode}
    return known.get(reducer)


def _mode(values: Values) -> float:
    return Counter(values).most_common(1)[0][0]


def _passes(kind: str, k: int, values: Values) -> float:
    """Whether at least k epochs are right, or how probable it is that one of k of them is, or that all are."""
    right, total = sum(value >= 1 for value in values), len(values)
    if kind == "at_least":
        return float(right >= k)
    if total < k:
        return nan
    return 1 - comb(total - right, k) / comb(total, k) if kind == "pass_at" else comb(right, k) / comb(total, k)


# === parts of a log ===================================================================================================


def _sample_object(said: Mapping[str, Any], key: str) -> dict[str, Any]:
    part = said.get(key)
    return part if isinstance(part, dict) else {}


def _text(said: Mapping[str, Any], key: str) -> str | None:
    text = said.get(key)
    return str(text) if text else None


# === reading a log ====================================================================================================
# The scorer that says whether an answer is right becomes `accuracy`, with C, P, I and N as 1, 0.5, 0 and 0. Other
# scorers become measures of their own. Samples without a score become failures with a reason: samples with an error,
# and samples that are missing from a log that was cancelled or failed. From a log without scored samples, its summary
# figures are loaded.

EXAMPLE = """\
{"version": 2, "eval": {"task": "popularity", "model": "openai/gpt-4o-mini"},
 "samples": [
  {"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}, "length": {"value": 12}}},
  {"id": 2, "epoch": 1, "scores": {"match": {"value": "I"}, "length": {"value": 7}}}]}
"""

LARGEST_MEMBER = 256 * 1024 * 1024
"""The largest sample, or log in JSON, that is read, in bytes."""

RESULTS = "the summary of the log"
"""Where a log states figures, in notes."""

Sample = tuple[dict[str, Any], str | None]
"""A sample, and the archive member that holds it."""


class _Taken(Struct):
    """What was read from the samples: values by epoch, sample and scorer, and samples without values."""

    values: dict[tuple[int, str, str], float] = field(default_factory=dict)
    took: dict[tuple[int, str], Resources] = field(default_factory=dict)
    """What each epoch of a sample took."""
    members: dict[tuple[int, str], str | None] = field(default_factory=dict)
    """The archive member of each epoch and sample."""
    failures: dict[tuple[int, str], str] = field(default_factory=dict)
    """For each epoch and sample without a score, the reason."""
    lettered: set[str] = field(default_factory=set)
    """The scorers that gave letters as values."""
    unmapped: Counter[str] = field(default_factory=Counter)
    """For each scorer, the number of samples whose value is neither a letter nor a number."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the scores of the samples and the reasons for missing ones; for a log without samples, its figures. Raises
    DataError if the log is damaged or has neither.
    """
    log, samples = _log(staging)
    header = header_of(log)
    task = staging.part(staging.named("test_set", header.task, "the log does not name the task"), header.question)
    model = staging.named("system", header.model, "the log does not name the model")
    model = f"{model}({header.answering})" if header.answering else model
    with Sheets(staging, VALUES, FAILURES, DOCUMENTS, PUBLISHED) as sheets:
        taken = _take_samples(staging, task, header.model, samples, sheets)
        scorers = list(dict.fromkeys(scorer for *_, scorer in taken.values))
        figures = tuple(figures_of(log, scorers))
        says_right = right_of(scorers, frozenset(taken.lettered), figures)
        right = staging.accuracy(task, scorers, says_right)
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        failures = sheets.open(FAILURES, "test_set", "system", "item", "reason")
        published = sheets.open(PUBLISHED, *FIGURES)
        several = any(epoch > 1 for epoch, _ in taken.members)
        system = partial(_system, staging, header, model, task, several)
        for (epoch, name, scorer), value in taken.values.items():
            measure = ACCURACY if scorer == right else scorer
            values.add(None, task, system(epoch), name, measure, value, member=taken.members[epoch, name])
        took = set[str]()
        for (epoch, name), resources in taken.took.items():
            for measure, value in resources:
                if measure not in scorers:
                    values.add(None, task, system(epoch), name, measure, value, member=taken.members[epoch, name])
                    took.add(measure)
        # The systems of the epochs are known only after all samples are read.
        epochs = sorted({epoch for epoch, _ in taken.members}) if sheets.texts.wanted else ()
        sheets.texts.name_systems({str(epoch): system(epoch) for epoch in epochs})
        attributes = sheets.open(DOCUMENTS, "test_set", "document", "dataset")
        for name in dict.fromkeys(name for _, name in taken.members) if header.dataset else ():
            attributes.add(None, task, name, header.dataset)
        for epoch, name, reason in _failures(header, taken):
            failures.add(None, task, system(epoch), name, reason, member=taken.members.get((epoch, name)))
        if taken.values:
            runs = tuple(dict.fromkeys(system(epoch) for epoch in sorted({epoch for epoch, _ in taken.members})))
            for stated in _stated(figures, taken, right):
                staging.state(replace(stated, test_set=task, systems=runs))
        else:
            for measure, figure in _by_measure(staging, task, figures).items():
                if digits := decimal_text(figure.value):
                    of = figure.samples, figure.standard_error
                    published.add(None, task, system(1), "values", measure, *digits, *of, None, None, None)
        return sheets.staged(_notes(taken, right, says_right), directions(took), right or "")


def _by_measure(staging: Staging, task: str, figures: tuple[ScorerFigure, ...]) -> dict[str, ScorerFigure]:
    """The figures of a log without samples by measure; of two for one measure, the first."""
    scorers = dict.fromkeys(figure.scorer for figure in figures)
    right = staging.accuracy(task, scorers, right_of(scorers, frozenset(), figures))
    return {measure_of(figure, right): figure for figure in reversed(figures)}


def _stated(figures: Iterable[ScorerFigure], taken: _Taken, right: str | None) -> Iterator[StatedFigure]:
    """The figures that are means of samples, each reduced as the log says. Where a sample has a value that is not a
    number here, the log counted something else.
    """
    for figure in figures:
        reduction = reduction_of(figure.reducer)
        if figure.metric in _MEANS and reduction is not None and not taken.unmapped[figure.scorer]:
            measure = ACCURACY if figure.scorer == right else figure.scorer
            yield StatedFigure("", (), measure, figure.called, RESULTS, figure.value, over_runs=reduction)


def _take_samples(staging: Staging, task: str, model: str | None, samples: Iterator[Sample], sheets: Sheets) -> _Taken:
    taken = _Taken()
    for sample, member in samples:
        if "id" not in sample:
            raise staging.refusal("this is not a sample: it has no id", member=member)
        epoch, name = sample.get("epoch") or 1, str(sample["id"])
        if not isinstance(epoch, int):
            raise staging.refusal(f"the epoch of sample {quote_cell(name)} is not a whole number", member=member)
        if (epoch, name) in taken.members:
            raise staging.refusal(f"sample {quote_cell(name)} appears twice in epoch {epoch}", member=member)
        taken.members[epoch, name] = member
        said = {QUESTION: question_of(sample), ANSWER: "\n".join(references_of(sample))}
        sheets.identify(None, said, member=member, test_set=task, document=name)
        if sheets.texts.wanted:
            _add_texts(sheets.texts, task, epoch, name, sample, member)
        scored = False
        for scorer, answer in scores_of(sample):
            value = value_of(answer)
            if value is None:
                taken.unmapped[scorer] += 1
                continue
            scored = True
            taken.values[epoch, name, scorer] = value
            if isinstance(answer, str):
                taken.lettered.add(scorer)
        if scored:
            taken.took[epoch, name] = resources_of(sample, model)
        else:
            taken.failures[epoch, name] = failure_of(sample)
    return taken


def _add_texts(texts: TextSheets, task: str, epoch: int, name: str, sample: dict[str, Any], member: str | None) -> None:
    texts.references(None, references_of(sample), member=member, test_set=task, document=name)
    texts.input(None, input_of(sample), member=member, test_set=task, system=str(epoch), document=name)
    texts.outputs(None, outputs_of(sample), member=member, test_set=task, system=str(epoch), document=name)


def _failures(header: Header, taken: _Taken) -> Iterator[tuple[int, str, str]]:
    """The epoch and name of each sample without a score, and the reason. If the samples are unknown, the whole run
    counts as failed.
    """
    for (epoch, name), reason in taken.failures.items():
        yield epoch, name, reason
    if not header.lacking:
        return
    for epoch in range(1, header.epochs + 1):
        for name in header.planned:
            if (epoch, name) not in taken.members:
                yield epoch, name, header.lacking
    if not header.planned:
        yield 1, WHOLE_RUN, header.lacking


def _system(staging: Staging, header: Header, model: str, task: str, several: bool, epoch: int) -> str:
    """The system name for an epoch of a run; `several` says whether the run has more than one epoch."""
    run = f"{header.run}/{epoch}" if header.run and epoch > 1 else header.run
    numbered = epoch > 1 or (several and not header.created)
    return staging.replicate(model, task, run=run or (str(epoch) if numbered else None), date=header.created)


def _notes(taken: _Taken, right: str | None, says_right: str | None) -> Iterator[str]:
    if says_right not in (None, right):
        yield f"{says_right} keeps its name, because another scorer is the {ACCURACY} of what is stored"
    if right not in (None, ACCURACY):
        yield f"{ACCURACY} is what {right} says"
    epochs = {epoch for epoch, _ in taken.members}
    if len(epochs) > 1:
        yield f"samples were answered in {len(epochs)} epochs; each is a run"
    for reason, count in Counter(taken.failures.values()).items():
        yield f"without a score, {reason}: {quantity(count, 'sample')}"
    for scorer, count in taken.unmapped.items():
        yield f"left out ({scorer} is neither C, I, P, N nor a finite number): {quantity(count, 'sample')}"


def _log(staging: Staging) -> tuple[dict[str, Any], Iterator[Sample]]:
    """The header of a log, and an iterator over its samples."""
    if start_of(staging) == b"PK\x03\x04":
        return _archive(staging)
    log: dict[str, Any] = {}
    for document in documents(staging):
        log = _object(document)
    if not isinstance(log.get("eval"), dict):
        raise staging.refusal("this is not an Inspect log: it has no eval")
    samples = log.get("samples")
    listed = samples if isinstance(samples, list) else []
    return log, ((sample, None) for sample in listed if isinstance(sample, dict))


def _archive(staging: Staging) -> tuple[dict[str, Any], Iterator[Sample]]:
    with _open_log(staging) as archive:
        listed = archive.infolist()
        if len(listed) > MOST_MEMBERS:
            raise staging.refusal(f"the archive has more than {MOST_MEMBERS} members")
        meter = meter_of(staging)
        for member in listed:
            meter.count(member.file_size)
        names = {member.filename for member in listed}
        header = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        if header is None:
            raise staging.refusal("this is not an Inspect log: it has no header.json")
        samples = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
        return _member(staging, archive, header), _samples(staging, samples)


def _samples(staging: Staging, names: list[str]) -> Iterator[Sample]:
    with _open_log(staging) as archive:
        for name in names:
            yield _member(staging, archive, name), name


@contextlib.contextmanager
def _open_log(staging: Staging) -> Iterator[zipfile.ZipFile]:
    # Newer logs are compressed with Zstandard.
    from evalhouse.warehouse.loading.staging.zstandard import zipfile

    with staging.door.open(staging.source) as file:
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError):
            raise staging.refusal("the archive is cut off or damaged") from None
        with archive:
            yield archive


def _member(staging: Staging, archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    from evalhouse.warehouse.loading.staging.zstandard import zipfile

    broken: tuple[type[Exception], ...] = (*damages(), zipfile.BadZipFile, OSError, RuntimeError, ValueError)
    try:
        with archive.open(name) as binary:
            raw = binary.read(LARGEST_MEMBER + 1)
    except NotImplementedError:
        how = "its compression is not supported; inspect log convert --to json writes a file that is"
        raise staging.refusal(how, member=name) from None
    except broken:
        raise staging.refusal("this member of the archive is damaged", member=name) from None
    return _object(Document(staging, io.BytesIO(raw), name))


def _object(document: Document) -> dict[str, Any]:
    log = document.json(LARGEST_MEMBER)
    if not isinstance(log, dict):
        raise document.refusal("this is not an object")
    return log


def _recognizes(start: Start) -> str | None:
    if start.text.startswith("PK\x03\x04") and start.name.endswith(".eval"):
        return "an archive named .eval"
    return "its eval and task" if ("eval", "task") in start.keys else None


READER = Reader(
    "inspect",
    "Inspect logs, .eval or .json",
    (VALUES, FAILURES, DOCUMENTS, PUBLISHED),
    EXAMPLE,
    stage,
    noun="sample",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
)

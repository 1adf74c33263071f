"""Logs of Inspect: an `.eval` archive, or the same log as JSON.

A document is a sample, named by its id; the test set is the task, and the system is the model. The scorer that says
whether an answer is right becomes `accuracy`, with C, P, I and N as 1, 0.5, 0 and 0. Other scorers become measures of
their own. Epochs are replicates. Samples without a score become failures with a reason: samples with an error, and
samples that are missing from a log that was cancelled or failed. From a log without scored samples, its summary figures
are loaded.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from warehouse.loading.readers.inspect_samples import (
    Header,
    failure_of,
    figures_of,
    header_of,
    input_of,
    measure_of,
    outputs_of,
    references_of,
    right_of,
    scores_of,
    value_of,
)
from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.lines import MOST_MEMBERS, Document, damages, documents, meter_of, start_of
from warehouse.loading.staging.printed import FIGURES, printed
from warehouse.loading.staging.reader import Evidence, Reader, Start
from warehouse.loading.staging.sheets import Sheets
from warehouse.loading.staging.staged import Staged, Staging
from warehouse.loading.staging.text_sheets import TextSheets
from warehouse.measures.correctness import ACCURACY
from warehouse.tasks.observed import counted
from warehouse.tasks.records import FAILURES, PUBLISHED, VALUES, WHOLE_RUN

if TYPE_CHECKING:
    from warehouse.loading.staging.zstandard import zipfile

EXAMPLE = """\
{"version": 2, "eval": {"task": "popularity", "model": "openai/gpt-4o-mini"},
 "samples": [
  {"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}, "length": {"value": 12}}},
  {"id": 2, "epoch": 1, "scores": {"match": {"value": "I"}, "length": {"value": 7}}}]}
"""

LARGEST_MEMBER = 256 * 1024 * 1024
"""The largest sample, or log in JSON, that is read, in bytes."""

Sample = tuple[dict[str, Any], str | None]
"""A sample, and the archive member that holds it."""


class _Taken(Struct):
    """What was read from the samples: values by epoch, sample and scorer, and samples without values."""

    values: dict[tuple[int, str, str], float] = field(default_factory=dict)
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
    header, figures = header_of(log), tuple(figures_of(log))
    task = staging.named("test_set", header.task, "the log does not name the task")
    model = staging.named("system", header.model, "the log does not name the model")
    with Sheets(staging, VALUES, FAILURES, PUBLISHED) as sheets:
        taken = _taken(staging, task, samples, sheets.texts)
        scorers = list(dict.fromkeys(scorer for *_, scorer in taken.values))
        right = right_of(scorers, frozenset(taken.lettered), figures)
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        failures = sheets.open(FAILURES, "test_set", "system", "item", "reason")
        published = sheets.open(PUBLISHED, *FIGURES)
        several = any(epoch > 1 for epoch, _ in taken.members)
        system = partial(_system, staging, header, model, task, several)
        for (epoch, name, scorer), value in taken.values.items():
            measure = ACCURACY if scorer == right else scorer
            values.add(None, task, system(epoch), name, measure, value, member=taken.members[epoch, name])
        # The systems of the epochs are known only after all samples are read.
        epochs = sorted({epoch for epoch, _ in taken.members}) if sheets.texts.wanted else ()
        sheets.texts.name_systems({str(epoch): system(epoch) for epoch in epochs})
        for epoch, name, reason in _failed(header, taken):
            failures.add(None, task, system(epoch), name, reason, member=taken.members.get((epoch, name)))
        for figure in () if taken.values else figures:
            if digits := printed(figure.value):
                error = figure.standard_error
                published.add(
                    None,
                    task,
                    system(1),
                    "values",
                    measure_of(figure),
                    *digits,
                    figure.samples,
                    error,
                    None,
                    None,
                    None,
                )
        return sheets.staged(_notes(taken, right))


def _taken(staging: Staging, task: str, samples: Iterator[Sample], texts: TextSheets) -> _Taken:
    taken = _Taken()
    for sample, member in samples:
        if "id" not in sample:
            raise staging.refusal("this is not a sample: it has no id", member=member)
        epoch, name = sample.get("epoch") or 1, str(sample["id"])
        if not isinstance(epoch, int):
            raise staging.refusal(f"the epoch of sample {shown(name)} is not a whole number", member=member)
        if (epoch, name) in taken.members:
            raise staging.refusal(f"sample {shown(name)} appears twice in epoch {epoch}", member=member)
        taken.members[epoch, name] = member
        if texts.wanted:
            _add_texts(texts, task, epoch, name, sample, member)
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
        if not scored:
            taken.failures[epoch, name] = failure_of(sample)
    return taken


def _add_texts(texts: TextSheets, task: str, epoch: int, name: str, sample: dict[str, Any], member: str | None) -> None:
    texts.references(None, references_of(sample), member=member, test_set=task, document=name)
    texts.input(None, input_of(sample), member=member, test_set=task, system=str(epoch), document=name)
    texts.outputs(None, outputs_of(sample), member=member, test_set=task, system=str(epoch), document=name)


def _failed(header: Header, taken: _Taken) -> Iterator[tuple[int, str, str]]:
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


def _notes(taken: _Taken, right: str | None) -> Iterator[str]:
    if right not in (None, ACCURACY):
        yield f"{ACCURACY} is what {right} says"
    epochs = {epoch for epoch, _ in taken.members}
    if len(epochs) > 1:
        yield f"samples were answered in {len(epochs)} epochs; each is a replicate"
    for reason, count in Counter(taken.failures.values()).items():
        yield f"without a score, {reason}: {counted(count, 'sample')}"
    for scorer, count in taken.unmapped.items():
        yield f"left out ({scorer} is neither C, I, P, N nor a finite number): {counted(count, 'sample')}"


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
    with _opened(staging) as archive:
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
    with _opened(staging) as archive:
        for name in names:
            yield _member(staging, archive, name), name


@contextlib.contextmanager
def _opened(staging: Staging) -> Iterator[zipfile.ZipFile]:
    # Newer logs are compressed with Zstandard.
    from warehouse.loading.staging.zstandard import zipfile

    with staging.door.open(staging.source) as file:
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError):
            raise staging.refusal("the archive is cut off or damaged") from None
        with archive:
            yield archive


def _member(staging: Staging, archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    from warehouse.loading.staging.zstandard import zipfile

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
    return "its eval and task" if re.search(r'^\s*\{[^[]{0,200}"eval"\s*:\s*\{', start.text) else None


READER = Reader(
    "inspect",
    "Inspect logs, .eval or .json",
    (VALUES, FAILURES, PUBLISHED),
    EXAMPLE,
    stage,
    noun="sample",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
)

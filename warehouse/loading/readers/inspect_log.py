"""Logs of Inspect: an `.eval` archive, or the same log as JSON.

A document is a sample, by its id; the test set is the task, the system is the model. Scores C, I, P and N become score
tuples, a unit a scorer: one item that is correct, incorrect, partial or noncommittal. Numbers become values, a measure
a scorer. Epochs are replicates: values are averaged over them, tuples are summed.
"""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from warehouse.loading.staging.cells import finite, shown
from warehouse.loading.staging.lines import LARGEST_ARCHIVE, MOST_MEMBERS, Document, damages, documents, start_of
from warehouse.loading.staging.reader import Evidence, Reader, Start
from warehouse.loading.staging.sheets import Sheets
from warehouse.loading.staging.staged import Staged, Staging
from warehouse.tasks.records import SCORES, VALUES

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

COLUMNS = tuple(field.name for field in SCORES.content)

LETTERS = {
    "C": (1, 1, 1, 0, 0, 0, 0, 0),
    "P": (1, 1, 0, 1, 0, 0, 0, 0),
    "I": (1, 1, 0, 0, 1, 0, 0, 0),
    "N": (1, 0, 0, 0, 0, 0, 1, 1),
}
"""The counts of one answer; with half credit for P, recall is the accuracy that Inspect prints."""

Sample = tuple[dict[str, Any], str | None]
"""A sample, and the member of the archive that it is."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the scores of the samples. Raises DataError where the log is damaged, or no sample has a score."""
    letters: dict[tuple[str, str], list[tuple[int, ...]]] = {}
    numbers: dict[tuple[str, str], list[float]] = {}
    members: dict[str, str | None] = {}
    epochs: Counter[str] = Counter()
    unscored: list[str] = []
    unmapped: Counter[str] = Counter()
    header, samples = _log(staging)
    for sample, member in samples:
        if "id" not in sample:
            raise staging.refusal("this is no sample: it has no id", member=member)
        name = str(sample["id"])
        members.setdefault(name, member)
        epochs[name] += 1
        scored = list(_scores(sample))
        if not scored:
            unscored.append(name)
        for scorer, value in scored:
            if isinstance(value, str) and value in LETTERS:
                letters.setdefault((name, scorer), []).append(LETTERS[value])
            elif (number := finite(value)) is not None:
                numbers.setdefault((name, scorer), []).append(number)
            else:
                unmapped[scorer] += 1
    with Sheets(staging, VALUES, SCORES) as sheets:
        test_set, system = _named(staging, header, "test_set", "task"), _named(staging, header, "system", "model")
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        scores = sheets.open(SCORES, "test_set", "system", "document", "unit", *COLUMNS)
        for (name, scorer), answers in letters.items():
            scores.add(
                None, test_set, system, name, scorer, *map(sum, zip(*answers, strict=True)), member=members[name]
            )
        for (name, scorer), listed in numbers.items():
            mean = math.fsum(listed) / len(listed)
            values.add(None, test_set, system, name, scorer, mean, member=members[name])
        if not letters and not numbers:
            raise staging.refusal(f"no sample has a score; samples: {len(epochs)}")
        return sheets.staged(_notes(epochs, unscored, unmapped))


def _notes(epochs: Counter[str], unscored: list[str], unmapped: Counter[str]) -> Iterator[str]:
    most = max(epochs.values(), default=0)
    if most > 1:
        yield f"samples were answered up to {most} times (epochs): values are means over them, score tuples are sums"
    if unscored:
        listed = ", ".join(shown(name)[1:-1] for name in unscored[:20])
        yield f"left out, having no score: {len(unscored)} samples ({listed}{', …' if len(unscored) > 20 else ''})"
    for scorer, count in unmapped.items():
        yield f"left out, {scorer} being neither C, I, P, N nor a finite number: {count} samples"


def _scores(sample: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The scorers and values of a sample; where a scorer gives several values, `scorer.key`."""
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


def _named(staging: Staging, header: dict[str, Any], field: str, key: str) -> str:
    said = header.get("eval")
    name = said.get(key) if isinstance(said, dict) else None
    return staging.named(field, str(name) if name else None, f"the log does not say the {key}")


def _log(staging: Staging) -> tuple[dict[str, Any], Iterator[Sample]]:
    """The header of a log, and its samples one at a time."""
    if start_of(staging) == b"PK\x03\x04":
        return _archive(staging)
    log: dict[str, Any] = {}
    for document in documents(staging):
        log = _object(document)
    if not isinstance(log.get("samples"), list):
        raise staging.refusal("this is no log of Inspect: it has no samples")
    return log, ((sample, None) for sample in log["samples"] if isinstance(sample, dict))


def _archive(staging: Staging) -> tuple[dict[str, Any], Iterator[Sample]]:
    with _opened(staging) as archive:
        listed = archive.infolist()
        if len(listed) > MOST_MEMBERS:
            raise staging.refusal(f"the archive has more than {MOST_MEMBERS} members")
        if sum(member.file_size for member in listed) > LARGEST_ARCHIVE:
            raise staging.refusal(f"the archive holds more than {LARGEST_ARCHIVE} bytes, unpacked")
        names = {member.filename for member in listed}
        header = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        if header is None:
            raise staging.refusal("this is no log of Inspect: there is no header.json in it")
        samples = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
        return _member(staging, archive, header), _samples(staging, samples)


def _samples(staging: Staging, names: list[str]) -> Iterator[Sample]:
    with _opened(staging) as archive:
        for name in names:
            yield _member(staging, archive, name), name


def _opened(staging: Staging) -> zipfile.ZipFile:
    # Newer logs are packed with Zstandard.
    from warehouse.loading.staging.zstandard import zipfile

    try:
        return zipfile.ZipFile(staging.source)
    except (zipfile.BadZipFile, OSError):
        raise staging.refusal("the archive is cut off or damaged") from None


def _member(staging: Staging, archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    from warehouse.loading.staging.zstandard import zipfile

    broken: tuple[type[Exception], ...] = (*damages(), zipfile.BadZipFile, OSError, RuntimeError, ValueError)
    try:
        with archive.open(name) as binary:
            raw = binary.read(LARGEST_MEMBER + 1)
    except NotImplementedError:
        how = "this is compressed in a way that is not known here; inspect log convert --to json helps"
        raise staging.refusal(how, member=name) from None
    except broken:
        raise staging.refusal("this member of the archive is damaged", member=name) from None
    return _object(Document(staging, io.BytesIO(raw), name))


def _object(document: Document) -> dict[str, Any]:
    log = document.json(LARGEST_MEMBER)
    if not isinstance(log, dict):
        raise document.refusal("this is no object")
    return log


def _recognizes(start: Start) -> str | None:
    if start.text.startswith("PK\x03\x04") and start.name.endswith(".eval"):
        return "being an archive named .eval"
    return "its eval and task" if re.search(r'^\s*\{[^[]{0,200}"eval"\s*:\s*\{', start.text) else None


READER = Reader(
    "inspect",
    "logs of Inspect, .eval or .json",
    (VALUES, SCORES),
    EXAMPLE,
    stage,
    noun="sample",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
)

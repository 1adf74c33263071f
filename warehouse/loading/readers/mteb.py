"""Results of MTEB, `<model>/<revision>/<task>.json`: the figures of a model on a task, by split and subset.

The task is the test set, followed by `:split` if the split is not test, and by `:subset` if the subset is not the whole
split. `main_score` repeats the figure that counts, so it has to be one of the others. The revision of the model
identifies the run; `model_meta.json` beside the results names it. Files from before 1.11, with the splits at the top
level, are read too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import PUBLISHED
from evalhouse.warehouse.loading.staging.cells import FIGURES, decimal_text, finite
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure

EXAMPLE = """\
{"dataset_revision": "e8379541", "mteb_version": "1.14.0", "task_name": "Banking77Classification",
 "evaluation_time": 9.5,
 "scores": {"test": [{"hf_subset": "default", "languages": ["eng-Latn"], "main_score": 0.8123, "accuracy": 0.8123,
                      "f1": 0.8051}]}}
"""

LARGEST = 16 * 1024 * 1024
"""The largest file that is read, in bytes."""

META = "model_meta.json"

_SPLITS = ("test", "validation", "dev", "train")
_WHOLE = ("", "default")
"""The names of a subset that is the whole split."""

MAIN_SCORE = "main_score"

Part = tuple[str | None, str | None]
"""A split and a subset; None for the test split, and for a subset that is the whole split."""

Splits = dict[str, list[tuple[str, dict[str, Any]]]]
"""The subsets of each split, with their metrics."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the figures of a task. Raises DataError if the file has none."""
    said: dict[str, Any] = {}
    splits: Splits = {}
    for document in documents(staging):
        said = document.json(LARGEST)
        if not isinstance(said, dict):
            raise document.refusal("this is not an object")
        splits = _splits(document, said)
    name = said.get("task_name") or said.get("mteb_dataset_name")
    task = staging.named("test_set", str(name) if name else None, "the file does not name the task")
    model, revision = _model(staging)
    model = staging.named("system", model, "no folder names the model")
    left_out = 0
    with Sheets(staging, PUBLISHED) as sheets:
        figures = sheets.open(PUBLISHED, *FIGURES)
        for (split, subset), measure, value in _figures(splits):
            test_set = staging.part(task, split, subset)
            system = staging.replicate(model, test_set, run=revision)
            digits = decimal_text(value)
            if digits is None:
                left_out += 1
            else:
                figures.add(None, test_set, system, "values", measure, *digits, None, None, None, None, None)
        for split, subsets in splits.items():
            for subset, metrics in subsets:
                _state_main_score(staging, ", ".join(filter(None, (split, subset))), metrics)
        notes = [f"left out (not numbers of at most 9 digits): {quantity(left_out, 'figure')}"] if left_out else []
        return sheets.staged(notes)


def _figures(splits: Splits) -> Iterator[tuple[Part, str, float]]:
    """For each figure, the part of the task that it is about, the measure and the value."""
    for split, subsets in splits.items():
        for subset, metrics in subsets:
            part = None if split == "test" else split, None if subset in _WHOLE else subset
            for measure, value in _numbers(metrics):
                yield part, measure, value


def _state_main_score(staging: Staging, part: str, metrics: dict[str, Any]) -> None:
    """Hands over the main score as a stated figure: what is computed is the nearest of the other figures."""
    numbers = dict(_numbers(metrics))
    main = numbers.pop(MAIN_SCORE, None)
    if main is None or not numbers:
        return
    nearest = min(numbers, key=lambda measure: abs(numbers[measure] - main))
    figure = StatedFigure(
        "",
        (),
        MAIN_SCORE,
        f"{MAIN_SCORE} of {part}",
        "the file",
        main,
        values=(numbers[nearest],),
        computed_as=f"{nearest}, the nearest of the other figures,",
    )
    staging.state(figure)


def _splits(document: Document, said: dict[str, Any]) -> Splits:
    """The subsets of each split, with their metrics. Raises DataError if there are none."""
    scores = said.get("scores")
    if scores is None:
        # Before 1.11 a split contained its metrics, or the metrics of each language.
        old = {split: said[split] for split in _SPLITS if isinstance(said.get(split), dict)}
        return {split: _languages(metrics) for split, metrics in old.items()}
    splits: Splits = {}
    for split, subsets in scores.items() if isinstance(scores, dict) else ():
        if not isinstance(subsets, list) or not all(isinstance(metrics, dict) for metrics in subsets):
            raise document.refusal(f"the scores of the split {split} are not a list of objects")
        splits[str(split)] = [(str(metrics.get("hf_subset") or ""), metrics) for metrics in subsets]
    return splits


def _languages(metrics: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    by_language = [
        (name, part)
        for name, part in metrics.items()
        if isinstance(part, dict) and any(finite(value) is not None for value in part.values())
    ]
    whole = any(finite(value) is not None for name, value in metrics.items() if name != "evaluation_time")
    return [("", metrics)] if whole else by_language


def _numbers(metrics: dict[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """The metrics that are numbers. A nested metric gets both names."""
    for name, value in metrics.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{before}{name}.")
        elif name != "evaluation_time" and not isinstance(value, bool) and (number := finite(value)) is not None:
            yield f"{before}{name}", number


def _model(staging: Staging) -> tuple[str | None, str | None]:
    """The model and its revision, from the file that names them, or else from the folders."""
    revision = staging.source.absolute().parent
    meta = staging.json_beside(META, LARGEST)
    if isinstance(meta, dict) and meta.get("name"):
        return str(meta["name"]), str(meta.get("revision") or revision.name)
    if "__" in revision.parent.name:
        return revision.parent.name.replace("__", "/"), revision.name
    return (revision.name.replace("__", "/"), None) if "__" in revision.name else (None, None)


def _recognizes(start: Start) -> Recognition | str | None:
    if start.name == META and ("revision",) in start.keys:
        return Recognition("its name; results beside it are read with it", Role.PART)
    named = not start.keys.isdisjoint({("task_name",), ("mteb_dataset_name",)})
    return "its mteb_version" if named and ("mteb_version",) in start.keys else None


READER = Reader(
    "mteb",
    "results of MTEB: the figures of a model on a task",
    (PUBLISHED,),
    EXAMPLE,
    stage,
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
)

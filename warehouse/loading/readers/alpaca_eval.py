"""Annotations of AlpacaEval, `annotations.json`: for each instruction, which output an annotator preferred.

A document is an instruction, named by its text. The value is `win_rate`, the preference for the second output over the
first: 1 for a win, 0 for a loss, 0.5 for a draw, and other values in between if annotators give weights. The test set
is named `alpaca_eval` and the model that answers are compared with, because wins over different models cannot be
compared. A `leaderboard.csv` beside the annotations states win rates as percentages, which are compared with them; its
length-controlled win rates come from a regression and are not computed here.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from statistics import fmean
from typing import Any

from evalhouse.warehouse.kinds.records import DOCUMENTS, FAILURES, VALUES
from evalhouse.warehouse.loading.staging.cells import finite, is_number, quote_cell
from evalhouse.warehouse.loading.staging.identity import QUESTION
from evalhouse.warehouse.loading.staging.json_values import ITEM
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.naming import name_of_text
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure, Values

EXAMPLE = """\
[{"dataset": "koala", "instruction": "How do I wrap a present?", "generator_1": "gpt4_turbo", "output_1": "Fold.",
  "generator_2": "m1", "output_2": "Wrap it.", "annotator": "weighted_gpt4_turbo", "preference": 1.75},
 {"dataset": "koala", "instruction": "Name a mountain", "generator_1": "gpt4_turbo", "output_1": "Etna",
  "generator_2": "m1", "output_2": "K2", "annotator": "weighted_gpt4_turbo", "preference": 1.0}]
"""

MEASURE = "win_rate"

LEADERBOARD = "leaderboard.csv"
"""The file with the figures of models, beside their annotations."""

LARGEST = 16 * 1024 * 1024
"""The largest of these that is read, in bytes."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages the preferences. Raises DataError if the file is not a list of annotations."""
    times: Counter[tuple[str, str, str]] = Counter()
    runs: dict[str, dict[tuple[str, str], None]] = {}
    with Sheets(staging, VALUES, FAILURES, DOCUMENTS) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        failures = sheets.open(FAILURES, "test_set", "system", "item", "reason")
        attributes = sheets.open(DOCUMENTS, "test_set", "document", "dataset")
        for document in documents(staging):
            for place, item in enumerate(document.items(of="annotations"), start=1):
                annotation = _check_annotation(document, place, item)
                first, second = (str(annotation[key]) for key in ("generator_1", "generator_2"))
                test_set = staging.named("test_set", f"alpaca_eval:{first}", "")
                model = staging.named("system", second, "")
                system = staging.replicate(model, test_set, run=_annotator(annotation))
                runs.setdefault(second, {})[test_set, system] = None
                name = name_of_text(str(annotation["instruction"]))
                times[test_set, system, name] += 1
                if (again := times[test_set, system, name]) > 1:
                    name = f"{name} ({again})"
                preference = finite(annotation["preference"])
                if preference is None:
                    failures.add(None, test_set, system, name, "no answer", member=document.member)
                elif not 1 <= preference <= 2:
                    raise document.refusal(f"the preference of annotation {place} is {preference:g}, not from 1 to 2")
                else:
                    values.add(None, test_set, system, name, MEASURE, preference - 1, member=document.member)
                said = {key: text for key, text in annotation.items() if isinstance(text, str)}
                of: dict[str, object] = {"test_set": test_set, "document": name}
                sheets.identify(None, {QUESTION: said.get("instruction")}, member=document.member, **of)
                sheets.texts.input(None, said.get("instruction"), member=document.member, **of)
                sheets.texts.references(None, [said.get("output_1")], member=document.member, **of)
                sheets.texts.outputs(None, [said.get("output_2")], member=document.member, system=system, **of)
                if dataset := annotation.get("dataset"):
                    attributes.add(None, test_set, name, dataset, member=document.member)
        for model, win_rate in _leaderboard(staging):
            # Several annotators or opponents of a model are several figures, of which a leaderboard has one.
            if len(of_model := list(runs.get(model, ()))) == 1:
                [(test_set, system)] = of_model
                called = f"the win rate of {model}"
                staging.state(
                    StatedFigure(
                        test_set, (system,), MEASURE, called, LEADERBOARD, win_rate, over_documents=_percentage
                    )
                )
        return sheets.staged()


def _percentage(values: Values) -> float:
    return 100 * fmean(values)


def _leaderboard(staging: Staging) -> Iterator[tuple[str, str]]:
    """The models of the leaderboard beside the annotations, with their win rates as they are written. The column of
    models has no name.
    """
    written = staging.beside(LEADERBOARD, LARGEST)
    for row in csv.DictReader((written or b"").decode(errors="replace").splitlines()):
        win_rate = row.get(MEASURE) or ""
        if is_number(win_rate):
            yield row.get("") or row.get("model") or row.get("name") or "", win_rate.strip()


def _check_annotation(document: Document, place: int, annotation: Any) -> dict[str, Any]:
    """One annotation. Raises DataError if it is not one."""
    wanted = ("instruction", "generator_1", "generator_2", "preference")
    lacking = [key for key in wanted if not isinstance(annotation, dict) or key not in annotation]
    if lacking:
        raise document.refusal(f"annotation {place} has no {lacking[0]}")
    preference = annotation["preference"]
    if preference is not None and not isinstance(preference, int | float):
        raise document.refusal(f"the preference of annotation {place} is {quote_cell(str(preference))}, not a number")
    said: dict[str, Any] = annotation
    return said


def _annotator(annotation: dict[str, Any]) -> str | None:
    """The annotator. The same outputs judged by another annotator are another run."""
    said = annotation.get("annotator")
    return str(said) if said else None


def _recognizes(start: Start) -> Recognition | str | None:
    if start.name == LEADERBOARD and "annotations.json" in start.beside and start.columns >= {MEASURE, "n_total"}:
        return Recognition("its name, beside annotations.json", Role.PART)
    keys = {(ITEM, key) for key in ("instruction", "generator_1", "generator_2", "preference")}
    return "its generators and preferences" if keys <= start.keys else None


READER = Reader(
    "alpaca-eval",
    "annotations of AlpacaEval: win rates by instruction",
    (VALUES, FAILURES, DOCUMENTS),
    EXAMPLE,
    stage,
    noun="instruction",
    recognizes=_recognizes,
    evidence=Evidence.MARK,
    unsaid={},
)

"""Predicted classes, as they are written for scikit-learn: a CSV table with the columns id, y_true and y_pred.

Two classes that are yes and no in some spelling (1 and 0, true and false, yes and no) are filtering: labels for y_true
and decisions for y_pred, with the column `score` as confidence. Any others are extraction: every class is a unit, in
which a document has one possible item if that is its class, and one actual item if that is what was predicted.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.lines import documents
from warehouse.loading.staging.mentions import COLUMNS
from warehouse.loading.staging.reader import Evidence, Reader, Start
from warehouse.loading.staging.sheets import Sheets
from warehouse.loading.staging.staged import Staged, Staging
from warehouse.tasks.records import DECISIONS, LABELS, SCORES

EXAMPLE = "id,y_true,y_pred,score\nD1,1,1,0.93\nD2,0,1,0.58\nD3,0,0,0.11\n"

YES, NO = frozenset({"1", "1.0", "true", "yes"}), frozenset({"0", "0.0", "false", "no"})

NAMED = ("id", "y_true", "y_pred")

Row = tuple[int, dict[str, str]]
"""The line of a row, and its cells by heading."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages labels and decisions, or score tuples by class. Raises DataError where a column or a cell is lacking."""
    names: set[str] = set()
    row: dict[str, str] = {}
    for _, row in _rows(staging):
        names |= {row["y_true"], row["y_pred"]}
    if not names:
        raise staging.refusal("there is a header and no rows")
    classes = sorted(names)
    binary = all(name.casefold() in YES | NO for name in classes)
    read = {*NAMED, *staging.columns.values(), *(("score",) if binary else ())}
    left_out = ", ".join(column for column in row if column not in read)
    forms = (LABELS, DECISIONS) if binary else (SCORES,)
    with Sheets(staging, *forms, named=NAMED) as sheets:
        if binary:
            labels = sheets.open(LABELS, "document", "label")
            decisions = sheets.open(DECISIONS, "document", "decision", "confidence")
            for line, row in _rows(staging):
                labels.add(line, row["id"], "relevant" if row["y_true"].casefold() in YES else "nonrelevant")
                decision = "yes" if row["y_pred"].casefold() in YES else "no"
                decisions.add(line, row["id"], decision, row.get("score"))
        else:
            scores = sheets.open(SCORES, "document", "unit", *COLUMNS)
            for line, row in _rows(staging):
                for name in classes:
                    wanted, given = int(row["y_true"] == name), int(row["y_pred"] == name)
                    both = wanted * given
                    scores.add(line, row["id"], name, wanted, given, both, 0, 0, given - both, wanted - both)
        return sheets.staged((f"left out, being no field: {left_out}",) if left_out else ())


def _rows(staging: Staging) -> Iterator[Row]:
    wanted = {field: staging.columns.get(field, field) for field in NAMED}
    for document in documents(staging):
        line = 0

        def texts(lines: Iterator[tuple[int, str]]) -> Iterator[str]:
            nonlocal line
            for line, text in lines:  # noqa: B007
                yield text + "\n"

        reader = csv.reader(texts(document.lines()), strict=True)
        header: list[str] | None = None
        try:
            for cells in reader:
                if header is None:
                    header = [cell.strip() for cell in cells]
                    absent = [column for column in wanted.values() if column not in header]
                    twice = [column for column in wanted.values() if header.count(column) > 1]
                    if twice:
                        raise document.refusal(f"the column {shown(twice[0])} stands more than once in the header", 1)
                    if absent:
                        listed = f"there is no column {', '.join(absent)}; the columns are {', '.join(header)}"
                        raise document.refusal(listed, 1)
                    continue
                if not cells:
                    continue
                if len(cells) != len(header):
                    raise document.refusal(f"{len(cells)} cells in this row, and {len(header)} in the header", line)
                row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
                row |= {field: row[column] for field, column in wanted.items()}
                for field, column in wanted.items():
                    if not row[field]:
                        raise document.refusal(f"{shown(column)[1:-1]} is empty", line)
                yield line, row
        except csv.Error as error:
            raise document.refusal(f"this row is no CSV: {error}", line) from None


def _recognizes(start: Start) -> str | None:
    return "its columns y_true and y_pred" if start.columns >= {"y_true", "y_pred"} else None


READER = Reader(
    "sklearn",
    "classes as for scikit-learn: a CSV table of id, y_true and y_pred [, score]",
    (LABELS, DECISIONS, SCORES),
    EXAMPLE,
    stage,
    recognizes=_recognizes,
    evidence=Evidence.NAMES,
)

"""Pairs of an id and a label, as shared tasks of classification collect them: gold labels in one file, the answers of
each system in another; or both in one table of three columns.

A document is an id. Labels that mean yes and no are loaded as filtering, all others as extraction, each label a unit,
as a table of scikit-learn is. A document that a system leaves out has no label.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from evalhouse.warehouse.kinds.records import DECISIONS, FAILURES, LABELS, SCORES
from evalhouse.warehouse.loading.readers.classes import NO, YES
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.columns import IDS, plain
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Option, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.spans import COLUMNS, OUTSIDE
from evalhouse.warehouse.loading.staging.staged import Staged, Staging

EXAMPLE = "id\tgold\tprediction\nt1\tjoy\tjoy\nt2\tfear\tjoy\nt3\tjoy\tjoy\n"
"""Gold labels and the answers of a system in one file."""

_IDS = (*IDS, "document", "doc", "tweet_id", "uid", "key")
_OF_KEY = ("gold", "gold_label", "label", "labels", "class", "category", "true", "true_label")
_OF_SYSTEM = ("prediction", "predicted", "pred", "predicted_label", "answer")
"""What a first line calls ids, gold labels and those of a system."""

_GOLD = re.compile(r"(^|[._ -])(gold|key|truth|ref|reference)([._ -]|$)", re.IGNORECASE)
"""Names of files with gold labels."""

MOST_LABELS = 100
"""A file is recognized by its shape if it has at most so many labels."""

_FEW = 5
"""Up to this many ids are named."""

Labels = dict[str, tuple[int, str]]
"""The line and the label of each id."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages labels and decisions, or score tuples by label. Raises DataError if there are no gold labels, or if an id
    is there twice.
    """
    key, ours = _sides(staging)
    if key is None:
        return ()
    labels = {label for _, label in (*key.values(), *ours.values())}
    silent = [name for name in key if name not in ours]
    unknown = [name for name in ours if name not in key]
    notes = [
        f"{why}: {_some(names)}"
        for why, names in (("no label", silent), ("left out (no gold label)", unknown))
        if names
    ]
    binary = all(label.casefold() in YES | NO for label in labels)
    with Sheets(staging, *((LABELS, DECISIONS) if binary else (SCORES,)), FAILURES) as sheets:
        failures = sheets.open(FAILURES, "item", "reason")
        for name in silent:
            failures.add(None, name, "no answer")
        if binary:
            of_key, decisions = sheets.open(LABELS, "document", "label"), sheets.open(DECISIONS, "document", "decision")
            for name, (_, label) in key.items():
                of_key.add(None, name, "relevant" if label.casefold() in YES else "nonrelevant")
                if name in ours:
                    decisions.add(ours[name][0], name, "yes" if ours[name][1].casefold() in YES else "no")
        else:
            scores = sheets.open(SCORES, "document", "unit", *COLUMNS)
            for name, (_, label) in key.items():
                line, said = ours.get(name, (None, None))
                for one in sorted(labels):
                    wanted, given = int(one == label), int(one == said)
                    both = wanted * given
                    scores.add(line, name, one, wanted, given, both, 0, 0, given - both, wanted - both)
        for name, (_, label) in key.items():
            sheets.texts.references(None, [label], document=name)
            sheets.texts.outputs(None, [ours[name][1]] if name in ours else [], document=name)
        return sheets.staged(notes)


def _some(names: list[str]) -> str:
    return ", ".join(names[:_FEW]) + (f" and {len(names) - _FEW:,} more" if len(names) > _FEW else "")


def _sides(staging: Staging) -> tuple[Labels | None, Labels]:
    """The gold labels and those of a system; no gold labels if these are them. Raises DataError if they are nowhere."""
    first, *others = _by_id(staging)
    named = staging.options.get("gold")
    if others:
        return first, others[0]
    if named is None and not staging.keys:
        if _GOLD.search(staging.source.name):
            return None, first
        raise staging.refusal("it has one label for each id; --gold FILE names the file with the gold labels")
    return _by_id(replace(staging, source=Path(named) if named else staging.keys[0], called=""))[0], first


def _by_id(staging: Staging) -> list[Labels]:
    """The labels of each id, column by column."""
    found: list[Labels] = []
    for document in documents(staging):
        for line, (name, *labels) in _rows(document):
            found = found or [{} for _ in labels]
            if name in found[0]:
                raise document.refusal(f"{quote_cell(name)} has a label already, on line {found[0][name][0]}", line)
            for of_column, label in zip(found, labels, strict=True):
                of_column[name] = line, label
    if not found:
        raise staging.refusal("there are no ids with labels in it")
    return found


def _rows(document: Document) -> Iterator[tuple[int, list[str]]]:
    width = _PAIR
    for number, (line, text) in enumerate((line, text) for line, text in document.lines() if text.strip()):
        cells = _cells(text)
        headed = not number and _is_head(cells)
        width = len(cells) if headed else width
        if len(cells) != width or not all(cells):
            raise document.refusal("this line is not an id and a label, with a tab, a comma or a blank between", line)
        if not headed:
            yield line, cells


_PAIR = 2


def _cells(text: str) -> list[str]:
    separator = next((sign for sign in "\t,;" if sign in text), None)
    if separator == ",":
        return [cell.strip() for cell in next(csv.reader([text]))]
    return [cell.strip() for cell in text.split(separator)]


def _is_head(cells: list[str]) -> bool:
    names = [plain(cell) for cell in cells]
    if len(names) > _PAIR and not (names[1] in _OF_KEY and names[2] in _OF_SYSTEM):
        return False
    return _PAIR <= len(names) <= _PAIR + 1 and names[0] in _IDS and names[1] in (*_OF_KEY, *_OF_SYSTEM)


def _recognizes(start: Start) -> Recognition | None:
    """Recognizes gold labels by the name of their file, answers by the gold labels beside them, and both by a head."""
    if start.is_json or start.named:
        return None
    rows = [_cells(line) for line in start.lines]
    headed = bool(rows) and _is_head(rows[0])
    width = len(rows[0]) if headed else _PAIR
    pairs = rows[1:] if headed else rows
    ids, labels = {row[0] for row in pairs}, {label for row in pairs for label in row[1:]}
    # A first line that names ids and labels says enough; a line that is wrong is then told, and not another reader's.
    as_it_should_be = len(ids) == len(pairs) and all(len(row) == width and all(row) for row in rows)
    if len(rows) < _PAIR or not (headed or as_it_should_be):
        return None
    if len(labels) > MOST_LABELS or any(map(_FRACTION.fullmatch, labels)):
        return None
    if not labels.isdisjoint(OUTSIDE) or any(map(_TAG.fullmatch, labels)) or "\n\n" in start.text.strip():
        return None  # tokens and their tags
    if width > _PAIR:
        return Recognition("its columns of ids, gold labels and predictions")
    gold = "gold" not in start.options and bool(_GOLD.search(start.path.name))
    beside = "gold" in start.options or any(map(_GOLD.search, start.beside - {start.path.name}))
    if not (gold or beside):
        return None
    why = "ids and labels, and gold in its name" if gold else "ids and labels, beside gold labels"
    evidence = Evidence.NAMES if headed else Evidence.SHAPE
    return Recognition(why, Role.KEY if gold else Role.FACTS, evidence=evidence)


_FRACTION = re.compile(r"[+-]?[0-9]*\.[0-9]+")
"""A score, and no label."""

_TAG = re.compile(r"[BIESMLU]-\S+")
"""The tag of a token."""

READER = Reader(
    "pairs",
    "pairs of an id and a label, with the gold labels in another file",
    (SCORES, LABELS, DECISIONS, FAILURES),
    EXAMPLE,
    stage,
    keyed=True,
    options=(Option("gold", "the file with the gold labels", is_file=True),),
    noun="document",
    recognizes=_recognizes,
    evidence=Evidence.NAMES,
    unsaid={"test_set": "{parent}", "system": "{stem}"},
)

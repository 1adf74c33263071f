"""Scores of segments, as sacreBLEU, COMET, MetricX and others write them: one number per line, or a table with one
column per system. Also the sufficient statistics of chrF.

A document is a segment. It is named by its line number (from 1), or by the first column of the table if that holds
names. The statistics of chrF become score tuples with one unit per order of n-grams: possible counts the n-grams of the
reference, actual those of the hypothesis, and correct those that they share. A line gives hypothesis, reference and
match for each order in turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from evalhouse.warehouse.kinds.records import SCORES, VALUES
from evalhouse.warehouse.loading.staging.cells import is_number, quote_cell
from evalhouse.warehouse.loading.staging.columns import RIGHT_OR_WRONG, plain
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Option, Reader, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.spans import COLUMNS
from evalhouse.warehouse.loading.staging.staged import Staged, Staging, name_it

EXAMPLE = "segment\tbase\ttuned\n1\t31.4\t33.0\n2\t12.9\t18.5\n"

NAMES = ("segment", "segment_id", "seg_id", "id", "document", "doc")
"""Headings of a first column that holds the names of the segments."""

OF_A_CORPUS = frozenset({"bleu", "chrf", "chrf2", "chrf++", "chrf2++", "ter"})
"""Measures that are defined on a whole corpus, from its counts. The mean over segments is a different number."""

CHARACTER_ORDERS = 6
"""The orders of character n-grams in chrF. Higher orders are word n-grams (chrF++)."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages values, or the score tuples of chrF. Raises DataError if a cell is not a number, or if lines have
    different numbers of columns.
    """
    if staging.options.get("statistics") == "chrf":
        return _stage_chrf(staging)
    if by_system := _BY_SYSTEM.search(staging.source.name):
        return _stage_by_system(staging, staging.options.get("measure") or _LANGUAGES.sub("", by_system[1]))
    measure = staging.options.get("measure")
    if measure is None:
        raise staging.refusal("the file does not name the measure; --measure NAME does")
    notes: list[str] = []
    if measure.casefold() in OF_A_CORPUS:
        notes.append(f"stored as sentence-{measure}; the {measure} of the corpus is not their mean")
        measure = f"sentence-{measure}"
    with Sheets(staging, VALUES) as sheets:
        values = sheets.open(VALUES, "system", "document", "measure", "value")
        for document in documents(staging):
            lines = _cells(document)
            first = next(lines, None)
            if first is None:
                continue
            systems, named = _heading(staging, document, first[1])
            if len(first[1]) == 1 and is_number(first[1][0]):
                lines = chain((first,), lines)
            segment, wanted = 0, len(systems) + named
            for segment, (number, cells) in enumerate(lines, start=1):
                if len(cells) != wanted:
                    raise document.refusal(f"{len(cells)} cells in this line, but {wanted} are expected", number)
                name = cells[0] if named else segment
                for system, cell in zip(systems, cells[named:], strict=True):
                    if not is_number(cell):
                        raise document.refusal(f"{quote_cell(cell)} is not a finite number", number)
                    values.add(number, system, name, measure, cell, member=document.member)
            if not segment:
                raise document.refusal("the first line names systems, but no line of numbers follows", 1)
        return sheets.staged(notes)


_BY_SYSTEM = re.compile(r"^(.+?)(?:-(?:ref\w*|src))?\.seg\.score(?:\.gz)?$")
_LANGUAGES = re.compile(r"^[a-z]{2,3}-[a-z]{2,3}\.")
"""In the name of a file of mt-metrics-eval: the metric, and the languages before the name of a human judgment."""

MQM = "MQM"

_NONE = "None"
"""What stands for the score of a segment that nobody judged."""


def _stage_by_system(staging: Staging, measure: str) -> tuple[Staged, ...]:
    """Stages a file of mt-metrics-eval: a line has a system and a score, and the lines of a system are its segments in
    their order. Human scores of MQM are penalties below 0 there, and are stored above 0, as MQM is elsewhere.
    """
    rows: list[tuple[int, str, int, float]] = []
    counts: dict[str, int] = {}
    unjudged = 0
    for document in documents(staging):
        for number, cells in _cells(document):
            if len(cells) == 1:
                cells = cells[0].split()
            if len(cells) != _PAIR or not (is_number(cells[1]) or cells[1] == _NONE):
                raise document.refusal("this line is not a system and its score", number)
            counts[cells[0]] = counts.get(cells[0], 0) + 1
            if cells[1] == _NONE:
                unjudged += 1
            else:
                rows.append((number, cells[0], counts[cells[0]], float(cells[1])))
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{count} of {system}" for system, count in counts.items())
        raise staging.refusal(f"the systems have different numbers of segments: {listed}")
    notes = [f"segments without a score: {unjudged}"] if unjudged else []
    is_penalty = measure.casefold() == MQM.casefold() and all(score <= 0 for _, _, _, score in rows)
    if is_penalty:
        measure = MQM
        notes.append("scores of MQM below 0 are stored as penalties above 0; lower is better")
    with Sheets(staging, VALUES) as sheets:
        values = sheets.open(VALUES, "system", "document", "measure", "value")
        for number, system, segment, score in rows:
            values.add(number, system, segment, measure, repr(0.0 - score if is_penalty else score))
        return sheets.staged(notes, directions={MQM: True} if is_penalty else None)


_PAIR = 2


def _cells(document: Document) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line. Only lines at the end of a file may be blank, because each line is a segment."""
    blank: int | None = None
    for number, line in document.lines():
        if not line.strip():
            blank = blank or number
            continue
        if blank is not None:
            raise document.refusal("this line is blank, but others follow; each line is a segment", blank)
        yield number, [cell.strip() for cell in line.split("\t")]


def _heading(staging: Staging, document: Document, cells: list[str]) -> tuple[list[str], bool]:
    """The systems of the columns, and whether there is a column of names before them."""
    if len(cells) == 1 and is_number(cells[0]):
        if "system" not in staging.fields:
            raise staging.refusal(f"the file does not name the system; {name_it('system')}")
        return [staging.fields["system"]], False
    if any(is_number(cell) for cell in cells):
        raise document.refusal("the first line of a table names the systems, but this one holds a number", 1)
    named = cells[0].casefold() in NAMES
    systems = cells[named:]
    if len(set(systems)) < len(systems):
        raise document.refusal("a system appears twice in the first line", 1)
    return systems, named


def _stage_chrf(staging: Staging) -> tuple[Staged, ...]:
    with Sheets(staging, SCORES) as sheets:
        scores = sheets.open(SCORES, "document", "unit", *COLUMNS)
        orders: int | None = None
        for document in documents(staging):
            for segment, (number, cells) in enumerate(_cells(document), start=1):
                counts = [count for cell in cells for count in cell.split()]
                if not all(re.fullmatch("[0-9]{1,9}", count) for count in counts) or len(counts) % 3:
                    wrong = "expected three whole numbers per order: hypothesis, reference, match"
                    raise document.refusal(wrong, number)
                orders = orders or len(counts) // 3
                if len(counts) != 3 * orders:
                    raise document.refusal(f"{len(counts)} numbers in this line, and {3 * orders} in the first", number)
                for order in range(orders):
                    given, wanted, match = map(int, counts[3 * order : 3 * order + 3])
                    if match > min(given, wanted):
                        raise document.refusal(f"{match} matches of {given} and {wanted} n-grams", number)
                    of = f"char-{order + 1}" if order < CHARACTER_ORDERS else f"word-{order + 1 - CHARACTER_ORDERS}"
                    cells_of = (wanted, given, match, 0, 0, given - match, wanted - match)
                    scores.add(number, segment, of, *cells_of, member=document.member)
        return sheets.staged()


def _recognizes(start: Start) -> str | None:
    if _BY_SYSTEM.search(start.path.name):
        return "its name, and a system and a score in each line"
    lines = [line.split("\t") for line in start.text.splitlines()[:20] if line.strip()]
    if lines and all(len(line) == 1 and is_number(line[0]) for line in lines):
        return "one number per line"
    headed = len(lines) > 1 and not any(map(is_number, lines[0])) and RIGHT_OR_WRONG.isdisjoint(map(plain, lines[0]))
    return "a table of numbers" if headed and all(map(is_number, lines[1][1:] or [""])) else None


READER = Reader(
    "sacrebleu",
    "scores of segments, one number per line or a table with a column per system, and the statistics of chrF",
    (VALUES, SCORES),
    EXAMPLE,
    stage,
    options=(
        Option("measure", "what the numbers are: BLEU, COMET"),
        Option("statistics", "the lines are sufficient statistics and become score tuples", None, ("chrf",)),
    ),
    noun="segment",
    recognizes=_recognizes,
    evidence=Evidence.SHAPE,
    unsaid={"test_set": "{parent}", "system": "{stem}"},
)

"""MQM annotations as WMT publishes them: a row is one error that a rater marked in one system's translation of a
segment, or says that there is none.

Each segment of a system has a value of `MQM`: the penalties of its errors, summed for each rater and averaged over the
raters of the segment. Lower is better. The weights are those of Freitag et al. (2021, "Experts, Errors, and Context"):
25 for a non-translation, 5 for another major error, 0.1 for minor punctuation, 1 for another minor error, and 0 for a
neutral one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct
from msgspec import field as struct_field

from evalhouse.warehouse.kinds.records import DOCUMENTS, VALUES
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.columns import plain
from evalhouse.warehouse.loading.staging.identity import QUESTION
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Reader, Start
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging

EXAMPLE = """\
system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity
base\tnews-1\t1\t1\tr1\tDer Hund schläft.\tThe dog <v>sleep</v>.\tFluency/Grammar\tMinor
base\tnews-1\t1\t1\tr2\tDer Hund schläft.\tThe dog sleep.\tNo-error\tNo-error
tuned\tnews-1\t1\t1\tr1\tDer Hund schläft.\tThe <v>cat</v> sleeps.\tAccuracy/Mistranslation\tMajor
"""

MEASURE = "MQM"

WEIGHTS = {"no-error": Fraction(0), "neutral": Fraction(0), "minor": Fraction(1), "major": Fraction(5)}
"""The penalty of an error, by its severity in lower case."""

NON_TRANSLATION, PUNCTUATION = Fraction(25), Fraction(1, 10)

NAMED = ("system", "document", "doc", "rater", "source", "target", "category", "severity")
"""The columns that --map may take from others."""

GLOBAL = ("global_seg_id", "globalsegid")
SEGMENTS = (*GLOBAL, "seg_id", "segid", "segment_id", "segment")
"""Names of columns with the number of a segment: in the whole test set, or in its document."""

_MARK = re.compile("</?v>")
"""What encloses the marked words in a source or a target."""


class _Segment(Struct):
    """What raters marked in one system's translation of a segment."""

    line: int
    doc: str
    source: str
    target: str
    penalties: dict[str, Fraction] = struct_field(default_factory=dict)

    @property
    def penalty(self) -> float:
        """The mean over its raters."""
        return float(sum(self.penalties.values(), Fraction(0)) / len(self.penalties))


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages one value for each segment of each system. Raises DataError for a row that is not an annotation."""
    segments: dict[tuple[str, str], _Segment] = {}
    for line, row in _rows(staging):
        key = row["system"], row["document"]
        if key not in segments:
            segments[key] = _Segment(line, row["doc"], _MARK.sub("", row["source"]), _MARK.sub("", row["target"]))
        of_rater = segments[key].penalties
        of_rater[row["rater"]] = of_rater.get(row["rater"], Fraction(0)) + _weight(staging, line, row)
    if not segments:
        raise staging.refusal("there is a header, but no rows")
    with Sheets(staging, VALUES, DOCUMENTS, named=NAMED) as sheets:
        values = sheets.open(VALUES, "system", "document", "measure", "value")
        texts: dict[str, _Segment] = {}
        for (system, document), segment in segments.items():
            values.add(segment.line, system, document, MEASURE, repr(segment.penalty))
            texts.setdefault(document, segment)
            sheets.texts.outputs(segment.line, [segment.target or None], document=document, system=system)
        for document, segment in texts.items():
            sheets.identify(segment.line, {QUESTION: segment.source}, document=document)
            sheets.texts.input(segment.line, segment.source or None, document=document)
        if any(segment.doc for segment in texts.values()):
            attributes = sheets.open(DOCUMENTS, "document", "doc")
            for document, segment in texts.items():
                attributes.add(segment.line, document, segment.doc)
        return sheets.staged(directions={MEASURE: True})


def _weight(staging: Staging, line: int, row: dict[str, str]) -> Fraction:
    severity, category = plain(row["severity"]).replace("_", "-"), row["category"].casefold()
    if severity not in WEIGHTS:
        said = f"severity is {quote_cell(row['severity'])}, not {', '.join(list(WEIGHTS)[:-1])} or major"
        raise staging.refusal(said, line)
    if severity == "major" and "non-translation" in category:
        return NON_TRANSLATION
    if severity == "minor" and category.startswith("fluency") and "punctuation" in category:
        return PUNCTUATION
    return WEIGHTS[severity]


def _rows(staging: Staging) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows, with the name of the segment as `document`, and the line on which each ends."""
    for document in documents(staging):
        lines = document.lines()
        _, first = next(lines, (1, ""))
        # WMT's tables have tabs and no quotes: a quotation mark is a letter of the text.
        separated = "\t" in first
        header = first.split("\t") if separated else next(csv.reader([first]), [])
        places = _places(staging, header)
        of_text = places["document"]
        is_global = "document" in {*staging.columns, *staging.fields} or plain(header[of_text]) in GLOBAL
        table = ((line, text.split("\t")) for line, text in lines if text) if separated else _cells(document, lines)
        for line, cells in table:
            if len(cells) != len(header):
                raise document.refusal(f"{len(cells)} cells in this row, and {len(header)} in the header", line)
            row = {field: cells[places[field]].strip() if field in places else "" for field in NAMED}
            row |= {field: text for field, text in staging.fields.items() if field in ("system", "document")}
            for field in ("system", "document"):
                if not row[field]:
                    raise document.refusal(f"{header[places[field]]} is empty", line)
            if not is_global and row["doc"]:
                row["document"] = f"{row['doc']}:{row['document']}"
            yield line, row


def _places(staging: Staging, header: list[str]) -> dict[str, int]:
    """The columns of the fields. Raises DataError if one that is needed is not there."""
    places: dict[str, int] = {}
    headings = [plain(heading) for heading in header]
    for field in NAMED:
        mapped = staging.columns.get(field)
        if mapped is not None and mapped not in header:
            raise staging.refusal(f"there is no column {quote_cell(mapped)}; the columns are {', '.join(header)}", 1)
        synonyms = (plain(mapped),) if mapped else SEGMENTS if field == "document" else (field,)
        if there := [name for name in synonyms if name in headings]:
            places[field] = headings.index(there[0])
    for field in ("system", "document", "category", "severity"):
        if field not in places and field not in staging.fields:
            wanted = ", ".join(SEGMENTS) if field == "document" else field
            raise staging.refusal(f"there is no column {wanted}; the columns are {', '.join(header)}", 1)
    return places


def _cells(document: Document, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with commas, in which a cell may be quoted."""
    reader = csv.reader((text + "\n" for _, text in lines), strict=True)
    try:
        for cells in filter(None, reader):
            yield reader.line_num + 1, cells
    except csv.Error as error:
        raise document.refusal(f"this row is not CSV: {error}", reader.line_num + 1) from None


def _recognizes(start: Start) -> str | None:
    headings = {plain(heading) for heading in start.columns}
    fits = headings >= {"system", "category", "severity"} and not headings.isdisjoint(SEGMENTS)
    return "its columns system, category and severity, with a segment" if fits else None


READER = Reader(
    "mqm",
    "MQM annotations of translations: a row per error, with system, segment, rater, category and severity",
    (VALUES, DOCUMENTS),
    EXAMPLE,
    stage,
    noun="segment",
    recognizes=_recognizes,
    evidence=Evidence.NAMES,
)

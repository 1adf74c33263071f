"""Qrels and runs that are not in the columns of TREC: tables whose first line names the columns (BEIR, PyTerrier,
ir_datasets, ranx), objects of JSON (pytrec_eval, ranx), and runs of three columns (MS MARCO).

A table says by its columns which it is. An object, and a table with nothing but topic, document and score, is qrels or
a run: grades are whole numbers, and scores hardly ever are; where all of them are whole, the name of the file decides.
What the cells become is not known here.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

import msgspec
from msgspec import Struct

from evalhouse.warehouse.faults import UnreadableError
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.loading.staging.cells import is_number, quote_cell
from evalhouse.warehouse.loading.staging.columns import plain
from evalhouse.warehouse.loading.staging.lines import (
    Document,
    compression_of,
    documents,
    is_archive,
    open_bytes,
    start_of,
)
from evalhouse.warehouse.loading.staging.reader import Evidence, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.staged import Staging
from evalhouse.warehouse.loading.staging.tabular import first_rows
from evalhouse.warehouse.store.sql import Sql, name, pattern_of

if TYPE_CHECKING:
    from numpy import ndarray

# === names of columns =================================================================================================

TOPIC, ITEM, GRADE, RANK, SCORE, SYSTEM = "topic", "document", "grade", "rank", "score", "system"
"""What is in a cell of a line."""

COLUMNS = {
    TOPIC: ("qid", "q_id", "query_id", "topic_id"),
    ITEM: ("docno", "doc_id", "docid", "corpus_id", "pid", "passage_id", "did", "document_id"),
    GRADE: ("relevance", "rel", "relevancy", "label", "grade", "judgment", "judgement", "qrel"),
    RANK: ("rank",),
    SCORE: ("score", "sim"),
    SYSTEM: ("system", "model", "run_tag", "tag", "run_id", "run"),
}
"""For each cell of a line, the names that columns have for it."""

_OF_BEIR = "corpus_id"
"""What BEIR calls a document; its score is a grade."""

IS_QRELS = re.compile(r"qrel|gold|judg|truth|relevance", re.IGNORECASE)
_IS_RUN = re.compile(r"\brun|_run|run_|result|ranking|retriev", re.IGNORECASE)
"""Names of files that say what whole numbers are."""

_WHOLE = re.compile(r"([+-]?[0-9]{1,9})(?:\.0*)?")
_MOST = 3.4e38
"""Nearly the largest number in single precision, in which scores are compared."""

LARGEST = 256 * 1024 * 1024
"""The largest object that is read, in bytes."""

_AT_ONCE = 100_000
"""How many lines are copied to the database at a time."""


class Cells(NamedTuple):
    """What a line says. Of an object of JSON no line is known."""

    line: int | None
    topic: str
    document: str
    number: str
    rank: int | None
    system: str | None


class Layout(Struct, frozen=True):
    """What a file holds: a run, or qrels. `columns` are the columns of a table, by what is in them, and empty for an
    object of JSON. `has_head` says whether the first line names them.
    """

    is_run: bool
    has_scores: bool
    why: str
    columns: dict[str, str] = {}
    has_head: bool = True
    unsure: str = ""

    @property
    def number(self) -> str:
        """The column with the grade or the score."""
        return SCORE if self.is_run else GRADE


# === what a file holds ================================================================================================


def layout_of(start: Start) -> Layout | None:
    """What the start of a file holds; None if it has the columns of TREC, or is something else."""
    if start.is_json and (of_object := _layout_of_object(start)):
        return of_object
    if columns := _columns_of_table(start):
        return _layout_of_table(start, columns)
    return _layout_of_three_columns(start)


def recognition(start: Start) -> Recognition | None:
    """The evidence that a file holds qrels or a run in another form than TREC's."""
    layout = layout_of(start)
    if layout is None:
        return None
    role = Role.FACTS if layout.is_run else Role.KEY
    evidence = Evidence.NAMES if layout.has_head and layout.columns else Evidence.SHAPE
    return Recognition(layout.why, role, layout.unsure, evidence)


def _columns_of_table(start: Start) -> dict[str, str]:
    """The columns of a table, by what is in them; empty if it is none of qrels or of a run."""
    header = sorted(start.columns) if start.named or start.is_json else start.header
    headings = {plain(heading): heading for heading in header}
    found = {
        cell: headings[names[0]]
        for cell, among in COLUMNS.items()
        if (names := [one for one in among if one in headings])
    }
    complete = {TOPIC, ITEM} <= found.keys() and not found.keys().isdisjoint((GRADE, RANK, SCORE))
    return found if complete else {}


def _layout_of_table(start: Start, columns: dict[str, str]) -> Layout:
    listed = ", ".join(columns.values())
    is_graded = GRADE in columns and not {RANK, SCORE} & columns.keys()
    if is_graded or RANK in columns:
        kind = "qrels" if is_graded else "a run"
        return Layout(not is_graded, SCORE in columns, f"the columns of {kind}: {listed}", columns)
    if GRADE in columns:
        unsure = "it has grades and scores, so it could be qrels or a run; leave one of the columns out"
        return Layout(True, True, f"its columns {listed}", columns, unsure=unsure)
    if plain(columns[ITEM]) == _OF_BEIR:
        graded = {GRADE if cell == SCORE else cell: heading for cell, heading in columns.items()}
        return Layout(False, False, f"the columns of qrels of BEIR: {listed}", graded)
    return _qrels_or_run(start, [record.get(columns[SCORE], "") for record in start.records], columns, listed)


def _qrels_or_run(start: Start, numbers: Iterable[str], columns: dict[str, str], listed: str) -> Layout:
    """What is told by the numbers: grades of qrels are whole, and so could be the scores of a run."""
    whole = all(_WHOLE.fullmatch(number) and "." not in number for number in numbers)
    called = f"{start.path.absolute().parent.name}/{start.path.name}" if start.path.name else start.name
    is_qrels = whole and bool(IS_QRELS.search(called))
    unclear = whole and not is_qrels and not _IS_RUN.search(start.path.name or start.name)
    unsure = "its numbers are whole, so they could be grades of qrels or scores of a run; call it qrels… or run…"
    if is_qrels:
        graded = {GRADE if cell == SCORE else cell: heading for cell, heading in columns.items()}
        return Layout(False, False, f"its {listed} with whole numbers, and its name", graded)
    kind = f"its {listed} with scores"
    return Layout(True, True, kind, columns, unsure=unsure if unclear else "")


def _layout_of_object(start: Start) -> Layout | None:
    """What an object of objects of numbers holds. Where all of these have the same keys, they are figures of something
    else, such as classes, unless the file is called qrels or run.
    """
    topics = _first_topics(start)
    is_named = bool(IS_QRELS.search(start.name) or _IS_RUN.search(start.name))
    if not topics or (not is_named and len({frozenset(of_topic) for of_topic in topics.values()}) == 1):
        return None
    numbers = [repr(number) for of_topic in topics.values() for number in of_topic.values()]
    return _qrels_or_run(start, numbers, {}, "topics and documents") if numbers else None


_OBJECT = msgspec.json.Decoder(dict[str, dict[str, int | float]])


def _first_topics(start: Start) -> dict[str, dict[str, int | float]]:
    """The topics in the start of an object; none if it is something else."""
    text = start.text.strip()
    cut = [text] if start.whole else [text.rpartition(sign)[0] + "}" * open for sign, open in (("}", 2), (",", 2))]
    for one in cut:
        try:
            return _OBJECT.decode(one)
        except msgspec.MsgspecError:
            continue
    return {}


def _layout_of_three_columns(start: Start) -> Layout | None:
    """A run of MS MARCO: topic, document and rank, without a head. The ranks of each topic are 1, 2, 3, …"""
    if start.is_json or start.named:
        return None
    lines = (start.text if start.whole else start.text.rpartition("\n")[0]).rstrip().split("\n")
    rows = [line.split() for line in lines]
    if len(rows) < _FEWEST or any(len(row) != _THREE or not row[2].isdecimal() for row in rows):
        return None
    several = False
    for _, of_topic in groupby(rows, key=itemgetter(0)):
        ranks = [int(row[2]) for row in of_topic]
        if ranks != list(range(1, len(ranks) + 1)):
            return None
        several = several or len(ranks) > 1
    columns = dict(zip((TOPIC, ITEM, RANK), ("1", "2", "3"), strict=True))
    return Layout(True, False, "topics, documents and ranks in three columns", columns, False) if several else None


_FEWEST, _THREE = 2, 3


# === reading ==========================================================================================================


def read(staging: Staging) -> Layout | None:
    """Reads a file into `trec_read`, as the reader of TREC's columns does, and returns what it holds; None if it is not
    such a file. Raises DataError for lines that are wrong, and if it could be qrels or a run.
    """
    layout = layout_of(_start_of(staging))
    if layout is None:
        return None
    if layout.unsure:
        raise staging.refusal(layout.unsure)
    system = None
    if layout.is_run and "system" not in layout.columns:
        system = staging.named("system", None, "the run does not name the system")
    elif "system" in staging.fields:
        system = staging.fields["system"]
    brought, more = "trec_brought", False
    rows: list[Cells] = []
    for cells in chain(_checked(staging, layout, system), (None,)):
        if cells is not None:
            rows.append(cells)
        if rows and (cells is None or len(rows) == _AT_ONCE):
            staging.database.bring(brought, _arrays(rows), more=more)
            more = True
            rows.clear()
    if not more:
        raise staging.refusal("it has nothing to store")
    number = "number::double as score" if layout.is_run else "number::varchar as grade"
    if layout.is_run and not layout.has_scores:
        number = "null::double as score"
    kept = f"nullif(line, -1)::integer as line, topic, document, {number}"
    run = ", nullif(rank, -1)::integer as rank, system" if layout.is_run else ""
    staging.database.run(Sql(f"create or replace temp table trec_read as select {kept}{run} from temp.{brought}"))
    staging.database.forget(brought)
    return layout


def _start_of(staging: Staging) -> Start:
    """The start of a file, as it is recognized by."""
    source = staging.source
    if source.suffix.lower() == ".parquet":
        try:
            header, rows = first_rows(staging)
        except UnreadableError:
            raise staging.refusal("this is not a sound Parquet file") from None
        records = tuple(dict(zip(header, row, strict=True)) for row in rows)
        return Start(source.name, "", frozenset(header), path=source, rows=records)
    if is_archive(source):
        return Start(source.name, "", path=source)
    start_of(staging)
    with open_bytes(staging.door, source, compression_of(source)) as binary, Document(staging, binary).unbroken():
        raw = binary.read(_START)
    return Start(source.name, raw.decode("utf-8-sig", errors="replace"), whole=len(raw) < _START, path=source)


_START = 65_536
"""How many bytes of a file say what it holds."""


def _arrays(rows: Sequence[Cells]) -> dict[str, ndarray]:
    import numpy

    lines, topics, items, numbers, ranks, systems = zip(*rows, strict=True)
    names = {"topic": topics, "document": items, "number": numbers, "system": systems}
    whole = {"line": lines, "rank": ranks}
    return {
        **{field: numpy.array(cells, dtype=object) for field, cells in names.items()},
        **{field: numpy.array([-1 if it is None else it for it in cells], "int32") for field, cells in whole.items()},
    }


def _checked(staging: Staging, layout: Layout, system: str | None) -> Iterator[Cells]:
    """The lines with names as they are stored. Raises DataError for the first that is wrong."""
    for cells in _rows(staging, layout):
        topic, document, tag = (_name(text) for text in (cells.topic, cells.document, system or cells.system or ""))
        for field, text in (("topic", topic), ("document", document), *([("system", tag)] if layout.is_run else [])):
            if not text:
                raise staging.refusal(f"{layout.columns.get(field, field)} is empty", cells.line)
        number = cells.number.strip()
        if not layout.is_run:
            whole = _WHOLE.fullmatch(number)
            if whole is None:
                raise staging.refusal(f"grade is {quote_cell(number)}, not a whole number", cells.line)
            number = whole[1]
        elif layout.has_scores:
            if not is_number(number):
                raise staging.refusal(f"score is {quote_cell(number)}, not a finite number", cells.line)
            if abs(float(number)) > _MOST:
                said = "scores are kept in single precision, as trec_eval does: up to 3.4e38"
                raise staging.refusal(f"score is {quote_cell(number)}; {said}", cells.line)
        yield Cells(cells.line, topic, document, number, cells.rank, tag)


def _name(text: str) -> str:
    text = text.strip()
    return text if text.isascii() else normalize("NFC", text)


def _rows(staging: Staging, layout: Layout) -> Iterator[Cells]:
    if not layout.columns:
        yield from _of_object(staging)
        return
    if staging.source.suffix.lower() == ".parquet":
        yield from _of_parquet(staging, layout)
        return
    for document in documents(staging):
        if not layout.has_head:
            for line, text in document.lines():
                if not text.strip():
                    continue
                cells = text.split()
                if len(cells) != _THREE:
                    raise document.refusal(f"{quantity(len(cells), 'column')} in this line, and 3 in the first", line)
                yield Cells(line, cells[0], cells[1], "", _rank(document, cells[2], line), None)
        else:
            for line, row in _of_table(document, layout):
                rank = row.get("rank", "").strip()
                place = _rank(document, rank, line) if rank and not layout.has_scores else None
                number = row.get(layout.number, "")
                yield Cells(line, row["topic"], row["document"], number, place, row.get("system"))


def _rank(document: Document, text: str, line: int) -> int:
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        raise document.refusal(f"rank is {quote_cell(text)}, not a whole number", line)
    return int(whole[1])


def _of_table(document: Document, layout: Layout) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table, and the line on which each ends."""
    lines = document.lines()
    number, first = next(((number, line) for number, line in lines if line.strip()), (1, ""))
    if first.lstrip().startswith("{"):
        for line, text in chain(((number, first),), lines):
            if text.strip():
                yield line, _of_json(document, layout, line, text)
        return
    separator = "\t" if "\t" in first else ","
    header = next(csv.reader([first], delimiter=separator))
    places = {cell: [heading.strip() for heading in header].index(of) for cell, of in layout.columns.items()}
    # A line of BEIR's has no quotes around its cells, and a quotation mark may be part of a name.
    texts = (text + "\n" for _, text in lines)
    reader = csv.reader(texts, delimiter=separator, quoting=csv.QUOTE_NONE) if separator == "\t" else csv.reader(texts)
    try:
        for row in filter(None, reader):
            if len(row) != len(header):
                said = f"{quantity(len(row), 'cell')} in this row, and {len(header)} in the header"
                raise document.refusal(said, number + reader.line_num)
            yield number + reader.line_num, {cell: row[place] for cell, place in places.items()}
    except csv.Error as error:
        raise document.refusal(f"this row is not CSV: {error}", number + reader.line_num) from None


def _of_json(document: Document, layout: Layout, line: int, text: str) -> dict[str, str]:
    try:
        said = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise document.refusal(f"this line is not JSON: {error}", line) from None
    if not isinstance(said, dict):
        raise document.refusal("this is not an object", line)
    cells = {cell: said.get(column) for cell, column in layout.columns.items()}
    return {cell: "" if item is None else str(item) for cell, item in cells.items()}


def _of_parquet(staging: Staging, layout: Layout) -> Iterator[Cells]:
    listed = [layout.columns.get(cell) for cell in ("topic", "document", layout.number, "rank", "system")]
    columns = [f"{name(column).text}::varchar" if column else "null" for column in listed]
    if layout.has_scores:
        columns[3] = "null"
    query = f"select {', '.join(columns)} from read_parquet(?, hive_partitioning=false)"
    for row, (topic, item, number, rank, tag) in enumerate(
        staging.database.rows(Sql(query, (pattern_of(staging.source),))), start=1
    ):
        yield Cells(row, topic or "", item or "", number or "", None if rank is None else int(float(rank)), tag)


def _of_object(staging: Staging) -> Iterator[Cells]:
    for document in documents(staging):
        raw = document.whole(LARGEST)
        try:
            topics = _OBJECT.decode(raw.removeprefix(b"\xef\xbb\xbf"))
        except msgspec.DecodeError:
            document.staging.json(raw, "this", member=document.member)  # says on which line it is wrong
            raise document.refusal("this is not an object of topics with numbers by document") from None
        names = len(topics) + sum(map(len, topics.values()))
        if raw.count(b'"') - raw.count(b'\\"') != 2 * names:
            document.staging.json(raw, "this", member=document.member)  # refuses a name that is there twice
        for topic, items in topics.items():
            for item, number in items.items():
                yield Cells(None, topic, item, repr(number), None, None)

"""Writes the texts that a reader finds (inputs, references and outputs) to staged tables, a few megabytes at a time and
without changing a letter.

A reader always adds texts; if they are not to be stored, nothing happens. Only the names of a text's document and
system are cleaned, like all names. Nothing here checks a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import TYPE_CHECKING

from msgspec.structs import replace

from warehouse.loading.staging.cells import LONGEST_TEXT
from warehouse.loading.staging.staged import Matching, Staged, Staging, places, staged_columns
from warehouse.store.sql import Sql, join, name, values
from warehouse.tasks.records import DOCUMENT_TEXTS, INPUT, OUTPUT, PIECE_LENGTH, REFERENCE, SYSTEM_TEXTS, TEXT_FORMS

if TYPE_CHECKING:
    from numpy import ndarray

AT_ONCE = 4_000_000
"""How many characters are copied to the database at a time."""

MOST_AT_ONCE = 20_000
"""How many texts are copied to the database at a time."""

_NUMBERS = frozenset({"number", "characters"})
"""The fields that are not texts."""

_NOWHERE = -1
"""The line of a text in a file without lines."""


class TextSheets:
    """The texts of one file."""

    def __init__(self, staging: Staging) -> None:
        self.wanted = staging.texts
        """Whether texts are to be stored. A reader may check this if finding them takes time."""
        self._of_documents = _TextSheet(staging.of(DOCUMENT_TEXTS))
        self._of_systems = _TextSheet(staging.of(SYSTEM_TEXTS))

    def input(self, line: int | None, text: str | None, *, member: str | None = None, **of: object) -> None:
        """Adds an input. `of` names the document, the system, and the test set unless a setting does. If it names no
        system, the input is the same for all systems.
        """
        if self.wanted and text is not None:
            sheet = self._of_systems if "system" in of else self._of_documents
            sheet.add(line, member, text, **of, kind=INPUT, number=1)

    def references(
        self, line: int | None, texts: Iterable[str | None], *, member: str | None = None, **of: object
    ) -> None:
        """Adds the right answers, in their order."""
        if self.wanted:
            there = (text for text in texts if text is not None)
            for number, text in enumerate(there, start=1):
                self._of_documents.add(line, member, text, **of, kind=REFERENCE, number=number)

    def outputs(
        self, line: int | None, texts: Iterable[str | None], *, member: str | None = None, **of: object
    ) -> None:
        """Adds the answers of a system, which `of` names as well."""
        if self.wanted:
            there = (text for text in texts if text is not None)
            for number, text in enumerate(there, start=1):
                self._of_systems.add(line, member, text, **of, kind=OUTPUT, number=number)

    def name_systems(self, names: Mapping[str, str]) -> None:
        """Replaces provisional names of systems, under which texts were added, by the final names."""
        self._of_systems.rename("system", {old: new for old, new in names.items() if old != new})

    def staged(self) -> tuple[Staged, ...]:
        """The staged tables."""
        return tuple(sheet.staged() for sheet in (self._of_documents, self._of_systems) if sheet.texts)


class _TextSheet:
    """The texts of one form. One table has the names that identify each text; another has its pieces, by row number."""

    def __init__(self, staging: Staging) -> None:
        self.texts = 0
        self._staging = staging
        self._columns: tuple[str, ...] = ()
        self._rows: list[tuple[object, ...]] = []
        self._pieces: list[tuple[int, int, str]] = []
        self._characters = 0
        self._matching = Matching({}, (), ())
        self._is_there = False

    def add(self, line: int | None, member: str | None, text: str, **of: object) -> None:
        """Adds a text. The columns that identify it must be the same each time."""
        self._columns = self._columns or (*of, "characters")
        text = _storable(text)
        of["characters"] = len(text)
        names = (of[column] if column in _NUMBERS else _storable(str(of[column])) for column in self._columns)
        self._rows.append((_NOWHERE if line is None else line, member, *names))
        if len(text) <= PIECE_LENGTH:
            self._pieces.append((self.texts, 1, text))
        elif len(text) <= LONGEST_TEXT:  # a longer text will be refused
            begins = range(0, len(text), PIECE_LENGTH)
            self._pieces += (
                (self.texts, piece, text[begin : begin + PIECE_LENGTH]) for piece, begin in enumerate(begins, start=1)
            )
        self.texts += 1
        self._characters += len(text)
        if self._characters >= AT_ONCE or len(self._rows) >= MOST_AT_ONCE:
            self._bring()

    def _bring(self) -> None:
        database, more = self._staging.database, self._is_there
        brought, columns = "texts_brought", ("line", "member", *(f"c{place}" for place in range(len(self._columns))))
        database.bring(brought, _arrays(columns, self._rows))
        staging, self._matching = self._matched()
        cells = staged_columns(staging, self._matching, lambda place: Sql(f"c{place}"), _NUMBERS)
        rows = "select nullif(line, " + Sql(f"{_NOWHERE}) as line, member::varchar as member, ") + cells
        table = name(staging.table)
        into = "insert into temp." + table + " " if more else "create or replace temp table " + table + " as "
        database.run(into + rows + f" from temp.{brought}")
        database.forget(brought)
        if self._pieces or not more:
            database.bring(pieces_of(staging), _arrays(("place", "piece", "text"), self._pieces), more=more)
        self._is_there = True
        self._rows.clear()
        self._pieces.clear()
        self._characters = 0

    def rename(self, column: str, names: Mapping[str, str]) -> None:
        """Replaces names in a column by others."""
        if not self.texts or not names:
            return
        if self._rows:
            self._bring()
        pairs = join(", ", (values((old, _storable(new))) for old, new in names.items()))
        renamed = name(self._staging.table) + " set " + name(column) + " = nfc_normalize(names.new) from (values "
        where = ") as names(old, new) where names.old = " + name(column)
        self._staging.database.run("update temp." + renamed + pairs + where)

    def _matched(self) -> tuple[Staging, Matching]:
        """The settings that hold for all texts, and which column is which field."""
        staging = self._staging
        known = {field.name for field in staging.form.fields}
        # A system that the reader named keeps the name under which it is stored, whatever a setting says about the
        # model.
        known -= {"system"} & set(self._columns)
        fixed = {field: text for field, text in staging.fields.items() if field in known}
        staging = replace(staging, fields=fixed)
        columns = {column: place for place, column in enumerate(self._columns)}
        fields = {column: place for column, place in columns.items() if column not in fixed}
        required = [field.name for field in staging.form.fields if field.required]
        lacking = [field for field in required if field not in columns and field not in fixed]
        return staging, Matching(fields, (), (), {field: staging.unsaid[field] for field in lacking})

    def staged(self) -> Staged:
        """The staged table of all texts that were added."""
        if self._rows:
            self._bring()
        staging = self._staging
        staged = self._matching.staged(staging.form, self._columns, places(staging, "line"), places(staging, "member"))
        return replace(staged, numbers=_NUMBERS)


def _arrays(columns: Iterable[str], rows: list[tuple[object, ...]] | list[tuple[int, int, str]]) -> dict[str, ndarray]:
    """Rows as arrays, one per column."""
    import numpy

    kinds = {"line": "int32", "place": "int32", "piece": "int32"}
    cells: Iterable[Iterable[object]] = zip(*rows, strict=True) if rows else repeat(())
    return {
        column: numpy.array(list(of_column), dtype=kinds.get(column, object))
        for column, of_column in zip(columns, cells, strict=False)
    }


def pieces_of(staging: Staging) -> str:
    """The temporary table for the pieces of a form's texts. `place` says which text a piece belongs to, and `piece` its
    position.
    """
    return f"pieces_of_{staging.form.name}"


def text_tables(staging: Staging) -> list[str]:
    """The temporary tables for the texts of a file."""
    of_forms = map(staging.of, TEXT_FORMS)
    return [table for of_form in of_forms for table in (of_form.table, pieces_of(of_form), "texts_brought")]


def cut(staging: Staging) -> None:
    """Splits the column `text` of a staged table into pieces."""
    pieces = f"greatest(1, (length(text) + {PIECE_LENGTH - 1}) // {PIECE_LENGTH})"
    cut = f"substring(text, (piece - 1) * {PIECE_LENGTH} + 1, {PIECE_LENGTH}) as text"
    staging.database.run(
        Sql(
            f"create or replace temp table {pieces_of(staging)} as select place, piece::integer as piece, {cut} from "
            f"(select rowid as place, text, unnest(range(1, {pieces} + 1)) as piece from {staging.table})"
        )
    )


def _storable(text: str) -> str:
    """A text that UTF-8 can encode: half of a surrogate pair, which JSON may contain, is written as its escape."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()
    return text

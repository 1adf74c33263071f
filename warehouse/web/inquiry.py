"""The statements that a page asks, in one session. Each is answered only once as long as the warehouse does not change.
Statements that would change something, or read or write a file, are refused.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.lexicon import is_bare_name, quoted
from grammar.parser import parse
from grammar.printer import to_text
from warehouse.query.compile.texts import texts
from warehouse.results import Cell, Result, Table
from warehouse.session import Session
from warehouse.statements.only_questions import OnlyQuestions
from warehouse.store.catalog import Catalog, KnownTestSet

MOST_CELLS = 2_000_000
"""The number of cells of answers that are cached."""


class StoredText(Struct, frozen=True):
    """A text of a document: its author (None for an input or a reference), its kind, its beginning, and its full length
    in letters.
    """

    system: str | None
    kind: str
    text: str
    length: int


class MissingError(Exception):
    """An address names something that is not in the warehouse."""


class AnswerCache:
    """Caches the most recently used answers by the version of the warehouse and the statement. All threads share it."""

    def __init__(self, most: int = MOST_CELLS) -> None:
        self._most = most
        self._answers: OrderedDict[tuple[object, str], Result] = OrderedDict()
        self._cells = 0
        self._lock = threading.Lock()

    def get(self, version: object, statement: str) -> Result | None:
        """The answer, if it is cached."""
        with self._lock:
            found = self._answers.get((version, statement))
            if found is not None:
                self._answers.move_to_end((version, statement))
            return found

    def keep(self, version: object, statement: str, result: Result) -> None:
        """Stores an answer, and removes the least recently used ones."""
        with self._lock:
            if (version, statement) in self._answers:
                return
            self._answers[version, statement] = result
            self._cells += _cells(result)
            while self._cells > self._most and self._answers:
                _, forgotten = self._answers.popitem(last=False)
                self._cells -= _cells(forgotten)


def _cells(result: Result) -> int:
    return len(result.table.rows) * len(result.table.columns) + 100


def only_questions(sql: bool) -> OnlyQuestions:
    """The policy of what may be asked here."""
    return OnlyQuestions(sql, "evalhouse serve --allow-sql")


def checked(text: str, only: OnlyQuestions) -> tuple[n.AnyStatement, ...]:
    """The statements of a text, all of which must be allowed here. Raises QueryError."""
    only.check_beginning(text)
    statements = tuple(parse(text))
    for statement in statements:
        only.check(statement)
    return statements


def checked_question(text: str, only: OnlyQuestions) -> tuple[n.AnyStatement, ...]:
    """The same for one question, which may follow statements that set variables. Raises QueryError."""
    statements = checked(text, only)
    questions = sum(not isinstance(statement, n.Let) for statement in statements)
    if questions != 1:
        raise QueryError(f"expected one question, but there are {questions}")
    return statements


class Inquiry:
    """The questions of one page, in a session that does not follow its warehouse: before the first question it checks
    once whether the warehouse was replaced. If a test set has one of the `measures`, pages show no others. Texts of
    documents are shown only if `with_texts` is set. `passing` is a message about the current moment that is not part
    of an answer.
    """

    def __init__(
        self,
        session: Session,
        kept: AnswerCache,
        *,
        sql: bool = False,
        measures: tuple[str, ...] = (),
        with_texts: bool = True,
    ) -> None:
        self.session = session
        self.measures = measures
        self._with_texts = with_texts
        self._kept = kept
        self._only = session.only = only_questions(sql)
        session.variables.clear()
        before = session.version
        note = session.follow()
        # Nothing was shown before, so the page does not have to report that the warehouse was replaced.
        self.passing = note if session.version == before else ""

    @property
    def catalog(self) -> Catalog:
        """The names in the warehouse."""
        return self.session.catalog

    def one(self, text: str) -> Result:
        """The answer to one question. Raises QueryError."""
        (answer,) = self._answers_to(checked_question(text, self._only))
        return answer

    def all_of(self, text: str) -> Iterator[Result]:
        """The answers to questions, one at a time. All of them are checked first. Raises QueryError."""
        return self._answers_to(checked(text, self._only))

    def _answers_to(self, statements: Iterable[n.AnyStatement]) -> Iterator[Result]:
        for statement in statements:
            result = self._answer(statement)
            if result is not None:
                yield result

    def _answer(self, statement: n.AnyStatement) -> Result | None:
        written = to_text(statement)
        # The values of variables are not part of a statement.
        alone = not self.session.variables
        known = self._kept.get(self.session.version, written) if alone else None
        if known is None:
            known = self.session.answer(statement)
            if known is not None and not self._with_texts:
                known = _without_passages(known)
            if known is not None and alone:
                self._kept.keep(self.session.version, written, known)
        return known

    def texts(self, test_set: KnownTestSet, document: str) -> list[StoredText]:
        """The texts of a document: the input of the systems, the reference, and each system's output."""
        if not self._with_texts:
            return []
        query = texts(test_set.id, list(self.catalog.systems.values()), [document])
        return [
            StoredText(system, kind, text, length)
            for _, system, kind, text, length in self.session.database.rows(query.sql)
        ]

    # --- names --------------------------------------------------------------------------------------------------------

    def test_set(self, name: str) -> KnownTestSet:
        """A test set by its name in addresses. Raises MissingError."""
        for known in self.catalog.test_sets:
            if self.catalog.short_name(known) == name:
                return known
        raise MissingError(f"there is no test set {name!r} in this warehouse")

    def system(self, name: str) -> int:
        """The number of a system. Raises MissingError."""
        if name not in self.catalog.systems:
            raise MissingError(f"there is no system {name!r} in this warehouse")
        return self.catalog.systems[name]


def _without_passages(result: Result) -> Result:
    """An answer without the texts of documents."""
    table = result.table
    if not any(column.kind == "passage" for column in table.columns):
        return result
    left = [place for place, column in enumerate(table.columns) if column.kind != "passage"]

    def kept(row: tuple[Cell, ...]) -> tuple[Cell, ...]:
        return tuple(row[place] for place in left)

    sections = tuple(replace(section, rows=tuple(map(kept, section.rows))) for section in result.sections)
    columns = tuple(table.columns[place] for place in left)
    return replace(result, table=Table(columns, tuple(map(kept, table.rows))), sections=sections)


def typed(name: str) -> str:
    """A name as it is written in a statement."""
    return name if is_bare_name(name) else quoted(name)

"""The statements that pages ask: each in a session, answered once, and a few at a time."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.plans import document_search
from evalhouse.warehouse.plans.offers import Offer, offers
from evalhouse.warehouse.plans.path import Query
from evalhouse.warehouse.plans.scores import texts
from evalhouse.warehouse.process.stopping import Interruptible, stop
from evalhouse.warehouse.results import Cell, Result, Table
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.statements.questions import OnlyQuestions
from evalhouse.warehouse.store.catalog import Catalog, KnownTestSet

# === the questions of a page ==========================================================================================
# In one session. Each is answered only once as long as the warehouse does not change. Statements that would change
# something, or read or write a file, must be refused.

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


def check_statements(text: str, only: OnlyQuestions) -> tuple[n.AnyStatement, ...]:
    """The statements of a text, all of which must be allowed here. Raises QueryError."""
    only.check_beginning(text)
    statements = tuple(parse(text))
    for statement in statements:
        only.check(statement)
    return statements


def check_question(text: str, only: OnlyQuestions) -> tuple[n.AnyStatement, ...]:
    """The same for one question, which may follow statements that set variables. Raises QueryError."""
    statements = check_statements(text, only)
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

    def offers(self, test_set: KnownTestSet) -> tuple[Offer, ...]:
        """Everything that can be asked about a test set."""
        return offers(self.catalog, test_set, self.measures)

    def one(self, text: str) -> Result:
        """The answer to one question. Raises QueryError."""
        (answer,) = self._answers_to(check_question(text, self._only))
        return answer

    def all_of(self, text: str) -> Iterator[Result]:
        """The answers to questions, one at a time. All of them are checked first. Raises QueryError."""
        return self._answers_to(check_statements(text, self._only))

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
        runs = {self.catalog.system_names[system]: name for system, name in self.catalog.run_names.items()}
        return [
            StoredText(runs.get(system, system), kind, text, length)
            for _, system, kind, text, length in self.session.database.rows(query.sql)
        ]

    def documents_holding(self, test_set: KnownTestSet, systems: Iterable[str], words: str) -> frozenset[str]:
        """The documents with a text that holds some words: an input, a reference, or what one of the systems
        answered.
        """
        if not self._with_texts:
            return frozenset()
        stored = frozenset[int]().union(*map(self.system, systems))
        return self._names(document_search.holding(test_set.id, stored, words))

    def documents_with(self, test_set: KnownTestSet, attribute: str, value: str) -> frozenset[str]:
        """The documents with a value of an attribute."""
        return self._names(document_search.with_attribute(test_set.id, attribute, value))

    def attribute_values(self, test_set: KnownTestSet, most: int) -> tuple[tuple[str, str], ...]:
        """The attributes of documents that have at most so many values, with each value."""
        query = document_search.attribute_values(test_set.id, most)
        return tuple((name, value) for name, value in self.session.database.rows(query.sql))

    def beside(self, test_set: KnownTestSet, document: str) -> tuple[str | None, str | None]:
        """The documents before and after one, in the order in which they were loaded."""
        [(before, after)] = self.session.database.rows(document_search.beside(test_set.id, document).sql)
        return before, after

    def _names(self, query: Query) -> frozenset[str]:
        return frozenset(name for (name,) in self.session.database.rows(query.sql))

    # --- names --------------------------------------------------------------------------------------------------------

    def test_set(self, name: str) -> KnownTestSet:
        """A test set by its name in addresses. Raises MissingError."""
        for known in self.catalog.test_sets:
            if self.catalog.short_name(known) == name:
                return known
        raise MissingError(f"there is no test set {name!r} in this warehouse")

    def system(self, name: str) -> frozenset[int]:
        """The numbers of a system, or of its runs. Raises MissingError."""
        meant = self.catalog.meant_by(name)
        if not meant:
            raise MissingError(f"there is no system {name!r} in this warehouse")
        return meant


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


def offer_of(inquiry: Inquiry, test_set: KnownTestSet, wanted: str) -> Offer | None:
    """The kind of rows with this name, or the first kind; None if nothing can be asked about the test set."""
    there = inquiry.offers(test_set)
    return next((offer for offer in there if offer.kind.name == wanted), there[0] if there else None)


# === the queue for questions ==========================================================================================
# A few are answered at a time, each with its own session, in a thread that ends when nobody waits for the answer any
# more or when it takes too long.

AT_ONCE = 2
"""The number of questions that are answered at the same time."""

MOST_WAITING = 32
"""The number of further questions that may wait."""

PACE = 0.5
"""How often the progress of an answer is reported, in seconds."""


class BusyError(Exception):
    """Too many questions are already waiting."""


class TimeIsUpError(Exception):
    """A question took longer than allowed."""


class _End(Struct, frozen=True):
    """The end of the pieces; `error` is what went wrong, if anything."""

    error: Exception | None


class Desk:
    """Sessions on one warehouse, and the questions that they answer."""

    def __init__(self, open: Callable[[], Session], timeout: float, at_once: int = AT_ONCE) -> None:
        self.timeout = timeout
        self._open = open
        self._free = asyncio.Semaphore(at_once)
        self._waiting = 0
        self._idle: list[Session] = []
        self._running: dict[Interruptible[None], Session] = {}
        self._lock = threading.Lock()
        self._closed = False

    @property
    def running(self) -> int:
        """The number of questions that are being answered."""
        return len(self._running)

    async def pieces(self, make: Callable[[Session], Iterator[str]]) -> AsyncGenerator[str | float, None]:
        """The pieces that are made with a session, each as soon as it is ready. A number between them is the progress
        of a long computation. If the caller stops iterating, the work ends. A caller who takes the pieces slowly
        neither delays the work nor makes the next question wait.

        Raises BusyError, TimeIsUpError, and whatever making the pieces raises.
        """
        if self._waiting >= MOST_WAITING:
            raise BusyError
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        arrived: asyncio.Queue[str | _End] = asyncio.Queue()
        share = [0.0]
        working = asyncio.ensure_future(self._work(make, arrived, share))
        try:
            while True:
                try:
                    piece = await asyncio.wait_for(arrived.get(), PACE)
                except TimeoutError:
                    yield share[0]
                    continue
                if isinstance(piece, str):
                    yield piece
                elif piece.error is None:
                    return
                else:
                    raise piece.error
        finally:
            working.cancel()
            await asyncio.wait({working})

    async def _work(
        self, make: Callable[[Session], Iterator[str]], arrived: asyncio.Queue[str | _End], share: list[float]
    ) -> None:
        """Does the work until it is finished or its time is up, and then lets the next question begin."""
        error: Exception | None = None
        try:
            await self._make(make, arrived, share)
        except Exception as raised:
            error = raised
        finally:
            self._free.release()
            arrived.put_nowait(_End(error))

    async def _make(
        self, make: Callable[[Session], Iterator[str]], arrived: asyncio.Queue[str | _End], share: list[float]
    ) -> None:
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def tell(hear: Callable[[], None]) -> None:
            # If the program is ending, nobody is listening any more.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(hear)

        def heard(done: float) -> None:
            share[0] = done

        session = await asyncio.to_thread(self._take_session)

        def work() -> None:
            try:
                with session.watched(heard):
                    for piece in make(session):
                        tell(partial(arrived.put_nowait, piece))
            finally:
                tell(ended.set)

        task = Interruptible(work)
        with self._lock:
            if self._closed:
                session.close()
                raise BusyError
            self._running[task] = session
        task.start()
        try:
            try:
                await asyncio.wait_for(ended.wait(), self.timeout)
            except TimeoutError:
                raise TimeIsUpError from None
            while not task.done.is_set():
                await asyncio.sleep(0.001)
            try:
                task.result()
            except KeyboardInterrupt:
                # The desk was closed in the meantime.
                raise BusyError from None
        finally:
            await asyncio.shield(asyncio.to_thread(self._given_back, task, session))

    def _take_session(self) -> Session:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._open()

    def _given_back(self, task: Interruptible[None], session: Session) -> None:
        """Ends the work if it is still running. In that case its session may be in the middle of something and is not
        reused.
        """
        finished = task.done.is_set()
        if not finished:
            stop(task, session.interrupt)
        with self._lock:
            self._running.pop(task, None)
            if finished and not self._closed:
                self._idle.append(session)
                return
        session.close()

    def close(self) -> None:
        """Ends all work, and closes all sessions. Any thread may call it."""
        with self._lock:
            self._closed = True
            running, idle = list(self._running.items()), self._idle[:]
            self._idle.clear()
        for task, session in running:
            stop(task, session.interrupt)
        for session in idle:
            session.close()

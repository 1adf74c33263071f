"""The path of a statement, and the engines that answer its queries.

    text -parse-> node -resolve-> plan -compile-> queries -fetch-> facts -answer-> Result

All queries of a statement are written before the first of them runs, and `answer` sees only the facts that they
brought. `fetch` is the only stage that touches a database. The table of statements says what each statement does at
each stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Literal, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.process.memory import one_for_matrices
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.significance.draws import ALONE, Work, in_order
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql

# === engines ==========================================================================================================
# `Engine` is what every engine looks like; the default one is the warehouse's own database.

Portion = TypeVar("Portion")
Done = TypeVar("Done")


def in_turn(work: Callable[[Portion], Done], pieces: Sequence[Portion]) -> list[Done]:
    """What the work makes of each piece, one after another."""
    return [work(piece) for piece in pieces]


def cuts(pieces: Sequence[Portion], blocks: int) -> Iterator[Sequence[Portion]]:
    """Pieces one after another, in at most this many parts of about the same size."""
    size = -(-len(pieces) // blocks)
    for start in range(0, len(pieces), size or 1):
        yield pieces[start : start + size]


class Workforce(Struct, frozen=True):
    """Who does the computations on facts: the threads of `work`, or for long computations those to whom `share_out`
    gives the `blocks` into which they are divided. The outcome is the same.
    """

    work: Work = ALONE
    blocks: int = 1
    share_out: Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]] = in_turn

    def part(self, place: int, parts: int, size: int = 1) -> Workforce:
        """The same for one of several equal parts, numbered from 0, or for `size` of them from `place` on."""
        return replace(self, work=self.work.part(place, parts, size))

    def done(self, work: Callable[[Portion], Done], pieces: Sequence[Portion]) -> Iterator[Done]:
        """What the work makes of each piece, in order: shared out where there are blocks, else by the threads."""
        if self.blocks > 1 and len(pieces) > 1:
            return iter(self.share_out(work, pieces))
        return in_order(work, pieces, self.work.threads)

    def for_each(self, work: Callable[[Portion, Work], Done], pieces: Sequence[Portion]) -> Iterator[Done]:
        """What the work makes of each piece, in order: shared out where there are blocks, else one after another, each
        with all threads and its part of the progress.
        """
        if self.blocks > 1 and len(pieces) > 1:
            parts = list(cuts(pieces, self.blocks))
            return chain.from_iterable(self.share_out(partial(_in_turn_alone, work), parts))
        return (work(piece, self.work.part(number, len(pieces))) for number, piece in enumerate(pieces))


def _in_turn_alone(work: Callable[[Portion, Work], Done], pieces: Sequence[Portion]) -> list[Done]:
    return [work(piece, ALONE) for piece in pieces]


ONE_THREAD = Workforce()
"""One thread does everything, and progress is not reported."""


class Engine(Protocol):
    """Answers queries, and says who does the computations on what they bring."""

    @property
    def workforce(self) -> Workforce: ...

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    def columns(self, query: Sql) -> dict[str, Any]:
        """The columns of a query as numpy arrays by name; masked where there are nulls."""

    def untrusted(self, text: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The column names and rows of a query that someone typed."""

    def interrupt(self) -> None:
        """Stops what runs in another thread."""

    def close(self) -> None:
        """Closes the database and what else answers."""


class DuckDBEngine(Struct, frozen=True):
    """Runs queries on the database of a warehouse."""

    database: Database
    workforce: Workforce = ONE_THREAD

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.database.rows(query)

    def columns(self, query: Sql) -> dict[str, Any]:
        """The columns of a query as numpy arrays by name; masked where there are nulls."""
        return self.database.columns(query)

    def untrusted(self, text: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The column names and rows of a query that someone typed."""
        return self.database.untrusted(text)

    def interrupt(self) -> None:
        """Stops what runs in another thread."""
        self.database.interrupt()

    def close(self) -> None:
        """Closes the database."""
        self.database.close()


# === queries, facts and statements ====================================================================================

Facts = Mapping[str, Any]
"""What the queries of a statement brought, by their names."""


class Query(Struct, frozen=True):
    """What is asked of the database: the name of the answer among the facts, the SQL, and the form of the answer.

    `rows` are tuples; `columns` are numpy arrays by name, masked where there are nulls; `narrow` ones are in the
    smallest whole numbers that hold them, since they are kept while all is answered; `typed` is SQL that someone typed,
    answered by the names of its columns and its rows. What is `needed` by some facts only is asked where the facts of
    the queries before it are such.
    """

    name: str
    sql: Sql
    form: Literal["rows", "columns", "narrow", "typed"] = "rows"
    needed: Callable[[Facts], bool] | None = None


Queries = tuple[Query, ...]


def fetch(queries: Queries, engine: Engine) -> Facts:
    """The facts of some queries; those of one name are one query, which is asked once.

    Raises ValueError for two different queries of one name.
    """
    by_name: dict[str, Query] = {}
    for query in queries:
        if by_name.setdefault(query.name, query).sql != query.sql:
            raise ValueError(f"two different queries are called {query.name!r}")
    facts: dict[str, Any] = {}
    for name, query in by_name.items():
        if query.needed is None or query.needed(facts):
            facts[name] = _fetch_query(query, engine)
    return facts


def _fetch_query(query: Query, engine: Engine) -> Any:
    match query.form:
        case "rows":
            return engine.rows(query.sql)
        case "columns":
            return engine.columns(query.sql)
        case "narrow":
            return _narrow(engine.columns(query.sql))
        case "typed":
            try:
                return engine.untrusted(query.sql.text)
            except DataError as error:
                raise QueryError(error.faults[0].message) from None


def _narrow(columns: dict[str, Any]) -> dict[str, Any]:
    """Columns of whole numbers without nulls in the smallest type that holds them; the others as they are."""
    from evalhouse.warehouse.significance.arrays import narrow

    for name, column in columns.items():
        if column.dtype.kind == "i" and not hasattr(column, "mask"):
            columns[name] = narrow(column)
    return columns


class Usage(Struct, frozen=True):
    """How a statement is written, what it does in one line, and an example."""

    written: str
    meaning: str
    example: str
    of_sample: bool = True
    """Whether the sample data have what the example asks for."""
    of_rows: str = ""
    """An example in Python about the table `rows` of `evalhouse.warehouse.python.generation`, and what it prints.
    Without it the documentation has the example as a call, which is not run.
    """


Line = tuple[str, str]
"""A stage of an explanation and what is done in it."""


def statistics_of(entry: p.Entry) -> str:
    """What most questions ask of an entry."""
    statistics = ", ".join(statistic.label for statistic in entry.statistics)
    names = ", ".join(system.name for system in entry.systems)
    return f"{statistics} of {entry.kind.name} on {entry.test_set.name} for {names}"


class Statement(Struct, frozen=True):
    """All that is known of one statement, one function per stage.

    `resolve` takes the node and a Scope and looks every name up; `compile` gives the queries of the plan; `answer` is
    arithmetic on what they brought. For `explain`, `subject` says what is asked of an entry, `weigh` how the plan would
    be executed where that follows from the facts, and `executor` where the plan says it or it is always the same. A
    question `of_one_table` can be asked of a table in memory; the others need a second test set, or a key.
    """

    node: type[n.Node]
    usage: Usage
    resolve: Callable[[Any, Any], Any]
    compile: Callable[[Any], Queries]
    answer: Callable[[Any, Facts, Workforce], Result]
    subject: Callable[[p.Entry], str] = statistics_of
    weigh: Callable[[Any, Facts], Iterable[Line]] | None = None
    executor: str | Callable[[Any], str] = ""
    of_one_table: bool = True

    @property
    def word(self) -> str:
        """Its first word."""
        return self.usage.written.split()[0]


def execute(statement: Statement, plan: Any, engine: Engine) -> Result:
    """The answer to a plan of a statement. Raises QueryError for mistakes that only the data show."""
    return answer_from(statement, plan, fetch(statement.compile(plan), engine), engine.workforce)


def answer_from(statement: Statement, plan: Any, facts: Facts, workforce: Workforce) -> Result:
    """The answer to a plan from the facts that its queries bring. Raises QueryError as `execute` does."""
    with one_for_matrices():
        return statement.answer(plan, facts, workforce)

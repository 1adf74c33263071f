"""The path of a statement: Query, Facts, and the one stage that touches a database, `fetch`.

    text -parse-> node -resolve-> plan -compile-> queries -fetch-> facts -answer-> Result

All queries of a statement are there before the first of them runs, and what answers sees only the facts they brought.
What each statement does at each stage is said in `warehouse.statements`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct

from grammar import nodes as n
from grammar.errors import QueryError
from warehouse.faults import DataError
from warehouse.query import plan as p
from warehouse.query.engine import Engine, Workforce
from warehouse.results import Result
from warehouse.store.sql import Sql
from warehouse.threads import one_for_matrices

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
            facts[name] = _fetched(query, engine)
    return facts


def _fetched(query: Query, engine: Engine) -> Any:
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
    from warehouse.significance.paired import narrowed

    for name, column in columns.items():
        if column.dtype.kind == "i" and not hasattr(column, "mask"):
            columns[name] = narrowed(column)
    return columns


class Usage(Struct, frozen=True):
    """How a statement is written, what it does in one line, and an example."""

    written: str
    meaning: str
    example: str
    of_sample: bool = True
    """Whether the sample data have what the example asks for."""
    of_rows: str = ""
    """An example in Python about the table `rows` of `warehouse.python.generating`, and what it prints. Without it the
    documentation has the example as a call, which is not run.
    """


Line = tuple[str, str]
"""A stage of an explanation and what is done in it."""


def statistics_of(entry: p.Entry) -> str:
    """What most questions ask of an entry."""
    statistics = ", ".join(statistic.label for statistic in entry.statistics)
    names = ", ".join(system.name for system in entry.systems)
    return f"{statistics} of {entry.task.name} on {entry.test_set.name} for {names}"


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
    facts = fetch(statement.compile(plan), engine)
    with one_for_matrices():
        return statement.answer(plan, facts, engine.workforce)

"""A warehouse as Python programs use it: a method for each statement, and tables in memory that load like files.

Errors contain everything that the command line would say. Several threads may use a warehouse safely; they take
turns.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import FunctionType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.lexicon import is_bare_name, normalize, quote
from evalhouse.grammar.nodes import Expectation
from evalhouse.grammar.parser import parse
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.loading.planning import LoadRequest
from evalhouse.warehouse.loading.staging.door import EVERYWHERE, Door, bound_of
from evalhouse.warehouse.process.stopping import interruptibly
from evalhouse.warehouse.python import text as written
from evalhouse.warehouse.python.methods import StatementMethods
from evalhouse.warehouse.python.other_words import WAREHOUSE, no_attribute
from evalhouse.warehouse.python.printed_result import PrintedResult
from evalhouse.warehouse.python.text import in_full, plot_text, prefix_question, statement_text
from evalhouse.warehouse.render.html import clock_in_notebook
from evalhouse.warehouse.results import EMPTY, Result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.session.storage import is_lake, warehouse_name
from evalhouse.warehouse.statements.questions import OnlyQuestions
from evalhouse.warehouse.store.replacement import create

# === statements that are not questions ================================================================================
# Those written before a question, and those that list what there is.

Shown = Literal[
    "systems", "test sets", "evaluations", "measures", "tests", "imports", "variables", "attributes", "texts"
]


class OtherStatements(StatementMethods):
    """Methods for `expect`, `plot`, `explain`, `export`, `show` and `sql`."""

    def _one(self, text: str) -> PrintedResult:
        raise NotImplementedError

    def expect(
        self,
        expected: Expectation | None,
        question: str,
        *,
        at_least: written.Numeric | None = None,
        at_most: written.Numeric | None = None,
    ) -> PrintedResult:
        """Whether a comparison or a score meets an expectation.

        Parameters
        ----------
        expected : {"better", "worse", "not worse", "equivalent", "different"} or None
            What is expected of the first system of a comparison against the second; None for a score.
        question : str
            A statement that begins with `compare` or `score`.
        at_least, at_most : number, optional
            What a score is expected to reach, or not to exceed.

        Returns
        -------
        Result
            `outcome` says whether it holds; `raise_for()` raises an error if it does not hold.

        Raises
        ------
        QueryError
            If the statement is wrong; the message shows the place.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().expect("better", "compare F1 for GE against MDC on TST3").outcome
        'met'
        """
        clauses = {
            words: written.number(words, number)
            for words, number in (("at least", at_least), ("at most", at_most))
            if number is not None
        }
        return self._one(prefix_question(f"expect {expected}" if expected else "expect", question, **clauses))

    def plot(
        self,
        question: str,
        *,
        to: str | os.PathLike[str] | None = None,
        title: str | None = None,
        width: str | None = None,
        font: str | None = None,
    ) -> PrintedResult:
        """A question as a picture. For a result that exists already, use `Result.plot`.

        Parameters
        ----------
        question : str
            A statement such as `rank F1 for all on TST3`.
        to : str or path, optional
            The file that the picture is written to: .svg, .png, .pdf, .html or .json.
        title, width, font : str, optional
            Its title, its width (`80mm`), and its font.

        Returns
        -------
        Result
            With the picture as data in `chart`.

        Raises
        ------
        QueryError
            If there is no picture for this kind of question, or the file exists already.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().plot("score F1 for GE, UMASS on TST3").chart.title
        'F1 on TST3'
        """
        named = None if to is None else os.fspath(to)
        return self._one(plot_text(question, title=title, width=width, font=font, to=named))

    def explain(self, question: str) -> PrintedResult:
        """The SQL that would run, and the test that would be chosen and why. Nothing runs.

        Parameters
        ----------
        question : str
            A statement such as `compare F1 for GE, UMASS on TST3`.

        Returns
        -------
        Result

        Raises
        ------
        QueryError
            If the statement is wrong; the message shows the place.

        Examples
        --------
        >>> import evalhouse as eh
        >>> r = eh.open().explain("score F1 for GE on TST3")
        >>> r[0]["stage"], r[0]["what"]
        ('statement', 'score F1 for GE on TST3')
        """
        return self._one(prefix_question("explain", question))

    def export(self, question: str, to: str | os.PathLike[str]) -> PrintedResult:
        """Write the rows of a question to a file in the format of its extension.

        Parameters
        ----------
        question : str
            A statement such as `score F1 for all on TST3`.
        to : str or path
            A file that does not exist yet.

        Returns
        -------
        Result
            What was written.

        Raises
        ------
        QueryError
            If the statement is wrong; the message shows the place.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().export("score F1 for GE, UMASS on TST3", "scores.csv").rows
        [{'file': 'scores.csv', 'rows': 2}]
        """
        return self._one(prefix_question("export", question, to=quote(os.fspath(to))))

    def show(self, what: Shown, *, as_of: written.ImportOrDate | None = None) -> PrintedResult:
        """A list of what is in the warehouse.

        Parameters
        ----------
        what : str
            "systems", "test sets", "evaluations", "measures", "tests", "imports", "variables", "attributes" or "texts".
        as_of : int, str, date or datetime, optional
            What there was after an import, or at a date or time. Only a lake keeps its past.

        Returns
        -------
        Result

        Raises
        ------
        QueryError
            If `what` is anything else.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().show("imports").rows[0]["source"]
        'sample_data/published/systems.csv'
        """
        return self._one(_as_of(f"show {what}", as_of))

    def sql(self, select: str, *, as_of: written.ImportOrDate | None = None) -> PrintedResult:
        """One SELECT on the views of the warehouse.

        Parameters
        ----------
        select : str
            A query in DuckDB's SQL. It cannot change anything, and cannot read files.
        as_of : int, str, date or datetime, optional
            Ask the warehouse as it was after an import, or at a date or time. Only a lake keeps its past.

        Returns
        -------
        Result

        Raises
        ------
        QueryError
            If DuckDB rejects the query.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().sql("select count(distinct system) as systems from scores").rows
        [{'systems': 17}]
        """
        return self._one(_as_of(f"sql {quote(select)}", as_of))


def _as_of(text: str, as_of: written.ImportOrDate | None) -> str:
    """A statement with the clause `as of`, if a state is given."""
    return text if as_of is None else f"{text} as of {written.import_or_date('as_of', as_of)}"


# === the warehouse ====================================================================================================

T = TypeVar("T")


class Warehouse(OtherStatements):
    """A warehouse of evaluation results: what `open` and `create` give.

    Every question of the language is a method, and the clauses of its statement are the arguments, with the same words.
    Several threads may use a warehouse; they take turns. It is a context manager, which closes it.

    Attributes
    ----------
    path : pathlib.Path or None
        Its file; None for the sample data and for a warehouse in memory.
    closed : bool
        Whether it was closed.
    session : evalhouse.warehouse.session.session.Session
        The underlying session, for programs that are part of evalhouse.

    Examples
    --------
    >>> import evalhouse as eh
    >>> with eh.open() as w:
    ...     r = w.compare("F1", "GE", "UMASS", on="TST3", shuffles=9999)
    >>> r.rows[0]["p"], r.rows[0]["verdict"]
    (0.1004, 'not significant')
    """

    def __init__(self, session: Session, *, read_only: bool = False) -> None:
        if not isinstance(session, Session):
            raise TypeError(f"eh.open({session!r}) opens a warehouse, and eh.create({session!r}) makes one")
        self.session = session
        self._lock = threading.RLock()
        self.closed = False
        if read_only:
            session.only = OnlyQuestions(sql=True)

    @property
    def path(self) -> Path | None:
        return self.session.path

    if not TYPE_CHECKING:  # a checker would take every attribute for one that is there

        def __getattr__(self, word: str) -> NoReturn:
            raise no_attribute("a warehouse", word, WAREHOUSE, dir(type(self)))

    # --- statements ---------------------------------------------------------------------------------------------------

    def run(self, statements: str) -> PrintedResult:
        """Run statements of the language.

        Parameters
        ----------
        statements : str
            One statement, or several separated by semicolons.

        Returns
        -------
        Result
            The answer to the last statement that has one.

        Raises
        ------
        QueryError
            If a statement is wrong; the message shows the place.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.run("let $best = GE, GE-CMU; score F1 for $best on TST3").columns
        ('test_set', 'task', 'system', 'documents', 'F1', 'source')
        """
        last = None
        for result in self.results(written.check_text("statements", statements)):
            last = result
        return last if last is not None else self._printed(Result(statements.strip(), "", "", EMPTY))

    def results(self, statements: str) -> Iterator[PrintedResult]:
        """Run statements, and yield the answer of each that has one, one at a time.

        Parameters
        ----------
        statements : str
            Statements separated by semicolons; all are parsed before the first one runs.

        Yields
        ------
        Result

        Raises
        ------
        QueryError
            If a statement is wrong; the message shows the place.

        Examples
        --------
        >>> import evalhouse as eh
        >>> [len(r) for r in eh.open().results("score F1 for GE, SRI on TST3; score F1 for GE on TST3")]
        [2, 1]
        """
        text = written.check_text("statements", statements)
        for statement in self._at_work(lambda: parse(text), text):
            result = self._at_work(partial(self.session.answer, statement), statements)
            if result is not None:
                yield self._printed(result)

    def _ask(self, word: str, given: Mapping[str, Any]) -> PrintedResult:
        return self._one(self._at_work(lambda: statement_text(word, given), ""))

    def _one(self, text: str) -> PrintedResult:
        """The answer to a text that must be one statement. Raises QueryError if there are more."""

        def answered() -> Result | None:
            statements = parse(text)
            if len(statements) != 1:
                raise QueryError("this is not one statement", statements[1].span)
            return self.session.answer(statements[0])

        result = self._at_work(answered, text)
        return self._printed(result if result is not None else Result(text, "", "", EMPTY))

    def _printed(self, result: Result) -> PrintedResult:
        return PrintedResult.of(result, self._one)

    def _at_work(self, work: Callable[[], T], text: str) -> T:
        """The result of some work, while no other thread works here. Errors get complete messages, with their place."""

        def in_turn() -> T:
            with self._lock:
                if self.closed:
                    raise WarehouseError("the warehouse is closed")
                if threading.current_thread() is not threading.main_thread():
                    return work()
                with clock_in_notebook() as waiting, self.session.watched(waiting.progress):
                    return interruptibly(work, self.session.interrupt, waiting.tick)

        return in_full(in_turn, text)

    # --- what changes it ----------------------------------------------------------------------------------------------

    def let(self, name: str, *values: written.Numeric) -> None:
        """Set a variable for the following statements.

        Parameters
        ----------
        name : str
            With or without its `$`.
        *values : str, int, float or Decimal
            Names, patterns, or a number.

        Raises
        ------
        QueryError
            If a variable cannot have the value.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.let("finalists", "GE", "GE-CMU", "UMASS")
        >>> len(w.score("F1", "$finalists", on="TST3"))
        3
        """
        given = [
            written.names(name, value) if isinstance(value, str) else written.number(name, value) for value in values
        ]
        self._one(f"let ${name.removeprefix('$')} = {', '.join(given)}")

    def define(self, name: str, expression: str) -> None:
        """Define a measure. It is stored in the warehouse; with the sample data, it lasts until they are closed.

        Parameters
        ----------
        name : str
            With its parameters, if it has any: `F(beta=1)`.
        expression : str
            Arithmetic on counts and measures, as after `define measure NAME =`.

        Raises
        ------
        QueryError
            If a statement is wrong; the message shows the place.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.define("missed", "1 - recall")
        >>> w.score("missed", "GE", on="TST3").rows[0]["missed"]  # doctest: +ELLIPSIS
        0.421...
        """
        named = name if "(" in name or is_bare_name(name) else quote(normalize(name))
        self._one(f"define measure {named} = {expression}")

    def load(
        self,
        *data: Any,
        as_: str = "auto",
        name: str = "frame",
        map: Mapping[str, str] | None = None,
        set: Mapping[str, str] | None = None,
        lower_is_better: written.NameOrNames = (),
        higher_is_better: written.NameOrNames = (),
        share: written.NameOrNames = (),
        simulated: bool = False,
        skip_bad: bool = False,
        strict: bool = False,
        expect_all: bool = False,
        same_documents: bool = False,
        texts: bool = False,
        dry_run: bool = False,
        wait: float = 10.0,
        max_unpacked: str | None = None,
        **options: str | float,
    ) -> PrintedResult:
        """Load files, folders or tables in memory, as `evalhouse load` does. Either everything is loaded or nothing.

        Parameters
        ----------
        *data : str, path, DataFrame, Arrow table, DuckDB relation or list of dict
            Files, folders, archives and patterns such as `runs/*.jsonl`; or tables with one row per sample.
        as_ : str, default "auto"
            The reader, if it should not be detected.
        name : str, default "frame"
            The name of a table in memory: in messages, in `show imports`, and for its test set if nothing else names
            one.
        map : mapping of str to str, optional
            The columns for fields, if they have other names: `{"system": "model"}`.
        set : mapping of str to str, optional
            Fields with the same value in every row: `{"test_set": "dev"}`; also `noun`, `cluster` and `group`.
        lower_is_better, higher_is_better : str or sequence of str
            Measures whose lower, or higher, values are better, if their names do not show it.
        share : str or sequence of str
            Measures that are shares, between 0 and 1, if their names do not show it: 5% of them is 0.05.
        simulated : bool, default False
            Mark the rows as simulated.
        skip_bad : bool, default False
            Skip files that cannot be read.
        strict : bool, default False
            Refuse files that state other figures than their rows have; otherwise notes say so.
        expect_all : bool, default False
            Refuse the load if any file but readmes and licences would be passed over or left out.
        same_documents : bool, default False
            Treat documents with the same name as one, even where files give them different questions or answers.
        texts : bool, default False
            Also store inputs, references and outputs.
        dry_run : bool, default False
            Check everything and report what would be new, but store nothing.
        wait : float, default 10
            How many seconds to wait while another program changes the warehouse.
        max_unpacked : str, optional
            The maximum unpacked size of a compressed file, such as `50GB`.
        **options : str or number
            Options of the reader, as on the command line: `measures="a,b"`, `gold="gold.conll"`, `depth=10`.

        Returns
        -------
        Result
            One row per file: its reader, its import, the rows read and the rows that were new. Its `summary` has what
            became of the files that were not loaded by themselves: `file`, `became` and `why`.

        Raises
        ------
        LoadError
            If something cannot be read; the message names the file and line, or the table and its row.
        WarehouseError
            If the warehouse cannot be changed.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.create()
        >>> rows = [
        ...     {"model": model, "question": f"Q{n}", "accuracy": int(n % k == 0)}
        ...     for model, k in (("base", 3), ("new", 2))
        ...     for n in range(20)
        ... ]
        >>> w.load(rows, name="dev").rows[0]["rows_new"]
        40
        >>> [(row["system"], row["accuracy"]) for row in w.score("accuracy", on="dev")]
        [('new', 0.5), ('base', 0.35)]
        """
        from evalhouse.warehouse.python.frames import files_of

        directions = dict.fromkeys(written.several("lower_is_better", lower_is_better) if lower_is_better else (), True)
        higher = written.several("higher_is_better", higher_is_better) if higher_is_better else ()
        if both := [measure for measure in higher if measure in directions]:
            raise ValueError(f"{both[0]} is both in lower_is_better and in higher_is_better")
        directions.update(dict.fromkeys(higher, False))
        files = files_of(data, name)

        def loaded(named: list[str], called: Mapping[str, str]) -> Result:
            request = LoadRequest(
                named,
                as_,
                fields=dict(set or {}),
                columns=dict(map or {}),
                options={name: str(value) for name, value in options.items()},
                lower_is_better=directions,
                shares=written.several("share", share) if share else (),
                simulated=simulated,
                skip_bad=skip_bad,
                strict=strict,
                expect_all=expect_all,
                same_documents=same_documents,
                texts=texts,
                door=EVERYWHERE if max_unpacked is None else Door(unpacked=bound_of(max_unpacked)),
            )
            return self._load(request, called, keep=not dry_run, wait=wait)

        return self._printed(self._at_work(lambda: files.loaded(loaded), ""))

    def _load(self, request: LoadRequest, called: Mapping[str, str], *, keep: bool, wait: float) -> Result:
        if self.session.only is not None:
            raise WarehouseError("the warehouse was opened to be read only")
        if self.session.path is None and not self.session.changeable:
            raise WarehouseError("the sample data cannot be changed", ("evalhouse.create(FILE) makes a warehouse",))
        return self.session.load(request, "load", called=called, keep=keep, wait=wait)

    def forget(self, number: int) -> PrintedResult:
        """Undo a load: remove the rows that it added.

        Parameters
        ----------
        number : int
            The import, as `show("imports")` lists it.

        Returns
        -------
        Result
            How many rows were removed.

        Raises
        ------
        QueryError
            If there is no such import.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.create()
        >>> r = w.load([{"model": "base", "question": "Q1", "accuracy": 1}])
        >>> w.forget(r[0]["import"])[0]["rows_removed"]
        1
        """
        return self._one(f"forget import {written.number('number', number)}")

    # --- its life -----------------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Stop the statement that another thread is running.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.interrupt()  # nothing runs, so nothing is stopped
        >>> len(w.score("F1", "GE", on="TST3"))
        1
        """
        self.session.interrupt()

    def close(self) -> None:
        """Close the warehouse. Its results stay usable, but can no longer draw pictures.

        Examples
        --------
        >>> import evalhouse as eh
        >>> w = eh.open()
        >>> w.close()
        >>> w
        <evalhouse warehouse: the sample data, closed>
        """
        with self._lock:
            if not self.closed:
                self.closed = True
                self.session.close()

    def __enter__(self) -> Warehouse:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        where = (
            warehouse_name(self.path) if self.path else "in memory" if self.session.changeable else "the sample data"
        )
        return f"<evalhouse warehouse: {where}{', closed' if self.closed else ''}>"


for _kind in (StatementMethods, OtherStatements):
    for _name, _method in vars(_kind).items():
        # Python's messages about wrong calls then name the public class.
        if isinstance(_method, FunctionType):
            _method.__qualname__ = f"{Warehouse.__name__}.{_name}"
            if hasattr(_method, "__wrapped__"):
                _method.__wrapped__.__qualname__ = _method.__qualname__


def open_warehouse(path: str | os.PathLike[str] | None, *, read_only: bool) -> Warehouse:
    """The warehouse at a path, or on the sample data. Raises WarehouseError."""
    return _make_warehouse(lambda: Session.open(path), read_only=read_only)


def create_warehouse(path: str | os.PathLike[str] | None, *, lake: bool = False) -> Warehouse:
    """A new warehouse at a path, or in memory. An address, such as s3://BUCKET/evals, is always a lake. Raises
    WarehouseError.
    """

    def made() -> Session:
        if path is None:
            return Session.in_memory()
        if lake or is_lake(Path(path)):
            from evalhouse.warehouse.lake.making import make_lake
            from evalhouse.warehouse.store.connecting import in_memory

            make_lake(os.fspath(path), "init", lambda folder: in_memory())
        else:
            create(Path(path)).close()
        return Session.open(path)

    return _make_warehouse(made)


def _make_warehouse(make: Callable[[], Session], *, read_only: bool = False) -> Warehouse:
    return in_full(lambda: Warehouse(make(), read_only=read_only))


def at_work(warehouse: Warehouse, work: Callable[[], T]) -> T:
    """The result of some work in a warehouse, as its own questions are done: one at a time, and interruptibly."""
    return warehouse._at_work(work, "")

"""A session: one warehouse, its variables, and `run`, which takes a text through all stages to its results. It draws
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from types import MappingProxyType, TracebackType

from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import NOWHERE, QueryError, Span
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.loading.planning import LoadRequest
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.past import AsOf
from evalhouse.warehouse.plans.path import DuckDBEngine, Engine, Workforce
from evalhouse.warehouse.plans.substitution import Item, at_level, items_of, substitute
from evalhouse.warehouse.process.memory import threads_allowed
from evalhouse.warehouse.render.diagnostics import query_error
from evalhouse.warehouse.render.html import show_results_as_html
from evalhouse.warehouse.render.style import Theme
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.files import path_in
from evalhouse.warehouse.session.storage import load_files, open_warehouse, past_of, stamp
from evalhouse.warehouse.session.warehouse import SessionWarehouse
from evalhouse.warehouse.significance.draws import Progress, Work, silent
from evalhouse.warehouse.statements import Planned, answer, resolve
from evalhouse.warehouse.statements.questions import OnlyQuestions
from evalhouse.warehouse.store.catalog import Catalog
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.replacement import WAIT, Tell, nobody

NOTHING: Mapping[str, str] = MappingProxyType({})


class Session:
    """Runs statements on one warehouse, one after another.

    `variables` were set by `let`; `fixed` variables were given from outside, and `let` does not change them. Paths in
    statements are relative to `folder`, and must stay inside it if the session is `confined`. With `force`, an export
    overwrites an existing file. A session that `follows` its warehouse sees what other programs loaded meanwhile, and
    says so in a note; any other session sees the warehouse as it was opened. With `only`, it answers questions but
    refuses statements that change something or write a file. `tell` reports which program a changing statement waits
    for. `level` is the level for statements that do not state one, and appears in their results. Pictures use `theme`.
    A warehouse in memory can be changed if it is `changeable`. `lake` names the lake that Spark queries, which never
    changes; it is empty for a warehouse. `past` opens the warehouse in a state that `as of` asks for, and raises
    NoSuchStateError if there was none; it is None for warehouses that do not keep their past. A session is
    `last` if the process ends after it.
    """

    def __init__(
        self,
        database: Database,
        path: Path | None = None,
        engine: Callable[[Database, Workforce], Engine] = DuckDBEngine,
        *,
        version: object = None,
    ) -> None:
        self._made = engine
        self.variables: dict[str, tuple[Item, ...]] = {}
        self.fixed: set[str] = set()
        self.folder = Path()
        self.confined = False
        self.force = False
        self.level: n.Number | None = None
        self.theme: Theme = "auto"
        self.lake = ""
        self.past: Callable[[AsOf], Database] | None = None
        self.follows = True
        self.only: OnlyQuestions | None = None
        self.last = False
        self.tell: Tell = nobody
        self._progress: Progress = silent
        self._warehouse = SessionWarehouse(database, path, version, self._engine_of, lambda said: self.tell(said))
        self._past_engine: Engine | None = None  # while it answers
        show_results_as_html()

    def _engine_of(self, database: Database) -> Engine:
        return self._made(database, Workforce(Work(threads_allowed(), self._pass_progress)))

    def _pass_progress(self, share: float) -> None:
        self._progress(share)

    @contextmanager
    def watched(self, progress: Progress) -> Iterator[None]:
        """Inside the block, `progress` is called with the share of a comparison or load that is done, from 0 to 1, in
        the thread that does the work.
        """
        before, self._progress = self._progress, progress
        try:
            yield
        finally:
            self._progress = before

    @classmethod
    def open(cls, path: str | PathLike[str] | None = None) -> Session:
        """A session on the warehouse at `path`, or on the sample data. Raises WarehouseError."""
        if path is None:
            from evalhouse.warehouse.loading.sample import sample

            return cls(sample())
        version = stamp(Path(path))
        session = cls(open_warehouse(Path(path)), Path(path), version=version)
        session.past = past_of(Path(path))
        return session

    @classmethod
    def in_memory(cls) -> Session:
        """A session on a new warehouse in memory, which is lost when the session is closed."""
        session = cls(in_memory())
        session._warehouse.changeable = True
        return session

    @classmethod
    def on_lake(cls, folder: str, master: str | None = None) -> Session:
        """A session on a lake; Spark sums its facts. Raises WarehouseError."""
        from evalhouse.warehouse.lake.spark.engine import open_lake

        lake = open_lake(folder, master)
        session = cls(lake.names, engine=lake.engine)
        session.lake = folder
        session.past = lake.past
        return session

    def interrupt(self) -> None:
        """Stops the statement that is running in another thread."""
        (self._past_engine or self.engine).interrupt()

    def set(self, name: str, text: str) -> None:
        """Sets a variable from outside. The value is written as after `let $name =`. Raises QueryError."""
        statements = parse(f"let ${name} = {text}")
        if len(statements) != 1 or not isinstance(statements[0], n.Let):
            raise QueryError(f"{name} is given no value")
        self._let(statements[0])
        self.fixed.add(name)

    def run(self, text: str) -> Result:
        """The result of the last statement of a text that has a result. Raises QueryError, with the place drawn in a
        note.
        """
        last = None
        try:
            for result in self.results(text):
                last = result
        except QueryError as error:
            error.add_note(query_error(error, text))
            raise
        if last is None:
            raise QueryError("there is nothing to answer")
        return last

    def results(self, text: str) -> Iterator[Result]:
        """Yields the result of each statement that has one. The whole text is parsed before anything runs."""
        for statement in parse(text):
            result = self.answer(statement)
            if result is not None:
                yield result

    def answer(self, statement: n.AnyStatement) -> Result | None:
        """The result of a statement; None for statements that only change the session. Raises QueryError."""
        if self.only is not None:
            self.only.check(statement)
        if isinstance(statement, n.Let):
            self._let(statement)
            return None
        note = self.follow() if self.follows else ""
        result = self._answer_statement(statement)
        return replace(result, notes=(note, *result.notes)) if result is not None and note else result

    @property
    def database(self) -> Database:
        """The database of the warehouse; another one after a change."""
        return self._warehouse.database

    @property
    def engine(self) -> Engine:
        """What answers from the database."""
        return self._warehouse.engine

    @property
    def path(self) -> Path | None:
        """Where the warehouse is; None for one in memory, the sample data, and a lake on Spark."""
        return self._warehouse.path

    @property
    def catalog(self) -> Catalog:
        """What the warehouse has."""
        return self._warehouse.catalog

    @property
    def changeable(self) -> bool:
        """Whether the warehouse is one in memory that can be changed."""
        return self._warehouse.changeable

    @property
    def version(self) -> object:
        """A value that changes once this session has seen that the warehouse was replaced; None for the sample data."""
        return self._warehouse.version

    def follow(self) -> str:
        """Opens the warehouse again if another program has replaced it, and returns a note about that. Raises
        WarehouseError if it cannot be opened.
        """
        return self._warehouse.follow()

    def _answer_statement(self, statement: n.AnyStatement) -> Result | None:
        statement = substitute(statement, self.variables)
        if self.level is not None:
            statement = at_level(statement, self.level)
        question = statement.question if isinstance(statement, n.AboutQuestion) else statement
        if isinstance(question, n.Answerable) and question.as_of is not None:
            return self._answered_as_of(question.as_of, statement)
        scope = Scope(self.catalog, self.variables)
        if self.lake and isinstance(statement, n.Load | n.Forget):
            word = "load" if isinstance(statement, n.Load) else "forget"
            raise QueryError(
                f"{word} is not supported by --engine spark",
                statement.span,
                ("without it, a lake is changed as a file is",),
            )
        match statement:
            case n.Define():
                self._warehouse.define(statement)
                return None
            case n.Load():
                from evalhouse.warehouse.session.storage import load_request

                request = load_request(statement, self.folder, confined=self.confined)
                return self.load(request, to_text(statement), place=statement.span, called_from=self.folder)
            case n.Forget(number):
                number_of_import = scope.whole(number, "the number of an import", 1, 2**31 - 1) or 0
                return self._warehouse.forget(statement, number_of_import)
        return self._result_on(statement, scope, self.engine)

    def _answered_as_of(self, as_of: n.Node, statement: n.AnyStatement) -> Result:
        state = self._warehouse.state(as_of, self.past)
        self._past_engine = state.engine
        try:
            return self._result_on(statement, Scope(state.catalog, self.variables), state.engine, state.note)
        finally:
            self._past_engine = None

    def _result_on(self, statement: n.AnyStatement, scope: Scope, engine: Engine, note: str = "") -> Result:
        """The result of a statement about what is in the scope, with a note before its own."""

        def answered(planned: Planned) -> Result:
            result = answer(planned, engine)
            return replace(result, notes=(note, *result.notes)) if note else result

        try:
            planned = resolve(statement, scope)
            to = statement.to if isinstance(statement, n.Export | n.Plot) else None
            if to is None:
                return answered(planned)
            from evalhouse.warehouse.session import files as written_files

            path = path_in(self.folder, planned.plan.to, to.span, confined=self.confined)
            write = written_files.export if isinstance(statement, n.Export) else written_files.plot
            return write(planned, answered, path, to.span, force=self.force, theme=self.theme)
        except QueryError as error:
            # An error that was found in the data has no place of its own.
            span = error.span if error.span != NOWHERE else statement.span
            raise QueryError(error.message, span, error.hints) from None

    def _let(self, statement: n.Let) -> None:
        name = statement.variable.name
        if name not in self.fixed:
            self.variables[name] = items_of(statement, self.variables)

    def load(
        self,
        request: LoadRequest,
        text: str = "load",
        *,
        place: Span = NOWHERE,
        called_from: Path | None = None,
        called: Mapping[str, str] = NOTHING,
        keep: bool = True,
        wait: float = WAIT,
    ) -> Result:
        """Loads files, all or nothing, and reports how much of each was new. If `keep` is false, it only reports.

        Files in the folder `called_from` are named by their path in it; `called` maps paths to other names. Raises
        DataError. Raises WarehouseError if the warehouse cannot be changed; it waits first for other programs that
        change it.
        """
        return load_files(
            request,
            text,
            lambda change, files: self._warehouse.change(change, place, files, keep=keep, wait=wait),
            called_from=called_from,
            called=called,
            keep=keep,
            progress=self._pass_progress,
        )

    def close(self) -> None:
        """Closes the warehouse, and its past states."""
        self._warehouse.close(last=self.last)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

"""A session: one warehouse, its variables, and `run`, which takes a text through all stages to its results. It draws
nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.parser import parse
from grammar.printer import to_text
from grammar.span import NOWHERE, Span
from warehouse.faults import DataError, WarehouseError
from warehouse.query.engine import DuckDBEngine, Engine, Workforce
from warehouse.query.resolving.names import Scope, text_of
from warehouse.query.resolving.substitution import Item, at_level, expanded, substituted
from warehouse.render import Style, render
from warehouse.render.diagnostics import query_error
from warehouse.render.jupyter import show_results_as_html
from warehouse.render.style import Theme
from warehouse.results import Result
from warehouse.significance.work import Progress, Work, silent
from warehouse.statements import Planned, answer, resolve
from warehouse.statements.only_questions import OnlyQuestions
from warehouse.store.catalog import Catalog
from warehouse.store.database import Database, open_database
from warehouse.store.lock import WAIT, nobody
from warehouse.store.replacement import Tell, replacing
from warehouse.threads import allowed

if TYPE_CHECKING:
    from warehouse.loading.planning import LoadRequest

NOTHING: Mapping[str, str] = MappingProxyType({})

MOST_ITEMS = 20_000
"""How many names a variable may hold: more than a statement of 64 KB can list, but limited because lists of lists can
double.
"""


class Session:
    """Runs statements on one warehouse, one after another.

    `variables` were set by `let`; `fixed` variables were given from outside, and `let` does not change them. Paths in
    statements are relative to `folder`, and must stay inside it if the session is `confined`. With `force`, an export
    overwrites an existing file. A session that `follows` its warehouse sees what other programs loaded meanwhile, and
    says so in a note; any other session sees the warehouse as it was opened. With `only`, it answers questions but
    refuses statements that change something or write a file. `tell` reports which program a changing statement waits
    for. `level` is the level for statements that do not state one, and appears in their results. Pictures use `theme`.
    A warehouse in memory can be changed if it is `changeable`. `lake` names the lake that Spark queries, which never
    changes; it is empty for a warehouse.
    """

    def __init__(
        self,
        database: Database,
        path: Path | None = None,
        engine: Callable[[Database, Workforce], Engine] = DuckDBEngine,
    ) -> None:
        self.path = path
        self._made = engine
        self.variables: dict[str, tuple[Item, ...]] = {}
        self.fixed: set[str] = set()
        self.folder = Path()
        self.confined = False
        self.force = False
        self.level: n.Number | None = None
        self.theme: Theme = "auto"
        self.lake = ""
        self.follows = True
        self.only: OnlyQuestions | None = None
        self.changeable = False
        self.tell: Tell = nobody
        self._progress: Progress = silent
        self._use(database)
        show_results_as_html()

    def _use(self, database: Database) -> None:
        self.database = database
        self._opened = None if self.path is None else (self.path.absolute(), stamp(self.path))
        self._engine = self._made(database, Workforce(Work(allowed(), self._heard)))
        self.catalog = Catalog(database, self._engine.rows)

    def _heard(self, share: float) -> None:
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
            from warehouse.loading.sample import sample

            return cls(sample())
        return cls(open_database(Path(path)), Path(path))

    @classmethod
    def in_memory(cls) -> Session:
        """A session on a new warehouse in memory, which is lost when the session is closed."""
        from warehouse.store.database import in_memory

        session = cls(in_memory())
        session.changeable = True
        return session

    @classmethod
    def on_lake(cls, folder: str, master: str | None = None) -> Session:
        """A session on a lake; Spark sums its facts. Raises WarehouseError."""
        from warehouse.lake.spark import open_lake

        lake = open_lake(folder, master)
        session = cls(lake.names, engine=lake.engine)
        session.lake = folder
        return session

    def interrupt(self) -> None:
        """Stops the statement that is running in another thread."""
        self._engine.interrupt()

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
        result = self._answered(statement)
        return replace(result, notes=(note, *result.notes)) if result is not None and note else result

    @property
    def version(self) -> object:
        """A value that changes once this session has seen that the warehouse was replaced; None for the sample data."""
        return self._opened

    def follow(self) -> str:
        """Opens the warehouse again if another program has replaced it, and returns a note about that. Raises
        WarehouseError if it cannot be opened.
        """
        if self._opened is None:
            return ""
        path, before = self._opened
        now = stamp(path)
        if now == before:
            return ""
        if now is None:
            return f"{path} is not there any more: this is what was in it"
        database = open_database(path)
        self.database.close()
        self._use(database)
        return f"{self.path} was changed by another program meanwhile, and is read anew"

    def _answered(self, statement: n.AnyStatement) -> Result | None:
        statement = substituted(statement, self.variables)
        if self.level is not None:
            statement = at_level(statement, self.level)
        scope = Scope(self.catalog, self.variables)
        if self.lake and isinstance(statement, n.Load | n.Forget):
            word = "load" if isinstance(statement, n.Load) else "forget"
            raise QueryError(
                f"{word} is not supported by --engine spark",
                statement.span,
                ("a lake is not changed: change the warehouse, and export it again",),
            )
        match statement:
            case n.Define():
                self._define(statement)
                return None
            case n.Load():
                return self._load(statement)
            case n.Forget(number):
                return self._forget(statement, scope.whole(number, "the number of an import", 1, 2**31 - 1) or 0)
        try:
            planned = resolve(statement, scope)
            match statement:
                case n.Export(to=to):
                    return self._export(planned, to)
                case n.Plot(to=to) if to is not None:
                    return self._plot(planned, to)
            return answer(planned, self._engine)
        except QueryError as error:
            raise QueryError(error.message, _place(error, statement), error.hints) from None

    def _export(self, planned: Planned, to: n.Text | n.Variable) -> Result:
        """Writes the rows of a question to a file, in the format of its ending. An existing file is overwritten only
        with `force`.
        """
        from warehouse import written_files

        named, path = planned.plan.to, self._inside(planned.plan.to, to.span)
        form = written_files.format_of(path, named, to.span, force=self.force)
        result = answer(planned, self._engine)
        written_files.write(path, render(result, form, Style(theme=self.theme)), to.span)
        return written_files.said(planned.plan.text, "exported", named, result)

    def _plot(self, planned: Planned, to: n.Text | n.Variable) -> Result:
        """Writes the picture of a question to a file. An existing file is overwritten only with `force`."""
        from warehouse import written_files

        named, path = planned.plan.to, self._inside(planned.plan.to, to.span)
        draw = written_files.drawing_of(path, named, to.span, force=self.force)
        result = answer(planned, self._engine)
        if result.chart is None:
            raise QueryError("there is nothing to draw")
        written_files.write(path, draw(result.chart, self.theme), to.span)
        return written_files.said(planned.plan.text, "drawn", named, result)

    def _inside(self, named: str, place: Span) -> Path:
        """The path of a file. In a confined session it must be inside the folder after links are followed. Raises
        QueryError.
        """
        if "\0" in named:
            raise QueryError("no file has a name with a NUL in it", place)
        path = self.folder / named
        if self.confined and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.folder)):
            raise QueryError(
                f"{path} is outside the script's folder",
                place,
                ("--allow-files lets its statements read and write files anywhere",),
            )
        return path

    # --- what changes the session or the warehouse ------------------------------------------------------------------

    def _let(self, statement: n.Let) -> None:
        name = statement.variable.name
        if name not in self.fixed:
            items = [item for value in statement.values for item in expanded(value, self.variables)]
            if len(items) > MOST_ITEMS:
                raise QueryError(f"a variable is a list of at most {MOST_ITEMS:,}", statement.variable.span)
            self.variables[name] = tuple(items)

    def _define(self, statement: n.Define) -> None:
        from warehouse.query.resolving.user_measures import check
        from warehouse.store.definitions import keep
        from warehouse.tasks import COUNTED

        text = to_text(statement)
        counts = {task: self.catalog.counts_apart(task) for task in COUNTED}
        check(statement, self.catalog.definitions, counts, text)
        if self.path is None and not self.changeable:
            # The sample data and lakes are not changed; there the definition lasts as long as the session.
            same = [name for name in self.catalog.definitions if name.casefold() == statement.name.text.casefold()]
            for name in same:
                del self.catalog.definitions[name]
            self.catalog.definitions[statement.name.text] = text
        else:
            self._replace(lambda database: keep(database, statement.name.text, text), statement.span)

    def _load(self, statement: n.Load) -> Result:
        from warehouse.changes import requested

        named = text_of(statement.path, statement.path, "the name of a file")
        path = self._inside(named, statement.path.span)
        request = requested(statement.reader, path, self.folder if self.confined else None)
        return self.load(request, to_text(statement), place=statement.span, called_from=self.folder)

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
        from warehouse.changes import loaded

        return loaded(
            request,
            text,
            lambda change, files: self._replace(change, place, files, keep=keep, wait=wait),
            called_from=called_from,
            called=called,
            keep=keep,
            progress=self._heard,
        )

    def _forget(self, statement: n.Forget, number: int) -> Result:
        from warehouse.changes import forgotten

        try:
            return forgotten(number, to_text(statement), lambda change: self._replace(change, statement.span))
        except DataError as error:
            raise QueryError(error.faults[0].message, statement.number.span) from None

    def _replace(
        self,
        change: Callable[[Database], None],
        place: Span,
        files: Iterable[Path] = (),
        *,
        keep: bool = True,
        wait: float = WAIT,
    ) -> None:
        """Changes a copy of the warehouse, puts the copy in its place, and continues with it. `files` are the files
        that the change reads.
        """
        if self.path is None and self.changeable:
            from warehouse.changes import changed_in_memory

            self._use(changed_in_memory(self.database, change, keep=keep))
            return
        if self.path is None:
            raise QueryError(
                "the sample data cannot be changed", place, ("evalhouse init FILE --sample makes a warehouse of them",)
            )
        with replacing(self.path, files, keep=keep, wait=wait, tell=self.tell) as database:
            change(database)
        try:
            database = open_database(self.path)
        except WarehouseError as error:
            raise WarehouseError(
                f"{self.path} is changed as it was to be, and cannot be opened again: {error.message}", error.hints
            ) from None
        self.database.close()
        self._use(database)

    def close(self) -> None:
        """Closes the warehouse."""
        self.database.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def stamp(path: Path) -> tuple[int, int, int] | None:
    """A value that changes when another file takes the place of this one; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _place(error: QueryError, statement: n.AnyStatement) -> Span:
    """The place of an error that was found in the data: its own place if it has one, else the whole statement."""
    return error.span if error.span != NOWHERE else statement.span

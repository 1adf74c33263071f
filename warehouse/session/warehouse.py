"""The warehouse of a session: what answers questions about it, as it is and as it was, and how it is changed, through
the session or by another program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError, Span
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.faults import DataError, WarehouseError
from evalhouse.warehouse.kinds import COUNTED
from evalhouse.warehouse.plans.past import AsOf, PastState, PastStates
from evalhouse.warehouse.plans.path import Engine
from evalhouse.warehouse.plans.user_measures import check_definition
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.storage import (
    change_warehouse,
    fixed_path,
    forget_import,
    is_lake,
    open_warehouse,
    stamp,
    warehouse_name,
)
from evalhouse.warehouse.store.catalog import Catalog, store_definition
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.replacement import WAIT, Tell


class SessionWarehouse:
    """An open warehouse: its database, the engine that answers from it, and its catalog. Without a `path` it is in
    memory; then it can be changed only if it is `changeable`. `engine` makes the engine of a database, and `tell`
    reports which program a change waits for. `version` is the stamp that the warehouse had before it was opened: what
    others change while it is being opened is news, too.
    """

    def __init__(
        self, database: Database, path: Path | None, version: object, engine: Callable[[Database], Engine], tell: Tell
    ) -> None:
        self.path = path
        self.changeable = False
        self._tell = tell
        self._engine_of = engine
        self._past_states = PastStates(engine)
        self.use(database, version)

    def use(self, database: Database, version: object = None) -> None:
        """Continues with another database."""
        self.database = database
        self._opened = None if self.path is None else (fixed_path(self.path), version)
        self._is_lake = self.path is not None and is_lake(self.path)
        self.engine = self._engine_of(database)
        self.catalog = Catalog(database, self.engine.rows)
        self._past_states.close()

    @property
    def version(self) -> object:
        """A value that changes once `follow` has seen that the warehouse was replaced; None for one in memory."""
        return self._opened

    def follow(self) -> str:
        """Opens the warehouse again if another program has replaced it, and returns a note about that. Raises
        WarehouseError if it cannot be opened.
        """
        if self.path is None or self._opened is None:
            return ""
        path, before = self._opened
        now = stamp(path)
        if now == before:
            return ""
        if now is None and self._is_lake:
            raise WarehouseError(
                f"{warehouse_name(self.path)} is not there any more"
            )  # and its facts were read from its files
        if now is None:
            return f"{warehouse_name(self.path)} is not there any more: this is what was in it"
        database = open_warehouse(path)
        self.database.close()
        self.use(database, now)
        return f"{warehouse_name(self.path)} was changed by another program meanwhile, and is read anew"

    def state(self, as_of: n.Node, past: Callable[[AsOf], Database] | None) -> PastState:
        """The past state that a statement asks for; `past` opens it. Measures that were defined later are known, too.

        Raises QueryError.
        """
        return self._past_states.at(as_of, past, self.catalog.definitions)

    def define(self, statement: n.Define) -> None:
        """Keeps the definition of a measure. Raises QueryError."""
        name, text = statement.name.text, to_text(statement)
        counts = {task: self.catalog.counts_apart(task) for task in COUNTED}
        check_definition(statement, self.catalog.definitions, counts, text)
        if self.path is None and not self.changeable:
            # The sample data, and lakes on Spark, are not changed; there the definition lasts as long as the session.
            known = {other: of for other, of in self.catalog.definitions.items() if other.casefold() != name.casefold()}
            # In a warehouse they are in the order of their names.
            self.catalog.definitions = dict(sorted({**known, name: text}.items()))
        else:
            self.change(lambda database: store_definition(database, name, text), statement.span, kind="define")

    def forget(self, statement: n.Forget, number: int) -> Result:
        """Removes what an import brought, and reports it. Raises QueryError."""
        try:
            return forget_import(
                number, to_text(statement), lambda work: self.change(work, statement.span, kind="forget")
            )
        except DataError as error:
            raise QueryError(error.faults[0].message, statement.number.span) from None

    def change(
        self,
        work: Callable[[Database], None],
        place: Span,
        files: Iterable[Path] = (),
        *,
        kind: str = "load",
        keep: bool = True,
        wait: float = WAIT,
    ) -> int:
        """Changes the warehouse, whole or not at all, and continues with it. `files` are the files that `work`
        reads; `kind` says what it does. Returns how far the numbers of its imports have moved since it was prepared.
        """
        if self.path is None and self.changeable:
            from evalhouse.warehouse.session.storage import change_in_memory

            self.use(change_in_memory(self.database, work, keep=keep))
            return 0
        if self.path is None:
            raise QueryError(
                "the sample data cannot be changed", place, ("evalhouse init FILE --sample makes a warehouse of them",)
            )
        _, moved = change_warehouse(self.path, kind, work, files, keep=keep, wait=wait, tell=self._tell)
        version = stamp(self.path)
        try:
            database = open_warehouse(self.path)
        except WarehouseError as error:
            raise WarehouseError(
                f"{warehouse_name(self.path)} was changed, but cannot be opened again: {error.message}", error.hints
            ) from None
        self.database.close()
        self.use(database, version)
        return moved

    def close(self, *, last: bool) -> None:
        """Closes the warehouse and its past states. If it is the `last`, the process ends afterwards."""
        self._past_states.close()
        if last:
            self.database.leave()
        else:
            self.engine.close()

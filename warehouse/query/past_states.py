"""The past states of a warehouse that a session has opened, each with its own database, engine and catalog. Only a few
stay open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from grammar import nodes as n
from grammar.errors import QueryError
from warehouse.query.engine import Engine
from warehouse.store.catalog import Catalog
from warehouse.store.database import Database
from warehouse.store.sql import Sql

if TYPE_CHECKING:
    from warehouse.query.as_of import AsOf

MOST_OPEN = 4
"""How many states stay open. When there are more, the state whose last question is longest ago is closed."""

_LAST_IMPORT = Sql("select id, strftime(imported_at, '%Y-%m-%d %H:%M:%S') from import order by id desc limit 1")


class PastState(Struct, frozen=True):
    """A state that is open, with the measures that were defined then, and the note that says which state it is. It is
    `lasting` if nothing that is kept later can belong to it.
    """

    database: Database
    engine: Engine
    catalog: Catalog
    definitions: Mapping[str, str]
    note: str
    lasting: bool


class PastStates:
    """Opens states, and closes them when they are too many or when their owner is closed."""

    def __init__(self, engine: Callable[[Database], Engine]) -> None:
        self._engine = engine
        self._open: dict[AsOf, PastState] = {}

    def at(self, as_of: n.Node, past: Callable[[AsOf], Database] | None, definitions: Mapping[str, str]) -> PastState:
        """The state that a statement asks for. Its catalog has the measures that were defined then, and those of the
        present definitions whose names were free. `past` opens a state; it is None if the warehouse does not keep its
        past. Raises QueryError, and what `past` raises.
        """
        from warehouse.query.as_of import NoSuchStateError, state_asked

        wanted = state_asked(as_of)
        if past is None:
            raise QueryError(
                "this warehouse does not keep its past",
                as_of.span,
                (
                    "only a lake keeps its past: evalhouse init FOLDER --lake makes one",
                    "evalhouse copy FILE FOLDER makes one of a file",
                ),
            )
        try:
            state = self._state(wanted, past)
        except NoSuchStateError as error:
            raise QueryError(error.message, as_of.span, error.hints) from None
        taken = {name.casefold() for name in state.definitions}
        later = {name: text for name, text in definitions.items() if name.casefold() not in taken}
        state.catalog.definitions = {**state.definitions, **later}
        return state

    def _state(self, as_of: AsOf, past: Callable[[AsOf], Database]) -> PastState:
        """The state, which may be open already. Raises what `past` raises."""
        state = self._open.pop(as_of, None)
        if state is not None and not state.lasting:
            state.engine.close()
            state = None
        self._open[as_of] = state or self._opened(as_of, past)
        while len(self._open) > MOST_OPEN:
            self._open.pop(next(iter(self._open))).engine.close()
        return self._open[as_of]

    def _opened(self, as_of: AsOf, past: Callable[[AsOf], Database]) -> PastState:
        from datetime import UTC, datetime

        lasting = as_of.over(datetime.now(UTC))
        database = past(as_of)
        try:
            engine = self._engine(database)
            catalog = Catalog(database, engine.rows)
            return PastState(database, engine, catalog, catalog.definitions, _note(database, lasting), lasting)
        except BaseException:
            database.close()
            raise

    def close(self) -> None:
        """Closes all of them."""
        while self._open:
            self._open.popitem()[1].engine.close()


def _note(database: Database, lasting: bool) -> str:
    """Which import was the last one then. A state may lack earlier ones, which were forgotten."""
    then = "as it was then" if lasting else "as it is so far, because that time is not over"
    rows = database.rows(_LAST_IMPORT)
    if not rows:
        return f"{then}: there are no imports"
    [(number, loaded)] = rows
    return f"{then}: the last import is {number}, loaded at {loaded} UTC"

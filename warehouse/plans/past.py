"""The past states of a warehouse: which one a statement asks for, and those that a session has opened."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import brief, number_text
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.plans.path import Engine
from evalhouse.warehouse.store.catalog import Catalog
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql

# === the clause as of =================================================================================================
# It reads what was written. Whoever keeps the past looks the state up.

MOST_IMPORTS = 2**31 - 1
"""The largest number that an import can have."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    rf"{_DATE.pattern}[ T][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\.[0-9]+)?)? ?(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)?"
)

_EXAMPLES = 'write as of "2026-11-01" or as of "2026-11-01 14:30", in UTC unless an offset such as +02:00 follows'


class AsOf(Struct, frozen=True):
    """A past state of a warehouse: what it held right after an import, or everything that was kept by a moment.

    One of the two is given. `until` is in UTC, and what was kept at that very moment counts.
    """

    import_id: int | None = None
    until: datetime | None = None

    def over(self, now: datetime) -> bool:
        """Whether nothing that is kept from now on belongs to it."""
        return self.until is None or self.until < now


class NoSuchStateError(WarehouseError):
    """A warehouse never had the state that is asked for: no import has the number, or the moment is before it began."""


def requested_state(node: n.Node) -> AsOf:
    """The state that is meant. Variables were replaced before. Raises QueryError."""
    match node:
        case n.Number(value=number):
            return AsOf(import_id=_import(number, node))
        case n.Text(text=text):
            return AsOf(until=_moment(text, node))
    raise QueryError("as of needs the number of an import, or a date in quotes", node.span, (_EXAMPLES,))


def _import(number: Decimal, node: n.Node) -> int:
    if number != int(number) or not 1 <= number <= MOST_IMPORTS:
        raise QueryError(
            f"the number of an import must be a whole number from 1 to {MOST_IMPORTS:,}, not {number_text(number)}",
            node.span,
            ("show imports lists their numbers",),
        )
    return int(number)


def _moment(text: str, node: n.Node) -> datetime:
    """The last moment that a date or time includes: of a date the end of the day, of a time without fractions the end
    of the second, because times are shown with whole seconds.
    """
    said = text.strip()
    if said.isascii() and said.isdigit():
        raise QueryError(
            f'"{brief(said)}" is not a date', node.span, (f"an import is written without quotes: as of {brief(said)}",)
        )
    if not (_DATE.fullmatch(said) or _TIME.fullmatch(said)):
        raise QueryError(f'"{brief(said)}" is not a date', node.span, (_EXAMPLES,))
    try:
        if _DATE.fullmatch(said):
            return datetime.combine(date.fromisoformat(said), time.max, UTC)
        moment = datetime.fromisoformat(said.replace(" ", "T", 1).replace(" ", ""))
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return moment if "." in said else moment + timedelta(seconds=1) - timedelta.resolution
    except (ValueError, OverflowError):
        raise QueryError(f"there is no day or time {brief(said)}", node.span, (_EXAMPLES,)) from None


# === opened states ====================================================================================================
# Each has its own database, engine and catalog. Only a few stay open.

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
        wanted = requested_state(as_of)
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
        self._open[as_of] = state or self._open_state(as_of, past)
        while len(self._open) > MOST_OPEN:
            self._open.pop(next(iter(self._open))).engine.close()
        return self._open[as_of]

    def _open_state(self, as_of: AsOf, past: Callable[[AsOf], Database]) -> PastState:
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

"""The clause `as of`: which past state of a warehouse a statement asks. It reads what was written; whoever keeps the
past looks the state up.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from msgspec import Struct

from grammar import nodes as n
from grammar.editing.hints import brief, written
from grammar.errors import QueryError
from warehouse.faults import WarehouseError

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


def state_asked(node: n.Node) -> AsOf:
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
            f"the number of an import must be a whole number from 1 to {MOST_IMPORTS:,}, not {written(number)}",
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

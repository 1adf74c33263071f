"""The pictures of statements: what is drawn of an answer, by the first word of the statement. Only `plot` asks here; a
statement knows nothing of its picture. `warehouse.charts` says what a panel is made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from warehouse.lazy import lazy
from warehouse.query.engine import Workforce
from warehouse.query.path import Facts, Queries
from warehouse.results import Result


def _nothing(plan: Any) -> Queries:
    return ()


class Picture(Struct, frozen=True):
    """How the answer to a question is drawn, and which facts that needs beside those of the answer."""

    draw: Callable[[Any, Result, Facts, Workforce], Any]
    compile: Callable[[Any], Queries] = _nothing


PICTURES = {
    "score": Picture(
        lazy("warehouse.statements.pictures.scored:scored"), lazy("warehouse.statements.pictures.scored:queries")
    ),
    "compare": Picture(lazy("warehouse.statements.pictures.compared:compared")),
    "group": Picture(
        lazy("warehouse.statements.pictures.grouped:grouped"), lazy("warehouse.statements.pictures.grouped:queries")
    ),
    "rank": Picture(lazy("warehouse.statements.pictures.ranked:ranked")),
    "power": Picture(lazy("warehouse.statements.pictures.powered:powered")),
    "change": Picture(lazy("warehouse.statements.pictures.changed:changed")),
    "replicate": Picture(lazy("warehouse.statements.pictures.carried:carried")),
    "project": Picture(lazy("warehouse.statements.pictures.projected:projected")),
    "documents": Picture(lazy("warehouse.statements.pictures.sorted_documents:listed")),
    "differ": Picture(lazy("warehouse.statements.pictures.sliced:sliced")),
    "curve": Picture(lazy("warehouse.statements.pictures.curved:curved")),
}
"""In display order."""

"""The pictures of statements: what is drawn of an answer, by the first word of the statement. Only `plot` asks here; a
statement knows nothing of its picture. `evalhouse.warehouse.charts` says what a panel is made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from evalhouse.warehouse.plans.path import Facts, Queries, Workforce
from evalhouse.warehouse.process.lazy import lazy
from evalhouse.warehouse.results import Result


def _nothing(plan: Any) -> Queries:
    return ()


class Picture(Struct, frozen=True):
    """How the answer to a question is drawn, and which facts that needs beside those of the answer."""

    draw: Callable[[Any, Result, Facts, Workforce], Any]
    compile: Callable[[Any], Queries] = _nothing


PICTURES = {
    "score": Picture(
        lazy("evalhouse.warehouse.statements.pictures.rankings:scored"),
        lazy("evalhouse.warehouse.statements.pictures.rankings:score_queries"),
    ),
    "compare": Picture(lazy("evalhouse.warehouse.statements.pictures.pairs:compared")),
    "group": Picture(
        lazy("evalhouse.warehouse.statements.pictures.rankings:grouped"),
        lazy("evalhouse.warehouse.statements.pictures.rankings:group_queries"),
    ),
    "rank": Picture(lazy("evalhouse.warehouse.statements.pictures.rankings:ranked")),
    "power": Picture(lazy("evalhouse.warehouse.statements.pictures.curves:powered")),
    "change": Picture(lazy("evalhouse.warehouse.statements.pictures.pairs:changed")),
    "replicate": Picture(lazy("evalhouse.warehouse.statements.pictures.pairs:carried")),
    "project": Picture(lazy("evalhouse.warehouse.statements.pictures.curves:projected")),
    "documents": Picture(lazy("evalhouse.warehouse.statements.pictures.documents:listed")),
    "differ": Picture(lazy("evalhouse.warehouse.statements.pictures.documents:sliced")),
    "curve": Picture(lazy("evalhouse.warehouse.statements.pictures.curves:curved")),
}
"""In display order."""

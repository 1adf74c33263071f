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
        lazy("evalhouse.warehouse.statements.pictures.rankings:draw_scores"),
        lazy("evalhouse.warehouse.statements.pictures.rankings:score_queries"),
    ),
    "compare": Picture(lazy("evalhouse.warehouse.statements.pictures.pairs:draw_comparison")),
    "group": Picture(
        lazy("evalhouse.warehouse.statements.pictures.rankings:draw_groups"),
        lazy("evalhouse.warehouse.statements.pictures.rankings:group_queries"),
    ),
    "rank": Picture(lazy("evalhouse.warehouse.statements.pictures.rankings:draw_ranks")),
    "power": Picture(lazy("evalhouse.warehouse.statements.pictures.curves:draw_power")),
    "change": Picture(lazy("evalhouse.warehouse.statements.pictures.pairs:draw_change")),
    "replicate": Picture(lazy("evalhouse.warehouse.statements.pictures.pairs:draw_replication")),
    "project": Picture(lazy("evalhouse.warehouse.statements.pictures.curves:draw_projection")),
    "documents": Picture(lazy("evalhouse.warehouse.statements.pictures.documents:draw_documents")),
    "differ": Picture(lazy("evalhouse.warehouse.statements.pictures.documents:draw_slices")),
    "curve": Picture(lazy("evalhouse.warehouse.statements.pictures.curves:draw_curves")),
    "confusion": Picture(lazy("evalhouse.warehouse.statements.pictures.classes:draw_confusion")),
}
"""In display order."""

"""What is asked by `curve`, and the systems that it is answered for."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import Struct

from warehouse.measures import Statistic
from warehouse.query import plan as p

if TYPE_CHECKING:
    from warehouse.query.comparison.curving import OwnDecisions
    from warehouse.significance.curves.bands import Curves, Known

MOST_THRESHOLDS = 10_000
"""A system with more thresholds than this shows some of them by default, evenly spread."""


class CurvePlan(Struct, frozen=True):
    """The statistics of the entries are the measures asked for; the one at the place `chosen` is that which the
    threshold is to be best for.
    """

    text: str
    entries: tuple[p.Entry, ...]
    where: p.Filter | None
    chosen: int
    resamples: int
    seed: int
    level: Decimal
    limit: int | None

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return self.entries[0].statistics

    @property
    def best_for(self) -> Statistic:
        return self.statistics[self.chosen]

    @property
    def optional(self) -> str:
        """How optional documents count for areas: as in the measure whose best threshold is sought."""
        return str(self.best_for.settings.get("optional", "credit"))


class Curved(Struct, frozen=True):
    """A system with its curves."""

    entry: p.Entry
    system: OwnDecisions
    curves: Curves
    roc: Known | None

    @property
    def has_thresholds(self) -> bool:
        return not self.system.lacking

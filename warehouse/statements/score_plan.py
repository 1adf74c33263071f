"""The plan of `score`: whose values by which measures, split how, and whether with intervals."""

from __future__ import annotations

from msgspec import Struct

from evalhouse.warehouse.comparing.values import Valued
from evalhouse.warehouse.plans import plan as p


class ScorePlan(Struct, frozen=True):
    """`order` is the column to order by: a label of a statistic, or system. `everyone` has the entries with all systems
    of their test sets, where values are to be standardized: distances from the mean of all, in standard deviations.
    `how` says which rows are chosen and how values are resampled, `interval` whether intervals are asked for, and
    `decides` whether something depends on them, so that none of a share may be too narrow. `missing` says what becomes
    of documents that a system lacks, where the statement does.
    """

    text: str
    entries: tuple[p.Entry, ...]
    by: tuple[p.Dimension, ...]
    how: p.Testing
    order: str
    descending: bool
    limit: int | None
    interval: bool = False
    decides: bool = False
    missing: str | None = None
    everyone: tuple[p.Entry, ...] = ()
    over: p.OverTestSets | None = None
    """How the test sets are taken together, if they are."""
    averages: tuple[p.Entry, ...] = ()
    """Where rows are split by unit, the entries with the averages over units of their measures, by the same labels."""

    @property
    def standardized(self) -> bool:
        return bool(self.everyone)

    def valued(self) -> tuple[Valued, ...]:
        """The lines that are asked for, an entry each."""
        return tuple(Valued(entry, self.by, self.how.where) for entry in self.entries)

    def averaged(self, entry: p.Entry) -> Valued:
        """The averages over units of an entry with them; what else splits rows splits these too."""
        others = tuple(dimension for dimension in self.by if dimension.of != "unit")
        return Valued(entry, others, self.how.where, of="averages over units")

    def column_labels(self) -> list[str]:
        """What the columns of values are called: as the measures, or as what is made of them."""
        labels = [statistic.label for statistic in self.entries[0].statistics]
        return [f"z({label})" for label in labels] if self.standardized else labels

"""What tests add to the answer of a question, gathered from one comparison after another: what was tested and how,
the p of each pair, and the notes that all questions have that are answered by tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from warehouse.query import plan as p
from warehouse.query.comparison.captions import ComparedPairs, deciding, testing_caption
from warehouse.query.comparison.deciding import Decisions
from warehouse.query.comparison.notes import PairNotes, few_units
from warehouse.query.comparison.pairs import Comparison
from warehouse.query.comparison.verdicts import comparison_notes, faster_exactly, hopeless


class TestedPairs(Struct, frozen=True):
    """The pairs of a question, tested so. Intervals beside them took `resamples`, perhaps none; None where there are no
    intervals. `noted` grows with the comparisons, and a question may add to it.
    """

    how: p.Testing
    families: list[ComparedPairs]
    noted: list[str]
    pairs: PairNotes
    resamples: int | None = None

    @classmethod
    def by(cls, how: p.Testing) -> TestedPairs:
        """No pairs yet, of a question that is answered so."""
        return cls(how, [], [], PairNotes(how))

    def add(self, comparison: Comparison, decided: Decisions, against_margin: Iterable[str] = ()) -> None:
        """Adds the pairs of a comparison. Notes `against_margin` say why a margin can hardly be met."""
        label = comparison.statistic.label
        self.families.append(ComparedPairs.of(comparison, [decided[label, pair] for pair in comparison.pairs]))
        self.noted.extend([*hopeless(comparison), *against_margin, *comparison_notes(comparison)])

    def look_at_pairs(self, comparison: Comparison, decided: Decisions) -> None:
        """Adds notes on single pairs, for questions that show the verdict on each."""
        self.noted.extend([*few_units(comparison), *faster_exactly(comparison)])
        self.pairs.look_at(comparison, decided)

    @property
    def notes(self) -> tuple[str, ...]:
        """All notes: on comparisons, then on pairs."""
        return (*self.noted, *self.pairs.notes())

    @property
    def p_values(self) -> tuple[float, ...]:
        """The p of all pairs."""
        return tuple(p for family in self.families for p in family.p_values)

    def caption(self, entries: Sequence[p.Entry]) -> str:
        """What was tested and how."""
        return testing_caption(self.how, entries, self.families, self.resamples)

    def deciding(self, entries: Sequence[p.Entry]) -> tuple[str, ...]:
        """What decides the numbers besides the statement and the data."""
        return deciding(self.how, entries, self.families)

"""Audit printed figures of text filtering: can they come from whole numbers of documents?

Each rounding convention turns a printed figure into a range of values, and `contingency` finds the tables of whole
documents that lie in all ranges. All figures of a system are assumed to be rounded by the same convention.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import combinations
from typing import Literal

from msgspec import Struct, field

from evalhouse.warehouse.filtering.contingency import (
    CONVENTIONS,
    Bounds,
    Convention,
    Harmonic,
    Limits,
    Printed,
    Range,
    Tables,
    tables,
)
from evalhouse.warehouse.filtering.generality import KeyCounts

Consistency = Literal["unique", "possible", "impossible"]


class Figures(Struct, frozen=True):
    """The printed figures of one system on one test set, as proportions; `f` maps β to the printed F. A figure that was
    not printed is None.
    """

    recall: Printed | None = None
    precision: Printed | None = None
    fallout: Printed | None = None
    f: Mapping[Decimal, Printed] = field(default_factory=dict)


class Audited(Struct, frozen=True):
    """The contingency tables that give all printed figures under at least one rounding convention.

    `cells` has the bounds of a, b, c, d, x and y, and is empty if there is no solution. `by_convention` has the number
    of solutions for each member of CONVENTIONS, in that order.
    """

    solutions: int
    cells: Mapping[str, Bounds]
    by_convention: Mapping[str, int]

    @property
    def verdict(self) -> Consistency:
        """`unique` for one solution, `impossible` for none."""
        return "impossible" if not self.solutions else "unique" if self.solutions == 1 else "possible"

    @property
    def conventions(self) -> tuple[str, ...]:
        """The names of the conventions that admit a solution."""
        return tuple(name for name, solutions in self.by_convention.items() if solutions)


class FAudit(Struct, frozen=True):
    """F computed from printed recall and precision, None where undefined, and the conventions that give the printed
    F.
    """

    value: float | None
    conventions: tuple[str, ...]

    @property
    def follows(self) -> bool:
        """Whether the printed F follows from the printed recall and precision."""
        return bool(self.conventions)


def audit(key: KeyCounts, figures: Figures) -> Audited:
    """All contingency tables that have recall (1), precision (2), fallout (3) and F (of the counts) as printed.

    A ratio whose denominator is 0 is undefined and matches no figure. It is fast if optional documents are few or if
    recall was printed. Raises ValueError if no figure was printed, and if there are too many documents, or too many
    digits, to try all tables.
    """
    if not (figures.recall or figures.precision or figures.fallout or figures.f):
        raise ValueError("there are no figures to audit")
    alone = {convention: tables(key, _limits(figures, (convention,))) for convention in CONVENTIONS}
    admitting = [convention for convention, fitting in alone.items() if fitting.count]
    # Inclusion and exclusion, so that a table which several conventions admit counts once.
    solutions = sum(fitting.count for fitting in alone.values())
    for size in range(2, len(admitting) + 1):
        for chosen in combinations(admitting, size):
            solutions -= (-1) ** size * tables(key, _limits(figures, chosen)).count
    return Audited(
        solutions=solutions,
        cells=reduce(Tables.merged, alone.values()).cells(key),
        by_convention={convention.name: fitting.count for convention, fitting in alone.items()},
    )


def audit_f(recall: Printed, precision: Printed, f: Printed, beta: Decimal = Decimal(1)) -> FAudit:
    """Whether a printed F is (β² + 1)·P·R / (β²·P + R) of R and P as printed, which is how table 3 of Lewis and Tong
    (1992) was computed.
    """
    r, p, weight = Fraction(recall.value), Fraction(precision.value), Fraction(beta) ** 2
    under = weight * p + r
    if not under:
        return FAudit(None, ())
    value = (weight + 1) * p * r / under
    return FAudit(float(value), tuple(way.name for way in CONVENTIONS if value in way.before(f)))


def _limits(figures: Figures, conventions: Sequence[Convention]) -> Limits:
    """The ranges of the ratios if each of these conventions gives the printed figures."""

    def before(printed: Printed) -> Range:
        return reduce(Range.common, (convention.before(printed) for convention in conventions))

    weights = [(1, 0, figures.recall), (0, 1, figures.precision)]
    for beta, printed in figures.f.items():
        weights.append((*(Fraction(beta) ** 2).as_integer_ratio(), printed))
    return Limits(
        before(figures.fallout) if figures.fallout else None,
        tuple(Harmonic(v, w, before(printed)) for v, w, printed in weights if printed),
    )

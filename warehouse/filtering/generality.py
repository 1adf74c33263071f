"""How many documents of a test set are relevant, and the expected results of guessing.

Generality is a property of the test set, so this module must not know any system's decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from msgspec import Struct

from evalhouse.warehouse.measures.forms import Ratio

# === counts of a key ==================================================================================================
# The counts of a key and the three generalities.


class KeyCounts(Struct, frozen=True):
    """How many documents of a test set the key calls relevant, optional and nonrelevant.

    Raises ValueError if a count is negative.
    """

    relevant: int
    optional: int
    nonrelevant: int

    def __post_init__(self) -> None:
        if min(self.relevant, self.optional, self.nonrelevant) < 0:
            raise ValueError(
                f"{self.relevant} relevant, {self.optional} optional and {self.nonrelevant} nonrelevant documents: "
                "none of these can be negative"
            )

    @property
    def documents(self) -> int:
        """All documents: t of Lewis and Tong, figure 2."""
        return self.relevant + self.optional + self.nonrelevant


class Generalities(Struct, frozen=True):
    """The proportion of relevant documents, in the three ways to treat optional ones; None if there are no documents.

    `judged` leaves optional documents out (4), `strict` counts them as not relevant (4'), `generality` as relevant
    (4''). The last equals the precision of guessing, and is the default meaning of generality (Lewis and Tong 1992,
    text on figure 2).
    """

    judged: float | None
    strict: float | None
    generality: float | None


def generalities(key: KeyCounts) -> Generalities:
    """The generalities (4), (4') and (4'') of Lewis and Tong (1992)."""
    return Generalities(
        judged=_share(key.relevant, key.relevant + key.nonrelevant),
        strict=_share(key.relevant, key.documents),
        generality=_share(key.relevant + key.optional, key.documents),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


# === guessing =========================================================================================================
# The expected results of a system that judges a random share of the documents relevant (Lewis and Tong 1992, figure 2).
# As in that figure, every value is a ratio of expected counts and not the expectation of a ratio, and no random numbers
# are drawn. A system with share 1 judges every document relevant (AllRel).

Share = Fraction | Decimal | int


class Guess(Struct, frozen=True):
    """Recall, precision and fallout of guessing; None where the denominator is 0."""

    recall: float | None
    precision: float | None
    fallout: float | None


def guess(key: KeyCounts, share: Share) -> Guess:
    """(5) (r + o)s / (r + os), (6) (r + o) / t and (7) ns / (n + o(1 − s)) of Lewis and Tong (1992).

    Precision does not depend on the share, except that with a share of 0 nothing is judged relevant and it is
    undefined. Raises ValueError for a share outside [0, 1].
    """
    s = _check_share(share)
    r, o, n = key.relevant, key.optional, key.nonrelevant
    return Guess(
        recall=_quotient((r + o) * s, r + o * s),
        precision=_quotient((r + o) * s, key.documents * s),
        fallout=_quotient(n * s, n + o * (1 - s)),
    )


def expected_cells(key: KeyCounts, share: Share) -> Mapping[str, Fraction]:
    """The expected counts of the cells a, b, c, d, x and y: figure 2, with optional documents in cells of their own.

    Raises ValueError for a share outside [0, 1].
    """
    s = _check_share(share)
    return {
        "a": s * key.relevant,
        "b": s * key.nonrelevant,
        "c": (1 - s) * key.relevant,
        "d": (1 - s) * key.nonrelevant,
        "x": s * key.optional,
        "y": (1 - s) * key.optional,
    }


def expected_value(ratio: Ratio, key: KeyCounts, share: Share) -> float | None:
    """The value that guessing has in any measure over the cells; None if its denominator is 0.

    Raises ValueError for a share outside [0, 1].
    """
    cells = expected_cells(key, share)
    numerator = sum((weight * cells[cell] for cell, weight in ratio.numerator), Fraction(0))
    denominator = sum((weight * cells[cell] for cell, weight in ratio.denominator), Fraction(0))
    return _quotient(ratio.factor * numerator, denominator)


def _check_share(share: Share) -> Fraction:
    if not 0 <= share <= 1:
        raise ValueError(f"the share judged relevant is {share} and must be between 0 and 1")
    return Fraction(share)


def _quotient(numerator: Fraction, denominator: Fraction) -> float | None:
    return float(numerator / denominator) if denominator else None

"""How many documents of a test set are relevant: the counts of a key and the three generalities.

Generality is a property of the test set, so this module must not know any system's decisions.
"""

from __future__ import annotations

from msgspec import Struct


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

"""Measures at another generality, if recall and fallout stay as measured (Lewis and Tong 1992, Analysis).

At generality g a document is a hit with probability R·g, a miss with (1 − R)·g, a false alarm with fallout·(1 − g), and
otherwise a rejection. So recall, fallout and generality determine every measure of these four counts that does not
depend on the number of documents. For a sum over documents, such as a utility, they determine the mean per document.

This is exact if the generality is the share of documents for which yes is the right answer, (a + c + x) / n. With
optional documents that share depends on the system. Generality (4'') is used in its place; it is larger unless every
optional document was decided yes. All shares are proportions.
"""

from __future__ import annotations

from functools import lru_cache
from math import isclose, isfinite
from typing import Literal

import numpy as np

from warehouse.measures import Function, Ratio
from warehouse.measures.expression import evaluate, of_ratio
from warehouse.significance.paired import Floats

_LARGEST = 700.0
"""exp of a larger number overflows. A fallout multiplied by exp of this number is 1 anyway."""

_TABLES = ((7, 3, 2, 11), (1, 9, 8, 2), (2, 1, 0, 5), (3, 0, 4, 6))
"""Contingency tables on which `growth` tests how a measure changes with the number of documents."""


@lru_cache(maxsize=256)
def growth(computation: Ratio | Function) -> Literal["share", "sum"] | None:
    """How a measure changes if every count is multiplied by the same number: a "share" does not change, and a "sum"
    over documents is multiplied by that number too. None for any other measure; it cannot be projected.
    """
    found: set[Literal["share", "sum"]] = {"share", "sum"}
    for table in _TABLES:
        alone = _of_counts(computation, table)
        for times in (100, 10_000):
            many = _of_counts(computation, tuple(times * count for count in table))
            if alone is None or many is None:
                found &= {"share", "sum"} if alone is many else set()
                continue
            if not isclose(many, alone, rel_tol=1e-9, abs_tol=1e-12):
                found.discard("share")
            if not isclose(many, times * alone, rel_tol=1e-9, abs_tol=1e-12):
                found.discard("sum")
    return "share" if "share" in found else "sum" if found else None


def _of_counts(computation: Ratio | Function, table: tuple[int, ...]) -> float | None:
    counts = dict(zip("abcd", table, strict=True), x=0, y=0)
    sums = [sum(weight * counts[column] for column, weight in form) for form in computation.forms]
    return computation.value(sums)


def project_fallout(fallout: Floats, start: Floats, generality: Floats, exponent: float = 0.0) -> Floats:
    """Fallout at `generality` if it was measured at generality `start`: fallout · (generality / start)^exponent, at
    most 1. The shapes of the arrays must broadcast.

    Exponent 0 means constant fallout. Salton (1972, as quoted by Lewis and Tong) found that fallout fell by a factor of
    2 to 3 when generality fell by a factor of 7, which is an exponent between 0.36 and 0.56. Raises ValueError for
    values outside [0, 1], and if `start` is 0 and the exponent is not.
    """
    fallout, start, generality = (np.asarray(shares, dtype=np.float64) for shares in (fallout, start, generality))
    _check(fallout=fallout, start=start, generality=generality)
    if not isfinite(exponent):
        raise ValueError(f"the exponent is {exponent} and must be a number")
    if exponent == 0:
        return fallout
    if not start.all():
        raise ValueError("fallout cannot be scaled from a generality of 0")
    with np.errstate(divide="ignore"):
        scale = np.exp(np.minimum(exponent * (np.log(generality) - np.log(start)), _LARGEST))
    # A fallout of 0 stays 0 at any generality. It must not become NaN when it is multiplied by infinity.
    return np.asarray(np.where(fallout == 0, 0.0, np.minimum(1.0, fallout * scale)))


def project(computation: Ratio | Function, recall: Floats, fallout: Floats, generality: Floats) -> Floats:
    """A measure of filtering at a generality, from recall and fallout at that generality. For a sum over documents it
    is the mean per document. The shapes of the arrays must broadcast; the result is NaN where the measure is undefined.

    Raises ValueError for values outside [0, 1].
    """
    r, f, g = np.broadcast_arrays(*(np.asarray(shares, dtype=np.float64) for shares in (recall, fallout, generality)))
    _check(recall=r, fallout=f, generality=g)
    none = np.zeros(r.shape)
    cells = {"a": r * g, "b": f * (1 - g), "c": (1 - r) * g, "d": (1 - f) * (1 - g), "x": none, "y": none}
    expression = of_ratio(computation) if isinstance(computation, Ratio) else computation.expression
    return evaluate(expression, cells)


def _check(**shares: Floats) -> None:
    for name, given in shares.items():
        outside = given[~((given >= 0) & (given <= 1))]
        if outside.size:
            raise ValueError(f"{name} is {outside.flat[0]} and must be between 0 and 1")

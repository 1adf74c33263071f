"""How often tests find a difference when there is none: a part of what `benchmarks/validity.py` measures, with fixed
seeds.
"""

from __future__ import annotations

import pytest

from benchmarks import validity
from evalhouse.warehouse.significance.tests import find_test

SETS = 400
"""A size of 0.05 is then found below 0.083, and one of 0.25 above 0.18, but for one in a thousand."""


def size(name: str, design: str, documents: int, share: float) -> float:
    (found,) = validity.sizes((name,), design, documents, share, SETS)
    return float(found)


@pytest.mark.long
@pytest.mark.parametrize("design", ["precision", "F"])
def test_equal_measures_of_unequal_volume(design: str) -> None:
    """A system that answers a tenth of a hundred documents: randomization finds it different, the studentized exchange
    does not, and where both answer all they agree."""
    assert size("studentized", design, 100, 1.0) <= 0.083
    assert size("studentized", design, 100, 0.1) <= 0.09
    assert size("randomization", design, 100, 0.1) >= (0.2 if design == "precision" else 0.09)


@pytest.mark.long
def test_the_bootstrap_needs_what_it_asks_for() -> None:
    bootstrap = find_test("bootstrap")
    assert size("bootstrap", "precision", 5, 1.0) >= 0.1
    assert size("bootstrap", "precision", bootstrap.units, 1.0) <= 0.09

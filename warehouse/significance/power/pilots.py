"""How well the documents that there are determine how many are needed.

The number that is needed is proportional to the variance of what each unit adds to a difference, and a pilot of few
documents determines a variance badly. Nothing is simulated here.
"""

from __future__ import annotations

from math import exp, log, sqrt
from statistics import NormalDist

LEAST_UNITS = 6
"""From fewer units nothing is told. The limits of a variance are then more than a factor of twenty apart even for
normally distributed differences: χ² with five degrees of freedom has its quantiles .025 and .975 at 0.83 and 12.83, a
factor of 15.4; with four it is 23. Nor could five units show any difference at the level .05 themselves: of their 32
exchanges two are the most extreme.
"""


def limits_of_variance(units: int, kurtosis: float, level: float = 0.05) -> tuple[float, float]:
    """The interval of a variance as multiples of the observed one, by Bonett (2006, Computational Statistics & Data
    Analysis 50, 775-782): on the logarithm, with a standard error that follows from the kurtosis, the mean fourth power
    over the squared mean square.

    Raises ValueError for fewer than LEAST_UNITS units.
    """
    if units < LEAST_UNITS:
        raise ValueError(f"{units} units, and at least {LEAST_UNITS} are needed")
    z = NormalDist().inv_cdf(1 - level / 2)
    error = sqrt(max(kurtosis - (units - 3) / units, 0.0) / (units - 1))
    middle = log(units / (units - z))
    return exp(middle - z * error), exp(middle + z * error)

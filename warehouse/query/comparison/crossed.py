"""What each replicate of a system adds to its value in each exchange unit: the table that `spread` analyses. No
variance is estimated here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from warehouse.measures import Statistic
from warehouse.query import plan as p
from warehouse.query.comparison.observations import Observations, observation_queries, observed
from warehouse.query.comparison.resampling import only_of
from warehouse.query.comparison.sums import added, present_units, run_sums, systems_of
from warehouse.query.path import Facts, Queries
from warehouse.significance.bootstrap.runs import influences_of
from warehouse.significance.paired import Booleans, Floats


class Crossed(Struct, frozen=True):
    """The value of one statistic for one system, None where it is undefined, and the table behind it.

    `values` and `present` have the shape (replicates, exchange units). The mean over units of the means over replicates
    is 0, and moves with the value: exactly where this is such a mean itself, else to first order.
    """

    statistic: Statistic
    system: str
    value: float | None
    values: Floats
    present: Booleans


def crossed_queries(how: p.Testing, entry: p.Entry) -> Queries:
    """What brings the tables of an entry."""
    return observation_queries(replace(how, missing="zero"), entry.in_runs())


def crossed(how: p.Testing, entry: p.Entry, facts: Facts) -> Iterator[Crossed]:
    """The tables of an entry, statistic by statistic; a system without rows for one is left out there."""
    runs = entry.units.runs
    for part in entry.observed_apart:
        observations = observed(replace(how, missing="zero"), part.in_runs(), facts)
        first = 0
        places = {}
        for system in part.stored_systems:
            many = len(runs.get(system.id, (0,)))
            there = [row for row in range(first, first + many) if observations.present[row].any()]
            places[system.name], first = there, first + many
        for statistic in part.statistics:
            for name, rows in places.items():
                if rows:
                    own = only_of(observations, rows, np.asarray(observations.present[rows].any(axis=0)))
                    yield _table(own, part, statistic, name)


def _table(own: Observations, part: p.Entry, statistic: Statistic, name: str) -> Crossed:
    """The table of one system from the observations of its replicates."""
    sums = run_sums(own, statistic, part.units.scale)
    whole, present = added(sums), present_units(own)
    value = whole.exact_value(0)
    if value is None or len(present) < 2:
        return Crossed(statistic, name, None if value is None else float(value), np.zeros(present.shape), present)
    # A cell holds a share of a share of the value; all cells are scaled to the value itself.
    shares = influences_of(systems_of(sums), float(sums.factor))
    return Crossed(statistic, name, float(value), shares * present.sum(axis=0) * present.shape[1], present)

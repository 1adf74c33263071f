"""One comparison over several test sets: the average of a statistic over them, which is exchanged within each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np
from msgspec.structs import replace

from grammar.errors import QueryError
from warehouse.query import plan as p
from warehouse.query.comparison.averaged_sums import average_of
from warehouse.query.comparison.pairs import Comparison, comparisons
from warehouse.query.labels import noun_of
from warehouse.query.path import Facts


def batches(
    how: p.Testing, entries: Sequence[p.Entry], against: p.System | None, facts: Facts, over: bool
) -> Iterator[tuple[Comparison, ...]]:
    """The comparisons of entries, those together that can share shuffles; those of the averages if `over` them."""
    of_entries = [comparisons(how, entry, against, facts) for entry in entries]
    if not over:
        for of_entry in of_entries:
            yield from of_entry
        return
    for alike in zip(*of_entries, strict=True):
        yield tuple(macro_average(of_statistic) for of_statistic in zip(*alike, strict=True))


def macro_average(comparisons: Sequence[Comparison]) -> Comparison:
    """The comparison of the average over the test sets of these, which are of one statistic and have the same systems.

    Raises QueryError for a test that does not follow from sums.
    """
    first = comparisons[0]
    test = first.how.test
    if not (test.exchanges or test.whole_family):
        raise QueryError(
            f"test {test.name} looks at one test set at a time, not at an average over several",
            hints=("leave out over test sets, or the test",),
        )
    observations = [comparison.observations for comparison in comparisons]
    starts = list(accumulate((part.units for part in observations), initial=0))
    cluster = np.concatenate([part.cluster + start for part, start in zip(observations, starts, strict=False)])
    return replace(
        first,
        entry=_entry([comparison.entry for comparison in comparisons]),
        observations=replace(
            first.observations,
            counts={},
            known={},
            values=None,
            present=np.concatenate([part.present for part in observations], axis=1),
            cluster=cluster,
            documents=sum(part.documents for part in observations),
            dropped=sum(part.dropped for part in observations),
        ),
        sums=average_of([comparison.sums for comparison in comparisons]),
        splits_clusters=any(comparison.splits_clusters for comparison in comparisons),
        over=tuple(comparisons),
    )


def _entry(entries: Sequence[p.Entry]) -> p.Entry:
    """The entry of an average: documents and exchange units keep their names if these agree on all test sets."""
    names = ", ".join(entry.test_set.name for entry in entries)
    cluster = next((entry.units.cluster for entry in entries if entry.units.cluster), "")
    alike = len({entry.units.exchange_noun for entry in entries}) == 1
    exchange = entries[0].units.exchange if alike else p.Dimension("unit")
    units = replace(entries[0].units, noun=noun_of(entries), cluster=cluster, exchange=exchange)
    return replace(entries[0], test_set=p.TestSet(0, names, names), units=units)

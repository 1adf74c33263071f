"""How much memory a comparison takes at most, computed from what is known before it reads anything: systems, documents,
measures, pairs, shuffles and threads.

The stages of a comparison follow one another. So the bound is the sum of what is held all the time and of what the
largest stage needs. `benchmarks/memory.py` measures how near the bounds are. Nothing is read or tested here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grammar.errors import QueryError
from grammar.value import replace, value
from warehouse import memory
from warehouse.measures import Function, Statistic
from warehouse.query import plan as p
from warehouse.query.comparison.observations import MANY, read_columns
from warehouse.significance.bootstrap.confidence_intervals import MOST_COUNTS, MOST_RESAMPLES
from warehouse.significance.bootstrap.interval_kinds import named_interval
from warehouse.significance.bootstrap.resamples import FOR_INTERVALS, KEPT_COUNTS, READY, VERY_MANY_UNITS
from warehouse.significance.correlation import MATRIX_SYSTEMS
from warehouse.significance.exact.cost import POSSIBLE_BYTES, Cost
from warehouse.significance.shuffles import coins, lookup
from warehouse.significance.tests import named_adjustment, named_test
from warehouse.tasks.observed import plural
from warehouse.threads import allowed

if TYPE_CHECKING:
    from warehouse.query.comparison.pairs import Comparison

ROW = 16
"""Bytes of each number of a row while it is read: as DuckDB sorts it, as DuckDB returns it, and as numpy holds it."""

ALIKE = 75
"""Bytes of each number instead of ROW where the database joins and counts the documents of two systems, and may read
them once more in their order.
"""

RETAINED = 32
"""The part of ALIKE that stays taken afterwards."""

NAME = 120
"""Bytes of a name that comes with each row, such as that of a cluster."""

KEPT = 4
"""Bytes of each number of a row that is kept until everything is answered; values take twice as much."""

PAIR = 550
"""Bytes of a pair in the result: its row, and its part of a picture."""

OUTCOME, VERDICT, INTERVAL = 300, 400, 300
"""Bytes of a pair while it is tested: its outcome after some shuffles, its verdict, and its interval."""

THREAD = 4_000_000
"""Bytes that each thread takes in addition, for what it draws or sums."""


@value
class Comparing:
    """The size of a comparison. `columns` is how many numbers of each row are read, `forms` how many tables of sums a
    statistic is computed from.
    """

    systems: int
    documents: int
    columns: int
    statistics: int
    forms: int
    pairs: int
    by_name: bool = False
    """Whether a name comes with each row."""
    values: bool = False
    """Whether numbers are in floating point, and rounded for the tests."""
    together: bool = False
    """Whether all pairs are shuffled at once."""
    alike: bool = False
    """Whether documents are counted in the database."""

    @classmethod
    def planned(cls, how: p.Testing, entry: p.Entry, pairs: int, documents: int) -> Comparing:
        """The size of a comparison of an entry that has this number of documents, or of units of documents."""
        values = not entry.task.is_counted or any(statistic.averaged for statistic in entry.statistics)
        two = len(entry.stored_systems) == len(entry.systems) == 2 and entry.exchange == p.Dimension("document")
        test, adjustment = named_test(how.test), named_adjustment(how.adjust)
        return cls(
            systems=len(entry.systems) * (2 if how.margin is not None else 1),
            documents=documents,
            # A statistic that is read by itself has rows of its own, with two numbers for the system and the document.
            columns=sum(len(read_columns(part)) + 2 for part in entry.observed_apart) - 2,
            statistics=len(entry.statistics),
            forms=max(_forms(statistic, values) for statistic in entry.statistics),
            pairs=pairs * (3 if how.margin is not None or how.missing == "bounds" else 1),
            by_name=bool(entry.exchange.attribute),
            values=values,
            together=pairs > len(entry.systems) or test.whole_family or adjustment.by_shuffles,
            alike=two and documents >= MANY,
        )

    @classmethod
    def of(cls, batch: Sequence[Comparison]) -> Comparing:
        """Comparisons that have the same observations."""
        first = batch[0]
        entry = replace(first.entry, statistics=tuple(comparison.statistic for comparison in batch))
        return cls.planned(first.how, entry, len(first.pairs), first.observations.cluster.size)

    @property
    def cells(self) -> int:
        """How many documents all systems have together."""
        return self.systems * self.documents


def _forms(statistic: Statistic, values: bool) -> int:
    """How many tables of sums a statistic has: two of a ratio, two more where values were rounded."""
    if isinstance(statistic.computation, Function) and not statistic.averaged:
        return len(statistic.computation.columns)
    return 4 if values else 2


def at_most(comparisons: Sequence[Comparing], how: p.Testing, over: bool = False, exact: int = 0) -> int:
    """The most bytes that the process takes, with those of the program itself and those that `exact` tests need. Test
    sets are compared one after another, except where the average `over` them is compared.
    """
    shuffles, threads = how.shuffles or coins.CHUNK, allowed()
    reading = sum(_kept(one) for one in comparisons)
    read = max((_read(one) for one in comparisons), default=0)
    of_each = [_held(one) + max(_observed(one), _tested(one, how, shuffles, threads)) for one in comparisons]
    worked = sum(of_each) * len(comparisons) if over else max(of_each, default=0)
    pairs = sum(one.pairs * one.statistics * PAIR for one in comparisons)
    return memory.with_own(threads * THREAD + reading + max(read, worked + pairs + exact))


def counting_at_most(costs: Sequence[Cost]) -> int:
    """The most bytes of exact tests of pairs. As many run at a time as threads and memory allow."""
    most = max((cost.bytes for cost in costs), default=0)
    return most * max(1, min(allowed(), len(costs), POSSIBLE_BYTES // max(most, 1)))


def _read(one: Comparing) -> int:
    """Bytes that are needed while the rows are read."""
    if one.alike:
        return one.documents * (2 * (one.columns + 1) + 1) * ALIKE
    return one.cells * ((one.columns + 2) * ROW + (NAME if one.by_name else 0))


def _kept(one: Comparing) -> int:
    """Bytes of the rows until everything is computed, and of what DuckDB does not give back after joining them."""
    if one.alike:
        return one.documents * (2 * (one.columns + 1) + 1) * RETAINED
    return one.cells * ((one.columns + 2) * KEPT * (2 if one.values else 1) + (NAME if one.by_name else 0))


def _observed(one: Comparing) -> int:
    """Bytes that are needed while counts are put in their places: each count, whether it is known, and the places."""
    return one.cells * (9 * one.columns + 33)


def _held(one: Comparing) -> int:
    """Bytes of the sums of all statistics, and of the table that says which system has which document."""
    return one.cells * (8 * one.forms * one.statistics + 9)


def _tested(one: Comparing, how: p.Testing, shuffles: int, threads: int) -> int:
    """Bytes of the largest stage in which pairs are tested and get their intervals."""
    pairs = one.pairs * one.statistics
    shuffled = _shuffled(one, how, shuffles, threads) + pairs * OUTCOME
    resampled = _resampled(one, how, threads) + pairs * (VERDICT + INTERVAL)
    matrices = 5 * 8 * one.systems**2 if one.systems <= MATRIX_SYSTEMS else 0
    correlated = one.cells * 17 + matrices + pairs * (VERDICT + INTERVAL)
    return max(shuffled, resampled, correlated)


def _shuffled(one: Comparing, how: p.Testing, shuffles: int, threads: int) -> int:
    """Bytes that are needed while pairs are shuffled: the counts in the form that the matrix product takes, and the
    signed sums of a chunk of shuffles.
    """
    if not one.together:
        return one.documents * 96 + threads * lookup.memory(one.documents)
    # The studentized test sums products of counts as well, and none of these are small numbers.
    studentized = not named_test(how.test).shuffles_differences
    forms = (5 if studentized else 2) * one.statistics
    wide = studentized or one.values or one.forms > 2
    table = one.cells * forms * (32 if wide else 8) + one.cells * 24
    product = 2 * forms * one.systems * min(coins.CHUNK, shuffles) * (8 if wide else 4)
    return table + product + (3 * one.statistics + 20) * 8 * one.systems**2


def _resampled(one: Comparing, how: p.Testing, threads: int) -> int:
    """Bytes that are needed while intervals are found: the influences, and the sums over resamples where these are
    needed.
    """
    if one.documents >= VERY_MANY_UNITS:
        # Resamples are then drawn of kinds of documents, and kept as small numbers or drawn again.
        return one.cells * 40 + one.documents * 64 + min(one.documents * FOR_INTERVALS.shuffles, KEPT_COUNTS)
    drawn, tables = FOR_INTERVALS.shuffles, 6
    if how.margin is not None or not named_interval(how.interval).studentizes:
        drawn, tables = max(drawn, min(MOST_RESAMPLES, MOST_COUNTS // max(one.documents, 1))), 4
    counts = one.documents * drawn * (8 if one.documents * drawn <= READY else 2)
    return one.cells * 32 + counts + one.systems * drawn * 8 * tables + threads * 32 * one.documents * 64


# --- refusing ---------------------------------------------------------------------------------------------------------


def check(how: p.Testing, entry: p.Entry, pairs: int, documents: int) -> None:
    """Raises QueryError for a comparison that could take more memory than is allowed."""
    bound, most = at_most([Comparing.planned(how, entry, pairs, documents)], how), memory.most()
    if bound <= most:
        return
    many = len(entry.systems)
    fewer = "name fewer systems" if pairs < many else "name fewer systems, or compare them against one"
    raise QueryError(
        f"{pairs:,} pairs of {many:,} systems with {documents:,} {plural(entry.noun)} on {entry.test_set.name} could "
        f"take {bound / 1e6:,.0f} MB, and {most / 1e6:,.0f} MB are allowed",
        hints=(fewer, memory.more(bound)),
    )

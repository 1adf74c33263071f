"""What compare alone may ask for: an average over test sets, a margin, a kind of interval, bounds over what is missing.

What it shares with the other questions that are answered by tests is in `testing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import inf

from msgspec.structs import replace

from grammar import nodes as n
from grammar.editing.hints import written
from grammar.errors import QueryError
from warehouse.query import plan as p
from warehouse.query.conventions import is_bounded
from warehouse.query.resolving.names import Scope
from warehouse.query.resolving.testing import interval_of, testing_of
from warehouse.significance.bootstrap.interval_kinds import INTERVALS
from warehouse.significance.tests import TESTS


def comparing(statement: n.Compare, entries: Sequence[p.Entry], scope: Scope) -> p.Testing:
    """How the pairs of a comparison are tested, its clauses checked against one another."""
    if statement.missing == "bounds":
        _check_bounds(statement)
    _check_labellings(statement, entries)
    how = testing_of(statement, entries, scope)
    interval = interval_of(statement)
    if interval.corrects and any(entry.units.exchanges_runs for entry in entries):
        others = " or ".join(kind.name for kind in INTERVALS if not kind.corrects)
        place = statement.exchange.span if statement.exchange else statement.span
        raise QueryError(f"exchange by system works only with interval {others}", place)
    return replace(how, interval=interval, margin=_margin(statement, entries, how, scope))


def _margin(statement: n.Compare, entries: Sequence[p.Entry], how: p.Testing, scope: Scope) -> Decimal | None:
    """The margin of two one-sided tests, checked against the other clauses; None where there is none."""
    if statement.margin is None:
        return None
    place, test, adjustment = statement.margin.span, how.test, how.adjustment
    margin = scope.number(statement.margin, Decimal(0))
    if margin <= 0:
        raise QueryError(f"a margin must be above 0, not {written(margin)}", place)
    for statistic in (statistic for entry in entries for statistic in entry.statistics):
        lowest, highest = statistic.measure.within or (-inf, inf)
        if margin >= highest - lowest:
            what = f"no two systems differ by more than a margin of {written(margin)} in {statistic.label}"
            raise QueryError(what, place, (f"write margin {written(margin)}%",) if margin < 100 else ())
    if not test.takes_margin:
        takers = [member.name for member in TESTS if member.takes_margin]
        raise QueryError(f"margin works with test {', '.join(takers)}, not with {test.name}", place)
    if statement.sides == "one-sided":
        raise QueryError("margin already makes two one-sided tests", place, ("leave out one-sided",))
    if adjustment.by_shuffles:
        raise QueryError(
            f"adjust {adjustment.name} cannot be combined with margin", place, ("write adjust holm instead",)
        )
    if statement.missing == "bounds":
        raise QueryError(
            "missing bounds cannot be combined with margin", place, ("write missing drop, or missing zero",)
        )
    if how.level >= Decimal("0.5"):
        raise QueryError(
            "with a margin the level must be below 0.5", statement.level.span if statement.level else place
        )
    return margin


def _check_bounds(statement: n.Compare) -> None:
    """Bounds over missing documents are those of two systems on one test set."""
    if statement.over:
        raise QueryError(
            "missing bounds works on one test set at a time", statement.span, ("leave out 'over test sets'",)
        )
    if statement.exchange and statement.exchange.of.casefold() == "system":
        raise QueryError(
            "missing bounds is about documents, but whole systems are exchanged here", statement.exchange.span
        )


def _check_labellings(statement: n.Compare, entries: Sequence[p.Entry]) -> None:
    """Bounds over labellings are those of two systems on one test set, document by document."""
    for statistic in (statistic for entry in entries for statistic in entry.statistics):
        if not is_bounded(statistic):
            continue
        clauses = {
            "over test sets": statement.over,
            "margin": statement.margin is not None,
            "missing bounds": statement.missing == "bounds",
            "replicates": any(entry.units.made_of is not None for entry in entries),
        }
        for clause in (clause for clause, there in clauses.items() if there):
            wrong = f"{statistic.label} tries every labelling, so it cannot be combined with {clause}"
            raise QueryError(wrong, statement.measures[0].span, (f"leave out {clause}, or write optional=all",))


def averaged_entries(statement: n.Compare, entries: tuple[p.Entry, ...]) -> tuple[p.Entry, ...]:
    """The entries of a question about an average over test sets, with the systems that all of them have."""
    place = statement.test_sets.span if statement.test_sets else statement.span
    if len(entries) < 2:
        raise QueryError("an average over test sets needs two test sets, but there is only one", place)
    tasks = sorted({entry.task.name for entry in entries})
    if len(tasks) > 1:
        raise QueryError(f"the test sets are of several kinds: {', '.join(tasks)}", place, ("add of KIND",))
    for statistic, node in zip(entries[0].statistics, statement.measures, strict=False):
        if statistic.ordered:
            needs = f"an average over test sets is tested by sums, and {statistic.label} is not computed from sums"
            raise QueryError(needs, node.span, ("leave out 'over test sets'",))
    if statement.exchange and statement.exchange.of.casefold() == "system":
        raise QueryError("whole systems are exchanged on one test set at a time", statement.exchange.span)
    common = [system for system in entries[0].systems if all(system in entry.systems for entry in entries)]
    if len(common) < 2:
        have = f"only {common[0].name} is" if common else "none of them is"
        raise QueryError(f"compare needs two systems that are on all test sets, but {have}", place)
    return tuple(replace(entry, systems=tuple(common)) for entry in entries)

"""The intervals of `score`: how they are asked for, their columns, and what there is to note of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from grammar import nodes as n
from grammar.errors import QueryError
from warehouse.measures import Statistic
from warehouse.query import plan as p
from warehouse.query.engine import Workforce
from warehouse.query.labels import some
from warehouse.query.path import Facts, Queries
from warehouse.query.resolving.conditions import dimension_of
from warehouse.query.resolving.names import Scope
from warehouse.query.resolving.testing import interval_of
from warehouse.results import Cell, CellKind, Column
from warehouse.tasks.observed import plural

if TYPE_CHECKING:
    from warehouse.query.comparison.intervals import Interval
    from warehouse.query.comparison.resampling import OwnIntervals


def resampling_of(statement: n.Score, where: p.Filter | None, scope: Scope) -> p.Testing:
    """How the values of a question are resampled, for intervals and for pictures."""
    _check_clauses(statement)
    plain = p.Testing.plain(where)
    return replace(
        plain,
        level=scope.share(statement.level, "level", plain.level),
        seed=cast(int, scope.whole(statement.seed, "seed", 0, 2**63 - 1)) if statement.seed else plain.seed,
        interval=interval_of(statement),
    )


def resampled_entries(statement: n.Score | n.Spread, entries: tuple[p.Entry, ...], scope: Scope) -> tuple[p.Entry, ...]:
    """The entries with what is resampled as a whole, where the question says it."""
    if statement.exchange is None:
        return entries
    exchange = dimension_of(scope, statement.exchange, entries[0].task)
    _check_exchanged(exchange, entries, statement.exchange)
    return tuple(entry.exchange_by(exchange) for entry in entries)


def _check_clauses(statement: n.Score) -> None:
    """Raises QueryError for clauses without effect, and for values that have no interval."""
    if statement.interval is None:
        for word, clause in (("exchange", statement.exchange), ("seed", statement.seed), ("level", statement.level)):
            if clause is not None:
                raise QueryError(f"{word} has no effect on score without interval", clause.span, ("add interval",))
        return
    if statement.by:
        hint = 'use where for each part, for example where document.source = "radio"'
        raise QueryError("score has no intervals with by", statement.by[0].span, (hint,))
    if statement.standardized:
        raise QueryError("standardized values have no intervals", statement.span, ("leave out one of the two",))
    if statement.replicates is not None and statement.interval != n.INTERVAL_WORDS[0]:
        raise QueryError(
            f"with replicates an interval must be {n.INTERVAL_WORDS[0]}: its standard error covers documents and "
            "replicates",
            statement.replicates.span,
        )


def _check_exchanged(exchange: p.Dimension, entries: Sequence[p.Entry], node: n.Attribute) -> None:
    if exchange.of not in ("document", "unit"):
        hints = ("write document, unit or document.attribute",)
        raise QueryError(f"{exchange.name} cannot be resampled", node.span, hints)
    means = [statistic.label for entry in entries for statistic in entry.statistics if statistic.averaged]
    if exchange.of == "unit" and means:
        raise QueryError(f"{means[0]} is a mean over documents, so units cannot be resampled", node.span)


def interval_queries(how: p.Testing, entries: Sequence[p.Entry]) -> Queries:
    """What brings the intervals of some entries."""
    from warehouse.query.comparison.resampling import own_interval_queries

    return tuple(query for entry in entries for query in own_interval_queries(how, entry))


def own_intervals_of(how: p.Testing, entry: p.Entry, facts: Facts, workforce: Workforce) -> OwnIntervals:
    """The intervals of an entry."""
    from warehouse.query.comparison.resampling import own_intervals

    return own_intervals(how, entry, facts, workforce)


# --- columns and cells ------------------------------------------------------------------------------------------------


def interval_columns(label: str, kind: CellKind, how: p.Testing) -> tuple[Column, ...]:
    """The columns beside those of a measure."""
    from warehouse.query.comparison.intervals import interval_heading

    return (
        Column(f"se({label})", kind, on_screen=False),
        Column(f"ci_low({label})", kind, interval_heading(how.level)),
        Column(f"ci_high({label})", kind, "to", upper=True),
    )


def interval_cells(place: int, interval: Interval | None) -> dict[str, Cell]:
    """The cells beside those of the measure at that place; `interval_names` is what they are called."""
    cells = (None, None, None) if interval is None else (interval.error, interval.low, interval.high)
    return dict(zip(interval_names(place), cells, strict=True))


def interval_names(place: int) -> tuple[str, str, str]:
    """What the cells of an interval are called among rows."""
    return f"se of value {place}", f"low of value {place}", f"high of value {place}"


# --- what they are called, and notes ----------------------------------------------------------------------------------


def interval_caption(how: p.Testing, entries: Sequence[p.Entry], spreads: Sequence[OwnIntervals]) -> str:
    """95% CI studentized over documents, 2,000 resamples, seed 1992."""
    from warehouse.query.comparison.intervals import interval_heading

    drawn = max((interval.resamples for spread in spreads for interval in spread.intervals.values()), default=0)
    resamples = f", {drawn:,} resamples, seed {how.seed}" if drawn else ""
    units = " or ".join(dict.fromkeys(plural(entry.units.exchange_noun) for entry in entries))
    return f"{interval_heading(how.level)} {how.interval.name} over {units}{resamples}"


def score_interval_notes(entry: p.Entry, spread: OwnIntervals) -> Iterator[str]:
    """What the intervals of an entry leave out, and who has none."""
    from warehouse.query.comparison.interval_notes import interval_notes

    same = "the value is the same in every resample"
    for statistic in entry.statistics:
        own = {name: interval for (label, name), interval in spread.intervals.items() if label == statistic.label}
        yield from interval_notes(f"{statistic.label} on {entry.test_set.name}", own, same)
        if why := _why_none(statistic, entry):
            yield f"{statistic.label} on {entry.test_set.name} has no interval: {why}"
    if entry.baselines:
        yield f"expected values have no interval: {some([baseline.name for baseline in entry.baselines])}"


def _why_none(statistic: Statistic, entry: p.Entry) -> str:
    """Why no system has an interval; empty where systems may."""
    if not entry.task.by_document:
        return f"{entry.task.rows} have no documents to resample"
    if statistic.sums is None:
        return "it comes from an order of the documents, not from sums over them"
    if statistic.averaged and entry.units.averaged is not None:
        return "a mean over documents of averaged replicates cannot be split by replicate"
    return ""

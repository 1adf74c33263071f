"""What `macro(M)` and `weighted(M)` mean on a test set: the units that they average over.

Units are those that rows are stored for, or the two classes of decisions. Where decisions or rankings have topics,
these are what is averaged over. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.kinds import Kind
from evalhouse.warehouse.measures import Function, Measure, OverUnits, Ratio, Statistic, UnitAverage
from evalhouse.warehouse.measures.averages import WEIGHTED, unit_measure
from evalhouse.warehouse.measures.extraction import ANSWERS, SUPPORT
from evalhouse.warehouse.measures.filtering import OF_TOPICS, average_of_classes
from evalhouse.warehouse.measures.forms import LinearForm
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.store.catalog import Catalog, KnownTestSet

TOPIC = "topic"
"""The attribute of documents that decisions are averaged over, as by TREC's filtering tracks."""


def in_topics(
    node: n.MeasureCall | n.Mean, kind: Kind, test_set: KnownTestSet, catalog: Catalog
) -> n.MeasureCall | n.Mean:
    """What was asked for, or where that is an average over units and decisions have topics, the mean over these.

    Raises QueryError for weights, which topics do not have, and for other units.
    """
    topical = kind.has_key and catalog.has_attribute(test_set.id, TOPIC)
    if not (topical and isinstance(node, n.Mean) and node.over_units):
        return node
    _check_no_units(node, "decisions here are on topics", f"write macro({to_text(node.measure)})")
    return replace(node, by=n.Attribute("document", TOPIC, span=node.span))


def check_of_lists(node: n.Mean) -> None:
    """Raises QueryError for an average of rankings that is not simply the mean over topics."""
    _check_no_units(node, "rankings have topics and no units", f"write {to_text(node.measure)}")


def over_units(
    node: n.Mean, statistic: Statistic, kind: Kind, test_set: KnownTestSet, catalog: Catalog
) -> Statistic | None:
    """The average over units of a statistic, None where there are no units. Raises QueryError where the measure has no
    value for one.
    """
    plain = to_text(node.measure)
    if node.by is not None and (node.by.of.casefold() != "unit" or node.by.name):
        wrong = f"{node.word} averages over units, not over {to_text(node.by)}"
        raise QueryError(wrong, node.by.span, (f"write mean({plain} by {to_text(node.by)})",))
    measure, computation = statistic.measure, statistic.computation
    if statistic.averaged:
        wrong = f"{measure.name} is computed document by document, so it has no average over units"
        raise QueryError(wrong, node.span, (f"write {plain}",))
    if not isinstance(computation, Ratio | Function):
        wrong = f"{measure.name} is not computed from sums, so it has no average over units"
        raise QueryError(wrong, node.span, (f"write {plain}",))
    if statistic.in_counts or measure.name in OF_TOPICS:
        wrong = f"{measure.name} is not a share, so it has no average over units"
        hints = (f"write {plain} for its sum over all",)
        raise QueryError(wrong, node.span, hints)
    weighted = node.word == WEIGHTED
    if kind.has_key:
        return replace(statistic, computation=_of_classes(node, statistic, weighted))
    units = catalog.units_of(kind.name, test_set.id) if kind.in_units else ()
    if not any(units):
        return None
    if weighted and kind.named_counts:
        wrong = f"{plain} has no key items to weigh units by"
        raise QueryError(wrong, node.span, (f"write macro({plain})",))
    # Of counts that the data name it is not known which are of the key: all of them make a unit count.
    every = LinearForm.of(*computation.columns)
    support, answers = (every, every) if kind.named_counts else (SUPPORT, ANSWERS)
    of_unit = unit_measure(computation, support, answers)
    average = UnitAverage.over_stored(of_unit, weighted, tuple(filter(None, units)), without=0 in units)
    return replace(statistic, computation=average)


def _of_classes(node: n.Mean, statistic: Statistic, weighted: bool) -> UnitAverage:
    """The average over the two classes of decisions, relevant and nonrelevant."""
    measure: Measure = statistic.measure
    if measure.defined:
        wrong = f"{measure.name} was defined for relevant documents alone, so it has no average over both classes"
        raise QueryError(wrong, node.span, (f"write {to_text(node.measure)}",))
    average = average_of_classes(measure, statistic.settings, weighted)
    if average is None:
        wrong = "an average over both classes takes one convention for optional documents"
        raise QueryError(wrong, node.span, ("write optional=excluded, relevant, nonrelevant or credit",))
    return average


def _check_no_units(node: n.Mean, why: str, otherwise: str) -> None:
    if node.word == WEIGHTED:
        raise QueryError(f"{why}, so there is no support to weigh them by", node.span, (otherwise,))
    if node.by is not None:
        raise QueryError(f"{why}: there is no {to_text(node.by)} to average over", node.by.span, (otherwise,))


# === documents of several test sets ===================================================================================


def common_scale(entries: Sequence[p.Entry]) -> int:
    """A multiple of what the counts of each test set are multiplied by."""
    return lcm(*(entry.units.scale for entry in entries))


def with_units_of_all(entries: Sequence[p.Entry]) -> tuple[p.Entry, ...]:
    """The entries with averages over the units of all of them: a unit that a test set lacks adds nothing there."""
    units = tuple(sorted({unit for entry in entries for unit in entry.averaged_units}))
    return tuple(
        replace(entry, statistics=tuple(_over_units(statistic, units) for statistic in entry.statistics))
        for entry in entries
    )


def _over_units(statistic: Statistic, units: tuple[int, ...]) -> Statistic:
    average = statistic.over_units
    if average is None or not average.stored:
        return statistic
    of_one = statistic.of_one.over_units(units) if isinstance(statistic.of_one, OverUnits) else statistic.of_one
    return replace(statistic, computation=average.over_units(units), of_one=of_one)


def pooled_statistic(statistic: Statistic, entries: Sequence[p.Entry]) -> Statistic:
    """A statistic of the first of several test sets as one of the observations of all together."""
    scale, of_one = common_scale(entries), statistic.of_one or statistic.computation
    if scale == entries[0].units.scale or not isinstance(of_one, Function | OverUnits):
        return statistic
    return replace(statistic, computation=of_one.over(scale), of_one=of_one)

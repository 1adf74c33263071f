"""The pictures of `compare`, `replicate` and `change`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from msgspec import Struct

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.charts import Panel, Unit, format_p, format_value
from evalhouse.warehouse.charts.curves import distribution, edges_for
from evalhouse.warehouse.charts.intervals import CarriedOver, differences, replication_panel, slopes
from evalhouse.warehouse.charts.planes import matrix
from evalhouse.warehouse.comparing.intervals import percent, plan_of
from evalhouse.warehouse.comparing.margins import CONCLUSIVE, INCONCLUSIVE, format_margin
from evalhouse.warehouse.comparing.pairs import Comparison, batches, only
from evalhouse.warehouse.comparing.procedures import SHUFFLES, paired_sums
from evalhouse.warehouse.plans.labels import on
from evalhouse.warehouse.plans.path import Facts, Workforce
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.shuffles import randomization
from evalhouse.warehouse.significance.shuffles.sequential import Verdict
from evalhouse.warehouse.significance.tests import OF_ORDERS
from evalhouse.warehouse.statements.pictures.picture import Drawn, labels, number, unit_in

if TYPE_CHECKING:
    from evalhouse.warehouse.statements.change import ChangePlan
    from evalhouse.warehouse.statements.compare import ComparePlan
    from evalhouse.warehouse.statements.replicate import ReplicatePlan


# === the pictures of compare ==========================================================================================
# For a pair the distribution of its differences, for all pairs the matrix of their p-values, and differences with their
# intervals for everything else.

MOST_SHUFFLES = 100_000
"""More shuffles than this would not change the shape of a distribution that can be seen."""


MOST_SYSTEMS = 100
"""A matrix of more systems than this cannot be read."""

Contests = dict[tuple[Cell, Cell], list[dict[str, Cell]]]
"""The rows of each test set and measure."""


def draw_comparison(plan: ComparePlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    contests: Contests = {}
    for row in result.rows:
        contests.setdefault((row["test_set"], row["measure"]), []).append(row)
    one = all(len(rows) == 1 for rows in contests.values())
    once = plan.how.margin is None and plan.how.looks is None
    if one and once and plan.how.test.shuffles_differences:
        return _null(plan, result, contests, facts, workforce)
    if result.triangle:
        return _matrices(plan, result, contests)
    return _forest(plan, result, contests)


def _contest(contests: Contests, test_set: Cell, measure: Cell) -> str:
    test_sets, measures = (set(names) for names in zip(*contests, strict=True))
    parts = ([str(measure)] if len(measures) > 1 else []) + ([str(test_set)] if len(test_sets) > 1 else [])
    return " on ".join(parts)


def _lower_is_better(plan: ComparePlan, measure: Cell) -> bool:
    statistics = (statistic for entry in plan.entries for statistic in entry.statistics)
    return any(statistic.label == measure and statistic.measure.lower_is_better for statistic in statistics)


def _matrices(plan: ComparePlan, result: Result, contests: Contests) -> Drawn:
    """All pairs as a matrix of levels, the systems ranked."""
    panels = []
    said = []
    for (test_set, measure), rows in contests.items():
        values = {str(row[f"system_{side}"]): number(row[f"value_{side}"]) or 0.0 for row in rows for side in "ab"}
        if len(values) > MOST_SYSTEMS:
            wrong = f"a matrix of {len(values):,} systems would be unreadable; at most {MOST_SYSTEMS} fit"
            raise QueryError(
                wrong, hints=("against draws one line for each system, plot group draws significance groups",)
            )
        sign = 1 if _lower_is_better(plan, measure) else -1
        ranked = sorted(values, key=lambda name: (sign * values[name], name))
        cell = "p_adjusted" if plan.how.adjustment.adjusts else "p"
        levels = {
            frozenset((str(row["system_a"]), str(row["system_b"]))): (number(row[cell]) or 0.0, _verdict(row))
            for row in rows
        }
        panels.append(matrix(_contest(contests, test_set, measure), ranked, levels))
        significant = sum(row["verdict"] == "significant" for row in rows)
        said.append(f"{significant:,} of {len(rows):,} pairs differ significantly by {measure} on {test_set}")
    return Drawn(plan.entries, tuple(panels), f"Matrix of p-values. {'; '.join(said)}.")


def _forest(plan: ComparePlan, result: Result, contests: Contests) -> Drawn:
    """Differences with their intervals: one-sided comparisons, those against one system, and tests without shuffles.
    One-sided the line goes from the limit to the edge.
    """
    panels = []
    for (test_set, measure), rows in contests.items():
        pairs = []
        for row in rows:
            value, low, high = (number(row[name]) for name in ("difference", "ci_low", "ci_high"))
            if value is not None:
                pairs.append((f"{row['system_a']} − {row['system_b']}", value, low, high, _verdict(row)))
        sign = 1 if _lower_is_better(plan, measure) else -1
        pairs.sort(key=lambda pair: (sign * pair[1], pair[0]))
        if pairs:
            title = _contest(contests, test_set, measure)
            unit = unit_in(result, "difference")
            margins = {number(row["margin"]) for row in rows} if plan.how.margin is not None else {None}
            margin = margins.pop() if len(margins) == 1 else None
            panels.append(differences(title, f"difference of {measure}", unit, pairs, margin))
    if plan.how.margin is not None:
        return _against_margin(plan, result, panels)
    significant = sum(row["verdict"] == "significant" for row in result.rows)
    found = f"{significant:,} of {len(result.rows):,} are significant"
    dots = "filled dots are significant, hollow ones are not"
    if not plan.with_intervals:
        return Drawn(plan.entries, tuple(panels), f"Differences: {found}.", (dots,))
    alternative = f"Differences with {percent(plan.how.interval_level)} intervals: {found}."
    return Drawn(plan.entries, tuple(panels), alternative, (f"lines are {_lines(plan)}; {dots}",))


def _against_margin(plan: ComparePlan, result: Result, panels: Sequence[Panel]) -> Drawn:
    """Differences between the margins, each with its verdict."""
    verdicts = [str(row["verdict"]) for row in result.rows]
    counted = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
    margin = "dotted lines are the margin"
    if plan.how.margin is not None and plan.how.margin.of_second:
        part = format_margin(plan.how.margin, plan.entries)
        margin = f"dotted lines, where all pairs have the same, are the margin, {part}"
    legend = f"lines are {_lines(plan)}; {margin}; hollow dots are inconclusive"
    return Drawn(plan.entries, tuple(panels), f"Differences beside a margin: {counted}.", (legend,), (counted,))


def _lines(plan: ComparePlan) -> str:
    """What the lines are; in a family that is adjusted together they are wider."""
    ordered = all(statistic.ordered for entry in plan.entries for statistic in entry.statistics)
    drawn = OF_ORDERS.name if ordered else f"{plan.how.interval.name} bootstrap"
    wider = "" if plan_of(plan.how).family == "each" else ", for all pairs together"
    return f"{percent(plan.how.interval_level)} {drawn} intervals of the difference{wider}"


def _verdict(row: dict[str, Cell]) -> Verdict:
    """What a mark looks like: with a margin, every conclusive one is filled."""
    verdict = str(row["verdict"])
    return (
        "significant"
        if verdict in CONCLUSIVE
        else "not significant"
        if verdict == INCONCLUSIVE
        else cast(Verdict, verdict)
    )


class _Null(Struct, frozen=True, eq=False):
    """The pair whose distribution is drawn, over so many shuffles; on `both` sides, or one; and what it is called."""

    comparison: Comparison
    shuffles: int
    both: bool
    title: str
    unit: Unit


def _null(plan: ComparePlan, result: Result, contests: Contests, facts: Facts, workforce: Workforce) -> Drawn:
    """The distribution of the differences under randomization, one panel per measure and test set."""
    nulls: list[_Null] = []
    notes: list[str] = []
    said: list[str] = []
    both, unit = plan.how.sides == "two-sided", unit_in(result, "difference")
    for batch in batches(plan.how, plan.entries, facts, plan.over):
        for comparison in batch:
            entry, label = comparison.entry, comparison.statistic.label
            where = entry.test_set.name
            (row,) = contests[where, label]
            if comparison.replicates:
                return _forest(plan, result, contests)
            shuffles = min(plan.how.shuffles or SHUFFLES, MOST_SHUFFLES)
            alone, _ = only(comparison, comparison.pairs)
            nulls.append(_Null(alone, shuffles, both, _contest(contests, where, label), unit))
            observed = format_value(number(row["difference"]) or 0.0, unit)
            level = format_p(number(row["p"]) or 0.0)
            said.append(f"{label} on {where}: difference {observed}, {level} ({row['method']})")
            if row["method"] == "exact":
                notes.append(f"p is exact; the distribution is drawn from {shuffles:,} shuffles")
            elif shuffles < int(number(row["shuffles"]) or 0):
                notes.append(f"the distribution is drawn from {shuffles:,} shuffles")
    pair = result.rows[0]
    title = f"{', '.join(labels(plan.entries))} of {pair['system_a']} and {pair['system_b']} on {on(plan.entries)}"
    alternative = f"Distribution of differences under randomization. {'; '.join(said)}."
    panels = tuple(workforce.done(_distribution, nulls))
    return Drawn(plan.entries, panels, alternative, tuple(said), tuple(dict.fromkeys(notes)), title)


def _distribution(null_of: _Null) -> Panel:
    comparison, shuffles, both = null_of.comparison, null_of.shuffles, null_of.both
    (pair,) = comparison.pairs
    a, b = comparison.in_order(pair)
    paired, draws = paired_sums(comparison, pair), Draws(shuffles, comparison.how.seed, comparison.stream)
    if paired.is_function:
        null = randomization.null_differences_of_function(paired, draws)
    else:
        null = comparison.factor * randomization.null_differences(paired, draws)
    observed = float(comparison.exact_difference(a, b))
    edges = edges_for(float(null.min()), float(null.max()), observed, both)
    # A difference equal to the observed one counts as extreme, whatever its last bit.
    nudged = null * (1 + 1e-9) if both else null + 1e-9 * (abs(edges[-1]) + abs(edges[0]))
    counts, _ = np.histogram(nudged, edges)
    names = [comparison.entry.systems[place].name for place in (a, b)]
    axis = f"difference of {comparison.statistic.label}, {names[0]} − {names[1]}"
    return distribution(null_of.title, axis, null_of.unit, edges, counts.tolist(), observed, both)


# === the picture of replicate =========================================================================================
# Each pair's difference on one test set against its difference on the other, one panel per measure.


def draw_replication(plan: ReplicatePlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    first, second = (entry.test_set.name for entry in plan.entries)
    panels: list[Panel] = []
    said: list[str] = []
    for statistic in plan.source.statistics:
        rows = [row for row in result.rows if row["measure"] == statistic.label]
        pairs = [
            CarriedOver(f"{row['system_a']} − {row['system_b']}", before, after, cast("Verdict", row["verdict_from"]))
            for row in rows
            if (before := number(row["difference_from"])) is not None
            and (after := number(row["difference_to"])) is not None
        ]
        if pairs:
            unit = unit_in(result, "difference_from")
            panels.append(replication_panel(statistic.label, "difference", unit, (first, second), pairs))
            kept = sum(pair.first * pair.second > 0 for pair in pairs)
            said.append(f"{statistic.label}: {kept} of {len(pairs)} pairs keep the sign of their difference")
    return Drawn(
        plan.entries,
        tuple(panels),
        f"Differences of pairs on {first} and on {second}. {'; '.join(said)}.",
        (f"filled: significant on {first}", "dashed: the same difference on both", "below 0: the sign has changed"),
        title=f"{', '.join(labels([plan.source]))}: differences on {first} and {second}",
    )


# === the picture of change ============================================================================================
# A slope chart.


def draw_change(plan: ChangePlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    names = (plan.source.test_set.name, plan.target.test_set.name)
    panels = []
    said = []
    for statistic in plan.source.statistics:
        systems = []
        for row in result.rows:
            first, second = number(row["value_from"]), number(row["value_to"])
            if row["measure"] == statistic.label and first is not None and second is not None:
                systems.append((str(row["system"]), first, second))
        if systems:
            title = statistic.label if len(plan.source.statistics) > 1 else ""
            panels.append(slopes(title, statistic.label, unit_in(result, "value_from"), names, systems))
            rose = sum(second > first for _, first, second in systems)
            fell = sum(second < first for _, first, second in systems)
            said.append(f"{statistic.label}: {rose} of {len(systems)} systems rose and {fell} fell")
    measures = ", ".join(labels([plan.source]))
    return Drawn(
        plan.entries,
        tuple(panels),
        f"Slope chart from {names[0]} to {names[1]}. {'; '.join(said)}.",
        ("dashed lines fall",),
        title=f"{measures} from {names[0]} to {names[1]}",
    )

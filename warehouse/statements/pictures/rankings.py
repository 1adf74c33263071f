"""The pictures of `group`, `rank` and `score`."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from evalhouse.warehouse.charts import MOST_PANELS, Panel, Points
from evalhouse.warehouse.charts.intervals import critical_difference, rank_sets, ranking
from evalhouse.warehouse.charts.planes import plane
from evalhouse.warehouse.comparing.intervals import OwnIntervals, own_interval_queries, own_intervals, percent
from evalhouse.warehouse.comparing.intervals_together import intervals_together
from evalhouse.warehouse.comparing.pairs import entry_of_all
from evalhouse.warehouse.comparing.values import expectation
from evalhouse.warehouse.kinds import FILTERING, KINDS
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.measures import PrintedFigure, Ratio, Statistic, find_measure, settle
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import scores
from evalhouse.warehouse.plans.labels import SIMULATED, taken_together_on
from evalhouse.warehouse.plans.path import Facts, Queries, Query, Workforce
from evalhouse.warehouse.results import UNEVEN, UNEVEN_MEANS, Cell, Result, count_behind
from evalhouse.warehouse.significance.groups import letters
from evalhouse.warehouse.statements.pictures.picture import (
    Drawn,
    expected_systems,
    hollow,
    intervals_of,
    labels,
    lines_of,
    number,
    panel_title,
    unit_in,
)
from evalhouse.warehouse.statements.rank import Over, RankPlan, mean_ranks, systems_told_apart
from evalhouse.warehouse.statements.score_corrected import CorrectedPlan

if TYPE_CHECKING:
    from evalhouse.warehouse.statements.group import GroupPlan
    from evalhouse.warehouse.statements.score_plan import ScorePlan


# === the picture of group =============================================================================================
# The ranking with its intervals and its groups.

SHARED_LETTER = "systems that share a letter do not differ significantly"


def group_queries(plan: GroupPlan) -> Queries:
    """What brings the intervals."""
    return tuple(query for entry in plan.entries for query in own_interval_queries(plan.how, entry))


def draw_groups(plan: GroupPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    panels: list[Panel] = []
    said: list[str] = []
    spreads: list[OwnIntervals] = []
    measures = labels(plan.entries)

    def key(row: dict[str, Cell]) -> tuple[Cell, Cell]:
        return row["test_set"], row["measure"]

    groups = {contest: list(rows) for contest, rows in groupby(result.summary, key)}
    rows_of = {contest: list(rows) for contest, rows in groupby(result.rows, key)}
    entries = _drawn_entries(plan.entries, plan.over)
    for entry in entries:
        known = _spread(plan.how, entry, plan.entries, plan.over, facts, workforce)
        spreads.append(known)
        for statistic in entry.statistics:
            rows = rows_of[entry.test_set.name, statistic.label]
            ranked = [(str(row["system"]), number(row["value"]) or 0.0) for row in rows]
            letters = [
                (letter, [str(row["system"]) for row in rows if letter in str(row["letters"]).split()])
                for letter in (str(group["letter"]) for group in groups[entry.test_set.name, statistic.label])
            ]
            title = panel_title(entries, measures, entry, statistic.label)
            intervals, unit = intervals_of(statistic.label, known), unit_in(result, "value")
            panels.append(ranking(title, statistic.label, unit, ranked, intervals, expected_systems(entry), letters))
            said.append(
                f"{statistic.label} on {entry.test_set.name}: {len(ranked)} systems from {ranked[0][0]} to "
                f"{ranked[-1][0]} in {len(letters)} groups"
            )
    legend = (SHARED_LETTER, f"lines: {lines_of(plan.how, plan.entries, spreads)}", *hollow(plan.entries))
    alternative = f"Ranking with significance groups. {'; '.join(said)}."
    return Drawn(plan.entries, tuple(panels), alternative, legend, title=_title(plan.entries, plan.over))


def _drawn_entries(entries: Sequence[p.Entry], over: p.OverTestSets | None) -> Sequence[p.Entry]:
    """What has panels of its own: each test set, or what several are together."""
    return entries if over is None else (entry_of_all(entries, over),)


def _spread(
    how: p.Testing,
    entry: p.Entry,
    entries: Sequence[p.Entry],
    over: p.OverTestSets | None,
    facts: Facts,
    workforce: Workforce,
) -> OwnIntervals:
    """The intervals of the values in the panels of an entry."""
    if over is None:
        return own_intervals(how, entry, facts, workforce)
    return intervals_together(how, entries, over, facts)


def _title(entries: Sequence[p.Entry], over: p.OverTestSets | None) -> str:
    """What a picture of test sets that are taken together is called; empty for the usual title."""
    return "" if over is None else f"{', '.join(labels(entries))} {taken_together_on(entries, over)}"


# === the pictures of rank =============================================================================================
# The ranks that each system may have, and of mean ranks the critical-difference diagram.


def draw_ranks(plan: RankPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    return _rank_sets(plan, result) if plan.by_mean_rank is None else _mean_ranks(plan.by_mean_rank, facts)


def _rank_sets(plan: RankPlan, result: Result) -> Drawn:
    def key(row: dict[str, Cell]) -> tuple[Cell, Cell]:
        return row["test_set"], row["measure"]

    contests = {contest: list(rows) for contest, rows in groupby(result.rows, key)}
    panels: list[Panel] = []
    said: list[str] = []
    for (test_set, measure), rows in contests.items():
        sets = [
            (str(row["system"]), number(row["rank"]) or 0.0, int(row["rank_low"] or 0), int(row["rank_high"] or 0))
            for row in rows
        ]
        titles = [str(measure)] * (len({m for _, m in contests}) > 1) + [str(test_set)] * (
            len({t for t, _ in contests}) > 1
        )
        panels.append(rank_sets(" on ".join(titles), sets))
        first = [name for name, _, low, _ in sets if low == 1]
        said.append(f"{measure} on {test_set}: {len(first)} of {len(sets)} systems may be the best")
    legend = (f"lines: the ranks that a system may have, {percent(plan.how.level)} for all systems together",)
    alternative = f"Sets of ranks. {'; '.join(said)}."
    return Drawn(plan.entries, tuple(panels), alternative, legend, title=_title(plan.entries, plan.over))


def _mean_ranks(over: Over, facts: Facts) -> Drawn:
    panels: list[Panel] = []
    said: list[str] = []
    labels = [statistic.label for statistic in over.entries[0].statistics]
    critical = None
    for place, label in enumerate(labels):
        found = mean_ranks(over, place, facts)
        order = sorted(range(len(over.names)), key=lambda system: (found.mean[system], over.names[system]))
        cliques = letters(systems_told_apart(found), order).members
        places = {system: row for row, system in enumerate(order)}
        critical = found.critical_difference
        panels.append(
            critical_difference(
                label if len(labels) > 1 else "",
                [(over.names[system], float(found.mean[system])) for system in order],
                [[places[system] for system in members] for members in cliques],
                critical,
            )
        )
        said.append(f"{label}: mean ranks from {found.mean.min():.2f} to {found.mean.max():.2f}")
    legend = ["brackets join systems that do not differ significantly"]
    legend += [f"the line is the critical difference, {critical:.2f}"] if critical is not None else []
    return Drawn(over.entries, tuple(panels), f"Mean ranks over test sets. {'; '.join(said)}.", tuple(legend))


# === the pictures of score ============================================================================================
# Ranked dots with intervals, and for two measures their plane.


def score_queries(plan: ScorePlan | CorrectedPlan) -> Queries:
    """What brings the intervals, or the line of guessing in a plane."""
    if isinstance(plan, CorrectedPlan):
        return ()
    if _is_plane(plan) and plan.over is None:
        return tuple(Query(_key_name(entry), scores.key_totals(entry)) for entry in plan.entries)
    if plan.by or plan.standardized or _is_plane(plan):
        return ()
    return tuple(query for entry in plan.entries for query in own_interval_queries(plan.how, entry))


def _is_plane(plan: ScorePlan) -> bool:
    return len(plan.entries[0].statistics) == 2 and not plan.by and not plan.standardized


def _key_name(entry: p.Entry) -> str:
    return f"key of {entry.test_set.name!r}"


def draw_scores(plan: ScorePlan | CorrectedPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    if isinstance(plan, CorrectedPlan):
        return _draw_corrected(plan, result)
    measures = plan.column_labels()
    if _is_plane(plan):
        return _planes(plan, result, facts)
    panels: list[Panel] = []
    spreads: list[OwnIntervals] = []
    entries = _drawn_entries(plan.entries, plan.over)
    for entry in entries:
        plain = not (plan.by or plan.standardized)
        known = _spread(plan.how, entry, plan.entries, plan.over, facts, workforce) if plain else OwnIntervals({})
        rows = [row for row in result.rows if row["test_set"] == entry.test_set.name]
        spreads.append(known)
        for label in measures:
            title = panel_title(entries, measures, entry, label)
            for part, named in _facets(rows, label, plan.by, room=MOST_PANELS // (len(entries) * len(measures))):
                of_part = ", ".join(filter(None, (title, part)))
                unit, spans = unit_in(result, label), intervals_of(label, known)
                panel = ranking(of_part, label, unit, named, spans, expected_systems(entry))
                uneven = (entry.test_set.name, label) in result.uneven
                panels.append(_say_documents(panel, entry, rows, plan.by, [label]) if uneven else panel)
    legend = (*hollow(plan.entries), *_uneven_means(result))
    if any(spread.intervals for spread in spreads):
        legend = (f"lines: {lines_of(plan.how, plan.entries, spreads)}", *legend)
    return Drawn(plan.entries, tuple(panels), _read_out(panels), legend, title=_title(plan.entries, plan.over))


def _uneven_means(result: Result) -> tuple[str, ...]:
    return (UNEVEN_MEANS,) if result.uneven else ()


def _say_documents(
    panel: Panel, entry: p.Entry, rows: Sequence[dict[str, Cell]], by: Sequence[p.Dimension], labels: Sequence[str]
) -> Panel:
    """The panel with a mark behind the name of each system, and on how many documents it was scored by each measure."""
    shown: dict[str, str] = {}
    for row in rows:
        counts = [count for label in labels if isinstance(count := count_behind(row, label), int)]
        if counts:
            fewest, most = min(counts), max(counts)
            many = f" {UNEVEN} {f'{fewest:,} to ' if fewest < most else ''}{quantity(most, entry.units.noun)}"
            for name in (str(row["system"]), ", ".join(filter(None, (str(row["system"]), _part(row, by))))):
                shown[name] = name + many
    if panel.y.nominal:
        return replace(panel, y=replace(panel.y, names=tuple(shown.get(name, name) for name in panel.y.names)))
    marks = tuple(
        replace(mark, points=tuple(replace(point, name=shown.get(point.name, point.name)) for point in mark.points))
        if isinstance(mark, Points)
        else mark
        for mark in panel.marks
    )
    return replace(panel, marks=marks)


def _draw_corrected(plan: CorrectedPlan, result: Result) -> Drawn:
    """Values corrected by a judge, with the intervals of the answer."""
    [label] = plan.column_labels()
    panels: list[Panel] = []
    for entry in plan.entries:
        rows = [row for row in result.rows if row["test_set"] == entry.test_set.name]
        values = [(str(row["system"]), value) for row in rows if (value := number(row[label])) is not None]
        limits = {
            str(row["system"]): (low, high)
            for row in rows
            if (low := number(row[f"ci_low({label})"])) is not None
            and (high := number(row[f"ci_high({label})"])) is not None
        }
        if values:
            title = panel_title(plan.entries, [label], entry, label)
            panels.append(ranking(title, label, unit_in(result, label), values, limits, []))
    return Drawn(plan.entries, tuple(panels), _read_out(panels), (f"lines: {result.how}",))


def _read_out(panels: Sequence[Panel]) -> str:
    """What the dots show, in words for people who cannot see them."""
    said = "; ".join(
        f"{panel.x.title}{f' on {panel.title}' if panel.title else ''}: {len(panel.y.names)} rows, "
        f"from {panel.y.names[0]} to {panel.y.names[-1]}"
        for panel in panels
    )
    return f"Ranked dots. {said}."


def _facets(
    rows: Sequence[dict[str, Cell]], label: str, by: Sequence[p.Dimension], room: int
) -> list[tuple[str, list[tuple[str, float]]]]:
    """What stands in a panel of its own: a title, and names with their values. Where rows are split, each part of them
    has a panel of the systems, unless there is one system only, or no room for so many.
    """
    values = [(row, value) for row in rows if (value := number(row[label])) is not None]
    if not values:
        return []
    systems = {row["system"] for row, _ in values}
    parts: dict[str, list[tuple[str, float]]] = {}
    for row, value in values:
        parts.setdefault(_part(row, by), []).append((str(row["system"]), value))
    if by and len(systems) > 1 and len(parts) <= room:
        return sorted(parts.items())
    named = [(", ".join(filter(None, (str(row["system"]), _part(row, by)))), value) for row, value in values]
    return [("", named)]


def _part(row: dict[str, Cell], by: Sequence[p.Dimension]) -> str:
    """The values that rows are split by; a dash where there is none."""
    parts = (row[dimension.name] for dimension in by)
    return ", ".join("–" if part is None else str(part) for part in parts)


def _planes(plan: ScorePlan, result: Result, facts: Facts) -> Drawn:
    """Systems in the plane of two measures."""
    panels: list[Panel] = []
    notes: list[str] = []
    legend: list[str] = []
    entries = _drawn_entries(plan.entries, plan.over)
    for entry in entries:
        first, second = entry.statistics
        points = []
        for row in result.rows:
            x, y = number(row[first.label]), number(row[second.label])
            if row["test_set"] == entry.test_set.name and x is not None and y is not None:
                points.append((str(row["system"]), x, y))
        if not points:
            continue
        line = _guessing(entry, facts) if plan.over is None else []
        recall_precision = {first.measure.name, second.measure.name} == {"recall", "precision"}
        title = panel_title(entries, (), entry, "")
        names = (first.label, second.label)
        units = (unit_in(result, first.label), unit_in(result, second.label))
        panel = plane(title, names, units, points, expected_systems(entry), line, recall_precision)
        rows = [row for row in result.rows if row["test_set"] == entry.test_set.name]
        uneven = any((entry.test_set.name, name) in result.uneven for name in names)
        panels.append(_say_documents(panel, entry, rows, plan.by, names) if uneven else panel)
        if line:
            legend.append(f"dashed: judging a random share s of the {plural(entry.units.noun)} relevant")
        if recall_precision:
            legend.append("dotted: equal F")
    if not any(entry.kind.by_document for entry in plan.entries) and "dashed" in "".join(legend):
        simulated = any(entry.key.simulated for entry in plan.entries if entry.key is not None)
        of_key = f"the key labels{f', which are {SIMULATED}' if simulated else ''}"
        notes.append(f"the guessing line comes from {of_key}; the figures are as printed")
    said = "; ".join(f"{sum(map(_count_measured, panel.marks_of(Points)))} points" for panel in panels)
    first, second = plan.entries[0].statistics
    alternative = f"Systems in the plane of {first.label} (across) and {second.label} (up): {said}."
    legend += _uneven_means(result)
    title = _title(plan.entries, plan.over)
    return Drawn(plan.entries, tuple(panels), alternative, tuple(dict.fromkeys(legend)), tuple(notes), title)


def _count_measured(points: Points) -> int:
    return 0 if points.hollow else len(points.points)


def _guessing(entry: p.Entry, facts: Facts) -> list[tuple[float, float, float]]:
    """Where judging a share of the documents relevant at random lies in the plane of two measures of filtering: (share,
    x, y); nothing for other measures, and without a key.
    """
    statistics = [_of_filtering(statistic, entry) for statistic in entry.statistics]
    relevant, optional, nonrelevant = (int(count) for count in facts[_key_name(entry)][0])
    labels = {"relevant": relevant, "optional": optional, "nonrelevant": nonrelevant}
    if None in statistics or not relevant + optional + nonrelevant:
        return []
    line = []
    for hundredths in range(1, 101):
        share = Decimal(hundredths) / 100
        x, y = (expectation(cast(Statistic, statistic), share, labels) for statistic in statistics)
        if x is not None and y is not None:
            line.append((float(share), x, y))
    return line


def _of_filtering(statistic: Statistic, entry: p.Entry) -> Statistic | None:
    """A statistic of filtering as it is computed, also of a figure that was printed; None for any other."""
    if entry.kind.has_key:
        return statistic if isinstance(statistic.computation, Ratio) and not statistic.averaged else None
    if not isinstance(statistic.computation, PrintedFigure) or not KINDS[statistic.computation.kind].has_key:
        return None
    name, _, rest = statistic.computation.name.partition("(beta=")
    measure = find_measure(name, FILTERING.name)
    if measure is None:
        return None
    computed = settle(measure, {"beta": Decimal(rest.removesuffix(")"))} if rest else {})
    return computed if isinstance(computed.computation, Ratio) else None

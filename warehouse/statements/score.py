"""Runs a ScorePlan: lines of values in their order, with notes, as a Result. It tests nothing and draws nothing."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any

from warehouse.measures import Statistic
from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.query.labels import on, signature, some, title
from warehouse.query.standardizing import everyone, standardized, with_deviations
from warehouse.query.valuing import Line, expected_lines, stored
from warehouse.results import EMPTY, Cell, Column, Result, SideBySide, Table
from warehouse.store.catalog import Catalog


def score(plan: p.ScorePlan, engine: DuckDBEngine, catalog: Catalog) -> Result:
    """The values of the measures, a row a test set, system and `by` value."""
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    replicated = any(entry.replicates is not None for entry in plan.entries)
    for entry in plan.entries:
        lines = _lines(plan, entry, engine)
        notes += [*_undefined(entry, lines, plan.by), *_left_out(entry, lines)]
        if plan.standardized:
            lines, standards = standardized(lines, everyone(plan, entry, lines, engine, catalog), plan, entry)
            notes += standards
        found = [
            (
                *(entry.test_set.name, entry.task, line.contender.name, *line.by, line.documents, *line.values),
                *((line.replicates, *line.deviations) if replicated else ()),
                line.source,
            )
            for line in _ordered(lines, plan, entry)
        ]
        rows += found
    keys = _keys(plan, rows)
    kept = set(keys)
    shown = [row for row in rows if row[2 : 3 + len(plan.by)] in kept]
    tasks = {entry.test_set.name: entry.task for entry in plan.entries}
    if len(set(tasks.values())) > 1:
        notes.insert(0, f"not of one task: {', '.join(f'{name} is {task}' for name, task in tasks.items())}")
    labels = column_labels(plan)
    kinds = [_kind(statistic, plan) for statistic in plan.entries[0].statistics]
    summary, summary_columns = _summary_table(plan, rows, labels, kinds)
    alone = len(plan.entries) == 1
    columns = (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        Column("task", "text", on_screen=False),
        Column("system", "name"),
        *(Column(dimension.name, "name") for dimension in plan.by),
        Column("documents", "count", on_screen=False),
        *(Column(label, kind) for label, kind in zip(labels, kinds, strict=True)),
        *((Column("replicates", "count", on_screen=alone),) if replicated else ()),
        *(
            Column(f"sd({label})", kind, f"sd {label}", alone)
            for label, kind in zip(labels, kinds, strict=True)
            if replicated
        ),
        Column("source", "text", on_screen=False),
    )
    names = ("system", *(dimension.name for dimension in plan.by))
    side_by_side = SideBySide(names, tuple(keys), "test_set", tuple(tasks), tuple(labels))
    what = f"{', '.join(labels)} on {on(plan.entries)}"
    if plan.standardized:
        what += "; standard deviations above or below the mean of all systems"
    attributes = {entry.replicates.attribute for entry in plan.entries if entry.replicates is not None}
    if attributes:
        what += f"; averages of the replicates by system.{attributes.pop()}"
    return Result(
        statement=plan.text,
        caption=title(what, plan.entries, catalog),
        signature=signature(plan.text, plan.entries, catalog),
        table=Table(columns, tuple(shown)),
        summary_table=Table(summary_columns, tuple(summary)) if summary else EMPTY,
        notes=tuple(notes),
        side_by_side=side_by_side if len(plan.entries) > 1 else None,
    )


def _keys(plan: p.ScorePlan, rows: Sequence[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """The systems and `by` values in their order over all test sets, as many as are asked for: that they are limited
    together keeps a dash from meaning left out.
    """
    keys = list(dict.fromkeys(row[2 : 3 + len(plan.by)] for row in rows))
    if plan.order == "system":
        keys.sort(key=_by_name)
        keys.sort(key=lambda key: str(key[0]), reverse=plan.descending)
    return keys[: plan.limit]


def _by_name(key: tuple[Cell, ...]) -> list[tuple[bool, str]]:
    return [(cell is None, str(cell)) for cell in key]


def column_labels(plan: p.ScorePlan) -> list[str]:
    """What the columns of values are called: as the measures, or as what is made of them."""
    labels = [statistic.label for statistic in plan.entries[0].statistics]
    return [f"z({label})" for label in labels] if plan.standardized else labels


def _lines(plan: p.ScorePlan, entry: p.Entry, engine: DuckDBEngine) -> list[Line]:
    lines = stored(plan, entry, engine)
    if entry.replicates is not None:
        lines = with_deviations(lines, plan, entry, entry.replicates, engine)
    return [*lines, *expected_lines(plan, entry, engine)]


def _summary_table(
    plan: p.ScorePlan, rows: Sequence[tuple[Cell, ...]], labels: Sequence[str], kinds: Sequence[Any]
) -> tuple[list[tuple[Cell, ...]], tuple[Column, ...]]:
    """The means over the systems that share an attribute, or of standardized values those over the test sets."""
    means = [Column(label, kind, f"mean {label}") for label, kind in zip(labels, kinds, strict=True)]
    split = [Column(dimension.name, "name") for dimension in plan.by]
    if plan.standardized and len(plan.entries) > 1:
        return _means_over_test_sets(plan, rows)[: plan.limit], (
            Column("system", "name"),
            *split,
            Column("test_sets", "count"),
            *means,
        )
    if any(dimension.of == "system" for dimension in plan.by):
        where = Column("test_set", "name", on_screen=len(plan.entries) > 1)
        return _summary(plan, rows), (where, *split, Column("systems", "count"), *means)
    return [], ()


def _means_over_test_sets(plan: p.ScorePlan, rows: Sequence[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """The mean of each standardized measure over the test sets that a system has it on, the highest first."""
    width = 3 + len(plan.by)
    measures = range(width + 1, width + 1 + len(plan.entries[0].statistics))
    groups: dict[tuple[Cell, ...], list[tuple[Cell, ...]]] = {}
    for row in rows:
        groups.setdefault(row[2:width], []).append(row)
    found: list[tuple[Cell, ...]] = []
    for key, members in groups.items():
        known = [[float(row[place]) for row in members if row[place] is not None] for place in measures]  # type: ignore[arg-type]
        means = [fsum(values) / len(values) if values else None for values in known]
        found.append((*key, len({row[0] for row in members}), *means))
    first = 2 + len(plan.by)
    return sorted(found, key=lambda row: (row[first] is None, -float(row[first] or 0), str(row[0])))


def _summary(plan: p.ScorePlan, rows: Sequence[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """The mean of each measure over the systems that share the `by` values: a row a test set and values."""
    width = 3 + len(plan.by)
    groups: dict[tuple[Cell, ...], list[tuple[Cell, ...]]] = {}
    for row in rows:
        groups.setdefault((row[0], *row[3:width]), []).append(row)
    summary = []
    for key, members in sorted(groups.items(), key=lambda item: _by_name(item[0])):
        means = []
        for place in range(width + 1, width + 1 + len(plan.entries[0].statistics)):
            known = [float(row[place]) for row in members if row[place] is not None]  # type: ignore[arg-type]
            means.append(fsum(known) / len(known) if known else None)
        summary.append((*key, len({row[2] for row in members}), *means))
    return summary


def _kind(statistic: Statistic, plan: p.ScorePlan) -> Any:
    valued = plan.standardized or any(entry.task == "values" for entry in plan.entries)
    return "number" if valued else "proportion"


# --- order and notes --------------------------------------------------------------------------------------------------


def _ordered(lines: Sequence[Line], plan: p.ScorePlan, entry: p.Entry) -> list[Line]:
    """By the ordering column, undefined values last, equals by name."""

    by_name = sorted(lines, key=lambda line: _by_name((line.contender.name, *line.by)))
    if plan.order == "system":
        return sorted(by_name, key=lambda line: line.contender.name, reverse=plan.descending)
    labels = [statistic.label for statistic in entry.statistics]
    place = labels.index(plan.order) if plan.order in labels else 0
    sign = -1 if plan.descending else 1

    def rank(line: Line) -> tuple[bool, float]:
        value = line.values[place]
        return (value is None, 0.0 if value is None else sign * value)

    return sorted(by_name, key=rank)


def _undefined(entry: p.Entry, lines: Sequence[Line], by: Sequence[p.Dimension]) -> list[str]:
    """A note for each statistic that is undefined somewhere: which systems, and why."""
    notes = []
    for place, statistic in enumerate(entry.statistics):
        without = sorted({line.contender.name for line in lines if line.values[place] is None})
        if not without:
            continue
        names = ", ".join(without[:5]) + (f" and {len(without) - 5} more" if len(without) > 5 else "")
        where = f" for some {', '.join(dimension.name for dimension in by)}" if by else ""
        notes.append(
            f"{statistic.label} is undefined on {entry.test_set.name}{where}: {names} ({_why(statistic, entry)})"
        )
    there = {line.contender.name for line in lines}
    missing = [contender.name for contender in entry.contenders if contender.name not in there]
    if missing:
        notes.append(f"no rows on {entry.test_set.name} for {some(missing)}")
    return notes


def _left_out(entry: p.Entry, lines: Sequence[Line]) -> list[str]:
    """A note for each mean over documents that some documents have no part in."""
    notes = []
    for place, statistic in enumerate(entry.statistics):
        counts: dict[str, int] = {}
        for line in lines:
            if line.left_out and line.left_out[place]:
                counts[line.contender.name] = counts.get(line.contender.name, 0) + line.left_out[place]
        if counts:
            listed = some([f"{counts[each.name]} of {each.name}" for each in entry.contenders if each.name in counts])
            notes.append(f"{statistic.label} on {entry.test_set.name} leaves out documents without a value: {listed}")
    return notes


def _why(statistic: Statistic, entry: p.Entry) -> str:
    if entry.task == "published":
        return "not printed"
    if statistic.expression is not None:
        return "it divides by 0, or a count it needs was not loaded"
    if statistic.ratio is None:
        return "a decision has no confidence, or no document is relevant or none is nonrelevant"
    under = " + ".join(column for column, _ in statistic.ratio.denominator)
    return f"{under} is 0, or a count it needs was not loaded"

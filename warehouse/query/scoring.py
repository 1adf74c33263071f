"""Runs a ScorePlan: sums from the database, values from the sums, a Result. It tests nothing and draws nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import fsum, sqrt
from typing import Any

from warehouse.catalog import Catalog
from warehouse.engines.duckdb import DuckDBEngine
from warehouse.filtering.generality import KeyCounts
from warehouse.filtering.guessing import expected, expected_cells
from warehouse.measures import Statistic
from warehouse.measures.expression import columns, exact
from warehouse.measures.filtering import auc
from warehouse.query import compile as sql
from warehouse.query import plan as p
from warehouse.query.labels import on, signature, some, title
from warehouse.results import EMPTY, Cell, Column, Result, SideBySide, Table

By = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """One row of the answer: a contender, its `by` values, the documents behind it, and a value a statistic."""

    contender: p.Contender
    by: By
    documents: int | None
    values: tuple[float | None, ...]
    source: str
    left_out: tuple[int, ...] = ()
    """How many documents have no value, a statistic; 0 where it is no mean over documents."""
    replicates: int | None = None
    """How many runs the contender is averaged from."""
    deviations: tuple[float | None, ...] = ()
    """The standard deviation of the runs' own values, a statistic."""


def score(plan: p.ScorePlan, engine: DuckDBEngine, catalog: Catalog) -> Result:
    """The values of the measures, a row a test set, system and `by` value."""
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    replicated = any(field.replicates is not None for field in plan.fields)
    for field in plan.fields:
        lines = _lines(plan, field, engine)
        notes += [*_undefined(field, lines, plan.by), *_left_out(field, lines)]
        if plan.standardized:
            lines, standards = standardized(lines, _everyone(plan, field, lines, engine, catalog), plan, field)
            notes += standards
        found = [
            (
                *(field.test_set.name, field.task, line.contender.name, *line.by, line.documents, *line.values),
                *((line.replicates, *line.deviations) if replicated else ()),
                line.source,
            )
            for line in _ordered(lines, plan, field)
        ]
        rows += found
    keys = _keys(plan, rows)
    kept = set(keys)
    shown = [row for row in rows if row[2 : 3 + len(plan.by)] in kept]
    tasks = {field.test_set.name: field.task for field in plan.fields}
    if len(set(tasks.values())) > 1:
        notes.insert(0, f"not of one task: {', '.join(f'{name} is {task}' for name, task in tasks.items())}")
    labels = column_labels(plan)
    kinds = [_kind(statistic, plan) for statistic in plan.fields[0].statistics]
    summary, summary_columns = _summary_table(plan, rows, labels, kinds)
    alone = len(plan.fields) == 1
    columns = (
        Column("test_set", "name", on_screen=len(plan.fields) > 1),
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
    what = f"{', '.join(labels)} on {on(plan.fields)}"
    if plan.standardized:
        what += "; standard deviations above or below the mean of all systems"
    attributes = {field.replicates.attribute for field in plan.fields if field.replicates is not None}
    if attributes:
        what += f"; averages of the replicates by system.{attributes.pop()}"
    return Result(
        statement=plan.text,
        caption=title(what, plan.fields, catalog),
        signature=signature(plan.text, plan.fields, catalog),
        table=Table(columns, tuple(shown)),
        summary_table=Table(summary_columns, tuple(summary)) if summary else EMPTY,
        notes=tuple(notes),
        side_by_side=side_by_side if len(plan.fields) > 1 else None,
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
    labels = [statistic.label for statistic in plan.fields[0].statistics]
    return [f"z({label})" for label in labels] if plan.standardized else labels


def _lines(plan: p.ScorePlan, field: p.Field, engine: DuckDBEngine) -> list[_Line]:
    lines = _stored(plan, field, engine)
    if field.replicates is not None:
        lines = _with_deviations(lines, plan, field, field.replicates, engine)
    return [*lines, *_expected(plan, field, engine)]


def _summary_table(
    plan: p.ScorePlan, rows: Sequence[tuple[Cell, ...]], labels: Sequence[str], kinds: Sequence[Any]
) -> tuple[list[tuple[Cell, ...]], tuple[Column, ...]]:
    """The means over the systems that share an attribute, or of standardized values those over the test sets."""
    means = [Column(label, kind, f"mean {label}") for label, kind in zip(labels, kinds, strict=True)]
    split = [Column(dimension.name, "name") for dimension in plan.by]
    if plan.standardized and len(plan.fields) > 1:
        return _means_over_test_sets(plan, rows)[: plan.limit], (
            Column("system", "name"),
            *split,
            Column("test_sets", "count"),
            *means,
        )
    if any(dimension.of == "system" for dimension in plan.by):
        where = Column("test_set", "name", on_screen=len(plan.fields) > 1)
        return _summary(plan, rows), (where, *split, Column("systems", "count"), *means)
    return [], ()


def _means_over_test_sets(plan: p.ScorePlan, rows: Sequence[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """The mean of each standardized measure over the test sets that a system has it on, the highest first."""
    width = 3 + len(plan.by)
    measures = range(width + 1, width + 1 + len(plan.fields[0].statistics))
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
        for place in range(width + 1, width + 1 + len(plan.fields[0].statistics)):
            known = [float(row[place]) for row in members if row[place] is not None]  # type: ignore[arg-type]
            means.append(fsum(known) / len(known) if known else None)
        summary.append((*key, len({row[2] for row in members}), *means))
    return summary


def _kind(statistic: Statistic, plan: p.ScorePlan) -> Any:
    valued = plan.standardized or any(field.task == "values" for field in plan.fields)
    return "number" if valued else "proportion"


def values_of_runs(field: p.Field, where: p.Filter | None, engine: DuckDBEngine) -> list[tuple[float | None, ...]]:
    """The value of each run of each contender of a field, which has one statistic."""
    plan = p.ScorePlan("", (field,), (), where, "system", False, None)
    runs_of = dict(field.replicates.runs) if field.replicates is not None else {}
    numbers = [runs_of[each.id] if isinstance(each, p.System) else () for each in field.contenders]
    each = replace(field, replicates=None, contenders=tuple(p.System(run, "") for some in numbers for run in some))
    found = {line.contender.id: line.values[0] for line in _stored(plan, replace(each, stored=0), engine)}  # type: ignore[union-attr]
    return [tuple(found[run] for run in some if run in found) for some in numbers]


def values_on(field: p.Field, where: p.Filter | None, engine: DuckDBEngine) -> dict[tuple[str, str], float | None]:
    """The value of each contender and statistic of one test set, by name and label."""
    plan = p.ScorePlan("", (field,), (), where, "system", False, None)
    lines = [*_stored(plan, field, engine), *_expected(plan, field, engine)]
    return {
        (line.contender.name, statistic.label): value
        for line in lines
        for statistic, value in zip(field.statistics, line.values, strict=True)
    }


# --- standardized values and replicates -------------------------------------------------------------------------------


def _everyone(
    plan: p.ScorePlan, field: p.Field, lines: Sequence[_Line], engine: DuckDBEngine, catalog: Catalog
) -> Sequence[_Line]:
    """The lines of all systems that have rows, whichever were asked for."""
    if field.everyone:
        return lines
    if field.replicates is not None:
        numbers = [number for number, _ in field.replicates.runs]
    else:
        numbers = sorted(catalog.systems_with(field.task, field.test_set.id))
    systems = tuple(p.System(number, catalog.system_names[number]) for number in numbers)
    return _stored(plan, replace(field, contenders=systems), engine)


def standardized(
    lines: Sequence[_Line], everyone: Sequence[_Line], plan: p.ScorePlan, field: p.Field
) -> tuple[list[_Line], list[str]]:
    """The lines with their values less the mean of all systems, divided by their standard deviation (n − 1), and a note
    for each statistic (Webber, Moffat and Zobel 2008; EvaluatIR, Armstrong et al. 2009). Where rows are split, each
    part is standardized by itself; an attribute of the systems splits no part.
    """
    shared = [place for place, dimension in enumerate(plan.by) if dimension.of != "system"]

    def part(line: _Line) -> By:
        return tuple(line.by[place] for place in shared)

    population: dict[tuple[int, By], list[float]] = {}
    for line in everyone:
        if isinstance(line.contender, p.System):
            for number, value in enumerate(line.values):
                if value is not None:
                    population.setdefault((number, part(line)), []).append(value)
    standards = {key: _standard(values) for key, values in population.items()}

    def moved(line: _Line) -> _Line:
        of_line = [standards.get((number, part(line))) for number in range(len(line.values))]
        values = tuple(
            None if value is None or standard is None else (value - standard[0]) / standard[1]
            for value, standard in zip(line.values, of_line, strict=True)
        )
        deviations = tuple(
            None if deviation is None or standard is None else deviation / standard[1]
            for deviation, standard in zip(line.deviations, of_line, strict=False)
        )
        return replace(line, values=values, deviations=deviations)

    notes = []
    for number, statistic in enumerate(field.statistics):
        alike = [key for key, standard in standards.items() if key[0] == number and standard is None]
        if alike:
            what = "a part" if shared else field.test_set.name
            notes.append(f"{statistic.label} cannot be standardized on {what}: fewer than two systems differ in it")
        elif not shared and (standard := standards.get((number, ()))) is not None:
            mean, deviation = standard
            notes.append(
                f"{statistic.label} on {field.test_set.name}: mean {mean:.4f}, standard deviation {deviation:.4f} "
                f"of {len(population[number, ()])} systems"
            )
    return [moved(line) for line in lines], notes


def _standard(values: Sequence[float]) -> tuple[float, float] | None:
    """The mean and the standard deviation (n − 1); None where no two values differ."""
    if min(values) == max(values):
        return None
    mean = fsum(values) / len(values)
    return mean, sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _with_deviations(
    lines: Sequence[_Line], plan: p.ScorePlan, field: p.Field, replicates: p.Replicates, engine: DuckDBEngine
) -> list[_Line]:
    """The lines with the number of their replicates and the standard deviation of these."""
    wanted = {contender.id for contender in field.contenders if isinstance(contender, p.System)}
    system_of = {run: number for number, runs in replicates.runs if number in wanted for run in runs}
    each = replace(field, replicates=None, contenders=tuple(p.System(run, "") for run in system_of), stored=0)
    found: dict[tuple[int, By], list[tuple[float | None, ...]]] = {}
    for line in _stored(plan, each, engine):
        if isinstance(line.contender, p.System):
            found.setdefault((system_of[line.contender.id], line.by), []).append(line.values)
    result = []
    for line in lines:
        number = line.contender.id if isinstance(line.contender, p.System) else 0
        runs = found.get((number, line.by), [])
        deviations: list[float | None] = []
        for place in range(len(line.values)):
            known = [values[place] for values in runs if values[place] is not None]
            standard = _standard(known) if len(known) > 1 else None  # type: ignore[arg-type]
            deviations.append(standard[1] if standard else 0.0 if len(known) > 1 else None)
        result.append(replace(line, replicates=len(runs), deviations=tuple(deviations)))
    return result


# --- from rows by document --------------------------------------------------------------------------------------------


def _stored(plan: p.ScorePlan, field: p.Field, engine: DuckDBEngine) -> list[_Line]:
    systems = {contender.id: contender for contender in field.contenders if isinstance(contender, p.System)}
    if not systems:
        return []
    if field.task == "published":
        return _printed(plan, field, systems, engine)
    lines = []
    for row in engine.rows(sql.score_sums(field, plan.by, plan.where)):
        system, by, documents = systems[row[0]], row[1 : 1 + len(plan.by)], row[1 + len(plan.by)]
        sums = iter(row[2 + len(plan.by) :])
        values = []
        left_out = []
        for statistic in field.statistics:
            left_out.append(0)
            if statistic.ratio is None and statistic.expression is None:
                values.append(_auc(statistic, field, system, plan, engine))
            else:
                taken = [next(sums) for _ in range(_taken(statistic))]
                values.append(_value(statistic, field, taken))
                if statistic.averaged:
                    left_out[-1] = documents - (taken[1] or 0)
        lines.append(_Line(system, tuple(by), documents, tuple(values), "documents", tuple(left_out)))
    return lines


def _taken(statistic: Statistic) -> int:
    """How many sums a statistic takes from a row."""
    plain = statistic.expression is not None and not statistic.averaged
    return len(columns(statistic.expression)) if plain and statistic.expression else 2


def _value(statistic: Statistic, field: p.Field, sums: Sequence[int | None]) -> float | None:
    """The value of a statistic, rounded once; None where it is undefined or a count is unknown."""
    known = [each for each in sums if each is not None]
    if len(known) < len(sums):
        return None
    if statistic.expression is not None and not statistic.averaged:
        found = exact(statistic.expression, dict(zip(columns(statistic.expression), known, strict=True)))
        return None if found is None else float(found)
    over, under = known
    fixed = sql.FIXED_POINT if statistic.averaged or field.task == "values" else 1
    if statistic.ratio is not None:
        return statistic.ratio.value(over, under * fixed)
    return over / (under * fixed) if under else None


def _auc(
    statistic: Statistic, field: p.Field, system: p.System, plan: p.ScorePlan, engine: DuckDBEngine
) -> float | None:
    import numpy as np

    columns = engine.columns(sql.confidences(field, system.id, plan.where))
    confidence = columns["confidence"]
    if np.ma.getmaskarray(confidence).any():
        return None
    labels = np.asarray(columns["label"], dtype=np.str_)
    return auc(np.asarray(confidence, dtype=np.float64), labels, str(statistic.settings["optional"]))


def _printed(plan: p.ScorePlan, field: p.Field, systems: Mapping[int, p.System], engine: DuckDBEngine) -> list[_Line]:
    figures: dict[tuple[int, By], dict[tuple[str, str] | None, float]] = {}
    for number, *by, task, measure, value in engine.rows(sql.published(field, plan.by, plan.where)):
        figures.setdefault((number, tuple(by)), {})[task, measure] = value
    wanted = [statistic.measure.printed_as for statistic in field.statistics]
    return [
        _Line(systems[number], by, None, tuple(found.get(each) for each in wanted), "published")
        for (number, by), found in figures.items()
        if any(each in found for each in wanted)
    ]


# --- expected of a baseline -------------------------------------------------------------------------------------------


def _expected(plan: p.ScorePlan, field: p.Field, engine: DuckDBEngine) -> list[_Line]:
    """The expected values of judging a share of the documents relevant at random (Lewis and Tong 1992, figure 2, (5)
    to (7)).
    """
    baselines = [contender for contender in field.contenders if isinstance(contender, p.Baseline)]
    if not baselines:
        return []
    counts: dict[By, dict[str, int]] = {}
    for row in engine.rows(sql.key_counts(field.test_set, plan.by, plan.where)):
        counts.setdefault(tuple(row[:-2]), {})[row[-2]] = row[-1]
    return [
        _Line(
            baseline,
            by,
            sum(labels.values()),
            tuple(expectation(statistic, baseline.share, labels) for statistic in field.statistics),
            "documents",
        )
        for baseline in baselines
        for by, labels in counts.items()
    ]


def expectation(statistic: Statistic, share: Decimal, labels: Mapping[str, int]) -> float | None:
    """The value of a statistic of filtering that is expected of judging a share relevant at random, for a key."""
    key = KeyCounts(*(labels.get(label, 0) for label in ("relevant", "optional", "nonrelevant")))
    if statistic.expression is not None:
        found = exact(statistic.expression, expected_cells(key, share))
        return None if found is None else float(found)
    if statistic.ratio is None:
        return 0.5
    return expected(statistic.ratio, key, share)


# --- order and notes --------------------------------------------------------------------------------------------------


def _ordered(lines: Sequence[_Line], plan: p.ScorePlan, field: p.Field) -> list[_Line]:
    """By the ordering column, undefined values last, equals by name."""

    by_name = sorted(lines, key=lambda line: _by_name((line.contender.name, *line.by)))
    if plan.order == "system":
        return sorted(by_name, key=lambda line: line.contender.name, reverse=plan.descending)
    labels = [statistic.label for statistic in field.statistics]
    place = labels.index(plan.order) if plan.order in labels else 0
    sign = -1 if plan.descending else 1

    def rank(line: _Line) -> tuple[bool, float]:
        value = line.values[place]
        return (value is None, 0.0 if value is None else sign * value)

    return sorted(by_name, key=rank)


def _undefined(field: p.Field, lines: Sequence[_Line], by: Sequence[p.Dimension]) -> list[str]:
    """A note for each statistic that is undefined somewhere: which systems, and why."""
    notes = []
    for place, statistic in enumerate(field.statistics):
        without = sorted({line.contender.name for line in lines if line.values[place] is None})
        if not without:
            continue
        names = ", ".join(without[:5]) + (f" and {len(without) - 5} more" if len(without) > 5 else "")
        where = f" for some {', '.join(dimension.name for dimension in by)}" if by else ""
        notes.append(
            f"{statistic.label} is undefined on {field.test_set.name}{where}: {names} ({_why(statistic, field)})"
        )
    missing = [c.name for c in field.contenders if c.name not in {line.contender.name for line in lines}]
    if missing:
        notes.append(f"no rows on {field.test_set.name} for {some(missing)}")
    return notes


def _left_out(field: p.Field, lines: Sequence[_Line]) -> list[str]:
    """A note for each mean over documents that some documents have no part in."""
    notes = []
    for place, statistic in enumerate(field.statistics):
        counts: dict[str, int] = {}
        for line in lines:
            if line.left_out and line.left_out[place]:
                counts[line.contender.name] = counts.get(line.contender.name, 0) + line.left_out[place]
        if counts:
            listed = some([f"{count} of {name}" for name, count in counts.items()])
            notes.append(f"{statistic.label} on {field.test_set.name} leaves out documents without a value: {listed}")
    return notes


def _why(statistic: Statistic, field: p.Field) -> str:
    if field.task == "published":
        return "not printed"
    if statistic.expression is not None:
        return "it divides by 0, or a count it needs was not loaded"
    if statistic.ratio is None:
        return "a decision has no confidence, or no document is relevant or none is nonrelevant"
    under = " + ".join(column for column, _ in statistic.ratio.denominator)
    return f"{under} is 0, or a count it needs was not loaded"

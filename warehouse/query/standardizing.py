"""Systems beside one another: values less the mean of all systems, in standard deviations, and the spread of the
replicates of one system. It asks for lines of values and makes no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import fsum, sqrt

from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.query.valuing import By, Line, stored
from warehouse.store.catalog import Catalog

# --- standardized values ----------------------------------------------------------------------------------------------


def everyone(
    plan: p.ScorePlan, entry: p.Entry, lines: Sequence[Line], engine: DuckDBEngine, catalog: Catalog
) -> Sequence[Line]:
    """The lines of all systems that have rows, whichever were asked for."""
    if entry.everyone:
        return lines
    if entry.replicates is not None:
        numbers = [number for number, _ in entry.replicates.runs]
    else:
        numbers = sorted(catalog.systems_with(entry.task, entry.test_set.id))
    systems = tuple(p.StoredSystem(number, catalog.system_names[number]) for number in numbers)
    return stored(plan, replace(entry, contenders=systems), engine)


def standardized(
    lines: Sequence[Line], everyone: Sequence[Line], plan: p.ScorePlan, entry: p.Entry
) -> tuple[list[Line], list[str]]:
    """The lines with their values less the mean of all systems, divided by their standard deviation (n − 1), and a note
    for each statistic (Webber, Moffat and Zobel 2008; EvaluatIR, Armstrong et al. 2009). Where rows are split, each
    part is standardized by itself; an attribute of the systems splits no part.
    """
    shared = [place for place, dimension in enumerate(plan.by) if dimension.of != "system"]

    def part(line: Line) -> By:
        return tuple(line.by[place] for place in shared)

    population: dict[tuple[int, By], list[float]] = {}
    for line in everyone:
        if isinstance(line.contender, p.StoredSystem):
            for number, value in enumerate(line.values):
                if value is not None:
                    population.setdefault((number, part(line)), []).append(value)
    standards = {key: _standard(values) for key, values in population.items()}

    def moved(line: Line) -> Line:
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
    for number, statistic in enumerate(entry.statistics):
        alike = [key for key, standard in standards.items() if key[0] == number and standard is None]
        if alike:
            what = "a part" if shared else entry.test_set.name
            notes.append(f"{statistic.label} cannot be standardized on {what}: fewer than two systems differ in it")
        elif not shared and (standard := standards.get((number, ()))) is not None:
            mean, deviation = standard
            notes.append(
                f"{statistic.label} on {entry.test_set.name}: mean {mean:.4f}, standard deviation {deviation:.4f} "
                f"of {len(population[number, ()])} systems"
            )
    return [moved(line) for line in lines], notes


def _standard(values: Sequence[float]) -> tuple[float, float] | None:
    """The mean and the standard deviation (n − 1); None where no two values differ."""
    if min(values) == max(values):
        return None
    mean = fsum(values) / len(values)
    return mean, sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


# --- replicates -------------------------------------------------------------------------------------------------------


def with_deviations(
    lines: Sequence[Line], plan: p.ScorePlan, entry: p.Entry, replicates: p.Replicates, engine: DuckDBEngine
) -> list[Line]:
    """The lines with the number of their replicates and the standard deviation of these."""
    wanted = {contender.id for contender in entry.contenders if isinstance(contender, p.StoredSystem)}
    system_of = {run: number for number, runs in replicates.runs if number in wanted for run in runs}
    each = replace(entry, replicates=None, contenders=tuple(p.StoredSystem(run, "") for run in system_of), stored=0)
    found: dict[tuple[int, By], list[tuple[float | None, ...]]] = {}
    for line in stored(plan, each, engine):
        if isinstance(line.contender, p.StoredSystem):
            found.setdefault((system_of[line.contender.id], line.by), []).append(line.values)
    result = []
    for line in lines:
        number = line.contender.id if isinstance(line.contender, p.StoredSystem) else 0
        runs = found.get((number, line.by), [])
        deviations: list[float | None] = []
        for place in range(len(line.values)):
            known = [values[place] for values in runs if values[place] is not None]
            standard = _standard(known) if len(known) > 1 else None  # type: ignore[arg-type]
            deviations.append(standard[1] if standard else 0.0 if len(known) > 1 else None)
        result.append(replace(line, replicates=len(runs), deviations=tuple(deviations)))
    return result


def values_of_runs(entry: p.Entry, where: p.Filter | None, engine: DuckDBEngine) -> list[tuple[float | None, ...]]:
    """The value of each run of each contender of a entry, which has one statistic."""
    plan = p.ScorePlan("", (entry,), (), where, "system", False, None)
    runs_of = dict(entry.replicates.runs) if entry.replicates is not None else {}
    numbers = [runs_of[each.id] if isinstance(each, p.StoredSystem) else () for each in entry.contenders]
    each = replace(
        entry, replicates=None, contenders=tuple(p.StoredSystem(run, "") for some in numbers for run in some)
    )
    found = {line.contender.id: line.values[0] for line in stored(plan, replace(each, stored=0), engine)}  # type: ignore[union-attr]
    return [tuple(found[run] for run in some if run in found) for some in numbers]

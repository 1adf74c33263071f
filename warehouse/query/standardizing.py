"""Systems beside one another: values less the mean of all systems, in standard deviations, and the spread of the
replicates of one system. It is given lines of values and makes no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

from msgspec.structs import replace

from warehouse.query import plan as p
from warehouse.query.valuing import By, ValueLine

# --- standardized values ----------------------------------------------------------------------------------------------


def standardized(
    lines: Sequence[ValueLine], everyone: Sequence[ValueLine], by: Sequence[p.Dimension], entry: p.Entry
) -> tuple[list[ValueLine], list[str]]:
    """The lines with their values less the mean of all systems, divided by their standard deviation (n − 1), and a note
    for each statistic (Webber, Moffat and Zobel 2008; EvaluatIR, Armstrong et al. 2009). Where rows are split, each
    part is standardized by itself; an attribute of the systems splits no part.
    """
    shared = [place for place, dimension in enumerate(by) if dimension.of != "system"]

    def part(line: ValueLine) -> By:
        return tuple(line.by[place] for place in shared)

    population: dict[tuple[int, By], list[float]] = {}
    for line in everyone:
        if isinstance(line.system, p.StoredSystem):
            for number, value in enumerate(line.values):
                if value is not None:
                    population.setdefault((number, part(line)), []).append(value)
    standards = {key: _standard(values) for key, values in population.items()}

    def moved(line: ValueLine) -> ValueLine:
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
            notes.append(
                f"{statistic.label} cannot be standardized on {what}: that needs two systems with different values"
            )
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
    lines: Sequence[ValueLine], of_runs: Sequence[ValueLine], replicates: p.Replicates
) -> list[ValueLine]:
    """The lines with the number of their replicates and the standard deviation of these."""
    system_of = {run: number for number, runs in replicates.runs for run in runs}
    values_of: dict[tuple[int, By], list[tuple[float | None, ...]]] = {}
    for line in of_runs:
        if isinstance(line.system, p.StoredSystem):
            values_of.setdefault((system_of[line.system.id], line.by), []).append(line.values)
    result = []
    for line in lines:
        number = line.system.id if isinstance(line.system, p.StoredSystem) else 0
        runs = values_of.get((number, line.by), [])
        deviations: list[float | None] = []
        for place in range(len(line.values)):
            known = [value for values in runs if (value := values[place]) is not None]
            standard = _standard(known) if len(known) > 1 else None
            deviations.append(standard[1] if standard else 0.0 if len(known) > 1 else None)
        result.append(replace(line, replicates=len(runs), deviations=tuple(deviations)))
    return result

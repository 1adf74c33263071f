"""The arithmetic of `project`, which its table and its picture share: precision and F at other generalities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grammar.errors import QueryError
from warehouse.filtering.generality import KeyCounts, generalities
from warehouse.filtering.projection import project_f, project_precision
from warehouse.measures import Statistic
from warehouse.query.path import Facts

if TYPE_CHECKING:
    from warehouse.statements.project import ProjectPlan


def measured_generality(plan: ProjectPlan, facts: Facts) -> float:
    """The generality that was measured at."""
    start = generalities(KeyCounts(*(int(count) for count in facts["key"][0]))).generality
    if not start:
        raise QueryError(f"{plan.entry.test_set.name} has no key labels, so its generality is not known")
    return start


def curves(plan: ProjectPlan, facts: Facts, at: Sequence[float]) -> dict[tuple[str, str], list[float | None]]:
    """What each measure of each system, by label and name, is projected to be at many generalities."""
    values, start = plan.valued.values(facts), measured_generality(plan, facts)
    projected: dict[tuple[str, str], list[float | None]] = {}
    for statistic in plan.entry.statistics:
        for system in plan.entry.systems:
            recall, fallout = (values.get((system.name, needed.label)) for needed in (plan.recall, plan.fallout))
            if recall is not None and fallout is not None:
                projected[statistic.label, system.name] = [
                    projected_value(statistic, recall, fallout, start, generality, float(plan.exponent))
                    for generality in at
                ]
    return projected


def projected_value(
    statistic: Statistic, recall: float, fallout: float, start: float, generality: float, exponent: float
) -> float | None:
    """A measure at another generality, from recall and fallout as measured at `start`."""
    if kind_of(statistic) == "precision":
        return project_precision(recall, fallout, start, generality, exponent)
    return project_f(recall, fallout, start, generality, exponent, _beta(statistic))


def _beta(statistic: Statistic) -> float:
    """The β of an F, from its settings or from the name of a printed figure."""
    if "beta" in statistic.settings:
        return float(statistic.settings["beta"])
    written = statistic.label.partition("beta=")[2].rstrip(")")
    return float(written) if written else 1.0


def kind_of(statistic: Statistic) -> str:
    """precision or F, whatever its parameters."""
    return statistic.measure.name.partition("(")[0]

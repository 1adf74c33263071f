"""`change`: each system's value on two test sets, the difference, and a summary of the differences."""

from __future__ import annotations

from decimal import Decimal

from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.comparing.values import Valued
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.conditions import filter_of
from evalhouse.warehouse.plans.labels import known_size, some, unit_of
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.plans.testing import carried_over
from evalhouse.warehouse.results import CellKind, Column, Result, TableRows
from evalhouse.warehouse.statements import sentences

P_COLUMNS = {"p_sign": "p sign", "p_randomization": "p rand."}
"""The columns of the two tests of whether systems rose or fell, with their headings."""


class ChangePlan(Struct, frozen=True):
    """`source` and `target` have the same systems, in the same order: those of both test sets."""

    text: str
    source: p.Entry
    target: p.Entry
    where: p.Filter | None
    trim: int

    @property
    def entries(self) -> tuple[p.Entry, p.Entry]:
        return self.source, self.target


def resolve(statement: n.Change, scope: Scope) -> ChangePlan:
    source, target = carried_over(statement, scope)
    trim = scope.whole(statement.trim, "trim", 0, 10**6) or 0
    systems = len(source.systems)
    if 2 * trim >= systems:
        place = statement.trim.span if statement.trim else statement.span
        raise QueryError(f"trim {trim} leaves none of {systems} systems", place)
    return ChangePlan(to_text(statement), source, target, filter_of(scope, statement.where, source.kind), trim)


def compile(plan: ChangePlan) -> Queries:
    return tuple(query for entry in plan.entries for query in Valued(entry, where=plan.where).queries())


def answer(plan: ChangePlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per measure and system; the summary has one row per measure. Systems without a value on both are left
    out of it.
    """
    from evalhouse.warehouse.filtering.change import change_summary

    source, target = plan.entries
    before, after = (Valued(entry, where=plan.where).values(facts) for entry in plan.entries)
    columns, summary_columns = _columns(plan), _summary_columns(plan)
    rows, summary = TableRows.of(columns), TableRows.of(summary_columns)
    notes: list[str] = []
    for statistic in source.statistics:
        label = statistic.label
        pairs = [
            (system.name, before.get((system.name, label)), after.get((system.name, label)))
            for system in source.systems
        ]
        pairs.sort(key=lambda pair: (_change(*pair[1:]) is None, -(_change(*pair[1:]) or 0.0), pair[0]))
        for name, first, second in pairs:
            rows.add(
                **{"from": source.test_set.name, "to": target.test_set.name},
                task=source.kind.name,
                measure=label,
                system=name,
                value_from=first,
                value_to=second,
                change=_change(first, second),
            )
        without = [name for name, first, second in pairs if first is None or second is None]
        if without:
            notes.append(
                f"{label} is undefined on one of the test sets for {some(without)}; the summary leaves them out"
            )
        known = [(first, second) for _, first, second in pairs if first is not None and second is not None]
        changes = change_summary(
            [_face(first) for first, _ in known], [_face(second) for _, second in known], plan.trim
        )
        summary.add(
            measure=label,
            systems=changes.systems,
            mean_change=changes.mean,
            trimmed_mean_change=changes.trimmed_mean if plan.trim else None,
            trim=plan.trim,
            rose=changes.rose,
            fell=changes.fell,
            unchanged=changes.unchanged,
            mean_rise=changes.mean_rise,
            mean_fall=changes.mean_fall,
            p_sign=changes.p_sign,
            p_randomization=changes.p_randomization,
        )
    labels = ", ".join(statistic.label for statistic in source.statistics)
    return result_of(
        plan.text,
        plan.entries,
        f"change of {labels} from {source.test_set.name} to {target.test_set.name}",
        rows.table(columns),
        how=known_size(plan.entries, plan.where),
        p_values=[p for name in P_COLUMNS for p in summary.cells(name) if isinstance(p, float)],
        notes=notes,
        about_measures=False,
        summary_table=summary.table(summary_columns),
        sentence=sentences.of_changes(summary.table(summary_columns), source.test_set.name, target.test_set.name),
    )


def _change(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else float(_face(second) - _face(first))


def _face(number: float) -> Decimal:
    """A value as it is written, so that 0.87 less 0.81 is 0.06."""
    return Decimal(repr(number))


def _columns(plan: ChangePlan) -> tuple[Column, ...]:
    several = len(plan.source.statistics) > 1
    return (
        Column("task", "text", on_screen=False),
        Column("measure", "name", on_screen=several),
        Column("system", "name"),
        Column("from", "name", on_screen=False),
        Column("to", "name", on_screen=False),
        Column("value_from", unit_of(plan.entries), plan.source.test_set.name),
        Column("value_to", unit_of(plan.entries), plan.target.test_set.name),
        Column("change", _difference(plan)),
    )


def _difference(plan: ChangePlan) -> CellKind:
    """The unit of changes, one by one and in the mean."""
    return "number" if unit_of(plan.entries) == "number" else "difference"


def _summary_columns(plan: ChangePlan) -> tuple[Column, ...]:
    difference = _difference(plan)
    return (
        Column("measure", "name"),
        Column("systems", "count"),
        Column("mean_change", difference, "mean"),
        Column("trimmed_mean_change", difference, "trimmed", on_screen=plan.trim > 0),
        Column("trim", "count", on_screen=False),
        Column("rose", "count"),
        Column("fell", "count"),
        Column("unchanged", "count", "same"),
        Column("mean_rise", difference, "mean rise"),
        Column("mean_fall", difference, "mean fall"),
        *(Column(name, "probability", heading) for name, heading in P_COLUMNS.items()),
    )


CHANGE = Statement(
    node=n.Change,
    usage=Usage(
        "change MEASURE, …",
        "how values change from one test set to another, for each system and on average",
        "change precision, fallout of published for all from TST3 to TST4 trim 1",
    ),
    of_one_table=False,
    resolve=resolve,
    compile=compile,
    answer=answer,
)

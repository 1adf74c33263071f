"""`spread`: how much documents, replicates and chance on single documents vary, how sure the value of a system is, and
what one more document and one more replicate would each gain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.comparing.intervals import Crossed, crossed_queries, crossed_tables
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.conditions import filter_on
from evalhouse.warehouse.plans.entries import Wanted, are_named, entries_on, passing_over
from evalhouse.warehouse.plans.labels import Size, on, sizes, some, unit_of
from evalhouse.warehouse.plans.names import HOW_TO_LOAD, Scope
from evalhouse.warehouse.plans.path import Facts, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.plans.runs import has_replicates, unsaid_replicates
from evalhouse.warehouse.plans.testing import check_replicates
from evalhouse.warehouse.results import CellKind, Column, Result, TableRows
from evalhouse.warehouse.significance.draws import Work
from evalhouse.warehouse.statements import sentences
from evalhouse.warehouse.statements.score_corrected import resampled_entries

if TYPE_CHECKING:
    from evalhouse.warehouse.significance.components import Components

FEW = 5
"""With fewer replicates than this, their variation is poorly known."""

ROWS = (
    "test_set",
    "task",
    "measure",
    "system",
    "value",
    "documents",
    "replicates",
    "var_document",
    "var_replicate",
    "var_residual",
    "sd_document",
    "sd_replicate",
    "sd_residual",
    "se",
    "se_with_document",
    "se_with_replicate",
)


class SpreadPlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]
    how: p.Testing


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Spread, scope: Scope) -> SpreadPlan:
    if statement.replicates is None and not has_replicates(scope):
        raise QueryError("spread needs replicates, and no system has any", statement.span, (HOW_TO_LOAD,))
    replicates = statement.replicates or unsaid_replicates(scope, statement.span)
    wanted = replace(Wanted.of(statement), replicates=replicates)
    entries = entries_on(statement.test_sets, wanted, scope)
    for entry in entries:
        _check(statement, entry)
    if not are_named(statement.test_sets):
        # Asked of all test sets, the question is meant for those that can answer it.
        entries = passing_over(entries, [entry for entry in entries if _has_replicates(entry)] or entries)
    for entry in entries:
        if not _has_replicates(entry):
            here = f" on {entry.test_set.name}" if are_named(statement.test_sets) or len(entries) == 1 else ""
            one = "there is one of each system" if len(entry.systems) > 1 or not here else "there is one"
            raise QueryError(f"spread needs two replicates, and {one}{here}", statement.span, (HOW_TO_LOAD,))
    entries = resampled_entries(statement, entries, scope)
    where = filter_on(scope, statement.where, entries)
    check_replicates(entries, replicates or statement, (), where)
    return SpreadPlan(to_text(statement), entries, p.Testing.plain(where))


def _check(statement: n.Spread, entry: p.Entry) -> None:
    """Raises QueryError for what has no value in a single replicate."""
    for statistic, node in zip(entry.statistics, statement.measures, strict=False):
        if statistic.averaged:
            what = "is computed from all replicates of a document together, so replicates have no values of their own"
            raise QueryError(f"{statistic.label} {what}", node.span)
    if entry.baselines:
        place = statement.systems.span if statement.systems else statement.span
        raise QueryError(f"{entry.baselines[0].name} is computed from the key, so it has no replicates", place)


def _has_replicates(entry: p.Entry) -> bool:
    """Whether a system has several replicates."""
    runs = entry.units.runs
    return any(len(runs[system.id]) > 1 for system in entry.stored_systems)


def compile(plan: SpreadPlan) -> Queries:
    return tuple(query for entry in plan.entries for query in crossed_queries(plan.how, entry))


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: SpreadPlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per test set, measure and system."""
    rows, notes = TableRows(ROWS), list[str]()
    known: list[tuple[str, Size]] = []
    for entry in plan.entries:
        tables = list(crossed_tables(plan.how, entry, facts))
        estimated = list(zip(tables, workforce.for_each(_estimate_components, tables), strict=True))
        for of, components in estimated:
            rows.add(**_cells(entry, of, components))
            units = of.present.shape[1]
            known.append((entry.test_set.name, Size(units, _unit(entry), units, _unit(entry))))
        notes += _notes(entry, estimated)
    labels = list(dict.fromkeys(statistic.label for entry in plan.entries for statistic in entry.statistics))
    what = f"spread of {', '.join(labels)} on {on(plan.entries)}"
    how = f"{sizes(known)}; {_how(plan)}"
    table = rows.table(_columns(plan, labels))
    sentence = sentences.of_spread(table)
    return result_of(plan.text, plan.entries, what, table, how=how, notes=notes, sentence=sentence)


def _how(plan: SpreadPlan) -> str:
    """Standard deviations between questions and between replicates by system.model, REML."""
    units = " or ".join(dict.fromkeys(plural(_unit(entry)) for entry in plan.entries))
    averaged = (entry.units.averaged for entry in plan.entries)
    called = " or ".join(dict.fromkeys(of.called for of in averaged if of is not None))
    return f"standard deviations between {units} and between {called}, REML"


def _estimate_components(of: Crossed, work: Work) -> Components | None:
    """The variances of a table, which are computed without threads and without progress."""
    from evalhouse.warehouse.significance.components import components

    return None if of.value is None or len(of.present) < 2 else components(of.values, of.present)


def _cells(entry: p.Entry, of: Crossed, components: Components | None) -> dict[str, str | int | float | None]:
    cells: dict[str, str | int | float | None] = {
        "test_set": entry.test_set.name,
        "task": entry.kind.name,
        "measure": of.statistic.label,
        "system": of.system,
        "value": of.value,
        "documents": of.present.shape[1],
        "replicates": of.present.shape[0],
    }
    if components is None:
        return cells | dict.fromkeys(ROWS[len(cells) :])
    variances = {
        "document": components.document,
        "replicate": components.replicate,
        "residual": components.residual,
    }
    cells |= {f"var_{name}": variance for name, variance in variances.items()}
    cells |= {f"sd_{name}": variance**0.5 for name, variance in variances.items()}
    return cells | {
        "se": components.error,
        "se_with_document": components.error_with_document,
        "se_with_replicate": components.error_with_replicate,
    }


def _columns(plan: SpreadPlan, labels: Sequence[str]) -> tuple[Column, ...]:
    number: CellKind = unit_of(plan.entries)
    nouns = {_unit(entry) for entry in plan.entries}
    unit = nouns.pop() if len(nouns) == 1 else "document"
    return (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        Column("task", "text", on_screen=False),
        Column("measure", "name", on_screen=len(labels) > 1),
        Column("system", "name"),
        Column("value", number, "value" if len(labels) > 1 else labels[0]),
        Column("documents", "count", plural(unit), on_screen=False),
        Column("replicates", "count", spare=4),
        *(Column(f"var_{name}", "number", on_screen=False) for name in ("document", "replicate", "residual")),
        Column("sd_document", number, f"sd {unit}"),
        Column("sd_replicate", number, "sd replicate"),
        Column("sd_residual", number, "sd residual", spare=3),
        Column("se", number),
        Column("se_with_document", number, f"+1 {unit}", spare=2),
        Column("se_with_replicate", number, "+1 replicate", spare=1),
    )


def _notes(entry: p.Entry, estimated: Sequence[tuple[Crossed, Components | None]]) -> Iterator[str]:
    """What a reader has to know, statistic by statistic."""
    for statistic in entry.statistics:
        own = [(of, components) for of, components in estimated if of.statistic is statistic]
        where = f"{statistic.label} on {entry.test_set.name}"
        for said, systems in _exceptions(entry, own).items():
            if systems:
                yield f"{where}: {said.format(systems=some(systems))}"
        fewest = min((len(of.present) for of, components in own if components is not None), default=FEW)
        if fewest < FEW:
            yield f"{where}: {quantity(fewest, 'replicate')} say little about how much replicates vary"
        if any(components is not None for _, components in own) and not _is_mean(entry):
            yield f"{where}: variances are of the first-order effect of each {_unit(entry)} on the value"


def _exceptions(entry: p.Entry, own: Sequence[tuple[Crossed, Components | None]]) -> dict[str, list[str]]:
    """The systems without variances, or with one that is estimated as 0, by what is said of them."""
    units = plural(_unit(entry))
    said: dict[str, list[str]] = {
        "no rows for {systems}": [],
        "undefined for {systems}": [],
        "{systems}: only one replicate, so its variation is unknown": [],
        f"{{systems}}: too few {units} are in two replicates to separate the two": [],
        "{systems}: nothing varies": [],
        f"{{systems}}: replicates vary no more than chance on single {units} predicts, so their sd is 0": [],
        f"{{systems}}: {units} vary no more than chance predicts, so their sd is 0": [],
    }
    absent, undefined, single, nested, constant, alike, even = said.values()
    there = {of.system for of, _ in own}
    absent += [system.name for system in entry.stored_systems if system.name not in there]
    for of, components in own:
        if of.value is None:
            undefined.append(of.system)
        elif components is None:
            (single if len(of.present) < 2 else nested).append(of.system)
        elif not components.document and not components.replicate and not components.residual:
            constant.append(of.system)
        else:
            if not components.replicate:
                alike.append(of.system)
            if not components.document:
                even.append(of.system)
    return said


def _is_mean(entry: p.Entry) -> bool:
    """Whether values are the mean of what each exchange unit has."""
    return entry.units.one_by_one and not entry.kind.is_counted


def _unit(entry: p.Entry) -> str:
    """What varies beside replicates: a question, or where an attribute joins documents a passage."""
    return entry.units.exchange.attribute.replace("_", " ") or entry.units.exchange_noun


SPREAD = Statement(
    node=n.Spread,
    usage=Usage(
        "spread MEASURE, …",
        "how much documents and replicates vary, and what one more of each would gain",
        "spread accuracy for all on qa",
        of_sample=False,
        of_rows="""\
>>> runs = [{**row, "seed": seed} for row in rows for seed in (1, 2, 3)]
>>> [(row["system"], row["replicates"], row["sd_replicate"]) for row in eh.spread(runs, "accuracy")]
[('base', 3, 0.0), ('new', 3, 0.0)]
""",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    executor="REML: from mean squares where each document is in each replicate, else by minimizing",
)

"""`generality`: how many documents the key calls relevant, optional and nonrelevant, and the three generalities."""

from __future__ import annotations

from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.filtering.generality import KeyCounts, generalities
from evalhouse.warehouse.kinds import FILTERING
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import scores
from evalhouse.warehouse.plans.conditions import dimension_of, key_filter
from evalhouse.warehouse.plans.labels import noun_of, on
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Queries, Query, Statement, Usage, Workforce
from evalhouse.warehouse.results import Cell, Column, Result, TableRows
from evalhouse.warehouse.statements import sentences

LABELS = ("relevant", "optional", "nonrelevant")


class GeneralityPlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]
    by: tuple[p.Dimension, ...]
    where: p.Filter | None


def resolve(statement: n.Generality, scope: Scope) -> GeneralityPlan:
    entries = scope.keys(statement.test_sets)
    by = tuple(dimension_of(scope, attribute, FILTERING) for attribute in statement.by)
    for dimension, node in zip(by, statement.by, strict=True):
        if dimension.of != "document":
            raise QueryError(
                f"generality cannot be grouped by {dimension.of}", node.span, ("write by document.attribute",)
            )
    return GeneralityPlan(to_text(statement), entries, by, key_filter(scope, statement.where))


def compile(plan: GeneralityPlan) -> Queries:
    return tuple(Query(_name(entry), scores.key_counts(entry, plan.by, plan.where)) for entry in plan.entries)


def _name(entry: p.Entry) -> str:
    return f"key of {entry.test_set.name!r}"


def answer(plan: GeneralityPlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per test set and `by` value. Documents that the key says nothing of do not count."""
    columns = (
        Column("test_set", "name"),
        *(Column(dimension.name, "name") for dimension in plan.by),
        Column("documents", "count", plural(noun_of(plan.entries))),
        *(Column(label, "count") for label in LABELS),
        Column("generality_judged", "proportion", "(4)"),
        Column("generality_strict", "proportion", "(4')"),
        Column("generality", "proportion", "(4'')"),
    )
    split = [f"by {place}" for place in range(len(plan.by))]
    shares = ("generality_judged", "generality_strict", "generality")
    rows = TableRows(["test_set", *split, "documents", *LABELS, *shares])
    notes: list[str] = []
    for entry in plan.entries:
        counts: dict[tuple[Cell, ...], dict[str, int]] = {}
        for *by, label, documents in facts[_name(entry)]:
            counts.setdefault(tuple(by), {})[label] = documents
        for values in sorted(counts, key=lambda values: [(cell is None, str(cell)) for cell in values]):
            key = [counts[values].get(label, 0) for label in LABELS]
            known = generalities(KeyCounts(*key))
            rows.add(
                test_set=entry.test_set.name,
                documents=sum(key),
                generality_judged=known.judged,
                generality_strict=known.strict,
                generality=known.generality,
                **dict(zip(LABELS, key, strict=True)),
                **dict(zip(split, values, strict=True)),
            )
        if not counts:
            notes.append(f"{entry.test_set.name} has no key labels{' that meet the condition' if plan.where else ''}")
    what = f"generality of {on(plan.entries)} as in Lewis and Tong 1992"
    table = rows.table(columns)
    sentence = sentences.of_generality(table, plural(noun_of(plan.entries))) if not split else ""
    return result_of(plan.text, plan.entries, what, table, notes=notes, sentence=sentence)


def subject(entry: p.Entry) -> str:
    return f"the key of {entry.test_set.name}"


GENERALITY = Statement(
    node=n.Generality,
    usage=Usage("generality", "how many documents are relevant, and their share", "generality on TST2, TST3, TST4"),
    resolve=resolve,
    compile=compile,
    answer=answer,
    subject=subject,
    executor="counts in the database",
)

"""`agree`: how far the annotators of a test set's key labels agree."""

from __future__ import annotations

from grammar import nodes as n
from grammar.printer import to_text
from grammar.value import value
from warehouse.query import plan as p
from warehouse.query.compile import keys
from warehouse.query.engine import Workforce
from warehouse.query.labels import noun_of, on, signature, title
from warehouse.query.path import Facts, Queries, Query, Statement, Usage
from warehouse.query.resolving.conditions import key_filter
from warehouse.query.resolving.names import Scope
from warehouse.query.table_rows import TableRows
from warehouse.results import Column, Result
from warehouse.tasks.observed import plural

KEY = "key"
"""What the labels of no annotator are called, where the key is taken in."""


@value
class AgreePlan:
    text: str
    entries: tuple[p.Entry, ...]
    where: p.Filter | None
    with_key: bool = False


def resolve(statement: n.Agree, scope: Scope) -> AgreePlan:
    where = key_filter(scope, statement.where, annotators=True)
    return AgreePlan(to_text(statement), scope.keys(statement.test_sets), where, statement.with_key)


def compile(plan: AgreePlan) -> Queries:
    return tuple(
        Query(_name(entry), keys.labels_by_annotator(entry, plan.where, plan.with_key)) for entry in plan.entries
    )


def _name(entry: p.Entry) -> str:
    return f"labels of {entry.test_set.name!r}"


def answer(plan: AgreePlan, facts: Facts, workforce: Workforce) -> Result:
    """A row a pair of annotators with the confusion of their labels; the summary has Krippendorff's alpha of all."""
    import numpy as np

    from warehouse.filtering.agreement import LEVELS, MISSING, agree

    columns = (
        Column("test_set", "name"),
        Column("annotator_a", "name", "A"),
        Column("annotator_b", "name", "B"),
        Column("documents", "count", plural(noun_of(plan.entries))),
        Column("agreement", "proportion"),
        Column("kappa", "number"),
        *(Column(f"{a}_{b}", "count", on_screen=False) for a in LEVELS for b in LEVELS),
    )
    summary_columns = (
        Column("test_set", "name"),
        Column("annotators", "count"),
        Column("alpha", "number"),
        Column("alpha_ordinal", "number", "ordinal alpha"),
    )
    rows, summary = TableRows.of(columns), TableRows.of(summary_columns)
    notes: list[str] = []
    for entry in plan.entries:
        given = facts[_name(entry)]
        annotators = sorted({str(name or KEY) for name, _, _ in given})
        if len(annotators) < 2:
            key = "" if plan.with_key else "; with key takes in the key"
            have = f"only those of {annotators[0]}{key}" if annotators else "none"
            notes.append(f"{entry.test_set.name} needs labels of two annotators, and has {have}")
            continue
        documents = {document: place for place, document in enumerate(sorted({document for _, document, _ in given}))}
        labels = np.full((len(annotators), len(documents)), MISSING, dtype=np.int64)
        for name, document, label in given:
            labels[annotators.index(str(name or KEY)), documents[document]] = LEVELS.index(str(label))
        measured = agree(labels)
        for pair in measured.pairs:
            confusion = np.asarray(pair.confusion)
            rows.add(
                test_set=entry.test_set.name,
                annotator_a=annotators[pair.first],
                annotator_b=annotators[pair.second],
                documents=pair.documents,
                agreement=pair.agreement,
                kappa=pair.kappa,
                **{
                    f"{a}_{b}": int(confusion[row, column])
                    for row, a in enumerate(LEVELS)
                    for column, b in enumerate(LEVELS)
                },
            )
        summary.add(
            test_set=entry.test_set.name,
            annotators=len(annotators),
            alpha=measured.alpha_nominal,
            alpha_ordinal=measured.alpha_ordinal,
        )
    return Result(
        statement=plan.text,
        caption=title(f"agreement of annotators on {on(plan.entries)}", plan.entries),
        signature=signature(plan.text, plan.entries),
        table=rows.table(columns),
        summary_table=summary.table(summary_columns),
        notes=tuple(notes),
    )


def subject(entry: p.Entry) -> str:
    return f"the labels of {entry.test_set.name}"


AGREE = Statement(
    node=n.Agree,
    usage=Usage("agree", "agreement between annotators of key labels", "agree on TST3"),
    resolve=resolve,
    compile=compile,
    answer=answer,
    subject=subject,
)

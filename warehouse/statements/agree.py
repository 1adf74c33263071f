"""Runs an AgreePlan: how far the annotators of a test set's key labels agree."""

from __future__ import annotations

import numpy as np

from warehouse.filtering.agreement import LEVELS, MISSING
from warehouse.filtering.agreement import agree as agreement
from warehouse.query import compile as sql
from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.query.labels import signature, title
from warehouse.results import Cell, Column, Result, Table
from warehouse.store.catalog import Catalog

KEY = "key"
"""What the labels of no annotator are called: they are the key itself."""


def agree(plan: p.AgreePlan, engine: DuckDBEngine, catalog: Catalog) -> Result:
    """A row a pair of annotators with the confusion of their labels; the summary has Krippendorff's alpha of all."""
    rows: list[tuple[Cell, ...]] = []
    summary: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for test_set in plan.test_sets:
        found = engine.rows(sql.key_labels(test_set, plan.where))
        annotators = sorted({str(name or KEY) for name, _, _ in found})
        if len(annotators) < 2:
            have = f"only {annotators[0]}" if annotators else "none"
            notes.append(f"{test_set.name} needs labels of two annotators, and has {have}")
            continue
        documents = sorted({int(document) for _, document, _ in found})
        labels = np.full((len(annotators), len(documents)), MISSING, dtype=np.int64)
        for name, document, label in found:
            labels[annotators.index(str(name or KEY)), documents.index(int(document))] = LEVELS.index(str(label))
        measured = agreement(labels)
        for pair in measured.pairs:
            counts = [int(count) for count in np.asarray(pair.confusion).reshape(-1)]
            rows.append(
                (
                    test_set.name,
                    annotators[pair.first],
                    annotators[pair.second],
                    pair.documents,
                    pair.agreement,
                    pair.kappa,
                    *counts,
                )
            )
        summary.append((test_set.name, len(annotators), measured.alpha_nominal, measured.alpha_ordinal))
    columns = (
        Column("test_set", "name"),
        Column("annotator_a", "name", "A"),
        Column("annotator_b", "name", "B"),
        Column("documents", "count"),
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
    entries = [p.Entry(test_set, "filtering", (), ()) for test_set in plan.test_sets]
    names = ", ".join(test_set.name for test_set in plan.test_sets)
    return Result(
        statement=plan.text,
        caption=title(f"agreement of annotators on {names}", entries, catalog),
        signature=signature(plan.text, entries, catalog),
        table=Table(columns, tuple(rows)),
        summary_table=Table(summary_columns, tuple(summary)),
        notes=tuple(notes),
    )

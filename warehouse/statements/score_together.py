"""`score M … over test sets`: one value for each system, the mean over the test sets, or that of all their documents.

Means are of the values that `score` gives on each test set; what is pooled is computed again from the sums of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.comparing.intervals import OwnIntervals
from evalhouse.warehouse.comparing.intervals_together import intervals_together
from evalhouse.warehouse.comparing.pairs import entry_of_all
from evalhouse.warehouse.comparing.values import pooled_lines
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import known_size, lower_measures, missing_caption, noun_of, taken_together_on
from evalhouse.warehouse.plans.path import Facts
from evalhouse.warehouse.results import Cell, Column, Result, TableRows, count_behind
from evalhouse.warehouse.significance.proportions import CLOPPER_PEARSON, WILSON
from evalhouse.warehouse.statements import sentences
from evalhouse.warehouse.statements.score_corrected import (
    interval_caption,
    interval_cells,
    interval_columns,
    interval_names,
    score_interval_notes,
)
from evalhouse.warehouse.statements.score_plan import ScorePlan

Key = tuple[Cell, ...]
"""A system, and what else its rows are split by."""


def check_together(statement: n.Score) -> None:
    """Raises QueryError for clauses that values over several test sets do not have."""
    if statement.corrected is not None:
        wrong = "a judge is corrected on one test set at a time"
        raise QueryError(wrong, statement.corrected.span, (f"leave out {statement.over}",))
    if statement.standardized and statement.over == n.POOLED:
        wrong = "values are standardized on each test set, so documents of several are not put together"
        raise QueryError(wrong, statement.span, ("leave out pooled: over test sets takes the mean",))


def check_interval(statement: n.Score, entries: Sequence[p.Entry]) -> None:
    """Raises QueryError for an interval of what is over test sets and over runs."""
    if statement.interval is not None and any(entry.units.averaged is not None for entry in entries):
        wrong = "the interval of a mean over test sets does not know how much runs vary"
        raise QueryError(wrong, statement.span, ("write runs apart, for each run by itself",))


# === values ===========================================================================================================


def averaged_values(plan: ScorePlan, scored: Result) -> dict[Key, dict[str, float | None]]:
    """By system and what rows are split by, the mean of each measure over the test sets, each counted once; None where
    it has no value on one of them.
    """
    split = [dimension.name for dimension in plan.by]
    found: dict[Key, dict[Cell, Mapping[str, Cell]]] = {}
    for row in scored.rows:
        found.setdefault((row["system"], *(row[name] for name in split)), {})[row["test_set"]] = row
    names = [entry.test_set.name for entry in plan.entries]
    return {
        key: {label: _mean([rows.get(name, {}).get(label) for name in names]) for label in plan.column_labels()}
        for key, rows in found.items()
    }


def _mean(values: Sequence[Cell]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return fsum(known) / len(known) if len(known) == len(values) else None


def pooled_values(plan: ScorePlan, facts: Facts) -> dict[Key, dict[str, float | None]]:
    """The same of the documents of all test sets together, of the systems that are on all of them."""
    labels = plan.column_labels()
    return {
        (line.system.name, *line.by): dict(zip(labels, line.values, strict=True))
        for line in pooled_lines(plan.valued(), facts)
    }


# === the answer =======================================================================================================


def answer_together(plan: ScorePlan, over: p.OverTestSets, scored: Result, facts: Facts) -> Result:
    """One row per system and `by` value, from the answer with the test sets apart."""
    labels = plan.column_labels()
    documents: dict[Key, int | None] = {}
    split = [dimension.name for dimension in plan.by]
    for row in scored.rows:
        key = (row["system"], *(row[name] for name in split))
        counts = [count for label in labels if isinstance(count := count_behind(row, label), int)]
        documents[key] = (documents.get(key) or 0) + max(counts) if counts else None
    values = pooled_values(plan, facts) if over.pooled else averaged_values(plan, scored)
    nothing = dict.fromkeys(labels)
    together = entry_of_all(plan.entries, over)
    of_shares = CLOPPER_PEARSON if plan.decides else WILSON
    spread = intervals_together(plan.how, plan.entries, over, facts, of_shares) if plan.interval else OwnIntervals({})
    sources = {str(row["source"]) for row in scored.rows}
    rows = TableRows(_names(plan))
    for key in _in_order(plan, {key: values.get(key, nothing) for key in documents})[: plan.limit]:
        cells: dict[str, Cell] = {
            f"value {place}": values.get(key, nothing)[label] for place, label in enumerate(labels)
        }
        for place, label in enumerate(labels if plan.interval else ()):
            cells |= interval_cells(place, spread.intervals.get((label, str(key[0]))))
        rows.add(
            test_set=together.test_set.name,
            task=together.kind.name,
            system=key[0],
            **dict(zip((f"by {place}" for place in range(len(split))), key[1:], strict=True)),
            documents=documents[key],
            source=sources.copy().pop() if len(sources) == 1 else None,
            **cells,
        )
    kinds = {column.name: column.kind for column in scored.table.columns}
    how = [
        known_size(plan.entries, plan.how.where) if not plan.by else "",
        "standard deviations above or below the mean of all systems" if plan.standardized else "",
        missing_caption(plan.missing, plan.entries),
        interval_caption(plan.how, plan.entries, [spread]) if plan.interval else "",
    ]
    columns = (
        Column("test_set", "name", on_screen=False),
        Column("task", "text", on_screen=False),
        Column("system", "name"),
        *(Column(name, "name") for name in split),
        Column("documents", "count", plural(noun_of(plan.entries)), on_screen=bool(scored.uneven)),
        *(
            column
            for label in labels
            for column in (
                Column(label, kinds[label]),
                *(interval_columns(label, kinds[label], plan.how) if plan.interval else ()),
            )
        ),
        Column("source", "text", on_screen=False),
    )
    notes = [*over.notes, *scored.notes, *(score_interval_notes(together, spread) if plan.interval else ())]
    table, where = rows.table(columns), taken_together_on(plan.entries, over)
    uneven = frozenset((together.test_set.name, label) for _, label in scored.uneven)
    is_whole = not (plan.by or plan.standardized or plan.limit is not None)
    lower = lower_measures(plan.entries)
    return result_of(
        plan.text,
        plan.entries,
        f"{', '.join(labels)} {where}",
        table,
        how="; ".join(filter(None, how)),
        settings=(),
        notes=notes,
        about_measures=False,
        uneven=uneven,
        sentence=sentences.of_columns(table, labels, lower, uneven=uneven, taken=where) if is_whole else "",
    )


def _names(plan: ScorePlan) -> list[str]:
    labels = plan.column_labels()
    values = [
        cell
        for place in range(len(labels))
        for cell in (f"value {place}", *(interval_names(place) if plan.interval else ()))
    ]
    split = [f"by {place}" for place in range(len(plan.by))]
    return ["test_set", "task", "system", *split, "documents", *values, "source"]


def _in_order(plan: ScorePlan, values: Mapping[Key, Mapping[str, float | None]]) -> list[Key]:
    """By the ordering column, who has no value last, equals by name."""
    by_name = sorted(values, key=lambda key: [(cell is None, str(cell)) for cell in key])
    labels = plan.column_labels()
    if plan.order == "system":
        return sorted(by_name, key=lambda key: str(key[0]), reverse=plan.descending)
    own = [statistic.label for statistic in plan.entries[0].statistics]
    label = labels[own.index(plan.order)] if plan.order in own else labels[0]
    sign = -1 if plan.descending else 1

    def place(key: Key) -> tuple[bool, float]:
        value = values[key][label]
        return (value is None, 0.0 if value is None else sign * value)

    return sorted(by_name, key=place)

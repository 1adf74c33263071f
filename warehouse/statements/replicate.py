"""Runs a ReplicatePlan: every pair tested on two test sets, and how far what was found on the first holds on the
second.

The effect ratio is that of Breuer et al. (2020): the mean difference on the second test set over that on the first.
"""

from __future__ import annotations

from fractions import Fraction

from warehouse.query import plan as p
from warehouse.query.comparison.blocks import tested
from warehouse.query.comparison.pairs import Comparison, comparisons
from warehouse.query.comparison.procedures import Pair
from warehouse.query.comparison.verdicts import Decided, comparison_notes, decide, testing_signature, testing_title
from warehouse.query.engine import DuckDBEngine
from warehouse.query.labels import title
from warehouse.results import Cell, Column, Kind, Result, Table
from warehouse.significance.rank_correlation import kendall
from warehouse.significance.work import Work
from warehouse.store.catalog import Catalog

Tested = tuple[Comparison, dict[Pair, Decided]]


def replicate(plan: p.ReplicatePlan, engine: DuckDBEngine, catalog: Catalog) -> Result:
    """A row a measure and pair, with what was found on both test sets; the summary has a row a measure."""
    rows: list[tuple[Cell, ...]] = []
    summary: list[tuple[Cell, ...]] = []
    found = [_tested(plan, entry, engine) for entry in (plan.source, plan.target)]
    for (first, decided_first), (second, decided_second) in zip(*found, strict=True):
        kept: list[bool] = []
        pairs: list[tuple[Fraction, Fraction, bool]] = []
        for a, b in first.pairs:
            before, after = decided_first[a, b], decided_second[a, b]
            differences = (first.exact_difference(a, b), second.exact_difference(a, b))
            significant = before.verdict == "different"
            same_sign = _sign(differences[0]) == _sign(differences[1])
            pairs.append((*differences, significant))
            if significant:
                kept.append(same_sign)
            rows.append(
                (
                    first.statistic.label,
                    first.entry.task,
                    first.entry.contenders[a].name,
                    first.entry.contenders[b].name,
                    float(differences[0]),
                    float(differences[1]),
                    _ratio(differences[1], differences[0]),
                    before.outcome.p,
                    after.outcome.p,
                    before.verdict,
                    after.verdict,
                    "yes" if same_sign else "no",
                )
            )
        also = sum(
            decided_second[pair].verdict == "different" and decided_first[pair].verdict == "different"
            for pair in first.pairs
        )
        oriented = [(x if x >= 0 else -x, y if x >= 0 else -y) for x, y, significant in pairs if significant]
        summary.append(
            (
                first.statistic.label,
                len(first.entry.contenders),
                len(first.pairs),
                kendall(_values(first), _values(second)),
                len(kept),
                sum(kept) / len(kept) if kept else None,
                also / len(kept) if kept else None,
                _ratio(sum((y for _, y in oriented), Fraction(0)), sum((x for x, _ in oriented), Fraction(0))),
            )
        )
    return _result(plan, rows, summary, [comparison for tested in found for comparison, _ in tested], found, catalog)


def _tested(plan: p.ReplicatePlan, entry: p.Entry, engine: DuckDBEngine) -> list[Tested]:
    """Each statistic of a entry with the verdict on each pair."""
    found: list[Tested] = []
    for batch in comparisons(plan.how, entry, None, engine):
        of_batch = tested(batch, Work(engine.threads, engine.told), engine)
        found += [(comparison, decide(comparison, of_batch)) for comparison in batch]
    return found


def _values(comparison: Comparison) -> list[Fraction]:
    return [value or Fraction(0) for value in comparison.exact_values]


def _sign(difference: Fraction) -> int:
    return (difference > 0) - (difference < 0)


def _ratio(over: Fraction, under: Fraction) -> float | None:
    return float(over / under) if under else None


def _result(
    plan: p.ReplicatePlan,
    rows: list[tuple[Cell, ...]],
    summary: list[tuple[Cell, ...]],
    tested: list[Comparison],
    found: list[list[Tested]],
    catalog: Catalog,
) -> Result:
    source, target = plan.source.test_set.name, plan.target.test_set.name
    entries = (plan.source, plan.target)
    difference: Kind = "number" if plan.source.task == "values" else "difference"
    everything = [each.outcome for side in found for _, decided in side for each in decided.values()]
    shuffles = [outcome.shuffles for outcome in everything]
    test = testing_title(plan.how, [outcome.method for outcome in everything], shuffles)
    labels = ", ".join(statistic.label for statistic in plan.source.statistics)
    columns = (
        Column("measure", "name", on_screen=len(plan.source.statistics) > 1),
        Column("task", "text", on_screen=False),
        Column("system_a", "name", "A"),
        Column("system_b", "name", "B"),
        Column("difference_from", difference, source),
        Column("difference_to", difference, target),
        Column("effect_ratio", "number", "ratio"),
        Column("p_from", "probability", f"p {source}"),
        Column("p_to", "probability", f"p {target}"),
        Column("verdict_from", "text", source),
        Column("verdict_to", "text", target),
        Column("same_sign", "text", "same sign"),
    )
    summary_columns = (
        Column("measure", "name"),
        Column("systems", "count"),
        Column("pairs", "count"),
        Column("tau_b", "number", "tau-b"),
        Column("different", "count"),
        Column("kept_sign", "proportion", "kept sign"),
        Column("also_different", "proportion", "also different"),
        Column("effect_ratio", "number", "effect ratio"),
    )
    return Result(
        statement=plan.text,
        caption=title(f"what of {labels} on {source} holds on {target}: {test}", entries, catalog),
        signature=testing_signature(plan.text, plan.how, entries, shuffles, catalog),
        table=Table(columns, tuple(rows)),
        summary_table=Table(summary_columns, tuple(summary)),
        notes=tuple(dict.fromkeys(note for comparison in tested for note in comparison_notes(comparison))),
    )

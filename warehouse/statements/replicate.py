"""`replicate`: every pair tested on two test sets, and how far what was found on the first holds on the second.

The effect ratio is that of Breuer et al. (2020): the mean difference on the second test set over that on the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import TestedPairs, result_of
from evalhouse.warehouse.comparing.decisions import Decided, decisions
from evalhouse.warehouse.comparing.pairs import Comparison, Pair, comparison_queries, comparisons, count_of_pairs
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Line, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.plans.testing import (
    carried_over,
    check_tested,
    check_two,
    exchanging,
    holding_against,
    test_of,
    testing_of,
)
from evalhouse.warehouse.results import Cell, Column, Result, TableRows
from evalhouse.warehouse.significance.correlation import kendall
from evalhouse.warehouse.statements import sentences


class ReplicatePlan(Struct, frozen=True):
    """`source` and `target` have the same systems, in the same order: those of both test sets."""

    text: str
    source: p.Entry
    target: p.Entry
    how: p.Testing

    @property
    def entries(self) -> tuple[p.Entry, p.Entry]:
        return self.source, self.target


def resolve(statement: n.Replicate, scope: Scope) -> ReplicatePlan:
    source, target = holding_against(statement, carried_over(statement, scope), scope)
    for entry in (source, target):
        check_tested(statement, entry, test_of(statement, (source, target)))
        check_two("replicate", entry.systems, entry, statement)
    source, target = (exchanging(statement, entry, scope) for entry in (source, target))
    return ReplicatePlan(to_text(statement), source, target, testing_of(statement, (source, target), scope))


def compile(plan: ReplicatePlan) -> Queries:
    return tuple(query for entry in plan.entries for query in comparison_queries(plan.how, entry))


class DecidedComparison(Struct, frozen=True):
    """One statistic on one test set, with the verdict on each pair."""

    comparison: Comparison
    decided: dict[Pair, Decided]

    def difference(self, pair: Pair) -> Fraction:
        return self.comparison.exact_difference(*pair)

    def differs(self, pair: Pair) -> bool:
        return self.decided[pair].verdict == "significant"


def answer(plan: ReplicatePlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per measure and pair, with what was found on both test sets; the summary has one row per measure."""
    columns, summary_columns = _columns(plan), _summary_columns()
    rows, summary = TableRows.of(columns), TableRows.of(summary_columns)
    pairs, tested = count_of_pairs(plan.entries), TestedPairs.by(plan.how)
    on_source, on_target = (_decide_pairs(plan, entry, facts, workforce, pairs, tested) for entry in plan.entries)
    for first, second in zip(on_source, on_target, strict=True):
        for pair in first.comparison.pairs:
            rows.add(**_pair_cells(first, second, pair))
        summary.add(**_summary_cells(first, second))
    labels = ", ".join(statistic.label for statistic in plan.source.statistics)
    source, target = (entry.test_set.name for entry in plan.entries)
    result = result_of(
        plan.text,
        plan.entries,
        f"which differences in {labels} on {source} hold on {target}",
        rows.table(columns),
        tested=tested,
        notes=(*tested.notes, *_choice_note(on_source)),
        summary_table=summary.table(summary_columns),
        sentence=sentences.of_replications(summary.table(summary_columns), source, target),
    )
    return replace(result, how="")  # its picture has no subtitle


def _choice_note(on_source: list[DecidedComparison]) -> Iterator[str]:
    """What the choice of pairs does to the effect ratio."""
    chosen = [first.comparison for first in on_source if any(map(first.differs, first.comparison.pairs))]
    if chosen:
        measures = ", ".join(comparison.statistic.label for comparison in chosen)
        yield (
            f"the pairs behind the effect ratio of {measures} were chosen for their differences on "
            f"{chosen[0].entry.test_set.name}, which are on average too large; a ratio below 1 is expected even where "
            "nothing changed (Gelman and Carlin 2014)"
        )


def _decide_pairs(
    plan: ReplicatePlan, entry: p.Entry, facts: Facts, workforce: Workforce, pairs: int, tested: TestedPairs
) -> list[DecidedComparison]:
    """Each statistic of an entry with the verdict on each pair, which is added to the tested ones."""
    found_on: list[DecidedComparison] = []
    for batch in comparisons(plan.how, entry, facts):
        decided = decisions(batch, workforce, pairs)
        for comparison in batch:
            label = comparison.statistic.label
            tested.add(comparison, decided)
            found_on.append(DecidedComparison(comparison, {pair: decided[label, pair] for pair in comparison.pairs}))
    return found_on


def _pair_cells(first: DecidedComparison, second: DecidedComparison, pair: Pair) -> dict[str, Cell]:
    """The cells of a pair."""
    before, after = first.difference(pair), second.difference(pair)
    name_a, name_b = (first.comparison.entry.systems[place].name for place in pair)
    return {
        "measure": first.comparison.statistic.label,
        "task": first.comparison.entry.kind.name,
        "system_a": name_a,
        "system_b": name_b,
        "difference_from": float(before),
        "difference_to": float(after),
        "effect_ratio": _ratio(after, before),
        "p_from": first.decided[pair].outcome.p,
        "p_to": second.decided[pair].outcome.p,
        "verdict_from": first.decided[pair].verdict,
        "verdict_to": second.decided[pair].verdict,
        "same_sign": "yes" if _sign(before) == _sign(after) else "no",
    }


def _summary_cells(first: DecidedComparison, second: DecidedComparison) -> dict[str, Cell]:
    """The cells of a measure over all pairs, most of them over those that differ on the first test set."""
    differing = [pair for pair in first.comparison.pairs if first.differs(pair)]
    effects = [(first.difference(pair), second.difference(pair)) for pair in differing]
    kept = sum(_sign(before) == _sign(after) for before, after in effects)
    also = sum(second.differs(pair) for pair in differing)
    whole = sum((abs(before) for before, _ in effects), Fraction(0))
    oriented = sum((after if before >= 0 else -after for before, after in effects), Fraction(0))
    return {
        "measure": first.comparison.statistic.label,
        "systems": len(first.comparison.entry.systems),
        "pairs": len(first.comparison.pairs),
        "tau_b": kendall(_values(first.comparison), _values(second.comparison)),
        "different": len(differing),
        "kept_sign": kept / len(differing) if differing else None,
        "also_different": also / len(differing) if differing else None,
        "effect_ratio": _ratio(oriented, whole),
    }


def _values(comparison: Comparison) -> list[Fraction]:
    return [exact or Fraction(0) for exact in comparison.exact_values]


def _sign(difference: Fraction) -> int:
    return (difference > 0) - (difference < 0)


def _ratio(over: Fraction, under: Fraction) -> float | None:
    return float(over / under) if under else None


def _columns(plan: ReplicatePlan) -> tuple[Column, ...]:
    source, target = (entry.test_set.name for entry in plan.entries)
    difference = "number" if plan.source.unit == "number" else plan.source.kind.difference
    return (
        Column("measure", "name", on_screen=len(plan.source.statistics) > 1),
        Column("task", "text", on_screen=False),
        Column("system_a", "name", "A"),
        Column("system_b", "name", "B"),
        Column("difference_from", difference, source),
        Column("difference_to", difference, target),
        Column("effect_ratio", "number", "ratio", spare=3),
        Column("p_from", "probability", f"p {source}", spare=2),
        Column("p_to", "probability", f"p {target}", spare=1),
        Column("verdict_from", "text", source),
        Column("verdict_to", "text", target),
        Column("same_sign", "text", "same sign", spare=4),
    )


def _summary_columns() -> tuple[Column, ...]:
    return (
        Column("measure", "name"),
        Column("systems", "count"),
        Column("pairs", "count"),
        Column("tau_b", "number", "tau-b"),
        Column("different", "count", "significant"),
        Column("kept_sign", "proportion", "kept sign"),
        Column("also_different", "proportion", "also significant"),
        Column("effect_ratio", "number", "effect ratio"),
    )


def weigh(plan: ReplicatePlan, facts: Facts) -> Iterator[Line]:
    from evalhouse.warehouse.comparing.explanation import explain_tests

    batches = (batch for entry in plan.entries for batch in comparisons(plan.how, entry, facts))
    return explain_tests(batches, plan.how)


REPLICATE = Statement(
    node=n.Replicate,
    usage=Usage(
        "replicate MEASURE, …",
        "check which differences on one test set hold on another",
        "replicate F for GE, UMASS, SRI from TST3 to TST4",
    ),
    of_one_table=False,
    resolve=resolve,
    compile=compile,
    answer=answer,
    weigh=weigh,
)

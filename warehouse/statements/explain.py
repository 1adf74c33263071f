"""Runs an ExplainPlan: what would be done for a question, stage by stage, without testing anything.

The costs of exact tests follow from the data, so a comparison is led as far as its sums.
"""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.query import compile as sql
from warehouse.query import plan as p
from warehouse.query.comparison.observations import queries
from warehouse.query.comparison.pairs import Comparison, comparisons
from warehouse.query.comparison.procedures import RESAMPLES, SHUFFLES, choose, together
from warehouse.query.comparison.sums import FunctionSums
from warehouse.query.engine import DuckDBEngine
from warehouse.results import Column, Result, Table
from warehouse.significance.shuffles import randomization
from warehouse.significance.tests import named_test
from warehouse.store.sql import Sql

Line = tuple[str, str]


def explain(plan: p.ExplainPlan, engine: DuckDBEngine) -> Result:
    """Rows of a stage and what is done in it."""
    lines = [("statement", plan.question.text), *_of_question(plan.question, engine)]
    columns = (Column("stage", "name"), Column("what", "text"))
    return Result(plan.text, "how it would be answered", plan.text, Table(columns, tuple(lines)))


def _of_question(question: p.Question, engine: DuckDBEngine) -> Iterator[Line]:
    match question:
        case p.ScorePlan(_, entries, by, where):
            for entry in entries:
                yield from _field(entry)
                if entry.task == "published":
                    yield from _sql(sql.published(entry))
                else:
                    yield from _sql(sql.score_sums(entry, by, where))
            yield "executor", "sums in the database, values from the sums; each is rounded once"
        case p.ComparePlan(_, entries, against, how):
            yield from _tested(entries, against, how, engine)
        case p.GroupPlan(_, entries, how):
            yield from _tested(entries, None, how, engine)
        case p.GeneralityPlan(_, test_sets, by, where):
            for test_set in test_sets:
                yield "plan", f"the key of {test_set.name}"
                yield from _sql(sql.key_counts(test_set, by, where))
            yield "executor", "counts in the database"
        case p.ChangePlan(_, source, target, where):
            for entry in (source, target):
                yield from _field(entry)
                yield from _sql(sql.published(entry) if entry.task == "published" else sql.score_sums(entry, (), where))
        case p.ReplicatePlan(_, source, target, how):
            yield from _tested((source, target), None, how, engine)
        case p.ProjectPlan(_, entry, _, _, where):
            yield from _field(entry)
            yield from _sql(sql.published(entry) if entry.task == "published" else sql.score_sums(entry, (), where))
        case p.AuditPlan(_, entries):
            for entry in entries:
                yield from _field(entry)
                yield from _sql(sql.published(entry))
        case p.AgreePlan(_, test_sets):
            for test_set in test_sets:
                yield "plan", f"the labels of {test_set.name}"


def _field(entry: p.Entry) -> Iterator[Line]:
    statistics = ", ".join(statistic.label for statistic in entry.statistics)
    names = ", ".join(contender.name for contender in entry.contenders)
    yield "plan", f"{statistics} of {entry.task} on {entry.test_set.name} for {names}"


def _sql(query: Sql) -> Iterator[Line]:
    yield "sql", query.text
    yield "parameters", ", ".join(repr(each) for each in query.params)


def _tested(
    entries: tuple[p.Entry, ...], against: p.System | None, how: p.Testing, engine: DuckDBEngine
) -> Iterator[Line]:
    for entry in entries:
        yield from _field(entry)
        for query in queries(how, entry, engine):
            yield from _sql(query)
        for batch in comparisons(how, entry, against, engine):
            for comparison in batch:
                yield from _executor(comparison)
    test = named_test(how.test)
    yield "test", f"{test.name}: {test.meaning} ({test.source})"
    yield "interval", f"{how.interval} bootstrap, {RESAMPLES:,} resamples of the exchange units"
    yield "seed", str(how.seed)


def _executor(comparison: Comparison) -> Iterator[Line]:
    """How the pairs of one statistic would be tested, why, and at what cost."""
    label, pairs = comparison.statistic.label, len(comparison.pairs)
    head = f"{label}: {pairs} pairs" if pairs > 1 else label
    if not named_test(comparison.how.test).exchanges:
        yield "executor", f"{head}, the {comparison.how.test} test of each"
        return
    if comparison.runs:
        counts = " and ".join(str(len(values)) for values in comparison.runs)
        yield "executor", f"{head}, the replicates ({counts}) divided anew between the systems"
        return
    choice = choose(comparison, priced=True)
    if isinstance(comparison.sums, FunctionSums) and not choice.exactly:
        shuffles = comparison.how.shuffles or SHUFFLES
        yield "executor", f"{head}, {shuffles:,} shuffles evaluated one by one: it is no ratio of sums"
        return
    if choice.exactly:
        ways = ", ".join(dict.fromkeys(cost.way for cost in choice.costs))
        yield "executor", f"{head}, exact by {ways}: {choice.reason}"
    else:
        shuffles = comparison.how.shuffles or SHUFFLES
        if together(comparison):
            way = "all pairs over common coins in one product over systems"
        else:
            chosen = randomization.shuffle_method(comparison.paired(*comparison.pairs[0]), shuffles)
            way = f"{chosen.method}, because {chosen.reason}"
        yield "executor", f"{head}, {shuffles:,} shuffles by {way}: {choice.reason}"
    if choice.costs:
        steps = sum(cost.operations for cost in choice.costs)
        memory = max(cost.bytes for cost in choice.costs)
        yield "cost", f"the exact test takes about {steps:.1g} steps and {memory / 1e6:.1f} MB"

"""Runs an ExplainPlan: what would be done for a question, stage by stage, without testing anything.

The costs of exact tests follow from the data, so a comparison is led as far as its sums.
"""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.query import compile as sql
from warehouse.query import plan as p
from warehouse.query.comparison.observations import queries
from warehouse.query.comparison.pairs import Arena, arenas
from warehouse.query.comparison.procedures import RESAMPLES, SHUFFLES, choose, together
from warehouse.query.comparison.sums import Arithmetic
from warehouse.query.engine import DuckDBEngine
from warehouse.results import Column, Result, Table
from warehouse.significance.shuffles import randomization
from warehouse.significance.tests import TESTS
from warehouse.store.sql import Sql

Line = tuple[str, str]


def explain(plan: p.ExplainPlan, engine: DuckDBEngine) -> Result:
    """Rows of a stage and what is done in it."""
    lines = [("statement", plan.question.text), *_of_question(plan.question, engine)]
    columns = (Column("stage", "name"), Column("what", "text"))
    return Result(plan.text, "how it would be answered", plan.text, Table(columns, tuple(lines)))


def _of_question(question: p.Question, engine: DuckDBEngine) -> Iterator[Line]:
    match question:
        case p.ScorePlan(_, fields, by, where):
            for field in fields:
                yield from _field(field)
                if field.task == "published":
                    yield from _sql(sql.published(field))
                else:
                    yield from _sql(sql.score_sums(field, by, where))
            yield "executor", "sums in the database, values from the sums; each is rounded once"
        case p.ComparePlan(_, fields, against, how):
            yield from _tested(fields, against, how, engine)
        case p.GroupPlan(_, fields, how):
            yield from _tested(fields, None, how, engine)
        case p.GeneralityPlan(_, test_sets, by, where):
            for test_set in test_sets:
                yield "plan", f"the key of {test_set.name}"
                yield from _sql(sql.key_counts(test_set, by, where))
            yield "executor", "counts in the database"
        case p.ChangePlan(_, source, target, where):
            for field in (source, target):
                yield from _field(field)
                yield from _sql(sql.published(field) if field.task == "published" else sql.score_sums(field, (), where))
        case p.ReplicatePlan(_, source, target, how):
            yield from _tested((source, target), None, how, engine)
        case p.ProjectPlan(_, field, _, _, where):
            yield from _field(field)
            yield from _sql(sql.published(field) if field.task == "published" else sql.score_sums(field, (), where))
        case p.AuditPlan(_, fields):
            for field in fields:
                yield from _field(field)
                yield from _sql(sql.published(field))
        case p.AgreePlan(_, test_sets):
            for test_set in test_sets:
                yield "plan", f"the labels of {test_set.name}"


def _field(field: p.Field) -> Iterator[Line]:
    statistics = ", ".join(statistic.label for statistic in field.statistics)
    names = ", ".join(contender.name for contender in field.contenders)
    yield "plan", f"{statistics} of {field.task} on {field.test_set.name} for {names}"


def _sql(query: Sql) -> Iterator[Line]:
    yield "sql", query.text
    yield "parameters", ", ".join(repr(each) for each in query.params)


def _tested(
    fields: tuple[p.Field, ...], against: p.Contender | None, how: p.Testing, engine: DuckDBEngine
) -> Iterator[Line]:
    for field in fields:
        yield from _field(field)
        for query in queries(how, field, engine):
            yield from _sql(query)
        for batch in arenas(how, field, against, engine):
            for arena in batch:
                yield from _executor(arena)
    test = next(each for each in TESTS if each.name == how.test)
    yield "test", f"{test.name}: {test.meaning} ({test.source})"
    yield "interval", f"{how.interval} bootstrap, {RESAMPLES:,} resamples of the exchange units"
    yield "seed", str(how.seed)


def _executor(arena: Arena) -> Iterator[Line]:
    """How the pairs of one statistic would be tested, why, and at what cost."""
    label, pairs = arena.statistic.label, len(arena.pairs)
    head = f"{label}: {pairs} pairs" if pairs > 1 else label
    if arena.how.test != "randomization":
        yield "executor", f"{head}, the {arena.how.test} test of each"
        return
    if isinstance(arena.sums, Arithmetic):
        shuffles = arena.how.shuffles or SHUFFLES
        yield "executor", f"{head}, {shuffles:,} shuffles evaluated one by one: it is no ratio of sums"
        return
    if arena.runs:
        counts = " and ".join(str(len(values)) for values in arena.runs)
        yield "executor", f"{head}, the replicates ({counts}) divided anew between the systems"
        return
    choice = choose(arena, priced=True)
    if choice.exactly:
        ways = ", ".join(dict.fromkeys(cost.way for cost in choice.costs))
        yield "executor", f"{head}, exact by {ways}: {choice.reason}"
    else:
        shuffles = arena.how.shuffles or SHUFFLES
        if together(arena):
            way = "all pairs over common coins in one product over systems"
        else:
            chosen = randomization.plan(arena.paired(*arena.pairs[0]), shuffles)
            way = f"{chosen.method}, because {chosen.reason}"
        yield "executor", f"{head}, {shuffles:,} shuffles by {way}: {choice.reason}"
    if choice.costs:
        steps = sum(cost.operations for cost in choice.costs)
        memory = max(cost.bytes for cost in choice.costs)
        yield "cost", f"the exact test takes about {steps:.1g} steps and {memory / 1e6:.1f} MB"

"""`expect`: whether what is expected of a comparison or of a value holds, for gates before a release.

The comparison or the values are those of `compare` and `score`; here each of their rows is held against what was
expected. Nothing is tested again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.intervals import interval_heading, percent
from evalhouse.warehouse.comparing.margins import INCONCLUSIVE, format_amount
from evalhouse.warehouse.plans.labels import unit_of
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.plans.testing import check_percentage
from evalhouse.warehouse.results import Cell, Column, Met, Result, TableRows
from evalhouse.warehouse.statements.compare import LOOKS
from evalhouse.warehouse.statements.questions import question
from evalhouse.warehouse.statements.score_plan import ScorePlan

COMPARED = (
    Column("test_set", "name"),
    Column("measure", "name"),
    Column("system_a", "name", "A"),
    Column("system_b", "name", "B"),
    Column("expected", "text", on_screen=False),
    Column("verdict", "text"),
    Column("met", "text"),
    Column("difference", "difference"),
    Column("p", "probability", spare=1),
    Column("looks", "count"),
    Column("e_value", "number"),
    Column("boundary", "probability"),
    Column("ci_low", "difference", "CI", spare=2),
    Column("ci_high", "difference", "to", upper=True),
    Column("margin", "difference", on_screen=False),
    Column("why", "text", spare=3),
)

NEEDS_MARGIN = ("not worse", "equivalent")
"""Expectations that only a margin can show: a difference that is not significant shows neither."""


class ExpectPlan(Struct, frozen=True):
    text: str
    statement: Statement
    question: Any
    """The plan of the question."""
    expected: n.Expectation | None = None
    at_least: Decimal | None = None
    at_most: Decimal | None = None


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(node: n.Expect, scope: Scope) -> ExpectPlan:
    statement = question(type(node.question))
    _check(node)
    plan = statement.resolve(node.question, scope)
    if isinstance(plan, ScorePlan):
        plan = replace(plan, decides=True)
    for word, bound in (("at least", node.at_least), ("at most", node.at_most)):
        if bound is not None:
            check_percentage(word, bound, plan.entries)
    low, high = (scope.number(bound, Decimal(0)) if bound else None for bound in (node.at_least, node.at_most))
    if low is not None and high is not None and low > high and node.at_most is not None:
        raise QueryError("at least is above at most, so no value can meet both", node.at_most.span)
    return ExpectPlan(to_text(node), statement, plan, node.expected, low, high)


def _check(node: n.Expect) -> None:
    """Raises QueryError for an expectation that does not fit the question."""
    inner = node.question
    if isinstance(inner, n.Compare):
        if node.expected in NEEDS_MARGIN and inner.margin is None:
            what = "a p above the level does not show it"
            raise QueryError(f"expect {node.expected} needs a margin: {what}", inner.span, ("write margin 1%",))
        if node.expected in ("worse", "different") and inner.sides == "one-sided":
            raise QueryError(
                f"one-sided tests only whether the first system is better, so it cannot show {node.expected}",
                inner.span,
            )
    elif isinstance(inner, n.Score):
        if node.at_least is None and node.at_most is None:
            raise QueryError("expect score needs at least N, or at most N", inner.span, ("at least 55%", "at most 200"))
        if inner.standardized:
            raise QueryError("expect compares values as they are", inner.span, ("leave out standardized",))
        if inner.limit is not None:
            raise QueryError("expect checks every system", inner.span, ("leave out limit, or name the systems",))


def compile(plan: ExpectPlan) -> Queries:
    return plan.statement.compile(plan.question)


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: ExpectPlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per pair or value, and whether it meets the expectation. Raises QueryError if there are none."""
    answered = plan.statement.answer(plan.question, facts, workforce)
    rows = _of_pairs(plan, answered) if plan.expected is not None else _of_values(plan, answered)
    outcomes: list[Met] = [_OUTCOMES[met] for met in rows.cells("met")]  # type: ignore[index]
    if not outcomes:
        raise QueryError("there is nothing to check: no system has any rows")
    worst = min(outcomes, key=_GRAVEST.index)
    columns = _compared_columns(plan, answered) if plan.expected is not None else _valued_columns(plan, answered)
    return Result(
        statement=plan.text,
        caption=f"{_count_outcomes(outcomes)}: {answered.caption}",
        signature=answered.signature.replace(answered.statement, plan.text, 1),
        table=rows.table(columns),
        notes=(*answered.notes, *(_asking_again(plan) if worst == "undecided" else ())),
        how=answered.how,
        sentence=_sentence(outcomes, answered),
        proof=answered.proof,
        outcome=worst,
        p_values=answered.p_values,
    )


def _sentence(outcomes: Sequence[Met], answered: Result) -> str:
    """Met: GE is 4.4 points ahead of UMASS."""
    said = answered.sentence
    said = said[:1].lower() + said[1:] if said.startswith(("The ", "Of ")) else said
    return f"{_count_outcomes(outcomes).capitalize()}{f': {said}' if said else '.'}"


def _asking_again(plan: ExpectPlan) -> Iterator[str]:
    """What it takes to ask an undecided comparison again after more documents were loaded."""
    if plan.expected is None or plan.question.how.looks is not None:
        return
    how = plan.question.how
    margin = ""
    if how.margin is not None:
        margin = "; neither takes a margin: with one, settle the number of documents before you ask"
    yield (
        "asking again after adding documents is another look, and with each the chance of a wrong answer grows; "
        f"anytime and planned N keep the level {how.level} over all looks{margin}"
    )


_GRAVEST: tuple[Met, ...] = ("not met", "undecided", "met")

_OUTCOMES: Mapping[bool | None, Met] = {True: "met", False: "not met", None: "undecided"}


def _count_outcomes(outcomes: Sequence[Met]) -> str:
    """met; 1 not met, 1 undecided and 2 met."""
    if len(outcomes) == 1:
        return outcomes[0]
    known = [f"{outcomes.count(outcome):,} {outcome}" for outcome in _GRAVEST if outcome in outcomes]
    return " and ".join(filter(None, (", ".join(known[:-1]), known[-1])))


# --- of a comparison --------------------------------------------------------------------------------------------------


def _of_pairs(plan: ExpectPlan, answered: Result) -> TableRows:
    columns = _own_columns(plan)
    rows = TableRows.of(columns)
    for row in answered.table.records():
        pair = {column.name: row.get(column.name) for column in columns}
        met, why = _judge_pair(plan, row)
        rows.add(**{**pair, "expected": plan.expected, "met": met, "why": why})
    return rows


def _own_columns(plan: ExpectPlan) -> tuple[Column, ...]:
    """The columns; those of looks are there where more than one was asked for."""
    looks = plan.question.how.looks is not None
    return tuple(column for column in COMPARED if looks or column.name not in LOOKS)


def _judge_pair(plan: ExpectPlan, row: Mapping[str, Cell]) -> tuple[bool | None, str]:
    """Whether the test of a pair shows what is expected, and why. None where it leaves that open."""
    how, verdict = plan.question.how, str(row["verdict"])
    if verdict == "undecided":
        return None, f"{'the plan goes on' if how.looks else 'undecided by the shuffles'}; {_level(plan, row)}"
    if plan.expected in NEEDS_MARGIN:
        return _against_margin(str(plan.expected), verdict), _margin_reason(plan, row)
    said = float(row["p_adjusted" if how.adjustment.adjusts else "p"] or 0.0)
    significant = said <= float(how.level)
    better = _first_is_better(plan, row)
    if significant and how.margin is not None and not _is_apart(row):
        return False, f"{_level(plan, row)}, but the {percent(how.interval_level)} interval contains 0"
    if plan.expected == "different":
        return significant, _level(plan, row)
    met = significant and better == (plan.expected == "better")
    ahead = "the first is better" if better else "the second is better"
    return met, f"{_level(plan, row)}{f', and {ahead}' if significant else ''}"


def _is_apart(row: Mapping[str, Cell]) -> bool:
    """Whether the interval of a row lies on the side of 0 where its difference is: beside a margin it decides."""
    low, high, difference = row["ci_low"], row["ci_high"], float(row["difference"] or 0.0)
    return low is not None and float(low) > 0 if difference > 0 else high is not None and float(high) < 0


def _against_margin(expected: str, verdict: str) -> bool | None:
    """What a verdict against a margin says of what is expected; None where the data do not tell."""
    if verdict == "equivalent" or (expected == "not worse" and verdict in ("not worse", "better")):
        return True
    return False if verdict in ("better", "worse") else None


def _margin_reason(plan: ExpectPlan, row: Mapping[str, Cell]) -> str:
    """The p of the tests against the margin, or that the interval decided: alone, or against them."""
    level, asked_for = plan.question.how.level, ("worse", "better") if plan.expected == "equivalent" else ("worse",)
    levels = {what: row[f"p_not_{what}"] for what in asked_for}
    shown = all(p is not None and float(p) <= float(level) for p in levels.values())
    if row["p_not_worse"] is None or (shown and row["verdict"] == INCONCLUSIVE):
        return f"by the {percent(plan.question.how.interval_level)} interval"
    return ", ".join(
        f"p not {what} {_compare_levels(float(p or 0.0), float(level))} {level}" for what, p in levels.items()
    )


def _level(plan: ExpectPlan, row: Mapping[str, Cell]) -> str:
    """p 0.0031 ≤ 0.05."""
    how = plan.question.how
    adjusted = how.adjustment.adjusts
    p = float(row["p_adjusted" if adjusted else "p"] or 0.0)
    return f"{'adjusted ' if adjusted else ''}p {_compare_levels(p, float(how.level))} {how.level}"


def _compare_levels(p: float, level: float) -> str:
    return f"{f'{p:.4f}' if p >= 0.0001 else '<.0001'} {'≤' if p <= level else '>'}"


def _first_is_better(plan: ExpectPlan, row: Mapping[str, Cell]) -> bool:
    lower = any(
        statistic.label == row["measure"] and statistic.measure.lower_is_better
        for entry in plan.question.entries
        for statistic in entry.statistics
    )
    # Of several looks, the one that decided counts, whatever came since.
    difference = float(row["statistic" if plan.question.how.looks else "difference"] or 0.0)
    return difference < 0 if lower else difference > 0


def _compared_columns(plan: ExpectPlan, answered: Result) -> list[Column]:
    """The columns; what the comparison has too is drawn as there."""
    drawn = {column.name: column for column in answered.table.columns}
    shown = {"difference", *(("ci_low", "ci_high") if plan.question.with_intervals else LOOKS)}
    as_there = {"difference", "ci_low", "ci_high", *LOOKS}
    columns = [
        replace(drawn[column.name], on_screen=column.name in shown) if column.name in as_there else column
        for column in _own_columns(plan)
    ]
    empty = {
        column.name for column in columns if column.name in LOOKS and set(answered.table.column(column.name)) == {None}
    }
    columns = [replace(column, on_screen=False) if column.name in empty else column for column in columns]
    return _without_the_only(columns, answered)


def _without_the_only(columns: Sequence[Column], answered: Result) -> list[Column]:
    """The columns, the test set off the screen where there is one."""
    alone = len(set(answered.table.column("test_set"))) == 1
    return [replace(column, on_screen=not alone) if column.name == "test_set" else column for column in columns]


# --- of values --------------------------------------------------------------------------------------------------------


def _of_values(plan: ExpectPlan, answered: Result) -> TableRows:
    rows = TableRows(_value_names(plan))
    bounds = {name: None if bound is None else float(bound) for name, bound in _bounds(plan)}
    for row in answered.table.records():
        for label in plan.question.column_labels():
            number, low, high = (row.get(name) for name in (label, f"ci_low({label})", f"ci_high({label})"))
            if number is None:
                where = f"{row['system']} on {row['test_set']}"
                raise QueryError(f"{label} of {where} is undefined, so it cannot be checked")
            limits = (low, high) if plan.question.interval else (number, number)
            met = _within(plan, limits)
            cells = {"measure": label, "value": number, "ci_low": low, "ci_high": high, "met": met}
            named = {name: row[name] for name in ("test_set", "system", *_split(plan))}
            rows.add(**named, **cells, **bounds, why=_value_reason(plan, met, limits))
    return rows


def _value_names(plan: ExpectPlan) -> list[str]:
    bounds = [name for name, _ in _bounds(plan)]
    return ["test_set", "measure", "system", *_split(plan), "value", *bounds, "ci_low", "ci_high", "met", "why"]


def _valued_columns(plan: ExpectPlan, answered: Result) -> list[Column]:
    """The columns, values drawn as in the score."""
    kind = next(column.kind for column in answered.table.columns if column.name in plan.question.column_labels())
    looks = {
        "test_set": Column("test_set", "name"),
        "measure": Column("measure", "name"),
        "system": Column("system", "name"),
        "value": Column("value", kind),
        "at_least": Column("at_least", kind, "at least", plan.at_least is not None),
        "at_most": Column("at_most", kind, "at most"),
        "ci_low": Column("ci_low", kind, interval_heading(plan.question.how.level), plan.question.interval),
        "ci_high": Column("ci_high", kind, "to", plan.question.interval, upper=True),
        "met": Column("met", "text"),
        "why": Column("why", "text", spare=1),
    }
    return _without_the_only([looks.get(name, Column(name, "name")) for name in _value_names(plan)], answered)


def _bounds(plan: ExpectPlan) -> list[tuple[str, Decimal | None]]:
    """The bounds of values, the upper one only where it was given."""
    upper = [("at_most", plan.at_most)] if plan.at_most is not None else []
    return [("at_least", plan.at_least), *upper]


def _split(plan: ExpectPlan) -> list[str]:
    return [dimension.name for dimension in plan.question.by]


def _within(plan: ExpectPlan, limits: Sequence[Cell]) -> bool | None:
    """Whether a value, or both limits of its interval, are within the bounds; None where one limit is."""
    known = (_beyond(plan.at_least, limits, 1), _beyond(plan.at_most, limits, -1))
    return False if False in known else None if None in known else True


def _beyond(bound: Decimal | None, limits: Sequence[Cell], sign: int) -> bool | None:
    """Whether the limits are above a lower bound (sign 1), or below an upper one (sign −1)."""
    if bound is None:
        return True
    sides = {None if limit is None else sign * (float(limit) - float(bound)) >= 0 for limit in limits}
    return sides.pop() if len(sides) == 1 else None


def _value_reason(plan: ExpectPlan, met: bool | None, limits: Sequence[Cell]) -> str:
    """Why the value, or its interval, is what was expected, or is not: at least 55%, the whole interval below 55%."""
    unit = unit_of(plan.question.entries)
    lower, upper = (None if bound is None else format_amount(bound, unit) for bound in (plan.at_least, plan.at_most))
    beyond = {lower: _beyond(plan.at_least, limits, 1), upper: _beyond(plan.at_most, limits, -1)}
    if met is None:
        return f"the interval contains {' and '.join(bound for bound in beyond if bound and beyond[bound] is None)}"
    inside = [f"at least {lower}"] * (lower is not None) + [f"at most {upper}"] * (upper is not None)
    said = " and ".join(inside)
    if not met:
        said = f"below {lower}" if beyond[lower] is False else f"above {upper}"
    return f"the whole interval is {said}" if plan.question.interval else said


EXPECT = Statement(
    node=n.Expect,
    usage=Usage(
        "expect better|worse|not worse|equivalent|different QUESTION",
        "check an expectation: of a comparison, or of a score with at least N or at most N",
        "expect better compare F for GE against MDC on TST3",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
)

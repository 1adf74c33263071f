"""The sums that scores are computed from, and figures that were printed.

A statistic is read as the sums of its forms, whole numbers, so that the value is rounded once, outside. An averaged
statistic is read as the sum of its values document by document in fixed point, which is the same in whatever order the
rows are summed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from warehouse.measures import Function, Ratio, Statistic
from warehouse.measures.expression import Call, Constant, Count, Expression, FunctionName, Operation
from warehouse.query import plan as p
from warehouse.query.compile.fact_rows import FIXED_POINT, FactRows, column, value_of
from warehouse.store.sql import Sql, join, name, value


def score_sums(entry: p.Entry, by: Sequence[p.Dimension], where: p.Filter | None) -> Sql:
    """One row per system and `by` value: system id, the `by` values, documents, then the sums of each statistic.

    These are numerator and denominator, the counts of an expression, or nothing for a ranking measure.
    """
    rows = FactRows(entry, where, by)
    split = [rows.expression(dimension) for dimension in by]
    keys = [Sql("f.system_id"), *split]
    if not entry.task.is_counted:
        return _value_sums(entry, rows, keys)
    if any(statistic.averaged for statistic in entry.statistics):
        return _averages(entry, rows, keys)
    sums = [part for statistic in entry.statistics for part in _sums(statistic)]
    once = not entry.units.in_units or any(dimension.of == "unit" and not dimension.attribute for dimension in by)
    documents = "count(*)" if once else "count(distinct f.document_id)"
    return "select " + join(", ", [*keys, documents, *sums]) + rows.tail() + " group by all"


def documents_of_any(entry: p.Entry, where: p.Filter | None) -> Sql:
    """On how many documents any system of an entry has rows: one row, and for imported values one a measure."""
    measure = "f.measure as measure" if entry.task.by_measure else "'' as measure"
    # Which documents there are does not depend on what is computed of lists.
    rows = FactRows(replace(entry, statistics=()) if entry.task.of_lists else entry, where)
    return f"select {measure}, count(distinct f.document_id)" + rows.tail() + " group by all"


def _sums(statistic: Statistic, by_row: bool = False) -> list[Sql]:
    """The sums of a statistic, or with `by_row` what it sums in a single row."""
    return [_sum(form, by_row) for form in statistic.sums.forms] if statistic.sums else []


def _sum(form: tuple[tuple[str, int], ...], by_row: bool) -> Sql:
    """The sum of a form; null where a count is unknown in any row."""
    if by_row:
        return join(" + ", [value(coefficient) + "::hugeint * " + column(count) for count, coefficient in form])
    known = join(" and ", ["count(" + column(count) + ") = count(*)" for count, _ in form])
    terms = join(" + ", [value(coefficient) + "::hugeint * sum(" + column(count) + ")" for count, coefficient in form])
    return "case when " + known + " then " + terms + " end"


def _value_sums(entry: p.Entry, rows: FactRows, keys: list[Sql]) -> Sql:
    """The sum of the values of each measure, in fixed point, and how many there are."""
    once = len(entry.statistics) == 1 or not entry.task.by_measure
    sums: list[Sql | str] = [*keys, "count(*)" if once else "count(distinct f.document_id)"]
    for statistic in entry.statistics:
        own = " filter (f.measure = " + value(statistic.measure.name) + ")" if entry.task.by_measure else Sql("")
        sums += [f"sum((f.{value_of(entry, statistic)} * {FIXED_POINT})::hugeint)" + own, "count(*)" + own]
    return "select " + join(", ", sums) + rows.tail() + " group by all"


def _averages(entry: p.Entry, rows: FactRows, keys: list[Sql]) -> Sql:
    """First the sums document by document, then over documents: sums again, or the mean of the documents' own
    values.
    """
    names = [name(f"key{place}") for place in range(len(keys))]
    inner: list[Sql | str] = [key + " as " + named for key, named in zip(keys, names, strict=True)]
    outer: list[Sql | str] = []
    for place, statistic in enumerate(entry.statistics):
        parts = _sums(statistic, by_row=not entry.units.in_units)
        sums = [f"s{place}_{number}" for number in range(len(parts))]
        inner += [part + f" as {named}" for part, named in zip(parts, sums, strict=True)]
        whole = " and ".join(f"count({named}) = count(*)" for named in sums)
        if not statistic.averaged:
            outer += [f"case when {whole} then sum({named}) end" for named in sums]
        else:
            value = _value_of_document(statistic, sums)
            fixed = "sum((" + value + f" * {FIXED_POINT})::hugeint)"
            outer += [f"case when {whole} then " + fixed + " end", f"case when {whole} then count(" + value + ") end"]
    documents = "select " + join(", ", inner) + rows.tail()
    if entry.units.in_units:
        documents += " group by " + join(", ", [*keys, "f.document_id"])
    return "select " + join(", ", [*names, "count(*)", *outer]) + " from (" + documents + ") group by all"


def _value_of_document(statistic: Statistic, sums: Sequence[str]) -> Sql:
    """The value of one document from its sums, null where it is undefined; without the factor of a ratio."""
    if isinstance(statistic.computation, Ratio):
        return Sql(f"({sums[0]}::double / nullif({sums[1]}::double, 0))")
    if isinstance(statistic.computation, Function):
        named = dict(zip(statistic.computation.columns, sums, strict=True))
        return _arithmetic(statistic.computation.expression, named)
    raise ValueError(f"{statistic.label} has no value for single documents")


def _arithmetic(expression: Expression, sums: Mapping[str, str]) -> Sql:
    """An expression over named sums in floating point, null where it is undefined."""
    match expression:
        case Constant(number):
            return value(float(number)) + "::double"
        case Count(column):
            return Sql(f"{sums[column]}::double")
        case Operation(left, operator, right):
            a, b = _arithmetic(left, sums), _arithmetic(right, sums)
            return "(" + a + f" {operator} " + ("nullif(" + b + ", 0)" if operator == "/" else b) + ")"
        case Call(function, arguments):
            return _called(function, [_arithmetic(argument, sums) for argument in arguments])


def _called(function: FunctionName, arguments: Sequence[Sql]) -> Sql:
    first = arguments[0]
    match function:
        case "sqrt":
            return "sqrt(case when " + first + " >= 0 then " + first + " end)"
        case "log":
            return "ln(case when " + first + " > 0 then " + first + " end)"
        case "exp":
            return "exp(case when " + first + f" <= {_LARGEST_POWER} then " + first + " end)"
        case "abs":
            return "abs(" + first + ")"
        case "min" | "max":
            # The smallest of some numbers leaves nulls out, and here one unknown number makes all unknown.
            chosen = "least(" if function == "min" else "greatest("
            known = join(" and ", [argument + " is not null" for argument in arguments])
            return "case when " + known + " then " + chosen + join(", ", arguments) + ") end"


_LARGEST_POWER = 709
"""Powers of e beyond this do not fit floating point."""


def confidences(entry: p.Entry, where: p.Filter | None) -> Sql:
    """System id, confidence and label of each decision of the systems of an entry."""
    rows = FactRows(entry, where)
    return "select f.system_id as system, f.confidence, f.label::varchar as label" + rows.tail()


def values_one_by_one(entry: p.Entry, split: Sequence[p.Dimension], where: p.Filter | None) -> Sql:
    """System id, document, measure and value of imported values, with the `split` values."""
    rows = FactRows(entry, where, (p.Dimension("document"), *split))
    columns = [Sql("f.system_id"), Sql("d.name as document"), Sql("f.measure"), Sql("f.value")]
    values = (rows.expression(of) + f" as by_{place}" for place, of in enumerate(split))
    return "select " + join(", ", [*columns, *values]) + rows.tail()


def published(entry: p.Entry, by: Sequence[p.Dimension] = (), where: p.Filter | None = None) -> Sql:
    """System id, the `by` values, task, measure and value of the published figures of a test set."""
    rows = FactRows(entry, where, by)
    keys = [Sql("f.system_id"), *(rows.expression(dimension) for dimension in by), Sql("f.task"), Sql("f.measure")]
    return "select " + join(", ", [*keys, "any_value(f.value)::double"]) + rows.tail() + " group by all"

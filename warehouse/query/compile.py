"""Plan -> SQL, the only file that writes queries over the facts. Values travel as parameters beside the text.

A statistic is read in SQL as the sum of its numerator and the sum of its denominator, both whole numbers, so that the
value is rounded once, outside. An averaged statistic is read as the sum of its values document by document in fixed
point (2⁻⁵⁰), which is the same in whatever order the rows are summed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from warehouse.measures import COUNTS, Statistic, Task
from warehouse.measures.expression import Constant, Count, Expression, Operation, columns
from warehouse.query import plan as p
from warehouse.store.sql import Sql, join, name, value, values

FIXED_POINT = 2**50
"""What the values of an averaged statistic are multiplied by before they are summed as whole numbers."""

_SOURCE: Mapping[Task, str] = {"extraction": "score", "filtering": "cells", "values": "value", "published": "published"}

_LABEL = "left join key_label k on k.document_id = f.document_id and k.annotator_id = 0"

_NEEDS: Mapping[str, str] = {
    "document": "join document d on d.id = f.document_id",
    "unit": "join unit u on u.id = f.unit_id",
    "label": _LABEL,
    "system": "join system s on s.id = f.system_id",
}
"""The join that brings a dimension; filtering has labels and confidences in its own rows."""

_EXPRESSION: Mapping[str, str] = {
    "document": "d.name",
    "unit": "u.name",
    "label": "k.label::varchar",
    "confidence": "f.confidence",
    "system": "s.name",
}


def score_sums(entry: p.Entry, by: Sequence[p.Dimension], where: p.Filter | None) -> Sql:
    """A row a system and `by` value: system id, the `by` values, documents, then the sums of each statistic.

    These are numerator and denominator, the counts of an expression, or nothing for a ranking measure.
    """
    facts = _Facts(entry, where, (*by, *dimensions(where)))
    split = [facts.expression(dimension) for dimension in by]
    keys = [Sql("f.system_id"), *split]
    if entry.task == "values":
        return _value_sums(entry, facts, keys)
    if any(statistic.averaged for statistic in entry.statistics):
        return _averages(entry, facts, keys)
    sums = [part for statistic in entry.statistics for part in _sums(statistic)]
    once = not entry.in_units or any(dimension.of == "unit" and not dimension.attribute for dimension in by)
    documents = "count(*)" if once else "count(distinct f.document_id)"
    return "select " + join(", ", [*keys, documents, *sums]) + facts.tail() + " group by all"


def _sums(statistic: Statistic, each: bool = False) -> list[Sql]:
    """The sums of a statistic, or with `each` what it sums in a single row."""
    if statistic.ratio is not None:
        return [_sum(statistic.ratio.numerator, each), _sum(statistic.ratio.denominator, each)]
    if statistic.expression is not None:
        return [_sum(((column, 1),), each) for column in columns(statistic.expression)]
    return []


def _sum(form: tuple[tuple[str, int], ...], each: bool) -> Sql:
    """The sum of a form; null where a count is unknown in any row."""
    if each:
        return join(" + ", [value(coefficient) + f"::hugeint * {column}" for column, coefficient in form])
    known = join(" and ", [f"count({column}) = count(*)" for column, _ in form])
    terms = join(" + ", [value(coefficient) + f"::hugeint * sum({column})" for column, coefficient in form])
    return "case when " + known + " then " + terms + " end"


def _value_sums(entry: p.Entry, facts: _Facts, keys: list[Sql]) -> Sql:
    """The sum of the imported values of each measure, in fixed point, and how many there are."""
    documents = "count(*)" if len(entry.statistics) == 1 else "count(distinct f.document_id)"
    sums: list[Sql | str] = [*keys, documents]
    for statistic in entry.statistics:
        stored = " filter (f.measure = " + value(statistic.measure.name) + ")"
        sums += [f"sum((f.value * {FIXED_POINT})::hugeint)" + stored, "count(*)" + stored]
    return "select " + join(", ", sums) + facts.tail() + " group by all"


def _averages(entry: p.Entry, facts: _Facts, keys: list[Sql]) -> Sql:
    """First the sums document by document, then over documents: sums again, or the mean of the documents' own
    values.
    """
    names = [name(f"key{place}") for place in range(len(keys))]
    inner: list[Sql | str] = [key + " as " + named for key, named in zip(keys, names, strict=True)]
    outer: list[Sql | str] = []
    for place, statistic in enumerate(entry.statistics):
        parts = _sums(statistic, each=not entry.in_units)
        sums = [f"s{place}_{number}" for number in range(len(parts))]
        inner += [part + f" as {named}" for part, named in zip(parts, sums, strict=True)]
        whole = " and ".join(f"count({named}) = count(*)" for named in sums)
        if not statistic.averaged:
            outer += [f"case when {whole} then sum({named}) end" for named in sums]
        else:
            each = _value_of_document(statistic, sums)
            fixed = "sum((" + each + f" * {FIXED_POINT})::hugeint)"
            outer += [f"case when {whole} then " + fixed + " end", f"case when {whole} then count(" + each + ") end"]
    documents = "select " + join(", ", inner) + facts.tail()
    if entry.in_units:
        documents += " group by " + join(", ", [*keys, "f.document_id"])
    return "select " + join(", ", [*names, "count(*)", *outer]) + " from (" + documents + ") group by all"


def _value_of_document(statistic: Statistic, sums: Sequence[str]) -> Sql:
    """The value of one document from its sums, null where it is undefined; without the factor of a ratio."""
    if statistic.ratio is not None:
        return Sql(f"({sums[0]}::double / nullif({sums[1]}::double, 0))")
    if statistic.expression is None:
        raise ValueError(f"{statistic.label} has no value document by document")
    return _arithmetic(statistic.expression, dict(zip(columns(statistic.expression), sums, strict=True)))


def _arithmetic(expression: Expression, sums: Mapping[str, str]) -> Sql:
    """An expression over named sums in floating point, null where it divides by 0."""
    match expression:
        case Constant(number):
            return value(float(number)) + "::double"
        case Count(column):
            return Sql(f"{sums[column]}::double")
        case Operation(left, operator, right):
            a, b = _arithmetic(left, sums), _arithmetic(right, sums)
            return "(" + a + f" {operator} " + ("nullif(" + b + ", 0)" if operator == "/" else b) + ")"


def key_counts(test_set: p.TestSet, by: Sequence[p.Dimension], where: p.Filter | None) -> Sql:
    """The key of a test set: the `by` values, the label, and the number of documents."""
    entry = p.Entry(test_set, "filtering", (), ())
    facts = _Facts(entry, where, (*by, *dimensions(where)), source="key_label")
    split = [facts.expression(dimension) for dimension in by]
    return "select " + join(", ", [*split, "f.label::varchar", "count(*)"]) + facts.tail() + " group by all"


def confidences(entry: p.Entry, system: int, where: p.Filter | None) -> Sql:
    """Confidence and label of each of a system's decisions."""
    facts = _Facts(entry, where, dimensions(where))
    return "select f.confidence, f.label::varchar as label" + facts.tail() + " and f.system_id = " + value(system)


def published(entry: p.Entry, by: Sequence[p.Dimension] = (), where: p.Filter | None = None) -> Sql:
    """System id, the `by` values, task, measure and value of the published figures of a test set."""
    facts = _Facts(entry, where, (*by, *dimensions(where)))
    keys = [Sql("f.system_id"), *(facts.expression(dimension) for dimension in by), Sql("f.task"), Sql("f.measure")]
    return "select " + join(", ", [*keys, "any_value(f.value)::double"]) + facts.tail() + " group by all"


def key_totals(test_set: p.TestSet) -> Sql:
    """How many documents of a test set the key calls relevant, optional and nonrelevant."""
    counts = join(", ", [f"count(*) filter (label = '{label}')" for label in ("relevant", "optional", "nonrelevant")])
    return "select " + counts + " from key_label where annotator_id = 0 and test_set_id = " + value(test_set.id)


def key_labels(test_set: p.TestSet, where: p.Filter | None) -> Sql:
    """Annotator (null for the key itself), document id and label of all labels of a test set."""
    entry = p.Entry(test_set, "filtering", (), ())
    facts = _Facts(entry, where, dimensions(where), source="key_label", annotators=True)
    return "select nullif(n.name, ''), f.document_id, f.label::varchar" + facts.tail()


def printed_filtering(entry: p.Entry) -> Sql:
    """System id, measure, value and resolution of the printed figures of filtering on a test set."""
    return (
        "select system_id, measure, any_value(value), any_value(resolution) from published "
        "where task = 'filtering' and test_set_id = " + value(entry.test_set.id) + " group by all"
    )


def observations(entry: p.Entry, where: p.Filter | None, exchange: p.Dimension, counts: Sequence[str]) -> Sql:
    """The sums of some columns, a row a system and document (and unit, where units are exchanged), and `cluster`, the
    exchange unit, where that is an attribute. For a entry of values, `counts` is `value`, that of its one statistic.

    A sum is null where one of the summed rows does not have the count.
    """
    return _observed(entry, where, exchange, counts) + " order by all"


def grouped_observations(entry: p.Entry, where: p.Filter | None, counts: Sequence[str]) -> Sql:
    """The observations of the two systems of a entry, documents alike in all that is read as one row with how many
    there are.

    A column is there twice, as `correct_0` and `correct_1`; where a system lacks a document its `system_0` or
    `system_1` is null.
    """
    read = ("system", *counts)
    sides = [Sql(f"{alias}.{column} as {column}_{place}") for place, alias in enumerate("ab") for column in read]
    first, second = (
        "(select * from observed where system = " + value(contender.id) + ")"
        for contender in entry.contenders
        if isinstance(contender, p.StoredSystem)
    )
    observed = _observed(entry, where, p.Dimension("document"), counts)
    joined = " from " + first + " a full join " + second + " b using (document)"
    counted = join(", ", [*sides, "count(*) as times"])
    return "with observed as (" + observed + ") select " + counted + joined + " group by all order by all"


def _observed(entry: p.Entry, where: p.Filter | None, exchange: p.Dimension, counts: Sequence[str]) -> Sql:
    wanted = (*dimensions(where), *((exchange,) if exchange.attribute else ()))
    facts = _Facts(entry, where, wanted)
    keys = [Sql("f.system_id as system"), Sql("f.document_id as document")]
    if exchange.of == "unit":
        keys.append(Sql("0 as unit" if entry.task == "values" else "f.unit_id as unit"))
    if exchange.attribute:
        keys.append(facts.expression(exchange) + " as cluster")
    if not entry.in_units:
        # A document has one row, and to group rows by what tells them apart would take most of the time. That no fact
        # is stored twice is checked when rows are loaded, and by `check`.
        return "select " + join(", ", [*keys, *(f"f.{column} as {column}" for column in counts)]) + facts.tail()
    sums = [f"case when count({column}) = count(*) then sum({column})::bigint end as {column}" for column in counts]
    return "select " + join(", ", [*keys, *sums]) + facts.tail() + " group by all"


def documents(test_set: p.TestSet) -> Sql:
    """How many documents a test set has."""
    return "select count(*) from document where test_set_id = " + value(test_set.id)


def documents_by_name(test_set: p.TestSet) -> Sql:
    """The ids of the documents of a test set in the order of their names."""
    return "select id from document where test_set_id = " + value(test_set.id) + " order by name"


def units_by_name() -> Sql:
    """The ids of all units in the order of their names."""
    return Sql("select id from unit order by name")


def document_names(documents: Sequence[int]) -> Sql:
    """The names of some documents."""
    return "select name from document where id in " + values(documents) + " order by name"


# --- rows and conditions ----------------------------------------------------------------------------------------------


class _Facts:
    """The rows of a entry: where they come from, the joins their dimensions need, and the conditions on them."""

    def __init__(
        self,
        entry: p.Entry,
        where: p.Filter | None,
        dimensions: Sequence[p.Dimension],
        source: str | None = None,
        annotators: bool = False,
    ) -> None:
        self._annotators = annotators
        thresholds, where = _thresholds(where) if entry.task == "filtering" and source is None else (None, where)
        dimensions = [each for each in dimensions if each.of != "confidence"] if thresholds else dimensions
        self._field = entry
        self._where = where
        self._source = Sql(source or _SOURCE[entry.task])
        if thresholds is not None:
            self._source = _thresholded(self._condition(thresholds))
        if entry.replicates is not None and source is None:
            self._source = _averaged_runs(self._source, entry, entry.replicates)
        self._key = source == "key_label"
        self._attributes = list(dict.fromkeys(dimension for dimension in dimensions if dimension.attribute))
        self._joins: list[Sql] = [Sql("join annotator n on n.id = f.annotator_id")] if annotators else []
        for dimension in dict.fromkeys(dimensions):
            if dimension.attribute:
                self._joins.append(self._attribute(dimension))
            elif not self._own(dimension.of):
                self._joins.append(Sql(_NEEDS[dimension.of]))

    def _own(self, of: str) -> bool:
        return of == "confidence" or (of == "label" and self._field.task == "filtering")

    def _alias(self, dimension: p.Dimension) -> str:
        return f"a{self._attributes.index(dimension)}"

    def _attribute(self, dimension: p.Dimension) -> Sql:
        alias, of = self._alias(dimension), dimension.of
        table = f"left join {of}_attribute {alias} on {alias}.{of}_id = f.{of}_id and {alias}.name = "
        return table + value(dimension.attribute)

    def expression(self, dimension: p.Dimension) -> Sql:
        """What a dimension is in SQL."""
        if dimension.attribute:
            return Sql(f"{self._alias(dimension)}.value")
        if dimension.of == "label" and self._own("label"):
            return Sql("f.label::varchar")
        if dimension.of == "unit":
            return Sql("nullif(u.name, '')")
        return Sql(_EXPRESSION[dimension.of])

    def tail(self) -> Sql:
        """From, joins and conditions."""
        conditions = ["f.test_set_id = " + value(self._field.test_set.id)]
        if self._key:
            if not self._annotators:
                conditions.append(Sql("f.annotator_id = 0"))
        elif not self._field.everyone:
            conditions.append(
                "f.system_id in " + values(c.id for c in self._field.contenders if isinstance(c, p.StoredSystem))
            )
        if self._field.task == "values":
            measures = [statistic.measure.name for statistic in self._field.statistics]
            conditions.append("f.measure in " + values(measures))
        if self._where is not None:
            conditions.append(self._condition(self._where))
        return join(" ", [" from " + self._source + " f", *self._joins, "where", join(" and ", conditions)])

    def _condition(self, where: p.Filter) -> Sql:
        match where:
            case p.Joined(word, conditions):
                return "(" + join(f" {word} ", [self._condition(each) for each in conditions]) + ")"
            case p.Negated(condition):
                return "not " + self._condition(condition)
            case p.Missing(dimension):
                return "(" + self.expression(dimension) + " is null)"
            case p.Matches(dimension, pattern):
                return "coalesce(" + self.expression(dimension) + " like " + value(pattern) + ", false)"
            case p.OneOf(dimension, listed):
                scalars = values(_scalar(each) for each in listed)
                return "coalesce(" + self._comparable(dimension, listed[0]) + " in " + scalars + ", false)"
            case p.Compared(dimension, operator, wanted):
                sides = self._comparable(dimension, wanted) + f" {operator} " + value(_scalar(wanted))
                return "coalesce(" + sides + ", false)"

    def _comparable(self, dimension: p.Dimension, wanted: p.Scalar) -> Sql:
        expression = self.expression(dimension)
        return expression + "::double" if isinstance(wanted, Decimal) and dimension.attribute else expression


def _thresholds(where: p.Filter | None) -> tuple[p.Filter | None, p.Filter | None]:
    """A condition parted into what it says of confidence and the rest; `conditions` sees to it that this can be
    done.
    """
    match where:
        case p.Joined("and", conditions):
            on = tuple(each for each in conditions if _of_confidence(each))
            rest = tuple(each for each in conditions if not _of_confidence(each))
            return p.Joined("and", on) if on else None, p.Joined("and", rest) if rest else None
    return (where, None) if _of_confidence(where) else (None, where)


def _of_confidence(where: p.Filter | None) -> bool:
    return any(dimension.of == "confidence" for dimension in dimensions(where))


def _thresholded(condition: Sql) -> Sql:
    """The cells where a decision that does not meet a condition on its confidence counts as no."""
    kept = "(select *, " + condition + "::integer as kept from cells f)"
    return (
        "(select test_set_id, system_id, document_id, label, confidence, a * kept as a, b * kept as b, "
        "c + a * (1 - kept) as c, d + b * (1 - kept) as d, x * kept as x, y + x * (1 - kept) as y from " + kept + ")"
    )


_APART: Mapping[Task, str] = {"extraction": "f.unit_id", "filtering": "f.label", "values": "f.measure"}
"""What else tells the rows of a system and document apart, or is the same in all of them."""


def _averaged_runs(source: Sql, entry: p.Entry, replicates: p.Replicates) -> Sql:
    """The rows of a source with the runs of a system averaged, document by document: its own number is that of the
    system. Counts are multiplied by what makes the averages whole.
    """
    wanted = {contender.id for contender in entry.contenders if isinstance(contender, p.StoredSystem)}
    listed = [(run, one) for one, many in replicates.runs if one in wanted for run in many]
    runs = " union all ".join(f"select {run} as run, {one} as one" for run, one in listed)
    rows = " from " + source + f" f join ({runs}) r on r.run = f.system_id"
    here = " where f.test_set_id = " + value(entry.test_set.id) + " group by all)"
    apart = _APART[entry.task]
    keys = f"f.test_set_id, r.one as system_id, f.document_id, {apart}"
    if entry.task == "values":
        mean = f"sum((f.value * {FIXED_POINT})::hugeint)::double / {FIXED_POINT} / count(*) as value"
        return "(select " + keys + ", " + mean + rows + here
    counted = "(select r.one, f.document_id, count(distinct f.system_id) as runs" + rows + here
    sums = ", ".join(
        f"case when count(f.{column}) = count(*) "
        f"then sum(f.{column} * ({replicates.common} // n.runs))::bigint end as {column}"
        for column in COUNTS[entry.task]
    )
    with_runs = " join " + counted + " n on n.one = r.one and n.document_id = f.document_id"
    return f"(select {keys}, {sums}" + rows + with_runs + here


def _scalar(wanted: p.Scalar) -> str | float:
    return float(wanted) if isinstance(wanted, Decimal) else wanted


def dimensions(where: p.Filter | None) -> tuple[p.Dimension, ...]:
    """The dimensions a condition speaks of."""
    match where:
        case None:
            return ()
        case p.Joined(_, conditions):
            return tuple(dimension for each in conditions for dimension in dimensions(each))
        case p.Negated(condition):
            return dimensions(condition)
        case p.Compared(dimension) | p.OneOf(dimension) | p.Matches(dimension) | p.Missing(dimension):
            return (dimension,)


# --- what there is ----------------------------------------------------------------------------------------------------

_FACT_COUNTS = (
    "select system_id, test_set_id, 'score' as kind from score union all "
    "select system_id, test_set_id, 'decision' from decision union all "
    "select system_id, test_set_id, 'value' from value union all "
    "select system_id, test_set_id, 'published' from published"
)

ALL_SYSTEMS = Sql(
    "select s.name, string_agg(distinct t.name, ', ' order by t.name), count(*) filter (f.kind = 'score'), "
    "count(*) filter (f.kind = 'decision'), count(*) filter (f.kind = 'value'), count(*) filter (f.kind = 'published') "
    f"from system s left join ({_FACT_COUNTS}) f on f.system_id = s.id left join test_set t on t.id = f.test_set_id "
    "group by s.name order by s.name"
)

ALL_TEST_SETS = Sql(
    f"with facts as ({_FACT_COUNTS}) "
    "select t.name, nullif(e.name, ''), coalesce(max(d.documents), 0), coalesce(max(f.systems), 0), "
    "count(*) filter (k.label = 'relevant'), count(*) filter (k.label = 'optional'), "
    "count(*) filter (k.label = 'nonrelevant') "
    "from test_set t join evaluation e on e.id = t.evaluation_id "
    "left join (select test_set_id, count(*) as documents from document group by test_set_id) d "
    "on d.test_set_id = t.id "
    "left join (select test_set_id, count(distinct system_id) as systems from facts group by test_set_id) f "
    "on f.test_set_id = t.id "
    "left join key_label k on k.test_set_id = t.id and k.annotator_id = 0 "
    "group by t.id, t.name, e.name order by e.name, t.name"
)

ALL_EVALUATIONS = Sql(
    "select e.name, count(*) from evaluation e join test_set t on t.evaluation_id = e.id "
    "where e.name <> '' group by e.name order by e.name"
)

ALL_IMPORTS = Sql(
    "select id, source, reader, rows, strftime(imported_at, '%Y-%m-%d %H:%M:%S'), "
    "case when simulated then 'yes' else 'no' end, sha256, options, version from import order by id"
)

ALL_ATTRIBUTES = Sql(
    "select of || '.' || name, count(*), string_agg(distinct value, ', ' order by value) from "
    "(select 'system' as of, name, value from system_attribute union all "
    "select 'document', name, value from document_attribute) "
    "group by all order by 1"
)

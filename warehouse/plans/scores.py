"""Queries for scores: the labels of the key, sums, printed figures, what there is, and stored texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from evalhouse.warehouse.kinds.records import PIECE_LENGTH
from evalhouse.warehouse.measures import Function, Ratio, Statistic
from evalhouse.warehouse.measures.forms import Call, Constant, Count, Expression, Form, FunctionName, Operation
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.fact_rows import FIXED_POINT, FactRows, column, dimensions, value_of
from evalhouse.warehouse.plans.path import Query
from evalhouse.warehouse.store.sql import Sql, join, name, value, values

# === labels of the key ================================================================================================
# Also the figures of filtering that were printed beside the key.


def key_counts(entry: p.Entry, by: Sequence[p.Dimension], where: p.Filter | None) -> Sql:
    """The key of a test set: the `by` values, the label, and the number of documents."""
    rows = FactRows(entry, where, by, key=True)
    split = [rows.expression(dimension) for dimension in by]
    return "select " + join(", ", [*split, "f.label::varchar", "count(*)"]) + rows.tail() + " group by all"


def key_totals(entry: p.Entry) -> Sql:
    """How many documents of a test set the key calls relevant, optional and nonrelevant."""
    counts = join(", ", [f"count(*) filter (label = '{label}')" for label in ("relevant", "optional", "nonrelevant")])
    return "select " + counts + " from key_label where annotator_id = 0 and test_set_id = " + value(entry.test_set.id)


def labels_by_annotator(entry: p.Entry, split: Sequence[p.Dimension], where: p.Filter | None, with_key: bool) -> Sql:
    """Annotator, document, label and the `split` values of the labels of a test set, and those of the key, whose
    annotator is null.
    """

    def columns(rows: FactRows) -> Sql:
        document = rows.expression(p.Dimension("document"))
        values = (rows.expression(dimension) + f" as by_{place}" for place, dimension in enumerate(split))
        return join(", ", [document + " as document", Sql("f.label::varchar as label"), *values])

    wanted = (p.Dimension("document"), *split)
    rows = FactRows(entry, where, wanted, key=True, annotators=True)
    labels = "select n.name as annotator, " + columns(rows) + rows.tail() + " and f.annotator_id <> 0"
    if not with_key:
        return labels
    of_key = FactRows(entry, _but_of_annotators(where), wanted, key=True)
    return labels + " union all select null as annotator, " + columns(of_key) + of_key.tail()


def annotator_labels(entry: p.Entry, annotator: str) -> Sql:
    """Document and label of one annotator, and those of the key, with whether they are of the annotator."""
    of = "select d.name as document, f.label::varchar as label, "
    rows = FactRows(entry, None, (p.Dimension("document"),), key=True, annotators=True)
    of_key = FactRows(entry, None, (p.Dimension("document"),), key=True)
    own = of + "true as of_annotator" + rows.tail() + " and f.annotator_id <> 0 and n.name = " + value(annotator)
    return own + " union all " + of + "false as of_annotator" + of_key.tail()


def decision_rows(entry: p.Entry, split: Sequence[p.Dimension], where: p.Filter | None) -> Sql:
    """System id, document, decision and the `split` values, whether the key has the document or not."""
    of_decisions = replace(entry, kind=replace(entry.kind, source=entry.kind.facts))
    rows = FactRows(of_decisions, where, (p.Dimension("document"), *split))
    columns = [Sql("f.system_id"), Sql("d.name as document"), Sql("f.decision")]
    values = (rows.expression(of) + f" as by_{place}" for place, of in enumerate(split))
    return "select " + join(", ", [*columns, *values]) + rows.tail()


def systems_with(attribute: str) -> Sql:
    """The names of the systems that have an attribute, and its value."""
    return "select s.name, a.value from system_attribute a join system s on s.id = a.system_id where a.name = " + value(
        attribute
    )


def _but_of_annotators(where: p.Filter | None) -> p.Filter | None:
    """The part of a condition that does not choose annotators: those are not in the key."""
    if isinstance(where, p.Joined) and where.word == "and":
        kept = tuple(part for part in map(_but_of_annotators, where.conditions) if part is not None)
        return p.Joined("and", kept) if kept else None
    return None if any(dimension.of == "annotator" for dimension in dimensions(where)) else where


def printed_filtering(entry: p.Entry) -> Sql:
    """System id, measure, value and resolution of the printed figures of filtering on a test set."""
    return (
        "select system_id, measure, any_value(value), any_value(resolution) from published "
        "where task = 'filtering' and test_set_id = " + value(entry.test_set.id) + " group by all"
    )


# === classes of documents =============================================================================================


def class_pairs(entry: p.Entry, where: p.Filter | None) -> Sql:
    """System id, the class in the key, the class answered, which is null where there is none, and how many documents
    have both.
    """
    unit = p.Dimension("unit")
    rows = FactRows(entry, where, (unit,))
    name_of = "max(" + rows.expression(unit) + ") filter (f."
    classes = name_of + "possible > 0) as gold, " + name_of + "actual > 0) as answer"
    documents = "select f.system_id as system, " + classes + rows.tail() + " group by f.system_id, f.document_id"
    return "select system, gold, answer, count(*) from (" + documents + ") group by all"


def decided_pairs(entry: p.Entry, where: p.Filter | None) -> Sql:
    """The same of decisions on the documents of a key: the label, whether the system said yes, and how many."""
    rows = FactRows(entry, where)
    said = "(f.a + f.b + f.x > 0)"
    return "select f.system_id, f.label::varchar, " + said + ", count(*)" + rows.tail() + " group by all"


# === sums of scores ===================================================================================================
# A statistic is read as the sums of its forms, whole numbers, and the value is rounded once, outside the database. An
# averaged statistic is read as the sum of its values per document in fixed point, which does not depend on the order in
# which rows are summed.


def score_sums(entry: p.Entry, by: Sequence[p.Dimension], where: p.Filter | None) -> Sql:
    """One row per system and `by` value: system id, the `by` values, documents, then the sums of each statistic.

    These are numerator and denominator, the counts of an expression, or nothing for a ranking measure.
    """
    rows = FactRows(entry, where, by)
    split = [rows.expression(dimension) for dimension in by]
    keys = [Sql("f.system_id"), *split]
    if not entry.kind.is_counted:
        return _value_sums(entry, rows, keys)
    if any(statistic.averaged for statistic in entry.statistics):
        return _averages(entry, rows, keys)
    sums = [part for statistic in entry.statistics for part in _sums(statistic)]
    once = not entry.units.in_units or any(dimension.of == "unit" and not dimension.attribute for dimension in by)
    documents = "count(*)" if once else "count(distinct f.document_id)"
    return "select " + join(", ", [*keys, documents, *sums]) + rows.tail() + " group by all"


def sums_by_unit(entry: p.Entry, by: Sequence[p.Dimension], where: p.Filter | None) -> Sql:
    """One row per system, `by` value and unit: system id, the `by` values, the id of the unit, then the sum of each
    count that averages over units are computed from, null where it is unknown in any row.
    """
    rows = FactRows(entry, where, by)
    keys = [Sql("f.system_id"), *(rows.expression(dimension) for dimension in by), Sql("f.unit_id")]
    sums = [_sum(((count, 1),), by_row=False) for count in entry.counts_by_unit]
    return "select " + join(", ", [*keys, *sums]) + rows.tail() + " group by all"


def _sums(statistic: Statistic, by_row: bool = False) -> list[Sql]:
    """The sums of a statistic, or with `by_row` what it sums in a single row; nothing for sums that are taken unit by
    unit.
    """
    return [_sum(form, by_row) for form in statistic.sums.forms] if statistic.sums and not statistic.by_unit else []


def _sum(form: Form, by_row: bool) -> Sql:
    """The sum of a form; null where a count is unknown in any row."""
    if not form:
        return Sql("0::hugeint")
    if by_row:
        return join(" + ", [value(coefficient) + "::hugeint * " + column(count) for count, coefficient in form])
    known = join(" and ", ["count(" + column(count) + ") = count(*)" for count, _ in form])
    terms = join(" + ", [value(coefficient) + "::hugeint * sum(" + column(count) + ")" for count, coefficient in form])
    return "case when " + known + " then " + terms + " end"


def _value_sums(entry: p.Entry, rows: FactRows, keys: list[Sql]) -> Sql:
    """The sum of the values of each measure, in fixed point, and how many there are."""
    once = len(entry.statistics) == 1 or not entry.kind.by_measure
    sums: list[Sql | str] = [*keys, "count(*)" if once else "count(distinct f.document_id)"]
    for statistic in entry.statistics:
        own = " filter (f.measure = " + value(statistic.measure.name) + ")" if entry.kind.by_measure else Sql("")
        fixed = FIXED_POINT * entry.units.scale
        sums += [f"sum((f.{value_of(entry, statistic)} * {fixed})::hugeint)" + own, "count(*)" + own]
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
            return _call(function, [_arithmetic(argument, sums) for argument in arguments])


def _call(function: FunctionName, arguments: Sequence[Sql]) -> Sql:
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


def predicted_numbers(entry: p.Entry, by: Sequence[p.Dimension], where: p.Filter | None) -> Sql:
    """System id, the `by` values, the true and the predicted number of each document, in their order."""
    rows = FactRows(entry, where, by)
    columns = [Sql("f.system_id"), *(rows.expression(dimension) for dimension in by)]
    numbers = [Sql("f.truth"), Sql("f.prediction")]
    return "select " + join(", ", [*columns, *numbers]) + rows.tail() + " order by f.document_id"


def values_one_by_one(entry: p.Entry, split: Sequence[p.Dimension], where: p.Filter | None) -> Sql:
    """System id, document, measure and value of imported values, with the `split` values."""
    rows = FactRows(entry, where, (p.Dimension("document"), *split))
    columns = [Sql("f.system_id"), Sql("d.name as document"), Sql("f.measure"), Sql("f.value")]
    values = (rows.expression(of) + f" as by_{place}" for place, of in enumerate(split))
    return "select " + join(", ", [*columns, *values]) + rows.tail()


def published_rows(entry: p.Entry, by: Sequence[p.Dimension] = (), where: p.Filter | None = None) -> Sql:
    """System id, the `by` values, task, measure and value of the published figures of a test set."""
    rows = FactRows(entry, where, by)
    keys = [Sql("f.system_id"), *(rows.expression(dimension) for dimension in by), Sql("f.task"), Sql("f.measure")]
    return "select " + join(", ", [*keys, "any_value(f.value)::double"]) + rows.tail() + " group by all"


# === what there is ====================================================================================================
# The queries of `show`. They have no parameters.

_FACT_COUNTS = (
    "select system_id, test_set_id, 'score' as kind from score union all "
    "select system_id, test_set_id, 'counted' from counted union all "
    "select system_id, test_set_id, 'decision' from decision union all "
    "select system_id, test_set_id, 'value' from value union all "
    "select system_id, test_set_id, 'ranking' from ranking where rank = 1 union all "
    "select system_id, test_set_id, 'number' from prediction union all "
    "select system_id, test_set_id, 'published' from published"
)


def all_systems(models: Mapping[int, str]) -> Sql:
    """Name, test sets, how many runs it has where these models have several, and rows of each kind, of each system."""
    rows = (
        f"string_agg(distinct t.name, ', ' order by t.name), {'count(distinct s.id), ' if models else ''}"
        "count(*) filter (f.kind = 'score'), "
        "count(*) filter (f.kind = 'counted'), count(*) filter (f.kind = 'decision'), "
        "count(*) filter (f.kind = 'value'), count(*) filter (f.kind = 'ranking'), "
        "count(*) filter (f.kind = 'number'), "
        "count(*) filter (f.kind = 'published') "
    )
    facts = f" left join ({_FACT_COUNTS}) f on f.system_id = s.id left join test_set t on t.id = f.test_set_id "
    return f"select s.name, {rows} from " + _named_as_models(models) + facts + "group by s.name order by s.name"


def _named_as_models(models: Mapping[int, str]) -> Sql:
    """The stored systems by the names of their models, where they are runs of one."""
    if not models:
        return Sql("system s")
    listed = join(", ", ["(" + value(system) + ", " + value(model) + ")" for system, model in models.items()])
    named = "select s.id, coalesce(m.model, s.name) as name from system s left join (select * from (values "
    return "(" + named + listed + ") m(id, model)) m on m.id = s.id) s"


def all_test_sets(models: Mapping[int, str]) -> Sql:
    """What there is of each test set."""
    counted = "left join (select f.test_set_id, count(distinct s.name) as systems from facts f join "
    of_systems = " on s.id = f.system_id group by f.test_set_id) f on f.test_set_id = t.id "
    return _TEST_SETS + counted + _named_as_models(models) + of_systems + _OF_TEST_SETS


_TEST_SETS = Sql(
    f"with facts as ({_FACT_COUNTS}) "
    "select t.name, nullif(e.name, ''), coalesce(max(d.documents), 0), null, coalesce(max(f.systems), 0), "
    "count(*) filter (k.label = 'relevant'), count(*) filter (k.label = 'optional'), "
    "count(*) filter (k.label = 'nonrelevant'), null "
    "from test_set t join evaluation e on e.id = t.evaluation_id "
    "left join (select test_set_id, count(*) as documents from document group by test_set_id) d "
    "on d.test_set_id = t.id "
)
_OF_TEST_SETS = Sql(
    "left join key_label k on k.test_set_id = t.id and k.annotator_id = 0 "
    "group by t.id, t.name, e.name order by e.name, t.name"
)

ALL_EVALUATIONS = Sql(
    "select e.name, count(*) from evaluation e join test_set t on t.evaluation_id = e.id "
    "where e.name <> '' group by e.name order by e.name"
)

ALL_IMPORTS = Sql(
    "select id, source, reader, rows, texts, strftime(imported_at, '%Y-%m-%d %H:%M:%S'), "
    "case when simulated then 'yes' else 'no' end, sha256, options, version from import left join "
    "(select import_id, count(*) as texts from (select import_id, piece from document_text union all "
    "select import_id, piece from system_text) where piece = 1 group by import_id) on import_id = id order by id"
)


def all_texts(models: Mapping[int, str]) -> Sql:
    """What texts there are of each test set, a row for each kind."""
    return _TEXTS + " left join " + _named_as_models(models) + _OF_TEXTS


_TEXTS = Sql(
    "select t.name, nullif(e.name, ''), kind, nullif(count(distinct s.name), 0), count(distinct document_id), "
    "count(*), sum(characters) from "
    "(select test_set_id, null as system_id, document_id, kind, piece, characters from document_text union all "
    "select test_set_id, system_id, document_id, kind, piece, characters from system_text) f "
    "join test_set t on t.id = f.test_set_id join evaluation e on e.id = t.evaluation_id"
)
_OF_TEXTS = Sql(
    " on s.id = f.system_id where piece = 1 group by t.name, e.name, kind order by e.name, t.name, "
    "case kind when 'input' then 1 when 'reference' then 2 else 3 end"
)
ANY_TEXT = Sql("(select 1 from document_text limit 1) union all (select 1 from system_text limit 1)")

ALL_ATTRIBUTES = Sql(
    "select of || '.' || name, count(*), string_agg(distinct value, ', ' order by value) from "
    "(select 'system' as of, name, value from system_attribute union all "
    "select 'document', name, value from document_attribute) "
    "group by all order by 1"
)


# === stored texts =====================================================================================================
# What systems were given of documents, what is right, and what systems answered. Texts are stored to the byte and
# change no result; whoever shows them must clean them.

LONGEST_SHOWN = 20_000
"""How many characters of a text are fetched by default: more than anyone reads, and cheap to carry."""


def texts(
    test_set: int,
    systems: Collection[int],
    documents: Sql | Collection[str],
    *,
    longest: int = LONGEST_SHOWN,
    called: str = "texts",
) -> Query:
    """The query, called so among the facts, of the texts of some systems and documents of a test set.

    `documents` are names, or a query of one column that gives the ids of documents, where only the database knows
    which they are. Its rows are (document, system, kind, text, characters), sorted by document, then input, references
    and outputs, these by system: names of the document and the system, "input", "reference" or "output", the text as
    far as its first `longest` characters, and how many it has. The system is null for references, and for the input
    that holds for all but the systems that have one of their own. There may be several of a kind. A warehouse without
    texts gives no rows, and so does a lake.

        in compile:  return (…, texts(entry.test_set.id, [system.id for system in entry.systems], ["D1", "D2"]))
        in answer:   for document, system, kind, text, characters in facts["texts"]: …
    """
    of_documents = documents
    if not isinstance(of_documents, Sql):
        named = "select id from document where test_set_id = " + value(test_set) + " and name in "
        of_documents = named + values(sorted(of_documents))
    # Of a long text no more pieces are read than are shown.
    shown = " where test_set_id = " + value(test_set) + " and document_id in (select id from chosen) and piece <= "
    shown += value(-(-longest // PIECE_LENGTH))
    return Query(
        called,
        "with chosen(id) as ("
        + of_documents
        + "), shown as (select document_id, null as system_id, kind, number, piece, characters, text from document_text"
        + shown
        + " union all select document_id, system_id, kind, number, piece, characters, text from system_text"
        + shown
        + " and system_id in "
        + values(sorted(systems))
        + ") select d.name, s.name, kind, left(string_agg(text, '' order by piece), "
        + value(longest)
        + "), any_value(characters) from shown join document d on d.id = document_id "
        "left join system s on s.id = system_id group by d.name, s.name, kind, number order by d.name, "
        "case kind when 'input' then 1 when 'reference' then 2 else 3 end, s.name nulls first, number",
    )

"""The rows that a query reads: where they come from, what they are joined with, and the conditions on them.

Values travel as parameters beside the text. What is summed over the rows is written elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from msgspec.structs import replace

from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.kinds.records import WHOLE_RUN
from evalhouse.warehouse.measures import ListSummary, Statistic
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.store.catalog import documents_told_by
from evalhouse.warehouse.store.ranked_lists import column_of, ranked_lists
from evalhouse.warehouse.store.sql import Sql, join, name, value, values

# === rows of facts ====================================================================================================

FIXED_POINT = 2**50
"""The factor for values that are not whole numbers before they are summed, so that the sum is the same in
whatever order the rows come."""

UNLABELLED = (
    "(select test_set_id, system_id, document_id, null as label, confidence, 0 as a, 0 as b, 0 as c, 0 as d, "
    "decision::integer as x, (not decision)::integer as y from decision)"
)
"""Decisions on documents that the key says nothing of, as rows of filtering: what was decided yes is in x, as of an
optional document, and what was decided no in y.
"""

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
    "annotator": "nullif(n.name, '')",
}


_PLAIN = frozenset(("system", "value", "confidence", *(count for task in KINDS.values() for count in task.counts)))


def column(named: str) -> Sql:
    """A column of rows; one that the data name stands in quotes."""
    return Sql(named) if named in _PLAIN else name(named)


class FactRows:
    """The rows of an entry: where they come from, the joins their dimensions need, and the conditions on them.

    With `key` the rows are not those of the task but the labels of the key, and with `annotators` those of everybody.
    What comes from a `source` of its own is put together already.
    """

    def __init__(
        self,
        entry: p.Entry,
        where: p.Filter | None,
        split: Sequence[p.Dimension] = (),
        key: bool = False,
        annotators: bool = False,
        source: Sql | None = None,
    ) -> None:
        if entry.units.runs_chosen and not key:
            where = _of_rows(where)
        together = _together(entry, entry.units.groups, where) if entry.units.groups and not key else None
        where = where if together is None else None
        wanted = (*split, *dimensions(where))
        thresholds, where = _thresholds(where) if entry.kind.has_key and not key else (None, where)
        wanted = tuple(dimension for dimension in wanted if dimension.of != "confidence" or thresholds is None)
        self._entry, self._where, self._key, self._annotators = entry, where, key, annotators
        self._made_of = None if key else entry.units.made_of
        self._source = Sql("key_label" if key else entry.kind.source)
        if entry.kind.named_counts and entry.counts and not key:
            self._source = _side_by_side(entry)
        if thresholds is not None:
            self._source = _apply_threshold(entry.kind.source, self._condition(thresholds))
        if entry.kind.of_lists and not key:
            self._source = _of_lists(entry)
        if together is not None:
            self._source = together
        if source is not None:
            self._source = source
        elif entry.units.grouped is not None and entry.kind.by_document and not key and together is None:
            self._source = _average_runs(_of_each_run(self._source, entry), entry, entry.units.grouped)
        if entry.units.attempts is not None and not key:
            self._source = _attempts(entry, entry.units.attempts)
        if entry.units.filled and not (key or entry.kind.of_lists):
            self._source = _fill(self._source, entry)
        self._shared = _shared(entry.shared_by, self._where) if entry.shared_by is not None else None
        self._attributes = list(dict.fromkeys(dimension for dimension in wanted if dimension.attribute))
        self._joins: list[Sql] = [Sql("join annotator n on n.id = f.annotator_id")] if annotators else []
        for dimension in dict.fromkeys(wanted):
            if dimension.attribute:
                self._joins.append(self._attribute(dimension))
            elif dimension.of == "system" and self._made_of is not None:
                self._joins.append(_named_systems(entry.stored_systems))
            elif not self._own(dimension.of):
                self._joins.append(Sql(_NEEDS[dimension.of]))

    def joined(self, table: Sql) -> FactRows:
        """The same rows with another table beside them."""
        self._joins.append(table)
        return self

    def _own(self, of: str) -> bool:
        if of == "annotator":
            return self._annotators
        return of == "confidence" or (of == "label" and (self._key or self._entry.kind.has_key))

    def _alias(self, dimension: p.Dimension) -> str:
        return f"a{self._attributes.index(dimension)}"

    def _attribute(self, dimension: p.Dimension) -> Sql:
        alias, of = self._alias(dimension), dimension.of
        if of == "system" and self._made_of is not None:
            return _shared_attribute(alias, dimension.attribute, self._made_of)
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
        conditions = ["f.test_set_id = " + value(self._entry.test_set.id)]
        if self._key:
            if not self._annotators:
                conditions.append(Sql("f.annotator_id = 0"))
        elif not self._entry.everyone:
            conditions.append("f.system_id in " + values(self._systems()))
        if self._entry.kind.by_measure and not self._key:
            measures = [statistic.measure.name for statistic in self._entry.statistics]
            conditions.append("f.measure in " + values(measures))
        if self._where is not None:
            conditions.append(self._condition(self._where))
        if self._shared is not None:
            columns = "(f.document_id, f.measure)" if self._entry.kind.by_measure and not self._key else "f.document_id"
            conditions.append(columns + " in (" + self._shared + ")")
        return join(" ", [" from " + self._source + " f", *self._joins, "where", join(" and ", conditions)])

    def _systems(self) -> Iterator[int]:
        """The systems that the rows are of: where rows are not put together, as printed figures are not, their runs."""
        runs = {} if self._entry.kind.by_document else self._entry.units.runs
        return (run for system in self._entry.stored_systems for run in runs.get(system.id, (system.id,)))

    def _condition(self, where: p.Filter) -> Sql:
        match where:
            case p.Joined(word, conditions):
                return "(" + join(f" {word} ", [self._condition(part) for part in conditions]) + ")"
            case p.Negated(condition):
                return "not " + self._condition(condition)
            case p.Missing(dimension):
                return "(" + self.expression(dimension) + " is null)"
            case p.Runs():
                there = where.on(self._entry.test_set.id)
                return "f.system_id in " + values(there) if there else Sql("false")
            case p.Matches(dimension, pattern):
                return "coalesce(" + self.expression(dimension) + " like " + value(pattern) + ", false)"
            case p.OneOf(dimension, listed):
                scalars = values(_scalar(scalar) for scalar in listed)
                return "coalesce(" + self._comparable(dimension, listed[0]) + " in " + scalars + ", false)"
            case p.Compared(dimension, operator, wanted):
                sides = self._comparable(dimension, wanted) + f" {operator} " + value(_scalar(wanted))
                return "coalesce(" + sides + ", false)"

    def _comparable(self, dimension: p.Dimension, wanted: p.Scalar) -> Sql:
        expression = self.expression(dimension)
        return expression + "::double" if isinstance(wanted, Decimal) and dimension.attribute else expression


def _together(entry: p.Entry, groups: p.Groups, where: p.Filter | None) -> Sql:
    """The rows that meet a condition with the documents that share an attribute summed to one, the first of them by
    name; a document without the attribute is left out. A sum is null where a count is unknown in any row.
    """
    first = (
        "(select x.document_id, first_value(d.id) over (partition by x.value order by d.name) as one "
        "from document_attribute x join document d on d.id = x.document_id "
        "where x.name = " + value(groups.attribute) + " and d.test_set_id = " + value(entry.test_set.id) + ")"
    )
    rows = FactRows(entry.without_groups(), where).joined("join " + first + " g on g.document_id = f.document_id")
    sums = join(
        ", ",
        [
            "case when count(" + name + ") = count(*) then sum(" + name + ")::bigint end as " + name
            for name in (column(count) for count in entry.counts)
        ],
    )
    keys = "f.test_set_id, f.system_id, g.one as document_id, "
    return "(select " + keys + sums + rows.tail() + " group by all)"


# --- documents that a system lacks ------------------------------------------------------------------------------------

_NOTHING_DECIDED = (
    "(select test_set_id, document_id, label, null::double as confidence, 0 as a, 0 as b, "
    "(label = 'relevant')::integer as c, (label = 'nonrelevant')::integer as d, 0 as x, "
    "(label = 'optional')::integer as y from key_label where annotator_id = 0)"
)
"""What a system has that decides no on every document of the key."""


def _fill(source: Sql, entry: p.Entry) -> Sql:
    """The rows of a source with rows for the documents that a system of the entry lacks, as if it had answered nothing
    there. Which documents there are, the key says, or else the rows of all systems of the test set.

    Where runs stand for themselves, a run lacks what another run of its system has only if such documents do not count
    over the runs that have them; and a run that has nothing at all is none.
    """
    kind = entry.kind
    here = " where f.test_set_id = " + value(entry.test_set.id) + _of_measures(entry)
    systems = [system.id for system in entry.stored_systems]
    if not systems:
        return source
    together = dict(entry.units.runs_of) if entry.units.incomplete == "averaged" else {}
    wanted = ", ".join(f"({system}, {together.get(system, system)})" for system in systems)
    counts = [column(count) for count in (entry.counts if kind.is_counted else ("value",))]
    # An average over runs has no confidence.
    confidence = ["confidence"] if kind.has_key and entry.units.grouped is None else []
    named = (*([kind.apart] if kind.apart else []), *confidence)
    of_row: list[Sql] = [*map(Sql, named), *counts]
    measure = ["measure"] if kind.by_measure else []
    own = join(", ", ["f.system_id", "f.document_id", *("f." + name for name in of_row)])
    alike = "".join(f" and h.{name} = e.{name}" for name in ("document_id", *measure))
    steps: list[Sql | str] = [
        "own as (select " + own + " from " + source + " f" + here + " and f.system_id in " + values(systems) + ")",
        "unanswered as (" + _unanswered(entry) + here + (")" if kind.has_key else " group by all)"),
        f"wanted as (select * from (values {wanted}) w(system_id, one))",
        f"had as (select distinct one, {', '.join(('document_id', *measure))} from own join wanted using (system_id))",
    ]
    lacked = join(", ", ["w.system_id", "e.document_id", *("e." + name for name in of_row)])
    beside = f" from unanswered e cross join wanted w left join had h on h.one = w.one{alike} where h.one is null"
    if entry.units.runs_of and not together:
        known = "".join(f" and k.{name} = e.{name}" for name in measure)
        beside += f" and exists (select 1 from own k where k.system_id = w.system_id{known})"
    rows = "select * from own union all select " + lacked + beside
    number = value(entry.test_set.id) + "::integer as test_set_id"
    return "(with " + join(", ", steps) + " select " + number + ", * from (" + rows + ") together)"


def _of_each_run(source: Sql, entry: p.Entry) -> Sql:
    """The rows of a source before runs are averaged: where what a run lacks counts as nothing, with rows for that."""
    if entry.units.incomplete != "zero" or not entry.units.filled or entry.kind.of_lists:
        return source
    return _fill(source, entry.in_runs())


def _unanswered(entry: p.Entry) -> Sql:
    """What each document of the test set has for a system that answers nothing, up to the condition."""
    kind, whole = entry.kind, value(entry.units.scale)
    if kind.has_key:
        cells = ["f." + count + " * " + whole + " as " + count for count in entry.counts]
        return "select f.document_id, f.label, f.confidence, " + join(", ", cells) + f" from {_NOTHING_DECIDED} f"
    equal = dict(kind.unanswered)
    numbers = [
        "max(f." + column(equal[count]) + ") * " + whole + " as " + column(count)
        if equal.get(count) in entry.counts
        else "0 as " + column(count)
        for count in entry.counts
    ]
    keys = [Sql("f.document_id"), *([Sql(f"f.{kind.apart}")] if kind.apart else [])]
    columns = join(", ", [*keys, *(numbers if kind.is_counted else ["0::double as value"])])
    return "select " + columns + " from " + _of_anyone(entry) + " f"


def _of_measures(entry: p.Entry) -> Sql:
    """The condition on the measures of values, which have rows of their own each."""
    if not entry.kind.by_measure:
        return Sql("")
    return " and f.measure in " + values(statistic.measure.name for statistic in entry.statistics)


def _of_anyone(entry: p.Entry) -> Sql:
    """The rows of all systems of the test set, before any are averaged."""
    if entry.units.attempts is not None:
        everyone = tuple(p.StoredSystem(one, "") for one, _ in entry.units.attempts.replicates.runs)
        return _attempts(replace(entry, systems=everyone), entry.units.attempts)
    return _side_by_side(entry) if entry.kind.named_counts else Sql(entry.kind.source)


def _shared(entry: p.Entry, where: p.Filter | None) -> Sql:
    """The documents, and for values the measures, of which all systems of an entry have rows that meet a condition."""
    columns = "f.document_id, f.measure" if entry.kind.by_measure else "f.document_id"
    count = " group by all having count(distinct f.system_id) = " + value(len(entry.stored_systems))
    return f"select {columns}" + FactRows(entry, where).tail() + count


def value_of(entry: p.Entry, statistic: Statistic) -> str:
    """The column that the value of a statistic stands in, where rows are values and no counts."""
    return column_of(entry.of_lists.index(statistic)) if entry.kind.of_lists else "value"


def _of_lists(entry: p.Entry) -> Sql:
    """A row for each system and topic, with the values of the statistics that are computed of lists."""
    runs = entry.units.runs
    systems = (
        None
        if entry.everyone and not runs
        else [run for system in entry.stored_systems for run in runs.get(system.id, (system.id,))]
    )
    computed = [of.computation.of for of in entry.of_lists if isinstance(of.computation, ListSummary)]
    return "(" + ranked_lists(entry.test_set.id, systems, computed, entry.units.filled) + ")"


def _thresholds(where: p.Filter | None) -> tuple[p.Filter | None, p.Filter | None]:
    """A condition parted into what it says of confidence and the rest; `conditions` sees to it that this can be
    done.
    """
    match where:
        case p.Joined("and", conditions):
            on = tuple(part for part in conditions if _of_confidence(part))
            rest = tuple(part for part in conditions if not _of_confidence(part))
            return p.Joined("and", on) if on else None, p.Joined("and", rest) if rest else None
    return (where, None) if _of_confidence(where) else (None, where)


def _of_rows(where: p.Filter | None) -> p.Filter | None:
    """The part of a condition that is not about systems; `runs` sees to it that it can be parted so."""
    match where:
        case p.Joined("and", conditions):
            rest = tuple(part for part in conditions if not _of_systems(part))
            return p.Joined("and", rest) if rest else None
    return None if _of_systems(where) else where


def _of_systems(where: p.Filter | None) -> bool:
    return any(dimension.of == "system" for dimension in dimensions(where))


def _of_confidence(where: p.Filter | None) -> bool:
    return any(dimension.of == "confidence" for dimension in dimensions(where))


def _apply_threshold(source: str, condition: Sql) -> Sql:
    """The cells where a decision that does not meet a condition on its confidence counts as no."""
    kept = "(select *, " + condition + "::integer as kept from " + Sql(source) + " f)"
    return (
        "(select test_set_id, system_id, document_id, label, confidence, a * kept as a, b * kept as b, "
        "c + a * (1 - kept) as c, d + b * (1 - kept) as d, x * kept as x, y + x * (1 - kept) as y from " + kept + ")"
    )


def _side_by_side(entry: p.Entry) -> Sql:
    """Counts that are stored one per row, as one row per system, document and unit with one column per count; null
    where it was not given.
    """
    keys = "test_set_id, system_id, document_id, unit_id"
    columns = ["max(number) filter (where count = " + value(count) + ") as " + column(count) for count in entry.counts]
    of_test_set = " from " + Sql(entry.kind.source) + " where test_set_id = " + value(entry.test_set.id)
    chosen = of_test_set + " and count in " + values(entry.counts)
    return f"(select {keys}, " + join(", ", columns) + chosen + f" group by {keys})"


def _average_runs(source: Sql, entry: p.Entry, replicates: p.Replicates) -> Sql:
    """The rows of a source with the runs of a system averaged, document by document: its own number is that of the
    system. Counts are multiplied by what makes the averages whole. Where a document that only some runs have is absent,
    it has no row.
    """
    rows = " from " + source + f" f join ({_runs(entry, replicates)}) r on r.run = f.system_id"
    here = " where f.test_set_id = " + value(entry.test_set.id)
    keys = "f.test_set_id, r.one as system_id, f.document_id" + (f", f.{entry.kind.apart}" if entry.kind.apart else "")
    counted = "(select " + _of_runs_of(entry) + ", f.document_id, count(distinct f.system_id) as runs" + rows + here
    with_runs = " join " + counted + " group by all) n on n.document_id = f.document_id and " + _same_runs("n", entry)
    if entry.units.incomplete == "absent":
        with_all = " join (" + _all_runs(source, entry, replicates) + ") t on " + _same_runs("t", entry)
        with_runs += with_all + " and t.runs = n.runs"
    if entry.kind.is_counted:
        sums = join(", ", (_average_count(column(count), replicates.common) for count in entry.counts))
        return f"(select {keys}, " + sums + rows + with_runs + here + " group by all)"
    columns = [column_of(place) for place in range(len(entry.of_lists))] if entry.kind.of_lists else ["value"]
    means = (
        f"sum((f.{column} * {FIXED_POINT})::hugeint)::double / {FIXED_POINT} / count(*) as {column}"
        for column in columns
    )
    needed = with_runs if entry.units.incomplete == "absent" else Sql("")
    return "(select " + ", ".join([keys, *means]) + rows + needed + here + " group by all)"


def _of_runs_of(entry: p.Entry) -> str:
    """What averaged rows have in common: the system, and the measure where each has runs of its own."""
    return "r.one, f.measure" if entry.kind.by_measure else "r.one"


def _same_runs(alias: str, entry: p.Entry) -> str:
    """Whether rows of a table are about the same runs."""
    return f"{alias}.one = r.one" + (f" and {alias}.measure = f.measure" if entry.kind.by_measure else "")


def _all_runs(source: Sql, entry: p.Entry, replicates: p.Replicates) -> Sql:
    """How many runs each system has that have any document."""
    rows = " from " + source + f" f join ({_runs(entry, replicates)}) r on r.run = f.system_id"
    here = " where f.test_set_id = " + value(entry.test_set.id) + " group by all"
    return "select " + _of_runs_of(entry) + ", count(distinct f.system_id) as runs" + rows + here


LISTED = 5
"""How many documents are named that some runs of a system lack."""


def documents_in_some_runs(entry: p.Entry, where: p.Filter | None) -> Sql:
    """Measure (of imported values), system id, name of a document that some of its runs have and others lack, and how
    many such documents the system has: its first ones by name.
    """
    apart, replicates = entry.as_stored().in_runs(), entry.units.grouped
    if replicates is None:
        raise ValueError("the systems are not averages of runs")
    # Which documents there are does not depend on what is computed of lists.
    apart = replace(apart, statistics=()) if entry.kind.of_lists else apart
    named = FactRows(apart, where, (p.Dimension("document"),))
    of_runs = f"join ({_runs(entry, replicates)}) r on r.run = f.system_id"
    measure = "f.measure" if entry.kind.by_measure else "''"
    of = f"select {measure} as measure, r.one, "
    there = of + "f.system_id as run, d.name as document" + named.joined(Sql(of_runs)).tail()
    everywhere = FactRows(apart, None).joined(Sql(of_runs)).tail()
    totals = of + "count(distinct f.system_id) as runs" + everywhere + " group by all"
    counted = "select measure, one, document, count(distinct run) as runs from (" + there + ") group by all"
    lacking = (
        "select c.measure, c.one, c.document, count(*) over (partition by c.measure, c.one) as documents, row_number() "
        "over (partition by c.measure, c.one order by c.document) as place from (" + counted + ") c "
        "join (" + totals + ") t on t.measure = c.measure and t.one = c.one where c.runs < t.runs"
    )
    return (
        "select measure, one, document, documents from ("
        + lacking
        + ") l where place <= "
        + value(LISTED)
        + " order by measure, one, document"
    )


def _named_systems(systems: Sequence[p.StoredSystem]) -> Sql:
    """The systems that others are made of, by their names."""
    listed = ["(" + value(system.id) + "::integer, " + value(system.name) + ")" for system in systems]
    return "join (select * from (values " + join(", ", listed) + ") named(id, name)) s on s.id = f.system_id"


def _shared_attribute(alias: str, attribute: str, replicates: p.Replicates) -> Sql:
    """What the runs of a system have of an attribute: the same, or else nobody could ask for it."""
    listed = ", ".join(str((run, system)) for system, runs in replicates.runs for run in runs)
    shared = f"(select r.one as system_id, min(a.value) as value from (values {listed}) r(run, one) "
    of_runs = "join system_attribute a on a.system_id = r.run and a.name = " + value(attribute) + " group by r.one) "
    return "left join " + shared + of_runs + f"{alias} on {alias}.system_id = f.system_id"


def _attempts(entry: p.Entry, attempts: p.Attempts) -> Sql:
    """One row per system and document: how many replicates have the document, and how many of them the value 1."""
    total, passed = map(column, entry.kind.counts)
    rows = (
        " from "
        + Sql(entry.kind.source)
        + " f join ("
        + _runs(entry, attempts.replicates)
        + ") r on r.run = f.system_id"
    )
    here = " where f.test_set_id = " + value(entry.test_set.id) + " and f.measure = " + value(attempts.measure)
    counts = "count(*) as " + total + ", sum(case when f.value = 1 then 1 else 0 end)::bigint as " + passed
    return "(select f.test_set_id, r.one as system_id, f.document_id, " + counts + rows + here + " group by all)"


def _runs(entry: p.Entry, replicates: p.Replicates) -> str:
    """The runs of the systems of an entry, each with the number of its system."""
    wanted = {system.id for system in entry.stored_systems}
    listed = [(run, system) for system, runs in replicates.runs if system in wanted for run in runs]
    # A condition may leave none.
    rows, none = listed or [(0, 0)], "" if listed else " where false"
    return "select * from (values " + ", ".join(map(str, rows)) + ") runs(run, one)" + none


def _average_count(count: Sql, common: int) -> Sql:
    known = "case when count(f." + count + ") = count(*) "
    return known + "then sum(f." + count + f" * ({common} // n.runs))::bigint end as " + count


def _scalar(wanted: p.Scalar) -> str | float:
    return float(wanted) if isinstance(wanted, Decimal) else wanted


def dimensions(where: p.Filter | None) -> tuple[p.Dimension, ...]:
    """The dimensions a condition speaks of."""
    match where:
        case None:
            return ()
        case p.Joined(_, conditions):
            return tuple(dimension for part in conditions for dimension in dimensions(part))
        case p.Negated(condition):
            return dimensions(condition)
        case p.Runs():
            return (p.Dimension("system"),)
        case p.Compared(dimension) | p.OneOf(dimension) | p.Matches(dimension) | p.Missing(dimension):
            return (dimension,)


# === decisions one by one =============================================================================================
# Decisions with their confidences and the labels of their documents.


def decisions(entry: p.Entry, where: p.Filter | None) -> Sql:
    """System and document ids, the confidence, whether the system decided yes, and the label, as 0 for relevant, 1 for
    nonrelevant and 2 for optional.
    """
    kind = "case f.label when 'relevant' then 0 when 'nonrelevant' then 1 else 2 end as kind"
    columns = f"f.system_id as system, f.document_id as document, f.confidence, f.a + f.b + f.x as yes, {kind}"
    return "select " + Sql(columns) + FactRows(entry, where).tail()


# === which documents have rows ========================================================================================
# How many documents each system was scored on, how many any system was scored on, which are absent, and which failed
# and why.


def documents_by_measure(entry: p.Entry) -> Sql:
    """One row per system, and per measure (imported values) or count (named counts): system id, this name, and how many
    documents have rows.
    """
    rows = _rows(entry)
    return "select f.system_id, " + _measure(entry) + ", count(distinct f.document_id)" + rows.tail() + " group by all"


def scored_by_any(entry: p.Entry) -> Sql:
    """For each measure, or named count, how many documents have rows of any system of the entry; else one row."""
    return "select " + _measure(entry) + ", count(distinct f.document_id)" + _rows(entry).tail() + " group by all"


def documents_scored(entry: p.Entry) -> Sql:
    """System id, and on how many documents it was scored by any measure."""
    return "select f.system_id, count(distinct f.document_id)" + _rows(entry).tail() + " group by all"


def _failed(entry: p.Entry) -> Sql:
    """The failures of the systems of a test set; of systems made of runs, those of their runs, one of each item."""
    here = " from failure x where x.test_set_id = " + value(entry.test_set.id)
    if entry.units.grouped is None:
        return "(select x.test_set_id, x.system_id, x.item, x.reason" + here + ")"
    of_runs = f" from failure x join ({_runs(entry, entry.units.grouped)}) r on r.run = x.system_id"
    of_test_set = " where x.test_set_id = " + value(entry.test_set.id) + " group by all)"
    return "(select x.test_set_id, r.one as system_id, x.item, min(x.reason) as reason" + of_runs + of_test_set


def absent(entry: p.Entry, most: int) -> Sql:
    """System id and name of documents of the test set on which a system was not scored, the first of each system by
    name. Only systems that lack some are put beside all documents.
    """
    there = "select distinct f.system_id as system, f.document_id as document" + _rows(entry).tail()
    lacking = "select system from there group by system having count(*) < " + value(entry.units.documents)
    # A system that failed on everything has no rows at all.
    failed = "select system_id from " + _failed(entry) + " x"
    lacking += " union (" + failed + " except select system from there)"
    beside = (
        "select l.system, d.name, row_number() over (partition by l.system order by d.name) as place "
        "from lacking l cross join document d left join there t on t.system = l.system and t.document = d.id "
        "where t.document is null and d.test_set_id = "
        + value(entry.test_set.id)
        + documents_told_by(entry.units.told_by)
    )
    named = "select system, name from (" + beside + ") b where place <= " + value(most)
    return "with there as (" + there + "), lacking as (" + lacking + ") " + named + " order by system, name"


def failures_of(entry: p.Entry) -> Sql:
    """System id, reason, whether the run as a whole failed, how many documents failed, and how many of these have no
    rows either.
    """
    return (
        _failures(entry)
        + " select system, reason, whole, count(*), sum(case when document is null then 1 else 0 end) from failed "
        "group by system, reason, whole order by system, whole desc, reason"
    )


def failed_names(entry: p.Entry, most: int) -> Sql:
    """System id and name of documents that failed and have no rows, the first of each system by name."""
    placed = "select system, item, row_number() over (partition by system order by item) as place from failed "
    placed += "where document is null and not whole"
    names = " select system, item from (" + placed + ") b where place <= "
    return _failures(entry) + names + value(most) + " order by system, item"


def failed_elsewhere(entry: p.Entry) -> Sql:
    """How many of the documents that failed nobody has rows of or labels for."""
    known = "select name from document where test_set_id = " + value(entry.test_set.id)
    of_this = " from failure where test_set_id = " + value(entry.test_set.id)
    return (
        "select count(distinct item)"
        + of_this
        + " and item <> "
        + value(WHOLE_RUN)
        + " and item not in ("
        + known
        + ")"
    )


def _failures(entry: p.Entry) -> Sql:
    """The failures of the test set as `failed`, each with the document that it is if its system has rows of it."""
    there = "select distinct f.system_id as system, f.document_id as document" + _rows(entry).tail()
    rows = (
        "select x.system_id as system, x.item, x.reason, x.item = " + value(WHOLE_RUN) + " as whole, t.document "
        "from " + _failed(entry) + " x left join document d on d.name = x.item and d.test_set_id = x.test_set_id "
        "left join there t on t.system = x.system_id and t.document = d.id"
    )
    return "with there as (" + there + "), failed as (" + rows + ")"


def _rows(entry: p.Entry) -> FactRows:
    """The rows as they are stored, also those that have no label beside them; of systems made of runs, one row for what
    all their runs have.
    """
    # Lists count where their topic is judged, whatever is computed of them.
    statistics = () if entry.kind.of_lists else entry.statistics
    stored = replace(entry, kind=replace(entry.kind, source=entry.kind.facts), statistics=statistics)
    return FactRows(stored, None, source=None if entry.units.grouped is None else _in_all_runs(stored))


def _in_all_runs(entry: p.Entry) -> Sql:
    """System and document, and measure or count where rows have one, of what all runs of a system have."""
    if entry.units.grouped is None:
        raise ValueError("the systems are not made of runs")
    source = _of_lists(entry) if entry.kind.of_lists else Sql(entry.kind.source)
    named = ", f.count" if entry.kind.named_counts else ", f.measure" if entry.kind.by_measure else ""
    rows = " from " + source + f" f join ({_runs(entry, entry.units.grouped)}) r on r.run = f.system_id"
    rows += " where f.test_set_id = " + value(entry.test_set.id)
    keys = f"f.test_set_id, r.one as system_id, f.document_id{named}"
    all_of_them = "select r.one, count(distinct f.system_id) as runs" + rows + " group by all"
    there = "select " + keys + ", count(distinct f.system_id) as runs" + rows + " group by all"
    return "(select t.* from (" + there + ") t join (" + all_of_them + ") a on a.one = t.system_id and a.runs = t.runs)"


def _measure(entry: p.Entry) -> str:
    if entry.kind.named_counts:
        return "f.count as measure"
    return "f.measure as measure" if entry.kind.by_measure else "'' as measure"

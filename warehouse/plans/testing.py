"""Which entries can be tested and how their pairs are tested, for all questions that are answered by tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from math import inf
from typing import Literal, TypeVar, cast

from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.clauses import as_typed
from evalhouse.grammar.editing.hints import hints, number_text
from evalhouse.grammar.editing.rewording import name_meant
from evalhouse.grammar.errors import QueryError, Span
from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.measures import Statistic
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.averages import with_units_of_all
from evalhouse.warehouse.plans.conditions import dimension_of, filter_on
from evalhouse.warehouse.plans.conventions import is_bounded
from evalhouse.warehouse.plans.entries import (
    Wanted,
    check_groups,
    entries_on,
    entry_on,
    with_absent,
    without_confidence,
)
from evalhouse.warehouse.plans.fact_rows import dimensions
from evalhouse.warehouse.plans.groups import parts_of
from evalhouse.warehouse.plans.labels import having_others, lacking_test_sets, some
from evalhouse.warehouse.plans.names import Scope, text_of
from evalhouse.warehouse.plans.runs import SaidOfRuns, present_beside
from evalhouse.warehouse.plans.systems import baseline, find_system
from evalhouse.warehouse.significance.bootstrap.interval_kinds import INTERVALS, IntervalKind, find_interval
from evalhouse.warehouse.significance.spending import find_spending
from evalhouse.warehouse.significance.tests import (
    ADJUSTMENTS,
    DRAWING,
    DRAWN,
    EXCHANGING,
    OF_EQUALITY,
    OF_ORDERS,
    TESTS,
    Adjustment,
    Test,
    find_adjustment,
    find_test,
)

# === tests of pairs ===================================================================================================

MOST_SHUFFLES = 10**9

MOST_DOCUMENTS = 10**9


def tested_entries(statement: n.Tested, test_sets: n.TestSets | None, scope: Scope) -> tuple[p.Entry, ...]:
    """The entries of a question that is answered by tests."""
    entries = entries_on(test_sets, Wanted.of(statement), scope)
    check_twice(statement.systems)
    for entry in entries:
        _check_no_group(entry, statement, scope)
        check_tested(statement, entry, test_of(statement, entries))
    return tuple(exchanging(statement, entry, scope) for entry in entries)


def _check_no_group(entry: p.Entry, statement: n.Tested | n.Documents | n.Differ, scope: Scope) -> None:
    """Raises QueryError for the figures of a group, whose test sets have the documents."""
    if entry.kind.by_document or not (parts := parts_of(entry.test_set, scope)):
        return
    raise QueryError(
        f"{entry.test_set.name} is a group, of which figures were printed; its test sets have the documents",
        (getattr(statement, "test_sets", None) or statement).span,
        (f"write on {some(parts)}", f"score, compare, group and rank take on {entry.test_set.name} alone"),
    )


def exchanging(statement: n.Tested | n.Differ, entry: p.Entry, scope: Scope) -> p.Entry:
    """An entry with what is exchanged as a whole on its test set, where the question says it."""
    if statement.exchange is None:
        return entry
    exchange = dimension_of(scope, statement.exchange, entry.kind)
    if exchange.of not in ("document", "unit", "system") or (exchange.of == "system" and exchange.attribute):
        what = ("write document, unit or document.attribute",)
        raise QueryError(f"{exchange.name} cannot be exchanged", statement.exchange.span, what)
    check_groups(entry, exchange, "exchange", statement.exchange)
    if entry.units.groups and exchange.of == "document":
        if not exchange.attribute:
            wrong = f"exchange by document cannot be combined with a mean over document.{entry.units.groups.attribute}"
            hint = (f"leave it out: each {entry.units.noun} is exchanged as a whole",)
            raise QueryError(wrong, statement.exchange.span, hint)
        return entry
    return entry.exchange_by(exchange)


def test_of(statement: n.Tested, entries: Iterable[p.Entry]) -> Test:
    """The test that is named. Where none is, it is that of orders if all measures are such, if no clause asks for
    shuffles or every exchange, and if documents are exchanged one by one; else that of equality where the statement
    promises that, unless runs are exchanged or every exchange is to be counted; else the first of all.
    """
    if statement.test is not None:
        return test_named(statement.test)
    entries = tuple(entries)
    adjustment = _member(statement.adjust, ADJUSTMENTS, find_adjustment, "adjustment", "adjust")
    exchanged = statement.shuffles is not None or statement.exact
    exchanged |= not all(_one_by_one(statement, entry) for entry in entries)
    ordered = [statistic.ordered for entry in entries for statistic in entry.statistics]
    if all(ordered) and not exchanged and not adjustment.by_shuffles:
        return OF_ORDERS
    runs = any(entry.units.exchanges_runs for entry in entries)
    of_equality = statement.of_equality and not (statement.exact or any(ordered) or runs)
    return OF_EQUALITY if of_equality else TESTS[0]


def test_named(node: n.Name | n.Variable) -> Test:
    """The test with this name or synonym."""
    return _member(node, TESTS, find_test, "test", "test")


def check_tested(statement: n.Tested, entry: p.Entry, test: Test) -> None:
    """Tests need rows by document, and of the measures what each test needs."""
    check_twice(statement.systems)
    if not entry.kind.by_document:
        ranked = isinstance(statement, n.Rank) and statement.over is not None
        ways = ("write by mean rank behind over test sets, which ranks figures",) if ranked else ()
        raise QueryError(
            f"{entry.kind.rows} have no documents, so they cannot be {statement.done}",
            statement.task.span if statement.task else statement.span,
            (*ways, "score and change show them; a test needs rows by document"),
        )
    for statistic, node in zip(entry.statistics, statement.measures, strict=False):
        if statistic.ordered:
            _check_ordered(statement, entry, statistic, test, node)
        if (statistic.of_confidences or statistic.of_numbers) and statement.missing == "zero":
            raise without_confidence(statistic, node)
        check_exchanged(statistic, statement.exchange)
        if statistic.over_units is not None and statement.missing == "bounds":
            wrong = f"missing bounds cannot compute the extremes of {statistic.label}, which is computed over all units"
            raise QueryError(wrong, node.span, (f"write {statistic.measure.name}, or missing drop or missing zero",))
        if (misfit := test.misfit(statistic.label, statistic.steady, statistic.ordered)) is not None:
            raise QueryError(misfit, node.span, (f"test {TESTS[0].name} fits every measure (Yeh 2000, section 3.2)",))
    for computed in entry.baselines:
        if computed.share != 1:
            place = statement.systems.span if statement.systems else statement.span
            raise QueryError(f"{computed.name} has only expected values, no decisions to test", place)


def check_exchanged(statistic: Statistic, exchange: n.Attribute | None) -> None:
    """Refuses to exchange units of documents where documents, or units over all documents, are averaged."""
    if exchange is None or exchange.of.casefold() != "unit":
        return
    if statistic.averaged or statistic.over_units is not None:
        how = "is a mean over documents" if statistic.averaged else "is computed over all units"
        raise QueryError(f"{statistic.label} {how}, so units cannot be exchanged", exchange.span)


def _check_ordered(
    statement: n.Tested, entry: p.Entry, statistic: Statistic, test: Test, node: n.MeasureCall | n.Mean
) -> None:
    """What cannot be done with a measure of an order: it has no sums to shuffle together, and a document that a system
    lacks has no place in its order.
    """
    adjustment = _member(statement.adjust, ADJUSTMENTS, find_adjustment, "adjustment", "adjust")
    if adjustment.by_shuffles and statement.adjust is not None:
        needs = f"adjust {adjustment.name} needs sums, and {statistic.label} is not computed from sums"
        raise QueryError(needs, statement.adjust.span, ("write adjust holm instead",))
    if not test.exchanges and not _one_by_one(statement, entry):
        takes = f"test {test.name} assumes independent documents, but here they are not exchanged one by one"
        place = statement.exchange or statement.test or statement
        raise QueryError(takes, place.span, (f"write test {TESTS[0].name}, or exchange by document",))


def _one_by_one(statement: n.Tested, entry: p.Entry) -> bool:
    """Whether documents of an entry are exchanged one by one."""
    if statement.exchange is None:
        return entry.units.one_by_one
    return statement.exchange.of.casefold() == "document" and not statement.exchange.name


def check_twice(systems: n.Systems | None) -> None:
    """A system that is named twice is usually a slip."""
    names: set[str] = set()
    for item in systems.items if systems else ():
        if isinstance(item, n.Name):
            if item.text.casefold() in names:
                raise QueryError(f"{item.text} is named twice", item.span)
            names.add(item.text.casefold())


def check_two(
    word: str, systems: Sequence[p.System], entry: p.Entry, statement: n.Tested | n.Documents | n.Differ
) -> None:
    """A test needs two systems."""
    if len(systems) < 2:
        place = statement.systems.span if statement.systems else statement.span
        have = f"there is only {systems[0].name}" if systems else "none of them is"
        ways = (f"not there: {some(entry.absent)}", "missing zero counts them as nothing") if entry.absent else ()
        raise QueryError(f"{word} needs two systems, but {have} on {entry.test_set.name}", place, ways)


def holding_against(
    statement: n.Tested | n.Documents | n.Differ, entries: Sequence[p.Entry], scope: Scope
) -> tuple[p.Entry, ...]:
    """The entries whose systems are each held against one, where the question names one: it is one of them then. On a
    test set where it is not, it counts as nothing if the question says so. Raises QueryError if it does not.
    """
    node: n.Name | n.BaselineCall | n.Variable | None = getattr(statement, "against", None)
    if node is None:
        return tuple(entries)
    held: dict[int, p.System] = {}
    lacking: QueryError | None = None
    for place, entry in enumerate(entries):
        try:
            held[place] = _one_system(node, entry, SaidOfRuns(apart=statement.runs_apart), scope)
        except QueryError as error:
            lacking = lacking or error
            if not entry.units.filled:
                raise
    if not held and lacking is not None:
        raise lacking
    elsewhere = next(iter(held.values()))
    return tuple(_held(entry, held.get(place), elsewhere, node) for place, entry in enumerate(entries))


def _held(entry: p.Entry, against: p.System | None, elsewhere: p.System, node: n.Node) -> p.Entry:
    """An entry held against a system; where it has no rows on the test set, as it is called elsewhere."""
    if isinstance(against, p.Baseline) and against.share != 1:
        raise QueryError(f"{against.name} has only expected values, no decisions to test", node.span)
    if against is not None:
        systems = entry.systems if against in entry.systems else (*entry.systems, against)
        return replace(entry, systems=systems, against=against)
    known = next((system for system in entry.systems if system.name == elsewhere.name), None)
    if known is not None:
        return replace(entry, against=known)
    absent = (*entry.absent, elsewhere.name)
    return replace(entry, systems=(*entry.systems, elsewhere), stored=0, against=elsewhere, absent=absent)


def _one_system(node: n.Name | n.BaselineCall | n.Variable, entry: p.Entry, said: SaidOfRuns, scope: Scope) -> p.System:
    if isinstance(node, n.BaselineCall):
        return baseline(scope, node, entry.kind)
    present = present_beside(entry, said, scope, node)
    return find_system(scope, node, node, entry.kind, scope.known(entry.test_set), present)


def check_replicates(
    entries: Iterable[p.Entry], place: n.Node, by: Iterable[p.Dimension], where: p.Filter | None
) -> None:
    """An attribute that differs between the replicates of a system cannot be used for the system."""
    strange = [dimension.name for dimension in (*by, *dimensions(where)) if dimension.of == "system"]
    if strange and any(of is not None and not of.of_models for of in (entry.units.made_of for entry in entries)):
        raise QueryError(
            f"{strange[0]} differs between replicates, so it cannot be used after averaging them",
            place.span,
            ("for … except … leaves out systems",),
        )


def testing_of(statement: n.Tested, entries: Sequence[p.Entry], scope: Scope) -> p.Testing:
    """How the pairs of a question are tested, its clauses checked against one another."""
    test = test_of(statement, entries)
    adjustment = _member(statement.adjust, ADJUSTMENTS, find_adjustment, "adjustment", "adjust")
    shuffles = scope.whole(statement.shuffles, "shuffles", 1, MOST_SHUFFLES)
    level = scope.share(statement.level, "level", p.DEFAULT_LEVEL)
    confidence = scope.share(statement.confidence, "confidence", p.DEFAULT_CONFIDENCE)
    _check_clauses(statement, test, adjustment)
    if statement.exact and statement.shuffles is not None:
        raise QueryError("exact needs no shuffles", statement.shuffles.span, ("leave out one of the two",))
    if any(entry.units.exchanges_runs for entry in entries):
        _check_across(statement, entries, test, adjustment)
    where = filter_on(scope, statement.where, entries)
    check_replicates(entries, statement.replicates or statement, (), where)
    return p.Testing(
        where=where,
        test=test,
        shuffles=shuffles,
        exact=statement.exact,
        sides=statement.sides or "two-sided",
        seed=cast(int, scope.whole(statement.seed, "seed", 0, 2**63 - 1)) if statement.seed else p.DEFAULT_SEED,
        level=level,
        confidence=confidence,
        confidence_asked=statement.confidence is not None,
        adjustment=adjustment,
        missing=statement.missing or "error",
        spoken=(*statement.spoken, *_words(statement.test), *_words(statement.adjust)),
    )


def _check_across(statement: n.Tested, entries: Iterable[p.Entry], test: Test, adjustment: Adjustment) -> None:
    """Whole systems change sides only where there are several of each: replicates, and by randomization."""
    place = statement.exchange.span if statement.exchange else statement.span
    if any(entry.units.attempts is not None for entry in entries):
        raise QueryError("replicates count as attempts here, so none of them has a value of its own", place)
    if any(entry.units.grouped is None for entry in entries):
        raise QueryError(
            "exchange by system needs replicates",
            place,
            ("replicates by system.NAME makes several systems the runs of one",),
        )
    if not test.exchanges or adjustment.by_shuffles:
        raise QueryError(f"exchange by system works only with tests {EXCHANGING}, and without adjust maxt", place)


def _check_clauses(statement: n.Tested, test: Test, adjustment: Adjustment) -> None:
    """Clauses that would change nothing, or that contradict the test, are errors."""
    drawn = as_typed("shuffles", statement.spoken)
    if statement.shuffles is not None and test.draws is not None and drawn not in ("shuffles", *DRAWN[test.draws]):
        known = [other.name for other in TESTS if other.draws is not None and drawn in DRAWN[other.draws]]
        instead = f"{drawn} are for {', '.join(known)}; here write {test.draws}"
        raise QueryError(f"test {test.name} draws {test.draws}, not {drawn}", statement.shuffles.span, (instead,))
    if statement.shuffles is not None and test.draws is None:
        raise QueryError(
            f"test {test.name} draws no shuffles", statement.shuffles.span, (f"shuffles are for {', '.join(DRAWING)}",)
        )
    if statement.exact and not test.exact:
        place = statement.test.span if statement.test else statement.span
        raise QueryError(f"exact works with test {TESTS[0].name}, not with test {test.name}", place)
    if statement.missing == "bounds" and not statement.takes_bounds:
        raise QueryError(
            "missing bounds works only with compare", statement.span, ("write missing drop, or missing zero",)
        )
    conflict = test.conflict(adjustment, statement.exact)
    if statement.adjust is not None and conflict is not None:
        wrong, hint = conflict
        raise QueryError(wrong, statement.adjust.span, (hint,))


_Member = TypeVar("_Member", Test, Adjustment)


def _member(
    node: n.Name | n.Variable | None, table: Sequence[_Member], find: Callable[[str], _Member], what: str, clause: str
) -> _Member:
    """The member of a table that is named in a clause, the first where none is."""
    if node is None:
        return table[0]
    text = text_of(node, node, f"the name of {'an' if what[0] in 'aeiou' else 'a'} {what}").casefold()
    try:
        return find(text)
    except KeyError:
        known = [name for member in table for name in member.names]
        name = name_meant(clause, text)
        meant = (f"did you mean {name}?",) if name in known else hints(text, known, f"{what}s")
        raise QueryError(f"unknown {what} '{text}'", node.span, meant) from None


def _words(node: n.Name | n.Variable | None) -> tuple[str, ...]:
    """The name or the synonym by which a member of a table was typed, if one was."""
    return () if node is None else (text_of(node, node, "a name").casefold(),)


def interval_of(statement: n.Compare | n.Score | n.Agree) -> IntervalKind:
    """The kind of interval that is named, the first where none is."""
    return INTERVALS[0] if statement.interval is None else find_interval(statement.interval)


def carried_over(statement: n.Change | n.Replicate, scope: Scope) -> tuple[p.Entry, p.Entry]:
    """The two entries of a question from one test set to another, with the systems that both have."""
    wanted = Wanted.of(statement)
    source, target = (
        entry_on(wanted, scope, scope.test_set(node, node), node, elsewhere=True)
        for node in (statement.source, statement.target)
    )
    if source.test_set == target.test_set:
        raise QueryError(f"{source.test_set.name} cannot be compared with itself", statement.target.span)
    if source.kind != target.kind:
        both = f"{source.test_set.name} has {source.kind.name}, {target.test_set.name} {target.kind.name}"
        raise QueryError(f"the two test sets have no task in common: {both}", statement.span, ("add of TASK",))
    _check_printed(statement, source, target)
    source, target = with_absent((source, target), wanted)
    in_target = {system.name: system for system in target.systems}
    common = tuple(system for system in source.systems if system.name in in_target)
    if not common:
        raise QueryError(
            f"no system is on both {source.test_set.name} and {target.test_set.name}",
            statement.systems.span if statement.systems else statement.span,
        )
    # Replicates have the same name on both test sets, and the id of their first run on each.
    return replace(source, systems=common), replace(target, systems=tuple(in_target[system.name] for system in common))


def _check_printed(statement: n.Change | n.Replicate, source: p.Entry, target: p.Entry) -> None:
    """A figure that was printed of one task on one test set, and of another task on the other, is not the same."""
    for first, second in zip(source.statistics, target.statistics, strict=True):
        if first.printed_of != second.printed_of:
            where = f"of {first.printed_of} on {source.test_set.name}, of {second.printed_of} on {target.test_set.name}"
            raise QueryError(f"{first.label} was printed {where}", statement.span)


# === what only compare may ask ========================================================================================
# An average over test sets, a margin, a kind of interval, looks while documents come, and bounds over what is missing.


def comparing(statement: n.Compare, entries: Sequence[p.Entry], scope: Scope) -> p.Testing:
    """How the pairs of a comparison are tested, its clauses checked against one another."""
    if statement.missing == "bounds":
        _check_bounds(statement)
    _check_labellings(statement, entries)
    how = testing_of(statement, entries, scope)
    interval = interval_of(statement)
    if interval.corrects and any(entry.units.exchanges_runs for entry in entries):
        others = " or ".join(kind.name for kind in INTERVALS if not kind.corrects)
        place = statement.exchange.span if statement.exchange else statement.span
        raise QueryError(f"exchange by system works only with interval {others}", place)
    margin = _margin(statement, entries, how, scope)
    return replace(how, interval=interval, margin=margin, looks=_looks(statement, entries, how, scope))


def _looks(statement: n.Compare, entries: Sequence[p.Entry], how: p.Testing, scope: Scope) -> p.Looks | None:
    """How the question is asked again, its clauses checked against the others; None where it is asked once."""
    if not statement.anytime and statement.planned is None:
        for word, node, belongs in (
            ("in order of", statement.in_order, "anytime"),
            ("spending", statement.spending, "planned N"),
        ):
            if node is not None:
                place = node.span if isinstance(node, n.Node) else statement.span
                raise QueryError(f"{word} says nothing without {belongs}", place, (f"add {belongs}, or leave it out",))
        return None
    word = "anytime" if statement.anytime else "planned"
    if statement.anytime and statement.planned is not None:
        wrong = "anytime and planned are two ways to look more than once"
        raise QueryError(wrong, statement.planned.span, ("leave out one of the two",))
    _check_looks(statement, entries, how, word)
    if statement.anytime:
        return p.Looks(None, find_spending(None), _order_of(statement, entries, scope))
    return p.Looks(
        scope.whole(statement.planned, "planned", 1, MOST_DOCUMENTS), find_spending(statement.spending), None
    )


def _check_looks(statement: n.Compare, entries: Sequence[p.Entry], how: p.Testing, word: str) -> None:
    """What cannot be looked at more than once."""
    first = TESTS[0].name
    if statement.test is not None and how.test != TESTS[0]:
        raise QueryError(
            f"{word} goes with test {first}, not with {how.test.name}", statement.test.span, ("leave out test",)
        )
    for statistic, node in zip(entries[0].statistics, statement.measures, strict=False):
        if statistic.ordered:
            wrong = f"{word} takes units one after another, and {statistic.label} depends on the order of all"
            raise QueryError(wrong, node.span, (f"leave out {word}",))
    by_plan = statement.planned is not None
    adjust = f"adjust {how.adjustment.name}"
    refused: tuple[tuple[bool, str, str, n.Node | None], ...] = (
        (statement.over is not None, "over test sets", "the weight of what came first changes with what comes", None),
        (
            statement.margin is not None,
            "margin",
            "it is decided by an interval, which holds for one look",
            statement.margin,
        ),
        (statement.interval is not None, "interval", "those shown hold for one look", None),
        (statement.missing == "bounds", "missing bounds", "bounds are those of one look", None),
        (
            any(is_bounded(of) for entry in entries for of in entry.statistics),
            "optional=bounds",
            "bounds are those of one look",
            statement.measures[0],
        ),
        (
            any(entry.units.exchanges_runs for entry in entries),
            "exchange by system",
            "runs come in no order of documents",
            statement.exchange,
        ),
        (statement.exact, "exact", "it is not known yet which documents will come", None),
        (not by_plan and statement.shuffles is not None, "shuffles", "it draws none", statement.shuffles),
        (not by_plan and how.adjustment.by_shuffles, adjust, "it draws no shuffles", statement.adjust),
        (not by_plan and statement.spending is not None, "spending", "that is for planned N", None),
        (by_plan and statement.in_order is not None, "in order of", "it looks after each import", statement.in_order),
    )
    for there, clause, why, written in refused:
        if there:
            place = written.span if written is not None else statement.span
            raise QueryError(f"{word} cannot be combined with {clause}, as {why}", place, (f"leave out {clause}",))
    if by_plan and how.adjustment.adjusts:
        raise QueryError(
            f"planned cannot be combined with {adjust}, as each pair stops by itself",
            statement.adjust.span if statement.adjust else statement.span,
            (f"divide the level {how.level} by the number of pairs and write it with level", "anytime can be adjusted"),
        )


def _order_of(statement: n.Compare, entries: Sequence[p.Entry], scope: Scope) -> p.Dimension | None:
    """The attribute that says in which order documents came."""
    node = statement.in_order
    if node is None:
        return None
    order = dimension_of(scope, node, entries[0].kind)
    if order.of != "document" or not order.attribute:
        raise QueryError(f"{order.name} says no order of documents", node.span, ("write in order of document.NAME",))
    return order


_DIFFERENCES = {"margin": "a margin", "detect": "a difference to detect"}
"""What the number after a word is."""


def difference_after(
    word: Literal["margin", "detect"], node: n.Number | n.Variable | n.Part, entries: Sequence[p.Entry], scope: Scope
) -> p.Margin:
    """A difference that matters: above 0, and no larger than values can differ. Of what is not a share a percentage
    says nothing by itself: it may be meant of the second system's value, or be a number.
    """
    what = _DIFFERENCES[word]
    if isinstance(node, n.Part):
        _check_second(word, node, entries)
        amount = scope.number(node.share, Decimal(0))
        if not 0 < amount < 1:
            wrong = f"a part of a value must be between 0% and 100%, not {number_text(amount.scaleb(2))}%"
            raise QueryError(wrong, node.span, (f"write {word} 5% of {p.SECOND}",))
        return p.Margin(amount, of_second=True)
    check_percentage(word, node, entries, f"{word} {{}} of {p.SECOND}")
    amount = scope.number(node, Decimal(0))
    if amount <= 0:
        hint = "name the smallest difference that would matter"
        way = f"{hint}; for the other direction swap the systems" if amount else f"{hint}, such as {word} 1%"
        raise QueryError(f"{what} must be above 0, not {number_text(amount)}", node.span, (way,))
    for statistic in (statistic for entry in entries for statistic in entry.statistics):
        lowest, highest = statistic.measure.within or (-inf, inf)
        if amount >= highest - lowest:
            beyond = f"no two systems differ by more than {number_text(amount)} in {statistic.label}"
            raise QueryError(beyond, node.span, (f"write {word} {number_text(amount)}%",) if amount < 100 else ())
    return p.Margin(amount)


def check_percentage(word: str, node: n.Number | n.Variable, entries: Sequence[p.Entry], other: str = "") -> None:
    """Raises QueryError for a percentage of what is not a share; `other` is how a part of a value would be written, {}
    being the percentage.
    """
    if not isinstance(node, n.Number) or not node.percent:
        return
    for entry in entries:
        for statistic, is_share in zip(entry.statistics, entry.are_shares, strict=True):
            if not is_share:
                percentage = f"{number_text(node.value.scaleb(2))}%"
                ways = (f"write {other.format(percentage)}, a part of the second system's value",) if other else ()
                declare = f"if {statistic.label} is a share, load its file once more with --share {statistic.label}"
                raise QueryError(
                    f"{statistic.label} is not a share, so {percentage} of it is not a number",
                    node.span,
                    (
                        *ways,
                        f"write {word} {number_text(node.value)}, in the unit of {statistic.label}",
                        *((declare,) if entry.kind.by_measure else ()),
                    ),
                )


def _check_second(word: str, node: n.Part, entries: Sequence[p.Entry]) -> None:
    """Raises QueryError where a part is not that of the second system of every pair."""
    said = text_of(node.of, node.of, "the name of a system")
    for entry in entries:
        names = [system.name for system in entry.systems]
        second = names[1] if entry.against is None and len(names) == 2 else entry.against and entry.against.name
        is_name = said.casefold() in (name.casefold() for name in names)
        if is_name and second and said.casefold() == second.casefold():
            continue
        if is_name or said.casefold() != p.SECOND.casefold():
            kind = (f"write of {said} before {word}, if the kind of rows is meant",) if said.casefold() in KINDS else ()
            hints = (f"write of {p.SECOND}, the second system of each pair", *kind)
            whose = f"{second}'s" if second else "that of the second system of each pair"
            raise QueryError(f"a part of a value is a part of {whose}, not of {said}", node.of.span, hints)


def _margin(statement: n.Compare, entries: Sequence[p.Entry], how: p.Testing, scope: Scope) -> p.Margin | None:
    """The margin of two one-sided tests, checked against the other clauses; None where there is none."""
    if statement.margin is None:
        return None
    place, test, adjustment = statement.margin.span, how.test, how.adjustment
    margin = difference_after("margin", statement.margin, entries, scope)
    if not test.takes_margin:
        takers = [member.name for member in TESTS if member.takes_margin]
        raise QueryError(f"margin works with test {', '.join(takers)}, not with {test.name}", place)
    if statement.sides == "one-sided":
        raise QueryError("margin already makes two one-sided tests", place, ("leave out one-sided",))
    if adjustment.by_shuffles:
        raise QueryError(
            f"adjust {adjustment.name} cannot be combined with margin", place, ("write adjust holm instead",)
        )
    if statement.missing == "bounds":
        raise QueryError(
            "missing bounds cannot be combined with margin", place, ("write missing drop, or missing zero",)
        )
    if how.level >= Decimal("0.5"):
        raise QueryError(
            "with a margin the level must be below 0.5", statement.level.span if statement.level else place
        )
    return margin


def _check_bounds(statement: n.Compare) -> None:
    """Bounds over missing documents are those of two systems on one test set."""
    if statement.over:
        raise QueryError(
            "missing bounds works on one test set at a time", statement.span, ("leave out 'over test sets'",)
        )
    if statement.exchange and statement.exchange.of.casefold() == "system":
        raise QueryError(
            "missing bounds is about documents, but whole systems are exchanged here", statement.exchange.span
        )


def _check_labellings(statement: n.Compare, entries: Sequence[p.Entry]) -> None:
    """Bounds over labellings are those of two systems on one test set, document by document."""
    for statistic in (statistic for entry in entries for statistic in entry.statistics):
        if not is_bounded(statistic):
            continue
        clauses = {
            "over test sets": statement.over,
            "margin": statement.margin is not None,
            "missing bounds": statement.missing == "bounds",
            "replicates": statement.replicates is not None,
        }
        if any(entry.units.runs_of_models is not None for entry in entries):
            wrong = f"{statistic.label} tries every labelling, so it cannot be averaged over runs"
            raise QueryError(wrong, statement.measures[0].span, ("write runs apart, or optional=all",))
        for clause in (clause for clause, there in clauses.items() if there):
            wrong = f"{statistic.label} tries every labelling, so it cannot be combined with {clause}"
            raise QueryError(wrong, statement.measures[0].span, (f"leave out {clause}, or write optional=all",))


def over_of(statement: n.Score | n.Compare | n.Group | n.Rank | n.PaperTable) -> p.OverTestSets | None:
    """How a question takes its test sets together; None where each stands by itself."""
    return None if statement.over is None else p.OverTestSets(pooled=statement.over == n.POOLED)


def taken_together(
    statement: n.Score | n.Compare | n.Group | n.Rank | n.PaperTable, entries: tuple[p.Entry, ...]
) -> tuple[p.Entry, ...]:
    """The entries of a question that takes its test sets together, in the order of their names, so that the order in
    which they were written moves no digit. Raises QueryError for what cannot be taken together.
    """
    over = over_of(statement)
    assert over is not None
    place = statement.test_sets.span if statement.test_sets else statement.span
    if len(entries) < 2:
        raise QueryError("an average over test sets needs two test sets, but there is only one", place)
    tasks = sorted({entry.kind.name for entry in entries})
    if len(tasks) > 1:
        raise QueryError(f"the test sets are of several kinds: {', '.join(tasks)}", place, ("add of KIND",))
    if over.pooled:
        entries = with_units_of_all(entries)
        for places in zip(*(entry.statistics for entry in entries), strict=False):
            _check_pooled(places, entries, statement)
    return tuple(sorted(entries, key=lambda entry: entry.test_set.name))


def _check_pooled(
    of_test_sets: Sequence[Statistic],
    entries: Sequence[p.Entry],
    statement: n.Score | n.Compare | n.Group | n.Rank | n.PaperTable,
) -> None:
    """Raises QueryError where a statistic of several test sets is not one of all their documents."""
    first = of_test_sets[0]
    way = ("leave out pooled: over test sets takes the mean",)
    if not all(entry.kind.by_document for entry in entries):
        raise QueryError(f"{entries[0].kind.rows} have no documents that could be pooled", statement.span, way)
    if first.ordered:
        wrong = f"documents of test sets are put together by their sums, and {first.label} is not computed from sums"
        raise QueryError(wrong, statement.measures[0].span, way)
    if any((of.of_one or of.computation) != (first.of_one or first.computation) for of in of_test_sets):
        wrong = f"{first.label} is not computed alike on all these test sets, so their documents are not put together"
        raise QueryError(wrong, statement.measures[0].span, way)


def averaged_entries(statement: n.Compare | n.Group | n.Rank, entries: tuple[p.Entry, ...]) -> tuple[p.Entry, ...]:
    """The entries of a question that tests what is taken together, with the systems that all of them have."""
    place = statement.test_sets.span if statement.test_sets else statement.span
    entries = taken_together(statement, entries)
    for statistic, node in zip(entries[0].statistics, statement.measures, strict=False):
        if statistic.ordered:
            needs = f"an average over test sets is tested by sums, and {statistic.label} is not computed from sums"
            ways = ("write by mean rank behind it",) if isinstance(statement, n.Rank) else ()
            raise QueryError(needs, node.span, (*ways, "leave out 'over test sets'"))
    if statement.exchange and statement.exchange.of.casefold() == "system":
        raise QueryError("whole systems are exchanged on one test set at a time", statement.exchange.span)
    common = on_every_test_set(statement.words, entries, place)
    if not isinstance(statement, n.Compare):
        return common
    against = entries[0].against
    if against is not None and all(system.name != against.name for system in common[0].systems):
        needs = f"an average over test sets is held against a system that is on all of them, and {against.name} is not"
        raise QueryError(needs, statement.against.span if statement.against else place)
    return common


def on_every_test_set(word: str, entries: tuple[p.Entry, ...], place: Span) -> tuple[p.Entry, ...]:
    """The entries with the systems that all of them have, in the order of the first."""
    # Replicates have the same name on each test set, and the id of their first run there.
    by_name = [{system.name: system for system in entry.systems} for entry in entries]
    common = [name for name in by_name[0] if all(name in known for known in by_name)]
    if len(common) < 2:
        have = f"only {common[0]} is" if common else "none of them is"
        lacking = [*lacking_test_sets(entries), *having_others(entries)]
        raise QueryError(
            f"{word} needs two systems that are on all test sets, but {have}",
            place,
            (f"not on all test sets: {some(lacking)}", "missing zero counts them as nothing there") if lacking else (),
        )
    return tuple(
        replace(entry, systems=tuple(known[name] for name in common))
        for entry, known in zip(entries, by_name, strict=True)
    )


# === questions that split up differences ==============================================================================
# Which pairs are meant, and which of their rows.


def pairs_of(statement: n.Documents | n.Differ, scope: Scope) -> tuple[tuple[p.Entry, ...], p.Testing]:
    """The entries of a question about the documents behind differences, and which rows count."""
    if statement.missing == "bounds":
        raise QueryError(
            "missing bounds works only with compare", statement.span, ("write missing drop, or missing zero",)
        )
    check_twice(statement.systems)
    entries = entries_on(statement.test_sets, Wanted.of(statement), scope)
    for entry in entries:
        _check_no_group(entry, statement, scope)
        if not entry.kind.by_document:
            raise QueryError(
                f"{entry.kind.rows} have no documents, so their differences cannot be traced to documents",
                statement.task.span if statement.task else statement.span,
            )
    entries = holding_against(statement, entries, scope)
    for entry in entries:
        check_two(statement.words, entry.systems, entry, statement)
        for computed in entry.baselines:
            if computed.share != 1:
                place = statement.systems.span if statement.systems else statement.span
                raise QueryError(f"{computed.name} has only expected values, no decisions", place)
    where = filter_on(scope, statement.where, entries)
    check_replicates(entries, statement.replicates or statement, (), where)
    return entries, replace(p.Testing.plain(where), missing=statement.missing or "error")

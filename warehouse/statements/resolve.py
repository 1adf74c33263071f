"""Statement -> Plan: the defaults filled in, the names looked up (by `names`), the clauses checked against each other.

Nothing here runs a query; the catalog is all it knows of a warehouse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeVar, cast

from grammar import nodes as n
from grammar.editing.hints import hints, listing
from grammar.errors import QueryError
from grammar.printer import to_text
from warehouse.query import plan as p
from warehouse.query.compile import dimensions
from warehouse.query.resolving.conditions import dimension_of, filter_of, key_filter
from warehouse.query.resolving.entries import Wanted, entries_on, entry_on, named
from warehouse.query.resolving.names import Scope, text_of
from warehouse.query.resolving.systems import baseline, contender_named, contenders, present_on
from warehouse.significance.tests import ADJUSTMENTS, DRAWING, TESTS, Adjustment, Test, named_adjustment, named_test

MOST_SHUFFLES = 10**9


def resolve(statement: n.Statement, scope: Scope) -> p.Plan:
    """The plan for a statement. Raises QueryError for anything that is not there or does not fit.

    `let`, `define`, `load` and `forget` change the session or the warehouse and have no plan.
    """
    match statement:
        case n.Show(what):
            return p.ShowPlan(to_text(statement), what)
        case n.SqlQuery(text):
            return p.SqlPlan(to_text(statement), text.text)
        case n.Explain(question):
            return p.ExplainPlan(to_text(statement), _question(question, scope))
        case n.Plot(question, to):
            path = None if to is None else text_of(to, to, "the name of a file")
            return p.PlotPlan(to_text(statement), _question(question, scope), path)
        case n.Export(question, to):
            return p.ExportPlan(to_text(statement), _question(question, scope), text_of(to, to, "the name of a file"))
        case n.Let() | n.Define() | n.Load() | n.Forget():
            raise TypeError(f"{type(statement).__name__} has no plan")
    return _question(statement, scope)


def _question(statement: n.Question, scope: Scope) -> p.Question:
    match statement:
        case n.Score():
            return _score(statement, scope)
        case n.Compare():
            return _compare(statement, scope)
        case n.Group():
            return _group(statement, scope)
        case n.Generality():
            return _generality(statement, scope)
        case n.Change():
            return _change(statement, scope)
        case n.Replicate():
            return _replicate(statement, scope)
        case n.Project():
            return _project(statement, scope)
        case n.Audit():
            return _audit(statement, scope)
        case n.Agree():
            test_sets = _test_sets(statement.test_sets, scope)
            return p.AgreePlan(to_text(statement), test_sets, key_filter(scope, statement.where))


# --- score ------------------------------------------------------------------------------------------------------------


def _score(statement: n.Score, scope: Scope) -> p.ScorePlan:
    asked = Wanted(statement.measures, statement.task, statement.systems, statement.span, statement.replicates)
    entries = entries_on(statement.test_sets, asked, scope)
    by: tuple[p.Dimension, ...] = ()
    where = None
    for task in dict.fromkeys(entry.task for entry in entries):
        by = tuple(dimension_of(scope, attribute, task) for attribute in statement.by)
        where = filter_of(scope, statement.where, task)
    _check_computed(statement, entries, by, where)
    _check_replicates(statement.replicates, by, where)
    order, descending = entries[0].statistics[0].label, True
    if statement.order:
        order, descending = _order(statement.order, entries[0], scope)
    return p.ScorePlan(
        text=to_text(statement),
        entries=entries,
        by=by,
        where=where,
        order=order,
        descending=descending,
        limit=scope.whole(statement.limit, "limit", 1, 10**9),
        standardized=statement.standardized,
    )


def _check_replicates(node: n.Attribute | None, by: Iterable[p.Dimension], where: p.Filter | None) -> None:
    """What differs between the replicates of a system is nothing that the system has."""
    strange = [each.name for each in (*by, *dimensions(where)) if each.of == "system"]
    if node is not None and strange:
        raise QueryError(
            f"{strange[0]} is of each replicate apart, and not of what replicates are averaged to",
            node.span,
            ("for … except … leaves systems out",),
        )


def _check_computed(
    statement: n.Score, entries: tuple[p.Entry, ...], by: tuple[p.Dimension, ...], where: p.Filter | None
) -> None:
    """A ranking measure has no value for a part of the documents, and a baseline no confidences or attributes."""
    for entry in entries:
        for statistic, node in zip(entry.statistics, statement.measures, strict=False):
            if by and entry.task == "filtering" and statistic.ratio is None and statistic.expression is None:
                raise QueryError(f"{statistic.label} cannot be split by {by[0].name}", node.span)
        baselines = [contender.name for contender in entry.contenders if isinstance(contender, p.Baseline)]
        strange = [each.name for each in (*by, *dimensions(where)) if each.of in ("confidence", "system")]
        if baselines and strange:
            place = statement.where.span if statement.where else statement.span
            raise QueryError(f"{baselines[0]} has no {strange[0]}", place)


def _order(node: n.Order, entry: p.Entry, scope: Scope) -> tuple[str, bool]:
    if isinstance(node.by, n.MeasureCall) and node.by.name.casefold() == "system" and not node.by.parameters:
        return "system", node.direction == "desc"
    labels = [statistic.label for statistic in entry.statistics]
    columns = listing([*labels, "system"], "columns")
    test_set = next(t for t in scope.catalog.test_sets if t.id == entry.test_set.id)
    try:
        label = scope.statistic(node.by, entry.task, test_set).label
    except QueryError as error:
        raise QueryError(error.message, node.by.span, columns) from None
    if label not in labels:
        raise QueryError(f"{label} is not among the measures asked for", node.by.span, columns)
    return label, node.direction != "asc"


# --- compare and group ------------------------------------------------------------------------------------------------


def _compare(statement: n.Compare, scope: Scope) -> p.ComparePlan:
    entries = _tested_entries(statement, scope)
    against = None if statement.against is None else _against(statement.against, entries[0], scope)
    if statement.against is not None and isinstance(against, p.Baseline) and against.share != 1:
        raise QueryError(f"{against.name} has expected values only, no decisions to test", statement.against.span)
    for entry in entries:
        names = [contender.name for contender in entry.contenders]
        if against is not None and against.name not in names:
            names.append(against.name)
        _enough("compare", names, entry, statement)
    return p.ComparePlan(to_text(statement), entries, against, _testing(statement, entries, scope))


def _group(statement: n.Group, scope: Scope) -> p.GroupPlan:
    entries = _tested_entries(statement, scope)
    for entry in entries:
        _enough("group", [contender.name for contender in entry.contenders], entry, statement)
    return p.GroupPlan(to_text(statement), entries, _testing(statement, entries, scope))


_DONE = {n.Compare: "compared", n.Group: "grouped", n.Replicate: "replicated"}


def _tested_entries(statement: n.Compare | n.Group, scope: Scope) -> tuple[p.Entry, ...]:
    """The entries of a question that is answered by tests."""
    asked = Wanted(statement.measures, statement.task, statement.systems, statement.span, statement.replicates)
    entries = entries_on(statement.test_sets, asked, scope)
    if not named(statement.test_sets):
        # Wanted of all test sets, the question is meant for those that can answer it.
        entries = tuple(entry for entry in entries if entry.task != "published") or entries
    for entry in entries:
        _check_tested(statement, entry, scope)
    return entries


def _check_tested(statement: n.Compare | n.Group | n.Replicate, entry: p.Entry, scope: Scope) -> None:
    """Tests need rows by document, values that follow from sums, and for matched pairs steady denominators."""
    word = _DONE[type(statement)]
    _check_twice(statement.systems)
    test = _member(statement.test, TESTS, named_test, "test")
    if entry.task == "published":
        raise QueryError(
            f"published figures have no documents, so they cannot be {word}",
            statement.task.span if statement.task else statement.span,
            ("score and change show them; a test needs rows by document",),
        )
    for statistic, node in zip(entry.statistics, statement.measures, strict=False):
        if statistic.ratio is None and statistic.expression is None:
            raise QueryError(f"{statistic.label} does not follow from sums, so it cannot be {word}", node.span)
        if statistic.averaged and statement.exchange and statement.exchange.of.casefold() == "unit":
            raise QueryError(
                f"{statistic.label} is a mean over documents, so units cannot be exchanged", statement.exchange.span
            )
        if (misfit := test.misfit(statistic.label, statistic.steady)) is not None:
            raise QueryError(misfit, node.span, (f"test {TESTS[0].name} fits every measure (Yeh 2000, section 3.2)",))
    for contender in entry.contenders:
        if isinstance(contender, p.Baseline) and contender.share != 1:
            place = statement.systems.span if statement.systems else statement.span
            raise QueryError(f"{contender.name} has expected values only, no decisions to test", place)


def _check_twice(systems: n.Systems | None) -> None:
    """A system that is named twice is more often a slip than meant."""
    seen: set[str] = set()
    for item in systems.items if systems else ():
        if isinstance(item, n.Name):
            if item.text.casefold() in seen:
                raise QueryError(f"{item.text} is named twice", item.span)
            seen.add(item.text.casefold())


def _enough(word: str, names: list[str], entry: p.Entry, statement: n.Compare | n.Group | n.Replicate) -> None:
    if len(names) < 2:
        place = statement.systems.span if statement.systems else statement.span
        have = f"only {names[0]}" if names else "none of them"
        raise QueryError(f"{word} needs two systems, and there is {have} on {entry.test_set.name}", place)


def _against(node: n.Name | n.BaselineCall | n.Variable, entry: p.Entry, scope: Scope) -> p.System:
    if isinstance(node, n.BaselineCall):
        return baseline(scope, node, entry.task)
    test_set = next(t for t in scope.catalog.test_sets if t.id == entry.test_set.id)
    present = present_on(scope, entry.task, test_set, entry.replicates, (node,))
    return contender_named(scope, node, node, entry.task, test_set, present)


def _testing(statement: n.Compare | n.Group | n.Replicate, entries: tuple[p.Entry, ...], scope: Scope) -> p.Testing:
    task = entries[0].task
    test = _member(statement.test, TESTS, named_test, "test")
    adjustment = _member(statement.adjust, ADJUSTMENTS, named_adjustment, "adjustment")
    shuffles = scope.whole(statement.shuffles, "shuffles", 1, MOST_SHUFFLES)
    level = scope.share(statement.level, "level", p.DEFAULT_LEVEL)
    confidence = scope.share(statement.confidence, "confidence", p.DEFAULT_CONFIDENCE)
    _check_clauses(statement, test, adjustment)
    if statement.exact and statement.shuffles is not None:
        raise QueryError("exact needs no shuffles", statement.shuffles.span, ("leave one of the two out",))
    exchange = p.Dimension("document")
    if statement.exchange:
        exchange = dimension_of(scope, statement.exchange, task)
        runs = None if isinstance(statement, n.Replicate) else statement.replicates
        if exchange == p.Dimension("system"):
            _check_across(statement, runs, test, adjustment)
        elif exchange.of not in ("document", "unit"):
            what = ("say document, unit or document.attribute",)
            raise QueryError(f"{exchange.name} cannot be exchanged", statement.exchange.span, what)
    where = filter_of(scope, statement.where, task)
    if not isinstance(statement, n.Replicate):
        _check_replicates(statement.replicates, (), where)
    return p.Testing(
        where=where,
        exchange=exchange,
        test=test.name,
        shuffles=shuffles,
        exact=statement.exact,
        sides=statement.sides or "two-sided",
        seed=cast(int, scope.whole(statement.seed, "seed", 0, 2**63 - 1)) if statement.seed else p.DEFAULT_SEED,
        level=level,
        confidence=confidence,
        adjust=adjustment.name,
        missing=statement.missing or "error",
        interval=(statement.interval if isinstance(statement, n.Compare) else None) or "percentile",
    )


def _check_across(
    statement: n.Compare | n.Group | n.Replicate, replicates: n.Attribute | None, test: Test, adjustment: Adjustment
) -> None:
    """Whole systems change sides only where there are several of each: replicates, and by randomization."""
    place = statement.exchange.span if statement.exchange else statement.span
    if replicates is None:
        raise QueryError(
            "a system alone cannot be exchanged", place, ("replicates by system.NAME puts several together",)
        )
    if not test.exchanges or adjustment.of_family is not None:
        raise QueryError("exchange by system goes with test randomization, without adjust maxt", place)


def _check_clauses(statement: n.Compare | n.Group | n.Replicate, test: Test, adjustment: Adjustment) -> None:
    """Clauses that would change nothing, or that contradict the test, are errors."""
    if statement.shuffles is not None and test.draws is None:
        raise QueryError(
            f"test {test.name} draws no shuffles", statement.shuffles.span, (f"shuffles go with {', '.join(DRAWING)}",)
        )
    if statement.exact and not test.exchanges:
        place = statement.test.span if statement.test else statement.span
        raise QueryError(f"exact goes with {TESTS[0].name}, not with test {test.name}", place)
    conflict = test.conflict(adjustment, statement.exact)
    if statement.adjust is not None and conflict is not None:
        wrong, hint = conflict
        raise QueryError(wrong, statement.adjust.span, (hint,))


_Member = TypeVar("_Member", Test, Adjustment)


def _member(
    node: n.Name | n.Variable | None, table: Sequence[_Member], find: Callable[[str], _Member], what: str
) -> _Member:
    """The member of a table that is named, the first where none is."""
    if node is None:
        return table[0]
    text = text_of(node, node, f"the name of {'an' if what[0] in 'aeiou' else 'a'} {what}").casefold()
    try:
        return find(text)
    except KeyError:
        known = [member.name for member in table]
        raise QueryError(f"unknown {what} '{text}'", node.span, hints(text, known, f"{what}s")) from None


# --- test sets: generality, change, projection ------------------------------------------------------------------------


def _generality(statement: n.Generality, scope: Scope) -> p.GeneralityPlan:
    test_sets = _test_sets(statement.test_sets, scope)
    by = tuple(dimension_of(scope, attribute, "filtering") for attribute in statement.by)
    for dimension, node in zip(by, statement.by, strict=True):
        if dimension.of != "document":
            raise QueryError(f"generality is no matter of {dimension.of}", node.span, ("say by document.attribute",))
    return p.GeneralityPlan(to_text(statement), test_sets, by, key_filter(scope, statement.where))


def _test_sets(node: n.TestSets | None, scope: Scope) -> tuple[p.TestSet, ...]:
    return tuple(scope.planned(known) for known, _ in scope.test_sets(node))


def _change(statement: n.Change, scope: Scope) -> p.ChangePlan:
    source, target = _both(statement, scope)
    trim = scope.whole(statement.trim, "trim", 0, 10**6) or 0
    systems = len(source.contenders)
    if 2 * trim >= systems:
        place = statement.trim.span if statement.trim else statement.span
        raise QueryError(f"trim {trim} leaves nothing of {systems} systems", place)
    return p.ChangePlan(to_text(statement), source, target, filter_of(scope, statement.where, source.task), trim)


def _replicate(statement: n.Replicate, scope: Scope) -> p.ReplicatePlan:
    source, target = _both(statement, scope)
    for entry in (source, target):
        _check_tested(statement, entry, scope)
        _enough("replicate", [contender.name for contender in entry.contenders], entry, statement)
    return p.ReplicatePlan(to_text(statement), source, target, _testing(statement, (source, target), scope))


def _both(statement: n.Change | n.Replicate, scope: Scope) -> tuple[p.Entry, p.Entry]:
    """The two entries of a question from one test set to another, with the contenders that both have."""
    asked = Wanted(statement.measures, statement.task, statement.systems, statement.span)
    source, target = (
        entry_on(asked, scope, scope.test_set(node, node), node, elsewhere=True)
        for node in (statement.source, statement.target)
    )
    if source.test_set == target.test_set:
        raise QueryError(f"{source.test_set.name} is compared with itself", statement.target.span)
    if source.task != target.task:
        both = f"{source.test_set.name} has {source.task}, {target.test_set.name} {target.task}"
        raise QueryError(f"the two test sets have no task in common: {both}", statement.span, ("say of TASK",))
    names = {contender.name for contender in target.contenders}
    common = tuple(contender for contender in source.contenders if contender.name in names)
    if not common:
        raise QueryError(
            f"no system is on both {source.test_set.name} and {target.test_set.name}",
            statement.systems.span if statement.systems else statement.span,
        )
    return replace(source, contenders=common), replace(target, contenders=common)


def _project(statement: n.Project, scope: Scope) -> p.ProjectPlan:
    asked = Wanted(statement.measures, statement.task, statement.systems, statement.span)
    entry = entry_on(asked, scope, scope.test_set(statement.source, statement.source), statement.source)
    for statistic, node in zip(entry.statistics, statement.measures, strict=False):
        name = statistic.measure.name.partition("(")[0]
        of = statistic.measure.printed_as[0] if statistic.measure.printed_as else entry.task
        if of != "filtering" or name not in ("precision", "F"):
            raise QueryError(
                f"{statistic.label} of {entry.task} cannot be projected",
                node.span,
                ("precision and F of filtering can: they follow from recall, fallout and generality",),
            )
    generalities = tuple(scope.share(item, "generality", Decimal(0)) for item in statement.generalities)
    exponent = scope.number(statement.exponent, Decimal(0))
    if statement.exponent is not None and not -10 <= exponent <= 10:
        raise QueryError(f"the exponent is a number from -10 to 10, not {exponent}", statement.exponent.span)
    return p.ProjectPlan(
        to_text(statement), entry, generalities, exponent, filter_of(scope, statement.where, entry.task)
    )


def _audit(statement: n.Audit, scope: Scope) -> p.AuditPlan:
    entries = []
    for test_set, place in scope.test_sets(statement.test_sets):
        printed = scope.catalog.measures_of("published", test_set.id)
        short = scope.catalog.short_name(test_set)
        if not printed:
            raise QueryError(f"{short} has no published figures", place.span)
        if not scope.catalog.labelled(test_set.id):
            raise QueryError(f"{short} has no key labels, which an audit counts", place.span)
        measures = tuple(n.MeasureCall(name) for name in printed)
        statistics = tuple(scope.statistic(measure, "published", test_set) for measure in measures)
        named = contenders(scope, statement.systems, "published", test_set, elsewhere=True)
        entries.append(p.Entry(scope.planned(test_set), "published", statistics, named))
    return p.AuditPlan(to_text(statement), tuple(entries))

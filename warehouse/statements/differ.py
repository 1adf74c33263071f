"""`differ`: where a difference comes from, slice by slice, and whether it varies with what documents have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.comparing.notes import exchangeability_note, missing_notes, subject_of
from evalhouse.warehouse.comparing.pairs import Comparison, Pair, comparisons, count_of_pairs
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.measures import Ratio
from evalhouse.warehouse.notes import Names, Note, Subject, count
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.conditions import dimension_of, kinds_of
from evalhouse.warehouse.plans.entries import call_of
from evalhouse.warehouse.plans.labels import (
    Size,
    difference_text,
    missing_caption,
    noun_of,
    on,
    sizes,
    some,
    unit_of,
)
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Line, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.plans.testing import MOST_SHUFFLES, check_exchanged, exchanging, pairs_of, test_named
from evalhouse.warehouse.results import CellKind, Column, Result, Table, TableRows, TableSection, none_if_nan
from evalhouse.warehouse.significance.tests import EXCHANGING, OF_EQUALITY, TESTS, Test
from evalhouse.warehouse.statements import sentences

if TYPE_CHECKING:
    from evalhouse.warehouse.comparing.slices import Cut, Slices, Split

SHUFFLES = 9_999
"""How many shuffles are made by default."""

SHOWN = 30
"""This many slices of each pair are shown on screen and on paper by default."""

MOST_ROWS = 1_000_000

ROWS = (
    "test_set",
    "measure",
    "system_a",
    "system_b",
    "slice",
    "documents",
    "value_a",
    "value_b",
    "difference",
    "share",
    "p",
    "p_adjusted",
    "shrunken",
    "se",
)

SUMMARY = ("test_set", "measure", "system_a", "system_b", "attribute", "slices", "difference", "heterogeneity_p")


class DifferPlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]
    how: p.Testing
    by: tuple[p.Dimension, ...]
    numeric: frozenset[p.Dimension]
    depth: int
    limit: int | None

    @property
    def splits(self) -> tuple[Split, ...]:
        from evalhouse.warehouse.comparing.slices import Split

        return tuple(Split(dimension, dimension in self.numeric) for dimension in self.by)


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Differ, scope: Scope) -> DifferPlan:
    entries, how = pairs_of(statement, scope)
    for statistic, node in zip(entries[0].statistics, statement.measures, strict=False):
        if statistic.ordered:
            said = "compares documents with one another, so it cannot be split into slices"
            raise QueryError(f"{statistic.label} {said}", node.span)
        check_exchanged(statistic, statement.exchange)
    entries = tuple(exchanging(statement, entry, scope) for entry in entries)
    if any(entry.units.exchanges_runs for entry in entries):
        place = statement.exchange.span if statement.exchange else statement.span
        raise QueryError("slices consist of documents, but whole systems are exchanged here", place)
    by = tuple(dict.fromkeys(_attribute(node, entries, scope) for node in statement.by))
    if any(dimension.of == "unit" for dimension in by):
        entries = tuple(_sliced(statement, entry, scope) for entry in entries)
    depth = scope.whole(statement.depth, "depth", 1, 2) or 1
    if statement.depth is not None and depth > 1 and len(by) < 2:
        raise QueryError("depth 2 needs two attributes", statement.depth.span, ("write by document.X, document.Y",))
    numeric = frozenset(d for d in by if (d.of, d.attribute) in scope.catalog.numeric_attributes)
    shuffles = scope.whole(statement.shuffles, "shuffles", 1, MOST_SHUFFLES)
    seed = scope.whole(statement.seed, "seed", 0, 2**63 - 1)
    level = scope.share(statement.level, "level", p.DEFAULT_LEVEL)
    how = replace(
        how,
        test=_test(statement, entries),
        shuffles=shuffles,
        seed=p.DEFAULT_SEED if seed is None else seed,
        level=level,
    )
    limit = scope.whole(statement.limit, "limit", 1, 10**9)
    return DifferPlan(to_text(statement), entries, how, by, numeric, depth, limit)


def _test(statement: n.Differ, entries: Sequence[p.Entry]) -> Test:
    """The test that is named, which has to exchange systems; where none is, that of equality."""
    if statement.test is None:
        return OF_EQUALITY
    test = test_named(statement.test)
    if not test.exchanges:
        wrong = f"slices are tested by exchanging the two systems, which test {test.name} does not"
        raise QueryError(wrong, statement.test.span, (f"the tests that do are {EXCHANGING}",))
    for statistic in (statistic for entry in entries for statistic in entry.statistics):
        if not (test.shuffles_differences or isinstance(statistic.sums, Ratio)):
            wrong = f"{statistic.label} is not a ratio of sums, so its difference in a slice has no standard error here"
            raise QueryError(wrong, statement.test.span, (f"write test {TESTS[0].name}",))
    return test


def _attribute(node: n.Attribute, entries: Sequence[p.Entry], scope: Scope) -> p.Dimension:
    """The units, the label, or an attribute, of documents."""
    dimension, *_ = (dimension_of(scope, node, kind) for kind in kinds_of(entries))
    if dimension.of in ("label", "unit") or (dimension.of == "document" and dimension.attribute):
        return dimension
    known = [f"document.{name}" for name in scope.catalog.attributes["document"]]
    hint = f"attributes of documents: {some(known)}" if known else "load a table of documents with --as documents"
    what = "an attribute of systems" if dimension.of == "system" else "not an attribute of documents"
    raise QueryError(f"differ splits documents, and {dimension.name} is {what}", node.span, (hint,))


def _sliced(statement: n.Differ, entry: p.Entry, scope: Scope) -> p.Entry:
    """An entry that is read unit by unit. Raises QueryError where there are no units, and for a measure that is a mean
    over documents or units.
    """
    place = next(node for node in statement.by if node.of.casefold() == "unit")
    if not scope.catalog.in_units(entry.kind.name, entry.test_set.id):
        raise QueryError(f"the documents of {entry.test_set.name} have no units", place.span)
    for statistic, measure in zip(entry.statistics, statement.measures, strict=False):
        if statistic.averaged or statistic.over_units is not None:
            over = "documents" if statistic.averaged else "units"
            wrong = f"{statistic.label} is a mean over {over}, so it cannot be split by unit"
            raise QueryError(wrong, measure.span, (f"write {to_text(call_of(measure))}",))
    return replace(entry, units=replace(entry.units, sliced=not entry.units.within_documents))


def compile(plan: DifferPlan) -> Queries:
    from evalhouse.warehouse.comparing.slices import slicing_queries

    return tuple(query for entry in plan.entries for query in slicing_queries(plan.how, entry, plan.splits))


# --- answering --------------------------------------------------------------------------------------------------------


class Taken(Struct, frozen=True):
    """A difference taken apart: the comparison, the pair, the cuts and what was found in the slices of each."""

    comparison: Comparison
    pair: Pair
    entry: p.Entry
    cuts: tuple[Cut, ...]
    slices: Slices

    @property
    def systems(self) -> tuple[str, str]:
        a, b = (self.comparison.entry.systems[place].name for place in self.pair)
        return a, b


def answer(plan: DifferPlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per pair and slice; the summary has one row per pair and attribute."""
    rows, summary, notes = TableRows(ROWS), TableRows(SUMMARY), list[str]()
    ends: list[int] = []
    families: list[Taken] = []
    for taken in _take_apart(plan, facts, workforce):
        _add(plan, taken, rows)
        if len(rows.rows) > MOST_ROWS:
            raise QueryError(f"that would be more than {MOST_ROWS:,} rows", hints=("name fewer systems or measures",))
        _summarize(taken, summary)
        ends.append(len(rows.rows))
        families.append(taken)
        notes += _notes(plan, taken)
    table = rows.table(_columns(plan, families))
    measures = ", ".join(dict.fromkeys(taken.comparison.statistic.label for taken in families))
    one = families[0] if len(families) == 1 else None
    what = f"{measures} of {' − '.join(one.systems)}" if one else f"differences of {measures}"
    whole = _whole(one) if one else ""
    how = "; ".join(filter(None, (whole, _how(plan, families), missing_caption(plan.how.missing, plan.entries))))
    return result_of(
        plan.text,
        plan.entries,
        f"where {what} on {on(plan.entries)} {'comes' if one else 'come'} from",
        table,
        how=how,
        settings=_settings(plan, families),
        p_values=[p for taken in families for p in _p_values(taken.slices)],
        notes=notes,
        summary_table=summary.table(_summary_columns(plan, families)),
        sentence=sentences.of_slices(summary.table(_summary_columns(plan, families)), float(plan.how.level)),
        sections=_sections(plan, families, table, ends),
    )


def _p_values(slices: Slices) -> Iterator[float]:
    """The p of all slices that were tested, shown or not, and of whether the difference varies by each attribute."""
    yield from (float(p) for p in slices.p if p == p)
    yield from (float(p) for p in slices.heterogeneity if p is not None)


def _sections(
    plan: DifferPlan, families: Sequence[Taken], table: Table, ends: Sequence[int]
) -> tuple[TableSection, ...]:
    """One section per pair, of which a screen shows the first slices, by shorter names."""
    sections, slice_column = [], ROWS.index("slice")
    for taken, start, end in zip(families, [0, *ends], ends, strict=False):
        heading = f"{_title_of(taken)}: {_whole(taken)}" if len(families) > 1 else ""
        names = [cut.names[number] for _, cut, number in _in_order(taken)]
        rows = [
            (*row[:slice_column], name, *row[slice_column + 1 :])
            for row, name in zip(table.rows[start:end], names, strict=False)
        ]
        sections.append(TableSection(heading, tuple(rows), None if plan.limit is not None else SHOWN))
    return tuple(sections)


def _take_apart(plan: DifferPlan, facts: Facts, workforce: Workforce) -> Iterator[Taken]:
    from evalhouse.warehouse.comparing.slices import SliceRequest, cuts, exchange_units, observed_entry, slices_of

    total, done = count_of_pairs(plan.entries), 0
    shuffles = plan.how.shuffles
    how = replace(plan.how, shuffles=shuffles or SHUFFLES)
    for entry in plan.entries:
        for batch in comparisons(plan.how, observed_entry(entry), facts):
            observations = batch[0].observations
            sliced = tuple(cuts(entry, plan.splits, plan.depth, observations, facts))
            unit = exchange_units(entry, observations, facts)
            request = SliceRequest(how, sliced, unit, shuffles is None)
            pairs = [(comparison, pair) for comparison in batch for pair in comparison.pairs]
            slices = workforce.part(done, total, len(pairs)).for_each(partial(slices_of, request), pairs)
            for (comparison, pair), found in zip(pairs, slices, strict=True):
                yield Taken(comparison, pair, entry, sliced, found)
            done += len(pairs)


def _add(plan: DifferPlan, taken: Taken, rows: TableRows) -> None:
    """The slices by single attributes in their order, those by two with the least level first."""
    found = taken.slices
    for place, cut, number in _in_order(taken)[: plan.limit]:
        rows.add(
            test_set=taken.entry.test_set.name,
            measure=taken.comparison.statistic.label,
            system_a=taken.systems[0],
            system_b=taken.systems[1],
            slice=cut.said(number),
            documents=int(found.documents[place]),
            value_a=none_if_nan(found.first[place]),
            value_b=none_if_nan(found.second[place]),
            difference=none_if_nan(found.difference[place]),
            share=None if found.whole is None else float(found.contributed[place]) / found.whole + 0.0,
            p=none_if_nan(found.p[place]),
            p_adjusted=none_if_nan(found.adjusted[place]),
            shrunken=none_if_nan(found.shrunken[place]),
            se=none_if_nan(found.error[place]),
        )


def _in_order(taken: Taken) -> list[tuple[int, Cut, int]]:
    """The slices as rows: the place of each among all, its cut, and its number there."""
    found, begun = taken.slices, 0
    single: list[tuple[int, Cut, int]] = []
    both: list[tuple[int, Cut, int]] = []
    toward = -1.0 if (found.whole or 0.0) < 0 else 1.0
    for cut in taken.cuts:
        slices = [(begun + number, cut, number) for number in range(cut.partition.slices)]
        begun += cut.partition.slices
        if cut.pair:
            both += slices
        elif cut.natural:
            single += slices
        else:
            single += sorted(slices, key=lambda of: -toward * float(found.contributed[of[0]]))
    both.sort(key=lambda of: (*map(_last, (found.adjusted[of[0]], found.p[of[0]])), -abs(found.contributed[of[0]])))
    return [*single, *both]


def _last(level: float) -> float:
    """A level to sort by; what was not tested stands last."""
    return 2.0 if level != level else float(level)


def _summarize(taken: Taken, summary: TableRows) -> None:
    for cut, level in zip(taken.cuts, taken.slices.heterogeneity, strict=False):
        summary.add(
            test_set=taken.entry.test_set.name,
            measure=taken.comparison.statistic.label,
            system_a=taken.systems[0],
            system_b=taken.systems[1],
            attribute=cut.name,
            slices=cut.partition.slices,
            difference=taken.slices.whole or 0.0,
            heterogeneity_p=level,
        )


# --- what it is called ------------------------------------------------------------------------------------------------


def _title_of(taken: Taken) -> str:
    """F of GE − UMASS on TST3."""
    label = taken.comparison.statistic.label
    return f"{label} of {' − '.join(taken.systems)} on {taken.entry.test_set.name}"


def _whole(taken: Taken) -> str:
    first, second = (taken.comparison.values[place] for place in taken.pair)
    return difference_text(first, second, taken.slices.whole, taken.entry.unit)


def _how(plan: DifferPlan, families: Sequence[Taken]) -> str:
    """randomization within slices, 9,999 shuffles, 100 messages exchanged; p adjusted by max-T over 6 slices."""
    known = [
        (of.entry.test_set.name, Size.of(of.entry, of.comparison.observations.documents, of.slices.units))
        for of in families
    ]
    shuffled = _shuffles(families)
    made = f"{max(shuffled):,} shuffles" if shuffled else "exact"
    made = f"exact or {made}" if 0 < len(shuffled) < len(families) else made
    tested = [of.slices.tested for of in families]
    over = quantity(max(tested), "slice") if min(tested) == max(tested) else f"{min(tested)} to {max(tested)} slices"
    of_pairs = " of each pair" if len(families) > 1 else ""
    if not max(tested):
        return f"no slice tested; {sizes(known)}, {made}, seed {plan.how.seed}"
    seed = f", seed {plan.how.seed}" if shuffled or any(of.slices.permuted for of in families) else ""
    return (
        f"{_tests(plan, families)} within slices, {made}, {sizes(known, ' exchanged')}, two-sided; max-T-adjusted over "
        f"{over}{of_pairs}{seed}"
    )


def _tests(plan: DifferPlan, families: Sequence[Taken]) -> str:
    """studentized; or several, where only some measures are ratios."""
    from evalhouse.warehouse.comparing.slices import is_studentized

    used = [OF_EQUALITY if is_studentized(plan.how, of.comparison) else TESTS[0] for of in families]
    return " and ".join(dict.fromkeys(test.name for test in used))


def _shuffles(families: Sequence[Taken]) -> list[int]:
    return [of.slices.shuffles for of in families if of.slices.shuffles is not None]


def _settings(plan: DifferPlan, families: Sequence[Taken]) -> list[str]:
    exchanged = dict.fromkeys(entry.units.exchange.name for entry in plan.entries)
    shuffled = _shuffles(families)
    return [
        f"test {_tests(plan, families)}",
        f"shuffles {max(shuffled)}" if shuffled else "exact",
        f"exchange by {', '.join(exchanged)}",
        f"seed {plan.how.seed}",
        f"level {plan.how.level}",
        f"missing {plan.how.missing}",
    ]


def _of_pairs(families: Sequence[Taken], in_sections: bool) -> tuple[Column, ...]:
    """The columns that identify pairs; the titles of sections show them."""

    def several(names: Sequence[object]) -> bool:
        return not in_sections and len(set(names)) > 1

    return (
        Column("test_set", "name", on_screen=several([of.entry.test_set.name for of in families])),
        Column("measure", "name", on_screen=several([of.comparison.statistic.label for of in families])),
        Column("system_a", "name", "A", on_screen=several([of.systems for of in families])),
        Column("system_b", "name", "B", on_screen=several([of.systems for of in families])),
    )


def _columns(plan: DifferPlan, families: Sequence[Taken]) -> tuple[Column, ...]:
    number: CellKind = unit_of(plan.entries)
    difference: CellKind = "number" if number == "number" else "difference"
    same = {of.systems for of in families}
    a, b = same.pop() if len(same) == 1 else ("A", "B")
    return (
        *_of_pairs(families, in_sections=True),
        Column("slice", "text"),
        Column("documents", "count", plural(noun_of(plan.entries)), spare=2),
        Column("value_a", number, a, spare=3),
        Column("value_b", number, b, spare=4),
        Column("difference", difference),
        Column("share", "proportion", "share %", spare=1, on_screen=any(of.slices.whole for of in families)),
        Column("p", "probability", spare=5),
        Column("p_adjusted", "probability", "adjusted p"),
        Column("shrunken", difference),
        Column("se", difference, on_screen=False),
    )


def _summary_columns(plan: DifferPlan, families: Sequence[Taken]) -> tuple[Column, ...]:
    number = unit_of(plan.entries) == "number"
    difference: CellKind = "number" if number else "difference"
    return (
        *_of_pairs(families, in_sections=False),
        Column("attribute", "name"),
        Column("slices", "count"),
        Column("difference", difference, "whole difference", on_screen=len(families) > 1),
        Column("heterogeneity_p", "probability", "heterogeneity p"),
    )


def _notes(plan: DifferPlan, taken: Taken) -> Iterator[str]:
    """What a reader has to know."""
    entry, found = taken.entry, taken.slices
    test_set, called = entry.test_set.name, plural(entry.units.noun)
    yield from missing_notes(taken.comparison)
    for cut, within in zip(taken.cuts, found.within, strict=False):
        if cut.at:
            at = f"{', '.join(cut.at[:-1])} and {cut.at[-1]}" if len(cut.at) > 1 else cut.at[0]
            yield f"{cut.name} on {test_set} is cut at its quartiles, {at}"
        if cut.not_a_number is not None:
            yield f"{cut.name} is not cut at its quartiles: {cut.not_a_number}"
        if cut.partition.slices == 1:
            same = f"{cut.name} is the same for all {called}, so there is nothing to compare"
            yield Note(Subject(test_set), same)
        if within:
            yield (
                f"{cut.name} differs within {plural(entry.units.exchange_noun)} of {test_set}: their parts are "
                "exchanged together, and variation is tested within them"
            )
    alone = [cut.name for cut, level in zip(taken.cuts, found.heterogeneity, strict=False) if level is None]
    if alone := [cut.name for cut in taken.cuts if cut.name in alone and cut.partition.slices > 1]:
        single = f"each slice is a single {entry.units.exchange_noun}, so variation between slices cannot be told from "
        yield Note(Subject(test_set), f"{single}chance: ", Names(tuple(alone), things="attributes"))
    subject = subject_of(taken.comparison, taken.pair)
    if found.small:
        small = count(found.small, "slice", "slices")
        units = plural(entry.units.exchange_noun)
        not_tested = f" {units}, not tested since p cannot get as low as {plan.how.level}"
        yield Note(subject, small, " with fewer than ", count(found.fewest), not_tested)
    if found.otherwise:
        conditions = [cut.said(number) for cut in taken.cuts for number in range(cut.partition.slices)]
        slices = tuple(f"{conditions[place]} (p = {p:#.2g})" for place, p in found.otherwise.items())
        asks = exchangeability_note(plan.how.test, [taken.comparison.statistic.label])
        yield Note(subject, f"{asks}; test studentized decides otherwise in ", Names(slices, things="slices"))
    if found.undefined:
        yield Note(subject, "undefined in ", count(found.undefined, "slice", "slices"), ", not tested there")
    if found.whole is not None and found.cancels:
        yield Note(subject, "what favours each system nearly cancels out, so shares exceed 100")


def weigh(plan: DifferPlan, facts: Facts) -> Iterator[Line]:
    """How the slices would be made and tested."""
    for entry in plan.entries:
        units = plural(entry.units.exchange_noun)
        yield "exchange", f"{entry.test_set.name}: by {entry.units.exchange.name}, each in all its slices at once"
        yield "level", f"slices with too few {units} to reach {plan.how.level} are not tested"
    made = (
        f"{plan.how.shuffles:,} shuffles" if plan.how.shuffles else f"exact for few units, else {SHUFFLES:,} shuffles"
    )
    yield "test", f"{plan.how.test_name} within each slice ({plan.how.test.source}), {made}"
    yield "adjustment", "step-down maximum over all slices of a pair (Westfall and Young 1993)"
    yield "varies", "sum of squares between slices, the attribute permuted among the documents"
    yield "shrunken", "towards the whole difference, variance between slices by moments (DerSimonian and Laird 1986)"
    yield "seed", str(plan.how.seed)


DIFFER = Statement(
    node=n.Differ,
    usage=Usage(
        "differ MEASURE, …",
        "where a difference comes from: slices by attributes of documents, and whether it varies between them",
        "differ F for GE, UMASS on TST3 by document.source",
        of_sample=False,
        of_rows="""\
>>> r = eh.differ(rows, "accuracy", "new", "base", by="document.subject")
>>> r[0]["slice"], r[0]["documents"], round(r[0]["difference"], 4)
('document.subject = "law"', 30, 0.3333)
""",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    weigh=weigh,
)

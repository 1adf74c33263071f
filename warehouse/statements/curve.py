"""`curve`: measures at every threshold of confidence, with bands, the best threshold, and areas.

The bands hold at all thresholds at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial
from math import isnan
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.comparing.intervals import percent
from evalhouse.warehouse.kinds import FILTERING
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.measures import Statistic
from evalhouse.warehouse.measures.filtering import COLUMNS as CELLS
from evalhouse.warehouse.measures.filtering import sides
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.conditions import filter_on
from evalhouse.warehouse.plans.entries import Wanted, entries_on, refuse_runs
from evalhouse.warehouse.plans.fact_rows import dimensions
from evalhouse.warehouse.plans.labels import Size, noun_of, on, sizes, some
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Line, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.results import Cell, CellKind, Column, Result, Table, TableRows, TableSection, none_if_nan
from evalhouse.warehouse.significance.areas import LEAST
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.statements import sentences

if TYPE_CHECKING:
    from evalhouse.warehouse.comparing.curves import AreaTests, OwnDecisions
    from evalhouse.warehouse.significance.curves import Curves, Known


# === the plan =========================================================================================================

MOST_THRESHOLDS = 10_000
"""A system with more thresholds than this shows some of them by default, evenly spread."""


class CurvePlan(Struct, frozen=True):
    """The statistics of the entries are the measures asked for; the one at the place `chosen` is that which the
    threshold is to be best for.
    """

    text: str
    entries: tuple[p.Entry, ...]
    where: p.Filter | None
    chosen: int
    resamples: int
    seed: int
    level: Decimal
    limit: int | None

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return self.entries[0].statistics

    @property
    def best_for(self) -> Statistic:
        return self.statistics[self.chosen]

    @property
    def optional(self) -> str:
        """How optional documents count for areas: as in the measure whose best threshold is sought."""
        return str(self.best_for.settings.get("optional", "credit"))


class Curved(Struct, frozen=True):
    """A system with its curves."""

    entry: p.Entry
    system: OwnDecisions
    curves: Curves
    roc: Known | None

    @property
    def has_thresholds(self) -> bool:
        return not self.system.lacking


# === rows and columns =================================================================================================
# Those of the data, those that a screen shows, and those of the summary.

SHOWN = 20
"""About this many thresholds of each system are shown on screen and on paper by default."""

SAID = 3
"""For more systems than this, the numbers of shown thresholds are not listed one by one."""


class SystemRows(Struct, frozen=True):
    """The rows of a system, or of those that guess: where they begin, and which of them stand on a screen, None where
    all do.
    """

    curve: Curved | None
    begins: int
    shown: Sequence[int] | None

    @property
    def has_thresholds(self) -> bool:
        return self.curve is not None and self.curve.has_thresholds


def add_system(plan: CurvePlan, one: Curved, rows: TableRows) -> Sequence[int] | None:
    """Adds the rows of a system, and gives those of them that stand on a screen; None where all do.

    A system without confidences has one row, of its decisions.
    """
    from evalhouse.warehouse.comparing.curves import spread

    of_rows = {"test_set": one.entry.test_set.name, "system": one.system.system.name}
    thresholds, curves = one.system.thresholds, one.curves
    if not one.has_thresholds:
        values = {
            statistic.label: (known.value, known.low, known.high)
            for statistic, known in zip(plan.statistics, curves.own, strict=True)
        }
        rows.add(**of_rows, **_cells(None, thresholds.own.tolist()), **_measure_cells(values))
        return None
    best = () if curves.best is None else (curves.best.place,)
    places = spread(thresholds, plan.limit or MOST_THRESHOLDS, *best)
    at: list[float | None] = [None, *thresholds.at.tolist()]
    limits = [[part[places].tolist() for part in (band.value, band.low, band.high)] for band in curves.bands]
    for number, (place, cells) in enumerate(zip(places.tolist(), thresholds.cells[:, places].T.tolist(), strict=True)):
        values = {
            statistic.label: (of[0][number], of[1][number], of[2][number])
            for statistic, of in zip(plan.statistics, limits, strict=True)
        }
        rows.add(**of_rows, **_cells(at[place], cells), **_measure_cells(values))
    if plan.limit is not None:
        return None
    shown = set(spread(thresholds, _count_shown(plan), *best).tolist())
    return [number for number, place in enumerate(places.tolist()) if place in shown]


def _count_shown(plan: CurvePlan) -> int:
    """How many thresholds of each system stand on a screen: of many systems fewer."""
    systems = sum(len(entry.systems) for entry in plan.entries)
    return SHOWN if systems <= 2 else max(6, 2 * SHOWN // systems)


def _cells(threshold: float | None, cells: Sequence[int]) -> dict[str, Cell]:
    of = dict(zip(CELLS, cells, strict=True))
    return {"threshold": threshold, "decided": of["a"] + of["b"] + of["x"], **of}


def _measure_cells(values: dict[str, tuple[float, float, float]]) -> dict[str, Cell]:
    """The cells of measures with their limits."""
    cells: dict[str, Cell] = {}
    for label, (known, low, high) in values.items():
        cells |= {label: none_if_nan(known), f"low({label})": none_if_nan(low), f"high({label})": none_if_nan(high)}
    return cells


def add_guesses(plan: CurvePlan, entry: p.Entry, facts: Facts, rows: TableRows, summary: TableRows) -> None:
    """Adds the rows of systems that guess: what is to be expected of them."""
    from evalhouse.warehouse.comparing.curves import curve_measure, guessing_table

    nothing = float("nan")
    for baseline in entry.baselines:
        cells = guessing_table(entry, baseline, facts)
        found = [float(curve_measure(statistic).values(cells)) for statistic in plan.statistics]
        values = {
            statistic.label: (known, nothing, nothing) for statistic, known in zip(plan.statistics, found, strict=True)
        }
        whole = [int(cell) for cell in cells.tolist()] if baseline.share in (0, 1) else None
        counted_so = dict.fromkeys(("threshold", "decided", *CELLS)) if whole is None else _cells(None, whole)
        of_rows = {"test_set": entry.test_set.name, "system": baseline.name}
        rows.add(**of_rows, **counted_so, **_measure_cells(values))
        summary.add(**_summary(plan, **of_rows, own_value=none_if_nan(found[plan.chosen])))


SUMMARY = (
    "test_set",
    "system",
    "measure",
    "best_threshold",
    "best_low",
    "best_high",
    *(
        f"{what}{side}"
        for what in ("best_value", "own_value", "lost", "area_roc", "area_pr")
        for side in ("", "_low", "_high")
    ),
    "contradicting",
)


def _summary(plan: CurvePlan, **cells: Cell) -> dict[str, Cell]:
    return {**dict.fromkeys(SUMMARY), "measure": plan.best_for.label, **cells}


def summarize(plan: CurvePlan, one: Curved, summary: TableRows) -> None:
    curves, best = one.curves, one.curves.best if one.has_thresholds else None
    known: dict[str, Known | None] = {"own_value": curves.own[plan.chosen]}
    cells: dict[str, Cell] = {"test_set": one.entry.test_set.name, "system": one.system.system.name}
    if one.has_thresholds:
        known |= {"area_roc": one.roc, "area_pr": curves.area}
        cells["contradicting"] = one.system.thresholds.contradicting
    if best is not None:
        at: list[float | None] = [None, *one.system.thresholds.at.tolist()]
        # What decides more has the lower threshold.
        cells |= {"best_threshold": at[best.place], "best_low": at[best.last], "best_high": at[best.first]}
        known |= {"best_value": best.value, "lost": best.lost}
    for what, number in known.items():
        if number is not None:
            cells |= {
                what: none_if_nan(number.value),
                f"{what}_low": none_if_nan(number.low),
                f"{what}_high": none_if_nan(number.high),
            }
    summary.add(**_summary(plan, **cells))


# --- what a screen shows ----------------------------------------------------------------------------------------------


def section(plan: CurvePlan, table: Table, parts: Sequence[SystemRows]) -> tuple[TableSection, ...]:
    """What a screen shows: some thresholds of each system, those with confidences first, and how many they are."""
    ends = [*(part.begins for part in parts[1:]), len(table.rows)]
    rows: list[tuple[Cell, ...]] = []
    points: list[tuple[Cell, ...]] = []
    said = []
    for part, end in zip(parts, ends, strict=True):
        own = table.rows[part.begins : end]
        if part.curve is None or not part.curve.has_thresholds:
            points += own
            continue
        shown = own if part.shown is None else [own[number] for number in part.shown]
        rows += shown
        there = part.curve.system.thresholds.at.size + 1
        if len(shown) < there:
            name = part.curve.system.system.name
            where = f"{name} on {part.curve.entry.test_set.name}" if len(plan.entries) > 1 else name
            said.append(f"{len(shown):,} of {there:,} thresholds of {where}")
    title = ", ".join(said) if len(said) <= SAID else "some thresholds of each system"
    return (TableSection(title, (*rows, *points)),)


def _kind(statistic: Statistic) -> CellKind:
    return "number" if statistic.in_counts else "proportion"


def data_columns(plan: CurvePlan) -> tuple[Column, ...]:
    of_measures: list[Column] = []
    for statistic in plan.statistics:
        label, kind = statistic.label, _kind(statistic)
        of_measures += [
            Column(label, kind),
            Column(f"low({label})", kind, "band"),
            Column(f"high({label})", kind, upper=True),
        ]
    return (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        Column("system", "name", on_screen=any(len(entry.systems) > 1 for entry in plan.entries)),
        Column("threshold", "number"),
        Column("decided", "count", "yes", spare=1),
        *(Column(cell, "count", on_screen=False) for cell in CELLS),
        *of_measures,
    )


def summary_columns_of(plan: CurvePlan, curved: bool) -> tuple[Column, ...]:
    kind, label, interval = _kind(plan.best_for), plan.best_for.label, f"{percent(plan.level)} CI"
    difference: CellKind = "number" if kind == "number" else "difference"

    def known(what: str, kind: CellKind, heading: str, spare: int = 0, limits: int | None = None) -> Iterator[Column]:
        """A number, and its limits, on screen where they are given a place in the order of what is left out."""
        shown = curved or what == "own_value"
        yield Column(what, kind, heading, on_screen=shown, spare=spare)
        yield Column(f"{what}_low", kind, interval, on_screen=shown and limits is not None, spare=limits or 0)
        yield Column(f"{what}_high", kind, on_screen=shown and limits is not None, upper=True)

    return (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        Column("system", "name"),
        Column("measure", "name", on_screen=False),
        Column("best_threshold", "number", "best at", on_screen=curved),
        Column("best_low", "number", f"{percent(plan.level)} of resamples", on_screen=curved, spare=3),
        Column("best_high", "number", on_screen=curved, upper=True),
        *known("best_value", kind, f"best {label}"),
        *known("own_value", kind, "own" if curved else f"own {label}"),
        *known("lost", difference, "lost", 2, 4),
        *known("area_roc", "proportion", "ROC area", 1, 6),
        *known("area_pr", "proportion", "PR area", 5, 7),
        Column("contradicting", "count", on_screen=False),
    )


# === notes ============================================================================================================
# What a reader has to know, and the tests between areas.

FEW = 10
"""A best threshold among this few says nothing about its measure."""

TESTED = 3
"""The areas of so many systems have a note for every pair; more are counted."""


def notes_of(plan: CurvePlan, entry: p.Entry, found: Sequence[Curved]) -> Iterator[str]:
    """What a reader has to know."""
    from evalhouse.warehouse.significance.curves import NONRELEVANT, RELEVANT, is_flat

    test_set, units = entry.test_set.name, plural(entry.units.noun)
    drawn = [one for one in found if one.has_thresholds]
    without = [one for one in found if not one.has_thresholds]
    if silent := [one.system.system.name for one in without if one.system.lacking == len(one.system.document)]:
        have = "has no confidences, so it" if len(silent) == 1 else "have no confidences, so each"
        yield f"{test_set}: {some(silent)} {have} is a single point, with its own interval"
    for one in without:
        if (lacking := one.system.lacking) < len(one.system.document):
            yield (
                f"{test_set}: {one.system.system.name} has no confidence for {lacking:,} of "
                f"{quantity(len(one.system.document), entry.units.noun)}, so its decisions are a single point"
            )
    if absent := [s.name for s in entry.stored_systems if s.name not in {one.system.system.name for one in found}]:
        yield f"no decisions of {some(absent)} on {test_set}"
    if len({len(one.system.document) for one in found}) > 1:
        yield f"{test_set}: systems decided on different numbers of {units}; coverage lists them"
    for one in drawn:
        name, thresholds = one.system.system.name, one.system.thresholds
        if thresholds.contradicting:
            do = "does" if thresholds.contradicting == 1 else "do"
            yield (
                f"{test_set}: {quantity(thresholds.contradicting, 'decision')} of {name} {do} not fit any threshold: "
                "a 'no' has a confidence at least as high as a 'yes'"
            )
        if thresholds.at.size == 1:
            yield f"{test_set}: {name} has the same confidence for all {units}, so it can only accept all or none"
    for one in found[:1]:
        kinds = one.system.thresholds.of_kinds.sum(axis=1)
        for kind, called in ((RELEVANT, "relevant"), (NONRELEVANT, "nonrelevant")):
            if not kinds[kind]:
                yield (
                    f"{test_set}: no {entry.units.noun} is {called}, so there are no areas, and some measures are "
                    "undefined"
                )
    yield from _without_intervals(plan, test_set, drawn)
    for one in drawn:
        if is_flat(one.curves.bands[plan.chosen].value):
            yield (
                f"{test_set}: {plan.best_for.label} of {one.system.system.name} is the same at every threshold, so "
                "none is best"
            )
    if drawn and all(_at_an_end(one) for one in drawn):
        yield (
            f"{plan.best_for.label} is best where nothing, almost nothing or everything is accepted, so that "
            "threshold says little; name F first, or a utility"
        )
    if plan.limit is None and any(one.system.thresholds.at.size > MOST_THRESHOLDS for one in drawn):
        yield "only some thresholds are shown, evenly spread; limit sets how many"
    if entry.units.shared:
        yield (
            f"{test_set}: {units} of one {entry.units.exchange_noun} are treated as independent here, so bands "
            "may be too narrow"
        )


def _is_fixed(plan: CurvePlan, one: Curved) -> bool:
    """Whether there are documents enough for an interval of the ROC area, but nothing varies."""
    from evalhouse.warehouse.comparing.curves import LABELS

    kinds = one.system.thresholds.of_kinds.sum(axis=1)
    enough = all(kinds[side].sum() >= LEAST for side in sides(LABELS, plan.optional))
    return enough and one.roc is not None and isnan(one.roc.low)


def _without_intervals(plan: CurvePlan, test_set: str, drawn: Sequence[Curved]) -> Iterator[str]:
    """Which numbers have no interval since nothing varies, and which measure has no band at the ends."""
    from evalhouse.warehouse.comparing.curves import curve_measure
    from evalhouse.warehouse.significance.curves import LEAST

    fixed = [one.system.system.name for one in drawn if _is_fixed(plan, one)]
    if fixed:
        yield f"{test_set}: the ROC area of {some(fixed)} does not vary between documents, so it has no interval"
    alike = [one.system.system.name for one in drawn if one.curves.best and isnan(one.curves.best.lost.low)]
    if alike:
        are = "equal those" if len(alike) == 1 else "each equal those"
        yield (
            f"{test_set}: the decisions of {some(alike)} {are} at the best threshold here, but perhaps not on "
            "other documents, so lost has no interval"
        )
    of = [statistic.label for statistic in plan.statistics if not curve_measure(statistic).share]
    if drawn and of:
        yield f"{some(of)}: no band where fewer than {LEAST} documents are accepted, or fewer than {LEAST} rejected"


def _at_an_end(one: Curved) -> bool:
    """Whether the best threshold decides none, one of the highest confidence, or all."""
    best, places = one.curves.best, one.system.thresholds.at.size
    return best is not None and (best.place <= 1 or best.place == places) and places > FEW


def area_notes(plan: CurvePlan, entry: p.Entry, found: AreaTests) -> Iterator[str]:
    """The tests between areas under ROC curves: each where they are few, else how many differ."""
    from evalhouse.warehouse.charts import format_p

    tests = found.tests
    for first, second, difference in found.untested[:TESTED]:
        yield (
            f"{entry.test_set.name}: ROC area of {first} − {second} {100 * difference:+.2f} is the same on every "
            f"{entry.units.noun}, so DeLong cannot test it, and the adjustment leaves it out"
        )
    if len(found.untested) > TESTED:
        yield (
            f"{entry.test_set.name}: {quantity(len(found.untested) - TESTED, 'more difference of ROC areas')} "
            "cannot be "
            "tested either"
        )
    adjusted = ", Holm-adjusted" if len(tests) > 1 else ""
    if len(tests) <= TESTED:
        for test in tests:
            yield (
                f"{entry.test_set.name}: ROC area of {test.first} − {test.second} {100 * test.difference:+.2f}, "
                f"DeLong {format_p(test.adjusted)}{adjusted}"
            )
    elif tests:
        different = sum(test.adjusted <= float(plan.level) for test in tests)
        yield (
            f"{entry.test_set.name}: the ROC areas of {different:,} of {len(tests):,} pairs differ at level "
            f"{plan.level} (DeLong, Holm-adjusted); compare auc names them"
        )


# === the statement ====================================================================================================

RESAMPLES = 1000
"""How many resamples are drawn by default."""

MOST_RESAMPLES = 20_000

MOST_ROWS = 1_000_000

# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Curve, scope: Scope) -> CurvePlan:
    if statement.task is not None and scope.task(statement.task) is not FILTERING:
        raise QueryError(
            f"curve needs {FILTERING.name}: {statement.task.text} has no confidences to threshold",
            statement.task.span,
            (f"add of {FILTERING.name}",),
        )
    utility = _utility(statement, scope)
    measures = statement.measures if utility is None else (*statement.measures, utility)
    task = statement.task or n.Name(FILTERING.name, span=statement.span)
    wanted = replace(Wanted.of(statement), measures=measures, task=task)
    entries = entries_on(statement.test_sets, wanted, scope)
    refuse_runs(entries, "a curve goes through the confidences of one run", wanted.span, scope)
    for statistic, node in zip(entries[0].statistics, statement.measures, strict=False):
        if statistic.ordered:
            raise QueryError(
                f"{statistic.label} describes the whole curve and has no value at a threshold",
                node.span,
                ("the summary of every curve shows it",),
            )
        if statistic.averaged:
            said = "is taken document by document, where a threshold says next to nothing"
            raise QueryError(f"{statistic.label} {said}", node.span, (f"write {statistic.measure.name}",))
    where = filter_on(scope, statement.where, entries)
    if any(dimension.of == "confidence" for dimension in dimensions(where)):
        place = statement.where.span if statement.where else statement.span
        raise QueryError("curve already goes through all thresholds, so confidence cannot be a condition", place)
    resamples = scope.whole(statement.shuffles, "resamples", 20, MOST_RESAMPLES)
    seed = scope.whole(statement.seed, "seed", 0, 2**63 - 1)
    return CurvePlan(
        text=to_text(statement),
        entries=entries,
        where=where,
        chosen=0 if utility is None else len(entries[0].statistics) - 1,
        resamples=resamples or RESAMPLES,
        seed=p.DEFAULT_SEED if seed is None else seed,
        level=scope.share(statement.level, "level", p.DEFAULT_LEVEL),
        limit=scope.whole(statement.limit, "limit", 1, MOST_ROWS),
    )


def _utility(statement: n.Curve, scope: Scope) -> n.MeasureCall | None:
    """The utility that is asked for, as a measure; values that are left out are 0."""
    if not statement.utility:
        return None
    if len(statement.utility) > 4:
        raise QueryError("a utility has at most four values, for a, b, c and d", statement.utility[4].span)
    first = statement.measures[0]
    call = first if isinstance(first, n.MeasureCall) else first.measure
    counted_so = [argument for argument in call.parameters if argument.name.casefold() == "optional"]
    worths = [scope.number(node, Decimal(0)) for node in statement.utility]
    worths += [Decimal(0)] * (4 - len(worths))
    arguments = [
        n.Argument(cell, n.Number(worth, span=statement.utility[min(place, len(statement.utility) - 1)].span))
        for place, (cell, worth) in enumerate(zip(CELLS, worths, strict=False))
    ]
    return n.MeasureCall("utility", (*arguments, *counted_so), span=statement.utility[0].span)


def compile(plan: CurvePlan) -> Queries:
    from evalhouse.warehouse.comparing.curves import curve_queries

    return tuple(query for entry in plan.entries for query in curve_queries(entry, plan.where))


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: CurvePlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per system and threshold; the summary has one row per system."""
    from evalhouse.warehouse.comparing.curves import count_labelled

    columns = data_columns(plan)
    rows, summary = TableRows.of(columns), TableRows(SUMMARY)
    notes, p_values = list[str](), list[float]()
    known: list[tuple[str, Size]] = []
    parts: list[SystemRows] = []
    for place, entry in enumerate(plan.entries):
        found = list(_compute_curves(plan, entry, facts, workforce, place))
        documents = max((len(one.system.document) for one in found), default=0) or count_labelled(entry, facts)
        known.append((entry.test_set.name, Size.of(entry, documents)))
        for one in found:
            begun = len(rows.rows)
            shown = add_system(plan, one, rows)
            if len(rows.rows) > MOST_ROWS:
                raise QueryError(f"that would be more than {MOST_ROWS:,} rows", hints=("write limit 1000",))
            parts.append(SystemRows(one, begun, shown))
            summarize(plan, one, summary)
        parts += [SystemRows(None, len(rows.rows), None)] if entry.baselines else []
        add_guesses(plan, entry, facts, rows, summary)
        tests = _tests(plan, found, workforce)
        p_values += [test.p for test in tests.tests]
        notes += [*notes_of(plan, entry, found), *area_notes(plan, entry, tests)]
    if not rows.rows:
        raise QueryError(_why_empty(plan))
    how = (
        f"{sizes(known)}; {percent(plan.level)} bands over all thresholds, {plan.resamples:,} resamples, "
        f"seed {plan.seed}"
    )
    labels = ", ".join(statistic.label for statistic in plan.statistics)
    table = rows.table(columns)
    best = summary.table(summary_columns_of(plan, any(part.has_thresholds for part in parts)))
    return result_of(
        plan.text,
        plan.entries,
        f"{labels} at every threshold on {on(plan.entries)}",
        table,
        how=how,
        settings=(f"resamples {plan.resamples}", f"seed {plan.seed}", f"level {plan.level}"),
        p_values=p_values,
        notes=notes,
        summary_table=best,
        sections=section(plan, table, parts),
        sentence=sentences.of_curves(best),
    )


def _why_empty(plan: CurvePlan) -> str:
    if plan.where is not None:
        return "no decisions meet the condition"
    names = [entry.test_set.name for entry in plan.entries]
    have = "have" if len(names) > 1 else "has"
    return f"{some(names)} {have} no key labels for the decisions of these systems, so they cannot be judged"


def _compute_curves(
    plan: CurvePlan, entry: p.Entry, facts: Facts, workforce: Workforce, place: int
) -> Iterator[Curved]:
    from evalhouse.warehouse.comparing.curves import CurveRequest, curve_measure, curves_of, own_decisions

    measures = [curve_measure(statistic) for statistic in entry.statistics]
    draws = Draws(plan.resamples, plan.seed, entry.test_set.stream)
    request = CurveRequest(measures, plan.chosen, draws, float(plan.level), plan.optional)
    systems = own_decisions(entry, facts)
    found = workforce.part(place, len(plan.entries)).for_each(partial(curves_of, request), systems)
    for system, (curves, roc) in zip(systems, found, strict=True):
        yield Curved(entry, system, curves, roc)


def _tests(plan: CurvePlan, found: Sequence[Curved], workforce: Workforce) -> AreaTests:
    from evalhouse.warehouse.comparing.curves import area_tests

    return area_tests([one.system for one in found], plan.optional, workforce)


def subject(entry: p.Entry) -> str:
    names = ", ".join(system.name for system in entry.systems)
    labels = ", ".join(statistic.label for statistic in entry.statistics)
    return f"{labels} at every threshold of {names} on {entry.test_set.name}"


def weigh(plan: CurvePlan, facts: Facts) -> Iterator[Line]:
    """How bands and areas would be computed."""
    from evalhouse.warehouse.comparing.curves import own_decisions
    from evalhouse.warehouse.significance.curves import GRID

    for entry in plan.entries:
        for system in own_decisions(entry, facts):
            name = f"{system.system.name} on {entry.test_set.name}"
            if system.lacking:
                yield "thresholds", f"{name}: none, its decisions are a single point"
                continue
            many = system.thresholds.at.size
            at = f", resampled at about {GRID}" if many >= GRID else ""
            yield "thresholds", f"{name}: {many:,}{at}"
    units = plural(noun_of(plan.entries))
    yield "bands", f"sup-t over thresholds, {plan.resamples:,} resamples of {units}; of shares Wilson's interval"
    yield "best", f"{plan.best_for.label}; its interval comes from the best thresholds of the resamples"
    yield "areas", "ROC by DeLong, DeLong and Clarke-Pearson 1988; precision and recall by Davis and Goadrich 2006"
    yield "seed", str(plan.seed)


CURVE = Statement(
    node=n.Curve,
    usage=Usage(
        "curve MEASURE, …",
        "measures at every confidence threshold with bands, the best threshold, and areas",
        "curve precision, recall of filtering for GE, UMASS on TST3 utility 2, -1",
    ),
    of_one_table=False,
    resolve=resolve,
    compile=compile,
    answer=answer,
    subject=subject,
    weigh=weigh,
)

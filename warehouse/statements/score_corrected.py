"""`score` with intervals, and `score M corrected by JUDGE` (PPI++)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import hints, listing
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.comparing.intervals import (
    RESAMPLES,
    Interval,
    OwnIntervals,
    interval_heading,
    own_interval_queries,
)
from evalhouse.warehouse.comparing.lacking import Unlike, unlike_notes
from evalhouse.warehouse.comparing.notes import interval_notes
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.measures import Ratio, Statistic
from evalhouse.warehouse.notes import Note, Subject
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import scores
from evalhouse.warehouse.plans.conditions import dimension_of
from evalhouse.warehouse.plans.fact_rows import dimensions
from evalhouse.warehouse.plans.labels import noun_of, on, some, unit_of
from evalhouse.warehouse.plans.names import Scope, matching
from evalhouse.warehouse.plans.path import Facts, Queries, Query
from evalhouse.warehouse.plans.testing import interval_of
from evalhouse.warehouse.results import Cell, CellKind, Column, Result, Table, TableRows
from evalhouse.warehouse.significance.draws import Draws

if TYPE_CHECKING:
    from evalhouse.warehouse.significance.prediction_powered import Corrected, Counts


# === intervals of score ===============================================================================================
# How they are asked for, their columns, and the notes on them.


def resampling_of(statement: n.Score, where: p.Filter | None, scope: Scope) -> p.Testing:
    """How the values of a question are resampled, for intervals and for pictures."""
    _check_interval_clauses(statement)
    plain = p.Testing.plain(where)
    return replace(
        plain,
        level=scope.share(statement.level, "level", plain.level),
        seed=_seed(statement, scope, plain),
        interval=interval_of(statement),
    )


def _seed(statement: n.Score, scope: Scope, plain: p.Testing) -> int:
    return cast(int, scope.whole(statement.seed, "seed", 0, 2**63 - 1)) if statement.seed else plain.seed


def resampled_entries(statement: n.Score | n.Spread, entries: tuple[p.Entry, ...], scope: Scope) -> tuple[p.Entry, ...]:
    """The entries with what is resampled as a whole, where the question says it."""
    if isinstance(statement, n.Score):
        _check_interval_of_runs(statement, entries)
    if statement.exchange is None:
        return entries
    exchange = dimension_of(scope, statement.exchange, entries[0].kind)
    _check_exchanged(exchange, entries, statement.exchange)
    return tuple(entry.exchange_by(exchange) for entry in entries)


def _check_interval_clauses(statement: n.Score) -> None:
    """Raises QueryError for clauses without effect, and for values that have no interval."""
    if statement.interval is None:
        for word, clause in (("exchange", statement.exchange), ("seed", statement.seed), ("level", statement.level)):
            if clause is not None:
                raise QueryError(f"{word} has no effect on score without interval", clause.span, ("add interval",))
        return
    if statement.by:
        hint = 'use where for each part, for example where document.source = "radio"'
        raise QueryError("score has no intervals with by", statement.by[0].span, (hint,))
    if statement.standardized:
        raise QueryError("standardized values have no intervals", statement.span, ("leave out one of the two",))


def _check_interval_of_runs(statement: n.Score, entries: Sequence[p.Entry]) -> None:
    """Raises QueryError for an interval that would not allow for how much runs vary."""
    if statement.interval in (None, n.INTERVAL_WORDS[0]) or all(entry.units.averaged is None for entry in entries):
        return
    called = "several runs" if statement.replicates is None else "replicates"
    said = f"with {called} an interval must be {n.INTERVAL_WORDS[0]}: its standard error covers documents and "
    place = statement.span if statement.replicates is None else statement.replicates.span
    hint = ("write runs apart for each run by itself",) if statement.replicates is None else ()
    raise QueryError(f"{said}{'runs' if statement.replicates is None else 'replicates'}", place, hint)


def _check_exchanged(exchange: p.Dimension, entries: Sequence[p.Entry], node: n.Attribute) -> None:
    if exchange.of not in ("document", "unit"):
        hints = ("write document, unit or document.attribute",)
        raise QueryError(f"{exchange.name} cannot be resampled", node.span, hints)
    means = [statistic.label for entry in entries for statistic in entry.statistics if statistic.averaged]
    if exchange.of == "unit" and means:
        raise QueryError(f"{means[0]} is a mean over documents, so units cannot be resampled", node.span)


def interval_queries(how: p.Testing, entries: Sequence[p.Entry]) -> Queries:
    """What brings the intervals of some entries."""
    return tuple(query for entry in entries for query in own_interval_queries(how, entry))


# --- columns and cells ------------------------------------------------------------------------------------------------


def interval_columns(label: str, kind: CellKind, how: p.Testing) -> tuple[Column, ...]:
    """The columns beside those of a measure."""
    return (
        Column(f"se({label})", kind, on_screen=False),
        Column(f"ci_low({label})", kind, interval_heading(how.level)),
        Column(f"ci_high({label})", kind, "to", upper=True),
    )


def interval_cells(place: int, interval: Interval | None) -> dict[str, Cell]:
    """The cells beside those of the measure at that place; `interval_names` is what they are called."""
    cells = (None, None, None) if interval is None else (interval.error, interval.low, interval.high)
    return dict(zip(interval_names(place), cells, strict=True))


def interval_names(place: int) -> tuple[str, str, str]:
    """What the cells of an interval are called among rows."""
    return f"se of value {place}", f"low of value {place}", f"high of value {place}"


# --- what they are called, and notes ----------------------------------------------------------------------------------


def interval_caption(how: p.Testing, entries: Sequence[p.Entry], spreads: Sequence[OwnIntervals]) -> str:
    """95% CI studentized over documents, 2,000 resamples, seed 1992."""
    drawn = max((interval.resamples for spread in spreads for interval in spread.intervals.values()), default=0)
    resamples = f", {drawn:,} resamples, seed {how.seed}" if drawn else ""
    units = " or ".join(dict.fromkeys(plural(entry.units.exchange_noun) for entry in entries))
    kinds = dict.fromkeys(
        interval.kind or how.interval.name for spread in spreads for interval in spread.intervals.values()
    )
    return f"{interval_heading(how.level)} {' and '.join(kinds) or how.interval.name} over {units}{resamples}"


def score_interval_notes(entry: p.Entry, spread: OwnIntervals) -> Iterator[str]:
    """What the intervals of an entry leave out, and who has none."""
    same = "the value is the same in every resample"
    for statistic in entry.statistics:
        own = {name: interval for (label, name), interval in spread.intervals.items() if label == statistic.label}
        yield from interval_notes(Subject(entry.test_set.name, statistic.label), own, same)
        if why := _why_none(statistic, entry):
            yield Note(Subject(entry.test_set.name, statistic.label), f"no interval: {why}")
    if entry.baselines:
        yield f"expected values have no interval: {some([baseline.name for baseline in entry.baselines])}"


def _why_none(statistic: Statistic, entry: p.Entry) -> str:
    """Why no system has an interval; empty where systems may."""
    if not entry.kind.by_document:
        return f"{entry.kind.rows} have no documents to resample"
    if not statistic.resampled:
        return "it comes from an order of the documents, not from sums over them"
    if statistic.one_by_one and entry.units.averaged is not None:
        return "a mean over documents of averaged replicates cannot be split by replicate"
    return ""


# === corrected scores =================================================================================================
# What a judge says of all documents, corrected by what people say of some (PPI++). For values the judge is a measure,
# beside that of the people; for filtering it is an annotator, beside the key.

APART = 3.3
"""A random sample differs from the rest by this many standard errors once in a thousand."""

CORRECTED_EXECUTOR = (
    "documents one by one from the database; PPI++ weighs the judge by λ, estimated from the labelled documents; the "
    "interval is by the standard error and Student's t, or by a bootstrap-t where the values are skewed"
)
"""What `explain` says of how it is computed."""


class CorrectedPlan(Struct, frozen=True):
    """`judges` is the measure or the annotator that the judge is on each test set, as it is stored. There is always an
    interval; `interval` says that it was asked for, so that `expect` looks at its limits.
    """

    text: str
    entries: tuple[p.Entry, ...]
    judges: tuple[str, ...]
    how: p.Testing
    order: str
    descending: bool
    limit: int | None = None
    by: tuple[p.Dimension, ...] = ()
    interval: bool = False
    standardized: bool = False

    def column_labels(self) -> list[str]:
        """What the column of values is called."""
        return [self.entries[0].statistics[0].label]


# --- resolving --------------------------------------------------------------------------------------------------------


def corrected_plan(
    statement: n.Score,
    scope: Scope,
    entries: tuple[p.Entry, ...],
    where: p.Filter | None,
    order: str,
    descending: bool,
) -> CorrectedPlan:
    """The plan of a score whose measures and systems were looked up."""
    _check_clauses(statement)
    judges = []
    for entry in entries:
        _check_entry(entry, statement, where)
        judges.append(_judge(entry, statement, scope))
    plain = p.Testing.plain(where)
    return CorrectedPlan(
        text=to_text(statement),
        entries=entries,
        judges=tuple(judges),
        how=replace(
            plain, level=scope.share(statement.level, "level", plain.level), seed=_seed(statement, scope, plain)
        ),
        order=order,
        descending=descending,
        limit=scope.whole(statement.limit, "limit", 1, 10**9),
        interval=statement.interval is not None,
    )


def _check_clauses(statement: n.Score) -> None:
    if len(statement.measures) > 1:
        raise QueryError("a judge corrects one measure", statement.measures[1].span, ("ask for each by itself",))
    places = {
        "by": (bool(statement.by), "ask for each part by itself, with where"),
        "replicates": (statement.replicates is not None, "name the runs"),
        "standardized": (statement.standardized, "leave it out"),
        "missing": (statement.missing is not None, "leave it out"),
        f"interval {statement.interval}": (
            statement.interval not in (None, n.INTERVAL_WORDS[0]),
            "write interval alone: it uses the standard error, and Student's t or a bootstrap-t",
        ),
    }
    for word, (given, hint) in places.items():
        if given:
            raise QueryError(f"corrected by cannot be combined with {word}", statement.corrected.span, (hint,))  # type: ignore[union-attr]


def _check_entry(entry: p.Entry, statement: n.Score, where: p.Filter | None) -> None:
    """What a judge can correct: means of values, and ratios of filtering."""
    statistic, node = entry.statistics[0], statement.measures[0]
    if len(entry.statistics) > 1:
        wrong = f"a judge corrects one measure, but {to_text(node)} stands for {len(entry.statistics)}"
        raise QueryError(wrong, node.span, ("ask for one of them: optional=excluded",))
    if not (entry.kind.by_measure or entry.kind.has_key):
        kinds = ("it corrects imported values and measures of filtering",)
        raise QueryError(f"corrected by does not work for {entry.kind.rows}", node.span, kinds)
    if entry.kind.has_key and (statistic.averaged or not isinstance(statistic.computation, Ratio)):
        hint = ("write accuracy, precision, recall, fallout or F",)
        raise QueryError(f"{statistic.label} is not a ratio of sums, so it cannot be corrected", node.span, hint)
    if entry.baselines:
        raise QueryError(f"{entry.baselines[0].name} is computed from the key and has no judge", statement.span)
    unknown = [of.name for of in dimensions(where) if of.of in ("label", "confidence")]
    if entry.kind.has_key and unknown and statement.where is not None:
        hint = ("select by attributes of documents or systems",)
        raise QueryError(f"unlabelled documents have no {unknown[0]} to select by", statement.where.span, hint)
    if entry.units.within_documents and statement.exchange is not None:
        raise QueryError("people and judges label documents, not units", statement.exchange.span)


def _judge(entry: p.Entry, statement: n.Score, scope: Scope) -> str:
    """The measure or the annotator of that name. Raises QueryError where there is none."""
    node = statement.corrected
    if not isinstance(node, n.Name):
        raise QueryError("a name is needed here", node.span if node else statement.span)
    if entry.kind.has_key:
        known, what = scope.catalog.annotators(entry.test_set.id), "annotator"
    else:
        known, what = scope.catalog.measures_of(entry.kind.name, entry.test_set.id), "measure"
    spelt = matching(node.text, [(name, name) for name in known])
    if not spelt:
        nobody = "there are only labels of the key" if entry.kind.has_key else "there are no values"
        said = hints(node.text, known, f"{what}s") if known else (nobody,)
        raise QueryError(f"unknown {what} '{node.text}' on {entry.test_set.name}", node.span, said)
    if spelt[0] == entry.statistics[0].measure.name and not entry.kind.has_key:
        others = listing([name for name in known if name != spelt[0]], "measures")
        raise QueryError(f"{spelt[0]} cannot correct itself", node.span, others)
    return spelt[0]


# --- compiling --------------------------------------------------------------------------------------------------------


def corrected_queries(plan: CorrectedPlan) -> Queries:
    """What people, judge and systems say of each document."""
    queries: list[Query] = []
    for entry, judge in zip(plan.entries, plan.judges, strict=True):
        split = entry.units.shared
        if entry.kind.has_key:
            queries.append(Query(_name("decisions", entry), scores.decision_rows(entry, split, plan.how.where)))
            queries.append(Query(_name("labels", entry), scores.annotator_labels(entry, judge)))
        else:
            both = replace(entry, statistics=(entry.statistics[0], _rename_measure(entry.statistics[0], judge)))
            queries.append(Query(_name("values", entry), scores.values_one_by_one(both, split, plan.how.where)))
    return tuple(queries)


def _rename_measure(statistic: Statistic, judge: str) -> Statistic:
    """The same of a measure of another name."""
    return replace(statistic, label=judge, measure=replace(statistic.measure, name=judge))


def _name(what: str, entry: p.Entry) -> str:
    return f"{what} on {entry.test_set.name!r}"


# --- what was said of documents ---------------------------------------------------------------------------------------


class JudgedDocuments(Struct, frozen=True):
    """What was said of the documents of a system: numerators and denominators by people and by the judge, of shape
    (documents,), and who said anything. `unit` numbers what is drawn together, None where that is each document.
    """

    people: tuple[NDArray[np.float64], NDArray[np.float64]]
    judge: tuple[NDArray[np.float64], NDArray[np.float64]]
    labelled: NDArray[np.bool_]
    judged: NDArray[np.bool_]
    unit: NDArray[np.intp] | None

    @property
    def right_or_wrong(self) -> bool:
        """Whether people say 0 or 1 of each document, and nothing between."""
        return set(self.people[0][self.labelled].tolist()) <= {0.0, 1.0}


SaidOfDocument = tuple[str, Any, Any, Any]
"""The name of a document, what people and the judge say of it, None where nothing, and what it is drawn with."""


def _documents(entry: p.Entry, judge: str, facts: Facts) -> dict[int, list[SaidOfDocument]]:
    """The documents of each system, by its number."""
    if entry.kind.has_key:
        labels: dict[bool, dict[str, str]] = {True: {}, False: {}}
        for document, label, by_judge in facts[_name("labels", entry)]:
            labels[bool(by_judge)][str(document)] = str(label)
        decided: dict[int, list[SaidOfDocument]] = {}
        for number, document, decision, *unit in facts[_name("decisions", entry)]:
            said = (
                None if (label := labels[by].get(str(document))) is None else _CELLS[bool(decision)][label]
                for by in (False, True)
            )
            decided.setdefault(number, []).append((str(document), *said, unit[0] if unit else None))  # type: ignore[arg-type]
        return decided
    own = entry.statistics[0].measure.name
    values: dict[int, dict[str, list[Any]]] = {}
    for number, document, measure, one, *unit in facts[_name("values", entry)]:
        row = values.setdefault(number, {}).setdefault(str(document), [None, None, unit[0] if unit else None])
        row[0 if measure == own else 1] = one
    return {number: [(name, *row) for name, row in of.items()] for number, of in values.items()}


_CELLS = {
    True: {"relevant": "a", "nonrelevant": "b", "optional": "x"},
    False: {"relevant": "c", "nonrelevant": "d", "optional": "y"},
}
"""The cell of a contingency table that a decision on a document of this label falls into."""


def _judged_documents(entry: p.Entry, documents: list[SaidOfDocument]) -> JudgedDocuments:
    """The arrays of a system, in the order of the names of documents."""
    in_order = sorted(documents, key=lambda document: document[0])
    given = [[document[side] for document in in_order] for side in (1, 2)]
    unit = None
    if entry.units.shared:
        shared = [(True, str(of)) if of is not None else (False, name) for name, _, _, of in in_order]
        numbers = {of: number for number, of in enumerate(sorted(set(shared)))}
        unit = np.array([numbers[of] for of in shared], dtype=np.intp)
    people, judge = (_sides(entry.statistics[0], cells) for cells in given)
    labelled, judged = (np.array([cell is not None for cell in cells], dtype=np.bool_) for cells in given)
    return JudgedDocuments(people, judge, labelled, judged, unit)


def _sides(statistic: Statistic, cells: Sequence[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Numerator and denominator of each document, 0 where nothing is said of it."""
    ratio = statistic.computation
    if not any(isinstance(cell, str) for cell in cells) or not isinstance(ratio, Ratio):
        known = np.array([0.0 if cell is None else float(cell) for cell in cells])
        return known, np.array([cell is not None for cell in cells], dtype=np.float64)
    over, under = ({column: float(by) for column, by in form} for form in ratio.forms)
    numerators = np.array([float(ratio.factor) * over.get(cell, 0.0) for cell in cells])
    return numerators, np.array([under.get(cell, 0.0) for cell in cells])


def _correct_value(said: JudgedDocuments) -> Corrected:
    """The value over the documents that the judge has seen."""
    from evalhouse.warehouse.significance.prediction_powered import correct_mean

    kept = said.judged
    people, judge = ((over[kept], under[kept]) for over, under in (said.people, said.judge))
    return correct_mean(people, judge, said.labelled[kept], None if said.unit is None else said.unit[kept])


# --- answering --------------------------------------------------------------------------------------------------------


def corrected_answer(plan: CorrectedPlan, facts: Facts) -> Result:
    """One row per test set and system."""
    columns = _columns(plan)
    names = ("value", "se", "ci_low", "ci_high")
    rows = TableRows(["test_set", "task", "system", *names, *(column.name for column in columns[7:])])
    notes: list[str] = []
    uneven: set[tuple[str, str]] = set()
    intervals: list[Corrected] = []
    for entry, judge in zip(plan.entries, plan.judges, strict=True):
        documents = _documents(entry, judge, facts)
        found = []
        for system in entry.stored_systems:
            said = _judged_documents(entry, documents.get(system.id, []))
            found.append((system.name, said, _correct_value(said)))
        intervals += [of for _, _, of in found]
        notes += _notes(plan, entry, judge, found)
        if on_unlike := _unlike(entry, documents):
            notes += unlike_notes(entry, [on_unlike], ways=False)
            uneven.add((entry.test_set.name, on_unlike.label))
        found.sort(key=lambda one: one[0], reverse=plan.order == "system" and plan.descending)
        if plan.order != "system":
            found.sort(key=lambda one: _rank(one[2].value, plan.descending))
        for name, said, of in found[: plan.limit]:
            cells = _cells(plan, entry, said, of)
            rows.add(test_set=entry.test_set.name, task=entry.kind.name, system=name, **cells)
    judges = ", ".join(dict.fromkeys(plan.judges))
    label = plan.column_labels()[0]
    how = f"PPI++, {_heading(plan)} {_method(plan, intervals)}"
    if any(entry.units.shared for entry in plan.entries):
        nouns = dict.fromkeys(plural(entry.units.exchange_noun) for entry in plan.entries)
        how += f", {' or '.join(nouns)} drawn as a whole"
    what = f"{label} corrected by {judges} on {on(plan.entries)}"
    table = Table(columns, tuple(rows.rows))
    return result_of(plan.text, plan.entries, what, table, how=how, notes=notes, uneven=frozenset(uneven))


def _unlike(entry: p.Entry, documents: Mapping[int, Sequence[SaidOfDocument]]) -> Unlike | None:
    """Whether the judge saw the same documents of each system that it saw any of."""
    judged = {
        system.name: {name for name, _, by_judge, _ in documents.get(system.id, ()) if by_judge is not None}
        for system in entry.stored_systems
    }
    if len({frozenset(names) for names in judged.values() if names}) < 2:
        return None
    return Unlike(entry.statistics[0].label, tuple((name, len(names)) for name, names in judged.items()))


def _rank(value: float | None, descending: bool) -> tuple[bool, float]:
    return value is None, 0.0 if value is None else -value if descending else value


def _heading(plan: CorrectedPlan) -> str:
    return interval_heading(plan.how.level)


def _draws(plan: CorrectedPlan) -> Draws:
    """The resamples of a bootstrap-t. They are the same on all test sets, which are never compared."""
    return Draws(RESAMPLES, plan.how.seed)


def _limits(plan: CorrectedPlan, of: Corrected) -> tuple[float, float] | None:
    return of.limits(float(plan.how.level), _draws(plan))


def _method(plan: CorrectedPlan, values: Sequence[Corrected]) -> str:
    """How the intervals of these values were found."""
    given = [of for of in values if _limits(plan, of) is not None]
    resampled = sum(of.is_resampled(float(plan.how.level), _draws(plan)) for of in given)
    if not resampled:
        return "by Student's t"
    some = "" if resampled == len(given) else f"by Student's t, or where values are skewed (here {resampled}) "
    return f"{some}by bootstrap-t, {RESAMPLES:,} resamples, seed {plan.how.seed}"


def _columns(plan: CorrectedPlan) -> tuple[Column, ...]:
    label = plan.column_labels()[0]
    kind: CellKind = unit_of(plan.entries)
    noun = noun_of(plan.entries)
    return (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        Column("task", "text", on_screen=False),
        Column("system", "name"),
        Column(label, kind),
        Column(f"se({label})", kind, on_screen=False),
        Column(f"ci_low({label})", kind, _heading(plan)),
        Column(f"ci_high({label})", kind, "to", upper=True),
        Column("lambda", "number", "λ", spare=3),
        Column("labelled", "count", f"{plural(noun)}\nlabelled"),
        Column("judged", "count"),
        Column("effective", "count", "effective\nn", spare=1),
        Column("people", kind, "people\nalone"),
        Column("se_people", kind, on_screen=False),
        Column("judge", kind, "judge\nalone", spare=2),
    )


def _cells(plan: CorrectedPlan, entry: p.Entry, said: JudgedDocuments, of: Corrected) -> dict[str, Cell]:
    """The cells of a row; no standard error where it gives no interval, and no limit beyond what the measure can be,
    for imported values 0 and 1 where people say no other."""
    limits = _limits(plan, of)
    shares = (0.0, 1.0) if said.right_or_wrong else (float("-inf"), float("inf"))
    lowest, highest = entry.statistics[0].measure.within or shares
    low, high = (None, None) if limits is None else (max(limits[0], lowest), min(limits[1], highest))
    return {
        "value": of.value,
        "se": None if limits is None else of.error,
        "ci_low": low,
        "ci_high": high,
        "lambda": of.weight if of.value is not None else None,
        "labelled": of.labelled,
        "judged": of.judged,
        "effective": None if of.effective is None else round(of.effective),
        "people": of.people,
        "se_people": of.people_error,
        "judge": of.judge,
    }


# --- notes ------------------------------------------------------------------------------------------------------------


def _notes(
    plan: CorrectedPlan, entry: p.Entry, judge: str, found: Sequence[tuple[str, JudgedDocuments, Corrected]]
) -> Iterator[str]:
    """What a reader has to know."""
    for name, said, of in found:
        where = f"{name} on {entry.test_set.name}"
        unseen = int((said.labelled & ~said.judged).sum())
        if unseen and entry.kind.by_measure and said.labelled.sum() > said.judged.sum() > 0:
            people = entry.statistics[0].label
            yield (
                f"{where}: {judge} has values for {quantity(int(said.judged.sum()), entry.units.noun)}, and {people} "
                f"for {int(said.labelled.sum()):,}; if {people} is the judge, write score {judge} … "
                f"corrected by {people}"
            )
            continue
        if unseen:
            yield f"{where}: {quantity(unseen, entry.units.noun)} labelled by people but not by {judge} left out"
        for reason, holds in _doubts(entry, judge, of).items():
            if holds:
                yield f"{where}: {reason}"
                break
        if _limits(plan, of) is not None and not of.exact and (why := _too_little(entry, judge, of)):
            yield f"{where}: {why}, so the interval may miss the true value too often"
        if abs(of.apart) > APART:
            yield (
                f"{where}: {judge} scores what people labelled differently from the rest ({of.apart:+.1f} standard "
                "errors), but the correction assumes a random sample"
            )


def _doubts(entry: p.Entry, judge: str, of: Corrected) -> Mapping[str, bool]:
    """What is wrong with a value, the gravest first; only the first that holds is noted."""
    units = plural(entry.units.noun)
    labelled = quantity(of.labelled, f"labelled {entry.units.noun}")
    return {
        f"no {entry.units.noun} is labelled by people and judged by {judge}": of.labelled == 0,
        f"undefined on the {quantity(of.labelled, entry.units.noun)} that people labelled": of.people is None,
        f"undefined: the correction by {judge} brings the denominator to 0 or below": of.value is None,
        f"every {entry.units.noun} that {judge} judged is labelled by people too, so there is nothing to correct": (
            of.judged == of.labelled
        ),
        f"{labelled} {'is' if of.labelled == 1 else 'are'} too few for an interval": of.error is None,
        f"the labelled {units} do not vary, so there is no interval": not of.error,
        f"{judge} is not positively correlated with people on the labelled {units}, so it does not help": of.weight
        == 0,
        f"{judge} is right on all {labelled}, too few to tell how often it is wrong, so "
        "there is no interval": of.unseen,
        f"{judge} is right on all {labelled}; the interval does not cover how rarely it is wrong": of.exact,
        f"λ is capped at 1 and would be {of.unlimited:.2f}: {judge} uses a smaller scale": of.unlimited > 1.2,
    }


def _too_little(entry: p.Entry, judge: str, of: Corrected) -> str:
    """The first reason why an interval may be too narrow; empty if there is none."""
    shown = of.shown
    if shown is None or not shown.too_little:
        return ""
    labelled = quantity(of.labelled, f"labelled {entry.units.noun}")
    if shown.few_units and shown.units == of.labelled:
        return f"{labelled} are few"
    if shown.few_units:
        return f"the {labelled} come from only {quantity(shown.units, entry.units.exchange_noun)}"
    if shown.counts is not None:
        return f"of {labelled} only {_rarest(shown.counts, judge, mistakes=shown.few_mistakes)}"
    people = entry.statistics[0].label
    of_whom = (people, f"what {judge} leaves of {people}", judge)
    whose, shape = next(
        (whose, shape) for whose, shape, has in zip(of_whom, shown.shapes, shown.tails, strict=True) if has
    )
    units = plural(entry.units.exchange_noun if entry.units.shared else entry.units.noun)
    return f"{whose} has a long tail: {shape.most:,} of {shape.units:,} {units} make up half of the variance"


def _rarest(counts: Counts, judge: str, mistakes: bool) -> str:
    """What so few documents show that an interval may be too narrow."""
    shown = [(counts.right, "counts as right", "count as right"), (counts.wrong, "counts as wrong", "count as wrong")]
    if mistakes and counts.mistakes is not None:
        shown.append((counts.mistakes, f"shows a mistake of {judge}", f"show a mistake of {judge}"))
    number, one, many = min(shown)
    return f"{number} {one if number == 1 else many}"

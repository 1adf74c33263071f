"""`confusion`, or `show confusion`: how often each system answered each class for each class of the key. The answers
are classes, one for each document, or decisions, which are the two classes yes and no.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.kinds import EXTRACTION, FILTERING
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.loading.staging.cells import is_number
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import scores
from evalhouse.warehouse.plans.conditions import filter_on
from evalhouse.warehouse.plans.entries import Wanted, are_named, entries_on, passing_over
from evalhouse.warehouse.plans.fact_rows import dimensions
from evalhouse.warehouse.plans.labels import noun_of, on, some
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Queries, Query, Statement, Usage, Workforce
from evalhouse.warehouse.results import Cell, Column, Matrix, Result, Table, TableRows, TableSection
from evalhouse.warehouse.statements import sentences
from evalhouse.warehouse.store.sql import Sql

COLUMNS = ("test_set", "system", "gold", "answer", "documents", "share_of_gold")

ABSENT = "no answer"
"""What stands above the documents for which a system answered no class."""

DECISIONS: Mapping[Cell, str] = {"relevant": "yes", "nonrelevant": "no", "optional": "optional"}
"""What the labels of a key are called beside decisions. If a document is optional, both decisions are right."""

MOST_CLASSES = 100
"""With more classes than this, there are rows only for pairs of classes that occur."""

DRAWN_CLASSES = 20
"""With more classes than this, people read the commonest confusions in place of matrices."""

SHOWN = 20
"""How many of these a screen or paper shows."""

Pair = tuple[Cell, Cell]
Counts = Mapping[Pair, float]


class ConfusionPlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]
    where: p.Filter | None
    limit: int | None = None
    """How many of the wrong answers of each system are wanted, the commonest first; None where everything is."""


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Confusion, scope: Scope) -> ConfusionPlan:
    wanted = Wanted(
        (),
        statement.task,
        statement.systems,
        statement.span,
        runs_apart=statement.runs_apart,
        where=statement.where,
        of_classes=True,
    )
    entries = entries_on(statement.test_sets, wanted, scope)
    if not are_named(statement.test_sets):
        # Asked of all test sets, the question is meant for those that can answer it.
        entries = passing_over(entries, [entry for entry in entries if _has_pairs(entry, scope)] or entries)
    for entry in entries:
        _check(statement, entry, scope)
    where = filter_on(scope, statement.where, entries)
    if statement.where is not None and any(dimension.of == "unit" for dimension in dimensions(where)):
        # A document would lose its class, or its answer, and not leave.
        raise QueryError(
            "a matrix has all classes", statement.where.span, ("write a condition on documents or systems",)
        )
    limit = scope.whole(statement.limit, "limit", 1, 10**9)
    return ConfusionPlan(to_text(statement), entries, where, limit)


def _has_pairs(entry: p.Entry, scope: Scope) -> bool:
    """Whether each document has one class in the key and at most one answer."""
    return entry.kind is FILTERING or (entry.kind is EXTRACTION and scope.catalog.labels_of(entry.test_set.id) == "one")


def _check(statement: n.Confusion, entry: p.Entry, scope: Scope) -> None:
    """Raises QueryError for documents that have no class or several, and for systems that answered nothing."""
    place = statement.task.span if statement.task else statement.span
    if not _has_pairs(entry, scope):
        if entry.kind is EXTRACTION and scope.catalog.labels_of(entry.test_set.id):
            several = (
                f"documents of {entry.test_set.name} have several classes, so none is answered in place of another"
            )
            hint = f"write score precision, recall, F1, support on {entry.test_set.name} by unit"
            raise QueryError(several, place, (hint,))
        wrong = f"{entry.kind.rows} of {entry.test_set.name} are not of classes"
        raise QueryError(wrong, place, ("classes are loaded from tables with y_true and y_pred",))
    if entry.baselines:
        place = statement.systems.span if statement.systems else statement.span
        raise QueryError(f"{entry.baselines[0].name} is computed from the key, so it has no answers", place)


def compile(plan: ConfusionPlan) -> Queries:
    return tuple(Query(_name(entry), _query(entry.in_runs(), plan.where)) for entry in plan.entries)


def _query(entry: p.Entry, where: p.Filter | None) -> Sql:
    return scores.decided_pairs(entry, where) if entry.kind is FILTERING else scores.class_pairs(entry, where)


def _name(entry: p.Entry) -> str:
    return f"classes on {entry.test_set.name!r}"


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: ConfusionPlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per test set, system, class of the key and class answered, of all classes that occur on the test set. The
    counts of a system with several runs are the mean over its runs.
    """
    rows, notes = TableRows(COLUMNS), list[str]()
    most = 0
    for entry in plan.entries:
        counted = _counts(entry, facts[_name(entry)])
        gold, answers = _classes(entry, counted.values())
        most = max(most, len(gold))
        for system, counts in counted.items():
            of_class = {name: sum(counts.get((name, said), 0) for said in answers) for name in gold}
            for name in gold:
                for said in answers:
                    documents = counts.get((name, said), 0)
                    if documents or len(gold) <= MOST_CLASSES:
                        share = documents / of_class[name] if of_class[name] else None
                        rows.add(
                            test_set=entry.test_set.name,
                            system=system,
                            gold=name,
                            answer=said,
                            documents=documents,
                            share_of_gold=share,
                        )
        notes += _notes(entry, counted, len(gold))
    table = rows.table(_columns(plan))
    sentence = sentences.of_confusion(table, noun_of(plan.entries), _undecided(plan.entries))
    what = f"classes of the key and classes answered on {on(plan.entries)}"
    matrix = Matrix(("system", "test_set"), "gold", "answer", "documents", "gold \\ answer", ABSENT)
    drawn = most <= DRAWN_CLASSES and plan.limit is None
    sections = () if drawn else _sections(plan, table)
    if plan.limit is not None:
        table = Table(table.columns, tuple(row for section in sections for row in section.rows))
    return result_of(
        plan.text,
        plan.entries,
        what,
        table,
        notes=notes,
        about_measures=False,
        matrix=matrix if drawn else None,
        sections=sections,
        sentence=sentence,
    )


def _counts(entry: p.Entry, fetched: Iterable[tuple[int, Cell, Cell, int]]) -> dict[str, Counts]:
    """How many documents of each system have a class and an answer: the mean over its runs, where it has several."""
    names = {system.id: system.name for system in entry.stored_systems}
    of_run = {run: system for system, runs in entry.units.runs.items() for run in runs}
    totals: dict[str, dict[Pair, int]] = {}
    runs: dict[str, set[int]] = {}
    for number, gold, said, documents in fetched:
        pair = (DECISIONS[gold], "yes" if said else "no") if entry.kind is FILTERING else (gold, said)
        system = names[of_run.get(number, number)]
        of_system = totals.setdefault(system, {})
        of_system[pair] = of_system.get(pair, 0) + documents
        runs.setdefault(system, set()).add(number)
    return {
        system: {pair: _mean(documents, len(runs[system])) for pair, documents in totals[system].items()}
        for system in names.values()
        if system in totals
    }


def _mean(documents: int, runs: int) -> float:
    return documents if runs == 1 else documents / runs


def _classes(entry: p.Entry, counted: Iterable[Counts]) -> tuple[list[Cell], list[Cell]]:
    """The classes of the lines and of the columns of all matrices of a test set: those in the key or in any answer."""
    pairs = {pair for counts in counted for pair in counts}
    if entry.kind is FILTERING:
        return [name for name in DECISIONS.values() if name != "optional" or name in dict(pairs)], ["yes", "no"]
    names = sorted({str(name) for pair in pairs for name in pair if name is not None}, key=_order)
    unanswered = [None] if any(said is None for _, said in pairs) else []
    return [*names], [*names, *unanswered]


def _order(name: str) -> tuple[bool, float, str]:
    """Classes by their numbers, where they are numbers, and then by name."""
    return (False, float(name), name) if is_number(name) else (True, 0.0, name)


def _undecided(entries: Iterable[p.Entry]) -> list[tuple[str, str]]:
    """The classes of keys for which both decisions are right."""
    return [(entry.test_set.name, "optional") for entry in entries if entry.kind is FILTERING]


def _columns(plan: ConfusionPlan) -> tuple[Column, ...]:
    averaged = any(len(runs) > 1 for entry in plan.entries for runs in entry.units.runs.values())
    return (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        Column("system", "name"),
        Column("gold", "name"),
        Column("answer", "name"),
        Column("documents", "number" if averaged else "count", plural(noun_of(plan.entries))),
        Column("share_of_gold", "proportion", "share of gold"),
    )


def _sections(plan: ConfusionPlan, table: Table) -> tuple[TableSection, ...]:
    """The wrong answers of each system, the commonest first."""
    either = _undecided(plan.entries)
    found: dict[tuple[Cell, Cell], list[tuple[Cell, ...]]] = {}
    for row, record in zip(table.rows, table.records(), strict=True):
        wrong = found.setdefault((record["system"], record["test_set"]), [])
        is_wrong = record["gold"] != record["answer"] and (record["test_set"], record["gold"]) not in either
        if is_wrong and record["documents"]:
            wrong.append(row)
    place = COLUMNS.index("documents")
    return tuple(
        TableSection(
            f"{system} on {test_set}: wrong answers, the commonest first",
            tuple(sorted(rows, key=lambda row: -float(row[place] or 0)))[: plan.limit],
            SHOWN if plan.limit is None else None,
        )
        for (system, test_set), rows in found.items()
    )


def _notes(entry: p.Entry, counted: Mapping[str, Counts], classes: int) -> Iterable[str]:
    here = entry.test_set.name
    if absent := [system.name for system in entry.stored_systems if system.name not in counted]:
        yield f"{here}: no rows for {some(absent)}"
    totals = {system: sum(counts.values()) for system, counts in counted.items()}
    if len(set(totals.values())) > 1:
        numbers = ", ".join(f"{system} {documents:,.6g}" for system, documents in totals.items())
        yield f"{here}: not every system answered every {entry.units.noun}: {numbers}"
    if classes > MOST_CLASSES:
        yield f"{here} has {classes:,} classes, so only pairs of classes that occur have a row"


def subject(entry: p.Entry) -> str:
    names = ", ".join(system.name for system in entry.systems)
    return f"classes of the key and classes answered on {entry.test_set.name} for {names}"


CONFUSION = Statement(
    node=n.Confusion,
    usage=Usage(
        "confusion",
        "how often each class of the key was answered with each class; also show confusion",
        "confusion of filtering for GE, UMASS on TST3",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    subject=subject,
    executor="counts in the database",
)

"""`table`: systems, test sets and measures as a paper prints them.

Values come from `score`, tests from `compare` and `rank`: their plans are made from the same clauses,
and here their rows are put side by side. Nothing is computed again; the formats draw the grid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from string import ascii_lowercase
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import brief, hints, number_text
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.comparing.pairs import entry_of_all
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.entries import are_named
from evalhouse.warehouse.plans.groups import spelled_out
from evalhouse.warehouse.plans.labels import (
    Size,
    all_of,
    headed,
    lacking_test_sets,
    lower_measures,
    missing_caption,
    noun_of,
    on,
    sizes,
    some,
    taken_together_on,
    title,
    unit_of,
)
from evalhouse.warehouse.plans.names import Scope, one_line
from evalhouse.warehouse.plans.path import Facts, Line, Queries, Query, Statement, Usage, Workforce
from evalhouse.warehouse.plans.testing import taken_together
from evalhouse.warehouse.results import (
    UNEVEN,
    Cell,
    CellKind,
    Column,
    Grid,
    GridMeasure,
    Result,
    TableRows,
    count_behind,
)
from evalhouse.warehouse.statements import sentences
from evalhouse.warehouse.statements.compare import COMPARE, ComparePlan
from evalhouse.warehouse.statements.rank import RANK, RankPlan
from evalhouse.warehouse.statements.score import SCORE, executor
from evalhouse.warehouse.statements.score_plan import ScorePlan
from evalhouse.warehouse.statements.score_together import averaged_values, pooled_values
from evalhouse.warehouse.statements.table_parts import Parts, check_clauses, check_parts, whole_queries

STRICTER = Decimal("0.2")
"""The level of the second mark, as a share of that of the first: 0.01 beside 0.05."""

MARK, SECOND_MARK, UNDECIDED_MARK = "†", "‡", "?"

LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._-]*")
"""Labels that both LaTeX and Typst accept."""

SYSTEM = "system"
"""What the column of systems is called."""

MOST_DIGITS = 12

VALUES = ("test_set", "task", "measure", "system", "value", "se", "ci_low", "ci_high", "documents", "source")
RUNS = "runs"
"""How many runs a system is the mean of, where any has several."""
TESTED = ("against", "difference", "p", "p_adjusted", "verdict", "mark", "beats", "rank", "rank_low", "rank_high")


class PaperTablePlan(Struct, frozen=True):
    """`stricter` is the comparison at the level of the second mark, and `shown` what names are called."""

    text: str
    score: ScorePlan
    compared: ComparePlan | None
    stricter: ComparePlan | None
    ranked: RankPlan | None
    as_named: bool
    shown: Mapping[str, str]
    caption: str
    label: str
    width: Literal["", "column", "page"]
    digits: int | None
    average: str
    """What the last columns are called, with the averages over test sets; empty where they were not asked for."""
    over: p.OverTestSets | None = None
    """How those are made of the test sets."""
    average_compared: ComparePlan | None = None
    average_stricter: ComparePlan | None = None
    average_ranked: RankPlan | None = None
    untested: str = ""
    """Why averages are not tested though values are; empty where they are."""

    averaged: tuple[p.Entry, ...] = ()
    """The test sets that averages are over: without figures as printed, such as a group's, where none was named."""

    @property
    def together(self) -> ScorePlan:
        """The values that averages are made of."""
        return replace(self.score, entries=self.averaged)

    @property
    def entries(self) -> tuple[p.Entry, ...]:
        """The test sets of the columns; a group is one."""
        if self.score.over is not None:
            return (entry_of_all(self.score.entries, self.score.over),)
        return self.score.entries

    @property
    def against(self) -> str:
        """The system that others are held against; empty where there is none."""
        return self.compared.against.name if self.compared is not None and self.compared.against is not None else ""


# --- resolving --------------------------------------------------------------------------------------------------------

_OF_TESTS = ("test", "shuffles", "exact", "sides", "confidence", "adjust")
_OF_TESTS_AND_INTERVALS = ("exchange", "seed", "level")
_ALSO_TESTED = (*_OF_TESTS, *_OF_TESTS_AND_INTERVALS, "missing")


def resolve(statement: n.PaperTable, scope: Scope) -> PaperTablePlan:
    _check(statement)
    check_clauses(statement)
    text, over = to_text(statement), None
    if statement.over is not None:
        # A group is its test sets then, with what they are together as the last column.
        statement, over = spelled_out(statement, scope)
    written, statement = statement, _with_baseline(statement)
    score: ScorePlan = SCORE.resolve(_score(statement, scope), scope)
    check_parts(statement, score, scope)
    compared = stricter = ranked = None
    if statement.against is not None or statement.letters:
        _check_two(statement, score.entries)
        compared = replace(COMPARE.resolve(_question_for(n.Compare, written), scope), with_intervals=False)
        _check_baseline(statement, compared, score.entries)
    if compared is not None and statement.against is not None:
        # Two levels are decided, so each gets half of the allowed doubt.
        how = replace(compared.how, confidence=1 - (1 - compared.how.confidence) / 2)
        compared, stricter = replace(compared, how=how), replace(compared, how=_stricter(how))
    if statement.ranks:
        ranked = RANK.resolve(_question_for(n.Rank, statement), scope)
    averaged = _averaged(statement, score.entries)
    plan = PaperTablePlan(
        text=text,
        score=score,
        compared=compared,
        stricter=stricter,
        ranked=ranked,
        as_named=statement.as_named,
        shown=_shown_names(statement, score.entries, scope),
        caption=_text(statement.caption, "a caption"),
        label=_label(statement.label),
        width=_width(statement.width),
        digits=scope.whole(statement.digits, "digits", 0, MOST_DIGITS),
        average=_average(statement, score.entries, averaged, over),
        over=over,
        averaged=averaged,
    )
    return _with_tested_averages(plan, written, statement, scope)


def _with_tested_averages(
    plan: PaperTablePlan, written: n.PaperTable, statement: n.PaperTable, scope: Scope
) -> PaperTablePlan:
    """The plan with the tests of the averages, where values are tested; or with why they are not."""
    if plan.over is None or (plan.compared is None and plan.ranked is None):
        return plan
    if lacking := lacking_test_sets(plan.averaged):
        return replace(plan, untested=f"not every system is on every test set: {some(lacking)}")
    try:
        if plan.compared is not None:
            question = replace(_question_for(n.Compare, written), over=statement.over)
            compared = replace(COMPARE.resolve(question, scope), with_intervals=False, how=plan.compared.how)
            stricter = None if plan.stricter is None else replace(compared, how=plan.stricter.how)
            plan = replace(plan, average_compared=compared, average_stricter=stricter)
        if plan.ranked is not None:
            question = replace(_question_for(n.Rank, statement), over=statement.over)
            plan = replace(plan, average_ranked=RANK.resolve(question, scope))
    except QueryError as error:
        return replace(plan, untested=error.message)
    return plan


def _averaged(statement: n.PaperTable, entries: tuple[p.Entry, ...]) -> tuple[p.Entry, ...]:
    """The test sets that averages are over, as `score … over test sets` takes them."""
    by_document = tuple(entry for entry in entries if entry.kind.by_document)
    return entries if are_named(statement.test_sets) or not by_document else by_document


def _average(
    statement: n.PaperTable,
    entries: Sequence[p.Entry],
    averaged: tuple[p.Entry, ...],
    over: p.OverTestSets | None,
) -> str:
    """What averages over test sets are called: as the group that these are, or as no test set is."""
    if over is None:
        return ""
    if len(averaged) < 2:
        raise QueryError("an average over test sets needs two of them", statement.span, ("leave out over test sets",))
    if statement.over == n.POOLED:
        taken_together(statement, averaged)
    names = {entry.test_set.name for entry in entries}
    called = "pooled" if over.pooled else "average"
    if over.called:
        return over.called
    return next(
        name for name in (called, f"{called} over test sets", f"the {called} over test sets") if name not in names
    )


def _with_baseline(statement: n.PaperTable) -> n.PaperTable:
    """The same with the system that others are held against among those that are named: it has a line of its own."""
    if statement.against is None or statement.systems is None:
        return statement
    systems = statement.systems
    named = {item.text.casefold() for item in systems.items if isinstance(item, n.Name)}
    if isinstance(statement.against, n.Name) and statement.against.text.casefold() in named:
        return statement
    return replace(statement, systems=replace(systems, items=(*systems.items, statement.against)))


def _check(statement: n.PaperTable) -> None:
    """Raises QueryError for clauses that contradict each other or have no effect."""
    if statement.against is not None and statement.letters:
        raise QueryError(
            "against marks differences from one system, letters mark which systems each one beats",
            statement.against.span,
            ("write one of the two",),
        )
    if statement.letters and statement.sides == "one-sided":
        raise QueryError("letters need two-sided tests", statement.span, ("leave out one-sided",))
    if statement.order is not None and statement.as_named:
        raise QueryError(
            "two clauses order the systems", statement.order.span, ("write order as named or order by, not both",)
        )
    if statement.missing == "bounds":
        raise QueryError(
            "missing bounds works only with compare", statement.span, ("write missing drop, or missing zero",)
        )
    if statement.against is not None or statement.letters or statement.ranks:
        return
    for word in (*_OF_TESTS, *(() if statement.interval else _OF_TESTS_AND_INTERVALS)):
        given = getattr(statement, word)
        if given:
            also = "" if word in _OF_TESTS else ", or interval"
            place = given.span if isinstance(given, n.Node) else statement.span
            called = given if isinstance(given, str) else word
            hint = f"add against SYSTEM, letters or rank{also}"
            raise QueryError(f"{called} has no effect in a table without tests", place, (hint,))


def _score(statement: n.PaperTable, scope: Scope) -> n.Score:
    """The question for the values, without the clauses of tests, which a score would refuse."""
    fields = ("measures", "task", "systems", "test_sets", "by", "where", "order", "replicates", "runs_apart", "span")
    question = n.Score(**{field: getattr(statement, field) for field in fields})
    if statement.interval is not None:
        given = {field: getattr(statement, field) for field in _OF_TESTS_AND_INTERVALS}
        question = replace(question, interval=statement.interval, **given)
    return replace(question, missing=statement.missing)


def _question_for(kind: type[n.Compare] | type[n.Rank], statement: n.PaperTable) -> Any:
    """The question for the tests, of the same clauses."""
    fields = ["measures", "task", "systems", "test_sets", "where", "replicates", "runs_apart", "span", *_ALSO_TESTED]
    if kind is n.Compare:
        fields.append("against")
    elif statement.against is not None:
        # One side is that of the baseline; ranks have none.
        fields.remove("sides")
    return kind(**{field: getattr(statement, field) for field in fields})


def _stricter(how: p.Testing) -> p.Testing:
    return replace(how, level=how.level * STRICTER)


def _check_two(statement: n.PaperTable, entries: Sequence[p.Entry]) -> None:
    """There must be another system for the baseline, or for letters."""
    for entry in entries:
        if len(entry.systems) < 2:
            place = statement.systems.span if statement.systems else statement.span
            have = f"there is only {entry.systems[0].name}" if entry.systems else "none of them is"
            what = "letters need" if statement.letters else "a comparison needs"
            raise QueryError(f"{what} two systems, but {have} on {entry.test_set.name}", place)


def _check_baseline(statement: n.PaperTable, compared: ComparePlan, entries: Sequence[p.Entry]) -> None:
    """The baseline is one of the lines of the table, on every test set."""
    if statement.against is None or compared.against is None:
        return
    name = compared.against.name
    there = [name in (system.name for system in entry.systems) for entry in entries]
    for entry, is_there in zip(entries, there, strict=True):
        if not is_there and any(there):
            test_set = entry.test_set.name
            said = f"{name} has no rows on {test_set}, so nothing is compared with it there"
            raise QueryError(said, statement.against.span, (f"leave out {test_set}",))
        if not is_there:
            said = f"{name} is not among the systems of the table"
            raise QueryError(said, statement.against.span, (f"leave {name} out of except",))


def _shown_names(statement: n.PaperTable, entries: Sequence[p.Entry], scope: Scope) -> dict[str, str]:
    """What measures, test sets and the column of systems are called, by their names."""
    known = {statistic.label: statistic.measure.name for entry in entries for statistic in entry.statistics}
    if not statement.by:
        known |= {entry.test_set.name: entry.test_set.own_name for entry in entries}
    shown: dict[str, str] = {}
    for renamed in statement.columns:
        name = _find_meaning(renamed.name, known, entries, scope)
        if name in shown:
            raise QueryError(f"{name} is named twice", renamed.span)
        shown[name] = _text(renamed.shown, "the name of a column")
    return shown


def _find_meaning(node: n.Name, known: Mapping[str, str], entries: Sequence[p.Entry], scope: Scope) -> str:
    """The label, test set or column that is meant by a name. Raises QueryError unless there is exactly one."""
    wanted = node.text.casefold()
    exactly = [name for name in (*known, SYSTEM) if name.casefold() == wanted]
    found = exactly or [name for name, otherwise in known.items() if otherwise.casefold() == wanted]
    if not found:
        try:
            entry = entries[0]
            statistic = scope.statistic(n.MeasureCall(node.text), entry.kind, scope.known(entry.test_set))
            found = [statistic.label] if statistic.label in known else []
        except QueryError:
            found = []
    if not found:
        names = [*known, SYSTEM]
        raise QueryError(f"the table has no column '{brief(node.text)}'", node.span, hints(node.text, names, "columns"))
    if len(found) > 1:
        raise QueryError(f"'{node.text}' could be {' or '.join(found)}", node.span, (f'write "{found[0]}"',))
    return found[0]


def _text(node: n.Text | n.Variable | None, what: str) -> str:
    """A text on one line; empty where none was written."""
    return "" if node is None else one_line(node, what)


def _label(node: n.Text | n.Variable | None) -> str:
    label = _text(node, "a label")
    if node is not None and not LABEL.fullmatch(label):
        plain = re.sub(r"[^A-Za-z0-9:._-]+", "-", label).strip(":._-")
        hint = f'write label "{plain}"' if plain else 'as in label "tab:muc4"'
        raise QueryError(f"a label may have letters, digits, : . _ and -, not '{brief(label)}'", node.span, (hint,))
    return label


def _width(node: n.Name | n.Number | None) -> Literal["", "column", "page"]:
    """Whether LaTeX sets the table in a column of text, or over pages."""
    if node is None:
        return ""
    match node.text if isinstance(node, n.Name) else "":
        case "column":
            return "column"
        case "page":
            return "page"
        case _:
            raise QueryError(
                "a table is as wide as a column of text or as the page",
                node.span,
                ("write width column or width page", "pictures have a length as their width, but a table has none"),
            )


# --- compiling --------------------------------------------------------------------------------------------------------


def compile(plan: PaperTablePlan) -> Queries:
    """The queries of all three questions, each once."""
    queries = [*SCORE.compile(plan.score), *whole_queries(plan.score)]
    for compared in (plan.compared, plan.average_compared):
        queries += COMPARE.compile(compared) if compared is not None else ()
    for ranked in (plan.ranked, plan.average_ranked):
        queries += RANK.compile(ranked) if ranked is not None else ()
    by_name: dict[str, Query] = {}
    for query in queries:
        by_name[query.name] = _either(by_name[query.name], query) if query.name in by_name else query
    return tuple(by_name.values())


def _either(one: Query, other: Query) -> Query:
    """A query that is asked where one of two questions needs it."""
    if one.sql != other.sql:
        raise ValueError(f"two different queries are called {one.name!r}")
    first, second = one.needed, other.needed
    if first is None or second is None:
        return replace(one, needed=None)
    return replace(one, needed=lambda facts: first(facts) or second(facts))


# --- answering --------------------------------------------------------------------------------------------------------

GridKey = tuple[Cell, Cell, Cell]
"""Test set, measure and system."""


def answer(plan: PaperTablePlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per test set, system and measure: its value, and what was tested of it."""
    if plan.score.by:
        return _answer_in_parts(plan, facts, workforce)
    scored = SCORE.answer(plan.score, facts, workforce)
    compared = None if plan.compared is None else COMPARE.answer(plan.compared, facts, workforce)
    ranked = None if plan.ranked is None else RANK.answer(plan.ranked, facts, workforce)
    order = _order(plan, scored)
    tested: dict[GridKey, dict[str, Cell]] = {}
    if compared is not None:
        _add(tested, _marks(plan, compared, plan.stricter, order, facts, workforce))
    if ranked is not None:
        _add(tested, _ranks(ranked))
    of_average = []
    if plan.average_compared is not None:
        of_average.append(COMPARE.answer(plan.average_compared, facts, workforce))
        marks = _marks(plan, of_average[0], plan.average_stricter, order, facts, workforce)
        _add(tested, _called(plan.average, marks))
    if plan.average_ranked is not None:
        of_average.append(RANK.answer(plan.average_ranked, facts, workforce))
        _add(tested, _called(plan.average, _ranks(of_average[-1])))
    runs = (RUNS,) if any(column.name == RUNS for column in scored.table.columns) else ()
    rows = TableRows((*VALUES, *runs, *TESTED))
    rested = {label for _, label in scored.uneven} if plan.average else set()
    uneven = scored.uneven | {(plan.average, label) for label in rested}
    for row in (*_values(plan, scored, order), *_averages(plan, scored, order, facts)):
        beside = tested.get((row["test_set"], row["measure"], row["system"]), {})
        if (row["test_set"], row["measure"]) in uneven and row["value"] is not None:
            beside = {"mark": UNEVEN, **beside}
        rows.add(**row, **{name: beside.get(name) for name in TESTED})
    answers = [result for result in (scored, compared, ranked, *of_average) if result is not None]
    labels = ", ".join(plan.score.column_labels())
    what = plan.caption or f"{labels} {taken_together_on(plan.score.entries, plan.score.over)}"
    notes = [note for result in answers for note in result.notes]
    p_values = [p for result in answers for p in result.p_values]
    table = rows.table(_columns(plan, rows))
    unit = next(column.kind for column in table.columns if column.name == "value")
    # A caption of one's own says what the table is for.
    sentence = (
        ""
        if plan.caption
        else sentences.of_values(
            [row for row in rows.records() if row["test_set"] == plan.average or not plan.average],
            dict.fromkeys(plan.score.column_labels(), unit),
            lower_measures(plan.entries),
            uneven=uneven,
        )
    )
    return replace(
        result_of(
            plan.text,
            plan.score.entries,
            what,
            table,
            p_values=p_values,
            notes=notes,
            about_measures=False,
            sentence=sentence,
        ),
        caption=title(what, plan.entries, "" if plan.caption else _size(plan, rows)),
        signature=_signature(plan.text, scored, compared, ranked, of_average),
        grid=_grid(plan, rows, order, scored, _legend(plan, rows, scored, compared, ranked, of_average)),
        uneven=uneven,
        how="; ".join(filter(None, (result.how for result in answers))),
    )


def _answer_in_parts(plan: PaperTablePlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per system, measure and value of what rows are split by; then those of all together."""
    scored = SCORE.answer(plan.score, facts, workforce)
    split = Parts.of(plan.score, scored, facts)
    order = split.systems()
    if plan.as_named:
        order = [system.name for system in plan.entries[0].systems if system.name in order]
    names = (*VALUES[:1], split.column, *VALUES[1:], *TESTED)
    rows = TableRows(names)
    for row in split.rows(order):
        rows.add(**{**dict.fromkeys(names), **row})
    labels = ", ".join(plan.score.column_labels())
    what = plan.caption or f"{labels} by {split.column} on {on(plan.entries)}"
    table = rows.table(_columns(plan, rows))
    grid = replace(
        _grid(plan, rows, order, scored, split.legend(noun_of(plan.entries))),
        test_sets=tuple((called, called) for called in split.columns),
        across=split.column,
        counted=split.counted(),
    )
    uneven = scored.uneven | {(called, label) for called in split.columns for _, label in scored.uneven}
    return replace(
        result_of(plan.text, plan.entries, what, table, notes=scored.notes, about_measures=False),
        signature=_signature(plan.text, scored, None, None, ()),
        grid=grid,
        uneven=uneven,
        how=scored.how,
    )


def _values(plan: PaperTablePlan, scored: Result, order: Sequence[Cell]) -> Iterator[dict[str, Cell]]:
    """The values of the score, a row each, in the order of the systems."""
    places = {name: place for place, name in enumerate(order)}
    records = sorted(scored.rows, key=lambda row: places[row["system"]])
    for entry in plan.entries:
        for row in records:
            if row["test_set"] != entry.test_set.name:
                continue
            for label in plan.score.column_labels():
                yield {
                    **{name: row[name] for name in ("test_set", "task", "system", "source")},
                    "documents": count_behind(row, label),
                    **({RUNS: row[RUNS]} if RUNS in row else {}),
                    "measure": label,
                    "value": row[label],
                    "se": row.get(f"se({label})"),
                    "ci_low": row.get(f"ci_low({label})"),
                    "ci_high": row.get(f"ci_high({label})"),
                }


def _averages(plan: PaperTablePlan, scored: Result, order: Sequence[Cell], facts: Facts) -> Iterator[dict[str, Cell]]:
    """What each system has on all test sets together; none where it has no value on one of them."""
    if plan.over is None:
        return
    values = pooled_values(plan.together, facts) if plan.over.pooled else averaged_values(plan.together, scored)
    nothing: dict[str, Cell] = dict.fromkeys((*VALUES, *((RUNS,) if RUNS in scored.rows[0] else ())))
    for system in order:
        for label in plan.score.column_labels():
            value = values.get((system,), {}).get(label)
            yield nothing | {"test_set": plan.average, "measure": label, "system": system, "value": value}


def _called(average: str, found: Mapping[GridKey, dict[str, Cell]]) -> dict[GridKey, dict[str, Cell]]:
    """What was tested of several test sets together, by what their column is called."""
    return {(average, measure, system): cells for (_, measure, system), cells in found.items()}


def _order(plan: PaperTablePlan, scored: Result) -> list[Cell]:
    """The systems in the order of the lines."""
    known = list(dict.fromkeys(row["system"] for row in scored.rows))
    if plan.as_named:
        named = dict.fromkeys(system.name for entry in plan.entries for system in entry.systems)
        return [name for name in named if name in known]
    if scored.side_by_side is not None:
        return [line[0] for line in scored.side_by_side.lines]
    return known


def _add(tested: dict[GridKey, dict[str, Cell]], found: Mapping[GridKey, dict[str, Cell]]) -> None:
    for key, cells in found.items():
        tested.setdefault(key, {}).update(cells)


def _marks(
    plan: PaperTablePlan,
    compared: Result,
    stricter: ComparePlan | None,
    order: Sequence[Cell],
    facts: Facts,
    workforce: Workforce,
) -> dict[GridKey, dict[str, Cell]]:
    """What was tested of each system: against the baseline, or else which others it beats."""
    if not plan.against:
        return _beaten(plan, compared, order)
    return _marks_against(plan, compared, _second_marks(plan, compared, stricter, facts, workforce))


def _marks_against(
    plan: PaperTablePlan, compared: Result, second: Mapping[GridKey, str]
) -> dict[GridKey, dict[str, Cell]]:
    """What was tested of each system against the baseline, with its mark."""
    found: dict[GridKey, dict[str, Cell]] = {}
    for row in compared.rows:
        first, other = row["system_a"], row["system_b"]
        name, sign = (first, 1) if other == plan.against else (other, -1)
        key = (row["test_set"], row["measure"], name)
        mark = {"significant": MARK, "undecided": UNDECIDED_MARK}.get(str(row["verdict"]))
        difference = row["difference"]
        found[key] = {
            "against": plan.against,
            "difference": None if difference is None else sign * float(difference),
            "p": row["p"],
            "p_adjusted": row["p_adjusted"],
            "verdict": row["verdict"],
            "mark": second.get(key, mark),
        }
    return found


def _second_marks(
    plan: PaperTablePlan, compared: Result, stricter: ComparePlan | None, facts: Facts, workforce: Workforce
) -> dict[GridKey, str]:
    """The marks of what is significant at the stricter level, too, or may be. Shuffles are to be as sure of that as of
    the first, so they are made again; a level that is no matter of chance is only compared.
    """
    if stricter is None:
        return {}
    deciding = "p_adjusted" if stricter.how.adjustment.adjusts else "p"

    def key(row: Mapping[str, Cell]) -> GridKey:
        return row["test_set"], row["measure"], row["system_a" if row["system_b"] == plan.against else "system_b"]

    marked = [row for row in compared.rows if row["verdict"] == "significant"]
    if all(row["shuffles"] is None for row in marked):
        level = float(stricter.how.level)
        return {key(row): SECOND_MARK for row in marked if float(row[deciding] or 0.0) <= level}
    marks = {"significant": SECOND_MARK, "undecided": MARK + UNDECIDED_MARK}
    again = {key(row): str(row["verdict"]) for row in COMPARE.answer(stricter, facts, workforce).rows}
    return {key(row): marks[again[key(row)]] for row in marked if again[key(row)] in marks}


def _beaten(plan: PaperTablePlan, compared: Result, order: Sequence[Cell]) -> dict[GridKey, dict[str, Cell]]:
    """The systems that each one beats, in the order of the lines, and their letters."""
    lower = _lower(plan)
    places = {str(name): place for place, name in enumerate(order)}
    between = "," if len(order) > len(ascii_lowercase) else ""
    beats: dict[GridKey, list[str]] = {}
    for row in compared.rows:
        if row["verdict"] == "significant":
            first_is_better = (float(row["difference"] or 0.0) > 0) != lower[str(row["measure"])]
            better, worse = ("system_a", "system_b") if first_is_better else ("system_b", "system_a")
            beats.setdefault((row["test_set"], row["measure"], row[better]), []).append(str(row[worse]))
    found: dict[GridKey, dict[str, Cell]] = {}
    for key, names in beats.items():
        names.sort(key=lambda name: places[name])
        found[key] = {"beats": ", ".join(names), "mark": between.join(_letter(places[name]) for name in names)}
    return found


def _lower(plan: PaperTablePlan) -> dict[str, bool]:
    """For each label, whether lower values are better."""
    return {s.label: s.measure.lower_is_better for entry in plan.entries for s in entry.statistics}


def _ranks(ranked: Result) -> dict[GridKey, dict[str, Cell]]:
    return {
        (row["test_set"], row["measure"], row["system"]): {
            name: row[name] for name in ("rank", "rank_low", "rank_high")
        }
        for row in ranked.rows
    }


def _signature(
    text: str, scored: Result, compared: Result | None, ranked: Result | None, of_average: Sequence[Result]
) -> str:
    """The statement, and what decides the numbers of any of the answers, once; data and version come last."""
    *said, data, version = _signature_parts(scored)
    if compared is not None:
        said += _signature_parts(compared)[:-2]
    if ranked is not None:
        parts = _signature_parts(ranked)[:-2]
        said += [part if part in said or compared is None else f"ranks {part}" for part in parts]
    for result in of_average:
        said += [f"average {part}" for part in _signature_parts(result)[:-2] if part not in said]
    return " | ".join([text, *dict.fromkeys(said), data, version])


def _signature_parts(result: Result) -> list[str]:
    """What a signature says behind the statement."""
    return result.signature.removeprefix(f"{result.statement} | ").split(" | ")


# --- what it looks like -----------------------------------------------------------------------------------------------


def _columns(plan: PaperTablePlan, rows: TableRows) -> tuple[Column, ...]:
    """The columns of the data, which a workbook shows; the grid is drawn from them."""
    numbers = unit_of(plan.entries) == "number"
    unit: CellKind = "number" if numbers else "proportion"
    kinds: dict[str, CellKind] = {
        **dict.fromkeys(("test_set", "measure", "system", "against"), "name"),
        **dict.fromkeys(("value", "se", "ci_low", "ci_high"), unit),
        **dict.fromkeys(("documents", RUNS, "rank", "rank_low", "rank_high"), "count"),
        **dict.fromkeys(("p", "p_adjusted"), "probability"),
        "difference": "number" if numbers else "difference",
    }
    always = ("test_set", "measure", "system", "value")
    return tuple(
        Column(
            name,
            kinds.get(name, "text"),
            on_screen=name in always or (name != RUNS and any(cell is not None for cell in cells)),
        )
        for name in rows.names
        for cells in (rows.cells(name),)
    )


def _counts(entry: p.Entry, rows: TableRows) -> set[Cell]:
    """On how many documents the values on a test set rest."""
    return {row["documents"] for row in rows.records() if row["test_set"] == entry.test_set.name}


def _count(entry: p.Entry, rows: TableRows) -> int | None:
    """The same, if all values rest on as many."""
    counts = _counts(entry, rows)
    count = counts.pop() if len(counts) == 1 else None
    return int(count) if count is not None else None


def _size(plan: PaperTablePlan, rows: TableRows) -> str:
    """How large the test sets are, as far as it is the same for all systems."""
    counts = [(entry, _count(entry, rows)) for entry in plan.entries]
    known = [(entry.test_set.name, Size.of(entry, count)) for entry, count in counts if count is not None]
    if len(known) == len(counts):
        return sizes(known)
    return ", ".join(f"{size.said('')} on {name}" for name, size in known)


def _grid(plan: PaperTablePlan, rows: TableRows, order: Sequence[Cell], scored: Result, legend: Iterable[str]) -> Grid:
    systems = [str(name) for name in order]
    noun = noun_of(plan.entries)
    headings, counted = [], {test_set for test_set, _ in scored.uneven}
    for entry in plan.entries:
        name = entry.test_set.name
        count = None if name in counted else _count(entry, rows)
        if len(_counts(entry, rows)) > 1:
            counted.add(name)
        remarks = [quantity(count, entry.units.noun)] if count is not None else []
        shown = replace(entry, test_set=replace(entry.test_set, name=plan.shown.get(name, name)))
        headings.append((name, headed(shown, plan.entries, *remarks)))
    if plan.average:
        headings.append((plan.average, plan.shown.get(plan.average, plan.average)))
    kinds = next(column.kind for column in _columns(plan, rows) if column.name == "value")
    lower = _lower(plan)
    letters = [(name, _letter(place)) for place, name in enumerate(systems)]
    return Grid(
        systems=tuple(systems),
        system_heading=plan.shown.get(SYSTEM, SYSTEM),
        test_sets=tuple(headings),
        measures=tuple(
            GridMeasure(label, plan.shown.get(label, label), kinds, lower[label])
            for label in plan.score.column_labels()
        ),
        counted=frozenset(counted),
        count_heading=plural(noun),
        letters=tuple(letters) if plan.compared is not None and not plan.against else (),
        digits=plan.digits,
        label=plan.label,
        width=plan.width,
        legend=tuple(legend),
    )


def _letter(place: int) -> str:
    """a to z, then aa, ab and so on."""
    more, last = divmod(place, len(ascii_lowercase))
    return (_letter(more - 1) if more else "") + ascii_lowercase[last]


def _legend(
    plan: PaperTablePlan,
    rows: TableRows,
    scored: Result,
    compared: Result | None,
    ranked: Result | None,
    of_average: Sequence[Result],
) -> Iterator[str]:
    """What the marks mean, and how each was got."""
    if plan.score.over is not None:
        [group] = plan.entries
        called = plan.shown.get(group.test_set.name, group.test_set.name)
        yield f"{called}: {plan.score.over.way} {all_of(plan.score.entries)}"
    if plan.score.interval:
        yield f"±: half the width of the {scored.how.rpartition('; ')[2]}"
    if plan.over is not None:
        test_sets = f"{len(plan.averaged):,} test sets"
        what = (
            f"the documents of {test_sets} together"
            if plan.over.pooled
            else f"the mean over {test_sets}, each counted once"
        )
        tested = f"; it is not tested, as {plan.untested}" if plan.untested else ""
        how = "".join(f"; {result.how}" for result in of_average)
        yield f"{plan.average}: {what}{tested}{how}"
    unsure = any(UNDECIDED_MARK in str(mark) for mark in rows.cells("mark"))
    if compared is not None and plan.compared is not None and plan.stricter is not None:
        level, stricter = plan.compared.how.level, plan.stricter.how.level
        what = "better than" if plan.compared.how.sides == "one-sided" else "different from"
        asking = f", {UNDECIDED_MARK} undecided" if unsure else ""
        levels = f"at {number_text(level)}, {SECOND_MARK} at {number_text(stricter)}{asking}"
        yield f"{MARK} significantly {what} {plan.against} {levels}; {compared.how}"
    elif compared is not None and plan.compared is not None:
        level = plan.compared.how.level
        yield f"letters: the systems that are significantly worse, at {number_text(level)}; {compared.how}"
    if ranked is not None:
        yield f"in brackets: {ranked.how}"
    if compared is None and ranked is None and (said := missing_caption(plan.score.missing, plan.entries)):
        yield said


def weigh(plan: PaperTablePlan, facts: Facts) -> Iterator[Line]:
    """How what is tested would be tested. No difference has its interval in a table."""
    yield "executor", executor(plan.score)
    for statement, tested in ((COMPARE, plan.compared), (RANK, plan.ranked)):
        if tested is not None and statement.weigh is not None:
            yield from (line for line in statement.weigh(tested, facts) if line[0] != "interval")


TABLE = Statement(
    node=n.PaperTable,
    usage=Usage(
        "table MEASURE, …",
        "values as a paper prints them: the best in bold, with significance marks, intervals, ranks and a caption",
        "table recall, precision, F for all on TST3, TST4 against GE adjust holm",
        of_rows="""\
>>> r = eh.table(rows, "accuracy", "all", against="base")
>>> [(row["system"], round(row["value"], 4), row["verdict"]) for row in r]
[('new', 0.75, 'not significant'), ('base', 0.6667, None)]
""",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    weigh=weigh,
)

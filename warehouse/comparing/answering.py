"""The one place where the answer to a question becomes its Result: caption, signature, notes and p-values are put
together alike for all of them.

Statements bring what they alone know: what the answer is called, the rows, and notes. Nothing here computes a number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from evalhouse.warehouse.comparing.decisions import Decisions
from evalhouse.warehouse.comparing.notes import (
    ComparedPairs,
    PairNotes,
    comparison_notes,
    faster_exactly,
    few_units,
    hopeless,
    test_settings,
    testing_caption,
    testing_method,
)
from evalhouse.warehouse.comparing.pairs import Comparison
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import (
    averaged_over,
    left_out,
    left_out_notes,
    measure_notes,
    origins,
    signature,
    title,
)
from evalhouse.warehouse.results import (
    EMPTY,
    UNEVEN,
    Column,
    Matrix,
    Result,
    SideBySide,
    Table,
    TableSection,
    Triangle,
)

# === what tests add ===================================================================================================
# Gathered from one comparison after another: what was tested and how, the p of each pair, and the notes that all
# questions have that are answered by tests.


class TestedPairs(Struct, frozen=True):
    """The pairs of a question, tested so. Intervals beside them took `resamples`, perhaps none; None where there are no
    intervals. `noted` grows with the comparisons, and a question may add to it.
    """

    how: p.Testing
    families: list[ComparedPairs]
    noted: list[str]
    pairs: PairNotes
    resamples: int | None = None

    @classmethod
    def by(cls, how: p.Testing) -> TestedPairs:
        """No pairs yet, of a question that is answered so."""
        return cls(how, [], [], PairNotes(how))

    def add(self, comparison: Comparison, decided: Decisions, against_margin: Iterable[str] = ()) -> None:
        """Adds the pairs of a comparison. Notes `against_margin` say why a margin can hardly be met."""
        label = comparison.statistic.label
        self.families.append(ComparedPairs.of(comparison, [decided[label, pair] for pair in comparison.pairs]))
        self.noted.extend([*hopeless(comparison), *against_margin, *comparison_notes(comparison)])
        self.pairs.look_for_equality(comparison, decided)

    def look_at_pairs(self, comparison: Comparison, decided: Decisions) -> None:
        """Adds notes on single pairs, for questions that show the verdict on each."""
        self.noted.extend([*few_units(comparison), *faster_exactly(comparison)])
        self.pairs.look_at(comparison, decided)

    @property
    def notes(self) -> tuple[str, ...]:
        """All notes: on comparisons, then on pairs."""
        return (*self.noted, *self.pairs.notes())

    @property
    def p_values(self) -> tuple[float, ...]:
        """The p of all pairs."""
        return tuple(p for family in self.families for p in family.p_values)

    def caption(self, entries: Sequence[p.Entry]) -> str:
        """What was tested and how."""
        return testing_caption(self.how, entries, self.families, self.resamples)

    def method(self, entries: Sequence[p.Entry]) -> str:
        """The same in few words: without what is always so unless a clause says otherwise."""
        return testing_method(self.how, entries, self.families)

    def settings(self, entries: Sequence[p.Entry]) -> tuple[str, ...]:
        """The settings that decide the numbers besides the statement and the data."""
        return test_settings(self.how, entries, self.families)


# === the result =======================================================================================================


def result_of(
    text: str,
    entries: Sequence[p.Entry],
    what: str,
    table: Table,
    *,
    how: str = "",
    tested: TestedPairs | None = None,
    settings: Sequence[str] = (),
    p_values: Sequence[float] = (),
    notes: Iterable[str] = (),
    about_measures: bool = True,
    summary_table: Table = EMPTY,
    side_by_side: SideBySide | None = None,
    triangle: Triangle | None = None,
    matrix: Matrix | None = None,
    sections: tuple[TableSection, ...] = (),
    one_by_one: bool = False,
    uneven: frozenset[tuple[str, str]] = frozenset(),
    sentence: str = "",
) -> Result:
    """The answer to the question `text` on some entries, called `what` and computed `how`.

    Where pairs were `tested`, what the tests say comes last in `how`, and theirs are the settings that decide the
    numbers besides the statement and the data, and every p. Other questions give their own `settings` and p_values.
    Notes `about_measures` that do not depend on the values stand first, and no note twice. The `sentence` says what the
    rows say.
    """
    how = "; ".join(filter(None, (averaged_over(entries), how)))
    method = how
    if tested is not None:
        method = "; ".join(filter(None, (how, tested.method(entries))))
        how = "; ".join(filter(None, (how, tested.caption(entries))))
        settings, p_values = tested.settings(entries), tested.p_values
    return Result(
        statement=text,
        caption=title(what, entries, how),
        signature=signature(text, entries, *settings),
        table=_with_marks(table, uneven),
        summary_table=_with_left_out(summary_table, entries),
        notes=tuple(
            dict.fromkeys([*(measure_notes(entries) if about_measures else ()), *notes, *left_out_notes(entries)])
        ),
        side_by_side=side_by_side,
        triangle=triangle,
        matrix=matrix,
        sections=sections,
        how=how,
        p_values=tuple(p_values),
        one_by_one=one_by_one,
        uneven=uneven,
        sentence=sentence,
        proof="; ".join(filter(None, (method, origins(entries)))),
    )


def _with_marks(table: Table, uneven: Collection[tuple[str, str]]) -> Table:
    """The table with a column of marks for each measure with values that rest on different documents. People see the
    marks beside the values.
    """
    for label in (column.name for column in table.columns if any(column.name == label for _, label in uneven)):
        test_sets, values = table.column("test_set"), table.column(label)
        marks = [
            UNEVEN if value is not None and (test_set, label) in uneven else None
            for test_set, value in zip(test_sets, values, strict=True)
        ]
        column = Column(f"mark({label})", "text", on_screen=False)
        rows = tuple((*row, mark) for row, mark in zip(table.rows, marks, strict=True))
        table = Table((*table.columns, column), rows)
    return table


def _with_left_out(summary: Table, entries: Sequence[p.Entry]) -> Table:
    """The summary with what the answer leaves out, the same in each row; a row of that alone where there is no summary.
    People read it in the notes.
    """
    said = left_out(entries)
    columns = tuple(Column(name, "text", on_screen=False) for name in said)
    rows = summary.rows or (((),) if said else ())
    return Table((*summary.columns, *columns), tuple((*row, *said.values()) for row in rows)) if said else summary

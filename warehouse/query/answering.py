"""The one place where the answer to a question becomes its Result: caption, signature, notes and p-values are put
together alike for all of them.

Statements bring what they alone know: what the answer is called, the rows, and notes. Nothing here computes a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from warehouse.query import plan as p
from warehouse.query.labels import said_of_measures, signature, title
from warehouse.results import EMPTY, Result, SideBySide, Table, TableSection, Triangle

if TYPE_CHECKING:
    from warehouse.query.comparison.tested_pairs import TestedPairs


def result_of(
    text: str,
    entries: Sequence[p.Entry],
    what: str,
    table: Table,
    *,
    how: str = "",
    tested: TestedPairs | None = None,
    deciding: Sequence[str] = (),
    p_values: Sequence[float] = (),
    notes: Iterable[str] = (),
    about_measures: bool = True,
    summary_table: Table = EMPTY,
    side_by_side: SideBySide | None = None,
    triangle: Triangle | None = None,
    sections: tuple[TableSection, ...] = (),
    one_by_one: bool = False,
) -> Result:
    """The answer to the question `text` on some entries, called `what` and computed `how`.

    Where pairs were `tested`, what the tests say comes last in `how`, and theirs is what decides the numbers besides
    the statement and the data, and every p. Other questions give what was `deciding`, and their own p_values. Notes
    `about_measures` that do not depend on the values stand first, and no note twice.
    """
    if tested is not None:
        how = "; ".join(filter(None, (how, tested.caption(entries))))
        deciding, p_values = tested.deciding(entries), tested.p_values
    # A sentence that says the answer would be made here: the table, the entries and the tests are known.
    return Result(
        statement=text,
        caption=title(what, entries, how),
        signature=signature(text, entries, *deciding),
        table=table,
        summary_table=summary_table,
        notes=tuple(dict.fromkeys([*(said_of_measures(entries) if about_measures else ()), *notes])),
        side_by_side=side_by_side,
        triangle=triangle,
        sections=sections,
        how=how,
        p_values=tuple(p_values),
        one_by_one=one_by_one,
    )

"""`against S` compares each system with S: every row is the one that S has among all pairs, perhaps seen from the
other side.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from evalhouse.grammar.clauses import CLAUSES
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.session.session import Session

SYSTEMS = ("SRI", "GE", "UMASS", "NYU")

ASKED = {
    "compare": "compare precision, F for {} on TST3, TST4",
    "documents": "documents precision, F for {} on TST3, TST4",
    "differ": "differ precision, F for {} on TST3, TST4 by label",
    "power": "power precision for {} on TST3, TST4 detect 5% documents 50 shuffles 99",
    "replicate": "replicate precision, F for {} from TST3 to TST4",
    "table": "table precision, F for {} on TST3, TST4",
}

SIGNED = {"difference", "contribution", "difference_from", "difference_to", "shrunken"}
"""What has the other sign when the systems of a pair change places; `power` detects a difference of either sign."""


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session.open() as sample:
        yield sample


def test_every_statement_that_takes_it_is_tried() -> None:
    (clause,) = [clause for clause in CLAUSES if clause.words == "against"]
    assert {*clause.statements} == {*ASKED}


@pytest.mark.parametrize("word", sorted({*ASKED} - {"table"}))
@pytest.mark.parametrize("one", SYSTEMS)
def test_rows_are_those_that_the_system_has_among_all_pairs(session: Session, word: str, one: str) -> None:
    others = [system for system in SYSTEMS if system != one]
    against = session.run(ASKED[word].format(f"{', '.join(others)} against {one}"))
    pairs = {(row["system_a"], row["system_b"]) for row in against.rows}
    assert pairs == {(other, one) for other in others}
    every = among_all_pairs(session, word)
    for row in against.rows:
        same = every[key(row)]
        for column in ("difference", "value_a", "value_b", "difference_from", "difference_to", "documents", "share"):
            if column in row and word != "power":
                assert row[column] == same[column], (column, row, same)
    assert len(against.rows) == sum(one in (row["system_a"], row["system_b"]) for row in every.values()) // 2


@cache
def among_all_pairs(session: Session, word: str) -> dict[tuple[Cell, ...], dict[str, Cell]]:
    """The rows of all pairs, seen from either side, by what tells them apart."""
    every = {key(row): row for row in session.run(ASKED[word].format(", ".join(SYSTEMS))).rows}
    return every | {key(turned): turned for turned in map(turn, every.values())}


def key(row: dict[str, Cell]) -> tuple[Cell, ...]:
    """What tells a row from others."""
    names = ("test_set", "measure", "system_a", "system_b", "document", "slice", "difference_wanted")
    return tuple(row.get(name) for name in names)


def turn(row: dict[str, Cell]) -> dict[str, Cell]:
    """The row of the same pair with the systems in the other order."""
    turned = dict(row)
    for first, second in (("system_a", "system_b"), ("value_a", "value_b")):
        if first in row:
            turned[first], turned[second] = row[second], row[first]
    return {
        name: -cell if name in SIGNED and isinstance(cell, float) and cell else cell for name, cell in turned.items()
    }


@pytest.mark.parametrize("word", sorted(ASKED))
@pytest.mark.parametrize(
    ("systems", "place"),
    [("UMASS, SRI against UMAS", "UMAS"), ("UMASS against UMASS", "UMASS"), ("UMASS against random(s=0.5)", "random")],
)
def test_what_cannot_be_compared_with_is_a_mistake_with_its_place(
    session: Session, word: str, systems: str, place: str
) -> None:
    asked = ASKED[word].format(systems)
    with pytest.raises(QueryError) as refused:
        session.run(asked)
    assert asked[refused.value.span.start :].startswith(place)


def test_a_table_has_a_line_for_the_system_that_others_are_held_against(session: Session) -> None:
    def systems(result: Result) -> list[Cell]:
        return [row["system"] for row in result.rows]

    named, added = (session.run(f"table F for {of} against GE on TST3") for of in ("GE, SRI, UMASS", "SRI, UMASS"))
    assert systems(added) == systems(named)
    assert added.table == named.table
    grid = session.run("table F for SRI, UMASS vs GE on TST3 order as named").grid
    assert grid is not None
    assert grid.systems == ("SRI", "UMASS", "GE")

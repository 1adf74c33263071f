"""Compares what files state about their own rows with what is computed from these rows, whichever reader read them.

A reader that drops or mixes something computes another figure than the tool that wrote the file. Each such difference
is said with both numbers and the place; what becomes of it is not decided here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from unicodedata import normalize

from evalhouse.warehouse.kinds.records import VALUES, FactForm
from evalhouse.warehouse.loading.staging.staged import Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure
from evalhouse.warehouse.store.sql import join, name, value, values

EXACT = 1e-9
"""How far a figure may be from one that is written with all of its digits, relative to its size."""

NAMED = 5
"""How many differences of a file are said one by one."""


def disagreements(staging: Staging, forms: Collection[FactForm]) -> tuple[str, ...]:
    """What differs between the figures that a file states and the same figures computed from its rows, which are staged
    in these forms.
    """
    said = list(_disagreements(staging, forms))
    more = len(said) - NAMED
    return tuple(
        said if more <= 0 else [*said[:NAMED], f"{more:,} more figures differ from those that the file states"]
    )


def _disagreements(staging: Staging, forms: Collection[FactForm]) -> Iterator[str]:
    decimals: dict[str, int] = {}
    for figure in staging.stated:
        decimals[figure.place] = max(decimals.get(figure.place, 0), figure.decimals)
    for figure in staging.stated:
        computed = _computed(staging, figure, has_values=VALUES in forms)
        if computed is not None and abs(computed - figure.number) > _tolerance(figure, decimals[figure.place]):
            yield (
                f"{figure.place} gives {figure.called} as {figure.number:.6g}, "
                f"but {figure.computed_as} is {computed:.6g}"
            )


def _computed(staging: Staging, figure: StatedFigure, *, has_values: bool) -> float | None:
    """The figure computed from the staged values; None if there are none, because it cannot be compared then."""
    if figure.values is not None:
        return figure.over_documents(figure.values)
    if not has_values:
        return None
    of_documents = [figure.over_runs(runs) for document, runs in _rows(staging, figure) if _is_of(figure, document)]
    return figure.over_documents(of_documents) if of_documents else None


def _is_of(figure: StatedFigure, document: str) -> bool:
    return figure.documents is None or document in figure.documents


def _rows(staging: Staging, figure: StatedFigure) -> list[tuple[str, list[float]]]:
    """The values of each document in the order of the file. Invalid cells are left out: they refuse the load anyway."""
    table = staging.of(VALUES).table
    wanted = {"test_set": figure.test_set, "measure": figure.measure}
    same = (name(column) + " = " + value(_as_staged(text)) for column, text in wanted.items())
    of_systems = "system in " + values(map(_as_staged, figure.systems))
    cells = "select document, list(cell order by place) from (select document, rowid as place, "
    where = f"try_cast(value as double) as cell from {table} where " + join(" and ", (*same, of_systems))
    return staging.database.rows(cells + where + ") where cell is not null group by document order by min(place)")


def _as_staged(text: str) -> str:
    """A name as it is staged."""
    return normalize("NFC", text.strip())


def _tolerance(figure: StatedFigure, decimals: int) -> float:
    """How far the computed figure may be from the stated one. If no figure of a file has more than a few decimals, they
    may be rounded to the last of these; nobody rounds to one decimal.
    """
    exact = EXACT * max(1.0, abs(figure.number))
    half = 0.500001 * 10.0**-decimals if decimals > 1 else exact
    return max(half, exact) + figure.slack

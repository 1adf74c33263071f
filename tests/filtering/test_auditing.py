"""Audits: all possible tables are found and no others, and what Lewis and Tong's tables 2 and 3 leave possible."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import floor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from evalhouse.warehouse.filtering.audit import Audited, Figures, audit, audit_f
from evalhouse.warehouse.filtering.contingency import CONVENTIONS, Bounds, Printed
from evalhouse.warehouse.filtering.generality import KeyCounts
from tests.filtering.printed import Row, keys, rows

HUNDREDTH = Decimal("0.01")
BETAS = (Decimal("0.5"), Decimal(1), Decimal(2))
CELLS = "abcdxy"


def to_hundredths(text: str) -> Printed:
    return Printed(Decimal(text), HUNDREDTH)


def rounded(value: Fraction, convention: str, resolution: Decimal) -> Fraction:
    """The rounding of a value, done forwards."""
    unit = Fraction(resolution)
    if convention == "half up":
        return floor(value / unit + Fraction(1, 2)) * unit
    if convention == "cut first":
        value = Fraction(floor(value * 1000), 1000)
    return round(value / unit) * unit


def ratio(numerator: Fraction | int, denominator: Fraction | int) -> Fraction | None:
    return Fraction(numerator) / denominator if denominator else None


def brute(key: KeyCounts, figures: Figures) -> dict[str, set[tuple[int, int, int]]]:
    """The tables (a, x, b) under each convention, by trying every one."""
    found: dict[str, set[tuple[int, int, int]]] = {convention.name: set() for convention in CONVENTIONS}
    for a, x, b in product(range(key.relevant + 1), range(key.optional + 1), range(key.nonrelevant + 1)):
        values = [
            (ratio(a + x, key.relevant + x), figures.recall),
            (ratio(a + x, a + x + b), figures.precision),
            (ratio(b, key.nonrelevant + key.optional - x), figures.fallout),
        ]
        for beta, printed in figures.f.items():
            weight = Fraction(beta) ** 2
            values.append((ratio((weight + 1) * (a + x), weight * (key.relevant + x) + a + x + b), printed))
        for name, tables in found.items():
            if all(
                printed is None
                or (value is not None and rounded(value, name, printed.resolution) == Fraction(printed.value))
                for value, printed in values
            ):
                tables.add((a, x, b))
    return found


SMALL = st.integers(0, 5)
PRINTED = st.one_of(
    st.none(),
    st.builds(lambda k: Printed(Decimal(k) / 100, HUNDREDTH), st.integers(0, 101)),
    st.builds(lambda k: Printed(Decimal(k) / 10, Decimal("0.1")), st.integers(0, 10)),
    st.builds(lambda k: Printed(Decimal(k) / 4, Decimal("0.25")), st.integers(0, 5)),
    st.builds(lambda k: Printed(Decimal(k) / 2000, Decimal("0.0005")), st.sampled_from([0, 1000, 1333, 1500, 2000])),
)


@settings(max_examples=150, deadline=None)
@given(
    key=st.builds(KeyCounts, SMALL, SMALL, SMALL),
    figures=st.builds(Figures, PRINTED, PRINTED, PRINTED, st.dictionaries(st.sampled_from(BETAS), PRINTED, max_size=2)),
)
def test_an_audit_finds_all_tables_and_no_other(key: KeyCounts, figures: Figures) -> None:
    figures = Figures(
        figures.recall, figures.precision, figures.fallout, {b: f for b, f in figures.f.items() if f is not None}
    )
    if figures == Figures():
        return
    tables = brute(key, figures)
    together = set.union(*tables.values())
    found = audit(key, figures)
    assert found.by_convention == {name: len(some) for name, some in tables.items()}
    assert found.solutions == len(together)
    if together:
        by_cell: dict[str, Sequence[int]] = dict(zip("axb", zip(*together, strict=True), strict=True))
        by_cell |= {
            "c": [key.relevant - a for a in by_cell["a"]],
            "d": [key.nonrelevant - b for b in by_cell["b"]],
            "y": [key.optional - x for x in by_cell["x"]],
        }
        assert found.cells == {cell: Bounds(min(counts), max(counts)) for cell, counts in by_cell.items()}
    else:
        assert not found.cells


@settings(deadline=None)
@given(st.data())
def test_what_a_table_prints_is_possible(data: st.DataObject) -> None:
    key = KeyCounts(*(data.draw(st.integers(1, 2000), label=name) for name in ("relevant", "optional", "nonrelevant")))
    a, x, b = (
        data.draw(st.integers(0, most), label=name)
        for name, most in (("a", key.relevant), ("x", key.optional), ("b", key.nonrelevant))
    )
    convention = data.draw(st.sampled_from(CONVENTIONS)).name
    values = (
        ratio(a + x, key.relevant + x),
        ratio(a + x, a + x + b),
        ratio(b, key.nonrelevant + key.optional - x),
    )
    recall, precision, fallout = (
        None if value is None else Printed(Decimal(int(rounded(value, convention, HUNDREDTH) * 100)) / 100, HUNDREDTH)
        for value in values
    )
    found = audit(key, Figures(recall, precision, fallout))
    assert convention in found.conventions
    for cell, count in {"a": a, "x": x, "b": b}.items():
        assert found.cells[cell].low <= count <= found.cells[cell].high


@given(
    value=st.fractions(0, 1, max_denominator=4000),
    resolution=st.sampled_from(["0.1", "0.01", "0.001", "0.0001", "0.25", "0.0005"]),
)
def test_a_range_holds_what_is_printed_so(value: Fraction, resolution: str) -> None:
    unit = Decimal(resolution)
    for way in CONVENTIONS:
        printed = rounded(value, way.name, unit)
        for step in (-1, 0, 1):
            near = unit * int(printed / Fraction(unit) + step)
            if near >= 0:
                assert (value in way.before(Printed(near, unit))) == (step == 0)


# --- the tables of 1992 -----------------------------------------------------------------------------------------------


def of_table_2(row: Row) -> Figures:
    return Figures(row["recall"], row["precision"], row["fallout"])


def audits() -> dict[tuple[str, str], Audited]:
    key = keys()
    return {place: audit(key[place[0]], of_table_2(row)) for place, row in rows().items()}


def test_two_rows_of_table_2_come_from_no_whole_documents() -> None:
    found = audits()
    assert len(found) == 52
    impossible = {place for place, each in found.items() if each.verdict == "impossible"}
    assert impossible == {("TST3", "LSI"), ("TST4", "allrel")}


def test_ge_on_tst3_had_one_table() -> None:
    found = audits()["TST3", "GE"]
    assert found.verdict == "unique"
    assert found.conventions == ("half up", "half even", "cut first")
    assert {cell: (bounds.low, bounds.high) for cell, bounds in found.cells.items()} == {
        cell: (count, count) for cell, count in {"a": 59, "b": 9, "c": 6, "d": 22, "x": 3, "y": 1}.items()
    }


def test_only_a_cut_before_rounding_gives_hughes_on_tst3() -> None:
    """64 and 4 of 69 are 0.98551: cut to 0.985, then 0.98."""
    assert audits()["TST3", "HUGHES"].conventions == ("cut first",)


def test_table_3_follows_from_table_2_as_printed_and_often_not_from_the_documents() -> None:
    key = keys()
    against = 0
    for place, row in rows().items():
        printed = {beta: row[f"F(beta={beta})"] for beta in BETAS}
        assert all(audit_f(row["recall"], row["precision"], f, beta).follows for beta, f in printed.items()), place
        whole = audit(key[place[0]], Figures(row["recall"], row["precision"], row["fallout"], printed))
        against += whole.verdict == "impossible"
    assert against == 21


def test_the_invented_decisions_are_among_the_tables() -> None:
    folder = Path(__file__).resolve().parent.parent.parent / "sample_data" / "simulated"
    found = audits()
    tables = contingency(folder / "labels.csv", folder / "decisions.csv", "document", "system", {"yes": 1, "no": 0})
    assert len(tables) == 34
    assert outside(tables, found) == {("TST3", "LSI")}


def test_the_real_decisions_are_among_the_tables(real_data: Path) -> None:
    folder = real_data / "muc4"
    found = audits()
    tables = contingency(folder / "key_labels.csv", folder / "decisions.csv", "message_id", "site", {"1": 1, "0": 0})
    assert len(tables) == 34
    assert outside(tables, found) == {("TST3", "LSI")}


def contingency(
    labels: Path, decisions: Path, document: str, system: str, yes: dict[str, int]
) -> dict[tuple[str, str], Counter[str]]:
    """Contingency tables by test set and system."""
    with labels.open(encoding="utf-8", newline="") as source:
        label = {(row["test_set"], row[document]): row["label"] for row in csv.DictReader(source)}
    cell = {"relevant": "ca", "nonrelevant": "db", "optional": "yx"}
    tables: dict[tuple[str, str], Counter[str]] = {}
    with decisions.open(encoding="utf-8", newline="") as source:
        for row in csv.DictReader(source):
            table = tables.setdefault((row["test_set"], row[system]), Counter())
            table[cell[label[row["test_set"], row[document]]][yes[row["decision"]]]] += 1
    return tables


def outside(tables: dict[tuple[str, str], Counter[str]], found: dict[tuple[str, str], Audited]) -> set[tuple[str, str]]:
    """Where a count lies outside the bounds, or there are none."""
    return {
        place
        for place, table in tables.items()
        if not found[place].cells
        or any(not bounds.low <= table[cell] <= bounds.high for cell, bounds in found[place].cells.items())
    }


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_undefined_ratios_match_nothing() -> None:
    assert audit(KeyCounts(0, 0, 5), Figures(recall=to_hundredths("0.00"))).verdict == "impossible"
    assert audit(KeyCounts(5, 0, 0), Figures(fallout=to_hundredths("0.00"))).verdict == "impossible"
    # Without a yes there is no precision; with one b there is, and it is 0.
    found = audit(KeyCounts(1, 0, 1), Figures(precision=to_hundredths("0.00")))
    assert found.verdict == "unique"
    assert found.cells["b"] == Bounds(1, 1)


@pytest.mark.parametrize(
    ("measure", "key"),
    [("recall", KeyCounts(8, 0, 0)), ("precision", KeyCounts(1, 0, 9)), ("fallout", KeyCounts(0, 0, 8))],
)
def test_a_tie_goes_up_or_to_the_even_digit(measure: str, key: KeyCounts) -> None:
    """Only 1 of 8, 0.125, is near the figures."""
    lower, upper = (
        audit(
            key,
            replace(Figures(), **{measure: to_hundredths(text)}),
        )
        for text in ("0.12", "0.13")
    )
    assert lower.conventions == ("half even", "cut first")
    assert upper.conventions == ("half up",)


def test_a_tie_of_f_goes_up_or_to_the_even_digit() -> None:
    """With every document decided yes F is 2 / (1 + 15)."""
    lower, upper = (
        audit(KeyCounts(1, 0, 14), Figures(fallout=to_hundredths("1.00"), f={Decimal(1): to_hundredths(text)}))
        for text in ("0.12", "0.13")
    )
    assert lower.conventions == ("half even", "cut first")
    assert upper.conventions == ("half up",)


def test_f_of_printed_figures() -> None:
    found = audit_f(to_hundredths("0.95"), to_hundredths("0.81"), to_hundredths("0.87"))
    assert found.value == pytest.approx(2 * 0.95 * 0.81 / 1.76)
    assert found.follows
    assert not audit_f(to_hundredths("0.95"), to_hundredths("0.81"), to_hundredths("0.88")).follows
    nothing = audit_f(to_hundredths("0"), to_hundredths("0"), to_hundredths("0"))
    assert nothing.value is None
    assert not nothing.follows


def test_thousands_of_documents_are_audited() -> None:
    figures = Figures(to_hundredths("0.79"), to_hundredths("0.62"), to_hundredths("0.30"))
    found = audit(KeyCounts(3334, 3333, 3333), figures)
    assert found.verdict == "possible"
    assert found.solutions >= max(found.by_convention.values())
    assert found.cells["a"].low + found.cells["c"].high == 3334


def test_what_cannot_be_audited_is_refused() -> None:
    with pytest.raises(ValueError, match="no figures to audit"):
        audit(KeyCounts(1, 1, 1), Figures())
    with pytest.raises(ValueError, match="pairs of a and x to try"):
        audit(KeyCounts(10_000, 10_000, 10_000), Figures(precision=to_hundredths("0.50")))
    with pytest.raises(ValueError, match="too many digits"):
        audit(KeyCounts(10**6, 0, 0), Figures(recall=Printed(Decimal("0.5"), Decimal("1e-13"))))
    with pytest.raises(ValueError, match=r"0\.795 is not a multiple of 0\.01"):
        Printed(Decimal("0.795"), HUNDREDTH)
    for value, resolution in (("-0.1", "0.1"), ("0.1", "0"), ("NaN", "0.1"), ("0.1", "Infinity")):
        with pytest.raises(ValueError, match="a figure cannot be printed as"):
            Printed(Decimal(value), Decimal(resolution))

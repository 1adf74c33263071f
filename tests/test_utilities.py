"""Utilities of filtering: they are linear in the cells for every way that optional documents count; the formulas of
TREC's filtering tracks by hand; exact p-values against every exchange; and everything that takes a measure takes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures import Function, Ratio, find_measure, settle
from evalhouse.warehouse.measures.filtering import COLUMNS, OPTIONAL
from evalhouse.warehouse.measures.forms import Constant, Count, Operation, as_total
from evalhouse.warehouse.measures.measure import Setting
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

Cells = dict[str, int]
CELLS = st.fixed_dictionaries({cell: st.integers(0, 30) for cell in COLUMNS})
WORTH = st.decimals(-50, 50, places=2)

HITS = {"credit": "ax", "excluded": "a", "relevant": "ax", "nonrelevant": "a"}
ALARMS = {"credit": "b", "excluded": "b", "relevant": "b", "nonrelevant": "bx"}
MISSES = {"credit": "c", "excluded": "c", "relevant": "cy", "nonrelevant": "c"}
REJECTED = {"credit": "dy", "excluded": "d", "relevant": "d", "nonrelevant": "dy"}


def computed(name: str, cells: Cells, averaged: bool = False, /, **settings: Setting) -> float | None:
    measure = find_measure(name, "filtering")
    assert measure is not None
    computation = settle(measure, settings, averaged).computation
    assert isinstance(computation, Ratio | Function)
    return computation.value([sum(weight * cells[cell] for cell, weight in form) for form in computation.forms])


def added(cells: Cells, names: str) -> int:
    return sum(cells[name] for name in names)


@pytest.mark.parametrize("optional", OPTIONAL)
@given(cells=CELLS, worth=st.fixed_dictionaries(dict.fromkeys("abcd", WORTH)))
def test_a_utility_adds_up_what_documents_are_worth(optional: str, cells: Cells, worth: dict[str, Decimal]) -> None:
    kinds = (HITS, ALARMS, MISSES, REJECTED)
    total = sum(Fraction(worth[cell]) * added(cells, of[optional]) for cell, of in zip("abcd", kinds, strict=True))
    assert computed("utility", cells, False, optional=optional, **worth) == float(total)


@pytest.mark.parametrize("optional", OPTIONAL)
@given(first=CELLS, second=CELLS, times=st.integers(0, 9))
def test_utilities_are_linear(optional: str, first: Cells, second: Cells, times: int) -> None:
    both = {cell: first[cell] + times * second[cell] for cell in COLUMNS}
    for name in ("utility", "T11U"):
        one, other, sums = (computed(name, cells, optional=optional) for cells in (first, second, both))
        assert one is not None
        assert other is not None
        assert sums == one + times * other


@pytest.mark.parametrize(
    ("accepted", "others", "missed", "t11u", "t9u", "t11su", "t11f"),
    [
        # U⁺ = 2 · 20: (25/40 + 0.5) / 1.5; 1.25 · 15 / (0.25 · 5 + 5 + 1.25 · 15)
        (15, 5, 5, 25, 25, 0.75, 0.75),
        (20, 0, 0, 40, 40, 1.0, 1.0),
        (0, 0, 20, 0, 0, 1 / 3, 0.0),
        # Half as much below 0 as U⁺ is above: the floor of T11SU, not yet that of T9U.
        (0, 20, 20, -20, -20, 0.0, 0.0),
        (1, 302, 19, -300, -100, 0.0, 5 / (5 + 4 * 302 + 19)),
        (0, 0, 0, 0, 0, None, 0.0),
    ],
)
def test_the_formulas_of_trec_by_hand(
    accepted: int, others: int, missed: int, t11u: int, t9u: int, t11su: float | None, t11f: float
) -> None:
    """The formulas of the tracks' reports on counts of single topics; no printed table has the counts behind it."""
    cells = dict.fromkeys(COLUMNS, 0) | {"a": accepted, "b": others, "c": missed, "d": 1000}
    assert computed("T11U", cells) == t11u
    assert computed("T9U", cells) == t9u
    assert computed("T11SU", cells) == (None if t11su is None else pytest.approx(t11su))
    assert computed("T11F", cells, True) == pytest.approx(t11f)
    if accepted:
        assert computed("T11F", cells) == pytest.approx(t11f)


@given(cells=CELLS)
def test_t11f_is_f_with_more_weight_on_precision(cells: Cells) -> None:
    assert computed("T11F", cells) == computed("F", cells, beta=Decimal("0.5"))


def test_what_is_a_total_and_what_is_none() -> None:
    a, b, two = Count("a"), Count("b"), Constant(Fraction(2))
    total = as_total(Operation(Operation(two, "*", a), "-", Operation(b, "/", two)))
    assert total is not None
    assert total.terms == (("a", Fraction(2)), ("b", Fraction(-1, 2)))
    assert as_total(Operation(a, "-", a)) is None
    assert as_total(Operation(a, "+", two)) is None
    assert as_total(Operation(a, "*", b)) is None
    assert as_total(Operation(a, "/", b)) is None


@pytest.fixture(scope="module")
def session() -> Session:
    return Session.open()


KEY = "RRRRORNNNN"
DECIDED = {"A": "yyynyynnny", "B": "nynnynynyy"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("decided")
    said = {"y": "yes", "n": "no"}
    decisions = [("t", s, f"d{k}", said[v]) for s, of in DECIDED.items() for k, v in enumerate(of)]
    parts = [("t", f"d{k}", k // 4) for k in range(len(KEY))]
    label = {"R": "relevant", "N": "nonrelevant", "O": "optional"}
    labels = [("t", f"d{k}", label[v]) for k, v in enumerate(KEY)]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "d.csv", "test_set system document decision", decisions), "decisions")
        load(database, write_csv(folder / "l.csv", "test_set document label", labels), "labels")
        load(database, write_csv(folder / "a.csv", "test_set document part", parts), "documents")
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


def worth(answers: Sequence[str]) -> float:
    """2 for each relevant document that was accepted, −1.5 for each other."""
    return sum({"R": 2, "O": 2, "N": -1.5}[label] for label, answer in zip(KEY, answers, strict=True) if answer == "y")


@pytest.mark.parametrize("size", [1, 4])
def test_the_exact_level_is_that_of_every_exchange(small: Session, size: int) -> None:
    pairs = list(zip(*DECIDED.values(), strict=True))
    units = -(-len(pairs) // size)
    differences = []
    for exchanged in product((False, True), repeat=units):
        first = [pair[exchanged[place // size]] for place, pair in enumerate(pairs)]
        second = [pair[not exchanged[place // size]] for place, pair in enumerate(pairs)]
        differences.append(worth(first) - worth(second))
    beyond = sum(abs(difference) >= abs(differences[0]) for difference in differences)
    by = " exchange by document.part" if size > 1 else ""
    (row,) = small.run(f"compare utility(a=2, b=-1.5) of filtering for A, B on t exact{by}").rows
    assert (row["value_a"], row["value_b"]) == (worth(DECIDED["A"]), worth(DECIDED["B"]))
    assert row["difference"] == differences[0]
    assert row["p"] == pytest.approx(beyond / len(differences), abs=1e-12)


SUMMED = ("utility(b=-1.5)", "T11U", "T9U", "T11SU", "T11F")


@pytest.mark.long
@pytest.mark.parametrize(
    "clauses",
    [
        "test studentized shuffles 999",
        "test bootstrap shuffles 999",
        "shuffles 999 adjust maxt",
        "exact adjust holm",
        "interval percentile",
        "interval bca",
        "margin 0.05",
    ],
)
def test_what_tests_and_adjusts_others_does_so_for_each(session: Session, clauses: str) -> None:
    rows = session.run(f"compare {', '.join(SUMMED)} of filtering for GE, SRI, USC on TST3 {clauses}").rows
    assert len(rows) == 3 * len(SUMMED)
    for row in rows:
        assert 0 < row["p"] <= 1  # type: ignore[operator]
        assert row["ci_low"] < row["difference"] < row["ci_high"]  # type: ignore[operator]


@pytest.mark.long
@pytest.mark.parametrize("question", ["score", "compare", "group", "rank", "table"])
@pytest.mark.parametrize("name", SUMMED)
def test_every_picture_and_table_draws_it(session: Session, question: str, name: str) -> None:
    plot = "" if question == "table" else "plot "
    result = session.run(f"{plot}{question} {name} of filtering for GE, SRI, USC on TST3")
    assert result.rows
    assert question == "table" or result.chart is not None


def test_documents_and_slices_add_up_to_the_difference(session: Session) -> None:
    documents = session.run("documents T11U for GE, UMASS on TST3 limit 1000").rows
    assert sum(row["contribution"] for row in documents) == pytest.approx(-3)  # type: ignore[misc]
    assert {row["value_a"] for row in documents} <= {2.0, 0.0, -1.0}
    slices = session.run("differ T11U for GE, UMASS on TST3 by label shuffles 99").rows
    assert sum(row["value_a"] for row in slices) == 115  # type: ignore[misc]
    assert sum(row["difference"] for row in slices) == -3  # type: ignore[misc]


def test_a_definition_of_sums_is_compared_exactly_too(session: Session) -> None:
    rows = session.run("define measure Half = utility(a=2, b=-1) / 2; compare Half, T11U for GE, UMASS on TST3").rows
    half, whole = rows
    assert half["difference"] == whole["difference"] / 2  # type: ignore[operator]
    assert half["p"] == whole["p"]
    assert half["ci_low"] == pytest.approx(whole["ci_low"] / 2)  # type: ignore[operator]


def test_what_is_worth_nothing_never_differs(session: Session) -> None:
    (row,) = session.run("compare utility(a=0, b=0) for GE, UMASS on TST3").rows
    assert (row["difference"], row["p"]) == (0, 1)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("utility(q=1)", "utility has no parameter 'q'"),
        ("utility(a=x)", "a is a number, not x"),
        ("utility(a=-10001)", "up to 10000"),
        ("T9U(min=1)", "min is a number of at most 0, not 1"),
        ("T11SU(min=0.5)", "min is a number of at most 0"),
    ],
)
def test_what_cannot_be_is_said_with_its_place(session: Session, asked: str, said: str) -> None:
    text = f"score {asked} of filtering for GE on TST3"
    with pytest.raises(QueryError, match=said) as raised:
        session.run(text)
    place = raised.value.span
    assert text[place.start : place.end] in asked


@pytest.mark.parametrize(("name", "other"), [("T11U", "T10U"), ("T11SU", "T10SU"), ("T11F", "T10F")])
def test_the_names_of_the_year_before_are_shown_as_typed(session: Session, name: str, other: str) -> None:
    (row,) = session.run(f"score {name}, {other} of filtering for GE on TST3").rows
    assert row[other] == row[name]


def test_statements_with_signs_are_printed_as_they_are_read() -> None:
    text = "score utility(a=2, b=-1.5, optional=excluded) of filtering for GE on TST3"
    assert to_text(parse(text)) == text

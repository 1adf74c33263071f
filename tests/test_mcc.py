"""MCC of filtering: its value compared with scikit-learn, its exact value in 60 digits, and its tests compared with
enumeration.
"""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import matthews_corrcoef

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.charts import Bins
from evalhouse.warehouse.measures import Function, find_measure, settle
from evalhouse.warehouse.measures.filtering import COLUMNS
from evalhouse.warehouse.measures.forms import Call, Constant, Count, Operation, evaluate, exact
from evalhouse.warehouse.session.session import Session

CELLS = st.fixed_dictionaries({cell: st.integers(0, 30) for cell in COLUMNS})


def mcc(optional: str = "credit", constant: str = "undefined") -> Function:
    measure = find_measure("mcc", "filtering")
    assert measure is not None
    computation = settle(measure, {"optional": optional, "constant": constant}).computation
    assert isinstance(computation, Function)
    return computation


@given(CELLS)
def test_the_value_is_that_of_scikit_learn(cells: dict[str, int]) -> None:
    """Optional documents left out."""
    function = mcc("excluded")
    a, b, c, d = (cells[cell] for cell in "abcd")
    labels, answers = [1] * a + [0] * b + [1] * c + [0] * d, [1] * a + [1] * b + [0] * c + [0] * d
    value = function.value([cells[cell] for cell in function.columns])
    if a + b == 0 or a + c == 0 or d + b == 0 or d + c == 0:
        assert value is None
        return
    assert value == pytest.approx(matthews_corrcoef(labels, answers), abs=1e-12)


@pytest.mark.filterwarnings("ignore:A single label was found:UserWarning")
@given(CELLS)
def test_a_constant_system_counts_0_as_in_scikit_learn(cells: dict[str, int]) -> None:
    measure = find_measure("mcc", "filtering")
    assert measure is not None
    function = settle(measure, {"optional": "excluded"}).computation
    assert isinstance(function, Function)
    a, b, c, d = (cells[cell] for cell in "abcd")
    assume(a + b + c + d)
    labels, answers = [1] * a + [0] * b + [1] * c + [0] * d, [1] * a + [1] * b + [0] * c + [0] * d
    value = function.value([cells[cell] for cell in function.columns])
    assert value == pytest.approx(matthews_corrcoef(labels, answers), abs=1e-12)


@given(CELLS)
def test_the_value_is_its_square_root_to_sixty_digits(cells: dict[str, int]) -> None:
    function = mcc()
    h, f, m, r = cells["a"] + cells["x"], cells["b"], cells["c"], cells["d"] + cells["y"]
    under = (h + f) * (h + m) * (r + f) * (r + m)
    value = function.exact([cells[cell] for cell in function.columns])
    if under == 0:
        assert value is None
        return
    assert value is not None
    with localcontext(prec=90):
        expected = Decimal(h * r - f * m) / Decimal(under).sqrt()
        given_value = value if isinstance(value, Decimal) else Decimal(value.numerator) / Decimal(value.denominator)
        assert abs(given_value - expected) <= Decimal(10) ** -58
    arrays = {cell: np.array([float(count)]) for cell, count in cells.items()}
    assert function.values(arrays)[0] == pytest.approx(float(expected), abs=1e-12)


def test_functions_of_an_expression_are_exact_where_they_can_be() -> None:
    x = Count("x")
    assert exact(Call("sqrt", (x,)), {"x": 9}) == Fraction(3)
    assert exact(Call("sqrt", (Operation(x, "/", Constant(Fraction(4))),)), {"x": 9}) == Fraction(3, 2)
    assert exact(Call("sqrt", (x,)), {"x": 2}) == Decimal(
        "1.41421356237309504880168872420969807856967187537694807317668"
    )
    assert exact(Call("sqrt", (Operation(Constant(Fraction(-1)), "*", x),)), {"x": 2}) is None
    assert exact(Call("log", (x,)), {"x": 0}) is None
    assert exact(Call("log", (x,)), {"x": 1}) == exact(Call("exp", (Operation(x, "-", x),)), {"x": 1}) - 1 == 0  # type: ignore[operator]
    assert exact(Call("exp", (Call("exp", (Call("exp", (x,)),)),)), {"x": 10**6}) is None
    assert exact(Call("min", (x, Constant(Fraction(1, 2)))), {"x": 9}) == Fraction(1, 2)
    assert exact(Call("max", (Call("sqrt", (x,)), Constant(Fraction(1)))), {"x": 2}) == exact(
        Call("sqrt", (x,)), {"x": 2}
    )
    assert exact(Call("abs", (Operation(Constant(Fraction(1)), "-", x),)), {"x": 9}) == 8
    assert exact(Call("min", (x, Operation(x, "/", Constant(Fraction(0))))), {"x": 9}) is None


@pytest.mark.parametrize("function", ["sqrt", "log", "exp", "abs", "min", "max"])
def test_floating_point_says_what_the_exact_reading_says(function: str) -> None:
    arguments = (
        Operation(Count("x"), "-", Constant(Fraction(3))),
        *((Count("y"),) if function in ("min", "max") else ()),
    )
    call = Call(function, arguments)  # type: ignore[arg-type]
    pairs = list(product(range(8), range(4)))
    arrays = {name: np.array([pair[place] for pair in pairs], dtype=float) for place, name in enumerate("xy")}
    for (x, y), value in zip(pairs, evaluate(call, arrays), strict=True):
        expected = exact(call, {"x": x, "y": y})
        assert np.isnan(value) if expected is None else value == pytest.approx(float(expected), abs=1e-12)


SAMPLE = "MCC of filtering for GE, HUGHES on TST3"


@pytest.fixture(scope="module")
def session() -> Session:
    return Session.open()


def test_exact_and_shuffled_levels_agree(session: Session) -> None:
    (counted,) = session.run(f"compare {SAMPLE.replace('GE, HUGHES', 'GE, SRI')} exact").rows
    (shuffled,) = session.run(f"compare {SAMPLE.replace('GE, HUGHES', 'GE, SRI')} shuffles 99999").rows
    p = counted["p"]
    assert isinstance(p, float)
    assert shuffled["p"] == pytest.approx(p, abs=4 * (p * (1 - p) / 99999) ** 0.5)


@pytest.mark.parametrize(
    "clauses",
    [
        "test bootstrap shuffles 999",
        "test tukey shuffles 999",
        "shuffles 999 adjust maxt",
        "shuffles 999 adjust holm",
        "exact adjust fdr",
        "interval bca",
        "one-sided",
    ],
)
def test_what_tests_and_adjusts_a_ratio_does_so_for_mcc(session: Session, clauses: str) -> None:
    for row in session.run(f"compare MCC of filtering for GE, SRI, USC on TST3 {clauses}").rows:
        assert isinstance(row["p"], float)
        assert 0 < row["p"] <= 1
        assert isinstance(row["ci_low"], float)
        assert row["ci_low"] < row["difference"]  # type: ignore[operator]
        if "one-sided" in clauses:
            assert row["ci_high"] is None
        else:
            assert row["difference"] < row["ci_high"]  # type: ignore[operator]


def test_where_a_single_miss_decides_there_is_no_interval(session: Session) -> None:
    """HUGHES misses one document and rejects none rightly: without that one, MCC is undefined."""
    result = session.run("compare MCC(constant=undefined) of filtering for HUGHES, USC on TST3")
    assert result.rows[0]["ci_low"] is None
    (note,) = [note for note in result.notes if "interval" in note]
    assert re.fullmatch(
        r"MCC\(constant=undefined\) on TST3: of 2,000 resamples, too many have no value, so there is no interval: "
        r"7\d\d for HUGHES and USC",
        note,
    )
    bca = session.run("compare MCC(constant=undefined) of filtering for HUGHES, USC on TST3 interval bca")
    assert bca.rows[0]["ci_low"] is not None
    assert session.run("compare MCC of filtering for HUGHES, USC on TST3").rows[0]["ci_low"] is not None


@pytest.mark.parametrize("test", ["sign", "wilcoxon", "t", "mcnemar"])
def test_matched_pairs_say_why_not(session: Session, test: str) -> None:
    with pytest.raises(
        QueryError, match="needs the same denominator for both systems in every unit, and those of MCC differ"
    ):
        session.run(f"compare {SAMPLE} test {test}")


@pytest.mark.parametrize("test", ["two-sample-t", "z", "chi-square"])
def test_independent_samples_say_why_not(session: Session, test: str) -> None:
    with pytest.raises(QueryError, match=f"{test} does not fit MCC of GE and HUGHES: .* ?needs"):
        session.run(f"compare {SAMPLE} test {test}")


@pytest.mark.parametrize("question", ["score MCC", "compare MCC", "group MCC", "score MCC, F"])
def test_every_picture_draws_it(session: Session, question: str) -> None:
    systems = "GE, HUGHES" if question.startswith("compare") else "all"
    assert session.run(f"plot {question} of filtering for {systems} on TST3").chart is not None


def test_a_pair_is_drawn_as_the_distribution_that_its_shuffles_have(session: Session) -> None:
    """The share of shuffled differences beyond the observed one is the p of as many shuffles."""
    result = session.run("plot compare MCC of filtering for GE, SRI on TST3 shuffles 9999")
    assert result.chart is not None
    (panel,) = result.chart.panels
    assert result.chart.alternative.startswith("Distribution of differences under randomization.")
    (histogram,) = panel.marks_of(Bins)
    p = result.rows[0]["p"]
    assert isinstance(p, float)
    assert sum(bar.count for bar in histogram.bins) == 9999
    assert (sum(bar.count for bar in histogram.bins if bar.counted) + 1) / 10000 == pytest.approx(p, abs=2e-4)


def test_a_definition_can_use_it(session: Session) -> None:
    (row,) = session.run("define measure Half = MCC / 2; score Half, MCC of filtering for GE on TST3").rows
    assert row["Half"] == pytest.approx(row["MCC"] / 2)  # type: ignore[operator]


@pytest.mark.parametrize(
    "definition",
    [
        "exp(possible)",
        "min(exp(possible * possible), 1)",
        "sqrt(exp(possible * possible) - exp(2 * possible * possible))",
    ],
)
def test_what_is_beyond_all_numbers_is_undefined(session: Session, definition: str) -> None:
    result = session.run(f"define measure Beyond = {definition}; score Beyond for GE on TST3")
    assert result.rows[0]["Beyond"] is None
    assert "takes an impossible root or logarithm" in result.notes[0]
    with pytest.raises(QueryError, match="Beyond is undefined on TST3"):
        session.run("compare Beyond for GE, UMASS on TST3")

"""`margin`: two one-sided tests, compared with enumerated shifted sign flips and with statsmodels; and what each
verdict means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures.values import ERROR_RATES, SHARES
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.replacement import create
from tests.conftest import WithValues, write_csv

Number = int | float | Fraction
Open = Callable[..., Session]


@pytest.fixture
def opened(with_values: WithValues) -> Open:
    """A warehouse of values, for each measure what each system has on one document after another."""

    def of_measures(**measures: dict[str, Sequence[Number]]) -> Session:
        return with_values(
            ("t", system, f"d{place:05}", measure, float(value))
            for measure, systems in measures.items()
            for system, values in systems.items()
            for place, value in enumerate(values)
        )

    return of_measures


def only_row(result: Result) -> dict[str, object]:
    (row,) = result.rows
    return dict(row)


def by_enumeration(first: Sequence[Fraction], second: Sequence[Fraction], margin: Fraction) -> float:
    """p of the first not being worse than the second by the margin: how many of all sign flips of the differences,
    each raised by the margin, have a sum at least as large."""
    raised = [a - b + margin for a, b in zip(first, second, strict=True)]
    sums = [
        sum(sign * value for sign, value in zip(signs, raised, strict=True))
        for signs in product((1, -1), repeat=len(raised))
    ]
    return sum(total >= sum(raised) for total in sums) / len(sums)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_both_p_are_those_of_all_shifted_flips(opened: Open, seed: int) -> None:
    random = Random(seed)
    count, digits = random.randint(2, 12), random.choice((0, 1, 3))
    a, b = ([Fraction(random.randint(0, 20), 10**digits) for _ in range(count)] for _ in "ab")
    margin = Fraction(random.choice((1, 5, 25)), random.choice((1, 10, 40)))
    with opened(m={"A": a, "B": b}) as session:
        row = only_row(session.run(f"compare m for A, B on t margin {float(margin)} exact"))
    assert (row["p_not_worse"], row["p_not_better"]) == pytest.approx(
        (by_enumeration(a, b, margin), by_enumeration(b, a, margin)), abs=1e-15
    )
    assert (row["margin"], row["method"]) == (float(margin), "exact")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_flips_that_tie_but_for_rounding_are_ties(opened: Open, seed: int) -> None:
    """Values without an end in decimals: a sum of flips that is as large as the observed one is so after rounding."""
    random = Random(seed)
    thirds = [Fraction(random.randint(0, 9), 3) for _ in range(20)]
    a, b, margin = thirds[:10], thirds[10:], Fraction(1, 4)
    with opened(m={"A": a, "B": b}) as session:
        row = only_row(session.run("compare m for A, B on t margin 0.25 exact"))
    assert row["p_not_worse"] == by_enumeration(a, b, margin)
    assert row["p_not_better"] == by_enumeration(b, a, margin)


def test_right_and_wrong_answers_are_counted_exactly(opened: Open) -> None:
    """Of 300 items that are right or wrong, the sums of all 2^300 shifted flips in whole numbers."""
    random = Random(7)
    a = [int(random.random() < 0.8) for _ in range(300)]
    b = [int(random.random() < 0.79) for _ in range(300)]
    with opened(accuracy={"A": a, "B": b}) as session:
        row = only_row(session.run("compare accuracy for A, B on t margin 5%"))
    steps = [20 * (x - y) + 1 for x, y in zip(a, b, strict=True)]
    ways = Counter({0: 1})
    for step in steps:
        more: Counter[int] = Counter()
        for total, count in ways.items():
            more[total + step] += count
            more[total - step] += count
        ways = more
    exact = Fraction(sum(count for total, count in ways.items() if total >= sum(steps)), 2 ** len(steps))
    assert row["method"] == "exact"
    assert row["p_not_worse"] == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.long
def test_many_items_come_near_two_t_tests(opened: Open) -> None:
    """ttost_paired of statsmodels gives the p of both one-sided t tests: test t gives the same, and randomization comes
    near it.
    """
    from statsmodels.stats.weightstats import ttost_paired

    random = Random(5)
    base = [random.gauss(10, 2) for _ in range(2000)]
    new = [value + random.gauss(0.02, 1) for value in base]
    _, above, below = ttost_paired(np.array(new), np.array(base), -0.08, 0.08)
    with opened(m={"A": new, "B": base}) as session:
        of_t = only_row(session.run("compare m for A, B on t margin 0.08 test t"))
        randomized = only_row(session.run("compare m for A, B on t margin 0.08 shuffles 99999"))
        studentized = only_row(session.run("compare m for A, B on t margin 0.08 shuffles 99999 test studentized"))
    both = above[1], below[1]
    assert (of_t["p_not_worse"], of_t["p_not_better"]) == pytest.approx(both, rel=1e-6)
    for row in (randomized, studentized):
        assert (row["p_not_worse"], row["p_not_better"]) == pytest.approx(both, abs=0.003)


@pytest.mark.parametrize(
    ("b", "margin", "verdict"),
    [
        ([1] * 50 + [0] * 50, "5%", "equivalent"),
        ([0] * 80 + [1] * 20, "5%", "better"),
        ([1] * 90 + [0] * 10, "5%", "worse"),
        ([0, 1] * 50, "10%", "not worse"),
        ([0, 1] * 50, "1%", "inconclusive"),
    ],
)
def test_each_verdict(opened: Open, b: list[int], margin: str, verdict: str) -> None:
    a = [1] * 50 + [0] * 50 if verdict != "not worse" else [1, 1, 0, 1] * 25
    a = [1] * 54 + [0] * 46 if verdict == "not worse" else a
    with opened(accuracy={"A": a, "B": b}) as session:
        row = only_row(session.run(f"compare accuracy for A, B on t margin {margin}"))
    assert row["verdict"] == verdict, row


def test_where_lower_is_better_the_two_change_places(opened: Open) -> None:
    random = Random(11)
    slow = [10 + random.gauss(0, 1) for _ in range(40)]
    fast = [value - 0.5 + random.gauss(0, 0.4) for value in slow]
    with opened(latency={"A": fast, "B": slow}, speed={"A": [-x for x in fast], "B": [-x for x in slow]}) as session:
        lower = only_row(session.run("compare latency for A, B on t margin 0.2 shuffles 9999"))
        higher = only_row(session.run("compare speed for A, B on t margin 0.2 shuffles 9999"))
    assert lower["verdict"] == higher["verdict"] == "better"
    assert lower["p_not_worse"] == pytest.approx(higher["p_not_worse"], abs=0.005)
    assert lower["p_not_better"] == pytest.approx(higher["p_not_better"], abs=0.02)


@pytest.mark.parametrize("clauses", ["", "adjust holm", "test studentized", "test t", "adjust bonferroni exact"])
def test_a_pair_turned_round_changes_its_verdict_alone(opened: Open, clauses: str) -> None:
    random = Random(3)
    a, b = ([random.randint(0, 3) / 3 for _ in range(15)] for _ in "ab")
    with opened(m={"A": a, "B": b}) as session:
        one = only_row(session.run(f"compare m for A, B on t margin 0.1 {clauses}"))
        other = only_row(session.run(f"compare m for B, A on t margin 0.1 {clauses}"))
    assert (one["p_not_worse"], one["p_not_better"]) == pytest.approx((other["p_not_better"], other["p_not_worse"]))


def test_each_of_the_two_families_is_adjusted_by_itself(opened: Open) -> None:
    random = Random(2)
    systems = {
        name: [int(random.random() < share) for _ in range(60)]
        for name, share in zip("ABCD", (0.9, 0.85, 0.6, 0.5), strict=True)
    }
    with opened(m=systems) as session:
        plain = session.run("compare m for all on t margin 0.05").rows
        bonferroni = session.run("compare m for all on t margin 0.05 adjust bonferroni").rows
    for column in ("p_not_worse", "p_not_better"):
        for raw, row in zip(plain, bonferroni, strict=True):
            p = raw[column]
            assert isinstance(p, float)
            assert row[column] == pytest.approx(min(1.0, 6 * p))


@pytest.mark.parametrize("kind", ["studentized", "bca"])
def test_where_denominators_differ_the_interval_decides(kind: str) -> None:
    """At level 0.05 the 90% interval that is shown has to lie within the margin."""
    with Session.open() as session:
        ends = only_row(session.run(f"compare F for GE-CMU, UMASS on TST3 level 0.1 interval {kind}"))
        low, high = ends["ci_low"], ends["ci_high"]
        assert isinstance(low, float)
        assert isinstance(high, float)
        for margin in (-low + 1e-6, -low - 1e-6, high + 1e-6, high - 1e-6):
            row = only_row(session.run(f"compare F for GE-CMU, UMASS on TST3 margin {margin:.9f} interval {kind}"))
            said = "equivalent" if high < margin else "not worse" if -margin < low else "inconclusive"
            assert (row["verdict"], row["ci_low"], row["ci_high"]) == (said, low, high)
            assert (row["method"], row["p_not_worse"], row["p_not_better"]) == ("interval", None, None)


def test_the_margin_is_in_signature_and_explanation(opened: Open) -> None:
    with opened(m={"A": [1, 0, 1, 1], "B": [1, 1, 1, 0]}) as session:
        result = session.run("compare m for A, B on t margin 0.05")
        lines = {
            str(row["stage"]): str(row["what"])
            for row in session.run("explain compare m for A, B on t margin 0.05").rows
        }
    assert "| margin 0.05 |" in result.signature
    assert lines["margin"].startswith("m: 0.05, two one-sided tests")


@pytest.mark.long
@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("margin 0", "a margin must be above 0, not 0"),
        ("margin 0.05 one-sided", "margin already makes two one-sided tests"),
        ("margin 0.05 adjust maxt", "adjust maxt cannot be combined with margin"),
        ("margin 0.05 missing bounds", "missing bounds cannot be combined with margin"),
        ("margin 0.05 level 0.5", "with a margin the level must be below 0.5"),
        ("margin 0.05 test wilcoxon", "margin works with test randomization, studentized, t, not with wilcoxon"),
        ("margin 0.0000000000000000001", "the margin 1E-19 has too many digits for m"),
    ],
)
def test_what_does_not_go_with_a_margin(opened: Open, clauses: str, message: str) -> None:
    with opened(m={"A": [1, 0, 1, 1], "B": [1, 1, 1, 0]}) as session, pytest.raises(QueryError) as raised:
        session.run(f"compare m for A, B on t {clauses}")
    assert raised.value.message == message


def test_a_margin_as_wide_as_the_measure_is_a_slip() -> None:
    with Session.open() as session, pytest.raises(QueryError) as raised:
        session.run("compare recall for GE, UMASS on TST3 margin 2")
    assert raised.value.hints == ("write margin 2%",)


def test_shuffles_may_leave_it_open(opened: Open) -> None:
    random = Random(4)
    a, b = ([random.gauss(0, 1) for _ in range(60)] for _ in "ab")
    with opened(m={"A": a, "B": b}) as session:
        row = only_row(session.run("compare m for A, B on t margin 0.27 shuffles 99"))
    assert row["verdict"] in ("undecided", "inconclusive", "not worse", "equivalent")


@pytest.mark.parametrize(("differing", "bound"), [(0, 0.0722), (1, 0.1132), (9, 0.3598), (10, None)])
def test_few_differing_items_need_the_bound_of_the_share_that_differs(
    opened: Open, differing: int, bound: float | None
) -> None:
    """Of 40 items: 1 − .05^(1/40) with none that differs, and Clopper and Pearson's one-sided limits."""
    only_a, only_b = (differing + 1) // 2, differing // 2
    a, b = [1] * (40 - only_b) + [0] * only_b, [0] * only_a + [1] * (40 - only_a)
    with opened(accuracy={"A": a, "B": b}) as session:
        wide, narrow = (session.run(f"compare accuracy for A, B on t margin {margin}") for margin in ("0.37", "7%"))
    row = only_row(wide)
    assert row["verdict"] == "equivalent"
    assert only_row(narrow)["verdict"] == "inconclusive"
    if bound is not None:
        assert (row["ci_low"], row["ci_high"]) == (pytest.approx(-bound, abs=5e-5), pytest.approx(bound, abs=5e-5))
        may = f"differ in {differing} of 40 documents; systems that differ by up to"
        assert any(may in note for note in narrow.notes)


def test_a_pair_that_differs_in_few_items_of_one_kind_keeps_the_interval_of_its_direction(opened: Open) -> None:
    """Eight of 40 are right for A alone: better, and the bound of 33.2% would say nothing of a direction."""
    with opened(accuracy={"A": [1.0] * 40, "B": [0.0] * 8 + [1.0] * 32}) as session:
        better = only_row(session.run("compare accuracy for A, B on t margin 5%"))
        alike = only_row(session.run("compare accuracy for A, B on t margin 0.4"))
    assert (better["verdict"], float(str(better["ci_low"])) > 0) == ("better", True)
    assert (alike["verdict"], alike["ci_high"]) == ("equivalent", pytest.approx(stats.beta.ppf(0.95, 9, 32)))


def test_where_the_range_is_not_known_few_differing_units_decide_nothing(opened: Open) -> None:
    """Nor do percentages by the name of a share."""
    values = {"A": [70.0] * 40, "B": [70.0] * 39 + [71.0]}
    with opened(seconds=values, accuracy=values) as session:
        for measure in ("seconds", "accuracy"):
            result = session.run(f"compare {measure} for A, B on t margin 5")
            row = only_row(result)
            assert (row["verdict"], row["ci_low"], row["ci_high"]) == ("inconclusive", None, None)
            assert any("differ in 1 of 40 documents, too few to show" in note for note in result.notes)


@pytest.mark.parametrize("size", [4, 8, 15, 40])
@pytest.mark.parametrize("apart", [0.05, 0.3, 1.0])
def test_no_verdict_contradicts_the_interval_beside_it(opened: Open, size: int, apart: float) -> None:
    """Of items, right or wrong, of which few or many differ, and of other values."""
    random = Random(11)
    a = [float(random.randrange(2)) for _ in range(size)]
    b = [1 - value if random.random() < apart else value for value in a]
    graded = [round(random.random(), 2) for _ in a]
    with opened(accuracy={"A": a, "B": b}, f1={"A": graded, "B": graded[1:] + graded[:1]}) as session:
        for measure, margin in product(("accuracy", "f1"), (0.02, 0.1, 0.3)):
            row = only_row(session.run(f"compare {measure} for A, B on t margin {margin}"))
            low, high = row["ci_low"], row["ci_high"]
            if row["verdict"] in ("equivalent", "not worse"):
                assert isinstance(low, float)
                assert low > -margin
            if row["verdict"] == "equivalent":
                assert isinstance(high, float)
                assert high < margin
            if row["verdict"] == "better":
                assert isinstance(low, float)
                assert low > 0
            if row["verdict"] == "worse":
                assert isinstance(high, float)
                assert high < 0


def test_values_all_of_which_differ_are_enough_however_few(opened: Open) -> None:
    values = {"A": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "B": [0.2, 0.1, 0.4, 0.3, 0.6, 0.5]}
    with opened(m=values) as session:
        result = session.run("compare m for A, B on t margin 1")
    assert only_row(result)["verdict"] == "equivalent"
    assert not any("too few" in note for note in result.notes)


# === a part of the second system's value ==============================================================================


def of_amounts(
    folder: Path, measures: Mapping[str, Mapping[str, Sequence[Number]]], lower_is_better: bool = False
) -> Session:
    """A warehouse of values, for each measure what each system has on one document after another."""
    rows = [
        ("t", system, f"d{place:05}", measure, float(value))
        for measure, systems in measures.items()
        for system, values in systems.items()
        for place, value in enumerate(values)
    ]
    path = write_csv(folder / "v.csv", "test_set system document measure value", rows)
    with create(folder / "w.duckdb") as database:
        load(database, path, "values", lower_is_better=dict.fromkeys(measures, lower_is_better))
    return Session.open(folder / "w.duckdb")


@pytest.mark.parametrize("lower_is_better", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_part_of_the_second_is_tested_by_all_flips_of_the_first_and_that_part(
    tmp_path: Path, seed: int, lower_is_better: bool
) -> None:
    """p of A against 0.95·B and 1.05·B, by enumeration in fractions."""
    random = Random(seed)
    a, b = ([Fraction(random.randint(5, 30), 10) for _ in range(9)] for _ in "ab")
    systems = {"A": a, "B": b}
    with of_amounts(tmp_path, {"amount": systems}, lower_is_better) as session:
        row = only_row(session.run("compare amount for A, B on t margin 5% of B exact"))
    less, more = ([value * factor for value in b] for factor in (Fraction(95, 100), Fraction(105, 100)))
    not_worse, not_better = by_enumeration(a, less, Fraction(0)), by_enumeration(more, a, Fraction(0))
    if lower_is_better:
        not_worse, not_better = not_better, not_worse
    assert (row["p_not_worse"], row["p_not_better"]) == pytest.approx((not_worse, not_better), abs=1e-15)
    assert row["margin"] == pytest.approx(0.05 * float(sum(b)) / len(b))


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=4, max_size=14),
    st.sampled_from([2, 10, 1000]),
    st.sampled_from([1, 5, 20]),
)
def test_a_part_knows_no_unit(pairs: list[tuple[int, int]], times: int, part: int) -> None:
    """With all values so many times as large, the verdict and each p are the same."""
    a, b = zip(*pairs, strict=True)
    measures = {
        measure: {"A": [factor * value for value in a], "B": [factor * value for value in b]}
        for measure, factor in (("dollars", 1), ("cents", times))
    }
    with TemporaryDirectory() as folder, of_amounts(Path(folder), measures) as session:
        first, second = session.run(f"compare dollars, cents for A, B on t margin {part}% of B").rows
    for cell in ("p", "p_not_worse", "p_not_better", "verdict"):
        assert first[cell] == second[cell]
    assert second["margin"] == pytest.approx(times * float(first["margin"]))  # type: ignore[arg-type]


def test_a_part_of_what_is_the_same_on_every_document_is_a_margin_in_its_unit(opened: Open) -> None:
    random = Random(3)
    with opened(dollars={"A": [random.randint(15, 24) for _ in range(12)], "B": [20] * 12}) as session:
        part = only_row(session.run("compare dollars for A, B on t margin 10% of B"))
        plain = only_row(session.run("compare dollars for A, B on t margin 2"))
    assert (part["verdict"], part["margin"]) == (plain["verdict"], plain["margin"])
    assert (part["p_not_worse"], part["p_not_better"]) == (plain["p_not_worse"], plain["p_not_better"])


@pytest.mark.parametrize("measure", ["precision", "F", "recall"])
@pytest.mark.parametrize("part", [2, 10, 30])
def test_no_verdict_on_a_part_contradicts_the_interval_beside_it(measure: str, part: int) -> None:
    """Of ratios whose denominators differ, and of those whose denominators are the same."""
    with Session.open() as session:
        rows = session.run(f"compare {measure} for all on TST3 margin {part}% of B").rows
    decided = Counter(str(row["verdict"]) for row in rows)
    assert len(decided) > 1
    for row in rows:
        low, high, margin = (float(row[cell]) for cell in ("ci_low", "ci_high", "margin"))  # type: ignore[arg-type]
        assert margin == pytest.approx(part / 100 * float(row["value_b"]))  # type: ignore[arg-type]
        assert row["verdict"] not in ("equivalent", "not worse") or low > -margin
        assert row["verdict"] != "equivalent" or high < margin


def test_a_percentage_of_what_is_no_share_is_refused_with_both_lines(opened: Open) -> None:
    with opened(dollars={"A": [0.2, 0.3, 0.1], "B": [0.1, 0.2, 0.3]}) as session:
        for statement, ways in (
            ("compare dollars for A, B on t margin 5%", ["write margin 5% of B", "write margin 0.05"]),
            ("power dollars for A, B on t detect 1, 5%", ["write detect 5% of B", "write detect 0.05"]),
            ("expect score dollars for A on t at least 5%", ["write at least 0.05"]),
            ("expect score dollars for A on t at most 5%", ["write at most 0.05"]),
        ):
            with pytest.raises(QueryError) as raised:
                session.run(statement)
            assert raised.value.message == "dollars is not a share, so 5% of it is not a number"
            *hints, declaration = raised.value.hints
            assert [hint.split(",")[0] for hint in hints] == ways
            assert declaration == "if dollars is a share, load its file once more with --share dollars"
            assert statement[raised.value.span.start : raised.value.span.end] == "5%"


def test_a_percentage_of_a_share_or_of_a_rate_of_errors_is_so_many_points(opened: Open) -> None:
    # pass and pass@1 are measures of attempts, which these are not.
    names = [name for name in (*SHARES, *ERROR_RATES, "Acc_Norm", "WER", "EM") if name.split("@")[0] != "pass"]
    with opened(**{name: {"A": [1, 0, 1, 1], "B": [1, 1, 1, 0]} for name in names}) as session:
        for name in names:
            assert only_row(session.run(f'compare "{name}" for A, B on t margin 5%'))["margin"] == 0.05


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("5% of A", "a part of a value is a part of B's, not of A"),
        ("5% of values", "a part of a value is a part of B's, not of values"),
        ("500% of B", "a part of a value must be between 0% and 100%, not 500%"),
        ("0% of B", "a part of a value must be between 0% and 100%, not 0%"),
    ],
)
def test_whose_part_it_is(opened: Open, clause: str, message: str) -> None:
    with opened(m={"A": [1, 2, 3], "B": [3, 2, 2]}) as session, pytest.raises(QueryError) as raised:
        session.run(f"compare m for A, B on t margin {clause}")
    assert raised.value.message == message


def test_the_second_is_called_b_or_by_its_name_and_a_variable_keeps_its_percent() -> None:
    with Session.open() as session:
        list(session.results("let $part = 5%; let $second = UMASS"))
        texts = ("5% of B", "5% of umass", "$part of $second")
        verdicts = [session.run(f"compare recall for GE, UMASS on TST3 margin {text}").rows for text in texts]
        against = session.run("compare recall for all against UMASS on TST3 margin 5% of UMASS").rows
    assert verdicts[0] == verdicts[1] == verdicts[2]
    assert verdicts[0][0] in [{**row} for row in against]


def test_a_part_needs_values_that_can_be_multiplied() -> None:
    with Session.open() as session, pytest.raises(QueryError) as raised:
        session.run("compare MCC for GE, UMASS on TST3 margin 5% of B")
    assert raised.value.message == "a margin of 5% of UMASS needs a ratio of sums, and MCC is not one"


# === the test and the interval beside it ==============================================================================

SCORES = "test_set system document possible actual correct partial"


def of_scores(folder: Path, answers: Mapping[str, Mapping[str, Sequence[tuple[int, int]]]]) -> Session:
    """A warehouse in which each system has, on one document of a test set after another, so many answers of which so
    many are right."""
    rows = [
        (test_set, system, f"d{place:03}", 5, given_, right, 0)
        for test_set, systems in answers.items()
        for system, documents in systems.items()
        for place, (given_, right) in enumerate(documents)
    ]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "s.csv", SCORES, rows), "scores")
    return Session.open(folder / "w.duckdb")


RARE = {
    "A": [(1, 1), (1, 1), (2, 1), (5, 3), *[(0, 0)] * 16],
    "B": [(3, right) for right in (2, 2, 1, 3, 1, 2, 1, 0, 0, 0, 1, 0, 0, 2, 0, 1, 1, 1, 1, 3)],
}
"""A has nine answers in four documents: exchanged, they say more than an interval of those four can."""


def test_a_difference_that_only_the_test_finds_is_neither_better_nor_not_worse(tmp_path: Path) -> None:
    with of_scores(tmp_path, {"t": RARE}) as session:
        result = session.run("compare precision for A against B on t margin 2%")
        outcomes = {
            expected: session.run(f"expect {expected} compare precision for A against B on t margin 2%").outcome
            for expected in ("better", "worse", "different", "not worse", "equivalent")
        }
        strict = session.run("compare precision for A against B on t margin 2% test studentized")
    row = only_row(result)
    assert float(str(row["p"])) < 0.05
    assert float(str(row["ci_low"])) < -0.02
    assert row["verdict"] == "inconclusive"
    assert outcomes == {
        "better": "not met",
        "worse": "not met",
        "different": "not met",
        "not worse": "undecided",
        "equivalent": "undecided",
    }
    (note,) = (note for note in result.notes if "the test finds a difference" in note)
    assert note == (
        "A and B, precision on t: the test finds a difference that the 90% interval beside it does not, so the verdict "
        "is neither better nor worse; it asks whether answers are exchangeable, and test studentized whether the "
        "values are equal"
    )
    assert only_row(strict)["verdict"] == "inconclusive"
    assert not any("exchangeable" in note for note in strict.notes)


def random_answers(seed: int, units: int) -> dict[str, list[tuple[int, int]]]:
    """Systems of which the first may answer few documents."""
    random, systems = Random(seed), {}
    for place, name in enumerate("ABC"):
        answered = random.choice((0.2, 0.5, 1.0)) if place == 0 else 1.0
        right = random.choice((0.4, 0.7, 0.95))
        given_ = [random.randint(1, 5) if random.random() < answered else 0 for _ in range(units)]
        given_[0] = max(given_[0], 1)
        systems[name] = [(many, sum(random.random() < right for _ in range(many))) for many in given_]
    return systems


@settings(max_examples=20)
@given(
    st.integers(0, 2**32),
    st.sampled_from([6, 12, 20]),
    st.sampled_from(["", "test studentized", "adjust holm", "interval percentile", "level 0.2"]),
    st.sampled_from(["precision", "F"]),
)
def test_no_verdict_on_ratios_contradicts_the_interval_beside_it(
    seed: int, units: int, clauses: str, measure: str
) -> None:
    """Whatever a test finds of systems that do not answer equally much."""
    answers = {f"t{place}": random_answers(seed + place, units) for place in range(4)}
    asked = f"compare {measure} for A, B, C on all margin 10% {clauses}"
    with TemporaryDirectory() as folder, of_scores(Path(folder), answers) as session:
        rows = session.run(asked).rows
        expected = {what: session.run(f"expect {what} {asked}").rows for what in ("better", "worse", "not worse")}
    for place, row in enumerate(rows):
        low, high = (None if row[cell] is None else float(str(row[cell])) for cell in ("ci_low", "ci_high"))
        above = {bound for bound in (0.0, -0.1) if low is not None and low > bound}
        below = {bound for bound in (0.0, 0.1) if high is not None and high < bound}
        verdict, met = row["verdict"], {what: of[place]["met"] for what, of in expected.items()}
        assert verdict != "better" or 0.0 in above
        assert verdict != "worse" or 0.0 in below
        assert verdict not in ("not worse", "equivalent") or -0.1 in above
        assert verdict != "equivalent" or 0.1 in below
        assert met["better"] is not True or 0.0 in above
        assert met["worse"] is not True or 0.0 in below
        assert met["not worse"] is not True or -0.1 in above


# === the range of shares ==============================================================================================


@settings(max_examples=20)
@given(
    st.sampled_from(["accuracy", "F1", "macro_f1"]),
    st.sampled_from(["", "interval percentile", "interval bca", "adjust bonferroni", "margin 5%"]),
    st.integers(0, 2**32),
    st.integers(4, 9),
    st.booleans(),
)
def test_no_interval_of_a_difference_of_shares_leaves_what_shares_allow(
    measure: str, clauses: str, seed: int, clusters: int, graded: bool
) -> None:
    """Of items in clusters that are all right or all wrong, or of graded documents, by the name of a share."""
    random = Random(seed)
    rows, passages = [], []
    for cluster in range(clusters):
        for system, chance in (("A", 0.9), ("B", 0.1), ("C", 0.5)):
            value = round(random.betavariate(9 * chance, 9 * (1 - chance)), 3) if graded else random.random() < chance
            rows += [("t", system, f"d{cluster}_{place}", measure, float(value)) for place in range(3)]
        passages += [("t", f"d{cluster}_{place}", f"p{cluster}") for place in range(3)]
    with TemporaryDirectory() as name:
        folder = Path(name)
        with create(folder / "w.duckdb") as database:
            load(database, write_csv(folder / "v.csv", "test_set system document measure value", rows), "values")
            documents = write_csv(folder / "d.csv", "test_set document passage", passages)
            load(database, documents, "documents", fields={"cluster": "passage"})
        with Session.open(folder / "w.duckdb") as session:
            found = session.run(f"compare {measure} for A, B, C on t {clauses}").rows
    for row in found:
        for end in (row["ci_low"], row["ci_high"]):
            assert end is None or -1 <= float(str(end)) <= 1


def test_percentages_by_the_name_of_a_share_and_rates_of_errors_have_no_range(opened: Open) -> None:
    """The interval of five documents reaches beyond a difference of 1 where nothing forbids it."""
    far, near = [1.0, 1.0, 0.2, 1.0, 1.0], [0.0, 0.0, 0.3, 0.0, 0.0]
    shares = {"A": far, "B": near}
    percentages = {system: [100 * value for value in values] for system, values in shares.items()}
    with opened(accuracy=shares, F1=percentages, WER=shares, seconds=shares) as session:
        ends = {
            str(row["measure"]): float(str(row["ci_high"]))
            for row in session.run("compare accuracy, F1, WER, seconds for A, B on t").rows
        }
    assert ends["accuracy"] == 1.0
    assert ends["seconds"] == ends["WER"] > 1.0
    assert ends["F1"] == pytest.approx(100 * ends["seconds"])

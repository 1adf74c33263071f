"""Optional documents by all conventions, and over every labelling of them: extremes compared with each labelling,
comparisons with every labelling and every exchange, and the messages about verdicts that depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing import bounds
from evalhouse.warehouse.comparing.decisions import of_outcomes
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures import MEASURES, Function, Measure, Ratio, settle
from evalhouse.warehouse.measures.filtering import BOUNDS, COLUMNS, OPTIONAL
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.draws import Outcome, approximate
from evalhouse.warehouse.significance.shuffles.sequential import shuffles_to_decide
from evalhouse.warehouse.store.replacement import create
from tests.conftest import write_csv

Cells = dict[str, int]
SMALL = st.fixed_dictionaries({cell: st.integers(0, 5) for cell in COLUMNS})

BOUNDED = [
    measure
    for measure in MEASURES
    if measure.kind == "filtering" and any(BOUNDS in parameter.several for parameter in measure.parameters)
]


def value(measure: Measure, cells: Cells, optional: str) -> float | None:
    computation = settle(measure, {"optional": optional}).computation
    assert isinstance(computation, Ratio | Function)
    return computation.value([sum(weight * cells[cell] for cell, weight in form) for form in computation.forms])


def labellings(cells: Cells) -> Iterator[Cells]:
    """The cells with each number of the accepted and of the rejected optional documents taken for relevant."""
    for accepted, rejected in product(range(cells["x"] + 1), range(cells["y"] + 1)):
        yield {
            "a": cells["a"] + accepted,
            "b": cells["b"] + cells["x"] - accepted,
            "c": cells["c"] + rejected,
            "d": cells["d"] + cells["y"] - rejected,
            "x": 0,
            "y": 0,
        }


@pytest.mark.parametrize("measure", BOUNDED, ids=[measure.name for measure in BOUNDED])
@given(cells=SMALL)
@settings(deadline=None, max_examples=60)
def test_the_extremes_are_those_of_every_labelling(measure: Measure, cells: Cells) -> None:
    values = [value(measure, labelled, "excluded") for labelled in labellings(cells)]
    known = [of for of in values if of is not None]
    if len(known) == len(values):
        assert value(measure, cells, "lowest") == pytest.approx(min(known), abs=1e-12)
        assert value(measure, cells, "highest") == pytest.approx(max(known), abs=1e-12)
    else:
        # What one labelling leaves undefined has no bounds.
        assert value(measure, cells, "lowest") is None or value(measure, cells, "lowest") in known


@pytest.mark.long
@pytest.mark.parametrize("most", [2, pytest.param(3, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", ["MCC", "kappa", "T11SU"])
def test_the_extremes_are_those_of_every_small_table(name: str, most: int) -> None:
    """What is neither linear nor a ratio, on all tables with up to so many documents a cell."""
    (measure,) = (measure for measure in BOUNDED if measure.name == name)
    for numbers in product(range(most + 1), repeat=6):
        cells = dict(zip(COLUMNS, numbers, strict=True))
        values = [value(measure, labelled, "excluded") for labelled in labellings(cells)]
        known = [of for of in values if of is not None]
        if len(known) == len(values):
            assert value(measure, cells, "lowest") == pytest.approx(min(known), abs=1e-12), cells
            assert value(measure, cells, "highest") == pytest.approx(max(known), abs=1e-12), cells


# --- comparisons ------------------------------------------------------------------------------------------------------

KEY = "RRROORNNON"
DECIDED = {"A": "yynynnynyn", "B": "ynynynnynn"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("labelled")
    said = {"y": "yes", "n": "no"}
    decisions = [("t", s, f"d{k}", said[v]) for s, of in DECIDED.items() for k, v in enumerate(of)]
    label = {"R": "relevant", "N": "nonrelevant", "O": "optional"}
    labels = [("t", f"d{k}", label[v]) for k, v in enumerate(KEY)]
    parts = [("t", f"d{k}", k // 2) for k in range(len(KEY))]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "d.csv", "test_set system document decision", decisions), "decisions")
        load(database, write_csv(folder / "l.csv", "test_set document label", labels), "labels")
        load(database, write_csv(folder / "a.csv", "test_set document part", parts), "documents")
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


def scored(name: str, key: Sequence[str], answers: Sequence[str]) -> float:
    pairs = list(zip(key, answers, strict=True))
    h, f, m, r = (pairs.count(kind) for kind in (("R", "y"), ("N", "y"), ("R", "n"), ("N", "n")))
    match name:
        case "F":
            return 2 * h / (2 * h + f + m)
        case "utility":
            return 2 * h - f
    below = (h + f) * (h + m) * (r + f) * (r + m)
    return (h * r - f * m) / sqrt(below) if below else 0.0


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("name", ["F", "utility", "MCC"])
def test_a_comparison_goes_through_every_labelling(small: Session, name: str, size: int) -> None:
    """All 2³ labellings, each with all exchanges of documents, or of pairs of documents."""
    pairs = list(zip(*DECIDED.values(), strict=True))
    differences, levels = [], []
    for labels in product("RN", repeat=KEY.count("O")):
        remaining = iter(labels)
        key = [next(remaining) if label == "O" else label for label in KEY]
        exchanged = []
        for sides in product((0, 1), repeat=len(pairs) // size):
            first = [pair[sides[place // size]] for place, pair in enumerate(pairs)]
            second = [pair[1 - sides[place // size]] for place, pair in enumerate(pairs)]
            exchanged.append(scored(name, key, first) - scored(name, key, second))
        differences.append(exchanged[0])
        beyond = sum(abs(difference) >= abs(exchanged[0]) - 1e-9 for difference in exchanged)
        levels.append(beyond / len(exchanged))
    by = " exchange by document.part" if size > 1 else ""
    (row,) = small.run(f"compare {name}(optional=bounds) of filtering for A, B on t exact{by}").rows
    assert row["difference_low"] == pytest.approx(min(differences), abs=1e-12)
    assert row["difference_high"] == pytest.approx(max(differences), abs=1e-12)
    assert row["p_low"] == pytest.approx(min(levels), abs=1e-12)
    assert row["p_high"] == pytest.approx(max(levels), abs=1e-12)
    turns = min(differences) < 0 < max(differences)
    for level in (0.3, 0.99):
        (row,) = small.run(f"compare {name}(optional=bounds) of filtering for A, B on t exact level {level}{by}").rows
        significant = max(levels) <= level and not turns
        assert row["verdict"] == (
            "significant" if significant else "not significant" if min(levels) > level else "undecided"
        )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_verdict_over_labellings_is_as_sure_as_any_other(small: Session, seed: int) -> None:
    """The exact p is 1; nine shuffles cannot tell that it is above 0.99."""
    asked = 'compare F(optional=bounds) of filtering for A, B on t where label != "optional" level 0.99'
    result = small.run(f"{asked} shuffles 9 seed {seed}")
    assert [row["verdict"] for row in result.rows] == ["undecided"]
    assert any("undecided, as at confidence 0.99 the exact p" in note for note in result.notes)
    assert not any("the same under every labelling" in note or "depends on how" in note for note in result.notes)
    [exact] = small.run(f"{asked} exact").rows
    [many] = small.run(f"{asked} shuffles 2000 seed {seed}").rows
    assert exact["verdict"] == many["verdict"] != "undecided"


def test_outcomes_share_a_verdict_only_where_each_is_sure_of_it() -> None:
    sure, unsure, exact = approximate(0, 9_999), approximate(7, 199), Outcome(0.04, "exact")
    assert of_outcomes([sure, exact], 0.05, 0.99) == ("significant", None)
    assert of_outcomes([sure, exact], 0.02, 0.99) == ("undecided", None)
    verdict, enough = of_outcomes([sure, unsure], 0.05, 0.99)
    assert (verdict, enough) == ("undecided", shuffles_to_decide(7, 199, 0.05, 0.99))


def test_of_very_many_labellings_some_are_tested_and_it_is_said(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "compare F(optional=bounds) of filtering for GE, SRI on TST3"
    whole = session.run(asked)
    monkeypatch.setattr(bounds, "MOST_TESTED", 1)
    monkeypatch.setattr(bounds, "GRID", 2)
    some = session.run(asked)
    for name in ("difference_low", "difference_high"):
        assert some.rows[0][name] == whole.rows[0][name]
    assert whole.rows[0]["p_low"] <= some.rows[0]["p_low"]  # type: ignore[operator]
    assert any("labellings tested" in note for note in some.notes)
    monkeypatch.setattr(bounds, "MOST_SEARCHED", 1)
    with pytest.raises(QueryError, match="at most 1 labellings are searched, but the optional documents have"):
        session.run(asked)


@pytest.fixture(scope="module")
def session() -> Session:
    return Session.open()


def test_all_conventions_stand_side_by_side(session: Session) -> None:
    result = session.run("score F(optional=all) of filtering for GE, UMASS on TST3")
    each = ", ".join(f"F(optional={convention})" for convention in OPTIONAL)
    assert result.rows == session.run(f"score {each} of filtering for GE, UMASS on TST3").rows
    assert result.notes == ("F(beta=1) on TST3: best for UMASS under all four conventions for optional documents",)


def test_the_note_says_which_verdicts_depend_on_the_convention(session: Session) -> None:
    result = session.run("compare recall(optional=all) of filtering for HUGHES, LSI, GE on TST3")
    verdicts: dict[tuple[object, object], list[object]] = {}
    for row in result.rows:
        verdicts.setdefault((row["system_a"], row["system_b"]), []).append(row["verdict"])
    depending = [pair for pair, of in verdicts.items() if len(set(of)) > 1]
    assert depending == [("HUGHES", "LSI")]
    said = "significant for HUGHES by credit, relevant; not significant by excluded, nonrelevant"
    assert (
        f"recall on TST3: the verdict on HUGHES and LSI depends on how optional documents count: {said}" in result.notes
    )


@pytest.mark.parametrize("question", ["compare", "group", "rank"])
def test_without_optional_documents_nothing_depends_on_them(session: Session, question: str) -> None:
    where = 'where not label = "optional"'
    result = session.run(f"{question} F(optional=all) of filtering for GE, SRI, USC on TST3 {where}")
    assert any("are the same under all four conventions" in note for note in result.notes)


def test_the_bounds_of_a_score_are_two_columns(session: Session) -> None:
    (row,) = session.run("score F1(optional=bounds), F1 of filtering for GE on TST3").rows
    low, value, high = row["F1(optional=lowest)"], row["F1"], row["F1(optional=highest)"]
    assert low <= value <= high  # type: ignore[operator]


def test_a_measure_beside_one_over_every_labelling_has_no_bounds(session: Session) -> None:
    bounded, plain = session.run("compare F(optional=bounds), recall of filtering for UMASS, BBN on TST3").rows
    assert bounded["p_low"] < bounded["p"] < bounded["p_high"]  # type: ignore[operator]
    assert (plain["difference_low"], plain["p_high"]) == (None, None)


def test_a_misspelt_convention_has_all_words_listed(session: Session) -> None:
    with pytest.raises(QueryError) as refused:
        session.run("score F(optional=al) of filtering for GE on TST3")
    known = "credit, excluded, relevant, nonrelevant, lowest, highest, all, bounds"
    assert refused.value.message == f"optional is one of {known}, not al"
    assert refused.value.hints == ("did you mean all?",)


@pytest.mark.parametrize(
    ("statement", "said", "place"),
    [
        ("define measure Q = F(optional=all)", "optional=all expands to four measures; only score, compare", "all"),
        (
            "define measure Q = 1 - F(optional=bounds)",
            "optional=bounds tries every labelling; only score and compare accept it",
            "bounds",
        ),
        (
            "documents F(optional=all) of filtering for GE, UMASS on TST3",
            "optional=all expands to four measures",
            "all",
        ),
        ("group F(optional=bounds) of filtering for GE, UMASS on TST3", "only score and compare accept it", "bounds"),
        ("score auc(optional=bounds) for GE on TST3", "optional is one of credit, excluded", "bounds"),
        ("score F(beta=all) of filtering for GE on TST3", "beta is a number, not all", "all"),
        ("score F(optional=all) of extraction for GE on TST3", "F has no parameter 'optional'", "optional=all"),
        (
            "compare mean(F(optional=bounds)) of filtering for GE, UMASS on TST3",
            "compares values over all documents together",
            "mean(F(optional=bounds))",
        ),
        (
            "compare F(optional=bounds) of filtering for GE, UMASS on TST3 margin 2%",
            "tries every labelling, so it cannot be combined with margin",
            "F(optional=bounds)",
        ),
        (
            "compare F(optional=bounds) of filtering for GE, UMASS on TST3, TST4 over test sets",
            "tries every labelling, so it cannot be combined with over test sets",
            "F(optional=bounds)",
        ),
    ],
)
def test_where_the_words_make_no_sense_it_is_said(session: Session, statement: str, said: str, place: str) -> None:
    with pytest.raises(QueryError, match=said) as raised:
        session.run(statement)
    assert statement[raised.value.span.start : raised.value.span.end] == place


def test_what_a_labelling_leaves_undefined_has_no_bounds(small: Session) -> None:
    with pytest.raises(QueryError, match="has no value under some labelling of the optional documents"):
        small.run('compare recall(optional=bounds) for A, B on t where label = "optional"')


@pytest.mark.parametrize("word", ["all", "ALL", "bounds", "lowest"])
def test_the_words_are_printed_as_they_are_read(word: str) -> None:
    text = f"score F(optional={word}) of filtering for GE on TST3"
    assert to_text(parse(text)) == text.replace("ALL", "all")

"""Charts as data: descriptions as goldens, and the laws that pictures of numbers must obey.

`pytest --accept` rewrites the goldens.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.charts import Bars, Bins, Brackets, Chart, Points, Spans, Squares
from evalhouse.warehouse.charts.curves import MOST_BINS, edges_for
from evalhouse.warehouse.charts.planes import MOST_BARS, sorted_bars
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from evalhouse.warehouse.significance.bootstrap.interval_kinds import IntervalPlan, find_interval
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.sums import Sums
from tests.conftest import WithValues
from tests.empty import create
from tests.pictures.asked import chart_of

FOLDER = Path(__file__).parent / "charts"
PICTURES = {
    "groups": "plot group F for GE, GE-CMU, UMASS, SRI, NYU on TST3 level 0.10",
    "plane": "plot score fallout, recall of filtering for GE, LSI, allrel on TST3, TST4",
    "null": "plot compare F for GE, UMASS on TST3 shuffles 999",
    "matrix": "plot compare F for GE, GE-CMU, UMASS, SRI on TST3 shuffles 999",
    "against": "plot compare recall, precision for UMASS, SRI against GE on TST3",
    "slopes": "plot change precision, fallout of published for GE, UMASS, USC from TST3 to TST4",
    "carried": "plot replicate recall, fallout of filtering for GE, UMASS, BBN from TST3 to TST4 exact",
    "projection": "plot project precision of published for GE, LSI from TST3 to generality 0.01, 0.10",
    "bands": "plot project F of filtering for GE, UMASS, allrel from TST3 to generality 0.01, 0.95",
    "power": "plot power F for GE, UMASS on TST3 detect 2%, 5%, 10%",
    "documents": "plot documents F for GE, UMASS on TST3",
    "slices": "plot differ accuracy, fallout of filtering for GE, UMASS on TST3 by label shuffles 99",
    "classes": "plot confusion of filtering for GE, UMASS on TST3",
    "ranked": "plot score F for GE, UMASS on TST3, TST4",
}


def marks_of(chart: Chart, kind: type) -> list[Any]:
    return [mark for panel in chart.panels for mark in panel.marks if isinstance(mark, kind)]


def short(value: Any) -> Any:
    """A description with numbers as a person would read them, and of long lines the ends alone."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: short(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        kept = [short(each) for each in value]
        return kept if len(kept) <= 24 else [*kept[:2], f"… {len(kept) - 4} more", *kept[-2:]]
    return value


@pytest.mark.parametrize("name", PICTURES)
def test_a_chart_is_described_as_it_was(session: Session, name: str, accept: bool) -> None:
    described = json.dumps(short(chart_of(session, PICTURES[name]).as_dict()), ensure_ascii=False, indent=1) + "\n"
    path = FOLDER / f"{name}.json"
    if accept:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(described, encoding="utf-8")
    assert described == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("sides", ["one-sided", "two-sided"])
@pytest.mark.parametrize("pair", ["GE, UMASS", "UMASS, GE", "GE, SYNCH", "MITRE, USC"])
def test_the_bars_that_count_are_the_shuffles_that_count(session: Session, pair: str, sides: str) -> None:
    """Every shuffle is in a bar, and those in counted bars are nge, ties and all."""
    result = session.run(f"plot compare F for {pair} on TST3 shuffles 1999 {sides}")
    assert result.chart is not None
    (bins,) = marks_of(result.chart, Bins)
    assert sum(each.count for each in bins.bins) == 1999
    assert sum(each.count for each in bins.bins if each.counted) == result.rows[0]["nge"]


def test_a_difference_at_the_very_edge_is_in_a_bar(warehouses: dict[str, Path]) -> None:
    with Session.open(warehouses["worked"]) as worked:
        chart = chart_of(worked, "plot compare BLEU for base, tuned on news")
    (bins,) = marks_of(chart, Bins)
    assert sum(each.count for each in bins.bins) == 9999
    assert {each.counted for each in bins.bins if each.count and abs(each.high + each.low) / 2 > 1.49} == {True}


SIZES = st.builds(lambda digits, power: digits * 10.0**power, st.floats(0.1, 9.9), st.integers(-320, 15)) | st.just(
    5e-324
)
SIGNED = st.builds(lambda size, sign: sign * size, SIZES | st.just(0.0), st.sampled_from([-1, 1]))


@given(st.lists(SIGNED, min_size=1, max_size=20), SIGNED, st.booleans())
def test_bins_are_few_and_separate_what_is_as_extreme_as_observed(
    differences: list[float], observed: float, both: bool
) -> None:
    """However small the observed difference is beside the others: an edge is at it, and one at its mirror image."""
    edges = edges_for(min(differences), max(differences), observed, both)
    assert len(edges) <= 3 * MOST_BINS
    assert edges == sorted(set(edges))
    assert edges[0] <= min(*differences, observed)
    assert edges[-1] >= max(*differences, observed)
    if any((*differences, observed)):
        for edge in (observed, -observed)[: 1 + both]:
            assert pytest.approx(edge, rel=1e-12, abs=0) in edges


def test_a_small_difference_beside_large_ones_has_a_narrow_bin(with_values: WithValues) -> None:
    """Numbers of tokens in which the systems differ by one of a hundred million."""
    tokens = [100_000.0 * 7**place for place in range(8)]
    turned = [tokens[0] + 1, *reversed(tokens[1:])]
    rows = [
        ("t", system, f"d{place}", "tokens", value)
        for system, values in (("A", turned), ("B", tokens))
        for place, value in enumerate(values)
    ]
    with with_values(rows) as opened:
        result = opened.run("plot compare tokens for A, B on t shuffles 999")
    assert result.chart is not None
    (bins,) = marks_of(result.chart, Bins)
    assert len(bins.bins) <= 3 * MOST_BINS
    assert sum(each.count for each in bins.bins) == 999
    assert sum(each.count for each in bins.bins if each.counted) == result.rows[0]["nge"]


def test_identical_systems_are_one_bar_in_the_middle(tmp_path: Path) -> None:
    rows = [f"T,{system},{document},5,4,3,0" for system in ("A", "B") for document in ("d1", "d2")]
    file = tmp_path / "scores.csv"
    file.write_text("\n".join(["test_set,system,document,possible,actual,correct,partial", *rows]), encoding="utf-8")
    with create(tmp_path / "w.duckdb") as database:
        load(database, file, "scores")
    with Session.open(tmp_path / "w.duckdb") as opened:
        chart = chart_of(opened, "plot compare F for A, B on T shuffles 99")
    (bins,) = marks_of(chart, Bins)
    (bar,) = [each for each in bins.bins if each.count]
    assert (bar.count, bar.low, bar.counted) == (99, pytest.approx(-bar.high), True)
    assert chart.panels[0].x.high - chart.panels[0].x.low > 20 * (bar.high - bar.low)


def test_letters_of_a_picture_are_those_of_the_table(session: Session) -> None:
    result = session.run("plot group F for all on TST3")
    assert result.chart is not None
    (groups,) = marks_of(result.chart, Brackets)
    drawn = {
        (result.chart.panels[0].y.names[place], group.letter) for group in groups.groups for place in group.members
    }
    listed = {(row["system"], letter) for row in result.rows for letter in str(row["letters"]).split()}
    assert drawn == listed


def test_squares_of_a_picture_are_the_rows_of_the_table(session: Session) -> None:
    result = session.run("plot compare F for all on TST3 shuffles 999")
    assert result.chart is not None
    names = result.chart.panels[0].y.names
    (squares,) = marks_of(result.chart, Squares)
    drawn = {(frozenset((names[each.row], names[each.column])), each.level, each.verdict) for each in squares.squares}
    listed = {(frozenset((row["system_a"], row["system_b"])), row["p"], row["verdict"]) for row in result.rows}
    assert drawn == listed


def test_intervals_of_a_ranking_hold_what_was_measured(session: Session) -> None:
    chart = chart_of(session, "plot score recall, precision, F for all on TST3")
    for panel in chart.panels:
        values = {each.y: each.x for mark in panel.marks if isinstance(mark, Points) for each in mark.points}
        (spans,) = [mark.spans for mark in panel.marks if isinstance(mark, Spans)]
        assert len(spans) == len(values) == 17
        assert all(low <= values[place] <= high for low, high, place in spans)


def test_an_interval_of_a_value_is_near_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    source = np.random.default_rng(1)
    denominators = source.integers(1, 20, size=(2, 60))
    numerators = source.binomial(denominators, 0.6)
    asked = IntervalPlan(kind=find_interval("percentile"))
    ours = Bootstrap(Draws(9999)).values(Sums.of_ratios(numerators, denominators), asked)
    for row in range(2):
        theirs = stats.bootstrap(
            (numerators[row], denominators[row]),
            lambda over, under, axis: over.sum(axis=axis) / under.sum(axis=axis),
            paired=True,
            vectorized=True,
            method="percentile",
            n_resamples=9999,
            rng=np.random.default_rng(2),
        ).confidence_interval
        assert (ours.low[row], ours.high[row]) == pytest.approx((theirs.low, theirs.high), abs=0.006)


def test_guessing_meets_allrel_where_everything_is_judged_relevant(session: Session) -> None:
    chart = chart_of(session, "plot score recall, precision of filtering for GE, allrel on TST3")
    marks: list[Any] = list(chart.panels[0].marks)
    (line,) = [mark.points for mark in marks if getattr(mark, "name", "") == "guessing"]
    (allrel,) = [each for mark in marks_of(chart, Points) for each in mark.points if each.name == "allrel"]
    assert line[-1] == pytest.approx((allrel.x, allrel.y))
    assert {round(y, 12) for _, y in line} == {0.69}  # precision of guessing is generality, whatever the share


def test_what_is_simulated_is_marked_and_what_is_published_is_not(session: Session) -> None:
    assert chart_of(session, "plot score F for all on TST3").simulated
    assert not chart_of(session, "plot score F of published for all on TST3").simulated


def test_systems_without_the_same_documents_have_intervals_of_their_own(tmp_path: Path) -> None:
    rows = [("t", name, f"d{k}", 4, 4, 1 + k % 3, 0) for name, count in (("one", 4), ("two", 6)) for k in range(count)]
    file = tmp_path / "scores.csv"
    lines = ["test_set,system,document,possible,actual,correct,partial", *(",".join(map(str, row)) for row in rows)]
    file.write_text("\n".join(lines), encoding="utf-8")
    with create(tmp_path / "w.duckdb") as database:
        load(database, file, "scores")
    with Session.open(tmp_path / "w.duckdb") as opened:
        chart = chart_of(opened, "plot score recall for all on t")
    (spans,) = marks_of(chart, Spans)
    assert len(spans.spans) == 2


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("plot generality on TST3", "generality has no picture"),
        ("plot audit published for all on TST3", "audit has no picture"),
        ("plot agree on TST3", "agree has no picture"),
        ('plot score F for GE on TST3 to "x.gif"', "the ending of x.gif does not name a kind of picture"),
    ],
)
def test_what_has_no_picture_says_so(session: Session, query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        session.run(query)


def test_the_rows_of_a_plot_are_those_of_its_question(session: Session) -> None:
    question = "score recall, precision for all on TST3"
    plain, plotted = session.run(question), session.run(f"plot {question}")
    assert plotted.rows == plain.rows
    assert plotted.signature == plain.signature
    assert plain.chart is None


def test_a_matrix_that_cannot_be_read_is_not_drawn(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("evalhouse.warehouse.statements.pictures.pairs"), "MOST_SYSTEMS", 3)
    with pytest.raises(QueryError, match="a matrix of 4 systems would be unreadable; at most 3 fit"):
        session.run(PICTURES["matrix"])


def test_what_is_split_has_a_panel_a_part_along_one_axis(tmp_path: Path) -> None:
    rows = ["test_set,system,document,unit,possible,actual,correct,partial,incorrect,spurious,missing"]
    for place, system in enumerate("AB"):
        for unit, correct in (("perp", 1 + place), ("target", 6 + place)):
            rows.append(f"T,{system},d,{unit},10,10,{correct},0,0,{10 - correct},{10 - correct}")
    (tmp_path / "s.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    with create(tmp_path / "w.duckdb") as database:
        load(database, tmp_path / "s.csv", "scores")
    with Session.open(tmp_path / "w.duckdb") as split:
        chart = chart_of(split, "plot score recall for all on T by unit")
        assert [panel.title for panel in chart.panels] == ["perp", "target"]
        assert {panel.y.names for panel in chart.panels} == {("B", "A")}
        assert len({(panel.x.low, panel.x.high) for panel in chart.panels}) == 1
        (alone,) = chart_of(split, "plot score recall for A on T by unit").panels
        assert set(alone.y.names) == {"A, perp", "A, target"}


def test_bars_of_documents_add_up_to_the_difference(session: Session) -> None:
    (bars,) = marks_of(chart_of(session, "plot documents F for GE, UMASS on TST3"), Bars)
    (compared,) = session.run("compare F for GE, UMASS on TST3 shuffles 9").rows
    assert sum(bar.length for bar in bars.bars) == pytest.approx(compared["difference"])
    lengths = [bar.length for bar in bars.bars]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("documents", [41, MOST_BARS, MOST_BARS + 1, 12_345])
def test_neighbouring_bars_are_one_where_there_are_many(documents: int) -> None:
    lengths = [(f"d{k}", 1.0 - 2 * k / documents) for k in range(documents)]
    (bars,) = sorted_bars("", "part", "documents", "number", lengths).marks_of(Bars)
    assert len(bars.bars) <= MOST_BARS
    assert sum((bar.high - bar.low) * bar.length for bar in bars.bars) == pytest.approx(sum(of for _, of in lengths))
    assert (bars.bars[0].low, bars.bars[-1].high) == (0.0, float(documents))


def test_of_many_slices_those_with_the_lowest_levels_are_drawn(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalhouse.warehouse.statements.pictures.documents.MOST_SLICES", 1)
    question = "differ accuracy of filtering for GE, UMASS on TST3 by label shuffles 99"
    chart = chart_of(session, f"plot {question}")
    rows = session.run(question).rows
    first = min(rows, key=lambda row: 2.0 if row["p_adjusted"] is None else float(row["p_adjusted"]))
    assert chart.panels[0].y.names == (str(first["slice"]).replace(" = ", " ").replace('"', ""),)
    assert "the 1 slices of 3 with the lowest adjusted p" in chart.notes

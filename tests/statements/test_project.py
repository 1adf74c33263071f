"""`project` by its definitions: the values of measures at other generalities, and on streams; and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.charts import Bands, Points, Spans
from evalhouse.warehouse.charts import Path as Line
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.render import render
from evalhouse.warehouse.render.style import Style
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.replacement import create
from tests.conftest import write_csv
from tests.pictures.asked import chart_of

REFERENCE = Path(__file__).parents[2] / "docs" / "language" / "project.md"

SETS = {"OLD": (300, 0.4), "NEWS": (800, 0.1), "MAIL": (60, 0.5)}
SYSTEMS = {"good": (2.0, 1.0), "fair": (1.0, 0.3), "deaf": (0.0, 0.3)}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """OLD has a key, NEWS and MAIL have none; `fair` has no confidences, and is not on MAIL. Of FULL every document is
    relevant, of NONE none.
    """
    chance = np.random.default_rng(1992)
    folder = tmp_path_factory.mktemp("project")
    labels: list[tuple[object, ...]] = []
    decisions: list[tuple[object, ...]] = []
    for name, (documents, generality) in SETS.items():
        relevant = chance.random(documents) < generality
        if name == "OLD":
            labels += [(name, f"{name}{i:04}", "relevant" if relevant[i] else "nonrelevant") for i in range(documents)]
        for system, (apart, threshold) in SYSTEMS.items():
            confidence = chance.normal(np.where(relevant, apart, 0), 1)
            if (name, system) == ("MAIL", "fair"):
                continue
            decisions += [
                (
                    name,
                    system,
                    f"{name}{i:04}",
                    "yes" if confidence[i] > threshold else "no",
                    "" if system == "fair" else f"{confidence[i]:.4f}",
                )
                for i in range(documents)
            ]
    labels += [("FULL", f"a{i}", "relevant") for i in range(9)] + [("NONE", f"n{i}", "nonrelevant") for i in range(9)]
    decisions += [("FULL", "good", f"a{i}", "yes", "") for i in range(9)]
    decisions += [("NONE", "good", f"n{i}", "no", "") for i in range(9)]
    files = (folder / "labels.csv", folder / "decisions.csv")
    write_csv(files[0], "test_set document label", labels)
    write_csv(files[1], "test_set system document decision confidence", decisions)
    with create(folder / "w.duckdb") as database:
        for file, kind in zip(files, ("labels", "decisions"), strict=True):
            load(database, file, kind)
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


def test_each_estimator_has_a_row_with_its_interval_and_the_measure_there(session: Session) -> None:
    result = session.run("project precision for good, fair from OLD to stream NEWS")
    rows = {(row["system"], row["estimator"]): row for row in result.rows}
    assert set(rows) == {("good", "adjusted counts"), ("good", "EM"), ("fair", "adjusted counts")}
    for row in rows.values():
        numbers = [row[name] for name in ("generality_low", "generality_to", "generality_high")]
        assert numbers == sorted(numbers)  # type: ignore[type-var]
        assert row["ci_low"] <= row["value"] <= row["ci_high"]  # type: ignore[operator]


def test_the_example_of_the_reference_is_what_is_printed(session: Session, accept: bool) -> None:
    query = "project precision, F for good, deaf from OLD to stream NEWS"
    result = session.run(query)
    notes = "".join(f"note: {note}\n" for note in result.notes)
    printed = f"```text\n{query}\n{render(result, 'table', Style(width=100))}{notes}```\n"
    text = REFERENCE.read_text(encoding="utf-8")
    if accept:
        start = text.index(f"```text\n{query}\n")
        end = text.index("```\n", start + 3) + 4
        text = text[:start] + printed + text[end:]
        REFERENCE.write_text(text, encoding="utf-8")
    assert printed in text


def test_adjusted_counts_follow_from_what_score_and_sql_say(session: Session) -> None:
    (row,) = session.run("project precision for fair from OLD to stream NEWS").rows
    scored = session.run("score recall, fallout for fair on OLD").rows[0]
    counted = session.run(
        "sql \"select avg(decision::integer) as q from decisions where test_set = 'NEWS' and system = 'fair'\""
    ).rows[0]
    recall, fallout, q = (float(cell) for cell in (scored["recall"], scored["fallout"], counted["q"]))  # type: ignore[arg-type]
    generality = (q - fallout) / (recall - fallout)
    assert row["generality_to"] == pytest.approx(generality)
    hits = recall * generality
    assert row["value"] == pytest.approx(hits / (hits + fallout * (1 - generality)))


def test_a_system_that_tells_nothing_apart_says_nothing_of_a_stream(session: Session) -> None:
    result = session.run("project F for deaf from OLD to stream NEWS")
    assert [row["generality_to"] for row in result.rows] == [None, None]
    assert [row["value"] for row in result.rows] == [None, None]
    assert "recall − fallout of deaf on OLD is 0.00 [-0.11, 0.11], so its decisions do not tell" in result.notes[0]
    assert "so its confidences do not tell the generality of NEWS" in result.notes[1]


def test_a_threshold_holds_on_both_test_sets(session: Session) -> None:
    (counts, em) = session.run("project F for good from OLD to stream NEWS where confidence >= 1.5").rows
    scored = session.run("score F for good on OLD where confidence >= 1.5").rows[0]
    assert counts["value_from"] == pytest.approx(scored["F(beta=1)"])
    assert 0.05 < float(counts["generality_to"] or 0) < 0.2
    assert 0.05 < float(em["generality_to"] or 0) < 0.2


def test_of_all_systems_those_without_decisions_on_a_stream_are_left_out(session: Session) -> None:
    result = session.run("project F for all from OLD to stream MAIL")
    assert {row["system"] for row in result.rows} == {"good", "deaf"}
    assert "fair has no decisions on MAIL" in result.notes


def test_explain_says_that_a_stream_has_no_key(session: Session) -> None:
    rows = session.run("explain project F for good from OLD to stream NEWS").rows
    assert "decisions of good on NEWS, without a key" in [row["what"] for row in rows]


def test_the_signature_names_the_data_of_both(session: Session) -> None:
    alone, both = (
        session.run(f"project F for good from OLD to {to}").signature for to in ("generality 0.1", "stream NEWS")
    )
    assert alone is not None
    assert both is not None
    assert both.count("+") == alone.count("+") + 1


REFUSED = [
    (
        "project F for good from NEWS to generality 0.1",
        "NEWS has no key labels, so its generality is unknown",
        "NEWS",
    ),
    (
        "project F for good from FULL to generality 0.1",
        "FULL has no nonrelevant documents, so fallout is undefined there",
        "FULL",
    ),
    (
        "project F for good from NONE to generality 0.1",
        "NONE has no relevant documents, so recall is undefined there",
        "NONE",
    ),
    ("project F for good from OLD to generality 1.5", "generality must be a number between 0 and 1, not 1.5", "1.5"),
    (
        "project F for good from OLD to stream FULL",
        "FULL has 9 key labels, but a stream has none",
        "FULL",
    ),
    ("project F for good from OLD to stream OLD", "OLD cannot be projected to itself", "OLD"),
    ("project F for good from OLD to stream NEWZ", "unknown test set 'NEWZ'", "NEWZ"),
    ("project F for good, fair from OLD to stream MAIL", "fair has no decisions on MAIL", "fair"),
    (
        "project F for allrel from OLD to stream NEWS",
        "allrel treats relevant and other documents alike, so it says nothing about a stream",
        "allrel",
    ),
    (
        "project F from OLD to stream NEWS where label = relevant",
        "the documents of a stream have no labels to select by",
        "label = relevant",
    ),
    ("project T9U for good from OLD to generality 0.1", "T9U of filtering cannot be projected", "T9U"),
    ("project auc for good from OLD to generality 0.1", "auc of filtering cannot be projected", "auc"),
]


@pytest.mark.parametrize(("query", "message", "underlined"), REFUSED, ids=[query for query, *_ in REFUSED])
def test_what_cannot_be_projected_is_said_with_its_place(
    session: Session, query: str, message: str, underlined: str
) -> None:
    with pytest.raises(QueryError) as raised:
        session.run(query)
    assert raised.value.message == message
    span = raised.value.span
    assert query[span.start : span.end] == underlined


def test_measures_with_conventions_of_their_own_are_projected_by_these(session: Session) -> None:
    """Recall and fallout are counted as each measure counts optional documents."""
    query = "project precision{} of filtering for good from OLD to generality 0.2"
    assert session.run(query.format("(optional=excluded)")).rows[0]["value"] == pytest.approx(
        session.run(query.format("")).rows[0]["value"]
    )


def test_where_nothing_is_missed_the_interval_still_has_a_width(session: Session) -> None:
    """All documents with more than 1.0 are decided yes by `good`; of those relevant ones are all found."""
    row = session.run("project recall, fallout for good from OLD to generality 0.2 where confidence >= -99").rows[0]
    assert 0 < float(row["ci_high"] or 0) - float(row["ci_low"] or 0) < 0.2


def test_the_picture_has_a_band_a_system_and_rows_of_the_best(session: Session) -> None:
    chart = chart_of(session, "plot project F for good, deaf from OLD to generality 0.01, 0.9")
    curves, strip = chart.panels
    (bands,) = curves.marks_of(Bands)
    assert [ribbon.name for ribbon in bands.ribbons] == ["good", "deaf"]
    for ribbon in bands.ribbons:
        line = next(path for path in curves.marks_of(Line) if path.name == ribbon.name)
        assert all(low <= y <= high for (_, y), (_, low, high) in zip(line.points, ribbon.around, strict=True))
    thin, thick = strip.marks_of(Spans)
    assert strip.beneath
    assert strip.y.names == ("good", "deaf")
    assert {row for *_, row in thick.spans} == {0.0}
    assert {row for *_, row in thin.spans} == {0.0}


def test_a_picture_goes_to_where_a_measure_is_undefined(session: Session) -> None:
    """Matthews leaves MCC undefined at 0 and at 1, and of a system that decides everything yes."""
    of_some = "plot project MCC(constant=undefined) for good, fair, deaf from OLD to generality 0, 1"
    curves, strip = chart_of(session, of_some).panels
    assert all(0 < x < 1 for line in curves.marks_of(Line) for x, _ in line.points)
    assert strip.y.names == ("good", "fair", "deaf")
    with_all = chart_of(session, of_some.replace("fair, deaf", "allrel, random(s=1)"))
    assert [line.name for line in with_all.panels[0].marks_of(Line)] == ["good"]


def test_a_picture_of_a_stream_has_a_point_at_each_estimate(session: Session) -> None:
    chart = chart_of(session, "plot project F for good from OLD to stream NEWS")
    assert any("the generality estimated for NEWS" in line for line in chart.legend)
    (points,) = (mark for mark in chart.panels[0].marks_of(Points) if mark.hollow)
    assert points.labelled
    assert [point.name for point in points.points] == ["good, adjusted counts", "good, EM"]


def test_a_narrow_table_drops_an_interval_before_its_generality(session: Session) -> None:
    result = session.run("project precision, F for good, deaf from OLD to stream NEWS")
    for width in range(60, 120, 5):
        printed = render(result, "table", Style(width=width))
        assert "too narrow for generality;" not in printed
        assert "too narrow for generality," not in printed or "generality_low" in printed


def test_measures_are_those_of_filtering_where_no_kind_is_said() -> None:
    """F and precision are measures of extraction, too, which has rows on TST3."""
    with Session.open() as sample:
        said, unsaid = (
            sample.run(f"project precision, F {of}for GE, UMASS from TST3 to generality 0.1").table
            for of in ("of filtering ", "")
        )
    assert said == unsaid

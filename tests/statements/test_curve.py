"""`curve`: its rows compared with `score … where confidence`, its best thresholds, points, areas, and messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sklearn.metrics import roc_auc_score

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.replacement import create
from tests.conftest import write_csv

MESSAGES = 80
LABELS = ("relevant", "nonrelevant", "nonrelevant", "optional", "nonrelevant")


def decisions() -> Iterator[tuple[object, ...]]:
    """`sure` and `rough` have confidences, `rules` has none, `gaps` lacks some, `flat` has always the same."""
    for k in range(MESSAGES):
        up = 0.35 if k % 5 == 0 else 0.1
        sure = round((37 * k % MESSAGES) / 100 + up, 3)
        rough = round((29 * k % MESSAGES) / 100 + up, 1)
        yield "mail", "sure", f"m{k:02}", "yes" if sure > 0.5 else "no", sure
        yield "mail", "twin", f"m{k:02}", "yes" if sure > 0.5 else "no", sure
        yield "mail", "rough", f"m{k:02}", "yes" if sure > 0.4 else "no", rough
        yield "mail", "rules", f"m{k:02}", "yes" if k % 3 == 0 else "no", ""
        yield "mail", "gaps", f"m{k:02}", "yes" if k % 4 == 0 else "no", "" if k < 2 else rough
        yield "mail", "flat", f"m{k:02}", "yes", 0.5
        yield "mail", "keen", f"m{k:02}", "yes", sure
    for k in range(4):
        yield "news", "sure", f"n{k}", "yes", k / 10
    for k in range(6):
        yield "void", "sure", f"v{k}", "yes" if k > 2 else "no", k / 10


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("curve")
    labels = [("mail", f"m{k:02}", LABELS[k % 5]) for k in range(MESSAGES)]
    labels += [("void", f"v{k}", "nonrelevant") for k in range(6)]
    sources = [("mail", f"m{k:02}", ("radio", "press")[k % 2]) for k in range(MESSAGES)]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "l.csv", "test_set document label", labels), "labels")
        header = "test_set system document decision confidence"
        load(database, write_csv(folder / "d.csv", header, decisions()), "decisions")
        load(database, write_csv(folder / "a.csv", "test_set document source", sources), "documents")
    return folder / "w.duckdb"


@pytest.fixture(scope="module")
def session(path: Path) -> Iterator[Session]:
    with Session.open(path) as session:
        yield session


def of(result: Result, system: str) -> list[dict[str, Cell]]:
    return [row for row in result.rows if row["system"] == system]


def summary_of(result: Result, system: str) -> dict[str, Cell]:
    (found,) = (row for row in result.summary if row["system"] == system)
    return found


@pytest.mark.long
@pytest.mark.parametrize("optional", ["credit", "excluded", "relevant", "nonrelevant"])
def test_a_row_is_what_score_says_at_its_threshold(session: Session, optional: str) -> None:
    measures = f"F(optional={optional}), MCC(optional={optional}), fallout(optional={optional})"
    result = session.run(f"curve {measures} for rough on mail")
    rows = of(result, "rough")
    assert rows[0]["threshold"] is None
    assert rows[0]["decided"] == 0
    labels = [name for name in result.columns if "=" in name and not name.startswith(("low", "high"))]
    confidences = [float(str(row[4])) for row in decisions() if row[:2] == ("mail", "rough")]
    for row in rows[1:]:
        assert row["decided"] == sum(confidence >= float(row["threshold"] or 0) for confidence in confidences)
        assert sum(int(row[cell] or 0) for cell in "abcdxy") == MESSAGES
    # A condition on confidence is a threshold of the yes that a system said, and `flat` says nothing else.
    (own,) = session.run(f"score {measures} for flat on mail").rows
    last = of(session.run(f"curve {measures} for flat on mail"), "flat")[-1]
    assert [last[label] for label in labels] == [pytest.approx(own[label]) for label in labels]


def test_thresholds_are_those_of_score(session: Session) -> None:
    """`keen` says yes to all, so every threshold of its confidences can be asked of `score`."""
    for row in of(session.run("curve F, MCC, recall for keen on mail"), "keen")[1::9]:
        (scored,) = session.run(f"score F, MCC, recall for keen on mail where confidence >= {row['threshold']}").rows
        for label in ("F(beta=1)", "MCC", "recall"):
            assert row[label] == pytest.approx(scored[label])


def test_points_beside_curves(session: Session) -> None:
    result = session.run("curve F, recall for rules, gaps, allrel, random(s=0.5), sure on mail")
    scored = session.run("score F, recall for rules, gaps, allrel, random(s=0.5), sure on mail")
    for row in scored.rows:
        system = str(row["system"])
        assert summary_of(result, system)["own_value"] == pytest.approx(row["F(beta=1)"])
        if system != "sure":
            (point,) = of(result, system)
            assert point["threshold"] is None
            assert point["recall"] == pytest.approx(row["recall"])
            assert summary_of(result, system)["area_roc"] is None
            assert (point["low(recall)"] is None) == (system in ("allrel", "random(s=0.5)"))
    assert len(of(result, "sure")) > 50
    assert any("rules has no confidences, so it is a single point" in note for note in result.notes)
    assert any("gaps has no confidence for 2 of 80" in note for note in result.notes)


def test_the_best_threshold_and_what_was_lost(session: Session) -> None:
    result = session.run("curve F for sure, rough on mail")
    for system in ("sure", "rough"):
        rows, summary = of(result, system), summary_of(result, system)
        best = max(rows, key=lambda row: (float(row["F(beta=1)"] or 0), float(row["threshold"] or 9)))
        assert summary["best_threshold"] == best["threshold"]
        assert summary["best_value"] == best["F(beta=1)"]
        assert summary["best_value_low"] == best["low(F(beta=1))"]
        lost = float(best["F(beta=1)"] or 0) - float(summary["own_value"] or 0)
        assert summary["lost"] == pytest.approx(lost)
        low, high = summary["best_low"], summary["best_high"]
        assert low <= summary["best_threshold"] <= high  # type: ignore[operator]


def test_the_best_threshold_for_a_utility(session: Session) -> None:
    result = session.run("curve precision, recall for sure on mail utility 3, -1, -0.5")
    label = result.summary[0]["measure"]
    rows = of(result, "sure")
    for row in rows:
        hits, false, misses = (float(row[cell] or 0) for cell in "abc")
        assert row[str(label)] == pytest.approx(3 * (hits + float(row["x"] or 0)) - false - 0.5 * misses)
    assert result.summary[0]["best_value"] == max(float(row[str(label)] or 0) for row in rows)
    excluded = session.run("curve precision(optional=excluded), recall for sure on mail utility 3, -1")
    best = max(3 * float(row["a"] or 0) - float(row["b"] or 0) for row in of(excluded, "sure"))
    assert excluded.summary[0]["best_value"] == best


def test_areas_are_those_of_auc_and_scikit_learn(session: Session) -> None:
    result = session.run("curve F for sure, rough on mail")
    scored = {str(row["system"]): row["auc"] for row in session.run("score auc for sure, rough on mail").rows}
    rows = [row for row in decisions() if row[0] == "mail" and row[1] == "sure"]
    kept = [
        (float(str(row[4])), LABELS[k % 5] == "relevant") for k, row in enumerate(rows) if LABELS[k % 5] != "optional"
    ]
    assert scored["sure"] == pytest.approx(roc_auc_score([relevant for _, relevant in kept], [at for at, _ in kept]))
    for system, area in scored.items():
        assert summary_of(result, system)["area_roc"] == pytest.approx(area)
    (tested,) = session.run("compare auc for sure, rough on mail").rows
    assert result.p_values == (pytest.approx(tested["p"]),)
    assert any("DeLong" in note for note in result.notes)


def test_areas_count_optional_documents_as_the_measure_does(session: Session) -> None:
    for optional in ("relevant", "nonrelevant", "excluded"):
        result = session.run(f"curve F(optional={optional}) for sure on mail")
        (row,) = session.run(f"score auc(optional={optional}) for sure on mail").rows
        assert result.summary[0]["area_roc"] == pytest.approx(row[f"auc(optional={optional})"])


def test_what_contradicts_is_said(session: Session) -> None:
    result = session.run("curve F for sure, rough, flat on mail")
    assert summary_of(result, "sure")["contradicting"] == 0
    assert int(summary_of(result, "rough")["contradicting"] or 0) > 0
    assert any("rough do not fit any threshold" in note for note in result.notes)
    assert any("flat has the same confidence for all" in note for note in result.notes)
    assert any("precision is best where" in note for note in session.run("curve precision for sure on mail").notes)


def test_no_relevant_documents(session: Session) -> None:
    result = session.run("curve recall, fallout for sure on void")
    assert {row["recall"] for row in result.rows} == {None}
    assert [row["fallout"] for row in result.rows] == pytest.approx([k / 6 for k in range(7)])
    assert (result.summary[0]["area_roc"], result.summary[0]["best_value"]) == (None, None)
    assert any("no document is relevant, so there are no areas" in note for note in result.notes)


def test_conditions_choose_documents(session: Session) -> None:
    result = session.run("curve F for sure on mail where document.source = radio")
    assert of(result, "sure")[-1]["decided"] == MESSAGES / 2
    assert session.run("curve F for sure on mail where label = relevant").rows[-1]["b"] == 0


def test_limit_and_level_and_seed(session: Session) -> None:
    whole = session.run("curve F for sure on mail")
    few = session.run("curve F for sure on mail limit 7")
    assert len(few.rows) == 7
    assert len(few.sections[0].rows) == 7
    assert len(whole.sections[0].rows) <= 22 < len(whole.rows)
    assert few.summary == whole.summary
    wide = session.run("curve F for sure on mail level 0.01 resamples 500").rows[10]
    assert float(wide["low(F(beta=1))"] or 0) < float(whole.rows[10]["low(F(beta=1))"] or 0)
    assert (
        session.run("curve F for sure on mail seed 5").rows[10]["high(F(beta=1))"] != whole.rows[10]["high(F(beta=1))"]
    )
    alone = of(session.run("curve F for rough, sure on mail"), "sure")
    assert alone == whole.rows


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("curve recall of extraction for sure on mail", "curve needs filtering: extraction has no confidences"),
        ("curve auc for sure on mail", "auc describes the whole curve and has no value at a threshold"),
        ("curve mean(F) for sure on mail", "is taken document by document"),
        ("curve F for sure on mail where confidence > 0.5", "goes through all thresholds"),
        ("curve F for sure on mail utility 1, 2, 3, 4, 5", "a utility has at most four values"),
        ("curve F for sure on mail resamples 5", "resamples must be a whole number from 20 to 20,000, not 5"),
        ("curve F for sure on mail where document = nowhere", "no decisions meet the condition"),
        ("curve F for sure on news", "news has no key labels for the decisions of these systems"),
        ("curve BLEU for sure on mail", "BLEU"),
    ],
)
def test_what_cannot_be_asked(session: Session, statement: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        session.run(statement)


@pytest.mark.parametrize(
    "measures", ["precision, recall", "recall, fallout", "F", "utility(a=2, b=-1), F", "precision, F"]
)
def test_pictures(session: Session, measures: str) -> None:
    result = session.run(f"plot curve {measures} for all, allrel on mail")
    assert result.chart is not None
    (panel,) = result.chart.panels
    first, *second = measures.replace("(a=2, b=-1)", "").split(", ")
    assert panel.y.title.startswith(first)
    assert panel.x.title.startswith(second[0] if second else "threshold")


def test_explain_says_the_queries_and_how(session: Session) -> None:
    rows = session.run("explain curve F for sure, rules, allrel on mail").rows
    stages = [row["stage"] for row in rows]
    assert stages.count("sql") == 2
    assert {"thresholds", "bands", "best", "areas", "seed"} <= set(stages)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_limit_is_not_exceeded_and_keeps_the_best_threshold(session: Session, limit: int) -> None:
    result = session.run(f"curve F for sure on mail limit {limit} resamples 20")
    assert len(result.rows) <= limit
    assert result.summary[0]["best_threshold"] in [row["threshold"] for row in result.rows]


def test_what_deciding_none_or_all_says_has_no_width(session: Session) -> None:
    rows = of(session.run("curve recall, F, fallout, precision for sure on mail resamples 50"), "sure")
    for label in ("recall", "F(beta=1)", "fallout"):
        assert [rows[0][name] for name in (label, f"low({label})", f"high({label})")] == [0, 0, 0]
    assert [rows[-1][name] for name in ("recall", "low(recall)", "high(recall)")] == [1, 1, 1]
    assert rows[-1]["low(precision)"] < rows[-1]["precision"] < rows[-1]["high(precision)"]  # type: ignore[operator]


def test_no_threshold_is_the_best_where_all_are_equal(session: Session) -> None:
    result = session.run("curve F for sure on mail where label = nonrelevant resamples 50")
    assert {row["F(beta=1)"] for row in result.rows} <= {0, None}
    assert result.summary[0]["best_threshold"] is None
    assert result.summary[0]["best_low"] is None


def test_systems_with_the_same_confidences_have_the_same_bands(session: Session) -> None:
    result = session.run("curve recall for sure, twin on mail resamples 50")
    assert [{**row, "system": ""} for row in of(result, "sure")] == [
        {**row, "system": ""} for row in of(result, "twin")
    ]


def test_a_picture_says_what_it_leaves_out(session: Session) -> None:
    chart = session.run("plot curve F, precision, recall for sure on mail resamples 50").chart
    assert chart is not None
    assert "recall" not in chart.title
    assert any("leaves out recall" in line for line in chart.legend)
    by_utility = session.run("plot curve F, recall for sure on mail utility 2, -1, 0, 0 resamples 50").chart
    assert by_utility is not None
    assert any("best threshold for utility" in line for line in by_utility.legend)
    assert not any("leaves out" in line for line in by_utility.legend)
    alone = session.run("plot curve F for sure, rules on mail resamples 50").chart
    assert alone is not None
    assert any("no confidences: rules" in line for line in alone.legend)

"""Results in Python print as their table, and convert to files and to tables of other packages."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

import evalhouse as eh


@pytest.fixture(scope="module")
def w() -> Iterator[eh.Warehouse]:
    with eh.open() as warehouse:
        yield warehouse


@pytest.fixture(scope="module")
def scored(w: eh.Warehouse) -> eh.Result:
    return w.score(["F1", "recall"], "GE", "UMASS", on="TST3")


def test_a_result_prints_as_its_table(scored: eh.Result) -> None:
    assert str(scored).splitlines()[:5] == [
        "Of 2 systems, GE has the highest F1 on TST3 (56.0) and highest recall on TST3 (57.8).",
        "system      F1   recall",
        "───────────────────────",
        "GE       56.01    57.83",
        "UMASS    51.61    46.91",
    ]
    assert repr(scored) == str(scored)
    assert "\x1b" not in str(scored)


def test_a_table_is_as_wide_as_the_screen(w: eh.Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = w.compare("F1", "GE", "UMASS", "SRI", "NYU", on="TST3", level=0.01, missing="drop", adjust="holm")
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, str(compared).splitlines())) <= 60
    monkeypatch.setenv("COLUMNS", "200")
    assert max(map(len, str(compared).splitlines())) > 100


def test_rows(scored: eh.Result) -> None:
    assert [row["system"] for row in scored] == ["GE", "UMASS"]
    assert len(scored) == 2
    assert bool(scored)
    assert scored.signature.startswith("score F1, recall for GE, UMASS on TST3 | task extraction")


def test_two_results_are_equal_where_all_in_them_is(w: eh.Warehouse, scored: eh.Result) -> None:
    again = w.run("score F1, recall for GE, UMASS on TST3")
    assert scored == again
    assert hash(scored) == hash(again)
    assert scored != w.score("F1", "GE", "UMASS", on="TST3")


def test_a_row_is_found_by_its_place(scored: eh.Result) -> None:
    assert (scored[0], scored[-1]) == (scored.rows[0], scored.rows[-1])
    with pytest.raises(IndexError):
        scored[len(scored)]


def test_a_result_is_pickled_without_its_warehouse(w: eh.Warehouse, scored: eh.Result) -> None:
    again = pickle.loads(pickle.dumps(scored))
    assert again == scored
    assert str(again) == str(scored)
    with pytest.raises(eh.WarehouseError, match="was pickled"):
        again.plot()
    drawn = w.plot("score F1 for GE, UMASS on TST3")
    assert pickle.loads(pickle.dumps(drawn)).plot().chart == drawn.chart


def test_as_text(scored: eh.Result) -> None:
    assert scored.to_csv().splitlines()[0] == "test_set,task,system,documents,F1,recall,source"
    assert "| GE" in scored.to_markdown(digits=1)
    assert "56.0 " in scored.to_markdown(digits=1)
    assert "\\toprule" in scored.to_latex()
    assert "#figure" in scored.to_typst()
    assert scored.to_html().startswith("<!doctype html>")
    assert json.loads(scored.to_json())["rows"] == scored.rows
    assert ">GE</th>" in scored._repr_html_()


def test_as_tables_of_other_packages(w: eh.Warehouse, scored: eh.Result) -> None:
    polars, pandas, pyarrow = map(pytest.importorskip, ("polars", "pandas", "pyarrow"))
    frame = scored.to_polars()
    assert frame.columns == list(scored.columns)
    assert frame.schema["documents"] == polars.Int64
    assert frame.to_dicts() == scored.rows
    assert isinstance(scored.to_pandas(), pandas.DataFrame)
    assert isinstance(scored.to_arrow(), pyarrow.Table)
    assert scored.to_numpy()["F1"].tolist() == [row["F1"] for row in scored]
    # A column of truths.
    compared = w.expect("better", "compare F1 for GE against MDC on TST3")
    assert compared.to_polars()["met"].to_list() == [True]


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "ndjson", "md", "tex", "typ", "html", "txt"])
def test_a_result_is_saved_in_the_format_of_the_ending(ending: str, scored: eh.Result, tmp_path: Path) -> None:
    to = tmp_path / f"scores.{ending}"
    scored.save(to)
    assert "UMASS" in to.read_text()
    with pytest.raises(eh.LoadError, match="already exists; force=True overwrites it") as raised:
        scored.save(str(to))
    assert "--" not in str(raised.value)
    scored.save(to, force=True)


def test_a_result_is_not_saved_where_it_cannot_be(scored: eh.Result, tmp_path: Path) -> None:
    with pytest.raises(eh.LoadError, match="has no ending of a known format"):
        scored.save(tmp_path / "scores")
    with pytest.raises(eh.LoadError):
        scored.save(tmp_path / "absent" / "scores.csv")


def test_the_picture_of_a_result(w: eh.Warehouse, scored: eh.Result, tmp_path: Path) -> None:
    picture = scored.plot(title="Mine", width="80mm")
    assert picture.chart.title == "Mine"
    assert repr(picture).startswith("Systems in the plane of F1 (across) and recall (up)")
    assert picture.chart == w.plot(scored.statement, title="Mine", width="80mm").chart
    picture.save(tmp_path / "mine.json")
    assert json.loads((tmp_path / "mine.json").read_text())["$schema"].startswith(
        "https://vega.github.io/schema/vega-lite"
    )
    with pytest.raises(eh.LoadError, match="force=True"):
        picture.save(tmp_path / "mine.json")
    with pytest.raises(eh.LoadError, match=r"there are \.svg, \.png, \.pdf, \.html, \.json"):
        picture.save(tmp_path / "mine.bmp")
    with pytest.raises(eh.QueryError, match="coverage has no picture"):
        w.coverage(on="TST3").plot()


@pytest.mark.long
@pytest.mark.parametrize("ending", ["svg", "png", "pdf", "html"])
def test_a_picture_is_saved_in_the_format_of_the_ending(ending: str, scored: eh.Result, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="vl-convert is not installed")
    scored.plot().save(tmp_path / f"mine.{ending}", theme="dark")
    assert (tmp_path / f"mine.{ending}").stat().st_size > 1000
    assert "<img" in scored.plot()._repr_html_()


@pytest.mark.long
def test_a_picture_of_what_was_changed_since(tmp_path: Path) -> None:
    rows = [{"model": "a", "question": f"Q{number}", "f1": number / 10} for number in range(5)]
    with eh.create(tmp_path / "w.duckdb") as w:
        w.load(rows, name="dev")
        scored = w.score("f1")
        assert scored.plot().chart.title == "f1 on dev"
        w.load([{**row, "model": "b"} for row in rows], name="more", set={"test_set": "dev"})
        with pytest.raises(eh.WarehouseError, match="was changed since"):
            scored.plot()


def test_a_column_asked_of_a_result_is_told_how_it_is_taken(w: eh.Warehouse) -> None:
    result = w.score("F1", "GE", on="TST3")
    with pytest.raises(TypeError, match=r"the column is \[row\['F1'\] for row in result\]"):
        result["F1"]  # type: ignore[index]

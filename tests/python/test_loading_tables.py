"""Tables in memory load like files, whichever package they come from."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalhouse as eh
from evalhouse.warehouse.session.session import Session

ROWS = [
    {
        "model": model,
        "question": f"Q{number}",
        "passage": f"P{number // 4}",
        "accuracy": (number * 7 + place) % 3 == 0,
        "f1": (number * place % 10) / 10,
    }
    for place, model in enumerate(["base", "new"], 1)
    for number in range(20)
]


def _frame() -> Any:
    return pandas.DataFrame(ROWS)


def _polars() -> Any:
    return pytest.importorskip("polars").DataFrame(ROWS)


def _arrow() -> Any:
    return pytest.importorskip("pyarrow").Table.from_pylist(ROWS)


DUCKDB = duckdb.connect()


def _relation() -> Any:
    pytest.importorskip("pyarrow")
    # A connection that stays: DuckDB 1.4 closes one that nobody holds, although a relation of it is held.
    DUCKDB.register("rows", _frame())
    return DUCKDB.sql("select * from rows")


TABLES: dict[str, Callable[[], Any]] = {
    "pandas": _frame,
    "pandas with an index": lambda: _frame().set_index(["model", "question"]),
    "pandas with categories": lambda: _frame().astype({"model": "category"}),
    "polars": _polars,
    "polars, lazy": lambda: _polars().lazy(),
    "Arrow": _arrow,
    "Arrow, a batch": lambda: _arrow().to_batches()[0],
    "DuckDB": _relation,
    "rows": lambda: ROWS,
    "columns": lambda: {name: [row[name] for row in ROWS] for name in ROWS[0]},
}


@pytest.fixture(scope="module")
def of_file(tmp_path_factory: pytest.TempPathFactory) -> dict[str, eh.Result]:
    """What a file of the same rows answers to some questions."""
    file = tmp_path_factory.mktemp("file") / "frame.csv"
    _frame().to_csv(file, index=False)
    with eh.create() as w:
        w.load(file, set={"cluster": "passage"})
        return {
            question: w.run(question)
            for question in ("compare f1, accuracy for new, base", "score f1 by document.passage")
        }


@pytest.mark.parametrize("kind", TABLES)
def test_every_table_gives_the_numbers_of_the_file(kind: str, of_file: dict[str, eh.Result]) -> None:
    with eh.create() as of_table:
        of_table.load(TABLES[kind](), set={"cluster": "passage"})
        for question, answer in of_file.items():
            assert of_table.run(question).table == answer.table
            assert of_table.run(question).caption == answer.caption


@pytest.mark.long
def test_a_table_is_the_same_whichever_package_holds_it() -> None:
    """The signature names the data by a digest of what was loaded."""
    held = [TABLES[kind]() for kind in ("pandas", "polars", "Arrow", "DuckDB", "pandas with categories")]
    assert len({eh.compare(table, "f1", "new", "base").signature for table in held}) == 1


@pytest.mark.long
def test_a_question_without_a_warehouse_takes_all_that_the_method_takes() -> None:
    asked = eh.compare(_frame(), "f1", "new", "base", cluster="passage", shuffles=99, seed=3, level=0.1, margin="5%")
    with eh.create() as w:
        w.load(_frame(), set={"cluster": "passage"})
        answer = w.compare("f1", "new", "base", shuffles=99, seed=3, level=0.1, margin="5%")
        assert asked == answer
    assert asked.caption.startswith("f1 on frame")
    assert "exchange by document.passage" in asked.signature


def test_columns_of_other_names() -> None:
    renamed = _frame().rename(columns={"model": "who", "question": "prompt"})
    assert len(eh.score(renamed, "f1", map={"system": "who", "document": "prompt"})) == 2


@pytest.mark.long
def test_nan_is_no_value() -> None:
    frame = _frame()
    frame.loc[3, "f1"] = float("nan")
    polars = pytest.importorskip("polars")
    held = polars.DataFrame([{**row, "f1": float("nan")} if place == 3 else row for place, row in enumerate(ROWS)])
    for table in (frame, held, [dict(zip(frame, row, strict=True)) for row in frame.itertuples(index=False)]):
        rows = {row["system"]: row for row in eh.score(table, "f1")}
        assert (rows["base"]["documents"], rows["new"]["documents"]) == (19, 20)


@pytest.mark.parametrize("kind", ["pandas", "rows", "polars"])
def test_an_error_names_the_table_and_its_row(kind: str) -> None:
    wrong = [{**row, "f1": "oops" if place == 3 else str(row["f1"])} for place, row in enumerate(ROWS)]
    table = {"pandas": pandas.DataFrame, "rows": list}.get(kind) or pytest.importorskip("polars").DataFrame
    with eh.create() as w, pytest.raises(eh.LoadError) as raised:
        w.load(table(wrong), name="dev", measures="f1")
    assert str(raised.value) == "dev: row 4: f1 is 'oops', not a number"
    with eh.create() as w, pytest.raises(eh.LoadError) as raised:
        w.load(table(wrong))
    assert str(raised.value).startswith("frame: row 4: f1 is 'oops', and a number in 39 other rows; ")
    assert str(raised.value).endswith('; measures="A,B" says which are measures')


def test_rows_that_disagree_are_named_as_rows() -> None:
    with pytest.raises(eh.LoadError) as raised:
        eh.score([*ROWS, {**ROWS[1], "f1": 0.125}], "f1")
    assert re.search(rf"^frame: row {len(ROWS) + 1}: .* has value 0\.125, but in row 2 it has ", str(raised.value))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pandas.concat([_frame(), _frame()], axis=1), "frame: the column 'model' appears more than once"),
        ([], "frame: there are no rows in it"),
        ({"a": [1], "b": []}, "frame: its columns are not equally long"),
        ([{"model": "a", "f1": object()}], "frame: row 1: Object of type object is not JSON serializable"),
        (_frame().iloc[:0], "frame: there are no rows in it"),
        (pandas.DataFrame(), "frame: there are no rows in it"),
        (_frame().drop(columns="model"), "frame: f1 could be systems"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_loaded(table: Any, said: str) -> None:
    with eh.create() as w, pytest.raises(eh.LoadError) as raised:
        w.load(table)
    assert str(raised.value).startswith(said) or said == "frame: f1 could be systems"
    assert "--" not in str(raised.value)


@pytest.mark.parametrize("what", [3, None, _frame()["f1"], [1, 2], b"bytes", {"a": 1}])
def test_what_is_no_table(what: Any) -> None:
    with eh.create() as w, pytest.raises(TypeError, match="cannot be loaded: paths can"):
        w.load(what)


@pytest.mark.long
def test_several_at_once_are_one_load(tmp_path: Path) -> None:
    """All or nothing, in memory as in a file."""
    for w in (eh.create(), eh.create(tmp_path / "w.duckdb")):
        with w:
            with pytest.raises(eh.LoadError):
                w.load(_frame(), [{"model": "a", "question": "Q", "f1": "oops"}], measures="f1")
            assert w.show("imports").rows == []
            w.load(_frame(), [{"model": "other", "question": "Q0", "f1": 0.5}])
            assert [row["source"] for row in w.show("imports")] == ["frame-1", "frame-2"]
            assert [row["test_set"] for row in w.show("test sets")] == ["frame-1", "frame-2"]


@pytest.mark.long
def test_options_are_those_of_the_command_line(tmp_path: Path) -> None:
    with eh.create(tmp_path / "w.duckdb") as w:
        checked = w.load(_frame(), name="dev", dry_run=True)
        assert (checked.caption, checked.rows[0]["rows_new"]) == ("would be loaded", 100)
        assert len(w.show("imports")) == 0
        w.load(
            _frame(), name="dev", set={"noun": "question", "test_set": "first"}, measures="f1", lower_is_better="f1",
            simulated=True, as_="table",
        )  # fmt: skip
        (loaded,) = w.show("imports")
        assert (loaded["source"], loaded["reader"], loaded["simulated"]) == ("dev", "table", "yes")
        scored = w.score("f1", on="first")
        assert scored.rows[0]["system"] == "new"
        assert "simulated" in scored.caption
        with pytest.raises(eh.LoadError, match="has no option 'nonsense'"):
            w.load(_frame(), nonsense="x")
        with pytest.raises(ValueError, match="f1 is both in"):
            w.load(_frame(), lower_is_better="f1", higher_is_better=["f1"])


def test_what_was_loaded_is_asked_as_on_the_command_line(tmp_path: Path) -> None:
    with eh.create(tmp_path / "w.duckdb") as w:
        w.load(_frame(), name="dev")
        answer = w.compare("f1", "new", "base", on="dev")
    with Session.open(tmp_path / "w.duckdb") as session:
        assert session.run("compare f1 for new, base on dev").signature == answer.signature


def _of_passages(passage: Callable[[int], object]) -> list[dict[str, object]]:
    """Eight passages of twelve questions that are answered alike, and the new system better on seven."""
    return [
        {"model": model, "question": f"Q{n}", "passage": passage(n // 12), "accuracy": int(model == "new" or n > 83)}
        for model in ("new", "base")
        for n in range(96)
    ]


@pytest.mark.parametrize("passage", [int, str, float, "P{}".format], ids=["int", "digits", "float", "text"])
def test_a_cluster_is_one_whatever_its_cells_look_like(passage: Callable[[int], object]) -> None:
    result = eh.compare(_of_passages(passage), "accuracy", "new", "base", cluster="passage")
    assert "8 passages exchanged (96 questions)" in result.caption
    # Seven of eight differ, all one way: two of 2^7 exchanges differ by as much.
    assert result.rows[0]["p"] == 2 / 2**7


@pytest.mark.parametrize("heading", ["seed", "item", "task"])
def test_a_cluster_is_nothing_else_whatever_it_is_called(heading: str) -> None:
    rows = [{heading: n % 4, **row} for n, row in enumerate(_of_passages(int))]
    assert "4 " in eh.compare(rows, "accuracy", "new", "base", cluster=heading).caption.partition("exact, ")[2][:2]


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        ("pasage", "frame: no column and no attribute of documents is called 'pasage'\n  did you mean passage?"),
        ("half", "frame: row 97: half is declared as the cluster, but the document Q0 is in two: '0' and '1'"),
        ("nothing", "the column 'nothing' is empty, so it cannot be the cluster"),
    ],
)
def test_what_is_no_cluster_is_refused(cluster: str, said: str) -> None:
    rows = [{"half": int(n > 95), "nothing": None, **row} for n, row in enumerate(_of_passages(str))]
    with pytest.raises(eh.LoadError) as refused:
        eh.compare(rows, "accuracy", "new", "base", cluster=cluster)
    assert said in str(refused.value)


def test_a_cluster_that_no_document_of_a_file_has_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("test_set,system,document,measure,value\nfaq,a,q1,acc,1\nfaq,b,q1,acc,0\n", encoding="utf-8")
    with pytest.raises(eh.LoadError, match="no document has the attribute 'passage'"):
        eh.compare(file, "acc", "a", "b", cluster="passage")


def test_what_is_odd_in_a_table_is_noted_with_the_answer() -> None:
    rows = [*_of_passages(int)[:100], {"model": "base", "question": "Q5", "passage": 0, "accuracy": None}]
    notes = eh.score(rows[:99] + rows[100:], "accuracy", "new", cluster="passage").notes
    assert notes[0] == "1 cell of accuracy without a value"
    assert not any(note.startswith("measures: ") for note in notes)


SHORT = [{"model": model, "question": f"Q{n}", "accuracy": n % 2} for model in ("new", "base") for n in range(3)]
NO_DOCUMENT = "no column names the documents, as document, sample, question, item, instance or id would"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{**row, "accuracy": "good"} for row in SHORT], "no column holds only numbers (accuracy is 'good')"),
        ([{**row, "accuracy": None} for row in SHORT], "no column holds only numbers (accuracy is empty)"),
        ([{**row, "accuracy": float("inf")} for row in SHORT], "no column holds only numbers (accuracy is 'inf')"),
        ([{"system": row["model"], "accuracy": row["accuracy"]} for row in SHORT], NO_DOCUMENT),
        ([{"model": row["model"], "accuracy": row["accuracy"]} for row in SHORT], NO_DOCUMENT),
        ([{"system": "new", "accuracy": 0.5}, {"system": "base", "accuracy": 0.4}], "it has attributes alone: no"),
        ([{"question": row["question"], "accuracy": row["accuracy"]} for row in SHORT], "nothing names the system"),
    ],
)  # fmt: skip
def test_an_error_says_which_column_is_wrong_or_lacking(rows: list[dict[str, object]], said: str) -> None:
    with pytest.raises(eh.LoadError) as raised:
        eh.compare(pandas.DataFrame(rows), "accuracy", "new", "base")
    assert str(raised.value).startswith(f"frame: {said}")
    assert "\n" not in str(raised.value)


# === a column for each system =========================================================================================

WREN, LARK = [1, 1, 0, 1, 1, 0], [1, 0, 0, 1, 0, 0]
NAMES = [f"p{place}" for place in range(6)]


def _pivots() -> dict[str, Any]:
    polars = pytest.importorskip("polars")
    arrays = {"wren": np.array(WREN), "lark": np.array(LARK)}
    named = pandas.DataFrame({"question": NAMES, "wren": WREN, "lark": LARK})
    return {
        "arrays": arrays,
        "lists": {"wren": WREN, "lark": LARK},
        "a frame": named,
        "an index": named.set_index("question"),
        "a frame without documents": named.drop(columns="question"),
        "polars": polars.DataFrame(arrays),
        "Arrow": pytest.importorskip("pyarrow").table(arrays),
        "rows": [{"wren": wren, "lark": lark} for wren, lark in zip(WREN, LARK, strict=True)],
    }


@pytest.mark.parametrize("name", list(_pivots()))
def test_a_table_with_a_column_for_each_system_is_the_same_question(name: str) -> None:
    rows = [
        {"model": model, "question": question, "accuracy": right}
        for model, column in (("wren", WREN), ("lark", LARK))
        for question, right in zip(NAMES, column, strict=True)
    ]
    wanted, found = (eh.compare(data, "accuracy", "wren", "lark")[0] for data in (rows, _pivots()[name]))
    for column in ("difference", "p", "documents", "verdict"):
        assert found[column] == wanted[column], column


def test_a_pivot_of_an_unknown_system_and_one_with_text_are_errors() -> None:
    with pytest.raises(eh.QueryError, match="crow"):
        eh.compare({"wren": WREN, "lark": LARK}, "accuracy", "wren", "crow")
    with pytest.raises(eh.LoadError):
        eh.compare({"wren": ["yes", "perhaps"], "lark": ["no", "yes"]}, "accuracy", "wren", "lark")
    with pytest.raises(eh.LoadError, match="not equally long"):
        eh.compare({"wren": WREN, "lark": LARK[:3]}, "accuracy", "wren", "lark")


def test_options_of_readers_may_be_numbers(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 d1 2\n1 0 d2 1\n1 0 d3 0\n")
    (tmp_path / "s.run").write_text("1 Q0 d2 1 3.0 s\n1 Q0 d1 2 2.0 s\n")
    found = {}
    for relevance in (1, 2):
        warehouse = eh.create()
        warehouse.load(tmp_path / "qrels.txt", tmp_path / "s.run", set={"test_set": "t"}, relevance=relevance)
        found[relevance] = warehouse.score("precision", of="extraction", on="t")[0]["precision"]
    assert found == {1: 1.0, 2: 0.5}


def test_a_data_frame_of_inspect_has_its_verdicts_as_accuracy() -> None:
    samples = pandas.DataFrame(
        {
            "sample_id": [f"u{place}" for place in range(6)],
            "id": [1, 2, 3] * 2,
            "epoch": 1,
            "input": ["a", "b", "c"] * 2,
            "model": ["acme/wren"] * 3 + ["acme/lark"] * 3,
            "score_match": ["C", "I", "C", "I", "C", "I"],
        }
    )
    [row] = eh.compare(samples, "accuracy", "acme/wren", "acme/lark", map={"document": "id"}).rows
    assert (round(float(row["value_a"] or 0), 4), round(float(row["value_b"] or 0), 4)) == (0.6667, 0.3333)
    both = samples.assign(score_judge=["C", "C", "C", "I", "I", "I"])
    found = eh.score(both, ["score_match", "score_judge"], map={"document": "id"})
    assert {row["system"]: row["score_judge"] for row in found} == {"acme/wren": 1.0, "acme/lark": 0.0}


# === two arrays =======================================================================================================

PAIRED = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=8)


@given(PAIRED, st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_two_arrays_are_two_columns_of_a_table(pairs: list[tuple[int, int]], order: Random) -> None:
    first, second = ([float(pair[place]) for pair in pairs] for place in (0, 1))
    wanted = eh.compare({"a": first, "b": second}, "value", "a", "b")
    places = [*range(len(pairs))]
    order.shuffle(places)
    mapped = eh.compare(dict(enumerate(first)), {place: second[place] for place in places})
    truths = eh.compare(np.array(first) > 0, [np.bool_(value > 0) for value in second])
    for asked in (eh.compare(first, second), eh.compare(np.array(first), tuple(second)), mapped, truths):
        assert (asked.pvalue, asked.statistic) == (wanted.pvalue, wanted.statistic)
        assert [asked[0][name] for name in ("system_a", "system_b")] == ["a", "b"]


def test_arrays_of_different_documents_are_refused() -> None:
    with pytest.raises(eh.LoadError, match="of the same documents, but there are 2 and 3"):
        eh.compare([1, 0], [1, 0, 1])
    with pytest.raises(eh.LoadError, match="but only one has 'd2'"):
        eh.compare({"d1": 1, "d2": 0}, {"d1": 1})

"""A warehouse in Python: how it is opened, changed, shared by threads and closed, and how it reports errors."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import evalhouse as eh
from evalhouse.warehouse.python.text import in_python

ROWS = [
    {"model": model, "question": f"Q{number}", "accuracy": int(number % divisor == 0)}
    for model, divisor in (("base", 3), ("new", 2))
    for number in range(12)
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "w.duckdb"
    with eh.create(path) as w:
        w.load(ROWS, name="dev")
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path))


@pytest.mark.long
def test_nothing_warns(tmp_path: Path) -> None:
    """A program runs with every warning made an error."""
    script = tmp_path / "script.py"
    script.write_text("import evalhouse as eh\nwith eh.open() as w:\n    w.score('F1', 'all', on='TST3')\n")
    done = subprocess.run([sys.executable, "-W", "error", str(script)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_warehouse_is_made_once(path: Path) -> None:
    with pytest.raises(eh.WarehouseError, match="exists already"):
        eh.create(path)
    with eh.open(path) as w:
        assert w.path == path
        assert repr(w) == f"<evalhouse warehouse: {path}>"
        assert len(w.score("accuracy", on="dev")) == 2


def test_a_warehouse_that_is_not_there() -> None:
    with pytest.raises(eh.WarehouseError) as raised:
        eh.open("absent.duckdb")
    assert str(raised.value) == ('there is no warehouse absent.duckdb\n  evalhouse.create("absent.duckdb") makes one')
    assert isinstance(raised.value, eh.Error)


def test_one_that_is_opened_to_be_read_changes_nothing(path: Path, tmp_path: Path) -> None:
    with eh.open(path, read_only=True) as w:
        assert len(w.sql("select * from import")) == 1
        for change in (
            lambda: w.load(ROWS, name="other"),
            lambda: w.forget(1),
            lambda: w.define("wrong", "1 - accuracy"),
            lambda: w.export("score accuracy", tmp_path / "x.csv"),
            lambda: w.plot("score accuracy", to=tmp_path / "x.svg"),
        ):
            with pytest.raises(eh.Error, match=r"only questions are answered here|opened to be read only"):
                change()
        w.let("x", "base")
        assert w.score("accuracy", "$x").rows[0]["system"] == "base"
    assert not list(tmp_path.glob("x.*"))


def test_the_sample_data_are_not_changed() -> None:
    with eh.open() as w, pytest.raises(eh.WarehouseError, match="the sample data cannot be changed"):
        w.load(ROWS)


def test_what_is_closed_answers_no_more(path: Path) -> None:
    with eh.open(path) as w:
        scored = w.score("accuracy")
    w.close()
    assert w.closed
    assert repr(w).endswith("w.duckdb, closed>")
    for ask in (lambda: w.score("accuracy"), lambda: w.load(ROWS), scored.plot):
        with pytest.raises(eh.WarehouseError, match="the warehouse is closed"):
            ask()


def test_changes_in_memory() -> None:
    with eh.create() as w:
        assert repr(w) == "<evalhouse warehouse: in memory>"
        w.load(ROWS, name="dev")
        w.define("wrong", "1 - accuracy")
        w.load(ROWS, name="more", set={"test_set": "second"})
        assert w.forget(2).rows == [{"import": 2, "rows_removed": 24}]
        assert [row["test_set"] for row in w.show("test sets")] == ["dev"]
        assert "wrong" in [row["measure"] for row in w.show("measures")]


def test_statements_of_the_language(path: Path, tmp_path: Path) -> None:
    with eh.open(path) as w:
        first, second = w.results("score accuracy for base; let $x = new; score accuracy for $x")
        assert (first.rows[0]["system"], second.rows[0]["system"]) == ("base", "new")
        assert w.run("let $y = base").rows == []
        w.let("best", "new", "b*")
        w.let("n", 1)
        assert len(w.score("accuracy", "$best", limit="$n")) == 1
        assert w.expect("better", "compare accuracy for new, base level 0.9").outcome == "met"
        assert w.expect(None, "score accuracy for base", at_least="90%").outcome == "not met"
        with pytest.raises(eh.NotMetError):
            w.expect(None, "score accuracy for base", at_least=0.9).raise_for()
        assert "select" in str(w.explain("score accuracy for base"))
        w.export("score accuracy", tmp_path / "scores.csv")
        assert (tmp_path / "scores.csv").read_text().count("\n") == 3
        assert w.plot("score accuracy", title="Mine").chart is not None
        with pytest.raises(eh.QueryError, match="needs a question"):
            w.explain(" ; ")


@pytest.mark.long
def test_threads_take_turns(path: Path) -> None:
    with eh.open(path) as w, ThreadPoolExecutor(8) as pool:
        asked = list(pool.map(lambda seed: w.compare("accuracy", "new", "base", shuffles=99, seed=seed % 3), range(24)))
        assert len({answer.signature for answer in asked}) == 3
        pool.submit(w.load, [{**row, "model": f"{row['model']}-2"} for row in ROWS], name="dev").result()
        assert len(w.score("accuracy")) == 4


@pytest.mark.long
def test_errors_go_to_other_processes(path: Path) -> None:
    with eh.open(path) as w:
        for ask in (lambda: w.score("nonsense"), lambda: w.load("absent.csv"), lambda: eh.open("absent.duckdb")):
            with pytest.raises(eh.Error) as raised:
                ask()
            again = pickle.loads(pickle.dumps(raised.value))
            assert type(again) is type(raised.value)
            assert str(again) == str(raised.value)
            assert again.hints == raised.value.hints  # type: ignore[attr-defined]


def test_an_error_in_several_lines_says_which(path: Path) -> None:
    with eh.open(path) as w, pytest.raises(eh.QueryError) as raised:
        w.run("score accuracy;\nscore accuracy for nobody on dev")
    assert str(raised.value).splitlines()[:3] == [
        "unknown system 'nobody' on dev (line 2)",
        "  score accuracy for nobody on dev",
        "                     ^^^^^^",
    ]


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("--as READER does", 'as_="READER" does'),
        ("--set test_set=NAME does", 'set={"test_set": "NAME"} does'),
        ("--set 'system={stem}' names two", 'set={"system": "{stem}"} names two'),
        ("--map FIELD=COLUMN takes a field", 'map={"FIELD": "COLUMN"} takes a field'),
        ("(--wide systems --measure NAME)", '(wide="systems" measure="NAME")'),
        ("--tags pos,entities says", 'tags="pos,entities" says'),
        ("--force overwrites it", "force=True overwrites it"),
        ("--depth is 'x', not a whole number", "depth is 'x', not a whole number"),
        ("evalhouse upgrade --db w brings it up to date", "evalhouse upgrade --db w brings it up to date"),
        ("evalhouse init w makes one", 'evalhouse.create("w") makes one'),
        ("evalhouse init w --sample makes a warehouse of them", 'evalhouse.create("w") makes a warehouse'),
    ],
)
def test_hints_are_those_of_python(hint: str, said: str) -> None:
    assert in_python(hint) == said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda w: w.run(3), "statements is 3, and not a text"),
        (lambda w: list(w.results(3)), "statements is 3, and not a text"),
        (lambda w: w.expect("better"), "Warehouse.expect() missing 1 required positional argument: 'question'"),
    ],
)
def test_a_wrong_call_is_told_in_the_names_of_evalhouse(call: Callable[[eh.Warehouse], object], said: str) -> None:
    with eh.open() as w, pytest.raises(TypeError) as raised:
        call(w)
    assert str(raised.value) == said


def test_the_sample_data_are_kept_in_words_of_python() -> None:
    with eh.open() as w, pytest.raises(eh.QueryError) as raised:
        w.forget(3)
    assert str(raised.value).endswith('evalhouse.create("FILE") makes a warehouse')


def test_errors_are_called_as_programs_call_them() -> None:
    named = {name: getattr(eh, name) for name in eh.__all__ if name.endswith("Error")}
    assert {f"{error.__module__}.{error.__qualname__}" for error in named.values()} == {f"evalhouse.{n}" for n in named}


@pytest.mark.long
def test_an_uncaught_error_shows_nothing_of_the_inside(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import evalhouse as eh\neh.open().score('F1', 'UMAS', on='TST3')\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "did you mean UMASS?" in done.stderr
    shown = [line for line in done.stderr.splitlines() if line.lstrip().startswith("File ")]
    assert "script.py" in shown[0]
    assert not [line for line in shown[1:] if "/warehouse/python/" not in line and "contextlib" not in line]

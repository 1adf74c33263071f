"""A path alone prints the table of its files, and a load says what can be asked now. Each command that is offered works
as it is printed.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from evalhouse.warehouse.commands.arguments import in_full
from evalhouse.warehouse.commands.program import main

RIGHT = {"wren": (1, 1, 1, 1, 1, 1, 1, 0), "lark": (1, 0, 1, 0, 1, 0, 0, 0), "crow": (1, 1, 1, 1, 0, 0, 0, 0)}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("EVALHOUSE_DB", raising=False)
    monkeypatch.setenv("EVALHOUSE_CONFIG", os.devnull)


def results(folder: Path, test_sets: tuple[str, ...] = ("birds",), systems: tuple[str, ...] = tuple(RIGHT)) -> Path:
    """A folder of tables, one for each system and test set."""
    kept = folder / "my results"
    kept.mkdir()
    for test_set in test_sets:
        for system in systems:
            lines = [f"{system},{test_set},q{k},{'ab'[k % 2]},{right}" for k, right in enumerate(RIGHT[system])]
            (kept / f"{system}-{test_set}.csv").write_text(
                "\n".join(("model,test_set,question,colour,correct", *lines)) + "\n"
            )
    return kept


def offered(said: str) -> list[list[str]]:
    """The commands among what was printed, each as its words."""
    return [shlex.split(line)[1:] for line in said.splitlines() if line.startswith("  evalhouse ")]


def test_a_path_alone_prints_the_table_and_what_to_go_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = results(tmp_path)
    (folder / "README").write_text("who made these\n")
    assert main([str(folder)]) == 0
    printed = capsys.readouterr()
    table = [line.split() for line in printed.out.splitlines()]
    assert ["a", "wren", "*0.8750*", "±0.2242"] in table
    assert ["b", "crow", "_0.5000_", "±0.2848"] in table
    assert ["c", "lark", "0.3750", "±0.2787"] in table
    assert "birds (8 questions)" in printed.out
    assert "3 of 4 files: 3 systems on birds; 1 passed over: " in printed.err
    assert not list(Path().iterdir())
    load, compare, differ, serve = offered(printed.err)
    assert (load, serve) == (["load", str(folder)], [str(folder), "--serve"])
    assert compare == ["query", "compare accuracy for wren, crow on birds"]
    assert differ == ["query", "differ accuracy for wren, crow on birds by document.colour"]
    for words in (load, compare, differ):
        assert main(words) == 0, words
    assert [path.name for path in Path().iterdir()] == ["evalhouse.duckdb"]


def test_several_test_sets_stand_side_by_side_and_one_system_is_shown_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = results(tmp_path, ("birds", "fish"), ("wren",))
    assert main([str(folder)]) == 0
    printed = capsys.readouterr()
    assert "birds (8 questions)   fish (8 questions)   average" in printed.out
    assert ["wren", "0.8750", "±0.2242", "0.8750", "±0.2242", "0.8750"] in map(str.split, printed.out.splitlines())
    for words in offered(printed.err)[:-1]:
        assert main(words) == 0, words


def test_systems_on_different_documents_are_shown_without_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = results(tmp_path)
    file = folder / "lark-birds.csv"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    assert main([str(folder)]) == 0
    table = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["lark", "7", "0.4286", "≠", "±0.2957"] in table


@pytest.mark.parametrize("test_sets", [("dev", "test"), ("birds", "birds:typos")])
def test_splits_and_variants_are_not_averaged(
    test_sets: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(results(tmp_path, test_sets))]) == 0
    printed = capsys.readouterr().out
    assert all(f"{name} (8 questions)" in printed for name in test_sets)
    assert "average" not in printed


def test_a_load_makes_the_warehouse_and_its_last_line_can_be_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = results(tmp_path)
    assert main(["load", str(folder)]) == 0
    *_, last = said = capsys.readouterr().err.splitlines()
    assert "note: evalhouse.duckdb is a new warehouse" in said
    account, _, ask = last.partition("; ask now: ")
    assert account.startswith("note: 3 files: 3 systems on birds; ")
    words = shlex.split(ask)[1:]
    assert words == ["query", "table accuracy for all on all interval letters"]
    assert main([*words, "--format", "table"]) == 0
    assert "*0.8750*" in capsys.readouterr().out


def test_a_load_that_fails_makes_no_warehouse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_text("model,question,correct\nwren,q1,perhaps\n,q2,1\n")
    assert main(["load", str(broken)]) == 1
    assert main(["load", "absent.csv"]) == 1
    assert main(["load", "results", "--db", "absent.duckdb"]) != 0
    assert not list(Path().iterdir())


def test_a_dry_run_makes_no_warehouse(tmp_path: Path) -> None:
    assert main(["load", str(results(tmp_path)), "--dry-run", "--quiet"]) == 0
    assert not list(Path().iterdir())


def test_a_file_that_is_not_there_is_an_error_and_so_is_a_warehouse_to_look_into(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["absent/"]) == 1
    assert "absent/: there is no such file" in capsys.readouterr().err
    assert main([str(results(tmp_path)), "--db", "birds.duckdb"]) == 2
    assert "files are looked at without a warehouse" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["runs/"], ["look", "runs/"]),
        (["out.jsonl", "--texts"], ["look", "out.jsonl", "--texts"]),
        (["--format", "csv", "runs/*.csv"], ["--format", "csv", "look", "runs/*.csv"]),
        (["--quiet", "--digits=2", "./runs"], ["--quiet", "--digits=2", "look", "./runs"]),
        (["load", "runs/"], ["load", "runs/"]),
        (["--db", "w.duckdb"], ["--db", "w.duckdb"]),
        (["resluts"], ["resluts"]),
        ([], []),
    ],
)
def test_a_path_is_told_from_a_command(words: list[str], meant: list[str]) -> None:
    assert in_full(words) == meant


@pytest.mark.parametrize(
    ("word", "hint"),
    [("runz", "did you mean run or runs?"), ("quer", "did you mean query?"), ("xyzzy", "commands and")],
)
def test_what_is_neither_a_command_nor_a_path_is_told_what_is_like_it(
    word: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("runs").mkdir()
    with pytest.raises(SystemExit, match="2"):
        main([word])
    said = capsys.readouterr().err
    assert f"error: there is no command and no file called {word}; " in said
    assert hint in said


def test_a_command_is_itself_where_a_file_has_its_name() -> None:
    Path("load").write_text("")
    Path("mine").write_text("")
    assert in_full(["load"]) == ["load"]
    assert in_full(["mine"]) == ["look", "mine"]

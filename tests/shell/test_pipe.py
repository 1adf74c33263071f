"""The shell over a pipe: statements and commands in, results out, errors on standard error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalhouse.warehouse.shell.prompt import is_command, lines, may_run, typed_lines

ROOT = Path(__file__).resolve().parent.parent.parent


def shell(text: str, folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "cli.py"), *words]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, input=text, env={**os.environ, **settings}
    )


@pytest.mark.parametrize(
    ("piped", "texts"),
    [
        (["score F\n", "on T;\n"], ["score F\non T;\n"]),
        (["score F for GE\n", "on T\n"], ["score F for GE\non T\n"]),
        ([".timer\n", "score F; -- x;\n", "help F\n"], [".timer\n", "score F; -- x;\n", "help F\n"]),
        (["score F -- no; end;\n", "on T;"], ["score F -- no; end;\non T;\n"]),
        (['sql "select 1;\n', '"\n'], ['sql "select 1;\n"\n']),
        (["\n", "\n"], []),
    ],
)
def test_lines_become_statements(piped: list[str], texts: list[str]) -> None:
    assert list(lines(iter(piped))) == texts


def test_typed_lines_become_statements_and_ctrl_c_drops_them(capsys: pytest.CaptureFixture[str]) -> None:
    script: list[str | KeyboardInterrupt] = [
        "",
        "score F for GE",
        "on T",
        "score F for",
        "GE on T",
        "score F",
        "score F for",
        KeyboardInterrupt(),
        ".timer",
        "let",
    ]
    prompts = []

    def ask(prompt: str) -> str:
        prompts.append(prompt.strip())
        if not script:
            raise EOFError
        line = script.pop(0)
        if isinstance(line, BaseException):
            raise line
        return line

    texts = ["\nscore F for GE\n", "on T\n", "score F for\nGE on T\n", "score F\n", ".timer\n", "let\n"]
    assert list(typed_lines(ask)) == texts
    first, more = "evalhouse>", "...>"
    assert prompts == [first, first, first, first, more, first, first, more, first, first, more]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("", True),
        ("score F for GE on T", True),
        ("score F for", False),
        ("wrong", True),
        (".foo", True),
        ("help", True),
    ],
)
def test_enter_runs_what_is_whole(text: str, runs: bool) -> None:
    assert may_run(text) is runs
    assert is_command(text) is (text in (".foo", "help"))


@pytest.mark.long
def test_results_go_to_standard_output_and_talk_to_standard_error(tmp_path: Path) -> None:
    done = shell("score F for GE\non TST3;\n.format json\nscore F for UMASS on TST3", tmp_path)
    first, _, third = done.stdout.splitlines()
    assert first.split("\t")[2] == "system"
    assert json.loads(third)["rows"][0]["system"] == "UMASS"
    assert "format json" in done.stderr
    assert done.returncode == 0


@pytest.mark.long
def test_what_is_wrong_stops_nothing_and_is_told_in_the_status(tmp_path: Path) -> None:
    done = shell("score F for UMAS on TST3;\n.foo\n.open nothing.duckdb\nscore F for GE on TST3;\n", tmp_path)
    assert done.stdout.splitlines()[1].startswith("TST3\textraction\tGE")
    for said in ("did you mean UMASS?", "there is no command .foo", "nothing.duckdb"):
        assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 1


def test_a_mistake_of_ours_is_a_sentence_and_the_session_goes_on(tmp_path: Path) -> None:
    broken = "import cli, sys, evalhouse.warehouse.shell.repl as repl; repl.commands.run = None; sys.exit(cli.main([]))"
    done = subprocess.run(
        [sys.executable, "-c", broken], capture_output=True, text=True, cwd=tmp_path, input=".timer\nshow tests;\n",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert "error: a bug in evalhouse: TypeError: 'NoneType' object is not callable" in done.stderr
    assert "Traceback" not in done.stderr
    assert "randomization" in done.stdout
    assert done.returncode == 1


@pytest.mark.long
def test_the_last_result_is_drawn_again_in_another_format(tmp_path: Path) -> None:
    done = shell("score F for GE on TST3;\n.last markdown\n.digits 4\n.last markdown\n.last xml\n", tmp_path)
    assert "| GE     | 56.01 |" in done.stdout
    assert "| GE     | 56.0058 |" in done.stdout
    assert "there is no format 'xml'" in done.stderr
    assert "there is no result yet" in shell(".last\n", tmp_path).stderr


@pytest.mark.long
def test_results_go_to_a_file_until_they_come_back(tmp_path: Path) -> None:
    (tmp_path / "taken.csv").write_text("mine")
    text = (
        ".output taken.csv\n.output all.md\nscore F for GE on TST3;\nscore F for UMASS on TST3;\n.output\nshow tests;"
    )
    done = shell(text, tmp_path)
    assert (tmp_path / "taken.csv").read_text() == "mine"
    assert "taken.csv: already exists" in done.stderr
    written = (tmp_path / "all.md").read_text(encoding="utf-8")
    assert [name in written for name in ("| GE ", "| UMASS ", "| sign ")] == [True, True, False]
    assert done.stdout.startswith("test\t")


@pytest.mark.long
def test_files_are_read_and_warehouses_opened(tmp_path: Path, warehouses: dict[str, Path]) -> None:
    (tmp_path / "study.study").write_text("score recall for A\non abc;\nscore recall for Z on abc;")
    text = f"let $x = GE;\n.open {warehouses['worked']}\n.read study.study\nshow variables;\n.read absent.study\n"
    done = shell(text, tmp_path)
    assert "abc\textraction\tA" in done.stdout
    assert "$x\tGE" in done.stdout
    assert "unknown system 'Z' on abc (study.study:3)" in done.stderr
    assert "absent.study: no such file or directory" in done.stderr


@pytest.mark.long
def test_the_editor_gives_back_a_text_that_waits(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ncat "$1" > seen\n', encoding="utf-8")
    editor.chmod(0o755)
    done = shell("score F for GE on TST3;\n.edit\n", tmp_path, EDITOR=str(editor), VISUAL="")
    assert (tmp_path / "seen").read_text() == "score F for GE on TST3;\n"
    assert done.stdout.count("GE") == 1
    assert "cannot be run" in shell(".edit\n", tmp_path, EDITOR="/absent/editor", VISUAL="").stderr


@pytest.mark.long
def test_the_last_question_is_explained_and_the_views_are_listed(tmp_path: Path) -> None:
    done = shell("compare F for GE, UMASS on TST3;\n.explain\n.last csv\n.tables\n.timer on\nshow tests;", tmp_path)
    assert "select" in done.stdout
    assert "contingency" in done.stdout
    # What explains is not what was asked last.
    assert "F(beta=1),GE,UMASS" in done.stdout
    assert done.stderr.rstrip().endswith(" s")


@pytest.mark.long
@pytest.mark.parametrize("word", ["quit", ".quit", "exit;"])
def test_the_rest_is_not_run_behind_quit(word: str, tmp_path: Path) -> None:
    done = shell(f"{word}\nscore F for GE on TST3;", tmp_path)
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.long
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    line = f"printf 'show measures;show systems;show measures' | {sys.executable} {ROOT / 'cli.py'} | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


@pytest.mark.long
def test_a_statement_that_begins_like_sql_is_run_as_sql(tmp_path: Path) -> None:
    asked = shell("select count(*) as messages from scores where \"system\" = 'GE';\n", tmp_path, "--format", "csv")
    quoted = shell(
        'sql "select count(*) as messages from scores where ""system"" = \'GE\'"\n', tmp_path, "--format", "csv"
    )
    assert (asked.returncode, asked.stdout) == (0, quoted.stdout)
    assert asked.stdout.startswith("messages\n")
    wrong = shell("with x as (select 1) select * from y;\n", tmp_path)
    assert wrong.returncode == 1
    assert "error" in wrong.stderr

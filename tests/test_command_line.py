"""The command line as a user meets it: exit statuses, streams, formats, loading."""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

import cli
from evalhouse.warehouse.commands import arguments, table
from evalhouse.warehouse.commands.table import COMMANDS, Command
from tests.conftest import write_csv

HOLM = "adjust holm: step-down Bonferroni; controls the family-wise error under any dependence (Holm 1979)\n"
ROOT = Path(__file__).resolve().parent.parent
SCORES = "test_set system document possible actual correct partial"


INSTALLED = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import cli; sys.exit(cli.command())"
"""What the installed command does."""


def evalhouse(*words: object, folder: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    command = [sys.executable, "-c", INSTALLED, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, input=stdin)


def test_help_says_what_commands_there_are_and_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'duckdb', 'numpy', 'lark', 'rich', 'prompt_toolkit', 'platformdirs'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    for command in COMMANDS:
        assert command.name in done.stdout


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_help_of_every_command_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([command, "--help"])
    assert stopped.value.code == 0
    assert f"Example: evalhouse {command}" in capsys.readouterr().out.replace("\n", " ")


def test_a_command_is_added_by_its_entry_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def greet(args: argparse.Namespace) -> int:
        print(f"good {args.time}")
        return 3

    def words(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("time", metavar="TIME")

    added = (*COMMANDS, Command("greet", "Look", "say a greeting", "evalhouse greet evening", words, greet))
    for module in (table, arguments):
        monkeypatch.setattr(module, "COMMANDS", added)
    assert cli.main(["greet", "morning"]) == 3
    assert capsys.readouterr().out == "good morning\n"
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert "say a greeting" in capsys.readouterr().out


def test_no_command_is_a_mistake_on_the_command_line(tmp_path: Path) -> None:
    assert evalhouse("frobnicate", folder=tmp_path).returncode == 2
    assert evalhouse("query", folder=tmp_path).returncode == 2
    done = evalhouse("query", "show tests", "--format", "xml", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no format 'xml'; the formats are table, json" in done.stderr


ANSWERS = """
score F, mean(recall) for all on TST3;
compare F for GE, UMASS, SRI, NYU on TST3 shuffles 20001;
compare recall for GE, UMASS, SRI on TST3 exact;
compare F for GE, UMASS, SRI on TST3 test tukey shuffles 5000;
compare precision for GE, UMASS, SRI on TST3 test bootstrap shuffles 999;
group F for all on TST4 shuffles 10001 adjust maxt
"""


@pytest.mark.long
def test_threads_change_no_number(tmp_path: Path) -> None:
    one, two = (evalhouse("query", ANSWERS, "--format", "json", "--threads", n, folder=tmp_path) for n in (1, 2))
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    assert one.stdout == two.stdout
    assert len(one.stdout) > 10_000


@pytest.mark.long
def test_threads_are_those_asked_for(tmp_path: Path) -> None:
    sql = "sql \"select current_setting('threads') as threads\""
    assert evalhouse("--threads", 3, "query", sql, folder=tmp_path).stdout == "threads\n3\n"
    assert evalhouse("query", sql, "--threads", 1, folder=tmp_path).stdout == "threads\n1\n"
    for wrong in ("0", "-1", "two", "99999"):
        done = evalhouse("query", sql, f"--threads={wrong}", folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"argument --threads: '{wrong}' is not a whole number from 1 to 1024" in done.stderr


def test_a_wrong_query_is_1_and_a_missing_warehouse_3(tmp_path: Path) -> None:
    wrong = evalhouse("query", "score F for NOBODY on TST3", folder=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr.splitlines()[-4:-1] == [
        "error: unknown system 'NOBODY' on TST3",
        "  score F for NOBODY on TST3",
        "              ^^^^^^",
    ]
    missing = evalhouse("query", "show systems", "--db", "absent.duckdb", folder=tmp_path)
    assert missing.returncode == 3
    assert missing.stderr.startswith("error: ")
    assert "absent.duckdb" in missing.stderr


def test_standard_output_is_data_only(tmp_path: Path) -> None:
    done = evalhouse("query", "score F for GE on TST3", folder=tmp_path)
    assert done.returncode == 0
    header, row = csv.reader(io.StringIO(done.stdout), delimiter="\t")
    assert header[:3] == ["test_set", "task", "system"]
    assert row[:3] == ["TST3", "extraction", "GE"]
    assert done.stderr.startswith("note: these are the sample data")
    assert evalhouse("query", "score F for GE on TST3", "--quiet", folder=tmp_path).stderr == ""


def test_statements_from_standard_input_and_one_json_object_each(tmp_path: Path) -> None:
    text = "score F for GE on TST3; -- and the other\nscore F for UMASS on TST3;"
    done = evalhouse("query", "-", "--format", "json", folder=tmp_path, stdin=text)
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert set(first) == {"statement", "sentence", "caption", "signature", "columns", "rows", "summary", "notes"}
    assert first["statement"] == "score F for GE on TST3"
    assert second["rows"][0]["F(beta=1)"] == pytest.approx(0.5161, abs=5e-5)


def test_what_other_threads_do_is_done_before_the_end(tmp_path: Path) -> None:
    """As a reader that is plugged in may begin one."""
    begun = (
        "import threading, time; from pathlib import Path; "
        "threading.Thread(target=lambda: (time.sleep(0.3), Path('done').touch())).start(); "
    )
    done = subprocess.run([sys.executable, "-c", begun + INSTALLED, "completion", "bash"], cwd=tmp_path, check=False)
    assert done.returncode == 0
    assert (tmp_path / "done").exists()


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    line = f"{sys.executable} {ROOT / 'cli.py'} query 'show systems; show measures; show systems' | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.returncode == 0


def test_a_mistake_of_ours_is_a_sentence_and_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(asked: object) -> int:
        raise ZeroDivisionError("division by zero")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evalhouse.warehouse.commands.keeping.info", failing)
    assert cli.main(["info"]) == 1
    assert capsys.readouterr().err == (
        "error: a bug in evalhouse: ZeroDivisionError: division by zero\n  set EVALHOUSE_TRACEBACK=1 to see where\n"
    )
    monkeypatch.setenv("EVALHOUSE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        cli.main(["info"])


def test_digits(tmp_path: Path) -> None:
    done = evalhouse("query", "score F for GE on TST3", "--format", "csv", "--digits", "2", folder=tmp_path)
    assert "GE,100,0.56,documents" in done.stdout


def test_from_an_empty_folder_to_an_answer(tmp_path: Path) -> None:
    rows = [("news", "base", "d1", 10, 9, 7, 1), ("news", "tuned", "d1", 10, 10, 8, 1)]
    write_csv(tmp_path / "scores.csv", SCORES, rows)
    assert evalhouse("init", "my.duckdb", folder=tmp_path).returncode == 0
    assert evalhouse("init", "my.duckdb", folder=tmp_path).returncode == 3
    loaded = evalhouse("load", "scores.csv", "--as", "scores", "--db", "my.duckdb", folder=tmp_path)
    assert loaded.returncode == 0
    assert "scores.csv: 2 rows stored as import 1" in loaded.stderr
    again = evalhouse("load", "scores.csv", "--as", "scores", "--db", "my.duckdb", folder=tmp_path)
    assert again.returncode == 0
    assert "all 2 rows are there already; nothing changed\n" in again.stderr
    asked = evalhouse("query", "score recall for all on news", "--db", "my.duckdb", "--format", "csv", folder=tmp_path)
    assert asked.stdout.splitlines()[1:] == [
        "news,extraction,tuned,1,0.85,documents",
        "news,extraction,base,1,0.75,documents",
    ]


@pytest.mark.long
def test_a_wrong_row_is_named_and_nothing_is_stored(tmp_path: Path) -> None:
    evalhouse("init", "my.duckdb", folder=tmp_path)
    before = (tmp_path / "my.duckdb").read_bytes()
    write_csv(tmp_path / "bad.csv", SCORES, [("T", "S", "d1", 10, 9, 7, 1), ("T", "S", "d2", 10, 1.5, 7, 1)])
    write_csv(tmp_path / "good.csv", SCORES, [("T", "S", "d3", 10, 9, 7, 1)])
    done = evalhouse("load", "good.csv", "bad.csv", "--as", "scores", "--db", "my.duckdb", folder=tmp_path)
    assert done.returncode == 1
    assert "bad.csv:3: actual is '1.5'" in done.stderr
    assert "stored as import" not in done.stderr
    assert (tmp_path / "my.duckdb").read_bytes() == before
    assert not (tmp_path / "my.duckdb.import").exists()


def test_a_dry_run_stores_nothing(tmp_path: Path) -> None:
    write_csv(tmp_path / "scores.csv", SCORES, [("T", "S", "d1", 10, 9, 7, 1)])
    done = evalhouse("load", "scores.csv", "--as", "scores", "--dry-run", "--db", "none.duckdb", folder=tmp_path)
    assert done.returncode == 0
    assert "1 of 1 rows would be stored; this was a dry run" in done.stderr
    assert not (tmp_path / "none.duckdb").exists()


@pytest.mark.long
def test_simulated_rows_say_so_in_every_caption(tmp_path: Path) -> None:
    write_csv(tmp_path / "scores.csv", SCORES, [("T", "S", "d1", 10, 9, 7, 1)])
    evalhouse("init", "my.duckdb", folder=tmp_path)
    evalhouse("load", "scores.csv", "--as", "scores", "--simulated", "--db", "my.duckdb", folder=tmp_path)
    done = evalhouse("query", "score F for all on T", "--db", "my.duckdb", "--format", "json", folder=tmp_path)
    assert "simulated data" in json.loads(done.stdout)["caption"]


@pytest.mark.long
def test_results_go_to_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    query = ["query", "score F for GE on TST3; score F for UMASS on TST3", "--output"]
    done = evalhouse(*query, "both.md", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "both.md: 2 results" in done.stderr
    written = (tmp_path / "both.md").read_text(encoding="utf-8")
    assert "| GE " in written
    assert "| UMASS " in written
    again = evalhouse(*query, "both.md", folder=tmp_path)
    assert again.returncode == 1
    assert "both.md: already exists; --force overwrites it" in again.stderr
    assert evalhouse(*query, "both.md", "--force", "--format", "csv", folder=tmp_path).returncode == 0
    assert (tmp_path / "both.md").read_text(encoding="utf-8").startswith("test_set,")
    wrong = evalhouse("query", "score F for GE on TST3; score F for X on TST3", "--output", "x.html", folder=tmp_path)
    assert wrong.returncode == 1
    assert not (tmp_path / "x.html").exists()


def test_several_results_as_html_are_one_page(tmp_path: Path) -> None:
    done = evalhouse("query", "score F for GE on TST3; show tests", "--format", "html", folder=tmp_path)
    assert done.stdout.count("<!doctype html>") == 1
    assert done.stdout.count("<figure") == 2


@pytest.mark.long
def test_what_is_unsound_is_said_and_told_in_the_status(tmp_path: Path, warehouses: dict[str, Path]) -> None:
    sound = evalhouse("check", "--db", warehouses["worked"], folder=tmp_path)
    assert (sound.returncode, sound.stdout) == (0, "")
    assert "nothing is wrong" in sound.stderr
    broken = tmp_path / "broken.duckdb"
    assert evalhouse("backup", broken, "--db", warehouses["worked"], folder=tmp_path).returncode == 0
    with duckdb.connect(str(broken)) as connection:
        connection.execute("delete from system where name = 'A'")
    unsound = evalhouse("check", "--db", broken, folder=tmp_path)
    assert unsound.returncode == 1
    assert "score: rows that point to no system: 100" in unsound.stdout


@pytest.mark.long
def test_a_backup_answers_as_the_warehouse_does(tmp_path: Path, warehouses: dict[str, Path]) -> None:
    copy = tmp_path / "copy.duckdb"
    assert evalhouse("backup", copy, "--db", warehouses["worked"], folder=tmp_path).returncode == 0
    query = ("query", "score recall for all on abc", "--db")
    assert (
        evalhouse(*query, copy, folder=tmp_path).stdout
        == evalhouse(*query, warehouses["worked"], folder=tmp_path).stdout
    )
    assert evalhouse("backup", copy, "--db", warehouses["worked"], folder=tmp_path).returncode == 3
    assert evalhouse("backup", "other.duckdb", folder=tmp_path).returncode == 3


@pytest.mark.long
def test_ctrl_c_ends_a_query_at_once_and_silently(tmp_path: Path) -> None:
    endless = 'sql "select count(*) from range(3000000) a, range(1000000) b where (a.range * b.range) % 7 = 3"'
    command = [sys.executable, str(ROOT / "cli.py"), "query", f"show tests; {endless}", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "")


def test_a_query_in_a_pipe_imports_nothing_for_the_screen(tmp_path: Path) -> None:
    code = (
        "import sys, cli, duckdb\n"
        # DuckDB 1.4 looks for these by itself, with the first parameters that it is given.
        "duckdb.connect().execute('select ?', [1]).fetchall()\n"
        "of_duckdb = set(sys.modules)\n"
        "cli.main(['query', 'score F for all on TST3', '--quiet'])\n"
        "heavy = {'rich', 'prompt_toolkit', 'xlsxwriter', 'pandas', 'pyarrow'} & (set(sys.modules) - of_duckdb)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_a_query_for_help_is_answered_as_in_the_shell(tmp_path: Path) -> None:
    asked = evalhouse("query", "help holm", "--quiet", folder=tmp_path)
    assert (asked.returncode, asked.stdout) == (0, HOLM)
    assert evalhouse("query", "help", "--quiet", folder=tmp_path).stdout.startswith("statements:\n  score ")
    unknown = evalhouse("query", "help ranking", "--quiet", folder=tmp_path)
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert unknown.stderr == "error: there is no help on ranking; did you mean rank?\n"


def test_ranks_of_a_picture_are_ranks_and_not_shares(tmp_path: Path) -> None:
    done = evalhouse(
        *("query", "--sample", "plot rank F for GE, UMASS, SYNCH on TST3 shuffles 99", "--format", "table"),
        folder=tmp_path,
    )
    shown = re.findall(r"^(GE|UMASS|SYNCH) +([\d.]+) ", done.stdout, re.MULTILINE)
    assert shown == [("GE", "1"), ("UMASS", "2"), ("SYNCH", "3")]

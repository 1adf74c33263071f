"""What a command line, an environment or a stream may contain by mistake: each mistake is reported in a sentence, none
causes an internal error, and no output controls the terminal.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

EVIL = "e\x1b[31mvil"
DIGITS = "9" * 5_000


def run(*words: str | bytes, folder: Path, stdin: bytes | None = b"", **environment: str) -> tuple[int, str]:
    """The status of a command and all that it prints; without stdin it is closed."""
    command = ["sh", "-c", 'exec "$@" <&-', "sh"] if stdin is None else []
    done = subprocess.run(
        [*command, sys.executable, str(ROOT / "cli.py"), *words],
        cwd=folder,
        input=stdin,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )
    said = (done.stdout + done.stderr).decode()
    assert "\x1b" not in said
    assert "EVALHOUSE_TRACEBACK" not in said, said
    return done.returncode, said


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fmt", "--check", EVIL], "error: e\\u001b[31mvil: no such file"),
        (["fmt", "--check", f"{EVIL}.study"], "e\\u001b[31mvil.study would change"),
        (["load", "x.csv", "--as", "scores", "--set", EVIL], "error: e\\u001b[31mvil is not --set FIELD=VALUE"),
        (["query", "show systems", "--param", f"{EVIL}=1 2"], "error: --param e\\u001b[31mvil=1 2: a value is"),
        (["query", "show systems", "--db", b"\xff.duckdb"], "error: '\\udcff.duckdb' is not UTF-8"),
        (["load", b"\xff.csv", "--as", "scores"], "error: '\\udcff.csv' is not UTF-8"),
        (["query", f"score F for GE on TST3 limit {DIGITS}"], "a number can have at most 28 digits"),
        (["query", "show systems", "--threads", DIGITS], "error: "),
        (["verify", "x | " * 15_000], "is neither a signature nor a file of results as JSON"),
        (["run", "/dev/zero"], "error: /dev/zero: is longer than 16 MiB"),
        (["verify", "/dev/zero"], "error: /dev/zero: is longer than 16 MiB"),
        (["info", "--db", "/dev/zero"], "error: "),
    ],
)
def test_a_word_is_a_mistake_with_a_sentence(words: list[str | bytes], sentence: str, tmp_path: Path) -> None:
    (tmp_path / f"{EVIL}.study").write_text("score    F for all on TST3")
    status, said = run(*words, folder=tmp_path)
    assert status in (1, 2, 3)
    assert sentence in said


@pytest.mark.long
def test_what_check_finds_is_clean(tmp_path: Path) -> None:
    import duckdb

    called = f"{EVIL}.duckdb"
    run("init", called, folder=tmp_path)
    with duckdb.connect(str(tmp_path / called)) as connection:
        connection.execute("insert into system values (7, ?), (8, ?)", [EVIL, EVIL])
    status, said = run("check", "--db", called, folder=tmp_path)
    assert status == 1
    assert "e\\u001b[31mvil.duckdb: unsound" in said


@pytest.mark.long
@pytest.mark.parametrize("columns", ["abc", "0", "-5", DIGITS, "1e3", ""])
def test_columns_that_are_none_are_passed_over(columns: str, tmp_path: Path) -> None:
    plain = run("query", "score F for GE on TST3", "--format", "table", folder=tmp_path)
    assert run("query", "score F for GE on TST3", "--format", "table", folder=tmp_path, COLUMNS=columns) == plain
    assert run("--help", folder=tmp_path, COLUMNS=columns)[0] == 0


@pytest.mark.long
@pytest.mark.parametrize("words", [["query", "-"], ["run", "-"], ["verify", "-"], []])
def test_a_closed_input_is_an_empty_one(words: list[str], tmp_path: Path) -> None:
    assert run(*words, folder=tmp_path, stdin=None) == run(*words, folder=tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("words", [["query", "-"], ["run", "-"], ["verify", "-"]])
def test_an_input_that_is_no_text_is_told(words: list[str], tmp_path: Path) -> None:
    assert "error: standard input: is not UTF-8" in run(*words, folder=tmp_path, stdin=b"show \xff")[1]
    assert "is longer than 16 MiB" in run(*words, folder=tmp_path, stdin=bytes(17 * 2**20))[1]


@pytest.mark.long
def test_an_error_is_about_the_file_that_it_is_of(tmp_path: Path) -> None:
    for command in (["query", "score F for GE on TST3"], ["--help"], ["load", "--help"], ["--version"]):
        with open("/dev/full", "wb") as full:
            words = [sys.executable, str(ROOT / "cli.py"), *command]
            done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, check=False)
        assert done.returncode == 3
        assert done.stderr.endswith(b"error: standard output cannot be written: no space left on device\n")
    (tmp_path / "gone").mkdir()
    words = ["sh", "-c", 'cd gone && rmdir ../gone && exec "$@"', "sh", sys.executable, str(ROOT / "cli.py"), "info"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert b"standard output" not in done.stderr
    assert b"EVALHOUSE_TRACEBACK" not in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("reader", "name", "text"),
    [
        ("values", "t.jsonl", '{"test_set":"T","system":"S","document":"D","measure":"m","value":N}\n'),
        ("lm-eval", "t.jsonl", '{"doc_id":1,"metrics":["m"],"m":N}\n{"doc_id":2,"metrics":["m"],"m":1}\n'),
        ("helm", "t.json", '[{"instance_id":"1","stats":[{"name":{"name":"m"},"count":1,"sum":N}]}]'),
        ("inspect", "t.json", '{"eval":{"task":"t","model":"m"},"samples":[{"id":1,"scores":{"a":{"value":N}}}]}'),
    ],
)
def test_a_number_of_many_digits_is_json(reader: str, name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text.replace("N", DIGITS))
    run("init", "w.duckdb", folder=tmp_path)
    names = [] if reader in ("values", "inspect") else ["--set", "test_set=T", "--set", "system=S"]
    said = run("load", name, "--as", reader, "--db", "w.duckdb", *names, folder=tmp_path)[1]
    assert "not JSON" not in said
    assert "finite number" in said or "error: " in said


def test_a_saved_result_may_hold_such_a_number(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(
        json.dumps({"statement": "show systems", "rows": []}).replace("[]", f'[{{"a":{DIGITS}}}]')
    )
    assert "different" in run("verify", "r.json", folder=tmp_path)[1]


@pytest.mark.long
def test_lists_of_lists_and_definitions_that_double_are_bounded(tmp_path: Path) -> None:
    doubling = f"let $a = {', '.join(['x'] * 1000)};" + "let $a = $a, $a, $a;" * 20
    assert "a variable is a list of at most 20,000" in run("query", doubling, folder=tmp_path)[1]
    defining = "define measure m0 = correct + actual;"
    defining += "".join(f"define measure m{k} = m{k - 1} + m{k - 1};" for k in range(1, 20))
    assert "fully expanded, the measure has more than 10,000 parts" in run("query", defining, folder=tmp_path)[1]

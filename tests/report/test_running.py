"""The command `run`: what it runs, how it reports mistakes, and what it writes."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import cli
from evalhouse.warehouse.loading.sample import FOLDER
from evalhouse.warehouse.render.report import REPORTS
from tests.conftest import write_csv
from tests.report.conftest import STUDY
from tests.test_command_line import SCORES

ROWS = [("news", "base", "d1", 10, 9, 7, 1), ("news", "tuned", "d1", 10, 10, 8, 1)]
Run = Callable[..., "subprocess.CompletedProcess[str]"]

BRINGS = """\
--| # What it brings along
load "rows/scores.csv" as scores;
score recall for all on news;
export score recall for all on news to "recall.csv";
"""


@pytest.fixture
def evalhouse(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command as it is given in a folder, in this process, which has all that it imports."""

    def given(*words: object, folder: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        status = cli.main(list(map(str, words)))
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(list(map(str, words)), status, printed.out, printed.err)

    monkeypatch.delenv("EVALHOUSE_DB", raising=False)
    return given


@pytest.fixture
def brings(tmp_path: Path) -> Path:
    """A study that loads what lies beside it, in a folder that is not the one where the command is given."""
    folder = tmp_path / "study"
    (folder / "rows").mkdir(parents=True)
    write_csv(folder / "rows" / "scores.csv", SCORES, ROWS)
    (folder / "brings.study").write_text(BRINGS, encoding="utf-8")
    return folder / "brings.study"


def test_the_first_error_ends_a_study(evalhouse: Run, tmp_path: Path) -> None:
    (tmp_path / "two.study").write_text(STUDY, encoding="utf-8")
    done = evalhouse("run", "two.study", "--report", "two.html", "--quiet", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "error: unknown system 'UMAS' on TST3 (two.study:17)",
        "  score F for UMAS on TST3;",
        "              ^^^^",
        "  did you mean UMASS?",
    ]
    assert not (tmp_path / "two.html").exists()


def test_keep_going_tells_every_error_and_reports_them_in_their_places(evalhouse: Run, tmp_path: Path) -> None:
    text = 'show tests;\nscore F for frob TST3;\nscore F for UMAS on TST3;\nload "absent.csv" as scores;\nshow tests'
    (tmp_path / "s.study").write_text(text, encoding="utf-8")
    done = evalhouse("run", "s.study", "--keep-going", "--report", "s.md", "--quiet", folder=tmp_path)
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert [line.rpartition(" (s.study:")[2] for line in errors] == ["2)", "3)", "4)"]
    written = (tmp_path / "s.md").read_text(encoding="utf-8")
    assert [written.index(f"## {number} ") for number in range(1, 6)] == sorted(
        written.index(f"## {number} ") for number in range(1, 6)
    )
    assert written.count("not answered\n") == 3
    assert "did you mean UMASS?" in written


def test_what_parsing_can_find_is_found_before_anything_is_run(evalhouse: Run, tmp_path: Path) -> None:
    (tmp_path / "s.study").write_text("show tests;\n\nscore F frob TST3", encoding="utf-8")
    done = evalhouse("run", "s.study", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "(s.study:3)" in done.stderr


@pytest.mark.long
def test_a_study_may_bring_its_data_along(evalhouse: Run, brings: Path, tmp_path: Path) -> None:
    (tmp_path / "evalhouse.duckdb").write_text("not asked", encoding="utf-8")
    done = evalhouse("run", brings, "--report", "out.html", "--quiet", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "answered from what it loads" in page
    assert ">rows/scores.csv<" in page
    assert (
        (brings.parent / "recall.csv").read_text(encoding="utf-8").splitlines()[1].startswith("news,extraction,tuned")
    )
    assert sorted(each.name for each in tmp_path.iterdir()) == ["evalhouse.duckdb", "out.html", "study"]


@pytest.mark.long
def test_a_study_loads_into_the_warehouse_that_is_named(evalhouse: Run, brings: Path, tmp_path: Path) -> None:
    assert evalhouse("init", "my.duckdb", folder=tmp_path).returncode == 0
    assert evalhouse("run", brings, "--db", "my.duckdb", folder=tmp_path).returncode == 0
    done = evalhouse("query", "score recall for all on news", "--db", "my.duckdb", "--quiet", folder=tmp_path)
    assert "tuned" in done.stdout


def test_variables_from_outside(evalhouse: Run, tmp_path: Path) -> None:
    (tmp_path / "s.study").write_text("let $who = GE;\n--| Who?\nscore F for $who on TST3;", encoding="utf-8")
    param = ("--param", "who=SRI, NYU")
    done = evalhouse("run", "s.study", *param, "--format", "csv", "--digits", "3", "--quiet", folder=tmp_path)
    assert [line.split(",")[2] for line in done.stdout.splitlines()] == ["system", "SRI", "NYU"]
    evalhouse("run", "s.study", *param, "--report", "s.md", folder=tmp_path)
    assert "Set from outside: \\$who = SRI, NYU." in (tmp_path / "s.md").read_text(encoding="utf-8")


def test_a_variable_from_outside_that_no_statement_has_is_a_mistake(evalhouse: Run, tmp_path: Path) -> None:
    (tmp_path / "gate.study").write_text("let $new = GE;\nscore F for $new, $old on TST3;", encoding="utf-8")
    done = evalhouse("run", "gate.study", "--param", "nwe=SRI", "--quiet", folder=tmp_path)
    said = "error: --param nwe: no statement has a variable $nwe\n  did you mean $new?\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    done = evalhouse("query", "show systems", "--param", "new=SRI", "--quiet", folder=tmp_path)
    said = "error: --param new: no statement has a variable $new\n  there are no variables\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    # The value of another may be of it, and a statement that cannot be read is what is to be said.
    two = ("--param", "old=SRI", "--param", "new=$old")
    assert evalhouse("query", "score F for $new on TST3", *two, "--quiet", folder=tmp_path).returncode == 0
    assert "unknown" in evalhouse("query", "scroe F", "--param", "new=SRI", folder=tmp_path).stderr


@pytest.mark.parametrize("name", ["out.html", "out.md", "out.tex"])
def test_a_report_is_never_written_over_unasked(evalhouse: Run, name: str, brings: Path, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    brings.write_text("--| # A\nshow tests", encoding="utf-8")
    done = evalhouse("run", brings, "--report", name, "--quiet", folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, f"error: {name}: already exists; --force overwrites it\n")
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"
    assert evalhouse("run", brings, "--report", name, "--force", "--quiet", folder=tmp_path).returncode == 0
    assert (tmp_path / name).read_text(encoding="utf-8") != "mine"


def test_a_wrong_ending_is_found_before_anything_is_run(evalhouse: Run, tmp_path: Path) -> None:
    (tmp_path / "s.study").write_text("show tests", encoding="utf-8")
    for name in ("out.pdf", "out", "out.html.gz"):
        done = evalhouse("run", "s.study", "--report", name, folder=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"error: {name}: a report must end in one of .html, .md, .tex\n"
    done = evalhouse("run", "s.study", "--report", "absent/out.html", "--quiet", folder=tmp_path)
    assert (done.returncode, done.stderr) == (
        1,
        "error: absent/out.html: cannot be written: no such file or directory\n",
    )


@pytest.mark.long
def test_pictures_are_written_beside_or_nothing_is(evalhouse: Run, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="pictures need the extra plot")
    text = "--| # P\nplot score F for GE, SRI on TST3;\nplot score recall, precision of published for all on TST3;"
    (tmp_path / "s.study").write_text(text, encoding="utf-8")
    done = evalhouse("run", "s.study", "--report", "my out.tex", folder=tmp_path)
    assert done.stderr.splitlines()[-1] == "note: my out.tex: 2 results and 2 pictures beside it"
    assert (tmp_path / "my-out-1.pdf").read_bytes().startswith(b"%PDF")
    if shutil.which("pdflatex"):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "my out.tex"]
        assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    (tmp_path / "new-2.svg").write_text("mine", encoding="utf-8")
    done = evalhouse("run", "s.study", "--report", "new.md", "--quiet", folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, "error: new-2.svg: already exists; --force overwrites it\n")
    assert not [each for each in tmp_path.iterdir() if each.name in ("new.md", "new-1.svg") or ".new" in each.name]
    done = evalhouse("run", "s.study", "--report", "new.md", "--force", folder=tmp_path)
    assert (tmp_path / "new-2.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "](new-2.svg)" in (tmp_path / "new.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_report_is_the_same_whenever_it_is_made(brings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the line with the date, which SOURCE_DATE_EPOCH sets. The pictures beside it are the same to the byte."""
    pytest.importorskip("vl_convert", reason="pictures need the extra plot")
    monkeypatch.chdir(brings.parent)
    brings.write_text(BRINGS.replace("export", "plot").replace(' to "recall.csv"', ""), encoding="utf-8")

    def made(epoch: str) -> dict[str, bytes]:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        for suffix in REPORTS:
            assert cli.main(["run", "brings.study", "--report", f"out{suffix}", "--force", "--quiet"]) == 0
        return {file.name: file.read_bytes() for file in brings.parent.glob("out*")}

    first = made("0")
    assert sorted(first) == ["out-3.pdf", "out-3.svg", "out.html", "out.md", "out.tex"]
    time.sleep(1.1)  # an import bears the second in which it was loaded
    assert made("0") == first
    later = made("86400")
    assert later.keys() == first.keys()
    for name in first:
        lines = zip(first[name].split(b"\n"), later[name].split(b"\n"), strict=True)
        differing = [(one, other) for one, other in lines if one != other]
        assert len(differing) == (name.startswith("out."))
        for one, other in differing:
            assert b"1970-01-01 00:00 UTC" in one
            assert b"1970-01-02 00:00 UTC" in other


def test_without_the_extra_a_report_with_pictures_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.study").write_text("score F for SRY on TST3;\nplot score F for SRI on TST3", encoding="utf-8")
    assert cli.main(["run", "s.study", "--report", "s.html", "--quiet"]) == 3
    assert capsys.readouterr().err.splitlines() == [
        "error: writing a picture to a file needs the package vl-convert-python",
        '  pip install "evalhouse[plot]"',
    ]
    assert [each.name for each in tmp_path.iterdir()] == ["s.study"]


def test_a_date_that_is_none_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "s.study").write_text("show tests", encoding="utf-8")
    command = [sys.executable, cli.__file__, "run", "s.study", "--report", "s.html"]
    settings = {**os.environ, "SOURCE_DATE_EPOCH": "yesterday"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=settings, check=False)
    assert done.returncode == 2
    assert "SOURCE_DATE_EPOCH is 'yesterday'" in done.stderr


def test_standard_input_is_a_study_too(evalhouse: Run, tmp_path: Path) -> None:
    done = evalhouse("run", "-", "--report", "s.md", folder=tmp_path, stdin="--| # Piped\nshow tests")
    assert done.returncode == 0
    assert (tmp_path / "s.md").read_text(encoding="utf-8").startswith("# Piped\n")


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(each.name for each in (FOLDER / "studies").glob("*.study")))
def test_the_studies_that_come_along_are_reported(evalhouse: Run, name: str, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="pictures need the extra plot")
    study = FOLDER / "studies" / name
    done = evalhouse("run", study, "--report", "out.html", "--quiet", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 3_000_000
    pictures = {"chinchor_1992.study": 11, "lewis_tong_1992.study": 6, "filtering_carried_on.study": 2}
    assert page.count('class="picture"') == pictures.get(name, 0)
    if shutil.which("pdflatex"):
        assert evalhouse("run", study, "--report", "out.tex", "--quiet", folder=tmp_path).returncode == 0
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "out.tex"]
        # The widths of tables that go on over pages are right the second time.
        first, second = (
            subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
            for _ in range(2)
        )
        assert (first.returncode, second.returncode) == (0, 0), second.stdout[-1500:]
        assert "Overfull" not in second.stdout

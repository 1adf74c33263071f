"""In a folder of submissions nothing vanishes: each file is loaded, is a system that answered nothing, stops the load,
or is passed over by name.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import tarfile
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cli
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.account import Account, account_of
from evalhouse.warehouse.loading.ingest import carry_out
from evalhouse.warehouse.loading.planning import LoadRequest, plan
from evalhouse.warehouse.process.publishing import temporary
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.empty import create
from tests.told import without_question

pytestmark = pytest.mark.long

QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 1\n"
RUN = "1 Q0 a 1 0.9 TAG\n1 Q0 b 2 0.8 TAG\n2 Q0 b 1 0.7 TAG\n"
GOLD = "Ada B-PER\nsaw O\n\nTurin B-LOC\n"
FOUND = "Ada B-PER\nsaw O\n\nTurin O\n"
SILENT = "Ada O\nsaw O\n\nTurin O\n"
TABLE = "model,question,correct\nTAG,Q1,1\nTAG,Q2,0\n"
SPANS = "T1\tPER 0 3\tAda\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(files: Mapping[str, str | bytes], where: str = ".") -> None:
    """Files in a folder, by their paths."""
    for name, content in files.items():
        path = Path(where, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def load(*named: str, **options: object) -> tuple[Database, Account]:
    """Loads files into a new warehouse in memory, and accounts for them."""
    request = LoadRequest(named, **options)  # type: ignore[arg-type]
    database = in_memory()
    with temporary() as scratch, in_memory() as store:
        planned = plan(request, store, scratch)
        return database, account_of(planned, carry_out(database, request, planned))


def asked(question: str, *named: str) -> dict[object, object]:
    """The values that a question about a measure has, by system, after files were loaded."""
    create(Path("asked.duckdb")).close()
    with Session.open(Path("asked.duckdb")) as session:
        for name in named:
            session.run(f'load "{name}" as auto')
        found = session.run(question)
        return {row["system"]: row[found.columns[-2]] for row in found.rows}


# === files that look like their neighbours ============================================================================


@pytest.mark.parametrize("nothing", ["", "\n\n", "# run on a laptop\n"])
def test_an_empty_run_is_a_system_that_returned_nothing(nothing: str) -> None:
    put({"t/qrels.txt": QRELS, "t/ok.run": RUN.replace("TAG", "ok"), "t/nil.run": nothing})
    assert asked("score AP for all on t missing zero", "t") == {"ok": 0.5, "nil": 0.0}
    with Session.open(Path("asked.duckdb")) as session:
        assert {row["system"]: row["recall"] for row in session.run("score recall for all on t").rows}["nil"] == 0
        coverage = [row for row in session.run("coverage for all on t of rankings").rows if row["system"] == "nil"]
        assert [(row["scored"], row["absent"], row["reasons"]) for row in coverage] == [(0, 2, "no output of the run")]
        ranked = session.run("rank AP for all on t missing zero").rows
        assert [row["system"] for row in ranked] == ["ok", "nil"]
        for statement in ("score AP for all on t", "table AP on t"):
            assert any("nil" in note for note in session.run(statement).notes)
        pair = session.run("compare AP for ok, nil on t missing zero").rows[0]
        assert (pair["value_a"], pair["value_b"]) == (0.5, 0)


def test_an_empty_run_alone_is_an_error() -> None:
    put({"nil.run": ""})
    with pytest.raises(DataError, match=r"nil\.run: the file is empty"):
        load("nil.run")


def test_answers_without_any_entity_are_a_system_that_found_nothing() -> None:
    put({"t/gold.conll": GOLD, "t/good.conll": FOUND, "t/none.conll": SILENT})
    assert asked("score F1 for all on t", "t") == {"good": pytest.approx(2 / 3), "none": 0}


def test_answers_of_brat_may_be_empty_in_every_document() -> None:
    put({"t/gold/a.ann": SPANS, "t/crf/a.ann": SPANS, "t/nil/a.ann": "", "t/nil/B.ANN": ""})
    put({"t/gold/a.txt": "Ada", "t/crf/a.txt": "Ada"})
    assert asked("score recall for all on t", "t") == {"crf": 1, "nil": 0}
    _, account = load("t")
    assert (account.loaded, account.files, account.passed_over) == (4, 6, ())


@pytest.mark.parametrize("word", ["0", "Q0", "q0", "EXP"])
def test_the_second_column_of_a_run_is_not_read(word: str) -> None:
    put({"t/qrels.txt": QRELS, "t/a": RUN.replace("TAG", "a"), "t/b": RUN.replace("TAG", "b").replace("Q0", word)})
    assert asked("score AP for all on t missing zero", "t") == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("words.run", RUN.replace("TAG", "b of us"), ":1: 8 columns in this line"),
        ("five.run", RUN.replace(" TAG", ""), ":1: 5 columns in this line"),
        ("five", RUN.replace(" Q0", ""), ":1: 5 columns in this line"),
        ("three.run", "1 a 0.9\n2 b 0.8\n", ":1: 3 columns in this line"),
        ("garbage.run", "this is not a run\n", ":1: "),
        ("wide.run", RUN.encode("utf-16"), ": the file is UTF-16; it must be UTF-8"),
        ("latin.run", RUN.replace("a", "é").encode("latin-1"), ":1: this line is not UTF-8"),
        ("cut.run.gz", gzip.compress(RUN.encode())[:-12], ":3: the gzip data is cut off or damaged"),
        ("UPPER.RUN", RUN.replace("0.9", "x"), ":1: score is 'x', not a finite number"),
    ],
)
def test_a_damaged_run_stops_the_load_or_is_left_out_by_name(name: str, content: str | bytes, said: str) -> None:
    put({"t/qrels.txt": QRELS, "t/ok.run": RUN, f"t/{name}": content})
    _is_refused(name, said, "t")


@pytest.mark.parametrize("named", [("t/*",), ("t/five.run", "t/ok.run", "t/qrels.txt"), ("t.zip",), ("t.tar.gz",)])
def test_a_damaged_run_is_as_safe_by_any_way_in(named: tuple[str, ...]) -> None:
    put({"t/qrels.txt": QRELS, "t/ok.run": RUN, "t/five.run": RUN.replace(" TAG", "")})
    pack("t", "t.zip")
    pack("t", "t.tar.gz")
    _is_refused("five.run", ":1: 5 columns in this line", *named)


def _is_refused(name: str, said: str, *named: str) -> None:
    with pytest.raises(DataError, match=re.escape(name + said)):
        load(*named)
    _, account = load(*named, skip_bad=True)
    assert [Path(other.file).name for other in account.others if other.became == "left out"] == [name]
    assert (account.loaded, account.files) == (2, 3)
    with pytest.raises(DataError):
        load(*named, skip_bad=True, expect_all=True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("b.run", RUN.replace("\n", "\r\n")),
        ("b.run", b"\xef\xbb\xbf" + RUN.encode()),
        ("B.RUN", RUN),
        ("b", RUN.replace(" ", "\t")),
        ("b.run.gz", gzip.compress(RUN.encode())),
        ("b.run", "# a comment\n" + RUN.replace("2 Q0 b", "# another of six words\n2 Q0 b")),
        ("b.run", "qid Q0 docno rank score tag\n" + RUN),
    ],
)
def test_a_run_may_be_written_otherwise(name: str, content: str | bytes) -> None:
    content = content.replace("TAG", "b") if isinstance(content, str) else content
    put({"t/qrels.txt": "# judged twice\n" + QRELS, "t/ok.run": RUN, f"t/{name}": content})
    values = asked("score AP for all on t missing zero", "t")
    assert set(values.values()) == {0.5}
    assert len(values) == 2 or name.endswith(".gz") or isinstance(content, bytes)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", "", ": the file is empty"),
        ("blank.csv", "\n \n", ":1: the first line is blank"),
        ("head.csv", "model,question,correct\n", ": there is a header, but no rows"),
        ("semicolons.csv", TABLE.replace(",", ";"), ":1: "),
        ("other.csv", "who,what\nx,y\n", ":1: "),
        ("word.csv", TABLE.replace("1\n", "maybe\n"), ":2: correct is 'maybe'"),
        ("0.csv", TABLE.replace("1\n", "maybe\n"), ":2: correct is 'maybe'"),
        ("CAPITALS.CSV", "model,question\nx,Q1\n", ":1: "),
    ],
)
def test_a_table_that_ends_as_its_neighbours_do_stops_the_load(name: str, content: str, said: str) -> None:
    put({"t/a.csv": TABLE.replace("TAG", "a"), f"t/{name}": content})
    with pytest.raises(DataError, match=re.escape(f"t/{name}{said}")):
        load("t")
    _, account = load("t", skip_bad=True)
    assert (account.loaded, account.files, account.systems) == (1, 2, 1)


def test_json_lines_with_one_broken_line_stop_the_load() -> None:
    rows = [{"model": "a", "question": f"Q{number}", "correct": number % 2} for number in range(3)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    put({"t/a.jsonl": lines, "t/b.jsonl": "{broken\n" + lines, "t/c.jsonl": ""})
    with pytest.raises(DataError) as caught:
        load("t", "t/b.jsonl")
    assert "t/b.jsonl:1: " in str(caught.value)
    put({"t/b.jsonl": lines.replace('"a"', '"b"')})
    with pytest.raises(DataError, match=r"t/c\.jsonl: the file is empty"):
        load("t")


def test_what_a_harness_writes_beside_its_logs_is_passed_over() -> None:
    """But a log that is empty or cut off is not."""
    log = '{"version": 2, "eval": {"task": "quiz", "model": "m", "run_id": "r"}, "samples": [SAMPLE]}'
    log = log.replace("SAMPLE", '{"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}')
    put({"logs/a.json": log, "logs/plot.json": '{"colour": "red", "lines": [1, 2]}'})
    _, account = load("logs")
    assert [(over.called, over.why) for over in account.passed_over] == [("logs/plot.json", "not recognized")]
    for damaged in ("", log[: len(log) // 2]):
        put({"logs/b.json": damaged})
        with pytest.raises(DataError, match=r"logs/b\.json"):
            load("logs")


# === what is counted, and said last ===================================================================================


def test_the_last_line_counts_every_file(capsys: pytest.CaptureFixture[str]) -> None:
    put({"t/a.csv": TABLE.replace("TAG", "a"), "t/b.csv": TABLE.replace("TAG", "b"), "t/c.csv": "", "t/.hidden": "x"})
    put({"t/README.md": "# 1", "t/LICENSE": "free", "t/plot.png": b"\x89PNG\r\n", "t/x.xyz": "who knows\n"})
    create(Path("w.duckdb")).close()
    assert cli.main(["load", "t", "--skip-bad", "--format", "json", "--db", "w.duckdb"]) == 0
    printed = capsys.readouterr()
    passed_over = (
        "t/LICENSE (a readme or a licence), t/README.md (a readme or a licence), t/plot.png (a .png file), "
        "t/x.xyz (not recognized)"
    )
    assert without_question(printed.err).splitlines()[-1] == (
        "note: 2 of 7 files: 2 systems on a, b; 4 rows stored as imports 1 to 2; 1 left out: t/c.csv; "
        f"4 passed over: {passed_over}"
    )
    result = json.loads(printed.out)
    assert [row["file"] for row in result["rows"]] == ["t/a.csv", "t/b.csv"]
    assert [(row["file"], row["became"]) for row in result["summary"]] == [
        ("t/c.csv", "left out"),
        ("t/LICENSE", "passed over"),
        ("t/README.md", "passed over"),
        ("t/plot.png", "passed over"),
        ("t/x.xyz", "passed over"),
    ]
    for number in range(9):
        put({f"t/plot{number}.png": b"\x89PNG\r\n"})
    assert cli.main(["load", "t", "--skip-bad", "--db", "w.duckdb"]) == 0
    assert (
        without_question(capsys.readouterr().err)
        .splitlines()[-1]
        .endswith(
            "13 passed over: 2 such as t/LICENSE (a readme or a licence), 10 such as t/plot.png (a .png file), "
            "t/x.xyz (not recognized)"
        )
    )


def test_expect_all_stores_nothing_if_a_file_would_be_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    put({"t/a.csv": TABLE, "t/README.md": "# 1", "t/LICENSE": "free", "t/.hidden": "x", "t/x.xyz": "who knows\n"})
    create(Path("w.duckdb")).close()
    words = ["load", "t", "--expect-all", "--db", "w.duckdb"]
    assert cli.main(words) == 1
    said = without_question(capsys.readouterr().err)
    assert "error: t/x.xyz: it would be passed over: its format is not recognized: a text that begins with" in said
    with Session.open(Path("w.duckdb")) as session:
        assert session.run("show imports").rows == []
    Path("t/x.xyz").unlink()
    assert cli.main(words) == 0


def test_rows_that_repeat_others_of_the_load_are_not_called_stored(capsys: pytest.CaptureFixture[str]) -> None:
    put({"t/a.csv": TABLE, "t/b.csv": TABLE + "TAG,Q3,1\n"})
    create(Path("w.duckdb")).close()
    words = ["load", "t", "--set", "test_set=t", "--db", "w.duckdb"]
    assert cli.main(words) == 0
    said = without_question(capsys.readouterr().err)
    assert "note: t/b.csv: 1 row stored as import 2; 2 more repeat others of this load" in said
    assert said.endswith("2 files: 1 system on t; 3 rows stored as imports 1 to 2; 2 more repeat others of this load\n")
    put({"t/b.csv": TABLE + "TAG,Q3,1\nTAG,Q4,1\nTAG,Q4,1\n"})
    assert cli.main(words) == 0
    assert (
        "1 row stored as import 3; 5 more are already stored; 1 more repeats others of this load"
        in without_question(capsys.readouterr().err).splitlines()[-1]
    )


def test_patterns_and_folders_without_files_are_errors() -> None:
    put({"t/a.csv": TABLE})
    Path("team2").mkdir()
    for named, said in (("x*.run", "no file matches this pattern"), ("team2", "there is no file in this folder")):
        with pytest.raises(DataError, match=re.escape(f"{named}: {said}")):
            load("t", named)
    Path("t/team3").mkdir()
    _, account = load("t")
    assert [(over.called, over.why) for over in account.passed_over] == [("t/team3", "an empty folder")]


def test_links_to_folders_are_not_followed_and_named() -> None:
    put({"real/a.csv": TABLE})
    Path("links").mkdir()
    Path("links/team").symlink_to(Path("real").absolute())
    with pytest.raises(DataError, match=r"links/team \(a link to a folder, which is not followed\)"):
        load("links")
    put({"links/b.csv": TABLE})
    assert [over.called for over in load("links")[1].passed_over] == ["links/team"]


def test_a_picture_by_its_ending_that_is_a_run_stops_the_load() -> None:
    put({"t/qrels.txt": QRELS, "t/a.run": RUN, "t/b.r": RUN.replace("TAG", "b")})
    with pytest.raises(DataError, match=r"t/b\.r: a \.r file is passed over in a folder, but this one looks like"):
        load("t")
    assert load("t/qrels.txt", "t/a.run", "t/b.r")[1].systems == 2


# === archives =========================================================================================================


def pack(folder: str, name: str) -> None:
    """Packs a folder as tar or zip."""
    if name.endswith(".zip"):
        with zipfile.ZipFile(name, "w") as archive:
            for path in sorted(Path(folder).rglob("*")):
                archive.write(path, path.relative_to(folder))
    else:
        with tarfile.open(name, "w:gz") as archive:
            for path in sorted(Path(folder).iterdir()):
                archive.add(path, path.name)


def test_links_in_an_archive_are_the_files_that_they_lead_to() -> None:
    put({"t/base.csv": "question,correct\nQ1,1\nQ2,0\n"})
    os.link("t/base.csv", "t/hard.csv")
    os.symlink("base.csv", "t/soft.csv")
    os.symlink("soft.csv", "t/softer.csv")
    pack("t", "t.tar.gz")
    with zipfile.ZipFile("t.zip", "w") as archive:
        archive.write("t/base.csv", "base.csv")
        for name, target in (("hard.csv", "base.csv"), ("soft.csv", "base.csv"), ("softer.csv", "soft.csv")):
            about = zipfile.ZipInfo(name)
            about.external_attr = 0o120777 << 16
            archive.writestr(about, target)
    request = {"reader": "table", "fields": {"system": "{stem}", "test_set": "t"}}
    for named in ("t", "t.tar.gz", "t.zip"):
        database, account = load(named, **request)
        assert (account.systems, account.loaded) == (4, 4), named
        assert {row[-1] for row in facts(database)["document_values"]} == {0.0, 1.0}


@pytest.mark.parametrize("target", ["gone.csv", "../base.csv", "/etc/passwd", "self.csv"])
def test_a_link_out_of_an_archive_stops_the_load(target: str) -> None:
    with tarfile.open("t.tar", "w") as archive:
        about = tarfile.TarInfo("base.csv")
        about.size = len(TABLE)
        archive.addfile(about, io.BytesIO(TABLE.encode()))
        link = tarfile.TarInfo("self.csv")
        link.type, link.linkname = tarfile.SYMTYPE, target
        archive.addfile(link)
    with pytest.raises(DataError, match=r"t\.tar/self\.csv: this is a link to '.*', which is not in the archive"):
        load("t.tar")
    _, account = load("t.tar", skip_bad=True)
    assert (account.loaded, account.files) == (1, 2)


@pytest.mark.parametrize("name", ["t.zip", "t.tar"])
def test_two_members_of_one_name_stop_the_load(name: str) -> None:
    texts = {"a.csv": [TABLE], "r.csv": [TABLE.replace("TAG", "x"), TABLE.replace("TAG", "y")]}
    members = [(member, text.encode()) for member, contents in texts.items() for text in contents]
    if name.endswith(".zip"):
        with zipfile.ZipFile(name, "w") as packed, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for member, content in members:
                packed.writestr(member, content)
    else:
        with tarfile.open(name, "w") as archive:
            for member, content in members:
                about = tarfile.TarInfo(member)
                about.size = len(content)
                archive.addfile(about, io.BytesIO(content))
    with pytest.raises(DataError, match=re.escape(f"{name}/r.csv: the archive has several members of this name")):
        load(name)
    _, account = load(name, skip_bad=True)
    assert (account.systems, account.loaded, account.files) == (1, 1, 2)


@pytest.mark.parametrize(("member", "stops"), [("pipe.csv", True), ("pipe", False)])
def test_a_pipe_in_an_archive_or_a_folder_is_named(member: str, stops: bool) -> None:
    put({"t/a.csv": TABLE})
    os.mkfifo(f"t/{member}")
    with tarfile.open("t.tar.gz", "w:gz") as archive:
        archive.add("t/a.csv", "a.csv")
        archive.add(f"t/{member}", member)
    for named in ("t", "t.tar.gz"):
        if stops:
            with pytest.raises(DataError, match=re.escape(f"{named}/{member}: this is a pipe or a device")):
                load(named)
        else:
            assert [over.called for over in load(named)[1].passed_over] == [f"{named}/{member}"]


def test_an_archive_that_a_reader_reads_as_one_has_no_links_either() -> None:
    put({"gold/a.ann": SPANS, "crf/a.ann": SPANS})
    with tarfile.open("t.tar", "w") as archive:
        archive.add("gold")
        archive.add("crf")
        link = tarfile.TarInfo("lstm/a.ann")
        link.type, link.linkname = tarfile.LNKTYPE, "crf/a.ann"
        archive.addfile(link)
    assert load("t.tar")[1].systems == 2
    with pytest.raises(DataError, match=r"t\.tar/lstm/a\.ann: this is a link; unpack the archive and load its folder"):
        load("t.tar", reader="brat")


# === the law ==========================================================================================================

VIEWS = ("scores", "decisions", "rankings", "document_values", "counts")


def facts(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """All facts about systems, by view."""
    return {
        view: database.rows(Sql(f"select * exclude (evaluation, import_id) from {view} order by all")) for view in VIEWS
    }


FAMILIES: dict[str, dict[str, str | bytes]] = {
    "runs": {"qrels.txt": QRELS, "first.run": RUN},
    "names": {"gold.conll": GOLD, "first.conll": FOUND},
    "tables": {"first.csv": TABLE.replace("TAG", "first table")},
}
"""Folders of submissions: what is always there."""

GOOD: dict[str, tuple[str | bytes, str]] = {
    "runs/a.run": (RUN.replace("TAG", "run-a"), "run-a"),
    "runs/b.run": (RUN.replace("TAG", "run-b").replace("Q0", "0"), "run-b"),
    "runs/c.run": (RUN.replace("TAG", "run-c").replace("\n", "\r\n"), "run-c"),
    "runs/D.RUN": (RUN.replace("TAG", "run-d"), "run-d"),
    "runs/e.run.gz": (gzip.compress(RUN.replace("TAG", "run-e").encode()), "run-e"),
    "runs/nil.run": ("", "nil"),
    "runs/comments.run": ("# nothing\n", "comments"),
    "names/a.conll": (FOUND, "a"),
    "names/b.conll": (FOUND.replace("\n", "\r\n"), "b"),
    "names/none.conll": (SILENT, "none"),
    "names/C.CONLL": (GOLD, "C"),
    "tables/a.csv": (TABLE.replace("TAG", "table a"), "table a"),
    "tables/b.csv": (b"\xef\xbb\xbf" + TABLE.replace("TAG", "table b").encode(), "table b"),
}
"""Submissions, also of systems that answered nothing, with the names of their systems."""

BAD: dict[str, str | bytes] = {
    "runs/five.run": RUN.replace(" TAG", ""),
    "runs/words.run": RUN.replace("TAG", "run of ours"),
    "runs/cut.run.gz": gzip.compress(RUN.encode())[:-12],
    "runs/wide.run": RUN.encode("utf-16"),
    "names/short.conll": "Ada B-PER\n",
    "names/empty.conll": "",
    "tables/empty.csv": "",
    "tables/head.csv": "model,question,correct\n",
    "tables/semicolons.csv": TABLE.replace(",", ";"),
}
FOREIGN: dict[str, str | bytes] = {
    "README": "what is here",
    "runs/LICENSE.txt": "free",
    "plots/plot.png": b"\x89PNG\r\n",
    "tables/make.py": "print(1)\n",
    "names/thoughts": "we tried some things\nand others\n",
    "unknown.xyz": "who knows\n",
    "empty.xyz": "",
}


@st.composite
def folders(draw: st.DrawFn) -> tuple[set[str], set[str], set[str]]:
    """The names of good, bad and foreign files."""
    chosen = [draw(st.sets(st.sampled_from(sorted(names)), max_size=5)) for names in (GOOD, BAD, FOREIGN)]
    return chosen[0], chosen[1], chosen[2]


def filled(names: Iterator[str]) -> dict[str, str | bytes]:
    """The contents of a folder with some of the files above."""
    every = {name: content for name, (content, _) in GOOD.items()} | BAD | FOREIGN
    always = {f"{family}/{name}": content for family, files in FAMILIES.items() for name, content in files.items()}
    return always | {name: every[name] for name in names}


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(folders())
def test_every_file_is_loaded_or_named(chosen: tuple[set[str], set[str], set[str]]) -> None:
    fine, damaged, foreign = chosen
    with temporary() as scratch:
        root = scratch / "all"
        files = filled(iter((*fine, *damaged, *foreign)))
        put(files, str(root))
        pack(str(root), str(scratch / "all.zip"))
        pack(str(root), str(scratch / "all.tar.gz"))
        if damaged:
            with pytest.raises(DataError) as caught:
                load(str(root))
            assert {Path(fault.source).name for fault in caught.value.faults} <= {Path(bad).name for bad in damaged}
        loads = {way: load(str(scratch / way), skip_bad=True) for way in ("all", "all.zip", "all.tar.gz")}
    systems = {GOOD[name][1] for name in fine} | {"TAG", "first", "first table"}
    stored = facts(loads["all"][0])
    assert {row[1] for rows in stored.values() for row in rows} == systems
    for way, (database, account) in loads.items():
        became: dict[str, set[str]] = {}
        for other in account.others:
            became.setdefault(other.became, set()).add(Path(other.file).relative_to(scratch / way).as_posix())
        assert became.get("left out", set()) == damaged
        assert became.get("passed over", set()) == foreign
        assert account.loaded == len(files) - len(damaged) - len(foreign)
        assert account.files == len(files)
        assert account.systems == len(systems)
        assert facts(database) == stored

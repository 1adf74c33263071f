"""A folder is one load: its files are recognized and ordered, and either all of them are stored or none."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import cli
from evalhouse.warehouse.loading.readers.trec import EXAMPLE, EXAMPLE_RUN
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.empty import create
from tests.told import without_question

Command = Callable[..., tuple[int, str, str]]
VALUES = "system,document,measure,value\nGE,D1,acc,1\n"


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command `load` in a folder with an empty warehouse: its status, what it prints and what it says."""
    monkeypatch.chdir(tmp_path)
    create(Path("w.duckdb")).close()

    def loading(*words: str) -> tuple[int, str, str]:
        try:
            status = cli.main(["load", *words, "--db", "w.duckdb"])
        except SystemExit as left:
            status = int(str(left.code))
        printed = capsys.readouterr()
        return status, printed.out, without_question(printed.err)

    return loading


def put(**texts: str) -> None:
    """Files, whose names have `/` for two underscores and `.` for one."""
    for name, text in texts.items():
        path = Path(name.replace("__", "/").replace("_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


SYSTEMS = " union ".join(f"select test_set, system from {view}" for view in ("document_values", "rankings"))


def stored(
    query: str = f"from ({SYSTEMS}) order by all",
) -> list[tuple[object, ...]]:
    with open_database(Path("w.duckdb")) as database:
        assert check(database) == ()
        return database.rows(Sql(query))


@pytest.mark.long
def test_keys_come_first_wherever_they_lie_and_name_the_test_set(load: Command) -> None:
    put(robust__runs__a_run=EXAMPLE_RUN, robust__z_qrels=EXAMPLE, robust__README_md="# 1 2 3", robust__notes="hello")
    status, _, said = load("robust")
    assert status == 0
    assert stored() == [("robust", "base")]
    rest = "2 passed over: robust/README.md (a readme or a licence), robust/notes (not recognized)"
    stored_as = "note: 2 of 4 files: 1 system on robust; 19 rows stored as imports 1 to 2"
    assert said.splitlines()[-1] == f"{stored_as}; {rest}"
    again = f"note: 2 of 4 files: 1 system on robust; all 19 rows are there already; {rest}"
    assert load("robust")[2].splitlines()[-1] == again


@pytest.mark.long
def test_each_folder_has_the_key_that_is_in_it(load: Command) -> None:
    put(y__2019__q=EXAMPLE, y__2019__runs__a=EXAMPLE_RUN, y__2020__q=EXAMPLE, y__2020__runs__a=EXAMPLE_RUN)
    assert load("y")[0] == 0
    assert stored() == [("2019", "base"), ("2020", "base")]


@pytest.mark.long
def test_two_keys_are_asked_about(load: Command) -> None:
    put(y__q1=EXAMPLE, y__q2=EXAMPLE.replace("30", "40"), y__a_run=EXAMPLE_RUN)
    status, _, said = load("y")
    assert status == 1
    assert said.startswith("error: y/a.run: y/q1 and y/q2 could both be its key; put each beside what it judges")
    assert stored() == []
    assert load("y", "--set", "test_set=both")[0] == 0


@pytest.mark.long
def test_one_bad_file_stops_all_unless_it_is_skipped(load: Command) -> None:
    put(v__a_csv=VALUES, v__b_csv=VALUES.replace(",1", ",x"))
    status, _, said = load("v")
    assert status == 1
    assert said.endswith("error: v/b.csv:2: value is 'x', not a number from -1e15 to 1e15\nnothing was stored\n")
    assert stored() == []
    status, _, said = load("v", "--skip-bad")
    assert status == 0
    assert said.splitlines()[-2:] == [
        "note: left out: v/b.csv:2: value is 'x', not a number from -1e15 to 1e15",
        "note: 1 of 2 files: 1 system on a; 1 row stored as import 1; 1 left out: v/b.csv",
    ]
    assert stored() == [("a", "GE")]


def test_nothing_but_bad_files_is_an_error(load: Command) -> None:
    put(v__b_csv=VALUES.replace(",1", ",x"), e__README_md="nothing")
    assert load("v", "--skip-bad")[0] == 1
    nothing = "it holds no results that a reader recognizes; there is only e/README.md (a readme or a licence)"
    assert load("e") == (1, "", f"error: e: {nothing}\nnothing was stored\n")
    Path("none").mkdir()
    assert load("none")[2].startswith("error: none: there is no file in this folder")


@pytest.mark.long
@pytest.mark.parametrize("name", ["old.zip", "old.tar.gz"])
def test_archives_are_loaded_like_folders(load: Command, name: str) -> None:
    members = {
        "q.txt": EXAMPLE,
        "runs/a.run": EXAMPLE_RUN,
        "../../out": EXAMPLE_RUN.replace("base", "out"),
        "README.md": "# 1",
    }
    if name.endswith(".zip"):
        with zipfile.ZipFile(name, "w") as packed:
            for member, text in members.items():
                packed.writestr(member, text)
    else:
        with tarfile.open(name, "w:gz") as archive:
            for member, text in members.items():
                about = tarfile.TarInfo(member)
                about.size = len(text)
                archive.addfile(about, io.BytesIO(text.encode()))
    status, _, said = load(name)
    assert status == 0, said
    assert f"note: {name}/runs/a.run: 7 rows stored as import 3" in said
    assert stored() == [("old", "base"), ("old", "out")]
    sources = [f"{name}/{member}" for member in ("q.txt", "out", "runs/a.run")]
    assert stored("select source from import order by id") == [(source,) for source in sources]


@pytest.mark.long
def test_archives_are_bounded_and_their_faults_have_places(load: Command) -> None:
    with zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a.csv", "system,document,measure,value\n" + "\n" * 200_000_000)
    assert load("bomb.zip")[2].startswith("error: bomb.zip: unpacked, it is more than 200 times as large")
    with zipfile.ZipFile("v.zip", "w") as packed:
        packed.writestr("in/a.csv", VALUES.replace(",1", ",x"))
    assert "error: v.zip/in/a.csv:2: value is 'x'" in load("v.zip")[2]
    content = Path("v.zip").read_bytes()
    Path("cut.zip").write_bytes(content[: len(content) // 2])
    assert load("cut.zip")[2].startswith("error: cut.zip: the archive is cut off or damaged")
    assert stored() == []


@pytest.mark.long
def test_settings_are_templates(load: Command) -> None:
    put(news__en__a_csv="document,measure,value\nD1,acc,1\n", news__de__b_csv="document,measure,value\nD1,acc,0\n")
    status, *_ = load("news", "--as", "values", "--set", "test_set={parent2}-{parent}", "--set", "system={stem}")
    assert status == 0
    assert stored() == [("news-de", "b"), ("news-en", "a")]
    status, _, said = load("news", "--as", "values", "--set", "system={file}")
    assert status == 2
    assert said.startswith(
        "error: --set system={file}: {file} is not known; the parts are {stem}, {name}, {parent}, {parent2}"
    )


def test_a_dry_run_shows_the_plan(load: Command) -> None:
    put(v__a_csv=VALUES, v__labels_csv="test_set,document,label\na,D1,relevant\n")
    status, printed, said = load("v", "--dry-run")
    assert status == 0
    assert printed.splitlines() == [
        "file\treader\twhy\tkind\tsystems\ttest_sets\trows\tnew\tcolumns",
        "v/labels.csv\tlabels\tits columns label\tlabels\t\ta\t1\t1\t",
        "v/a.csv\tvalues\tits columns value\tvalues\tGE\ta\t1\t1\t",
    ]
    assert said.splitlines()[-1] == "note: 2 files: 1 system on a; 2 rows would be stored; this was a dry run"
    assert stored() == []


@pytest.mark.long
def test_many_files_are_summed_up(load: Command) -> None:
    put(**{f"v__{name}_csv": VALUES for name in "abcdefghij"})
    said = load("v")[2]
    assert said == "note: 10 files: 1 system on a, b, c, d, e and 5 more; 10 rows stored as imports 1 to 10\n"


@pytest.mark.long
def test_a_file_that_is_named_twice_is_loaded_once(load: Command) -> None:
    put(v__a_csv=VALUES)
    assert "import 1" in load("v", "v/a.csv", "v/*.csv")[2]
    assert stored("select count(*) from import") == [(1,)]


@pytest.mark.long
def test_what_trec_eval_printed_of_a_run_is_compared_with_it(load: Command) -> None:
    printed = "map\t301\t0.5000\nown_P\t301\t0.5000\nrunid\tall\tbase\n"
    put(r__a_eval=printed, r__means_eval="runid\tall\tbase\nmap\tall\t0.2500\n", r__q=EXAMPLE, r__z_run=EXAMPLE_RUN)
    status, _, said = load("r")
    assert status == 0, said
    assert "note: 1 value is that of the stored run, to the printed digits" in said
    read = "note: 4 files: 1 system on r; 20 rows stored as imports 1 to 3"
    assert said.splitlines()[-1] == read
    values = "select measure, value from document_values where document = '301'"
    assert stored(values) == [("own_P", 0.5)]
    put(r__a_eval=printed.replace("map\t301\t0.5", "map\t301\t0.6"))
    said = load("r")[2]
    assert "r/a.eval:1: map of topic '301' is 0.6000, but 0.5 according to the stored run of 'base'" in said
    alone = load("r/means.eval")[2]
    assert "note: r/means.eval: nothing of its own to store\n" in alone
    assert "line 2 gives map of all topics as 0.25, but the mean of the topics is 0.5" in alone


@pytest.mark.long
def test_folders_of_brat_are_read_together(load: Command) -> None:
    person, place = "T1\tPerson 0 3\tAda\n", "T2\tPlace 8 13\tTurin\n"
    put(news__gold__a_ann=person + place, news__gold__b_ann="", news__crf__a_ann=person, news__crf__b_ann=place)
    status, _, said = load("news")
    assert status == 0, said
    counts = (
        "select test_set, system, document, unit, possible, actual, correct from scores where possible + actual > 0"
    )
    assert sorted(row[:7] for row in stored(counts)) == [
        ("news", "crf", "a", "Person", 1, 1, 1),
        ("news", "crf", "a", "Place", 1, 0, 0),
        ("news", "crf", "b", "Place", 0, 1, 0),
    ]
    put(news__crf__a_ann="T1\tPerson x 3\tAda\n")
    assert "error: news/crf/a.ann:1: " in load("news")[2]


@pytest.mark.long
def test_notes_on_many_files_that_differ_in_a_number_are_one(load: Command) -> None:
    put(web__qrels_txt="1 0 a 1\n2 0 b 0\n")
    for place in range(9):
        more = "".join(f"1 Q0 x{number} {number + 2} 0.{9 - number} s{place}\n" for number in range(place % 3))
        put(**{f"web__s{place}_run": f"1 Q0 a 1 1 s{place}\n{more}2 Q0 b 1 1 s{place}\n"})
    status, _, said = load("web")
    assert status == 0
    assert said.startswith("note: 6 files: retrieved documents that are not judged: 1 to 2; ")
    assert said.endswith("\nnote: 10 files: 9 systems on web; 71 rows stored as imports 1 to 10\n")
    assert said.count("\n") == 2


@pytest.mark.long
def test_a_setting_of_documents_passes_over_tables_of_systems(load: Command) -> None:
    put(mail__kinds_csv="system,kind\nbayes,model\n")
    put(mail__decisions_csv="test_set,system,document,decision\nmay,bayes,m1,yes\n")
    put(mail__key_csv="test_set,document,label\nmay,m1,relevant\n")
    assert load("mail", "--set", "noun=message")[0] == 0
    assert stored("select distinct noun from observed") == [("message",)]
    status, _, said = load("mail/kinds.csv", "--set", "noun=message")
    assert status == 1
    assert "there is no field 'noun' in systems" in said
    assert "there is no field 'nuon'" in load("mail", "--set", "nuon=message")[2]


def test_utf_16_is_said_to_be_it(load: Command) -> None:
    Path("u.csv").write_bytes(VALUES.encode("utf-16"))
    assert load("u.csv") == (1, "", "error: u.csv: the file is UTF-16; it must be UTF-8\nnothing was stored\n")


OTHERWISE = (
    "  --set 'system={stem}' names each system after its file; to load one of two files with the same results, "
    "forget the import of the other first\nnothing was stored\n"
)


@pytest.mark.long
def test_two_runs_with_one_tag_are_told_apart_by_their_files(load: Command) -> None:
    first, second = "1 Q0 a 1 3.0 tag\n1 Q0 b 2 2.0 tag\n", "1 Q0 b 1 3.0 tag\n1 Q0 a 2 2.0 tag\n"
    put(web__qrels_txt="1 0 a 1\n1 0 b 0\n", web__one_run=first, web__two_run=second)
    status, _, said = load("web")
    assert status == 1
    assert said.endswith(OTHERWISE)
    assert said.count("--set") == 1
    assert load("web", "--set", "system={stem}")[0] == 0
    assert stored() == [("web", "one"), ("web", "two")]


@pytest.mark.long
def test_logs_that_were_scored_again_are_told_apart_or_one_replaces_the_other(load: Command) -> None:
    log = (
        '{"version": 2, "eval": {"task": "quiz", "model": "m", "run_id": "r", "created": "2026-01-01T00:00:00"}, '
        '"samples": [{"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}]}'
    )
    put(logs__first_json=log, logs__second_json=log.replace('"C"', '"I"'))
    assert load("logs")[2].endswith(OTHERWISE)
    assert load("logs/first.json")[0] == 0
    assert load("logs", "--set", "system={stem}")[0] == 0
    assert stored() == [("quiz", "first"), ("quiz", "m"), ("quiz", "second")]


def test_a_system_that_was_named_is_not_to_be_named_by_its_file(load: Command) -> None:
    put(one_csv=VALUES, two_csv=VALUES.replace(",1", ",0"))
    assert OTHERWISE not in load("one.csv", "two.csv", "--set", "test_set=T", "--set", "system=GE")[2]


@pytest.mark.long
def test_two_runs_of_a_new_model_are_numbered_both(load: Command) -> None:
    """And the fingerprints are those of the names that they have then, which `stored` checks."""
    samples = '"samples": [{"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}]'
    first, second = (
        f'{{"eval": {{"task": "quiz", "model": "m", "run_id": "{run}", "created": "2026-01-0{run}"}}, {samples}}}'
        for run in (1, 2)
    )
    put(logs__first_json=first, logs__second_json=second)
    status, _, said = load("logs")
    assert (status, "mistake" in said) == (0, False)
    assert stored("select system from runs order by all") == [("m#1",), ("m#2",)]
    assert load("logs")[0] == 0
    assert len(stored("select system from runs")) == 2


@pytest.mark.long
def test_a_cluster_may_be_an_attribute_that_comes_later_in_the_load(load: Command) -> None:
    put(
        faq__a_csv="test_set," + VALUES.replace("\nGE", "\nfaq,GE"),
        faq__b_csv=f"test_set,{VALUES.split()[0]}\nfaq,SRI,D1,acc,0\n",
    )
    without = "note: no document of faq has the attribute passage; until some do, each is exchanged by itself"
    assert without in load("faq", "--set", "cluster=passage")[2].splitlines()
    put(faq__documents_csv="test_set,document,passage\nfaq,D1,whales\n")
    Path("w.duckdb").unlink()
    create(Path("w.duckdb")).close()
    assert "has the attribute" not in load("faq", "--set", "cluster=passage")[2]

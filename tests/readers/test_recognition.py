"""The format of each example is recognized, files are found, and each reader is described in full."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.loading.readers.trec import EXAMPLE, EXAMPLE_RUN
from evalhouse.warehouse.loading.staging.zstandard import zstd
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.database import Database
from tests.empty import create

ROOT = Path(__file__).resolve().parents[2]


def evalhouse(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "cli.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.parametrize("reader", READERS)
def test_the_example_of_a_reader_is_recognized(database: Database, tmp_path: Path, reader: str) -> None:
    file = tmp_path / "file"
    file.write_text(READERS[reader].example)
    assert recognize(file, database).reader == reader
    for ending, compress in ((".gz", gzip.compress), (".zst", zstd.compress)):
        packed = tmp_path / f"file{ending}"
        packed.write_bytes(compress(file.read_bytes()))
        assert recognize(packed, database) == recognize(file, database)


@pytest.mark.parametrize("reader", [reader.name for reader in READERS.values() if reader.columns])
def test_a_table_in_parquet_is_recognized_by_its_columns(database: Database, tmp_path: Path, reader: str) -> None:
    file = tmp_path / "in[1].parquet"
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(io.BytesIO(READERS[reader].example.encode())), file)
    assert recognize(file, database).reader == reader


@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        (".gz", ":1: the gzip data is cut off or damaged"),
        (".zst", ":1: the zstd data is cut off or damaged"),
        *((ending, ": the gzip data is cut off or damaged") for ending in (".tgz", ".tar.gz")),
        (".tar.zst", ": the zstd data is cut off or damaged"),
        *((ending, ": the file cannot be read, or is damaged") for ending in (".tar", ".parquet")),
    ],
)
def test_a_damaged_file_is_said_to_be_one(database: Database, tmp_path: Path, ending: str, sentence: str) -> None:
    file = tmp_path / f"file{ending}"
    file.write_text("PAR1 or what you will")
    with pytest.raises(DataError, match=re.escape(f"file{ending}{sentence}")):
        recognize(file, database)


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_file_that_is_cut_off_is_refused_with_its_line(database: Database, tmp_path: Path, ending: str) -> None:
    """Both when it is to be recognized, for which only the start is read, and when it is loaded."""
    chance = random.Random(1)
    lines = (f'{{"doc_id": {number}, "metrics": ["acc"], "acc": {chance.random()}}}\n' for number in range(20_000))
    whole = "".join(lines).encode()
    packed = gzip.compress(whole) if ending == "gz" else zstd.compress(whole)
    file = tmp_path / f"samples.jsonl.{ending}"
    for size in (len(packed) // 2, 2_000):
        file.write_bytes(packed[:size])
        unpacking = zlib.decompressobj(wbits=31) if ending == "gz" else zstd.ZstdDecompressor()
        line = 1 + unpacking.decompress(packed[:size]).count(b"\n")
        with pytest.raises(DataError, match=f"{ending}:{line}: the .* data is cut off or damaged"):
            load(database, file, "lm-eval", fields={"system": "m", "test_set": "T"})
    with pytest.raises(DataError, match=f"{ending}:{line}: the .* data is cut off or damaged"):
        recognize(file, database)


@pytest.mark.parametrize(
    ("text", "reader"),
    [
        (EXAMPLE_RUN, "trec"),
        ("0.5\n-1\n", "sacrebleu"),
        ("base\ttuned\n1\t2\n", "sacrebleu"),
        ("a O O\n", "conll"),
        ("\nT1\tPerson 0 12\tAda Lovelace\n", "brat"),
        ('{"doc_id": 0, "doc": {"instance_id": "django-1", "stats": {}}}\n', "lm-eval"),
        # Attributes of systems have one row per system; here there are several.
        ("system,question,acc\na,q1,1\na,q2,0\n", "table"),
        ("system,size\na,7\nb,1\n", "systems"),
        ('{"version": 2, "eval": {"task": "swe", "instance_id": "django-1"}, "stats": {}}\n', "inspect"),
    ],
)
def test_other_shapes_are_recognized(database: Database, tmp_path: Path, text: str, reader: str) -> None:
    (tmp_path / "file").write_text(text)
    assert recognize(tmp_path / "file", database).reader == reader


def test_real_files_are_recognized(database: Database, real_files: Path) -> None:
    wanted = {
        "muc4/score-reports.tst3.tar.gz": "muc-report",
        "trec/qrels.test": "trec",
        "trec/results.test": "trec",
        "trec/out.test.aq": "trec-eval",
        "llm/samples_masakhaner_luo_prompt_1_2026-01-16T16-02-26.648276.jsonl.gz": "lm-eval",
        "llm/2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval": "inspect",
    }
    assert {file: recognize(real_files / file, database).reader for file in wanted} == wanted


@pytest.mark.parametrize(
    ("text", "seen", "command"),
    [
        ("hello\n", "a text that begins with 'hello'; no reader is near it", "--as READER names one"),
        ('{"a": {"b": 1}}\n', "JSON with the keys a; no reader is near it", "--as READER names one"),
        ('[{"a": "x", "b": "y"}]', "JSON with the keys a, b; no reader is near it", "--as READER names one"),
        ("a;b\n1;2\n", "a table with semicolons ('a;b'), which must be commas or tabs", "--as READER names one"),
        (
            "a,b\n1,2\n",
            "a table with the columns a, b; the nearest reader is table, but nothing names the system and no column "
            "names the documents",
            "--as table --set system=file --map document=COLUMN",
        ),
        (
            "system,document,measure\nGE,D1,acc\n",
            "a table with the columns system, document, measure; the nearest reader is values, but no column is called "
            "value",
            "--as values --map value=COLUMN",
        ),
        (
            "Ada O\nsaw O\n",
            "a text that begins with 'Ada O'; the nearest reader is conll, but no token is in an entity, and its gold "
            "tags are in another file",
            "--gold GOLD",
        ),
        (
            "301 FBIS3-11 1 2.5 base\n301 FBIS3-10 2 1.5 base\n",
            "a text that begins with '301 FBIS3-11 1 2.5 base'; the nearest reader is trec, but its lines have 5 "
            "columns, and qrels have 4 (topic, iteration, document, grade) and runs 6 (topic, Q0, document, rank, ",
            "--as trec",
        ),
    ],
)
def test_what_is_not_recognized_is_described(
    database: Database, tmp_path: Path, text: str, seen: str, command: str
) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(DataError) as caught:
        recognize(file, database)
    [fault] = caught.value.faults
    assert fault.message.startswith(f"its format is not recognized: {seen}")
    assert f"evalhouse load {file} {command}" in fault.message


def test_a_file_that_is_not_there_is_said_to_be_missing(database: Database, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        recognize(tmp_path / "none", database)


@pytest.mark.parametrize(
    ("text", "said"), [("", "the file is empty"), ("\n \n\t\n", "there are only blank lines in the file")]
)
@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_a_file_with_nothing_in_it_is_said_to_be_one(
    database: Database, tmp_path: Path, text: str, said: str, ending: str
) -> None:
    file, plain = tmp_path / f"base.run{ending}", text.encode()
    file.write_bytes({"": plain, ".gz": gzip.compress(plain), ".zst": zstd.compress(plain)}[ending])
    with pytest.raises(DataError, match=re.escape(f"base.run{ending}: {said}")):
        recognize(file, database)
    with pytest.raises(DataError, match=re.escape(f"base.run{ending}: {said}")):
        load(database, file, "trec", fields={"test_set": "T"})


@pytest.mark.long
def test_files_folders_and_patterns_load_together_or_not_at_all(tmp_path: Path) -> None:
    assert evalhouse("init", "w.duckdb", folder=tmp_path).returncode == 0
    (tmp_path / "qrels").write_text(EXAMPLE)
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "a.run").write_text(EXAMPLE_RUN)
    (runs / "b.run").write_text(EXAMPLE_RUN.replace("base", "other"))
    on = ("--set", "test_set=T", "--db", "w.duckdb")
    tried = evalhouse("load", "qrels", "runs", "--as", "auto", "--dry-run", *on, folder=tmp_path)
    assert tried.returncode == 0, tried.stderr
    assert tried.stdout.splitlines() == [
        "file\treader\twhy\tkind\tsystems\ttest_sets\trows\tnew\tcolumns",
        "qrels\ttrec\tthe 4 columns of qrels\tlabels, documents, judgments\t\tT\t12\t12\t",
        "runs/a.run\ttrec\ta run, with Q0 in its second column\tdecisions, scores, rankings\tbase\tT\t7\t7\t",
        "runs/b.run\ttrec\ta run, with Q0 in its second column\tdecisions, scores, rankings\tother\tT\t7\t7\t",
    ]
    (runs / "c.run").write_text("1 Q0\n")
    wrong = evalhouse("load", "qrels", "runs/*.run", "--as", "trec", *on, folder=tmp_path)
    assert wrong.returncode == 1
    assert "runs/c.run:1: 2 columns in this line" in wrong.stderr
    (runs / "c.run").unlink()
    loaded = evalhouse("load", "qrels", "runs/*.run", "--as", "trec", "--depth", "1", *on, folder=tmp_path)
    assert loaded.returncode == 0, loaded.stderr
    assert "runs/b.run: 6 rows stored as import 3" in loaded.stderr
    shown = evalhouse("query", "score P@5 for all on T", "--db", "w.duckdb", folder=tmp_path)
    assert [line.split("\t")[2] for line in shown.stdout.splitlines()[1:]] == ["base", "other"]


def test_an_option_of_another_reader_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(READERS["scores"].example)
    done = evalhouse("load", "in.csv", "--as", "scores", "--depth", "1", "--dry-run", folder=tmp_path)
    assert done.returncode == 1
    assert "the reader scores has no option 'depth'" in done.stderr


def test_help_lists_the_options_of_readers(tmp_path: Path) -> None:
    printed = " ".join(evalhouse("load", "--help", folder=tmp_path).stdout.split())
    for reader in READERS.values():
        for option in reader.options:
            assert f"--{option.name} " in printed
            assert option.meaning in printed
            assert re.search(rf"\b{reader.name}\b[a-z0-9, -]*: --", printed)


@pytest.mark.long
def test_a_statement_loads_a_folder_of_what_each_file_is(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("scores", "labels", "systems"):
        (folder / f"{name}.csv").write_text(READERS[name].example)
    path = tmp_path / "w.duckdb"
    create(path).close()
    with Session.open(path) as session:
        rows = session.run(f'load "{folder}" as auto').rows
        assert [(row["reader"], row["rows_new"]) for row in rows] == [("labels", 1), ("scores", 1), ("systems", 1)]
        assert session.run("score recall for all on TST3").rows[0]["recall"] == 0.75
        (folder / "notes.txt").write_text("nothing of the kind")
        again = session.run(f'load "{folder}" as auto')
        assert again.notes[-1] == f"3 of 4 files: 1 system on TST3; 1 passed over: {folder}/notes.txt (not recognized)"
        [outcome] = again.summary
        assert (outcome["file"], outcome["became"]) == (f"{folder}/notes.txt", "passed over")
        with pytest.raises(DataError, match="its format is not recognized"):
            session.run(f'load "{folder}/notes.txt" as auto')
        with pytest.raises(QueryError, match="unknown reader 'scors'"):
            session.run(f'load "{folder}/*.csv" as scors')


LONG = 'He said: "no", then\n\n"1,5", and went on. '


@pytest.mark.long
@pytest.mark.parametrize("text", [LONG * 3_000, "x" * 300_000, "é " * 100_000, '"' * 100_000])
@pytest.mark.parametrize("columns", [("model", "id", "acc", "response"), ("response", "id", "prompt", "model", "acc")])
def test_texts_may_be_longer_than_what_is_looked_at(
    database: Database, tmp_path: Path, text: str, columns: tuple[str, ...]
) -> None:
    records = [
        {"model": model, "id": f"d{number}", "acc": number % 2, "response": text, "prompt": text + "?"}
        for model in "AB"
        for number in range(3)
    ]
    for ending, separator in ((".csv", ","), (".tsv", "\t")):
        with (tmp_path / f"t{ending}").open("w", newline="") as table:
            writer = csv.DictWriter(table, columns, delimiter=separator, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(records)
    lines = [json.dumps({column: record[column] for column in columns}) for record in records]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    for file in sorted(tmp_path.iterdir()):
        assert recognize(file, database).reader == "table", file.suffix
        assert recognize(file, database).unsure == ""

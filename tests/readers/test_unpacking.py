"""Input has limits: on the length of lines and on the unpacked size of compressed files. Pipes and devices are not
read.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import cli
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.staging.door import Bound, Meter, bound_of
from evalhouse.warehouse.loading.staging.zstandard import zstd
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.sql import Sql
from tests.empty import create

HEADER = "test_set,system,document,measure,value\n"
ROW = "T,S,{},m,1\n"


@pytest.fixture
def w(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty warehouse on disk, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    create(tmp_path / "w.duckdb").close()
    return tmp_path / "w.duckdb"


def load(*words: str) -> int:
    return cli.main(["load", *words, "--db", "w.duckdb"])


def stored(path: Path) -> int:
    with open_database(path) as database:
        [(rows,)] = database.rows(Sql('select count(*) from "value"'))
    return int(rows)


def test_a_bound_is_a_number_of_bytes() -> None:
    assert [bound_of(size).most for size in ("5", "10kB", "2 MB", "3g", "1TB")] == [
        5,
        10**4,
        2 * 10**6,
        3 * 10**9,
        10**12,
    ]
    assert bound_of("5").ratio is None
    for wrong in ("", "-1", "1.5GB", "GB", "٣", "1 PB"):
        with pytest.raises(ValueError, match="not a size"):
            bound_of(wrong)


def test_members_of_an_archive_are_counted_together() -> None:
    meter = Meter(Path("a.zip"), 10, Bound(most=25))
    assert meter.reading(io.BytesIO(b"x" * 20)).read() == b"x" * 20
    with pytest.raises(DataError, match="more than 25 bytes, unpacked; load --max-unpacked SIZE allows more"):
        meter.reading(io.BytesIO(b"x" * 20)).read()


@pytest.mark.long
@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_what_becomes_200_times_as_large_is_refused_unless_its_size_is_said(
    pack: object, w: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalhouse.warehouse.loading.staging.door.UNSUSPICIOUS", 50_000)
    name = "t.csv.gz" if pack is gzip.compress else "t.csv.zst"
    content = HEADER + "".join(ROW.format("D") for _ in range(1)) + "\n" * 5_000_000
    Path(name).write_bytes(pack(content.encode()))  # type: ignore[operator]
    assert load(name, "--as", "values") == 1
    assert (
        f"{name}: unpacked, it is more than 200 times as large; load --max-unpacked SIZE allows more"
        in capsys.readouterr().err
    )
    assert load(name, "--as", "values", "--max-unpacked", "1MB") == 1
    assert f"{name}: it holds more than 1,000,000 bytes, unpacked" in capsys.readouterr().err
    assert load(name, "--as", "auto", "--max-unpacked", "6MB") == 0
    assert stored(w) == 1


def test_members_of_tar_that_are_stored_as_holes_are_counted(w: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with tarfile.open("t.tar", "w") as archive:
        hole = tarfile.TarInfo("big.ann")
        hole.size = 0
        hole.pax_headers = {"GNU.sparse.size": str(10**12), "GNU.sparse.numblocks": "0", "GNU.sparse.map": ""}
        archive.addfile(hole, io.BytesIO())
    assert load("t.tar", "--as", "brat", "--set", "test_set=T") == 1
    assert "t.tar: " in capsys.readouterr().err


def test_a_size_that_is_none_is_a_mistake_in_the_command(w: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        load("t.csv", "--as", "values", "--max-unpacked", "much")
    assert "'much' is not a size such as 500MB or 20GB" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("reader", ["auto", "values", "conll", "trec", "helm", "inspect"])
def test_pipes_and_devices_are_no_files(reader: str, w: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("fifo")
    for endless in ("fifo", "/dev/zero", "/dev/full"):
        assert load(endless, "--as", reader, "--set", "test_set=T", "--set", "system=S") == 1
        assert f"{endless}: is a pipe or a device, not a file" in capsys.readouterr().err


SIZES = (1, 1_999_900, 17_000_000, 40_000_000, 100_000_000)
PLACES = ("first", "middle", "last without an end")
KINDS = ("csv", "csv.zst", "jsonl", "json", "txt")


def lines() -> Iterator[object]:
    """Every size with every kind, and either at every place; all three combined only by `make soak`."""
    for (number, size), (turn, where), (kind_number, kind) in product(*map(enumerate, (SIZES, PLACES, KINDS))):
        marks = [] if (number + kind_number) % len(PLACES) == turn else [pytest.mark.soak]
        yield pytest.param(size, where, kind, marks=marks)


@pytest.mark.parametrize(("size", "where", "kind"), list(lines()))
@pytest.mark.long
def test_a_long_line_is_stored_or_refused_wherever_it_is(
    size: int, where: str, kind: str, w: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The attribute of one document is long; DuckDB left it out where it was the last line and of more than 32 MB."""
    rows = [("T", f"D{number}", "short") for number in range(20)]
    rows.insert({"first": 0, "middle": 10}.get(where, 20), ("T", "long", "x" * size))
    if kind == "txt":
        text = "".join(f"{document} 0 {note} 1\n" for _, document, note in rows)
        words = ["--as", "trec", "--set", "test_set=T"]
    elif kind.startswith("csv"):
        text = "test_set,document,note\n" + "".join(f"{','.join(row)}\n" for row in rows)
        words = ["--as", "documents"]
    else:
        listed = ",\n" if kind == "json" else "\n"
        objects = listed.join(f'{{"test_set":"{t}","document":"{d}","note":"{n}"}}' for t, d, n in rows)
        text = f"[{objects}]\n" if kind == "json" else objects + "\n"
        words = ["--as", "documents"]
    content = (text.rstrip("\n") if where.startswith("last") else text).encode()
    Path(f"t.{kind}").write_bytes(zstd.compress(content) if kind.endswith("zst") else content)
    status = load(f"t.{kind}", *words, "--max-unpacked", "1GB")
    said = capsys.readouterr().err
    if status == 0:
        assert "21 rows stored" in said or kind == "txt"
        with open_database(w) as database:
            [(documents,)] = database.rows(Sql("select count(*) from document where id > 0"))
        # Of qrels a document is the topic of a ranking, and the pair that is decided on.
        assert documents == (42 if kind == "txt" else 21)
    else:
        assert size > 200
        assert "longer than" in said or "characters long" in said
        assert "nothing was stored" in said

"""Loading is lossless or refused: generated tables are read by Python's own csv and json, and compared cell by cell
with the content of the warehouse. Anything refused must be wrong.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import random
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.staging.zstandard import zstd
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.counting import Count

FIELDS = ("test_set", "system", "document", "measure", "value")
FEW = 100
MANY = int(os.environ.get("EVALHOUSE_EXAMPLES", "2000"))
"""EVALHOUSE_EXAMPLES=100000 generates a hundred thousand, which takes two hours."""

SIGNS = [
    "a",
    "B",
    "0",
    " ",
    "-",
    "'",
    "=",
    "+",
    "@",
    '"',
    ",",
    "\t",
    ";",
    "é",
    "e\u0301",
    "日",
    "🙂",
    "ß",
    "\u00a0",
    "\ufeff",
    "\\",
    "%",
    "NULL",
    "nan",
]
NUMBERS = ["0", "1", "-1", "0.5", "1e3", "+2", ".5", "1E-7", "999999999999999", "0.1", "00012.50", "-0.0"]

Rows = list[tuple[str, ...]]
Stored = set[tuple[str, str, str, str, float]]


def name_of(chance: random.Random) -> str:
    return "".join(chance.choice(SIGNS) for _ in range(chance.choice((1, 1, 2, 3, 8))))


def table(chance: random.Random) -> Rows:
    """Rows of names and numbers, some of them doubled, padded or blank."""
    rows = [
        (name_of(chance), name_of(chance), f"{name_of(chance)}{place}", name_of(chance), chance.choice(NUMBERS))
        for place in range(chance.choice((1, 2, 5, 20)))
    ]
    return [tuple(cell if chance.random() < 0.95 else f" {cell} " for cell in row) for row in rows]


def as_csv(rows: Rows, chance: random.Random, separator: str = ",") -> str:
    out = io.StringIO()
    end = chance.choice(("\n", "\r\n"))
    quoting: Literal[0, 1] = chance.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting).writerows([FIELDS, *rows])
    text = out.getvalue()
    if chance.random() < 0.2:
        text = text.removesuffix(end)
    if chance.random() < 0.1:
        text += end * chance.randrange(1, 4)
    return text


def as_lines(rows: Rows, chance: random.Random) -> str:
    ascii = chance.random() < 0.5
    lines = [json.dumps(dict(zip(FIELDS, row, strict=True)), ensure_ascii=ascii) for row in rows]
    return "\n".join(lines) + chance.choice(("\n", "", "\n\n"))


def as_list(rows: Rows, chance: random.Random) -> str:
    return json.dumps([dict(zip(FIELDS, row, strict=True)) for row in rows], indent=chance.choice((None, 1)))


def read_csv(text: str, separator: str = ",") -> Rows:
    header, *rows = [
        row
        for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator, strict=True)
        if row
    ]
    assert tuple(header) == FIELDS
    # What keeps a spreadsheet from taking a name for a formula is no part of it.
    return [
        tuple(
            cell[1:] if cell.lstrip("'")[:1] in ("=", "+", "-", "@") and cell[:1] == "'" and cell.lstrip("'") else cell
            for cell in row
        )
        for row in rows
    ]


def read_lines(text: str) -> Rows:
    return [tuple(json.loads(line).values()) for line in text.split("\n") if line.strip()]


KINDS: dict[str, tuple[Callable[[Rows, random.Random], str], Callable[[str], Rows]]] = {
    "csv": (as_csv, read_csv),
    "tsv": (lambda rows, chance: as_csv(rows, chance, "\t"), lambda text: read_csv(text, "\t")),
    "jsonl": (as_lines, read_lines),
    "json": (as_list, lambda text: [tuple(item.values()) for item in json.loads(text)]),
}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda raw: gzip.compress(raw, 1),
    ".zst": zstd.compress,
}


def expected(rows: Rows) -> Stored | None:
    """What a warehouse should hold of some rows; None where one of them may not be stored."""
    stored: dict[tuple[str, ...], float] = {}
    for row in rows:
        cells = [trimmed(cell) for cell in row]
        names = [unicodedata.normalize("NFC", cell) for cell in cells[:4]]
        if not all(names) or any(unicodedata.category(sign) in ("Cc", "Zl", "Zp") for cell in names for sign in cell):
            return None
        if any(len(cell) > 200 for cell in names) or not number(cells[4]):
            return None
        if stored.setdefault(tuple(names), float(cells[4])) != float(cells[4]):
            return None
    return {(*names, value) for names, value in stored.items()}  # type: ignore[misc]


def trimmed(cell: str) -> str:
    """Without the blanks that separate words, at both ends."""
    blank = {sign for sign in set(cell) if unicodedata.category(sign) == "Zs"}
    return cell.strip("".join(blank)) if blank else cell


def number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell)) and cell.isascii() and "_" not in cell and cell == cell.strip()
    except ValueError:
        return False


def compared(database: Database, folder: Path, chance: random.Random) -> bool:
    """Whether a generated file was stored, as the other reader reads it; else it was refused, and had to be."""
    kind = chance.choice(list(KINDS))
    packing = chance.choice(list(PACKED))
    write, read = KINDS[kind]
    text = write(table(chance), chance)
    mark = "\ufeff" if kind in ("csv", "tsv") and chance.random() < 0.1 else ""
    file = folder / f"t.{kind}{packing}"
    file.write_bytes(PACKED[packing]((mark + text).encode()))
    wanted = expected(read(text))
    try:
        loaded = load(database, file, "values")
    except DataError:
        loaded = None
    file.unlink()
    assert (loaded is None) == (wanted is None), (kind, text)
    if loaded is None:
        return False
    found = database.rows(
        Sql(
            "select t.name, s.name, d.name, v.measure, v.value from value v join test_set t on t.id = v.test_set_id "
            "join system s on s.id = v.system_id join document d on d.id = v.document_id where v.import_id = ?",
            (loaded.import_id or 0,),
        )
    )
    assert set(found) == wanted, (kind, text)
    for listed in ("value", "document", "system", "test_set"):
        database.run(Sql(f'delete from "{listed}" where {"true" if listed == "value" else "id > 0"}'))
    database.run(Sql("delete from import"))
    return True


def generated(folder: Path, times: int, seed: int, count: Count) -> None:
    chance = random.Random(seed)
    stored = 0
    for start in range(0, times, 2_000):
        with in_memory() as database:
            stored += sum(compared(database, folder, chance) for _ in range(min(2_000, times - start)))
    assert 0 < stored < times
    count("generated tables stored as another reader reads them", stored)
    count("generated tables refused, with something wrong in them", times - stored)


@pytest.mark.long
def test_tables_are_stored_as_another_reader_reads_them(tmp_path: Path, count: Count) -> None:
    generated(tmp_path, FEW, 6, count)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_many_tables_are(tmp_path: Path, part: int, count: Count) -> None:
    generated(tmp_path, MANY // 4, 7 + part, count)

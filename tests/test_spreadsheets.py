"""Names that a spreadsheet would interpret as formulas are written with an apostrophe in CSV and TSV, and are read back
unchanged.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import cli
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.sql import Sql

FORMULAS = ["=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(1)", "'=quoted", "''=twice", "'plain", "it's"]


@pytest.fixture
def path(tmp_path: Path, warehouses: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A warehouse of systems with such names, and attributes of such names and values."""
    monkeypatch.chdir(tmp_path)
    path = Path(shutil.copy(warehouses["empty"], "w.duckdb"))
    records = [{"test_set": "T", "system": name, "document": "D", "measure": "m", "value": 1} for name in FORMULAS]
    write_json("rows.jsonl", records)
    write_json("attributes.jsonl", [{"system": name, "=HYPERLINK()": name} for name in FORMULAS])
    assert cli.main(["load", "rows.jsonl", "--as", "values", "--db", str(path)]) == 0
    assert cli.main(["load", "attributes.jsonl", "--as", "systems", "--db", str(path)]) == 0
    return path


def write_json(name: str, records: list[dict[str, object]]) -> None:
    import json

    Path(name).write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.mark.long
@pytest.mark.parametrize("format", ["tsv", "csv"])
def test_no_cell_of_a_result_is_a_formula(path: Path, format: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    columns = 'sql "select name, 1 as """"=head"""" from system where id > 0"'.replace('""""', '""')
    assert cli.main(["query", columns, "--db", str(path), "--format", format]) == 0
    cells = [
        cell.strip('"') for line in capsys.readouterr().out.splitlines() for cell in line.split("\t,"[format == "csv"])
    ]
    assert "'=head" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


@pytest.mark.long
@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet"])
def test_what_is_exported_comes_back(path: Path, ending: str, warehouses: dict[str, Path]) -> None:
    again = Path(shutil.copy(warehouses["empty"], "again.duckdb"))
    for kind in ("values", "systems"):
        file = f"{kind}.{ending}"
        assert cli.main(["export-scores", file, "--kind", kind, "--db", str(path)]) == 0
        if ending in ("csv", "tsv"):
            cells = [
                cell.strip('"')
                for line in Path(file).read_text().splitlines()
                for cell in line.split("\t,"[ending == "csv"])
            ]
            assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
        assert cli.main(["load", file, "--as", kind, "--db", str(again)]) == 0
    names = Sql(
        "select s.name, a.name, a.value from system s join system_attribute a on a.system_id = s.id order by all"
    )
    with open_database(path) as before, open_database(again) as after:
        assert after.rows(names) == before.rows(names) == sorted((name, "=HYPERLINK()", name) for name in FORMULAS)
    with Session.open(again) as session:
        assert len(session.run("score m for all on T").rows) == len(FORMULAS)

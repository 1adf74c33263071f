"""Warehouses made by earlier versions of the program, kept unchanged, and what `upgrade` does with them.

README.md says how they were made. They must not be made again, because the test is that a file from that time still
opens.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import cli
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.store import upgrading
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.files import RELEASE
from evalhouse.warehouse.store.schema import SCHEMA_VERSION
from evalhouse.warehouse.store.upgrading import check, upgrade

HERE = Path(__file__).resolve().parent
VERSIONS = (1, 2, 8, 9, 11)
QUESTIONS = dict(
    line.split(": ", 1) for line in (HERE / "questions.txt").read_text(encoding="utf-8").splitlines() if line
)

CHANGED = {
    "ci_low": "intervals are studentized unless the statement says otherwise",
    "ci_high": "as ci_low",
    "inflation": "comes from the sums of both systems, not from the correlation alone",
    "verdict": "`different` is `significant`, `same` is `not significant`, and `undecided` holds on both sides",
    "confidence": "of an exact p that is above the level it is 0",
}
"""Columns that mean something else now, and what: CHANGELOG.md says so to users."""

ASKED_NOW = {1: {"agreement": "agree with key on inbox"}, 2: {"agreement": "agree with key on inbox"}}
"""By version, questions that are asked in other words now: `agree` leaves out the key unless the statement says `with
key`.
"""

_EMPTY = {"counted", "document_text", "system_text", "run", "failure", "direction", "share", "test_set_group"}
EMPTY = {8: _EMPTY, 9: _EMPTY | {"column_role"}, 11: _EMPTY | {"column_role", "document_identity"}}
"""By version, tables that have no rows in its warehouse."""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(RELEASE < (2, 0), reason="the warehouses are files of DuckDB 2.0, which this one does not read"),
]


def old(version: int, folder: Path) -> Path:
    """A copy of a warehouse of an earlier version."""
    path = folder / "old.duckdb"
    path.write_bytes(gzip.decompress((HERE / f"version_{version}" / "warehouse.duckdb.gz").read_bytes()))
    return path


@pytest.fixture(scope="module", params=VERSIONS)
def upgraded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """The version that a warehouse had, and the warehouse now. Not to be changed."""
    path = old(request.param, tmp_path_factory.mktemp("upgraded"))
    upgrade(path)
    return request.param, path


def rows_by_table(path: Path) -> dict[str, tuple[list[str], list[tuple[Any, ...]]]]:
    """The columns and rows of every table of a file, as DuckDB itself reads them."""
    with duckdb.connect(str(path), read_only=True) as file:
        tables = [name for (name,) in file.execute("select table_name from duckdb_tables()").fetchall()]
        return {
            table: ([column[0] for column in file.execute(f"from {table} limit 0").description], rows)
            for table in tables
            for rows in [file.execute(f"from {table}").fetchall()]
        }


def read(answer: str) -> list[dict[str, str]]:
    """The rows of an answer in CSV."""
    return list(csv.DictReader(io.StringIO(answer)))


def beside(path: Path) -> list[str]:
    """What was left beside a warehouse, but for its lock."""
    return [other.name for other in path.parent.iterdir() if other not in (path, Path(f"{path}.lock"))]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_command_says_how_an_old_warehouse_is_upgraded(
    version: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = old(version, tmp_path)
    before = path.read_bytes()
    for command in (
        ["query", "show systems"],
        ["info"],
        ["check"],
        ["backup", str(tmp_path / "copy.duckdb")],
        ["load", str(HERE / "inputs" / "scores.csv")],
        ["export-scores", str(tmp_path / "scores.csv")],
    ):
        assert cli.main([*command, "--db", str(path)]) == 3
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.endswith(
            f"error: {path} has schema version {version}, and this evalhouse reads version {SCHEMA_VERSION}\n"
            f"  evalhouse upgrade --db {path} brings it up to date\n"
        )
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", VERSIONS)
def test_upgrade_brings_every_row_over(version: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = old(version, tmp_path)
    before = rows_by_table(path)
    assert cli.main(["upgrade", "--db", str(path)]) == 0
    assert capsys.readouterr().err == f"note: {path}: schema version {version} is now {SCHEMA_VERSION}\n"
    after = rows_by_table(path)
    fingerprints = {row[:2]: row[2:] for row in after["fingerprint"][1]}
    for row in before.pop("fingerprint", ([], []))[1]:
        # Versions 5, 12 and 13 gave published figures, score tuples and declarations more columns, and meta holds the
        # version.
        if row[0] not in ("published", "score", "observed", "meta"):
            assert fingerprints[row[:2]] == row[2:]
    assert dict(before.pop("meta")[1]) | {"schema_version": str(SCHEMA_VERSION)} == dict(after["meta"][1])
    for table, (columns, rows) in before.items():
        of_now, now = after[table]
        assert of_now[: len(columns)] == columns
        assert Counter(row[: len(columns)] for row in now) == Counter(rows), table
        assert bool(rows) == (table not in EMPTY.get(version, ())), table
    assert beside(path) == []


def test_what_was_upgraded_is_sound_and_is_not_upgraded_again(
    upgraded: tuple[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _, path = upgraded
    before = path.read_bytes()
    assert cli.main(["check", "--db", str(path)]) == 0
    assert cli.main(["upgrade", "--db", str(path)]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"note: {path}: nothing is wrong\nnote: {path} is up to date\n")
    with open_database(path) as database:
        assert check(database) == ()
    assert path.read_bytes() == before


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_have_the_answers_that_they_had(
    question: str, upgraded: tuple[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    version, path = upgraded
    statement = ASKED_NOW.get(version, {}).get(question, QUESTIONS[question])
    assert cli.main(["query", statement, "--format", "csv", "--quiet", "--db", str(path)]) == 0
    now = read(capsys.readouterr().out)
    then = read((HERE / f"version_{version}" / "answers" / f"{question}.csv").read_text(encoding="utf-8"))
    assert len(now) == len(then) > 0
    for row, same in zip(then, now, strict=True):
        assert row.keys() <= same.keys()
        assert {column for column in row.keys() - CHANGED if not _alike(row[column], same[column])} == set()


def _alike(then: str, now: str) -> bool:
    """Whether two cells are the same text, or numbers that differ by rounding alone."""
    try:
        return then == now or math.isclose(float(then), float(now), rel_tol=1e-11)
    except ValueError:
        return False


def test_every_answer_has_its_question() -> None:
    for version in VERSIONS:
        assert {answer.stem for answer in (HERE / f"version_{version}" / "answers").iterdir()} == set(QUESTIONS)


def test_what_was_loaded_before_is_known_after(
    upgraded: tuple[int, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w.duckdb"
    path.write_bytes(upgraded[1].read_bytes())
    tables = ["scores", "units", "decisions", "labels", "values", "published", "systems", "documents"]
    files = [str(HERE / "inputs" / f"{table}.csv") for table in tables]
    assert cli.main(["load", *files, "--db", str(path)]) == 0
    assert "all 313 rows are there already" in capsys.readouterr().err
    with open_database(path) as database:
        assert check(database) == ()


def test_runs_that_were_stored_as_values_are_ranked_when_they_are_loaded_again(
    upgraded: tuple[int, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w.duckdb"
    path.write_bytes(upgraded[1].read_bytes())
    files = [str(HERE / "inputs" / name) for name in ("qrels.txt", "base.run", "tuned.run")]
    assert cli.main(["load", *files, "--set", "test_set=robust", "--db", str(path)]) == 0
    capsys.readouterr()
    statement = "score AP, P@5, nDCG of rankings for all on robust"
    assert cli.main(["query", statement, "--format", "csv", "--db", str(path)]) == 0
    now = read(capsys.readouterr().out)
    then = read((HERE / f"version_{upgraded[0]}" / "answers" / "ranked.csv").read_text(encoding="utf-8"))
    columns = {"AP": "ap", "P@5": "P@5", "nDCG": "ndcg", "system": "system"}
    # Version 8 had rankings already, and called their measures as they are called now.
    assert [[row[column] for column in columns] for row in now] == [
        [row.get(earlier) or row[column] for column, earlier in columns.items()] for row in then
    ]


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("create table score (id integer)", "already exists"),
        (
            "delete from value where rowid = (select min(rowid) from value)",
            "is unsound: import 6 brought 71 rows and 70 are there",
        ),
    ],
)
def test_an_upgrade_that_fails_leaves_the_old_file(
    version: int, step: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = old(version, tmp_path)
    before = path.read_bytes()
    last = max(upgrading.STEPS)
    monkeypatch.setitem(upgrading.STEPS, last, upgrading.STEPS[last] + step)
    with pytest.raises(WarehouseError, match=message):
        upgrade(path)
    assert path.read_bytes() == before
    assert beside(path) == []


def test_an_upgrade_does_not_hide_damage(tmp_path: Path) -> None:
    path = old(2, tmp_path)
    with duckdb.connect(str(path)) as file:
        file.execute("update value set value = value + 1 where rowid = 3")
    before = path.read_bytes()
    with pytest.raises(WarehouseError) as caught:
        upgrade(path)
    assert caught.value.message == f"{path} is damaged: value: the rows of import 6 are not those that were stored"
    assert caught.value.hints == ("restore it from a backup and upgrade that",)
    assert path.read_bytes() == before

"""What loads declare about measures, directions and shares: it is stored with the load, never contradicts what others
declare or store, and moves with the warehouse.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import cli
import evalhouse
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.export import export_all
from evalhouse.warehouse.loading.ingest import forget, load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.session.storage import open_warehouse
from evalhouse.warehouse.store.catalog import Catalog
from evalhouse.warehouse.store.connecting import in_memory, open_database, open_to_export
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.schema import SCHEMA_VERSION
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check, upgrade
from tests.empty import create
from tests.lakes import lake_of
from tests.store.test_soundness import make_older
from tests.store.texts import Load

VALUES = "test_set,system,document,measure,value\n"
EFFORTS = VALUES + "T,a,d1,effort,1\nT,b,d1,effort,2\nT,a,d1,WER,1\nT,b,d1,WER,2\n"
OTHERS = VALUES + "T,a,d2,effort,1\nT,b,d2,effort,2\n"


def directions(database: Database) -> dict[str, bool]:
    return Catalog(database).directions


def test_what_is_declared_is_stored_with_the_load_and_goes_with_it(database: Database, load_text: Load) -> None:
    first = load_text(EFFORTS, "values", lower_is_better={"Effort": True})
    assert (first.declared, directions(database)) == ({"effort": True}, {"effort": True})
    second = load_text(OTHERS, "values", lower_is_better={"effort": True})
    assert check(database) == ()
    assert first.import_id is not None
    assert second.import_id is not None
    forget(database, first.import_id)
    assert directions(database) == {"effort": True}
    forget(database, second.import_id)
    assert directions(database) == {}
    assert check(database) == ()


def test_a_declaration_of_rows_that_are_stored_already_is_an_import_without_rows(
    database: Database, load_text: Load
) -> None:
    load_text(EFFORTS, "values")
    assert load_text(EFFORTS, "values").import_id is None
    declared = load_text(EFFORTS, "values", lower_is_better={"effort": True})
    assert (declared.import_id, declared.rows_new) == (2, 0)
    assert load_text(EFFORTS, "values", lower_is_better={"effort": True}).import_id is None
    assert directions(database) == {"effort": True}
    assert check(database) == ()


def test_a_contradiction_says_what_is_stored_and_stores_nothing(database: Database, load_text: Load) -> None:
    load_text(EFFORTS, "values", lower_is_better={"effort": True, "WER": False})
    with pytest.raises(DataError) as caught:
        load_text(OTHERS, "values", lower_is_better={"effort": False})
    [fault] = caught.value.faults
    said = "import 1 (in.csv) declared that lower effort is better"
    assert fault.message == f"{said}; leave --higher-is-better effort out, or forget import 1"
    assert directions(database) == {"effort": True, "WER": False}
    assert database.rows(Sql("select count(*) from value")) == [(4,)]
    assert check(database) == ()


def test_notes_say_of_what_lower_is_better_by_its_name(database: Database, load_text: Load) -> None:
    said = "lower WER is better, as its name says; --higher-is-better declares otherwise"
    assert said in load_text(EFFORTS, "values").notes
    assert said not in load_text(EFFORTS, "values", lower_is_better={"WER": False}).notes
    assert not any("better" in note for note in load_text(OTHERS, "values").notes)


def test_a_declaration_outdoes_the_name(tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    file.write_text(EFFORTS)
    with in_memory() as database:
        load(database, file, "values", lower_is_better={"WER": False})
        shown = Session(database).run("score WER for all on T")
        assert [row["system"] for row in shown.rows] == ["b", "a"]
        assert shown.notes == ()
        better = {row["measure"]: row["better"] for row in Session(database).run("show measures").rows}
        assert (better["WER"], better["effort"]) == ("higher", "higher")


def test_lakes_backups_and_exports_keep_what_was_declared(tmp_path: Path) -> None:
    file, path, lake, folder = (tmp_path / name for name in ("v.csv", "w.duckdb", "lake", "rows"))
    file.write_text(EFFORTS)
    folder.mkdir()
    with create(path) as database:
        load(database, file, "values", lower_is_better={"effort": True, "WER": False})
    with open_to_export(path, tmp_path) as database:
        lake_of(database, lake)
        [exported] = export_all(database, folder)
    assert exported.flags == "--lower-is-better effort --higher-is-better WER"
    with open_warehouse(lake) as names:
        assert directions(names) == {"effort": True, "WER": False}


@pytest.mark.long
def test_an_older_warehouse_has_no_declarations_and_takes_some_once_upgraded(tmp_path: Path) -> None:
    path, file = tmp_path / "old.duckdb", tmp_path / "v.csv"
    file.write_text(EFFORTS)
    with create(path) as database:
        load(database, file, "values")
        make_older(database, 3)
    assert upgrade(path) == (3, SCHEMA_VERSION)
    with open_database(path) as database:
        assert (directions(database), check(database)) == ({}, ())
    assert cli.main(["load", str(file), "--as", "values", "--lower-is-better", "effort", "--db", str(path)]) == 0
    with open_database(path) as database:
        assert (directions(database), check(database)) == ({"effort": True}, ())


# --- shares -----------------------------------------------------------------------------------------------------------

UPTIMES = VALUES + "T,a,d1,uptime,0.9\nT,b,d1,uptime,0.7\nT,a,d2,uptime,0.8\nT,b,d2,uptime,0.75\n"
PERCENTAGES = VALUES + "T,a,d3,uptime,0.5\nT,b,d3,uptime,97.5\n"
MARGIN = "compare uptime for a, b on T margin 5%"


def shares(database: Database) -> frozenset[str]:
    return Catalog(database).shares


def test_a_declared_share_takes_a_percentage(database: Database, load_text: Load) -> None:
    load_text(UPTIMES, "values")
    with pytest.raises(QueryError) as refused:
        Session(database).run(MARGIN)
    assert refused.value.hints[-1] == "if uptime is a share, load its file once more with --share uptime"
    declared = load_text(UPTIMES, "values", shares=("Uptime",))
    assert (declared.import_id, declared.rows_new) == (2, 0)
    assert load_text(UPTIMES, "values", shares=("uptime",)).import_id is None
    [row] = Session(database).run(MARGIN).rows
    assert row["margin"] == 0.05
    [meaning] = [row["meaning"] for row in Session(database).run("show measures").rows if row["measure"] == "uptime"]
    assert str(meaning).endswith("a share, as declared when it was loaded")
    forget(database, 2)
    assert shares(database) == frozenset()
    assert check(database) == ()


def test_a_value_beyond_a_declared_share_is_refused_with_its_line(database: Database, load_text: Load) -> None:
    load_text(UPTIMES, "values", shares=("uptime",))
    with pytest.raises(DataError) as refused:
        load_text(PERCENTAGES, "values")
    [fault] = refused.value.faults
    said = "T, b, d3, uptime is 97.5, but it is declared to be a share, which is between 0 and 1"
    assert (fault.line, fault.message) == (3, said)
    assert database.rows(Sql("select count(*) from value")) == [(4,)]


def test_what_is_stored_with_other_values_is_no_share(database: Database, load_text: Load) -> None:
    load_text(PERCENTAGES, "values")
    with pytest.raises(DataError) as refused:
        load_text(UPTIMES, "values", shares=("uptime",))
    [fault] = refused.value.faults
    stored = "uptime is not a share: import 1 stored 97.5, which is not between 0 and 1"
    assert fault.message == f"{stored}; leave --share uptime out"
    assert shares(database) == frozenset()
    assert database.rows(Sql("select count(*) from value")) == [(2,)]


def test_the_limits_of_a_declared_share_stay_between_its_bounds(database: Database, load_text: Load) -> None:
    rows = "".join(f"T,a,d{place},uptime,{value}\n" for place, value in enumerate((1, 1, 1, 1, 0.2)))
    load_text(VALUES + rows, "values", shares=("uptime",))
    [row] = Session(database).run("score uptime for all on T interval").rows
    assert float(str(row["ci_high(uptime)"])) <= 1


def test_lakes_backups_and_exports_keep_which_measures_are_shares(tmp_path: Path) -> None:
    file, path, lake, folder = (tmp_path / name for name in ("v.csv", "w.duckdb", "lake", "rows"))
    file.write_text(UPTIMES)
    folder.mkdir()
    with create(path) as database:
        load(database, file, "values", shares=("uptime",))
    with open_to_export(path, tmp_path) as database:
        lake_of(database, lake)
        [exported] = export_all(database, folder)
    assert exported.flags == "--share uptime"
    with open_warehouse(lake) as names:
        assert shares(names) == {"uptime"}


def test_a_table_in_memory_declares_shares() -> None:
    warehouse = evalhouse.create()
    cells = ((0.9, 0.7), (0.8, 0.6), (0.7, 0.75))
    rows = [
        {"model": model, "question": f"q{place}", "uptime": value}
        for place, values in enumerate(cells)
        for model, value in zip("ab", values, strict=True)
    ]
    warehouse.load(rows, name="dev", share="uptime")
    assert warehouse.run("compare uptime for a, b on dev margin 5%").rows[0]["margin"] == 0.05
    compared = evalhouse.compare(rows, "uptime", "a", "b", margin="5%", share="uptime")
    assert compared.rows[0]["margin"] == 0.05


# --- the command ------------------------------------------------------------------------------------------------------


def told(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> tuple[int, str]:
    """The status of a load, and what it says."""
    try:
        status = cli.main(["load", *words, "--as", "values", "--db", str(path)])
    except SystemExit as left:
        status = int(str(left.code))
    return status, capsys.readouterr().err


@pytest.mark.long
def test_the_command_declares_several_measures_of_several_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, path = tmp_path / "1.csv", tmp_path / "2.csv", tmp_path / "w.duckdb"
    first.write_text(EFFORTS)
    second.write_text(VALUES + "T,a,d1,time to answer,3\n")
    create(path).close()
    files = (str(first), str(second))
    status, _ = told(capsys, path, *files, "--lower-is-better", "effort,time to answer", "--higher-is-better", "wer")
    assert status == 0
    with open_database(path) as database:
        assert directions(database) == {"effort": True, "time to answer": True, "WER": False}


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--lower-is-better", "speed"), 1, "no values of speed; the measures are WER, effort\nnothing was stored"),
        (("--lower-is-better", "effort", "--higher-is-better", "effort"), 2, "effort is in both"),
        (("--lower-is-better", "effort,"), 2, "names no measure"),
        (("--share", "speed"), 1, "no values of speed; the measures are WER, effort\nnothing was stored"),
        (("--share", ""), 2, "--share: names no measure"),
        (("--share", "effort"), 1, "v.csv:3: T, b, d1, effort is 2, but it is declared to be a share"),
    ],
)
def test_the_command_refuses(
    words: tuple[str, ...], status: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, path = tmp_path / "v.csv", tmp_path / "w.duckdb"
    file.write_text(EFFORTS)
    create(path).close()
    found, message = told(capsys, path, str(file), *words)
    assert found == status
    assert said in message
    with open_database(path) as database:
        assert database.rows(Sql("select count(*) from value")) == [(0,)]

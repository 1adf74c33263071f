"""Exporting a warehouse and loading the export gives the same warehouse."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.kind import Observed
from evalhouse.warehouse.kinds.records import FORMS, PUBLISHED, RUNS, SCORES, VALUES
from evalhouse.warehouse.loading.export import ENDINGS, export_all, export_form, of_earlier_exports
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import open_database, open_to_export
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.empty import create

VIEWS = (
    "scores",
    "decisions",
    "labels",
    "document_values",
    "published_figures",
    "system_attributes",
    "document_attributes",
    "runs",
    "failures",
    "counts",
)


def contents(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """Every fact with its names, and whether it is simulated, whatever imports brought it."""
    return {
        view: database.rows(
            Sql(
                f'select v.* exclude (import_id), i.simulated from "{view}" v join import i on i.id = v.import_id '
                "order by all"
            )
        )
        for view in VIEWS
    }


def again(folder: Path, path: Path) -> Database:
    """A new warehouse of the files in a folder, each read as what it is recognized to be."""
    with create(path) as database:
        for file in sorted(folder.iterdir()):
            load(database, file, recognize(file, database).reader, simulated=".simulated." in file.name)
    return open_database(path)


def test_what_documents_are_called_and_clustered_by_is_named_to_be_said_again(
    warehouses: dict[str, Path], tmp_path: Path
) -> None:
    with open_to_export(warehouses["clustered"], tmp_path) as database:
        observed = {form.name: export_form(database, form, tmp_path / f"{form.name}.csv")[0].observed for form in FORMS}
    assert observed == {
        "scores": Observed("topic"),
        "counts": Observed(),
        "decisions": Observed("topic-document pair", "topic"),
        "labels": Observed("topic-document pair", "topic"),
        "values": Observed("question", "passage"),
        "numbers": Observed(),
        "rankings": Observed("topic"),
        "judgments": Observed("topic"),
        "published": Observed(),
        "systems": Observed(),
        "documents": Observed(),
        "runs": Observed(),
        "failures": Observed(),
    }
    assert observed["decisions"].settings == (("noun", "topic-document pair"), ("cluster", "topic"))


@pytest.mark.long
@pytest.mark.parametrize("name", ["sample", "worked"])
def test_all_rows_come_back_as_they_were(name: str, warehouses: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    with open_to_export(warehouses[name], tmp_path) as database:
        written = export_all(database, folder)
        before = contents(database)
    assert {each.file for each in written} == set(folder.iterdir())
    with again(folder, tmp_path / "again.duckdb") as database:
        assert contents(database) == before
    question = "compare recall, F for all on all missing drop" if name == "sample" else "score recall, F for all on all"
    with Session.open(warehouses[name]) as first, Session.open(tmp_path / "again.duckdb") as second:
        assert first.run(question).rows == second.run(question).rows


@pytest.mark.long
def test_the_real_evaluation_comes_back_as_it_was(real_data: Path, tmp_path: Path) -> None:
    path, folder = tmp_path / "muc4.duckdb", tmp_path / "files"
    folder.mkdir()
    columns = {"system": "site", "document": "message_id"}
    with create(path) as database:
        load(database, real_data / "muc4" / "score_tuples.csv", "scores", columns=columns)
        load(database, real_data / "muc4" / "decisions.csv", "decisions", columns=columns)
        load(database, real_data / "muc4" / "key_labels.csv", "labels", columns={"document": "message_id"})
    with open_to_export(path, tmp_path) as database:
        export_all(database, folder)
        before = contents(database)
    with again(folder, tmp_path / "again.duckdb") as database:
        assert contents(database) == before


@pytest.mark.long
@pytest.mark.parametrize("ending", ENDINGS)
def test_one_kind_of_rows_in_every_format(ending: str, warehouses: dict[str, Path], tmp_path: Path) -> None:
    for form in (SCORES, PUBLISHED):
        file = tmp_path / f"{form.name}{ending}"
        with open_to_export(warehouses["sample"], tmp_path) as database:
            (written,) = export_form(database, form, file)
            kept = "published_figures" if form is PUBLISHED else form.name
            view = f"from {kept} v join import i on i.id = v.import_id order by all"
            before = database.rows(Sql(f"select v.* exclude (import_id), i.simulated {view}"))
        assert (written.rows, written.simulated) == (len(before), form is SCORES)
        with create(tmp_path / f"{form.name}.duckdb") as database:
            load(database, file, form.name, simulated=written.simulated)
            assert database.rows(Sql(f"select v.* exclude (import_id), i.simulated {view}")) == before


def test_nothing_is_written_over_and_nothing_half(warehouses: dict[str, Path], tmp_path: Path) -> None:
    with open_to_export(warehouses["sample"], tmp_path) as database:
        (tmp_path / "published.csv").write_text("mine")
        with pytest.raises(DataError, match="already exists"):
            export_all(database, tmp_path)
        assert [file.name for file in tmp_path.iterdir()] == ["published.csv"]
        assert (tmp_path / "published.csv").read_text() == "mine"
        with pytest.raises(DataError, match="does not name a format"):
            export_form(database, SCORES, tmp_path / "scores.doc")
        with pytest.raises(DataError, match="there is no folder"):
            export_form(database, SCORES, tmp_path / "none" / "scores.csv")
        export_all(database, tmp_path, force=True)
    assert (tmp_path / "published.csv").read_text().startswith("evaluation,test_set,system,task,")


def test_every_form_has_a_kind_on_the_command_line() -> None:
    from evalhouse.warehouse.commands.arguments import parser_for

    parser = parser_for(["export-scores"])
    for form in FORMS:
        assert parser.parse_args(["export-scores", "x.csv", "--kind", form.name]).kind == form.name


def test_files_of_an_earlier_export_are_named(warehouses: dict[str, Path], tmp_path: Path) -> None:
    with open_to_export(warehouses["worked"], tmp_path) as database:
        former = {export.file for export in export_all(database, tmp_path)}
    with open_to_export(warehouses["empty"], tmp_path) as database:
        written = export_all(database, tmp_path, force=True)
    assert written == ()
    assert set(of_earlier_exports(tmp_path, written)) == former
    assert tmp_path / "scores.csv" in former


ANSWERS = "id,y_true,y_pred,seed\nD1,joy,joy,1\nD2,war,joy,1\nD1,joy,joy,2\nD2,war,war,2\n"
MARKS = "model,question,seed,correct\nwren,q1,1,1\nwren,q1,2,0\nlark,q1,1,1\nlark,q1,2,1\nlark,q1,3,0\n"
STATEMENTS = (
    "score F1, macro(F1) for all on moods",
    "compare accuracy for all on coins",
    "table accuracy for all on coins",
)


def loaded_with_runs(path: Path, folder: Path) -> None:
    with create(path) as database:
        for reader, test_set, text in (("sklearn", "moods", ANSWERS), ("table", "coins", MARKS)):
            file = folder / f"{test_set}.csv"
            file.write_text(text)
            load(database, file, reader, fields={"test_set": test_set}, unsaid={"system": "base"})


def answers(path: Path) -> list[object]:
    with Session.open(path) as session:
        return [session.run(statement).rows for statement in STATEMENTS]


def test_runs_of_models_are_runs_again(tmp_path: Path) -> None:
    loaded_with_runs(tmp_path / "w.duckdb", tmp_path)
    (tmp_path / "out").mkdir()
    with open_to_export(tmp_path / "w.duckdb", tmp_path / "out") as database:
        export_all(database, tmp_path / "out")
    again(tmp_path / "out", tmp_path / "again.duckdb").close()
    assert answers(tmp_path / "again.duckdb") == answers(tmp_path / "w.duckdb")


def test_a_file_of_one_kind_says_how_many_of_its_systems_are_runs_and_they_come_back_with_those(tmp_path: Path) -> None:
    loaded_with_runs(tmp_path / "w.duckdb", tmp_path)
    (tmp_path / "out").mkdir()
    with open_to_export(tmp_path / "w.duckdb", tmp_path / "out") as database:
        written = {
            form: export_form(database, form, tmp_path / "out" / f"{form.name}.csv") for form in (SCORES, VALUES, RUNS)
        }
    assert {form.name: of_form[0].runs for form, of_form in written.items()} == {"scores": 2, "values": 5, "runs": 0}
    again(tmp_path / "out", tmp_path / "again.duckdb").close()
    assert answers(tmp_path / "again.duckdb") == answers(tmp_path / "w.duckdb")

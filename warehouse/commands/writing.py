"""The commands `export-scores`, rows of a warehouse as files that `load` takes, and `export-lake`, all as Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.commands import DONE
from warehouse.commands.opened import path_of
from warehouse.commands.talk import note, patience

if TYPE_CHECKING:
    import argparse

    from warehouse.loading.exporting import Exported
    from warehouse.store.database import Database


def export(args: argparse.Namespace) -> int:
    """Writes one kind of rows to a file, or all into a folder."""
    from warehouse.interrupting import interruptibly
    from warehouse.loading.exporting import export_all, export_form
    from warehouse.tasks.records import FORMS

    target = Path(args.target)
    form = next(form for form in FORMS if form.name == args.kind)

    def work() -> tuple[Exported, ...]:
        if target.is_dir():
            return export_all(database, target, force=args.force)
        return export_form(database, form, target, force=args.force)

    with _opened(path_of(args)) as database, patience(args) as waiting:
        written = interruptibly(work, database.interrupt, waiting.tick)
    for exported in written:
        kind, flag = ("simulated rows", " --simulated") if exported.simulated else ("rows", "")
        note(args, f"{exported.file}: {exported.rows:,} {kind}, for load --as {exported.form.name}{flag}")
    if not written:
        note(args, "there are no rows to export")
    return DONE


def export_as_lake(args: argparse.Namespace) -> int:
    """Writes a warehouse as a folder of Parquet files."""
    from warehouse.interrupting import interruptibly
    from warehouse.lake.folder import FACTS, Manifest, export_lake

    folder = Path(args.folder)

    def work() -> Manifest:
        return export_lake(database, folder, force=args.force)

    with _opened(path_of(args)) as database, patience(args) as waiting:
        written = interruptibly(work, database.interrupt, waiting.tick)
    rows = sum(written.rows[table] for table in FACTS)
    note(args, f"{folder}: a lake of {rows:,} facts, for --engine spark --db {folder}")
    return DONE


def _opened(path: Path | None) -> Database:
    """The warehouse at the path, else the sample data. Raises WarehouseError."""
    from warehouse.loading.sample import sample
    from warehouse.store.database import open_to_export

    if path is None:
        database = sample()
        if database.path is None:
            return database
        path = database.path
        database.close()
    return open_to_export(path)

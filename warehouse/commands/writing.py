"""The commands that export a warehouse: `export-scores` writes rows to files that `load` accepts, `export-eee` writes
records of Every Eval Ever.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from evalhouse.warehouse.commands import DONE
from evalhouse.warehouse.commands.answering import question_path
from evalhouse.warehouse.commands.streams import note, patience
from evalhouse.warehouse.process.stopping import interruptibly

if TYPE_CHECKING:
    import argparse

    from evalhouse.warehouse.loading.export import Exported
    from evalhouse.warehouse.store.database import Database

T = TypeVar("T")


def export(args: argparse.Namespace) -> int:
    """Writes one kind of rows to a file, or all kinds into a folder."""
    from shlex import quote

    from evalhouse.warehouse.kinds.kind import quantity
    from evalhouse.warehouse.kinds.records import FORMS, RUNS
    from evalhouse.warehouse.loading.export import export_all, export_form, of_earlier_exports

    target = Path(args.target)
    form = next(form for form in FORMS if form.name == args.kind)

    def work(database: Database) -> tuple[Exported, ...]:
        if target.is_dir():
            return export_all(database, target, force=args.force)
        return export_form(database, form, target, force=args.force)

    written = _export(args, target if target.is_dir() else target.parent, work)
    for exported in written:
        kind, flag = ("simulated rows", " --simulated") if exported.simulated else ("rows", "")
        settings = "".join(f" --set {key}={quote(text)}" for key, text in exported.observed.settings)
        settings += f" {exported.flags}" if exported.flags else ""
        note(args, f"{exported.file}: {exported.rows:,} {kind}, for load --as {exported.form.name}{settings}{flag}")
    if runs := max((exported.runs for exported in written), default=0):
        beside = f"export-scores FILE --kind {RUNS.name} or a folder instead of a file"
        note(
            args,
            f"{quantity(runs, 'system')} in it are runs of models, which rows of this kind do not name; {beside} does",
        )
    if not written:
        note(args, "there are no rows to export")
    for file in of_earlier_exports(target, written) if target.is_dir() else ():
        note(args, f"{file} is of an earlier export: there are no such rows now")
    return DONE


def export_records(args: argparse.Namespace) -> int:
    """Writes values and published figures as records of Every Eval Ever."""
    from evalhouse.warehouse.kinds.kind import quantity
    from evalhouse.warehouse.loading.export_eee import Evaluator, export_eee

    folder = Path(args.folder)
    source = Evaluator(args.organization, args.relationship)
    written = _export(args, folder.absolute().parent, partial(export_eee, folder=folder, source=source))
    if written.records:
        note(args, f"{folder}: {quantity(written.records, 'record')}, {quantity(written.samples, 'sample')}")
    else:
        note(args, f"{folder}: no records, as there are neither values nor published figures")
    return DONE


def _export(args: argparse.Namespace, folder: Path, work: Callable[[Database], T]) -> T:
    """Runs an export of the warehouse that the line names, and returns its result. Ctrl-C stops it."""
    with _open_for_export(question_path(args), folder) as database, patience(args) as waiting:
        return interruptibly(partial(work, database), database.interrupt, waiting.tick)


def _open_for_export(path: Path | None, folder: Path) -> Database:
    """Opens the warehouse at the path, or the sample data, so that files can be written into a folder. Raises
    WarehouseError.
    """
    from evalhouse.warehouse.loading.sample import sample
    from evalhouse.warehouse.session.storage import is_lake
    from evalhouse.warehouse.store.connecting import open_to_export

    if path is not None and is_lake(path):
        from evalhouse.warehouse.lake.log import read_log
        from evalhouse.warehouse.lake.place import place_of
        from evalhouse.warehouse.lake.states import open_state

        place = place_of(path)
        return open_state(place, read_log(place).last, writing=folder)
    if path is None:
        database = sample()
        if database.path is None:
            return database
        path = database.path
        database.close()
    return open_to_export(path, folder)

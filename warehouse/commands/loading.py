"""The command `load`: files into a warehouse, all of them or none."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.commands import DONE, MISUSED
from warehouse.commands.answering import show
from warehouse.commands.opened import DEFAULT_FILE, pairs, path_of
from warehouse.commands.talk import note, progress, say

if TYPE_CHECKING:
    import argparse

    from warehouse.loading.ingest import Loaded, LoadedPart
    from warehouse.results import Result
    from warehouse.store.database import Database


def load_files(args: argparse.Namespace) -> int:
    """Loads files, or with --dry-run shows what would be stored."""
    from warehouse.interrupting import interruptibly
    from warehouse.loading.ingest import load
    from warehouse.loading.readers.recognition import named_files

    path = path_of(args) or DEFAULT_FILE
    of_readers = {key: text for key, text in vars(args).items() if key.startswith("reader_") and text is not None}
    options: dict[str, Any] = {
        "fields": pairs(args.set, "--set FIELD=VALUE"),
        "columns": pairs(args.map, "--map FIELD=COLUMN"),
        "options": {key.removeprefix("reader_"): text for key, text in of_readers.items()},
        "lower_is_better": _directions(args),
        "simulated": args.simulated,
    }
    files = named_files(args.files)
    readers = _recognized(args, files) if args.reader == "auto" else [args.reader] * len(files)
    done: list[Loaded] = []
    with (
        progress(args, f"loading {files[0].name}" if len(files) == 1 else f"loading {len(files)} files") as advance,
        _opened(path, args) as database,
    ):
        for place, (file, reader) in enumerate(zip(files, readers, strict=True)):
            overall = advance and partial(_overall, advance, place, len(files))
            loading = partial(load, database, file, reader, progress=overall, **options)
            done.append(interruptibly(loading, database.interrupt))
            if args.in_place:
                # Stored already, whatever becomes of the files behind it.
                report(args, done[-1])
        _check_declared(options["lower_is_better"], done)
    for loaded in () if args.in_place else done:
        report(args, loaded, dry_run=args.dry_run)
    return DONE


def _directions(args: argparse.Namespace) -> dict[str, bool]:
    """By measure whether lower values are better, as the line declares it; a contradiction is a mistake in the line."""
    directions: dict[str, bool] = {}
    for lower, words in ((True, args.lower_is_better), (False, args.higher_is_better)):
        for measure in (part.strip() for word in words for part in word.split(",")):
            if not measure or directions.get(measure, lower) is not lower:
                wrong = "names no measure" if not measure else f"{measure} is in both"
                say(f"error: --lower-is-better and --higher-is-better: {wrong}")
                raise SystemExit(MISUSED)
            directions[measure] = lower
    return directions


def _check_declared(directions: dict[str, bool], done: list[Loaded]) -> None:
    """Raises DataError where none of the files has a measure whose direction is declared."""
    from warehouse.faults import DataError, Fault

    measures = sorted({measure for loaded in done for measure in loaded.measures})
    known = {measure.casefold() for measure in measures}
    unknown = [measure for measure in directions if measure.casefold() not in known]
    if unknown:
        there_are = f"there are {', '.join(measures)}" if measures else "there are none at all"
        faults = (Fault(str(done[-1].source), None, f"no values of {measure}; {there_are}") for measure in unknown)
        raise DataError(tuple(faults))


def _opened(path: Path, args: argparse.Namespace) -> AbstractContextManager[Database]:
    """What the files are loaded into. A dry run loads them in earnest, for files may build on each other, as runs do on
    qrels, but into a copy that is then removed.
    """
    from warehouse.store.database import in_memory
    from warehouse.store.replacement import in_place, replacing

    if args.dry_run and not path.exists():
        return in_memory()
    return in_place(path) if args.in_place else replacing(path, keep=not args.dry_run)


def _overall(progress: Callable[[float], None], place: int, files: int, share: float) -> None:
    """Tells the share of all files, from the share of one."""
    progress((place + share) / files)


def _recognized(args: argparse.Namespace, files: list[Path]) -> list[str]:
    """The reader for each file, by what is in it; says which and why."""
    from warehouse.loading.readers.recognition import recognize
    from warehouse.store.database import in_memory

    readers = []
    with in_memory() as scratch:
        for file in files:
            recognized = recognize(file, scratch)
            note(args, f"{file}: read as {recognized.reader}, for {recognized.why}")
            readers.append(recognized.reader)
    return readers


def report(args: argparse.Namespace, loaded: Loaded, *, dry_run: bool = False) -> None:
    """Says what was stored of a file."""
    known = loaded.rows_read - loaded.rows_new
    if loaded.rows_new == 0:
        declared = f"what was declared is stored as import {loaded.import_id}"
        changed = "nothing changed" if loaded.import_id is None else declared
        note(args, f"{loaded.source}: all {loaded.rows_read:,} rows are there already; {changed}")
    elif dry_run:
        note(args, f"{loaded.source}: {loaded.rows_new:,} of {loaded.rows_read:,} rows would be stored; nothing was")
    else:
        kept = f" ({known:,} were there already)" if known else ""
        note(args, f"{loaded.source}: {loaded.rows_new:,} rows stored as import {loaded.import_id}{kept}")
    if len(loaded.parts) > 1:
        note(args, "; ".join(f"{part.form.name}: {part.rows_new:,} of {part.rows_read:,}" for part in loaded.parts))
    for text in loaded.notes:
        note(args, text)
    if dry_run:
        for part in loaded.parts:
            show(args, _first_rows(loaded, part))


def _first_rows(loaded: Loaded, part: LoadedPart) -> Result:
    """The first rows of a form, as a result to print."""
    from warehouse.results import Column, Result, Table

    columns = tuple(Column(name, "name") for name in part.columns)
    form = part.form.name
    return Result(f"load {form}", f"first {form} of {loaded.source}", "", Table(columns, part.first))

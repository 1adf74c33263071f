"""The command `load`: loads files, folders and archives into a warehouse, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.commands import DONE, MISUSED
from warehouse.commands.load_reports import say_plan, say_recognized, say_stored, say_together
from warehouse.commands.opened import DEFAULT_FILE, pairs, path_of
from warehouse.commands.talk import note, progress, say

if TYPE_CHECKING:
    import argparse

    from warehouse.loading.carrying_out import CarriedOut
    from warehouse.loading.planning import LoadRequest
    from warehouse.store.database import Database


def load_files(args: argparse.Namespace) -> int:
    """Loads files, or with --dry-run shows what would be stored."""
    from warehouse.interrupting import interruptibly
    from warehouse.loading.carrying_out import carry_out, silent
    from warehouse.loading.planning import option_files, plan
    from warehouse.publishing import temporary
    from warehouse.storage import is_lake
    from warehouse.store.connecting import in_memory

    if args.said["sample"]:
        say("error: the sample data cannot be changed\n  evalhouse init FILE --sample makes a warehouse of them")
        return MISUSED
    path = path_of(args) or DEFAULT_FILE
    if args.in_place and is_lake(path):
        note(args, "--in-place changes nothing for a lake: a load only adds files to it")
        args.in_place = False
    request = _request(args)
    with temporary() as scratch:
        with in_memory() as store:
            planned = interruptibly(partial(plan, request, store, scratch), store.interrupt)
        say_recognized(args, request, planned)
        files = [*(file.found.path for file in planned.files), *option_files(request)]
        with progress(args, "loading") as advance:

            def loading(database: Database) -> CarriedOut:
                tell = partial(say_stored, args) if args.in_place else silent
                work = partial(carry_out, database, request, planned, advance=advance or silent, tell=tell)
                return interruptibly(work, database.interrupt)

            done = _changed(path, loading, files, args)
    if args.dry_run:
        say_plan(args, planned, done)
    say_together(args, planned, done)
    return DONE


def _request(args: argparse.Namespace) -> LoadRequest:
    """The load that the line asks for. A template with an unknown part is an error on the command line."""
    from warehouse.loading.planning import LoadRequest
    from warehouse.loading.staging.door import EVERYWHERE, Door
    from warehouse.loading.staging.templates import filled

    of_readers = {key: text for key, text in vars(args).items() if key.startswith("reader_") and text is not None}
    fields = pairs(args.set, "--set FIELD=VALUE")
    for field, text in fields.items():
        try:
            filled({field: text}, Path())
        except ValueError as error:
            say(f"error: --set {field}={text}: {error}")
            raise SystemExit(MISUSED) from None
    return LoadRequest(
        args.files,
        args.reader,
        fields=fields,
        columns=pairs(args.map, "--map FIELD=COLUMN"),
        options={key.removeprefix("reader_"): text for key, text in of_readers.items()},
        lower_is_better=_directions(args),
        simulated=args.simulated,
        skip_bad=args.skip_bad,
        texts=args.texts,
        door=EVERYWHERE if args.max_unpacked is None else Door(unpacked=args.max_unpacked),
    )


def _directions(args: argparse.Namespace) -> dict[str, bool]:
    """For each measure whose direction the line declares, whether lower values are better. A contradiction is an error
    on the command line.
    """
    directions: dict[str, bool] = {}
    for lower, words in ((True, args.lower_is_better), (False, args.higher_is_better)):
        for measure in (part.strip() for word in words for part in word.split(",")):
            if not measure or directions.get(measure, lower) is not lower:
                wrong = "names no measure" if not measure else f"{measure} is in both"
                say(f"error: --lower-is-better and --higher-is-better: {wrong}")
                raise SystemExit(MISUSED)
            directions[measure] = lower
    return directions


def _changed(
    path: Path, loading: Callable[[Database], CarriedOut], files: Sequence[Path], args: argparse.Namespace
) -> CarriedOut:
    """Loads into the warehouse that the line names. A dry run really loads the files, because files may depend on each
    other, as runs depend on qrels, but nothing of it is kept.
    """
    from warehouse.storage import change_warehouse, is_lake
    from warehouse.store.connecting import in_memory

    if args.dry_run and not path.exists() and not is_lake(path):
        with in_memory() as database:
            return loading(database)
    done, moved = change_warehouse(
        path,
        "load",
        loading,
        files,
        keep=not args.dry_run,
        without_copy=args.in_place,
        wait=args.wait,
        tell=partial(note, args),
    )
    return done.moved(moved)

"""The commands `copy`, which makes a file of a lake and a lake of a file, and `compact`, which tidies a lake."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.commands import DONE, MISUSED
from warehouse.commands.talk import note, say

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from warehouse.store.database import Database

FILES = (".duckdb", ".db")
"""The endings of warehouse files."""


def copy(args: argparse.Namespace) -> int:
    """Copies a warehouse, a file or a lake, to a new file or lake."""
    from warehouse.storage import called, is_lake

    if args.said["db"] or args.said["sample"]:
        say("error: copy FROM TO names both warehouses itself, without --db or --sample")
        return MISUSED
    source, target = Path(args.source), Path(args.target)
    to_lake = args.lake or is_lake(target) or not (args.as_file or target.suffix.casefold() in FILES)
    if to_lake and args.as_file:
        say(f"error: {called(target)} is a lake, and --file asks for a file")
        return MISUSED
    if to_lake:
        _to_lake(args, source)
    elif is_lake(source):
        _lake_to_file(args, source, target)
    else:
        from warehouse.store.replacement import backup

        backup(source, target, partial(sound, called(source)), tell=partial(note, args))
    note(args, f"{called(target)} is a {'lake' if to_lake else 'file'} with everything in {called(source)}")
    return DONE


def _to_lake(args: argparse.Namespace, source: Path) -> None:
    from warehouse.lake.copying import opened_to_copy
    from warehouse.lake.making import make_lake
    from warehouse.lake.place import place_of
    from warehouse.storage import called, is_lake
    from warehouse.store.connecting import open_to_export

    opened = partial(opened_to_copy, place_of(source)) if is_lake(source) else partial(open_to_export, source)
    proof = partial(sound, called(source))
    make_lake(args.target, "copy", opened, proof=proof, force=args.force, tell=partial(note, args))


def _lake_to_file(args: argparse.Namespace, source: Path, target: Path) -> None:
    from warehouse.lake.copying import copy_into
    from warehouse.lake.place import place_of
    from warehouse.storage import called
    from warehouse.store.replacement import making

    with making(target, tell=partial(note, args)) as warehouse:
        copy_into(place_of(source), warehouse)
        sound(called(source), warehouse)


def sound(source: str, copy: Database) -> None:
    """Raises WarehouseError if a copy is not sound, because then its original is not."""
    from warehouse.faults import WarehouseError
    from warehouse.interrupting import interruptibly
    from warehouse.lake.place import CHECK
    from warehouse.store.soundness import check

    for sentence in interruptibly(partial(check, copy), copy.interrupt):
        raise WarehouseError(f"{source} is unsound, so it was not copied: {sentence}", (CHECK,))


def compact(args: argparse.Namespace) -> int:
    """Merges the small files of a lake, forgets its past if asked to, and removes what nothing needs."""
    from warehouse.commands.opened import path_of
    from warehouse.faults import WarehouseError
    from warehouse.interrupting import interruptibly
    from warehouse.lake.compacting import compact
    from warehouse.lake.place import place_of
    from warehouse.storage import is_lake
    from warehouse.tasks.observed import counted

    path = path_of(args)
    if path is None or not is_lake(path):
        what = f"{path} is not a lake" if path else "there is no lake here to compact"
        raise WarehouseError(what, ("--db LAKE names one, and evalhouse copy makes one of a file",))
    place = place_of(path)
    work = partial(compact, place, _forgotten_until(args), wait=args.wait, tell=partial(note, args))
    done = interruptibly(work, lambda: None)
    said = [f"{done.merged:,} files are now {done.into:,}"] if done.merged else ["no files were small enough to merge"]
    if done.forgotten:
        said.append(f"{counted(done.forgotten, 'change')} forgotten")
    if done.removed:
        size = f" ({done.bytes / 10**6:,.0f} MB)" if done.bytes >= 10**6 else ""
        said.append(f"{done.removed:,} files that nothing needs were removed{size}")
    note(args, f"{place.called}: {'; '.join(said)}")
    return DONE


def _forgotten_until(args: argparse.Namespace) -> datetime | None:
    from datetime import UTC, datetime, timedelta

    from grammar import nodes as n
    from grammar.errors import QueryError
    from warehouse.query.as_of import state_asked

    if args.keep_past is not None:
        return datetime.now(UTC) - timedelta(days=args.keep_past)
    if args.forget_past is None:
        return None
    try:
        return state_asked(n.Text(args.forget_past)).until
    except QueryError as error:
        say(f"error: --forget-past: {error}")
        raise SystemExit(MISUSED) from None

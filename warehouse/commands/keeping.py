"""The commands that create, describe, check, copy, upgrade and tidy a warehouse or a lake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.commands import DONE, MISUSED, WRONG
from evalhouse.warehouse.commands.answering import answer, open_session, path_of
from evalhouse.warehouse.commands.streams import note, say
from evalhouse.warehouse.process.stopping import interruptibly

if TYPE_CHECKING:
    import argparse

    from evalhouse.warehouse.store.database import Database


# === commands for every warehouse =====================================================================================
# `init`, `info`, `check`, `backup` and `upgrade`.


def init(args: argparse.Namespace) -> int:
    """Creates a warehouse or a lake, empty or with the sample data."""
    from evalhouse.warehouse.session.storage import is_lake
    from evalhouse.warehouse.store.replacement import making

    if args.lake or is_lake(Path(args.file)):
        return _init_lake(args)
    with making(Path(args.file), tell=partial(note, args)) as database:
        if args.said["sample"]:
            from evalhouse.warehouse.loading.sample import fill

            fill(database)
    filled = " with the sample data" if args.said["sample"] else ""
    note(args, f"{args.file} is a new warehouse{filled}")
    return DONE


def _init_lake(args: argparse.Namespace) -> int:
    from evalhouse.warehouse.lake.making import make_lake
    from evalhouse.warehouse.store.connecting import in_memory

    @contextmanager
    def opened(folder: Path) -> Iterator[Database]:
        with in_memory() as database:
            if args.said["sample"]:
                from evalhouse.warehouse.loading.sample import fill

                fill(database)
            yield database

    made = make_lake(args.file, "init", opened)
    filled = " with the sample data" if args.said["sample"] else ""
    note(args, f"{made.called} is a new lake{filled}")
    return DONE


def info(args: argparse.Namespace) -> int:
    """Prints what a warehouse contains. Notes give the versions, and the memory and threads that a query may use."""
    from evalhouse.warehouse.plans.scores import ANY_TEXT
    from evalhouse.warehouse.session.storage import is_lake
    from evalhouse.warehouse.store.files import LIBRARY
    from evalhouse.warehouse.store.schema import SCHEMA_VERSION

    with open_session(args) as opened:
        texts = "show texts; " if opened.database.rows(ANY_TEXT) else ""
        status = answer(args, opened, f"show test sets; {texts}show imports")
        note(args, f"schema version {SCHEMA_VERSION}, read by DuckDB {LIBRARY}")
        bounds = opened.database.bounds()
        note(
            args,
            f"a query uses at most {bounds['memory']} of memory and {bounds['threads']} threads; what needs more is "
            f"spilled to {bounds['spill folder']}",
        )
        if opened.path is not None and is_lake(opened.path):
            note(args, _about_lake(opened.path))
    return status


def _about_lake(path: Path) -> str:
    from evalhouse.warehouse.lake.log import read_log
    from evalhouse.warehouse.lake.place import place_of

    place = place_of(path)
    log = read_log(place)
    files, first = log.last.files, log.changes[0]
    return (
        f"{place.called} is a lake of {len(files):,} files ({sum(file.bytes for file in files):,} bytes), with "
        f"{len(log.changes):,} changes since {first.at:%Y-%m-%d %H:%M:%S} UTC"
    )


def check(args: argparse.Namespace) -> int:
    """Prints what is wrong with a warehouse or a lake, one sentence per line."""
    from evalhouse.warehouse.render.style import clean
    from evalhouse.warehouse.session.storage import is_lake
    from evalhouse.warehouse.store.upgrading import check

    path = path_of(args)
    if path is not None and is_lake(path):
        return _check_lake(args, path)
    with open_session(args) as opened:
        wrong = interruptibly(partial(check, opened.database), opened.database.interrupt)
    for sentence in wrong:
        print(clean(sentence))
    note(args, f"{path or 'the sample data'}: {'unsound' if wrong else 'nothing is wrong'}")
    return WRONG if wrong else DONE


def _check_lake(args: argparse.Namespace, path: Path) -> int:
    from evalhouse.warehouse.faults import WarehouseError
    from evalhouse.warehouse.lake.maintenance import check
    from evalhouse.warehouse.lake.place import CHECK, place_of
    from evalhouse.warehouse.render.style import clean

    place = place_of(path)
    try:
        wrong, hints = interruptibly(partial(check, place), lambda: None)
    except WarehouseError as error:
        raise WarehouseError(error.message, tuple(hint for hint in error.hints if hint != CHECK)) from None
    for sentence in wrong:
        print(clean(sentence))
    for hint in hints:
        note(args, hint)
    note(args, f"{place.called}: {'unsound' if wrong else 'nothing is wrong'}")
    return WRONG if wrong else DONE


def bring_up_to_date(args: argparse.Namespace) -> int:
    """Upgrades a warehouse made by an older version to the current schema."""
    from evalhouse.warehouse.session.storage import is_lake, warehouse_name
    from evalhouse.warehouse.store.upgrading import upgrade

    path = _warehouse_path(args, "bring up to date")
    if is_lake(path):
        from evalhouse.warehouse.lake.log import read_log
        from evalhouse.warehouse.lake.place import place_of

        read_log(place_of(path))  # which refuses every other version
        note(args, f"{warehouse_name(path)} is up to date")
        return DONE
    had, has = upgrade(path, partial(note, args))
    note(args, f"{path}: schema version {had} is now {has}" if had != has else f"{path} is up to date")
    return DONE


def _warehouse_path(args: argparse.Namespace, to: str) -> Path:
    """The warehouse that the line names. Raises WarehouseError if that is only the sample data."""
    from evalhouse.warehouse.faults import WarehouseError

    path = path_of(args)
    if path is None:
        raise WarehouseError(f"there is no warehouse here to {to}", ("--db FILE names one",))
    return path


def back_up(args: argparse.Namespace) -> int:
    """Copies a warehouse."""
    from evalhouse.warehouse.faults import WarehouseError
    from evalhouse.warehouse.session.storage import is_lake, warehouse_name
    from evalhouse.warehouse.store.replacement import backup

    path = _warehouse_path(args, "copy")
    if is_lake(Path(args.file)) and not Path(args.file).is_dir():
        raise WarehouseError(
            f"a backup is made on this machine, not at {warehouse_name(Path(args.file))}",
            ("evalhouse copy makes a lake at an address, without its past",),
        )
    if is_lake(path):
        from evalhouse.warehouse.lake.making import back_up
        from evalhouse.warehouse.lake.place import place_of

        place = place_of(path)
        back_up(place, Path(args.file), partial(sound, place.called))
        note(args, f"{args.file} is a copy of {place.called}, with its past")
        return DONE
    backup(path, Path(args.file), partial(sound, str(path)), tell=partial(note, args))
    note(args, f"{args.file} is a copy of {path}")
    return DONE


# === commands for lakes ===============================================================================================
# `copy`, which makes a file of a lake and a lake of a file, and `compact`, which tidies a lake.

FILES = (".duckdb", ".db")
"""The endings of warehouse files."""


def copy(args: argparse.Namespace) -> int:
    """Copies a warehouse, a file or a lake, to a new file or lake."""
    from evalhouse.warehouse.session.storage import is_lake, warehouse_name

    if args.said["db"] or args.said["sample"]:
        say("error: copy FROM TO names both warehouses itself, without --db or --sample")
        return MISUSED
    source, target = Path(args.source), Path(args.target)
    to_lake = args.lake or is_lake(target) or not (args.as_file or target.suffix.casefold() in FILES)
    if to_lake and args.as_file:
        say(f"error: {warehouse_name(target)} is a lake, and --file asks for a file")
        return MISUSED
    if to_lake:
        _to_lake(args, source)
    elif is_lake(source):
        _lake_to_file(args, source, target)
    else:
        from evalhouse.warehouse.store.replacement import backup

        backup(source, target, partial(sound, warehouse_name(source)), tell=partial(note, args))
    note(
        args,
        f"{warehouse_name(target)} is a {'lake' if to_lake else 'file'} with everything in {warehouse_name(source)}",
    )
    return DONE


def _to_lake(args: argparse.Namespace, source: Path) -> None:
    from evalhouse.warehouse.lake.making import make_lake, open_to_copy
    from evalhouse.warehouse.lake.place import place_of
    from evalhouse.warehouse.session.storage import is_lake, warehouse_name
    from evalhouse.warehouse.store.connecting import open_to_export

    opened = partial(open_to_copy, place_of(source)) if is_lake(source) else partial(open_to_export, source)
    proof = partial(sound, warehouse_name(source))
    make_lake(args.target, "copy", opened, proof=proof, force=args.force, tell=partial(note, args))


def _lake_to_file(args: argparse.Namespace, source: Path, target: Path) -> None:
    from evalhouse.warehouse.lake.making import copy_into
    from evalhouse.warehouse.lake.place import place_of
    from evalhouse.warehouse.session.storage import warehouse_name
    from evalhouse.warehouse.store.replacement import making

    with making(target, tell=partial(note, args)) as warehouse:
        copy_into(place_of(source), warehouse)
        sound(warehouse_name(source), warehouse)


def sound(source: str, copy: Database) -> None:
    """Raises WarehouseError if a copy is not sound, because then its original is not."""
    from evalhouse.warehouse.faults import WarehouseError
    from evalhouse.warehouse.lake.place import CHECK
    from evalhouse.warehouse.store.upgrading import check

    for sentence in interruptibly(partial(check, copy), copy.interrupt):
        raise WarehouseError(f"{source} is unsound, so it was not copied: {sentence}", (CHECK,))


def compact(args: argparse.Namespace) -> int:
    """Merges the small files of a lake, forgets its past if asked to, and removes what nothing needs."""
    from evalhouse.warehouse.faults import WarehouseError
    from evalhouse.warehouse.kinds.kind import quantity
    from evalhouse.warehouse.lake.maintenance import compact
    from evalhouse.warehouse.lake.place import place_of
    from evalhouse.warehouse.session.storage import is_lake

    path = path_of(args)
    if path is None or not is_lake(path):
        what = f"{path} is not a lake" if path else "there is no lake here to compact"
        raise WarehouseError(what, ("--db LAKE names one, and evalhouse copy makes one of a file",))
    place = place_of(path)
    work = partial(compact, place, _forgotten_until(args), wait=args.wait, tell=partial(note, args))
    done = interruptibly(work, lambda: None)
    said = [f"{done.merged:,} files are now {done.into:,}"] if done.merged else ["no files were small enough to merge"]
    if done.forgotten:
        said.append(f"{quantity(done.forgotten, 'change')} forgotten")
    if done.removed:
        size = f" ({done.bytes / 10**6:,.0f} MB)" if done.bytes >= 10**6 else ""
        said.append(f"{done.removed:,} files that nothing needs were removed{size}")
    note(args, f"{place.called}: {'; '.join(said)}")
    return DONE


def _forgotten_until(args: argparse.Namespace) -> datetime | None:
    from evalhouse.warehouse.plans.past import requested_state

    if args.keep_past is not None:
        return datetime.now(UTC) - timedelta(days=args.keep_past)
    if args.forget_past is None:
        return None
    try:
        return requested_state(n.Text(args.forget_past)).until
    except QueryError as error:
        say(f"error: --forget-past: {error}")
        raise SystemExit(MISUSED) from None

"""The commands that create, describe, check, copy and upgrade a warehouse: `init`, `info`, `check`, `backup`,
`upgrade`.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.commands import DONE, WRONG
from warehouse.commands.answering import answer
from warehouse.commands.opened import open_session, path_of
from warehouse.commands.talk import note

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from warehouse.store.database import Database


def init(args: argparse.Namespace) -> int:
    """Creates a warehouse or a lake, empty or with the sample data."""
    from warehouse.storage import is_lake
    from warehouse.store.replacement import making

    if args.lake or is_lake(Path(args.file)):
        return _init_lake(args)
    with making(Path(args.file), tell=partial(note, args)) as database:
        if args.said["sample"]:
            from warehouse.loading.sample import fill

            fill(database)
    filled = " with the sample data" if args.said["sample"] else ""
    note(args, f"{args.file} is a new warehouse{filled}")
    return DONE


def _init_lake(args: argparse.Namespace) -> int:
    from contextlib import contextmanager

    from warehouse.lake.making import make_lake
    from warehouse.store.connecting import in_memory

    @contextmanager
    def opened(folder: Path) -> Iterator[Database]:
        with in_memory() as database:
            if args.said["sample"]:
                from warehouse.loading.sample import fill

                fill(database)
            yield database

    made = make_lake(args.file, "init", opened)
    filled = " with the sample data" if args.said["sample"] else ""
    note(args, f"{made.called} is a new lake{filled}")
    return DONE


def info(args: argparse.Namespace) -> int:
    """Prints what a warehouse contains. Notes give the versions, and the memory and threads that a query may use."""
    from warehouse.query.compile.inventory import ANY_TEXT
    from warehouse.storage import is_lake
    from warehouse.store.library import LIBRARY
    from warehouse.store.schema import SCHEMA_VERSION

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
    from warehouse.lake.log import read_log
    from warehouse.lake.place import place_of

    place = place_of(path)
    log = read_log(place)
    files, first = log.last.files, log.changes[0]
    return (
        f"{place.called} is a lake of {len(files):,} files ({sum(file.bytes for file in files):,} bytes), with "
        f"{len(log.changes):,} changes since {first.at:%Y-%m-%d %H:%M:%S} UTC"
    )


def check(args: argparse.Namespace) -> int:
    """Prints what is wrong with a warehouse or a lake, one sentence per line."""
    from warehouse.interrupting import interruptibly
    from warehouse.render.style import clean
    from warehouse.storage import is_lake
    from warehouse.store.soundness import check

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
    from warehouse.faults import WarehouseError
    from warehouse.interrupting import interruptibly
    from warehouse.lake.inspecting import check
    from warehouse.lake.place import CHECK, place_of
    from warehouse.render.style import clean

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
    from warehouse.storage import called, is_lake
    from warehouse.store.upgrading import upgrade

    path = _named(args, "bring up to date")
    if is_lake(path):
        from warehouse.lake.log import read_log
        from warehouse.lake.place import place_of

        read_log(place_of(path))  # which refuses every other version
        note(args, f"{called(path)} is up to date")
        return DONE
    had, has = upgrade(path, partial(note, args))
    note(args, f"{path}: schema version {had} is now {has}" if had != has else f"{path} is up to date")
    return DONE


def _named(args: argparse.Namespace, to: str) -> Path:
    """The warehouse that the line names. Raises WarehouseError if that is only the sample data."""
    from warehouse.faults import WarehouseError

    path = path_of(args)
    if path is None:
        raise WarehouseError(f"there is no warehouse here to {to}", ("--db FILE names one",))
    return path


def back_up(args: argparse.Namespace) -> int:
    """Copies a warehouse."""
    from warehouse.commands.lake_keeping import sound
    from warehouse.faults import WarehouseError
    from warehouse.storage import called, is_lake
    from warehouse.store.replacement import backup

    path = _named(args, "copy")
    if is_lake(Path(args.file)) and not Path(args.file).is_dir():
        raise WarehouseError(
            f"a backup is made on this machine, not at {called(Path(args.file))}",
            ("evalhouse copy makes a lake at an address, without its past",),
        )
    if is_lake(path):
        from warehouse.lake.copying import back_up
        from warehouse.lake.place import place_of

        place = place_of(path)
        back_up(place, Path(args.file), partial(sound, place.called))
        note(args, f"{args.file} is a copy of {place.called}, with its past")
        return DONE
    backup(path, Path(args.file), partial(sound, str(path)), tell=partial(note, args))
    note(args, f"{args.file} is a copy of {path}")
    return DONE

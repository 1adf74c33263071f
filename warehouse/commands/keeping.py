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


def init(args: argparse.Namespace) -> int:
    """Creates a warehouse, empty or with the sample data."""
    from warehouse.store.replacement import making

    with making(Path(args.file), tell=partial(note, args)) as database:
        if args.said["sample"]:
            from warehouse.loading.sample import fill

            fill(database)
    filled = " with the sample data" if args.said["sample"] else ""
    note(args, f"{args.file} is a new warehouse{filled}")
    return DONE


def info(args: argparse.Namespace) -> int:
    """Prints what a warehouse contains. Notes give the versions, and the memory and threads that a query may use."""
    from warehouse.query.compile.inventory import ANY_TEXT
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
    return status


def check(args: argparse.Namespace) -> int:
    """Prints what is wrong with a warehouse or a lake, one sentence per line."""
    from warehouse.interrupting import interruptibly
    from warehouse.render.style import clean
    from warehouse.store.soundness import check

    path = path_of(args)
    if path is not None and (path / "manifest.json").is_file():
        from warehouse.lake.folder import check as check_lake

        wrong: tuple[str, ...] = interruptibly(partial(check_lake, path), lambda: None)
    else:
        with open_session(args) as opened:
            wrong = interruptibly(partial(check, opened.database), opened.database.interrupt)
    for sentence in wrong:
        print(clean(sentence))
    note(args, f"{path or 'the sample data'}: {'unsound' if wrong else 'nothing is wrong'}")
    return WRONG if wrong else DONE


def bring_up_to_date(args: argparse.Namespace) -> int:
    """Upgrades a warehouse made by an older version to the current schema."""
    from warehouse.store.upgrading import upgrade

    path = _named(args, "bring up to date")
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
    from warehouse.faults import WarehouseError
    from warehouse.interrupting import interruptibly
    from warehouse.store.database import Database
    from warehouse.store.replacement import backup
    from warehouse.store.soundness import check

    def sound(copy: Database) -> None:
        for sentence in interruptibly(partial(check, copy), copy.interrupt):
            raise WarehouseError(f"{path} is unsound, so it was not copied: {sentence}", ("evalhouse check says more",))

    path = _named(args, "copy")
    backup(path, Path(args.file), sound, tell=partial(note, args))
    note(args, f"{args.file} is a copy of {path}")
    return DONE

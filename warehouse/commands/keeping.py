"""The commands that make, describe, check and copy a warehouse: `init`, `info`, `check`, `backup`,
`upgrade`."""

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


def init(asked: argparse.Namespace) -> int:
    """Makes a warehouse, empty or with the sample data."""
    from warehouse.store.replacement import making

    with making(Path(asked.file)) as database:
        if asked.sample:
            from warehouse.loading.sample import fill

            fill(database)
    note(asked, f"{asked.file} is a new warehouse{' with the sample data' if asked.sample else ''}")
    return DONE


def info(asked: argparse.Namespace) -> int:
    """Prints what a warehouse holds; and says by which version of what, and what a query may use."""
    from warehouse.store.database import LIBRARY, SCHEMA_VERSION

    with open_session(asked) as opened:
        status = answer(asked, opened, "show test sets; show imports")
        note(asked, f"schema version {SCHEMA_VERSION}, read by DuckDB {LIBRARY}")
        bounds = opened.database.bounds()
        note(
            asked,
            f"a query uses at most {bounds['memory']} of memory and {bounds['threads']} threads; what needs more is "
            f"spilled to {bounds['spill folder']}",
        )
    return status


def check(asked: argparse.Namespace) -> int:
    """Prints what is unsound in a warehouse, a sentence a line."""
    from warehouse.interrupting import interruptibly
    from warehouse.store.soundness import check

    with open_session(asked) as opened:
        wrong = interruptibly(partial(check, opened.database), opened.database.interrupt)
        for sentence in wrong:
            print(sentence)
        note(asked, f"{opened.path or 'the sample data'}: {'unsound' if wrong else 'nothing is wrong'}")
    return WRONG if wrong else DONE


def bring_up_to_date(asked: argparse.Namespace) -> int:
    """Brings a warehouse that an older version made to the present schema."""
    from warehouse.store.upgrading import upgrade

    path = _named(asked, "bring up to date")
    had, has = upgrade(path)
    note(asked, f"{path}: schema version {had} is now {has}" if had != has else f"{path} is up to date")
    return DONE


def _named(asked: argparse.Namespace, to: str) -> Path:
    """The warehouse that is meant. Raises WarehouseError where there is none but the sample data."""
    from warehouse.faults import WarehouseError

    path = path_of(asked)
    if path is None:
        raise WarehouseError(f"there is no warehouse here to {to}", ("--db FILE names one",))
    return path


def back_up(asked: argparse.Namespace) -> int:
    """Copies a warehouse."""
    from warehouse.faults import WarehouseError
    from warehouse.interrupting import interruptibly
    from warehouse.store.database import Database
    from warehouse.store.replacement import backup
    from warehouse.store.soundness import check

    def sound(copy: Database) -> None:
        for sentence in interruptibly(partial(check, copy), copy.interrupt):
            raise WarehouseError(f"{path} is unsound, so it was not copied: {sentence}", ("evalhouse check says more",))

    path = _named(asked, "copy")
    backup(path, Path(asked.file), sound)
    note(asked, f"{asked.file} is a copy of {path}")
    return DONE

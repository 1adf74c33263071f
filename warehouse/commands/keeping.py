"""The commands that make, describe, check and copy a warehouse: `init`, `info`, `check`, `backup`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.commands import CLOSED, DONE, WRONG
from warehouse.commands.opened import open_session, path_of
from warehouse.commands.statements import answer
from warehouse.commands.talk import note, say

if TYPE_CHECKING:
    import argparse


def init(asked: argparse.Namespace) -> int:
    """Makes a warehouse, empty or with the sample data."""
    from warehouse.database import making

    with making(Path(asked.file)) as database:
        if asked.sample:
            from warehouse.sample import fill

            fill(database)
    note(asked, f"{asked.file} is a new warehouse{' with the sample data' if asked.sample else ''}")
    return DONE


def info(asked: argparse.Namespace) -> int:
    """Prints what a warehouse holds."""
    with open_session(asked) as opened:
        return answer(asked, opened, "show test sets; show imports")


def check(asked: argparse.Namespace) -> int:
    """Prints what is unsound in a warehouse, a sentence a line."""
    from warehouse.soundness import check

    with open_session(asked) as opened:
        wrong = check(opened.database)
        for sentence in wrong:
            print(sentence)
        note(asked, f"{opened.path or 'the sample data'}: {'unsound' if wrong else 'nothing is wrong'}")
    return WRONG if wrong else DONE


def back_up(asked: argparse.Namespace) -> int:
    """Copies a warehouse."""
    from warehouse.database import backup

    path = path_of(asked)
    if path is None:
        say("error: there is no warehouse here to copy\n  --db FILE names one")
        return CLOSED
    backup(path, Path(asked.file))
    note(asked, f"{asked.file} is a copy of {path}")
    return DONE

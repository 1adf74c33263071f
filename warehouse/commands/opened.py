"""Opens the warehouse that a command line names, and parses its FIELD=VALUE arguments."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from grammar.lexicon import number_value
from grammar.phrases import Number
from warehouse import ending
from warehouse.commands import MISUSED
from warehouse.commands.talk import note, say

if TYPE_CHECKING:
    import argparse

    from warehouse.session import Session

DEFAULT_FILE = Path("evalhouse.duckdb")


def path_of(args: argparse.Namespace) -> Path | None:
    """The path of the named warehouse, or of the default one in this folder. None if there is none, or if the line asks
    for the sample data.
    """
    if args.said["sample"]:
        if args.said["db"]:
            say("error: --db names a warehouse, but --sample asks for the sample data")
            raise SystemExit(MISUSED)
        return None
    if args.db:
        return Path(args.db)
    return DEFAULT_FILE if DEFAULT_FILE.exists() else None


def question_path(args: argparse.Namespace, *, typed: bool = True) -> Path | None:
    """The path of the warehouse to query; None for the sample data, which a note announces.

    The sample data are used if the line asks for them, or on a terminal, where a person reads the note; `typed` says
    whether a person typed the statements. In any other case a missing warehouse raises WarehouseError: a script that
    has lost its warehouse must not go on with other numbers.
    """
    path = path_of(args)
    if path is None and not args.sample and not (typed and sys.stdout.isatty() and not os.environ.get("CI")):
        from warehouse.faults import WarehouseError

        raise WarehouseError(
            f"no warehouse is named, and there is no {DEFAULT_FILE} here",
            ("--db FILE names one, and --sample asks for the sample data",),
        )
    if path is None:
        these = "these are the sample data, whose messages are simulated"
        note(args, these if args.sample else f"no warehouse here: {these} (evalhouse init makes one)")
    return path


def open_session(args: argparse.Namespace, *, typed: bool = True) -> Session:
    """Opens a session on the warehouse that `question_path` finds. Raises WarehouseError."""
    from warehouse.session import Session

    session = Session.open(question_path(args, typed=typed))
    # All statements of one command see the same state of the warehouse.
    session.follows = False
    session.last = ending.ends_process()
    session.tell = partial(note, args)
    return prepared(args, session)


def prepared(args: argparse.Namespace, session: Session) -> Session:
    """The session with the options that hold for all statements."""
    if args.level is not None:
        session.level = Number(number_value(args.level))
    session.theme = args.theme or "auto"
    return session


def open_on_engine(args: argparse.Namespace) -> Session:
    """Opens a session on the engine that the line names. Raises WarehouseError."""
    from warehouse.session import Session

    if args.engine != "spark":
        if args.master is not None:
            say("error: --master is for --engine spark")
            raise SystemExit(MISUSED)
        return open_session(args)
    if not args.db:
        say("error: --engine spark needs a lake, but none is named\n  --db LAKE names one (see evalhouse copy)")
        raise SystemExit(MISUSED)
    return prepared(args, Session.on_lake(args.db, args.master))


def pairs(words: Iterable[str], form: str) -> dict[str, str]:
    """FIELD=VALUE words as a dictionary. Any other word is an error on the command line."""
    pairs: dict[str, str] = {}
    for word in words:
        field, sign, value = word.partition("=")
        if not sign or not field or field in pairs:
            wrong = "is given twice" if field in pairs else f"is not {form}"
            from warehouse.render.style import clean

            say(f"error: {clean(word)} {wrong}")
            raise SystemExit(MISUSED)
        pairs[field] = value
    return pairs

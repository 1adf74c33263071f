"""Opening the warehouse that a command line names, and reading its FIELD=VALUE arguments."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from grammar.lexicon import number_value
from grammar.phrases import Number
from warehouse.commands import MISUSED
from warehouse.commands.talk import note, say

if TYPE_CHECKING:
    import argparse

    from warehouse.session import Session

DEFAULT_FILE = Path("evalhouse.duckdb")


def path_of(args: argparse.Namespace) -> Path | None:
    """The warehouse the line names; None where there is none, so that the sample data are used."""
    if args.db:
        return Path(args.db)
    return DEFAULT_FILE if DEFAULT_FILE.exists() else None


def open_session(args: argparse.Namespace) -> Session:
    """A session on the warehouse the line names; a note says if it is the sample data. Raises WarehouseError."""
    from threading import Thread

    from warehouse.session import Session

    path = path_of(args)
    sample_note(args, path)
    # A third of the time in which a file is opened DuckDB looks at it, and no Python runs.
    preparing = Thread(target=_prepare_parser, daemon=True)
    preparing.start()
    session = Session.open(path)
    preparing.join()
    # The statements of one command are about one state of the warehouse.
    session.follows = False
    session.tell = partial(note, args)
    return prepared(args, session)


def prepared(args: argparse.Namespace, session: Session) -> Session:
    """The session with what is set for all statements."""
    if args.level is not None:
        session.level = Number(number_value(args.level))
    session.theme = args.theme or "auto"
    return session


def _prepare_parser() -> None:
    from grammar.parsing.reading import lark

    lark()


def sample_note(args: argparse.Namespace, path: Path | None) -> None:
    """Says so where the sample data are asked."""
    if path is None:
        note(
            args,
            "no warehouse here: these are the sample data, whose messages are simulated (evalhouse init makes one)",
        )


def open_on_engine(args: argparse.Namespace) -> Session:
    """A session on the engine that the line names. Raises WarehouseError."""
    from warehouse.session import Session

    if args.engine != "spark":
        if args.master is not None:
            say("error: --master is for --engine spark")
            raise SystemExit(MISUSED)
        return open_session(args)
    if not args.db:
        say("error: --engine spark asks a lake, and none is named\n  --db FOLDER names one (see evalhouse export-lake)")
        raise SystemExit(MISUSED)
    return prepared(args, Session.on_lake(args.db, args.master))


def pairs(words: Iterable[str], form: str) -> dict[str, str]:
    """FIELD=VALUE words as a dictionary; anything else is a mistake on the command line."""
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

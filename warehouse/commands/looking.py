"""The command `look`, which a path alone means: loads files into a warehouse that is not kept, and prints the table of
their systems, what was left out, and commands to go on with.
"""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.commands import DONE, MISUSED, WRONG
from evalhouse.warehouse.commands.answering import DEFAULT_FILE, prepare_session, show
from evalhouse.warehouse.commands.loading import request_of, say_notes, say_of_all
from evalhouse.warehouse.commands.streams import note, progress, say
from evalhouse.warehouse.process.stopping import interruptibly

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from evalhouse.warehouse.loading.account import Account
    from evalhouse.warehouse.results import Result
    from evalhouse.warehouse.session.first_questions import FirstTable
    from evalhouse.warehouse.session.session import Session
    from evalhouse.warehouse.store.database import Database


def look(args: argparse.Namespace) -> int:
    """Prints the tables, in a pipe, too, or with --serve shows the pages. Nothing is left behind."""
    args.format = args.format or "table"
    from evalhouse.warehouse.process.publishing import temporary
    from evalhouse.warehouse.session.session import Session
    from evalhouse.warehouse.store.connecting import in_memory
    from evalhouse.warehouse.store.replacement import making

    if args.said["db"] or args.said["sample"]:
        say("error: files are looked at without a warehouse\n  evalhouse load puts them into one")
        return MISUSED
    if args.serve:
        from evalhouse.warehouse.commands.serving import serve_warehouse

        with temporary() as folder:
            kept = folder / DEFAULT_FILE
            with making(kept) as database:
                _say_account(args, _read(args, database))
            return serve_warehouse(args, kept, ", ".join(args.files))
    with in_memory() as database:
        account = _read(args, database)
        session = prepare_session(args, Session(database))
        session.follows = False
        return _answer(args, session, account)


def _read(args: argparse.Namespace, database: Database) -> Account:
    """Loads the files that the line names, and prints the notes on them."""
    from evalhouse.warehouse.loading.account import account_of
    from evalhouse.warehouse.loading.ingest import silent
    from evalhouse.warehouse.loading.planning import plan
    from evalhouse.warehouse.process.publishing import temporary
    from evalhouse.warehouse.session.storage import load_planned
    from evalhouse.warehouse.store.connecting import in_memory

    request = request_of(args)
    with temporary() as scratch:
        with in_memory() as store:
            planned = interruptibly(partial(plan, request, store, scratch), store.interrupt)
        with progress(args, "reading") as advance:
            work = partial(load_planned, database, request, planned, advance=advance or silent)
            done = interruptibly(work, database.interrupt)
    say_notes(args, [loaded for _, loaded in done.loaded])
    say_of_all(args, done)
    return account_of(planned, done)


def _say_account(args: argparse.Namespace, account: Account) -> None:
    note(args, account.became + (f"; {account.rest}" if account.rest else ""))


def _answer(args: argparse.Namespace, session: Session, account: Account) -> int:
    """Prints each table, then what became of the files, and the commands to go on with."""
    from evalhouse.warehouse.session.first_questions import first_tables

    status, first = DONE, None
    leading: tuple[str, ...] = ()
    for table in first_tables(session.catalog):
        result = _table(session, table)
        if result is None:
            status = WRONG
            continue
        show(args, result)
        if first is None:
            first, leading = table, tuple(dict.fromkeys(str(row["system"]) for row in result.rows))
    _say_account(args, account)
    if first is not None:
        note(args, "to go on:")
        for line in _commands(args.files, first, leading):
            if not args.quiet:
                say(f"  {line}")
    return status


def _table(session: Session, table: FirstTable) -> Result | None:
    """A table, without marks where systems are not on the same documents; None after an error that was printed."""
    from evalhouse.warehouse.render.diagnostics import query_error

    for text in (table.statement, table.unmarked):
        try:
            return interruptibly(partial(session.run, text), session.interrupt)
        except QueryError as error:
            if text == table.unmarked:
                say(query_error(error, text))
    return None


def _commands(files: Sequence[str], table: FirstTable, leading: Sequence[str]) -> list[str]:
    """The commands that lead on: to keep the files, to ask more, and to see the pages."""
    paths = shlex.join(files)
    queries = [f"evalhouse query {shlex.quote(text)}" for text in table.questions_on(leading)]
    return [f"evalhouse load {paths}", *queries[:2], f"evalhouse {paths} --serve"]

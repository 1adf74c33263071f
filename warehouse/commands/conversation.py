"""The interactive shell, which starts if no command is given."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from warehouse import ending
from warehouse.commands import DONE, WRONG
from warehouse.commands.opened import open_session, path_of, prepared
from warehouse.commands.talk import coloured

if TYPE_CHECKING:
    import argparse


def shell(args: argparse.Namespace) -> int:
    """Runs the shell until the input ends."""
    from warehouse.session import Session
    from warehouse.shell.repl import Shell

    if sys.stdin.isatty():
        ending.leave_ctrl_c()
    # On a terminal, the banner says what the note would say.
    opened = prepared(args, Session.open(path_of(args))) if sys.stdin.isatty() else open_session(args, typed=False)
    format = args.format or ("table" if sys.stdout.isatty() else "tsv")
    digits, quiet = args.digits, args.quiet
    there = Shell(opened, format=format, digits=digits, colour=coloured(args), quiet=quiet)
    try:
        return DONE if there.converse() else WRONG
    finally:
        there.close()

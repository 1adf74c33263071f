"""The interactive shell, and the commands `demo`, `fmt` and `completion`."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.commands import DONE, WRONG
from evalhouse.warehouse.commands.answering import answer, open_session, path_of, prepare_session
from evalhouse.warehouse.commands.streams import LARGEST_TEXT, note, say, shows_colours, text_of
from evalhouse.warehouse.faults import DataError, Fault, file_error
from evalhouse.warehouse.process import stopping
from evalhouse.warehouse.process.publishing import files_in
from evalhouse.warehouse.render.style import clean

# === the interactive shell ============================================================================================
# It starts if no command is given.


def shell(args: argparse.Namespace) -> int:
    """Runs the shell until the input ends."""
    from evalhouse.warehouse.session.session import Session
    from evalhouse.warehouse.shell.repl import Shell

    if sys.stdin.isatty():
        stopping.leave_ctrl_c()
    # On a terminal, the banner says what the note would say.
    opened = (
        prepare_session(args, Session.open(path_of(args))) if sys.stdin.isatty() else open_session(args, typed=False)
    )
    format = args.format or ("table" if sys.stdout.isatty() else "tsv")
    digits, quiet = args.digits, args.quiet
    there = Shell(opened, format=format, digits=digits, colour=shows_colours(args), quiet=quiet)
    try:
        return DONE if there.converse() else WRONG
    finally:
        there.close()


# === the command demo =================================================================================================
# Shows the main use on the sample data, from start to finish.

QUESTIONS = (
    ("What did the best systems of MUC-4 score?", "score F, recall, precision for all on TST3 limit 5"),
    ("Is the first better than the third, or is that chance?", "compare F for GE, UMASS on TST3"),
    ("How far can the ranks of these five be trusted?", "rank F for GE, GE-CMU, UMASS, SRI, NYU on TST3"),
    ("Which messages make the difference?", "documents F for GE, UMASS on TST3 limit 3"),
)
"""Each step of the demonstration as (question, statement)."""

NEXT = """
To go on:
  evalhouse                          the shell, with these data; help lists the statements
  evalhouse serve --sample --open    the same as pages
  evalhouse results/                 the table of your own files
  evalhouse load results/            your files, kept in a warehouse, ./evalhouse.duckdb"""


def demo(args: argparse.Namespace) -> int:
    """Answers a question after the other about the sample data, and says what can be typed next."""
    args.format = args.format or "table"
    from evalhouse.warehouse.session.session import Session

    with Session.open(None) as session:
        for question, text in QUESTIONS:
            print(f"{question}\n$ evalhouse query --sample '{text}'\n", flush=True)
            status = answer(args, session, text)
            if status != DONE:
                return status
            print(flush=True)
    print(NEXT.lstrip("\n"))
    return DONE


# === scripts and the command fmt ======================================================================================
# Reads scripts, and formats them.


ARCHIVE = b"PK\x03\x04"
"""How an archive begins, as logs of Inspect are."""


def script(file: Path) -> str:
    """The text of a script. Raises DataError if it cannot be read, and if it is a log of Inspect, which may have the
    name of one.
    """
    try:
        with file.open("rb") as opened:
            raw = opened.read(LARGEST_TEXT + 1)
    except OSError as error:
        raise file_error(file, (error.strerror or "cannot be read").lower()) from None
    if raw.startswith(ARCHIVE):
        fault = Fault(str(file), None, "this is an archive, as the logs of Inspect are, and no file of statements")
        raise DataError((fault,), hints=(f"evalhouse load {shlex.quote(str(file))} reads its results",))
    return text_of(raw, str(file))


def lay_out(args: argparse.Namespace) -> int:
    """Formats scripts. A script that cannot be parsed is left unchanged."""
    from evalhouse.grammar.editing.layout import layout

    status = DONE
    for file in map(Path, args.files):
        text = script(file)
        try:
            laid_out = layout(text)
        except QueryError as error:
            from evalhouse.warehouse.render.diagnostics import query_error

            say(query_error(error, text, str(file)))
            status = WRONG
            continue
        if laid_out == text:
            continue
        if args.check:
            say(f"{clean(str(file))} would change")
            status = WRONG
        else:
            _rewrite(file, laid_out)
            note(args, f"{file} is laid out anew")
    return status


def _rewrite(file: Path, text: str) -> None:
    """Replaces the text of a file completely or not at all, and keeps its permissions. Raises DataError."""
    real = Path(os.path.realpath(file))
    try:
        with files_in(real.parent, [real.name]) as draft:
            (draft / real.name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise file_error(file, f"cannot be written: {(error.strerror or 'why is not known').lower()}") from None


# === the command completion ===========================================================================================
# Prints a completion script for the system's shell, which shtab generates from the command line. It does not complete
# statements; the shell of evalhouse does that.


def completion(args: argparse.Namespace) -> int:
    """Prints the script."""
    import shtab

    parser: argparse.ArgumentParser = args.everything()
    _say_what_may_follow(parser, shtab.FILE)
    sys.stdout.write(shtab.complete(parser, args.shell).rstrip() + "\n")
    return DONE


def _say_what_may_follow(parser: argparse.ArgumentParser, file: object) -> None:
    """Adds what only completion needs: the names of the formats, and which arguments are files."""
    from evalhouse.warehouse.render import FORMATS

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _say_what_may_follow(command, file)
        elif "--format" in action.option_strings:
            action.choices = [format.name for format in FORMATS]
        elif action.metavar == "FILE" or not (action.option_strings or action.choices):
            action.complete = file  # type: ignore[attr-defined]

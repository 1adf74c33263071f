"""The command `query`: runs statements and writes the results to standard output or a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.lexicon import number_value
from evalhouse.grammar.nodes import Number
from evalhouse.warehouse.commands import DONE, MISUSED, NOT_MET, UNDECIDED, WRONG
from evalhouse.warehouse.commands.streams import columns_variable, note, patience, read_input, say, shows_colours
from evalhouse.warehouse.process import stopping
from evalhouse.warehouse.process.stopping import interruptibly

if TYPE_CHECKING:
    import argparse

    from evalhouse.warehouse.results import Met, Result
    from evalhouse.warehouse.session.session import Session


# === the warehouse of a command =======================================================================================
# Opens the warehouse that a command line names, and parses its FIELD=VALUE arguments.

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
        from evalhouse.warehouse.faults import WarehouseError

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
    from evalhouse.warehouse.session.session import Session

    session = Session.open(question_path(args, typed=typed))
    # All statements of one command see the same state of the warehouse.
    session.follows = False
    session.last = stopping.ends_process()
    session.tell = partial(note, args)
    return prepare_session(args, session)


def prepare_session(args: argparse.Namespace, session: Session) -> Session:
    """The session with the options that hold for all statements."""
    if args.level is not None:
        session.level = Number(number_value(args.level))
    session.theme = args.theme or "auto"
    return session


def open_on_engine(args: argparse.Namespace) -> Session:
    """Opens a session on the engine that the line names. Raises WarehouseError."""
    from evalhouse.warehouse.session.session import Session

    if args.engine != "spark":
        if args.master is not None:
            say("error: --master is for --engine spark")
            raise SystemExit(MISUSED)
        return open_session(args)
    if not args.db:
        say("error: --engine spark needs a lake, but none is named\n  --db LAKE names one (see evalhouse copy)")
        raise SystemExit(MISUSED)
    return prepare_session(args, Session.on_lake(args.db, args.master))


def pairs(words: Iterable[str], form: str) -> dict[str, str]:
    """FIELD=VALUE words as a dictionary. Any other word is an error on the command line."""
    pairs: dict[str, str] = {}
    for word in words:
        field, sign, value = word.partition("=")
        if not sign or not field or field in pairs:
            wrong = "is given twice" if field in pairs else f"is not {form}"
            from evalhouse.warehouse.render.style import clean

            say(f"error: {clean(word)} {wrong}")
            raise SystemExit(MISUSED)
        pairs[field] = value
    return pairs


# === the command query ================================================================================================

T = TypeVar("T")


def query(args: argparse.Namespace) -> int:
    """Runs statements from the command line or from standard input."""
    piped = args.statements == "-"
    text = read_input() if piped else args.statements
    with open_on_engine(args) as session:
        # Statements typed on the line are trusted; those from standard input are a script.
        session.confined = piped and not args.allow_files
        if (helped := help_on(text, session)) is not None:
            return helped
        return answer(args, session, text) if set_params(args, session, text) else MISUSED


def help_on(text: str, session: Session) -> int | None:
    """Answers `help` and `help WORD`; None if the text does not ask for help."""
    # This check comes first, because the imports for statements take longer than many queries.
    if not text.lstrip().casefold().startswith(("help", "?")):
        return None
    from evalhouse.warehouse.render.style import clean, clean_lines
    from evalhouse.warehouse.shell import help

    word = help.help_topic(text)
    if word is None:
        return None
    answered = help.topic(word, session.catalog) if word else help.overview()
    if answered is None:
        say(f"error: {clean(help.unknown(word, session.catalog))}")
        return WRONG
    sys.stdout.write(clean_lines(answered) + "\n")
    return DONE


def set_params(args: argparse.Namespace, session: Session, text: str) -> bool:
    """Sets the variables given with --param, for the statements that use them. If one is invalid, prints an error and
    returns False.
    """
    from evalhouse.warehouse.render.style import clean

    session.force = args.force
    params = pairs(args.param, "--param NAME=VALUE")
    for name, value in params.items():
        try:
            session.set(name.removeprefix("$"), value)
        except QueryError:
            given_so = clean(f"{name}={value}")
            say(f"error: --param {given_so}: a value is a list of names, a number or a text in quotes")
            return False
    return not params or _are_used(params, text)


def _are_used(params: Mapping[str, str], text: str) -> bool:
    """Whether each given variable is used in the statements or in the value of another variable; if not, prints an
    error. If the statements cannot be parsed, nothing is reported here.
    """
    from evalhouse.grammar.editing.hints import hints
    from evalhouse.grammar.parser import parse
    from evalhouse.warehouse.plans.substitution import variables_in
    from evalhouse.warehouse.render.style import clean

    names = {name.removeprefix("$"): value for name, value in params.items()}
    try:
        known = {name for statement in parse(text) for name in variables_in(statement)}
    except QueryError:
        return True
    for name, value in names.items():
        known |= {other for let in parse(f"let $_ = {value}") for other in variables_in(let) - {"_", name}}
    unused = [name for name in names if name not in known]
    for name in unused:
        say(f"error: --param {clean(name)}: no statement has a variable ${clean(name)}")
        for hint in hints(f"${name}", [f"${one}" for one in known], "variables"):
            say(f"  {clean(hint)}")
    return not unused


def answer(args: argparse.Namespace, session: Session, text: str) -> int:
    """Runs statements and prints each result as soon as it is ready, so results before an error stay printed. Formats
    that put all results into one document are written at the end.
    """
    named: str | None = getattr(args, "output", None)
    file = Path(named) if named else None
    format, document = target(args, file)
    gathered: list[Result] = []
    outcomes: list[Met | None] = []
    results = session.results(text)
    try:
        while (result := next_of(args, session, results)) is not None:
            outcomes.append(result.outcome)
            if document:
                gathered.append(result)
            else:
                show(args, result)
    except QueryError as error:
        from evalhouse.warehouse.render.diagnostics import query_error

        sys.stdout.flush()
        say(query_error(error, text))
        return WRONG
    if document:
        write(args, gathered, file, format)
    return status_of(outcomes)


def status_of(outcomes: Iterable[Met | None]) -> int:
    """The exit status for the outcomes of `expect`: not met goes before undecided."""
    said = set(outcomes)
    return NOT_MET if "not met" in said else UNDECIDED if "undecided" in said else DONE


def next_of(args: argparse.Namespace, session: Session, coming: Iterator[T]) -> T | None:
    """The next item, or None after the last. Meanwhile the terminal shows a clock. Ctrl-C stops the work."""
    with patience(args) as waiting, session.watched(waiting.progress):
        return interruptibly(lambda: next(coming, None), session.interrupt, waiting.tick)


def target(args: argparse.Namespace, file: Path | None) -> tuple[str, bool]:
    """The format to print or write, and whether all results go into one document. Raises DataError."""
    from evalhouse.warehouse.render import find_format

    if file is not None:
        from evalhouse.warehouse.render.files import check

        return check(file, args.format, args.force), True
    format = args.format or ("table" if sys.stdout.isatty() else "tsv")
    return format, find_format(format).whole


def write(args: argparse.Namespace, results: Sequence[Result], file: Path | None, format: str) -> None:
    """Writes results as one document, to a file or to standard output."""
    from evalhouse.warehouse.render import Style, files, render_all

    style = Style(digits=args.digits, theme=args.theme or "auto", signature=args.signature or file is not None)
    if file is None:
        drawn = render_all(results, format, style)
        sys.stdout.write(drawn if isinstance(drawn, str) else "")
    else:
        files.write(results, file, format, style)
        note(args, f"{file}: {len(results)} result{'' if len(results) == 1 else 's'}")


def show(args: argparse.Namespace, result: Result) -> None:
    """Prints a result, and its notes if the format has no place for them. With --quiet, the result of `expect` is not
    printed, because the exit status gives its outcome.
    """
    if args.quiet and result.outcome is not None:
        return
    from evalhouse.warehouse.render import Style, find_format

    terminal = sys.stdout.isatty()
    width = os.get_terminal_size(sys.stdout.fileno()).columns if terminal else columns_variable() or 100
    style = Style(
        digits=args.digits,
        width=width or 80,
        colour=shows_colours(args),
        theme=args.theme or "auto",
        signature=args.signature,
    )
    format = find_format(args.format or ("table" if terminal else "tsv"))
    for part in format.parts(result, style):
        sys.stdout.write(part)
    # Each result is flushed when it is ready, also into a pipe, and not only at the end.
    sys.stdout.flush()
    if not format.has_notes:
        for text in result.folded_notes:
            note(args, text)

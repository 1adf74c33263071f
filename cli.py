"""The command line: arguments in, exit status out. Nothing heavy is imported before a command needs it.

Standard output is data only; notes, progress and errors go to standard error.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from warehouse import TYPE_CHECKING
from warehouse.commands import CLOSED, DONE, INTERRUPTED, MISUSED, WRONG
from warehouse.commands.talk import say
from warehouse.threads import allow
from warehouse.version import __version__

if TYPE_CHECKING:
    from typing import Any, NoReturn


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and gives its exit status."""
    # The products here are small, and threads of their own for each cost more than they bring. Read when numpy loads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What a young process makes, it keeps: looking for garbage in it is a twentieth of the time of a short question.
    gc.set_threshold(100_000)
    words = sys.argv[1:] if arguments is None else arguments
    if arguments is None:
        _end_in_order()
    _make_streams_safe()
    parser = _parser(words)
    try:
        args = parser.parse_args(words)
        args.format = _format(parser, getattr(args, "format", None))
        if hasattr(args, "threads"):
            allow(args.threads)
        return _guarded(args)
    except BrokenPipeError:
        # The reader has gone, as `head` does; what Python would still flush goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        # What a command opens and writes it answers for itself, so this is standard output.
        say(f"error: standard output cannot be written: {(error.strerror or 'it is closed').lower()}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED


def command() -> int:
    """The installed command: `main`, and the end at once. Python would take apart what was built piece by piece, a
    seventh of the time of a short question. Where another thread is at work the end is as always.
    """
    status = main()
    threading = sys.modules.get("threading")
    if threading and any(not each.daemon for each in threading.enumerate() if each is not threading.main_thread()):
        return status
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(status)


_TOLD_TO_END: list[int] = []
"""The exit status for each signal to end that came."""


def _end_in_order() -> None:
    """Has a program that is told to end, or whose terminal is closed, remove what it was about to make."""
    import signal

    def end(number: int, frame: object) -> NoReturn:
        _TOLD_TO_END.append(128 + number)
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end)


def _make_streams_safe() -> None:
    """Streams that were closed lead nowhere, and what a stream cannot encode is shown by its code."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _guarded(args: argparse.Namespace) -> int:
    """Runs a command; every error becomes a text on standard error and an exit status."""
    from warehouse.faults import DataError, WarehouseError

    try:
        status: int = args.run(args)
        sys.stdout.flush()
        return status
    except DataError as error:
        from warehouse.render.diagnostics import data_error

        say(data_error(error, loading=args.command == "load"))
        return WRONG
    except WarehouseError as error:
        from warehouse.render.diagnostics import warehouse_error

        say(warehouse_error(error))
        return CLOSED
    except OSError:
        raise
    except Exception as error:
        if str(error) == "Query interrupted":
            # So DuckDB says, whatever came and whatever was raised for it.
            return _TOLD_TO_END[-1] if _TOLD_TO_END else INTERRUPTED
        if os.environ.get("EVALHOUSE_TRACEBACK"):
            raise
        from warehouse.render.diagnostics import unforeseen

        say(unforeseen(error))
        return WRONG


def _format(parser: argparse.ArgumentParser, named: str | None) -> str | None:
    """The format that was args for; a name that is none is a mistake on the command line."""
    if named is None:
        return None
    from warehouse.render import FORMATS

    known = [format.name for format in FORMATS]
    if named not in known:
        parser.error(f"there is no format {named!r}; there are {', '.join(known)}")
    return named


# --- the words --------------------------------------------------------------------------------------------------------


class _Help(argparse.HelpFormatter):
    """Help as wide as the terminal; argparse would import half a dozen modules to find out how wide that is."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, width=_columns() - 2, **options)


def _columns() -> int:
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else -1).columns or 80
    except (OSError, ValueError):
        return 80


class _Parser(argparse.ArgumentParser):
    """Errors of the command line in the words of all other errors."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Help, **options)

    def error(self, message: str) -> NoReturn:
        say(f"error: {message}\n  {self.prog} --help says what there is")
        raise SystemExit(MISUSED)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser for a line of words; only the commands that occur in it are given their arguments."""
    everywhere = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    everywhere.add_argument(
        "--db",
        metavar="FILE",
        help="the warehouse; else $EVALHOUSE_DB, ./evalhouse.duckdb, or the sample data",
    )
    everywhere.add_argument("--quiet", action="store_true", help="no notes and no progress on standard error")
    everywhere.add_argument("--no-color", action="store_true", help="no colour (nor with NO_COLOR set)")
    everywhere.add_argument("--format", metavar="FORMAT", help="default: table on a terminal, tsv in a pipe")
    everywhere.add_argument("--digits", type=int, choices=range(16), metavar="N", help="decimals of numbers")
    threads = "threads to compute with; else one a processor. No number depends on it"
    everywhere.add_argument("--threads", type=_count, metavar="N", help=threads)
    parser = _Parser(
        prog="evalhouse",
        description="Keeps past evaluations and answers honest questions of them. Without a command: the shell.",
        epilog="evalhouse COMMAND --help shows the options of a command and an example.",
        parents=[everywhere],
    )
    parser.add_argument("--version", action="version", version=f"evalhouse {__version__}")
    parser.set_defaults(run=_run_shell)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        added = commands.add_parser(
            command.name,
            help=command.meaning,
            description=command.meaning[0].upper() + command.meaning[1:] + ".",
            epilog=f"Example: {command.example}",
            parents=[everywhere] if command.name in words else [],
        )
        added.set_defaults(run=command.run)
        if command.name in words:
            command.words(added)
    return parser


def _count(text: str) -> int:
    """A number of threads."""
    from warehouse.threads import MOST

    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {MOST}")
    return int(text)


def _query_words(parser: argparse.ArgumentParser) -> None:
    statements = "statements separated by semicolons; - reads standard input"
    parser.add_argument("statements", metavar="STATEMENTS", help=statements)
    _script_words(parser)


def _run_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", help="a file of statements; - reads standard input")
    report = "prose, statements and results as one report: .html, .md or .tex"
    parser.add_argument("--report", metavar="FILE", help=report)
    parser.add_argument("--keep-going", action="store_true", help="go on after a statement that is wrong; status 1")
    _script_words(parser)


def _script_words(parser: argparse.ArgumentParser) -> None:
    param = 'give a variable its value, whatever a let says: finalists="GE, SRI"'
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help=param)
    output = "all results into one file, in the format of its ending or of --format; .xlsx too"
    parser.add_argument("--output", metavar="FILE", help=output)
    parser.add_argument("--force", action="store_true", help="write over files that are there")
    engine = "what sums the facts: duckdb, or spark, for which --db names a lake (see export-lake)"
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb", metavar="ENGINE", help=engine)
    parser.add_argument("--master", metavar="URL", help="the Spark that computes; local[*], this machine, unless said")
    files = "let load, export and plot of a script use files outside of its folder"
    parser.add_argument("--allow-files", action="store_true", help=files)


def _load_words(parser: argparse.ArgumentParser) -> None:
    from warehouse.loading.readers import READERS, plugins

    readers = READERS | plugins()
    files = "files, folders of them, or patterns in quotes; also .gz and .zst"
    parser.add_argument("files", nargs="+", metavar="FILE", help=files)
    kinds = (*readers, "auto")
    listed = ", ".join(kinds)
    parser.add_argument("--as", dest="reader", required=True, choices=kinds, metavar="READER", help=f"one of {listed}")
    mapped = "take a field from a column of another name"
    parser.add_argument("--map", action="append", default=[], metavar="FIELD=COLUMN", help=mapped)
    given = "give a field one value in every row"
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help=given)
    simulated = "mark the rows as simulated; captions of results on them say so"
    parser.add_argument("--simulated", action="store_true", help=simulated)
    dry_run = "check everything, show the first rows, store nothing"
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--dry-run", action="store_true", help=dry_run)
    in_place = "into the warehouse itself, without a copy: a crash can damage it, and nobody reads meanwhile"
    where.add_argument("--in-place", action="store_true", help=in_place)
    offered = [(reader, option) for reader in readers.values() for option in reader.options]
    for name in dict.fromkeys(option.name for _, option in offered):
        sharing = [(reader, option) for reader, option in offered if option.name == name]
        meaning = "; ".join(
            f"{reader.name}: {option.meaning}" + (f" ({option.default})" if option.default else "")
            for reader, option in sharing
        )
        metavar = "|".join(sharing[0][1].choices) or name.upper()
        parser.add_argument(f"--{name}", dest=f"reader_{name}", metavar=metavar, help=meaning)


def _fmt_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="scripts to lay out")
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if a file would change")


def _init_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file that is not there yet")
    parser.add_argument("--sample", action="store_true", help="with the sample data in it")


def _backup_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file that is not there yet")


def _verify_words(parser: argparse.ArgumentParser) -> None:
    results = "a signature in quotes, or a file of results as --format json writes them; - reads standard input"
    parser.add_argument("results", nargs="+", metavar="RESULT", help=results)


def _export_words(parser: argparse.ArgumentParser) -> None:
    target = "a folder, which gets a file of every kind of rows, or a file: .csv, .tsv, .parquet, .csv.gz, .tsv.gz"
    parser.add_argument("target", metavar="FILE", help=target)
    kinds = ("scores", "decisions", "labels", "values", "published", "systems", "documents")
    kind = f"which rows a file gets: scores unless said, or {', '.join(kinds[1:])}"
    parser.add_argument("--kind", choices=kinds, default="scores", metavar="KIND", help=kind)
    parser.add_argument("--force", action="store_true", help="write over files")


def _lake_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="a folder that is not there yet")
    parser.add_argument("--force", action="store_true", help="write over a lake")


def _completion_words(parser: argparse.ArgumentParser) -> None:
    # The script is made of the options of the whole line.
    parser.set_defaults(everything=lambda: _parser([command.name for command in COMMANDS]))
    shells = ("bash", "zsh", "fish")
    parser.add_argument("shell", choices=shells, metavar="SHELL", help=f"one of {', '.join(shells)}")


def _no_words(parser: argparse.ArgumentParser) -> None:
    """A command without arguments of its own."""


# --- what runs each command, imported when it is run ------------------------------------------------------------------


def _run_query(args: argparse.Namespace) -> int:
    from warehouse.commands.answering import query

    return query(args)


def _run_study(args: argparse.Namespace) -> int:
    from warehouse.commands.running import run

    return run(args)


def _run_load_files(args: argparse.Namespace) -> int:
    from warehouse.commands.loading import load_files

    return load_files(args)


def _run_lay_out(args: argparse.Namespace) -> int:
    from warehouse.commands.formatting import lay_out

    return lay_out(args)


def _run_init(args: argparse.Namespace) -> int:
    from warehouse.commands.keeping import init

    return init(args)


def _run_info(args: argparse.Namespace) -> int:
    from warehouse.commands.keeping import info

    return info(args)


def _run_check(args: argparse.Namespace) -> int:
    from warehouse.commands.keeping import check

    return check(args)


def _run_back_up(args: argparse.Namespace) -> int:
    from warehouse.commands.keeping import back_up

    return back_up(args)


def _run_bring_up_to_date(args: argparse.Namespace) -> int:
    from warehouse.commands.keeping import bring_up_to_date

    return bring_up_to_date(args)


def _run_verify(args: argparse.Namespace) -> int:
    from warehouse.commands.verifying import verify

    return verify(args)


def _run_export(args: argparse.Namespace) -> int:
    from warehouse.commands.writing import export

    return export(args)


def _run_export_as_lake(args: argparse.Namespace) -> int:
    from warehouse.commands.writing import export_as_lake

    return export_as_lake(args)


def _run_completion(args: argparse.Namespace) -> int:
    from warehouse.commands.completing import completion

    return completion(args)


def _run_demo(args: argparse.Namespace) -> int:
    from warehouse.commands.demonstration import demo

    return demo(args)


def _run_shell(args: argparse.Namespace) -> int:
    from warehouse.commands.conversation import shell

    return shell(args)


# --- the table of commands --------------------------------------------------------------------------------------------


class Command:
    """A command: its name, what it does in one line, an example, its own arguments, and what runs it."""

    __slots__ = ("example", "meaning", "name", "run", "words")

    def __init__(
        self,
        name: str,
        meaning: str,
        example: str,
        words: Callable[[argparse.ArgumentParser], None],
        run: Callable[[argparse.Namespace], int],
    ) -> None:
        self.name, self.meaning, self.example, self.words, self.run = name, meaning, example, words, run


COMMANDS = (
    Command(
        "query",
        "run statements",
        'evalhouse query "compare F(beta=1) for GE, UMASS on TST3 shuffles 9999"',
        _query_words,
        _run_query,
    ),
    Command(
        "run",
        "run a study",
        "evalhouse run study.eval --param finalists=GE --report study.html",
        _run_words,
        _run_study,
    ),
    Command(
        "load",
        "load files into a warehouse",
        "evalhouse load scores.csv --as scores --map system=site --set test_set=TST3",
        _load_words,
        _run_load_files,
    ),
    Command(
        "fmt",
        "lay scripts out in the canonical way",
        "evalhouse fmt study.eval --check",
        _fmt_words,
        _run_lay_out,
    ),
    Command("init", "make a new warehouse", "evalhouse init muc.duckdb --sample", _init_words, _run_init),
    Command("info", "what a warehouse holds", "evalhouse info --db muc.duckdb", _no_words, _run_info),
    Command(
        "check",
        "whether a warehouse is sound",
        "evalhouse check --db muc.duckdb",
        _no_words,
        _run_check,
    ),
    Command(
        "backup",
        "a copy of a warehouse, made safely",
        "evalhouse backup monday.duckdb",
        _backup_words,
        _run_back_up,
    ),
    Command(
        "upgrade",
        "bring a warehouse of an older version up to date",
        "evalhouse upgrade --db muc.duckdb",
        _no_words,
        _run_bring_up_to_date,
    ),
    Command(
        "verify",
        "whether results of the past come out again",
        "evalhouse verify table2.json",
        _verify_words,
        _run_verify,
    ),
    Command(
        "export-scores",
        "write rows to files that load takes",
        "evalhouse export-scores scores.csv --db muc.duckdb",
        _export_words,
        _run_export,
    ),
    Command(
        "export-lake",
        "write a warehouse as a folder of Parquet files, for Spark",
        "evalhouse export-lake muc.lake --db muc.duckdb",
        _lake_words,
        _run_export_as_lake,
    ),
    Command(
        "completion",
        "completion for the shell of the system",
        "evalhouse completion bash > ~/.local/share/bash-completion/completions/evalhouse",
        _completion_words,
        _run_completion,
    ),
    Command(
        "demo",
        "the main job on the sample data, from start to finish",
        "evalhouse demo",
        _no_words,
        _run_demo,
    ),
)


if __name__ == "__main__":
    raise SystemExit(main())

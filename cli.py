"""The command line: arguments in, exit status out. Nothing heavy is imported before a command needs it.

Standard output is data only; notes, progress and errors go to standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from warehouse.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.ingest import Loaded, LoadedKind
    from warehouse.results import Result
    from warehouse.session import Session

DONE, WRONG, MISUSED, CLOSED, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses: done; the query or the data was wrong; the command line was; the warehouse cannot be opened or
written; Ctrl-C.
"""

DEFAULT_FILE = Path("evalhouse.duckdb")


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and gives its exit status."""
    # The products here are small, and threads of their own for each cost more than they bring. Read when numpy loads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = sys.argv[1:] if arguments is None else arguments
    _make_streams_safe()
    parser = _parser(words)
    try:
        asked = parser.parse_args(words)
        asked.format = _format(parser, getattr(asked, "format", None))
        return _guarded(asked)
    except BrokenPipeError:
        # The reader has gone, as `head` does; what Python would still flush goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        # What a command opens and writes it answers for itself, so this is standard output.
        _say(f"error: standard output cannot be written: {(error.strerror or 'it is closed').lower()}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED


def _make_streams_safe() -> None:
    """Streams that were closed lead nowhere, and what a stream cannot encode is shown by its code."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _guarded(asked: argparse.Namespace) -> int:
    """Runs a command; every error becomes a text on standard error and an exit status."""
    from warehouse.errors import DataError, WarehouseError

    try:
        status: int = asked.run(asked)
        sys.stdout.flush()
        return status
    except DataError as error:
        from warehouse.render.diagnostics import data_error

        _say(data_error(error, loading=asked.command == "load"))
        return WRONG
    except WarehouseError as error:
        from warehouse.render.diagnostics import warehouse_error

        _say(warehouse_error(error))
        return CLOSED


def _format(parser: argparse.ArgumentParser, named: str | None) -> str | None:
    """The format that was asked for; a name that is none is a mistake on the command line."""
    if named is None:
        return None
    from warehouse.render import FORMATS

    known = [format.name for format in FORMATS]
    if named not in known:
        parser.error(f"there is no format {named!r}; there are {', '.join(known)}")
    return named


# --- the words --------------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """Errors of the command line in the words of all other errors."""

    def error(self, message: str) -> NoReturn:
        _say(f"error: {message}\n  {self.prog} --help says what there is")
        raise SystemExit(MISUSED)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser for a line of words; only the commands that occur in it are given their arguments."""
    everywhere = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    everywhere.add_argument(
        "--db",
        type=Path,
        metavar="FILE",
        help="the warehouse; else $EVALHOUSE_DB, ./evalhouse.duckdb, or the sample data",
    )
    everywhere.add_argument("--quiet", action="store_true", help="no notes and no progress on standard error")
    everywhere.add_argument("--no-color", action="store_true", help="no colour (nor with NO_COLOR set)")
    everywhere.add_argument("--format", metavar="FORMAT", help="default: table on a terminal, tsv in a pipe")
    everywhere.add_argument("--digits", type=int, choices=range(16), metavar="N", help="decimals of numbers")
    parser = _Parser(
        prog="evalhouse",
        description="Keeps past evaluations and answers honest questions of them. Without a command: the shell.",
        epilog="evalhouse COMMAND --help shows the options of a command and an example.",
        parents=[everywhere],
    )
    parser.add_argument("--version", action="version", version=f"evalhouse {__version__}")
    parser.set_defaults(run=_shell)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        added = commands.add_parser(
            command.name,
            help=command.meaning,
            description=command.meaning[0].upper() + command.meaning[1:] + ".",
            epilog=f"Example: {command.example}",
            parents=[everywhere],
        )
        added.set_defaults(run=command.run)
        if command.name in words:
            command.words(added)
    return parser


def _query_words(parser: argparse.ArgumentParser) -> None:
    statements = "statements separated by semicolons; - reads standard input"
    parser.add_argument("statements", metavar="STATEMENTS", help=statements)
    _script_words(parser)


def _run_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", type=Path, metavar="STUDY", help="a file of statements; - reads standard input")
    _script_words(parser)


def _script_words(parser: argparse.ArgumentParser) -> None:
    param = 'give a variable its value, whatever a let says: finalists="GE, SRI"'
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help=param)
    output = "all results into one file, in the format of its ending or of --format; .xlsx too"
    parser.add_argument("--output", type=Path, metavar="FILE", help=output)
    parser.add_argument("--force", action="store_true", help="let --output and export write over files")


def _load_words(parser: argparse.ArgumentParser) -> None:
    from warehouse.readers import READERS, plugins

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
    parser.add_argument("--dry-run", action="store_true", help=dry_run)
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
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="scripts to lay out")
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if a file would change")


def _init_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a file that is not there yet")
    parser.add_argument("--sample", action="store_true", help="with the sample data in it")


def _backup_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a file that is not there yet")


def _completion_words(parser: argparse.ArgumentParser) -> None:
    shells = ("bash", "zsh", "fish")
    parser.add_argument("shell", choices=shells, metavar="SHELL", help=f"one of {', '.join(shells)}")


def _no_words(parser: argparse.ArgumentParser) -> None:
    """A command without arguments of its own."""


# --- commands ---------------------------------------------------------------------------------------------------------


def _query(asked: argparse.Namespace) -> int:
    text = sys.stdin.read() if asked.statements == "-" else asked.statements
    return _statements(asked, text)


def _study(asked: argparse.Namespace) -> int:
    text = sys.stdin.read() if str(asked.study) == "-" else _read(asked.study)
    return _statements(asked, text, None if str(asked.study) == "-" else str(asked.study))


def _statements(asked: argparse.Namespace, text: str, source: str | None = None) -> int:
    """Runs statements on the warehouse that is meant, with the variables given from outside."""
    from grammar.errors import QueryError

    with _session(asked) as session:
        session.force = asked.force
        for name, value in _pairs(asked.param, "--param NAME=VALUE").items():
            try:
                session.set(name.removeprefix("$"), value)
            except QueryError:
                _say(f"error: --param {name}={value}: a value is a list of names, a number or a text in quotes")
                return MISUSED
        return _run(asked, session, text, source)


def _run(asked: argparse.Namespace, session: Session, text: str, source: str | None = None) -> int:
    """Runs statements and prints each result as it comes; what was printed before an error stays. What makes one
    document, such as a file, is written when all results are there.
    """
    from grammar.errors import QueryError

    file: Path | None = getattr(asked, "output", None)
    format, document = _target(asked, file)
    gathered: list[Result] = []
    results = session.results(text)
    try:
        while (result := _next(asked, session, results)) is not None:
            if document:
                gathered.append(result)
            else:
                _print(asked, result)
    except QueryError as error:
        from warehouse.render.diagnostics import query_error

        sys.stdout.flush()
        _say(query_error(error, text, source))
        return WRONG
    if document:
        _write(asked, gathered, file, format)
    return DONE


def _next(asked: argparse.Namespace, session: Session, results: Iterator[Result]) -> Result | None:
    """The next result, None behind the last one. Ctrl-C stops it."""
    from warehouse.shell.running import interruptibly

    with _patience(asked) as waiting:
        return interruptibly(lambda: next(results, None), session.database.interrupt, waiting)


def _target(asked: argparse.Namespace, file: Path | None) -> tuple[str, bool]:
    """The format of what is printed or written, and whether all results make one document. Raises DataError."""
    from warehouse.render import FORMATS

    if file is not None:
        from warehouse.render.files import check

        return check(file, asked.format, asked.force), True
    format = asked.format or ("table" if sys.stdout.isatty() else "tsv")
    return format, any(each.whole for each in FORMATS if each.name == format)


def _write(asked: argparse.Namespace, results: Sequence[Result], file: Path | None, format: str) -> None:
    from warehouse.render import Style, render_all
    from warehouse.render.files import write

    style = Style(digits=getattr(asked, "digits", None))
    if file is None:
        drawn = render_all(results, format, style)
        sys.stdout.write(drawn if isinstance(drawn, str) else "")
    else:
        write(results, file, format, style)
        _note(asked, f"{file}: {len(results)} result{'' if len(results) == 1 else 's'}")


def _read(file: Path) -> str:
    """The text of a script. Raises DataError if it cannot be read."""
    from warehouse.errors import DataError, Fault

    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError((Fault(str(file), None, (error.strerror or "cannot be read").lower()),)) from None
    except UnicodeDecodeError:
        raise DataError((Fault(str(file), None, "is not UTF-8"),)) from None


def _fmt(asked: argparse.Namespace) -> int:
    """Lays scripts out; a script that cannot be parsed is left as it is."""
    from grammar.errors import QueryError
    from grammar.layout import layout

    status = DONE
    for file in asked.files:
        text = _read(file)
        try:
            laid_out = layout(text)
        except QueryError as error:
            from warehouse.render.diagnostics import query_error

            _say(query_error(error, text, str(file)))
            status = WRONG
            continue
        if laid_out == text:
            continue
        if asked.check:
            _say(f"{file} would change")
            status = WRONG
        else:
            _rewrite(file, laid_out)
            _note(asked, f"{file} is laid out anew")
    return status


def _rewrite(file: Path, text: str) -> None:
    """Puts a text in the place of a file's, all of it or nothing, and keeps who may read it. Raises DataError."""
    import shutil
    import tempfile

    from warehouse.errors import DataError, Fault

    try:
        handle, new = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with open(handle, "w", encoding="utf-8") as out:
                out.write(text)
            shutil.copymode(file, new)
            os.replace(new, file)
        except BaseException:
            os.unlink(new)
            raise
    except OSError as error:
        raise DataError(
            (Fault(str(file), None, f"cannot be written: {(error.strerror or 'why is not known').lower()}"),)
        ) from None


class _DryRunOverError(Exception):
    """Leaves the copy of a warehouse that a dry run loaded into, so that it does not take the warehouse's place."""


def _load(asked: argparse.Namespace) -> int:
    from warehouse.database import in_memory, replacing
    from warehouse.ingest import load

    path = _path(asked) or DEFAULT_FILE
    chosen = {key.removeprefix("reader_"): text for key, text in vars(asked).items() if key.startswith("reader_")}
    options: dict[str, Any] = {
        "fields": _pairs(asked.set, "--set FIELD=VALUE"),
        "columns": _pairs(asked.map, "--map FIELD=COLUMN"),
        "options": {name: text for name, text in chosen.items() if text is not None},
        "simulated": asked.simulated,
    }
    files = _files(asked.files)
    done: list[Loaded] = []
    with (
        suppress(_DryRunOverError),
        _progress(asked, f"loading {files[0].name}" if len(files) == 1 else f"loading {len(files)} files") as progress,
        replacing(path) if path.exists() or not asked.dry_run else in_memory() as database,
    ):
        for place, file in enumerate(files):
            reader = _recognized(asked, file) if asked.reader == "auto" else asked.reader
            told = progress and partial(_overall, progress, place, len(files))
            done.append(load(database, file, reader, progress=told, **options))
        if asked.dry_run:
            # Files may build on each other, as runs do on qrels, so they are loaded in earnest, into a copy.
            raise _DryRunOverError
    for loaded in done:
        _report(asked, loaded, dry_run=asked.dry_run)
    return DONE


def _overall(progress: Callable[[float], None], place: int, files: int, share: float) -> None:
    """Tells the share of all files, from the share of one."""
    progress((place + share) / files)


def _files(named: Sequence[str]) -> list[Path]:
    """The files that are meant: themselves, those in a folder in order of name, or those that fit a pattern."""
    from glob import glob

    files: list[Path] = []
    for name in named:
        path = Path(name)
        if path.is_dir():
            files += sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        elif not path.exists() and any(letter in name for letter in "*?["):
            files += [Path(found) for found in sorted(glob(name, recursive=True)) if Path(found).is_file()] or [path]
        else:
            files.append(path)
    return files or [Path(name) for name in named]


def _recognized(asked: argparse.Namespace, file: Path) -> str:
    """The reader for a file, by what is in it; says which and why."""
    from warehouse.readers.recognition import recognize

    found = recognize(file)
    _note(asked, f"{file}: read as {found.reader}, for {found.why}")
    return found.reader


def _report(asked: argparse.Namespace, loaded: Loaded, *, dry_run: bool = False) -> None:
    known = loaded.rows_read - loaded.rows_new
    if loaded.rows_new == 0:
        _note(asked, f"{loaded.source}: all {loaded.rows_read:,} rows are there already; nothing changed")
    elif dry_run:
        _note(asked, f"{loaded.source}: {loaded.rows_new:,} of {loaded.rows_read:,} rows would be stored; nothing was")
    else:
        kept = f" ({known:,} were there already)" if known else ""
        _note(asked, f"{loaded.source}: {loaded.rows_new:,} rows stored as import {loaded.import_id}{kept}")
    if len(loaded.kinds) > 1:
        _note(asked, "; ".join(f"{kind.form.name}: {kind.rows_new:,} of {kind.rows_read:,}" for kind in loaded.kinds))
    for note in loaded.notes:
        _note(asked, note)
    if dry_run:
        for kind in loaded.kinds:
            _print(asked, _first_rows(loaded, kind))


def _first_rows(loaded: Loaded, kind: LoadedKind) -> Result:
    """The first rows of a kind, as a result to print."""
    from warehouse.results import Column, Result, Table

    columns = tuple(Column(name, "name") for name in kind.columns)
    return Result(
        f"load {kind.form.name}", f"first {kind.form.name} of {loaded.source}", "", Table(columns, kind.first)
    )


def _init(asked: argparse.Namespace) -> int:
    from warehouse.database import create, replacing

    create(asked.file).close()
    if asked.sample:
        from warehouse.sample import fill

        with replacing(asked.file) as database:
            fill(database)
    _note(asked, f"{asked.file} is a new warehouse{' with the sample data' if asked.sample else ''}")
    return DONE


def _info(asked: argparse.Namespace) -> int:
    with _session(asked) as session:
        return _run(asked, session, "show test sets; show imports")


def _check(asked: argparse.Namespace) -> int:
    from warehouse.soundness import check

    with _session(asked) as session:
        wrong = check(session.database)
        for sentence in wrong:
            print(sentence)
        _note(asked, f"{session.path or 'the sample data'}: {'unsound' if wrong else 'nothing is wrong'}")
    return WRONG if wrong else DONE


def _backup(asked: argparse.Namespace) -> int:
    from warehouse.database import backup

    path = _path(asked)
    if path is None:
        _say("error: there is no warehouse here to copy\n  --db FILE names one")
        return CLOSED
    backup(path, asked.file)
    _note(asked, f"{asked.file} is a copy of {path}")
    return DONE


def _completion(asked: argparse.Namespace) -> int:
    from warehouse.shell.scripts import SCRIPTS

    sys.stdout.write(SCRIPTS[asked.shell](_parser([command.name for command in COMMANDS])))
    return DONE


def _shell(asked: argparse.Namespace) -> int:
    """The shell, where no command is given."""
    from warehouse.session import Session
    from warehouse.shell.repl import Shell

    # On a terminal the banner says what the note would.
    session = Session.open(_path(asked)) if sys.stdin.isatty() else _session(asked)
    format = asked.format or ("table" if sys.stdout.isatty() else "tsv")
    digits, quiet = getattr(asked, "digits", None), getattr(asked, "quiet", False)
    shell = Shell(session, format=format, digits=digits, colour=_coloured(asked), quiet=quiet)
    try:
        return DONE if shell.converse() else WRONG
    finally:
        shell.session.close()


_DEMO = (
    ("What each system scored on the official test set of MUC-4", "score F, recall, precision for all on TST3"),
    (
        "Is the difference between the first and the third more than chance",
        "compare F(beta=1) for GE, UMASS on TST3 shuffles 9999",
    ),
    (
        "Which systems cannot be told apart: those that share a letter",
        "group F(beta=1) for all on TST3 shuffles 9999 level 0.10 confidence 0.99",
    ),
    (
        "How well the systems told relevant messages from others",
        "score F, recall, precision, fallout of filtering for all, allrel on TST3",
    ),
    (
        "What became of precision and fallout on another test set, as printed in 1992",
        "change precision, fallout of published for all except allrel from TST3 to TST4 trim 1",
    ),
)
"""What the demonstration asks, and why."""


def _demo(asked: argparse.Namespace) -> int:
    asked.format = asked.format or "table"
    from warehouse.database import in_memory
    from warehouse.sample import fill
    from warehouse.session import Session

    with in_memory() as database:
        for loaded in fill(database):
            _report(asked, loaded)
        session = Session(database)
        for why, text in _DEMO:
            print(f"\n-- {why}\nevalhouse> {text}\n", flush=True)
            status = _run(asked, session, text)
            if status != DONE:
                return status
    return DONE


# --- the table of commands --------------------------------------------------------------------------------------------


class Command(NamedTuple):
    """A command: its name, what it does in one line, an example, its own arguments, and what runs it."""

    name: str
    meaning: str
    example: str
    words: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


COMMANDS = (
    Command(
        "query",
        "run statements",
        'evalhouse query "compare F(beta=1) for GE, UMASS on TST3 shuffles 9999"',
        _query_words,
        _query,
    ),
    Command("run", "run a script of statements", "evalhouse run study.eval --param finalists=GE", _run_words, _study),
    Command(
        "load",
        "load files into a warehouse",
        "evalhouse load scores.csv --as scores --map system=site --set test_set=TST3",
        _load_words,
        _load,
    ),
    Command("fmt", "lay scripts out in the canonical way", "evalhouse fmt study.eval --check", _fmt_words, _fmt),
    Command("init", "make a new warehouse", "evalhouse init muc.duckdb --sample", _init_words, _init),
    Command("info", "what a warehouse holds", "evalhouse info --db muc.duckdb", _no_words, _info),
    Command("check", "whether a warehouse is sound", "evalhouse check --db muc.duckdb", _no_words, _check),
    Command("backup", "a copy of a warehouse, made safely", "evalhouse backup monday.duckdb", _backup_words, _backup),
    Command(
        "completion",
        "completion for the shell of the system",
        "evalhouse completion bash > ~/.local/share/bash-completion/completions/evalhouse",
        _completion_words,
        _completion,
    ),
    Command("demo", "the main job on the sample data, from start to finish", "evalhouse demo", _no_words, _demo),
)


# --- what commands share ----------------------------------------------------------------------------------------------


def _path(asked: argparse.Namespace) -> Path | None:
    """The warehouse that is meant, None where there is none and the sample data serve."""
    named = getattr(asked, "db", None) or (Path(os.environ["EVALHOUSE_DB"]) if os.environ.get("EVALHOUSE_DB") else None)
    if named is not None:
        return Path(named)
    return DEFAULT_FILE if DEFAULT_FILE.exists() else None


def _session(asked: argparse.Namespace) -> Session:
    from warehouse.session import Session

    path = _path(asked)
    if path is None:
        _note(
            asked,
            "no warehouse here: these are the sample data, whose messages are simulated (evalhouse init makes one)",
        )
    return Session.open(path)


def _print(asked: argparse.Namespace, result: Result) -> None:
    from warehouse.render import FORMATS, Style, render

    terminal = sys.stdout.isatty()
    width = os.get_terminal_size(sys.stdout.fileno()).columns if terminal else int(os.environ.get("COLUMNS") or 100)
    style = Style(digits=getattr(asked, "digits", None), width=width or 80, colour=_coloured(asked))
    format = asked.format or ("table" if terminal else "tsv")
    sys.stdout.write(render(result, format, style))
    if not any(each.has_notes for each in FORMATS if each.name == format):
        for note in result.notes:
            _note(asked, note)


def _coloured(asked: argparse.Namespace) -> bool:
    wanted = not getattr(asked, "no_color", False) and not os.environ.get("NO_COLOR")
    return wanted and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _note(asked: argparse.Namespace, text: str) -> None:
    from warehouse.render.style import clean

    if not getattr(asked, "quiet", False):
        _say(f"note: {clean(text)}")


def _say(text: str) -> None:
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)


def _pairs(words: Iterable[str], form: str) -> dict[str, str]:
    """FIELD=VALUE words as a dictionary; anything else is a mistake on the command line."""
    pairs: dict[str, str] = {}
    for word in words:
        field, sign, value = word.partition("=")
        if not sign or not field or field in pairs:
            wrong = "is given twice" if field in pairs else f"is not {form}"
            _say(f"error: {word} {wrong}")
            raise SystemExit(MISUSED)
        pairs[field] = value
    return pairs


@contextmanager
def _progress(asked: argparse.Namespace, what: str) -> Iterator[Callable[[float], None] | None]:
    """A bar on standard error for what takes longer than a second, on a terminal only."""
    if getattr(asked, "quiet", False) or not sys.stderr.isatty():
        yield None
        return
    from warehouse.render.progress import bar

    with bar(what) as told:
        yield told


@contextmanager
def _patience(asked: argparse.Namespace) -> Iterator[Callable[[float], None]]:
    """Says after a second, on a terminal only, that something still runs, and wipes it away at the end."""
    if getattr(asked, "quiet", False) or not sys.stderr.isatty():
        yield lambda seconds: None
        return
    from warehouse.render.progress import clock

    with clock() as waiting:
        yield waiting


if __name__ == "__main__":
    raise SystemExit(main())

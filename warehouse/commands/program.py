"""The command line: runs one command and returns its exit status. Nothing heavy is imported before a command needs it.

Standard output carries only data; notes, progress and errors go to standard error.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from evalhouse.warehouse.process import stopping

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def command() -> int:
    """The entry point of the installed command: runs `main`, then exits at once. Freeing all objects one by one would
    take a seventh of the time of a short query. If another thread is still running, Python exits in the usual way.
    """
    # This comes before any slow import.
    stopping.at_once()
    from evalhouse.warehouse.process.memory import keep_no_addresses

    keep_no_addresses()
    try:
        status = main()
        stopping.at_once()
    except SystemExit as stopped:
        status = stopped.code if isinstance(stopped.code, int) else 0
    except KeyboardInterrupt:
        status = stopping.status()
    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    if not stopping.is_told_to_end() and any(not thread.daemon for thread in others):
        return status
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    stopping.leave(status)


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    import argparse
    import gc

    from evalhouse.warehouse.commands import CLOSED, DONE
    from evalhouse.warehouse.commands.arguments import GIVEN_NOTHING, check_command, in_full, parser_for
    from evalhouse.warehouse.commands.streams import OutputError, make_safe, say
    from evalhouse.warehouse.process.memory import allow_threads, limit_memory

    # The matrix products here are small, so starting threads costs more than it saves. numpy reads this variable on
    # import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A short-lived process keeps nearly all objects it makes: garbage collection would take 5% of the time of a short
    # query.
    gc.set_threshold(100_000)
    words = in_full(sys.argv[1:] if arguments is None else arguments)
    make_safe(own=arguments is None)
    parser = parser_for(words)
    try:
        _check_words(parser, words)
        check_command(parser, words)
        args = parser.parse_args(words, argparse.Namespace(**GIVEN_NOTHING))
        _fill_from_settings(args)
        _check_format(parser, args.format)
        if args.threads is not None:
            allow_threads(args.threads)
        if arguments is None and getattr(args, "engine", None) != "spark":
            limit_memory()
        return _run_guarded(args)
    except BrokenPipeError:
        # The reader has closed the pipe, as `head` does. Whatever Python still flushes is dropped.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OutputError as error:
        # Drop the output that is not flushed yet, before the next write makes Python try again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        say(f"error: standard output cannot be written: {(error.strerror or 'it is closed').lower()}")
        return CLOSED
    except OSError as error:
        what = f"{error.filename}: " if error.filename is not None else ""
        say(f"error: {what}{(error.strerror or str(error) or 'the system refuses').lower()}")
        return CLOSED
    except KeyboardInterrupt:
        return stopping.status()


def _run_guarded(args: argparse.Namespace) -> int:
    """Runs a command and turns every error into a message on standard error and an exit status."""
    from evalhouse.warehouse.commands.table import run

    try:
        status = run(args)
        sys.stdout.flush()
        return status
    except Exception as error:
        # Interrupted work raises an error of its own; DuckDB's error has this text.
        if stopping.is_told_to_end() or str(error) == "Query interrupted":
            return stopping.status()
        return _print_error(error, args)


def _print_error(error: Exception, args: argparse.Namespace) -> int:
    """Prints an error on standard error and returns its exit status. Raises OSError."""
    from evalhouse.warehouse.commands import CLOSED, WRONG
    from evalhouse.warehouse.commands.streams import say
    from evalhouse.warehouse.faults import DataError, WarehouseError

    match error:
        case DataError():
            from evalhouse.warehouse.render.diagnostics import data_error

            # If each file is loaded in place, the files before this one are already stored.
            lost = "nothing of this file was stored" if getattr(args, "in_place", False) else "nothing was stored"
            say(data_error(error, lost if args.command == "load" else ""))
            return WRONG
        case WarehouseError():
            from evalhouse.warehouse.render.diagnostics import warehouse_error

            say(warehouse_error(error))
            return CLOSED
        case MemoryError():
            from evalhouse.warehouse.process.memory import memory_allowed, more

            say(f"error: this needs more than {memory_allowed() / 10**9:g} GB of memory\n  {more()}")
            return CLOSED
        case UnicodeEncodeError():
            say(f"error: {error.object!a} is not UTF-8, as the names of files have to be here")
            return CLOSED
        case OSError():
            raise error
    if os.environ.get("EVALHOUSE_TRACEBACK"):
        raise error
    from evalhouse.warehouse.render.diagnostics import unforeseen

    say(unforeseen(error))
    return WRONG


def _check_words(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Exits with a command line error if a word is not UTF-8, because neither DuckDB nor a result can hold it."""
    for word in (*words, os.environ.get("EVALHOUSE_DB", "")):
        try:
            word.encode()
        except UnicodeEncodeError:
            parser.error(f"{word!a} is not UTF-8")


def _fill_from_settings(args: argparse.Namespace) -> None:
    """Fills arguments from settings in the environment and the settings file; exits with an error if one of them is
    invalid.
    """
    from evalhouse.warehouse.commands import MISUSED
    from evalhouse.warehouse.commands.settings import SettingError, fill
    from evalhouse.warehouse.commands.streams import say

    try:
        fill(args)
    except SettingError as error:
        say(f"error: {error}")
        raise SystemExit(MISUSED) from None


def _check_format(parser: argparse.ArgumentParser, named: str | None) -> None:
    """Exits with an error on the command line if there is no format of this name."""
    if named is None:
        return
    from evalhouse.warehouse.render import FORMATS

    known = [format.name for format in FORMATS]
    if named not in known:
        parser.error(f"there is no format {named!r}; the formats are {', '.join(known)}")

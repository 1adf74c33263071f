"""The command line: arguments in, exit status out. Nothing heavy is imported before a command needs it.

Standard output is data only; notes, progress and errors go to standard error.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from contextlib import suppress

from warehouse import TYPE_CHECKING
from warehouse.commands import CLOSED, DONE, INTERRUPTED, WRONG
from warehouse.commands.arguments import GIVEN_NOTHING, parser_for
from warehouse.commands.table import run
from warehouse.commands.talk import say
from warehouse.threads import allow

if TYPE_CHECKING:
    from typing import NoReturn


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and gives its exit status."""
    # The matrix products here are small, so threads of their own cost more than they save. numpy reads this on import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A short-lived process keeps nearly all objects it makes: collecting garbage would take 5% of a short query's time.
    gc.set_threshold(100_000)
    words = sys.argv[1:] if arguments is None else arguments
    if arguments is None:
        _end_in_order()
    _make_streams_safe()
    parser = parser_for(words)
    try:
        args = parser.parse_args(words, argparse.Namespace(**GIVEN_NOTHING))
        _check_format(parser, args.format)
        if args.threads is not None:
            allow(args.threads)
        return _guarded(args)
    except BrokenPipeError:
        # The reader has closed the pipe, as `head` does; what Python still flushes is dropped.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        # Commands handle errors of their own files, so this one is about standard output.
        say(f"error: standard output cannot be written: {(error.strerror or 'it is closed').lower()}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED


def command() -> int:
    """The installed command: `main`, then an immediate exit. Freeing all objects one by one would take a seventh of the
    time of a short query. If another thread is still running, Python exits in the usual way.
    """
    status = main()
    threading = sys.modules.get("threading")
    if threading and any(
        not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()
    ):
        return status
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(status)


_SIGNALLED: list[int] = []
"""The exit status for each signal received that ends the program."""


def _end_in_order() -> None:
    """Turns SIGTERM and SIGHUP into SystemExit, so that unfinished files are removed before the program ends."""
    import signal

    def end(number: int, frame: object) -> NoReturn:
        _SIGNALLED.append(128 + number)
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end)


def _make_streams_safe() -> None:
    """Replaces closed streams by the null device, and shows characters that a stream cannot encode by their codes."""
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
        status = run(args)
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
            # DuckDB says this whatever exception interrupted it.
            return _SIGNALLED[-1] if _SIGNALLED else INTERRUPTED
        if os.environ.get("EVALHOUSE_TRACEBACK"):
            raise
        from warehouse.render.diagnostics import unforeseen

        say(unforeseen(error))
        return WRONG


def _check_format(parser: argparse.ArgumentParser, named: str | None) -> None:
    """Ends with an error on the command line where no format has this name."""
    if named is None:
        return
    from warehouse.render import FORMATS

    known = [format.name for format in FORMATS]
    if named not in known:
        parser.error(f"there is no format {named!r}; there are {', '.join(known)}")


if __name__ == "__main__":
    raise SystemExit(main())

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
from warehouse.commands.talk import say
from warehouse.threads import allow

if TYPE_CHECKING:
    from typing import NoReturn


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
    parser = parser_for(words)
    try:
        args = parser.parse_args(words, argparse.Namespace(**GIVEN_NOTHING))
        _check_format(parser, args.format)
        if args.threads is not None:
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
"""The exit status for each signal to end that came."""


def _end_in_order() -> None:
    """Has a program that is told to end, or whose terminal is closed, remove what it was about to make."""
    import signal

    def end(number: int, frame: object) -> NoReturn:
        _SIGNALLED.append(128 + number)
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
            return _SIGNALLED[-1] if _SIGNALLED else INTERRUPTED
        if os.environ.get("EVALHOUSE_TRACEBACK"):
            raise
        from warehouse.render.diagnostics import unforeseen

        say(unforeseen(error))
        return WRONG


def _check_format(parser: argparse.ArgumentParser, named: str | None) -> None:
    """Says so and ends where no format has this name."""
    if named is None:
        return
    from warehouse.render import FORMATS

    known = [format.name for format in FORMATS]
    if named not in known:
        parser.error(f"there is no format {named!r}; there are {', '.join(known)}")


if __name__ == "__main__":
    raise SystemExit(main())

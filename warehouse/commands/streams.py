"""The standard streams of a command: reads its input, marks errors of output, and prints notes and progress.

Data go to standard output; notes, progress and errors go to standard error.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalhouse.warehouse.render.progress import Waiting


# === input and output =================================================================================================
# Text from standard input, errors of standard output, and the width of the terminal.

LARGEST_TEXT = 16 * 1024 * 1024
"""The longest script and the longest file of results that are read, in bytes."""


class OutputError(OSError):
    """Standard output cannot be written. Other files raise other errors."""


class _Output(io.FileIO):
    """Standard output, which raises its own kind of error."""

    def write(self, data: object, /) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(error.errno, error.strerror) from None


def make_safe(*, own: bool) -> None:
    """Replaces closed streams by the null device, and escapes characters that a stream cannot encode. If the process is
    the command's `own`, write errors of standard output become OutputError, and an invalid COLUMNS is removed.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if own and columns_variable() is None:
        # The code that draws tables would read COLUMNS too.
        os.environ.pop("COLUMNS", None)
    if own and isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout is sys.__stdout__:
        plain = sys.stdout
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Output(plain.fileno(), "w", closefd=False)),
            encoding=plain.encoding,
            errors="backslashreplace",
            line_buffering=plain.line_buffering,
        )


def read_input() -> str:
    """Reads all of standard input. Raises DataError if it is not UTF-8, or longer than a script may be."""
    source = getattr(sys.stdin, "buffer", None)
    if source is None:
        return sys.stdin.read()
    return text_of(source.read(LARGEST_TEXT + 1), "standard input")


def text_of(raw: bytes, called: str) -> str:
    """Decodes bytes to text. Raises DataError if they are not UTF-8, or more than a script may have."""
    from evalhouse.warehouse.faults import DataError, Fault

    if len(raw) > LARGEST_TEXT:
        raise DataError((Fault(called, None, f"is longer than {LARGEST_TEXT // 2**20} MiB"),))
    try:
        # Line ends are normalized as Python does for text files.
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise DataError((Fault(called, None, "is not UTF-8"),)) from None


def columns_variable() -> int | None:
    """The width that COLUMNS gives for the terminal; None if COLUMNS is not a valid width."""
    said = os.environ.get("COLUMNS", "")
    return int(said) if re.fullmatch("[1-9][0-9]{0,3}", said) else None


# === notes, progress and errors =======================================================================================


def note(args: argparse.Namespace, text: str) -> None:
    """Prints a note, unless --quiet."""
    from evalhouse.warehouse.render.style import clean

    if not args.quiet:
        say(f"note: {clean(text)}")


def say(text: str) -> None:
    """Prints to standard error, after everything printed before. Control characters in the text are escaped."""
    if not text.replace("\n", "").isascii() or not text.replace("\n", "").isprintable():
        from evalhouse.warehouse.render.style import clean

        text = "\n".join(map(clean, text.split("\n")))
    if sys.stderr is not None and sys.stderr.isatty():
        from evalhouse.warehouse.render.style import folded

        text = folded(text, os.get_terminal_size(sys.stderr.fileno()).columns or 80)
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)


def progress(args: argparse.Namespace, what: str) -> AbstractContextManager[Callable[[float, str], None] | None]:
    """Shows a progress bar on standard error for work that takes longer than a second, on a terminal only."""
    from evalhouse.warehouse.render.progress import bar

    return bar(what) if _is_watched(args) else nullcontext()


def patience(args: argparse.Namespace) -> AbstractContextManager[Waiting]:
    """After a second, and on a terminal only, shows that work is still running and how far it is. The line is erased at
    the end.
    """
    from evalhouse.warehouse.render.progress import clock

    return clock(_is_watched(args))


def _is_watched(args: argparse.Namespace) -> bool:
    return not args.quiet and sys.stderr.isatty()


def shows_colours(args: argparse.Namespace) -> bool:
    """Whether standard output shows colours."""
    wanted = not args.no_color and not os.environ.get("NO_COLOR")
    return wanted and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

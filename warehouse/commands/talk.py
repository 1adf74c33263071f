"""What a command prints on standard error: notes, progress and errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from warehouse import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from warehouse.render.progress import Waiting


def note(args: argparse.Namespace, text: str) -> None:
    """Prints a note, unless --quiet."""
    from warehouse.render.style import clean

    if not args.quiet:
        say(f"note: {clean(text)}")


def say(text: str) -> None:
    """Prints on standard error, after what was printed before."""
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)


@contextmanager
def progress(args: argparse.Namespace, what: str) -> Iterator[Callable[[float], None] | None]:
    """A bar on standard error for what takes longer than a second, on a terminal only."""
    if args.quiet or not sys.stderr.isatty():
        yield None
        return
    from warehouse.render.progress import bar

    with bar(what) as draw:
        yield draw


@contextmanager
def patience(args: argparse.Namespace) -> Iterator[Waiting | None]:
    """Shows after a second, on a terminal only, that something still runs and how far it is; wiped away at the end."""
    if args.quiet or not sys.stderr.isatty():
        yield None
        return
    from warehouse.render.progress import clock

    with clock() as waiting:
        yield waiting


def coloured(args: argparse.Namespace) -> bool:
    """Whether standard output takes colours."""
    wanted = not args.no_color and not os.environ.get("NO_COLOR")
    return wanted and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

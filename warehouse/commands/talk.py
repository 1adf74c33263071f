"""What a command prints on standard error: notes, progress and errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from warehouse.render.progress import Waiting


def note(args: argparse.Namespace, text: str) -> None:
    """Prints a note, unless --quiet."""
    from warehouse.render.style import clean

    if not args.quiet:
        say(f"note: {clean(text)}")


def say(text: str) -> None:
    """Prints to standard error, after everything printed before. Control characters in the text are escaped."""
    if not text.replace("\n", "").isascii() or not text.replace("\n", "").isprintable():
        from warehouse.render.style import clean

        text = "\n".join(map(clean, text.split("\n")))
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)


def progress(args: argparse.Namespace, what: str) -> AbstractContextManager[Callable[[float, str], None] | None]:
    """Shows a progress bar on standard error for work that takes longer than a second, on a terminal only."""
    from warehouse.render.progress import bar

    return bar(what) if _is_watched(args) else nullcontext()


def patience(args: argparse.Namespace) -> AbstractContextManager[Waiting]:
    """After a second, and on a terminal only, shows that work is still running and how far it is. The line is erased at
    the end.
    """
    from warehouse.render.progress import clock

    return clock(_is_watched(args))


def _is_watched(args: argparse.Namespace) -> bool:
    return not args.quiet and sys.stderr.isatty()


def coloured(args: argparse.Namespace) -> bool:
    """Whether standard output shows colours."""
    wanted = not args.no_color and not os.environ.get("NO_COLOR")
    return wanted and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

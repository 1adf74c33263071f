"""Reads scripts, and the command `fmt`, which formats them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.commands import DONE, WRONG
from warehouse.commands.streams import LARGEST_TEXT, text_of
from warehouse.commands.talk import note, say
from warehouse.publishing import files_in
from warehouse.render.files import fault

if TYPE_CHECKING:
    import argparse


def script(file: Path) -> str:
    """The text of a script. Raises DataError if it cannot be read."""
    try:
        with file.open("rb") as opened:
            return text_of(opened.read(LARGEST_TEXT + 1), str(file))
    except OSError as error:
        raise fault(file, (error.strerror or "cannot be read").lower()) from None


def lay_out(args: argparse.Namespace) -> int:
    """Formats scripts. A script that cannot be parsed is left unchanged."""
    from grammar.editing.layout import layout
    from grammar.errors import QueryError
    from warehouse.render.style import clean

    status = DONE
    for file in map(Path, args.files):
        text = script(file)
        try:
            laid_out = layout(text)
        except QueryError as error:
            from warehouse.render.diagnostics import query_error

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
        raise fault(file, f"cannot be written: {(error.strerror or 'why is not known').lower()}") from None

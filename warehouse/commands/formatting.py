"""Reading a script, and the command `fmt`, which lays scripts out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.commands import DONE, WRONG
from warehouse.commands.talk import note, say
from warehouse.render.files import fault

if TYPE_CHECKING:
    import argparse


def script(file: Path) -> str:
    """The text of a script. Raises DataError if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise fault(file, (error.strerror or "cannot be read").lower()) from None
    except UnicodeDecodeError:
        raise fault(file, "is not UTF-8") from None


def lay_out(args: argparse.Namespace) -> int:
    """Lays scripts out; a script that cannot be parsed is left as it is."""
    from grammar.editing.layout import layout
    from grammar.errors import QueryError

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
            say(f"{file} would change")
            status = WRONG
        else:
            _rewrite(file, laid_out)
            note(args, f"{file} is laid out anew")
    return status


def _rewrite(file: Path, text: str) -> None:
    """Replaces the text of a file, whole or not at all, and keeps its permissions. Raises DataError."""
    import shutil
    import tempfile

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
        raise fault(file, f"cannot be written: {(error.strerror or 'why is not known').lower()}") from None

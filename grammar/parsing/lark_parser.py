"""Lark's parser of language.lark. It is worked out once, and loaded from the user's cache folder from then on.

Loading a saved parser is a matter of milliseconds; working it out from the grammar takes several times as long. A saved
parser is a pickle, and whoever can write a pickle can make its reader do anything. So it is read only where nobody but
this user can have written it, and never from the folder of temporary files. Where there is no such place, each process
works the parser out again.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import lark
import platformdirs
from lark import Lark

from evalhouse.grammar.lexicon import LANGUAGE
from evalhouse.grammar.parsing.building import BUILDER

_OPTIONS = {
    "parser": "lalr",
    # Most keywords are names where the grammar does not allow the keyword.
    "lexer": "contextual",
    "keep_all_tokens": True,
    "maybe_placeholders": False,
}

_WRITABLE_BY_OTHERS = 0o022

_DIGEST_SIZE = sha256().digest_size


@cache
def parser() -> Lark:
    """The parser of this process. What it returns was built by the builder."""
    return parser_kept_in(platformdirs.user_cache_path("evalhouse") / "grammar")


def parser_kept_in(folder: Path) -> Lark:
    """The parser that is saved in a folder. If it is not, or cannot be trusted, it is worked out, and saved if
    possible.
    """
    file = folder / f"{_key()}.pickle"
    if saved := _read_pickle(file):
        # A digest proves that the file is whole, not that this lark can still read it. Unpickling may raise anything.
        with suppress(Exception):
            return _load_pickle(saved)
    made = Lark(LANGUAGE, **_OPTIONS, transformer=BUILDER)
    _save(made, file)
    return made


def _load_pickle(saved: bytes) -> Lark:
    """The parser in a pickle. All that is loaded stays, so looking for garbage meanwhile would take a third of the time
    and find nothing.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return Lark.load(io.BytesIO(saved))
    finally:
        if collecting:
            gc.enable()


def _key() -> str:
    """A digest of all that decides what is saved."""
    parts = (lark.__version__, sys.version, type(BUILDER).__module__, repr(_OPTIONS), LANGUAGE)
    return sha256("\0".join(parts).encode()).hexdigest()[:32]


def _read_pickle(file: Path) -> bytes:
    """The pickle in a file. Empty if there is none, if it is damaged, or if anyone else could have written it."""
    try:
        if not _is_private(file.parent):
            return b""
        with file.open("rb") as opened:
            if not _is_own(os.fstat(opened.fileno())):
                return b""
            content = opened.read()
    except OSError:
        return b""
    digest, saved = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
    return saved if sha256(saved).digest() == digest else b""


def _save(made: Lark, file: Path) -> None:
    """Saves a parser. The file appears whole or not at all; nothing happens if it cannot be written."""
    pickled = io.BytesIO()
    made.save(pickled)
    saved = pickled.getvalue()
    with suppress(OSError):
        if file.is_absolute():
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(file.parent):
            return
        handle, draft = tempfile.mkstemp(prefix="draft-", dir=file.parent)  # only the user can read or write it
        try:
            with open(handle, "wb") as opened:
                opened.write(sha256(saved).digest() + saved)
            os.replace(draft, file)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(draft)


def _is_private(folder: Path) -> bool:
    """Whether only this user can put files into a folder. A relative one is elsewhere for each process."""
    return folder.is_absolute() and _is_own(folder.stat())


def _is_own(status: os.stat_result) -> bool:
    """Whether a file or folder is this user's, and nobody else can write it. On Windows, where modes say nothing about
    others, the folder of a user's cache is that user's alone.
    """
    if sys.platform == "win32":
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & _WRITABLE_BY_OTHERS

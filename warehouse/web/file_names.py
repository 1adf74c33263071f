"""Turns names into file names that every file system and web server accepts. No two are equal, even if case is ignored.
This module does not know what the files contain.
"""

from __future__ import annotations

import hashlib
import re

LONGEST = 60
"""A longer name is shortened and made unique with digits."""

_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
"""Names that Windows reserves for devices, whatever their extension."""


class FileNames:
    """The file names that were assigned so far. The same names requested in the same order get the same file names."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], str] = {}
        self._taken: set[tuple[str, str]] = set()

    def of(self, folder: str, name: str) -> str:
        """The file name for a name in a folder, without an extension: the name itself if possible, otherwise with
        digits that make it unique.
        """
        known = self._given.get((folder, name))
        if known is not None:
            return known
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")
        written, shortened = plain, plain.replace(".", "-")[:40]
        if plain != name or not plain or len(plain) > LONGEST or _RESERVED.fullmatch(plain):
            written = f"{shortened}-{digest[:8]}".strip("-")
        digits = 4
        while (folder, written.casefold()) in self._taken:
            digits += 4
            written = f"{shortened}-{digest[:digits]}".strip("-")
        self._taken.add((folder, written.casefold()))
        self._given[folder, name] = written
        return written

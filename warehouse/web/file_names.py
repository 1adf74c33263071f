"""Names as names of files: of letters that every file system and web server takes, and no two alike, also where
capitals make no difference. What is written does not matter here.
"""

from __future__ import annotations

import hashlib
import re

LONGEST = 60
"""A longer name is shortened, and told from others by digits."""

_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
"""What Windows takes for a device, whatever its ending."""


class FileNames:
    """The names of files that were given to names so far. The same names asked for in the same order get the same."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], str] = {}
        self._taken: set[tuple[str, str]] = set()

    def of(self, folder: str, name: str) -> str:
        """What a name is called in a folder, without an ending: as it is where it can be, else with digits that no
        other name has.
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

"""Decides about files that no reader recognizes: a file that looks like the files beside it is read as they are.

In a folder of submissions an empty run, answers without any entity, or a table with a misspelt column look like their
neighbours to everybody but a reader. Such a file is read by the reader of its neighbours, which loads it or says what
is wrong with it. A file looks like its neighbours if it has their ending, or what their lines begin with, or their
columns or keys. Nothing is loaded here, and only the starts of files are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from evalhouse.warehouse.loading.readers import Evidence, Reader, Role, Start
from evalhouse.warehouse.loading.staging.json_values import parse_json
from evalhouse.warehouse.loading.staging.lines import COMPRESSIONS

Look = Callable[[Path], Start | None]
"""Returns the start of a neighbour; None if it cannot be seen."""

_LOOKED_AT = 20
"""The starts of up to this many neighbours of a reader are read."""

_FEWEST = 2
"""So many beginnings of lines, columns or keys are too few to be compared."""

_BEGINNING = re.compile(r"[^\s,;|\"]+")
_KEY = re.compile(r'"([^"\\]+)"\s*:')


class Neighbour(Struct, frozen=True):
    """A file of the load that a reader recognizes."""

    path: Path
    called: str
    reader: Reader
    role: Role


class Likeness(Struct, frozen=True):
    """The neighbour that a file looks like, in what, and all the readers of such neighbours."""

    neighbour: Neighbour
    what: str
    readers: tuple[str, ...]


def likeness(start: Start, name: str, neighbours: Sequence[Neighbour], look: Look) -> Likeness | None:
    """The neighbours that a file looks like; None if it looks like none of them.

    A file may have the ending of a harness's logs and be something else that the harness wrote. So a JSON file is like
    logs only if its keys are, or if it is empty or cut off.
    """
    alike = [one for one in neighbours if one.role in _WITH_ANSWERS and _ending(one.path.name) == _ending(name) != ""]
    if alike and not (_is_json(start) and all(one.reader.evidence <= Evidence.NAMES for one in alike)):
        return _likeness(alike, f"it ends in {_ending(name)}, as {alike[0].called} does")
    beginnings = _beginnings(start)
    if len(beginnings) < _FEWEST:
        return None
    for reader in dict.fromkeys(one.reader.name for one in neighbours):
        of_reader = [one for one in neighbours if one.reader.name == reader and one.role in _WITH_LINES]
        for one in of_reader[:_LOOKED_AT]:
            theirs = look(one.path)
            if theirs and 2 * len(beginnings & _beginnings(theirs)) >= len(beginnings):
                return _likeness([one], f"it has the {_noun(start)} of {one.called}")
    return None


def ending_likeness(name: str, neighbours: Sequence[Neighbour]) -> Likeness | None:
    """The neighbours with answers that have the ending of a file which cannot be looked at."""
    alike = [one for one in neighbours if one.role in _WITH_ANSWERS and _ending(one.path.name) == _ending(name) != ""]
    return _likeness(alike, f"it ends in {_ending(name)}, as {alike[0].called} does") if alike else None


_WITH_ANSWERS = (Role.FACTS, Role.FIGURES)
_WITH_LINES = (Role.KEY, *_WITH_ANSWERS)


def _likeness(alike: Sequence[Neighbour], what: str) -> Likeness:
    return Likeness(alike[0], what, tuple(dict.fromkeys(one.reader.name for one in alike)))


def _ending(name: str) -> str:
    """The ending of the name of a file, without that of its compression."""
    path = Path(name.casefold())
    while path.suffix in COMPRESSIONS or path.suffix == ".tar":
        path = path.with_suffix("")
    return path.suffix


def _is_json(start: Start) -> bool:
    """Whether a file is JSON, one text or lines of it, as far as it is known."""
    text = start.text.strip()
    if not text.startswith(("{", "[")):
        return False
    if not start.whole:
        return True
    return _parses(text) or (len(start.lines) > 1 and all(map(_parses, start.lines)))


def _parses(text: str) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def _beginnings(start: Start) -> frozenset[str]:
    """What tells the content of a file: the keys of JSON, or else the first cell of each line, or all of the first
    line if it is the heading of a table.
    """
    if start.text.lstrip().startswith(("{", "[")):
        return frozenset(_KEY.findall(start.text))
    if len(start.header) > 1:
        return frozenset(cell for cell in start.header if cell)
    cells = (_BEGINNING.search(line) for line in start.lines if not line.startswith("#"))
    return frozenset(cell[0] for cell in cells if cell)


def _noun(start: Start) -> str:
    if start.text.lstrip().startswith(("{", "[")):
        return "keys"
    return "columns" if len(start.header) > 1 else "beginnings of lines"

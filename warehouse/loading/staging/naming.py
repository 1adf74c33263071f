"""Names for what a file does not name: documents that are only texts, and runs that are only counted.

Which parts of a file these are is known to its reader.
"""

from __future__ import annotations

import hashlib

_LONGEST = 60
"""How many characters of a text go into the name of its document."""


def name_of_text(text: str) -> str:
    """The name of a document that is known by its text: the text on one line; if it is cut, part of its digest is
    added.
    """
    line = " ".join(text.split())
    plain = "".join(character if character.isprintable() else " " for character in line)
    if len(plain) <= _LONGEST:
        return plain or "(empty)"
    return f"{plain[:_LONGEST].rstrip()}… {hashlib.sha256(line.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def name_of_run(log: str | None, number: int, several: bool) -> str | None:
    """What identifies a run that a log holds as one of several, by the id of the log and its number in it. A log that
    has no id and holds one run leaves the run without a name.
    """
    if log is None:
        return str(number) if several else None
    return log if number == 1 else f"{log}/{number}"

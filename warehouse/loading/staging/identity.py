"""What a file says that a document is, as it is stored and compared: the beginning of a text, to show it, and a digest,
to tell it from others. Case and blanks make no other text.

Texts of readers are Python's, and those of tables are in the database: both ways of writing them must agree. Nothing is
compared here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from hashlib import md5
from unicodedata import normalize

from evalhouse.warehouse.loading.staging.columns import NOTHING
from evalhouse.warehouse.store.sql import Sql, values

QUESTION, ANSWER = "question", "right answer"
"""What readers call the text that a system was asked, and the answer that it is judged by."""

SHOWN = 80
"""How many characters of a text are kept to show it."""

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_BLANKS_IN_SQL = r"[\s\p{Z}\p{Cc}]+"


def beginning(text: str) -> str:
    """The first characters of a text, on one line."""
    return _BLANKS.sub(" ", _storable(text)).strip()[:SHOWN].strip()


def digest(text: str) -> str:
    """What a text has in common with those that differ from it in case and blanks only."""
    return md5(_BLANKS.sub("", _storable(text)).lower().encode(), usedforsecurity=False).hexdigest()


def identities_in(rows: Sql, key: Sequence[str], parts: Collection[str]) -> Sql:
    """The SQL for what rows say of documents: each different thing once, with the place of the first row that says it.
    The rows have the columns `name`, `text` and `place`, and those of a key. Where the name is one of `parts`, a text
    such as none is that of a part like others, and not a missing one.
    """
    of = ", ".join(key)
    nothing = ", ".join(f"'{word}'" for word in NOTHING)
    # Most rows only repeat a text, and to write a digest takes longer than to see that.
    once = f"select {of}, name, text, min(place) as place from (" + rows + ") "
    of_part = "name in " + values(parts) if parts else Sql("false")
    once += "where text is not null and (" + of_part + f" or lower(text) not in ({nothing})) group by {of}, name, text"
    lines = f"select {of}, name, " + line_of(Sql("text")) + " as line, place from (" + once + ")"
    columns = beginning_of(Sql("line")) + " as begins, " + digest_of(Sql("line")) + " as digest"
    return f"select {of}, name, " + columns + ", place from (" + lines + ") where begins <> ''"


def line_of(cell: Sql) -> Sql:
    """The SQL for a cell on one line, with one blank for each run of blanks."""
    return "regexp_replace(nfc_normalize(" + cell + f"), '{_BLANKS_IN_SQL}', ' ', 'g')"


def beginning_of(line: Sql) -> Sql:
    """The SQL for `beginning` of a cell on one line."""
    return "trim(left(trim(" + line + f"), {SHOWN}))"


def digest_of(line: Sql) -> Sql:
    """The SQL for `digest` of a cell on one line."""
    return "md5(lower(replace(" + line + ", ' ', '')))"


def _storable(text: str) -> str:
    return normalize("NFC", text.encode(errors="backslashreplace").decode())

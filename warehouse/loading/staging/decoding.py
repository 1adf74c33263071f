"""Takes JSON as typed records, of which a reader names only the keys that it needs, and says where a file has something
else.

What the records mean is not known here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from evalhouse.warehouse.loading.staging.lines import Document, filled_lines
from evalhouse.warehouse.loading.staging.staged import Staging

Record = TypeVar("Record")

LARGEST = 256 * 1024 * 1024
"""The largest text that is read whole, in bytes."""


def decode_whole(document: Document, kind: type[Record], called: str) -> Record:
    """A whole text as a record of a kind, which messages call `called` ("an output of promptfoo"). Raises DataError."""
    return convert(document, document.json(LARGEST), kind, called)


def decode_lines(staging: Staging, kind: type[Record], called: str) -> Iterator[tuple[Document, int, Record]]:
    """Each line that is not blank as a record, with its number. Raises DataError."""
    for document, number, line in filled_lines(staging):
        yield document, number, convert(document, document.json_line(number, line), kind, called, number)


def convert(document: Document, said: Any, kind: type[Record], called: str, line: int | None = None) -> Record:
    """A JSON value as a record. Raises DataError with the path to what is something else."""
    try:
        return msgspec.convert(said, kind)
    except msgspec.ValidationError as error:
        why = str(error).replace("`", "'")
        raise document.refusal(f"this is not {called}: {why[:1].lower()}{why[1:]}", line) from None


def text_of(said: Any) -> str | None:
    """A JSON value as a text: a string as it is, and anything else as JSON; None for null."""
    return said if said is None or isinstance(said, str) else json.dumps(said, ensure_ascii=False)

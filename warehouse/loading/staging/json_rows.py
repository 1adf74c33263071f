"""Reads JSON as rows of texts: an object on each line, the objects of an array, or a list of records inside an object.

msgspec splits an object into keys and the bytes of their values, which stay as they are written. What it refuses, or
what may have a key twice, is read again by `parse_json`, which says what is wrong. Nothing is staged here, and what the
columns mean is not known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.columns import SYNONYMS, plain
from evalhouse.warehouse.loading.staging.json_values import JSONError, NotReadError, parse_json, values
from evalhouse.warehouse.loading.staging.lines import CHUNK, COMPRESSIONS, Document
from evalhouse.warehouse.loading.staging.staged import MOST_FAULTS, Staging

Row = dict[str, str | None]

AT_ONCE = 4 * CHUNK
"""About how many bytes of rows are in memory at a time."""

MOST_WHOLE = 512 * CHUNK
"""A text that is not one object per line is read whole up to this size; a larger one value by value, which is slower.
"""

LONGEST_LINE = 256 * CHUNK
"""The longest line that is read."""

RECORDS = "records"
"""The option that says where in an object the records are: results.results."""

DEEPEST = 3
"""So deep in an object a list of records is looked for."""

SHARED = frozenset(name for field in ("evaluation", "test_set", "system") for name in SYNONYMS[field])
"""What an object says of all its records."""

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)


BY_LINE = {".jsonl": True, ".ndjson": True, ".json": False}
"""The file name endings of JSON, and whether each line is an object."""


def is_by_line(source: Path) -> bool | None:
    """Whether each line of a file is an object, by its ending; None if it is no JSON."""
    endings = [ending.lower() for ending in source.suffixes if ending.lower() not in COMPRESSIONS]
    return BY_LINE.get(endings[-1]) if endings else None


def rows_of(staging: Staging, document: Document, *, by_line: bool) -> Iterator[list[Row]]:
    """The rows of a JSON text, some megabytes at a time. Raises DataError as the two ways of reading it do."""
    return rows_of_lines(staging, document) if by_line else rows_of_text(staging, document)


def rows_of_lines(staging: Staging, document: Document) -> Iterator[list[Row]]:
    """The rows of JSON lines, some megabytes at a time. Raises DataError with the lines that are no objects."""
    dotted, rest, number = _dotted(staging), b"", 0
    with document.unbroken():
        while True:
            chunk = document.binary.read(AT_ONCE)
            whole, _, rest = (rest + chunk).rpartition(b"\n") if chunk else (rest, b"", b"")
            if len(rest) > LONGEST_LINE:
                longest = f"this line is longer than {LONGEST_LINE:,} bytes"
                raise staging.refusal(longest, number + whole.count(b"\n") + bool(whole) + 1)
            lines = whole.split(b"\n") if whole else []
            if number == 0 and lines:
                lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
            yield _rows(staging, lines, dotted, number)
            number += len(lines) if whole or chunk.startswith(b"\n") else 0
            if not chunk:
                return


def rows_of_text(staging: Staging, document: Document) -> Iterator[list[Row]]:
    """The rows of any other JSON text: the objects of arrays, one object after another, or the records inside a single
    object. Raises DataError if the text is not JSON, or if it is not clear which records are meant.
    """
    dotted = _dotted(staging)
    with document.unbroken():
        whole = document.binary.read(MOST_WHOLE + 1).removeprefix(b"\xef\xbb\xbf")
        if len(whole) <= MOST_WHOLE and (found := _objects_in(staging, whole)) is not None:
            objects, shared = found
            for some in _batches(objects):
                rows = _rows(staging, some, dotted, None)
                yield [{**shared, **row} for row in rows] if shared else rows
            return
        yield from _value_by_value(staging, document, whole, dotted)


def _value_by_value(staging: Staging, document: Document, begun: bytes, dotted: Sequence[str]) -> Iterator[list[Row]]:
    """The rows of a text of several values, or of one that is too large to be read whole."""

    def texts() -> Iterator[str]:
        import codecs

        decoder = codecs.getincrementaldecoder("utf-8")()
        yield decoder.decode(begun)
        while chunk := document.binary.read(CHUNK):
            yield decoder.decode(chunk)

    try:
        for some in _batches(value.encode() for value in values(texts())):
            yield _rows(staging, some, dotted, None)
    except JSONError as error:
        raise staging.refusal(f"this is not JSON: {error.message}", error.line) from None
    except UnicodeDecodeError:
        raise staging.refusal("this is not UTF-8") from None


def _batches(objects: Iterable[bytes | msgspec.Raw]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for one in map(bytes, objects):
        batch.append(one)
        size += len(one)
        if size >= AT_ONCE:
            yield batch
            batch, size = [], 0
    yield batch


# === objects as rows ==================================================================================================


def _dotted(staging: Staging) -> tuple[str, ...]:
    """The columns that are asked for by their path: provider.id."""
    said = (*staging.columns.values(), *(staging.options.get("measures") or "").split(","))
    return tuple(dict.fromkeys(heading.strip() for heading in said if "." in heading))


def _rows(staging: Staging, texts: Sequence[bytes], dotted: Sequence[str], before: int | None) -> list[Row]:
    """Objects as rows; blank texts are skipped. `before` is the number of lines before the texts, if these are lines.
    Raises DataError with the texts that are no objects.
    """
    rows: list[Row] = []
    faults: list[Fault] = []
    for place, text in enumerate(texts):
        try:
            row = _row(text, dotted)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            row = None
        if row is None:
            if not text.strip():
                continue
            try:
                row = _row_by_python(text, dotted)
            except NotReadError as error:
                what = "this" if before is None else "this line"
                faults.append(staging.fault(f"{what} {error.why}", None if before is None else before + place + 1))
                continue
        rows.append(row)
    if faults:
        raise DataError(tuple(faults[:MOST_FAULTS]), len(faults))
    return rows


def _row(text: bytes, dotted: Sequence[str]) -> Row | None:
    """An object as a row; None if it is not certain that no key is there twice. This shows in the length of an object
    that is written as `json.dumps` writes it. Raises what msgspec raises if it is no object.
    """
    raws = {key: bytes(raw) for key, raw in _OBJECT.decode(text).items()}
    between = len(text) - sum(map(len, raws.values())) - len("".join(raws).encode())
    if between not in (6 * len(raws), 4 * len(raws) + 1):
        return None
    row = {key: _cell(raw) for key, raw in raws.items()}
    for path in dotted:
        if path not in row and (raw := _inside(raws, path.split("."))) is not None:
            row[path] = _cell(raw)
    return row


def _cell(raw: bytes) -> str | None:
    if raw.startswith(b'"'):
        return _TEXT.decode(raw) if b"\\" in raw else raw[1:-1].decode()
    if raw.startswith((b"{", b"[")):
        if b"\\" in raw:
            return _written(parse_json(raw))  # one spelling, whichever escapes the file has
        raw = msgspec.json.format(raw, indent=-1)
    return None if raw == b"null" else raw.decode()


def _inside(raws: Mapping[str, bytes], path: Sequence[str]) -> bytes | None:
    for key in path[:-1]:
        if not raws.get(key, b"").startswith(b"{"):
            return None
        raws = {inner: bytes(raw) for inner, raw in _OBJECT.decode(raws[key]).items()}
    return raws.get(path[-1])


def _row_by_python(text: bytes, dotted: Sequence[str]) -> Row:
    """An object as a row, read as all other JSON is. Raises NotReadError."""
    item = parse_json(text)
    if not isinstance(item, dict):
        raise NotReadError("is not an object")
    row = {key: _written(value) for key, value in item.items()}
    for path in dotted:
        value: object = item
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if path not in row and value is not None:
            row[path] = _written(value)
    return row


def _written(item: object) -> str | None:
    """A value as the text of a cell. Half of a surrogate pair, which no database takes, is written as its escape."""
    text = (
        item
        if isinstance(item, str)
        else None
        if item is None
        else json.dumps(item, ensure_ascii=False, separators=(",", ":"))
    )
    return None if text is None else text.encode(errors="backslashreplace").decode()


# === records inside an object =========================================================================================


def _objects_in(staging: Staging, whole: bytes) -> tuple[list[msgspec.Raw], Row] | None:
    """The objects of a text that is one value, and what this says of all of them; None if it is not one value, or is
    not read by msgspec. Raises DataError if it is not clear which objects are meant.
    """
    try:
        if whole.lstrip()[:1] == b"[":
            return _ARRAY.decode(whole), {}
        raws = {key: bytes(raw) for key, raw in _OBJECT.decode(whole).items()}
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    shared = {key: _cell(raw) for key, raw in raws.items() if plain(key) in SHARED and raw.startswith(b'"')}
    if said := staging.options.get(RECORDS):
        return _at(staging, whole, raws, said), shared
    lists = list(_lists(raws, ()))
    if len(lists) == 1:
        return lists[0][1], shared
    if lists:
        raise staging.refusal(several_lists([path for path, _ in lists]))
    return [msgspec.Raw(whole.strip())], {}


def several_lists(paths: Sequence[str]) -> str:
    """The error for an object with several lists of records."""
    return f"there are several lists of records in it: {' or '.join(f'--records {path}' for path in paths)} says which"


def _lists(raws: Mapping[str, bytes], path: tuple[str, ...]) -> Iterator[tuple[str, list[msgspec.Raw]]]:
    """The lists of objects in an object, and in those within it, with their paths."""
    for key, raw in raws.items():
        within = (*path, key)
        if raw.startswith(b"["):
            items = _ARRAY.decode(raw)
            if items and all(bytes(item).startswith(b"{") for item in items):
                yield ".".join(within), items
        elif raw.startswith(b"{") and len(within) < DEEPEST:
            yield from _lists({inner: bytes(value) for inner, value in _OBJECT.decode(raw).items()}, within)


def _at(staging: Staging, whole: bytes, raws: Mapping[str, bytes], said: str) -> list[msgspec.Raw]:
    """The records at a path. Raises DataError."""
    raw = whole
    for key in said.split("."):
        if key not in raws:
            there_are = ", ".join(quote_cell(there)[1:-1] for there in list(raws)[:20])
            raise staging.refusal(f"--records {said}: there is no key {quote_cell(key)}; the keys are {there_are}")
        raw = raws[key]
        raws = {inner: bytes(of) for inner, of in _OBJECT.decode(raw).items()} if raw.startswith(b"{") else {}
    if not raw.startswith(b"["):
        keys = ", ".join(quote_cell(there)[1:-1] for there in list(raws)[:20])
        raise staging.refusal(f"--records {said}: this is not a list" + (f"; its keys are {keys}" if keys else ""))
    return _ARRAY.decode(raw)

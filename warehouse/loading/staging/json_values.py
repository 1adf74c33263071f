"""The one place that reads JSON: parses a text, and splits a file that is not one value per line into its values, each
unchanged.

Python finds where a value ends, so memory holds one value and not the whole file. What a value means is not known here,
and nothing here opens a file.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec import field as struct_field

from evalhouse.warehouse.loading.staging.cells import quote_cell

LARGEST_VALUE = 16 * 1024 * 1024
"""The longest value that is read, in bytes. DuckDB does not read longer ones."""

_BLANKS = re.compile(r"[ \t\r\n]*")
_LONGEST_WORD = 16
"""This close to the end of a piece of text, the next piece may change what was read: 12 or 123, 1.e or 1.e7, tru,
\\u00e.
"""

# Numbers stay texts, because only their ends are needed here, not their values.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


MOST_DIGITS = 4_000
"""The most digits of a whole number. Python does not read longer ones, and they exceed every value that is stored."""


MOST_VALUES = 12_000_000
"""How many values a text may contain. Each takes some hundred bytes of memory."""


class NotReadError(ValueError):
    """Why a JSON text cannot be read (such as "is not JSON", which follows the name of the text), and on which of its
    lines.
    """

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.why, self.line = why, line


def parse_json(text: str | bytes) -> Any:
    """Parses a JSON text. Whole numbers that are too long become infinite. Raises NotReadError."""
    signs: tuple[Any, ...] = ("[", "{", ",", ":") if isinstance(text, str) else (b"[", b"{", b",", b":")
    if len(text) > MOST_VALUES and sum(map(text.count, signs)) > MOST_VALUES:
        raise NotReadError(f"has more than {MOST_VALUES:,} values in it")
    if isinstance(text, str):
        try:
            value, end = _SCAN(text, 0)
        except (ValueError, StopIteration, RecursionError):
            end = -1  # the error is reported below
        if end == len(text):
            return value
    try:
        return json.loads(text, parse_int=_whole, object_pairs_hook=_object)
    except NotReadError:
        raise
    except RecursionError:
        raise NotReadError("is not JSON: it is nested too deep") from None
    except UnicodeDecodeError:
        raise NotReadError("is not JSON: it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise NotReadError(f"is not JSON: {error.msg}", error.lineno) from None


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. A repeated key is an error, because its first value would be lost."""
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise NotReadError(f"has {quote_cell(next(key for key in keys if keys.count(key) > 1))} twice in one object")
    return made


_SCAN: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder(object_pairs_hook=_object))["scan_once"]
"""Parses one value, in two thirds of the time of json.loads, which makes a new decoder for every text."""


# === keys =============================================================================================================

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\]:,]', re.DOTALL)
"""What says where a key is: texts, the last of which may be cut off, and signs."""

ITEM = "[]"
"""What stands for an item of an array in the path of a key."""

DEEPEST = 3
"""The longest path of a key that is looked for."""

KeyPath = tuple[str, ...]
"""A key after the keys around it: ("eval", "task"), or ("[]", "id") for a key of the items of an array."""


@lru_cache(maxsize=8)
def key_paths(text: str) -> frozenset[KeyPath]:
    """The keys in a JSON text, or in the start of one, with the keys around them. The text may hold several values,
    such as JSON lines; what is not JSON has some keys or none.
    """
    found: set[KeyPath] = set()
    around: list[KeyPath] = [()]
    last, key = "", KeyPath()
    for token in _TOKEN.findall(text):
        if token == "{":
            around.append((around[-1] + key)[:DEEPEST])
            key = ()
        elif token == "[":
            around.append((*around[-1], *key, ITEM)[:DEEPEST])
            key = ()
        elif token in ("}", "]"):
            around = around[:-1] or [()]
            key = ()
        elif token == ":":
            key = (last,)
            if len(around[-1]) < DEEPEST:
                found.add(around[-1] + key)
        elif token == ",":
            key = ()
        else:
            last = token[1:-1]
    return frozenset(found)


class Inside(Struct):
    """What the start of an object has in it: its texts by key, and the lists of objects with their paths, as far as
    they are there.
    """

    texts: dict[str, str] = struct_field(default_factory=dict)
    lists: dict[str, list[dict[str, Any]]] = struct_field(default_factory=dict)


def inside(text: str) -> Inside:
    """What is in an object, of which only the start may be known. What is not JSON ends it."""
    found = Inside()
    with contextlib.suppress(ValueError, IndexError, RecursionError):
        place = _next_sign(text, 0)
        if text[place] == "{":
            _look_into(text, place, (), found)
    return found


def _look_into(text: str, place: int, path: KeyPath, found: Inside) -> int:
    """Looks through an object that begins at a place, and returns the place behind it."""
    place = _next_sign(text, place + 1)
    while text[place] == '"':
        key, end = _WHOLE.raw_decode(text, place)
        place, within = _next_sign(text, _next_sign(text, end) + 1), (*path, key)
        if text[place] == "{" and len(within) < DEEPEST:
            end = _look_into(text, place, within, found)
        elif text[place] == "[" and text[_next_sign(text, place + 1)] == "{":
            end = _look_through(text, place, found.lists.setdefault(".".join(within), []))
        else:
            value, end = _WHOLE.raw_decode(text, place)
            if not path and isinstance(value, str):
                found.texts[key] = value
        place = _next_sign(text, end)
        if text[place] == ",":
            place = _next_sign(text, place + 1)
    return place + 1


def _look_through(text: str, place: int, records: list[dict[str, Any]]) -> int:
    while text[place] != "]":
        item, end = _WHOLE.raw_decode(text, _next_sign(text, place + 1))
        if isinstance(item, dict):
            records.append(item)
        place = _next_sign(text, end)
    return place + 1


def _next_sign(text: str, place: int) -> int:
    found = _BLANKS.match(text, place)
    return found.end() if found else place


_WHOLE = json.JSONDecoder()


# === values of a text =================================================================================================


class JSONError(ValueError):
    """What is wrong in a JSON text, and on which line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


def values(chunks: Iterable[str]) -> Iterator[str]:
    """Yields each value of a text that comes in pieces, without line ends: the items of an array, or else the value
    itself.

    The text may contain several values one after another. Raises JSONError.
    """
    text = _Unread(iter(chunks))
    while sign := text.next_sign():
        if sign != "[":
            yield text.value()
            continue
        text.skip()
        if text.next_sign() == "]":
            text.skip()
            continue
        while True:
            yield text.value()
            sign = text.next_sign()
            if sign not in ("]", ","):
                raise text.wrong("Expecting ',' delimiter")
            text.skip()
            if sign == "]":
                break


class _Unread:
    """The part of a text that has been read in but not yet used."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._text, self._place, self._line = "", 0, 1

    def next_sign(self) -> str:
        """The next character that is not a blank; empty at the end."""
        while True:
            found = _BLANKS.match(self._text, self._place)
            self._place = found.end() if found else self._place
            if self._place < len(self._text) or not self._goes_on():
                return self._text[self._place : self._place + 1]

    def skip(self) -> None:
        """Moves past one character."""
        self._place += 1

    def value(self) -> str:
        """Reads one value and moves past it."""
        self.next_sign()
        while True:
            try:
                _, end = _DECODER.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                open_ended = error.msg.startswith("Unterminated") or self._near_the_end(error.pos)
                if not open_ended or not self._goes_on():
                    raise self.wrong(error.msg, error.pos) from None
            except RecursionError:
                raise self.wrong("it is nested too deep") from None
            else:
                if not self._near_the_end(end) or not self._goes_on():
                    return self._take(end)

    def _near_the_end(self, place: int) -> bool:
        return place > len(self._text) - _LONGEST_WORD

    def wrong(self, message: str, place: int | None = None) -> JSONError:
        """The error for a position, or for the next character."""
        place = self._place if place is None else place
        return JSONError(message, self._line + self._text.count("\n", 0, place))

    def _take(self, end: int) -> str:
        value = self._text[self._place : end]
        if len(value) > LARGEST_VALUE // 4 and len(value.encode(errors="replace")) > LARGEST_VALUE:
            raise self._too_long()
        self._place = end
        # Line ends occur only between the parts of a value: inside its strings they are escaped.
        return value.replace("\n", " ").replace("\r", " ")

    def _goes_on(self) -> bool:
        """Reads the next piece and forgets what was used. Returns False, and changes nothing, if there is no more."""
        if len(self._text) - self._place > LARGEST_VALUE:
            raise self._too_long()
        chunk = next(self._chunks, "")
        if not chunk:
            return False
        self._line += self._text.count("\n", 0, self._place)
        self._text, self._place = self._text[self._place :] + chunk, 0
        return True

    def _too_long(self) -> JSONError:
        return self.wrong(f"a value is longer than {LARGEST_VALUE} bytes")

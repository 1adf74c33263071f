"""The one door for JSON: what a text says, and the values of a file that is not one value a line: one at a time, each
as it stands in the file.

Python finds where a value ends, so that memory holds one value and not the file. What a value means is not known here,
and nothing here opens a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from warehouse.loading.staging.cells import shown

LARGEST_VALUE = 16 * 1024 * 1024
"""The longest value that is read, in bytes; DuckDB reads no longer ones."""

_BLANKS = re.compile(r"[ \t\r\n]*")
_LONGEST_WORD = 16
"""So near to the end of a text it may be the part behind it that decides: 12 or 123, 1.e or 1.e7, tru, \\u00e."""

# Numbers stay texts: their ends are looked for here, and not their values.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


MOST_DIGITS = 4_000
"""Of a whole number: Python reads no longer ones, and they are beyond all values."""


MOST_VALUES = 12_000_000
"""How many values a text may have: each takes some hundred bytes of memory."""


class NotReadError(ValueError):
    """Why a text in JSON is not read ("is not JSON", to be put behind what the text is), and on which of its lines."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.why, self.line = why, line


def parsed(text: str | bytes) -> Any:
    """What a text in JSON says. Whole numbers beyond all values are infinite. Raises NotReadError."""
    signs: tuple[Any, ...] = ("[", "{", ",", ":") if isinstance(text, str) else (b"[", b"{", b",", b":")
    if len(text) > MOST_VALUES and sum(map(text.count, signs)) > MOST_VALUES:
        raise NotReadError(f"has more than {MOST_VALUES:,} values in it")
    if isinstance(text, str):
        try:
            value, end = _SCAN(text, 0)
        except (ValueError, StopIteration, RecursionError):
            end = -1  # what is wrong with it is said below
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
    """An object; one that has a key twice would lose what the key is the first time."""
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise NotReadError(f"has {shown(next(key for key in keys if keys.count(key) > 1))} twice in one object")
    return made


_SCAN: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder(object_pairs_hook=_object))["scan_once"]
"""Reads one value: in two thirds of the time of json.loads, which makes a decoder for every text."""


class JSONError(ValueError):
    """What is wrong with a text as JSON, and on which line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


def values(chunks: Iterable[str]) -> Iterator[str]:
    """Each value of a text that comes in pieces, without line ends: the items of an array, else the value itself.

    Several values may stand behind one another. Raises JSONError.
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
    """The part of a text that was not yet taken, as far as it was needed."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._text, self._place, self._line = "", 0, 1

    def next_sign(self) -> str:
        """The next sign that is not a blank; empty at the end."""
        while True:
            found = _BLANKS.match(self._text, self._place)
            self._place = found.end() if found else self._place
            if self._place < len(self._text) or not self._goes_on():
                return self._text[self._place : self._place + 1]

    def skip(self) -> None:
        """Takes one sign."""
        self._place += 1

    def value(self) -> str:
        """Takes one value."""
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
                    return self._taken(end)

    def _near_the_end(self, place: int) -> bool:
        return place > len(self._text) - _LONGEST_WORD

    def wrong(self, message: str, place: int | None = None) -> JSONError:
        """The error for something at a place, or at the next sign."""
        place = self._place if place is None else place
        return JSONError(message, self._line + self._text.count("\n", 0, place))

    def _taken(self, end: int) -> str:
        value = self._text[self._place : end]
        if len(value) > LARGEST_VALUE // 4 and len(value.encode(errors="replace")) > LARGEST_VALUE:
            raise self._too_long()
        self._place = end
        # Line ends stand between the parts of a value only: in its texts they are escaped.
        return value.replace("\n", " ").replace("\r", " ")

    def _goes_on(self) -> bool:
        """Reads on, and forgets what was taken. False where there is no more, and all stays as it is."""
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

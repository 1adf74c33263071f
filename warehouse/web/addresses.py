"""Addresses of pages: the kind of page, the names that it is about, and the choices in its form; and how an address is
written as a path. A path can contain any name, whatever its letters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from urllib.parse import parse_qsl, quote, unquote_to_bytes, urlencode

from msgspec import Struct

AddressKind = Literal["warehouse", "test set", "pair", "document", "system"]

Chosen = tuple[tuple[str, str], ...]
"""The choices, in the order of the form. A name may occur more than once."""


class Address(Struct, frozen=True):
    """Where a page is."""

    kind: AddressKind
    names: tuple[str, ...] = ()
    chosen: Chosen = ()

    def all_of(self, name: str) -> tuple[str, ...]:
        """All choices under a name."""
        return tuple(value for key, value in self.chosen if key == name and value.strip())

    def one_of(self, name: str, otherwise: str = "") -> str:
        """The choice under a name; the last one if there are several."""
        return (self.all_of(name) or (otherwise,))[-1]

    def choosing(self, **changed: str) -> Address:
        """The same page with some choices changed. Empty choices are left out."""
        kept = tuple((key, value) for key, value in self.chosen if key not in changed)
        return Address(self.kind, self.names, kept + tuple((key, value) for key, value in changed.items() if value))

    @property
    def path(self) -> str:
        """The path and the query, which begin with /."""
        words = _WORDS[self.kind]
        names = iter(self.names)
        parts = [word or as_segment(next(names)) for word in words]
        return "/" + "/".join(parts) + (f"?{urlencode(self.chosen)}" if self.chosen else "")


_WORDS: Mapping[AddressKind, tuple[str, ...]] = {
    "warehouse": (),
    "test set": ("test-set", ""),
    "pair": ("test-set", "", "pair", "", ""),
    "document": ("test-set", "", "document", ""),
    "system": ("system", ""),
}
"""The kinds of pages, and the parts of their paths: words, and placeholders for names."""


class UndecodedError(Exception):
    """The choices in an address cannot be decoded."""


def address_of(path: bytes, query: bytes) -> Address | None:
    """The address that a path and a query stand for; None if there is no such page. Both are as they were sent.

    Raises UndecodedError.
    """
    try:
        segments = tuple(segment.decode("ascii") for segment in path.split(b"/")[1:])
    except UnicodeDecodeError:
        return None
    try:
        chosen = tuple(parse_qsl(query.decode("ascii"), keep_blank_values=False, errors="strict", max_num_fields=1000))
    except UnicodeDecodeError:
        raise UndecodedError("the part after ? is not UTF-8 with each byte beyond ASCII written as %XX") from None
    except ValueError:
        raise UndecodedError("there are more than 1,000 parameters after ?") from None
    if segments == ("",):
        segments = ()
    for kind, words in _WORDS.items():
        if len(words) == len(segments) and all(
            not word or word == segment for word, segment in zip(words, segments, strict=True)
        ):
            names = tuple(_name(segment) for word, segment in zip(words, segments, strict=True) if not word)
            return None if None in names else Address(kind, tuple(filter(None, names)), chosen)
    return None


def as_segment(name: str) -> str:
    """A name as one segment of a path. Browsers treat segments of dots as a way up, however they are written, so a name
    that begins with a dot gets a tilde before it.
    """
    return quote(f"~{name}" if name[:1] in (".", "~") else name, safe="~")


def _name(segment: str) -> str | None:
    try:
        name = unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        return None
    return name.removeprefix("~") or None

"""Addresses of pages, the file names that stand for them, and the targets of links."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Literal, Protocol
from urllib.parse import parse_qsl, quote, unquote_to_bytes, urlencode

from msgspec import Struct

from evalhouse.warehouse.render.site.contents import Link

# === file names =======================================================================================================
# Turns names into file names that every file system and web server accepts. No two are equal, even if case is ignored.
# What the files contain is not known here.

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


# === addresses ========================================================================================================
# The kind of page, the names that it is about, and the choices in its form; and how an address is written as a path. A
# path can contain any name, whatever its letters.

AddressKind = Literal["warehouse", "imports", "test set", "pair", "document", "system"]

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
        names = iter(self.names)
        parts = [as_segment(next(names)) if is_name(part) else part for part in ADDRESSES[self.kind].parts]
        return "/" + "/".join(parts) + (f"?{urlencode(self.chosen)}" if self.chosen else "")


class AddressForm(Struct, frozen=True):
    """How the addresses of a kind of page are written: with these `parts` as a path, and as this `file` of a site.

    A part in angle brackets stands for a name, and says of what. In the file `{}` is the next name; `{kind}` is the
    kind of rows, or index if it is the first one of the test set; and `{of_kind}` is nothing then, otherwise -of-KIND.
    `answers` says whether a site has the answers on such pages as files, too.
    """

    parts: tuple[str, ...]
    file: str
    answers: bool = True

    @property
    def named(self) -> tuple[str, ...]:
        """What each name is of: <test set>, <system> or <document>."""
        return tuple(filter(is_name, self.parts))


TICKED = "pair"
"""The name under which the leaderboard's form sends the systems that were ticked."""


def of_pairs(address: Address) -> Chosen:
    """The choices on a leaderboard that the page of a pair has, too, where there is one measure."""
    found = {name: address.all_of(name)[:1] for name in ("of", "measure", "missing")}
    return tuple((name, value) for name, values in found.items() for value in values)


def chosen_pair(address: Address) -> Address | None:
    """The page of the two systems that were ticked on a leaderboard; None if not two were."""
    ticked = tuple(dict.fromkeys(address.all_of(TICKED)))
    if address.kind != "test set" or len(ticked) != 2:
        return None
    return Address("pair", (*address.names, *ticked), of_pairs(address))


def is_name(part: str) -> bool:
    """Whether a part of a path stands for a name."""
    return part.startswith("<")


ADDRESSES: Mapping[AddressKind, AddressForm] = {
    "warehouse": AddressForm((), "index.html"),
    "imports": AddressForm(("imports",), "imports.html"),
    "test set": AddressForm(("test-set", "<test set>"), "test-sets/{}/{kind}.html"),
    "pair": AddressForm(
        ("test-set", "<test set>", "pair", "<system>", "<system>"), "test-sets/{}/pairs{of_kind}/{}/{}.html"
    ),
    # There are thousands of documents.
    "document": AddressForm(
        ("test-set", "<test set>", "document", "<document>"), "test-sets/{}/documents/{}.html", answers=False
    ),
    "system": AddressForm(("system", "<system>"), "systems/{}.html"),
}
"""The kinds of pages, and how their addresses are written."""


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
    for kind, form in ADDRESSES.items():
        parts = form.parts
        if len(parts) == len(segments) and all(
            is_name(part) or part == segment for part, segment in zip(parts, segments, strict=True)
        ):
            names = tuple(_name(segment) for part, segment in zip(parts, segments, strict=True) if is_name(part))
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


# === targets of links =================================================================================================
# Only `Links` knows whether pages are served or written as files.

HOME = Address("warehouse")


class Links(Protocol):
    """Makes the links of a page. `database` is the name of the warehouse's file, empty for the sample data."""

    database: str

    def to(self, address: Address) -> str:
        """The target for an address; empty if there is none."""

    def asking(self, statement: str) -> str:
        """The target for asking a statement; empty if no server answers."""

    def files(self, statement: str) -> tuple[Link, ...]:
        """The files with the answer to a statement."""

    @property
    def completing(self) -> str:
        """Where a page requests completions; empty if no server answers."""

    def asset(self, name: str) -> str:
        """The target of a style sheet or script that all pages share."""

    @property
    def documents_at_once(self) -> int:
        """The number of documents that are listed on a page."""


FILES = (("csv", "CSV"), ("latex", "LaTeX"), ("json", "JSON"), ("markdown", "Markdown"))
"""The formats in which answers can be downloaded, with their labels."""


class Served:
    """Links of served pages. Each is the path of an address."""

    def __init__(self, database: str = "") -> None:
        self.database = database

    def to(self, address: Address) -> str:
        """The path of an address."""
        return address.path

    def asking(self, statement: str) -> str:
        """The page of any statement."""
        return "/?" + urlencode({"q": statement})

    def files(self, statement: str) -> tuple[Link, ...]:
        """An answer in each format."""
        return tuple(
            Link(called, "/answer?" + urlencode({"q": statement, "format": format})) for format, called in FILES
        )

    @property
    def completing(self) -> str:
        """The target for completions."""
        return "/complete"

    def asset(self, name: str) -> str:
        """The target of a shared file."""
        from evalhouse.warehouse.render.site.drawing import version

        return f"/assets/{name}?{version(name)}"

    @property
    def documents_at_once(self) -> int:
        """Only a few, because the others are one click away."""
        return 25

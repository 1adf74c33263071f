"""The targets of links: the only place that knows whether pages are served or written as files."""

from __future__ import annotations

from typing import Protocol
from urllib.parse import urlencode

from warehouse.render.site.contents import Link
from warehouse.web.addresses import Address

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
        from warehouse.render.site.assets import version

        return f"/assets/{name}?{version(name)}"

    @property
    def documents_at_once(self) -> int:
        """Only a few, because the others are one click away."""
        return 25

"""Where links lead: the one place that knows whether pages are served or written as files."""

from __future__ import annotations

from typing import Protocol
from urllib.parse import urlencode

from warehouse.render.site.contents import Link
from warehouse.web.addresses import Address

HOME = Address("warehouse")


class Links(Protocol):
    """What makes the links of a page. `database` is what the file of the warehouse is called, empty for the sample
    data.
    """

    database: str

    def to(self, address: Address) -> str:
        """Where the page of an address is; empty where there is none."""

    def asking(self, statement: str) -> str:
        """Where a statement is asked; empty where nobody answers."""

    def files(self, statement: str) -> tuple[Link, ...]:
        """The answer to a statement as files."""

    @property
    def completing(self) -> str:
        """Where one learns what may be typed next; empty where nobody answers."""

    def asset(self, name: str) -> str:
        """Where the look or the script of all pages is."""

    @property
    def documents_at_once(self) -> int:
        """How many documents are listed on a page."""


FILES = (("csv", "CSV"), ("latex", "LaTeX"), ("json", "JSON"), ("markdown", "Markdown"))
"""The formats in which answers are given away, and what they are called."""


class Served:
    """Links of pages that are served: each is the path of an address."""

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
        """Where completions are."""
        return "/complete"

    def asset(self, name: str) -> str:
        """Where a file of the look is."""
        from warehouse.render.site.assets import version

        return f"/assets/{name}?{version(name)}"

    @property
    def documents_at_once(self) -> int:
        """Few, since the others are a click away."""
        return 25

"""Links of pages that are written as files. They are relative, so a site works at any address, and from a disk."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Callable
from itertools import islice

from warehouse.render.site.contents import Link
from warehouse.web.addresses import Address
from warehouse.web.file_names import FileNames
from warehouse.web.links import HOME

FILES = (("csv", "CSV"), ("latex", "LaTeX"))
"""The formats of the answers that are written beside the pages, with their labels."""

WITHOUT_FILES = ("document",)
"""The kinds of pages whose answers are not written as files, because there are thousands of them."""

ASSETS = "assets"

DOCUMENTS_AT_ONCE = 1000
"""The number of documents that the page of a pair lists. A site has no further pages of documents."""


class SiteFiles:
    """The file of each page, and the pages that were linked to so far. `first_of` gives the kind of rows of a test
    set's page if its address does not.
    """

    def __init__(self, first_of: Callable[[str], str]) -> None:
        self._first_of = first_of
        self._names = FileNames()
        self.pages: dict[str, Address] = {}
        """The pages that were linked to, by file, in the order of the first link."""
        self._answers: dict[str, tuple[str, str]] = {}
        self.pages_made = self._answers_made = 0
        self.of(HOME)

    def next_page(self) -> tuple[str, Address] | None:
        """The next page to make: its file and its address; None after the last."""
        found = next(islice(self.pages.items(), self.pages_made, None), None)
        self.pages_made += found is not None
        return found

    def next_answer(self) -> tuple[str, str, str] | None:
        """The next answer to write: its file, the statement and the format; None after the last."""
        found = next(islice(self._answers.items(), self._answers_made, None), None)
        self._answers_made += found is not None
        return None if found is None else (found[0], *found[1])

    def of(self, address: Address) -> str:
        """The file of a page, which is then marked as linked to; empty if the page does not become a file."""
        if any(name not in ("of", "measure") for name, _ in address.chosen):
            return ""
        file = self._file(address)
        self.pages.setdefault(file, address)
        return file

    def _file(self, address: Address) -> str:
        match address.kind:
            case "warehouse":
                return "index.html"
            case "system":
                return f"systems/{self._names.of('systems', address.names[0])}.html"
            case "test set":
                return f"{self._folder(address)}/{self._kind_of_rows(address) or 'index'}.html"
            case "document":
                folder = f"{self._folder(address)}/documents"
                return f"{folder}/{self._names.of(folder, address.names[1])}.html"
            case "pair":
                kind = self._kind_of_rows(address)
                pairs = f"{self._folder(address)}/pairs{f'-of-{kind}' if kind else ''}"
                first, second = address.names[1:]
                folder = f"{pairs}/{self._names.of(pairs, first)}"
                return f"{folder}/{self._names.of(folder, second)}.html"

    def _folder(self, address: Address) -> str:
        """The folder of a test set."""
        return f"test-sets/{self._names.of('test-sets', address.names[0])}"

    def _kind_of_rows(self, address: Address) -> str:
        """The kind of rows that a page shows of its test set; empty for the one that is shown first."""
        kind = address.one_of("of")
        return "" if kind == self._first_of(address.names[0]) else kind

    def answer(self, statement: str, format: str, suffix: str) -> str:
        """The file of an answer."""
        file = f"answers/{hashlib.sha256(statement.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}{suffix}"
        self._answers.setdefault(file, (statement, format))
        return file


class SiteLinks:
    """The links of one page of a site."""

    def __init__(self, files: SiteFiles, file: str, kind: str, database: str) -> None:
        self.database = database
        self._files = files
        self._folder = posixpath.dirname(file) or "."
        self._with_answers = kind not in WITHOUT_FILES

    def _from_here(self, file: str) -> str:
        return posixpath.relpath(file, self._folder) if file else ""

    def to(self, address: Address) -> str:
        """The file of a page."""
        return self._from_here(self._files.of(address))

    def asking(self, statement: str) -> str:
        """Empty, because no server answers statements."""
        return ""

    def files(self, statement: str) -> tuple[Link, ...]:
        """The answer to a statement as files beside the pages."""
        from warehouse.render import format_named

        if not self._with_answers:
            return ()
        return tuple(
            Link(called, self._from_here(self._files.answer(statement, name, format_named(name).suffix)))
            for name, called in FILES
        )

    @property
    def completing(self) -> str:
        """Empty, because no server completes statements."""
        return ""

    @property
    def documents_at_once(self) -> int:
        """Many, because there is no second page."""
        return DOCUMENTS_AT_ONCE

    def asset(self, name: str) -> str:
        """The target of a shared file."""
        return self._from_here(f"{ASSETS}/{name}")

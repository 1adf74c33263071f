"""A site as files: the pages that the server shows, and every page that another page links to, in one folder.

The same warehouse gives exactly the same files.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from evalhouse.grammar.editing.hints import hints
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.offers import is_measured, measure_of
from evalhouse.warehouse.process.publishing import folder_at
from evalhouse.warehouse.render import Style, find_format
from evalhouse.warehouse.render.diagnostics import diagnosis
from evalhouse.warehouse.render.site import drawing as assets
from evalhouse.warehouse.render.site.contents import Failure, Link, PageBlock, Surroundings
from evalhouse.warehouse.render.site.drawing import Drawing
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.version import __version__
from evalhouse.warehouse.web.addresses import ADDRESSES, HOME, Address, AddressKind, FileNames
from evalhouse.warehouse.web.inquiry import AnswerCache, Inquiry, MissingError
from evalhouse.warehouse.web.pages import page_of

# === links between files ==============================================================================================
# They are relative, so a site works at any address, and from a disk.

FILES = (("csv", "CSV"), ("latex", "LaTeX"))
"""The formats of the answers that are written beside the pages, with their labels."""

PAGE = ".html"
"""The extension of pages."""

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
        names, file = iter(address.names), ""
        for part in ADDRESSES[address.kind].file.removesuffix(PAGE).split("/"):
            written = self._names.of(file, next(names)) if part == "{}" else self._word(part, address)
            file = posixpath.join(file, written)
        return f"{file}{PAGE}"

    def _word(self, part: str, address: Address) -> str:
        """A part of the name of a file that is not the name of anything; some show the kind of rows."""
        if "{" not in part:
            return part
        kind = self._kind_of_rows(address)
        return part.format(kind=kind or "index", of_kind=f"-of-{kind}" if kind else "")

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

    def __init__(self, files: SiteFiles, file: str, kind: AddressKind, database: str) -> None:
        self.database = database
        self._files = files
        self._folder = posixpath.dirname(file) or "."
        self._with_answers = ADDRESSES[kind].answers

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
        if not self._with_answers:
            return ()
        return tuple(
            Link(called, self._from_here(self._files.answer(statement, name, find_format(name).suffix)))
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


# === the folder of a site =============================================================================================
# It distinguishes files that evalhouse wrote from files of others, which must never be touched. A new site replaces the
# old one as a whole.

MANIFEST = ".evalhouse-site"
"""The file that lists the files of a site, one per line, including itself."""


class SiteFolder:
    """A folder that a site is written to."""

    def __init__(self, path: Path, draft: Path) -> None:
        self._path = path
        self._draft = draft
        self.written: list[str] = []

    def write(self, name: str, content: bytes) -> None:
        """Writes a file of the site. Its name is a path with slashes."""
        file = self._draft / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        self.written.append(name)


@contextmanager
def site_folder(path: Path, *, force: bool) -> Iterator[SiteFolder]:
    """A draft of a site, which is moved to `path` if everything succeeds and is discarded otherwise.

    Other files in the folder stay. Unless `force` is set, raises DataError if the folder exists and is not a site, or
    if a file of others has the same name as a file of the site. Raises OSError, too.
    """
    path = Path(os.path.realpath(path))
    check(path, force=force)
    others = tuple(_others(path)) if path.is_dir() else ()
    with folder_at(path) as draft:
        site = SiteFolder(path, draft)
        yield site
        site.write(MANIFEST, "".join(f"{name}\n" for name in sorted([*site.written, MANIFEST])).encode())
        ours = set(site.written)
        for name in others:
            if name not in ours:
                _keep(path / name, draft / name)
            elif not force:
                raise _fault(path / name, "does not belong to this site, and would be overwritten")


def check(path: Path, *, force: bool) -> None:
    """Raises DataError if no site can be written to this place: it is a file, it contains the current folder, or,
    unless `force`, it is a folder with other content.
    """
    path = Path(os.path.realpath(path))
    if os.path.lexists(path) and not path.is_dir():
        raise _fault(path, "is a file, but a site is a folder")
    if Path.cwd().is_relative_to(path):
        raise DataError((Fault(str(path), None, "is the current folder"),), hints=("run the command from outside it",))
    if path.is_dir() and any(path.iterdir()) and not (path / MANIFEST).is_file() and not force:
        raise DataError(
            (Fault(str(path), None, "holds files that do not belong to a site"),),
            hints=("--force puts the site among them, overwriting those of the same names",),
        )


def _others(path: Path) -> Iterator[str]:
    """The files in a folder that do not belong to the site written there, as paths with slashes."""
    try:
        ours = set((path / MANIFEST).read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        ours = set()
    for folder, inner, files in os.walk(path):
        linked = [name for name in inner if (Path(folder) / name).is_symlink()]
        for name in (*files, *linked):
            relative = (Path(folder) / name).relative_to(path).as_posix()
            if relative not in ours:
                yield relative


def _keep(old: Path, new: Path) -> None:
    """Keeps the file in the new folder, too, as a hard link if the file system has them."""
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old, new, follow_symlinks=False)
    except OSError:
        shutil.copy2(old, new, follow_symlinks=False)


def _fault(path: Path, message: str) -> DataError:
    return DataError((Fault(str(path), None, message),), hints=("--force overwrites it",))


# === publishing =======================================================================================================

POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
"""What pages may load and run: their own style sheet and script, and nothing from elsewhere."""


class SiteOptions(Struct, frozen=True):
    """The options of a site: the measures that it shows (if none is named, the default ones); whether it includes the
    texts of documents; and its future address, empty if unknown.
    """

    measures: tuple[str, ...] = ()
    texts: bool = True
    base_url: str = ""
    digits: int | None = None


class Publication:
    """A warehouse as the files of a site."""

    def __init__(self, session: Session, options: SiteOptions) -> None:
        """Raises QueryError for a measure that no data have, and for an invalid address."""
        self._options = options
        self._style = Style(digits=options.digits)
        self._inquiry = Inquiry(session, AnswerCache(), measures=options.measures, with_texts=options.texts)
        self._check(options)
        self._site = SiteFiles(self._first_kind)
        self._expected = self._pages_expected()
        self.done = 0
        """The number of files that were made."""

    @property
    def share(self) -> float:
        """The approximate share of the pages that is finished. The total is known only when every page was
        linked to.
        """
        return self._site.pages_made / max(self._expected, len(self._site.pages), 1)

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The files of the site by name, page by page in the order in which they are linked to."""
        for made in self._files():
            self.done += 1
            yield made

    def _files(self) -> Iterator[tuple[str, bytes]]:
        for name in assets.NAMES:
            yield f"{ASSETS}/{name}", assets.asset(name)
        # Without this file, GitHub Pages is slow and leaves out files whose names begin with _.
        yield ".nojekyll", b""
        while (page := self._site.next_page()) is not None:
            file, address = page
            yield file, self._page(file, address).encode()
            while (waiting := self._site.next_answer()) is not None:
                file, statement, format = waiting
                yield file, find_format(format).draw(self._inquiry.one(statement), self._style).encode()
        if self._options.base_url:
            yield "sitemap.xml", _site_map(self._url(file) for file in self._site.pages).encode()

    def _page(self, file: str, address: Address) -> str:
        path = self._inquiry.session.path
        links = SiteLinks(self._site, file, address.kind, "" if path is None else path.name)
        surroundings = Surroundings(
            home=Link("evalhouse", links.to(HOME)),
            ask="",
            completes="",
            assets={name: links.asset(name) for name in assets.NAMES},
            foot=(f"evalhouse {__version__}",),
            policy=POLICY,
            canonical=self._url(file) if self._options.base_url else "",
        )
        drawing = Drawing(surroundings, self._style)
        kind = page_of(address)
        blocks = [drawing.block(block) for block in self._show(kind.blocks(self._inquiry, address, links))]
        return "".join([drawing.beginning(kind.heading(address, links)), *blocks, drawing.end()])

    def _show(self, blocks: Iterator[PageBlock]) -> Iterator[PageBlock]:
        """The blocks of a page, up to the first that cannot be answered."""
        try:
            yield from blocks
        except MissingError as error:
            yield Failure(str(error))
        except QueryError as error:
            yield Failure(diagnosis(error))

    def _url(self, file: str) -> str:
        """The future address of a page. An index file is addressed by its folder."""
        name = file.removesuffix("index.html") if file.rpartition("/")[2] == "index.html" else file
        return f"{self._options.base_url.rstrip('/')}/{name}"

    def _pages_expected(self) -> int:
        """The number of pages if each system is compared with the best one and their documents are linked to."""
        catalog = self._inquiry.catalog
        pages = 2 + len(catalog.names_of(catalog.system_names)) + len(catalog.test_sets)
        for test_set in catalog.test_sets:
            tasks = [offer.kind.name for offer in self._inquiry.offers(test_set) if offer.kind.by_document]
            pages += sum(max(0, len(catalog.names_of(catalog.systems_with(task, test_set.id))) - 1) for task in tasks)
            listed = max((catalog.documents(task, test_set.id) for task in tasks), default=0)
            pages += min(DOCUMENTS_AT_ONCE, listed)
        return pages

    def _first_kind(self, test_set: str) -> str:
        there = self._inquiry.offers(self._inquiry.test_set(test_set))
        return there[0].kind.name if there else ""

    def _check(self, options: SiteOptions) -> None:
        parts = urlsplit(options.base_url)
        if options.base_url and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query):
            raise QueryError(
                f"{options.base_url} is not an address of a site", hints=("as in https://me.github.io/muc/",)
            )
        whole = Inquiry(self._inquiry.session, AnswerCache())
        scope = Scope(whole.catalog)
        there = [(test_set, offer) for test_set in whole.catalog.test_sets for offer in whole.offers(test_set)]
        for text in options.measures:
            measure = measure_of(text)
            if not any(is_measured(measure, scope, offer.kind, test_set) for test_set, offer in there):
                known = list(dict.fromkeys(name for _, offer in there for name in offer.measures))
                raise QueryError(f"no test set has the measure {text}", hints=hints(text, known, "measures"))


def _site_map(urls: Iterable[str]) -> str:
    """The list of pages for search engines."""
    items = "".join(f"<url><loc>{escape(url)}</loc></url>\n" for url in urls)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{items}</urlset>\n'
    )

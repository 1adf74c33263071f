"""A site as files: the same pages that the server shows, in one folder, including every page that another page links
to. The same warehouse gives exactly the same files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from urllib.parse import urlsplit

from msgspec import Struct

from grammar.editing.hints import hints
from grammar.errors import QueryError
from grammar.parser import parse
from warehouse.render import Style, format_named
from warehouse.render.diagnostics import diagnosis
from warehouse.render.site import assets
from warehouse.render.site.contents import Failure, Link, PageBlock, Surroundings
from warehouse.render.site.drawing import Drawing
from warehouse.session import Session
from warehouse.version import __version__
from warehouse.web.addresses import Address
from warehouse.web.inquiry import AnswerCache, Inquiry, MissingError
from warehouse.web.links import HOME
from warehouse.web.offered import is_one_of, offers
from warehouse.web.pages import page_of
from warehouse.web.site_links import ASSETS, DOCUMENTS_AT_ONCE, SiteFiles, SiteLinks

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
        for name, content in self._files():
            yield name, content
            self.done += 1

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
                yield file, format_named(format).draw(self._inquiry.one(statement), self._style).encode()
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
        blocks = [drawing.block(block) for block in self._shown(kind.blocks(self._inquiry, address, links))]
        return "".join([drawing.beginning(kind.heading(address, links)), *blocks, drawing.end()])

    def _shown(self, blocks: Iterator[PageBlock]) -> Iterator[PageBlock]:
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
        pages = 1 + len(catalog.systems) + len(catalog.test_sets)
        for test_set in catalog.test_sets:
            tasks = [offer.task.name for offer in offers(self._inquiry, test_set) if offer.task.by_document]
            pages += sum(max(0, len(catalog.systems_with(task, test_set.id)) - 1) for task in tasks)
            listed = max((catalog.documents(task, test_set.id) for task in tasks), default=0)
            pages += min(DOCUMENTS_AT_ONCE, listed)
        return pages

    def _first_kind(self, test_set: str) -> str:
        there = offers(self._inquiry, self._inquiry.test_set(test_set))
        return there[0].task.name if there else ""

    def _check(self, options: SiteOptions) -> None:
        parts = urlsplit(options.base_url)
        if options.base_url and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query):
            raise QueryError(
                f"{options.base_url} is not an address of a site", hints=("as in https://me.github.io/muc/",)
            )
        whole = Inquiry(self._inquiry.session, AnswerCache())
        known = [
            measure
            for test_set in whole.catalog.test_sets
            for offer in offers(whole, test_set)
            for measure in offer.measures
        ]
        for measure in options.measures:
            parse(f"score {measure} for all on x")
            if not is_one_of(measure, known):
                raise QueryError(f"no test set has the measure {measure}", hints=hints(measure, known, "measures"))


def _site_map(urls: Iterable[str]) -> str:
    """The list of pages for search engines."""
    items = "".join(f"<url><loc>{escape(url)}</loc></url>\n" for url in urls)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{items}</urlset>\n'
    )

"""The command `publish`: writes the pages of a warehouse as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.commands import DONE, WRONG
from warehouse.commands.opened import open_session
from warehouse.commands.talk import note, progress, say

if TYPE_CHECKING:
    import argparse


def publish(args: argparse.Namespace) -> int:
    """Writes a site, completely or not at all. Raises DataError and OSError."""
    from grammar.errors import QueryError
    from warehouse.interrupting import interruptibly
    from warehouse.web.publication import Publication, SiteOptions
    from warehouse.web.site_folder import check, site_folder

    path = Path(args.site)
    check(path, force=args.force)
    options = SiteOptions(tuple(args.measures), not args.without_texts, args.base_url, args.digits)
    with open_session(args) as session:
        try:
            publication = Publication(session, options)
        except QueryError as error:
            from warehouse.render.diagnostics import query_error

            say(query_error(error, ""))
            return WRONG
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        with site_folder(path, force=args.force) as site, progress(args, "publishing") as advance:
            files = publication.files()
            while (made := interruptibly(lambda: next(files, None), session.interrupt)) is not None:
                site.write(*made)
                if advance is not None:
                    advance(publication.share, f"{publication.done:,} files")
            pages = sum(name.endswith(".html") for name in site.written)
    note(args, f"{path}: {pages:,} pages; {path / 'index.html'} is the first")
    return DONE

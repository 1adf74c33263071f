"""The commands `serve`, `publish` and `mcp`, which offer a warehouse to browsers and assistants."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.commands import DONE, WRONG
from evalhouse.warehouse.commands.answering import open_session, question_path
from evalhouse.warehouse.commands.streams import note, progress, say
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.process import stopping
from evalhouse.warehouse.process.stopping import interruptibly

if TYPE_CHECKING:
    import argparse


# === the command serve ================================================================================================
# Serves the pages of a warehouse until Ctrl-C.


def serve(args: argparse.Namespace) -> int:
    """Serves pages until the process is told to end."""
    path = question_path(args)
    return serve_warehouse(args, path, "" if path is None else path.name)


def serve_warehouse(args: argparse.Namespace, path: Path | None, called: str) -> int:
    """Serves the pages of a warehouse, the sample data without a path, until the process is told to end."""
    from evalhouse.warehouse.session.session import Session

    try:
        import uvicorn  # noqa: F401

        from evalhouse.warehouse.web.server import Server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        needed = "pages need the packages starlette and uvicorn"
        raise WarehouseError(needed, ('pip install "evalhouse[web]"',)) from None

    # Problems with the warehouse are reported here, before anyone opens a page.
    Session.open(path).close()
    server = Server(
        lambda: Session.open(path),
        called,
        host=args.host,
        names=args.host_name,
        port=args.port,
        timeout=args.timeout,
        sql=args.allow_sql,
        digits=args.digits,
    )
    stopping.leave_ctrl_c()
    server.start()
    try:
        print(server.url, flush=True)
        note(args, "Ctrl-C stops it; anyone who can reach this address can read the warehouse")
        if args.open:
            import webbrowser

            if not webbrowser.open(server.url):
                say(f"note: no browser could be opened; open {server.url}")
        server.wait()
    except KeyboardInterrupt:
        note(args, "ended")
    finally:
        server.stop()
    return DONE


# === the command publish ==============================================================================================
# Writes the pages of a warehouse as files.


def publish(args: argparse.Namespace) -> int:
    """Writes a site, completely or not at all. Raises DataError and OSError."""
    from evalhouse.warehouse.web.publication import Publication, SiteOptions, check, site_folder

    path = Path(args.site)
    check(path, force=args.force)
    options = SiteOptions(tuple(args.measures), not args.without_texts, args.base_url, args.digits)
    with open_session(args) as session:
        try:
            publication = Publication(session, options)
        except QueryError as error:
            from evalhouse.warehouse.render.diagnostics import query_error

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


# === the command mcp ==================================================================================================
# Offers questions as tools to assistants, over standard input and output.


def assist(args: argparse.Namespace) -> int:
    """Serves a conversation until the input ends. Raises WarehouseError."""
    from evalhouse.warehouse.faults import WarehouseError

    with open_session(args) as session:
        try:
            from evalhouse.warehouse.assistants.tools import serve
        except ImportError:
            raise WarehouseError("evalhouse mcp needs the package mcp", ('pip install "evalhouse[mcp]"',)) from None
        from evalhouse.warehouse.assistants.answers import Answers, CallLimits

        # Questions change nothing, so nothing is half done. An exception in the event loop would print its traceback.
        if stopping.ends_process():
            stopping.at_once()
        serve(Answers(session, CallLimits(args.limit, args.timeout, args.allow_sql, args.characters)))
    return DONE

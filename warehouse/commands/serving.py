"""The command `serve`: serves the pages of a warehouse until Ctrl-C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse import ending
from warehouse.commands import DONE
from warehouse.commands.opened import question_path
from warehouse.commands.talk import note, say

if TYPE_CHECKING:
    import argparse


def serve(args: argparse.Namespace) -> int:
    """Serves pages until the process is told to end."""
    from warehouse.session import Session
    from warehouse.web.server import Server

    path = question_path(args)
    # Problems with the warehouse are reported here, before anyone opens a page.
    Session.open(path).close()
    server = Server(
        lambda: Session.open(path),
        "" if path is None else path.name,
        host=args.host,
        names=args.host_name,
        port=args.port,
        timeout=args.timeout,
        sql=args.allow_sql,
        digits=args.digits,
    )
    ending.leave_ctrl_c()
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

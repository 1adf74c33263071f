"""The command `mcp`: offers questions as tools to assistants, over standard input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse import ending
from warehouse.commands import DONE
from warehouse.commands.opened import open_session

if TYPE_CHECKING:
    import argparse


def assist(args: argparse.Namespace) -> int:
    """Serves a conversation until the input ends. Raises WarehouseError."""
    from warehouse.faults import WarehouseError

    with open_session(args) as session:
        try:
            from warehouse.assistants.protocol import serve
        except ImportError:
            raise WarehouseError("evalhouse mcp needs the package mcp", ('pip install "evalhouse[mcp]"',)) from None
        from warehouse.assistants.answers import Answers, CallLimits

        # Questions change nothing, so nothing is half done. An exception in the event loop would print its traceback.
        if ending.ends_process():
            ending.at_once()
        serve(Answers(session, CallLimits(args.limit, args.timeout, args.allow_sql, args.characters)))
    return DONE

"""evalhouse: a warehouse of evaluation results and honest questions of them.

    import warehouse
    w = warehouse.open("muc.duckdb")
    r = w.run("score F for all on TST3")

This module only opens the door; it imports nothing heavy until the door is used.
"""

from __future__ import annotations

from os import PathLike

from warehouse.version import __version__

TYPE_CHECKING = False
"""As type checkers read it: to import typing takes longer than all that `--help` needs of this package."""

if TYPE_CHECKING:
    from warehouse.session import Session

__all__ = ["__version__", "open"]


def open(path: str | PathLike[str] | None = None) -> Session:
    """A session on the warehouse at `path`, or on the sample data in memory where there is none.

    Raises `warehouse.faults.WarehouseError` if there is no sound warehouse at the path.
    """
    from warehouse.session import Session

    return Session.open(path)

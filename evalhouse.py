"""evalhouse: store evaluation results, query them, and test which differences are real.

    import evalhouse as eh

    w = eh.create("evals.duckdb")      # or eh.open("evals.duckdb"); eh.open() is the sample data
    w.load("results/")                 # files, folders, a pandas, polars or Arrow table
    w.compare("F1", "GE", "UMASS", on="TST3", shuffles=9999)
    eh.compare(frame, "accuracy", "new", "base", cluster="passage")   # without a warehouse

`open` and `create` give a `Warehouse`, which has a method for each statement of the language; those give a `Result`.
`python -m evalhouse` is the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    # Before anything else is imported, which the command line does when it needs it.
    from warehouse.commands.program import command

    raise SystemExit(command())

from warehouse.python.functions import (
    compare,
    differ,
    documents,
    group,
    power,
    rank,
    score,
    spread,
    table,
)

from grammar.errors import EvalhouseError as Error
from grammar.errors import QueryError
from warehouse.faults import DataError as LoadError
from warehouse.faults import WarehouseError
from warehouse.python.asking import Warehouse, created, opened
from warehouse.python.printed_result import PrintedResult as Result
from warehouse.python.printed_result import ResultPicture as Picture
from warehouse.results import NotMetError, UndecidedError, UnmetError
from warehouse.version import __version__

if TYPE_CHECKING:
    import os

__all__ = [
    "Error",
    "LoadError",
    "NotMetError",
    "Picture",
    "QueryError",
    "Result",
    "UndecidedError",
    "UnmetError",
    "Warehouse",
    "WarehouseError",
    "__version__",
    "compare",
    "create",
    "differ",
    "documents",
    "group",
    "open",
    "power",
    "rank",
    "score",
    "spread",
    "table",
]


def open(path: str | os.PathLike[str] | None = None, *, read_only: bool = False) -> Warehouse:
    """Open a warehouse.

    Parameters
    ----------
    path : str or path, optional
        The file of the warehouse; without it the sample data are opened, which cannot be changed.
    read_only : bool, default False
        Refuse whatever would change the warehouse or write a file.

    Returns
    -------
    Warehouse

    Raises
    ------
    WarehouseError
        Where there is no sound warehouse at the path.

    Examples
    --------
    >>> import evalhouse as eh
    >>> w = eh.open()
    >>> w
    <evalhouse warehouse: the sample data>
    >>> w.score("F1", "GE", on="TST3").rows[0]["F1"]  # doctest: +ELLIPSIS
    0.5600...
    """
    return opened(path, read_only=read_only)


def create(path: str | os.PathLike[str] | None = None, *, lake: bool = False) -> Warehouse:
    """Make a new warehouse, and open it.

    Parameters
    ----------
    path : str or path, optional
        A file that is not there yet; without it the warehouse is in memory, and gone when it is closed. An address,
        such as s3://BUCKET/evals, is a lake.
    lake : bool, default False
        Make a lake, a folder that many write at once, in place of a file.

    Returns
    -------
    Warehouse

    Raises
    ------
    WarehouseError
        Where something is at the path already, or it cannot be written.

    Examples
    --------
    >>> import evalhouse as eh
    >>> w = eh.create()
    >>> w
    <evalhouse warehouse: in memory>
    """
    return created(path, lake=lake)


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext evalhouse`, with IPython's shell: gives the magics `%evalhouse` and `%%evalhouse`."""
    from warehouse.notebook import load_ipython_extension

    load_ipython_extension(shell)

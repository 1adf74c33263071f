"""What `import evalhouse` offers: warehouses as objects, and questions about a table in memory."""

from __future__ import annotations

import os
import sys
from typing import Any

from evalhouse.grammar.errors import EvalhouseError as Error
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import DataError as LoadError
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.python.functions import (
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
from evalhouse.warehouse.python.printed_result import PrintedResult as Result
from evalhouse.warehouse.python.printed_result import ResultPicture as Picture
from evalhouse.warehouse.python.text import in_full
from evalhouse.warehouse.python.warehouse import Warehouse, create_warehouse, open_warehouse
from evalhouse.warehouse.results import NotMetError, UndecidedError, UnmetError
from evalhouse.warehouse.version import __version__

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


def open(path: str | os.PathLike[str] | None = None, *, read_only: bool = False, sample: bool = False) -> Warehouse:
    """Open a warehouse.

    Parameters
    ----------
    path : str or path, optional
        The file of the warehouse. Without it a person who types gets the sample data, which cannot be changed; a script
        has to ask for them.
    read_only : bool, default False
        Refuse whatever would change the warehouse or write a file.
    sample : bool, default False
        Open the sample data, in a script too.

    Returns
    -------
    Warehouse

    Raises
    ------
    WarehouseError
        Where there is no sound warehouse at the path, and where a script names none.

    Examples
    --------
    >>> import evalhouse as eh
    >>> w = eh.open()
    >>> w
    <evalhouse warehouse: the sample data>
    >>> w.score("F1", "GE", on="TST3").rows[0]["F1"]  # doctest: +ELLIPSIS
    0.5600...
    """
    if path is None and not sample:
        in_full(_check_that_it_is_typed)
    return open_warehouse(path, read_only=read_only)


def _check_that_it_is_typed() -> None:
    """Raises WarehouseError unless a person types what is run, or has said that scripts may use the sample data."""
    notebook = sys.modules.get("IPython")
    is_typed = hasattr(sys, "ps1") or bool(sys.flags.interactive) or (notebook and notebook.get_ipython()) is not None
    if not is_typed and os.environ.get("EVALHOUSE_SAMPLE", "").casefold() not in ("yes", "true", "1"):
        raise WarehouseError(
            "eh.open() in a script would be the sample data",
            ('eh.open("evals.duckdb") opens a warehouse, and eh.open(sample=True) the sample data',),
        )


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
    return create_warehouse(path, lake=lake)


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext evalhouse`, with IPython's shell: gives the magics `%evalhouse` and `%%evalhouse`."""
    from evalhouse.warehouse.python.notebook import load_ipython_extension

    load_ipython_extension(shell)

"""The rooms of evalhouse; ARCHITECTURE.md says what is in each. Programs use `import evalhouse`.

This module imports nothing heavy, because every command imports it.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from warehouse.version import __version__

if TYPE_CHECKING:
    from warehouse.session import Session

__all__ = ["__version__", "open"]


def open(path: str | PathLike[str] | None = None) -> Session:
    """A session on the warehouse at `path`, or on the sample data. Programs use the newer `evalhouse.open`.

    Raises `warehouse.faults.WarehouseError` if there is no sound warehouse at the path.
    """
    import warnings

    from warehouse.session import Session

    instead = "warehouse.open is deprecated since 0.1.0; write evalhouse.open, which has a method for each statement"
    warnings.warn(instead, DeprecationWarning, stacklevel=2)

    return Session.open(path)

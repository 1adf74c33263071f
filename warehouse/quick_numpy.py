"""numpy, imported without what only people and type checkers read: its docstrings and its types, a sixth of its import.

Commands import it so, because they end after one answer. Sessions in Python import numpy as it is. This module must not
change what numpy computes.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

DOCSTRINGS = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")
TYPES = "numpy._typing"


def import_numpy() -> None:
    """Imports numpy with its random numbers. Where numpy has no such modules, it is imported as it is."""
    if "numpy" in sys.modules:
        return
    left_out = {name: ModuleType(name) for name in DOCSTRINGS} | {TYPES: _Types(TYPES)}
    sys.modules.update(left_out)
    try:
        import numpy
    finally:
        # Whoever imports the types later gets the real ones.
        for name in left_out:
            sys.modules.pop(name, None)
    import numpy.random  # noqa: F401


class _Types(ModuleType):
    """Stands for the module of types while numpy is imported. numpy only annotates with them then."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Type


class _Type:
    def __class_getitem__(cls, of: Any) -> type[_Type]:
        return cls

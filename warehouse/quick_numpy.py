"""numpy, imported without what the answers of commands do not need: its docstrings, its types for annotations, and
OpenSSL. That is a fifth of its import.

Commands import it so, because they end after one answer. Sessions in Python import numpy as it is. This module must not
change what numpy computes.
"""

from __future__ import annotations

import random
import sys
from types import ModuleType
from typing import Any

DOCSTRINGS = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")
TYPES = "numpy._typing"
SEEDS = "secrets"
"""numpy takes seeds from there where it is given none. It would import OpenSSL for other functions."""


def import_numpy() -> None:
    """Imports numpy with its random numbers. Where numpy has no such modules, it is imported as it is."""
    if "numpy" in sys.modules:
        return
    stand_ins = {name: ModuleType(name) for name in DOCSTRINGS} | {TYPES: _Types(TYPES), SEEDS: _seeds()}
    new = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    sys.modules.update(new)
    try:
        import numpy.random  # noqa: F401
    finally:
        # Whoever imports one of them later gets the real one.
        for name in new:
            sys.modules.pop(name, None)


def _seeds() -> ModuleType:
    seeds = ModuleType(SEEDS)
    seeds.__dict__["randbits"] = random.SystemRandom().getrandbits
    return seeds


class _Types(ModuleType):
    """Stands for the module of types while numpy is imported. numpy only annotates with them then."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Type


class _Type:
    def __class_getitem__(cls, of: Any) -> type[_Type]:
        return cls

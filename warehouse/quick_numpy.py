"""numpy, imported without what the answers of commands do not need: its docstrings, its types for annotations, OpenSSL,
and modules of Python that it uses in few functions. That is nearly half of its import.

Commands import it so, because they end after one answer. Sessions in Python import numpy as it is. This module must not
change what numpy computes.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False
"""The value that type checkers take for true. Importing typing would make `--help` slower."""

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from typing import Any

DOCSTRINGS = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")
TYPES = "numpy._typing"
SEEDS = "secrets"
"""numpy takes seeds from there where it is given none. It would import OpenSSL for other functions."""
SIGNATURES = "inspect"
LATER = ("ast", "ctypes", SIGNATURES, "pickle", "platform", "textwrap")
"""These are imported when numpy first needs something of them, which few functions do."""


def import_numpy_quickly() -> None:
    """From here on, numpy is imported so, whoever imports it first. If it is there already, it stays as it is."""
    sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds numpy as Python does, and has it executed by `_Loader`."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "numpy":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec


class _Loader:
    """Executes numpy, and imports its random numbers, while other modules stand for those that are left out."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = self._loader
        later = {name: _Later(name) for name in LATER}
        # Nobody is shown docstrings and signatures.
        shown = {"cleandoc": lambda docstring: docstring, "signature": lambda function: None}
        vars(later[SIGNATURES]).update(shown)
        stand_ins = {name: ModuleType(name) for name in DOCSTRINGS} | later | {TYPES: _Types(TYPES), SEEDS: _seeds()}
        new = {name: stand_in for name, stand_in in stand_ins.items() if name not in sys.modules}
        sys.modules.update(new)
        try:
            self._loader.exec_module(module)
            import numpy.random  # noqa: F401
        finally:
            for name in shown:
                delattr(later[SIGNATURES], name)
            # Whoever imports one of them later gets the real one.
            for name, stand_in in new.items():
                _remove(name, stand_in)


def _remove(name: str, stand_in: ModuleType) -> None:
    # Another thread may do the same.
    if sys.modules.get(name) is stand_in:
        sys.modules.pop(name, None)


def _imported(name: str) -> ModuleType:
    """A module that another stood for."""
    match name:
        case "ast":
            import ast  # noqa: F401
        case "ctypes":
            import ctypes  # noqa: F401
        case "inspect":
            import inspect  # noqa: F401
        case "pickle":
            import pickle  # noqa: F401
        case "platform":
            import platform  # noqa: F401
        case "textwrap":
            import textwrap  # noqa: F401
    return sys.modules[name]


def _seeds() -> ModuleType:
    import random

    seeds = ModuleType(SEEDS)
    seeds.__dict__["randbits"] = random.SystemRandom().getrandbits
    return seeds


class _Later(ModuleType):
    """Stands for a module until something of it is needed, and then passes on what the module has."""

    def __getattr__(self, name: str) -> Any:
        _remove(self.__name__, self)
        return getattr(_imported(self.__name__), name)


class _Types(ModuleType):
    """Stands for the module of types while numpy is imported. numpy only annotates with them then."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Type


class _Type:
    def __class_getitem__(cls, of: Any) -> type[_Type]:
        return cls

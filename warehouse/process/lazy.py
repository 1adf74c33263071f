"""Entries of tables that are imported when they are first used, so that a command loads no more of the program than it
needs. A table names them as "module:name".

Only tables use it: everywhere else, imports are statements. `tests/test_architecture.py` finds every name given here,
and counts it as an import of the module that names it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Lazy:
    """Something that is imported by its name. Calling it imports and calls it."""

    def __init__(self, address: str) -> None:
        self.address = address

    def load(self) -> Any:
        """What is named."""
        module, _, name = self.address.partition(":")
        return getattr(import_module(module), name)

    def __call__(self, *args: Any) -> Any:
        return self.load()(*args)


def lazy(address: str) -> Lazy:
    """What a module calls by a name: "evalhouse.warehouse.statements.score:SCORE"."""
    return Lazy(address)

"""A question of a table in memory, without a warehouse: one is made of it, asked, and kept with the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.python.asking import created
from warehouse.python.printed_result import PrintedResult

_OF_LOADING = ("data", "cluster", "set", "map", "lower_is_better")


def asked_of(word: str, given: Mapping[str, Any]) -> PrintedResult:
    """The answer to the statement that begins with `word`, asked of what `data` is. Raises LoadError and QueryError."""
    warehouse = created(None)
    fields = dict(given["set"] or {})
    if given.get("cluster") is not None:
        fields["cluster"] = given["cluster"]
    warehouse.load(given["data"], set=fields, map=given["map"], lower_is_better=given["lower_is_better"] or ())
    arguments = {name: value for name, value in given.items() if name not in _OF_LOADING}
    method = getattr(warehouse, word)
    positional = [arguments.pop("measures"), *arguments.pop("systems", ())]
    result: PrintedResult = method(*positional, **arguments)
    return result

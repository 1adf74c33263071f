"""Asks a question about a table in memory. It makes a temporary warehouse, asks it, and keeps it with the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from msgspec.structs import replace

from grammar.editing.hints import hints
from warehouse.faults import DataError, Fault
from warehouse.loading.staging.wide_columns import NO_DOCUMENT
from warehouse.python.asking import Warehouse, created
from warehouse.python.printed_result import PrintedResult
from warehouse.python.spoken import in_full
from warehouse.results import Result
from warehouse.tasks.observed import PLAIN_NOUN

_OF_LOADING = ("data", "cluster", "set", "map", "lower_is_better")


def asked_of(word: str, given: Mapping[str, Any]) -> PrintedResult:
    """The answer to the statement that begins with `word`, asked about `data`. Warnings about the data are among its
    notes. Raises LoadError and QueryError.
    """
    from warehouse.loading.readers.wide import TAKEN_FOR

    warehouse = created(None)
    fields = dict(given["set"] or {})
    if given.get("cluster") is not None:
        fields["cluster"] = given["cluster"]
    loaded = warehouse.load(given["data"], set=fields, map=given["map"], lower_is_better=given["lower_is_better"] or ())
    if not warehouse.session.catalog.test_sets:
        in_full(lambda: _refuse_attributes(loaded))
    if "cluster" in fields:
        in_full(lambda: _check_cluster(warehouse, fields["cluster"]))
    arguments = {name: value for name, value in given.items() if name not in _OF_LOADING}
    method = getattr(warehouse, word)
    positional = [arguments.pop("measures"), *arguments.pop("systems", ())]
    result: PrintedResult = method(*positional, **arguments)
    notes = (note for note in loaded.notes if not note.startswith(TAKEN_FOR))
    return PrintedResult.of(replace(result, notes=(*notes, *result.notes)), warehouse.run)


def _refuse_attributes(loaded: Result) -> NoReturn:
    """Raises LoadError for tables without data about documents."""
    sources = (str(row["source"]) for row in loaded.rows)
    raise DataError(tuple(Fault(source, None, f"it has attributes alone: {NO_DOCUMENT}") for source in sources))


def _check_cluster(warehouse: Warehouse, cluster: str) -> None:
    """Raises LoadError if no document has the attribute. A warehouse could get such documents later; a single table
    cannot.
    """
    attributes = warehouse.session.catalog.attributes["document"]
    attribute = cluster.strip().removeprefix(f"{PLAIN_NOUN}.")
    if attribute not in (PLAIN_NOUN, *attributes):
        fault = Fault("cluster", None, f"no document has the attribute '{attribute}'")
        raise DataError((fault,), hints=hints(attribute, attributes, "attributes of documents"))

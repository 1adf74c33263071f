"""One question about a table in memory: `eh.compare(frame, …)` and its kin.

A temporary warehouse is made from the table, asked, and kept with the answer. Two arrays of plain numbers need none,
since `evalhouse.warehouse.python.arrays` compares them as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

from msgspec.structs import replace

from evalhouse.grammar.editing.hints import hints
from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.kinds import NUMBERS
from evalhouse.warehouse.kinds.kind import PLAIN_NOUN
from evalhouse.warehouse.loading.readers.table import TAKEN_FOR
from evalhouse.warehouse.loading.staging.columns import NO_DOCUMENT
from evalhouse.warehouse.measures import find_measure
from evalhouse.warehouse.measures.numbers import TRUTH
from evalhouse.warehouse.python import arrays
from evalhouse.warehouse.python.frames import (
    TWO,
    columns_of_numbers,
    two_arrays,
    with_systems_as_columns,
    with_true_numbers,
)
from evalhouse.warehouse.python.printed_result import PrintedResult
from evalhouse.warehouse.python.text import in_full, statement_text
from evalhouse.warehouse.python.warehouse import Warehouse, create_warehouse
from evalhouse.warehouse.results import Result

_OF_LOADING = ("data", "cluster", "set", "map", "lower_is_better", "share")


def answer(word: str, given: Mapping[str, Any]) -> PrintedResult:
    """The answer to the statement that begins with `word`, asked about `data`. Warnings about the data are among its
    notes. Raises LoadError and QueryError.
    """
    table = _arrays(given)
    if table is None:
        try:
            return _answer_from_warehouse(word, given, *_data_of(given))
        except DataError as error:
            return in_full(partial(_refuse, error, word, given))
    given = {**given, "measures": arrays.VALUE, "systems": given["systems"] or TWO}
    if not any(given[name] for name in _OF_LOADING if name != "data"):
        compared = in_full(lambda: arrays.compare_arrays(table, statement_text(word, given)))
        if compared is not None:
            return PrintedResult.of(compared, lambda text: _stored(given, table, arrays.HOW)[0].run(text))
    return _answer_from_warehouse(word, given, table, arrays.HOW)


def _answer_from_warehouse(word: str, given: Mapping[str, Any], data: Any, options: Mapping[str, Any]) -> PrintedResult:
    """The answer from a warehouse of its own, in which the data are loaded."""
    warehouse, loaded = _stored(given, data, options)
    arguments = {name: value for name, value in given.items() if name not in _OF_LOADING}
    method = getattr(warehouse, word)
    positional = [arguments.pop("measures"), *arguments.pop("systems", ())]
    result: PrintedResult = method(*positional, **arguments)
    notes = (note for note in loaded.notes if not note.startswith(TAKEN_FOR))
    return PrintedResult.of(replace(result, notes=(*notes, *result.notes)), warehouse.run)


def _stored(given: Mapping[str, Any], data: Any, options: Mapping[str, Any]) -> tuple[Warehouse, PrintedResult]:
    """A warehouse with the data alone, and what their load reported."""
    warehouse = create_warehouse(None)
    fields = dict(given["set"] or {})
    if given.get("cluster") is not None:
        fields["cluster"] = given["cluster"]
    lower, share = given["lower_is_better"] or (), given["share"] or ()
    loaded = warehouse.load(data, set=fields, map=given["map"], lower_is_better=lower, share=share, **options)
    if not warehouse.session.catalog.test_sets:
        in_full(lambda: _refuse_attributes(loaded))
    if "cluster" in fields:
        in_full(lambda: _check_cluster(warehouse, fields["cluster"]))
    return warehouse, loaded


def _arrays(given: Mapping[str, Any]) -> dict[str, list[Any]] | None:
    """The table of two arrays that stand in the place of data and measures, None where they are anything else."""
    if given["measures"] is None or isinstance(given["measures"], str):
        return None
    return in_full(lambda: two_arrays(given["data"], given["measures"]))


def _refuse(error: DataError, word: str, given: Mapping[str, Any]) -> NoReturn:
    """Raises the error again. If every column has numbers, it says how they are taken for systems."""
    columns = columns_of_numbers(given["data"]) if given["measures"] is None else []
    if len(columns) < 2:
        raise error
    listed = ", ".join(f'"{name}"' for name in columns[:2])
    raise DataError(
        error.faults, error.total, (*error.hints, f'eh.{word}(data, "score", {listed}) takes columns for systems')
    )


def _data_of(given: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """The data of a question, and how they are read: as predicted numbers if the measure is of these and they have true
    ones, and with a column for each system, if they have these.
    """
    data, measure = given["data"], given["measures"]
    systems = [name for name in (*given.get("systems", ()), given.get("against")) if isinstance(name, str)]
    names = [name.strip() for name in measure.split(",")] if isinstance(measure, str) else list(measure or ())
    if names and all(isinstance(name, str) and find_measure(name, NUMBERS.name) for name in names):
        numbers = with_true_numbers(data, (given["map"] or {}).get(TRUTH))
        if numbers is not None:
            return numbers, {"as_": NUMBERS.name}
    if not isinstance(measure, str):
        return data, {}
    pivot = with_systems_as_columns(data, measure, systems)
    return (data, {}) if pivot is None else (pivot, {"as_": "table", "wide": "systems", "measure": measure})


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

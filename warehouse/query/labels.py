"""What results are called: captions, and the signature that names all that decides the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warehouse.query import plan as p
from warehouse.store.catalog import Catalog
from warehouse.version import __version__


def on(fields: Sequence[p.Field]) -> str:
    """The test sets of a question."""
    return ", ".join(field.test_set.name for field in fields)


def some(names: Sequence[str]) -> str:
    """Up to five names, and how many more there are."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def simulated(fields: Iterable[p.Field], catalog: Catalog) -> bool:
    """Whether anything that decides the numbers was simulated."""
    return any(catalog.simulated(field.task, field.test_set.id) for field in fields)


def title(what: str, fields: Sequence[p.Field], catalog: Catalog) -> str:
    """A caption: what, and in brackets the tasks, and whether the data are simulated."""
    tasks = list(dict.fromkeys(field.task for field in fields))
    return f"{what} ({', '.join([*tasks, *(['simulated data'] if simulated(fields, catalog) else [])])})"


def signature(text: str, fields: Sequence[p.Field], catalog: Catalog, *deciding: str) -> str:
    """Statement, task, whatever else decides the numbers, a fingerprint of the data, and the version."""
    tasks = ", ".join(dict.fromkeys(field.task for field in fields))
    data = "+".join(catalog.fingerprint(field.task, field.test_set.id) for field in fields)
    defined = {
        f"{statistic.measure.name} = {statistic.measure.meaning}"
        for field in fields
        for statistic in field.statistics
        if statistic.measure.expression is not None
    }
    parts = [text, f"task {tasks}", *sorted(defined), *deciding, f"data {data}", f"evalhouse {__version__}"]
    return " | ".join(parts)

"""What results are called: captions, and the signature that names all that decides the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warehouse.query import plan as p
from warehouse.version import __version__


def on(entries: Sequence[p.Entry]) -> str:
    """The test sets of a question."""
    return ", ".join(entry.test_set.name for entry in entries)


def some(names: Sequence[str]) -> str:
    """Up to five names, and how many more there are."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def simulated(entries: Iterable[p.Entry]) -> bool:
    """Whether anything that decides the numbers was simulated."""
    return any(entry.simulated for entry in entries)


def title(what: str, entries: Sequence[p.Entry]) -> str:
    """A caption: what, and in brackets the tasks, and whether the data are simulated."""
    tasks = list(dict.fromkeys(entry.task.name for entry in entries))
    return f"{what} ({', '.join([*tasks, *(['simulated data'] if simulated(entries) else [])])})"


def signature(text: str, entries: Sequence[p.Entry], *deciding: str) -> str:
    """Statement, task, whatever else decides the numbers, a fingerprint of the data, and the version."""
    tasks = ", ".join(dict.fromkeys(entry.task.name for entry in entries))
    data = "+".join(entry.fingerprint for entry in entries)
    defined = {
        f"{statistic.measure.name} = {statistic.measure.meaning}"
        for entry in entries
        for statistic in entry.statistics
        if statistic.measure.defined
    }
    parts = [text, f"task {tasks}", *sorted(defined), *deciding, f"data {data}", f"evalhouse {__version__}"]
    return " | ".join(parts)

"""Runs of a model. A second run is a replicate: a system of its own beside the first, and never a contradiction.

The first run of a model on a test set is stored under the name of the model, and later ones as `model#2`, `model#3` and
so on. A run is identified by its id, or by its date if it has no id. A run that is already stored keeps its name, so
loading its files again adds nothing. What a run did is not known here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING
from unicodedata import normalize

from msgspec import Struct
from msgspec.structs import replace

from warehouse.store.sql import Sql

if TYPE_CHECKING:
    from warehouse.store.database import Database


class Run(Struct, frozen=True):
    """A run of a model on a test set, with its id and date, and the name of the system under which it is stored."""

    test_set: str
    model: str
    id: str | None
    date: str | None
    system: str = ""

    @property
    def told_by(self) -> str | None:
        """What identifies the run among the runs of the model: its id or its date."""
        return self.id or self.date


Brought = dict[tuple[str, str, str], Run]
"""The runs in a file, by test set, model and what identifies them."""


def system_of(database: Database, brought: Brought, run: Run) -> str:
    """The name of the system under which a run is stored; the run is added to those of the file. If nothing identifies
    the run, it is the name of the model.
    """
    run = replace(run, test_set=_name(run.test_set), model=_name(run.model))
    if run.told_by is None:
        return run.model
    key = run.test_set, run.model, run.told_by
    if key not in brought:
        brought[key] = replace(run, system=_free([*_stored(database, run.model), *brought.values()], run))
    return brought[key].system


def systems_of(database: Database, runs: Sequence[Run]) -> list[Run]:
    """The runs with their system names. If a model has several runs on a test set, they are called `model#1`, `model#2`
    and so on.
    """
    stored: dict[str, list[Run]] = {}
    for run in _stored(database):
        stored.setdefault(run.model, []).append(run)
    several = Counter((run.test_set, run.model) for run in runs)
    named = []
    for run in runs:
        others = stored.setdefault(run.model, [])
        others.append(replace(run, system=_free(others, run, several[run.test_set, run.model] > 1)))
        named.append(others[-1])
    return named


def _name(text: str) -> str:
    """A name as it is stored."""
    return normalize("NFC", text.strip())


def _free(runs: list[Run], run: Run, numbered: bool = False) -> str:
    """The name that the run already has, on its test set, or on another test set if that name is free here; otherwise
    the next free name.

    With `numbered`, the first run gets a number too.
    """
    runs = [other for other in runs if other.model == run.model]
    here = {other.system: other for other in runs if other.test_set == run.test_set}
    same = [other for other in runs if other.told_by == run.told_by]
    for other in sorted(same, key=lambda other: other.test_set != run.test_set):
        if other.test_set == run.test_set or other.system not in here:
            return other.system
    first = f"{run.model}#1" if numbered or any(other.system == f"{run.model}#1" for other in runs) else run.model
    names = (f"{run.model}#{number}" if number > 1 else first for number in count(1))
    return next(name for name in names if name not in here)


def _stored(database: Database, model: str | None = None) -> list[Run]:
    rows = database.rows(
        Sql(
            "select t.name, r.model, r.run, r.date, s.name from run r join test_set t on t.id = r.test_set_id "
            "join system s on s.id = r.system_id where r.model = coalesce(?, r.model)",
            (model,),
        )
    )
    return [Run(*row) for row in rows]

"""Which of the systems that a load brought are runs of one model, and the note that says what statements make of them.

Runs are told apart and named while files are read (`staging/staged.py`); nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.loading.staging.columns import REPLICATES, plain
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql, values

NAMED = 3
"""How many models or test sets are named."""


class RunsBrought(Struct, frozen=True):
    """The models of the systems of a load that have several runs, by system, and how many runs each has, by test set
    and model.
    """

    models: Mapping[str, str]
    counts: Mapping[tuple[str, str], int]
    unlike: Mapping[tuple[str, str], Sequence[str]] = {}
    """By model and attribute of systems, the values in which its runs differ, if they are no replicates by its name."""

    def notes(self) -> tuple[str, ...]:
        """What the runs are to statements, and in what they differ."""
        unlike = (
            f"the runs of {model} differ in {attribute} ({_some(list(of))}), and a system is the mean over its runs; "
            "--map system=COLUMN or --set system=NAME makes systems of them"
            for (model, attribute), of in self.unlike.items()
        )
        return tuple(filter(None, (self.note(), *unlike)))

    def note(self) -> str:
        """What the runs are to statements; empty where no model has several."""
        if not self.counts:
            return ""
        models = sorted({model for _, model in self.counts})
        test_sets = sorted({test_set for test_set, _ in self.counts})
        fewest, most = min(self.counts.values()), max(self.counts.values())
        have = "has" if len(models) == 1 else "have"
        many = f"{f'{fewest} to ' if fewest < most else ''}{quantity(most, 'run')}"
        apiece = " each" if len(models) > 1 or len(test_sets) > 1 else ""
        return (
            f"{_some(models)} {have} {many}{apiece} on {_some(test_sets)}{self._fewer()}: a system is the mean over "
            "its runs, and runs apart shows each"
        )

    def _fewer(self) -> str:
        """Which models have fewer runs on a test set than on another, and how many."""
        most: dict[str, int] = {}
        for (_, model), number in self.counts.items():
            most[model] = max(number, most.get(model, 0))
        fewer = [
            f"{number} of {model} on {test_set}"
            for (test_set, model), number in sorted(self.counts.items())
            if number < most[model]
        ]
        return f" (only {_some(fewer)})" if fewer else ""


def runs_brought(database: Database, systems: Collection[str]) -> RunsBrought:
    """What there is to say of the runs of these systems, on all test sets where a model of theirs has several."""
    if not systems:
        return RunsBrought({}, {})
    rows = database.rows(
        Sql("select t.name, r.model, s.name from run r join test_set t on t.id = r.test_set_id ")
        + "join system s on s.id = r.system_id where r.model in (select model from run "
        + "join system on system.id = run.system_id where system.name in "
        + values(sorted(systems))
        + ")"
    )
    runs: dict[tuple[str, str], set[str]] = {}
    for test_set, model, system in rows:
        runs.setdefault((str(test_set), str(model)), set()).add(str(system))
    several = {model for (_, model), names in runs.items() if len(names) > 1}
    of_several = {key: names for key, names in runs.items() if key[1] in several}
    models = {name: model for (_, model), names in of_several.items() for name in names}
    return RunsBrought(models, {key: len(names) for key, names in of_several.items()}, _unlike(database, models))


def _unlike(database: Database, models: Mapping[str, str]) -> dict[tuple[str, str], list[str]]:
    """The attributes in which runs of a model differ."""
    if not models:
        return {}
    rows = database.rows(
        "select distinct s.name, a.name, a.value from system_attribute a join system s on s.id = a.system_id "
        "where a.name <> 'model' and s.name in " + values(sorted(models)) + " order by all"
    )
    of_runs: dict[tuple[str, str], dict[str, None]] = {}
    for system, attribute, said in rows:
        if plain(str(attribute)) not in REPLICATES:
            of_runs.setdefault((models[str(system)], str(attribute)), {})[str(said)] = None
    return {key: list(of) for key, of in of_runs.items() if len(of) > 1}


def models_of(systems: Iterable[str], runs: RunsBrought) -> set[str]:
    """The systems as statements know them."""
    return {runs.models.get(system, system) for system in systems}


def _some(names: list[str]) -> str:
    more = len(names) - NAMED
    if more > 0:
        return f"{', '.join(names[:NAMED])} and {more:,} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))

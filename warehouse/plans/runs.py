"""What systems are made of: the runs of a model are one system, its seeds, epochs and repeats, unless a statement asks
for other replicates, or for runs apart.

Conditions on systems choose among the runs before they are put together. Nothing is averaged here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any
from unicodedata import normalize

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import listing
from evalhouse.grammar.errors import QueryError, Span
from evalhouse.grammar.lexicon import is_bare_name, quote
from evalhouse.warehouse.kinds import Kind
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.conditions import COMPARED, dimension_of, filter_of, like_text
from evalhouse.warehouse.plans.fact_rows import dimensions
from evalhouse.warehouse.plans.names import UNSAID_ATTRIBUTES, Scope, like, matching
from evalhouse.warehouse.store.catalog import KnownTestSet

# === what a statement says of runs ====================================================================================


class SaidOfRuns(Struct, frozen=True):
    """What a statement says of what systems are made of, and of which runs it is asked. What `needs_runs` takes them
    all together, even where each system has only one.
    """

    replicates: n.Attribute | None = None
    apart: bool = False
    where: n.Condition | None = None
    needs_runs: bool = False


NOTHING_SAID = SaidOfRuns()


class NoReplicatesError(QueryError):
    """Rows that have no replicates; no error where the question is asked of all test sets."""


# === the systems of a test set ========================================================================================


class Present(Struct, frozen=True):
    """The systems that have rows for a kind on a test set, by name. `runs` are single runs of some of them, which can
    be asked for by their names, and `models` the names of the runs of a model, where runs are systems.
    """

    systems: Mapping[str, int]
    replicates: p.Replicates | None = None
    runs: Mapping[str, int] = {}
    models: Mapping[str, tuple[str, ...]] = {}
    conditions: bool = False
    """Whether conditions on systems have chosen among the runs."""

    @property
    def names(self) -> list[str]:
        """All names that mean something here."""
        return [*self.systems, *self.runs, *self.models]

    def find(self, item: Any) -> list[p.StoredSystem]:
        """The systems that a name, a pattern or `all` means; nothing where it means none. Two of one name are two that
        it could mean.
        """
        if isinstance(item, n.All):
            return [p.StoredSystem(self.systems[name], name) for name in sorted(self.systems)]
        if isinstance(item, n.Pattern):
            return self._like(item.text)
        return self._named(item.text) if isinstance(item, n.Name | n.Text) else []

    def runs_of(self, text: str) -> list[p.StoredSystem]:
        """The runs of the model of a name, where runs stand apart and no system has the name."""
        models = [] if matching(text, self.systems.items()) else matching(text, self.models.items())
        return [p.StoredSystem(self.systems[name], name) for names in models[:1] for name in names]

    def like_runs(self, text: str) -> list[str]:
        """The names of the runs of a model, where a text has the form of one of them: base#7."""
        model = text.rpartition("#")[0].casefold()
        return [name for name in self.runs if model and name.rpartition("#")[0].casefold() == model]

    def _like(self, pattern: str) -> list[p.StoredSystem]:
        for known in (self.systems, self.runs):
            if found := [name for name in sorted(known) if like(name, pattern)]:
                return [p.StoredSystem(known[name], name) for name in found]
        of_models = (name for model in sorted(self.models) if like(model, pattern) for name in self.models[model])
        return [p.StoredSystem(self.systems[name], name) for name in of_models]

    def _named(self, text: str) -> list[p.StoredSystem]:
        for known in (self.systems, self.runs):
            if found := matching(text, [(name, p.StoredSystem(number, name)) for name, number in known.items()]):
                return found
        # The only run of a system is the system.
        alone = [(f"{name}#1", p.StoredSystem(number, name)) for name, number in self.systems.items() if number > 0]
        return matching(text, alone)


def present_on(scope: Scope, kind: Kind, test_set: KnownTestSet, said: SaidOfRuns, items: Iterable[Any]) -> Present:
    """The systems that have rows for a kind on a test set. Where all items are names of stored systems that have rows
    and are no runs, no others need be known.
    """
    catalog = scope.catalog
    items = list(items)
    stored = said.replicates is None and not said.needs_runs
    if stored and (few := _few_named(scope, kind, test_set, items)) is not None:
        return Present(few)
    there = catalog.systems_with(kind.name, test_set.id)
    if said.replicates is not None:
        found = _replicates_by(said.replicates, scope, kind, test_set, there)
        return Present(found.systems, found)
    if stored and not any(system in catalog.models for system in there):
        return Present({catalog.system_names[system]: system for system in there})
    called = {system: catalog.run_names.get(system, catalog.system_names[system]) for system in there}
    of_models: dict[str, tuple[str, ...]] = {}
    for system in sorted((system for system in there if system in catalog.models), key=lambda run: _order(called[run])):
        of_models[catalog.models[system]] = (*of_models.get(catalog.models[system], ()), called[system])
    if said.apart:
        return Present({name: system for system, name in called.items()}, models=of_models)
    every_run = _grouped(scope, "", there)
    replicates = _choose(every_run, said.where, scope, kind, test_set)
    chosen = {run for _, many in replicates.runs for run in many}
    # A stored system that a model shares its name with is one of its runs.
    single = {name: system for system, name in called.items() if system in catalog.models and name not in of_models}
    return Present(
        replicates.systems,
        replicates,
        runs={} if said.needs_runs else {name: system for name, system in single.items() if system in chosen},
        models={model: (name,) for model, name in zip(every_run.names, replicates.names, strict=True) if model != name},
        conditions=replicates is not every_run,
    )


def present_beside(entry: p.Entry, said: SaidOfRuns, scope: Scope, item: Any) -> Present:
    """The systems among which one is sought that those of an entry are held against."""
    made_of = entry.units.made_of
    if made_of is not None:
        return Present(made_of.systems, made_of)
    return present_on(scope, entry.kind, scope.known(entry.test_set), said, (item,))


def _few_named(scope: Scope, kind: Kind, test_set: KnownTestSet, items: list[Any]) -> dict[str, int] | None:
    """The systems that are named, where they are stored, have rows and are no runs of others."""
    catalog = scope.catalog
    if not all(isinstance(item, n.Name | n.Text) for item in items):
        return None
    written = {_folded(item.text) for item in items}
    meant = {number for name, number in catalog.systems.items() if name.casefold() in written}
    if any(number in catalog.models for number in meant):
        return None
    numbers = catalog.with_rows(kind.name, test_set.id, meant)
    if not written <= {catalog.system_names[number].casefold() for number in numbers}:
        return None
    return {catalog.system_names[number]: number for number in numbers}


def _folded(text: str) -> str:
    return normalize("NFC", text).casefold()


def _order(name: str) -> list[tuple[int, str]]:
    """Names with numbers in them in the order of the numbers: base#2, base#10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split("([0-9]+)", name) if part]


# === systems made of others ===========================================================================================


def _grouped(scope: Scope, attribute: str, there: Collection[int]) -> p.Replicates:
    """The systems that some stored ones are runs of, on all test sets by the same numbers."""
    catalog = scope.catalog
    everywhere = catalog.replicates(attribute, catalog.system_names)
    several = sorted(name for name, runs in everywhere.items() if len(runs) > 1)
    numbers = {name: -place for place, name in enumerate(several, 1)}
    groups = catalog.replicates(attribute, there)
    runs = tuple((numbers.get(name, many[0]), many) for name, many in groups.items())
    return p.Replicates(attribute, runs, tuple(groups))


def _replicates_by(
    node: n.Attribute, scope: Scope, kind: Kind, test_set: KnownTestSet, there: Collection[int]
) -> p.Replicates:
    """The runs of each system, as they were asked for. Raises QueryError where they cannot be told apart or put
    together.
    """
    if node.of.casefold() != "system" or not node.name:
        raise QueryError(
            "replicates are runs that share an attribute of systems", node.span, ("write replicates by system.NAME",)
        )
    if not kind.by_document:
        raise NoReplicatesError("published figures have no documents, so they have no replicates", node.span)
    first, second = UNSAID_ATTRIBUTES
    known = scope.catalog.attributes["system"]
    if node.name == first and first not in known and second in known:
        # Runs that were loaded as runs say which model they are of.
        node = n.Attribute("system", second, span=node.span)
    attribute = dimension_of(scope, node, kind).attribute
    found = _grouped(scope, attribute, there)
    having = scope.catalog.values_of(attribute)
    for name, (_, many) in zip(found.names, found.runs, strict=True):
        own = scope.catalog.systems.get(name)
        if own in many and len(many) > 1 and own not in having:
            raise QueryError(
                f"{name} is a system, and also the system.{attribute} of others on {test_set.name}",
                node.span,
                (f"if it is one of these replicates, give it system.{attribute} too",),
            )
    return found


def unsaid_replicates(scope: Scope, span: Span) -> n.Attribute | None:
    """What statements about replicates go by where nothing is said: None is the runs of models, if there are any."""
    return None if scope.catalog.models else n.Attribute("system", UNSAID_ATTRIBUTES[0], span=span)


def has_replicates(scope: Scope) -> bool:
    """Whether any system has runs, or an attribute that makes systems replicates unless another is named."""
    known = scope.catalog.attributes["system"]
    return bool(scope.catalog.models) or any(attribute in known for attribute in UNSAID_ATTRIBUTES)


def without_runs(replicates: p.Replicates, runs: Collection[int]) -> p.Replicates:
    """The same systems without some of their runs."""
    kept = ((system, tuple(run for run in many if run not in runs)) for system, many in replicates.runs)
    return replace(replicates, runs=tuple(kept))


def with_runs(replicates: p.Replicates, systems: Iterable[p.System]) -> p.Replicates:
    """The same, and each stored system that is asked for by itself as one of a single run."""
    known = dict(replicates.runs)
    single = [system for system in systems if isinstance(system, p.StoredSystem) and system.id not in known]
    return replace(
        replicates,
        runs=(*replicates.runs, *((system.id, (system.id,)) for system in single)),
        names=(*replicates.names, *(system.name for system in single)),
    )


# === which runs are meant =============================================================================================
# Conditions on systems are true of runs: `system.seed = 1` chooses the runs of that seed, whatever their systems are
# called, and what remains of a system is averaged.


def _choose(
    replicates: p.Replicates, where: n.Condition | None, scope: Scope, kind: Kind, test_set: KnownTestSet
) -> p.Replicates:
    """The runs that meet what a condition says of systems. Raises QueryError where it says something of systems and of
    documents in one.
    """
    conditions = []
    for condition, part, alone in _of_systems(where, scope, kind):
        if not alone:
            raise QueryError(
                "a condition on systems must stand alone or be joined by 'and', where systems have several runs",
                part.span,
                ("it chooses the runs that are averaged; runs apart has each run by itself",),
            )
        conditions.append(condition)
    if not conditions:
        return replicates
    refused = {
        run
        for name, (_, many) in zip(replicates.names, replicates.runs, strict=True)
        for run in many
        if not all(_meets(condition, run, name, scope, test_set) for condition in conditions)
    }
    chosen = without_runs(replicates, refused)
    if not any(many for _, many in chosen.runs) and where is not None:
        names = [scope.catalog.run_names.get(run, "") for _, many in replicates.runs for run in many]
        known = listing([name for name in names if name], "runs")
        raise QueryError(f"no run on {scope.catalog.short_name(test_set)} meets the condition", where.span, known)
    if where is None:
        return chosen
    return replace(chosen, names=tuple(_names_of_chosen(chosen, where, scope, kind, test_set)))


def _of_systems(where: n.Condition | None, scope: Scope, kind: Kind) -> Iterator[tuple[p.Filter, n.Condition, bool]]:
    """The parts of a condition that say something of systems, and whether each says it of systems alone."""
    for part in where.conditions if isinstance(where, n.And) else () if where is None else (where,):
        condition = filter_of(scope, part, kind)
        spoken_of = {dimension.of for dimension in dimensions(condition)}
        if condition is not None and "system" in spoken_of:
            yield condition, part, len(spoken_of) == 1


def meeting(
    systems: Iterable[int], where: n.Condition | None, scope: Scope, kind: Kind, test_set: KnownTestSet
) -> list[int]:
    """Those of some stored systems that meet what a condition says of systems alone."""
    conditions = [condition for condition, _, alone in _of_systems(where, scope, kind) if alone]
    return [
        system
        for system in systems
        if all(
            _meets(condition, system, scope.catalog.names_of([system])[0], scope, test_set) for condition in conditions
        )
    ]


def _names_of_chosen(
    chosen: p.Replicates, where: n.Condition, scope: Scope, kind: Kind, test_set: KnownTestSet
) -> Iterator[str]:
    """The names of systems of which conditions have chosen runs: where a single one is left of a model that has
    several, it is that run, and not the model. Runs of other test sets count, so that names are the same on all; but
    the latest run is that of each test set.
    """
    everywhere = scope.catalog.replicates("", scope.catalog.system_names)
    of_test_set = _asks_for_latest(where)
    for name, (_, here) in zip(chosen.names, chosen.runs, strict=True):
        many = here if of_test_set else meeting(everywhere[name], where, scope, kind, test_set)
        yield scope.catalog.run_names.get(many[0], name) if len(many) == 1 else name


def _asks_for_latest(where: n.Condition) -> bool:
    """Whether a condition is true of other runs on another test set."""
    match where:
        case n.Not(condition=condition):
            return _asks_for_latest(condition)
        case n.And(conditions=conditions) | n.Or(conditions=conditions):
            return any(map(_asks_for_latest, conditions))
        case _:
            return isinstance(where, n.IsLatest)


def runs_there(
    systems: Iterable[p.StoredSystem],
    replicates: p.Replicates,
    excepted: Collection[int],
    where: n.Condition | None,
    scope: Scope,
    kind: Kind,
    test_set: KnownTestSet,
) -> tuple[p.RunsThere, ...]:
    """The systems that are made of the runs of a model, without single runs that were named, and which other runs of
    theirs there are on any test set.
    """
    of_models: dict[str, list[int]] = {}
    for run, model in scope.catalog.models.items():
        of_models.setdefault(model, []).append(run)
    here, found = dict(replicates.runs), []
    for system in systems:
        own = here.get(system.id, ())
        if len(of_models.get(scope.catalog.models.get(system.id, ""), ())) > 1:
            continue
        others = [run for run in of_models.get(system.name, ()) if run not in own and run not in excepted]
        lacking = meeting(others, where, scope, kind, test_set) if others else []
        named = tuple(p.StoredSystem(run, scope.catalog.run_names[run]) for run in lacking)
        found.append(p.RunsThere(system.name, len(own), tuple(sorted(named, key=lambda run: _order(run.name)))))
    return tuple(found)


def _meets(condition: p.Filter, run: int, system: str, scope: Scope, test_set: KnownTestSet) -> bool:
    """Whether a run of a system meets a condition on systems; what it lacks, it does not meet."""

    def meets(part: p.Filter) -> bool:
        return _meets(part, run, system, scope, test_set)

    def values(dimension: p.Dimension) -> tuple[str, ...]:
        if not dimension.attribute:
            names = scope.catalog.run_names, scope.catalog.system_names
            return (system, *(known[run] for known in names if run in known))
        value = scope.catalog.values_of(dimension.attribute).get(run)
        return () if value is None else (value,)

    match condition:
        case p.Joined(word, conditions):
            return all(map(meets, conditions)) if word == "and" else any(map(meets, conditions))
        case p.Negated(negated):
            return not meets(negated)
        case p.Runs():
            return run in condition.on(test_set.id)
        case p.Missing(dimension):
            return not values(dimension)
        case p.Matches(dimension, pattern):
            return any(like_text(value, pattern) for value in values(dimension))
        case p.OneOf(dimension, listed):
            return any(_compares(value, "=", wanted) for value in values(dimension) for wanted in listed)
        case p.Compared(dimension, "!=", wanted):
            there = values(dimension)
            return bool(there) and not any(_compares(value, "=", wanted) for value in there)
        case p.Compared(dimension, sign, wanted):
            return any(_compares(value, sign, wanted) for value in values(dimension))


def _compares(value: str, sign: str, wanted: p.Scalar) -> bool:
    if isinstance(wanted, Decimal):
        return COMPARED[sign](float(value), float(wanted))
    return COMPARED[sign](value, wanted)


# === what cannot be said of several runs ==============================================================================


def check_alike(
    attributes: Iterable[n.Attribute], replicates: p.Replicates, scope: Scope, kind: Kind, systems: Collection[int]
) -> None:
    """Raises QueryError where rows are split by what differs between the runs of a system."""
    if not replicates.of_models:
        return
    for node in attributes:
        dimension = dimension_of(scope, node, kind)
        if dimension.of != "system" or not dimension.attribute:
            continue
        values = scope.catalog.values_of(dimension.attribute)
        for name, (system, many) in zip(replicates.names, replicates.runs, strict=True):
            if system in systems and len({values.get(run) for run in many}) > 1:
                wrong = f"{dimension.name} differs between the runs of {name}"
                raise QueryError(wrong, node.span, ("write runs apart for each run by itself",))


def single_runs(replicates: p.Replicates, systems: Iterable[p.System], scope: Scope) -> tuple[str, ...]:
    """The lines to type where something has no value for several runs together: each run, or one of them."""
    runs, names = dict(replicates.runs), scope.catalog.run_names
    for system in systems:
        many = runs.get(system.id, ()) if isinstance(system, p.StoredSystem) else ()
        if len(many) > 1 and many[0] in names:
            return "write runs apart for each run by itself", f"or name one of them: for {typed(names[many[0]])}"
    return ("write runs apart for each run by itself",)


def typed(name: str) -> str:
    """A name as it is written in a statement."""
    return name if is_bare_name(name) else quote(name)

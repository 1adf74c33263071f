"""Which systems a question means: those named, patterns, all, and the baselines of filtering."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import brief, hints, listing, number_text
from evalhouse.grammar.errors import NOWHERE, QueryError
from evalhouse.warehouse.kinds import KINDS, Kind
from evalhouse.warehouse.measures import Measure, Statistic
from evalhouse.warehouse.measures.filtering import ALL, BOUNDS, CONVENTIONS, EXTREMES, OPTIONAL
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import some
from evalhouse.warehouse.plans.names import Scope, like, matching, synonym_of, text_of
from evalhouse.warehouse.plans.runs import (
    NOTHING_SAID,
    Present,
    SaidOfRuns,
    meeting,
    present_on,
    runs_there,
    with_runs,
    without_runs,
)
from evalhouse.warehouse.store.catalog import KnownTestSet

# === systems and baselines ============================================================================================

ALLREL = "allrel"
"""The baseline that judges every document relevant."""


class Chosen(Struct, frozen=True):
    """The systems that a question is asked for, and the runs that they are averages of; None where they are stored as
    they are. `stored` is how many systems have rows, where all are asked for; else 0. Conditions on systems have been
    met where `runs_chosen`.
    """

    systems: tuple[p.System, ...]
    replicates: p.Replicates | None = None
    stored: int = 0
    runs_chosen: bool = False
    runs_there: tuple[p.RunsThere, ...] = ()


def systems_of(
    scope: Scope,
    node: n.Systems | None,
    task: Kind,
    test_set: KnownTestSet,
    elsewhere: bool = False,
    said: SaidOfRuns = NOTHING_SAID,
    against: Any = None,
) -> Chosen:
    """The systems a question is asked for, each once, in the order they were named; `all` in the order of names.

    With `elsewhere` a system that is known, but has no rows for the task on this test set, is left out. One that others
    are held `against` is not among the systems, but among those that the runs are of.
    """
    items: tuple[Any, ...] = node.items if node else (n.All(),)
    beside = (against,) if isinstance(against, n.Name | n.Text) else ()
    present = present_on(scope, task, test_set, said, (*items, *_excepted(node), *beside))
    known = _names_anywhere(scope, present)
    excepted: dict[str, p.System] = {}
    for item in _excepted(node):
        # Whoever has rows of another kind alone is not among the systems anyway.
        if (elsewhere or _of_another_kind(scope, item, task, test_set)) and _only_elsewhere(known, item, present.names):
            continue
        excepted |= {system.name: system for system in _find_systems(scope, item, item, task, test_set, present)}
    by_name: dict[str, p.System] = {}
    for item in items:
        baseline_meant = task.has_key and isinstance(item, n.Name) and item.text.casefold() == ALLREL
        if elsewhere and not baseline_meant and _only_elsewhere(known, item, present.names):
            continue
        for system in _find_systems(scope, item, item, task, test_set, present):
            if system.name not in excepted:
                by_name.setdefault(system.name, system)
    everyone = node is None or any(isinstance(item, n.All) for item in items)
    systems = tuple(by_name.values())
    chosen = Chosen(systems, stored=len(present.systems) if everyone else 0)
    if present.replicates is None:
        return chosen
    left_out = {system.id for system in excepted.values() if isinstance(system, p.StoredSystem)}
    others = tuple(system for item in beside for system in present.find(item))
    replicates = with_runs(without_runs(present.replicates, left_out), (*systems, *others))
    wanted = tuple(system for system in (*systems, *others) if isinstance(system, p.StoredSystem))
    if replicates.of_models:
        if all(system.id > 0 for system in wanted) and not (said.needs_runs or present.conditions):
            return chosen
        _check_parts(wanted, replicates, node)
        runs = dict(replicates.runs)
        numbers = {len(runs.get(system.id, ())) for system in wanted} - {0}
        replicates = replace(replicates, fewest=min(numbers, default=0), most=max(numbers, default=0))
    # A run that is left out by name is not missing where it has no rows.
    left_out |= {run for run, name in scope.catalog.run_names.items() for item in _excepted(node) if means(item, name)}
    there = runs_there(wanted, replicates, left_out, said.where, scope, task, test_set) if replicates.of_models else ()
    return replace(chosen, replicates=replicates, runs_chosen=replicates.of_models, runs_there=there)


def of_other_kinds(
    scope: Scope, node: n.Systems | None, kind: Kind, test_set: KnownTestSet, said: SaidOfRuns, chosen: Chosen
) -> tuple[tuple[str, str], ...]:
    """The systems that a question means and that have rows on a test set, but none of its kind: their names, and what
    their rows are called.
    """
    catalog = scope.catalog
    attribute = chosen.replicates.attribute if said.replicates is not None and chosen.replicates is not None else ""

    def called(systems: Iterable[int]) -> set[str]:
        if said.apart:
            return {catalog.run_names.get(system, catalog.system_names[system]) for system in systems}
        return set(catalog.replicates(attribute, list(systems)))

    others = catalog.other_kinds(kind.name, test_set.id)
    known = called(catalog.systems_with(kind.name, test_set.id)) if others else set()
    found: dict[str, str] = {}
    for other, systems in others.items():
        apart = [system for system in systems if not known & called((system,))]
        for name in sorted(called(meeting(apart, said.where, scope, kind, test_set) if apart else ())):
            # A baseline of which figures were printed is no system that anything is missing of.
            if name.casefold() != ALLREL and meant_by(node, name):
                found.setdefault(name, KINDS[other].rows)
    return tuple(sorted(found.items()))


def _excepted(node: n.Systems | None) -> tuple[Any, ...]:
    return node.excepted if node else ()


def _of_another_kind(scope: Scope, item: Any, kind: Kind, test_set: KnownTestSet) -> bool:
    """Whether an item of a list of systems means one that has rows of another kind on a test set."""
    others = scope.catalog.other_kinds(kind.name, test_set.id).values()
    return any(means(item, name) for systems in others for name in scope.catalog.names_of(systems))


def meant_by(node: n.Systems | None, name: str) -> bool:
    """Whether a list of systems means the system of a name; all are meant where there is no list."""
    if node is None:
        return True
    return any(means(item, name) for item in node.items) and not any(means(item, name) for item in node.excepted)


def means(item: object, name: str) -> bool:
    """Whether an item of a list of systems means the system of a name."""
    if isinstance(item, n.Pattern):
        return like(name, item.text)
    return isinstance(item, n.All) or (isinstance(item, n.Name | n.Text) and item.text.casefold() == name.casefold())


def _check_parts(wanted: Sequence[p.StoredSystem], replicates: p.Replicates, node: n.Systems | None) -> None:
    """Raises QueryError for a run beside the system that is the mean of it and others."""
    runs = dict(replicates.runs)
    for whole in (system for system in wanted if system.id < 0):
        for part in (system for system in wanted if system.id in runs.get(whole.id, ())):
            wrong = f"{part.name} is one of the runs that {whole.name} is the mean of"
            raise QueryError(wrong, node.span if node else NOWHERE, ("write runs apart, or name runs alone",))


def _names_anywhere(scope: Scope, present: Present) -> set[str]:
    """The names that systems have on any test set."""
    catalog = scope.catalog
    names = {*catalog.systems, *catalog.models.values(), *catalog.run_names.values()}
    if present.replicates is not None and not present.replicates.of_models:
        names |= catalog.replicates(present.replicates.attribute, catalog.system_names).keys()
    return names


def _only_elsewhere(known: Iterable[str], item: Any, present: Collection[str]) -> bool:
    """Whether an item names systems of the warehouse none of which is among those present."""
    if isinstance(item, n.Pattern):
        return any(like(name, item.text) for name in known) and not any(like(name, item.text) for name in present)
    named = [(name, name) for name in known]
    return (
        isinstance(item, n.Name | n.Text)
        and not matching(item.text, [(name, name) for name in present])
        and bool(matching(item.text, named))
    )


def _find_systems(
    scope: Scope, item: Any, place: n.Node, task: Kind, test_set: KnownTestSet, present: Present
) -> Sequence[p.System]:
    on = scope.catalog.short_name(test_set)
    if isinstance(item, n.BaselineCall):
        return [baseline(scope, item, task)]
    if isinstance(item, n.Pattern):
        found = present.find(item)
        if not found:
            names = listing(list(present.systems), "systems")
            raise QueryError(f"no system matches {item.text} on {on}", place.span, names)
        return found
    if isinstance(item, n.All):
        return present.find(item)
    runs = present.runs_of(item.text) if isinstance(item, n.Name | n.Text) else ()
    return runs or [find_system(scope, item, place, task, test_set, present)]


def find_system(
    scope: Scope, item: Any, place: n.Node, task: Kind, test_set: KnownTestSet, present: Present
) -> p.System:
    """The one system of a name that has rows for a task on a test set."""
    text = text_of(item, place, "the name of a system")
    on = scope.catalog.short_name(test_set)
    systems = present.find(item)
    if len(systems) == 1:
        return systems[0]
    if len(systems) > 1:
        names = " or ".join(sorted(system.name for system in systems))
        raise QueryError(f"'{text}' could be {names}", place.span, ("write it with the same capitals",))
    if text.casefold() == ALLREL:
        return baseline(scope, n.BaselineCall(ALLREL, span=place.span), task)
    if text.casefold() == "random":
        raise QueryError("random needs a share", place.span, ("write random(s=0.7)",))
    elsewhere = matching(text, [(name, name) for name in _names_anywhere(scope, present)])
    meant = scope.catalog.meant_by(elsewhere[0]) if elsewhere else frozenset()
    if meant & scope.catalog.systems_with(task.name, test_set.id):
        if present.conditions:
            raise QueryError(f"{elsewhere[0]} on {on} does not meet the condition", place.span)
        hint = f"replicates go by the name they share: {some(sorted(present.systems))}"
        raise QueryError(f"{elsewhere[0]} is a replicate here, not a system", place.span, (hint,))
    if runs := present.like_runs(text):
        raise QueryError(f"unknown run '{brief(text)}' on {on}", place.span, listing(runs, "runs"))
    if elsewhere:
        where = scope.catalog.test_sets_of(meant, (task.name,))
        hint = f"it has {task.rows} on {', '.join(where)}" if where else f"no test set has {task.rows} for it"
        raise QueryError(f"{elsewhere[0]} has no {task.rows} on {on}", place.span, (hint,))
    known = list(present.systems)
    raise QueryError(f"unknown system '{brief(text)}' on {on}", place.span, hints(text, known, "systems"))


def baseline(scope: Scope, node: n.BaselineCall, task: Kind) -> p.Baseline:
    """allrel or random(s=…), which stand among systems of filtering."""
    name = node.name.casefold()
    if name not in (ALLREL, "random"):
        raise QueryError(
            f"unknown baseline '{node.name}'", node.span, hints(name, ("allrel", "random(s=0.5)"), "baselines")
        )
    if not task.has_key:
        raise QueryError(
            f"{name} judges relevance, so it is not a system of {task.name}", node.span, ("add of filtering",)
        )
    if name == ALLREL:
        if node.parameters:
            raise QueryError("allrel has no parameters", node.parameters[0].span)
        return p.Baseline(ALLREL, Decimal(1))
    share = None
    for parameter in node.parameters:
        if parameter.name.casefold() != "s":
            raise QueryError(f"random has no parameter '{parameter.name}'", parameter.span, ("its parameter is s",))
        value = parameter.value
        if not isinstance(value, n.Number) or not 0 <= value.value <= 1:
            shown = number_text(value.value) if isinstance(value, n.Number) else text_of(value, value, "a number")
            raise QueryError(f"s must be a number from 0 to 1, not {shown}", parameter.value.span)
        share = value.value
    if share is None:
        raise QueryError("random needs a share", node.span, ("write random(s=0.7)",))
    return p.Baseline(f"random(s={number_text(share)})", share)


# === readings of optional documents ===================================================================================
# `optional=all` asks for one measure as several statistics; `optional=bounds` asks for one measure that is compared for
# every labelling of the optional documents. Nothing is computed here.

_Measured = n.MeasureCall | n.Mean


class Several(Struct, frozen=True):
    """Which of the words a statement takes, and whether it compares systems, so that both have the same labelling."""

    words: frozenset[str] = frozenset()
    compared: bool = False

    @classmethod
    def of(cls, statement: n.Node) -> Several:
        """What a statement takes."""
        match statement:
            case n.Score():
                return cls(frozenset((ALL, BOUNDS)))
            case n.Compare():
                return cls(frozenset((ALL, BOUNDS)), compared=True)
            case n.Group() | n.Rank() | n.PaperTable() | n.Power():
                return cls(frozenset((ALL,)))
        return cls()


def statistics_of(
    node: _Measured, several: Several, scope: Scope, task: Kind, test_set: KnownTestSet
) -> list[tuple[Statistic, _Measured]]:
    """The statistics that a measure means for a task that has it, each with the node that asked for it."""
    word = _word(node)
    if word not in several.words or not _takes(scope.measure(node, task, test_set), word):
        return [(scope.statistic(node, task, test_set), node)]
    if word == BOUNDS and several.compared:
        return [(_over_labellings(scope.statistic(_with(node, CONVENTIONS.default), task, test_set), node), node)]
    values = OPTIONAL if word == ALL else EXTREMES
    return [(scope.statistic(_with(node, setting), task, test_set), node) for setting in values]


def stands_for_several(node: _Measured) -> bool:
    """Whether a measure was asked for by all conventions, or by every labelling."""
    return _word(node) in (ALL, BOUNDS)


def _over_labellings(statistic: Statistic, node: _Measured) -> Statistic:
    """A statistic that is compared for every labelling, and shown as it is without the parameter."""
    if isinstance(node, n.Mean):
        wrong = f"{CONVENTIONS.name}={BOUNDS} compares values over all documents together, not {statistic.label}"
        raise QueryError(wrong, node.span, (f"write {CONVENTIONS.name}={ALL}",))
    settings, measure = {**statistic.settings, CONVENTIONS.name: BOUNDS}, statistic.measure
    return replace(statistic, settings=settings, label=measure.label(settings, synonym_of(node, measure)))


def _word(node: _Measured) -> str:
    """What the parameter was given, in small letters; empty where it was not."""
    argument = _argument(node)
    match argument and argument.value:
        case n.All():
            return ALL
        case n.Name(text):
            return text.casefold()
    return ""


def _argument(node: _Measured) -> n.Argument | None:
    call = node.measure if isinstance(node, n.Mean) else node
    return next((one for one in call.parameters if one.name.casefold() == CONVENTIONS.name), None)


def _takes(measure: Measure | None, word: str) -> bool:
    parameters = measure.parameters if measure is not None else ()
    return any(word in parameter.several for parameter in parameters if parameter.name == CONVENTIONS.name)


def _with(node: _Measured, setting: object) -> _Measured:
    """The measure with another value of the parameter."""
    call = node.measure if isinstance(node, n.Mean) else node
    argument = _argument(node)
    assert argument is not None
    instead = replace(argument, value=n.Name(str(setting), span=argument.value.span))
    call = replace(call, parameters=tuple(instead if one is argument else one for one in call.parameters))
    return replace(node, measure=call) if isinstance(node, n.Mean) else call

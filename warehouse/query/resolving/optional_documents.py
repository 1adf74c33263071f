"""What `optional=all` and `optional=bounds` ask for: one measure as several statistics, or as one that is compared for
every labelling of the optional documents. Nothing is computed here.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from grammar import nodes as n
from grammar.errors import QueryError
from warehouse.measures import Measure, Statistic
from warehouse.measures.filtering import ALL, BOUNDS, CONVENTIONS, EXTREMES, OPTIONAL
from warehouse.query.resolving.names import Scope, synonym_of
from warehouse.store.catalog import KnownTestSet
from warehouse.tasks import Task

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
    node: _Measured, several: Several, scope: Scope, task: Task, test_set: KnownTestSet
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

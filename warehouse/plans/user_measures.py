"""Measures that users define: from `define measure` to a measure like those of the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import cast

from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import hints, near
from evalhouse.grammar.errors import QueryError, Span
from evalhouse.grammar.lexicon import as_word
from evalhouse.grammar.parser import parse
from evalhouse.warehouse.kinds import COUNTED, Kind
from evalhouse.warehouse.kinds.records import BETWEEN
from evalhouse.warehouse.measures import MEASURES, Function, Measure, Parameter, Ratio, Setting, find_measure
from evalhouse.warehouse.measures.filtering import ALL
from evalhouse.warehouse.measures.forms import (
    Call,
    Constant,
    Count,
    Expression,
    FunctionName,
    Operation,
    as_ratio,
    columns,
    of_ratio,
)
from evalhouse.warehouse.measures.measure import Computation

# === stored counts ====================================================================================================
# Which stored counts a measure means by those that it needs: attempts, or BLEU|nrefs:1|tok:13a|sys. It compares names
# and must not know a warehouse.


def find_count(name: str, counts: Sequence[str]) -> str | None:
    """The count of a name, else the one of that name in another case; None where there is none."""
    exact = [count for count in counts if count == name]
    return next(iter(exact or (count for count in counts if count.casefold() == name.casefold())), None)


def ways(measure: Measure, counts: Sequence[str], settings: Mapping[str, Setting]) -> dict[str, dict[str, str]]:
    """By how they were counted, the counts that a measure needs and what they are stored as; those that settings choose
    of several. Empty where some are not there.
    """
    found: dict[str, dict[str, str]] = {}
    if not measure.family:
        names = {need: find_count(need, counts) or "" for need in measure.needs}
        return {"": names} if all(names.values()) else {}
    for stored in counts:
        family, _, rest = stored.partition(BETWEEN)
        how, _, need = rest.rpartition(BETWEEN)
        if family == measure.family:
            found.setdefault(how, {})[need] = stored
    tokenize = settings.get("tokenize")
    return {
        how: names
        for how, names in found.items()
        if names.keys() >= set(measure.needs) and (tokenize in (None, "any") or f"tok:{tokenize}" in how.split(BETWEEN))
    }


def is_made_of(measure: Measure, counts: Sequence[str]) -> bool:
    """Whether a measure needs no stored counts, or these are all that it needs."""
    return not measure.needs or bool(ways(measure, counts, {}))


def over_stored(measure: Measure, names: Mapping[str, str]) -> Measure:
    """A measure over counts as they are stored."""
    alone = None if measure.alone is None else _counts_over_stored(measure.alone, names)
    return replace(measure, formula=_counts_over_stored(measure.formula, names), alone=alone)


def _counts_over_stored(formula: Callable[..., Computation], names: Mapping[str, str]) -> Callable[..., Computation]:
    def renamed(**settings: Setting) -> Computation:
        computation = formula(**settings)
        return computation.renamed(names) if isinstance(computation, Ratio | Function) else computation

    return renamed


# === defined measures =================================================================================================
# Definitions become measures here, and their mistakes become errors.

Definitions = Mapping[str, str]
"""The text of each definition by the name of its measure, as the warehouse keeps them."""

DEEPEST = 20
"""How many definitions may build on one another."""

LARGEST = 10_000
"""How many parts a measure may have when all that it builds on is written out."""


def defined_measure(name: str, task: Kind, definitions: Definitions, counts: Sequence[str]) -> Measure | None:
    """The measure of a task that was defined under a name, in any case; None where there is none for the task, or it
    needs others than these counts.
    """
    node = _node(name, definitions)
    if node is None or not counts:
        return None

    def place(given: Mapping[str, Fraction]) -> _Place:
        return _Place(task, counts, definitions, given, (node.name.text,))

    try:
        _expression(node.expression, place(dict.fromkeys(_names(node), Fraction(1))))
    except QueryError:
        return None
    parameters = tuple(
        Parameter(parameter.name, None if parameter.value is None else parameter.value.value, "of the definition")
        for parameter in node.parameters
    )

    def formula(**settings: Setting) -> Ratio | Function:
        given = {key: Fraction(value) for key, value in settings.items() if isinstance(value, Decimal)}
        expression = _expression(node.expression, place(given))
        return as_ratio(expression) or Function(expression)

    return Measure(
        name=node.name.text,
        kind=task.name,
        meaning=definitions[node.name.text].partition(" = ")[2],
        source="defined here",
        formula=formula,
        parameters=parameters,
        shown=tuple(parameter.name for parameter in parameters),
        defined=True,
    )


def definition_of(name: str, definitions: Definitions) -> str | None:
    """The text of the definition of a name, in any case; None where there is none."""
    node = _node(name, definitions)
    return None if node is None else definitions[node.name.text]


CountsByTask = Mapping[str, Sequence[Sequence[str]]]
"""By the names of tasks their counts, those of each test set."""


def check_definition(node: n.Define, definitions: Definitions, counts: CountsByTask, text: str) -> tuple[Kind, ...]:
    """The kinds that a new definition is a measure of on some test set. Raises QueryError if it is of none, or takes a
    name that is taken.
    """
    taken = [measure.name for measure in MEASURES if measure.name.casefold() == node.name.text.casefold()]
    if taken:
        raise QueryError(f"{taken[0]} is a built-in measure", node.name.span, ("give it another name",))
    known_counts = [(kind, of_test_set) for kind, of_task in counts.items() for of_test_set in of_task]
    for kind, of_test_set in known_counts:
        if count := find_count(node.name.text, of_test_set):
            said = "" if COUNTED[kind].named_counts else f" of {kind}"
            raise QueryError(f"{count} is a count{said}", node.name.span, ("give the measure another name",))
    names: set[str] = set()
    for parameter in node.parameters:
        if any(parameter.name in of_test_set for _, of_test_set in known_counts):
            raise QueryError(f"{parameter.name} is a count, so it cannot be a parameter", parameter.span)
        if parameter.name in names:
            raise QueryError(f"parameter {parameter.name} is given twice", parameter.span)
        names.add(parameter.name)
    others = {name: kept for name, kept in definitions.items() if name.casefold() != node.name.text.casefold()}
    known = {**others, node.name.text: text}
    errors: list[QueryError] = []
    tasks: list[Kind] = []
    for kind, of_test_set in known_counts:
        try:
            given = dict.fromkeys(_names(node), Fraction(1))
            place = _Place(COUNTED[kind], of_test_set, known, given, (node.name.text,))
            expression = _expression(node.expression, place)
            if not columns(expression):
                raise QueryError("a definition needs a count or a measure", node.expression.span)
            tasks.append(COUNTED[kind])
        except QueryError as error:
            errors.append(error)
    if not tasks:
        # The most specific error belongs to the task that the definition was meant for.
        farthest = max(error.span.start for error in errors)
        first, *rest = [error for error in errors if error.span.start == farthest]
        raise next((error for error in rest if _tells_more(error) and not _tells_more(first)), first)
    return tuple(dict.fromkeys(tasks))


def _tells_more(error: QueryError) -> bool:
    """Whether an error says more than that a name is unknown: what may have been meant, or why it cannot stand here."""
    return not isinstance(error, _UnknownError) or bool(near(error.name, error.known))


class _UnknownError(QueryError):
    """A name in a definition that neither a count nor a measure has."""

    def __init__(self, name: str, span: Span, known: Sequence[str]) -> None:
        super().__init__(f"unknown count or measure '{name}'", span, hints(name, known, "there are", as_word))
        self.name, self.known = name, known


def _names(node: n.Define) -> tuple[str, ...]:
    return tuple(parameter.name for parameter in node.parameters)


def _node(name: str, definitions: Definitions) -> n.Define | None:
    exact = [known for known in definitions if known == name]
    folded = [known for known in definitions if known.casefold() == name.casefold()]
    for known in exact or folded:
        match parse(definitions[known]):
            case [n.Define() as statement]:
                return statement
    return None


class _Place:
    """Where an expression is read: for which task and counts, with which parameters, and inside which definitions."""

    def __init__(
        self,
        task: Kind,
        counts: Sequence[str],
        definitions: Definitions,
        given: Mapping[str, Fraction],
        within: tuple[str, ...],
    ) -> None:
        self.task = task
        self.counts = counts
        self.definitions = definitions
        self.given = given
        self.within = within
        self.parts = count(1)

    def inside(self, given: Mapping[str, Fraction], name: str) -> _Place:
        """The place within a definition that is used here; what is written out there counts here too."""
        place = _Place(self.task, self.counts, self.definitions, given, (*self.within, name))
        place.parts = self.parts
        return place


def _expression(node: n.WrittenExpression, place: _Place) -> Expression:
    if next(place.parts) > LARGEST:
        raise QueryError(f"fully expanded, the measure has more than {LARGEST:,} parts", node.span)
    match node:
        case n.Number(value):
            return Constant(Fraction(value))
        case n.Negative(operand):
            return Operation(Constant(Fraction(-1)), "*", _expression(operand, place))
        case n.BinaryOperation(left, operator, right):
            return Operation(_expression(left, place), operator, _expression(right, place))
        case n.FunctionCall(function, arguments):
            return Call(cast(FunctionName, function), tuple(_expression(argument, place) for argument in arguments))
        case n.MeasureCall(name, parameters):
            if not parameters and name in place.given:
                return Constant(place.given[name])
            if not parameters and (count := find_count(name, place.counts)):
                return Count(count)
            return _measure(node, place)
    raise QueryError("a variable cannot stand in a definition", node.span)


def _measure(node: n.MeasureCall, place: _Place) -> Expression:
    """Another measure inside a definition: one of the language, or one that was defined."""
    measure = find_measure(node.name, place.task.name)
    if measure is not None and measure.needs:
        measure = _over_stored(node, measure, place)
    if measure is not None:
        computation = measure.formula(**_settings(node, measure.parameters, place))
        match computation:
            case Ratio():
                return of_ratio(computation)
            case Function(expression):
                return expression
        raise QueryError(f"{measure.name} is not a ratio of sums, so a definition cannot use it", node.span)
    inner = _node(node.name, place.definitions)
    if inner is None:
        known = [
            *place.counts,
            *place.given,
            *(m.name for m in MEASURES if m.kind == place.task.name and is_made_of(m, place.counts)),
            *place.definitions,
        ]
        raise _UnknownError(node.name, node.span, known)
    if inner.name.text in place.within or len(place.within) > DEEPEST:
        circle = " needs ".join((*place.within, inner.name.text))
        raise QueryError(f"the definition goes in a circle: {circle}", node.span)
    parameters = tuple(
        Parameter(parameter.name, None if parameter.value is None else parameter.value.value, "")
        for parameter in inner.parameters
    )
    settings = _settings(node, parameters, place)
    given = {key: Fraction(value) for key, value in settings.items() if isinstance(value, Decimal)}
    try:
        return _expression(inner.expression, place.inside(given, inner.name.text))
    except QueryError as error:
        raise QueryError(error.message, node.span, error.hints) from None


def _over_stored(node: n.MeasureCall, measure: Measure, place: _Place) -> Measure | None:
    """A measure over the stored counts; None where they are not there."""
    found = ways(measure, place.counts, _settings(node, measure.parameters, place))
    if measure.by_document:
        raise QueryError(f"{measure.name} is not a function of sums, so a definition cannot use it", node.span)
    if len(found) > 1:
        raise QueryError(f"there are {len(found)} kinds of counts of {measure.name}", node.span, tuple(found))
    return next((over_stored(measure, names) for names in found.values()), None)


def _settings(node: n.MeasureCall, parameters: tuple[Parameter, ...], place: _Place) -> dict[str, Setting]:
    """The parameters of a measure inside a definition; a value may be a parameter of the definition."""
    known = {parameter.name: parameter for parameter in parameters}
    settings: dict[str, Setting] = {}
    for written_parameter in node.parameters:
        parameter = known.get(written_parameter.name)
        if parameter is None:
            raise QueryError(
                f"{node.name} has no parameter '{written_parameter.name}'",
                written_parameter.span,
                hints(written_parameter.name, known, "parameters"),
            )
        setting = _setting(written_parameter.value, place)
        fault = parameter.fault(setting)
        if fault:
            raise QueryError(fault, written_parameter.value.span)
        settings[parameter.name] = setting
    for parameter in parameters:
        if parameter.name in settings or (parameter.default is None and parameter.optional):
            continue
        if parameter.default is None:
            raise QueryError(f"{node.name} needs {parameter.name}", node.span)
        settings[parameter.name] = parameter.default
    return settings


def _setting(value: n.Number | n.Name | n.All | n.Variable, place: _Place) -> Setting:
    match value:
        case n.Number(number):
            return number
        case n.Name(text) if text in place.given:
            given = place.given[text]
            return Decimal(given.numerator) / Decimal(given.denominator)
        case n.Name(text):
            return text.casefold()
        case n.All():
            return ALL
    raise QueryError("a variable cannot stand in a definition", value.span)

"""What a question leaves out, filled in from the catalog: the measure, and the word `for` before its systems.

Without measures a question is about the main measure of its test sets. Names in the place of measures that are those of
systems, and of no measures, are the systems: `compare GE, UMASS on TST3`. Nothing is asked of rows here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import listing
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.kinds import Kind
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.offers import Offer, main_offer, measure_of, typed_name
from evalhouse.warehouse.plans.systems import ALLREL
from evalhouse.warehouse.store.catalog import KnownTestSet

BASELINES = frozenset({ALLREL, "random"})


def completed(statement: Any, scope: Scope) -> Any:
    """A statement that names its measures. Raises QueryError where it names none, and its test sets have no main one in
    common.
    """
    if isinstance(statement, n.AboutQuestion):
        question = completed(statement.question, scope)
        return statement if question is statement.question else replace(statement, question=question)
    if isinstance(statement, n.Measured) and (wrong := _of_test_sets(statement, scope)):
        raise wrong
    statement = _with_attributes(statement, scope, lambda: _nouns(statement, scope))
    if not isinstance(statement, n.Measured):
        return statement
    named = _with_systems(statement, scope)
    return named if named.measures else replace(named, measures=(_main_measure(named, scope),))


# === attributes without what they are of ==============================================================================
# `by subject` is `by document.subject` where documents have such an attribute, and `by topic` is `by document` where
# documents are called so.

_DOCUMENTS = frozenset({"topic", "query", "question", "sample", "item", "segment", "sentence", "message", "example"})
"""What documents are called in some field, which a reader need not have declared."""

_UNITS = frozenset({"slot", "class", "type", "entity", "category"})
"""What units are called in some field."""

_KNOWN = frozenset({"document", "unit", "label", "confidence", "system", "annotator"})


def _with_attributes(node: Any, scope: Scope, nouns: Callable[[], frozenset[str]], field: str = "") -> Any:
    """A node whose attributes say what they are of, where that can only be one thing. `nouns` are what the documents
    that are asked about are called.
    """
    if isinstance(node, n.Attribute):
        return _attribute(node, scope, nouns, of_systems=field == "replicates")
    if isinstance(node, tuple):
        items = tuple(_with_attributes(item, scope, nouns, field) for item in node)
        return node if all(new is old for new, old in zip(items, node, strict=True)) else items
    if not isinstance(node, n.Node):
        return node
    fields = {name: getattr(node, name) for name in node.__struct_fields__}
    changed = {
        name: new for name, value in fields.items() if (new := _with_attributes(value, scope, nouns, name)) is not value
    }
    return replace(node, **changed) if changed else node


def _attribute(node: n.Attribute, scope: Scope, nouns: Callable[[], frozenset[str]], of_systems: bool) -> n.Attribute:
    word = node.of.casefold()
    if node.name or word in _KNOWN:
        return node
    of_document, of_system = (word in map(str.casefold, scope.catalog.attributes[of]) for of in ("document", "system"))
    if of_systems or (of_system and not of_document):
        return n.Attribute("system", node.of, span=node.span) if of_system else node
    if word in nouns() or (word in _DOCUMENTS and not of_document):
        return n.Attribute("document", span=node.span)
    if of_document:
        return node if of_system else n.Attribute("document", node.of, span=node.span)
    return n.Attribute("unit", span=node.span) if word in _UNITS else node


def _nouns(statement: Any, scope: Scope) -> frozenset[str]:
    """What the documents that a question is about are called."""
    there = [test_set for test_set, _ in scope.test_sets(_on(statement))]
    measures = getattr(statement, "measures", ())
    return frozenset(
        scope.catalog.observed(kind.name, test_set.id).noun.casefold()
        for test_set in there
        for kind in _kinds(measures, test_set, scope)[:1]
    )


def _kinds(measures: Sequence[n.MeasureCall | n.Mean], test_set: KnownTestSet, scope: Scope) -> list[Kind]:
    """The kinds of the rows of a test set that have these measures; none if they are unknown."""
    try:
        return scope.stored_with(measures, test_set)
    except QueryError:
        return []


# === systems in the place of measures =================================================================================


def _with_systems(statement: n.Measured, scope: Scope) -> n.Measured:
    """The statement whose names in first place are systems, where some of them are, and none is a measure."""
    calls = [measure for measure in statement.measures if isinstance(measure, n.MeasureCall)]
    if len(calls) < len(statement.measures) or not any(_is_system(call, scope) for call in calls):
        return statement
    there = [test_set for test_set, _ in scope.test_sets(_on(statement))]
    measures = [call for call in calls if any(_is_measure(call, test_set, scope) for test_set in there)]
    systems: Any = getattr(statement, "systems", None) or n.Systems((), span=calls[0].span)
    items = (*(_as_system(call) for call in calls if call not in measures), *systems.items)
    written: dict[str, Any] = {"measures": tuple(measures), "systems": replace(systems, items=items)}
    meant = replace(statement, **written)
    if measures and len(measures) < len(calls):
        wrong = next(call for call in calls if call not in measures)
        raise QueryError(f"'{wrong.name}' is not a measure here", wrong.span, (f"write {to_text(meant)}",))
    return statement if measures else meant


def _of_test_sets(statement: n.Measured, scope: Scope) -> QueryError | None:
    """The error for test sets in the place of measures, with the line to type; None where there are none."""
    calls = [measure for measure in statement.measures if isinstance(measure, n.MeasureCall)]
    known = {name.casefold() for t in scope.catalog.test_sets for name in (t.name, t.full_name)}
    if not calls or len(calls) < len(statement.measures) or not all(call.name.casefold() in known for call in calls):
        return None
    if _on(statement) is not None or any(
        _is_measure(call, t, scope) for call in calls for t in scope.catalog.test_sets
    ):
        return None
    on = n.TestSets(tuple(n.Name(call.name) for call in calls))
    written: dict[str, Any] = {"measures": (), "test_sets": on}
    if "test_sets" not in statement.__struct_fields__:
        return None
    return QueryError(
        f"'{calls[0].name}' is a test set", calls[0].span, (f"write {to_text(replace(statement, **written))}",)
    )


def _is_system(call: n.MeasureCall, scope: Scope) -> bool:
    """Whether a system or a baseline has this name anywhere."""
    catalog, name = scope.catalog, call.name.casefold()
    known = {*catalog.systems, *catalog.models.values(), *catalog.run_names.values()}
    return name in BASELINES or name in map(str.casefold, known)


def _is_measure(call: n.MeasureCall, test_set: KnownTestSet, scope: Scope) -> bool:
    """Whether a test set has a measure of this name."""
    try:
        return bool(scope.tasks_with((call,), test_set))
    except QueryError:
        return False


def _as_system(call: n.MeasureCall) -> n.Name | n.BaselineCall:
    if call.parameters:
        return n.BaselineCall(call.name, call.parameters, span=call.span)
    return n.Name(call.name, span=call.span)


# === the measure of test sets =========================================================================================


def _main_measure(statement: n.Measured, scope: Scope) -> n.MeasureCall | n.Mean:
    """The main measure of the test sets of a statement; of all of them, of those that have documents."""
    on = _on(statement)
    chosen = [test_set for test_set, _ in scope.test_sets(on)]
    word = getattr(statement, "task", None)
    of = scope.task(word)
    offers = {test_set: main_offer(scope.catalog, test_set, "" if of is None else of.name) for test_set in chosen}
    found = {test_set: offer for test_set, offer in offers.items() if offer is not None}
    if on is None:
        found = {t: offer for t, offer in found.items() if offer.kind.by_document} or found
    mains = dict.fromkeys(offer.main for offer in found.values())
    if len(mains) == 1 and (main := next(iter(mains))):
        return measure_of(main)
    raise _no_main_measure(statement, scope, found)


def _no_main_measure(statement: n.Measured, scope: Scope, found: dict[KnownTestSet, Offer]) -> QueryError:
    """The error where test sets have no main measure, or different ones: what there is, and lines to type."""
    names = {test_set: scope.catalog.short_name(test_set) for test_set in found}
    if len({offer.main for offer in found.values()}) > 1:
        mains = {offer.main: names[test_set] for test_set, offer in reversed(found.items()) if offer.main}
        lines = [_line(statement, main, on) for main, on in list(mains.items())[::-1][:3]]
        wrong = f"the main measures of these test sets differ: {', '.join(reversed(mains))}"
        return QueryError(wrong, statement.span, tuple(f"write {line}" for line in lines))
    if not found:
        return QueryError(f"{statement.typed} needs a measure, and there is none", statement.span)
    (test_set, offer), *_ = found.items()
    wrong = f"{names[test_set]} has several measures, and none of them is the main one"
    there = listing(offer.measures, f"measures of {names[test_set]}")
    declared = f"load --set main={typed_name(offer.measures[0])} declares one"
    return QueryError(wrong, statement.span, (*there, f"write {_line(statement, offer.measures[0])}", declared))


def _line(statement: n.Measured, measure: str, on: str = "") -> str:
    """The statement about a measure, on one test set if it is named."""
    written: dict[str, Any] = {"measures": (measure_of(measure),)}
    if on and "test_sets" in statement.__struct_fields__:
        written["test_sets"] = n.TestSets((n.Name(on),))
    return to_text(replace(statement, **written))


def _on(statement: n.Measured) -> n.TestSets | None:
    """The test sets that a statement names; of one that goes from one to another, the first."""
    source: n.Name | None = getattr(statement, "source", None)
    if source is not None:
        return n.TestSets((source,), span=source.span)
    test_sets: n.TestSets | None = getattr(statement, "test_sets", None)
    return test_sets

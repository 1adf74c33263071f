"""What `by`, `where` and `exchange by` mean: dimensions of the rows of a task, and conditions on them with their
types checked.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, cast

from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import hints, listing, number_text
from evalhouse.grammar.errors import NOWHERE, QueryError
from evalhouse.warehouse.kinds import FILTERING, KINDS, Kind
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.names import Scope, matching, text_of
from evalhouse.warehouse.store.catalog import RUN, KnownRun


def dimension_of(scope: Scope, node: n.Attribute, task: Kind) -> p.Dimension:
    """What `by`, `where` and `exchange by` split or choose rows by."""
    of = node.of.casefold()
    allowed = task.dimensions
    if of not in allowed:
        if any(of in other.dimensions for other in KINDS.values()):
            raise QueryError(f"{task.name} has no {of}", node.span, listing(allowed, "attributes"))
        raise QueryError(f"unknown attribute '{node.of}'", node.span, hints(of, allowed, "attributes"))
    if node.name:
        if of not in ("document", "system"):
            raise QueryError(f"{of} has no attributes", node.span)
        known = scope.catalog.attributes[of]
        spelt = matching(node.name, [(name, name) for name in known])
        if not spelt:
            shown = [f"{of}.{name}" for name in known]
            raise QueryError(
                f"unknown attribute '{of}.{node.name}'", node.span, hints(f"{of}.{node.name}", shown, "attributes")
            )
        return p.Dimension(cast(Any, of), spelt[0])
    return p.Dimension(cast(Any, of))


def filter_of(scope: Scope, node: n.Condition | None, task: Kind) -> p.Filter | None:
    """A whole condition. What it says of confidence is a threshold, so it stands alone or is joined to the rest by
    and.
    """
    condition = condition_of(scope, node, task)
    parts = node.conditions if isinstance(node, n.And) else () if node is None else (node,)
    for part in parts:
        mixed = set(_attributes(part))
        if "confidence" in mixed and (len(mixed) > 1 or isinstance(part, n.Or | n.Not)):
            raise QueryError(
                "a condition on confidence must stand alone or be joined by 'and'",
                part.span,
                ("it is a threshold: a decision that does not meet it counts as no",),
            )
    return condition


def filter_on(scope: Scope, node: n.Condition | None, entries: Iterable[p.Entry]) -> p.Filter | None:
    """A whole condition on the rows of several test sets, checked against the kind of each."""
    checked = [filter_of(scope, node, kind) for kind in kinds_of(entries)]
    return checked[0]


def kinds_of(entries: Iterable[p.Entry]) -> tuple[Kind, ...]:
    """The kinds of the rows of some test sets, each once."""
    return tuple({entry.kind.name: entry.kind for entry in entries}.values())


def key_filter(scope: Scope, node: n.Condition | None, annotators: bool = False) -> p.Filter | None:
    """A condition on the key alone, which knows documents and labels, but no systems and no confidences; on the labels
    of annotators it may name these too.
    """
    known = ("document", "label", *(("annotator",) if annotators else ()))
    for of in [] if node is None else _attributes(node):
        if of not in known and any(of in task.dimensions for task in KINDS.values()):
            has = f"it has {', '.join(known[:-1])} and {known[-1]}"
            raise QueryError(f"the key has no {of}", node.span if node else NOWHERE, (has,))
    return filter_of(scope, node, replace(FILTERING, dimensions=known))


def _attributes(node: n.Condition) -> list[str]:
    """What the comparisons of a condition speak of."""
    match node:
        case n.And(conditions) | n.Or(conditions):
            return [of for part in conditions for of in _attributes(part)]
        case n.Not(condition):
            return _attributes(condition)
        case (
            n.Relation(attribute) | n.In(attribute) | n.Like(attribute) | n.IsMissing(attribute) | n.IsLatest(attribute)
        ):
            return [attribute.of.casefold()]


def condition_of(scope: Scope, node: n.Condition | None, task: Kind) -> p.Filter | None:
    """A condition with its attributes looked up and its values checked against them."""
    match node:
        case None:
            return None
        case n.And(conditions) | n.Or(conditions):
            word: Literal["and", "or"] = "and" if isinstance(node, n.And) else "or"
            return p.Joined(word, tuple(cast(p.Filter, condition_of(scope, part, task)) for part in conditions))
        case n.Not(condition):
            return p.Negated(cast(p.Filter, condition_of(scope, condition, task)))
        case n.IsLatest(attribute):
            if not _is_run(attribute):
                raise QueryError("latest is only for runs", attribute.span, ("write system.run is latest",))
            if "system" not in task.dimensions:
                raise QueryError(f"{task.name} has no system", node.span, listing(task.dimensions, "attributes"))
            return p.Negated(p.Runs(scope.catalog.older_runs))
        case n.Relation(attribute) | n.In(attribute) | n.Like(attribute) | n.IsMissing(attribute) if (
            _is_run(attribute) and "system" in task.dimensions and scope.catalog.runs
        ):
            return _runs_that(scope, node)
        case n.IsMissing(attribute):
            return p.Missing(dimension_of(scope, attribute, task))
        case n.Like(attribute, pattern):
            dimension = dimension_of(scope, attribute, task)
            if _numeric(scope, dimension):
                raise QueryError(f"{dimension.name} is a number, and like compares texts", node.span)
            return p.Matches(dimension, text_of(pattern, pattern, "a text"))
        case n.In(attribute, nodes):
            dimension = dimension_of(scope, attribute, task)
            return p.OneOf(dimension, tuple(_value(scope, dimension, item, item) for item in nodes))
        case n.Relation(attribute, operator, value):
            dimension = dimension_of(scope, attribute, task)
            return p.Compared(dimension, operator, _value(scope, dimension, value, value))


# --- conditions on runs -----------------------------------------------------------------------------------------------
# A run has a number, as base#2 has, and perhaps an id and a date. A number is compared with the first, a text with the
# others, and with what a file itself calls a run.

COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _is_run(attribute: n.Attribute) -> bool:
    return (attribute.of.casefold(), attribute.name.casefold()) == ("system", RUN)


def _runs_that(scope: Scope, node: n.Relation | n.In | n.Like | n.IsMissing) -> p.Filter:
    """The runs that meet a condition on system.run."""
    if isinstance(node, n.IsMissing):
        return p.Negated(_runs_where(scope, lambda run: True))
    return _runs_where(scope, lambda run: _holds(run, node))


def _runs_where(scope: Scope, holds: Callable[[KnownRun], bool]) -> p.Runs:
    known = scope.catalog.runs.items()
    return p.Runs(tuple((test_set, tuple(run.system for run in runs if holds(run))) for test_set, runs in known))


def _holds(run: KnownRun, node: n.Relation | n.In | n.Like) -> bool:
    match node:
        case n.Like(_, pattern):
            wanted = text_of(pattern, pattern, "a text")
            return any(like_text(name, wanted) for name in run.told_by)
        case n.In(_, items):
            return any(_compares(run, "=", item) for item in items)
        case n.Relation(_, "!=", item):
            return not _compares(run, "=", item)
        case n.Relation(_, sign, item):
            return _compares(run, sign, item)


def _compares(run: KnownRun, sign: str, item: Any) -> bool:
    if isinstance(item, n.Number):
        return run.number is not None and COMPARED[sign](run.number, float(item.value))
    wanted = text_of(item, item, "a text")
    return any(COMPARED[sign](name, wanted) for name in run.told_by)


def like_text(text: str, pattern: str) -> bool:
    """Whether a text is like a pattern in SQL: % is any text, _ any letter."""
    signs = {"%": ".*", "_": "."}
    return re.fullmatch("".join(signs.get(sign, re.escape(sign)) for sign in pattern), text, re.DOTALL) is not None


# --- what is compared -------------------------------------------------------------------------------------------------


def _numeric(scope: Scope, dimension: p.Dimension) -> bool:
    if dimension.attribute:
        return (dimension.of, dimension.attribute) in scope.catalog.numeric_attributes
    return dimension.of == "confidence"


def _value(scope: Scope, dimension: p.Dimension, item: Any, place: n.Node) -> p.Scalar:
    numeric = _numeric(scope, dimension)
    if isinstance(item, n.Number):
        if not numeric:
            raise QueryError(
                f"{dimension.name} is a text, not a number", place.span, (f'write "{number_text(item.value)}"',)
            )
        return item.value
    if numeric:
        raise QueryError(f"{dimension.name} is a number, not a text", place.span)
    if dimension.of == "label":
        label = cast(str, item.text).casefold()
        if label not in ("relevant", "optional", "nonrelevant"):
            raise QueryError(
                f"unknown label '{item.text}'",
                place.span,
                hints(label, ("relevant", "optional", "nonrelevant"), "labels"),
            )
        return label
    return cast(str, item.text)

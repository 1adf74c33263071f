"""Replaces what is written by what it stands for, before names are looked up: variables, and other spellings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import hints
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.measures.values import ACCURACY, says_right

# === other names of measures ==========================================================================================
# `acc` and `accuracy`, `P` and `precision`, `F1` and `F(beta=1)`, `exact_match,strict-match` and
# `exact_match:strict-match`, `mean_acc`. It compares names and must not know a warehouse.

_MEANS = re.compile(r"^(mean|avg|average)[_ -]")
_NO_FILTER = re.compile(r":none$")
_SAME = {"acc": ACCURACY, "p": "precision", "r": "recall", "map": "ap", "mrr": "rr"}
_BETA = re.compile(r"^f(?:_?([0-9.]+)|\(beta=([0-9.]+)\))$")


def with_filter(name: str) -> bool:
    """Whether a name says a filter, too: exact_match:strict-match."""
    return ":" in _plain(name)


def of_metric(name: str, names: Sequence[str]) -> list[str]:
    """Those of some names that are of the same metric as one, after whichever filter."""
    metric = _plain(name).partition(":")[0]
    return [other for other in names if _plain(other).partition(":")[0] == metric]


def spelt_otherwise(name: str, stored: Sequence[str], accuracies: Sequence[str] = ()) -> list[str]:
    """Those of the stored names that are another spelling of the one that is asked for, else the accuracy if it is one,
    or for the accuracy what says whether an answer is right, else those that add a filter to it. `accuracies` are what
    the accuracy is called in logs with filters: it is no other than these.
    """
    wanted = _plain(name)
    same = [name for name in stored if _plain(name) == wanted]
    right = [name for name in stored if name.casefold() == ACCURACY and says_right(wanted.partition(":")[0])]
    if wanted == ACCURACY and not right:
        right = [name for name in stored if says_right(name)]
    if ":" in wanted and accuracies and wanted not in map(_plain, accuracies):
        right = []
    return same or right or [name for name in stored if _plain(name).partition(":")[0] == wanted]


def _plain(name: str) -> str:
    """A name without what is only its spelling."""
    plain = _NO_FILTER.sub("", re.sub(r"\s*,\s*", ":", name.casefold()))
    plain, colon, filtered = _MEANS.sub("", plain).replace("-", "_").replace(" ", "_").partition(":")
    weighed = _BETA.match(plain)
    plain = f"f{weighed[1] or weighed[2]}" if weighed else _SAME.get(plain, plain)
    return plain + colon + filtered


# === variables ========================================================================================================
# Each variable is replaced at its own place, and the level that is set for all statements is written into those that
# state none. So the statement and the signature of an answer say all that was asked, and no variable is left in them.

Item = n.Name | n.Pattern | n.Number | n.Text
Variables = Mapping[str, tuple[Item, ...]]
"""What each variable stands for, by its name without the dollar sign."""

MOST_ITEMS = 20_000
"""How many names a variable may hold: more than a statement of 64 KB can list, but limited because lists of lists can
double.
"""

_Node = TypeVar("_Node", bound=n.Node)


def substitute(node: _Node, variables: Variables) -> _Node:
    """The node without variables. Raises QueryError for an unknown one, and for a list where one value is needed."""
    changed: dict[str, Any] = {}
    for name in node.__struct_fields__:
        value = getattr(node, name)
        if isinstance(value, tuple):
            items = tuple(item for written in value for item in expand(written, variables))
            if items != value:
                changed[name] = items
        elif isinstance(value, n.Node):
            replaced = _single(value, variables) if isinstance(value, n.Variable) else substitute(value, variables)
            if replaced is not value:
                changed[name] = replaced
    return replace(node, **changed) if changed else node


def variables_in(node: n.Node) -> frozenset[str]:
    """The variables that are used in a node or given their value there, by their names without the dollar sign."""
    if isinstance(node, n.Variable):
        return frozenset({node.name})
    values = (getattr(node, name) for name in node.__struct_fields__)
    listed = (item for value in values for item in (value if isinstance(value, tuple) else (value,)))
    return frozenset().union(*(variables_in(item) for item in listed if isinstance(item, n.Node)))


def at_level(statement: _Node, level: n.Number) -> _Node:
    """The statement with this level, where it says none and one would change its answer."""
    if isinstance(statement, n.AboutQuestion):
        return replace(statement, question=at_level(statement.question, level))
    if isinstance(statement, n.StatementNode) and statement.uses_level and getattr(statement, "level", None) is None:
        written: dict[str, Any] = {"level": level}
        return replace(statement, **written)
    return statement


def expand(value: Any, variables: Variables) -> tuple[Any, ...]:
    """What one item of a list becomes: several where it is a variable that stands for a list."""
    if isinstance(value, n.Variable):
        return tuple(replace(item, span=value.span) for item in _items_of(value, variables))
    return (substitute(value, variables),) if isinstance(value, n.Node) else (value,)


def items_of(statement: n.Let, variables: Variables) -> tuple[Item, ...]:
    """What a variable stands for after `let`. Raises QueryError."""
    items = tuple(item for value in statement.values for item in expand(value, variables))
    if len(items) > MOST_ITEMS:
        raise QueryError(f"a variable is a list of at most {MOST_ITEMS:,}", statement.variable.span)
    return items


def _single(variable: n.Variable, variables: Variables) -> Item:
    items = _items_of(variable, variables)
    if len(items) != 1:
        raise QueryError(
            f"${variable.name} is a list of {len(items):,} values, and only one is needed here", variable.span
        )
    return replace(items[0], span=variable.span)


def _items_of(variable: n.Variable, variables: Variables) -> tuple[Item, ...]:
    if variable.name not in variables:
        known = [f"${name}" for name in variables]
        unknown = f"${variable.name}"
        raise QueryError(f"unknown variable '{unknown}'", variable.span, hints(unknown, known, "variables"))
    return variables[variable.name]

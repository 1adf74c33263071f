"""The keyword arguments for clauses: a table of kinds of arguments, derived from the fields of the nodes.

The argument for a clause has the same words in Python (`order by` is `order_by`, `from` is `from_`). The type of the
field that the clause fills determines the allowed values, so a new clause needs no change here.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from grammar import nodes as n
from grammar import phrases
from grammar.clauses import CLAUSES, QUESTIONS, Clause, Shape, field_names, required_fields
from warehouse.python import written


class ArgumentKind(Struct, frozen=True):
    """A kind of argument: its type in the signature, its type in the documentation, and the function that writes a
    value in the language.
    """

    hint: str
    said: str
    write: Callable[[str, Any], str]


NAME = ArgumentKind("str", "str", written.name)
NAMES = ArgumentKind("NameOrNames", "str or sequence of str", written.names)
NUMBER = ArgumentKind("Numeric", "int, float, Decimal or str", written.number)
NUMBERS = ArgumentKind("Numeric | Sequence[Numeric]", "number or sequence of numbers", written.numbers)
TEXT = ArgumentKind("str", "str", written.text)
ATTRIBUTE = ArgumentKind("str", "str", written.attribute)
ATTRIBUTES = ArgumentKind("NameOrNames", "str or sequence of str", written.attributes)
RENAMED = ArgumentKind("Mapping[str, str]", "mapping of str to str", written.renamed)
IMPORT_OR_DATE = ArgumentKind("ImportOrDate", "int, str, date or datetime", written.import_or_date)
LANGUAGE = ArgumentKind("str", "str", written.language)
"""A value that is written as in the language, such as a condition."""


def _kind(hint: Any) -> ArgumentKind:
    """The kind of argument for a field of this type."""
    parts = set(get_args(hint)) - {type(None)} if get_origin(hint) in (Union, UnionType) else {hint}
    listed = {part for whole in parts if get_origin(whole) is tuple for part in _within(whole)}
    if {n.Number, n.Text} <= parts:
        return IMPORT_OR_DATE
    for types, kind in (
        ({n.TestSets}, NAMES),
        ({n.Renamed}, RENAMED),
        ({n.Condition}, LANGUAGE),
        ({n.Attribute}, ATTRIBUTES if listed else ATTRIBUTE),
        ({n.Number}, NUMBERS if listed else NUMBER),
        ({n.Text}, TEXT),
        ({n.Name}, NAMES if listed else NAME),
    ):
        if types & (parts | listed):
            return kind
    return LANGUAGE


def _within(listed: Any) -> set[Any]:
    of = get_args(listed)[0]
    return set(get_args(of)) if get_origin(of) in (Union, UnionType) else {of}


class KeywordArgument(Struct, frozen=True):
    """An argument of a method: its name in Python, the clause, and the allowed values. `words` are written before its
    value. If the clause may be written `alone`, the value is True for that.
    """

    name: str
    clause: Clause
    words: str
    kind: ArgumentKind
    required: bool = False
    choices: tuple[str, ...] = ()
    flag: bool = False
    second: bool = False
    """Whether it is the part after the `to` in `from A to B`."""

    @property
    def hint(self) -> str:
        """Its type in a signature."""
        if self.flag:
            return "bool"
        hint = self.kind.hint
        if self.choices:
            hint = f"Literal[{', '.join(map(_in_quotes, self.choices))}]"
        if self.clause.alone:
            hint = f"Literal[True] | {hint}"
        return hint if self.required else f"{hint} | None"

    @property
    def said(self) -> str:
        """Its type in the documentation."""
        if self.flag:
            return "bool, default False"
        said = f"{{{', '.join(map(_in_quotes, self.choices))}}}" if self.choices else self.kind.said
        return said + (" or True" if self.clause.alone else "") + ("" if self.required else ", optional")

    def write(self, given: Any) -> str:
        """The clause with the given value; empty if none was given. Raises TypeError and QueryError."""
        if given is None or given is False:
            return ""
        if self.flag and given is not True:
            raise TypeError(f"{self.name} is {given!r}, and neither True nor False")
        if given is True and (self.flag or self.clause.alone):
            return self.words if self.flag else self.clause.words.split()[0]
        if self.choices:
            return f"{self.words} {written.choice(self.name, given, self.choices)}"
        return f"{self.words} {self.kind.write(self.name, given)}"


def _in_quotes(text: str) -> str:
    return f'"{text}"'


def python_name(words: str) -> str:
    """Words of the language as a Python name: `from` is `from_`, `exchange by` is `exchange_by`."""
    name = words.replace(" ", "_").replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


@cache
def arguments_of(word: str) -> tuple[KeywordArgument, ...]:
    """The arguments of a statement besides measures and systems, in the order in which clauses are written."""
    node = QUESTIONS[word]
    hints = get_type_hints(node, {**vars(phrases), **vars(n)})
    required = required_fields(node)
    listed: list[KeywordArgument] = []
    for clause in CLAUSES:
        if not clause.belongs_to(node) or (
            get_args(hints[clause.field]) and n.Systems in get_args(hints[clause.field])
        ):
            continue
        hint = hints[clause.field]
        choices = next((get_args(part) for part in get_args(hint) if get_origin(part) is Literal), ())
        listed.append(
            KeywordArgument(
                python_name(clause.words),
                clause,
                clause.words,
                _kind(hint),
                clause.field in required,
                choices if clause.shape is Shape.WORD else (),
                flag=clause.shape in (Shape.FLAG, Shape.ITSELF),
            )
        )
        if clause.second_field and clause.second_field in hints:
            kind = _kind(hints[clause.second_field])
            listed.append(KeywordArgument("to", clause, "to", kind, clause.second_field in required, second=True))
    return tuple(listed)


def takes_systems(word: str) -> bool:
    """Whether systems can be named in a statement."""
    return "systems" in field_names(QUESTIONS[word])


def takes_measures(word: str) -> bool:
    """Whether measures follow the first word of a statement."""
    return issubclass(QUESTIONS[word], n.Measured)

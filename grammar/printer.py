"""Writes nodes as text in canonical spelling: parse(to_text(node)) returns the same node.

Keywords are in lower case, clauses are in the order of clauses.py, and names are in quotes only if they need them.
Comments are not nodes; layout.py formats scripts with comments.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from evalhouse.grammar import nodes
from evalhouse.grammar.clauses import CLAUSES, OPENING, Clause, Shape
from evalhouse.grammar.lexicon import (
    FUNCTIONS,
    MOST_DIGITS,
    PATTERN,
    VARIABLE_NAME,
    WORD,
    as_word,
    is_bare_name,
    is_name,
    is_word,
    normalize,
    quote,
)

_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2}
"""How strongly the operators bind."""


def to_text(node: nodes.Node | Sequence[nodes.AnyStatement]) -> str:
    """The canonical text of a node, or of statements separated by semicolons and line ends.

    Names are written in Unicode NFC. Raises ValueError for anything that cannot be written as text: an empty list, a
    negative number in a definition, or a bare word of `where` with signs other than letters, digits and _.
    """
    if isinstance(node, nodes.Node):
        return _text(node)
    return ";\n".join(_text(statement) for statement in node)


def _text(node: nodes.Node) -> str:
    match node:
        case nodes.Name(text=name) | nodes.MeasureCall(name=name, parameters=()):
            return _name(name)
        case nodes.Pattern(text=pattern):
            return _matching(PATTERN.fullmatch(pattern) is not None, pattern, "a pattern")
        case nodes.Variable(name=name):
            return "$" + _matching(VARIABLE_NAME.fullmatch(name) is not None, name, "the name of a variable")
        case nodes.Number(value=value):
            return _number(value)
        case nodes.Part(share=nodes.Number(value=value), of=of):
            return f"{_number(value.scaleb(2))}% of {_text(of)}"
        case nodes.Part(share=share, of=of):
            return f"{_text(share)} of {_text(of)}"
        case nodes.Text(text=text):
            return quote(text)
        case nodes.All():
            return "all"
        case nodes.Systems(items=items, excepted=excepted):
            return _list(items) + (f" except {_list(excepted)}" if excepted else "")
        case nodes.TestSets(items=items):
            return _list(items)
        case nodes.MeasureCall(name=name, parameters=parameters) | nodes.BaselineCall(name=name, parameters=parameters):
            return f"{_name(name)}({_list(parameters) if parameters else ''})"
        case nodes.Argument(name=name, value=nodes.Name(text=text)) if text.casefold() == "exact":
            # Behind the sign of equality the word of the clause is a value like others.
            return f"{as_word(name)}={text}"
        case nodes.Argument(name=name, value=value):
            return f"{as_word(name)}={_text(value)}"
        case nodes.Mean(measure=measure, word=word, by=by):
            return f"{word}({_text(measure)}{'' if by is None else f' by {_text(by)}'})"
        case nodes.Default(name=name, value=None):
            return as_word(name)
        case nodes.Default(name=name, value=nodes.Number() as number):
            return f"{as_word(name)}={_text(number)}"
        case nodes.Renamed(name=name, shown=shown):
            return f"{_text(name)} as {_text(shown)}"
        case nodes.Order(by=by, direction=direction):
            return _text(by) + (f" {direction}" if direction else "")
        case (
            nodes.Attribute()
            | nodes.Relation()
            | nodes.In()
            | nodes.Like()
            | nodes.IsMissing()
            | nodes.IsLatest()
            | nodes.Not()
            | nodes.And()
            | nodes.Or()
        ):
            return _condition(node)
        case nodes.BinaryOperation() | nodes.Negative() | nodes.FunctionCall():
            return _expression(node)
        case _:
            return _statement(node)


# --- statements -------------------------------------------------------------------------------------------------------


def _statement(node: nodes.Node) -> str:
    match node:
        case nodes.Let(variable=variable, values=values):
            return f"let {_text(variable)} = {', '.join(_assignment_text(value) for value in _some(values))}"
        case nodes.Define(name=name, expression=expression, parameters=parameters):
            head = _text(name) + (f"({_list(parameters)})" if parameters else "")
            return f"define measure {head} = {_expression(expression)}"
        case nodes.Show(what=what):
            return _join_parts("show", what, *_clauses(node))
        case nodes.Load(path=path, reader=reader):
            return f"load {_text(path)} as {_text(reader)}"
        case nodes.Forget(number=number):
            return f"forget import {_text(number)}"
        case nodes.SqlQuery(text=text):
            return _join_parts("sql", _text(text), *_clauses(node))
        case nodes.Expect(question=question, expected=expected):
            return _join_parts(node.words, *([expected] if expected else []), _text(question), *_clauses(node))
        case nodes.AboutQuestion(question=question):
            return _join_parts(node.words, _text(question), *_clauses(node))
        case nodes.Measured(measures=measures):
            return _join_parts(node.typed, *([_list(measures)] if measures else []), *_clauses(node))
        case nodes.StatementNode():
            return _join_parts(node.typed, *_clauses(node))
    raise TypeError(f"{type(node).__name__} is not a node of the language")


def _clauses(node: nodes.StatementNode) -> list[str]:
    """The clauses that were written, in the order of the table."""
    values = [(clause, value) for clause in CLAUSES if (value := getattr(node, clause.field, None))]
    if isinstance(node, nodes.Measured) and not node.measures and values:
        # What follows the first word must not be read as a measure.
        values.sort(key=lambda written: written[0].field not in OPENING)
        _matching(values[0][0].field in OPENING, values[0][0].words, "a clause that can stand behind the first word")
    return [written for clause, value in values if (written := _clause(clause, value, node))]


def _clause(clause: Clause, value: Any, node: nodes.StatementNode) -> str:
    """The text of a clause; empty if another clause of the same field was written."""
    match clause.shape:
        case Shape.NODE:
            second = getattr(node, clause.second_field, None)
            return _join_parts(clause.spoken(node.spoken), _text(value), *(["to", _text(second)] if second else []))
        case Shape.LIST:
            return _join_parts(clause.words, _list(value))
        case Shape.WORD:
            return _join_parts(clause.words, value)
        case Shape.ITSELF:
            return clause.words if value == clause.words else ""
        case Shape.FLAG:
            return clause.words


def _assignment_text(value: nodes.Node) -> str:
    if isinstance(value, nodes.Name):
        return _matching(is_name(value.text), value.text, "a name without quotes")
    return _text(value)


# --- conditions -------------------------------------------------------------------------------------------------------


def _condition(node: nodes.Node) -> str:
    match node:
        case nodes.Attribute(of=of, name=""):
            return as_word(of)
        case nodes.Attribute(of=of, name=name):
            return f"{as_word(of)}.{name if WORD.fullmatch(name) else quote(normalize(name))}"
        case nodes.Relation(attribute=attribute, operator=operator, value=value):
            return f"{_condition(attribute)} {operator} {_comparison_text(value)}"
        case nodes.In() | nodes.Like() | nodes.IsMissing() | nodes.IsLatest():
            return _predicate(node, "")
        case nodes.Not(condition=nodes.In() | nodes.Like() | nodes.IsMissing() | nodes.IsLatest() as condition):
            return _predicate(condition, "not ")
        case nodes.Not(condition=condition):
            return f"not {_condition_within(condition, (nodes.And, nodes.Or))}"
        case nodes.And(conditions=conditions):
            return " and ".join(_condition_within(part, (nodes.And, nodes.Or)) for part in _several(conditions))
        case nodes.Or(conditions=conditions):
            return " or ".join(_condition_within(part, (nodes.Or,)) for part in _several(conditions))
    raise TypeError(f"{type(node).__name__} is not a condition")


def _predicate(node: nodes.In | nodes.Like | nodes.IsMissing | nodes.IsLatest, negated: str) -> str:
    attribute = _condition(node.attribute)
    match node:
        case nodes.In(values=values):
            return f"{attribute} {negated}in ({', '.join(_comparison_text(value) for value in _some(values))})"
        case nodes.Like(pattern=pattern):
            return f"{attribute} {negated}like {_text(pattern)}"
        case nodes.IsMissing():
            return f"{attribute} is {negated}missing"
        case nodes.IsLatest():
            return f"{attribute} is {negated}latest"


def _condition_within(node: nodes.Node, looser: tuple[type[nodes.Node], ...]) -> str:
    return f"({_condition(node)})" if isinstance(node, looser) else _condition(node)


def _comparison_text(value: nodes.Node) -> str:
    if isinstance(value, nodes.Name):
        return _matching(is_word(value.text), value.text, "a word without quotes")
    return _text(value)


# --- arithmetic -------------------------------------------------------------------------------------------------------


def _expression(node: nodes.Node, least: int = 0) -> str:
    """The expression, in parentheses if its operator binds less than `least`."""
    match node:
        case nodes.MeasureCall(name=name, parameters=()):
            return as_word(name)
        case nodes.MeasureCall(name=name, parameters=parameters):
            return f"{as_word(name)}({_list(parameters)})"
        case nodes.Number(value=value):
            return _matching(not value.is_signed(), _number(value), "a number without a sign")
        case nodes.Negative(operand=operand):
            inner = _expression(operand, 3)
            return f"-({inner})" if isinstance(operand, nodes.Negative) else f"-{inner}"  # -- begins a comment
        case nodes.BinaryOperation(left=left, operator=operator, right=right):
            binds = _BINDING[operator]
            written = f"{_expression(left, binds)} {operator} {_expression(right, binds + 1)}"
            return f"({written})" if binds < least else written
        case nodes.FunctionCall(function=function, arguments=arguments):
            known = FUNCTIONS.get(function)
            called = _matching(known is not None and known.accepts(len(arguments)), function, "called in this way")
            return f"{called}({', '.join(_expression(argument) for argument in arguments)})"
        case nodes.Variable():
            return _text(node)
    raise TypeError(f"{type(node).__name__} is not part of an expression")


# --- names, numbers, lists --------------------------------------------------------------------------------------------


def _name(name: str) -> str:
    return name if is_bare_name(name) else quote(normalize(name))


def _number(value: Decimal) -> str:
    """A number without exponent: 9999, 0.10."""
    written = f"{value:f}"
    digits = sum(letter.isdigit() for letter in written)
    return _matching(value.is_finite() and digits <= MOST_DIGITS, written, f"a number of at most {MOST_DIGITS} digits")


def _list(items: Sequence[nodes.Node]) -> str:
    return ", ".join(_text(item) for item in _some(items))


def _some(items: Sequence[nodes.Node]) -> Sequence[nodes.Node]:
    if not items:
        raise ValueError("an empty list cannot be written")
    return items


def _several(items: Sequence[nodes.Node]) -> Sequence[nodes.Node]:
    if len(items) < 2:
        raise ValueError("and, or join at least two conditions")
    return items


def _join_parts(*parts: str) -> str:
    return " ".join(parts)


def _matching(holds: bool, written: str, what: str) -> str:
    if not holds:
        raise ValueError(f"{written!r} is not {what}")
    return written

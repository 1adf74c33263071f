"""Turns the rules of language.lark into nodes: one method per rule, called while parsing, so nothing here recurses.

Questions first become drafts, whose clauses are not yet assigned to fields. `statement_of` assigns them when the whole
text is read. It refuses a clause that is written twice, `to "file"` without `plot` or `export`, `at least` without
`expect`, and a statement without a clause that it requires. The methods of questions and of most clauses have the same
form, so they are made from the tables in clauses.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lark import Token, Transformer
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes
from evalhouse.grammar.clauses import ABOUT_QUESTIONS, CLAUSES, QUESTIONS, Clause, Shape, field_names, first_word
from evalhouse.grammar.errors import NOWHERE, QueryError, Span, UnfinishedError
from evalhouse.grammar.lexicon import FUNCTIONS, normalize, number_value, unquote
from evalhouse.grammar.parsing.versus import Versus, meaning, versus_of
from evalhouse.grammar.printer import to_text


class WrittenClause(Struct, frozen=True):
    """A clause of a question as written: the fields it fills with their values, the places of it and of its first word,
    and the synonym if this word is one.
    """

    values: Mapping[str, Any]
    span: Span
    keyword: Span
    synonym: str = ""


class Draft(Struct, frozen=True):
    """A question as written. Its clauses are not yet assigned to the fields of its node."""

    word: str
    first: First | None
    clauses: tuple[WrittenClause, ...]
    span: Span
    keyword: Span
    synonym: str = ""


class Preceded(Struct, frozen=True):
    """A draft with `plot`, `explain`, `export` or `expect` before it."""

    word: str
    question: Draft
    span: Span
    keyword: Span


class First(Struct, frozen=True):
    """The list in first place of a question: its measures or, where these are left out, its systems."""

    pieces: tuple[Any, ...]
    span: Span

    @property
    def can_only_be_systems(self) -> bool:
        """Whether `vs` sets several against one. Two that it joins are just listed, like measures."""
        return len(self.pieces) > 3 and "VS" in _words(self.pieces)

    @property
    def measures(self) -> tuple[nodes.MeasureCall | nodes.Mean, ...] | None:
        """The list as measures; None where it has what is none."""
        items = _without_tokens(self.pieces)
        are_measures = all(isinstance(item, nodes.MeasureCall | nodes.Mean) for item in items)
        return items if are_measures and "EXCEPT" not in _words(self.pieces) else None

    def systems(self) -> nodes.Systems | Versus:
        """The list as systems. Raises QueryError."""
        return _system_list([_as_system(piece) for piece in self.pieces])


Parsed = Any
"""A token, or the result of a method below for a rule."""


def span_of(piece: Parsed) -> Span:
    """The place of a token or a piece."""
    if isinstance(piece, Token):
        # Only tokens that lark itself adds at the end of a text have no place.
        return Span(piece.start_pos or 0, piece.end_pos or 0)
    span: Span = piece.span
    return span


def _whole(pieces: Sequence[Parsed]) -> Span:
    return span_of(pieces[0]).to(span_of(pieces[-1])) if pieces else NOWHERE


def _without_tokens(pieces: Sequence[Parsed]) -> tuple[Any, ...]:
    return tuple(piece for piece in pieces if not isinstance(piece, Token))


def _words(pieces: Sequence[Parsed]) -> tuple[str, ...]:
    return tuple(piece.type for piece in pieces if isinstance(piece, Token))


def _name(token: Token) -> str:
    return normalize(unquote(token) if token.type == "TEXT" else str(token))


def _systems(pieces: Sequence[Parsed]) -> nodes.Systems:
    """The systems of a list, or of what stands before or behind `vs` in it."""
    split = next((at for at, piece in enumerate(pieces) if _words([piece]) == ("EXCEPT",)), len(pieces))
    items, excepted = _without_tokens(pieces[:split]), _without_tokens(pieces[split:])
    return nodes.Systems(items, excepted, span=_whole(pieces))


def _system_list(pieces: Sequence[Parsed]) -> nodes.Systems | Versus:
    at = [place for place, piece in enumerate(pieces) if _words([piece]) == ("VS",)]
    if not at:
        return _systems(pieces)
    ends = zip([-1, *at], [*at, len(pieces)], strict=True)
    parts = [_systems(pieces[before + 1 : end]) for before, end in ends]
    return versus_of(parts, span_of(pieces[at[0]]), _whole(pieces))


def _as_system(piece: Parsed) -> Parsed:
    """What is written as a measure as the system that it names; other pieces as they are. Raises QueryError for what
    can only be a measure.
    """
    match piece:
        case nodes.Mean():
            raise QueryError(f"{to_text(piece)} is a measure; systems come after for", piece.span)
        case nodes.MeasureCall(name=name, parameters=()):
            return nodes.Name(name, span=piece.span)
        case nodes.MeasureCall(name=name, parameters=parameters):
            return nodes.BaselineCall(name, parameters, span=piece.span)
    return piece


def _clause(pieces: Sequence[Parsed], **values: Any) -> WrittenClause:
    return WrittenClause(values, _whole(pieces), span_of(pieces[0]))


def _clause_after(pieces: Sequence[Parsed]) -> Mapping[str, Any]:
    """The field that the clause at the end of a statement fills, if there is one."""
    return pieces[-1].values if isinstance(pieces[-1], WrittenClause) else {}


_VALUES: Mapping[Shape, Callable[[Sequence[Parsed]], Any]] = {
    Shape.NODE: lambda pieces: pieces[-1],
    Shape.LIST: _without_tokens,
    Shape.WORD: lambda pieces: str(pieces[-1]).lower(),
    Shape.ITSELF: lambda pieces: str(pieces[-1]).lower(),
    Shape.FLAG: lambda pieces: True,
}
"""Turns the pieces of a clause into its value."""


def _method_of(clause: Clause) -> Callable[[list[Parsed]], WrittenClause]:
    value_of = _VALUES[clause.shape]

    def method(pieces: list[Parsed]) -> WrittenClause:
        written, word = _clause(pieces, **{clause.field: value_of(pieces)}), str(pieces[0]).lower()
        return replace(written, synonym=word) if word in clause.synonyms else written

    return method


def _method_of_both_fields(clause: Clause) -> Callable[[list[Parsed]], WrittenClause]:
    return lambda pieces: _clause(pieces, **{clause.field: pieces[1], clause.second_field: pieces[3]})


class Builder(Transformer[Token, Any]):
    """What each rule becomes. The pieces of a rule are its tokens, including signs and keywords, and the results of its
    parts.
    """

    def __init__(self) -> None:
        super().__init__()
        for word in QUESTIONS:
            if not hasattr(self, word):
                setattr(self, word, self._question)
        for word in ABOUT_QUESTIONS:
            if not hasattr(self, word):
                setattr(self, word, self._about_question)
        for clause in CLAUSES:
            if not hasattr(self, clause.field):  # some clauses have methods of their own; two rows fill `sides`
                setattr(self, clause.field, _method_of(clause))
            if clause.second_field:
                setattr(self, f"{clause.field}_and_{clause.second_field}", _method_of_both_fields(clause))

    def __reduce__(self) -> str:
        """A saved parser names the builder and does not contain it, so that it has the methods of this module."""
        return "BUILDER"

    def start(self, pieces: list[Parsed]) -> tuple[Any, ...]:
        return _without_tokens(pieces)

    # --- questions and what stands before them ---

    def _question(self, pieces: list[Parsed]) -> Draft:
        typed = str(pieces[0]).lower()
        word = first_word(typed)
        first = next((piece for piece in pieces if isinstance(piece, First)), None)
        clauses = tuple(piece for piece in pieces if isinstance(piece, WrittenClause))
        return Draft(word, first, clauses, _whole(pieces), span_of(pieces[0]), typed if typed != word else "")

    def confusion(self, pieces: list[Parsed]) -> Draft:
        """`show` may stand before the word."""
        at = _words(pieces).index("CONFUSION")
        return replace(self._question(pieces[at:]), span=_whole(pieces))

    def _about_question(self, pieces: list[Parsed]) -> Preceded:
        return Preceded(str(pieces[0]).lower(), pieces[1], _whole(pieces), span_of(pieces[0]))

    def expect(self, pieces: list[Parsed]) -> Preceded:
        words = [str(piece).lower() for piece in pieces[1:-1]]
        question: Draft = pieces[-1]
        if words:
            expected = _clause(pieces[1:-1], expected=" ".join(words))
            question = replace(question, clauses=(*question.clauses, expected))
        return Preceded("expect", question, _whole(pieces), span_of(pieces[0]))

    # --- other statements ---

    def let(self, pieces: list[Parsed]) -> nodes.Let:
        variable, *values = _without_tokens(pieces)
        return nodes.Let(variable, tuple(values), span=_whole(pieces))

    def define(self, pieces: list[Parsed]) -> nodes.Define:
        name, *parameters, expression = _without_tokens(pieces)
        return nodes.Define(name, expression, tuple(parameters), span=_whole(pieces))

    def show(self, pieces: list[Parsed]) -> nodes.Show:
        what: Any = " ".join(str(word).lower() for word in pieces[1:] if isinstance(word, Token))
        return nodes.Show(what, **_clause_after(pieces), span=_whole(pieces))

    def load(self, pieces: list[Parsed]) -> nodes.Load:
        path, reader = _without_tokens(pieces)
        return nodes.Load(path, reader, span=_whole(pieces))

    def forget(self, pieces: list[Parsed]) -> nodes.Forget:
        return nodes.Forget(pieces[-1], span=_whole(pieces))

    def sql(self, pieces: list[Parsed]) -> nodes.SqlQuery:
        return nodes.SqlQuery(pieces[1], **_clause_after(pieces), span=_whole(pieces))

    # --- clauses ---

    def replicates(self, pieces: list[Parsed]) -> WrittenClause:
        written = pieces[-1] if len(pieces) > 1 else nodes.Attribute("system", "replicate", span=_whole(pieces))
        return _clause(pieces, replicates=written)

    def interval(self, pieces: list[Parsed]) -> WrittenClause:
        return _clause(pieces, interval=str(pieces[1]).lower() if len(pieces) > 1 else nodes.INTERVAL_WORDS[0])

    def over(self, pieces: list[Parsed]) -> WrittenClause:
        return _clause(pieces, over=" ".join(str(piece).lower() for piece in pieces))

    def system_list(self, pieces: list[Parsed]) -> nodes.Systems | Versus:
        return _system_list(pieces)

    def test_set_list(self, pieces: list[Parsed]) -> nodes.TestSets:
        return nodes.TestSets(_without_tokens(pieces), span=_whole(pieces))

    def ordering(self, pieces: list[Parsed]) -> nodes.Order:
        direction: Any = str(pieces[1]).lower() if len(pieces) > 1 else None
        return nodes.Order(pieces[0], direction, span=_whole(pieces))

    def renamed(self, pieces: list[Parsed]) -> nodes.Renamed:
        name, shown = _without_tokens(pieces)
        return nodes.Renamed(name, shown, span=_whole(pieces))

    # --- names and values ---

    def name(self, pieces: list[Token]) -> nodes.Name:
        return nodes.Name(_name(pieces[0]), span=_whole(pieces))

    bare_name = bare_word = exactly = name

    def apostrophed(self, pieces: list[Token]) -> nodes.Name:
        return nodes.Name(normalize(str(pieces[0])[1:-1]), span=_whole(pieces))

    def pattern(self, pieces: list[Token]) -> nodes.Pattern:
        return nodes.Pattern(normalize(str(pieces[0])), span=_whole(pieces))

    def variable(self, pieces: list[Token]) -> nodes.Variable:
        return nodes.Variable(normalize(pieces[0][1:]), span=_whole(pieces))

    def all(self, pieces: list[Token]) -> nodes.All:
        return nodes.All(span=_whole(pieces))

    def text(self, pieces: list[Token]) -> nodes.Text:
        return nodes.Text(unquote(pieces[0]), span=_whole(pieces))

    def number(self, pieces: list[Token]) -> nodes.Number:
        span = _whole(pieces)
        try:
            value = number_value(str(pieces[-1]))
        except ValueError as why:
            raise QueryError(str(why), span) from None
        value = value.copy_negate() if len(pieces) > 1 else value
        return nodes.Number(value, percent=str(pieces[-1]).endswith("%"), span=span)

    signed_number = number

    def part(self, pieces: list[Parsed]) -> nodes.Part:
        share, of = _without_tokens(pieces)
        return nodes.Part(share, of, span=_whole(pieces))

    # --- measures ---

    def measures(self, pieces: list[Parsed]) -> First:
        return First(tuple(pieces), _whole(pieces))

    def plain(self, pieces: list[Parsed]) -> nodes.MeasureCall:
        name, *parameters = _without_tokens(pieces)
        cut = next((piece for piece in pieces if isinstance(piece, Token) and piece.type == "CUT"), "")
        if cut and "@" in name.text:
            raise QueryError("the cutoff is given twice", span_of(cut))
        return nodes.MeasureCall(name.text + cut, tuple(parameters), span=_whole(pieces))

    def mean(self, pieces: list[Parsed]) -> nodes.Mean:
        word: Any = str(pieces[0]).lower()
        by = next((piece for piece in pieces[3:] if isinstance(piece, nodes.Attribute)), None)
        return nodes.Mean(pieces[2], word, by, span=_whole(pieces))

    def baseline(self, pieces: list[Parsed]) -> nodes.BaselineCall:
        name, *parameters = _without_tokens(pieces)
        return nodes.BaselineCall(name.text, tuple(parameters), span=_whole(pieces))

    def parameter(self, pieces: list[Parsed]) -> nodes.Argument:
        return nodes.Argument(_name(pieces[0]), pieces[2], span=_whole(pieces))

    def default(self, pieces: list[Parsed]) -> nodes.Default:
        return nodes.Default(_name(pieces[0]), pieces[2] if len(pieces) > 1 else None, span=_whole(pieces))

    # --- conditions ---

    def or_(self, pieces: list[Parsed]) -> nodes.Or:
        return nodes.Or(_without_tokens(pieces), span=_whole(pieces))

    def and_(self, pieces: list[Parsed]) -> nodes.And:
        return nodes.And(_without_tokens(pieces), span=_whole(pieces))

    def not_(self, pieces: list[Parsed]) -> nodes.Not:
        return nodes.Not(pieces[1], span=_whole(pieces))

    def grouped(self, pieces: list[Parsed]) -> Any:
        return pieces[1]

    grouped_expression = grouped

    def comparison(self, pieces: list[Parsed]) -> nodes.Relation:
        attribute, operator, value = pieces
        written: Any = str(operator)
        return nodes.Relation(attribute, written, value, span=_whole(pieces))

    def in_(self, pieces: list[Parsed]) -> nodes.Condition:
        attribute, *values = _without_tokens(pieces)
        return _perhaps_not(nodes.In(attribute, tuple(values), span=_whole(pieces)), pieces)

    def like(self, pieces: list[Parsed]) -> nodes.Condition:
        attribute, pattern = _without_tokens(pieces)
        return _perhaps_not(nodes.Like(attribute, pattern, span=_whole(pieces)), pieces)

    def is_missing(self, pieces: list[Parsed]) -> nodes.Condition:
        return _perhaps_not(nodes.IsMissing(pieces[0], span=_whole(pieces)), pieces)

    def is_latest(self, pieces: list[Parsed]) -> nodes.Condition:
        return _perhaps_not(nodes.IsLatest(pieces[0], span=_whole(pieces)), pieces)

    def attribute(self, pieces: list[Token]) -> nodes.Attribute:
        return nodes.Attribute(_name(pieces[0]), _name(pieces[2]) if len(pieces) > 1 else "", span=_whole(pieces))

    # --- arithmetic ---

    def arithmetic_sum(self, pieces: list[Parsed]) -> nodes.BinaryOperation:
        left, operator, right = pieces
        written: Any = str(operator)
        return nodes.BinaryOperation(left, written, right, span=_whole(pieces))

    arithmetic_product = arithmetic_sum

    def negative(self, pieces: list[Parsed]) -> nodes.Negative:
        return nodes.Negative(pieces[1], span=_whole(pieces))

    def function_call(self, pieces: list[Parsed]) -> nodes.FunctionCall:
        name, arguments = str(pieces[0]).lower(), _without_tokens(pieces)
        function = FUNCTIONS.get(name)
        if function is None:
            raise _unknown_function(pieces[0])
        if not function.accepts(len(arguments)):
            hint = f"write {function.usage}"
            raise QueryError(f"{name} takes {function.takes}, not {len(arguments)}", _whole(pieces), (hint,))
        return nodes.FunctionCall(name, arguments, span=_whole(pieces))

    def call(self, pieces: list[Parsed]) -> nodes.MeasureCall:
        return nodes.MeasureCall(_name(pieces[0]), _without_tokens(pieces), span=_whole(pieces))


BUILDER = Builder()
"""It has no state, so one instance is enough."""


def _perhaps_not(condition: nodes.Condition, pieces: Sequence[Parsed]) -> nodes.Condition:
    """The condition, or its negation if it contained `not`."""
    return nodes.Not(condition, span=condition.span) if "NOT" in _words(pieces) else condition


def _unknown_function(token: Token) -> QueryError:
    """The error for a name before expressions in parentheses, which only functions may have."""
    from evalhouse.grammar.editing.hints import brief, listing, near

    name = brief(str(token))
    meant = tuple(f"did you mean {function}?" for function in near(name, FUNCTIONS, at_most=1))
    named = f"a parameter comes after the name of its measure: {name}(NAME=VALUE)"
    return QueryError(f"unknown function '{name}'", span_of(token), meant or (*listing(FUNCTIONS, "functions"), named))


# --- from drafts to statements ---


def statement_of(piece: Parsed, text: str) -> nodes.AnyStatement:
    """The statement for a draft; a statement that is no draft is returned unchanged. Raises QueryError."""
    if isinstance(piece, Preceded):
        return _statement_about(piece, text)
    if isinstance(piece, Draft):
        return _question_of(piece, _by_field(piece, text))
    statement: nodes.AnyStatement = piece
    return statement


def _statement_about(piece: Preceded, text: str) -> nodes.AnyStatement:
    """The statement before a question takes the clauses for which the question has no field."""
    clauses = _by_field(piece.question, text)
    of_question = field_names(QUESTIONS[piece.question.word])
    question = _question_of(piece.question, {field: clauses[field] for field in clauses if field in of_question})
    others = {field: clauses[field] for field in clauses if field not in of_question}
    kind = ABOUT_QUESTIONS[piece.word]
    _check(kind, others, piece.span)
    return kind(question, **_values(others), span=piece.span)


def _question_of(draft: Draft, clauses: dict[str, WrittenClause]) -> nodes.Question:
    kind = QUESTIONS[draft.word]
    first = draft.first
    measures = None
    if first is not None and ("systems" in clauses or not first.can_only_be_systems):
        measures = first.measures
    if first is not None and measures is None:
        clauses = {**clauses, "systems": _systems_in_first_place(first, clauses)}
    clauses = _without_versus(kind, clauses)
    _check(kind, clauses, draft.span)
    values = _values(clauses)
    if measures is not None:
        values["measures"] = measures
    if draft.synonym:
        values["spoken"] = (draft.synonym, *values.get("spoken", ()))
    return kind(**values, span=draft.span)


def _systems_in_first_place(first: First, clauses: Mapping[str, WrittenClause]) -> WrittenClause:
    """The list in first place as systems. Raises QueryError where systems are named after `for`, too."""
    if "systems" in clauses:
        wrong = next(item for item in _without_tokens(first.pieces) if not isinstance(item, nodes.MeasureCall))
        raise QueryError(f"expected a measure before for, not {to_text(wrong)}", wrong.span)
    systems = first.systems()
    return WrittenClause({"systems": systems}, first.span, first.span)


def _by_field(draft: Draft, text: str) -> dict[str, WrittenClause]:
    """The clauses by the fields they fill. Raises QueryError if one is written twice."""
    written: dict[str, WrittenClause] = {}
    for clause in draft.clauses:
        for field in clause.values:
            first = written.setdefault(field, clause)
            if first is not clause:
                keyword = text[clause.keyword.start : clause.keyword.end]
                earlier = " ".join(text[first.span.start : first.span.end].split())
                raise QueryError(f"clause '{keyword}' is given twice, first as '{earlier}'", clause.keyword)
    return written


def _without_versus(kind: type[nodes.StatementNode], clauses: dict[str, WrittenClause]) -> dict[str, WrittenClause]:
    """The clauses with `vs` as the clauses that it means. Raises QueryError where these cannot be."""
    written = clauses.get("systems")
    versus = None if written is None else written.values["systems"]
    if written is None or not isinstance(versus, Versus):
        return clauses
    if "against" in clauses:
        raise QueryError("vs and against both hold systems against one", versus.word, ("leave out one of the two",))
    systems, against = meaning(versus, kind)
    clauses = {**clauses, "systems": replace(written, values={"systems": systems})}
    if against is None:
        return clauses
    return {**clauses, "against": WrittenClause({"against": against}, against.span, versus.word)}


def _check(kind: type[nodes.StatementNode], clauses: dict[str, WrittenClause], span: Span) -> None:
    """Raises QueryError for a clause that has no field in the statement, and for a missing clause that the statement
    requires.
    """
    word = kind.words.split()[0]
    for field, clause in clauses.items():
        if field not in field_names(kind):
            known = next(known for known in CLAUSES if known.field == field)
            hint = f"it belongs to {' and '.join(known.statements)}"
            raise QueryError(f"clause '{known.words}' does not apply to {word}", clause.keyword, (hint,))
    for field, needed in kind.needs.items():
        if field not in clauses and needed.instead not in clauses:
            raise UnfinishedError(f"{word} needs {needed.what}", Span(span.end, span.end), needed.examples)


def _values(clauses: dict[str, WrittenClause]) -> dict[str, Any]:
    values = {field: clause.values[field] for field, clause in clauses.items()}
    if spoken := sorted({clause.synonym for clause in clauses.values() if clause.synonym}):
        values["spoken"] = tuple(spoken)
    return values

"""Translates between Python and the language: values, keyword arguments, statements and errors."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.clauses import CLAUSES, QUESTIONS, Clause, Shape, field_names, required_fields
from evalhouse.grammar.errors import EvalhouseError, QueryError
from evalhouse.grammar.lexicon import NUMBER, PATTERN, WORD, is_bare_name, normalize, quote
from evalhouse.grammar.parser import parse
from evalhouse.warehouse.faults import DataError, WarehouseError
from evalhouse.warehouse.render.diagnostics import data_error, query_error, warehouse_error
from evalhouse.warehouse.results import NotMetError, UndecidedError, UnmetError

# === values in the language ===========================================================================================
# Names (in quotes if necessary), numbers, lists. Whether a system or test set exists is checked only when the statement
# runs.

Numeric = int | float | Decimal | str
"""A number, or its spelling in the language: 0.05, "5%", "2^20", "$n"; for a difference also "5% of B"."""

NameOrNames = str | Iterable[str]
"""A name, or several."""

ImportOrDate = int | str | date
"""The number of an import, or a date or time: a text such as "2026-11-01 14:30", or a date or datetime."""

_NUMBER = re.compile(rf"-?(?:{NUMBER})|\$\w+")
_BASELINE = re.compile(r"allrel(\(\))?|random\(s=[^()]*\)", re.IGNORECASE)
_ATTRIBUTE = re.compile(r'(?:\w+|"[^"]+")(?:\.(?:\w+|"[^"]+"))?|\$\w+')


def check_text(argument: str, given: Any) -> str:
    """The given value, which must be a text. Raises TypeError for anything else."""
    if not isinstance(given, str):
        raise TypeError(f"{argument} is {given!r}, and not a text")
    return given


def name(argument: str, given: Any) -> str:
    """A name, in quotes if necessary. A `$variable` and `random(s=0.5)` are written as in the language."""
    text = check_text(argument, given)
    if re.fullmatch(r"\$\w+", text) or _BASELINE.fullmatch(text):
        return text
    return text if is_bare_name(text) else quote(normalize(text))


def several(argument: str, given: Any) -> list[str]:
    """One text or several, as a list. Raises QueryError if there are none."""
    texts = [given] if isinstance(given, str) else [check_text(argument, text) for text in _items(argument, given)]
    if not texts:
        raise QueryError(f"{argument} is empty")
    return texts


def _items(argument: str, given: Any) -> Iterable[Any]:
    if not isinstance(given, Iterable):
        raise TypeError(f"{argument} is {given!r}, and neither a text nor a list of texts")
    return given


def names(argument: str, given: Any) -> str:
    """Names, patterns with `*`, and `all`."""
    return ", ".join(
        text if text.casefold() == "all" or PATTERN.fullmatch(text) else name(argument, text)
        for text in several(argument, given)
    )


def measures(given: Any) -> str:
    """Measures as in the language: "F1", "recall, precision", "mean(F1)". Any other text is the name of one measure."""
    return ", ".join(map(_measure, several("measures", given)))


def _measure(text: str) -> str:
    if is_bare_name(text):
        return text
    try:
        (statement,) = parse(f"score {text}")
        if isinstance(statement, n.Score) and statement == n.Score(statement.measures):
            return text
    except (QueryError, ValueError):
        pass
    return quote(normalize(text))


def number(argument: str, given: Any) -> str:
    """A number. Raises QueryError for a text that is not one, and TypeError for anything else."""
    if isinstance(given, str):
        if not _NUMBER.fullmatch(given):
            raise QueryError(f"{argument} is {given!r}, and not a number")
        return given
    try:
        if isinstance(given, bool):
            raise TypeError
        exact = Decimal(str(given))
    except (ArithmeticError, TypeError, ValueError):
        raise TypeError(f"{argument} is {given!r}, and not a number") from None
    if not exact.is_finite():
        raise QueryError(f"{argument} is {given}, and not a number")
    return f"{exact:f}"


def difference(argument: str, given: Any) -> str:
    """A number, or a part of the value of a system: "5% of B"."""
    share, of, system = given.partition(" of ") if isinstance(given, str) else (given, "", "")
    return f"{number(argument, share)} of {name(argument, system)}" if of else number(argument, given)


def numbers(argument: str, given: Any) -> str:
    """A number or several."""
    return _listed(number, argument, given)


def differences(argument: str, given: Any) -> str:
    """A difference or several."""
    return _listed(difference, argument, given)


def _listed(write: Callable[[str, Any], str], argument: str, given: Any) -> str:
    if isinstance(given, str) or not isinstance(given, Iterable):
        given = [given]
    listed = [write(argument, one) for one in given]
    if not listed:
        raise QueryError(f"{argument} is empty")
    return ", ".join(listed)


def text(argument: str, given: Any) -> str:
    """A text in quotes; a `$variable` stays as it is."""
    said = check_text(argument, given)
    return said if re.fullmatch(r"\$\w+", said) else quote(said)


def import_or_date(argument: str, given: Any) -> str:
    """The number of an import, or a date or time in quotes. A datetime without a time zone is in UTC."""
    if isinstance(given, date):
        return quote(given.isoformat())
    return text(argument, given) if isinstance(given, str) else number(argument, given)


def attribute(argument: str, given: Any) -> str:
    """An attribute: `unit`, `document.source`, `document.length in words`."""
    said = check_text(argument, given)
    if _ATTRIBUTE.fullmatch(said):
        return said
    of, _, called = said.partition(".")
    return f"{of if WORD.fullmatch(of) else quote(of)}" + (f".{quote(normalize(called))}" if called else "")


def attributes(argument: str, given: Any) -> str:
    """An attribute or several."""
    return ", ".join(attribute(argument, one) for one in several(argument, given))


def renaming(argument: str, given: Any) -> str:
    """What things are called, by their names."""
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"{argument} is {given!r}, and not a mapping of names to texts")
    return ", ".join(f"{name(argument, one)} as {text(argument, shown)}" for one, shown in given.items())


def language(argument: str, given: Any) -> str:
    """A text that is already written in the language."""
    return check_text(argument, given)


def choice(argument: str, given: Any, choices: Sequence[str]) -> str:
    """One of several words. Raises QueryError for another."""
    if given not in choices:
        raise QueryError(f"{argument} is {given!r}, and not {' or '.join(map(repr, choices))}")
    return check_text(argument, given)


# === keyword arguments for clauses ====================================================================================
# A table of kinds of arguments, derived from the fields of the nodes. The argument for a clause has the same words in
# Python (`order by` is `order_by`, `from` is `from_`). The type of the field that the clause fills determines the
# allowed values, so a new clause needs no change here.


class ArgumentKind(Struct, frozen=True):
    """A kind of argument: its type in the signature, its type in the documentation, and the function that writes a
    value in the language.
    """

    hint: str
    said: str
    write: Callable[[str, Any], str]


NAME = ArgumentKind("str", "str", name)
NAMES = ArgumentKind("NameOrNames", "str or sequence of str", names)
NUMBER_KIND = ArgumentKind("Numeric", "int, float, Decimal or str", number)
NUMBERS = ArgumentKind("Numeric | Sequence[Numeric]", "number or sequence of numbers", numbers)
DIFFERENCE = replace(NUMBER_KIND, write=difference)
DIFFERENCES = replace(NUMBERS, write=differences)
TEXT = ArgumentKind("str", "str", text)
ATTRIBUTE = ArgumentKind("str", "str", attribute)
ATTRIBUTES = ArgumentKind("NameOrNames", "str or sequence of str", attributes)
RENAMED = ArgumentKind("Mapping[str, str]", "mapping of str to str", renaming)
IMPORT_OR_DATE = ArgumentKind("ImportOrDate", "int, str, date or datetime", import_or_date)
LANGUAGE = ArgumentKind("str", "str", language)
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
        ({n.Part}, DIFFERENCES if listed else DIFFERENCE),
        ({n.Number}, NUMBERS if listed else NUMBER_KIND),
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
            return f"{self.words} {choice(self.name, given, self.choices)}"
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
    hints = get_type_hints(node, vars(n))
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


# === statements for method calls ======================================================================================
# The same words with the same values.

_BEFORE_SYSTEMS = next(place for place, clause in enumerate(CLAUSES) if clause.field == "systems")


def statement_text(word: str, given: Mapping[str, Any]) -> str:
    """The statement that begins with `word`, from the arguments by name. None means that an argument was not given.

    Raises TypeError for a value whose type is not accepted, and QueryError for a value that cannot be written.
    """
    parts = [QUESTIONS[word].words]
    names_measures = takes_measures(word) and given["measures"] is not None
    if names_measures:
        parts.append(measures(given["measures"]))
    clauses = [
        (CLAUSES.index(argument.clause), argument.write(given.get(argument.name))) for argument in arguments_of(word)
    ]
    systems = _systems(given) if takes_systems(word) else ""
    if takes_measures(word) and not names_measures:
        systems = systems or "for all"  # what follows the first word would be read as a measure
    parts += [text for place, text in clauses if place < _BEFORE_SYSTEMS]
    parts += [systems, *(text for place, text in clauses if place > _BEFORE_SYSTEMS)]
    return " ".join(filter(None, parts))


def _systems(given: Mapping[str, Any]) -> str:
    named, excepted = list(_flat(given["systems"])), given["except_"]
    if excepted is None:
        return f"for {names('systems', named)}" if named else ""
    return f"for {names('systems', named or 'all')} except {names('except_', excepted)}"


def _flat(systems: Iterable[Any]) -> Iterable[Any]:
    """Systems that were given one by one or as lists, as one list."""
    for system in systems:
        if isinstance(system, str):
            yield system
        elif isinstance(system, Iterable):
            yield from several("systems", system)
        else:
            raise TypeError(f"systems: {system!r} is not a text")


def prefix_question(words: str, question: str, **clauses: str) -> str:
    """A question after words such as `plot`. Raises QueryError if the text is not exactly one statement."""
    if not question.strip().rstrip(";"):
        raise QueryError(f"{words} needs a question")
    return " ".join([words, question.strip().rstrip(";").rstrip(), *(f"{key} {said}" for key, said in clauses.items())])


def plot_text(question: str, **clauses: str | None) -> str:
    """A question after `plot`, with the options of its picture."""
    given = {"title": text, "font": text, "width": language, "to": text}
    said = {key: given[key](key, value) for key, value in clauses.items() if value is not None}
    return prefix_question("plot", question, **said)


# === errors in Python's terms =========================================================================================
# They contain everything that the command line says, with its options as arguments.

T = TypeVar("T")

for _error, _called in (
    (EvalhouseError, "Error"),
    (QueryError, "QueryError"),
    (DataError, "LoadError"),
    (WarehouseError, "WarehouseError"),
    (UnmetError, "UnmetError"),
    (NotMetError, "NotMetError"),
    (UndecidedError, "UndecidedError"),
):
    # Tracebacks and pickles use these public names.
    _error.__module__, _error.__name__, _error.__qualname__ = "evalhouse", _called, _called

_FLAGS = ("force", "skip-bad", "strict", "expect-all", "same-documents", "texts", "simulated", "dry-run")


def _name(option: str) -> str:
    return option.replace("-", "_")


_MADE = re.compile(r"evalhouse init (\S+) (?:--sample )?(makes one|makes a warehouse)(?: of them)?")

_OPTIONS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(r"--(set|map) (['\"]?)(\w+)=([^\s'\";,()]+)\2"),
        lambda found: f'{found[1]}={{"{found[3]}": "{found[4]}"}}',
    ),
    (re.compile(r"--as ([\w-]+)"), lambda found: f'as_="{found[1]}"'),
    (re.compile(rf"--({'|'.join(_FLAGS)})\b"), lambda found: f"{_name(found[1])}=True"),
    # A value is in capitals, a list, or the only word that can be chosen.
    (
        re.compile(r"--([a-z][a-z-]*) ([A-Z][A-Z,]*|[\w.]+(?:,[\w.]+)+|systems)(?![\w.])"),
        lambda found: f'{_name(found[1])}="{found[2]}"',
    ),
    (re.compile(r"--([a-z][a-z-]+)"), lambda found: _name(found[1])),
)
"""Options of the command line, and the corresponding Python arguments."""


def _creation_hint(text: str) -> str:
    """How a warehouse is created, if a hint mentions it."""
    text = text.replace(
        "a warehouse is a DuckDB file made by evalhouse init",
        "w = evalhouse.create(FILE) makes a warehouse, and w.load(FILE) loads results",
    )
    return _MADE.sub(lambda found: f'evalhouse.create("{found[1]}") {found[2]}', text)


def in_python(text: str) -> str:
    """A hint of the command line in Python's terms. If the hint is a command to run, it stays as it is typed."""
    text = _creation_hint(text)
    if "evalhouse " not in text:
        for written, said in _OPTIONS:
            text = written.sub(said, text)
    return text


def say(error: EvalhouseError, text: str) -> None:
    """Sets the message of an error: what is wrong, its place in the text, and what would help."""
    match error:
        case QueryError():
            drawn = query_error(error, text)
        case DataError():
            drawn = data_error(error)
        case WarehouseError():
            drawn = warehouse_error(error)
        case _:
            return
    lines = [line.removeprefix("error: ") for line in drawn.split("\n")]
    # The statement and the place of the error stay exactly as they were written.
    error.drawn = "\n".join(map(_creation_hint if isinstance(error, QueryError) else in_python, lines))


def in_full(work: Callable[[], T], text: str = "") -> T:
    """The result of some work. Its errors get complete messages, with the text that they refer to, and their tracebacks
    hide internals.
    """
    try:
        return work()
    except EvalhouseError as error:
        say(error, text)
        raise error.with_traceback(None) from None

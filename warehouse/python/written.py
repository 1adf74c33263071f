"""Writes Python values in the language: names (in quotes if necessary), numbers, lists.

Whether a system or test set exists is checked only when the statement runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.lexicon import NUMBER, PATTERN, WORD, is_bare_name, normalized, quoted
from grammar.parser import parse

Numeric = int | float | Decimal | str
"""A number, or its spelling in the language: 0.05, "5%", "2^20", "$n"."""

NameOrNames = str | Iterable[str]
"""A name, or several."""

ImportOrDate = int | str | date
"""The number of an import, or a date or time: a text such as "2026-11-01 14:30", or a date or datetime."""

_NUMBER = re.compile(rf"-?(?:{NUMBER})|\$\w+")
_BASELINE = re.compile(r"allrel(\(\))?|random\(s=[^()]*\)", re.IGNORECASE)
_ATTRIBUTE = re.compile(r'(?:\w+|"[^"]+")(?:\.(?:\w+|"[^"]+"))?|\$\w+')


def text_given(argument: str, given: Any) -> str:
    """The given value, which must be a text. Raises TypeError for anything else."""
    if not isinstance(given, str):
        raise TypeError(f"{argument} is {given!r}, and not a text")
    return given


def name(argument: str, given: Any) -> str:
    """A name, in quotes if necessary. A `$variable` and `random(s=0.5)` are written as in the language."""
    text = text_given(argument, given)
    if re.fullmatch(r"\$\w+", text) or _BASELINE.fullmatch(text):
        return text
    return text if is_bare_name(text) else quoted(normalized(text))


def several(argument: str, given: Any) -> list[str]:
    """One text or several, as a list. Raises QueryError if there are none."""
    texts = [given] if isinstance(given, str) else [text_given(argument, text) for text in _items(argument, given)]
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
    return quoted(normalized(text))


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


def numbers(argument: str, given: Any) -> str:
    """A number or several."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        given = [given]
    listed = [number(argument, one) for one in given]
    if not listed:
        raise QueryError(f"{argument} is empty")
    return ", ".join(listed)


def text(argument: str, given: Any) -> str:
    """A text in quotes; a `$variable` stays as it is."""
    said = text_given(argument, given)
    return said if re.fullmatch(r"\$\w+", said) else quoted(said)


def import_or_date(argument: str, given: Any) -> str:
    """The number of an import, or a date or time in quotes. A datetime without a time zone is in UTC."""
    if isinstance(given, date):
        return quoted(given.isoformat())
    return text(argument, given) if isinstance(given, str) else number(argument, given)


def attribute(argument: str, given: Any) -> str:
    """An attribute: `unit`, `document.source`, `document.length in words`."""
    said = text_given(argument, given)
    if _ATTRIBUTE.fullmatch(said):
        return said
    of, _, called = said.partition(".")
    return f"{of if WORD.fullmatch(of) else quoted(of)}" + (f".{quoted(normalized(called))}" if called else "")


def attributes(argument: str, given: Any) -> str:
    """An attribute or several."""
    return ", ".join(attribute(argument, one) for one in several(argument, given))


def renamed(argument: str, given: Any) -> str:
    """What things are called, by their names."""
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"{argument} is {given!r}, and not a mapping of names to texts")
    return ", ".join(f"{name(argument, one)} as {text(argument, shown)}" for one, shown in given.items())


def language(argument: str, given: Any) -> str:
    """A text that is already written in the language."""
    return text_given(argument, given)


def choice(argument: str, given: Any, choices: Sequence[str]) -> str:
    """One of several words. Raises QueryError for another."""
    if given not in choices:
        raise QueryError(f"{argument} is {given!r}, and not {' or '.join(map(repr, choices))}")
    return text_given(argument, given)

"""Writes the statement of the language for a method call: the same words with the same values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grammar.clauses import CLAUSES, QUESTIONS
from grammar.errors import QueryError
from warehouse.python import written
from warehouse.python.keyword_arguments import arguments_of, takes_measures, takes_systems

_BEFORE_SYSTEMS = next(place for place, clause in enumerate(CLAUSES) if clause.field == "systems")


def statement_text(word: str, given: Mapping[str, Any]) -> str:
    """The statement that begins with `word`, from the arguments by name. None means that an argument was not given.

    Raises TypeError for a value whose type is not accepted, and QueryError for a value that cannot be written.
    """
    parts = [QUESTIONS[word].words]
    if takes_measures(word):
        parts.append(written.measures(given["measures"]))
    clauses = [
        (CLAUSES.index(argument.clause), argument.write(given[argument.name])) for argument in arguments_of(word)
    ]
    systems = _systems(given) if takes_systems(word) else ""
    parts += [text for place, text in clauses if place < _BEFORE_SYSTEMS]
    parts += [systems, *(text for place, text in clauses if place > _BEFORE_SYSTEMS)]
    return " ".join(filter(None, parts))


def _systems(given: Mapping[str, Any]) -> str:
    named, excepted = list(_flat(given["systems"])), given["except_"]
    if excepted is None:
        return f"for {written.names('systems', named)}" if named else ""
    return f"for {written.names('systems', named or 'all')} except {written.names('except_', excepted)}"


def _flat(systems: Iterable[Any]) -> Iterable[Any]:
    """Systems that were given one by one or as lists, as one list."""
    for system in systems:
        if isinstance(system, str):
            yield system
        elif isinstance(system, Iterable):
            yield from written.several("systems", system)
        else:
            raise TypeError(f"systems: {system!r} is not a text")


def preceded(words: str, question: str, **clauses: str) -> str:
    """A question after words such as `plot`. Raises QueryError if the text is not exactly one statement."""
    if not question.strip().rstrip(";"):
        raise QueryError(f"{words} needs a question")
    return " ".join([words, question.strip().rstrip(";").rstrip(), *(f"{key} {said}" for key, said in clauses.items())])


def plot_text(question: str, **clauses: str | None) -> str:
    """A question after `plot`, with the options of its picture."""
    given = {"title": written.text, "font": written.text, "width": written.language, "to": written.text}
    said = {key: given[key](key, value) for key, value in clauses.items() if value is not None}
    return preceded("plot", question, **said)

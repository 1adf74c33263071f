"""The statement of the language that a call of a method means: the same words, with the same values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grammar.clauses import CLAUSES, QUESTIONS
from grammar.errors import QueryError
from warehouse.python import written
from warehouse.python.keyword_arguments import arguments_of, takes_measures, takes_systems

_BEFORE_SYSTEMS = next(place for place, clause in enumerate(CLAUSES) if clause.field == "systems")


def statement_text(word: str, given: Mapping[str, Any]) -> str:
    """The statement that begins with `word`, of arguments by their names; None is what was not given.

    Raises TypeError for a value of a type that cannot be meant, and QueryError for one that cannot be written.
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
    """Systems that were given one by one, or as lists."""
    for system in systems:
        if isinstance(system, str):
            yield system
        elif isinstance(system, Iterable):
            yield from written.several("systems", system)
        else:
            raise TypeError(f"systems: {system!r} is not a text")


def preceded(words: str, question: str, **clauses: str) -> str:
    """A question behind words such as `plot`. Raises QueryError where it is not one statement."""
    if not question.strip().rstrip(";"):
        raise QueryError(f"{words} needs a question")
    return " ".join([words, question.strip().rstrip(";").rstrip(), *(f"{key} {said}" for key, said in clauses.items())])


def plot_text(question: str, **clauses: str | None) -> str:
    """A question behind `plot`, with what is said of its picture."""
    given = {"title": written.text, "font": written.text, "width": written.language, "to": written.text}
    said = {key: given[key](key, value) for key, value in clauses.items() if value is not None}
    return preceded("plot", question, **said)

"""What may follow at the end of a text, for completion in the shell. Names themselves are the caller's to supply."""

from __future__ import annotations

from dataclasses import dataclass

from grammar.clauses import CLAUSES, DRAWN
from grammar.editing.highlighting import tokens
from grammar.editing.places import Place, place_after
from grammar.lexicon import KEYWORDS
from grammar.reading import END, Reading, read, this_statement

_PHRASES = {
    "forget": "forget import",
    "define": "define measure",
    "audit": "audit published",
    **{clause.first_word: clause.words for clause in CLAUSES if clause.first_word != "to"},
}
"""Keywords that are always followed by the same others."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What may follow: keywords as they are typed ("order by"), and kinds of names and values.

    Kinds are system, test set, measure, parameter, test, task, adjustment, attribute, variable, reader, number, text,
    value (of a comparison, a parameter or `let`) and new name. `start` is where the word to be completed begins: the
    length of the text where a new word begins.
    """

    keywords: tuple[str, ...]
    kinds: tuple[str, ...]
    start: int


def expected(text: str) -> Expected:
    """What may follow at the end of `text`, whose last word may be unfinished. Nothing where it is wrong before."""
    start = _start_of_last_word(text)
    last = tokens(text)[-1:]
    if last and last[0].kind in {"comment", "error"} and last[0].span.end == len(text):
        return Expected((), (), len(text))
    reading = read(text[:start])
    if reading.mistake is not None and reading.mistake < len(text[:start].rstrip()):
        return Expected((), (), start)
    place = place_after(this_statement(reading.tokens))
    return Expected(_keywords(reading, place), _kinds(reading.accepted, place), start)


def _start_of_last_word(text: str) -> int:
    at = len(text)
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] in "_-/.:+@*$"):
        at -= 1
    return at


def _keywords(reading: Reading, place: Place) -> tuple[str, ...]:
    words = (terminal.lower().replace("_", "-") for terminal in reading.accepted)
    found: list[str] = []
    for word in words:
        if word not in KEYWORDS:
            continue
        if word == "to" and END in reading.accepted:
            found.extend(_ends_in_to(place))
        elif END not in reading.accepted or not _is_given(word, place) or not place.question:
            found.append("test sets" if word == "test" and place.statement == "show" else _PHRASES.get(word, word))
    return tuple(sorted(found))


def _ends_in_to(place: Place) -> list[str]:
    """The clauses `to generality` and `to "file"`, where they belong."""
    found = []
    if place.question == "project" and "to" not in place.clauses:
        found.append("to generality")
    if place.statement in DRAWN and (
        place.clauses.count("to") == 0 or place.question in {"change", "replicate", "project"}
    ):
        found.append("to")
    return found


def _is_given(word: str, place: Place) -> bool:
    fields = {clause.field for clause in CLAUSES if clause.first_word in place.clauses}
    return any(clause.first_word == word and clause.field in fields for clause in CLAUSES)


def _kinds(accepted: frozenset[str], place: Place) -> tuple[str, ...]:
    found = []
    named = {"NAME", "WORD", "PATTERN", "FIELD"} & accepted
    if named and place.kind:
        found.append("measure" if place.kind == "count" else place.kind)
    if "VARIABLE" in accepted:
        found.append("variable")
    if "NUMBER" in accepted:
        found.append("number")
    if "TEXT" in accepted and (not named or place.kind == "value"):
        found.append("text")
    return tuple(found)

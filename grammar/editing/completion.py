"""Determines what may follow at the end of a text, for completion in the shell and for messages.

No name is looked up here; the caller supplies the names.
"""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token
from msgspec import Struct

from evalhouse.grammar.clauses import (
    ABOUT_QUESTIONS,
    CALLED,
    CLAUSES,
    STATEMENTS,
    Clause,
    clauses_begun,
    continues,
    first_word,
    question_word,
)
from evalhouse.grammar.editing.highlighting import tokens
from evalhouse.grammar.lexicon import FUNCTIONS, keyword
from evalhouse.grammar.parsing.reading import END, read, this_statement

# === kinds of names at a place ========================================================================================
# The preceding keywords determine which kind of name is expected. The grammar has one terminal for all bare names, but
# messages should say, for example, "a system is expected".

AGAINST = next(clause for clause in CLAUSES if clause.words == "against")

VALUE_FOLLOWS = {"EQUAL", "UNEQUAL", "LESS", "AT_MOST", "MORE", "AT_LEAST", "IN", "LIKE"}


class Place(Struct, frozen=True):
    """A place in a statement: its first word, the question it asks, the kind of name expected, the clauses before it.

    `statement` and `question` are empty if none was written. `kind` is the kind of names that the statement or the
    clause takes, or "parameter", "value" or "count". `last_word` is the keyword directly before the place; it is empty
    if something else is there. `holds_against` says whether the systems of the statement are held against one already.
    """

    statement: str
    question: str
    kind: str
    clauses: tuple[Clause, ...]
    last_word: str
    holds_against: bool = False

    @property
    def takes_versus(self) -> bool:
        """Whether `vs` may follow the systems here."""
        of_question = STATEMENTS.get(self.question)
        takes_against = of_question is not None and AGAINST.belongs_to(of_question)
        return self.kind == "system" and takes_against and not self.holds_against


def place_after(tokens: Sequence[Token]) -> Place:
    """The place after these tokens of one statement."""
    words = [first_word(keyword(token.type)) for token in tokens]
    statement = words[0] if words and words[0] in STATEMENTS else ""
    question = question_word(words)
    begun = clauses_begun(words)
    names = _names_behind(words, begun)
    kind = STATEMENTS[question or statement].names if statement else ""
    calls: list[bool] = []
    holds_against = AGAINST in begun
    before: Token | None = None
    for at, token in enumerate(tokens):
        if token.type == "LPAR":
            calls.append(_takes_parameters(before, kind))
        elif token.type == "RPAR" and calls:
            calls.pop()
        elif at in names:
            kind = names[at]
        elif token.type == "VS" and kind in {"system", "measure"}:
            # In first place measures may be joined by vs, too, but what is held against another is a system.
            kind, holds_against = "system", True
        elif token.type in VALUE_FOLLOWS and kind == "attribute":
            kind = "value"
        elif token.type in {"AND", "OR", "NOT"} and kind in {"attribute", "value"}:
            kind = "attribute"
        elif token.type == "EQUAL" and kind == "new name" and not any(calls):
            kind = "count"
        before = token
    if any(calls):
        kind = "value" if before and before.type == "EQUAL" else "parameter"
    return Place(statement, question, kind, tuple(filter(None, begun)), words[-1] if words else "", holds_against)


def _names_behind(words: Sequence[str], begun: Sequence[Clause | None]) -> dict[int, str]:
    """The kind of names after the keywords of each clause, by the position of the keyword. Before the last keyword of a
    clause, there is none.
    """
    names = {}
    for at, clause in enumerate(begun):
        if clause:
            keywords = clause.words.split()
            names[at] = ""
            if words[at] in clause.synonyms or [*words[at : at + len(keywords)]] == keywords:
                names[at + len(keywords) - 1] = clause.names
    return names


def _takes_parameters(before: Token | None, kind: str) -> bool:
    """Whether a parenthesis contains parameters. It does after the name of a measure or system, but not after that of a
    function.
    """
    if before is None or before.type not in {"NAME", "WORD", "TEXT"}:
        return False
    return kind != "count" or before.lower() not in FUNCTIONS


# === what may follow ==================================================================================================


class Expected(Struct, frozen=True):
    """What may follow: keywords as they are typed ("order by"), and kinds of names and values.

    Kinds are system, test set, count, measure, function, parameter, test, task, adjustment, attribute, variable,
    reader, number, text, value (of a comparison, a parameter or `let`) and new name. `start` is the start of the word
    to be completed; if a new word begins, it is the length of the text. `inside` means that a question has begun.
    """

    keywords: tuple[str, ...]
    kinds: tuple[str, ...]
    start: int
    inside: bool = False


def expect_completion(text: str) -> Expected:
    """What may follow at the end of `text`, whose last word may be unfinished. There is nothing if an earlier part has
    a mistake.
    """
    start = _start_of_last_word(text)
    last = tokens(text)[-1:]
    if last and last[0].kind in {"comment", "error"} and last[0].span.end == len(text):
        return Expected((), (), len(text))
    reading = read(text[:start])
    if reading.mistake < len(text[:start].rstrip()):
        return Expected((), (), start)
    accepted = reading.accepted()
    place = place_after(this_statement(reading.tokens))
    keywords = _keywords(accepted, place, text[start:].lower())
    return Expected(keywords, _kinds(accepted, place), start, bool(place.question))


def _start_of_last_word(text: str) -> int:
    at = len(text)
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] in "_-/.:+@#*$"):
        at -= 1
    return at


_SYNONYMS = {"micro", *CALLED, *(word for clause in CLAUSES for word in clause.synonyms)}


def _keywords(accepted: frozenset[str], place: Place, typed: str) -> tuple[str, ...]:
    """The keywords that may follow. If a comma is possible, `and` is not offered, `vs` only between systems that are
    held against one, `except` only after systems, and `show` only where it begins a statement. Synonyms are offered
    only after the user has begun to type them.
    """
    passed_over = {"and", "vs"} if "COMMA" in accepted else set()
    passed_over -= {"vs"} if place.takes_versus else set()
    passed_over |= {"except"} if place.kind == "measure" else set()
    passed_over |= {"show"} if place.statement in ABOUT_QUESTIONS else set()
    passed_over |= {word for word in _SYNONYMS if not typed or not word.startswith(typed)}
    keywords: list[str] = []
    for word in filter(None, map(keyword, accepted)):
        if word in passed_over:
            continue
        clauses = [clause for clause in CLAUSES if word in clause.first_words]
        if place.statement and END in accepted and clauses and not continues(place.last_word, word):
            keywords.extend(
                word if word in clause.synonyms else clause.words for clause in clauses if _may_follow(clause, place)
            )
        elif word in STATEMENTS and not place.question:
            keywords.append(STATEMENTS[word].words)
        else:
            keywords.append("test sets" if word == "test" and place.statement == "show" else word)
    return tuple(sorted(keywords))


def _may_follow(clause: Clause, place: Place) -> bool:
    """Whether the statement takes the clause and does not have it yet."""
    kinds = {STATEMENTS[word] for word in (place.statement, place.question) if word}
    is_given = any(clause.field == given.field for given in place.clauses)
    is_given |= clause is AGAINST and place.holds_against
    return not is_given and any(clause.belongs_to(kind) for kind in kinds)


def _kinds(accepted: frozenset[str], place: Place) -> tuple[str, ...]:
    kinds = []
    named = {"NAME", "WORD", "PATTERN", "FIELD"} & accepted
    if named and place.kind:
        kinds.extend(["count", "measure", "function"] if place.kind == "count" else [place.kind])
    if "VARIABLE" in accepted:
        kinds.append("variable")
    if "NUMBER" in accepted:
        kinds.append("number")
    if "TEXT" in accepted and (not named or place.kind == "value"):
        kinds.append("text")
    return tuple(kinds)

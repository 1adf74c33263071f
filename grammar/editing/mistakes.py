"""Explains why a text does not parse: it turns the place where parsing stopped into a sentence that users can act on.

It takes a text that the parser refuses and returns the error. It does not decide what is valid.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from lark import Token, UnexpectedInput
from msgspec import Struct

from evalhouse.grammar.clauses import (
    ABOUT_QUESTIONS,
    CALLED,
    CLAUSES,
    ELSEWHERE,
    EXPECTATIONS,
    QUESTIONS,
    STATEMENTS,
    first_word,
)
from evalhouse.grammar.editing.completion import Place, place_after
from evalhouse.grammar.editing.hints import near
from evalhouse.grammar.editing.rewording import reworded, separated
from evalhouse.grammar.errors import QueryError, Span, UnfinishedError
from evalhouse.grammar.lexicon import RESERVED, WHOLE_NUMBER, keyword, quote
from evalhouse.grammar.nodes import AROUND_A_MEASURE
from evalhouse.grammar.parsing.building import span_of
from evalhouse.grammar.parsing.lark_parser import parser
from evalhouse.grammar.parsing.reading import END, read, this_statement

MOST_NAMED = 5
"""At most this many things are named in "expected …", because nobody would read more."""

_WORD = re.compile(r'"(?:[^"]|"")*"|\$\w+|\w+(?:[-/.:+@#]\w+)*|[<>=!&|]+|.', re.DOTALL)
_WORD_OF_EXPRESSION = re.compile(r'"(?:[^"]|"")*"|\$\w+|[0-9][0-9_.]*\w*|\w+|[<>=!&|]+|.', re.DOTALL)

_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?!\w)")

_STRETCH = re.compile(r'[^\s,;()"]+')

_KINDS = {
    "new name": "a name",
    "adjustment": "an adjustment",
    "attribute": "an attribute",
    "count": "a count, a measure or a number",
}

_SIGNS = {
    "COMMA": "','",
    "LPAR": "'('",
    "RPAR": "')'",
    "EQUAL": "'='",
    "SEMICOLON": "';'",
    "NUMBER": "a number",
    "VARIABLE": "a variable",
    "TEXT": "a text in quotes",
}

_COMPARISONS = {"EQUAL", "UNEQUAL", "LESS", "AT_MOST", "MORE", "AT_LEAST"}

_OTHER_LANGUAGES = {
    "==": "=",
    "<>": "!=",
    "=>": ">=",
    "=<": "<=",
    "&&": "and",
    "&": "and",
    "||": "or",
    "|": "or",
    "!": "not",
}
"""Signs of other query languages, and their equivalents here."""

_POST_HOC = {"observed", "post", "post-hoc", "posthoc", "retrospective", "achieved"}
"""Words that people use to ask for the power of the observed difference."""

_BEGINS_SQL = re.compile(r"(?:select|with)\s", re.IGNORECASE)

_CURLY_QUOTES = "\u2018\u2019\u201c\u201d\u00ab\u00bb\u201e\u201a"


_FIRST_WORDS = [word for clause in CLAUSES for word in clause.first_words]


class Stop(Struct, frozen=True):
    """The place where parsing stopped: the word that did not fit (empty at the end), the token before it, and what
    would fit.

    `stretch` is the text without spaces from the preceding name up to and beyond the word (GE#2). It is empty if a
    space is between them.
    """

    word: str
    span: Span
    before: Token | None
    stretch: str
    place: Place
    accepted: frozenset[str]
    rest: str = ""
    """The text from the word to the end."""
    until: str = ""
    """The text of the statement before the word."""

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords that would fit."""
        return tuple(filter(None, map(keyword, sorted(self.accepted))))


def as_sql(text: str) -> str:
    """The `sql` statement for a text that begins like SQL. Empty if the text does not, or if it continues after a
    semicolon.
    """
    query = text.strip().rstrip(";").rstrip()
    if not _BEGINS_SQL.match(query):
        return ""
    return f"sql {quote(query)}"


def explain_mistake(text: str) -> QueryError:
    """The error for a text that cannot be parsed."""
    stop = _stop(text)
    if not stop.word:
        return UnfinishedError(f"the statement ends where {_expectation_text(stop)} is expected", stop.span)
    if stop.word == ";":
        return QueryError(f"the statement ends where {_expectation_text(stop)} is expected", stop.span)
    # If the statement is complete without the word, the word is one too many.
    explanations = (_stray_sign, _post_hoc, _statement, _extra if END in stop.accepted else _misfit)
    error = next(error for error in (explain(stop) for explain in explanations) if error)
    if line := reworded(text):
        return QueryError(error.message, error.span, (f"write {line}",))
    return error


def _stop(text: str) -> Stop:
    reading = read(text)
    tokens = this_statement(reading.tokens)
    place = place_after(tokens)
    before = tokens[-1] if tokens else None
    accepted = reading.accepted()
    at = reading.mistake
    if not text[at:]:
        end = span_of(reading.tokens[-1]).end if reading.tokens else 0
        return Stop("", Span(end, end), before, "", place, accepted)
    in_expression = place.statement == "define" or place.kind in {"attribute", "value"}
    if before is not None and before.type in _COMPARISONS and span_of(before).end == at and text[at] in "=<>":
        at = span_of(before).start  # the second half of ==, <> or =>
        before = tokens[-2] if len(tokens) > 1 else None
    match = (_WORD_OF_EXPRESSION if in_expression else _WORD).match(text, at)
    word = match.group() if match else text[at]
    stretch = _stretch(text, before, at)
    until = text[span_of(tokens[0]).start : at] if tokens else ""
    return Stop(word, Span(at, at + len(word)), before, stretch, place, accepted, text[at:], until)


def _stretch(text: str, before: Token | None, at: int) -> str:
    """The text from the name that ends at `at` to the next space, comma or similar sign; empty if no name ends
    there.
    """
    if before is None or before.type != "NAME" or span_of(before).end != at:
        return ""
    match = _STRETCH.match(text, span_of(before).start)
    return match.group() if match else ""


def _stray_sign(stop: Stop) -> QueryError | None:
    """A sign that has no meaning here, or a different meaning than in another language."""
    word = stop.word
    if stop.stretch and word in {"&", "|", "!"}:
        return QueryError(f"unknown sign {_show_sign(word)}", stop.span, _in_quotes(stop))
    if word in _OTHER_LANGUAGES:
        return QueryError(f"unknown sign '{word}'", stop.span, (f"did you mean {_OTHER_LANGUAGES[word]}?",))
    if word == "$":
        return QueryError("a variable needs a name right after '$'", stop.span)
    if word[0] in _CURLY_QUOTES or word == "'" or word == "`":
        return QueryError(f"unknown sign {_show_sign(word)}", stop.span, ('names and texts are quoted with "',))
    if len(word) == 1 and not word.isalnum() and word not in '_.,()=<>+-*/:@"':
        return QueryError(f"unknown sign {_show_sign(word)}", stop.span, _in_quotes(stop))
    return None


def _statement(stop: Stop) -> QueryError | None:
    """A first word that does not begin a statement, or does not begin a question after plot, explain or export."""
    if stop.before is None:
        if sql := as_sql(stop.rest):
            return QueryError("SQL is written in quotes after the word sql", stop.span, (f"write {sql}",))
        suggestions = _guess_meaning(stop.word, STATEMENTS)
        if not _is_word(stop.word):
            return QueryError(f"a statement begins with a word, not '{_short(stop.word)}'", stop.span)
        return QueryError(
            f"unknown statement '{_short(stop.word)}'",
            stop.span,
            suggestions or ("statements begin with a word such as score, compare, group, show or load",),
        )
    if stop.place.statement in ABOUT_QUESTIONS and not stop.place.question:
        word = stop.place.statement
        if word == "expect":
            return _of_expect(stop)
        suggestions = _guess_meaning(stop.word, QUESTIONS)
        return QueryError(
            f"{word} takes a question, not '{_short(stop.word)}'",
            stop.span,
            suggestions or ("questions are " + ", ".join(QUESTIONS),),
        )
    return None


def _post_hoc(stop: Stop) -> QueryError | None:
    """A request for the power of the observed difference, which is refused."""
    of_observed = {stop.word.lower(), str(stop.before or "").lower()} & _POST_HOC
    if not of_observed or not (stop.before is None or stop.place.question == "power"):
        return None
    return QueryError(
        "power is not computed for the observed difference: it follows from p and says nothing more",
        stop.span,
        ("name a difference that would matter: power F for A, B detect 2%",),
    )


def _of_expect(stop: Stop) -> QueryError:
    """Something that `expect` does not take."""
    what = f"expect takes score, or compare after {_list_words(list(EXPECTATIONS))}"
    near_words = _did_you_mean(stop.word, [word for word in (*EXPECTATIONS, "compare", "score") if word != stop.word])
    examples = ("expect better compare F for A, B", "expect score F for A at least 55%")
    return QueryError(f"{what}, not '{_short(stop.word)}'", stop.span, near_words or examples)


def _extra(stop: Stop) -> QueryError:
    """A word after a complete statement."""
    word, lower = stop.word, stop.word.lower()
    statement = stop.place.question or stop.place.statement
    after = f" after '{_short(str(stop.before))}'"
    if _is_word(word) and stop.place.question:
        clause = next((clause for clause in CLAUSES if lower in clause.first_words), None)
        if clause and statement not in clause.statements:
            owners = f"it belongs to {_owners(lower)}"
            return QueryError(
                f"clause '{lower}' does not apply to {statement}", stop.span, (*_test_sets_apart(stop), owners)
            )
        if lower in STATEMENTS:
            return QueryError(f"unexpected '{word}'{after}", stop.span, ("statements are separated by ;",))
        suggestions = _did_you_mean(word, stop.keywords) or _did_you_mean(word, _FIRST_WORDS)
        if suggestions:
            return QueryError(f"unknown clause '{_short(word)}' in {statement}", stop.span, suggestions)
    if stop.stretch:
        return QueryError(f"unexpected '{_short(word)}'{after}", stop.span, _in_quotes(stop))
    if date := _DATE.match(f"{stop.before}{stop.rest}"):
        hint = f"a date is written in quotes: {quote(date.group())}"
        return QueryError(f"unexpected '{_short(word)}'{after}", stop.span, (hint,))
    if "COMMA" in stop.accepted and _a_comma_makes_it_right(stop):
        return QueryError(f"unexpected '{_short(word)}'{after}", stop.span, _no_comma(stop))
    if _is_word(word) and stop.place.question:
        return QueryError(f"unknown clause '{_short(word)}' in {statement}", stop.span, _clauses_of(statement))
    return QueryError(f"unexpected '{_short(word)}'{after}", stop.span)


_TOGETHER = re.compile(r"over\s+test\s+sets(\s+pooled)?\b", re.IGNORECASE)


def _test_sets_apart(stop: Stop) -> tuple[str, ...]:
    """The same question without test sets that are taken together, where it cannot take them so."""
    together = _TOGETHER.match(stop.rest)
    if together is None:
        return ()
    line = " ".join((stop.until + stop.rest[together.end() :].partition(";")[0]).split())
    return (f"each test set by itself: {line}",)


def _a_comma_makes_it_right(stop: Stop) -> bool:
    """Whether the statement could be read with a comma before the word, or with several."""
    if any(separated(stop.until + stop.rest)):
        return True
    try:
        parser().parse(f"{stop.until.rstrip()}, {stop.rest.partition(';')[0]}")
    except (UnexpectedInput, QueryError, RecursionError):
        return False
    return True


def _no_comma(stop: Stop) -> tuple[str, ...]:
    """What may be missing between two names: a comma or, after a measure, the word before the systems."""
    lines = tuple(f"write {line}" for line in separated(stop.until + stop.rest))
    if stop.place.kind != "measure" or not _is_word(stop.word):
        return (*lines, "a list is separated by commas")
    if re.search(r"\bvs\b", stop.rest, re.IGNORECASE):
        return lines or (f"systems come after for: for {_short(stop.word)} vs …",)
    return (*lines, "measures are separated by commas, and systems come after for")


def _misfit(stop: Stop) -> QueryError:
    """A word in a place that requires something else."""
    word = stop.word
    expected = _expectation_text(stop)
    message = f"expected {expected}, not '{_short(word)}'"
    wants_name = bool({"NAME", "WORD"} & stop.accepted)
    if stop.place.kind == "count" and word.lower() == "mean":
        return QueryError("mean(…) cannot stand in a definition", stop.span)
    suggestions = _did_you_mean(word, stop.keywords)
    if suggestions and not wants_name:
        return QueryError(message, stop.span, suggestions)
    if stop.place.last_word in STATEMENTS and stop.place.clauses and _is_word(word):
        # The clause `power 0.8` before a text that was intended as the next statement, `power F for all`.
        return QueryError(message, stop.span, ("statements are separated by ;",))
    if word == "*" and stop.before is not None and stop.before.type == "NAME":
        return QueryError(f"expected one {stop.place.kind}, not a pattern", stop.span)
    if wants_name and word.lower() in RESERVED:
        return QueryError(message, stop.span, (f"write the name in quotes: {quote(word)}",))
    if wants_name and "NUMBER" not in stop.accepted and WHOLE_NUMBER.fullmatch(word):
        return QueryError(message, stop.span, (f"write the name in quotes: {quote(word)}",))
    if "TEXT" in stop.accepted and not wants_name and _is_word(word):
        return QueryError(message, stop.span, (f"write a text in quotes: {quote(word)}",))
    if stop.accepted == {"VARIABLE"} and _is_word(word):
        return QueryError(message, stop.span, (f"a variable begins with $: ${_short(word)}",))
    return QueryError(message, stop.span)


def _expectation_text(stop: Stop) -> str:
    """What would fit, in words; at most MOST_NAMED things."""
    accepted = set(stop.accepted)
    fitting: list[str] = []
    if {"NAME", "WORD", "PATTERN"} & accepted:
        fitting.append(_kind(stop.place.kind))
        accepted -= {"NAME", "WORD", "PATTERN", "TEXT", "APOSTROPHED", "VARIABLE"}
        accepted -= {"MINUS", "LPAR", "STAR", "ALL", "NOT"}
        accepted -= {word.upper() for word in AROUND_A_MEASURE}
        if stop.place.kind in {"count", "value", "parameter"}:
            accepted -= {"NUMBER"}
    # Few measures have a cutoff behind their parameters, so it is not offered.
    accepted -= {"CUT"}
    if "COMMA" in accepted:
        accepted -= {"AND", "VS"}
    if "FIELD" in accepted:
        fitting.append("the name of an attribute")
        accepted -= {"FIELD", "TEXT"}
    if "NUMBER" in accepted:
        accepted -= {"VARIABLE", "MINUS"}
    if "TEXT" in accepted:
        accepted -= {"VARIABLE"}
    if len(_COMPARISONS & accepted) > 1:
        fitting.append("a comparison such as '='")
        accepted -= _COMPARISONS | {"DOT"}
    fitting.extend(sign for terminal, sign in _SIGNS.items() if terminal in accepted and terminal != "SEMICOLON")
    if not stop.place.statement:
        fitting.append("a statement")
    elif stop.place.statement in ABOUT_QUESTIONS and not stop.place.question:
        fitting.append("a question such as score or compare")
    else:
        words = [f"'{word}'" for word in map(keyword, sorted(accepted)) if word]
        fitting.extend(words if len(words) <= MOST_NAMED else [f"a word such as {_list_words(words[:3])}"])
    return _list_words(fitting[:MOST_NAMED])


def _kind(kind: str) -> str:
    return _KINDS.get(kind, f"a {kind}" if kind else "a name")


def _list_words(words: list[str]) -> str:
    if len(words) < 2:
        return "".join(words) or "more"
    return ", ".join(words[:-1]) + " or " + words[-1]


def _owners(first_word: str) -> str:
    alike = [clause for clause in CLAUSES if first_word in clause.first_words]
    # `by` is a clause of its own, and not the beginning of `by mean rank`.
    whole = [clause for clause in alike if clause.words == first_word] or alike
    owners = [word for clause in whole for word in clause.statements]
    return _list_words(list(dict.fromkeys(owners))).replace(" or ", " and ")


def _clauses_of(question: str) -> tuple[str, ...]:
    words = [clause.words for clause in CLAUSES if question in clause.statements]
    return (f"clauses of {question} are " + _list_words(words).replace(" or ", " and "),) if words else ()


def _guess_meaning(word: str, statements: Iterable[str]) -> tuple[str, ...]:
    """The probable meaning of a word that does not begin a statement: its name here, or a similar spelling."""
    statements = list(statements)
    called = ELSEWHERE.get(word.lower(), "")
    if called.partition(" ")[0] in statements:
        return (f"did you mean {called}?",)
    near_words = near(word, [*statements, *CALLED, *ELSEWHERE], at_most=1)
    called = "".join(ELSEWHERE.get(found, found) for found in near_words)
    return (f"did you mean {called}?",) if first_word(called.partition(" ")[0]) in statements else ()


def _did_you_mean(word: str, among: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"did you mean {suggestion}?" for suggestion in near(word, among, at_most=1))


def _is_word(text: str) -> bool:
    return text[0].isalnum() or text[0] == "_"


def _in_quotes(stop: Stop) -> tuple[str, ...]:
    """How to write a name with signs that bare names cannot contain."""
    if not stop.stretch:
        return ()
    return (f"a name with other characters is written in quotes: {quote(_short(stop.stretch))}",)


def _short(word: str, most: int = 40) -> str:
    """The word, shortened if it is long, because messages have one line."""
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in word[: most + 1])
    return shown if len(word) <= most else shown[: most - 1] + "…"


def _show_sign(sign: str) -> str:
    """The sign itself, or its Unicode number if it is invisible or looks like another sign."""
    if sign.isascii() and sign.isprintable():
        return f"'{sign}'"
    number, name = f"U+{ord(sign):04X}", unicodedata.name(sign, "")
    return f"{number} ({name})" if name else number

"""The grammar file and the lists in the code agree."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import suppress
from itertools import chain
from pathlib import Path

from lark import Lark, Token, UnexpectedToken

from evalhouse.grammar.clauses import (
    ABOUT_QUESTIONS,
    CLAUSES,
    QUESTIONS,
    STATEMENTS,
    Shape,
    field_names,
    required_fields,
)
from evalhouse.grammar.lexicon import KEYWORDS, LANGUAGE, RESERVED, keyword
from evalhouse.grammar.parsing.lark_parser import parser

ROOT = Path(__file__).resolve().parents[2]


def test_the_keywords_are_all_terminals_of_the_grammar_that_are_words_and_match_their_names() -> None:
    patterns = {terminal.name: terminal.pattern.value for terminal in parser().terminals}
    words = {
        name: match[1] for name, pattern in patterns.items() if (match := re.match(r"\(\?ai:([a-z-]+)\)\\b", pattern))
    }
    assert {keyword(name): word for name, word in words.items()} == {word: word for word in KEYWORDS}
    written = LANGUAGE.partition("// --- keywords ---")[2]
    assert len(re.findall(r"^[A-Z_]+(?:\.[0-9])?:", written, re.MULTILINE)) == len(KEYWORDS)


def test_the_reserved_words_are_keywords_that_are_no_bare_names() -> None:
    assert RESERVED < KEYWORDS
    name = re.compile(parser().get_terminal("WORD").pattern.value)
    assert {word for word in KEYWORDS if name.fullmatch(word) is None} == RESERVED


def places() -> list[set[str]]:
    """The terminals that are possible at each place of each statement. What ends there depends on how it began, so each
    statement is followed on its own: every terminal leads to the next place, until all were seen.
    """
    start = Lark(LANGUAGE, parser="lalr", lexer="contextual").parse_interactive("")
    waiting = [(start, "")]
    found: dict[tuple[str, int], set[str]] = {}
    while waiting:
        reader, statement = waiting.pop()
        choices = reader.choices()  # type: ignore[no-untyped-call]
        place = statement, id(choices)
        if place in found:
            continue
        found[place] = set(filter(str.isupper, choices))
        for terminal in sorted(found[place] - {"$END", "SEMICOLON"}):
            following = reader.copy(deepcopy_values=False)  # type: ignore[no-untyped-call]
            with suppress(UnexpectedToken):
                following.feed_token(Token(terminal, ""))
                waiting.append((following, statement or terminal))
    return list(found.values())


def test_where_a_name_may_stand_every_keyword_that_may_stand_too_is_reserved() -> None:
    assert len(places()) > 200
    for terminals in places():
        words = set(filter(None, map(keyword, terminals)))
        if {"NAME", "WORD", "PATTERN"} & terminals:
            # These are keywords only before a parenthesis that holds a measure.
            assert words - {"macro", "micro", "weighted"} <= RESERVED


def test_every_statement_word_begins_a_rule_of_the_grammar() -> None:
    assert set(re.findall(r"^([a-z]+): +\(?([A-Z]+)\b", LANGUAGE, re.MULTILINE)) >= {
        (word, word.upper()) for word in STATEMENTS
    }


def test_every_clause_of_the_table_is_a_rule_of_the_grammar_that_begins_with_its_words() -> None:
    rules = dict(re.findall(r"^(\w+): +(\(?[A-Z].*)$", LANGUAGE, re.MULTILINE))
    for clause in CLAUSES:
        terminals = clause.words.replace("-", "_").upper()
        rule = rules[clause.field].replace("(", "")  # `replicates` alone is a clause too
        assert terminals in rule.split(" | ") if clause.shape is Shape.ITSELF else rule.startswith(terminals)
        assert {word.upper() for word in clause.synonyms} <= set(re.split(r"\W+", rules[clause.field]))
        assert not clause.second_field or f"{clause.field}_and_{clause.second_field}" in rules


def test_a_statement_says_what_it_needs_for_every_clause_that_it_must_have() -> None:
    seconds = {clause.second_field for clause in CLAUSES}
    clauses = {clause.field for clause in CLAUSES}
    for kind in STATEMENTS.values():
        required = required_fields(kind)
        # What another clause may stand in the place of has a default.
        alone = {field for field, needed in kind.needs.items() if not needed.instead}
        assert alone == (required & clauses) - seconds
        assert all({field, needed.instead} <= clauses for field, needed in kind.needs.items() if needed.instead)


def test_every_clause_of_the_table_is_a_field_and_every_field_of_a_question_a_clause() -> None:
    kinds = (*QUESTIONS.values(), *ABOUT_QUESTIONS.values())
    all_fields = set(chain.from_iterable(field_names(kind) for kind in kinds))
    others = {"span", "measures", "target", "question", "expected", "spoken"}
    assert {clause.field for clause in CLAUSES} == all_fields - others


def test_importing_the_parser_imports_neither_lark_nor_anything_of_the_warehouse() -> None:
    program = "import sys, evalhouse.grammar.parser; print({'lark', 'warehouse', 'numpy', 'duckdb'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

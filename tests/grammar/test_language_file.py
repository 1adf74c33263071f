"""The grammar file, its shipped tables and the lists in the code agree."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import MISSING, fields
from itertools import chain
from pathlib import Path

from grammar import tables
from grammar.clauses import ABOUT_QUESTIONS, CLAUSES, QUESTIONS, STATEMENTS, Shape
from grammar.lexicon import GRAMMAR, KEYWORDS, RESERVED, keyword
from grammar.parsing.machine import TABLES
from grammar.parsing.machine import tables as shipped

LANGUAGE = GRAMMAR.read_text(encoding="utf-8")
ROOT = Path(tables.__file__).parent.parent


def test_the_shipped_tables_are_those_of_the_grammar() -> None:
    assert TABLES.read_text(encoding="utf-8") == tables.text(), "run: python -m grammar.tables"


def test_the_keywords_are_all_terminals_of_the_grammar_that_are_words_and_match_their_names() -> None:
    patterns = shipped().terminals.items()
    words = {name: match[1] for name, pattern in patterns if (match := re.match(r"\(\?ai:([a-z-]+)\)\\b", pattern))}
    assert {keyword(name): word for name, word in words.items()} == {word: word for word in KEYWORDS}
    written = LANGUAGE.partition("// --- keywords ---")[2]
    assert len(re.findall(r"^[A-Z_]+(?:\.[0-9])?:", written, re.MULTILINE)) == len(KEYWORDS)


def test_the_reserved_words_are_keywords_that_are_no_bare_names() -> None:
    assert RESERVED < KEYWORDS
    name = re.compile(shipped().terminals["WORD"])
    assert {word for word in KEYWORDS if name.fullmatch(word) is None} == RESERVED


def test_where_a_name_may_stand_every_keyword_that_may_stand_too_is_reserved() -> None:
    for actions in map(shipped().actions, range(shipped().states)):
        words = {terminal.lower().replace("_", "-") for terminal in actions if terminal.isupper()} & KEYWORDS
        if {"NAME", "WORD", "PATTERN"} & set(actions):
            # These two are keywords only before a parenthesis that holds a measure.
            assert words - {"macro", "micro"} <= RESERVED


def test_every_statement_word_begins_a_rule_of_the_grammar() -> None:
    assert set(re.findall(r"^([a-z]+): +([A-Z]+)\b", LANGUAGE, re.MULTILINE)) >= {
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
        required = {field.name for field in fields(kind) if field.default is MISSING}
        # What another clause may stand in the place of has a default.
        alone = {field for field, needed in kind.needs.items() if not needed.instead}
        assert alone == (required & clauses) - seconds
        assert all({field, needed.instead} <= clauses for field, needed in kind.needs.items() if needed.instead)


def test_every_clause_of_the_table_is_a_field_and_every_field_of_a_question_a_clause() -> None:
    kinds = (*QUESTIONS.values(), *ABOUT_QUESTIONS.values())
    all_fields = {field.name for field in chain.from_iterable(fields(kind) for kind in kinds)}
    others = {"span", "measures", "target", "question", "expected", "spoken"}
    assert {clause.field for clause in CLAUSES} == all_fields - others


def test_texts_are_read_completed_and_explained_without_lark() -> None:
    program = (
        "import sys\n"
        "from grammar.errors import QueryError\n"
        "from grammar.parser import expected, parse, tokens\n"
        "parse('score F'), expected('score '), tokens('score F')\n"
        "try: parse('scor F')\n"
        "except QueryError: print('lark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_importing_the_parser_imports_neither_lark_nor_anything_of_the_warehouse() -> None:
    program = "import sys, grammar.parser; print({'lark', 'warehouse', 'numpy', 'duckdb'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

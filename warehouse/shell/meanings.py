"""The meaning of every keyword in one line: the help beside completions and the content of `help`. Clauses, functions,
measures, tests, adjustments, readers and formats define their meanings in their own tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from grammar.clauses import CLAUSES
from warehouse.query.path import Usage
from warehouse.statements import statements

_CHANGING: Mapping[str, Usage] = {
    "let": Usage("let $NAME = VALUE, …", "a variable: names, a number or a text", "let $finalists = GE, UMASS, SRI"),
    "define": Usage(
        "define measure NAME = …",
        "define a measure of summed counts and keep it in the warehouse",
        "define measure SER = (missing + spurious + incorrect) / possible",
    ),
    "load": Usage('load "FILE" as READER', "load a file into the warehouse", 'load "scores.csv" as scores'),
    "forget": Usage("forget import N", "undo a load", "forget import 3"),
}
"""The statements that change the session or the warehouse and therefore have no answer. The other statements define
their usage in their own files.
"""

WORD_MEANINGS: Mapping[str, str] = {
    "all": "all of them",
    "except": "without these",
    "mean": "mean(M): document by document, then the average",
    "macro": "macro(M): the same as mean(M)",
    "micro": "micro(M): M over all documents together, as without the word",
    "vs": "another system, as a comma does",
    "asc": "lowest first",
    "desc": "highest first",
    "and": "both hold",
    "or": "one of them holds",
    "not": "does not hold",
    "in": "one of several values",
    "like": "a text with % for any characters",
    "is": "is missing, is not missing",
    "error": "stop and name the documents that some system lacks; the default",
    "drop": "leave out documents that some system lacks",
    "zero": "counts as nothing found",
    "bounds": "bound the difference over every result that missing documents could have had",
    "as": "which reader",
    "systems": "all systems, and what each has rows for",
    "test sets": "all test sets with their documents",
    "evaluations": "all evaluations",
    "measures": "all measures with their parameters",
    "tests": "all significance tests",
    "imports": "every load, and where it came from",
    "variables": "the variables of this session",
    "attributes": "attributes of systems and documents",
    "texts": "inputs, references and outputs, where they are stored",
    "document": "one row per document",
    "unit": "one row per unit, such as a slot",
    "label": "one row per key label",
    "allrel": "a baseline: every document judged relevant",
    "random": "a baseline: random(s=0.7) judges a share s relevant",
}
"""Words that are neither statements nor clauses."""


def statement_usage(word: str) -> Usage | None:
    """The usage of the statement with this first word; None for any other word."""
    answered = (statement.usage for statement in statements() if statement.word == word)
    return next(answered, _CHANGING.get(word))


def keyword_meaning(words: str, begins: bool = False) -> str:
    """The text beside a keyword in the completion menu; empty if nothing is known about it. A word may be a clause and,
    where it `begins` something, a statement.
    """
    known = (clause for clause in CLAUSES if words in (clause.words, *clause.synonyms) and not begins)
    clause = next((clause.meaning for clause in known), "")
    statement = statement_usage(words.split()[0])
    return clause or (statement.meaning if statement is not None else WORD_MEANINGS.get(words, ""))

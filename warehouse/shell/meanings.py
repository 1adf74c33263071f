"""What every keyword means, in one line each: the help beside completions and the body of `help`. Clauses, functions,
measures, tests, adjustments, readers and formats say in their own tables what they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grammar.clauses import CLAUSES


@dataclass(frozen=True, slots=True)
class Usage:
    """How a statement is written, what it does, and an example."""

    written: str
    meaning: str
    example: str


_STATEMENTS: Mapping[str, Usage] = {
    "score": Usage(
        "score MEASURE, …", "values of measures, a row a system", "score recall, precision, F for all on TST3"
    ),
    "compare": Usage(
        "compare MEASURE, …",
        "a significance test for two systems, or for every pair of more",
        "compare F(beta=1) for GE, UMASS on TST3 shuffles 9999",
    ),
    "group": Usage(
        "group MEASURE, …",
        "significance groups: the largest sets of systems no two of which differ, as letters",
        "group F for all on TST3 level 0.10 confidence 0.99",
    ),
    "generality": Usage(
        "generality", "how many documents are relevant, and what share", "generality on TST2, TST3, TST4"
    ),
    "change": Usage(
        "change MEASURE, …",
        "what became of each system on another test set, and of all on average",
        "change precision, fallout of published for all from TST3 to TST4 trim 1",
    ),
    "replicate": Usage(
        "replicate MEASURE, …",
        "which differences of one test set are found again on another",
        "replicate F for GE, UMASS, SRI from TST3 to TST4",
    ),
    "project": Usage(
        "project MEASURE, …",
        "precision expected at another generality, if fallout stays as measured",
        "project precision of published for all from TST3 to generality 0.01, 0.05",
    ),
    "audit": Usage(
        "audit published",
        "whether printed figures can come from whole documents",
        "audit published for all on TST3",
    ),
    "agree": Usage("agree", "agreement between annotators of key labels", "agree on TST3"),
    "plot": Usage("plot QUESTION", "a question as a picture", 'plot score recall for all on TST3 to "recall.svg"'),
    "explain": Usage(
        "explain QUESTION",
        "the SQL that would run, the test that would be chosen and why; nothing runs",
        "explain compare F for GE, UMASS on TST3",
    ),
    "export": Usage(
        "export QUESTION", "the rows as a file", 'export score recall, precision for all on TST3 to "scores.csv"'
    ),
    "let": Usage("let $NAME = VALUE, …", "a variable: names, a number or a text", "let $finalists = GE, UMASS, SRI"),
    "define": Usage(
        "define measure NAME = …",
        "a measure over the summed counts, kept in the warehouse",
        "define measure SER = (missing + spurious + incorrect) / possible",
    ),
    "show": Usage("show …", "what there is: systems, test sets, measures, tests, imports, …", "show test sets"),
    "load": Usage('load "FILE" as READER', "a file into the warehouse", 'load "scores.csv" as scores'),
    "forget": Usage("forget import N", "undoes a load", "forget import 3"),
    "sql": Usage('sql "SELECT …"', "one SELECT on the warehouse", 'sql "select * from scores limit 5"'),
}

KIND_MEANINGS: Mapping[str, str] = {
    "extraction": "score tuples: possible, actual, correct, partial",
    "filtering": "relevance decisions against key labels",
    "values": "imported values, document by document",
    "published": "figures known only as printed",
}
"""What `of` may be followed by."""

WORD_MEANINGS: Mapping[str, str] = {
    "all": "all there are",
    "except": "without these",
    "mean": "mean(M): document by document, then the average",
    "asc": "lowest first",
    "desc": "highest first",
    "and": "both hold",
    "or": "one of them holds",
    "not": "does not hold",
    "in": "one of several values",
    "like": "a text with % for any characters",
    "is": "is missing, is not missing",
    "error": "stops and names them; the default",
    "drop": "leaves it out",
    "zero": "counts as nothing found",
    "as": "which reader",
    "systems": "all systems, and what each has rows for",
    "test sets": "all test sets with their documents",
    "evaluations": "all evaluations",
    "measures": "all measures with their parameters",
    "tests": "all significance tests",
    "imports": "every load, and where it came from",
    "variables": "the variables of this session",
    "attributes": "attributes of systems and documents",
    "document": "a row a document",
    "unit": "a row a unit, such as a slot",
    "label": "a row a key label",
    "allrel": "a baseline: every document judged relevant",
    "random": "a baseline: random(s=0.7) judges a share s relevant",
}
"""Words that are neither statements nor clauses."""


def statement_usage(word: str) -> Usage | None:
    """How the statement with this first word is used; None for any other word."""
    return _STATEMENTS.get(word)


def keyword_meaning(words: str) -> str:
    """What stands beside a keyword in the menu of completions; empty where nothing is known of it."""
    statement = statement_usage(words.split()[0])
    if statement is not None:
        return statement.meaning
    meanings = {clause.words: clause.meaning for clause in CLAUSES}
    return meanings.get(words) or WORD_MEANINGS.get(words, "")

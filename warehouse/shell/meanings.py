"""What every keyword means, in one line each: the help beside completions and the body of `help`. Measures, tests,
adjustments, readers and formats say in their own tables what they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """How a statement or clause is written, what it does, and an example."""

    written: str
    meaning: str
    example: str = ""


STATEMENT_FORMS: Mapping[str, Form] = {
    "score": Form(
        "score MEASURE, …", "values of measures, a row a system", "score recall, precision, F for all on TST3"
    ),
    "compare": Form(
        "compare MEASURE, …",
        "a significance test for two systems, or for every pair of more",
        "compare F(beta=1) for GE, UMASS on TST3 shuffles 9999",
    ),
    "group": Form(
        "group MEASURE, …",
        "significance groups: the largest sets of systems no two of which differ, as letters",
        "group F for all on TST3 level 0.10 confidence 0.99",
    ),
    "generality": Form(
        "generality", "how many documents are relevant, and what share", "generality on TST2, TST3, TST4"
    ),
    "change": Form(
        "change MEASURE, …",
        "what became of each system on another test set, and of all on average",
        "change precision, fallout of published for all from TST3 to TST4 trim 1",
    ),
    "replicate": Form(
        "replicate MEASURE, …",
        "which differences of one test set are found again on another",
        "replicate F for GE, UMASS, SRI from TST3 to TST4",
    ),
    "project": Form(
        "project MEASURE, …",
        "precision expected at another generality, if fallout stays as measured",
        "project precision of published for all from TST3 to generality 0.01, 0.05",
    ),
    "audit": Form(
        "audit published",
        "whether printed figures can come from whole documents",
        "audit published for all on TST3",
    ),
    "agree": Form("agree", "agreement between annotators of key labels", "agree on TST3"),
    "plot": Form("plot QUESTION", "a question as a picture", 'plot score recall for all on TST3 to "recall.svg"'),
    "explain": Form(
        "explain QUESTION",
        "the SQL that would run, the test that would be chosen and why; nothing runs",
        "explain compare F for GE, UMASS on TST3",
    ),
    "export": Form(
        "export QUESTION", "the rows as a file", 'export score recall, precision for all on TST3 to "scores.csv"'
    ),
    "let": Form("let $NAME = VALUE, …", "a variable: names, a number or a text", "let $finalists = GE, UMASS, SRI"),
    "define": Form(
        "define measure NAME = …",
        "a measure over the summed counts, kept in the warehouse",
        "define measure SER = (missing + spurious + incorrect) / possible",
    ),
    "show": Form("show …", "what there is: systems, test sets, measures, tests, imports, …", "show test sets"),
    "load": Form('load "FILE" as READER', "a file into the warehouse", 'load "scores.csv" as scores'),
    "forget": Form("forget import N", "undoes a load", "forget import 3"),
    "sql": Form('sql "SELECT …"', "one SELECT on the warehouse", 'sql "select * from scores limit 5"'),
}

CLAUSE_FORMS: Mapping[str, Form] = {
    "of": Form("of KIND", "what is asked about: extraction, filtering, values or published", "of filtering"),
    "for": Form(
        "for SYSTEM, …", "the systems; `all`, `GE*`, `$variable`, and `except` to leave out", "for all except GE"
    ),
    "against": Form("against SYSTEM", "each system against this one", "against GE"),
    "on": Form("on TEST SET, …", "the test sets, each computed apart", "on TST3, TST4"),
    "from": Form("from TEST SET", "the test set to begin with, and `to` another", "from TST3 to TST4"),
    "to generality": Form("to generality G, …", "the generalities to project to", "to generality 0.01, 0.05"),
    "assuming fallout exponent": Form(
        "assuming fallout exponent K",
        "fallout changes with generality, to this power",
        "assuming fallout exponent 0.45",
    ),
    "replicates by": Form(
        "replicates by system.ATTRIBUTE",
        "systems that share the attribute are runs of one system, averaged; `replicates` alone: by system.replicate",
        "replicates by system.model",
    ),
    "by": Form("by ATTRIBUTE, …", "a row a value: document, unit, label or an attribute", "by unit"),
    "where": Form("where CONDITION", "only the rows that meet it", 'where document like "TST3-MUC4-00%"'),
    "order by": Form(
        "order by MEASURE", "by which measure the rows are ordered; `desc` or `asc`", "order by recall desc"
    ),
    "limit": Form("limit N", "no more rows than this", "limit 5"),
    "standardized": Form("standardized", "in standard deviations from the mean of all systems of the test set"),
    "exchange by": Form(
        "exchange by ATTRIBUTE", "what is exchanged as a whole: document, unit or an attribute", "exchange by unit"
    ),
    "one-sided": Form("one-sided", "that the first system is the better"),
    "two-sided": Form("two-sided", "that the systems differ; the default"),
    "test": Form("test NAME", "which significance test; randomization unless said", "test wilcoxon"),
    "shuffles": Form("shuffles N", "approximate, with so many shuffles", "shuffles 9999"),
    "exact": Form("exact", "every exchange counted"),
    "seed": Form("seed N", "where chance begins; the same seed gives the same numbers; 1992 unless said", "seed 1992"),
    "level": Form("level A", "the significance level; 0.05 unless said", "level 0.10"),
    "confidence": Form(
        "confidence C", "how sure it must be that the true level is below `level`; 0.99 unless said", "confidence 0.99"
    ),
    "adjust": Form("adjust NAME", "for many comparisons at once", "adjust holm"),
    "missing": Form("missing error|drop|zero", "a document that only one of the systems has", "missing drop"),
    "interval": Form(
        "interval percentile|bca", "how the bootstrap interval is taken; percentile unless said", "interval bca"
    ),
    "trim": Form("trim K", "the mean without the K highest and lowest", "trim 1"),
    "to": Form('to "FILE"', "the file; its ending names the format", 'to "scores.csv"'),
}
"""By the words of grammar.clauses."""

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


def keyword_meaning(words: str) -> str:
    """What stands beside a keyword in the menu of completions; empty where nothing is known of it."""
    for forms in (STATEMENT_FORMS, CLAUSE_FORMS):
        form = forms.get(words) or forms.get(words.split()[0])
        if form is not None:
            return form.meaning
    return WORD_MEANINGS.get(words, "")

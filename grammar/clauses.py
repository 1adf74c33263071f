"""The first words of statements and clauses, and the table of clauses: how each is written, what it means, and what
completion offers in it.

Statements are taken from the classes in nodes.py. A clause belongs to every statement whose node has its field, so the
table needs no list of statements. To add a clause, add a rule to language.lark with the name of its field, a row here,
and the field to the nodes that take it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from itertools import pairwise
from typing import get_args

from msgspec import NODEFAULT, Struct

from evalhouse.grammar import nodes

QUESTIONS: dict[str, type[nodes.Question]] = {kind.words.split()[0]: kind for kind in get_args(nodes.Question)}
"""The statements that can be plotted, explained and exported, by their first word."""

STATEMENTS: dict[str, type[nodes.AnyStatement]] = {kind.words.split()[0]: kind for kind in get_args(nodes.AnyStatement)}
"""All statements, by their first word."""

CALLED: dict[str, str] = {synonym: word for word, kind in STATEMENTS.items() for synonym in kind.synonyms}
"""The first words of statements, by their synonyms."""


def first_word(word: str) -> str:
    """The first word of a statement for one as typed, which may be a synonym."""
    return CALLED.get(word, word)


ELSEWHERE = {
    "ranking": "rank",
    "significance": "compare",
    "significant": "compare",
    "versus": "compare",
    "diff": "compare",
    "evaluate": "score",
    "eval": "score",
    "mean": "score",
    "average": "score",
    "cluster": "group",
    "import": "load",
    "ingest": "load",
    "add": "load",
    "delete": "forget import",
    "drop": "forget import",
    "remove": "forget import",
    "describe": "show",
    "list": "show",
    "set": "let",
    "draw": "plot",
    "chart": "plot",
    "graph": "plot",
    "write": "export",
    "save": "export",
    "assert": "expect",
    "check": "expect",
    "latex": "table",
    "kappa": "agree",
    "reliability": "spread",
    "reproduce": "replicate",
    "query": "sql",
}
"""The names of statements in other tools, and their names here."""

ABOUT_QUESTIONS = {word: kind for word, kind in STATEMENTS.items() if issubclass(kind, nodes.AboutQuestion)}
"""The statements that are written before a question, by their first word."""

EXPECTATIONS: tuple[nodes.Expectation, ...] = get_args(nodes.Expectation)
"""The outcomes of a comparison that can be expected."""


class Shape(Enum):
    """What follows the keywords of a clause. This decides what the clause becomes in a node and how it is printed."""

    NODE = auto()
    """One node: `limit 5`, `of filtering`, `order by F desc`."""
    LIST = auto()
    """A tuple of nodes: `by unit, label`."""
    WORD = auto()
    """One of several keywords: `missing drop`."""
    ITSELF = auto()
    """Nothing; the clause's own words are the value. Several clauses fill the same field: `one-sided`."""
    FLAG = auto()
    """Nothing; the value is True: `exact`."""


class Clause(Struct, frozen=True):
    """A clause: the keywords it begins with, the field of a node that it fills, and the shape of its value.

    `takes` describes what follows the keywords, and `meaning` says in one line what the clause does; `example` may be
    empty. `names` is the kind of the names in it, for completion and messages; it is empty if no bare name is possible.
    `second_field` is for `from A to B`: the field of the name after `to`, in statements that have it. `synonyms` are
    other words for its only keyword; the typed one is shown. If it may stand `alone`, its first keyword is enough.
    """

    words: str
    field: str
    takes: str
    meaning: str
    example: str = ""
    names: str = ""
    shape: Shape = Shape.NODE
    second_field: str = ""
    synonyms: tuple[str, ...] = ()
    alone: bool = False

    @property
    def first_words(self) -> tuple[str, ...]:
        """The words that it may begin with."""
        return (self.words.split()[0], *self.synonyms)

    def spoken(self, by: Sequence[str]) -> str:
        """Its keywords, or the synonym that was used in the statement."""
        return next((word for word in by if word in self.synonyms), self.words)

    @property
    def usage(self) -> str:
        """How the clause is written: its keywords and what they take."""
        return f"{self.words} {self.takes}".rstrip()

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements this clause belongs to, by their first words."""
        return tuple(word for word, kind in STATEMENTS.items() if self.belongs_to(kind))

    def belongs_to(self, kind: type[nodes.StatementNode]) -> bool:
        """Whether statements of this class take the clause."""
        return self.field in field_names(kind)


def field_names(kind: type[nodes.StatementNode]) -> tuple[str, ...]:
    """The names of the fields of a statement."""
    return kind.__struct_fields__


def required_fields(kind: type[nodes.StatementNode]) -> frozenset[str]:
    """The names of the fields that have no default."""
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    without = len(names) - len(defaults)
    later = (name for name, default in zip(names[without:], defaults, strict=True) if default is NODEFAULT)
    return frozenset((*names[:without], *later))


OPENING = frozenset({"task", "systems", "test_sets", "source", "by", "where"})
"""The fields of the clauses that may follow the first word of a question that names no measures: those whose keywords
are no names.
"""

CLAUSES = (
    Clause(
        "of",
        "task",
        "KIND",
        "the kind of data: extraction, filtering, counts, rankings, values or published",
        "of filtering",
        "task",
    ),
    Clause(
        "for",
        "systems",
        "SYSTEM, …",
        "the systems; `all`, `GE*`, `$variable`, and `except` to leave out",
        "for all except GE",
        "system",
    ),
    Clause("against", "against", "SYSTEM", "each system against this one", "against GE", "system"),
    Clause("on", "test_sets", "TEST SET, …", "the test sets, each evaluated separately", "on TST3, TST4", "test set"),
    Clause(
        "over test sets",
        "over",
        "",
        "the mean over the test sets, each counted once; exchanges stay within each",
        shape=Shape.ITSELF,
    ),
    Clause(
        "over test sets pooled",
        "over",
        "",
        "the documents of all test sets together",
        shape=Shape.ITSELF,
    ),
    Clause(
        "by mean rank",
        "by_mean_rank",
        "",
        "ranks systems on each test set and averages the ranks, instead of the values",
        shape=Shape.FLAG,
    ),
    Clause(
        "from",
        "source",
        "TEST SET",
        "the first test set; `to` names the second",
        "from TST3 to TST4",
        "test set",
        second_field="target",
    ),
    Clause(
        "to generality",
        "generalities",
        "G, …",
        "the generalities to project to",
        "to generality 0.01, 0.05",
        shape=Shape.LIST,
    ),
    Clause(
        "to stream",
        "stream",
        "TEST SET",
        "a test set without a key, whose generality is estimated",
        "to stream NEWS",
        "test set",
    ),
    Clause(
        "assuming fallout exponent",
        "exponent",
        "K",
        "fallout changes as this power of generality",
        "assuming fallout exponent 0.45",
    ),
    Clause(
        "replicates by",
        "replicates",
        "system.ATTRIBUTE",
        "systems with the same value of the attribute are runs of one system and are averaged; `replicates` alone goes "
        "by system.replicate, or else by system.model",
        "replicates by system.model",
        "attribute",
        alone=True,
    ),
    Clause(
        "runs apart",
        "runs_apart",
        "",
        "each run of a system by itself, instead of the mean over its runs",
        shape=Shape.FLAG,
    ),
    Clause(
        "by",
        "by",
        "ATTRIBUTE, …",
        "one row for each value, in table a column: document, unit, label or an attribute",
        "by unit",
        "attribute",
        shape=Shape.LIST,
    ),
    Clause("depth", "depth", "1|2", "2 adds the slices by every pair of attributes", "depth 2"),
    Clause(
        "utility",
        "utility",
        "A, B, C, D",
        "value of a true positive, a false positive, a miss and a correct rejection; 0 if left out",
        "utility 2, -1",
        shape=Shape.LIST,
    ),
    Clause(
        "where",
        "where",
        "CONDITION",
        "only the rows that meet the condition",
        'where document like "TST3-MUC4-00%"',
        "attribute",
    ),
    Clause(
        "order by",
        "order",
        "MEASURE",
        "the measure to order rows by; `desc` or `asc`",
        "order by recall desc",
        "measure",
    ),
    Clause("order as named", "as_named", "", "systems in the order in which they are named", shape=Shape.FLAG),
    Clause("only", "only", "SYSTEM", "only the documents that favour this system", "only GE", "system"),
    Clause("limit", "limit", "N", "at most this many rows", "limit 5"),
    Clause(
        "standardized",
        "standardized",
        "",
        "values in standard deviations from the mean of all systems on the test set",
        shape=Shape.FLAG,
    ),
    Clause(
        "corrected by",
        "corrected",
        "JUDGE",
        "the judge's values, corrected by human labels of some documents",
        "corrected by llm",
        "measure",
    ),
    Clause("with key", "with_key", "", "count the key as one more annotator", shape=Shape.FLAG),
    Clause(
        "exchange by",
        "exchange",
        "ATTRIBUTE",
        "what is exchanged as a whole: document, unit or an attribute",
        "exchange by unit",
        "attribute",
    ),
    Clause("one-sided", "sides", "", "test only whether the first system is better", shape=Shape.ITSELF),
    Clause("two-sided", "sides", "", "test whether the systems differ; the default", shape=Shape.ITSELF),
    Clause(
        "test",
        "test",
        "NAME",
        "the significance test; randomization by default, studentized for rank and differ",
        "test wilcoxon",
        "test",
    ),
    Clause(
        "shuffles",
        "shuffles",
        "N",
        "approximate, with this many shuffles, or resamples of a bootstrap",
        "shuffles 9999",
        synonyms=("permutations", "resamples"),
    ),
    Clause("exact", "exact", "", "count every possible exchange", shape=Shape.FLAG),
    Clause(
        "seed",
        "seed",
        "N",
        "the seed of the random numbers; the same seed gives the same results; 1992 by default",
        "seed 1992",
    ),
    Clause("level", "level", "A", "the significance level; 0.05 by default", "level 0.10", synonyms=("alpha",)),
    Clause(
        "margin",
        "margin",
        "D | D of B",
        "the largest difference that does not matter, for verdicts such as equivalent and not worse",
        "margin 1%",
    ),
    Clause(
        "anytime",
        "anytime",
        "",
        "a p that stays valid however often the question is asked while documents arrive",
        shape=Shape.FLAG,
    ),
    Clause(
        "planned",
        "planned",
        "N",
        "look after each import until there are N documents, with the level shared out over the looks",
        "planned 2000",
    ),
    Clause(
        "spending",
        "spending",
        "obrien|pocock",
        "how `planned` shares out the level: little of it early, or about evenly",
        "spending pocock",
        shape=Shape.WORD,
    ),
    Clause(
        "in order of",
        "in_order",
        "document.ATTRIBUTE",
        "the order in which `anytime` takes the documents; by default the order of loading",
        "in order of document.date",
        "attribute",
    ),
    Clause(
        "detect",
        "detect",
        "D | D of B, …",
        "the differences that would matter; by default round ones near the smallest that can be found",
        "detect 1%, 2%",
        shape=Shape.LIST,
    ),
    Clause(
        "documents",
        "sizes",
        "N, …",
        "how many documents there would be; by default some fewer and some more than there are",
        "documents 100, 400",
        shape=Shape.LIST,
    ),
    Clause("power", "wanted", "P", "how often a difference should be found; 0.8 by default", "power 0.9"),
    Clause(
        "confidence",
        "confidence",
        "C",
        "how sure a verdict must be on which side of `level` the exact p lies; 0.99 by default",
        "confidence 0.99",
    ),
    Clause("adjust", "adjust", "NAME", "adjust p-values for multiple comparisons", "adjust holm", "adjustment"),
    Clause(
        "missing",
        "missing",
        "error|drop|zero|bounds",
        "how to treat documents, or topics, that not every system has",
        "missing drop",
        shape=Shape.WORD,
    ),
    Clause(
        "interval",
        "interval",
        "studentized|percentile|bca",
        "the kind of bootstrap interval; studentized by default",
        "interval bca",
        shape=Shape.WORD,
        alone=True,
    ),
    Clause("at least", "at_least", "N", "expect the value to be no lower", "at least 55%"),
    Clause("at most", "at_most", "N", "expect the value to be no higher", "at most 200"),
    Clause("trim", "trim", "K", "leave the K highest and the K lowest out of the mean", "trim 1"),
    Clause("letters", "letters", "", "beside each value, the letters of the systems that it beats", shape=Shape.FLAG),
    Clause("rank", "ranks", "", "beside each value, the ranks that the system may have", shape=Shape.FLAG),
    Clause("digits", "digits", "N", "decimal places of the values", "digits 1"),
    Clause(
        "columns",
        "columns",
        'NAME as "TEXT", …',
        "names for measures, test sets and the column of systems",
        'columns F as "F₁"',
        "measure",
        shape=Shape.LIST,
    ),
    Clause("caption", "caption", '"TEXT"', "the text above the table", 'caption "Results on MUC-4"'),
    Clause("label", "label", '"NAME"', "the name by which a paper refers to the table", 'label "tab:muc4"'),
    Clause(
        "as of",
        "as_of",
        'N|"DATE"',
        "the warehouse as it was after import N, or at a date or time; only a lake keeps its past",
        'as of "2026-11-01"',
    ),
    Clause("title", "title", '"TEXT"', "the text above the picture", 'title "Recall on MUC-4"'),
    Clause(
        "width",
        "width",
        "LENGTH|page|column",
        "the width of a picture in a file (mm, cm, in, pt, px); of a table in LaTeX, a column or whole pages",
        "width 80mm",
    ),
    Clause("font", "font", '"NAME"', "the font of a picture in a file", 'font "Times New Roman"'),
    Clause("to", "to", '"FILE"', "the file to write; its ending decides the format", 'to "scores.csv"'),
)
"""All clauses, in the order in which they are printed."""


_EXPECTED = frozenset(word for expected in EXPECTATIONS for word in expected.split())
"""The words between `expect` and its question."""

_SHOWN = (nodes.Show.words, nodes.Confusion.words)
"""A question that `show` may stand before."""

_CONTINUED = {
    ("is", "missing"),
    ("not", "missing"),
    *(pair for clause in CLAUSES for pair in pairwise(clause.words.split())),
}
"""Pairs of keywords whose second word does not begin a clause."""


def as_typed(words: str, spoken: Sequence[str]) -> str:
    """The keywords of a clause, or the synonym that was typed."""
    return next(clause.spoken(spoken) for clause in CLAUSES if clause.words == words)


def continues(before: str, word: str) -> bool:
    """Whether a keyword continues the clause that the previous keyword began, as `by` does after `order`."""
    return (before, word) in _CONTINUED


def question_word(words: Sequence[str]) -> str:
    """The first word of the question in a statement, after `plot` and similar words; empty if there is none."""
    at = 1 if words and words[0] in ABOUT_QUESTIONS else 0
    while at and at < len(words) and words[at] in _EXPECTED:
        at += 1
    if (*words[at : at + 2],) == _SHOWN:
        at += 1
    word = first_word(words[at]) if len(words) > at else ""
    return word if word in QUESTIONS else ""


def clauses_begun(words: Sequence[str]) -> list[Clause | None]:
    """For each word of a statement, the clause that it begins. None for any other word, such as the `by` in `order by`.

    `words` holds the keywords of the statement in their places, and an empty text for everything else.
    """
    word_of_question = question_word(words)
    words = [first_word(word) for word in words]
    question = QUESTIONS.get(word_of_question)
    # The first word of a question may also be the first word of a clause.
    head = words.index(word_of_question) if question else 0
    begun: list[Clause | None] = []
    before = ""
    awaits_second = False
    for at, word in enumerate(words):
        clause = None
        if awaits_second and word == "to":
            awaits_second = False
        elif question and at != head and not continues(before, word):
            clause = _beginning(words[at:])
        if question and clause:
            awaits_second = clause.second_field in field_names(question)
        begun.append(clause)
        before = word
    return begun


def _beginning(words: Sequence[str]) -> Clause | None:
    """The clause that these words begin: the longest that matches, or one that may become whole or stands alone."""
    alike = [clause for clause in CLAUSES if words[0] in clause.first_words]
    whole = [clause for clause in alike if clause.words.split() == [*words[: len(clause.words.split())]]]
    # The `as` of `columns F as "F₁"` begins nothing.
    others = (
        clause
        for clause in alike
        if clause.alone or words[0] in clause.synonyms or clause.words.split()[: len(words)] == [*words]
    )
    return max(whole, key=lambda clause: len(clause.words), default=next(others, None))

"""The words that statements and clauses begin with, and the table of clauses: how each is written, what it means, and
what is completed in it.

Statements are read off the classes in nodes.py. A clause belongs to the statements whose node has its field, so the
table needs no list of statements. A new clause is a rule of language.lark with the name of its field, a row here, and
the field in the nodes that take it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from enum import Enum, auto
from itertools import pairwise
from typing import get_args

from grammar import nodes
from grammar.value import value

QUESTIONS: dict[str, type[nodes.Question]] = {kind.words.split()[0]: kind for kind in get_args(nodes.Question)}
"""The statements that can be plotted, explained and exported, by their first word."""

STATEMENTS: dict[str, type[nodes.AnyStatement]] = {kind.words.split()[0]: kind for kind in get_args(nodes.AnyStatement)}
"""All statements, by their first word."""

ELSEWHERE = {
    "leaderboard": "rank",
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
    "agreement": "agree",
    "kappa": "agree",
    "variance": "spread",
    "reliability": "spread",
    "reproduce": "replicate",
    "query": "sql",
}
"""What other tools call statements, and what they are called here."""

ABOUT_QUESTIONS = {word: kind for word, kind in STATEMENTS.items() if issubclass(kind, nodes.AboutQuestion)}
"""The statements that begin with a word before a question, by that word."""

EXPECTATIONS: tuple[nodes.Expectation, ...] = get_args(nodes.Expectation)
"""What can be expected of a comparison."""


class Shape(Enum):
    """What stands behind the keywords of a clause, and so what becomes of it in a node and how it is printed."""

    NODE = auto()
    """One node: `limit 5`, `of filtering`, `order by F desc`."""
    LIST = auto()
    """A tuple of nodes: `by unit, label`."""
    WORD = auto()
    """One of several keywords: `missing drop`."""
    ITSELF = auto()
    """Nothing; the clause's own words are the value, and other clauses fill the same field: `one-sided`."""
    FLAG = auto()
    """Nothing; the value is True: `exact`."""


@value
class Clause:
    """A clause: the keywords it begins with, the field of a node that it fills, and the shape of its value.

    `takes` is what stands behind the keywords, `meaning` what the clause does, in one line; `example` may be empty.
    `names` is the kind of the names in it, for completion and messages; empty where no bare name can stand.
    `second_field` is for `from A to B`: the field of the name behind `to`, in statements that have it. `synonyms` are
    other words for its one keyword; what was typed is shown. Where it may stand `alone`, its first keyword is enough.
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
        """Its keywords, or the synonym of them that is among those that a statement was written with."""
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
    return tuple(field.name for field in fields(kind))


CLAUSES = (
    Clause(
        "of",
        "task",
        "KIND",
        "what is asked about: extraction, filtering, counts, rankings, values or published",
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
    Clause("on", "test_sets", "TEST SET, …", "the test sets, each computed apart", "on TST3, TST4", "test set"),
    Clause("over test sets", "over", "", "their average in place of each, exchanged within each", shape=Shape.FLAG),
    Clause(
        "from",
        "source",
        "TEST SET",
        "the test set to begin with, and `to` another",
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
        "fallout changes with generality, to this power",
        "assuming fallout exponent 0.45",
    ),
    Clause(
        "replicates by",
        "replicates",
        "system.ATTRIBUTE",
        "systems that share the attribute are runs of one system, averaged; `replicates` alone: by system.replicate, "
        "else by system.model",
        "replicates by system.model",
        "attribute",
        alone=True,
    ),
    Clause(
        "by",
        "by",
        "ATTRIBUTE, …",
        "a row a value: document, unit, label or an attribute",
        "by unit",
        "attribute",
        shape=Shape.LIST,
    ),
    Clause("depth", "depth", "1|2", "with 2 also the slices of every two attributes", "depth 2"),
    Clause(
        "utility",
        "utility",
        "A, B, C, D",
        "value of a true positive, a false positive, a miss and a correct rejection; 0 where left out",
        "utility 2, -1",
        shape=Shape.LIST,
    ),
    Clause(
        "where", "where", "CONDITION", "only the rows that meet it", 'where document like "TST3-MUC4-00%"', "attribute"
    ),
    Clause(
        "order by",
        "order",
        "MEASURE",
        "by which measure the rows are ordered; `desc` or `asc`",
        "order by recall desc",
        "measure",
    ),
    Clause("order as named", "as_named", "", "the systems in the order they are named", shape=Shape.FLAG),
    Clause("only", "only", "SYSTEM", "only the documents that speak for this system", "only GE", "system"),
    Clause("limit", "limit", "N", "no more rows than this", "limit 5"),
    Clause(
        "standardized",
        "standardized",
        "",
        "in standard deviations from the mean of all systems of the test set",
        shape=Shape.FLAG,
    ),
    Clause(
        "corrected by",
        "corrected",
        "JUDGE",
        "the judge's values, corrected by those that people gave to some documents",
        "corrected by llm",
        "measure",
    ),
    Clause("with key", "with_key", "", "the key as one more annotator", shape=Shape.FLAG),
    Clause(
        "exchange by",
        "exchange",
        "ATTRIBUTE",
        "what is exchanged as a whole: document, unit or an attribute",
        "exchange by unit",
        "attribute",
    ),
    Clause("one-sided", "sides", "", "that the first system is the better", shape=Shape.ITSELF),
    Clause("two-sided", "sides", "", "that the systems differ; the default", shape=Shape.ITSELF),
    Clause("test", "test", "NAME", "which significance test; randomization unless said", "test wilcoxon", "test"),
    Clause(
        "shuffles",
        "shuffles",
        "N",
        "approximate, with so many shuffles; of the bootstrap, resamples",
        "shuffles 9999",
        synonyms=("permutations", "resamples"),
    ),
    Clause("exact", "exact", "", "every exchange counted", shape=Shape.FLAG),
    Clause(
        "seed", "seed", "N", "where chance begins; the same seed gives the same numbers; 1992 unless said", "seed 1992"
    ),
    Clause("level", "level", "A", "the significance level; 0.05 unless said", "level 0.10", synonyms=("alpha",)),
    Clause(
        "margin",
        "margin",
        "D",
        "how much worse may still pass: better, equivalent, not worse than that",
        "margin 1%",
    ),
    Clause(
        "detect",
        "detect",
        "D, …",
        "the differences that would matter; round ones near what can be found unless said",
        "detect 1%, 2%",
        shape=Shape.LIST,
    ),
    Clause(
        "documents",
        "sizes",
        "N, …",
        "how many documents there would be; some fewer and some more than there are unless said",
        "documents 100, 400",
        shape=Shape.LIST,
    ),
    Clause("power", "wanted", "P", "how often a difference should be found; 0.8 unless said", "power 0.9"),
    Clause(
        "confidence",
        "confidence",
        "C",
        "how sure it must be that the true level is below `level`; 0.99 unless said",
        "confidence 0.99",
    ),
    Clause("adjust", "adjust", "NAME", "for many comparisons at once", "adjust holm", "adjustment"),
    Clause(
        "missing",
        "missing",
        "error|drop|zero|bounds",
        "a document that only one of the systems has; of rankings, a topic that a run leaves out",
        "missing drop",
        shape=Shape.WORD,
    ),
    Clause(
        "interval",
        "interval",
        "studentized|percentile|bca",
        "how the bootstrap interval is taken; studentized unless said",
        "interval bca",
        shape=Shape.WORD,
        alone=True,
    ),
    Clause("at least", "at_least", "N", "the value is expected to be no lower", "at least 55%"),
    Clause("at most", "at_most", "N", "the value is expected to be no higher", "at most 200"),
    Clause("trim", "trim", "K", "the mean without the K highest and lowest", "trim 1"),
    Clause("letters", "letters", "", "beside each value the letters of the systems it beats", shape=Shape.FLAG),
    Clause("rank", "ranks", "", "beside each value the ranks that the system may have", shape=Shape.FLAG),
    Clause("digits", "digits", "N", "decimals of the values", "digits 1"),
    Clause(
        "columns",
        "columns",
        'NAME as "TEXT", …',
        "what measures, test sets and the column of systems are called",
        'columns F as "F₁"',
        "measure",
        shape=Shape.LIST,
    ),
    Clause("caption", "caption", '"TEXT"', "what stands above the table", 'caption "Results on MUC-4"'),
    Clause("label", "label", '"NAME"', "what the table is referred to by", 'label "tab:muc4"'),
    Clause("title", "title", '"TEXT"', "what stands above the picture", 'title "Recall on MUC-4"'),
    Clause("width", "width", "LENGTH", "how wide a picture in a file is, in mm, cm, in, pt or px", "width 80mm"),
    Clause("font", "font", '"NAME"', "the letters of a picture in a file", 'font "Times New Roman"'),
    Clause("to", "to", '"FILE"', "the file; its ending names the format", 'to "scores.csv"'),
)
"""All clauses, in the order in which they are printed."""


_EXPECTED = frozenset(word for expected in EXPECTATIONS for word in expected.split())
"""The words between `expect` and its question."""

_CONTINUED = {
    ("is", "missing"),
    ("not", "missing"),
    *(pair for clause in CLAUSES for pair in pairwise(clause.words.split())),
}
"""Neighbouring keywords of which the second begins no clause."""


def as_typed(words: str, spoken: Sequence[str]) -> str:
    """The keywords of a clause, or the synonym of them that was typed."""
    return next(clause.spoken(spoken) for clause in CLAUSES if clause.words == words)


def continues(before: str, word: str) -> bool:
    """Whether a keyword goes on with what the one before it began, as `by` behind `order`, and so begins no clause."""
    return (before, word) in _CONTINUED


def question_word(words: Sequence[str]) -> str:
    """The first word of the question in a statement, behind `plot` and the like; empty where there is none."""
    at = 1 if words and words[0] in ABOUT_QUESTIONS else 0
    while at and at < len(words) and words[at] in _EXPECTED:
        at += 1
    return words[at] if len(words) > at and words[at] in QUESTIONS else ""


def clauses_begun(words: Sequence[str]) -> list[Clause | None]:
    """For each word of a statement the clause that it begins; None where it begins none, as `by` of `order by`.

    `words` holds the keywords of the statement in their places, and an empty text for everything else.
    """
    word_of_question = question_word(words)
    question = QUESTIONS.get(word_of_question)
    # The first word of a question may be that of a clause, too.
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
    """The clause at the start of these words: the one with most of them, or one that they may be the beginning of."""
    alike = [clause for clause in CLAUSES if words[0] in clause.first_words]
    whole = [clause for clause in alike if clause.words.split() == [*words[: len(clause.words.split())]]]
    return max(whole, key=lambda clause: len(clause.words), default=alike[0] if alike else None)

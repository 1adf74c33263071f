"""What a reader may yield: the forms of facts, their fields and the kinds of value that a field takes.

A form says what one fact consists of (its key and what is stored under the key) and which table holds it. Readers name
the form that they yield, and loading needs to know nothing else about them. This module holds data only: it must not
read files or run SQL.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FieldKind = Literal[
    "name",
    "count",
    "rank",
    "grade",
    "decision",
    "label",
    "number",
    "value",
    "decimal",
    "size",
    "task",
    "kind",
    "length",
]


class Field(Struct, frozen=True):
    """One field of a record. A field that is not required may be left out; its column may hold empty cells.

    The names in a `numbered` field are kept in a table with the name of the field, and facts point to it.
    """

    name: str
    kind: FieldKind
    required: bool = True
    numbered: bool = False

    @property
    def column(self) -> str:
        """The column of the fact's table in which the field is stored."""
        return f"{self.name}_id" if self.numbered else self.name


class Limit(Struct, frozen=True):
    """A constraint on the counts of one fact: the sum of `parts`, where known, does not exceed `whole`."""

    parts: tuple[str, ...]
    whole: str


class FactForm(Struct, frozen=True):
    """What one fact consists of.

    `table` holds the facts. The fields in `key` identify a fact: two facts with the same key contradict each other
    unless they are equal. The fields in `content` are stored under the key. `attributes` marks the forms in which every
    column that is not a field is an attribute. There a record is one row of the file, and a fact is one attribute of it
    and points only to the last field of the key. `limits` are constraints on the counts of one fact. `named_limits` are
    constraints on the counts of one unit, for forms in which a fact is one count, named by the last field of the key.
    `places` is the field that orders facts which differ only in the last field of their key: 1, 2, 3 and so on. `truth`
    is the field that is right for a document, and so the same whatever system the fact is of.
    """

    name: str
    table: str
    key: tuple[Field, ...]
    content: tuple[Field, ...] = ()
    attributes: bool = False
    limits: tuple[Limit, ...] = ()
    named_limits: tuple[Limit, ...] = ()
    places: str = ""
    truth: str = ""

    @property
    def fields(self) -> tuple[Field, ...]:
        """Every field of a record, in the order in which help lists them."""
        return (*self.key, *self.content)

    @property
    def stored_key(self) -> tuple[Field, ...]:
        """The fields of the key that are stored with the fact. The evaluation is left out, because the test set
        determines it.
        """
        return self.key[-1:] if self.attributes else tuple(field for field in self.key if field is not EVALUATION)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The tables of names that a fact points to."""
        return tuple(field.name for field in self.stored_key if field.numbered)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns of the table that identify a fact."""
        return (*(field.column for field in self.stored_key), *(("name",) if self.attributes else ()))

    @property
    def content_columns(self) -> tuple[str, ...]:
        """The columns of the table that say what is stored under a key."""
        return ("value",) if self.attributes else tuple(field.name for field in self.content)


EVALUATION = Field("evaluation", "name", required=False, numbered=True)
TEST_SET = Field("test_set", "name", numbered=True)
SYSTEM = Field("system", "name", numbered=True)
DOCUMENT = Field("document", "name", numbered=True)
ITEM = Field("item", "name", numbered=True)
UNIT = Field("unit", "name", required=False, numbered=True)
COUNT = Field("count", "name")
ANNOTATOR = Field("annotator", "name", required=False, numbered=True)
MEASURE = Field("measure", "name")

_MATCHED = ("correct", "partial", "incorrect")

SCORES = FactForm(
    "scores",
    "score",
    key=(EVALUATION, TEST_SET, SYSTEM, DOCUMENT, UNIT),
    content=(
        Field("possible", "count"),
        Field("actual", "count"),
        Field("correct", "count"),
        Field("partial", "count"),
        Field("incorrect", "count", required=False),
        Field("spurious", "count", required=False),
        Field("missing", "count", required=False),
        Field("noncommittal", "count", required=False),
        Field("same_place", "count", required=False),
        Field("overlapping", "count", required=False),
        Field("same_type", "count", required=False),
        Field("unpaired", "count", required=False),
    ),
    limits=(Limit(_MATCHED, "possible"), Limit(_MATCHED, "actual")),
)
COUNTS = FactForm(
    "counts",
    "counted",
    key=(EVALUATION, TEST_SET, SYSTEM, DOCUMENT, UNIT, COUNT),
    content=(Field("number", "count"),),
    named_limits=(Limit(("passed",), "attempts"),),
)
"""Counts of any name; each count is a fact of its own."""
BETWEEN = "|"
"""The separator in the name of a count, between the metric that needs it, the way of counting and the count itself."""
DECISIONS = FactForm(
    "decisions",
    "decision",
    key=(EVALUATION, TEST_SET, SYSTEM, DOCUMENT),
    content=(Field("decision", "decision"), Field("confidence", "number", required=False)),
)
LABELS = FactForm(
    "labels", "key_label", key=(EVALUATION, TEST_SET, DOCUMENT, ANNOTATOR), content=(Field("label", "label"),)
)
VALUES = FactForm(
    "values", "value", key=(EVALUATION, TEST_SET, SYSTEM, DOCUMENT, MEASURE), content=(Field("value", "value"),)
)
NUMBERS = FactForm(
    "numbers",
    "prediction",
    key=(EVALUATION, TEST_SET, SYSTEM, DOCUMENT),
    content=(Field("truth", "value"), Field("prediction", "value")),
    truth="truth",
)
"""Predicted numbers beside the true ones."""
RANKINGS = FactForm(
    "rankings",
    "ranking",
    key=(EVALUATION, TEST_SET, SYSTEM, DOCUMENT, ITEM),
    content=(Field("rank", "rank"), Field("score", "number", required=False)),
    places="rank",
)
"""Runs: the items that a system returns for a topic; the topic is the document."""
JUDGMENTS = FactForm(
    "judgments", "judgment", key=(EVALUATION, TEST_SET, DOCUMENT, ITEM), content=(Field("grade", "grade"),)
)
PUBLISHED = FactForm(
    "published",
    "published",
    key=(EVALUATION, TEST_SET, SYSTEM, Field("task", "task"), MEASURE),
    content=(
        Field("value", "decimal"),
        Field("resolution", "size"),
        Field("documents", "count", required=False),
        Field("standard_error", "number", required=False),
        Field("ci_low", "number", required=False),
        Field("ci_high", "number", required=False),
        Field("ci_level", "number", required=False),
    ),
)
SYSTEMS = FactForm("systems", "system_attribute", key=(EVALUATION, SYSTEM), attributes=True)
DOCUMENTS = FactForm("documents", "document_attribute", key=(EVALUATION, TEST_SET, DOCUMENT), attributes=True)
RUNS = FactForm(
    "runs",
    "run",
    key=(EVALUATION, TEST_SET, SYSTEM),
    content=(Field("model", "name"), Field("run", "name", required=False), Field("date", "name", required=False)),
)
"""For a system on a test set, the model and the run."""
FAILURES = FactForm(
    "failures",
    "failure",
    key=(EVALUATION, TEST_SET, SYSTEM, Field("item", "name")),
    content=(Field("reason", "name"),),
)
"""What a system should have been scored on but was not: the name of a document, or WHOLE_RUN."""
WHOLE_RUN = "*"
"""The item of a failure of a whole run, where it is not known which documents the run would have had."""

FORMS = (
    *(SCORES, COUNTS, DECISIONS, LABELS, VALUES, NUMBERS, RANKINGS, JUDGMENTS),
    *(PUBLISHED, SYSTEMS, DOCUMENTS, RUNS, FAILURES),
)
"""The forms that answer queries and can be exported and loaded again."""

IDENTITIES = FactForm(
    "identities",
    "document_identity",
    key=(EVALUATION, TEST_SET, DOCUMENT, Field("name", "name")),
    content=(Field("begins", "name"), Field("digest", "name")),
)
"""What a file says that a document is: its question, its right answer, its split. No answer depends on it; a load with
other documents under names that are taken is refused because of it.
"""

PIECE = Field("piece", "rank", required=False)
PIECE_LENGTH = 8_000
"""The number of characters of a text in one row. Rows are read two thousand at a time and must fit into memory."""
_WHICH = (Field("kind", "kind"), Field("number", "rank"), PIECE)
_LENGTH = Field("characters", "length")
DOCUMENT_TEXTS = FactForm(
    "document_texts", "document_text", key=(EVALUATION, TEST_SET, DOCUMENT, *_WHICH), content=(_LENGTH,)
)
"""Inputs and references: texts of a document that do not depend on the system. The texts themselves are stored
separately.
"""
SYSTEM_TEXTS = FactForm(
    "system_texts", "system_text", key=(EVALUATION, TEST_SET, SYSTEM, DOCUMENT, *_WHICH), content=(_LENGTH,)
)
"""Outputs and inputs of systems. An input of a system is stored only if it differs from the input of the document."""
ColumnUse = Literal["document", "not of documents", "not of systems"]
"""What a column of a table is on a test set: the one that names the documents, or one that is no attribute of
documents, or of systems.
"""

INPUT, REFERENCE, OUTPUT = "input", "reference", "output"
"""The kinds of texts."""
TEXT_FORMS = (DOCUMENT_TEXTS, SYSTEM_TEXTS)
"""Forms of texts. Texts accompany facts and do not change any answer; they belong to documents and systems that facts
have named.
"""

FACT_TABLES = tuple(form.table for form in (*FORMS, IDENTITIES, *TEXT_FORMS))
"""The tables whose rows belong to an import."""
POINTERS = {
    "test_set": ("evaluation",),
    "document": ("test_set",),
    **{form.table: form.dimensions for form in (*FORMS, IDENTITIES, *TEXT_FORMS)},
}
"""For each table, the tables of names that its rows point to. Every fact also points to its import."""

"""What a reader may yield: the forms of facts, their fields and the kinds of value a field takes.

A form says what one fact consists of (its key and what is stored under the key) and in which table it is kept. Readers
name the form they yield; loading needs nothing else of them. This module holds data only: it reads no file and runs no
SQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FieldKind = Literal["name", "count", "decision", "label", "number", "value", "decimal", "size", "task"]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record. A field that is not required may be left out; its column may hold empty cells."""

    name: str
    kind: FieldKind
    required: bool = True


@dataclass(frozen=True, slots=True)
class FactForm:
    """What one fact consists of.

    `table` keeps the facts; the fields in `key` tell one fact from another (two facts of one key contradict each other
    unless they are the same) and those in `content` are what is stored under it. `attributes` marks the forms in which
    every column that is no field is an attribute: there a record is one row of the file and a fact is one attribute of
    it.
    """

    name: str
    table: str
    key: tuple[Field, ...]
    content: tuple[Field, ...] = ()
    attributes: bool = False

    @property
    def fields(self) -> tuple[Field, ...]:
        """Every field of a record, in the order in which help lists them."""
        return (*self.key, *self.content)


EVALUATION = Field("evaluation", "name", required=False)
TEST_SET = Field("test_set", "name")
SYSTEM = Field("system", "name")
DOCUMENT = Field("document", "name")
UNIT = Field("unit", "name", required=False)
ANNOTATOR = Field("annotator", "name", required=False)
MEASURE = Field("measure", "name")

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
    ),
)
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
PUBLISHED = FactForm(
    "published",
    "published",
    key=(EVALUATION, TEST_SET, SYSTEM, Field("task", "task"), MEASURE),
    content=(Field("value", "decimal"), Field("resolution", "size")),
)
SYSTEMS = FactForm("systems", "system_attribute", key=(EVALUATION, SYSTEM), attributes=True)
DOCUMENTS = FactForm("documents", "document_attribute", key=(EVALUATION, TEST_SET, DOCUMENT), attributes=True)

FORMS = (SCORES, DECISIONS, LABELS, VALUES, PUBLISHED, SYSTEMS, DOCUMENTS)
FACT_TABLES = tuple(form.table for form in FORMS)


class UnreadableError(Exception):
    """An input file that DuckDB could not read; the text is DuckDB's own, for a reader to turn into faults."""

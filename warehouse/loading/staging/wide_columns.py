"""Decides what the columns of a wide table are. A table with one row per sample has columns for measures, names, seeds
and attributes; another kind of table has one column per system.

The decision uses the names of the columns and counts over their cells. Nothing here reads a file or runs SQL.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from warehouse.loading.staging.cells import is_number, shown

_SAMPLES = (
    *("document", "doc", "sample", "question", "item", "instance", "example", "topic", "query", "segment", "seg"),
    *("sentence", "message", "problem"),
)

SYNONYMS: dict[str, tuple[str, ...]] = {
    "evaluation": ("evaluation",),
    "test_set": ("test_set", "testset", "benchmark", "task", "dataset"),
    "system": ("system", "model", "model_name", "system_name"),
    "document": (*_SAMPLES, *(f"{noun}_id" for noun in (*_SAMPLES, "task")), "id", "qid", "idx", "index"),
}
"""For each field, names of columns that it is taken from."""

NO_DOCUMENT = (
    f"no column names the documents, as document, {', '.join(_SAMPLES[2:6])} or id would; "
    "--map document=COLUMN says which does"
)
"""The error for a table without a column that names the documents."""

REPLICATES = ("seed", "run", "replicate", "epoch", "attempt")
"""Names of columns that identify the replicates of a system."""

NOTHING = ("nan", "na", "n/a", "null", "none", "-")
"""Texts that mean a missing value, in lower case."""

RIGHT_OR_WRONG = ("correct", "is_correct", "passed", "is_passed", "right")
"""Names of columns whose ones and zeros are the accuracy of a system."""


TEXTS: dict[str, tuple[str, ...]] = {
    "input": ("input", "question", "prompt", "query", "instruction", "problem", "text", "src"),
    "reference": ("reference", "ref", "target", "answer", "gold", "expected", "ideal"),
    "output": ("output", "response", "prediction", "completion", "generation", "hypothesis", "model_answer", "mt"),
}
"""For each kind of text, names of columns that hold it, for loads that store texts."""


def plain(heading: str) -> str:
    """A heading in the form of the names above."""
    return heading.strip().casefold().replace(" ", "_").replace("-", "_")


def noun_of(heading: str) -> str:
    """The noun for a document, from the heading of the column that names it, as question from question_id; empty if the
    heading does not contain one.
    """
    noun = plain(heading).removesuffix("_id")
    nouns = {"doc": "document", "seg": "segment", "qid": "question", "id": "", "idx": "", "index": ""}
    return nouns.get(noun, noun.replace("_", " "))


class CellColumn(Struct, frozen=True):
    """A column, and counts over its cells: how many are filled, how many of these are numbers, how many are true or
    false, and how many are 0 or 1. `is_text` says whether a cell is too long for a name or has control characters.
    """

    place: int
    heading: str
    filled: int = 0
    numbers: int = 0
    truths: int = 0
    bits: int = 0
    is_text: bool = False

    @property
    def is_number(self) -> bool:
        """Whether every filled cell is a number."""
        return 0 < self.filled == self.numbers

    @property
    def is_truth(self) -> bool:
        """Whether every filled cell is true or false."""
        return 0 < self.filled == self.truths

    @property
    def measure(self) -> str:
        """The name of the measure for the values of the column."""
        right_or_wrong = plain(self.heading) in RIGHT_OR_WRONG and self.filled in (self.truths, self.bits)
        return "accuracy" if right_or_wrong else self.heading


def column_of(place: int, heading: str, texts: Sequence[str]) -> CellColumn:
    """A column of which some cells are known."""
    filled = [text.strip() for text in texts if text.strip() and text.strip().lower() not in NOTHING]
    numbers = sum(map(is_number, filled))
    truths = sum(text.lower() in ("true", "false") for text in filled)
    return CellColumn(place, heading, len(filled), numbers, truths, sum(text in ("0", "1") for text in filled))


def texts_of(columns: Sequence[CellColumn], taken: Collection[str]) -> dict[str, tuple[CellColumn, ...]]:
    """The columns for each kind of text, among those that are not in `taken`. A question column stays the name of the
    documents if it is the only one that could name them.
    """
    free = [column for column in columns if column.heading not in taken]
    names = [column for column in free if plain(column.heading) in SYNONYMS["document"]]
    headings_of_texts = {heading for headings in TEXTS.values() for heading in headings}
    if headings_of_texts.issuperset(plain(column.heading) for column in names):
        free = [column for column in free if column not in names]
    return {
        kind: found
        for kind, headings in TEXTS.items()
        if (found := tuple(column for column in free if plain(column.heading) in headings))
    }


class UnclearError(Exception):
    """Something about a table that a person must decide, and the option that decides it."""


class Roles(Struct, frozen=True):
    """The role of each column. `document` are the columns that may name the documents; the caller chooses one."""

    fields: Mapping[str, CellColumn]
    documents: tuple[CellColumn, ...]
    replicates: tuple[CellColumn, ...]
    measures: tuple[CellColumn, ...]
    others: tuple[CellColumn, ...]

    @property
    def measured(self) -> list[tuple[CellColumn, str]]:
        """The measures with the names under which they are stored: normally their measure names, but their headings if
        two would have the same name.
        """
        names = [column.measure for column in self.measures]
        return [
            (column, column.heading if names.count(measure) > 1 else measure)
            for column, measure in zip(self.measures, names, strict=True)
        ]


def roles_of(
    columns: Sequence[CellColumn],
    mapped: Mapping[str, str],
    fixed: Collection[str],
    measures: Sequence[str] | None,
    *,
    by_systems: bool = False,
    cluster: str = "",
) -> Roles:
    """Finds the roles of the columns of a table.

    `mapped` are the headings that fields are taken from, and `fixed` are the fields that have one value for all rows.
    `measures` are the headings of measures, if they are given; otherwise every column of numbers without another role
    is a measure. With `by_systems`, columns are systems, and no column identifies their replicates. The column that is
    declared as the `cluster` is an attribute, whatever its cells and its name look like. Raises UnclearError.
    """
    by_heading = {column.heading: column for column in columns}
    for heading in (*mapped.values(), *(measures or ())):
        if heading not in by_heading:
            there_are = ", ".join(shown(heading)[1:-1] for heading in list(by_heading)[:20])
            raise UnclearError(f"there is no column {shown(heading)}; the columns are {there_are}")
    said = set(measures or ())
    if cluster in said | set(mapped.values()):
        raise UnclearError(f"{shown(cluster)[1:-1]} is declared to be the cluster, and cannot be something else, too")
    free = [column for column in columns if column.heading not in said | set(mapped.values()) | {cluster}]
    fields = {field: by_heading[heading] for field, heading in mapped.items() if field not in REPLICATES}
    for field in ("evaluation", "test_set", "system"):
        if field not in fields and (column := _named(free, field, field in fixed)):
            fields[field] = column
    # A setting holds for all rows, whatever the column contains.
    taken = {column.place for column in fields.values()}
    fields = {field: column for field, column in fields.items() if field not in fixed}
    free = [column for column in free if column.place not in taken]
    documents = [fields["document"]] if "document" in fields else []
    if not documents and "document" not in fixed:
        documents = [column for column in free if plain(column.heading) in SYNONYMS["document"]]
    replicates = [column for column in free if plain(column.heading) in REPLICATES and not by_systems]
    replicates += [by_heading[heading] for field, heading in mapped.items() if field in REPLICATES]
    taken = {column.place for column in (*documents, *replicates)}
    free = [column for column in free if column.place not in taken]
    values = [column for column in free if column.is_number or column.is_truth]
    if measures is not None:
        values = [by_heading[heading] for heading in measures]
    valued = {column.place for column in values}
    others = [column for column in free if column.place not in valued and column.filled]
    others += [column for column in columns if column.heading == cluster]
    return Roles(fields, tuple(documents), tuple(replicates), tuple(values), tuple(others))


def _named(columns: Sequence[CellColumn], field: str, is_fixed: bool) -> CellColumn | None:
    """The column with the name of a field. If several columns have a synonym of the field as name, a person must
    choose.
    """
    called = [column for column in columns if plain(column.heading) in SYNONYMS[field]]
    exact = [column for column in called if plain(column.heading) == field]
    if len(called) < 2 or exact:
        return next(iter(exact or called), None)
    if is_fixed:
        return None
    names = " and ".join(column.heading for column in called)
    raise UnclearError(f"{names} could be the {field.replace('_', ' ')}; --map {field}={called[0].heading} says which")

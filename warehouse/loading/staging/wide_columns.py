"""What the columns of a wide table are: of one with a row a sample, in which measures, names, seeds and attributes have
a column each, or of one with a column a system.

Decided from the names of the columns and from what was counted of their cells. Nothing here reads a file or runs SQL.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

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
"""By field, what a column is called that it is taken from."""

NO_DOCUMENT = (
    f"no column names the documents, as document, {', '.join(_SAMPLES[2:6])} or id would; "
    "--map document=COLUMN says which does"
)
"""What is said of a table in which no column does."""

REPLICATES = ("seed", "run", "replicate", "epoch", "attempt")
"""What a column is called that tells the replicates of a system apart."""

NOTHING = ("nan", "na", "n/a", "null", "none", "-")
"""What stands for a value that is not there, in lower case."""

RIGHT_OR_WRONG = ("correct", "is_correct", "passed", "is_passed", "right")
"""What a column is called whose ones and zeros are the accuracy of a system."""


TEXTS: dict[str, tuple[str, ...]] = {
    "input": ("input", "question", "prompt", "query", "instruction", "problem", "text", "src"),
    "reference": ("reference", "ref", "target", "answer", "gold", "expected", "ideal"),
    "output": ("output", "response", "prediction", "completion", "generation", "hypothesis", "model_answer", "mt"),
}
"""By kind of text, what a column is called that holds it, where texts are stored."""


def plain(heading: str) -> str:
    """A heading as the names above are written."""
    return heading.strip().casefold().replace(" ", "_").replace("-", "_")


def noun_of(heading: str) -> str:
    """What a document is called by the column that names it, as question by question_id; empty where that says none."""
    noun = plain(heading).removesuffix("_id")
    nouns = {"doc": "document", "seg": "segment", "qid": "question", "id": "", "idx": "", "index": ""}
    return nouns.get(noun, noun.replace("_", " "))


@dataclass(frozen=True, slots=True)
class CellColumn:
    """A column, and what was counted of its cells: those that say something, the numbers among these, those that are
    true or false, the zeros and ones; the longest text, and whether it is longer than a name may be or has control
    characters in it.
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
        """Whether every cell that says something is a number."""
        return 0 < self.filled == self.numbers

    @property
    def is_truth(self) -> bool:
        """Whether every cell that says something is true or false."""
        return 0 < self.filled == self.truths

    @property
    def measure(self) -> str:
        """The name of the measure that its values are of."""
        right_or_wrong = plain(self.heading) in RIGHT_OR_WRONG and self.filled in (self.truths, self.bits)
        return "accuracy" if right_or_wrong else self.heading


def column_of(place: int, heading: str, texts: Sequence[str]) -> CellColumn:
    """A column of which some cells are known."""
    filled = [text.strip() for text in texts if text.strip() and text.strip().lower() not in NOTHING]
    numbers = sum(map(is_number, filled))
    truths = sum(text.lower() in ("true", "false") for text in filled)
    return CellColumn(place, heading, len(filled), numbers, truths, sum(text in ("0", "1") for text in filled))


def texts_of(columns: Sequence[CellColumn], taken: Collection[str]) -> dict[str, tuple[CellColumn, ...]]:
    """By kind of text the columns that hold it, of those that are not `taken` by their headings. A question that alone
    could name the documents is their name.
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
    """What cannot be known of a table without being said, and what says it."""


@dataclass(frozen=True, slots=True)
class Roles:
    """What each column is. `document` are those that may name the documents, of which the caller finds the one."""

    fields: Mapping[str, CellColumn]
    documents: tuple[CellColumn, ...]
    replicates: tuple[CellColumn, ...]
    measures: tuple[CellColumn, ...]
    others: tuple[CellColumn, ...]

    @property
    def measured(self) -> list[tuple[CellColumn, str]]:
        """The measures with the names they are stored by: their headings, where two would have the same."""
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
    """What the columns of a table are.

    `mapped` are the headings that fields are to be taken from, `fixed` the fields that have one value for all rows, and
    `measures` the headings that are measures, where that is said; else every column of numbers is one that is nothing
    else. Where columns are systems, `by_systems`, no column tells their replicates. What is declared to be the
    `cluster` is an attribute, whatever its cells and its name look like. Raises UnclearError.
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
    # A setting holds for all rows, whatever the column says.
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
    """The column that is called like a field; where the synonyms of the field are several, somebody has to choose."""
    called = [column for column in columns if plain(column.heading) in SYNONYMS[field]]
    exact = [column for column in called if plain(column.heading) == field]
    if len(called) < 2 or exact:
        return next(iter(exact or called), None)
    if is_fixed:
        return None
    names = " and ".join(column.heading for column in called)
    raise UnclearError(f"{names} could be the {field.replace('_', ' ')}; --map {field}={called[0].heading} says which")

"""What the columns of a table with one row per sample are, by their names and by counts over their cells: names of
systems and documents, seeds, measures, texts, or attributes.

A name never depends on an option or on which rows a file has. This module must not read a file or run SQL.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from shlex import quote

from msgspec import Struct
from msgspec import field as struct_field
from msgspec.structs import replace

from evalhouse.warehouse.kinds.records import INPUT, OUTPUT, REFERENCE
from evalhouse.warehouse.loading.staging.cells import is_number, quote_cell

# === names of columns =================================================================================================

_SAMPLES = (
    *("document", "doc", "sample", "question", "item", "instance", "example", "topic", "query", "segment", "seg"),
    *("sentence", "message", "problem"),
)

IDS = (
    *(f"{noun}_id" for noun in (*_SAMPLES, "task", "prompt", "case", "row")),
    *("id", "uid", "qid", "key", "idx", "sample_idx", "index", "filename"),
)
"""Names of columns with ids of documents. An id names the documents before a column that may hold their texts."""

_MAYBE_SYSTEMS = ("run_name", "experiment", "agent", "method", "checkpoint", "provider")
"""Names of columns that name the systems if no column of a better name does; else they describe them."""

SYNONYMS: dict[str, tuple[str, ...]] = {
    "evaluation": ("evaluation",),
    "test_set": ("test_set", "testset", "benchmark", "task", "dataset"),
    "system": ("system", "model", "model_name", "model_id", "system_name", *_MAYBE_SYSTEMS),
    "document": (*IDS, *_SAMPLES),
}
"""For each field, names of columns that it is taken from; for documents, in the order in which they are preferred."""

NO_DOCUMENT = (
    f"no column names the documents, as document, {', '.join(_SAMPLES[2:6])} or id would; "
    "--map document=COLUMN says which does"
)
"""The error for a table without a column that names the documents."""

REPLICATES = (
    *("seed", "run", "replicate", "epoch", "attempt", "trial", "repeat", "rollout", "run_id", "sample_index"),
)
"""Names of columns that identify the replicates of a system."""

NOTHING = ("nan", "na", "n/a", "null", "none", "-")
"""Texts that mean a missing value, in lower case."""

RIGHT_OR_WRONG = frozenset(("correct", "is_correct", "label_correct", "pass", "passed", "is_passed", "right"))
"""Names of columns whose ones and zeros are the accuracy of a system."""

MARKS = RIGHT_OR_WRONG | {
    *("success", "resolved", "reward", "score", "exact_match", "em", "acc", "accuracy"),
    *("f1", "precision", "recall"),
}
"""Names of columns that are measures even if all systems have the same values."""

OF_SCORERS = "score_"
"""How the columns of verdicts begin in Inspect's data frames: score_match."""

_TRUTHS = {"true": "1", "false": "0"}
_VERDICTS = _TRUTHS | {
    **dict.fromkeys(("yes", "y", "pass", "passed", "correct", "right", "c", "success"), "1"),
    **dict.fromkeys(("no", "n", "fail", "failed", "incorrect", "wrong", "i", "failure"), "0"),
}
"""Words in place of 1 and 0, in lower case, in columns with the name of a mark. In others, yes may be an answer."""

_BITS = {"1": "1", "1.0": "1", "0": "0", "0.0": "0"}
"""How 1 and 0 are written beside such words, by another team or another tool."""

TEXTS: dict[str, tuple[str, ...]] = {
    INPUT: ("input", "question", "prompt", "query", "instruction", "problem", "text", "src"),
    REFERENCE: ("reference", "ref", "target", "answer", "gold", "expected", "ideal"),
    OUTPUT: ("output", "response", "prediction", "completion", "generation", "hypothesis", "model_answer", "mt"),
}
"""For each kind of text, names of columns that hold it."""

QUESTIONS = (
    *("question", "input", "query", "problem", "text", "instruction", "sentence"),
    *("src", "source_text", "source_sentence", "gold", "gold_answer", "gold_label", "ground_truth"),
)
"""Names of columns that say what a document is, if another column names it. A prompt may be worded for each system, and
what is called an answer may be that of a system.
"""

PARTS = (
    *("split", "sub_split", "subsplit", "partition", "subset", "subtask", "subject", "config", "config_name"),
    *("language", "lang", "locale", "language_pair", "lang_pair", "lp"),
    *("perturbation", "filter", "reducer", "dataset_version", "task_version"),
)
"""Names of columns that say which part or which form of a test set a document is from."""

SETTINGS = (
    *("n_shot", "n_shots", "num_shots", "shots", "k_shot", "num_fewshot", "fewshot", "few_shot"),
    *("temperature", "top_p", "top_k", "max_tokens", "num_beams", "beam_size"),
)
"""Names of columns of numbers that say how a system was run, if it has one number on all documents."""

_SAID = frozenset(
    word + ending
    for ending in ("", "s")
    for word in (
        *("output", "response", "prediction", "pred", "completion", "generation", "hyp", "answer", "guess", "reply"),
        *("rationale", "explanation", "thought", "trace", "transcript", "translation"),
    )
) | {
    "predicted",
    "got",
    "generated",
    "hypothesis",
    "hypotheses",
    "choice",
    "chosen",
    "reasoning",
    "cot",
    "trajectory",
    "summary",
}
"""Words for what a system said. A column whose name ends with one holds answers: raw_response."""

_OF_THE_KEY = frozenset(
    ("gold", "golden", "true", "truth", "correct", "right", "expected", "ideal", "reference", "ref", "target", "human")
)
"""Words that make such a column one of right answers: gold_answer, expected_output."""

_FORMS_OF_TEXT = frozenset(
    ("text", "raw", "string", "str", "content", "parsed", "clean", "cleaned", "extracted", "label", "class", "letter")
)
"""Words behind a word for what was said: output_text, predicted_label."""

_OF_MEASURES = frozenset(("is", "has", "num", "n", "len"))
"""Words before a word for what was said that make its column one of numbers: is_answer, num_outputs."""

_PLACES = frozenset(
    {
        *("id", "ids", "uid", "uuid", "guid", "hash", "no", "nr", "num", "number", "index", "idx", "line", "lineno"),
        *("offset", "row", "rowid", "position", "pos", "start", "end", "timestamp"),
    }
)
"""A column of numbers whose name ends with one of these words says where something is, and measures nothing."""

_DATES = frozenset(("year", "years"))
"""A column of numbers whose name ends with one of these words dates something. It is an attribute, and no measure."""


def plain(heading: str) -> str:
    """A heading in the form of the names above."""
    return heading.strip().casefold().replace(" ", "_").replace("-", "_")


def _words(heading: str) -> list[str]:
    """The words of a heading: rowIndex is row and index."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", heading.strip())
    return [word for word in re.split(r"[^a-z0-9]+", apart.casefold()) if word]


def noun_of(heading: str) -> str:
    """The noun for a document, from the heading of the column that names it, as question from question_id; empty if the
    heading does not contain one.
    """
    noun = plain(heading).removesuffix("_id")
    nouns = {"doc": "document", "seg": "segment", "qid": "question", "sample_idx": "sample", "filename": "file"}
    nouns |= dict.fromkeys(("id", "uid", "key", "idx", "index"), "")
    return nouns.get(noun, noun.replace("_", " "))


def text_kind(heading: str) -> str:
    """The kind of text that a column holds by its name; empty if its name says nothing of texts."""
    for kind, names in TEXTS.items():
        if plain(heading) in names:
            return kind
    words = _words(heading)
    last = _SAID | (_FORMS_OF_TEXT if _SAID.intersection(words) else frozenset())
    if not words or words[-1] not in last or words[0] in _OF_MEASURES:
        return ""
    return REFERENCE if _OF_THE_KEY.intersection(words) else OUTPUT


def parts_of(headings: Iterable[str]) -> list[str]:
    """The headings that say which part or form of a test set a document is from."""
    return [heading for heading in headings if plain(heading) in PARTS]


def tells_document(heading: str) -> bool:
    """Whether a column of this heading says what a document is, beside its name: its question, or its part."""
    return plain(heading) in (*QUESTIONS, *PARTS)


def words_apart(field: str, heading: str) -> str:
    """The words of the command line that keep documents apart by a column."""
    return f"--map {quote(f'{field}={heading}')}"


def named_otherwise(absent: Sequence[str], header: Sequence[str], wanted: Mapping[str, str]) -> str:
    """What to type for fields that no column is named after: which columns they are, as far as their names say it.
    `wanted` are the columns of all fields.
    """
    free = [heading for heading in header if heading not in wanted.values()]
    found: dict[str, str] = {}
    for field in absent:
        like = [heading for heading in free if plain(heading) in SYNONYMS.get(field, ())]
        if field == "document":
            like += [heading for heading in free if plain(heading).endswith("_id")]
        if like:
            found[field] = like[0]
            free.remove(like[0])
    still = [field for field in absent if field not in found]
    if len(still) == len(free) == 1:
        found[still[0]] = free[0]
    maps = " ".join(f"--map {quote(f'{field}={heading}')}" for field, heading in found.items())
    if len(found) == len(absent):
        return f"{maps} says which {'it is' if len(absent) == 1 else 'they are'}"
    those = maps and f"{maps} says which some are; "
    return (
        f"{those}--map FIELD=COLUMN takes a field from a column of another name, --set FIELD=VALUE gives it one value"
    )


def truths_of(heading: str, *, is_mark: bool = False) -> dict[str, str]:
    """The words that stand for 1 and 0 in a column, in lower case."""
    named = plain(heading)
    return _VERDICTS if is_mark or named in MARKS or named.startswith(OF_SCORERS) else _TRUTHS


def split_map(columns: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """What is taken from columns, as fields and as measures: any other name is that of a measure, unless it is nearly
    the name of a field.
    """
    fields = (*SYNONYMS, *REPLICATES)
    measures = {name: heading for name, heading in columns.items() if not get_close_matches(name, fields, 1, 0.8)}
    return {name: heading for name, heading in columns.items() if name not in measures}, measures


def called(field: str, headings: Iterable[str]) -> list[str]:
    """The headings that may name a field. Those that only may if there is no better one are left out if there is."""
    named = [heading for heading in headings if plain(heading) in SYNONYMS[field]]
    return [heading for heading in named if plain(heading) not in _MAYBE_SYSTEMS] or named


def is_place(heading: str) -> bool:
    """Whether the numbers of a column are ids, places or times, as its name says."""
    return not _PLACES.isdisjoint(_words(heading)[-1:])


def is_date(heading: str) -> bool:
    """Whether the numbers of a column are years, as its name says."""
    return not _DATES.isdisjoint(_words(heading)[-1:])


# === columns and their cells ==========================================================================================


class CellColumn(Struct, frozen=True):
    """A column, and counts over its cells: how many are filled, how many of these are numbers, how many are words for
    true or false, how many are 0 or 1, and how many are several words. `is_text` says whether a cell is too long for a
    name or has control characters.
    """

    place: int
    heading: str
    filled: int = 0
    numbers: int = 0
    truths: int = 0
    bits: int = 0
    phrases: int = 0
    is_text: bool = False
    called: str = ""
    """The measure that a person takes from it."""

    @property
    def is_number(self) -> bool:
        """Whether every filled cell is a number."""
        return 0 < self.filled == self.numbers

    @property
    def is_truth(self) -> bool:
        """Whether every filled cell is right or wrong in a word, or as the 1 or 0 of other rows."""
        return self.truths > 0 and self.filled == self.truths + self.bits

    @property
    def words(self) -> dict[str, str]:
        """The words that stand for 1 and 0 in it."""
        return truths_of(self.heading, is_mark=bool(self.called)) | _BITS

    @property
    def measure(self) -> str:
        """The name of the measure for the values of the column."""
        if self.called:
            return self.called
        named = plain(self.heading)
        right_or_wrong = named in RIGHT_OR_WRONG and self.filled == self.truths + self.bits
        of_scorer = named.startswith(OF_SCORERS) and self.is_truth
        return "accuracy" if right_or_wrong or of_scorer else self.heading

    def counted_with(self, other: CellColumn) -> CellColumn:
        """The counts over the cells of this column and of another one with the same heading, at the place of this."""
        return CellColumn(
            self.place,
            self.heading,
            self.filled + other.filled,
            self.numbers + other.numbers,
            self.truths + other.truths,
            self.bits + other.bits,
            self.phrases + other.phrases,
            self.is_text or other.is_text,
            self.called,
        )


def column_of(place: int, heading: str, texts: Sequence[str], called: str = "") -> CellColumn:
    """A column of which some cells are known."""
    filled = [text.strip() for text in texts if text.strip() and text.strip().lower() not in NOTHING]
    numbers = sum(map(is_number, filled))
    words = truths_of(heading, is_mark=bool(called))
    truths = sum(text.lower() in words for text in filled)
    bits = sum(text in _BITS for text in filled)
    return CellColumn(place, heading, len(filled), numbers, truths, bits, called=called)


# === what tables are found to have ====================================================================================

TestSet = tuple[str, str]
"""The evaluation, empty if there is none, and the name of a test set."""


class Findings(Struct, frozen=True):
    """What was decided about the columns of one table. `columns` has the counts over the cells of all tables of the
    load, by heading. `document` is the column that names the documents, if one does; `unclear` is the error if nothing
    can be decided.

    `no_measures` are columns of numbers that say nothing about systems. `no_attributes` are, by test set, the columns
    that are no attributes of its documents; of these, `answers` are what systems said. `varying` are no attributes of
    systems. `measures` are the measures with values in the warehouse, and `clusters` the attributes that earlier loads
    declared to be clusters. With `attempts`, several rows of a system on a document are its attempts.
    """

    columns: Mapping[str, CellColumn]
    test_sets: tuple[TestSet, ...] = ()
    document: str = ""
    unclear: str = ""
    no_measures: frozenset[str] = frozenset()
    no_attributes: Mapping[TestSet, frozenset[str]] = struct_field(default_factory=dict)
    answers: frozenset[str] = frozenset()
    varying: frozenset[str] = frozenset()
    measures: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()
    attempts: bool = False


class UnclearError(Exception):
    """Something about a table that a person must decide, and the option that decides it."""


class Roles(Struct, frozen=True):
    """The role of each column by its name. `documents` are the columns that may name the documents, of which one is
    chosen later, and `ids` those that were not chosen; `numbers` are measures unless their cells say otherwise;
    `places` are numbers that measure nothing; `others` are attributes, or left out.
    """

    fields: Mapping[str, CellColumn]
    documents: tuple[CellColumn, ...]
    replicates: tuple[CellColumn, ...]
    numbers: tuple[CellColumn, ...]
    texts: Mapping[str, tuple[CellColumn, ...]]
    places: tuple[CellColumn, ...]
    others: tuple[CellColumn, ...]
    ids: tuple[CellColumn, ...] = ()

    @property
    def measured(self) -> list[tuple[CellColumn, str]]:
        """The measures with the names under which they are stored: normally their measure names, but their headings if
        two would have the same name.
        """
        names = [column.measure for column in self.numbers]
        return [
            (column, column.heading if names.count(measure) > 1 else measure)
            for column, measure in zip(self.numbers, names, strict=True)
        ]

    @property
    def told_by(self) -> dict[str, str]:
        """What tells the replicates of a system: the column of each heading among the cells of the table."""
        return {column.heading: f"attribute_{column.place}" for column in self.replicates}

    def named_by(self, document: CellColumn | None) -> Roles:
        """The roles once it is known which column names the documents. Other ids are left out; what is no id may be a
        text or an attribute.
        """
        rest = [column for column in self.documents if column != document and column.filled]
        ids = tuple(column for column in rest if plain(column.heading) in IDS)
        nouns = [column for column in rest if column not in ids]
        kinds = {kind: tuple(column for column in nouns if text_kind(column.heading) == kind) for kind in TEXTS}
        texts = {kind: self.texts.get(kind, ()) + kinds[kind] for kind in TEXTS if self.texts.get(kind) or kinds[kind]}
        others = tuple(column for column in nouns if not text_kind(column.heading))
        return replace(
            self,
            documents=(document,) if document else (),
            texts=texts,
            ids=ids,
            others=self.others + others,
        )

    def without(self, no_measures: Collection[str]) -> Roles:
        """The roles once it is known which columns of numbers are no measures."""
        unfit = tuple(column for column in self.numbers if column.heading in no_measures and not column.called)
        numbers = tuple(column for column in self.numbers if column not in unfit)
        return replace(self, numbers=numbers, others=self.others + unfit)


def roles_of(
    columns: Sequence[CellColumn],
    mapped: Mapping[str, str],
    fixed: Collection[str],
    measures: Sequence[str] | None,
    *,
    by_systems: bool = False,
    clusters: Collection[str] = (),
) -> Roles:
    """Finds the roles of the columns of a table.

    `mapped` are the headings that fields are taken from, and `fixed` are the fields that have one value for all rows.
    `measures` are the headings of measures, if they are given; otherwise every column of numbers without another role
    is one. With `by_systems`, columns of numbers are systems, and no column identifies their replicates. Columns that
    are declared to be `clusters` are attributes, whatever their cells and their names look like. Raises UnclearError.
    """
    by_heading = {column.heading: column for column in columns}
    for heading in (*mapped.values(), *(measures or ())):
        if heading not in by_heading:
            there_are = ", ".join(quote_cell(heading)[1:-1] for heading in list(by_heading)[:20])
            raise UnclearError(f"there is no column {quote_cell(heading)}; the columns are {there_are}")
    said = set(measures or ())
    for cluster in sorted((said | set(mapped.values())).intersection(clusters)):
        raise UnclearError(
            f"{quote_cell(cluster)[1:-1]} is declared to be the cluster, and cannot be something else, too"
        )
    measured = [column for column in columns if column.called]
    taken_for = {*said, *mapped.values(), *clusters, *(column.heading for column in measured)}
    free = [column for column in columns if column.heading not in taken_for]
    fields = {field: by_heading[heading] for field, heading in mapped.items() if field not in REPLICATES}
    for field in ("evaluation", "test_set", "system"):
        if field not in fields and (column := _column_of_field(free, field, field in fixed)):
            fields[field] = column
    # A setting holds for all rows, whatever the column contains.
    taken = {column.place for column in fields.values()}
    fields = {field: column for field, column in fields.items() if field not in fixed}
    free = [column for column in free if column.place not in taken]
    documents = [column for column in free if plain(column.heading) in SYNONYMS["document"]]
    replicates = [column for column in free if plain(column.heading) in REPLICATES and not by_systems]
    if not (documents or "document" in mapped or "document" in fixed):
        # The index of a sample is that of a document if nothing else is.
        documents = [column for column in replicates if plain(column.heading) == "sample_index"]
        replicates = [column for column in replicates if column not in documents]
    replicates += [by_heading[heading] for field, heading in mapped.items() if field in REPLICATES]
    taken = {column.place for column in (*documents, *replicates)}
    free = [column for column in free if column.place not in taken and column.filled]
    systems = {column.place for column in free if by_systems and (column.is_number or column.is_truth)}
    texts = {
        kind: found
        for kind in TEXTS
        if (found := tuple(c for c in free if c.place not in systems and text_kind(c.heading) == kind))
    }
    taken = {column.place for of_kind in texts.values() for column in of_kind}
    free = [column for column in free if column.place not in taken]
    numbers = [column for column in free if column.is_number or column.is_truth]
    counting = [column for column in numbers if column.place not in systems]
    places = [column for column in counting if is_place(column.heading)]
    numbers = [
        column
        for column in numbers
        if column not in counting or not (is_place(column.heading) or is_date(column.heading))
    ]
    if measures is not None:
        # Numbers that are not among the measures are attributes.
        numbers = [by_heading[heading] for heading in measures if not by_heading[heading].called]
    numbers = [*measured, *numbers]
    valued = {column.place for column in (*numbers, *places)}
    others = [column for column in free if column.place not in valued]
    others += [column for column in columns if column.heading in clusters]
    return Roles(fields, tuple(documents), tuple(replicates), tuple(numbers), texts, tuple(places), tuple(others))


def _column_of_field(columns: Sequence[CellColumn], field: str, is_fixed: bool) -> CellColumn | None:
    """The column with the name of a field. If several columns have a synonym of the field as name, a person must
    choose.
    """
    names = called(field, (column.heading for column in columns))
    naming = [column for column in columns if column.heading in names]
    exact = [column for column in naming if plain(column.heading) == field]
    if len(naming) < 2 or exact:
        return next(iter(exact or naming), None)
    if is_fixed:
        return None
    said = f"--map {quote(f'{field}={names[0]}')} says which"
    raise UnclearError(f"{' and '.join(names)} could be the {field.replace('_', ' ')}; {said}")

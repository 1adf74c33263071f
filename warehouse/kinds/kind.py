"""What a kind of stored rows is: a `Kind`, as data, and what its observations are called.

The table KINDS lists them. This module must not know about files or the database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from evalhouse.warehouse.measures import Measure, TaskName
from evalhouse.warehouse.measures.measure import Labels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Decide = Callable[[Mapping[str, NDArray[Any]], int, NDArray[np.intp], bool, int], None]
    Grids = Mapping[str, NDArray[Any]]
    Completing = Callable[[Grids, NDArray[np.bool_], int], list[Grids]]


# === kinds ============================================================================================================


class DeclaredMeasure(Struct, frozen=True):
    """What loads declared about a measure that is a name in the data. `lower_is_better` is None if nothing was declared
    about that.
    """

    lower_is_better: bool | None = None
    is_share: bool = False


class Kind(Struct, frozen=True):
    """What a statement can name after `of`: a kind of stored rows.

    `facts` is the table that holds the rows, `source` the table or view that queries read, and `decided_by` the tables
    that determine its numbers. Rows can be grouped and filtered by `dimensions`. `counts` are the numbers of a row.
    `apart` is the column that distinguishes the rows of one system and document, or that is the same in all of them.
    """

    name: TaskName
    meaning: str
    rows: str
    """The plural noun for its rows."""
    facts: str
    source: str
    decided_by: tuple[str, ...]
    dimensions: tuple[str, ...]
    counts: tuple[str, ...] = ()
    named_counts: bool = False
    """Whether the names of the counts come from the data, with one row for each count; `counts` is empty then."""
    apart: str = ""
    shown_first: tuple[str, ...] = ()
    """The measures that a page shows by default, the most informative first."""
    shown_of_labels: tuple[tuple[Labels, tuple[str, ...]], ...] = ()
    """The same where the rows are of classes. Of one class a document recall, precision and F are all its accuracy."""
    by_document: bool = True
    """Whether there is a row for each document and not only a published figure."""
    of_lists: bool = False
    """Whether a document has ranked lists, from which measures are computed on request."""
    of_numbers: bool = False
    """Whether its rows are predicted numbers beside the true ones, which are no counts."""
    in_units: bool = False
    """Whether a document may have a row for each of its units."""
    unit: Literal["proportion", "number"] = "proportion"
    """The unit of its values: proportions, or numbers in any other unit."""
    figure: str = ""
    """The noun for a stored value, if measures are names in the data and not formulas."""
    figures_are: str = ""
    """How such a measure follows from the stored values, for `show measures`."""
    offered: str = ""
    """The note on such a measure in the menu of completions."""
    figures: tuple[tuple[str, str], ...] = ()
    """Short names of such measures, in lower case, with their full names."""
    imported: Callable[[str, tuple[str, str], DeclaredMeasure], Measure] | None = None
    """Makes the measure of such a name. Its arguments are the name, the task and the name under which it is stored, and
    what loads declared about it.
    """
    decide: Decide | None = None
    """Puts some observations of a system into the cells of the decision yes or no. Baselines are computed with it, and
    with `missing zero` a missing document counts as decided no.
    """
    unanswered: tuple[tuple[str, str], ...] = ()
    """The counts that are not 0 on a document for which a system answered nothing, each with the count whose number it
    then has: the largest that any system has there, which for a count of the key is that of every system.
    """
    completions: Completing | None = None
    """The extreme completions of missing observations: the counts of all observations, once for each extreme."""
    completed_from: tuple[str, ...] = ()
    """The counts that `completions` needs, in addition to those of the measure."""

    @property
    def is_counted(self) -> bool:
        """Whether its rows are counts, over which measures can be defined, and not finished values."""
        return self.named_counts or bool(self.counts)

    @property
    def adds_counts(self) -> bool:
        """Whether its counts are added up: measures can be defined over them, and those of runs are averaged."""
        return self.is_counted and not self.of_numbers

    @property
    def by_measure(self) -> bool:
        """Whether a document has a row for each measure."""
        return self.imported is not None and self.by_document

    @property
    def difference(self) -> Literal["difference", "number"]:
        """The kind of a difference between two of its values."""
        return "difference" if self.unit == "proportion" else "number"

    @property
    def of_key(self) -> bool:
        """Whether a key, or judgments, say which documents there are, and not only the rows of systems."""
        return self.has_key or self.of_lists

    @property
    def has_key(self) -> bool:
        """Whether its rows come with the labels of a key, so that baselines can be computed and a condition on
        confidence acts as a threshold.
        """
        return self.decide is not None


# === observations =====================================================================================================
# What an observation of a test set is called, and which observations tests exchange together. The language calls every
# observation a document; people may call it a message, a topic or a sentence.

PLAIN_NOUN = "document"
"""The name of an observation if nothing else was declared. As a cluster it means that observations are exchanged one by
one.
"""


class Observed(Struct, frozen=True):
    """What is declared about the observations of a test set; each part is empty if nothing was declared.

    `noun` is the name of one observation, in the singular: topic. `cluster` is the attribute that dependent documents
    share; tests exchange documents with the same value together. It is PLAIN_NOUN if each document is exchanged by
    itself. `main` is the measure that a question is about where it names none.
    """

    noun: str = ""
    cluster: str = ""
    main: str = ""

    def or_else(self, other: Observed) -> Observed:
        """This declaration, with empty parts filled in from the other."""
        return Observed(self.noun or other.noun, self.cluster or other.cluster, self.main or other.main)

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """The settings of `load --set` that declare it."""
        said = (("noun", self.noun), ("cluster", self.cluster), ("main", self.main))
        return tuple((key, text) for key, text in said if text)

    def __bool__(self) -> bool:
        return bool(self.settings)


def plural(noun: str) -> str:
    """The plural: topics, queries, topic-document pairs. In a phrase with `of` the noun before it changes: units of
    document.source.
    """
    head, of, rest = noun.partition(" of ")
    if of:
        return f"{plural(head)} of {rest}"
    if noun.endswith("y") and noun[-2:-1].casefold() not in "aeiou":
        return f"{noun[:-1]}ies"
    if noun.endswith("sis"):
        return f"{noun[:-2]}es"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"


def quantity(number: int, noun: str) -> str:
    """The number with its noun: 1 topic, 80,914 topic-document pairs."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"

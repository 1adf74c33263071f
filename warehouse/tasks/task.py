"""What a kind of stored rows is: a Task as data. Which there are is said in `tasks`, and each in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from grammar.value import value
from warehouse.measures import Measure, TaskName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Decide = Callable[[Mapping[str, NDArray[Any]], int, NDArray[np.intp], bool, int], None]
    Grids = Mapping[str, NDArray[Any]]
    Completing = Callable[[Grids, NDArray[np.bool_], int], list[Grids]]


@value
class Task:
    """What can be asked about, after `of`: the kind of rows that answer it.

    `facts` is the table that holds the rows, `source` the table or view that queries read, `decided_by` the tables that
    decide its numbers. `dimensions` are what rows can be split and chosen by, `counts` the numbers of a row, and
    `apart` the column that tells the rows of one system and document apart, or that is the same in all of them.
    """

    name: TaskName
    meaning: str
    rows: str
    """What its rows are called."""
    facts: str
    source: str
    decided_by: tuple[str, ...]
    dimensions: tuple[str, ...]
    counts: tuple[str, ...] = ()
    named_counts: bool = False
    """Whether its rows have the counts that the data name, a row each; `counts` are empty then."""
    apart: str = ""
    shown_first: tuple[str, ...] = ()
    """The measures that a page shows unasked, the most telling first."""
    by_document: bool = True
    """Whether there is a row for each document, and not only a finished figure."""
    of_lists: bool = False
    """Whether a document has ranked lists, which measures are computed of when they are asked for."""
    in_units: bool = False
    """Whether a document may have a row for each of its units."""
    unit: Literal["proportion", "number"] = "proportion"
    """What its values are: shares, or numbers in a unit of their own."""
    figure: str = ""
    """What a stored value is called, where measures are names in the data and not formulas."""
    figures_are: str = ""
    """What such a measure is of the stored values, for `show measures`."""
    offered: str = ""
    """What stands beside such a measure in the menu of completions."""
    figures: tuple[tuple[str, str], ...] = ()
    """What such measures are called for short, in lower case, and their names."""
    imported: Callable[[str, tuple[str, str], bool | None], Measure] | None = None
    """The measure of such a name, given also the task and name it is stored under, and whether lower values were
    declared to be better; None where nothing was declared."""
    decide: Decide | None = None
    """Puts some observations of a system into the cells of the decision yes or no; so baselines are computed, and a
    missing document that counts as nothing is one that was decided no. None where it counts 0."""
    completions: Completing | None = None
    """The extremes of what the observations that systems lack could have been: the counts of all, once for each."""
    completed_from: tuple[str, ...] = ()
    """The counts that this needs, whatever the measure is computed from."""

    @property
    def is_counted(self) -> bool:
        """Whether its rows are counts, which measures can be defined over, and not finished values."""
        return self.named_counts or bool(self.counts)

    @property
    def by_measure(self) -> bool:
        """Whether a document has a row for each measure."""
        return self.imported is not None and self.by_document

    @property
    def difference(self) -> Literal["difference", "number"]:
        """What a difference of two of its values is."""
        return "difference" if self.unit == "proportion" else "number"

    @property
    def has_key(self) -> bool:
        """Whether its rows stand beside the labels of a key, so that baselines can be computed and a condition on
        confidence is a threshold.
        """
        return self.decide is not None

"""What will be done: a question with every name looked up and every default filled in.

A plan holds ids, statistics and conditions, no text that still has to be understood. After it exists only the database
can fail.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from grammar.value import value
from warehouse.measures import Statistic, Task

DEFAULT_SEED = 1992
DEFAULT_LEVEL = Decimal("0.05")
DEFAULT_CONFIDENCE = Decimal("0.99")

# --- who and where ----------------------------------------------------------------------------------------------------


@value
class TestSet:
    """A stored test set; `name` is as short as it can be without being ambiguous, `own_name` is without an
    evaluation.
    """

    __test__ = False  # not a pytest class

    id: int
    name: str
    own_name: str


@value
class StoredSystem:
    """A stored system."""

    id: int
    name: str


@value
class Baseline:
    """A system of filtering that is computed from the key: a share of the documents judged relevant at random, or
    all of them (share 1).
    """

    name: str
    share: Decimal


System = StoredSystem | Baseline

# --- which rows -------------------------------------------------------------------------------------------------------

Scalar = str | Decimal


@value
class Dimension:
    """What rows are split or chosen by: document, unit, label, confidence, system, or an attribute of a document or
    a system.
    """

    of: Literal["document", "unit", "label", "confidence", "system"]
    attribute: str = ""

    @property
    def name(self) -> str:
        """document, document.source."""
        return f"{self.of}.{self.attribute}" if self.attribute else self.of


@value
class Compared:
    """A dimension compared with one value."""

    dimension: Dimension
    operator: Literal["=", "!=", "<", "<=", ">", ">="]
    value: Scalar


@value
class OneOf:
    dimension: Dimension
    values: tuple[Scalar, ...]


@value
class Matches:
    dimension: Dimension
    pattern: str


@value
class Missing:
    dimension: Dimension


@value
class Negated:
    condition: Filter


@value
class Joined:
    word: Literal["and", "or"]
    conditions: tuple[Filter, ...]


Filter = Compared | OneOf | Matches | Missing | Negated | Joined


# --- the questions ----------------------------------------------------------------------------------------------------


@value
class Replicates:
    """Stored systems that are runs of one: several seeds, folds or epochs.

    `runs` are the ids of the stored systems of each contender, by the id of the contender. `common` is a multiple of
    the numbers of runs that documents have.
    """

    attribute: str
    runs: tuple[tuple[int, tuple[int, ...]], ...]
    common: int


@value
class Entry:
    """The contenders of one test set and the statistics to compute for them, all of one task.

    `stored` is how many systems have rows for the task on the test set, 0 where that is not known. `in_units`: a
    document may have several rows, one a unit. With `replicates` a contender is not a stored system but its runs.
    """

    test_set: TestSet
    task: Task
    statistics: tuple[Statistic, ...]
    contenders: tuple[System, ...]
    stored: int = 0
    in_units: bool = True
    replicates: Replicates | None = None

    @property
    def everyone(self) -> bool:
        """Whether all systems that have rows are among the contenders, so that none need be sought out."""
        return self.stored > 0 and sum(isinstance(each, StoredSystem) for each in self.contenders) == self.stored


@value
class ScorePlan:
    text: str
    entries: tuple[Entry, ...]
    by: tuple[Dimension, ...]
    where: Filter | None
    order: str
    """The column to order by: a label of a statistic, or system."""
    descending: bool
    limit: int | None
    standardized: bool = False
    """Values as distances from the mean of all systems of the test set, in standard deviations."""


@value
class Testing:
    """How pairs of systems are tested."""

    where: Filter | None
    exchange: Dimension
    test: str
    shuffles: int | None
    exact: bool
    """True where exactness was asked for; False leaves the choice to the data unless shuffles are given."""
    sides: Literal["one-sided", "two-sided"]
    seed: int
    level: Decimal
    confidence: Decimal
    adjust: str
    missing: Literal["error", "drop", "zero"]
    interval: Literal["percentile", "bca"] = "percentile"

    @classmethod
    def plain(cls, where: Filter | None) -> Testing:
        """What holds where nothing is said: randomization of documents, two-sided, at the level 0.05."""
        return cls(
            where=where,
            exchange=Dimension("document"),
            test="randomization",
            shuffles=None,
            exact=False,
            sides="two-sided",
            seed=DEFAULT_SEED,
            level=DEFAULT_LEVEL,
            confidence=DEFAULT_CONFIDENCE,
            adjust="none",
            missing="error",
        )


@value
class ComparePlan:
    text: str
    entries: tuple[Entry, ...]
    against: System | None
    how: Testing


@value
class GroupPlan:
    text: str
    entries: tuple[Entry, ...]
    how: Testing


@value
class GeneralityPlan:
    text: str
    test_sets: tuple[TestSet, ...]
    by: tuple[Dimension, ...]
    where: Filter | None


@value
class ChangePlan:
    """`source` and `target` have the same contenders, in the same order: those of both test sets."""

    text: str
    source: Entry
    target: Entry
    where: Filter | None
    trim: int


@value
class ReplicatePlan:
    """`source` and `target` have the same contenders, in the same order: those of both test sets."""

    text: str
    source: Entry
    target: Entry
    how: Testing


@value
class ProjectPlan:
    text: str
    entry: Entry
    generalities: tuple[Decimal, ...]
    exponent: Decimal
    where: Filter | None


@value
class AuditPlan:
    text: str
    entries: tuple[Entry, ...]


@value
class AgreePlan:
    text: str
    test_sets: tuple[TestSet, ...]
    where: Filter | None


Question = (
    ScorePlan
    | ComparePlan
    | GroupPlan
    | GeneralityPlan
    | ChangePlan
    | ReplicatePlan
    | ProjectPlan
    | AuditPlan
    | AgreePlan
)
"""What asks something of the rows."""


# --- the other statements ---------------------------------------------------------------------------------------------


@value
class ExplainPlan:
    text: str
    question: Question


@value
class PlotPlan:
    text: str
    question: Question
    to: str | None


@value
class ExportPlan:
    text: str
    question: Question
    to: str


@value
class ShowPlan:
    text: str
    what: str


@value
class SqlPlan:
    text: str
    query: str


Plan = Question | ExplainPlan | PlotPlan | ExportPlan | ShowPlan | SqlPlan

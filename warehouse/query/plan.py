"""What will be done: a question with every name looked up and every default filled in.

A plan holds ids, statistics and conditions, no text that still has to be understood. After it exists only the database
can fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from warehouse.measures import Statistic, Task

DEFAULT_SEED = 1992
DEFAULT_LEVEL = Decimal("0.05")
DEFAULT_CONFIDENCE = Decimal("0.99")

# --- who and where ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TestSet:
    """A stored test set; `name` is as short as it can be without being ambiguous, `own_name` is without an
    evaluation.
    """

    __test__ = False  # not a pytest class

    id: int
    name: str
    own_name: str


@dataclass(frozen=True, slots=True)
class System:
    """A stored system."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """A system of filtering that is computed from the key: a share of the documents judged relevant at random, or
    all of them (share 1).
    """

    name: str
    share: Decimal


Contender = System | Baseline

# --- which rows -------------------------------------------------------------------------------------------------------

Scalar = str | Decimal


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Compared:
    """A dimension compared with one value."""

    dimension: Dimension
    operator: Literal["=", "!=", "<", "<=", ">", ">="]
    value: Scalar


@dataclass(frozen=True, slots=True)
class OneOf:
    dimension: Dimension
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Matches:
    dimension: Dimension
    pattern: str


@dataclass(frozen=True, slots=True)
class Missing:
    dimension: Dimension


@dataclass(frozen=True, slots=True)
class Negated:
    condition: Filter


@dataclass(frozen=True, slots=True)
class Joined:
    word: Literal["and", "or"]
    conditions: tuple[Filter, ...]


Filter = Compared | OneOf | Matches | Missing | Negated | Joined


# --- the questions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """The contenders of one test set and the statistics to compute for them, all of one task."""

    test_set: TestSet
    task: Task
    statistics: tuple[Statistic, ...]
    contenders: tuple[Contender, ...]


@dataclass(frozen=True, slots=True)
class ScorePlan:
    text: str
    fields: tuple[Field, ...]
    by: tuple[Dimension, ...]
    where: Filter | None
    order: str
    """The column to order by: a label of a statistic, or system."""
    descending: bool
    limit: int | None


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class ComparePlan:
    text: str
    fields: tuple[Field, ...]
    against: Contender | None
    how: Testing


@dataclass(frozen=True, slots=True)
class GroupPlan:
    text: str
    fields: tuple[Field, ...]
    how: Testing


@dataclass(frozen=True, slots=True)
class GeneralityPlan:
    text: str
    test_sets: tuple[TestSet, ...]
    by: tuple[Dimension, ...]
    where: Filter | None


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """`source` and `target` have the same contenders, in the same order: those of both test sets."""

    text: str
    source: Field
    target: Field
    where: Filter | None
    trim: int


@dataclass(frozen=True, slots=True)
class ReplicatePlan:
    """`source` and `target` have the same contenders, in the same order: those of both test sets."""

    text: str
    source: Field
    target: Field
    how: Testing


@dataclass(frozen=True, slots=True)
class ProjectPlan:
    text: str
    field: Field
    generalities: tuple[Decimal, ...]
    exponent: Decimal
    where: Filter | None


@dataclass(frozen=True, slots=True)
class AuditPlan:
    text: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class ExplainPlan:
    text: str
    question: Question


@dataclass(frozen=True, slots=True)
class PlotPlan:
    text: str
    question: Question
    to: str | None


@dataclass(frozen=True, slots=True)
class ExportPlan:
    text: str
    question: Question
    to: str


@dataclass(frozen=True, slots=True)
class ShowPlan:
    text: str
    what: str


@dataclass(frozen=True, slots=True)
class SqlPlan:
    text: str
    query: str


Plan = Question | ExplainPlan | PlotPlan | ExportPlan | ShowPlan | SqlPlan

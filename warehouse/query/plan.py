"""What plans are made of: names looked up and defaults filled in.

The plan of a statement stands in the file of the statement. It holds ids, statistics and conditions, no text that still
has to be understood. After it exists only the database can fail.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal
from zlib import crc32

from grammar.clauses import as_typed
from grammar.value import replace, value
from warehouse.measures import PrintedFigure, Statistic
from warehouse.significance.bootstrap.interval_kinds import INTERVALS, IntervalKind
from warehouse.significance.tests import ADJUSTMENTS, TESTS, Adjustment, Test
from warehouse.tasks import TASKS, Task
from warehouse.tasks.observed import PLAIN_NOUN

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

    @property
    def stream(self) -> int:
        """What random numbers depend on besides the seed: the name of the test set, not the order of loading."""
        return crc32(self.own_name.encode())


@value
class StoredSystem:
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
    """What rows are split or chosen by: document, unit, label, confidence, system, annotator, or an attribute of a
    document or a system.
    """

    of: Literal["document", "unit", "label", "confidence", "system", "annotator"]
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
class Latest:
    """The systems that are the last runs of their models: all but these, by test set."""

    older: tuple[tuple[int, tuple[int, ...]], ...]


@value
class Negated:
    condition: Filter


@value
class Joined:
    word: Literal["and", "or"]
    conditions: tuple[Filter, ...]


Filter = Compared | OneOf | Matches | Missing | Latest | Negated | Joined


# --- what is asked of the rows ----------------------------------------------------------------------------------------


@value
class Replicates:
    """Stored systems that are runs of one: several seeds, folds or epochs.

    `runs` are the ids of the stored systems of each system, by the id of the system. `common` is a multiple of
    the numbers of runs that documents have.
    """

    attribute: str
    runs: tuple[tuple[int, tuple[int, ...]], ...]
    common: int


@value
class Attempts:
    """Replicates that are attempts of one system: those passed of which the value of a measure is 1.

    `graded` says whether it is something else than 1 and 0 somewhere.
    """

    replicates: Replicates
    measure: str
    graded: bool


@value
class Entry:
    """The systems of one test set and the statistics to compute for them, all of one task.

    `stored` is how many systems have rows for the task on the test set, 0 where that is not known. `in_units`: a
    document may have several rows, one a unit. `documents` is how many the test set has, and `noun` what one is called.
    With `replicates` or `attempts` a system is not a stored one but its runs. `fingerprint` is that of the data, and
    `simulated` whether any of them are.
    """

    test_set: TestSet
    task: Task
    statistics: tuple[Statistic, ...]
    systems: tuple[System, ...]
    stored: int = 0
    in_units: bool = True
    documents: int = 0
    replicates: Replicates | None = None
    attempts: Attempts | None = None
    fingerprint: str = ""
    simulated: bool = False
    also: tuple[str, ...] = ()
    """Counts that are read beside those of the statistics."""
    noun: str = PLAIN_NOUN
    cluster: str = ""
    """The attribute that documents share which are not independent, as it was declared; empty where none was."""
    exchange: Dimension = Dimension("document")
    """What tests exchange as a whole, and intervals resample: what was asked for, or else the cluster or document."""
    several_kinds: bool = False
    """Whether the test set has rows of other kinds too that the measures could be asked of."""
    beside: tuple[Statistic, ...] = ()
    """All statistics that are computed of the same lists, where those of the entry are some of them."""
    filled: bool = False
    """Whether a system has a value, 0, for topics that it has no list for."""
    listed: bool = False
    """Whether documents are wanted one by one and by their names, however many there are."""
    grouped: str = ""
    """The attribute whose documents stand together as one document, where means are taken over it."""
    topical: bool = False
    """Whether its documents have the attribute topic, over which TREC averages utilities."""
    ungrouped: int = 0
    """How many documents lack that attribute."""
    told_by: tuple[str, bool] | None = None
    """An attribute that these documents have (True) or lack (False), where the test set has others too."""

    @property
    def made_of(self) -> Replicates | None:
        """The replicates that its systems are made of, whether they are averaged or counted."""
        return self.replicates if self.attempts is None else self.attempts.replicates

    @property
    def unit(self) -> Literal["proportion", "number"]:
        """The unit of its values, or the one in which all are shown side by side."""
        return "number" if "number" in (self.task.unit, *self.units) else "proportion"

    @property
    def units(self) -> tuple[Literal["proportion", "number"], ...]:
        """What the values of each statistic are. Figures as printed are what the values of their tasks are."""
        return tuple("number" if _is_number(statistic, self.task) else "proportion" for statistic in self.statistics)

    @property
    def counts(self) -> tuple[str, ...]:
        """The counts that its rows have, or where the data name them, those that are read."""
        if not self.task.named_counts:
            return self.task.counts
        of_statistics = (column for statistic in self.statistics for column in statistic.columns)
        return tuple(dict.fromkeys((*of_statistics, *self.also)))

    @property
    def unit_noun(self) -> str:
        """What one exchange unit is called: message, topic, unit of document.source."""
        if not self.exchange.attribute:
            return self.noun if self.exchange.of == "document" else self.exchange.of
        if self.exchange.attribute == self.cluster:
            return self.cluster.replace("_", " ")
        return f"unit of {self.exchange.name}"

    @property
    def exchanges_runs(self) -> bool:
        """Whether whole runs of replicates change sides, and documents stay."""
        return self.exchange == Dimension("system")

    @property
    def stored_systems(self) -> tuple[StoredSystem, ...]:
        """The systems without the baselines."""
        return tuple(system for system in self.systems if isinstance(system, StoredSystem))

    @property
    def baselines(self) -> tuple[Baseline, ...]:
        """The systems that are computed from the key."""
        return tuple(system for system in self.systems if isinstance(system, Baseline))

    @property
    def everyone(self) -> bool:
        """Whether all systems that have rows are asked for, so that none need be sought out."""
        return self.stored > 0 and len(self.stored_systems) == self.stored

    @property
    def of_lists(self) -> tuple[Statistic, ...]:
        """The statistics that are computed together of ranked lists."""
        return (self.beside or self.statistics) if self.task.of_lists else ()

    @property
    def ordered(self) -> bool:
        """Whether its statistics are computed from an order of documents, that is from confidences."""
        return any(statistic.ordered for statistic in self.statistics)

    @property
    def observed_apart(self) -> tuple[Entry, ...]:
        """The entry, once for each set of rows that its statistics are read from: imported values have rows of their
        own for each measure, and orders need confidences. What is computed of lists is read together, and parted then.
        """
        if not self.statistics:
            return (self,)
        if not self.task.is_counted:
            beside = self.of_lists
            return tuple(replace(self, statistics=(statistic,), beside=beside) for statistic in self.statistics)
        summed = tuple(statistic for statistic in self.statistics if not statistic.ordered)
        ordered = tuple(statistic for statistic in self.statistics if statistic.ordered)
        return tuple(replace(self, statistics=part) for part in (summed, ordered) if part)


def _is_number(statistic: Statistic, task: Task) -> bool:
    figure = statistic.computation
    return statistic.in_counts or (TASKS[figure.task] if isinstance(figure, PrintedFigure) else task).unit == "number"


@value
class Testing:
    """How pairs of systems are tested. It holds the test, the adjustment and the kind of interval, not their names."""

    where: Filter | None
    test: Test
    shuffles: int | None
    exact: bool
    """True where exactness was asked for; False leaves the choice to the data unless shuffles are given."""
    sides: Literal["one-sided", "two-sided"]
    seed: int
    level: Decimal
    confidence: Decimal
    confidence_asked: bool
    adjustment: Adjustment
    missing: Literal["error", "drop", "zero", "bounds"]
    interval: IntervalKind = INTERVALS[0]
    margin: Decimal | None = None
    """The largest difference that still counts as none, in the unit of the measures; None where none was given."""
    spoken: tuple[str, ...] = ()
    """The synonyms by which clauses, tests and adjustments were written, for captions: permutations, alpha, fdr."""

    @property
    def test_name(self) -> str:
        """What the test is called in results: its name, or the synonym of it that was typed."""
        return next((word for word in self.test.synonyms if word in self.spoken), self.test.name)

    @property
    def adjustment_name(self) -> str:
        """What the adjustment is called in results: its name, or the synonym of it that was typed."""
        return next((word for word in self.adjustment.synonyms if word in self.spoken), self.adjustment.name)

    @property
    def drawn(self) -> str:
        """What shuffles are called in the statement."""
        return as_typed("shuffles", self.spoken)

    @classmethod
    def plain(cls, where: Filter | None) -> Testing:
        """The default: randomization, two-sided, at the level 0.05."""
        return cls(
            where=where,
            test=TESTS[0],
            shuffles=None,
            exact=False,
            sides="two-sided",
            seed=DEFAULT_SEED,
            level=DEFAULT_LEVEL,
            confidence=DEFAULT_CONFIDENCE,
            confidence_asked=False,
            adjustment=ADJUSTMENTS[0],
            missing="error",
        )

"""What plans are made of: names looked up and defaults filled in.

The plan of a statement stands in the file of the statement. It holds ids, statistics and conditions, no text that still
has to be understood. After it exists only the database can fail.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar.clauses import as_typed
from evalhouse.warehouse.kinds import KINDS, Kind
from evalhouse.warehouse.kinds.kind import PLAIN_NOUN
from evalhouse.warehouse.measures import Statistic
from evalhouse.warehouse.significance.bootstrap.interval_kinds import INTERVALS, IntervalKind
from evalhouse.warehouse.significance.spending import Spending
from evalhouse.warehouse.significance.tests import ADJUSTMENTS, TESTS, Adjustment, Test

AS_PRINTED = "figures as printed"
"""Where numbers without documents come from."""

DEFAULT_SEED = 1992
DEFAULT_LEVEL = Decimal("0.05")
DEFAULT_CONFIDENCE = Decimal("0.99")

# --- who and where ----------------------------------------------------------------------------------------------------


class TestSet(Struct, frozen=True):
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


class OverTestSets(Struct, frozen=True):
    """Test sets that are taken together: the mean over them, each counted once, or all their documents where they are
    `pooled`.
    """

    pooled: bool = False
    called: str = ""
    """The group that they are, where a question named it."""
    notes: tuple[str, ...] = ()
    """What there is to say of how they are taken together."""

    @property
    def way(self) -> str:
        """The words before the test sets: F averaged over TST3, TST4."""
        return "pooled over" if self.pooled else "averaged over"

    @property
    def said(self) -> str:
        """The same behind the name of a group: accuracy on mmlu, pooled over 57 test sets."""
        return f"on {self.called}, {self.way}" if self.called else self.way


class StoredSystem(Struct, frozen=True):
    id: int
    name: str


class Baseline(Struct, frozen=True):
    """A system of filtering that is computed from the key: a share of the documents judged relevant at random, or
    all of them (share 1).
    """

    name: str
    share: Decimal


System = StoredSystem | Baseline

# --- which rows -------------------------------------------------------------------------------------------------------

Scalar = str | Decimal


class Dimension(Struct, frozen=True):
    """What rows are split or chosen by: document, unit, label, confidence, system, annotator, or an attribute of a
    document or a system.
    """

    of: Literal["document", "unit", "label", "confidence", "system", "annotator"]
    attribute: str = ""

    @property
    def name(self) -> str:
        """document, document.source."""
        return f"{self.of}.{self.attribute}" if self.attribute else self.of


class Compared(Struct, frozen=True):
    """A dimension compared with one value."""

    dimension: Dimension
    operator: Literal["=", "!=", "<", "<=", ">", ">="]
    value: Scalar


class OneOf(Struct, frozen=True):
    dimension: Dimension
    values: tuple[Scalar, ...]


class Matches(Struct, frozen=True):
    dimension: Dimension
    pattern: str


class Missing(Struct, frozen=True):
    dimension: Dimension


class Runs(Struct, frozen=True):
    """The systems that are these runs, by test set."""

    chosen: tuple[tuple[int, tuple[int, ...]], ...]

    def on(self, test_set: int) -> tuple[int, ...]:
        """Those of one test set."""
        return dict(self.chosen).get(test_set, ())


class Negated(Struct, frozen=True):
    condition: Filter


class Joined(Struct, frozen=True):
    word: Literal["and", "or"]
    conditions: tuple[Filter, ...]


Filter = Compared | OneOf | Matches | Missing | Runs | Negated | Joined


# --- what is asked of the rows ----------------------------------------------------------------------------------------


class Replicates(Struct, frozen=True):
    """Stored systems that are runs of one: several seeds, folds or epochs.

    They share the `attribute`, as it was asked for; it is empty where they are the runs of a model, which are one
    system unless something else is asked for. `runs` are the ids of the stored systems of each system, by the id of the
    system: its own where it is stored, and below 0 where it is made of several that are. `names` are those of the
    systems, in the same order. `common` is a multiple of the numbers of runs that documents have. The systems that are
    asked for have `fewest` to `most` runs, where that is known.
    """

    attribute: str
    runs: tuple[tuple[int, tuple[int, ...]], ...]
    names: tuple[str, ...]
    common: int = 1
    fewest: int = 2
    most: int = 2

    @property
    def several(self) -> bool:
        """Whether any system has several, so that something is averaged."""
        return self.most > 1

    @property
    def of_models(self) -> bool:
        """Whether they are the runs of models, which nobody has to ask for."""
        return not self.attribute

    @property
    def systems(self) -> dict[str, int]:
        """The ids of the systems by their names."""
        return {name: number for name, (number, _) in zip(self.names, self.runs, strict=True)}

    @property
    def called(self) -> str:
        """What they are called in captions and notes."""
        return "runs" if self.of_models else f"replicates by system.{self.attribute}"


class Attempts(Struct, frozen=True):
    """Replicates that are attempts of one system: those passed of which the value of a measure is 1.

    `graded` says whether it is something else than 1 and 0 somewhere.
    """

    replicates: Replicates
    measure: str
    graded: bool


class Groups(Struct, frozen=True):
    """Documents that share a value of an attribute and stand together as one, as means over it take them."""

    attribute: str
    without: int
    """How many documents lack the attribute and are left out."""


Incomplete = Literal["averaged", "absent", "zero"]
"""A document that some runs of a system lack is averaged over the others, counts as one that the system lacks, or
counts as nothing in the runs that lack it."""


class Units(Struct, frozen=True):
    """Who is a unit on one test set: what its rows are of, what a system is made of, which documents stand together,
    and what is exchanged as a whole. It is made once, when names are looked up; all else asks it.
    """

    documents: int = 0
    """How many the test set has; 0 where that is not known."""
    noun: str = PLAIN_NOUN
    """What one is called."""
    in_units: bool = True
    """Whether a document may have several rows, one a unit of it."""
    replication: Replicates | Attempts | None = None
    """What a system is made of, where it is not a stored one: runs that are averaged, or attempts that pass or fail."""
    groups: Groups | None = None
    """What stands together as one document."""
    cluster: str = ""
    """The attribute that documents share which are not independent, as it was declared; empty where none was."""
    exchange: Dimension = Dimension("document")
    """What tests exchange as a whole, and intervals resample: what was asked for, or else the cluster or document."""
    topical: bool = False
    """Whether documents have the attribute topic, over which TREC averages utilities."""
    filled: bool = False
    """Whether a document that a system lacks counts as one that it answered nothing for."""
    runs_of: tuple[tuple[int, int], ...] = ()
    """Where runs stand for themselves, each with the system that it is a run of."""
    listed: bool = False
    """Whether documents are wanted one by one and by their names, however many there are."""
    sliced: bool = False
    """Whether rows are wanted unit by unit, though documents are exchanged as a whole."""
    told_by: tuple[str, bool] | None = None
    """An attribute that these documents have (True) or lack (False), where the test set has others too."""
    complete: bool = False
    """Whether every system must have every document of the test set, as `missing error` says where it is written."""
    incomplete: Incomplete = "averaged"
    """What becomes of a document that some runs of a system have and others lack."""
    runs_chosen: bool = False
    """Whether conditions on systems have chosen the runs already, and say nothing of the rows."""

    # --- what a system is made of

    @property
    def made_of(self) -> Replicates | None:
        """The replicates that systems are made of, whether they are averaged or counted as attempts."""
        return self.attempts.replicates if self.attempts is not None else self.grouped

    @property
    def grouped(self) -> Replicates | None:
        """The replicates that systems are averages of, or that stand for systems where none has several."""
        return self.replication if isinstance(self.replication, Replicates) else None

    @property
    def averaged(self) -> Replicates | None:
        """The replicates that systems are averages of."""
        return self.grouped if self.grouped is not None and self.grouped.several else None

    @property
    def attempts(self) -> Attempts | None:
        """The attempts that are counted."""
        return self.replication if isinstance(self.replication, Attempts) else None

    @property
    def runs(self) -> dict[int, tuple[int, ...]]:
        """The ids of the runs that each system is the average of, by its id; empty where systems are stored ones."""
        return dict(self.grouped.runs) if self.grouped is not None else {}

    @property
    def scale(self) -> int:
        """What counts are multiplied by, so that their averages over runs are whole."""
        return self.grouped.common if self.grouped is not None else 1

    @property
    def runs_of_models(self) -> Replicates | None:
        """The runs of models that systems are averages of, where nobody asked for other replicates."""
        return self.averaged if self.averaged is not None and self.averaged.of_models else None

    # --- what is exchanged

    @property
    def one_by_one(self) -> bool:
        """Whether each document is exchanged by itself."""
        return self.exchange == Dimension("document")

    @property
    def within_documents(self) -> bool:
        """Whether units of documents are exchanged, so that a document may be exchanged in part."""
        return self.exchange.of == "unit"

    @property
    def read_by_unit(self) -> bool:
        """Whether an observation is a unit of a document."""
        return self.within_documents or self.sliced

    @property
    def exchanges_runs(self) -> bool:
        """Whether whole runs of replicates change sides, and documents stay."""
        return self.exchange == Dimension("system")

    @property
    def exchanges_cluster(self) -> bool:
        """Whether documents are exchanged together as it was declared."""
        return bool(self.cluster) and self.exchange == Dimension("document", self.cluster)

    @property
    def may_split_clusters(self) -> bool:
        """Whether documents of a declared cluster may change sides one without the other."""
        return bool(self.cluster) and not self.exchanges_cluster and not self.exchanges_runs

    @property
    def shared(self) -> tuple[Dimension, ...]:
        """The attribute that documents share which are exchanged together; nothing where none do."""
        return (self.exchange,) if self.exchange.attribute else ()

    # --- what things are called

    @property
    def observed_noun(self) -> str:
        """What one observation is called: message, unit."""
        return "unit" if self.within_documents else self.noun

    @property
    def exchange_noun(self) -> str:
        """What one exchange unit is called: message, topic, unit of document.source."""
        if not self.exchange.attribute:
            return self.noun if self.exchange.of == "document" else self.exchange.of
        if self.exchange.attribute == self.cluster:
            return self.cluster.replace("_", " ")
        return f"unit of {self.exchange.name}"

    # --- other units of the same rows

    def group_by(self, groups: Groups) -> Units:
        """The same where what shares an attribute is one document, and each is exchanged by itself."""
        return replace(
            self,
            groups=groups,
            in_units=False,
            noun=groups.attribute.replace("_", " "),
            cluster="",
            exchange=Dimension("document"),
            topical=False,
        )

    def list_documents(self) -> Units:
        """The same with documents one by one and by their names, whatever tests would exchange."""
        return replace(self, exchange=Dimension("document"), cluster="", listed=True)


class RunsThere(Struct, frozen=True):
    """How many runs of a system a test set has, and which others of its runs it lacks, though another test set has
    them.
    """

    system: str
    number: int
    lacking: tuple[StoredSystem, ...] = ()


class Entry(Struct, frozen=True):
    """The systems of one test set and the statistics to compute for them, all of one task.

    `stored` is how many systems have rows for the task on the test set, 0 where that is not known. `fingerprint` is
    that of the data, and `simulated` whether any of them are.
    """

    test_set: TestSet
    kind: Kind
    statistics: tuple[Statistic, ...]
    systems: tuple[System, ...]
    stored: int = 0
    units: Units = Units()
    fingerprint: str = ""
    simulated: bool = False
    also: tuple[str, ...] = ()
    """Counts that are read beside those of the statistics."""
    several_kinds: bool = False
    """Whether the test set has rows of other kinds too that the measures could be asked of."""
    beside: tuple[Statistic, ...] = ()
    """All statistics that are computed of the same lists, where those of the entry are some of them."""
    key: Entry | None = None
    """The key of the test set, where its rows are figures that were printed of decisions on it."""
    against: System | None = None
    """The one of its systems that all others are compared with; None where every pair is compared."""
    absent: tuple[str, ...] = ()
    """The systems of the question that have no rows on this test set, but have some on another of its test sets."""
    of_other_kinds: tuple[tuple[str, str], ...] = ()
    """The systems that the question means and that have rows of other kinds alone on this test set, each with what
    those are called."""
    runs_there: tuple[RunsThere, ...] = ()
    """The systems that are means over the runs of a model, with the runs that this test set lacks."""
    passed_over: tuple[str, ...] = ()
    """The test sets that the question leaves out because they have nothing that answers it; the same in all entries."""
    shared_by: Entry | None = None
    """Where only the documents count that all systems have: the entry with these systems. None where all count."""

    def exchange_by(self, exchange: Dimension) -> Entry:
        """The same with something else that is exchanged as a whole."""
        return replace(self, units=replace(self.units, exchange=exchange))

    def in_runs(self) -> Entry:
        """The same with each run as a system of its own, where systems are averages of runs."""
        if self.units.grouped is None:
            return self
        runs = self.units.runs
        # A system that counts as nothing on this test set has no runs here.
        runs_of = tuple((run, system.id) for system in self.stored_systems for run in runs.get(system.id, ()))
        units = replace(self.units, replication=None, runs_of=runs_of)
        return replace(self, systems=tuple(StoredSystem(run, "") for run, _ in runs_of), units=units, stored=0)

    def without_groups(self) -> Entry:
        """The same with single documents, where what shares an attribute is one."""
        return replace(self, units=replace(self.units, groups=None))

    def as_stored(self) -> Entry:
        """The same with the documents that each system has, and no others."""
        return replace(self, units=replace(self.units, filled=False), shared_by=None)

    def as_filled(self) -> Entry:
        """The same with all documents of the test set, as if what a system lacks counted as nothing."""
        return replace(self, units=replace(self.units, filled=True), shared_by=None)

    def of_anyone(self) -> Entry:
        """The same with the rows of all systems of the test set, each as it is stored, where no key says which
        documents there are.
        """
        units = self.units if self.units.attempts is not None else replace(self.units, replication=None)
        return replace(self, units=units, stored=len(self.stored_systems), shared_by=None)

    def of_shared(self) -> Entry:
        """The same with the documents alone that all its systems have."""
        return replace(self, shared_by=self.as_stored())

    @property
    def origin(self) -> str:
        """What its numbers come from: rows of a kind, figures as printed, or the labels of a key alone."""
        if self.kind.by_document:
            has_answers = self.statistics or self.systems
            return self.kind.name if has_answers or not self.kind.has_key else "the key"
        printed = dict.fromkeys(filter(None, (statistic.printed_of for statistic in self.statistics)))
        of_what = " and ".join(kind for kind in printed if KINDS[kind].is_counted)
        return f"{of_what} {AS_PRINTED}".lstrip()

    @property
    def unit(self) -> Literal["proportion", "number"]:
        """The unit of its values, or the one in which all are shown side by side."""
        return "number" if "number" in (self.kind.unit, *self.statistic_units) else "proportion"

    @property
    def are_shares(self) -> tuple[bool, ...]:
        """Whether each statistic is a share, so that 5% are five points; the range of its values decides nothing."""
        units = zip(self.statistics, self.statistic_units, strict=True)
        return tuple(unit == "proportion" or statistic.measure.in_percent for statistic, unit in units)

    @property
    def statistic_units(self) -> tuple[Literal["proportion", "number"], ...]:
        """What the values of each statistic are. Figures as printed are what the values of their tasks are."""
        return tuple("number" if _is_number(statistic, self.kind) else "proportion" for statistic in self.statistics)

    @property
    def counts(self) -> tuple[str, ...]:
        """The counts that its rows have, or where the data name them, those that are read."""
        if not self.kind.named_counts:
            return self.kind.counts
        of_statistics = (count for statistic in self.statistics for count in statistic.counts)
        return tuple(dict.fromkeys((*of_statistics, *self.also)))

    @property
    def averaged_units(self) -> tuple[int, ...]:
        """The ids of the units that rows are read of one by one, for averages over units; those of a test set are the
        same for all measures.
        """
        averages = (of.over_units for of in self.statistics if of.by_unit)
        return next((average.stored for average in averages if average is not None), ())

    @property
    def counts_by_unit(self) -> tuple[str, ...]:
        """The counts that are read unit by unit, for averages over units."""
        return tuple(dict.fromkeys(count for of in self.statistics if of.by_unit for count in of.counts))

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
        return (self.beside or self.statistics) if self.kind.of_lists else ()

    @property
    def of_confidences(self) -> bool:
        """Whether its statistics are computed from confidences."""
        return any(statistic.of_confidences for statistic in self.statistics)

    @property
    def observed_apart(self) -> tuple[Entry, ...]:
        """The entry, once for each set of rows that its statistics are read from: imported values have rows of their
        own for each measure, orders need confidences, and averages over units the counts of each unit. What is computed
        of lists is read together, and parted then.
        """
        if not self.statistics:
            return (self,)
        if not self.kind.is_counted:
            beside = self.of_lists
            return tuple(replace(self, statistics=(statistic,), beside=beside) for statistic in self.statistics)
        parts: dict[tuple[bool, bool], list[Statistic]] = {}
        for statistic in self.statistics:
            parts.setdefault((statistic.of_confidences, statistic.by_unit), []).append(statistic)
        return tuple(replace(self, statistics=tuple(parts[key])) for key in sorted(parts))


def _is_number(statistic: Statistic, task: Kind) -> bool:
    return statistic.in_counts or KINDS.get(statistic.printed_of, task).unit == "number"


SECOND = "B"
"""What the second system of each pair is called after `margin 5% of`."""


class Margin(Struct, frozen=True):
    """The largest difference that still counts as none: in the unit of the measures, or as a share of the value of the
    second system of each pair.
    """

    amount: Decimal
    of_second: bool = False

    @property
    def written(self) -> str:
        """0.05, 5% of B."""
        return (
            f"{self.amount.scaleb(2).normalize():f}% of {SECOND}" if self.of_second else f"{self.amount.normalize():f}"
        )


class Looks(Struct, frozen=True):
    """How a question is asked again while documents come: at any time, or by a plan until so many are there."""

    planned: int | None
    """How many documents there will be; None at any time."""
    spending: Spending
    order: Dimension | None
    """The attribute that says in which order documents came; None for the order of imports."""


class Testing(Struct, frozen=True):
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
    margin: Margin | None = None
    looks: Looks | None = None
    """How the question is asked again while documents come; None where it is asked once."""
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
    def interval_level(self) -> Decimal:
        """How often an interval may miss the true difference. With a margin that is the level on each side, as two
        one-sided tests have it (Schuirmann 1987).
        """
        return self.level if self.margin is None else 2 * self.level

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

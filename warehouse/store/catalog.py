"""Answers questions about what a warehouse contains: evaluations, test sets, systems, attributes, measures.

It queries the database no more often than it must. It must not decide what a query means.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from typing import Any

from msgspec import Struct

from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.kinds.counted import EXTRACTION, OF_LABELS
from evalhouse.warehouse.kinds.kind import PLAIN_NOUN, DeclaredMeasure, Observed
from evalhouse.warehouse.kinds.records import WHOLE_RUN
from evalhouse.warehouse.kinds.valued import RANKINGS
from evalhouse.warehouse.measures.measure import Labels
from evalhouse.warehouse.store import fingerprints
from evalhouse.warehouse.store.accuracies import accuracies
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql, value, values

# === declarations about documents =====================================================================================
# What loads declared about the documents of test sets, and which declaration counts if they differ. A setting goes
# before a reader's declaration, and a later load before an earlier one. A declaration about one kind of rows and one
# about all kinds have equal rank.


class Declaration(Struct, frozen=True):
    """The latest of all equal declarations about a test set, made by a setting (`by_setting`) or by a reader. An empty
    `task` means all kinds of rows.
    """

    by_setting: bool
    import_id: int
    test_set: int
    kind: str
    noun: str
    cluster: str
    main: str

    @property
    def observed(self) -> Observed:
        return Observed(self.noun, self.cluster, self.main)

    def is_about(self, task: str, test_set: int) -> bool:
        return self.test_set == test_set and self.kind in ("", task)


def declarations(database: Database) -> tuple[Declaration, ...]:
    """All declarations by loads; the one that counts most is the last."""
    rows = database.rows(Sql("select by_setting, import_id, test_set_id, task, noun, cluster, main from observed"))
    latest: dict[tuple[bool, int, str, str, str, str], int] = {}
    for by_setting, number, test_set, *words in rows:
        task, noun, cluster, main = (word or "" for word in words)
        said = (by_setting, test_set, task, noun, cluster, main)
        latest[said] = max(number, latest.get(said, 0))
    # A setting counts more than a reader's declaration, and a later load more than an earlier one.
    ordered = sorted((said[0], number, said) for said, number in latest.items())
    return tuple(Declaration(by_setting, number, *said[1:]) for by_setting, number, said in ordered)


def declared_in(declared: Iterable[Declaration], task: str, test_set: int) -> Observed:
    """What holds for the rows of a task on a test set, given declarations in their order."""
    observed = Observed()
    for declaration in declared:
        if declaration.is_about(task, test_set):
            observed = declaration.observed.or_else(observed)
    return observed


# === definitions of measures ==========================================================================================
# The measures that users define: the text of each statement under the name of its measure. What the text means is not
# known here.


def store_definition(database: Database, name: str, text: str) -> None:
    """Stores a definition. It replaces one of the same name, ignoring case."""
    with database.transaction():
        database.run(Sql("delete from definition where lower(name) = lower(?)", (name,)))
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        database.run(Sql("insert into definition values (?, ?, ?::timestamp)", (name, text, now)))
        fingerprints.keep(database)


# === the catalog ======================================================================================================

_MANY_ROWS = 1_000_000
"""A table with at least this many rows is large: reading all of it is avoided if a detour is cheaper."""

REPLICATE, MODEL, RUN = "replicate", "model", "run"
"""The attributes of systems that say which of them belong together, and what a file itself calls a run."""

_FEW_SYSTEMS = 20
"""At most this many systems are looked up one by one."""


class KnownTestSet(Struct, frozen=True):
    """A test set with its evaluation, whose name is empty where none was given."""

    id: int
    name: str
    evaluation: str

    @property
    def full_name(self) -> str:
        """MUC-4.TST3."""
        return f"{self.evaluation}.{self.name}" if self.evaluation else self.name


class KnownGroup(Struct, frozen=True):
    """A group of test sets, as one of that name, and the test sets in it. All their documents are `pooled`, or the mean
    over them is taken; None where only a printed figure of the group tells.
    """

    test_set: KnownTestSet
    parts: tuple[KnownTestSet, ...]
    pooled: bool | None


class ComputedInTwoWays(Struct, frozen=True):
    """The value of all documents of a group of test sets together, and the mean over the test sets."""

    pooled: float
    mean: float


class GroupFigure(Struct, frozen=True):
    """What was printed of a system on a group of test sets, if anything was, and what its values give in two ways; None
    if it has none on some of the test sets.
    """

    system: int
    printed: float | None
    computed: ComputedInTwoWays | None


class KnownRun(Struct, frozen=True):
    """A run of a model on a test set: its number, if it has one, and what else tells which it is: an id, a date."""

    system: int
    number: float | None
    told_by: frozenset[str]


class _LoadedRun(Struct, frozen=True):
    """A run of a model on a test set, with its id and date, as it was loaded."""

    system: int
    test_set: int
    model: str
    id: str | None
    date: str | None


class Catalog:
    """The names in one warehouse. Results of queries are cached, so make a new catalog after a load.

    `facts` runs the one kind of query that reads every fact. It differs from the database where that has only an
    outline of the facts.
    """

    def __init__(self, database: Database, facts: Callable[[Sql], list[tuple[Any, ...]]] | None = None) -> None:
        self._database = database
        self._facts = facts or database.rows
        self._systems_with: dict[tuple[str, int], frozenset[int]] = {}
        self._printed: dict[int, dict[str, tuple[str, str]]] = {}
        self._has_rows: dict[tuple[str, int], bool] = {}
        self._large: dict[str, bool] = {}
        self._documents: dict[tuple[int, tuple[str, bool] | None], int] = {}
        self._clustered: dict[tuple[int, str], bool] = {}
        self._provenance: dict[tuple[str, int], tuple[tuple[str, bool], ...]] = {}
        self._measures_of: dict[tuple[str, int], tuple[str, ...]] = {}
        self._values_of: dict[str, dict[int, str]] = {}
        self._units_of: dict[tuple[str, int], tuple[int, ...]] = {}
        self._has_classes: dict[int, tuple[int, int]] = {}
        self._labels_of: dict[int, Labels] = {}
        self._has_wrong_matches: dict[int, bool] = {}
        self._has_places: dict[int, bool] = {}

    @cached_property
    def systems(self) -> dict[str, int]:
        """The id of every system by its name, in order of names."""
        rows = self._database.rows(Sql("select name, id from system"))
        return {str(name): int(number) for name, number in sorted(rows)}

    @cached_property
    def system_names(self) -> dict[int, str]:
        """The name of every system by its id."""
        return {number: name for name, number in self.systems.items()}

    @cached_property
    def test_sets(self) -> tuple[KnownTestSet, ...]:
        """Every test set, in order of evaluation and name."""
        # Two queries and a sort here, because the first join of a process takes as long as five simple queries.
        evaluations = dict(self._database.rows(Sql("select id, name from evaluation")))
        rows = self._database.rows(Sql("select evaluation_id, name, id from test_set"))
        named = sorted((str(evaluations[evaluation]), str(name), int(number)) for evaluation, name, number in rows)
        return tuple(KnownTestSet(number, name, evaluation) for evaluation, name, number in named)

    @cached_property
    def groups(self) -> dict[int, KnownGroup]:
        """The groups of two test sets or more, by the id of the group."""
        return {group.test_set.id: group for group in self.groups_said if len(group.parts) > 1}

    @cached_property
    def groups_said(self) -> tuple[KnownGroup, ...]:
        """The groups that loads brought, also those of one test set so far. No test set with documents is called like
        one. A group may have printed figures, and one without any has an id that no row has.
        """
        rows = self._database.rows(Sql("select distinct name, test_set_id, pooled from test_set_group"))
        if not rows:
            return ()
        evaluations = {test_set.id: test_set.evaluation for test_set in self.test_sets}
        parts: dict[tuple[str, str], set[int]] = {}
        ways: dict[tuple[str, str], set[bool]] = {}
        for name, number, pooled in rows:
            key = evaluations[int(number)], str(name)
            parts.setdefault(key, set()).add(int(number))
            ways.setdefault(key, set()).update({bool(pooled)} if pooled is not None else ())
        documented = {int(one) for (one,) in self._database.rows(Sql("select distinct test_set_id from document"))}
        named = {(test_set.evaluation, test_set.name): test_set for test_set in self.test_sets}
        groups = []
        for place, key in enumerate(sorted(parts), start=1):
            group = named.get(key, KnownTestSet(-place, key[1], key[0]))
            if group.id not in documented:
                of_group = tuple(test_set for test_set in self.test_sets if test_set.id in parts[key])
                groups.append(KnownGroup(group, of_group, ways[key].pop() if len(ways[key]) == 1 else None))
        return tuple(groups)

    @cached_property
    def test_sets_and_groups(self) -> tuple[KnownTestSet, ...]:
        """Everything that can be called by the name of a test set: test sets, and groups of them without any rows."""
        return (*self.test_sets, *(group.test_set for group in self.groups.values() if group.test_set.id < 0))

    def figures_of_group(self, group: int, parts: Collection[int], measure: str) -> list[GroupFigure]:
        """What was printed of a measure of values on a group, and what the values on its test sets give."""
        of_group = "select system_id, value::double from published where test_set_id = " + value(group)
        printed = {
            int(system): float(figure)
            for system, figure in self._database.rows(of_group + " and measure = " + value(measure))
        }
        own = "select system_id, avg(value), sum(value), count(*) from value where measure = " + value(measure)
        found: dict[int, list[tuple[float, float, int]]] = {}
        of_parts = own + " and test_set_id in " + values(sorted(parts)) + " group by system_id, test_set_id"
        for system, mean, total, number in self._database.rows(of_parts):
            found.setdefault(int(system), []).append((float(mean), float(total), int(number)))
        computed = {
            system: ComputedInTwoWays(
                sum(total for _, total, _ in own) / sum(number for *_, number in own),
                sum(mean for mean, *_ in own) / len(own),
            )
            for system, own in found.items()
            if len(own) == len(parts)
        }
        return [
            GroupFigure(system, printed.get(system), computed.get(system)) for system in sorted({*printed, *computed})
        ]

    def short_name(self, test_set: KnownTestSet) -> str:
        """The name of a test set. The evaluation is added only if another test set has the same name."""
        same = [other for other in self.test_sets_and_groups if other.name == test_set.name]
        return test_set.name if len(same) == 1 else test_set.full_name

    def systems_with(self, task: str, test_set: int) -> frozenset[int]:
        """The ids of the systems that have rows for a task on a test set."""
        key = (task, test_set)
        if key not in self._systems_with:
            self._systems_with[key] = self._found_with(KINDS[task].facts, test_set) | self._silent(task, test_set)
        return self._systems_with[key]

    def _found_with(self, table: str, test_set: int) -> frozenset[int]:
        """The systems of a test set in a table. In a large table, a sample of the rows finds most systems, and if only
        a few are missing, these are looked up one by one.
        """
        systems: frozenset[int] = frozenset()
        for part in ([" tablesample system(10%)"] if self._is_large(table) else []) + [""]:
            rows = self._database.rows(
                f"select distinct system_id from {table}{part} where test_set_id = " + value(test_set)
            )
            systems = frozenset(int(number) for (number,) in rows)
            unseen = self.system_names.keys() - systems
            if part and len(unseen) <= _FEW_SYSTEMS:
                return systems | self._looked_up(table, test_set, unseen)
        return systems

    def _looked_up(self, table: str, test_set: int, systems: Collection[int]) -> frozenset[int]:
        """Which of these systems have rows. Rows are stored by system, so each lookup is fast however large the table
        is.
        """
        there = f"select 1 from {table} where test_set_id = " + value(test_set) + " and system_id = "
        return frozenset(system for system in systems if self._database.rows(there + value(system) + " limit 1"))

    def with_rows(self, task: str, test_set: int, among: Collection[int]) -> frozenset[int]:
        """Which of these systems have rows for a task on a test set."""
        table = KINDS[task].facts
        if (task, test_set) in self._systems_with or len(among) > _FEW_SYSTEMS or not self._is_large(table):
            return self.systems_with(task, test_set) & frozenset(among)
        return self._looked_up(table, test_set, among) | (self._silent(task, test_set) & frozenset(among))

    def _silent(self, task: str, test_set: int) -> frozenset[int]:
        """The systems that have no ranked list because their whole run is empty."""
        if not (KINDS[task].of_lists and self.has_rows(task, test_set)):
            return frozenset()
        failed = "select distinct system_id from failure where item = " + value(WHOLE_RUN) + " and test_set_id = "
        return frozenset(int(number) for (number,) in self._database.rows(failed + value(test_set)))

    def has_rows(self, task: str, test_set: int) -> bool:
        """Whether any system has rows for a task on a test set."""
        key = (task, test_set)
        if key not in self._has_rows:
            there = f"select 1 from {KINDS[task].facts} where test_set_id = " + value(test_set) + " limit 1"
            self._has_rows[key] = bool(self._database.rows(there))
        return self._has_rows[key]

    def other_kinds(self, task: str, test_set: int) -> dict[str, frozenset[int]]:
        """The systems that have rows on a test set of each kind but one, where any have."""
        others = (kind for kind in self._kinds_stored if kind != task and self.has_rows(kind, test_set))
        return {kind: self.systems_with(kind, test_set) for kind in others}

    @cached_property
    def _kinds_stored(self) -> tuple[str, ...]:
        """The kinds of which there are rows on any test set. Most warehouses have one or two."""
        there = ", ".join(f"exists (select 1 from {kind.facts})" for kind in KINDS.values())
        [found] = self._database.rows(Sql(f"select {there}"))
        return tuple(kind for kind, exists in zip(KINDS, found, strict=True) if exists)

    def systems_failing(self, test_set: int) -> frozenset[int]:
        """The ids of the systems that failed on some document of a test set."""
        rows = self._database.rows("select distinct system_id from failure where test_set_id = " + value(test_set))
        return frozenset(int(number) for (number,) in rows)

    def _is_large(self, table: str) -> bool:
        if table not in self._large:
            [(rows,)] = self._database.rows(Sql(f"select count(*) from {table}"))
            self._large[table] = rows >= _MANY_ROWS
        return self._large[table]

    def test_sets_of(self, systems: Collection[int], tasks: Iterable[str]) -> tuple[str, ...]:
        """The test sets on which any of some systems has rows for any of some tasks."""
        tasks = tuple(tasks)
        return tuple(
            self.short_name(test_set)
            for test_set in self.test_sets
            if any(not self.systems_with(task, test_set.id).isdisjoint(systems) for task in tasks)
        )

    def in_units(self, task: str, test_set: int) -> bool:
        """Whether the rows of a task on a test set are about units of its documents."""
        units = f"select 1 from {KINDS[task].facts} where unit_id <> 0 and test_set_id = " + value(test_set)
        return bool(self._database.rows(units + " limit 1"))

    def units_of(self, task: str, test_set: int) -> tuple[int, ...]:
        """The ids of the units of a task on a test set, in the order of their names: 0, that of whole documents, first
        if there are rows of these.
        """
        if (task, test_set) not in self._units_of:
            there = f"select distinct unit_id from {KINDS[task].facts} where test_set_id = " + value(test_set)
            ids = [int(number) for (number,) in self._facts(there)]
            named = self._database.rows("select name, id from unit where id in " + values(ids)) if ids else []
            self._units_of[task, test_set] = tuple(int(number) for _, number in sorted(named))
        return self._units_of[task, test_set]

    def has_classes(self, test_set: int) -> bool:
        """Whether the score tuples of a test set are of classes: in units, with one key item and one answer of each
        system for each document.
        """
        return not any(self._not_of_classes(test_set))

    def labels_of(self, test_set: int) -> Labels:
        """What classes documents of a test set have: one in the key and at most one of each system, or any number, as
        readers of classes say; empty where its score tuples are not of classes.
        """
        if self.has_classes(test_set):
            return "one"
        if test_set not in self._labels_of:
            there = "select distinct import_id from score where test_set_id = " + value(test_set)
            imports = [int(number) for (number,) in self._facts(there)]
            readers = "select distinct reader from import where id in " + values(imports)
            read = {str(reader) for (reader,) in self._database.rows(readers)} if imports else set()
            of_labels = bool(read) and read <= {*OF_LABELS} and self.in_units(EXTRACTION.name, test_set)
            several = self._not_of_classes(test_set)[0]
            self._labels_of[test_set] = ("any" if several else "one") if of_labels else ""
        return self._labels_of[test_set]

    def _not_of_classes(self, test_set: int) -> tuple[int, int]:
        """How many documents of systems have none or several classes in the key, or several in the answer; and how many
        others have no answer. All of them where nothing is in units.
        """
        if test_set not in self._has_classes:
            of_documents = (
                "select sum(possible) as possible, sum(actual) as actual from score where test_set_id = "
                + value(test_set)
                + " group by system_id, document_id"
            )
            several = "count(*) filter (possible <> 1 or actual > 1)"
            others = f"select {several}, count(*) filter (possible = 1 and actual = 0) from (" + of_documents + ") d"
            in_units = self.in_units(EXTRACTION.name, test_set)
            first, second = self._facts(others)[0] if in_units else (1, 1)
            self._has_classes[test_set] = int(first), int(second)
        return self._has_classes[test_set]

    def has_wrong_matches(self, test_set: int) -> bool:
        """Whether score tuples of a test set may match an item with a wrong one. Those of classes, of tagged tokens and
        of runs never do: what is wrong in them is spurious and missing.
        """
        if test_set not in self._has_wrong_matches:
            without = self.in_units(EXTRACTION.name, test_set) or self.has_rows(RANKINGS.name, test_set)
            wrong = "select 1 from score where (incorrect is null or incorrect > 0 or partial > 0) and test_set_id = "
            self._has_wrong_matches[test_set] = not without or bool(self._facts(wrong + value(test_set) + " limit 1"))
        return self._has_wrong_matches[test_set]

    def has_places(self, test_set: int) -> bool:
        """Whether score tuples of a test set are of spans whose places were known."""
        if test_set not in self._has_places:
            placed = "select 1 from score where same_place is not null and test_set_id = "
            self._has_places[test_set] = bool(self._facts(placed + value(test_set) + " limit 1"))
        return self._has_places[test_set]

    def counts_of(self, task: str, test_set: int) -> tuple[str, ...]:
        """The counts of a task, including those that the data name for one test set."""
        if not KINDS[task].named_counts:
            return KINDS[task].counts
        return self._named_counts.get(test_set, ())

    def counts_apart(self, task: str) -> tuple[tuple[str, ...], ...]:
        """The counts of a task, separately for each test set whose data name them."""
        return tuple(self._named_counts.values()) if KINDS[task].named_counts else (KINDS[task].counts,)

    def all_counts(self, task: str) -> tuple[str, ...]:
        """The counts of a task on any test set."""
        if not KINDS[task].named_counts:
            return KINDS[task].counts
        return tuple(sorted({count for counts in self._named_counts.values() for count in counts}))

    def largest(self, count: str, test_set: int) -> int:
        """The largest value of a named count in any document of a test set."""
        sums = "select sum(number) as total from counted where count = " + value(count) + " and test_set_id = "
        of_documents = sums + value(test_set) + " group by system_id, document_id"
        return int(self._facts("select coalesce(max(total), 0) from (" + of_documents + ") s")[0][0])

    def is_graded(self, measure: str, test_set: int) -> bool:
        """Whether an imported measure has values on a test set that are neither 0 nor 1."""
        rows = "select count(*) from value where value <> 0 and value <> 1 and measure = " + value(measure)
        return bool(self._facts(rows + " and test_set_id = " + value(test_set))[0][0])

    @cached_property
    def _named_counts(self) -> dict[int, tuple[str, ...]]:
        rows = self._database.rows(Sql("select distinct test_set_id, count from counted order by all"))
        named: dict[int, tuple[str, ...]] = {}
        for test_set, count in rows:
            named[int(test_set)] = (*named.get(int(test_set), ()), str(count))
        return named

    def replicates(self, attribute: str, systems: Collection[int]) -> dict[str, tuple[int, ...]]:
        """The systems that share a value of an attribute, by that value; without an attribute, those that are runs of
        one model. Another system stands alone under its own name.
        """
        known = self.values_of(attribute) if attribute else self.models
        shared: dict[str, tuple[int, ...]] = {}
        for number in sorted(systems):
            name = known.get(number, self.system_names[number])
            shared[name] = (*shared.get(name, ()), number)
        return shared

    def values_of(self, attribute: str) -> dict[int, str]:
        """The value of an attribute for each system that has it."""
        if attribute not in self._values_of:
            rows = self._database.rows("select system_id, value from system_attribute where name = " + value(attribute))
            self._values_of[attribute] = {int(number): str(shared) for number, shared in rows}
        return self._values_of[attribute]

    @cached_property
    def models(self) -> dict[int, str]:
        """The model of each system that is a run of it and not the only one, or that has the name of a run: as it was
        loaded, as its attribute `replicate` says, unless that only counts, or as its name and its attribute `model` say
        together, base#2 and base. A system of the model's own name is one of its runs.
        """
        known = self._told_by_attributes
        of = {system: value for system, value in known[REPLICATE].items() if _number(value) is None}
        of |= {system: model for system, model in known[MODEL].items() if self._is_numbered(system, model)}
        of |= {run.system: run.model for run in self._loaded_runs}
        for model in set(of.values()) & self.systems.keys():
            of.setdefault(self.systems[model], model)
        runs = Counter(of.values())
        return {system: model for system, model in of.items() if runs[model] > 1 or self._is_numbered(system, model)}

    def _is_numbered(self, system: int, model: str) -> bool:
        """Whether the name of a system is that of a run of a model."""
        name = self.system_names[system]
        return bool(_digits(name)) and name.rpartition("#")[0] == model

    @cached_property
    def run_names(self) -> dict[int, str]:
        """By what names single runs of models that have several go: the first run of base is base#1, also where it is
        stored as base.
        """
        named = {}
        for system, model in self.models.items():
            own, first = self.system_names[system], f"{model}#1"
            named[system] = first if own == model and first not in self.systems else own
        return named

    def names_of(self, systems: Iterable[int]) -> list[str]:
        """The names by which statements know some stored systems, in their order: those of their models, where they are
        runs of one.
        """
        return sorted({self.models.get(system, self.system_names[system]) for system in systems})

    def meant_by(self, name: str) -> frozenset[int]:
        """The stored systems that a name means: all runs of a model, a single run, or the system of the name."""
        of_model = frozenset(system for system, model in self.models.items() if model == name)
        single = (system for system, known in self.run_names.items() if known == name)
        return of_model or frozenset(single) or frozenset({self.systems[name]} if name in self.systems else ())

    @cached_property
    def runs(self) -> dict[int, tuple[KnownRun, ...]]:
        """The runs of each test set, also those of models that have only one."""
        there: dict[int, dict[int, KnownRun]] = {}
        for test_set in self.test_sets if self.models else ():
            there[test_set.id] = {system: self._known_run(system, model) for system, model in self.models.items()}
        for run in self._loaded_runs:
            known = self._known_run(run.system, run.model, run.id, run.date)
            there.setdefault(run.test_set, {})[run.system] = known
        return {test_set: tuple(known.values()) for test_set, known in there.items()}

    def _known_run(self, system: int, model: str, *told_by: str | None) -> KnownRun:
        own = self._told_by_attributes[RUN].get(system)
        name = self.run_names.get(system, self.system_names[system])
        number = own or ("1" if name == model else _digits(name))
        return KnownRun(system, _number(number), frozenset(text for text in (own, *told_by) if text))

    @cached_property
    def _loaded_runs(self) -> tuple[_LoadedRun, ...]:
        rows = self._database.rows(Sql("select system_id, test_set_id, model, run, date from run order by all"))
        return tuple(_LoadedRun(*row) for row in rows)

    @cached_property
    def _told_by_attributes(self) -> dict[str, dict[int, str]]:
        """What attributes say of runs: of each the value of every system that has it."""
        attributes: dict[str, dict[int, str]] = {REPLICATE: {}, MODEL: {}, RUN: {}}
        of_them = "select system_id, name, value from system_attribute where name in " + values(attributes)
        for system, name, text in self._database.rows(of_them):
            attributes[name][int(system)] = str(text)
        return attributes

    @cached_property
    def older_runs(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """For each test set, the systems that are runs of a model with a later run. Runs are ordered by their dates, or
        by when they were loaded if the dates do not decide.
        """
        # Dates may have offsets. Dates that the database cannot parse are compared as texts: whoever ran the model
        # wrote them all in the same form.
        later = "epoch(try_cast(newer.date as timestamptz)) > epoch(try_cast(older.date as timestamptz))"
        loaded = "(newer.import_id, newer.system_id) > (older.import_id, older.system_id)"
        rows = self._database.rows(
            Sql(
                "select distinct older.test_set_id, older.system_id from run older "
                "join run newer on newer.test_set_id = older.test_set_id and newer.model = older.model "
                f"and newer.system_id <> older.system_id and coalesce({later}, newer.date > older.date, {loaded}) "
                "order by 1, 2"
            )
        )
        older: dict[int, tuple[int, ...]] = {}
        for test_set, system in rows:
            older[int(test_set)] = (*older.get(int(test_set), ()), int(system))
        return tuple(older.items())

    def runs_of_documents(self, task: str, test_set: int, runs: Iterable[tuple[int, tuple[int, ...]]]) -> set[int]:
        """How many runs of one system a document has: the set of different numbers that occur."""
        of = ", ".join(str((run, system)) for system, many in runs for run in many)
        if not of:
            return set()
        counted = (
            f"select count(distinct system_id) as runs from {KINDS[task].facts} "
            f"join (values {of}) runs(system_id, one) using (system_id) where "
        )
        rows = self._facts(
            "select distinct runs from (" + counted + "test_set_id = " + value(test_set) + " group by one, document_id)"
        )
        return {int(number) for (number,) in rows}

    def labelled(self, test_set: int) -> bool:
        """Whether the warehouse has the key of a test set."""
        return bool(
            self._database.rows(
                "select 1 from key_label where annotator_id = 0 and test_set_id = " + value(test_set) + " limit 1"
            )
        )

    def annotators(self, test_set: int) -> tuple[str, ...]:
        """Who labelled documents of a test set, except the key."""
        rows = self._facts(
            "select distinct n.name from key_label f join annotator n on n.id = f.annotator_id "
            "where f.annotator_id <> 0 and f.test_set_id = " + value(test_set)
        )
        return tuple(sorted(str(name) for (name,) in rows))

    def printed(self, test_set: int) -> dict[str, tuple[str, str]]:
        """The measures of the published figures of a test set: maps their names to task and measure as stored.

        If a measure was published for two tasks, its plain name means the task with more systems, and `task.name` means
        the other one: recall, extraction.recall.
        """
        if test_set not in self._printed:
            # Counted here, because they are few, and DuckDB's first grouping takes as long as four queries.
            figures = Counter(
                self._database.rows("select task, measure from published where test_set_id = " + value(test_set))
            )
            called: dict[str, tuple[str, str]] = {}
            for (task, measure), _ in sorted(figures.items(), key=lambda item: (item[0][1], -item[1], item[0][0])):
                called[f"{task}.{measure}" if measure in called else str(measure)] = (str(task), str(measure))
            self._printed[test_set] = called
        return self._printed[test_set]

    def measures_of(self, task: str, test_set: int) -> tuple[str, ...]:
        """The names of the measures that were imported for a test set, as values or as published figures."""
        if not KINDS[task].by_document:
            return tuple(self.printed(test_set))
        key = (task, test_set)
        if key not in self._measures_of:
            rows = self._database.rows(
                f"select distinct measure from {KINDS[task].facts} where test_set_id = "
                + value(test_set)
                + " order by 1"
            )
            self._measures_of[key] = tuple(str(name) for (name,) in rows)
        return self._measures_of[key]

    def accuracies(self, test_set: int) -> tuple[str, ...]:
        """The names, with their filters, that logs give to the metric that was loaded as the accuracy for a test set:
        exact_match:strict.
        """
        return accuracies(self._database, [test_set])

    def stored_as(self, task: str, test_set: int, name: str) -> tuple[str, str]:
        """The task and the name under which an imported measure of a test set is stored."""
        return (task, name) if KINDS[task].by_document else self.printed(test_set)[name]

    def relevance(self, test_set: int) -> int:
        """The lowest grade that counts as relevant on a test set, unless a query sets another one."""
        return relevance(self._database, test_set)

    @cached_property
    def directions(self) -> dict[str, bool]:
        """For each imported measure with a declared direction, whether lower values are better."""
        rows = self._database.rows(Sql("select measure, bool_or(lower_is_better) from direction group by measure"))
        return {str(measure): bool(lower) for measure, lower in rows}

    @cached_property
    def shares(self) -> frozenset[str]:
        """The imported measures that were declared to be shares."""
        return frozenset(str(measure) for (measure,) in self._database.rows(Sql("select distinct measure from share")))

    def declared_measure(self, stored: str) -> DeclaredMeasure:
        """What loads declared about the imported measure of this name."""
        return DeclaredMeasure(self.directions.get(stored), stored in self.shares)

    @cached_property
    def _declarations(self) -> tuple[Declaration, ...]:
        return declarations(self._database)

    def observed(self, task: str, test_set: int) -> Observed:
        """What is declared about the documents of a task's rows. A cluster counts only if some document of the test set
        has that attribute.
        """
        declared = declared_in(self._declarations, task, test_set)
        if declared.cluster and not self.has_attribute(test_set, declared.cluster):
            return Observed(declared.noun, main=declared.main)
        return declared

    def has_attribute(self, test_set: int, attribute: str) -> bool:
        """Whether some document of a test set has an attribute."""
        key = (test_set, attribute)
        if attribute == PLAIN_NOUN:
            return False
        if key not in self._clustered:
            there = "select 1 from document_attribute a join document d on d.id = a.document_id where a.name = "
            of_test_set = there + value(attribute) + " and d.test_set_id = " + value(test_set)
            self._clustered[key] = bool(self._database.rows(of_test_set + " limit 1"))
        return self._clustered[key]

    def told_by(self, task: str, test_set: int) -> tuple[str, bool] | None:
        """An attribute that tells the documents of a task from other documents of the test set: they all have it (True)
        or all lack it (False). For example, a pair of topic and document has the attribute topic, and a topic does
        not. None if the test set has no other documents.
        """
        own = self.observed(task, test_set)
        others = [self.observed(other.name, test_set) for other in KINDS.values() if other.by_document]
        unlike = [other for other in others if own.noun and other.noun and other.noun != own.noun]
        if unlike and own.cluster:
            return own.cluster, True
        return next(((other.cluster, False) for other in unlike if other.cluster), None)

    def documents(self, task: str, test_set: int) -> int:
        """How many documents of a test set the rows of a task may be about."""
        told_by = self.told_by(task, test_set)
        key = (test_set, told_by)
        if key not in self._documents:
            rows = self._database.rows(
                "select count(*) from document d where test_set_id = " + value(test_set) + documents_told_by(told_by)
            )
            self._documents[key] = int(rows[0][0])
        return self._documents[key]

    def documents_without(self, attribute: str, task: str, test_set: int) -> int:
        """How many documents with rows of a task lack an attribute."""
        about = f"select distinct document_id from {KINDS[task].facts} where test_set_id = " + value(test_set)
        lacking = " and document_id not in (select document_id from document_attribute where name = "
        return int(self._database.rows("select count(*) from (" + about + lacking + value(attribute) + "))")[0][0])

    @cached_property
    def definitions(self) -> dict[str, str]:
        """The text of each defined measure, by its name."""
        rows = self._database.rows(Sql("select name, text from definition order by name"))
        return {str(name): str(text) for name, text in rows}

    @cached_property
    def attributes(self) -> dict[str, tuple[str, ...]]:
        """The names of the attributes of systems and of documents."""
        rows = self._database.rows(
            Sql(
                "select distinct 'system', name from system_attribute union "
                "select distinct 'document', name from document_attribute order by 1, 2"
            )
        )
        return {of: tuple(str(name) for kind, name in rows if kind == of) for of in ("document", "system")}

    def splitting_attributes(self, test_set: int, most: int) -> tuple[str, ...]:
        """The attributes that can slice the documents of a test set: those with at most `most` values, and those whose
        values are numbers.
        """
        attributes = "select a.name from document_attribute a join document d on d.id = a.document_id "
        rows = self._database.rows(
            attributes
            + "where d.test_set_id = "
            + value(test_set)
            + " group by a.name having count(distinct a.value) > 1 and (count(distinct a.value) <= "
            + value(most)
            + " or count(try_cast(a.value as double)) = count(*)) order by a.name"
        )
        return tuple(str(name) for (name,) in rows)

    @cached_property
    def numeric_attributes(self) -> frozenset[tuple[str, str]]:
        """The attributes whose known values are all numbers, as ("document", "length")."""
        rows = self._database.rows(
            Sql(
                "select of, name from (select 'system' as of, name, value from system_attribute union all "
                "select 'document', name, value from document_attribute) "
                "group by of, name having count(try_cast(value as double)) = count(*)"
            )
        )
        return frozenset((str(of), str(name)) for of, name in rows)

    @cached_property
    def _attribute_digests(self) -> list[str]:
        """The digests of the imports that brought attributes. Any query may select rows by attributes."""
        tables = ("system_attribute", "document_attribute")
        brought = [self._database.rows(Sql(f"select distinct import_id from {table}")) for table in tables]
        imports = sorted({int(number) for rows in brought for (number,) in rows})
        if not imports:
            return []
        rows = self._database.rows("select sha256 from import where id in " + values(imports))
        return sorted({str(digest) for (digest,) in rows})

    def _imports_of(self, table: str, test_set: int) -> tuple[tuple[str, bool], ...]:
        """The digests of the imports that brought the rows of a test set, and whether each is simulated."""
        key = (table, test_set)
        if key not in self._provenance:
            of = f" from {table} where test_set_id = " + value(test_set)
            # Minimum and maximum are known without reading the rows, and often they are equal.
            [(first, last)] = self._database.rows("select min(import_id), max(import_id)" + of)
            imports = {first, last} - {None}
            if first != last:
                imports = {number for (number,) in self._database.rows("select distinct import_id" + of)}
            rows = self._database.rows(
                "select sha256 || reader || options, simulated from import where id in " + values(sorted(imports))
            )
            self._provenance[key] = tuple((str(digest), bool(simulated)) for digest, simulated in sorted(rows))
        return self._provenance[key]

    def simulated(self, task: str, test_set: int) -> bool:
        """Whether any row behind the numbers of a task on a test set was simulated."""
        return any(simulated for table in KINDS[task].decided_by for _, simulated in self._imports_of(table, test_set))

    def fingerprint(self, task: str, test_set: int, sha256_of_file: str = "") -> str:
        """Twelve hexadecimal digits that change if the files behind a task and test set change. They do not depend on
        the order of loading. Given the digest of a file, they are as if that had been loaded in the place of each.
        """
        digests = sorted(digest for table in KINDS[task].decided_by for digest, _ in self._imports_of(table, test_set))
        digests = [sha256_of_file + digest[len(sha256_of_file) :] for digest in digests]
        digests += self._attribute_digests
        return sha256("\n".join(digests).encode()).hexdigest()[:12]


def _digits(name: str) -> str:
    """The number of a run in its name, as in base#2; empty where it has none."""
    number = name.rpartition("#")[2]
    return number if "#" in name and number.isdecimal() else ""


def _number(text: str) -> float | None:
    """The number that a text is; None if it is none."""
    try:
        return float(text)
    except ValueError:
        return None


def relevance(database: Database, test_set: int) -> int:
    """The lowest grade that counts as relevant in the last load of judgments of a test set; 1 if that load did not set
    it.
    """
    loads = database.rows(
        "select options from import where id in (select import_id from judgment where test_set_id = "
        + value(test_set)
        + ") order by id desc limit 1"
    )
    said = json.loads(loads[0][0]).get("options", {}).get("relevance") if loads else None
    return int(said) if said else 1


def documents_told_by(told_by: tuple[str, bool] | None) -> Sql:
    """The SQL condition that documents, `d`, have an attribute or lack it; empty if there is no such attribute."""
    if told_by is None:
        return Sql("")
    attribute, has = told_by
    given = "(select document_id from document_attribute where name = " + value(attribute) + ")"
    return Sql(f" and d.id {'' if has else 'not '}in ") + given

"""Looking names up: what a query calls a test set, a system, a measure, an attribute or a variable, and what there
is of that name.

The only place where a name is matched against the catalog, so the place where every message about an unknown name is
born.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any, TypeVar
from unicodedata import normalize

from msgspec import Struct, field
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import brief, hints, listing, near, number_text
from evalhouse.grammar.errors import NOWHERE, QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.kinds import COUNTS, EXTRACTION, FILTERING, IMPORTED, KINDS, RANKINGS, VALUES, Kind
from evalhouse.warehouse.kinds.kind import PLAIN_NOUN, DeclaredMeasure
from evalhouse.warehouse.measures import (
    CUTOFF,
    MEASURES,
    Measure,
    Setting,
    Statistic,
    find_measure,
    settle,
    without_cutoff,
)
from evalhouse.warehouse.measures.extraction import MATCH, PAIRS
from evalhouse.warehouse.measures.filtering import ALL
from evalhouse.warehouse.measures.harness import HARNESS
from evalhouse.warehouse.measures.rankings import REL
from evalhouse.warehouse.measures.values import ACCURACY, ATTEMPT_COUNTS, REWARD
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.averages import check_of_lists, in_topics, over_units
from evalhouse.warehouse.plans.labels import some
from evalhouse.warehouse.plans.substitution import Variables, of_metric, spelt_otherwise, with_filter
from evalhouse.warehouse.plans.user_measures import defined_measure, definition_of, is_made_of, over_stored, ways
from evalhouse.warehouse.store.catalog import Catalog, KnownTestSet

_It = TypeVar("_It")


UNSAID_ATTRIBUTES = ("replicate", "model")
"""The attributes that mark replicates by default: the first that systems have."""

KINDS_OF_CLASSES = (EXTRACTION, FILTERING)
"""The kinds whose rows may say which class a document has, and which one a system answered."""

HOW_TO_LOAD = "replicates come from a column seed, run or epoch in a loaded file, or write replicates by system.NAME"

SPOKEN: Mapping[str, str] = {
    "f-score": "F1",
    "f1-score": "F1",
    "f-measure": "F1",
    "f1_score": "F1",
    "matthews": "MCC",
    "matthews_corrcoef": "MCC",
    "phi": "MCC",
    "cohen_kappa_score": "kappa",
    "cohen_kappa": "kappa",
    "roc_auc": "auc",
    "roc_auc_score": "auc",
    "balanced_accuracy_score": "balanced-accuracy",
    "accuracy_score": "accuracy",
    "precision_score": "precision",
    "recall_score": "recall",
    "sacrebleu": "BLEU",
    "bleu-score": "BLEU",
    "sensitivity": "recall",
    "ppv": "precision",
}
"""Names of measures in other tools."""


_AVERAGED = re.compile(
    r"(?P<word>macro|micro|weighted)[-_](?P<of>.+)|(?P<of_>.+?)[-_](?P<word_>macro|micro|weighted)", re.I
)


def in_our_words(name: str) -> str:
    """A measure that another tool calls so: matthews_corrcoef, f1_macro, P/R/F. Empty if it is none."""
    if averaged := _AVERAGED.fullmatch(name):
        word, of = averaged["word"] or averaged["word_"], averaged["of"] or averaged["of_"]
        return f"{word.casefold()}({in_our_words(of) or of})"
    if "/" in name:
        return ", ".join(name.split("/"))
    return SPOKEN.get(name.casefold(), "")


OF_CLASSES = "F1 is the share of documents with the right class, overgeneration that with a wrong one"
OF_SPURIOUS = "overgeneration is the share of spurious answers, undergeneration that of missing key items"


OF_SEVERAL = "accuracy is the share of documents with all right classes, macro(F1) the mean of F over classes"


class LackingMeasureError(QueryError):
    """A test set lacks a measure that others have; no error where the question is asked of all test sets."""


def without_units(node: n.Mean, here: str) -> LackingMeasureError:
    """The error for an average over units of rows that have none."""
    wrong = f"{here} has no units, and {node.word} averages over units such as classes or entity types"
    return LackingMeasureError(wrong, node.span, (f"write mean({to_text(node.measure)}) for the mean over documents",))


class Scope(Struct, frozen=True):
    """Where names are looked up: the catalog of the warehouse. Variables have been replaced before, and are here to be
    shown.
    """

    catalog: Catalog
    variables: Variables = field(default_factory=dict)

    # --- numbers ------------------------------------------------------------------------------------------------------

    def number(self, node: n.Number | n.Variable | None, default: Decimal) -> Decimal:
        """The value of a number, the default where none was written."""
        if node is None:
            return default
        if not isinstance(node, n.Number):
            raise QueryError("a number is needed here", node.span)
        return node.value

    def whole(self, node: n.Number | n.Variable | None, what: str, lowest: int, highest: int) -> int | None:
        """A whole number within bounds, None where none was written."""
        if node is None:
            return None
        number = self.number(node, Decimal(0))
        if number != int(number) or not lowest <= number <= highest:
            limits = f"from {lowest:,} to {highest:,}"
            raise QueryError(f"{what} must be a whole number {limits}, not {number_text(number)}", node.span)
        return int(number)

    def share(self, node: n.Number | n.Variable | None, what: str, default: Decimal) -> Decimal:
        """A number between 0 and 1, both excluded."""
        share = self.number(node, default)
        if not 0 < share < 1:
            hint = (f"{number_text(share)}% is written {number_text(share / 100)}",) if 1 < share < 100 else ()
            raise QueryError(f"{what} must be a number between 0 and 1, not {number_text(share)}", node.span, hint)  # type: ignore[union-attr]
        return share

    # --- test sets ----------------------------------------------------------------------------------------------------

    def test_sets(self, node: n.TestSets | None) -> list[tuple[KnownTestSet, n.Node]]:
        """The test sets a question is asked on, each once, with the node that named it."""
        chosen: dict[int, tuple[KnownTestSet, n.Node]] = {}
        if not self.catalog.test_sets:
            raise QueryError("the warehouse has no test sets", node.span if node else NOWHERE)
        items: Iterable[Any] = node.items if node else (n.All(),)
        for item in items:
            for test_set in self._test_sets(item, item):
                chosen.setdefault(test_set.id, (test_set, item))
        return list(chosen.values())

    def planned(self, test_set: KnownTestSet) -> p.TestSet:
        """A test set as plans hold it."""
        return p.TestSet(test_set.id, self.catalog.short_name(test_set), test_set.name)

    def known(self, test_set: p.TestSet) -> KnownTestSet:
        """A planned test set as the catalog holds it."""
        return next(known for known in self.catalog.test_sets_and_groups if known.id == test_set.id)

    def entry(
        self,
        test_set: KnownTestSet,
        task: Kind,
        statistics: Sequence[Statistic] = (),
        systems: Sequence[p.System] = (),
        stored: int = 0,
        replication: p.Replicates | p.Attempts | None = None,
        several_kinds: bool = False,
    ) -> p.Entry:
        """An entry with all that the catalog knows of its data."""
        observed = self.catalog.observed(task.name, test_set.id)
        return p.Entry(
            test_set=self.planned(test_set),
            kind=task,
            statistics=tuple({statistic.label: statistic for statistic in statistics}.values()),
            systems=tuple(systems),
            stored=stored,
            units=p.Units(
                documents=self.catalog.documents(task.name, test_set.id),
                noun=observed.noun or PLAIN_NOUN,
                in_units=task.in_units and self.catalog.in_units(task.name, test_set.id),
                replication=replication,
                cluster=observed.cluster,
                exchange=p.Dimension("document", observed.cluster),
                topical=task.has_key and self.catalog.has_attribute(test_set.id, "topic"),
                told_by=self.catalog.told_by(task.name, test_set.id),
            ),
            fingerprint=self.catalog.fingerprint(task.name, test_set.id),
            simulated=self.catalog.simulated(task.name, test_set.id),
            several_kinds=several_kinds,
            key=self._key_behind(task, test_set),
        )

    def _key_behind(self, task: Kind, test_set: KnownTestSet) -> p.Entry | None:
        """The key of a test set of which figures were printed, if it is known."""
        if task.by_document or not self.catalog.labelled(test_set.id):
            return None
        return self.entry(test_set, FILTERING)

    def keys(self, node: n.TestSets | None) -> tuple[p.Entry, ...]:
        """The keys of test sets, which are asked about without systems."""
        return tuple(self.entry(test_set, FILTERING) for test_set, _ in self.test_sets(node))

    def _test_sets(self, item: Any, place: n.Node) -> list[KnownTestSet]:
        if isinstance(item, n.All):
            return list(self.catalog.test_sets)
        if isinstance(item, n.Pattern):
            matching = [t for t in self.catalog.test_sets if like(t.name, item.text) or like(t.full_name, item.text)]
            if not matching:
                raise QueryError(f"no test set matches {item.text}", place.span, self._known_test_sets())
            return matching
        return [self._with_rows(self.test_set(item, place), place)]

    def test_set(self, item: Any, place: n.Node) -> KnownTestSet:
        """The one test set of a name, which may have its evaluation before a dot."""
        text = text_of(item, place, "the name of a test set")
        short = [(t.name, t) for t in self.catalog.test_sets_and_groups]
        full = [(t.full_name, t) for t in self.catalog.test_sets_and_groups]
        for named in (short, full):
            matched = matching(text, named)
            if len(matched) > 1:
                names = " or ".join(sorted(t.full_name for t in matched))
                raise QueryError(f"test set '{text}' is in {len(matched)} evaluations", place.span, (f"write {names}",))
            if matched:
                return matched[0]
        alone = [(group.test_set.name, group) for group in self.catalog.groups_said if len(group.parts) == 1]
        for group in matching(text, alone):
            wrong = f"{group.test_set.name} is a group of one test set so far"
            raise QueryError(wrong, place.span, (f"write on {self.catalog.short_name(group.parts[0])}",))
        known = [self.catalog.short_name(t) for t in self.catalog.test_sets_and_groups]
        raise QueryError(f"unknown test set '{brief(text)}'", place.span, hints(text, known, "test sets"))

    def _with_rows(self, test_set: KnownTestSet, place: n.Node) -> KnownTestSet:
        """A test set. Raises QueryError for a group that stands for its test sets where these are taken one by one."""
        group = self.catalog.groups.get(test_set.id)
        if group is None or group.test_set in self.catalog.test_sets:
            return test_set
        name, parts = self.catalog.short_name(test_set), some(list(map(self.catalog.short_name, group.parts)))
        raise QueryError(
            f"{name} is a group of {len(group.parts):,} test sets, which are taken one by one here",
            place.span,
            (f"write on {parts}", f"score, table, compare, group and rank take on {name} alone"),
        )

    def _known_test_sets(self) -> tuple[str, ...]:
        return listing([self.catalog.short_name(t) for t in self.catalog.test_sets], "test sets")

    # --- measures -----------------------------------------------------------------------------------------------------

    def task(self, node: n.Name | None) -> Kind | None:
        """The task after `of`."""
        if node is None:
            return None
        word = node.text.casefold()
        if word not in KINDS:
            raise QueryError(f"unknown task '{node.text}'", node.span, hints(word, KINDS, "tasks"))
        return KINDS[word]

    def tasks_with(self, measures: Iterable[n.MeasureCall | n.Mean], test_set: KnownTestSet) -> list[Kind]:
        """The kinds of rows that have all the measures on a test set; raises for a measure that none has."""
        possible = list(KINDS.values())
        for node in measures:
            measure = node.measure if isinstance(node, n.Mean) else node
            having = [task for task in KINDS.values() if self._has(measure, task, test_set)]
            if not having:
                raise self._unknown(measure, test_set)
            possible = [task for task in possible if task in having]
            if not possible:
                tasks = " and ".join(task.name for task in having)
                raise QueryError(
                    f"{measure.name} is a measure of {tasks}, but the measures before it are not",
                    measure.span,
                    ("ask for them in statements of their own",),
                )
        return possible

    def _unknown(self, measure: n.MeasureCall, test_set: KnownTestSet) -> QueryError:
        """The error for a measure that no task has on a test set: what is like it there, or where else it is."""
        if self.of_attempts(measure.name) is not None and self.right_or_wrong(test_set) is not None:
            own = ("ask for it in a statement of its own",)
            return QueryError(
                f"{brief(measure.name)} is about attempts, but the other measures here are not", measure.span, own
            )
        there = [name for task in IMPORTED for name in self.catalog.measures_of(task.name, test_set.id)]
        elsewhere = [
            self.catalog.short_name(other)
            for other in self.catalog.test_sets
            if any(self._has(measure, task, other) for task in (*IMPORTED, COUNTS))
            or (self.of_attempts(measure.name) is not None and self.replicates_are_attempts(other))
        ]
        name, here = brief(measure.name), self.catalog.short_name(test_set)
        figure = _figure(measure, IMPORTED[0])
        accuracies = self._accuracies(figure, test_set)
        if several := spelt_otherwise(figure, there, accuracies):
            return QueryError(
                f"{here} has several measures called {name}", measure.span, (f"write {' or '.join(several)}",)
            )
        if accuracies and (filters := of_metric(figure, (*accuracies, *there))):
            return QueryError(f"{here} has no {name}", measure.span, (f"write {' or '.join(filters)}",))
        if elsewhere:
            has = f"{some(elsewhere)} {'has' if len(elsewhere) == 1 else 'have'} it"
            counts = self.catalog.counts_of(COUNTS.name, test_set.id)
            is_defined = definition_of(measure.name, self.catalog.definitions)
            hint = listing(counts, f"counts of {here}") if is_defined else listing(there, f"measures of {here}")
            return LackingMeasureError(f"{here} has no {name}; {has}", measure.span, hint)
        lacking = find_measure(measure.name, COUNTS.name)
        if lacking in HARNESS and self._is_synonym(measure.name, lacking):
            lacking = None
        if lacking is not None:
            alike = [known for known in there if known.casefold().endswith(lacking.name.casefold())]
            brought = (
                "the samples of lm-evaluation-harness have them"
                if lacking in HARNESS
                else f"load --as segments counts for {lacking.name} from texts and their references"
            )
            needed = (brought,) if lacking.family else listing(lacking.needs, "it is made of the counts")
            said = (f"did you mean {' or '.join(alike)}?",) if alike else needed
            return QueryError(f"{here} has no counts for {lacking.name}", measure.span, said)
        if made_of := definition_of(measure.name, self.catalog.definitions):
            return QueryError(f"{name} is computed from counts that no test set has", measure.span, (made_of,))
        spoken = in_our_words(measure.name)
        of_lists = find_measure(measure.name, RANKINGS.name)
        if of_lists is not None and self.catalog.has_rows(RANKINGS.name, test_set.id):
            spoken = f"{of_lists.name}@10"
        bare, cutoff = without_cutoff(measure.name)
        of_lists = find_measure(bare, RANKINGS.name)
        if cutoff is not None and of_lists is not None:
            return QueryError(f"{of_lists.name} takes no cutoff", measure.span, (f"write {of_lists.name}",))
        near = hints(measure.name, self.known_measures(test_set), "measures")
        return QueryError(f"unknown measure '{name}'", measure.span, (f"write {spoken}",) if spoken else near)

    def of_attempts(self, name: str) -> Measure | None:
        """The measure of attempts and how many of them passed that a name means; None where it means another."""
        measure = find_measure(name, COUNTS.name)
        return measure if measure is not None and measure.needs == ATTEMPT_COUNTS else None

    def right_or_wrong(self, test_set: KnownTestSet) -> str | None:
        """What the values that say whether an answer is right are stored as; None where a test set has none."""
        if not self.catalog.has_rows(VALUES.name, test_set.id):
            return None
        names = (self._stored_name(n.MeasureCall(name), VALUES, test_set) for name in (ACCURACY, REWARD))
        return next((name for name in names if name is not None), None)

    def replicates_are_attempts(self, test_set: KnownTestSet) -> bool:
        """Whether samples of a test set were answered several times, right or wrong."""
        known = self.catalog.attributes["system"]
        attribute = next((name for name in UNSAID_ATTRIBUTES if name in known), None)
        if (attribute is None and not self.catalog.models) or self.right_or_wrong(test_set) is None:
            return False
        there = self.catalog.systems_with(VALUES.name, test_set.id)
        shared = "" if self.catalog.models else attribute or ""
        return any(len(runs) > 1 for runs in self.catalog.replicates(shared, there).values())

    def kinds_of_classes(self, test_set: KnownTestSet) -> list[Kind]:
        """Those of the kinds whose rows may say the class of a document that do so on a test set."""
        return [
            kind
            for kind in KINDS_OF_CLASSES
            if self.catalog.has_rows(kind.name, test_set.id)
            and (self.catalog.labelled(test_set.id) if kind.has_key else self.catalog.labels_of(test_set.id))
        ]

    def stored_with(self, measures: Iterable[n.MeasureCall | n.Mean], test_set: KnownTestSet) -> list[Kind]:
        """Those of the kinds with the measures that have rows on a test set."""
        possible = self.tasks_with(measures, test_set)
        return [task for task in possible if self.catalog.has_rows(task.name, test_set.id)]

    def _has(self, measure: n.MeasureCall, task: Kind, test_set: KnownTestSet) -> bool:
        if task.imported is not None:
            return self._stored_name(measure, task, test_set) is not None
        found = self._measure(measure.name, task, test_set)
        return found is not None and not self._lacks_cutoff(found, measure)

    def _lacks_cutoff(self, measure: Measure, node: n.MeasureCall) -> bool:
        """Whether a measure of ranked lists was asked for without the cutoff that it needs: P alone is no P@10."""
        given = without_cutoff(node.name)[1] is not None or node.parameters
        return measure.called != measure.name and not given

    def measures_of(self, task: Kind, test_set: KnownTestSet) -> list[str]:
        """The names of the measures of a task, of the language or defined in the warehouse."""
        counts = self.catalog.counts_of(task.name, test_set.id)
        of_task = [measure for measure in MEASURES if measure.kind == task.name and is_made_of(measure, counts)]
        names = [measure.name for measure in of_task if not self._misleads(measure, test_set)]
        return [*names, *(name for name in self.catalog.definitions if self._measure(name, task, test_set))]

    def _measure(self, name: str, task: Kind, test_set: KnownTestSet) -> Measure | None:
        """The measure of a task of a name, of the language or defined in the warehouse. A synonym means a measure of
        the language where nothing that is stored or defined has that very name, and the test set has rows of the task.
        """
        counts = self.catalog.counts_of(task.name, test_set.id)
        measure = find_measure(name, task.name)
        if measure is not None and self._is_synonym(name, measure) and not self._stands_for(name, task, test_set):
            measure = None
        if measure is not None and measure.of_labels and not self.catalog.labels_of(test_set.id):
            measure = None
        if measure is not None and is_made_of(measure, counts):
            return measure
        return defined_measure(name, task, self.catalog.definitions, counts)

    def _misleads(self, measure: Measure, test_set: KnownTestSet) -> tuple[str, str] | None:
        """Why a measure is refused on a test set where its number would not be what its name says, and what to ask for
        instead.
        """
        if measure.not_of_classes and self.catalog.has_classes(test_set.id):
            return measure.not_of_classes, OF_CLASSES
        if measure.not_without_wrong_matches and not self.catalog.has_wrong_matches(test_set.id):
            return measure.not_without_wrong_matches, OF_SPURIOUS
        if measure.of_labels and not self.catalog.labels_of(test_set.id):
            return f"{measure.name} is of classes, and {self.catalog.short_name(test_set)} has none", OF_SPURIOUS
        if measure.of_labels == "one" and self.catalog.labels_of(test_set.id) == "any":
            here = self.catalog.short_name(test_set)
            return f"{measure.name} is of one class a document, and documents of {here} have several", OF_SEVERAL
        return None

    def _without_places(
        self, node: n.MeasureCall, settings: Mapping[str, Setting], test_set: KnownTestSet
    ) -> LackingMeasureError:
        wrong = f"{self.catalog.short_name(test_set)} does not say where its items are in the text"
        unknown = f", so {MATCH.name}={settings[MATCH.name]} is not known" if MATCH.name in settings else ""
        loads = "tagged tokens, BRAT and JSON with spans keep places; load them again if that was before version 12"
        return LackingMeasureError(wrong + unknown, node.span, (loads,))

    def _is_synonym(self, name: str, measure: Measure) -> bool:
        return measure.name.casefold() not in (name.casefold(), without_cutoff(name)[0].casefold()) or bool(
            measure.in_name(name)
        )

    def _stands_for(self, name: str, task: Kind, test_set: KnownTestSet) -> bool:
        """Whether a synonym means a measure of a task on a test set."""
        stored = self.catalog.measures_of(VALUES.name, test_set.id)
        there = [other for other in KINDS if other != task.name and self.catalog.has_rows(other, test_set.id)]
        others = [measure.name for measure in MEASURES if measure.kind in there]
        taken = name.casefold() in map(str.casefold, (*stored, *self.catalog.definitions, *others))
        return not taken and self.can_be_asked_of(task, test_set)

    def _over_stored(
        self, node: n.MeasureCall, measure: Measure, settings: Mapping[str, Setting], test_set: KnownTestSet
    ) -> tuple[Measure, str]:
        """A measure over the counts that a test set has, and how these were counted."""
        counts, here = self.catalog.counts_of(measure.kind, test_set.id), self.catalog.short_name(test_set)
        found = ways(measure, counts, settings)
        if len(found) != 1:
            there = listing(ways(measure, counts, {}), "counted")
            how = "no such counts of" if not found else f"{len(found)} kinds of counts of"
            raise QueryError(f"{here} has {how} {measure.name}", node.span, there)
        [(how, names)] = found.items()
        for parameter in measure.parameters:
            setting = settings.get(parameter.name, parameter.default)
            if parameter.up_to and isinstance(setting, Decimal):
                most = self.catalog.largest(names[parameter.up_to], test_set.id)
                check_at_most(node, parameter.name, setting, most, f"the most {parameter.up_to} that {here} has")
        return over_stored(measure, names), how

    def _stored_name(self, measure: n.MeasureCall, task: Kind, test_set: KnownTestSet) -> str | None:
        """What a measure that was imported for a test set is called there, None where there is none."""
        names = self.catalog.measures_of(task.name, test_set.id)
        figure, named = _figure(measure, task), [(name, name) for name in names]
        if found := matching(measure.name if not measure.parameters else figure, named) or matching(figure, named):
            return found[0]
        otherwise = spelt_otherwise(figure, names, self._accuracies(figure, test_set))
        return otherwise[0] if len(otherwise) == 1 else None

    def check_meaning(self, node: n.MeasureCall | n.Mean, task: Kind, test_set: KnownTestSet) -> None:
        """Refuses a measure that a task computes where values of that name were loaded, too, and their name does not
        say that they have the same parameters: what trec_eval prints as rbp has p=0.9, and RBP alone is RBP(p=0.8).
        """
        call = node.measure if isinstance(node, n.Mean) else node
        measure = None if call.parameters else self.measure(call, task, test_set)
        self._check_other_kind(call, measure, task, test_set)
        if measure is None or not (task.of_lists or measure.shown):
            return
        cutoff = without_cutoff(call.name)[1]
        said = measure.in_name(call.name) or ({} if cutoff is None else {CUTOFF: cutoff})
        computed = settle(measure, said).label
        for imported in IMPORTED:
            stored = self._stored_name(call, imported, test_set)
            if stored not in (None, computed) and not measure.in_name(stored):
                raise QueryError(
                    f"{brief(call.name)} on {self.catalog.short_name(test_set)} could be what was loaded as {stored}, "
                    f"or {computed}, computed from {task.rows}",
                    call.span,
                    (f"write {stored} of {imported.name} or {computed} of {task.name}",),
                )

    def _check_other_kind(
        self, call: n.MeasureCall, measure: Measure | None, task: Kind, test_set: KnownTestSet
    ) -> None:
        """Refuses a measure of the key's decisions whose very name is also a measure of the rankings that a test set
        has: the utility of trec_eval is another than that of filtering.
        """
        lists = None if measure is None or task.of_lists else self._measure(call.name, RANKINGS, test_set)
        if measure is None or lists is None or not self.catalog.has_rows(RANKINGS.name, test_set.id):
            return
        if lists.name.casefold() == call.name.casefold():
            here = self.catalog.short_name(test_set)
            computed = settle(measure, {}).label
            raise QueryError(
                f"{brief(call.name)} on {here} could be that of {task.name} or that of {RANKINGS.name}",
                call.span,
                (f"write {computed} of {task.name} or {lists.name} of {RANKINGS.name}",),
            )

    def _accuracies(self, figure: str, test_set: KnownTestSet) -> tuple[str, ...]:
        """What the accuracy of a test set could be called where a filter is asked for."""
        return self.catalog.accuracies(test_set.id) if with_filter(figure) else ()

    def known_measures(self, test_set: KnownTestSet) -> list[str]:
        """The names of all measures that can be asked for on a test set."""
        by_document = [task.name for task in IMPORTED if task.by_document]
        imported = [name for task in by_document for name in self.catalog.measures_of(task, test_set.id)]
        there = {task.name for task in KINDS.values() if self.can_be_asked_of(task, test_set)}
        attempted = self.replicates_are_attempts(test_set)
        of_tasks = [
            measure.called
            for measure in MEASURES
            if (measure.kind in there and is_made_of(measure, self.catalog.counts_of(measure.kind, test_set.id)))
            or (attempted and measure.needs == ATTEMPT_COUNTS)
            if not self._misleads(measure, test_set)
        ]
        names = [*of_tasks, *self.catalog.definitions, *imported]
        return list(dict.fromkeys(names))

    def can_be_asked_of(self, task: Kind, test_set: KnownTestSet) -> bool:
        """Whether a test set has rows of a task, or the key that baselines are computed from."""
        has_key = task.has_key and self.catalog.labelled(test_set.id)
        return has_key or self.catalog.has_rows(task.name, test_set.id)

    def measure(self, node: n.MeasureCall | n.Mean, task: Kind, test_set: KnownTestSet) -> Measure | None:
        """The measure of a task that was asked for; None for one that is a name in the data, or unknown."""
        call = node.measure if isinstance(node, n.Mean) else node
        return None if task.imported is not None else self._measure(call.name, task, test_set)

    def statistic(self, node: n.MeasureCall | n.Mean, task: Kind, test_set: KnownTestSet) -> Statistic:
        """The statistic a measure means for a task that has it."""
        measure_node = node.measure if isinstance(node, n.Mean) else node
        if task.imported is not None:
            return self._imported_statistic(node, measure_node, task, task.imported, test_set)
        measure = self._measure(measure_node.name, task, test_set)
        if measure is None:
            raise QueryError(
                f"{measure_node.name} is not a measure of {task.name}",
                measure_node.span,
                hints(measure_node.name, self.measures_of(task, test_set), "measures"),
            )
        settings, how = self.settings(measure_node, measure), ""
        if misleading := None if MATCH.name in settings else self._misleads(measure, test_set):
            why, right = misleading
            raise LackingMeasureError(why, measure_node.span, (right,))
        of_topics = in_topics(node, task, test_set, self.catalog) is not node
        # What is computed of lists is a mean over documents as it is.
        averaged = isinstance(node, n.Mean) and (node.over_documents or of_topics) and not task.of_lists
        around = node.word if isinstance(node, n.Mean) and (averaged or node.word != "mean") else ""
        if task.of_lists and REL in measure.parameters:
            settings.setdefault(REL.name, Decimal(self.catalog.relevance(test_set.id)))
        if measure.needs:
            measure, how = self._over_stored(measure_node, measure, settings, test_set)
        synonym = synonym_of(measure_node, measure)
        statistic = replace(settle(measure, settings, averaged, synonym, around), counted=how)
        if set(PAIRS) & set(statistic.columns) and not self.catalog.has_places(test_set.id):
            raise self._without_places(measure_node, settings, test_set)
        if measure.of_labels:
            statistic = self._of_labels(node, statistic, test_set)
        if statistic.averaged and statistic.sums is None:
            raise QueryError(f"{measure.name} has no value for single documents", node.span)
        if not isinstance(node, n.Mean):
            return statistic
        if node.over_units:
            if task.of_lists:
                check_of_lists(node)
            elif not of_topics:
                average = over_units(node, statistic, task, test_set, self.catalog)
                if average is None:
                    raise without_units(node, self.catalog.short_name(test_set))
                statistic = average
        if node.by is None:
            return statistic
        if not averaged and not node.over_units:
            wrong = f"{statistic.label} is computed over all documents together"
            raise QueryError(wrong, node.by.span, (f"write mean({node.measure.name} by {to_text(node.by)})",))
        return replace(statistic, label=f"{statistic.label[:-1]} by {to_text(node.by)})")

    def _of_labels(self, node: n.MeasureCall | n.Mean, statistic: Statistic, test_set: KnownTestSet) -> Statistic:
        """A statistic of classes, computed over those that the test set has. Raises QueryError for an average of what
        needs all of them.
        """
        measure = statistic.measure
        if isinstance(node, n.Mean) and (node.over_units or measure.over_classes is not None):
            wrong = f"{measure.name} is computed from all classes together, so it has no {node.word} over parts"
            raise QueryError(wrong, node.span, (f"write {to_text(node.measure)}",))
        if measure.over_classes is not None:
            units = self.catalog.units_of(measure.kind, test_set.id)
            return replace(statistic, computation=measure.over_classes(tuple(filter(None, units))))
        if measure.of_several is not None and self.catalog.labels_of(test_set.id) == "any":
            return replace(statistic, computation=measure.of_several(**statistic.settings), averaged=True)
        return statistic

    def _imported_statistic(
        self,
        node: n.MeasureCall | n.Mean,
        measure_node: n.MeasureCall,
        task: Kind,
        imported: Callable[[str, tuple[str, str], DeclaredMeasure], Measure],
        test_set: KnownTestSet,
    ) -> Statistic:
        """The statistic of a measure that is a name in the data."""
        stored = self._stored_name(measure_node, task, test_set)
        if stored is None:
            label, names = _figure(measure_node, task), self.catalog.measures_of(task.name, test_set.id)
            raise QueryError(
                f"{test_set.name} has no {task.figure} of {label}",
                measure_node.span,
                hints(label, names, "measures"),
            )
        if isinstance(node, n.Mean) and not task.by_document:
            raise QueryError(f"a {task.figure} has no documents to average over", node.span)
        if isinstance(node, n.Mean) and node.over_units:
            raise without_units(node, self.catalog.short_name(test_set))
        of_task = self.catalog.stored_as(task.name, test_set.id, stored)
        statistic = settle(imported(stored, of_task, self.catalog.declared_measure(of_task[1])), {})
        # In another spelling it is shown as it was asked for, so that test sets with other spellings have one column.
        figure = _figure(measure_node, task)
        typed = figure if measure_node.parameters or measure_node.name.casefold() == "f" else measure_node.name
        shown = stored if stored.casefold() in (figure.casefold(), typed.casefold()) and typed == figure else typed
        around = node.word if isinstance(node, n.Mean) and node.word != "mean" else ""
        return replace(statistic, label=f"{around}({shown})" if around else shown, around=around)

    def settings(self, measure_node: n.MeasureCall, measure: Measure) -> dict[str, Setting]:
        """The parameters of a measure as they were written."""
        settings: dict[str, Setting] = {}
        known = {parameter.name: parameter for parameter in measure.parameters}
        known_as = {name.casefold(): one for one in measure.parameters for name in (*one.also, one.name)}
        cutoff = without_cutoff(measure_node.name)[1]
        in_name = {**({} if cutoff is None else {CUTOFF: cutoff}), **measure.in_name(measure_node.name)}
        for name, number in in_name.items():
            if name in known:
                if fault := known[name].fault(number):
                    raise QueryError(fault, measure_node.span)
                settings[name] = number
        for written_parameter in measure_node.parameters:
            called = written_parameter.name.casefold()
            parameter = known_as.get(called)
            if parameter is None:
                raise QueryError(
                    f"{measure.name} has no parameter '{written_parameter.name}'",
                    written_parameter.span,
                    hints(written_parameter.name, list(known), "parameters"),
                )
            if parameter.name in settings and not _is_spelt(measure_node, measure, parameter.name):
                raise QueryError(f"{parameter.name} is given twice", written_parameter.span)
            value = written_parameter.value
            if isinstance(value, n.All):
                value = n.Name(ALL, span=value.span)
            written = value.value if isinstance(value, n.Number) else text_of(value, value, "a word").casefold()
            setting = parameter.meant(called, written)
            fault = parameter.fault(setting)
            if fault:
                near_words = near(str(setting), parameter.words, at_most=1)
                raise QueryError(
                    fault, written_parameter.value.span, tuple(f"did you mean {word}?" for word in near_words)
                )
            settings[parameter.name] = setting
        for parameter in measure.parameters:
            if parameter.default is None and not parameter.optional and parameter.name not in settings:
                raise QueryError(f"{measure.name} needs {parameter.name}", measure_node.span)
        return settings


def check_at_most(node: n.MeasureCall, name: str, setting: Decimal, most: int, why: str) -> None:
    """Raises QueryError for a parameter that is larger than the data allow."""
    if setting > most:
        raise QueryError(f"{name} is at most {most}, {why}, not {number_text(setting)}", node.span)


def matching(text: str, named: Iterable[tuple[str, _It]]) -> list[_It]:
    """Those of exactly this name, else those of this name in another case."""
    named = list(named)
    exact = [it for name, it in named if name == text]
    folded = text.casefold()
    return exact or [it for name, it in named if name.casefold() == folded]


def like(text: str, pattern: str) -> bool:
    return fnmatchcase(text.casefold(), pattern.casefold().replace("[", "[[]"))


def text_of(item: Any, place: n.Node, what: str) -> str:
    if isinstance(item, n.Name | n.Text):
        return normalize("NFC", item.text)
    raise QueryError(f"{what} is needed here", place.span)


def one_line(node: n.Text | n.Variable, what: str) -> str:
    """A text on one line. Raises QueryError if it is empty."""
    text = " ".join(text_of(node, node, what).split())
    if not text:
        raise QueryError(f"{what} cannot be empty", node.span)
    return text


def _figure(measure: n.MeasureCall, task: Kind) -> str:
    """A measure as an imported or printed figure is named: P@10, F(beta=1); a printed F or F1 is F(beta=1)."""
    if not measure.parameters:
        weighed = (known.label(said) for known in MEASURES if task.figures and (said := known.in_name(measure.name)))
        return dict(task.figures).get(measure.name.casefold(), next(weighed, measure.name))
    settings = [f"{parameter.name.casefold()}={_setting(parameter.value)}" for parameter in measure.parameters]
    return f"{measure.name}({', '.join(settings)})"


def synonym_of(node: n.MeasureCall, measure: Measure) -> str:
    """The name by which a measure was asked for, where it is another one than its own: MAP, F1."""
    if said := measure.in_name(node.name):
        given = {parameter.name.casefold() for parameter in node.parameters}
        return "" if given & said.keys() else measure.spelling(node.name) or node.name
    name, _, cutoff = node.name.partition("@")
    return name if name.casefold() in map(str.casefold, measure.also) and (cutoff or name == node.name) else ""


def _is_spelt(node: n.MeasureCall, measure: Measure, name: str) -> bool:
    """Whether a parameter has its value from a spelling, and may be given another: rbp(p=0.5)."""
    return name in measure.spelt.get(measure.spelling(node.name), {})


def _setting(value: n.Number | n.Name | n.All | n.Variable) -> str:
    match value:
        case n.All():
            return ALL
        case n.Number(number):
            return number_text(number)
        case n.Name(text):
            return text
        case n.Variable(name):
            return f"${name}"

"""Looking names up: what a query calls a test set, a system, a measure, an attribute or a variable, and what there
is of that name.

The only place where a name is matched against the catalog, so the place where every message about an unknown name is
born.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any, TypeVar
from unicodedata import normalize

from grammar import nodes as n
from grammar.editing.hints import brief, hints, listing, written
from grammar.errors import QueryError
from grammar.span import NOWHERE
from warehouse.measures import MEASURES, TASKS, Measure, Setting, Statistic, Task, measure_named, settle
from warehouse.measures.values import imported, printed
from warehouse.query import plan as p
from warehouse.query.resolving.user_measures import defined
from warehouse.store.catalog import Catalog, KnownTestSet

ROWS: Mapping[Task, str] = {
    "extraction": "score tuples",
    "filtering": "relevance decisions",
    "values": "values",
    "published": "published figures",
}
"""What the rows of each task are called."""

_It = TypeVar("_It")


SPOKEN: Mapping[str, str] = {
    "f1": "F(beta=1)",
    "f2": "F(beta=2)",
    "f0.5": "F(beta=0.5)",
    "f-score": "F(beta=1)",
    "f-measure": "F(beta=1)",
    "p": "precision",
    "r": "recall",
    "acc": "accuracy",
}
"""What measures are called elsewhere."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where names are looked up: the catalog of the warehouse. Variables have been replaced before."""

    catalog: Catalog

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
        found = self.number(node, Decimal(0))
        if found != int(found) or not lowest <= found <= highest:
            raise QueryError(f"{what} is a whole number from {lowest} to {highest}, not {written(found)}", node.span)
        return int(found)

    def share(self, node: n.Number | n.Variable | None, what: str, default: Decimal) -> Decimal:
        """A number between 0 and 1, both excluded."""
        found = self.number(node, default)
        if not 0 < found < 1:
            hint = (f"{written(found)}% is written {written(found / 100)}",) if 1 < found < 100 else ()
            raise QueryError(f"{what} is a number between 0 and 1, not {written(found)}", node.span, hint)  # type: ignore[union-attr]
        return found

    # --- test sets ----------------------------------------------------------------------------------------------------

    def test_sets(self, node: n.TestSets | None) -> list[tuple[KnownTestSet, n.Node]]:
        """The test sets a question is asked on, each once, with the node that named it."""
        found: dict[int, tuple[KnownTestSet, n.Node]] = {}
        if not self.catalog.test_sets:
            raise QueryError("the warehouse holds no test set", node.span if node else NOWHERE)
        items: Iterable[Any] = node.items if node else (n.All(),)
        for item in items:
            for test_set in self._test_sets(item, item):
                found.setdefault(test_set.id, (test_set, item))
        return list(found.values())

    def planned(self, test_set: KnownTestSet) -> p.TestSet:
        """A test set as plans hold it."""
        return p.TestSet(test_set.id, self.catalog.short_name(test_set), test_set.name)

    def _test_sets(self, item: Any, place: n.Node) -> list[KnownTestSet]:
        if isinstance(item, n.All):
            return list(self.catalog.test_sets)
        if isinstance(item, n.Pattern):
            matching = [t for t in self.catalog.test_sets if like(t.name, item.text) or like(t.full_name, item.text)]
            if not matching:
                raise QueryError(f"no test set matches {item.text}", place.span, self._known_test_sets())
            return matching
        return [self.test_set(item, place)]

    def test_set(self, item: Any, place: n.Node) -> KnownTestSet:
        """The one test set of a name, which may have its evaluation before a dot."""
        text = text_of(item, place, "the name of a test set")
        short = [(t.name, t) for t in self.catalog.test_sets]
        full = [(t.full_name, t) for t in self.catalog.test_sets]
        for named in (short, full):
            found = matching(text, named)
            if len(found) > 1:
                names = " or ".join(sorted(t.full_name for t in found))
                raise QueryError(f"test set '{text}' is in {len(found)} evaluations", place.span, (f"say {names}",))
            if found:
                return found[0]
        known = [self.catalog.short_name(t) for t in self.catalog.test_sets]
        raise QueryError(f"unknown test set '{brief(text)}'", place.span, hints(text, known, "test sets"))

    def _known_test_sets(self) -> tuple[str, ...]:
        return listing([self.catalog.short_name(t) for t in self.catalog.test_sets], "test sets")

    # --- measures -----------------------------------------------------------------------------------------------------

    def task(self, node: n.Name | None) -> Task | None:
        """The task after `of`."""
        if node is None:
            return None
        word = node.text.casefold()
        if word not in TASKS:
            raise QueryError(f"unknown task '{node.text}'", node.span, hints(word, TASKS, "tasks"))
        return word

    def tasks_with(self, measures: Iterable[n.MeasureCall | n.Mean], test_set: KnownTestSet) -> list[Task]:
        """The tasks that have all the measures on a test set; raises for a measure that none has."""
        possible = list(TASKS)
        for node in measures:
            measure = node.measure if isinstance(node, n.Mean) else node
            having = [task for task in TASKS if self._has(measure, task, test_set)]
            if not having:
                spoken = SPOKEN.get(measure.name.casefold())
                near = hints(measure.name, self.known_measures(test_set), "measures")
                raise QueryError(
                    f"unknown measure '{brief(measure.name)}'", measure.span, (f"say {spoken}",) if spoken else near
                )
            possible = [task for task in possible if task in having]
            if not possible:
                raise QueryError(
                    f"{measure.name} is a measure of {' and '.join(having)}, the measures before it are not",
                    measure.span,
                    ("ask for them in statements of their own",),
                )
        return possible

    def _has(self, measure: n.MeasureCall, task: Task, test_set: KnownTestSet) -> bool:
        if task in ("values", "published"):
            names = [(name, name) for name in self.catalog.measures_of(task, test_set.id)]
            return bool(matching(_figure(measure, task), names))
        return self._measure(measure.name, task) is not None

    def _measure(self, name: str, task: Task) -> Measure | None:
        """The measure of a task of a name, of the language or defined in the warehouse."""
        return measure_named(name, task) or defined(name, task, self.catalog.definitions)

    def known_measures(self, test_set: KnownTestSet) -> list[str]:
        """The names of all measures that can be asked for on a test set."""
        imported_names = self.catalog.measures_of("values", test_set.id)
        names = [*(measure.name for measure in MEASURES), *self.catalog.definitions, *imported_names]
        return list(dict.fromkeys(names))

    def statistic(self, node: n.MeasureCall | n.Mean, task: Task, test_set: KnownTestSet) -> Statistic:
        """The statistic a measure means for a task that has it."""
        measure_node = node.measure if isinstance(node, n.Mean) else node
        if task in ("values", "published"):
            label = _figure(measure_node, task)
            names = [(name, name) for name in self.catalog.measures_of(task, test_set.id)]
            stored = next(iter(matching(label, names)), None)
            if stored is None:
                what = "value" if task == "values" else "published figure"
                raise QueryError(
                    f"{test_set.name} has no {what} of {label}", measure_node.span,
                    hints(label, [name for name, _ in names], "measures"),
                )  # fmt: skip
            if isinstance(node, n.Mean) and task == "published":
                raise QueryError("a published figure has no documents to average over", node.span)
            if task == "values":
                return settle(imported(stored), {})
            return settle(printed(stored, *self.catalog.printed(test_set.id)[stored]), {})
        measure = self._measure(measure_node.name, task)
        if measure is None:
            raise QueryError(
                f"{measure_node.name} is no measure of {task}",
                measure_node.span,
                hints(measure_node.name, [each.name for each in MEASURES if each.task == task], "measures"),
            )
        if isinstance(node, n.Mean) and measure.formula is None and measure.expression is None:
            raise QueryError(f"{measure.name} has no value document by document", node.span)
        settings: dict[str, Setting] = {}
        for written_parameter in measure_node.parameters:
            known = {parameter.name: parameter for parameter in measure.parameters}
            parameter = known.get(written_parameter.name.casefold())
            if parameter is None:
                raise QueryError(
                    f"{measure.name} has no parameter '{written_parameter.name}'",
                    written_parameter.span,
                    hints(written_parameter.name, list(known), "parameters"),
                )
            if parameter.name in settings:
                raise QueryError(f"{parameter.name} is given twice", written_parameter.span)
            value = written_parameter.value
            setting = value.value if isinstance(value, n.Number) else text_of(value, value, "a word").casefold()
            fault = parameter.fault(setting)
            if fault:
                raise QueryError(fault, written_parameter.value.span)
            settings[parameter.name] = setting
        for parameter in measure.parameters:
            if parameter.default is None and parameter.name not in settings:
                raise QueryError(f"{measure.name} needs {parameter.name}", measure_node.span)
        return settle(measure, settings, isinstance(node, n.Mean))


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


def _figure(measure: n.MeasureCall, task: Task) -> str:
    """A measure as an imported or printed figure is named: P@10, F(beta=1); a printed F alone is F(beta=1)."""
    if not measure.parameters:
        return "F(beta=1)" if task == "published" and measure.name.casefold() == "f" else measure.name
    settings = [f"{parameter.name.casefold()}={_setting(parameter.value)}" for parameter in measure.parameters]
    return f"{measure.name}({', '.join(settings)})"


def _setting(value: n.Number | n.Name | n.Variable) -> str:
    match value:
        case n.Number(number):
            return written(number)
        case n.Name(text):
            return text
        case n.Variable(name):
            return f"${name}"

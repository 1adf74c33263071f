"""`table M by X`: a column for each value of what documents have, or for each unit, and one for all of them.

Values are those of `score … by X`, of `score` for all documents, and of the averages over units. Nothing is tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.values import Valued, ValueLine
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.loading.staging.cells import is_number
from evalhouse.warehouse.measures.averages import MACRO
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Queries
from evalhouse.warehouse.results import Cell, Result, count_behind
from evalhouse.warehouse.statements.score_plan import ScorePlan

MOST_COLUMNS = 1_000

# === what can be split ================================================================================================


def check_clauses(statement: n.PaperTable) -> None:
    """Raises QueryError for clauses that a table of parts does not have."""
    if not statement.by:
        return
    first, *others = statement.by
    if others:
        ways = (f"write by {to_text(first)}", f"score has rows by several: {_as_score(statement)}")
        raise QueryError("a table has columns by one attribute", others[0].span, ways)
    if statement.over:
        wrong = f"the columns of a table are test sets, or the values of {to_text(first)}"
        raise QueryError(wrong, first.span, (f"leave out {statement.over}",))
    tests = {"against": statement.against is not None, "letters": statement.letters, "rank": statement.ranks}
    for word in (word for word, there in tests.items() if there):
        wrong = f"{word} cannot be combined with by, as differ tests differences part by part"
        raise QueryError(wrong, first.span, (f"write {to_text(_as_differ(statement))}", f"leave out {word}"))
    if statement.interval is not None:
        hint = 'use where for each part, for example where document.source = "radio"'
        raise QueryError("a table has no intervals with by", first.span, (hint,))


def check_parts(statement: n.PaperTable, plan: ScorePlan, scope: Scope) -> None:
    """Raises QueryError where rows are not split by units or by what documents have, on one test set."""
    if not statement.by:
        return
    [node], [dimension] = statement.by, plan.by
    if len(plan.entries) > 1:
        names = [entry.test_set.name for entry in plan.entries if _has(entry, dimension, scope)]
        place = statement.test_sets.span if statement.test_sets else node.span
        wrong = f"a table by {dimension.name} is of one test set, and these are {len(plan.entries)}"
        raise QueryError(wrong, place, tuple(f"write on {name}" for name in names[:3]))
    entry = plan.entries[0]
    if dimension.of == "unit" and not _has(entry, dimension, scope):
        raise QueryError(f"the documents of {entry.test_set.name} have no units", node.span)
    if dimension.of in ("unit", "label") or (dimension.of == "document" and dimension.attribute):
        return
    why = "each system has a line already" if dimension.of == "system" else "that would be a column for each"
    raise QueryError(
        f"a table has no columns by {dimension.name}: {why}", node.span, (f"write {_as_score(statement)}",)
    )


def _has(entry: p.Entry, dimension: p.Dimension, scope: Scope) -> bool:
    """Whether any row of a test set has what its rows would be split by."""
    if dimension.of == "unit":
        return scope.catalog.in_units(entry.kind.name, entry.test_set.id)
    return not dimension.attribute or scope.catalog.has_attribute(entry.test_set.id, dimension.attribute)


def _as_score(statement: n.PaperTable) -> str:
    fields = ("measures", "task", "systems", "test_sets", "by", "where", "replicates", "runs_apart")
    return to_text(n.Score(**{field: getattr(statement, field) for field in fields}))


def _as_differ(statement: n.PaperTable) -> n.Differ:
    fields = ("measures", "task", "systems", "test_sets", "by", "where", "against", "replicates", "runs_apart")
    return n.Differ(**{field: getattr(statement, field) for field in fields})


# === the parts ========================================================================================================

By: TypeAlias = str
"""What a column is called."""


def _whole(plan: ScorePlan) -> Valued:
    return Valued(plan.entries[0], (), plan.how.where, of="all parts")


def whole_queries(plan: ScorePlan) -> Queries:
    """What brings the values of all documents together, where rows are split."""
    return _whole(plan).queries() if plan.by else ()


class Parts(Struct, frozen=True):
    """The values of systems by what rows are split by: `column` is its name and `columns` its values as columns, in
    order; `all` is that of all documents together, and `average` that of averages over units, empty where there is
    none.
    """

    plan: ScorePlan
    scored: Result
    called: Mapping[Cell, By]
    all: By
    average: By
    whole: Mapping[str, ValueLine]
    averages: Mapping[str, Sequence[float | None]]
    """The averages over units of each system, in the order of `averaged`."""
    averaged: tuple[str, ...]

    @classmethod
    def of(cls, plan: ScorePlan, scored: Result, facts: Facts) -> Parts:
        """The parts of an answer of `score … by`. Raises QueryError for more columns than a table can have."""
        [dimension] = plan.by
        parts = _ordered({row[dimension.name] for row in scored.rows})
        if len(parts) > MOST_COLUMNS:
            wrong = f"{dimension.name} has {len(parts):,} values, and a table at most {MOST_COLUMNS:,} columns of them"
            raise QueryError(wrong, hints=("write score in place of table, for a row each",))
        taken = {str(part) for part in parts}
        without = _free((f"no {dimension.attribute or dimension.of}", f"without {dimension.name}"), taken)
        valued = _whole(plan)
        whole = {line.system.name: line for line in (*valued.lines(facts), *valued.expected_lines(facts))}
        averages = {
            line.system.name: line.values for entry in plan.averages for line in plan.averaged(entry).lines(facts)
        }
        averaged = tuple(of.label for entry in plan.averages for of in entry.statistics)
        return cls(
            plan,
            scored,
            {part: without if part is None else str(part) for part in parts},
            _free(("all", f"all {dimension.name}"), {*taken, without}),
            _free((MACRO, f"{MACRO} {dimension.name}"), {*taken, without}) if averaged else "",
            whole,
            averages,
            averaged,
        )

    @property
    def column(self) -> str:
        return self.plan.by[0].name

    @property
    def columns(self) -> tuple[By, ...]:
        return (*self.called.values(), self.all, *((self.average,) if self.average else ()))

    def systems(self) -> list[str]:
        """The systems in the order of their values on all documents, who has none last, equals by name."""
        names = sorted(dict.fromkeys(str(row["system"]) for row in self.scored.rows))
        if self.plan.order == "system":
            return names[::-1] if self.plan.descending else names
        place = [of.label for of in self.plan.entries[0].statistics].index(self.plan.order)
        sign = -1 if self.plan.descending else 1

        def rank(name: str) -> tuple[bool, float]:
            value = self.whole[name].values[place] if name in self.whole else None
            return value is None, 0.0 if value is None else sign * value

        return sorted(names, key=rank)

    def rows(self, systems: Sequence[Cell]) -> Iterator[dict[str, Cell]]:
        """A row for each system, measure and column, column by column."""
        entry, labels = self.plan.entries[0], self.plan.column_labels()
        common: dict[str, Cell] = {"test_set": entry.test_set.name, "task": entry.kind.name}
        found = {(self.called[row[self.column]], row["system"]): row for row in self.scored.rows}
        for called in self.columns:
            for system in systems:
                for place, label in enumerate(labels):
                    row = found.get((called, system))
                    here = {**common, self.column: called, "system": system, "measure": label}
                    if called == self.all and str(system) in self.whole:
                        line = self.whole[str(system)]
                        yield here | {"value": line.values[place], "documents": line.documents, "source": line.source}
                    elif called == self.average and label in self.averaged and str(system) in self.averages:
                        yield here | {"value": self.averages[str(system)][self.averaged.index(label)]}
                    elif row is not None:
                        documents = count_behind(row, label)
                        yield here | {"value": row[label], "documents": documents, "source": row["source"]}

    def _documents(self) -> dict[By, set[Cell]]:
        """The numbers of documents of each part; none by units, which systems need not have on the same ones."""
        counts: dict[By, set[Cell]] = {}
        for row in self.scored.rows if self.plan.by[0].of != "unit" else ():
            for label in self.plan.column_labels():
                counts.setdefault(self.called[row[self.column]], set()).add(count_behind(row, label))
        return counts

    def counted(self) -> frozenset[By]:
        """The parts in which systems were scored on different numbers of documents."""
        return frozenset(called for called, counts in self._documents().items() if len(counts) > 1)

    def legend(self, noun: str) -> Iterator[str]:
        """What the columns are, and how many documents each is of."""
        known = {called: counts.pop() for called, counts in self._documents().items() if len(counts) == 1}
        sizes = [f"{called} {count:,}" for called, count in known.items() if isinstance(count, int)]
        if sizes:
            yield f"{plural(noun)}: {', '.join(sizes)}"
        what = "units" if self.plan.by[0].of == "unit" else plural(noun)
        average = f"; {self.average}: the mean over units" if self.average else ""
        yield f"{self.all}: all {what} together{average}"


def _free(names: Sequence[str], taken: set[str]) -> str:
    """The first name that is not taken; or the last, with as many stars as make it free."""
    *_, last = names
    return next((name for name in names if name not in taken), last + "*" * (1 + max(map(len, taken), default=0)))


def _ordered(parts: set[Cell]) -> list[Cell]:
    """The columns in their order: numbers by their size, other values by name, and what has none last."""
    numbers = all(part is None or is_number(str(part)) for part in parts)

    def place(part: Cell) -> tuple[bool, float, str]:
        return part is None, float(part) if numbers and part is not None else 0.0, str(part)

    return sorted(parts, key=place)

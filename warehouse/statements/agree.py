"""`agree`: how far the annotators of a test set's key labels agree, and what their disagreement does to F."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.printer import to_text
from warehouse.query import plan as p
from warehouse.query.answering import result_of
from warehouse.query.compile import keys
from warehouse.query.engine import Workforce
from warehouse.query.labels import noun_of, on, some
from warehouse.query.path import Facts, Queries, Query, Statement, Usage
from warehouse.query.resolving.conditions import dimension_of, key_filter
from warehouse.query.resolving.names import Scope
from warehouse.query.resolving.testing import interval_of
from warehouse.query.table_rows import TableRows
from warehouse.results import Cell, Column, Result
from warehouse.tasks import FILTERING
from warehouse.tasks.observed import counted, plural

if TYPE_CHECKING:
    from warehouse.query.comparison.intervals import Interval
    from warehouse.statements.agree_groups import AnnotatorPairs, Labels


class AgreePlan(Struct, frozen=True):
    """`by` are attributes of documents, and of the systems that annotators are."""

    text: str
    entries: tuple[p.Entry, ...]
    by: tuple[p.Dimension, ...]
    how: p.Testing
    with_key: bool = False

    @property
    def of_documents(self) -> tuple[p.Dimension, ...]:
        return tuple(dimension for dimension in self.by if dimension.of == "document")

    @property
    def of_annotators(self) -> tuple[p.Dimension, ...]:
        return tuple(dimension for dimension in self.by if dimension.of != "document")


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Agree, scope: Scope) -> AgreePlan:
    plain = p.Testing.plain(key_filter(scope, statement.where, annotators=True))
    how = replace(
        plain,
        level=scope.share(statement.level, "level", plain.level),
        seed=cast(int, scope.whole(statement.seed, "seed", 0, 2**63 - 1)) if statement.seed else plain.seed,
        interval=interval_of(statement),
    )
    entries = scope.keys(statement.test_sets)
    if statement.exchange is not None:
        exchange = dimension_of(scope, statement.exchange, FILTERING)
        if exchange.of != "document":
            hint = ("write document or document.attribute",)
            raise QueryError(f"{exchange.name} cannot be resampled", statement.exchange.span, hint)
        entries = tuple(entry.exchange_by(exchange) for entry in entries)
    by = tuple(_dimension(scope, attribute) for attribute in statement.by)
    return AgreePlan(to_text(statement), entries, by, how, statement.with_key)


def _dimension(scope: Scope, node: n.Attribute) -> p.Dimension:
    if not node.name:
        hint = ("write by document.attribute, or by system.attribute if annotators are systems",)
        raise QueryError(f"agree cannot be grouped by {node.of}", node.span, hint)
    return dimension_of(scope, node, FILTERING)


def compile(plan: AgreePlan) -> Queries:
    labels = tuple(
        Query(_name(entry), keys.labels_by_annotator(entry, _split(plan, entry), plan.how.where, plan.with_key))
        for entry in plan.entries
    )
    return (*labels, *(Query(f"annotators by {of.name}", keys.systems_with(of.attribute)) for of in plan.of_annotators))


def _name(entry: p.Entry) -> str:
    return f"labels of {entry.test_set.name!r}"


def _split(plan: AgreePlan, entry: p.Entry) -> tuple[p.Dimension, ...]:
    """What labels are brought with: what documents are split by, and last what is resampled."""
    return (*plan.of_documents, *entry.units.shared)


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: AgreePlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per pair of annotators with the confusion of their labels; the summary is of all pairs of a group."""
    from warehouse.query.comparison.intervals import interval_heading

    columns, summary_columns = _columns(plan), _summary_columns(plan, several=False)
    rows = TableRows(["test_set", *_by_names(plan), *(column.name for column in columns[1 + len(plan.by) :])])
    summary = TableRows(
        ["test_set", *_by_names(plan), *(column.name for column in summary_columns[1 + len(plan.by) :])]
    )
    notes: list[str] = []
    drawn, several = 0, False
    for entry in plan.entries:
        parts = [
            (by, labels, list(_groups(labels, plan, entry, workforce))) for by, labels in _parts(plan, entry, facts)
        ]
        drawn = max((drawn, *(interval.resamples for _, _, found in parts for interval in _intervals(found))))
        notes += _notes(plan, entry, parts)
        for documents, labels, found in parts:
            several = several or any(len(group.pairs) > 1 for group in found)
            for group in found:
                split = _by_cells(plan, documents, group.by)
                for pair in _pair_cells(labels, group):
                    rows.add(test_set=entry.test_set.name, **split, **pair)
                summary.add(test_set=entry.test_set.name, **split, **_summary_cells(group))
    units = " or ".join(dict.fromkeys(plural(entry.units.exchange_noun) for entry in plan.entries))
    resamples = f", {drawn:,} resamples, seed {plan.how.seed}" if drawn else ""
    how = f"{interval_heading(plan.how.level)} {plan.how.interval.name} over {units}{resamples}" if rows.rows else ""
    return result_of(
        plan.text,
        plan.entries,
        f"agreement between annotators on {on(plan.entries)}",
        rows.table(columns),
        how=how,
        notes=notes,
        summary_table=summary.table(_summary_columns(plan, several)),
    )


def _groups(labels: Labels, plan: AgreePlan, entry: p.Entry, workforce: Workforce) -> Iterator[AnnotatorPairs]:
    from warehouse.query.comparison.intervals import draws_of_intervals
    from warehouse.significance.bootstrap.interval_kinds import IntervalPlan
    from warehouse.statements.agree_groups import groups

    limits = IntervalPlan(float(plan.how.level), plan.how.interval)
    yield from groups(labels, limits, draws_of_intervals(plan.how, entry), workforce)


def _parts(plan: AgreePlan, entry: p.Entry, facts: Facts) -> list[tuple[tuple[Cell, ...], Labels]]:
    """The labels of each group of documents by `by`, where two or more annotators gave some."""
    from warehouse.statements.agree_groups import KEY, labels_of

    known = [{str(name): cell for name, cell in facts[f"annotators by {of.name}"]} for of in plan.of_annotators]
    names = {str(row[0] or KEY) for row in facts[_name(entry)]}
    kinds = {name: tuple(KEY if name == KEY else of.get(name) for of in known) for name in names}
    split = len(plan.of_documents)
    apart: dict[tuple[Cell, ...], list[tuple[Any, ...]]] = {}
    for row in facts[_name(entry)]:
        apart.setdefault(tuple(row[3 : 3 + split]), []).append(row)
    in_order = sorted(apart, key=lambda by: [(cell is None, str(cell)) for cell in by])
    return [(by, labels_of(apart[by], kinds, bool(entry.units.shared))) for by in in_order]


def _by_names(plan: AgreePlan) -> list[str]:
    """What the cells of the `by` values are called among rows."""
    return [f"by {place}" for place in range(len(plan.by))]


def _by_cells(plan: AgreePlan, documents: tuple[Cell, ...], annotators: tuple[Cell, ...]) -> dict[str, Cell]:
    """The `by` values in the order in which they were asked for."""
    of_documents, of_annotators = iter(documents), iter(annotators)
    values = [next(of_documents if dimension.of == "document" else of_annotators) for dimension in plan.by]
    return dict(zip(_by_names(plan), values, strict=True))


def _intervals(found: Sequence[AnnotatorPairs]) -> list[Interval]:
    of_pairs = [interval for group in found for interval in group.intervals if interval is not None]
    return [*of_pairs, *(group.alpha for group in found if group.alpha is not None)]


# --- columns and cells ------------------------------------------------------------------------------------------------


def _columns(plan: AgreePlan) -> tuple[Column, ...]:
    from warehouse.filtering.agreement import LEVELS
    from warehouse.query.comparison.intervals import interval_heading

    return (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        *(Column(dimension.name, "name") for dimension in plan.by),
        Column("annotator_a", "name", "A"),
        Column("annotator_b", "name", "B"),
        Column("documents", "count", plural(noun_of(plan.entries))),
        Column("agreement", "proportion"),
        Column("kappa", "number"),
        Column("se", "number", on_screen=False),
        Column("ci_low", "number", interval_heading(plan.how.level)),
        Column("ci_high", "number", "to", upper=True),
        Column("f_a", "proportion", "F of A", spare=2),
        Column("f_b", "proportion", "F of B", spare=1),
        *(Column(f"{a}_{b}", "count", on_screen=False) for a in LEVELS for b in LEVELS),
    )


def _summary_columns(plan: AgreePlan, several: bool) -> tuple[Column, ...]:
    """The columns of one row per group; the mean kappa is shown if there are several pairs."""
    from warehouse.query.comparison.intervals import interval_heading

    heading = interval_heading(plan.how.level)
    return (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        *(Column(dimension.name, "name") for dimension in plan.by),
        Column("annotators", "count"),
        Column("pairs", "count", on_screen=False),
        Column("kappa", "number", "mean kappa", several),
        Column("kappa_low", "number", heading, several, spare=1),
        Column("kappa_high", "number", "to", several, upper=True),
        Column("alpha", "number"),
        Column("ci_low", "number", heading),
        Column("ci_high", "number", "to", upper=True),
        Column("alpha_ordinal", "number", "ordinal alpha", spare=2),
        Column("ceiling", "proportion", "ceiling of F"),
        Column("ceiling_low", "proportion", heading),
        Column("ceiling_high", "proportion", "to", upper=True),
    )


def _pair_cells(labels: Labels, group: AnnotatorPairs) -> Iterator[dict[str, Cell]]:
    from warehouse.filtering.agreement import LEVELS

    for pair, interval, (f_a, f_b) in zip(group.pairs, group.intervals, group.scores, strict=True):
        yield {
            "annotator_a": labels.annotators[pair.first],
            "annotator_b": labels.annotators[pair.second],
            "documents": pair.documents,
            "agreement": pair.agreement,
            "kappa": pair.kappa,
            "se": interval.error if interval is not None and interval.low is not None else None,
            "ci_low": interval.low if interval is not None else None,
            "ci_high": interval.high if interval is not None else None,
            "f_a": f_a,
            "f_b": f_b,
            **{
                f"{a}_{b}": int(pair.confusion[row, column])
                for row, a in enumerate(LEVELS)
                for column, b in enumerate(LEVELS)
            },
        }


def _summary_cells(group: AnnotatorPairs) -> dict[str, Cell]:
    return {
        "annotators": group.annotators,
        "pairs": len(group.pairs),
        "kappa": group.kappa.value,
        "kappa_low": group.kappa.low,
        "kappa_high": group.kappa.high,
        "alpha": group.together.alpha_nominal if group.together is not None else None,
        "ci_low": group.alpha.low if group.alpha is not None else None,
        "ci_high": group.alpha.high if group.alpha is not None else None,
        "alpha_ordinal": group.together.alpha_ordinal if group.together is not None else None,
        "ceiling": group.ceiling.value,
        "ceiling_low": group.ceiling.low,
        "ceiling_high": group.ceiling.high,
    }


# --- notes ------------------------------------------------------------------------------------------------------------


def _notes(
    plan: AgreePlan, entry: p.Entry, parts: Sequence[tuple[tuple[Cell, ...], Labels, list[AnnotatorPairs]]]
) -> Iterator[str]:
    """Notes without which a group of documents would mislead a reader."""
    if len({name for _, labels, _ in parts for name in labels.annotators}) < 2:
        alone = [labels.annotators[0] for _, labels, _ in parts][:1]
        key = "" if plan.with_key else "; add with key to count the key"
        have = f"only those of {alone[0]}{key}" if alone else "none"
        yield f"agree needs labels of two annotators, and {entry.test_set.name} has {have}"
        return
    for of in plan.of_annotators:
        yield from _undescribed(of, parts)
    for by, labels, found in parts:
        where = ", ".join(str(cell if cell is not None else "–") for cell in by)
        yield from _group_notes(f"{entry.test_set.name}{f', {where}' if by else ''}", entry, labels, found)


def _undescribed(
    of: p.Dimension, parts: Sequence[tuple[tuple[Cell, ...], Labels, list[AnnotatorPairs]]]
) -> Iterator[str]:
    without = {
        name
        for _, labels, _ in parts
        for name, kinds in zip(labels.annotators, labels.kinds, strict=True)
        if None in kinds
    }
    if without:
        yield f"no system with {of.name} has the name of these annotators: {some(sorted(without))}"


def _group_notes(where: str, entry: p.Entry, labels: Labels, found: Sequence[AnnotatorPairs]) -> Iterator[str]:
    from warehouse.query.comparison.interval_notes import interval_notes

    if len(labels.annotators) < 2:
        yield f"agree needs labels of two annotators, and {where} has only those of {labels.annotators[0]}"
        return
    pairs = [
        (f"{labels.annotators[pair.first]} and {labels.annotators[pair.second]}", pair, interval)
        for group in found
        for pair, interval in zip(group.pairs, group.intervals, strict=True)
    ]
    units = plural(entry.units.exchange_noun)
    if apart := [name for name, pair, _ in pairs if not pair.documents]:
        yield f"{where}: these annotators have no {entry.units.noun} in common: {some(apart)}"
    if constant := [name for name, pair, _ in pairs if pair.documents and pair.kappa is None]:
        yield f"{where}: kappa is undefined where both annotators give only one label: {some(constant)}"
    own = {name: interval for name, _, interval in pairs if interval is not None}
    yield from interval_notes(f"kappa on {where}", own, f"the {units} do not vary")
    alphas = {
        "all" if len(found) == 1 else " and ".join(map(str, group.by)): group.alpha
        for group in found
        if group.alpha is not None and len(group.pairs) > 1
    }
    yield from interval_notes(f"alpha on {where}", alphas, f"the {units} do not vary")
    fewest = min((pair.documents for _, pair, interval in pairs if interval is not None), default=FEW)
    if fewest < FEW:
        yield f"{where}: {counted(fewest, entry.units.noun)} say little about kappa in general, whatever the interval"


FEW = 20
"""With fewer documents than this intervals of kappa hold it too seldom (docs/language/agree.md)."""


def subject(entry: p.Entry) -> str:
    return f"the labels of {entry.test_set.name}"


AGREE = Statement(
    node=n.Agree,
    usage=Usage("agree", "agreement between annotators of key labels", "agree on TST3"),
    resolve=resolve,
    compile=compile,
    answer=answer,
    subject=subject,
    executor="label counts in the database, kappa and alpha from the counts; the bootstrap resamples documents",
)

"""The page of a test set: its systems with values, intervals, ranks and letters, as chosen in the form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from evalhouse.warehouse.plans.offers import Offer, best_value, typed_name
from evalhouse.warehouse.render.site.contents import (
    Failure,
    Form,
    FormField,
    Headline,
    IntervalBar,
    Link,
    ListCell,
    ListColumn,
    Listing,
    Order,
    PageBlock,
    PageHeading,
    Paragraphs,
    Tick,
    Ticked,
    Views,
)
from evalhouse.warehouse.render.style import cell
from evalhouse.warehouse.results import UNEVEN, UNEVEN_MEANS, Cell, CellKind, Result, count_behind
from evalhouse.warehouse.session.first_questions import first_tables
from evalhouse.warehouse.significance.tests import ADJUSTMENTS
from evalhouse.warehouse.web.addresses import HOME, TICKED, Address, Links, of_pairs
from evalhouse.warehouse.web.inquiry import Inquiry, offer_of
from evalhouse.warehouse.web.pages.parts import MISSING, answer, answer_statement, pairs_of

# === measures and their values ========================================================================================
# The measures of a result of `score`, and their values with intervals as the tables of pages show them.


class MeasuredColumn(Struct, frozen=True):
    """A measure of a result: its column in the data, its kind, and whether it has intervals."""

    name: str
    kind: CellKind
    has_interval: bool

    @property
    def low(self) -> str:
        """The column of lower limits."""
        return f"ci_low({self.name})"

    @property
    def high(self) -> str:
        """The column of upper limits."""
        return f"ci_high({self.name})"

    is_uneven: bool = False
    """Whether its values rest on different documents, so that none of them is the best."""

    def shown(self, row: Mapping[str, Cell]) -> str:
        """The value of a row."""
        value = row.get(self.name)
        return f"{cell(self.kind, value)} {UNEVEN}" if self.is_uneven and value is not None else cell(self.kind, value)

    def limits(self, row: Mapping[str, Cell]) -> str:
        """The interval of a row."""
        low, high = row.get(self.low), row.get(self.high)
        return "–" if low is None or high is None else f"{cell(self.kind, low)} – {cell(self.kind, high)}"


def measured_columns(values: Result) -> list[MeasuredColumn]:
    """The measures of a result, in order."""
    names, uneven = set(values.columns), {name for _, name in values.uneven}
    return [
        MeasuredColumn(column.name, column.kind, f"ci_low({column.name})" in names, column.name in uneven)
        for column in values.table.columns
        if column.kind in ("proportion", "number") and not column.name.startswith(("se(", "ci_low(", "ci_high("))
    ]


def caption_of(results: Sequence[Result]) -> str:
    """The caption of a table of the values of several answers about the same systems and test sets: that of the first,
    with the measures of all.
    """
    first, *others = (", ".join(measure.name for measure in measured_columns(result)) for result in results)
    return ", ".join((first, *others)) + results[0].caption.removeprefix(first)


def extent_of(rows: Iterable[Mapping[str, Cell]], measure: MeasuredColumn) -> tuple[float, float]:
    """The lowest and the highest limit of a measure."""
    names = (measure.low, measure.name, measure.high)
    numbers = [number for row in rows for name in names if (number := _number(row.get(name))) is not None]
    return (min(numbers), max(numbers)) if numbers else (0.0, 1.0)


def interval(row: Mapping[str, Cell], measure: MeasuredColumn, extent: tuple[float, float]) -> IntervalBar:
    """The interval of a row on the scale of its column."""
    low, middle, high = (_number(row.get(name)) for name in (measure.low, measure.name, measure.high))
    return IntervalBar(middle, low, high, *extent, measure.limits(row))


def _number(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) else None


# === the page =========================================================================================================

VALUES, OTHERS = "values of the first measure", "values of other measures"
AVERAGES = "averages of the first measure over test sets"
RANKS, LETTERS, AGAINST = "ranks of systems", "letters of groups", "differences from a baseline"
"""The purposes of the statements behind a leaderboard."""

FEW_SYSTEMS = 40
"""For up to this many systems, the default number of shuffles is large; for more, readers would have to wait."""

SHUFFLES = (
    ("", "few, so that it is quick"),
    ("999", "999"),
    ("4999", "4,999"),
    ("9999", "9,999"),
    ("99999", "99,999"),
    ("decided", "until every verdict is decided"),
)
"""The numbers of shuffles that can be chosen."""


def heading(address: Address, links: Links) -> PageHeading:
    """The name of the test set."""
    return PageHeading(address.names[0], (Link("Evaluations", links.to(HOME)),))


def blocks(inquiry: Inquiry, address: Address, links: Links) -> Iterator[PageBlock]:
    """The form, the leaderboard, and the statements behind it."""
    test_set = inquiry.test_set(address.names[0])
    offer = offer_of(inquiry, test_set, address.one_of("of"))
    if offer is None:
        yield Paragraphs(("No results on this test set yet.",))
        return
    there = inquiry.offers(test_set)
    if len(there) > 1:
        links_to = ((other, Address("test set", address.names, (("of", other.kind.name),))) for other in there)
        yield Views(
            "Results on this test set",
            tuple(
                Link(other.kind.name, "" if other.kind.name == offer.kind.name else links.to(of_other))
                for other, of_other in links_to
            ),
        )
    systems = inquiry.catalog.names_of(inquiry.catalog.systems_with(offer.kind.name, test_set.id))
    if links.asking(""):
        yield _form(inquiry, address, links, offer, systems)
    statements = _statements(address, offer, len(systems)) | _averages(inquiry, address, offer)
    answers = {part: answer_statement(inquiry, statement) for part, statement in statements.items()}
    known = {part: result for part, result in answers.items() if isinstance(result, Result)}
    if VALUES in known:
        if address.all_of(TICKED):
            yield Paragraphs(("Tick two systems to compare them.",))
        measure = offer.measured(address.all_of("measure"))[0]
        order: Order = "descending" if best_value(inquiry.catalog, offer.kind, test_set, measure) else "ascending"
        yield _table(address, links, offer, known, order)
    yield Headline("How these are computed", "statements")
    for part, result in answers.items():
        if isinstance(result, Failure):
            yield result
        else:
            yield answer(result, links, drawn=part is AGAINST)
            yield from pairs_of(result, links)


def _statements(address: Address, offer: Offer, systems: int) -> dict[str, str]:
    """The statements behind the page, by purpose."""
    measures = offer.measured(address.all_of("measure"))
    where = f" where {subset}" if (subset := address.one_of("where")) else ""
    tail = f" for all on {typed_name(address.names[0])}{offer.of}{where}"
    if not offer.kind.by_document:
        return {VALUES: f"score {', '.join(measures)}{tail}"}
    shuffles = address.one_of("shuffles") or ("4999" if systems <= FEW_SYSTEMS else "999")
    drawn = "" if shuffles == "decided" else f" shuffles {shuffles}"
    missing = f" missing {word}" if (word := address.one_of("missing")) else ""
    drawn += missing
    adjust = address.one_of("adjust")
    of_letters = f" adjust {adjust or 'maxt'}"
    keeps = any(adjustment.name == adjust and adjustment.family_wise for adjustment in ADJUSTMENTS)
    # An interval takes as long as a hundred values, and intervals of other measures are not shown.
    statements = {VALUES: f"score {measures[0]}{tail}{missing} interval"}
    if len(measures) > 1:
        statements[OTHERS] = f"score {', '.join(measures[1:])}{tail}{missing}"
    if systems > 1:
        statements[RANKS] = f"rank {measures[0]}{tail}{drawn}{of_letters if keeps else ''}"
        statements[LETTERS] = f"group {measures[0]}{tail}{drawn}{of_letters}"
    if baseline := address.one_of("against"):
        adjusted = f" adjust {adjust}" if adjust else ""
        tested = f" for all against {typed_name(baseline)} on {typed_name(address.names[0])}{offer.of}{where}"
        statements[AGAINST] = f"compare {measures[0]}{tested}{drawn}{adjusted}"
    return statements


def _averages(inquiry: Inquiry, address: Address, offer: Offer) -> dict[str, str]:
    """The statement for averages over this test set and others like it, where they have sense: of whole test sets that
    have the measure.
    """
    measure, catalog = offer.measured(address.all_of("measure"))[0], inquiry.catalog
    name = catalog.short_name(inquiry.test_set(address.names[0]))
    if address.one_of("where"):
        return {}
    for table in first_tables(catalog, named=inquiry.measures):
        if not table.averaged or name not in table.test_sets or not offer.kind.by_document:
            continue
        there = [(inquiry.test_set(one), offer_of(inquiry, inquiry.test_set(one), "")) for one in table.test_sets]
        if all(of is not None and of.kind is offer.kind and measure in (*of.measures, *of.wanted) for _, of in there):
            missing = f" missing {word}" if (word := address.one_of("missing")) else ""
            return {AVERAGES: f"{table.together_by(measure)}{missing}"}
    return {}


# --- the form ---------------------------------------------------------------------------------------------------------


def _form(inquiry: Inquiry, address: Address, links: Links, offer: Offer, systems: Sequence[str]) -> Form:
    chosen = offer.measured(address.all_of("measure"))
    measures = [*chosen, *(name for name in offer.measures if name not in chosen)]
    attributes = [
        f"{of}.{name}" for of, names in inquiry.catalog.attributes.items() for name in names if of == "document"
    ]
    choices = [
        FormField("measure", "Measures, the first of which ranks", "boxes", _alike(measures), chosen),
        FormField("against", "Baseline", "one of", (("", "none"), *_alike(systems)), address.all_of("against")),
        FormField(
            "adjust",
            "Adjustment",
            "one of",
            (("", "max-T"), *((adjustment.name, adjustment.name) for adjustment in ADJUSTMENTS)),
            address.all_of("adjust"),
        ),
        FormField("shuffles", "Shuffles", "one of", SHUFFLES, address.all_of("shuffles")),
        FormField("missing", "Missing documents", "one of", MISSING, address.all_of("missing")),
        FormField(
            "where", "Only where", "text", chosen=address.all_of("where"),
            hint=f"{attributes[0]} = …" if attributes else 'document like "a%"',
        ),
    ]  # fmt: skip
    hidden = (("of", offer.kind.name),) if offer.several else ()
    action = links.to(Address(address.kind, address.names))
    return Form("Choose measures, baseline and subset", action, tuple(choices), hidden)


def _alike(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, name) for name in names)


# --- the table --------------------------------------------------------------------------------------------------------


def _table(
    address: Address,
    links: Links,
    offer: Offer,
    known: Mapping[str, Result],
    order_of_values: Order,
) -> Listing:
    values = known[VALUES]
    first = measured_columns(values)[0]
    others = measured_columns(known[OTHERS]) if OTHERS in known else []
    ranks = _by_system(known.get(RANKS))
    letters = _by_system(known.get(LETTERS))
    of_system = _by_system(values)
    of_others = _by_system(known.get(OTHERS))
    order = list(ranks) + [system for system in of_system if system not in ranks]
    extent = extent_of(of_system.values(), first) if first.has_interval else (0.0, 1.0)
    columns = [ListColumn("system", "name")]
    if ranks:
        columns.insert(0, ListColumn("ranks", "number", "the ranks that the system may have, for all systems together"))
    counted = any(measure.is_uneven for measure in (first, *others))
    if counted:
        columns.append(ListColumn("documents", "number", UNEVEN_MEANS))
    columns.append(ListColumn(first.name, "number"))
    if first.has_interval:
        columns.append(ListColumn("95% CI", "interval"))
    if letters:
        columns.append(ListColumn("groups", "letters", "systems that share a letter do not differ significantly"))
    columns += [ListColumn(measure.name, "number") for measure in others]
    averages = _by_system(known.get(AVERAGES))
    average = measured_columns(known[AVERAGES])[0] if averages else None
    if average is not None:
        columns.append(ListColumn("average", "number", known[AVERAGES].caption))
    best = order[0] if order else ""
    compared = address.one_of("against", best)
    pairs = offer.kind.by_document and len(order) > 1
    if pairs:
        columns.append(ListColumn(f"against {compared}"))
    # A site of files has nobody who takes what is ticked.
    ticks = pairs and bool(links.asking(""))
    if ticks:
        columns.append(ListColumn("compare"))
    rows = []
    for system in order:
        row = of_system.get(system, {})
        cells: list[ListCell] = [Link(system, links.to(Address("system", (system,))))]
        if ranks:
            cells.insert(0, _ranks(ranks.get(system, {})))
        if counted:
            cells.append(cell("count", count_behind(row, first.name)))
        cells.append(first.shown(row))
        if first.has_interval:
            cells.append(interval(row, first, extent))
        if letters:
            cells.append(str(letters.get(system, {}).get("letters") or ""))
        cells += [measure.shown({**of_others.get(system, {}), **row}) for measure in others]
        if average is not None:
            cells.append(average.shown(averages.get(system, {})))
        if pairs:
            cells.append(
                "" if system == compared else Link("compare", links.to(_pair(address, offer, system, compared)))
            )
        if ticks:
            cells.append(Tick(TICKED, system, f"compare {system}"))
        rows.append(tuple(cells))
    shown = caption_of([known[part] for part in (VALUES, OTHERS) if part in known])
    sorted_by = next(place for place, column in enumerate(columns) if column.heading == first.name)
    return Listing(
        shown,
        tuple(columns),
        tuple(_align_letters(rows, columns)),
        order=(sorted_by, order_of_values),
        ticked=_ticked(address, links) if ticks else None,
    )


def _ticked(address: Address, links: Links) -> Ticked:
    """What is done with the two systems that are ticked."""
    action = links.to(Address(address.kind, address.names))
    return Ticked(action, "Compare the two that are ticked", of_pairs(address))


def _pair(address: Address, offer: Offer, first: str, second: str) -> Address:
    of = (("of", offer.kind.name),) if offer.several else ()
    measure = tuple(("measure", name) for name in address.all_of("measure")[:1])
    return Address("pair", (address.names[0], first, second), of + measure)


def _by_system(result: Result | None) -> dict[str, Mapping[str, Cell]]:
    """The rows of a result by system, in order."""
    return {str(row["system"]): row for row in result.rows} if result else {}


def _ranks(row: Mapping[str, Cell]) -> str:
    low, high = row.get("rank_low"), row.get("rank_high")
    if low is None:
        return "–"
    return f"{low}" if low == high else f"{low}–{high}"


def _align_letters(rows: list[tuple[ListCell, ...]], columns: Sequence[ListColumn]) -> Iterator[tuple[ListCell, ...]]:
    """The letters of groups, aligned so that each group reads as a line down the ranking."""
    place = next((place for place, column in enumerate(columns) if column.kind == "letters"), None)
    if place is None:
        yield from rows
        return
    written = [str(row[place]).split() for row in rows]
    all_letters = sorted({letter for letters in written for letter in letters}, key=lambda one: (len(one), one))
    for row, letters in zip(rows, written, strict=True):
        drawn = " ".join(one if one in letters else " " * len(one) for one in all_letters)
        yield (*row[:place], drawn, *row[place + 1 :])

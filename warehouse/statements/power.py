"""`power`: how often a difference of a given size would be found with so many documents, how many are needed to find it
as often as is wanted, and which is the smallest that those there are find as often.

Never the power of the difference that was observed: it follows from its p, and says nothing more (Hoenig and Heisey
2001).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import ceil, log10
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.clauses import as_typed
from evalhouse.grammar.editing.hints import number_text
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.comparing.notes import comparison_notes, subject_of
from evalhouse.warehouse.comparing.pairs import Comparison, Pair, comparison_queries, comparisons, count_of_pairs
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.notes import Figure, Note, count
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import Size, noun_of, on, sizes, unit_of
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Line, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.plans.testing import check_two, difference_after, holding_against, tested_entries, testing_of
from evalhouse.warehouse.results import CellKind, Column, Result, TableRows
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.power.pilots import LEAST_UNITS, limits_of_variance
from evalhouse.warehouse.significance.shuffles.sequential import confidence, verdict
from evalhouse.warehouse.significance.tests import ADJUSTMENTS, TESTS
from evalhouse.warehouse.statements import sentences

if TYPE_CHECKING:
    from evalhouse.warehouse.significance.power.populations import Population
    from evalhouse.warehouse.significance.power.simulation import Simulation
    from evalhouse.warehouse.significance.sums import Sums

DEFAULT_WANTED = Decimal("0.8")
SIMULATIONS = 2000
"""Simulations per cell: the standard error of a power is at most 1.1 points."""

MOST_DOCUMENTS = 10**9
MOST_CELLS = 2000
"""The most powers that are simulated, which takes a few minutes."""

SHARES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""The default numbers of documents, as shares of those there are."""


class PowerPlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]
    how: p.Testing
    detect: tuple[p.Margin, ...]
    documents: tuple[int, ...]
    wanted: Decimal


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Power, scope: Scope) -> PowerPlan:
    entries = holding_against(statement, tested_entries(statement, statement.test_sets, scope), scope)
    for entry in entries:
        check_two("power", entry.systems, entry, statement)
        for statistic, node in zip(entry.statistics, statement.measures, strict=False):
            if statistic.ordered:
                raise QueryError(
                    f"power is not available for {statistic.label}, which is not computed from sums", node.span
                )
        if entry.units.exchanges_runs:
            place = statement.exchange.span if statement.exchange else statement.span
            raise QueryError("power resamples documents, but whole systems are exchanged here", place)
    how = testing_of(statement, entries, scope)
    if statement.test is not None and not how.test.exact:
        others = f"power is only available for test {TESTS[0].name}, not for {how.test_name}"
        raise QueryError(others, statement.test.span)
    if statement.adjust is not None and how.adjustment.adjusts:
        raise QueryError(
            "power looks at each comparison by itself",
            statement.adjust.span,
            ("to adjust, lower the level: level 0.01 is 0.05 divided by 5 comparisons",),
        )
    wanted = scope.share(statement.wanted, "power", DEFAULT_WANTED)
    if wanted <= how.level:
        place = statement.wanted.span if statement.wanted else statement.span
        raise QueryError(f"the power must be above the level {how.level}, not {number_text(wanted)}", place)
    detect = tuple(dict.fromkeys(difference_after("detect", node, entries, scope) for node in statement.detect))
    documents = (scope.whole(node, "a number of documents", 1, MOST_DOCUMENTS) for node in statement.sizes)
    plan = PowerPlan(
        text=to_text(statement),
        entries=entries,
        how=replace(how, adjustment=ADJUSTMENTS[0]),
        detect=detect,
        documents=tuple(dict.fromkeys(number for number in documents if number is not None)),
        wanted=wanted,
    )
    if (cells := _cells(plan)) > MOST_CELLS:
        raise QueryError(
            f"that would be {cells:,} simulations of power; at most {MOST_CELLS:,} are allowed",
            statement.span,
            ("name fewer systems, differences or numbers of documents",),
        )
    return plan


def _cells(plan: PowerPlan) -> int:
    return count_of_pairs(plan.entries) * (len(plan.detect) or 3) * (len(plan.documents) or len(SHARES))


def compile(plan: PowerPlan) -> Queries:
    return tuple(query for entry in plan.entries for query in comparison_queries(plan.how, entry))


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: PowerPlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per pair, difference and number of documents; the summary has one row per pair and difference."""
    columns, summary_columns = _columns(plan), _summary_columns(plan)
    rows, summary = TableRows.of(columns), TableRows.of(summary_columns)
    notes: list[str] = []
    known: list[tuple[str, Size]] = []
    ways: dict[str, None] = {}
    pairs = list(_pairs(plan, facts))
    _check_shuffles(plan)
    for place, (comparison, pair) in enumerate(pairs):
        known.append((comparison.entry.test_set.name, _size(comparison)))
        _check_pilot(comparison)
        population = population_of_pair(comparison, pair)
        if population is None:
            notes.append(_never_differ(plan, comparison, pair, len(pairs)))
            continue
        ways[_way(population)] = None
        notes += _add(plan, comparison, pair, population, workforce, rows, summary)
        notes += comparison_notes(comparison)
        workforce.work.progress((place + 1) / len(pairs))
    labels = dict.fromkeys(comparison.statistic.label for comparison, _ in pairs)
    needed = summary.table(summary_columns)
    return result_of(
        plan.text,
        plan.entries,
        f"power for {', '.join(labels)} on {on(plan.entries)}",
        rows.table(columns),
        how=_how(plan, known, ways),
        settings=_settings(plan),
        notes=notes,
        summary_table=needed,
        sentence=sentences.of_power(needed, float(plan.wanted), plural(noun_of(plan.entries))),
    )


def _pairs(plan: PowerPlan, facts: Facts) -> Iterator[tuple[Comparison, Pair]]:
    for entry in plan.entries:
        for batch in comparisons(plan.how, entry, facts):
            for comparison in batch:
                yield from ((comparison, pair) for pair in comparison.pairs)


def _check_pilot(comparison: Comparison) -> None:
    """Raises QueryError for so few documents that they do not tell how much differences vary."""
    units, noun = comparison.observations.units, comparison.entry.units.exchange_noun
    if units < LEAST_UNITS:
        raise QueryError(
            f"{comparison.entry.test_set.name} has {quantity(units, noun)}, and power needs at least {LEAST_UNITS}: "
            "fewer do not tell how much differences vary, not even to a factor of twenty"
        )


MOST_TERMS = 2**26
"""So many products of two columns, times exchange units, fit into memory."""


def _check_terms(comparison: Comparison, sums: Sums) -> None:
    """Raises QueryError for a function of so many sums that simulations do not fit into memory."""
    if sums.is_function and len(sums.columns) ** 2 // 2 * sums.units > MOST_TERMS:
        units = quantity(sums.units, comparison.entry.units.exchange_noun)
        raise QueryError(
            f"{comparison.entry.test_set.name} has {units}, too many for power of {comparison.statistic.label}"
        )


def population_of_pair(comparison: Comparison, pair: Pair) -> Population | None:
    """What the documents of two systems are resampled as, the better of which is to be the first; None where the two
    never differ."""
    from evalhouse.warehouse.significance.power.populations import population_of

    a, b = reversed(pair) if comparison.statistic.measure.lower_is_better else pair
    sums = comparison.data_of(a, b)
    _check_terms(comparison, sums)
    equal = sums.is_ratio and bool((sums.denominators[0] == sums.denominators[1]).all())
    of_values = comparison.statistic.averaged or comparison.observations.values is not None
    factor = float(sums.factor / Fraction(10) ** exponent_of_pair(comparison, pair))
    return population_of(sums, factor, of_values and equal and not sums.all_counted)


TINY, HUGE = -60, 60
"""Exponents of ten between which fourth powers of values neither vanish nor overflow."""


def exponent_of_pair(comparison: Comparison, pair: Pair) -> int:
    """The power of ten in which a population has the values of a pair: 0 unless they are very small or very large."""
    sums = comparison.data_of(*pair)
    largest = abs(sums.factor) * int(abs(sums.columns[0]).max(initial=1))
    exponent = len(str(largest.numerator)) - len(str(largest.denominator))
    return 0 if TINY <= exponent <= HUGE else exponent


def _add(
    plan: PowerPlan,
    comparison: Comparison,
    pair: Pair,
    population: Population,
    workforce: Workforce,
    rows: TableRows,
    summary: TableRows,
) -> Iterator[str]:
    """Adds the rows of a pair, and yields the notes."""
    simulation = _simulation(plan, comparison, population)
    observations, a_and_b = comparison.observations, [comparison.entry.systems[place].name for place in pair]
    of_pair = {
        "test_set": comparison.entry.test_set.name,
        "measure": comparison.statistic.label,
        "system_a": a_and_b[0],
        "system_b": a_and_b[1],
    }
    there = observations.documents
    exponent = exponent_of_pair(comparison, pair)
    amounts = [_amount(one, comparison, pair) for one in plan.detect]
    # What is simulated is in units of 10^exponent. A difference that is so many times what systems have is found in any
    # units, and no larger one is found more surely.
    simulated = [float(min(amount.scaleb(-exponent), Decimal(10) ** HUGE)) for amount in amounts]
    detect = [float(amount) for amount in amounts]
    if not amounts:
        simulated = _round_amounts(simulation, observations.units, plan.wanted)
        detect = [_times_ten_to(exponent, amount) for amount in simulated]
    documents = plan.documents or tuple(dict.fromkeys(max(1, round(share * there)) for share in SHARES))
    units = [max(1, round(number * observations.units / there)) for number in documents]
    wanted = float(plan.wanted)
    questions: list[partial[Any]] = [
        partial(simulation.detectable, observations.units, wanted),
        *(partial(simulation.powers, many, simulated) for many in units),
        *(partial(simulation.needed, amount, wanted) for amount in simulated),
    ]
    detectable, *found_apart = workforce.done(_simulate, questions)
    powers, needs = found_apart[: len(units)], found_apart[len(units) :]
    for place, amount in enumerate(detect):
        for number, many, found in zip(documents, units, powers, strict=True):
            power = found[place]
            rows.add(
                **of_pair,
                detect=amount,
                documents=number,
                power=None if power is None else power.power,
                least_p=simulation.least(many),
                exaggeration=None if power is None else power.exaggeration,
                simulations=SIMULATIONS,
            )
    fewest, most = limits_of_variance(observations.units, population.kurtosis)
    for amount, needed in zip(detect, needs, strict=True):
        documents_needed, low, high = (
            None if needed is None else ceil(needed * times * there / observations.units) for times in (1, fewest, most)
        )
        summary.add(
            **of_pair,
            detect=amount,
            documents=there,
            documents_needed=documents_needed,
            documents_needed_low=low,
            documents_needed_high=high,
            detectable=None if detectable is None else _times_ten_to(exponent, detectable),
        )
    reach = _times_ten_to(exponent, population.reach)
    subject, unit = subject_of(comparison, pair), comparison.entry.unit
    if too_large := [amount for amount in detect if amount > reach]:
        verb = "is" if len(too_large) == 1 else "are"
        out = (
            f"{_amounts(too_large, unit)} {verb} out of reach; even if every {comparison.entry.units.exchange_noun} in "
        )
        favoured = "which the two differ favoured the first, they would differ by only "
        yield Note(subject, out, favoured, Figure(float(reach), _amounts([reach], unit)))
    if hopeless := [number for number, many in zip(documents, units, strict=True) if _hopeless(simulation, many, plan)]:
        few = f" {comparison.entry.units.noun if max(hopeless) == 1 else plural(comparison.entry.units.noun)}"
        few += " or fewer" if len(hopeless) > 1 else ""
        too_few = f"{few}, usually too few differ for a p of {plan.how.level}"
        yield Note(subject, "with ", count(max(hopeless)), too_few)
    observed = abs(comparison.difference(*pair) or 0.0)
    if any(
        abs(amount - observed) < (0.5e-4 if unit == "proportion" else 1e-9 * observed) for amount in map(float, amounts)
    ):
        own = " is the observed difference; its power follows from its p and says nothing more (Hoenig and Heisey 2001)"
        choose = ", so choose a difference that would matter"
        yield Note(subject, Figure(observed, _amounts([observed], unit)), f"{own}{choose}")


def _amount(detect: p.Margin, comparison: Comparison, pair: Pair) -> Decimal:
    """A difference to detect, in the unit of the measure. Raises QueryError for a part of what is not above 0."""
    if not detect.of_second:
        return detect.amount
    whole = comparison.values[pair[1]]
    if whole is None or whole <= 0:
        second = comparison.entry.systems[pair[1]].name
        raise QueryError(f"{detect.written}: the {comparison.statistic.label} of {second} is not above 0")
    return detect.amount * Decimal(repr(whole))


def _times_ten_to(exponent: int, amount: float) -> float:
    """An amount times 10^exponent, with the digits that it has."""
    return float(Decimal(repr(amount)).scaleb(exponent))


def _simulate(question: partial[Any]) -> Any:
    return question()


def _hopeless(simulation: Simulation, units: int, plan: PowerPlan) -> bool:
    return simulation.least(units) > float(plan.how.level)


def _simulation(plan: PowerPlan, comparison: Comparison, population: Population) -> Simulation:
    """The simulation of a pair. Its chance depends on the seed, the test set and the number of documents alone."""
    from evalhouse.warehouse.significance.power.simulation import Criterion, Simulation

    how = plan.how
    most = _most_extreme(how, how.shuffles) if how.shuffles is not None else 0
    criterion = Criterion(float(how.level), how.sides, how.shuffles, most)
    return Simulation(population, criterion, Draws(SIMULATIONS, how.seed, comparison.stream))


SHUFFLES = (19, 39, 99, 199, 499, 999, 1999, 4999, 9999, 99_999, 999_999)
"""Usual numbers of shuffles."""


def _check_shuffles(plan: PowerPlan) -> None:
    """Raises QueryError if this many shuffles could never decide that a p is at most the level."""
    how = plan.how
    if how.shuffles is not None and _most_extreme(how, how.shuffles) < 0:
        enough = next((f"shuffles {more}" for more in SHUFFLES if _most_extreme(how, more) >= 0), "")
        raise QueryError(
            f"{how.shuffles:,} shuffles cannot show with confidence {how.confidence} that any p is at most {how.level}",
            hints=tuple(filter(None, (enough,))),
        )


def _most_extreme(how: p.Testing, shuffles: int) -> int:
    """How many of so many shuffles may be as extreme as what was observed for the verdict to be significant; −1 where
    none may be."""
    level, gamma = float(how.level), float(how.confidence)
    low, high = -1, shuffles
    while low < high:
        nge = (low + high + 1) // 2
        found = verdict((nge + 1) / (shuffles + 1), confidence(nge, shuffles, level), level, gamma)
        low, high = (nge, high) if found == "significant" else (low, nge - 1)
    return low


def _round_amounts(simulation: Simulation, units: int, wanted: Decimal) -> list[float]:
    """Three round differences, 1, 2 or 5 times a power of ten, around the smallest that is expected to be found."""
    about = simulation.expected_amount(units, float(wanted))
    power = round(log10(about))
    steps = [float(f"{step}e{exponent}") for exponent in range(power - 3, power + 2) for step in (1, 2, 5)]
    middle = min(range(len(steps)), key=lambda place: abs(log10(steps[place] / about)))
    return [step for step in steps[: middle + 2] if step <= simulation.population.reach][-3:]


def _never_differ(plan: PowerPlan, comparison: Comparison, pair: Pair, pairs: int) -> str:
    """Two systems that never differ: an error if nothing else was asked, else a note."""
    a, b = (comparison.entry.systems[place].name for place in pair)
    where, unit = comparison.entry.test_set.name, comparison.entry.units.exchange_noun
    said = f"{a} and {b} do not differ in {comparison.statistic.label} on any {unit} of {where}"
    if pairs == 1:
        raise QueryError(f"{said}, so nothing is known about how much such differences vary")
    return said


# --- what it is called ------------------------------------------------------------------------------------------------


def _size(comparison: Comparison) -> Size:
    observations = comparison.observations
    return Size.of(comparison.entry, observations.documents, observations.units)


def _way(population: Population) -> str:
    from evalhouse.warehouse.significance.power.populations import Shifted

    return "shifted" if isinstance(population, Shifted) else "oriented"


def _how(plan: PowerPlan, known: Sequence[tuple[str, Size]], ways: Sequence[str] | dict[str, None]) -> str:
    how = plan.how
    test = "exact" if how.shuffles is None else f"{how.shuffles:,} {how.drawn}"
    level = f"{as_typed('level', how.spoken)} {how.level}"
    return (
        f"{how.test_name} test, {test}, {how.sides}, {level}; {sizes(known)} resampled and {' or '.join(ways)}, "
        f"{SIMULATIONS:,} simulations each, seed {how.seed}"
    )


def _settings(plan: PowerPlan) -> list[str]:
    how = plan.how
    exchanged = dict.fromkeys(entry.units.exchange.name for entry in plan.entries)
    return [
        f"test {how.test_name}",
        how.sides,
        "exact" if how.shuffles is None else f"shuffles {how.shuffles}",
        f"exchange by {', '.join(exchanged)}",
        f"simulations {SIMULATIONS}",
        f"seed {how.seed}",
        f"missing {how.missing}",
    ]


def _unit(plan: PowerPlan) -> CellKind:
    return unit_of(plan.entries)


def _of_pairs(plan: PowerPlan) -> tuple[Column, ...]:
    """The columns that tell pairs apart, on screen where there are several."""
    statistics = {statistic.label for entry in plan.entries for statistic in entry.statistics}
    several = any(len(entry.systems) > 2 for entry in plan.entries)
    return (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        Column("measure", "name", on_screen=len(statistics) > 1),
        Column("system_a", "name", "A", on_screen=several),
        Column("system_b", "name", "B", on_screen=several),
    )


def _columns(plan: PowerPlan) -> tuple[Column, ...]:
    return (
        *_of_pairs(plan),
        Column("detect", _unit(plan), "difference"),
        Column("documents", "count", plural(noun_of(plan.entries))),
        Column("power", "proportion"),
        Column("least_p", "probability", "least p", spare=1),
        Column("exaggeration", "number", spare=2),
        Column("simulations", "count", on_screen=False),
    )


def _summary_columns(plan: PowerPlan) -> tuple[Column, ...]:
    noun, wanted = plural(noun_of(plan.entries)), f"{(100 * plan.wanted).normalize():f}%"
    return (
        *_of_pairs(plan),
        Column("detect", _unit(plan), "difference"),
        Column("documents", "count", noun),
        Column("documents_needed", "count", f"{noun} for {wanted}"),
        Column("documents_needed_low", "count", "from"),
        Column("documents_needed_high", "count", "to"),
        Column("detectable", _unit(plan), f"found with {wanted}", spare=1),
    )


def _amounts(amounts: Sequence[float], unit: str) -> str:
    written_so = [f"{100 * amount:.4g}%" if unit == "proportion" else f"{amount:.4g}" for amount in amounts]
    return " and ".join(written_so)


def weigh(plan: PowerPlan, facts: Facts) -> Iterator[Line]:
    """What would be simulated."""
    for comparison, pair in _pairs(plan, facts):
        population = population_of_pair(comparison, pair)
        named = " and ".join(comparison.entry.systems[place].name for place in pair)
        noun, label = comparison.entry.units.exchange_noun, f"{comparison.statistic.label} of {named}"
        if population is None:
            yield "simulation", f"{label}: none, since they never differ"
        elif _way(population) == "shifted":
            yield "simulation", f"{label}: the differences of {plural(noun)}, centred, shifted and resampled"
        else:
            reach = _times_ten_to(exponent_of_pair(comparison, pair), population.reach)
            yield (
                "simulation",
                f"{label}: {plural(noun)} resampled, each with the chance of favouring the first system at which they "
                f"differ by as much as asked, {_amounts([reach], comparison.entry.unit)} at most",
            )
    yield from (("exchange", f"{entry.test_set.name}: by {entry.units.exchange.name}") for entry in plan.entries)
    sizes_asked = len(plan.documents) or len(SHARES)
    yield "simulations", f"{SIMULATIONS:,} for each of {sizes_asked} numbers of documents, the same for all differences"
    test = plan.how.test
    yield "test", f"{test.name}: {test.meaning} ({test.source})"
    yield "seed", str(plan.how.seed)


POWER = Statement(
    node=n.Power,
    usage=Usage(
        "power MEASURE, …",
        "how often a difference would be found with a number of documents, and how many documents are needed",
        "power F for GE, UMASS on TST3 detect 2%, 5% documents 100, 400",
        of_rows="""\
>>> r = eh.power(rows, "accuracy", "new", "base", detect=0.2, documents=120)
>>> r[0]["documents"], r[0]["power"]
(120, 0.936)
""",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    weigh=weigh,
)

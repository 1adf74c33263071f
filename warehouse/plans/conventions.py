"""Whether what was found depends on how optional documents count: one measure by all four conventions, side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations

from evalhouse.warehouse.measures import Statistic
from evalhouse.warehouse.measures.filtering import BOUNDS, CONVENTIONS, OPTIONAL
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.results import Cell, TableRows

_LISTED = 3
"""For up to this many findings, the note tells what each convention gives."""

ByConvention = Mapping[str, str]
"""The labels of one measure by convention."""

Findings = Mapping[tuple[str, str], Mapping[str, str]]
"""By test set and label of a measure, what was found of each thing: by a pair's name its verdict."""


def is_bounded(statistic: Statistic) -> bool:
    """Whether a statistic is compared for every labelling of the optional documents."""
    return statistic.settings.get(CONVENTIONS.name) == BOUNDS


def headings(statistics: Sequence[Statistic], between: str) -> dict[str, str]:
    """What the columns of measures are called on screen that differ in how optional documents count: the convention
    stands behind the rest, or in a line below it.
    """
    found: dict[str, tuple[str, str]] = {}
    for statistic in statistics:
        convention = str(statistic.settings.get(CONVENTIONS.name, ""))
        given = f"{CONVENTIONS.name}={convention}"
        rest = statistic.label.replace(f", {given})", ")").replace(f"({given})", "")
        found[statistic.label] = rest, convention
    differing = {rest for label, (rest, _) in found.items() if rest != label}
    return {label: f"{rest}{between}{convention}" for label, (rest, convention) in found.items() if rest in differing}


def families(entry: p.Entry) -> Iterator[ByConvention]:
    """The measures that an entry has by all conventions."""
    by_measure: dict[tuple[object, ...], dict[str, str]] = {}
    for statistic in entry.statistics:
        convention = str(statistic.settings.get(CONVENTIONS.name, ""))
        by_measure.setdefault(_without(statistic), {})[convention] = statistic.label
    for family in by_measure.values():
        if all(convention in family for convention in OPTIONAL):
            yield {convention: family[convention] for convention in OPTIONAL}


def _without(statistic: Statistic) -> tuple[object, ...]:
    """What identifies a measure, whatever its convention."""
    rest = tuple(sorted((key, str(of)) for key, of in statistic.settings.items() if key != CONVENTIONS.name))
    return statistic.measure.name, statistic.averaged, rest


def notes(entries: Sequence[p.Entry], findings: Callable[[], Findings], one: str, several: str) -> Iterator[str]:
    """One sentence per measure and test set: whether the findings, `one` or `several` of them, are the same by all
    conventions, and else which are not. The findings are only looked for where a measure is there by all conventions.
    """
    by_all = [(entry.test_set.name, family) for entry in entries for family in families(entry)]
    found = findings() if by_all else {}
    for where, family in by_all:
        by_convention = {convention: found.get((where, label), {}) for convention, label in family.items()}
        things = list(dict.fromkeys(thing for of in by_convention.values() for thing in of))
        said = {thing: {name: of.get(thing, "–") for name, of in by_convention.items()} for thing in things}
        depending = [thing for thing in things if len(set(said[thing].values())) > 1]
        what = f"{family[str(CONVENTIONS.default)]} on {where}"
        if not things:
            continue
        if not depending:
            kind = f"the {one} is" if len(things) == 1 else f"all {len(things):,} {several} are"
            yield f"{what}: {kind} the same under all four conventions for optional documents"
        elif len(depending) > _LISTED:
            yield (
                f"{what}: {len(depending):,} of {len(things):,} {several} depend on how optional documents count, "
                f"for example those on {', '.join(depending[:_LISTED])}"
            )
        else:
            for thing in depending:
                depends = f"{what}: the {one} on {thing} depends on how optional documents count"
                yield f"{depends}: {_by_finding(said[thing])}"


def _by_finding(said: Mapping[str, str]) -> str:
    """significant for GE by credit, excluded; not significant by relevant, nonrelevant."""
    by_finding: dict[str, list[str]] = {}
    for convention, finding in said.items():
        by_finding.setdefault(finding, []).append(convention)
    return "; ".join(f"{finding} by {', '.join(conventions)}" for finding, conventions in by_finding.items())


def of_pairs(rows: TableRows) -> Findings:
    """The verdicts of the rows of a comparison; a significant one says for whom."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    names = ("test_set", "measure", "system_a", "system_b", "difference", "verdict")
    for test_set, measure, a, b, difference, verdict in zip(*(rows.cells(name) for name in names), strict=True):
        higher = a if isinstance(difference, float) and difference > 0 else b
        said = f"{verdict} for {higher}" if verdict == "significant" else str(verdict)
        found.setdefault((str(test_set), str(measure)), {})[f"{a} and {b}"] = said
    return found


def of_systems(rows: TableRows, *columns: str) -> Findings:
    """What some columns say of each system: its letters, its ranks."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    cells: Sequence[Sequence[Cell]] = [rows.cells(name) for name in ("test_set", "measure", "system", *columns)]
    for test_set, measure, system, *said in zip(*cells, strict=True):
        text = " to ".join(dict.fromkeys(str(cell) for cell in said))
        found.setdefault((str(test_set), str(measure)), {})[str(system)] = text
    return found


def of_letters(rows: TableRows) -> Findings:
    """Of each pair of systems whether they share a letter."""
    letters = of_systems(rows, "letters")
    return {
        where: {
            f"{a} and {b}": "alike" if set(said[a].split()) & set(said[b].split()) else "different"
            for a, b in combinations(sorted(said), 2)
        }
        for where, said in ((where, dict(of)) for where, of in letters.items())
    }


def of_the_best(entries: Sequence[p.Entry], rows: TableRows, uneven: Collection[str]) -> Iterator[str]:
    """Whether one system is the best of several by all conventions, and else which is by which; of no test set of
    `uneven` ones, on which systems were scored on different documents.
    """
    names = ("test_set", "system")
    for entry in entries:
        where = entry.test_set.name
        if where in uneven:
            continue
        places = {statistic.label: place for place, statistic in enumerate(entry.statistics)}
        for family in families(entry):
            best: dict[str, str] = {}
            for convention, label in family.items():
                sign = -1 if entry.statistics[places[label]].measure.lower_is_better else 1
                cells = zip(*(rows.cells(name) for name in names), rows.cells(f"value {places[label]}"), strict=True)
                values = {str(system): value for test_set, system, value in cells if test_set == where}
                known = {system: sign * of for system, of in values.items() if isinstance(of, float)}
                top = max(known.values(), default=0.0)
                best[convention] = " and ".join(system for system, of in known.items() if of == top)
            if len(known) < 2:
                continue
            what = f"{family[str(CONVENTIONS.default)]} on {where}"
            if len(set(best.values())) == 1:
                yield (
                    f"{what}: best for {best[str(CONVENTIONS.default)]} under all four conventions for "
                    "optional documents"
                )
            else:
                yield f"{what}: which system is best depends on how optional documents count: {_by_finding(best)}"

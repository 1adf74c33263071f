"""Which stored counts a measure of the language means by those that it needs: attempts, or BLEU|nrefs:1|tok:13a|sys.

It compares names and knows no warehouse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from warehouse.measures import Function, Measure, Ratio, Setting
from warehouse.measures.measure import Computation
from warehouse.tasks.records import BETWEEN


def count_named(name: str, counts: Sequence[str]) -> str | None:
    """The count of a name, else the one of that name in another case; None where there is none."""
    exact = [count for count in counts if count == name]
    return next(iter(exact or (count for count in counts if count.casefold() == name.casefold())), None)


def ways(measure: Measure, counts: Sequence[str], settings: Mapping[str, Setting]) -> dict[str, dict[str, str]]:
    """By how they were counted, the counts that a measure needs and what they are stored as; those that settings choose
    of several. Empty where some are not there.
    """
    found: dict[str, dict[str, str]] = {}
    if not measure.family:
        names = {need: count_named(need, counts) or "" for need in measure.needs}
        return {"": names} if all(names.values()) else {}
    for stored in counts:
        family, _, rest = stored.partition(BETWEEN)
        how, _, need = rest.rpartition(BETWEEN)
        if family == measure.family:
            found.setdefault(how, {})[need] = stored
    tokenize = settings.get("tokenize")
    return {
        how: names
        for how, names in found.items()
        if names.keys() >= set(measure.needs) and (tokenize in (None, "any") or f"tok:{tokenize}" in how.split(BETWEEN))
    }


def is_made_of(measure: Measure, counts: Sequence[str]) -> bool:
    """Whether a measure needs no stored counts, or these are all that it needs."""
    return not measure.needs or bool(ways(measure, counts, {}))


def over_stored(measure: Measure, names: Mapping[str, str]) -> Measure:
    """A measure over counts as they are stored."""
    alone = None if measure.alone is None else _over_stored(measure.alone, names)
    return replace(measure, formula=_over_stored(measure.formula, names), alone=alone)


def _over_stored(formula: Callable[..., Computation], names: Mapping[str, str]) -> Callable[..., Computation]:
    def renamed(**settings: Setting) -> Computation:
        computation = formula(**settings)
        return computation.renamed(names) if isinstance(computation, Ratio | Function) else computation

    return renamed

"""How often the 95% intervals of `project` contain the true value, on generated documents: projected measures,
crossings, and the generality of streams.

    python benchmarks/projection.py [--sets 400]

prints three Markdown tables. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.tables import heads, row
from evalhouse.warehouse.filtering.projection import INTERVALS, crossing_region, project, subtract
from evalhouse.warehouse.filtering.unlabelled import KeyedDecisions, SystemDecisions, Weights, estimate, interval
from evalhouse.warehouse.measures import Function, Ratio, find_measure, settle
from evalhouse.warehouse.significance.arrays import Booleans, Floats

LEVEL = 0.05
Chance = np.random.Generator


def formula(name: str) -> Ratio | Function:
    measure = find_measure(name, "filtering")
    computation = settle(measure, {}).computation if measure else None
    if not isinstance(computation, Ratio | Function):
        raise ValueError(f"{name} is not a measure of filtering")
    return computation


def drawn(weights: Weights, relevant: Booleans, *decisions: Booleans) -> tuple[Floats, Floats]:
    """Draws of recall and fallout, each of shape (systems, draws)."""
    names = [f"{place}" for place in range(len(decisions))]
    sides = []
    for kind, share in ((relevant, "recall"), (~relevant, "fallout")):
        inside, outside = (
            np.stack([chosen & kind for chosen in some]) for some in (decisions, [~d for d in decisions])
        )
        of_kind = [f"{share} of {name}" for name in names]
        sides.append(weights.shares(of_kind, inside.astype(np.int64), outside.astype(np.int64)))
    return sides[0], sides[1]


def shares(relevant: Booleans, decided: Booleans) -> tuple[float, float]:
    return float(decided[relevant].mean()), float(decided[~relevant].mean())


def projected(
    sets: int, name: str, documents: int, generality: float, recall: float, fallout: float, to: float
) -> float:
    """How often the interval of a projected measure contains its true value."""
    computation, at = formula(name), np.array([to])
    truth = float(project(computation, np.array(recall), np.array(fallout), at)[0])
    held = 0
    for number in range(sets):
        chance = np.random.default_rng((1, number))
        relevant = np.arange(documents) < round(generality * documents)
        decided = chance.random(documents) < np.where(relevant, recall, fallout)
        recalls, fallouts = drawn(Weights(number, "source"), relevant, decided)
        values = project(computation, recalls[0], fallouts[0], at)
        own_recall, own_fallout = shares(relevant, decided)
        own = project(computation, np.array(own_recall), np.array(own_fallout), at)
        low, high = interval(values, None if np.isnan(own[0]) else float(own[0]), LEVEL) or (np.nan, np.nan)
        held += low <= truth <= high
    return held / sets


def crossed(sets: int, name: str, documents: int, together: float) -> float:
    """How often the interval of a crossing contains it, for systems that make the same decision on a share of the
    documents.
    """
    first, second = (0.9, 0.3), (0.6, 0.05)
    computation = formula(name)

    def values(of: tuple[float, float]) -> Floats:
        return project(computation, np.array(of[0]), np.array(of[1]), np.linspace(0.0001, 0.9999, 9999))

    apart = values(first) - values(second)
    truth = float(np.linspace(0.0001, 0.9999, 9999)[np.flatnonzero(np.diff(np.sign(apart)))[0]])
    held = 0
    for number in range(sets):
        chance = np.random.default_rng((2, number))
        relevant = np.arange(documents) < documents // 2
        one = chance.random(documents)
        other = np.where(chance.random(documents) < together, one, chance.random(documents))
        decisions = [
            draw < np.where(relevant, recall, fallout) for draw, (recall, fallout) in ((one, first), (other, second))
        ]
        recalls, fallouts = drawn(Weights(number, "source"), relevant, *decisions)
        per_system = [
            project(computation, r[:, None], f[:, None], INTERVALS) for r, f in zip(recalls, fallouts, strict=True)
        ]
        low, high = np.nanquantile(subtract(*per_system), (LEVEL / 2, 1 - LEVEL / 2), axis=0)
        found = crossing_region(low, high)
        held += found.low is not None and found.high is not None and found.low <= truth <= found.high
    return held / sets


def streamed(
    sets: int, documents: int, generality: float, stream: int, to: float
) -> dict[str, tuple[float, float, float]]:
    """How often the interval of the generality of a stream contains it, how often the interval of the F projected to it
    contains F, and for how many sets there is an interval.
    """
    computation = formula("F")
    # The decision is yes if the confidence is above a threshold. Confidences are normal, with means 1.5 apart.
    recall, fallout = (1 - NormalDist().cdf(0.75 - apart) for apart in (1.5, 0.0))
    truth = float(project(computation, np.array(recall), np.array(fallout), np.array(to)))
    counts = {name: [0, 0, 0] for name in ("adjusted counts", "EM")}
    for number in range(sets):
        chance = np.random.default_rng((3, number))

        def decided(relevant: Booleans, chance: Chance = chance) -> SystemDecisions:
            confidence = chance.normal(np.where(relevant, 1.5, 0.0), 1.0)
            return SystemDecisions(confidence > 0.75, confidence, np.arange(len(relevant)))

        relevant = chance.random(documents) < generality
        source = KeyedDecisions(decided(relevant), relevant, ~relevant)
        unlabelled = decided(chance.random(stream) < to)
        for name, held in counts.items():
            found = estimate(name, source, unlabelled, Weights(number, "s"), Weights(number, "t"), LEVEL)  # type: ignore[arg-type]
            if not found.to_be_had:
                continue
            low, high = found.limits or (np.nan, np.nan)
            values = project(computation, found.recall, found.fallout, found.generality)
            f_low, f_high = interval(values, None, LEVEL) or (np.nan, np.nan)
            held[0] += low <= to <= high
            held[1] += f_low <= truth <= f_high
            held[2] += 1
    return {name: (held[0] / held[2], held[1] / held[2], held[2] / sets) for name, held in counts.items()}


def print_projected(sets: int) -> None:
    """Prints how often intervals of measures projected to the generality 0.05 contain them."""
    names = ("precision", "F", "MCC")
    heads("documents", "relevant", "recall", "fallout", *names)
    for documents, generality in ((100, 0.65), (100, 0.1), (1000, 0.1)):
        for recall, fallout in ((0.8, 0.2), (0.98, 0.02)):
            held = [projected(sets, name, documents, generality, recall, fallout, 0.05) for name in names]
            row(documents, f"{generality:.0%}", recall, fallout, *map(percent, held))


def print_crossed(sets: int) -> None:
    """Prints how often intervals of crossings contain them, where half of the documents are relevant."""
    names = ("F", "accuracy", "MCC")
    heads("documents", "decided alike", *names)
    for documents in (40, 100, 400):
        for together in (0.0, 0.8):
            held = [crossed(sets, name, documents, together) for name in names]
            row(documents, f"{together:.0%}", *map(percent, held))


def print_streamed(sets: int) -> None:
    """Prints how often intervals of the generality of a stream, and of F there, contain them, and how often there is
    one.
    """
    of_each = [
        f"{value}, {name}" for name in ("adjusted counts", "EM") for value in ("generality", "F", "there is one")
    ]
    heads("documents", "relevant", "stream", "relevant there", *of_each)
    for documents, generality in ((100, 0.65), (400, 0.2)):
        for stream, to in ((200, 0.3), (1000, 0.05)):
            held = streamed(sets, documents, generality, stream, to).values()
            row(documents, f"{generality:.0%}", stream, f"{to:.0%}", *(percent(share) for of in held for share in of))


def percent(share: float) -> str:
    return f"{share:.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=400, help="sets of documents that are generated for each row")
    sets = parser.parse_args().sets
    for place, print_table in enumerate((print_projected, print_crossed, print_streamed)):
        if place:
            print()
        print_table(sets)


if __name__ == "__main__":
    main()

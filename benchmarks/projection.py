"""How often the 95% intervals of `project` contain the true value, on generated documents: projected measures,
crossings, and the generality of streams. Seeds are fixed. Run it with `python benchmarks/projection.py [SETS]`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

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


def table(title: str, rows: list[tuple[str, Callable[[], list[float]]]]) -> None:
    print(f"\n{title}")
    for name, measured in rows:
        print(f"  {name:<68}", *(f"{share:6.1%}" for share in measured()), flush=True)


def main(sets: int) -> None:
    def of_projection(documents: int, generality: float, recall: float, fallout: float) -> Callable[[], list[float]]:
        return lambda: [
            projected(sets, name, documents, generality, recall, fallout, 0.05) for name in ("precision", "F", "MCC")
        ]

    def of_crossing(*of: Any) -> Callable[[], list[float]]:
        return lambda: [crossed(sets, name, *of) for name in ("F", "accuracy", "MCC")]

    def of_stream(*of: Any) -> Callable[[], list[float]]:
        return lambda: [share for found in streamed(sets, *of).values() for share in found]

    table(
        f"projected to generality 0.05, {sets} sets: how often intervals of precision, F and MCC hold the truth",
        [
            (
                f"{documents} documents, {generality:.0%} relevant, recall {recall}, fallout {fallout}",
                of_projection(documents, generality, recall, fallout),
            )
            for documents, generality in ((100, 0.65), (100, 0.1), (1000, 0.1))
            for recall, fallout in ((0.8, 0.2), (0.98, 0.02))
        ],
    )
    table(
        f"crossings, half of the documents relevant, {sets} sets: F, accuracy and MCC",
        [
            (f"{documents} documents, decided alike on {together:.0%}", of_crossing(documents, together))
            for documents in (40, 100, 400)
            for together in (0.0, 0.8)
        ],
    )
    table(
        f"streams, {sets} sets: generality, F and whether they were to be had, by adjusted counts, then by EM",
        [
            (
                f"{documents} documents, {generality:.0%} relevant, to {stream} with {to:.0%}",
                of_stream(documents, generality, stream, to),
            )
            for documents, generality in ((100, 0.65), (400, 0.2))
            for stream, to in ((200, 0.3), (1000, 0.05))
        ],
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)

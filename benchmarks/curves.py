"""How long `curve` takes with many documents, and how often its bands, best thresholds and areas contain the true
values.

    python benchmarks/curves.py [--documents 1000000] [--resamples 1000] [--sets 200]

prints three Markdown tables; with `--documents 0`, only the last two. The first has seconds in an open session,
processor time, and memory: one system on this many documents, with about a hundred distinct confidences and with one
per document, for precision and F with bands from this many resamples.

The others use `--sets` sets of documents, generated with a fixed seed: confidences are normal, those of relevant
documents 1.5 higher; 1,000 resamples, level 0.05. The true value at every threshold is then known. They show how often
the band contains the truth at all thresholds of the sample where there is one, and at all except those that decide yes,
or no, on fewer than ten documents; and how often the intervals of the best threshold for F, of the system's loss, and
of the areas contain the true value.
"""

from __future__ import annotations

import argparse
import csv
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from math import erfc, inf, sqrt
from pathlib import Path
from statistics import NormalDist

import numpy as np
from msgspec import Struct, field

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.tables import heads, row
from evalhouse.warehouse.comparing.curves import curve_measure
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures import find_measure, settle
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance import curves as curve_kernels
from evalhouse.warehouse.significance.areas import one_area
from evalhouse.warehouse.significance.arrays import Floats
from evalhouse.warehouse.significance.curves import CurveMeasure, Curves, Thresholds, curves
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.store.replacement import create

SETTINGS: tuple[tuple[int, float, int | None], ...] = (
    (100, 0.1, None),
    (100, 0.5, None),
    (1000, 0.1, None),
    (1000, 0.5, None),
    (1000, 0.1, 1),
)
"""The number of documents, the generality, and the digits of confidences."""
LEVEL, APART, OWN, ENDS = 0.05, 1.5, 0.5, 10
NAMES = ("F", "precision", "recall", "utility", "MCC")


# --- how long it takes ------------------------------------------------------------------------------------------------


def write(path: Path, header: str, rows: Iterator[tuple[object, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([header.split()])
        csv.writer(out).writerows(rows)
    return path


def seconds(documents: int, resamples: int, digits: int) -> tuple[float, float]:
    """The time of the statement's second run: wall-clock and processor seconds."""
    source = np.random.default_rng(1)
    relevant = source.random(documents) < 0.1
    confidence = np.round(NormalDist().cdf(0) + (source.normal(size=documents) + APART * relevant) / 10, digits)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        labels = (("T", f"d{k}", "relevant" if is_so else "nonrelevant") for k, is_so in enumerate(relevant.tolist()))
        said = (("T", "one", f"d{k}", "yes" if at > 0.6 else "no", at) for k, at in enumerate(confidence.tolist()))
        with create(folder / "w.duckdb") as database:
            load(database, write(folder / "l.csv", "test_set document label", labels), "labels")
            load(database, write(folder / "d.csv", "test_set system document decision confidence", said), "decisions")
        with Session.open(folder / "w.duckdb") as session:
            statement = f"curve precision, F of filtering for one on T resamples {resamples}"
            session.run(statement)
            began, worked = time.perf_counter(), time.process_time()
            session.run(statement)
            return time.perf_counter() - began, time.process_time() - worked


# --- whether intervals contain the true value -------------------------------------------------------------------------


def measure(name: str) -> CurveMeasure:
    found = find_measure(name, "filtering")
    assert found is not None
    return curve_measure(settle(found, {}))


def above(threshold: Floats) -> Floats:
    """The probability that a normal variable is above."""
    return np.array([0.5 * erfc(at / sqrt(2)) for at in np.atleast_1d(threshold).tolist()])


def true_cells(threshold: Floats, documents: int, generality: float) -> Floats:
    """The expected contingency tables, of shape (6, thresholds)."""
    hits, false = above(threshold - APART), above(threshold)
    shares = (generality * hits, (1 - generality) * false, generality * (1 - hits), (1 - generality) * (1 - false))
    return documents * np.stack((*shares, np.zeros_like(hits), np.zeros_like(hits)))


class Held(Struct):
    """How often each interval or band contained the true value."""

    sets: int = 0
    everywhere: list[int] = field(default_factory=lambda: [0] * len(NAMES))
    inside: list[int] = field(default_factory=lambda: [0] * len(NAMES))
    best: int = 0
    lost: int = 0
    with_lost: int = 0
    """The number of sets in which the loss has an interval: the system's own decisions are not those of the best
    threshold.
    """
    area_pr: int = 0
    area_roc: int = 0
    with_roc: int = 0
    """The number of sets in which the area has an interval: there are 15 documents of either kind."""

    def share(self, times: int) -> str:
        return f"{100 * times / self.sets:.1f}%"


def simulated(documents: int, generality: float, sets: int, digits: int | None) -> Held:
    """What held in this many sets of documents. `digits` rounds confidences, so that documents share them."""
    measures = [measure(name) for name in NAMES]
    fine = np.linspace(-6, 8, 14_001)
    known = true_cells(fine, documents, generality)
    true_best = float(fine[np.nanargmax(measures[0].values(known))])
    true_area = float(curve_kernels.area(known[0, ::-1], known[1, ::-1]))
    true_roc = NormalDist().cdf(APART / sqrt(2))
    own = float(measures[0].values(true_cells(np.array([OWN]), documents, generality))[0])
    held = Held()
    source = np.random.default_rng(20)
    for number in range(sets):
        relevant = source.random(documents) < generality
        drawn = source.normal(size=documents) + APART * relevant
        confidence = drawn if digits is None else np.floor(drawn * 10**digits) / 10**digits
        thresholds = Thresholds.of(confidence, np.where(relevant, 0, 1).astype(np.int8), drawn >= OWN)
        found = curves(thresholds, measures, 0, Draws(1000, 1992, (number,)), LEVEL)
        held.sets += 1
        _count(held, found, thresholds, measures, documents, generality)
        if found.best is not None:
            low, high = (_at(thresholds, place) for place in (found.best.last, found.best.first))
            step = 0.0 if digits is None else 10.0**-digits
            held.best += low - step <= true_best <= high + step
            chosen = np.array([_at(thresholds, found.best.place)])
            lost = float(np.nan_to_num(measures[0].values(true_cells(chosen, documents, generality))[0])) - own
            held.with_lost += found.best.lost.low == found.best.lost.low
            held.lost += found.best.lost.low <= lost <= found.best.lost.high
        if digits is None:
            held.area_pr += found.area is not None and found.area.low <= true_area <= found.area.high
            roc = one_area(confidence[relevant], confidence[~relevant], LEVEL)
            held.with_roc += roc is not None and roc[1] == roc[1]
            held.area_roc += roc is not None and roc[1] <= true_roc <= roc[2]
    return held


def _at(thresholds: Thresholds, place: int) -> float:
    return float(thresholds.at[place - 1]) if place else inf


def _count(
    held: Held,
    found: Curves,
    thresholds: Thresholds,
    measures: list[CurveMeasure],
    documents: int,
    generality: float,
) -> None:
    cells = true_cells(thresholds.at, documents, generality)
    yes = thresholds.decided.sum(axis=0)[1:]
    inner = (yes >= ENDS) & (yes <= documents - ENDS)
    for place, (band, one) in enumerate(zip(found.bands, measures, strict=True)):
        truth = one.values(cells)
        fits = (band.low[1:] <= truth + 1e-9) & (truth - 1e-9 <= band.high[1:]) | np.isnan(band.low[1:])
        held.everywhere[place] += bool(fits.all())
        held.inside[place] += bool(fits[inner].all())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--sets", type=int, default=200)
    asked = parser.parse_args()
    if asked.documents:
        print(f"{asked.documents:,} documents, {asked.resamples:,} resamples\n")
        heads("confidences", "seconds", "of processors", "memory of the process")
        for few, called in ((2, "of two digits"), (15, "all different")):
            clock, worked = seconds(asked.documents, asked.resamples, few)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
            row(called, f"{clock:.2f}", f"{worked:.2f}", f"{memory:,.0f} MB")
    if not asked.sets:
        return
    heads("documents", "generality", "confidences", "thresholds", *NAMES)
    rest = []
    for documents, generality, digits in SETTINGS:
        held = simulated(documents, generality, asked.sets, digits)
        called = "all different" if digits is None else f"of {digits} digit"
        start = (f"{documents:,}", generality, called)
        for where, times in (("all", held.everywhere), (f"{ENDS} from either end", held.inside)):
            row(*start, where, *map(held.share, times))
        of_roc = f"{100 * held.area_roc / max(held.with_roc, 1):.1f}% of {held.with_roc}"
        of_lost = f"{100 * held.lost / max(held.with_lost, 1):.1f}% of {held.with_lost}"
        areas = (held.share(held.area_pr), of_roc) if digits is None else ("–", "–")
        rest.append((*start, held.share(held.best), of_lost, *areas))
    print()
    heads("documents", "generality", "confidences", "best threshold", "lost", "PR area", "ROC area")
    for cells in rest:
        row(*cells)


if __name__ == "__main__":
    main()

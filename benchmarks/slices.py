"""How long `differ` takes with many documents and slices, and whether its error rates are as promised.

    python benchmarks/slices.py [--documents 100000] [--sets 1000]

prints five Markdown tables. The first has seconds in an open session: two systems on this many documents, right or
wrong and by a ratio, with slices by two attributes of 30 values and all their pairs, and 999 shuffles. With
`--documents 0` there are only the others.

The others use `--sets` data sets, generated with a fixed seed: 300 documents with two attributes of 5 and 4 values and
pairs of these, 199 shuffles. They show how often any slice is wrongly called different at 0.05, when no slice is
different, when one is, and when one of the systems answers few of 40 to 300 documents; how often the difference is
called varying when it does not vary, and when it does; and how far the differences of slices are from the true ones,
both as measured and shrunken, over all slices and for the largest.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.few_answers import MEASURES
from benchmarks.tables import heads, row
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.arrays import Floats
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.slices import (
    Partition,
    fewest,
    heterogeneity,
    influences,
    shrunken,
    slice_tests,
    sums_of,
    variances,
)
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.store.replacement import create

Chance = np.random.Generator
LEVEL, SHUFFLES, DOCUMENTS = 0.05, 199, 300


# --- how long it takes ------------------------------------------------------------------------------------------------


def write(path: Path, header: str, rows: Iterator[tuple[object, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([header.split()])
        csv.writer(out).writerows(rows)
    return path


def seconds(documents: int) -> Iterator[tuple[str, int, float, float]]:
    """The measure, the number of slices, and the time of the statement's second run: wall-clock and processor
    seconds.
    """
    source = np.random.default_rng(1)
    right = (source.random(documents) < 0.6).astype(int)
    other = np.where(source.random(documents) < 0.25, 1 - right, right)
    counts = source.integers(0, 9, (2, documents))
    attributes = source.integers(0, 30, (2, documents))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        values = (
            ("big", system, f"d{k:07}", "accuracy", of[k])
            for system, of in (("new", other), ("base", right))
            for k in range(documents)
        )
        scores = (
            ("big", system, f"d{k:07}", 10, int(counts[place, k]) + 3, int(counts[place, k]), 0)
            for place, system in enumerate(("new", "base"))
            for k in range(documents)
        )
        kinds = (("big", f"d{k:07}", f"a{attributes[0, k]}", f"b{attributes[1, k]}") for k in range(documents))
        with create(folder / "w.duckdb") as database:
            load(database, write(folder / "v.csv", "test_set system document measure value", values), "values")
            header = "test_set system document possible actual correct partial"
            load(database, write(folder / "s.csv", header, scores), "scores")
            load(database, write(folder / "d.csv", "test_set document subject kind", kinds), "documents")
        with Session.open(folder / "w.duckdb") as session:
            for measure in ("accuracy", "F"):
                of = "values" if measure == "accuracy" else "extraction"
                statement = (
                    f"differ {measure} of {of} for new, base on big by document.subject, document.kind depth 2 "
                    "shuffles 999"
                )
                result = session.run(statement)
                began, used = time.perf_counter(), time.process_time()
                session.run(statement)
                yield measure, len(result.rows), time.perf_counter() - began, time.process_time() - used


# --- what is generated ------------------------------------------------------------------------------------------------


class Drawn(Struct, frozen=True):
    """Two systems on some documents, the partitions, and the true difference between the systems in each slice of
    these.
    """

    two: Sums
    partitions: tuple[Partition, ...]
    truth: tuple[Floats, ...]


def partitions(chance: Chance, documents: int = DOCUMENTS) -> tuple[Partition, ...]:
    """Correlated attributes, with slices of unequal sizes, and their pairs."""
    first = chance.choice(5, documents, p=(0.4, 0.25, 0.15, 0.12, 0.08))
    second = np.where(chance.random(documents) < 0.4, first % 4, chance.integers(0, 4, documents))
    kept, both = np.unique(first * 4 + second, return_inverse=True)
    found = []
    for place in (first, second):
        values, places = np.unique(place, return_inverse=True)
        found.append(Partition(places, len(values)))
    return (*found, Partition(both.reshape(-1), len(kept)))


def right_or_wrong(chance: Chance, ease: NDArray[np.float64], by: NDArray[np.float64]) -> Sums:
    """Answers to questions of varying difficulty. The first system is right more often, by this much."""
    chances = np.clip(np.stack((ease + by / 2, ease - by / 2)), 0, 1)
    shared = chance.random(ease.shape)
    own = chance.random((2, *ease.shape))
    drawn = np.where(chance.random(ease.shape) < 0.5, shared, own) < chances
    return Sums.of_ratios(drawn.astype(np.int64), np.ones((2, len(ease)), dtype=np.int64))


def ratio(chance: Chance, by: NDArray[np.float64]) -> Sums:
    """Items found out of items answered; the systems have different numbers of answers."""
    items = chance.integers(1, 15, len(by))
    answered = np.stack([items + chance.integers(0, 4, len(by)) for _ in range(2)])
    ease = np.clip(chance.normal(0.5, 0.15, len(by)), 0.05, 0.95)
    chances = np.clip(np.stack((ease + by / 2, ease - by / 2)), 0, 1)
    return Sums.of_ratios(chance.binomial(answered, chances), answered)


# --- what is promised -------------------------------------------------------------------------------------------------


def errors(kind: str, sets: int, effect: float) -> tuple[float, float]:
    """How often a slice that is not different is called different, and how often one that is; with an `effect` in the
    second slice of the first attribute.
    """
    false = found = 0
    for number in range(sets):
        chance = np.random.default_rng((1, number))
        parts = partitions(chance)
        hit = parts[0].place == 1
        by = np.where(hit, effect, 0.0)
        ease = chance.choice([0.2, 0.5, 0.9], DOCUMENTS)
        two = right_or_wrong(chance, ease, by) if kind == "accuracy" else ratio(chance, by)
        tested = np.concatenate([np.bincount(part.place, minlength=part.slices) >= 6 for part in parts])
        different = np.concatenate([np.bincount(part.place, weights=hit, minlength=part.slices) > 0 for part in parts])
        draws = Draws(SHUFFLES, number)
        levels = slice_tests(two, np.arange(DOCUMENTS), parts, tested, draws, studentized=True).adjusted
        called = np.nan_to_num(levels, nan=1.0) <= LEVEL
        false += bool((called & ~(different & (effect > 0))).any())
        found += bool(called[1])
    return false / sets, found / sets


def _are_defined(two: Sums, part: Partition) -> NDArray[np.bool_]:
    """The slices in which both systems have a value."""
    sums = sums_of(two.table, part).astype(np.float64)
    if two.is_ratio:
        return np.asarray((sums[1] > 0).all(axis=0))
    return np.isfinite(sum(two.valuation.values(sums[:, system]) for system in (0, 1)))


def called_for_silence(measure: str, documents: int, share: float, sets: int, studentized: bool) -> float:
    """How often a slice is called different where the first system answers a share of the documents, as well as the
    second does.
    """
    false = 0
    for number in range(sets):
        chance = np.random.default_rng((4, documents, round(100 * share), number))
        parts, two = partitions(chance, documents), MEASURES[measure][0](chance, documents, share).pair(0, 1)
        defined = [_are_defined(two, part) for part in parts]
        large = [np.bincount(part.place, minlength=part.slices) >= fewest(LEVEL) for part in parts]
        tested = np.concatenate(defined) & np.concatenate(large)
        found = slice_tests(two, np.arange(documents), parts, tested, Draws(SHUFFLES, number), studentized=studentized)
        false += bool((np.nan_to_num(found.adjusted, nan=1.0) <= LEVEL).any())
    return false / sets


def varying(kind: str, sets: int) -> float:
    """How often the difference is called varying by the first attribute."""
    called = 0
    for number in range(sets):
        chance = np.random.default_rng((2, number))
        part = partitions(chance)[0]
        by = np.full(DOCUMENTS, 0.1)
        ease = np.full(DOCUMENTS, 0.5)
        if kind == "it scatters more in small slices":
            ease = np.where(part.place > 1, 0.5, 0.92)
        if kind == "it scatters more in large slices":
            ease = np.where(part.place > 1, 0.92, 0.5)
        if kind == "it varies: 30 points in a slice of 25%, none elsewhere":
            by = np.where(part.place == 1, 0.3, 0.0)
        two = ratio(chance, by) if kind == "ratios, documents of other sizes in each slice" else None
        if two is not None:
            larger = 1 + part.place
            two = Sums.of_ratios(two.numerators * larger, two.denominators * larger)
        two = two or right_or_wrong(chance, ease, by)
        (level,) = heterogeneity(influences(two), [part], Draws(SHUFFLES, number))
        called += level is not None and level <= LEVEL
    return called / sets


def scattering(sets: int, scatter: float) -> tuple[float, float, float, float]:
    """The root mean squared errors of slice differences, as measured and shrunken, and how far the largest ones exceed
    the truth, in points. The true differences of the slices vary by this much.
    """
    raw, drawn, raw_largest, drawn_largest = [], [], [], []
    for number in range(sets):
        chance = np.random.default_rng((3, number))
        part = partitions(chance)[2]
        truth = 0.05 + scatter * chance.standard_normal(part.slices)
        ease = np.full(DOCUMENTS, 0.5)
        two = right_or_wrong(chance, ease, truth[part.place])
        differences = np.bincount(part.place, weights=two.numerators[0] - two.numerators[1]) / np.bincount(part.place)
        whole = float((two.numerators[0] - two.numerators[1]).mean())
        estimates = shrunken(differences, variances(two, part, np.arange(DOCUMENTS)), whole)
        raw.append(((differences - truth) ** 2).mean())
        drawn.append(((estimates - truth) ** 2).mean())
        largest = int(np.argmax(differences))
        raw_largest.append(differences[largest] - truth[largest])
        drawn_largest.append(estimates[largest] - truth[largest])
    return (
        100 * float(np.mean(raw)) ** 0.5,
        100 * float(np.mean(drawn)) ** 0.5,
        100 * float(np.mean(raw_largest)),
        100 * float(np.mean(drawn_largest)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000, help="documents of the large test set")
    parser.add_argument("--sets", type=int, default=1000, help="sets of data that are drawn")
    asked = parser.parse_args()
    if asked.documents:
        heads("measure", "documents", "slices", "shuffles", "seconds", "of processors")
        for measure, slices, took, used in seconds(asked.documents):
            row(measure, f"{asked.documents:,}", f"{slices:,}", 999, f"{took:.2f}", f"{used:.2f}")
        print()
    heads("slices", "a slice is wrongly called different", "the slice that is different is found")
    for kind in ("accuracy", "ratio"):
        for effect in (0.0, 0.25):
            said = "none is different" if not effect else "one of 25% is, by 25 points"
            false, found = errors(kind, asked.sets, effect)
            row(f"{kind}, {said}", f"{100 * false:.1f}%", f"{100 * found:.1f}%" if effect else "–")
    print()
    rows = []
    for measure in MEASURES:
        for share in (1.0, 0.3, 0.1):
            for documents in (40, 100, 300):
                studentized = measure != "MCC"
                wrong = called_for_silence(measure, documents, share, asked.sets, studentized)
                plainly = called_for_silence(measure, documents, share, asked.sets, False) if studentized else wrong
                rows.append((measure, share, documents, wrong, plainly))
    heads("measure", "answered", "documents", "a slice is wrongly called different", "with `test randomization`")
    for measure, share, documents, wrong, plainly in sorted(rows, key=lambda row: -row[3]):
        row(measure, f"{share:.0%}", documents, f"{wrong:.1%}", f"{plainly:.1%}")
    print()
    heads("the difference", "called varying at 0.05")
    for kind in (
        "it is the same everywhere",
        "ratios, documents of other sizes in each slice",
        "it scatters more in small slices",
        "it scatters more in large slices",
        "it varies: 30 points in a slice of 25%, none elsewhere",
    ):
        row(kind, f"{100 * varying(kind, asked.sets):.1f}%")
    print()
    heads("true differences scatter by", "error", "error, shrunken", "the largest is too large by", "shrunken")
    for scatter in (0.0, 0.05, 0.1, 0.2):
        row(f"{100 * scatter:.0f} points", *(f"{figure:.1f}" for figure in scattering(asked.sets, scatter)))


if __name__ == "__main__":
    main()

"""Paired approximate randomization of BLEU, compared with sacreBLEU's own: ten systems on 2,000 segments, 10,000
shuffles.

    python benchmarks/translations.py [--runs 3]

prints processor seconds (medians of alternating runs in one process) and their ratios: the nine tests alone, from
counts to p-values, beside sacreBLEU's from the same counts; and the whole statement, which also reads the warehouse and
computes intervals from 2,000 resamples, beside `sacrebleu --paired-ar`, which first counts n-grams. The texts are
invented.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures import Function, find_measure, settle
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.shuffles.randomization import functional_test
from evalhouse.warehouse.significance.sums import Sums, Valuation
from evalhouse.warehouse.store.replacement import create

SYSTEMS, SEGMENTS, SHUFFLES = 10, 2_000, 10_000


def made_up(chance: Random) -> tuple[dict[str, list[str]], list[str]]:
    """Systems that replace more and more words of a reference, and the reference."""
    words = [f"w{number}" for number in range(2_000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    gold = [chance.choices(words, weights, k=chance.randint(5, 35)) for _ in range(SEGMENTS)]
    systems = {}
    for system in range(SYSTEMS):
        share = 0.3 + 0.005 * system
        others = ([chance.choice(words) if chance.random() < share else word for word in line] for line in gold)
        systems[f"s{system}"] = [" ".join(line) for line in others]
    return systems, [" ".join(line) for line in gold]


def stored(folder: Path, systems: dict[str, list[str]], gold: list[str]) -> Path:
    """A warehouse with the systems' BLEU counts."""
    (folder / "gold.txt").write_text("\n".join(gold) + "\n", encoding="utf-8")
    options = {"reference": str(folder / "gold.txt"), "metrics": "BLEU"}
    with create(folder / "w.duckdb") as database:
        for system, lines in systems.items():
            file = folder / f"{system}.txt"
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
            load(database, file, "segments", fields={"system": system, "test_set": "t"}, options=options)
    return folder / "w.duckdb"


def theirs(systems: dict[str, list[str]], gold: list[str]) -> dict[str, float]:
    """The p-value of each system against the first, from `sacrebleu --paired-ar`."""
    from sacrebleu.metrics import BLEU  # type: ignore[attr-defined]
    from sacrebleu.significance import PairedTest

    metrics = {"BLEU": BLEU(force=True)}
    named: list[tuple[str, Any]] = list(systems.items())
    _, results = PairedTest(named, metrics, [gold], test_type="ar", n_samples=SHUFFLES)()
    found: list[Any] = list(results["BLEU"])
    return {system: result.p_value for (system, _), result in zip(named[1:], found[1:], strict=True)}


def from_counts(systems: dict[str, list[str]], gold: list[str]) -> Callable[[], None]:
    """sacreBLEU's work after counting."""
    from sacrebleu.metrics import BLEU  # type: ignore[attr-defined]

    metric = BLEU(force=True)
    counts = [np.array(metric._extract_corpus_statistics(lines, [gold])) for lines in systems.values()]

    def shuffled() -> None:
        first, *others = counts
        for other in others:
            coins = np.random.default_rng(1992).integers(2, size=(SHUFFLES, SEGMENTS), dtype=bool)
            for sums in (coins @ first + ~coins @ other, ~coins @ first + coins @ other):
                for one in sums[:, None]:
                    _ = metric._aggregate_and_compute(one).score

    return shuffled


def seconds(work: Callable[[], Any]) -> float:
    """The processor seconds of some work."""
    began = time.process_time()
    work()
    return time.process_time() - began


def tests_alone(systems: dict[str, list[str]], gold: list[str]) -> Callable[[], None]:
    """evalhouse's work after counting, without intervals."""
    from sacrebleu.metrics import BLEU  # type: ignore[attr-defined]

    measure = find_measure("BLEU", "counts")
    assert measure is not None
    function = settle(measure, {}).computation
    assert isinstance(function, Function)
    places = [measure.needs.index(column) for column in function.columns]
    metric = BLEU(force=True)
    first, *others = (
        np.array(metric._extract_corpus_statistics(lines, [gold]), dtype=np.int64).T[places]
        for lines in systems.values()
    )

    def values(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return function.values(dict(zip(function.columns, sums, strict=True)))

    def tested() -> None:
        for other in others:
            functional_test(
                Sums.of_two_counts(first, other, Valuation(values, function.exact)), Draws(SHUFFLES, 1992, 0)
            )

    return tested


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    systems, gold = made_up(Random(1992))
    with tempfile.TemporaryDirectory() as folder, Session.open(stored(Path(folder), systems, gold)) as session:
        statement = f"compare BLEU for all on t against s0 shuffles {SHUFFLES}"
        works: list[Callable[[], Any]] = [tests_alone(systems, gold), from_counts(systems, gold)]
        works += [lambda: session.run(statement), lambda: theirs(systems, gold)]
        times = [[seconds(work) for work in works] for _ in range(runs)]
        own, other, whole, command = (statistics.median(column) for column in zip(*times, strict=True))
        print(f"tests alone: evalhouse {own:.2f} s, sacreBLEU {other:.2f} s, {other / own:.0f} times as long")
        print(f"all of it:   evalhouse {whole:.2f} s, sacreBLEU {command:.2f} s, {command / whole:.0f} times as long")
        wanted = theirs(systems, gold)
        for row in session.run(statement).rows:
            system = str(row["system_a"] if row["system_b"] == "s0" else row["system_b"])
            print(f"  {system}: p {row['p']:.4f}, sacreBLEU {wanted[system]:.4f}")


if __name__ == "__main__":
    main()

"""Generates the score rows of an evaluation of any size for measurements, as Parquet or CSV.

    python benchmarks/generate.py big.parquet --systems 1000 --documents 100000

Every document has a difficulty and every system a skill, so that systems agree about documents as real ones do. The
same sizes and the same seed give the same rows, and the first systems of a larger file are those of a smaller one with
as many documents. Rows are sorted by system or, with `--order document`, by document; then no part of the rows is
sorted as the warehouse stores them. A billion rows need no more memory than a million.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

TEST_SET = "BIG"
BATCH = 1_000_000
"""The approximate number of rows that are made at once."""

NAMES, COUNTS = ("test_set", "system", "document"), ("possible", "actual", "correct", "partial")
SCHEMA = pa.schema([(name, pa.string()) for name in NAMES] + [(count, pa.int32()) for count in COUNTS])


class Evaluation:
    """The systems and documents of one evaluation."""

    def __init__(self, systems: int, documents: int, seed: int) -> None:
        source = np.random.default_rng((seed, documents))
        self.seed = seed
        self.documents = pa.array([f"D{number:07d}" for number in range(1, documents + 1)])
        self.systems = pa.array([f"S{number:04d}" for number in range(1, systems + 1)])
        self.possible = source.integers(1, 21, documents, dtype=np.int32)
        self.ease = source.normal(0.0, 0.15, documents)

    def counts(self, system: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What a system filled, and how much of it is right or partly right, one number per document."""
        source = np.random.default_rng((self.seed, len(self.documents), system))
        skill = 0.35 + 0.3 * source.random()
        share = np.clip(skill + self.ease + source.normal(0.0, 0.1, len(self.documents)), 0.0, 1.0)
        actual = np.rint(self.possible * (0.5 + source.random(len(share)))).astype(np.int32)
        most = np.minimum(actual, self.possible)
        correct = np.floor(most * share + source.random(len(share)) * 0.999).astype(np.int32)
        np.minimum(correct, most, out=correct)
        partial = ((most > correct) & (source.random(len(share)) < 0.2)).astype(np.int32)
        return actual, correct, partial

    def by_system(self) -> Iterator[pa.RecordBatch]:
        """One system after the other."""
        many = len(self.documents)
        for system in range(len(self.systems)):
            places = pa.array(np.full(many, system, dtype=np.int32))
            yield self._batch(places, pa.array(np.arange(many, dtype=np.int32)), self.possible, *self.counts(system))

    def by_document(self) -> Iterator[pa.RecordBatch]:
        """One document after the other. All counts are held in memory at once, 12 bytes per row."""
        systems = len(self.systems)
        grids = [np.stack(grid) for grid in zip(*(self.counts(system) for system in range(systems)), strict=True)]
        step = max(1, BATCH // systems)
        for first in range(0, len(self.documents), step):
            some = slice(first, min(first + step, len(self.documents)))
            here = np.arange(some.start, some.stop, dtype=np.int32)
            yield self._batch(
                pa.array(np.tile(np.arange(systems, dtype=np.int32), len(here))),
                pa.array(np.repeat(here, systems)),
                np.repeat(self.possible[some], systems),
                *(np.ascontiguousarray(grid[:, some].T).reshape(-1) for grid in grids),
            )

    def _batch(self, system: pa.Array, document: pa.Array, *counts: np.ndarray) -> pa.RecordBatch:
        columns = [
            pa.array([TEST_SET]).take(pa.array(np.zeros(len(system), dtype=np.int32))),
            self.systems.take(system),
            self.documents.take(document),
            *map(pa.array, counts),
        ]
        return pa.record_batch(columns, schema=SCHEMA)


def write(file: Path, systems: int, documents: int, seed: int = 1992, order: str = "system") -> None:
    """Writes the rows of an evaluation to a file, as CSV or Parquet depending on its extension."""
    evaluation = Evaluation(systems, documents, seed)
    with ExitStack() as stack:
        if file.suffix == ".csv":
            plain = pa.csv.WriteOptions(quoting_style="none")
            out = stack.enter_context(pa.csv.CSVWriter(file, SCHEMA, write_options=plain))
        else:
            out = stack.enter_context(pa.parquet.ParquetWriter(file, SCHEMA, compression="zstd"))
        for batch in evaluation.by_document() if order == "document" else evaluation.by_system():
            out.write_batch(batch)


def main() -> None:
    """Writes the file that is asked for."""
    parser = argparse.ArgumentParser(description="writes score rows of an invented evaluation")
    parser.add_argument("file", type=Path, help="what to write, .parquet or .csv")
    parser.add_argument("--systems", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1992)
    parser.add_argument("--order", choices=("system", "document"), default="system")
    args = parser.parse_args()
    write(args.file, args.systems, args.documents, args.seed, args.order)
    print(f"{args.file}: {args.systems * args.documents:,} rows, {args.file.stat().st_size / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()

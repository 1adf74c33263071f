"""How long Spearman's and Kendall's correlations take, beside SciPy's.

    python benchmarks/rank_correlations.py [--documents 1400] [--shuffles 10000]

prints a Markdown table: the correlations of two systems in shuffles of their predictions, and those of `compare` and
`score … interval` in an open session, in processor time of one run. SciPy computes the correlations of a sample of the
same shuffles, which are multiplied up. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.tables import heads, row
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.rank_correlation import ExchangedNumbers, codes_of, kendall, spearman
from evalhouse.warehouse.store.replacement import create

MEASURES = {"spearman": (spearman, stats.spearmanr), "kendall": (kendall, stats.kendalltau)}
SAMPLE = 200
"""So many of the shuffles are given to SciPy."""


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1400)
    parser.add_argument("--shuffles", type=int, default=10_000)
    asked = parser.parse_args()
    draw = np.random.default_rng(1)
    truths = np.round(draw.normal(size=asked.documents), 2)
    predicted = np.round(truths + draw.normal(size=(2, asked.documents)) * [[1.0], [1.1]], 3)
    chosen = draw.integers(0, 2, (asked.documents, asked.shuffles))
    sums = np.concatenate((np.ones_like(chosen), chosen)).astype(np.float64)
    heads("measure", "shuffles", "SciPy", "SciPy / shuffles", "`compare`", "`score … interval`")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "sts.csv"
        lines = zip(truths.tolist(), *predicted.tolist(), strict=True)
        rows = (f"d{number},{','.join(map(str, numbers))}" for number, numbers in enumerate(lines))
        table.write_text("\n".join(["id,gold,a,b", *rows, ""]))
        with create(Path(folder) / "w.duckdb") as database:
            load(database, table, "numbers", fields={"test_set": "sts"})
        with Session.open(Path(folder) / "w.duckdb") as session:
            for name, (associate, of_scipy) in MEASURES.items():
                exchanged = ExchangedNumbers(
                    codes_of(truths), codes_of(predicted), np.arange(asked.documents), associate
                )
                own = np.take_along_axis(predicted.T[:, None], chosen[:, :SAMPLE, None], axis=2)[..., 0]
                alone = seconds(lambda of=of_scipy, own=own: [of(truths, side) for side in own.T])  # type: ignore[misc]
                alone *= asked.shuffles / min(SAMPLE, asked.shuffles)
                together = seconds(lambda exchanged=exchanged: exchanged.values(sums))  # type: ignore[misc]
                compare = f"compare {name} for a, b on sts shuffles {asked.shuffles}"
                whole, score = (
                    seconds(lambda text=text: session.run(text))  # type: ignore[misc]
                    for text in (compare, f"score {name} for a, b on sts interval")
                )
                figures = (f"{time:.2f} s" for time in (whole, score))
                row(f"`{name}`", f"{together:.2f} s", f"{alone:.1f} s", f"{alone / together:.0f}", *figures)


if __name__ == "__main__":
    main()

"""How long pages take: those of the sample data (MUC-4), and the first leaderboard of 100 systems on 1,000 documents.

    python benchmarks/pages.py

prints a Markdown table. A server runs in this process on a local socket, and each page is requested as a browser would.
Each time is the least of seven freshly started servers, whose warehouse is open and whose cache is empty, because other
work on a machine can only make times longer. `again` is a second request for the same page, `begins` is the time until
the first byte, and processor time is that of the whole process.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.replacement import create
from evalhouse.warehouse.web.server import Server

SYSTEMS, DOCUMENTS, RUNS = 100, 1000, 7

MUC_4 = {
    "the warehouse": "",
    "the leaderboard of TST3": "test-set/TST3",
    "GE and UMASS on TST3": "test-set/TST3/pair/GE/UMASS",
    "a document": "test-set/TST3/document/SIM3-050",
    "a system": "system/GE",
    "a statement": "?q=score+F+for+all+on+TST3",
}


@contextmanager
def served(path: Path | None) -> Iterator[str]:
    """The address of the pages of a warehouse that is open and has drawn a picture."""
    server = Server(lambda: Session.open(path), "", port=0)
    server.start()
    try:
        visited(server.url + "?q=show+systems")
        visited(server.url + "?q=plot+score+recall+for+all+on+all")
        yield server.url
    finally:
        server.stop()


def visited(url: str) -> tuple[float, float, float]:
    """Milliseconds until a page begins, until it is complete, and of processor time."""
    began, worked = time.perf_counter(), time.process_time()
    with urllib.request.urlopen(url, timeout=600) as page:
        page.read(1)
        first = time.perf_counter()
        content = page.read()
    assert content.rstrip().endswith(b"</html>")
    ended = time.perf_counter()
    return 1000 * (first - began), 1000 * (ended - began), 1000 * (time.process_time() - worked)


def large(folder: Path) -> Path:
    """A warehouse of score tuples drawn with a fixed seed."""
    source = np.random.default_rng(1992)
    possible, actual = (source.integers(1, 20, (SYSTEMS, DOCUMENTS)) for _ in range(2))
    skill = np.linspace(0.3, 0.7, SYSTEMS)[:, None]
    correct = source.binomial(np.minimum(possible, actual), skill)
    table = folder / "scores.csv"
    with table.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("test_set", "system", "document", "possible", "actual", "correct", "partial"))
        for system in range(SYSTEMS):
            for document in range(DOCUMENTS):
                counts = (array[system, document] for array in (possible, actual, correct))
                rows.writerow(("large", f"s{system:03}", f"d{document:04}", *counts, 0))
    with create(folder / "large.duckdb") as database:
        load(database, table, "scores")
    return folder / "large.duckdb"


def main() -> None:
    print("| page | begins | is there | processor | again |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        of_large = {f"the leaderboard of {SYSTEMS} systems, {DOCUMENTS:,} documents": "test-set/large"}
        for path, pages in ((None, MUC_4), (large(Path(folder)), of_large)):
            times: dict[str, list[tuple[float, ...]]] = {}
            for _ in range(RUNS):
                with served(path) as url:
                    for called, page in pages.items():
                        first, again = visited(url + page), visited(url + page)
                        times.setdefault(called, []).append((*first, again[1]))
            for called, runs in times.items():
                least = [min(column) for column in zip(*runs, strict=True)]
                print(f"| {called} | {' | '.join(f'{each:,.0f} ms' for each in least)} |")


if __name__ == "__main__":
    main()

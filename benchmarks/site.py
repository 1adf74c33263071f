"""How long it takes to publish a site of 20 systems and 1,000 documents with answers that are right or wrong.

    python benchmarks/site.py [--folder FOLDER] [--systems N] [--documents N]

prints wall-clock seconds, processor seconds, the peak memory of the process, and the size of the result. Other work on
the machine changes the wall-clock time but not the processor time.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
from pathlib import Path

from timing import evalhouse, in_folder, spent


def main() -> None:
    """Makes the answers, loads and publishes them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--documents", type=int, default=1000)
    in_folder(parser, measured)


def measured(folder: Path, args: argparse.Namespace) -> None:
    """The figures of one site."""
    answers, db, site = folder / "answers.csv", folder / "site.duckdb", folder / "site"
    chance = random.Random(1992)
    with answers.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(("test_set", "system", "document", "measure", "value"))
        for system in range(args.systems):
            right = 0.4 + 0.4 * system / args.systems
            for document in range(args.documents):
                rows.writerow(("qa", f"model-{system:02}", f"q{document:04}", "accuracy", int(chance.random() < right)))
    db.unlink(missing_ok=True)
    spent(evalhouse("init", str(db)), folder)
    spent(evalhouse("load", str(answers), "--as", "values", "--db", str(db)), folder)
    before = os.getloadavg()[0]
    print(
        f"publish: {spent(evalhouse('publish', str(site), '--db', str(db)), folder)}; load of the machine {before:.1f}"
    )
    files = [file for file in site.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files) / 1e6
    print(f"{sum(file.suffix == '.html' for file in files):,} pages, {len(files):,} files, {size:.1f} MB")


if __name__ == "__main__":
    main()

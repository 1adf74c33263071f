"""What large evaluations cost: loading, aggregating, fetching and comparing, beside hand-written SQL and polars.

    python benchmarks/scale.py [--systems 1000] [--documents 10000] [--folder FOLDER]

makes the files it needs in a folder (a temporary one unless another is named, where they are kept) and prints a
markdown table. Everything is a process of its own; given are the seconds it took, in brackets the seconds of all
processors, and the most memory it held. `by hand` is DuckDB's own SQL on the same file. Both have all cores.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EVALHOUSE = [sys.executable, "-c", "import sys, cli; sys.exit(cli.command())"]

F = "(2 * sum(correct) + sum(partial)) / (sum(possible) + sum(actual))"
COLUMNS = "possible, actual, correct, partial"
OPENED = "import duckdb; c = duckdb.connect(); c.execute(\"attach '{db}' as w (read_only)\"); c.execute('use w'); "
SORTED = "create table t as select * from '{file}' order by test_set, system, document"
GROUPED = (
    f"select {', '.join(f'{side}.{name}' for side in 'ab' for name in COLUMNS.split(', '))}, count(*) "
    f"from (select document_id, {COLUMNS} from score where system_id = 1) a "
    f"join (select document_id, {COLUMNS} from score where system_id = 2) b using (document_id) group by all"
)
POLARS_F = (
    "(2 * pl.col('correct').sum() + pl.col('partial').sum()) / (pl.col('possible').sum() + pl.col('actual').sum())"
)
POLARS_PAIR = (
    "import polars as pl; f = pl.scan_parquet('{file}').drop('test_set'); "
    "a, b = (f.filter(pl.col('system') == s).drop('system') for s in ('S0001', 'S0002')); "
    "a.join(b, on='document').drop('document').group_by(pl.all()).len().collect()"
)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a process took: seconds, seconds of all processors, and bytes at most."""

    seconds: float
    processor: float
    memory: int

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s ({self.processor:.2f}), {self.memory / 1e6:,.0f} MB"


def spent(command: list[str], folder: Path, runs: int = 1) -> Spent:
    """The fastest of some runs of a process."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""}
    found = []
    for _ in range(runs):
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder, env=settings)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{command} ended with {process.returncode}")
        seconds = time.perf_counter() - began
        found.append(Spent(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024))
    return min(found, key=lambda each: each.seconds)


def python(code: str) -> list[str]:
    """A process of a line of Python."""
    return [sys.executable, "-c", code]


def evalhouse(*words: str) -> list[str]:
    """A process of the command."""
    return [*EVALHOUSE, *words, "--quiet"]


def generate(file: Path, systems: int, documents: int) -> None:
    """Makes a file of scores in a process of its own: what it held would be counted as held by those after it."""
    made = [sys.executable, str(Path(__file__).with_name("generate.py")), str(file)]
    spent([*made, "--systems", str(systems), "--documents", str(documents)], file.parent)


def row(work: str, *cells: Spent | None) -> None:
    """Prints a row of the table."""
    print(f"| {work} | {' | '.join(str(cell) if cell else '–' for cell in cells)} |", flush=True)


def loads(folder: Path, ending: str) -> tuple[Spent, Spent, Spent]:
    """Loading a file: into a warehouse, by hand into a sorted table, and with polars sorted into Parquet."""
    file, db, own = folder / f"big.{ending}", folder / f"{ending}.duckdb", folder / f"own.{ending}.duckdb"
    for old in (db, own):
        old.unlink(missing_ok=True)
    spent(evalhouse("init", str(db)), folder)
    ours = spent(evalhouse("load", str(file), "--as", "scores", "--db", str(db)), folder)
    hand = spent(python(f"import duckdb; duckdb.connect('{own}').execute(\"{SORTED.format(file=file)}\")"), folder)
    scan = f"pl.scan_{ending}('{file}').sort('test_set', 'system', 'document')"
    peer = spent(python(f"import polars as pl; {scan}.sink_parquet('{folder / 'own.parquet'}')"), folder)
    own.unlink()
    (folder / "own.parquet").unlink()
    return ours, hand, peer


def measure(folder: Path, systems: int, documents: int, csv: bool, runs: int) -> None:
    """Prints the table."""
    size = f"{systems:,} systems × {documents:,} documents"
    file, db = folder / "big.parquet", folder / "parquet.duckdb"
    if not file.exists():
        generate(file, systems, documents)
    small, few = folder / "few.parquet", folder / "few.duckdb"
    if not few.exists():
        generate(small, 100, 1000)
        spent(evalhouse("init", str(few)), folder)
        spent(evalhouse("load", str(small), "--as", "scores", "--db", str(few)), folder)
    print(f"| {size} | evalhouse | by hand | polars |\n|---|---|---|---|")
    row(f"load from Parquet, {file.stat().st_size / 1e6:,.0f} MB", *loads(folder, "parquet"))
    if csv:
        if not file.with_suffix(".csv").exists():
            generate(file.with_suffix(".csv"), systems, documents)
        row(f"load from CSV, {file.with_suffix('.csv').stat().st_size / 1e6:,.0f} MB", *loads(folder, "csv"))

    def asked(question: str, of: Path = db) -> Spent:
        return spent(evalhouse("query", question, "--db", str(of), "--format", "csv"), folder, runs)

    opened = OPENED.format(db=db)
    row(
        "`score F for all on BIG`",
        asked("score F for all on BIG"),
        spent(python(opened + f"c.execute('select system_id, {F} from score group by 1').fetchall()"), folder, runs),
        spent(
            python(f"import polars as pl; pl.scan_parquet('{file}').group_by('system').agg({POLARS_F}).collect()"),
            folder,
            runs,
        ),
    )
    row(
        "the documents of a pair, those alike counted",
        None,
        spent(python(opened + f"c.execute('{GROUPED}').fetchnumpy()"), folder, runs),
        spent(python(POLARS_PAIR.format(file=file)), folder, runs),
    )
    row("`compare F for S0001, S0002 on BIG`", asked("compare F for S0001, S0002 on BIG"), None, None)
    row(
        "`compare F for all on BIG`, 100 systems × 1,000 documents, 4,950 pairs",
        asked("compare F for all on BIG", few),
        None,
        None,
    )


def main() -> None:
    """Measures in the folder that is named, or in a temporary one."""
    parser = argparse.ArgumentParser(description="measures what large evaluations cost")
    parser.add_argument("--systems", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="where files are made and kept; else a temporary folder")
    parser.add_argument("--runs", type=int, default=3, help="of how many runs the fastest counts; loads run once")
    parser.add_argument("--no-csv", action="store_true", help="leave out the load from CSV")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        measure(folder, asked.systems, asked.documents, not asked.no_csv, asked.runs)


if __name__ == "__main__":
    main()

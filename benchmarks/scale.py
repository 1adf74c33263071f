"""The cost of large evaluations: loading, aggregating, fetching and comparing, beside hand-written SQL and polars.

    python benchmarks/scale.py [--systems 1000] [--documents 10000] [--folder FOLDER]

makes the files it needs in a folder (a temporary one, unless a folder is named, which keeps them) and prints a Markdown
table. Each measurement is a separate process; the table has its wall-clock seconds, its processor seconds in brackets,
and its peak memory. `by hand` is DuckDB's own SQL on the same file. Both may use all cores.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from timing import Spent, evalhouse, in_folder, load, python, spent

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


def fastest(command: list[str], folder: Path, runs: int) -> Spent:
    """The cost of the fastest of several runs of a process."""
    return min((spent(command, folder) for _ in range(runs)), key=lambda run: run.seconds)


def generate(file: Path, systems: int, documents: int) -> None:
    """Makes a file of scores in a process of its own, because its memory would otherwise count in later
    measurements.
    """
    made = [sys.executable, str(Path(__file__).with_name("generate.py")), str(file)]
    spent([*made, "--systems", str(systems), "--documents", str(documents)], file.parent)


def row(work: str, *cells: Spent | None) -> None:
    """Prints a row of the table."""
    print(f"| {work} | {' | '.join(str(cell) if cell else '–' for cell in cells)} |", flush=True)


def loads(folder: Path, ending: str) -> tuple[Spent, Spent, Spent]:
    """Loading a file: into a warehouse, by hand into a sorted table, and with polars sorted into Parquet."""
    file, db, own = folder / f"big.{ending}", folder / f"{ending}.duckdb", folder / f"own.{ending}.duckdb"
    own.unlink(missing_ok=True)
    ours = load(file, db)
    hand = spent(python(f"import duckdb; duckdb.connect('{own}').execute(\"{SORTED.format(file=file)}\")"), folder)
    scan = f"pl.scan_{ending}('{file}').sort('test_set', 'system', 'document')"
    peer = spent(python(f"import polars as pl; {scan}.sink_parquet('{folder / 'own.parquet'}')"), folder)
    own.unlink()
    (folder / "own.parquet").unlink()
    return ours, hand, peer


def measure(folder: Path, args: argparse.Namespace) -> None:
    """Prints the table."""
    file, db = folder / "big.parquet", folder / "parquet.duckdb"
    if not file.exists():
        generate(file, args.systems, args.documents)
    few = folder / "few.duckdb"
    if not few.exists():
        generate(folder / "few.parquet", 100, 1000)
        load(folder / "few.parquet", few)
    size = f"{args.systems:,} systems × {args.documents:,} documents"
    print(f"| {size} | evalhouse | by hand | polars |\n|---|---|---|---|")
    row(f"load from Parquet, {file.stat().st_size / 1e6:,.0f} MB", *loads(folder, "parquet"))
    if not args.no_csv:
        plain = file.with_suffix(".csv")
        if not plain.exists():
            generate(plain, args.systems, args.documents)
        row(f"load from CSV, {plain.stat().st_size / 1e6:,.0f} MB", *loads(folder, "csv"))

    def ours(question: str, of: Path = db) -> Spent:
        return fastest(evalhouse("query", question, "--db", str(of), "--format", "csv"), folder, args.runs)

    def peer(code: str) -> Spent:
        return fastest(python(code), folder, args.runs)

    opened = OPENED.format(db=db)
    by_hand = opened + f"c.execute('select system_id, {F} from score group by 1').fetchall()"
    by_polars = f"import polars as pl; pl.scan_parquet('{file}').group_by('system').agg({POLARS_F}).collect()"
    row("`score F for all on BIG`", ours("score F for all on BIG"), peer(by_hand), peer(by_polars))
    grouped, joined = opened + f"c.execute('{GROUPED}').fetchnumpy()", POLARS_PAIR.format(file=file)
    row("the documents of a pair, those alike counted", None, peer(grouped), peer(joined))
    row("`compare F for S0001, S0002 on BIG`", ours("compare F for S0001, S0002 on BIG"), None, None)
    of_all = "`compare F for all on BIG`, 100 systems × 1,000 documents, 4,950 pairs"
    row(of_all, ours("compare F for all on BIG", few), None, None)


def main() -> None:
    """Measures in the folder that is named, or in a temporary one."""
    parser = argparse.ArgumentParser(description="measures what large evaluations cost")
    parser.add_argument("--systems", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3, help="of how many runs the fastest counts; loads run once")
    parser.add_argument("--no-csv", action="store_true", help="leave out the load from CSV")
    in_folder(parser, measure)


if __name__ == "__main__":
    main()

"""Makes a warehouse from the files in inputs/ with an earlier version of the program, and keeps its answers.

    python tests/upgrading/make.py CHECKOUT PYTHON NAME

CHECKOUT is a worktree of the earlier version, PYTHON an interpreter with the packages that its pyproject.toml requires,
and NAME the folder beside this file that gets the compressed warehouse and a CSV file for each question of
questions.txt.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TABLES = (
    ("scores", "scores"),
    ("values", "mistaken"),
    ("scores", "units"),
    ("decisions", "decisions"),
    ("labels", "labels"),
    ("values", "values"),
    ("published", "published"),
    ("systems", "systems"),
    ("documents", "documents"),
)
"""By file of inputs/ the reader that loads it, in the order of the imports."""

MEASURES = (
    "define measure thrift = correct / (possible + actual)",
    "define measure blend = (3 * correct + partial) / (3 * possible + missing)",
)


def main(checkout: Path, python: str, name: str) -> None:
    folder = HERE / name
    (folder / "answers").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "warehouse.duckdb"

        def do(*words: str) -> str:
            done = subprocess.run(
                [python, str(checkout / "cli.py"), *words],
                capture_output=True,
                text=True,
                cwd=HERE / "inputs",
                env={**os.environ, "EVALHOUSE_DB": str(made)},
            )
            if done.returncode:
                raise SystemExit(f"{' '.join(words)}\n{done.stderr}")
            return done.stdout

        do("init", str(made))
        for reader, file in TABLES:
            do("load", f"{file}.csv", "--as", reader)
        # An import that is forgotten leaves a gap in the numbers.
        do("query", "forget import 2")
        do("load", "qrels.txt", "base.run", "tuned.run", "--as", "trec", "--set", "test_set=robust")
        for measure in MEASURES:
            do("query", measure)
        for line in (HERE / "questions.txt").read_text(encoding="utf-8").splitlines():
            called, _, statement = line.partition(": ")
            answer = do("query", statement, "--format", "csv")
            (folder / "answers" / f"{called}.csv").write_text(answer, encoding="utf-8")
        (folder / "warehouse.duckdb.gz").write_bytes(gzip.compress(made.read_bytes(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3])

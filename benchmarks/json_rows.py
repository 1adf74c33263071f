"""The cost of loading JSON, compared with how long msgspec takes to read the file into typed records, and the memory of
it.

    timeout 600 python benchmarks/json_rows.py [--megabytes 100]

prints a Markdown table. The file has samples of about 2 kB with ten texts, as JSON lines, as an array on one line and
inside an object. Beside the processor seconds of a whole load, and of splitting the file into cells alone, are their
ratios to msgspec's reading. Each load is a process of its own, whose largest memory is measured. Times are the least of
three runs.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[1]


class Sample(msgspec.Struct):
    """A record of the file."""

    model: str
    question_id: int
    question: str
    options: list[str]
    answer: str
    category: str
    pred: str
    generated_text: str
    correct: int


def samples(folder: Path, megabytes: int) -> dict[str, Path]:
    """The file in three forms."""
    chance = random.Random(1)
    words = ("the", "quick", "model", "answers", "a", "question", "about", "numbers", "and", "towns")

    def text(length: int) -> str:
        return " ".join(chance.choices(words, k=length // 6))

    records = []
    for number in range(megabytes * 450):
        answer, said = chance.choices("ABCDEFGHIJ", k=2)
        records.append(
            {
                "model": "wren",
                "question_id": number,
                "question": text(400),
                "options": [text(60) for _ in range(10)],
                "answer": answer,
                "category": chance.choice(("law", "maths", "biology")),
                "pred": said,
                "generated_text": text(1100),
                "correct": int(answer == said),
            }
        )
    lines, array, inside = (folder / name for name in ("lines.jsonl", "array.json", "inside.json"))
    with lines.open("w") as out:
        out.writelines(json.dumps(record) + "\n" for record in records)
    array.write_text(json.dumps(records))
    inside.write_text(json.dumps({"run": "r1", "results": records}))
    return {"JSON lines": lines, "an array on one line": array, "records inside an object": inside}


READ = """
import sys, msgspec; sys.path.insert(0, {root!r})
from benchmarks.json_rows import Sample
whole = open({file!r}, "rb").read()
if {file!r}.endswith("l"):
    decoder = msgspec.json.Decoder(Sample)
    for line in whole.splitlines(): decoder.decode(line)
else:
    msgspec.json.decode(whole, type=list[Sample] if whole.startswith(b"[") else dict[str, list[Sample] | str])
"""
SPLIT = """
import sys; sys.path.insert(0, {root!r})
from pathlib import Path
from evalhouse.warehouse.kinds.records import VALUES
from evalhouse.warehouse.loading.staging.json_rows import is_by_line, rows_of
from evalhouse.warehouse.loading.staging.lines import documents
from evalhouse.warehouse.loading.staging.staged import Staging
file = Path({file!r})
staging = Staging(None, file, VALUES, {{}}, {{}})
for document in documents(staging):
    for rows in rows_of(staging, document, by_line=is_by_line(file)): pass
"""
LOAD = """
import sys; sys.path.insert(0, {root!r})
from evalhouse.warehouse.commands.program import main
sys.exit(main(["load", {file!r}, "--set", "test_set=t", "--dry-run", "--db", "/nowhere/none.duckdb", "--quiet"]))
"""
NOTHING = "import sys; sys.path.insert(0, {root!r})"


def cost(program: str, file: Path) -> tuple[float, float]:
    """Processor seconds and megabytes of a program, the least of three runs."""
    found = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = [sys.executable, "-c", MEASURED + program.format(root=str(ROOT), file=str(file))]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found.append((seconds, int(done.stderr.strip().splitlines()[-1]) / 1024))
    return min(found)


MEASURED = """
import atexit, resource, sys
atexit.register(lambda: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr))
"""


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    given = parser.parse_args()
    began = time.perf_counter()
    print("| file | megabytes | msgspec, seconds | splitting into cells | a whole load | memory of the load, MB |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for what, file in samples(Path(folder), given.megabytes).items():
            start, _ = cost(NOTHING, file)
            read, split, load = (cost(program, file) for program in (READ, SPLIT, LOAD))
            yard = read[0] - start
            ratios = (f"{one[0] - start:.2f} ({(one[0] - start) / yard:.1f} ×)" for one in (split, load))
            size = file.stat().st_size / 1e6
            print(f"| {what} | {size:.0f} | {yard:.2f} | {' | '.join(ratios)} | {load[1]:.0f} |", flush=True)
    print(f"\n{time.perf_counter() - began:.0f} seconds", file=sys.stderr)


if __name__ == "__main__":
    main()

"""What loading texts costs: the same logs of lm-evaluation-harness without and with --texts.

    python benchmarks/texts.py [--files 8] [--samples 2500]

prints a Markdown table for a folder and for one with twice as many files: wall-clock seconds, processor seconds, peak
memory, and the growth of the warehouse; then the bytes of text per byte that the warehouse grew, and the time to find a
text of one document. Texts are passages from the source of Python's standard library, each used once: a prompt of 1,200
letters, an answer of 600 and a target of 40. Times are the least of three.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import sysconfig
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.timing import Spent, evalhouse, in_folder, spent
from evalhouse.warehouse.plans.scores import texts
from evalhouse.warehouse.store.connecting import open_database

PROMPT, ANSWER, TARGET = 1_200, 600, 40


def passages() -> Iterator[str]:
    """Prompt, answer and target in sequence, from each file of the standard library in turn."""
    length = PROMPT + ANSWER + TARGET
    for file in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" not in file.parts:
            written = file.read_text(encoding="utf-8", errors="replace")
            yield from (written[place : place + length] for place in range(0, len(written) - length, length))


def logs(folder: Path, files: int, samples: int) -> int:
    """Writes the logs of this many models, each with its own answers. Returns the number of bytes of text in them."""
    # Every model gets the same questions: prompts and targets are in each log, but are stored once.
    asked = list(islice(passages(), samples))
    if len(asked) < samples:
        raise SystemExit(f"the standard library has {len(asked):,} passages; --samples may not be more")
    size = sum(len((text[:PROMPT] + text[PROMPT + ANSWER :]).encode()) for text in asked)
    for number in range(files):
        inside = folder / f"maker__model-{number}"
        inside.mkdir(parents=True)
        with (inside / "samples_quiz_2026-01-21T03-44-18.458309.jsonl").open("w") as log:
            for place, text in enumerate(asked):
                answer = asked[(place + 7 * number) % samples][PROMPT : PROMPT + ANSWER]
                size += len(answer.encode())
                sample = {
                    "doc_id": place,
                    "target": text[PROMPT + ANSWER :],
                    "arguments": {"gen_args_0": {"arg_0": text[:PROMPT], "arg_1": {"until": ["\n\n"]}}},
                    "resps": [[answer]],
                    "filter": "none",
                    "metrics": ["exact_match"],
                    "exact_match": float((place + number) % 3 == 0),
                }
                log.write(json.dumps(sample) + "\n")
    return size


def loaded(folder: Path, db: Path, *more: str) -> Spent:
    """The least cost of loading a folder, out of three times."""
    turns = []
    for _ in range(3):
        db.unlink(missing_ok=True)
        spent(evalhouse("init", str(db)), db.parent)
        turns.append(spent(evalhouse("load", str(folder), "--db", str(db), *more), db.parent))
    return min(turns, key=lambda turn: turn.processor)


def measure(scratch: Path, args: argparse.Namespace) -> None:
    """Prints the table."""
    print("| files | samples | texts | without | with `--texts` | times as long | warehouse | with texts |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for files in (args.files, 2 * args.files):
        folder = scratch / f"of-{files}"
        size = logs(folder, files, args.samples)
        plain, full = scratch / "plain.duckdb", scratch / "full.duckdb"
        without, beside = loaded(folder, plain), loaded(folder, full, "--texts")
        sizes = [db.stat().st_size for db in (plain, full)]
        print(
            f"| {files} | {files * args.samples:,} | {size / 1e6:.1f} MB | {without} | {beside} "
            f"| {beside.processor / without.processor:.2f} | {sizes[0] / 1e6:.1f} MB | {sizes[1] / 1e6:.1f} MB |",
            flush=True,
        )
        print(f"{size / (sizes[1] - sizes[0]):.2f} bytes of text a byte of file", file=sys.stderr)
        shutil.rmtree(folder)
    with open_database(full) as database:
        query = texts(1, [1, 2], [str(args.samples // 2)]).sql
        began = time.perf_counter()
        found = len(database.rows(query))
        print(
            f"{found} texts of a document and two systems in {1000 * (time.perf_counter() - began):.1f} ms",
            file=sys.stderr,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--samples", type=int, default=2_500)
    in_folder(parser, measure)


if __name__ == "__main__":
    main()

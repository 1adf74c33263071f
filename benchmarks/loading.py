"""The cost of loading, compared with what a user would run instead: processor seconds and wall-clock seconds, in one
run.

    python benchmarks/loading.py [--lines 1000000] [--tokens 1000000] [--samples 100000] [--steps]

prints a Markdown table; the ratio of a load to the other program is in brackets. A TREC run of many lines is loaded and
judged, compared with DuckDB's own `read_csv` of it into a table, and with pytrec_eval and ir_measures, which read and
evaluate it. CoNLL columns are loaded, compared with seqeval, which evaluates them as Python reads them. Samples of
lm-evaluation-harness are loaded, compared with `json.loads` of every line. Files are generated with a fixed seed. Times
are the least of three runs.

`--steps` prints only what the steps of loading a TREC run take, in processor seconds and compared with `read_csv`: the
least of ten loads for each statement. In addition to what the tests need, it requires `pip install ir_measures`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import duckdb
import ir_measures
import pytrec_eval
import seqeval.metrics

sys.path.insert(0, str(Path(__file__).parents[1]))

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.replacement import create

MEASURES = {"map", "recip_rank", "Rprec", "ndcg", "P", "ndcg_cut"}
SAME_MEASURES = [
    *(ir_measures.AP, ir_measures.RR, ir_measures.Rprec, ir_measures.nDCG),
    *(of @ depth for of in (ir_measures.P, ir_measures.nDCG) for depth in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
]
"""The measures of pytrec_eval under their names in ir_measures."""
TYPES = ("'topic': 'varchar', 'q0': 'varchar', 'document': 'varchar', 'rank': 'int', 'score': 'double', "
         "'system': 'varchar'")  # fmt: skip


STEPS = {
    "reads the lines into a table": ("trec_read as",),
    "lists topics and documents": ("table trec_groups as", "table listed_"),
    "gives numbers to new names": ("insert into item", "insert into document", "insert into system"),
    "replaces the names of all lines by numbers": ("table trec_placed as",),
    "looks for repeated documents and for unsorted topics": ("select hash", "hash(", "as behind"),
    "judges by the qrels": ("trec_key", "trec_names as", "trec_ranked as", "trec_asked as", "trec_topics as"),
    "gives the rankings the columns of their table": ("staged_rankings",),
    "writes the rankings": ('into main."ranking"',),
    "sorts and writes decisions and score tuples": ("staged_decisions", "staged_scores", "into main."),
    "makes fingerprints": ("table_name",),
}
"""What statements of a load do, by what is in their text; the first step that fits counts."""
THE_REST = "everything else: some 130 short statements, SHA-256, and Python"
TURNS = 10


def run_and_qrels(folder: Path, lines: int) -> tuple[Path, Path]:
    """A run of 1,000 documents per topic, best first, and 200 judgments per topic."""
    chance = random.Random(1)
    names = list({f"FBIS{chance.randrange(1, 5)}-{chance.randrange(1, 60000)}" for _ in range(200_000)})
    run, qrels = folder / "base.run", folder / "qrels.txt"
    with run.open("w") as ranked, qrels.open("w") as judged:
        for topic in range(lines // 1000):
            chosen = chance.sample(names, 1000)
            for place, document in enumerate(chosen):
                ranked.write(f"{topic} Q0 {document} {place + 1} {30 - place / 100:.6f} base\n")
            for document in dict.fromkeys((*chosen[:60], *chance.sample(names, 140))):
                judged.write(f"{topic} 0 {document} {chance.choice((0, 0, 0, 1, 2))}\n")
    return run, qrels


def tagged(folder: Path, tokens: int) -> Path:
    """Sentences of 3 to 25 tokens with gold tags and answers, of which three in ten are random."""
    chance = random.Random(1)
    file = folder / "crf.conll"

    def tags(length: int) -> list[str]:
        found: list[str] = []
        while len(found) < length:
            kind, many = chance.choice(("PER", "LOC", "ORG", "MISC")), chance.choice((1, 1, 2, 3))
            found += [f"B-{kind}", *[f"I-{kind}"] * (many - 1)] if chance.random() < 0.12 else ["O"]
        return found[:length]

    with file.open("w") as out:
        while tokens > 0:
            gold = tags(chance.randrange(3, 26))
            answers = gold if chance.random() < 0.7 else tags(len(gold))
            out.writelines(
                f"word{k} NN {both[0]} {both[1]}\n" for k, both in enumerate(zip(gold, answers, strict=True))
            )
            out.write("\n")
            tokens -= len(gold)
    return file


def samples(folder: Path, many: int) -> Path:
    """A log of lm-evaluation-harness: multiple choice, with everything that it writes about a sample, about 1.7 kB."""
    chance = random.Random(1)
    words = [f"{chance.choice('aeiou')}{chance.randrange(10_000)}" for _ in range(2_000)]
    file = folder / "samples_quiz_2026-01-21T03-44-18.458309.jsonl"
    with file.open("w") as log:
        for number in range(many):
            question, choices = " ".join(chance.sample(words, 40)), chance.sample(words, 4)
            scores = [-chance.random() * 20 for _ in choices]
            sample = {
                "doc_id": number,
                "doc": {"question": question, "subject": "abstract_algebra", "choices": choices, "answer": 2},
                "target": 2,
                "arguments": {
                    f"gen_args_{place}": {"arg_0": question, "arg_1": f" {choice}"}
                    for place, choice in enumerate(choices)
                },
                "resps": [[[score, False]] for score in scores],
                "filtered_resps": [[score, False] for score in scores],
                "filter": "none",
                "metrics": ["acc"],
                **{f"{what}_hash": f"{chance.getrandbits(256):064x}" for what in ("doc", "prompt", "target")},
                "acc": float(max(scores) == scores[2]),
            }
            log.write(json.dumps(sample) + "\n")
    return file


def by_json(file: Path) -> None:
    """The result of Python's json for each line."""
    with file.open() as lines:
        for line in lines:
            json.loads(line)


def by_pytrec_eval(run: Path, qrels: Path) -> None:
    """Reads and evaluates a run."""
    with qrels.open() as judged, run.open() as ranked:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(judged), MEASURES)
        evaluator.evaluate(pytrec_eval.parse_run(ranked))


def by_ir_measures(run: Path, qrels: Path) -> None:
    """Reads and evaluates a run."""
    judged, ranked = ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
    ir_measures.calc_aggregate(SAME_MEASURES, judged, ranked)


def by_seqeval(file: Path, score: Callable[[list[list[str]], list[list[str]]], object]) -> None:
    """Reads tags, and evaluates them."""
    gold: list[list[str]] = [[]]
    answers: list[list[str]] = [[]]
    with file.open() as lines:
        for line in lines:
            if cells := line.split():
                gold[-1].append(cells[-2])
                answers[-1].append(cells[-1])
            elif gold[-1]:
                gold.append([])
                answers.append([])
    score(gold[:-1], answers[:-1])


class Taken(NamedTuple):
    """The processor seconds and the wall-clock seconds of some work."""

    processors: float
    clock: float

    def beside(self, other: Taken) -> str:
        """The other program's seconds, with our ratio to them in brackets."""
        pairs = zip(self, other, strict=True)
        return " | ".join(f"{theirs:.2f} s ({mine / theirs:.2f})" for mine, theirs in pairs)


def taken_by(work: Callable[[], object]) -> Taken:
    """Runs some work and measures it."""
    processors, clock = time.process_time(), time.perf_counter()
    work()
    return Taken(time.process_time() - processors, time.perf_counter() - clock)


def loaded(folder: Path, file: Path, reader: str, fields: dict[str, str], before: Path | None = None) -> Taken:
    """Loads a file into a new warehouse, after another file if one is given."""
    path = folder / "w.duckdb"
    path.unlink(missing_ok=True)
    with create(path) as database:
        if before is not None:
            load(database, before, reader, fields=fields)
        return taken_by(lambda: load(database, file, reader, fields=fields))


def rows(work: str, ours: Callable[[], Taken], *peers: tuple[str, Callable[[], object]]) -> None:
    """Prints a row of the table for a load, and one for each of its peers. They run alternately."""
    turns = [[ours(), *(taken_by(peer) for _, peer in peers)] for _ in range(3)]
    mine, *others = (Taken(*map(min, zip(*times, strict=True))) for times in zip(*turns, strict=True))
    print(f"| {work} | {mine.processors:.2f} s | {mine.clock:.2f} s |")
    for (name, _), other in zip(peers, others, strict=True):
        print(f"| – {name} | {mine.beside(other)} |", flush=True)


def steps(folder: Path, run: Path, qrels: Path, read_csv: Callable[[], object]) -> None:
    """Prints what each step of loading a run takes."""
    taken: list[tuple[str, float]] = []

    def noted(work: Callable[..., object]) -> Callable[..., object]:
        def noting(database: Database, *of: object) -> object:
            begun = time.process_time()
            try:
                return work(database, *of)
            finally:
                text = " ".join(str(getattr(one, "text", f"{one} as")) for one in of)
                step = next((step for step, parts in STEPS.items() if any(part in text for part in parts)), THE_REST)
                taken.append((step, time.process_time() - begun))

        return noting

    loads, others, statements = [], [], []
    plain = {name: getattr(Database, name) for name in ("rows", "columns", "run", "read")}
    for _ in range(TURNS):
        others.append(taken_by(read_csv).processors)
        for name in plain:
            setattr(Database, name, noted(plain[name]))
        path = folder / "w.duckdb"
        path.unlink(missing_ok=True)
        with create(path) as database:
            load(database, qrels, "trec", fields={"test_set": "T"})
            taken.clear()
            loads.append(taken_by(lambda: load(database, run, "trec", fields={"test_set": "T"})).processors)
        statements.append(list(taken))
        for name in plain:
            setattr(Database, name, plain[name])
    least = [(same[0][0], min(seconds for _, seconds in same)) for same in zip(*statements, strict=True)]
    sums = {step: sum(seconds for of, seconds in least if of == step) for step in STEPS}
    sums[THE_REST] = min(loads) - sum(sums.values())
    print(f"| step of a load; read_csv takes {min(others):.2f} s | processors | × read_csv |\n|---|---|---|")
    for step, seconds in (*sums.items(), ("together", min(loads))):
        print(f"| {step} | {seconds:.3f} s | {seconds / min(others):.2f} |")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="measures loading beside other tools")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--steps", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        run, qrels = run_and_qrels(folder, args.lines)
        reading = (f"create or replace table own as from read_csv('{run}', delim=' ', header=false, "
                   f"auto_detect=false, columns={{{TYPES}}})")  # fmt: skip
        if args.steps:
            with duckdb.connect(str(folder / "own.duckdb")) as own:
                steps(folder, run, qrels, lambda: own.execute(reading))
            return
        print("| loaded, and what others do | processors | clock |\n|---|---|---|")
        with duckdb.connect(str(folder / "own.duckdb")) as own:
            rows(
                f"a TREC run of {args.lines:,} lines",
                lambda: loaded(folder, run, "trec", {"test_set": "T"}, qrels),
                ("DuckDB's read_csv into a table", lambda: own.execute(reading)),
                ("pytrec_eval reads and evaluates", lambda: by_pytrec_eval(run, qrels)),
                ("ir_measures reads and evaluates", lambda: by_ir_measures(run, qrels)),
            )
        file = tagged(folder, args.tokens)
        rows(
            f"CoNLL columns of {args.tokens:,} tokens",
            lambda: loaded(folder, file, "conll", {"test_set": "T", "system": "crf"}),
            ("seqeval reads, f1_score", lambda: by_seqeval(file, seqeval.metrics.f1_score)),
            ("seqeval reads, classification_report", lambda: by_seqeval(file, seqeval.metrics.classification_report)),
        )
        log = samples(folder, args.samples)
        rows(
            f"{args.samples:,} samples of lm-evaluation-harness",
            lambda: loaded(folder, log, "lm-eval", {"system": "m"}),
            ("`json.loads` of every line", lambda: by_json(log)),
        )


if __name__ == "__main__":
    main()

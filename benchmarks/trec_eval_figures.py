"""How many of the figures that trec_eval printed of a run are computed here, and how many of these are equal.

    python benchmarks/trec_eval_figures.py QRELS RUN OUT [OUT …]

prints a Markdown row for each file of output, such as those of trec_eval's own tests (`test/qrels.test`,
`test/results.test`, `test/out.test`). A figure is equal if the value here, rounded to the decimals that were printed,
is what was printed. The names of a run and of its grades are texts, and are not counted. The last line names what
differs or is not known. Outputs with options that change a value, such as `-c` and `-l`, are not for this count.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.tables import heads, row
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory

TEXTS = ("runid", "relstring")
TOTAL = "all"
ON = {"test_set": "T"}


def figures(file: Path) -> dict[str, dict[str, str]]:
    """What was printed, by measure and topic."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for line in file.read_text(encoding="utf-8").splitlines():
        measure, topic, printed = line.split()
        if measure not in TEXTS:
            found[measure][topic] = printed
    return found


def computed(session: Session, measure: str, topics: bool) -> dict[str, float]:
    """The value over all topics, and where topics were printed that of each."""
    asked = f"score {measure} of rankings for all on T"
    found: dict[str, float] = {}
    for statement in (asked, *((f"{asked} by document",) if topics else ())):
        for values in session.run(statement).rows:
            number = next(value for value in reversed(values.values()) if isinstance(value, (int, float)))
            found[str(values.get("document", TOTAL))] = number
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("qrels", "run"):
        parser.add_argument(name, type=Path)
    parser.add_argument("out", type=Path, nargs="+")
    asked = parser.parse_args()
    without: list[str] = []
    with in_memory() as database:
        for file in (asked.qrels, asked.run):
            load(database, file, "trec", fields=ON)
        session = Session(database)
        heads("output", "figures", "computed", "equal")
        for file in asked.out:
            printed, known, equal = figures(file), 0, 0
            for measure, of_topics in printed.items():
                try:
                    found = computed(session, measure, set(of_topics) != {TOTAL})
                except QueryError as error:
                    without.append(f"{measure} ({error.message})")
                    continue
                for topic, figure in of_topics.items():
                    known += topic in found
                    decimals = len(figure.partition(".")[2])
                    if topic in found and f"{found[topic]:.{decimals}f}" == figure:
                        equal += 1
                    else:
                        without.append(f"{measure} of {topic} ({figure}, here {found.get(topic)})")
            row(file.name, sum(map(len, printed.values())), known, equal)
    print("\n" + ("; ".join(without) or "All are equal."))


if __name__ == "__main__":
    main()

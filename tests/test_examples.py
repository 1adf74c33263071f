"""The data of the tutorials are exactly what the scripts beside them write."""

from __future__ import annotations

import gzip
import math
import runpy
from collections import defaultdict
from pathlib import Path

import pytest

import evalhouse

EXAMPLES = Path(__file__).resolve().parent.parent / "docs" / "examples"


def text(path: Path) -> str:
    """What is in a file, which may be compressed."""
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


def test_the_data_of_the_tutorials_are_those_that_the_script_makes() -> None:
    made = {
        f"{folder}/{name}": content
        for folder, files in runpy.run_path(str(EXAMPLES / "make.py"))["folders"]()
        for name, content in files
    }
    kept = [path for path in EXAMPLES.glob("*/**/*") if path.is_file() and path.suffix != ".pyc"]
    assert made == {str(path.relative_to(EXAMPLES)): text(path) for path in kept}
    assert sum(name.startswith("results/") for name in made) == 12


def runs_of(folder: Path) -> dict[str, dict[str, dict[str, float]]]:
    """The scores in the runs of a folder by system, topic and page."""
    runs: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for path in folder.glob("*.run.gz"):
        for line in text(path).splitlines():
            topic, _, page, _, score, system = line.split()
            runs[system][topic][page] = float(score)
    return runs


@pytest.mark.long
def test_measures_of_the_runs_are_those_of_trec_eval(tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    names = {"map": "MAP", "ndcg_cut_10": "nDCG@10", "P_10": "P@10", "recip_rank": "MRR", "bpref": "Bpref"}
    warehouse = evalhouse.create(tmp_path / "garden.duckdb")
    warehouse.load(EXAMPLES / "garden")
    for year in ("garden-2025", "garden-2026"):
        folder = EXAMPLES / "garden" / year
        grades: dict[str, dict[str, int]] = defaultdict(dict)
        for line in text(folder / "qrels.txt").splitlines():
            topic, _, page, grade = line.split()
            grades[topic][page] = int(grade)
        evaluator = pytrec_eval.RelevanceEvaluator(grades, set(names))
        for row in warehouse.score(tuple(names.values()), "all", on=year).rows:
            topics = evaluator.evaluate(runs_of(folder)[str(row["system"])]).values()
            for theirs, ours in names.items():
                assert math.isclose(
                    float(row[ours] or 0), sum(topic[theirs] for topic in topics) / len(topics), abs_tol=1e-9
                )


def test_what_the_tutorial_of_filtering_says_of_all_of_june_is_so() -> None:
    made = runpy.run_path(str(EXAMPLES / "wire.py"))
    stories = [story for profile in made["PROFILES"] for story in made["stories"]("june", "0621", profile)]
    for system, precision in (("encoder", "48.52"), ("svm", "66.67")):
        labels = [story.label for story in stories if made["decided"](system, story)[0] == "yes"]
        right = sum(label != "nonrelevant" for label in labels)
        assert f"{100 * right / len(labels):.2f}" == precision

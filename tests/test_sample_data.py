"""The sample data: published figures agree with each other, and the simulated messages agree with everything
published.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.exact import counting
from evalhouse.warehouse.significance.shuffles import sequential
from evalhouse.warehouse.significance.shuffles.randomization import randomization_test
from evalhouse.warehouse.significance.sums import Sums

ROOM = Path(__file__).resolve().parent.parent / "sample_data"
COUNTS = ("possible", "actual", "correct", "partial", "incorrect", "spurious", "missing", "noncommittal")
PUBLISHED_FIELDS = ["evaluation", "test_set", "system", "task", "measure", "value", "resolution"]
FILTERING = ("recall", "precision", "fallout")

NO_WHOLE_DOCUMENTS = {("TST3", "LSI"): Counter(a=59, b=21, c=6, d=10, x=2, y=2)}
"""Rows of table 2 that no whole number of documents gives, and the nearest cells (sample_data/README.md)."""

CELL = {
    ("relevant", "yes"): "a",
    ("nonrelevant", "yes"): "b",
    ("relevant", "no"): "c",
    ("nonrelevant", "no"): "d",
    ("optional", "yes"): "x",
    ("optional", "no"): "y",
}


def read(file: str) -> list[dict[str, str]]:
    with (ROOM / file).open(newline="", encoding="utf-8") as source:
        return list(csv.DictReader(source))


def header(file: str) -> list[str]:
    return list(read(file)[0])


def published(file: str) -> dict[tuple[str, str], dict[str, Fraction]]:
    """Printed values by test set and system, then measure."""
    values: dict[tuple[str, str], dict[str, Fraction]] = defaultdict(dict)
    for row in read(file):
        values[row["test_set"], row["system"]][row["measure"]] = Fraction(row["value"])
    return values


def key_counts() -> dict[str, dict[str, int]]:
    return {
        row["test_set"]: {label: int(row[label]) for label in ("relevant", "optional", "nonrelevant")}
        for row in read("published/key_counts.csv")
    }


def labels() -> dict[tuple[str, str], str]:
    return {(row["test_set"], row["document"]): row["label"] for row in read("simulated/labels.csv")}


def decisions() -> dict[tuple[str, str, str], str]:
    return {
        (row["test_set"], row["system"], row["document"]): row["decision"] for row in read("simulated/decisions.csv")
    }


def scores() -> dict[tuple[str, str, str], dict[str, int]]:
    return {
        (row["test_set"], row["system"], row["document"]): {count: int(row[count]) for count in COUNTS}
        for row in read("simulated/scores.csv")
    }


def totals() -> dict[tuple[str, str], dict[str, int]]:
    return {
        (row["test_set"], row["system"]): {count: int(row[count]) for count in COUNTS}
        for row in read("published/muc4_official_totals.csv")
    }


def cells() -> dict[tuple[str, str], Counter[str]]:
    """The contingency table of every system on every test set, counted from decisions and labels."""
    label = labels()
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for (test_set, system, document), decision in decisions().items():
        found[test_set, system][CELL[label[test_set, document], decision]] += 1
    return found


def filtering(cell: Counter[str]) -> dict[str, Fraction]:
    """Recall, precision and fallout (Lewis & Tong 1992, formulas 1 to 3)."""
    yes = cell["a"] + cell["x"]
    return {
        "recall": Fraction(yes, yes + cell["c"]),
        "precision": Fraction(yes, yes + cell["b"]),
        "fallout": Fraction(cell["b"], cell["b"] + cell["d"] + cell["y"]),
    }


def may_be_printed_as(ratio: Fraction, printed: Fraction) -> bool:
    """Rounded to hundredths, half either way, at once or after a cut to thousandths."""
    half = Fraction(1, 200)
    cut = Fraction(int(1000 * ratio), 1000)
    return abs(ratio - printed) <= half or abs(cut - printed) <= half


def f_measure(recall: Fraction, precision: Fraction, beta: Fraction) -> Fraction:
    return (beta**2 + 1) * precision * recall / (beta**2 * precision + recall)


def ratio(measure: str, counts: dict[str, int]) -> tuple[int, int]:
    """Numerator and denominator of a measure of extraction, both doubled."""
    numerator = 2 * counts["correct"] + counts["partial"]
    denominators = {
        "recall": 2 * counts["possible"],
        "precision": 2 * counts["actual"],
        "F(beta=1)": counts["possible"] + counts["actual"],
    }
    return numerator, denominators[measure]


# --- what is listed and how it is laid out ---------------------------------------------------------------------------


def test_contents_lists_every_file_that_a_reader_takes() -> None:
    listed = [row["file"] for row in read("contents.csv")]
    documented_only = {
        "published/key_counts.csv",
        "published/muc4_official_totals.csv",
        "published/chinchor_1992_significance.csv",
        "contents.csv",
    }
    present = {str(path.relative_to(ROOM).as_posix()) for path in ROOM.rglob("*.csv")}
    assert set(listed) == present - documented_only
    assert len(listed) == len(set(listed))


def test_contents_names_the_reader_whose_columns_the_file_has() -> None:
    names = ["evaluation", "test_set", "system", "document"]
    columns = {
        "published": PUBLISHED_FIELDS,
        "labels": ["evaluation", "test_set", "document", "label"],
        "decisions": [*names, "decision"],
        "scores": [*names, *COUNTS],
    }
    for row in read("contents.csv"):
        found = header(row["file"])
        assert found == columns.get(row["reader"], found), row["file"]
        assert row["reader"] in columns or found[0] == "system", row["file"]
        assert row["simulated"] == ("yes" if row["file"].startswith("simulated/") else "no")


def test_readme_names_every_file() -> None:
    text = (ROOM / "README.md").read_text(encoding="utf-8")
    for path in ROOM.rglob("*.csv"):
        assert path.name in text, path.name


def test_a_system_has_one_spelling_in_all_files() -> None:
    known = {row["system"] for row in read("published/systems.csv")}
    for file in ("published/lewis_tong_1992_table2.csv", "published/lewis_tong_1992_table3.csv"):
        assert {row["system"] for row in read(file)} == known | {"allrel"}, file
    entered = {row["system"] for row in read("published/systems.csv") if row["muc4"] == "yes"}
    assert {system for _, system in totals()} == entered
    assert {row["system"] for row in read("published/chinchor_1992_scores.csv")} <= entered
    for row in read("published/chinchor_1992_significance.csv"):
        assert {row["system_a"], row["system_b"]} <= entered


def test_evaluation_is_muc_3_for_tst2_and_muc_4_for_the_others() -> None:
    evaluations = {"TST2": "MUC-3", "TST3": "MUC-4", "TST4": "MUC-4"}
    for path in ROOM.rglob("*.csv"):
        for row in read(str(path.relative_to(ROOM))):
            if "evaluation" in row:
                assert row["evaluation"] == evaluations[row["test_set"]], path.name


def test_attributes_are_empty_exactly_where_a_system_did_not_take_part() -> None:
    for row in read("published/systems.csv"):
        for part in ("pre_parse", "intra_parse", "post_parse"):
            assert (row[part] == "") == (row["muc4"] == "no"), row["system"]
            assert (row[f"{part}_muc3"] == "") == (row["muc3"] == "no"), row["system"]


# --- published figures agree with each other -------------------------------------------------------------------------


def test_f_of_table_3_follows_from_table_2_as_printed() -> None:
    table2, table3 = (
        published("published/lewis_tong_1992_table2.csv"),
        published("published/lewis_tong_1992_table3.csv"),
    )
    assert set(table2) == set(table3)
    for key, printed in table3.items():
        for beta in ("0.5", "1", "2"):
            f = f_measure(table2[key]["recall"], table2[key]["precision"], Fraction(beta))
            assert abs(f - printed[f"F(beta={beta})"]) <= Fraction(1, 200), (key, beta)


def test_official_totals_satisfy_the_identities() -> None:
    for key, total in totals().items():
        matched = total["correct"] + total["partial"] + total["incorrect"]
        assert matched + total["spurious"] == total["actual"], key
        assert matched + total["missing"] == total["possible"], key


def test_scores_quoted_by_chinchor_follow_from_the_official_totals() -> None:
    for (test_set, system), measures in published("published/chinchor_1992_scores.csv").items():
        for measure, printed in measures.items():
            resolution = Fraction(1, 1000 if measure in FILTERING else 10000)
            value = Fraction(*ratio(measure, totals()[test_set, system]))
            assert abs(value - printed) <= resolution / 2, (system, measure)


def test_resolution_is_the_last_printed_digit() -> None:
    for file in ("lewis_tong_1992_table2", "lewis_tong_1992_table3", "chinchor_1992_scores"):
        for row in read(f"published/{file}.csv"):
            digits = len(row["value"].partition(".")[2])
            assert Fraction(row["resolution"]) == Fraction(1, 10**digits), row
            assert 0 <= Fraction(row["value"]) <= 1, row


# --- simulated messages agree with what is published -----------------------------------------------------------------


def test_labels_are_as_many_as_the_key_counts() -> None:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for (test_set, _), label in labels().items():
        found[test_set][label] += 1
    assert found == key_counts()


def test_every_system_has_a_decision_and_a_score_tuple_on_every_message() -> None:
    wanted = {
        (test_set, system, document) for test_set, system in totals() for (of, document) in labels() if of == test_set
    }
    assert len(wanted) == 17 * 2 * 100
    assert set(decisions()) == wanted
    assert set(scores()) == wanted


@pytest.mark.long
def test_no_key_stands_twice() -> None:
    assert len(read("simulated/labels.csv")) == len(labels())
    assert len(read("simulated/decisions.csv")) == len(decisions())
    assert len(read("simulated/scores.csv")) == len(scores())


def test_simulated_messages_have_names_of_their_own() -> None:
    for test_set, document in labels():
        assert document.startswith(f"SIM{test_set[-1]}-"), document


def test_sums_are_the_official_totals_in_every_count() -> None:
    sums: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for (test_set, system, _), counts in scores().items():
        sums[test_set, system].update(counts)
    assert sums == totals()


def test_identities_hold_on_every_message() -> None:
    for key, counts in scores().items():
        matched = counts["correct"] + counts["partial"] + counts["incorrect"]
        assert min(counts.values()) >= 0, key
        assert matched + counts["spurious"] == counts["actual"], key
        assert matched + counts["missing"] == counts["possible"], key


def test_nothing_is_possible_on_a_nonrelevant_message() -> None:
    label = labels()
    nonrelevant = [counts for key, counts in scores().items() if label[key[0], key[2]] == "nonrelevant"]
    assert len(nonrelevant) == 17 * (31 + 43)
    assert all(counts["possible"] == 0 and counts["actual"] == counts["spurious"] for counts in nonrelevant)


def test_possible_differs_little_between_systems_on_a_relevant_message() -> None:
    label = labels()
    possible: dict[tuple[str, str], list[int]] = defaultdict(list)
    for (test_set, _, document), counts in scores().items():
        if label[test_set, document] == "relevant":
            possible[test_set, document].append(counts["possible"])
    for message, values in possible.items():
        assert min(values) > 0, message
        assert max(values) <= 1.5 * min(values), message


def test_decisions_agree_with_score_tuples() -> None:
    tuples = scores()
    for key, decision in decisions().items():
        assert (decision == "yes") == (tuples[key]["actual"] > 0), key


def test_decisions_reproduce_table_2_but_for_the_documented_rows() -> None:
    table2 = published("published/lewis_tong_1992_table2.csv")
    found = cells()
    different = {
        key: cell
        for key, cell in found.items()
        if not all(may_be_printed_as(filtering(cell)[m], table2[key][m]) for m in FILTERING)
    }
    assert set(found) == set(totals())
    assert different == NO_WHOLE_DOCUMENTS


def test_documented_rows_of_table_2_have_no_solution_and_the_nearest_is_taken() -> None:
    table2, keys = published("published/lewis_tong_1992_table2.csv"), key_counts()
    for (test_set, system), taken in NO_WHOLE_DOCUMENTS.items():
        printed, key = table2[test_set, system], keys[test_set]
        nearest: tuple[Fraction, Counter[str]] | None = None
        for a in range(1, key["relevant"] + 1):
            for x in range(key["optional"] + 1):
                for b in range(key["nonrelevant"] + 1):
                    cell = Counter(a=a, x=x, b=b, c=key["relevant"] - a, d=key["nonrelevant"] - b)
                    cell["y"] = key["optional"] - x
                    values = filtering(cell)
                    assert not all(may_be_printed_as(values[m], printed[m]) for m in FILTERING), cell
                    off = sum(((values[m] - printed[m]) ** 2 for m in FILTERING), start=Fraction(0))
                    if nearest is None or off < nearest[0]:
                        nearest = off, cell
        assert nearest is not None
        assert nearest[1] == taken


def test_difficulty_is_shared_by_systems() -> None:
    """A message that one system does well on tends to be one that the others do well on."""
    label, tuples = labels(), scores()
    for test_set in ("TST3", "TST4"):
        relevant = [document for (of, document), value in label.items() if of == test_set and value == "relevant"]
        shares = [
            [tuples[test_set, system, d]["correct"] / tuples[test_set, system, d]["possible"] for d in relevant]
            for of, system in totals()
            if of == test_set
        ]
        correlations = np.corrcoef(np.array(shares))[np.triu_indices(len(shares), 1)]
        assert correlations.mean() > 0.2, test_set


# --- significance ----------------------------------------------------------------------------------------------------


def paired(measure: str, a: str, b: str) -> Sums:
    """Two systems on the simulated messages of TST3."""
    tuples = scores()
    documents = [document for test_set, document in labels() if test_set == "TST3"]
    (n_a, d_a), (n_b, d_b) = (
        np.array([ratio(measure, tuples["TST3", system, d]) for d in documents], dtype=np.int64).T for system in (a, b)
    )
    return Sums.of_two(n_a, d_a, n_b, d_b)


def significance_level(measure: str, a: str, b: str) -> float:
    """By 9,999 shuffles of whole tuples, two-sided."""
    return randomization_test(paired(measure, a, b), Draws(9999)).p


def quoted(row: dict[str, str]) -> tuple[str, str, str]:
    return row["measure"], row["system_a"], row["system_b"]


def test_quoted_levels_come_out_within_0_015() -> None:
    levels = [row for row in read("published/chinchor_1992_significance.csv") if row["significance_level"]]
    assert len(levels) == 3
    for row in levels:
        assert abs(significance_level(*quoted(row)) - float(row["significance_level"])) <= 0.015, quoted(row)


def test_quoted_verdicts_come_out_at_level_0_10_with_confidence_0_99() -> None:
    rows = read("published/chinchor_1992_significance.csv")
    assert len(rows) == 13
    for row in rows:
        p = significance_level(*quoted(row))
        sure = p <= 0.10 and sequential.confidence(round(p * 10_000) - 1, 9999, 0.10) >= 0.99
        assert sure == (row["different"] == "yes"), (quoted(row), p)


def test_precision_of_synch_does_not_differ_from_seven_systems() -> None:
    """Chinchor 1992, on figure 8: "not significantly different from seven other sites"."""
    others = [system for test_set, system in totals() if test_set == "TST3" and system != "SYNCH"]
    same = [system for system in others if significance_level("precision", "SYNCH", system) > 0.10]
    assert len(same) == 7


def test_exact_levels_in_the_readme_are_those_of_the_messages() -> None:
    text = (ROOM / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (F|recall) \| (\S+), (\S+) \| (0\.\d{4}) \|", text, flags=re.MULTILINE)
    assert len(rows) == 7
    for measure, a, b, level in rows:
        p = counting.exact_test(paired({"F": "F(beta=1)"}.get(measure, measure), a, b)).p
        assert f"{p:.4f}" == level, (measure, a, b)


def test_first_group_in_recall_is_one_group() -> None:
    """Chinchor 1992, on figure 7: MDC, NMSU-Brandeis, LSI and SRA form a group."""
    for a, b in combinations(("MDC", "NMSU", "LSI", "SRA"), 2):
        assert significance_level("recall", a, b) > 0.10, (a, b)


# --- the script ------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_simulating_again_gives_the_same_bytes(tmp_path: Path) -> None:
    script = ROOM / "simulated" / "simulate.py"
    done = subprocess.run(
        [sys.executable, str(script), "--into", str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == [" ".join(k) for k in NO_WHOLE_DOCUMENTS]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["decisions.csv", "labels.csv", "scores.csv"]
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (ROOM / "simulated" / path.name).read_bytes(), path.name

"""Test sets taken together: `over test sets` is the mean over them, `over test sets pooled` all their documents.

The oracles are Python's fractions over the counts, the same documents loaded as one test set, and every exchange.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import CarriedOut, carry_out, forget, load
from evalhouse.warehouse.loading.planning import AUTO, LoadRequest, plan
from evalhouse.warehouse.python.warehouse import Warehouse
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.database import Database
from tests.conftest import write_csv
from tests.empty import create

Counts = tuple[int, int, int]
"""Possible, actual and correct answers of a document."""

counts = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(0, 1)).map(lambda c: (c[0], c[1], min(c)))
documents = st.lists(st.tuples(counts, counts), min_size=1, max_size=3)
test_sets = st.lists(documents, min_size=2, max_size=3)
"""For each test set its documents, and of each the counts of two systems."""

SYSTEMS = ("A", "B")


@contextmanager
def opened(
    folder: Path, of_test_sets: Sequence[Sequence[Sequence[Counts]]], together: bool = False
) -> Iterator[Session]:
    """The test sets t0, t1 and so on; or `together` all of their documents as one."""
    rows = [
        ("one" if together else f"t{place}", system, f"t{place}-d{number}", *of_document[which], 0)
        for place, of_test_set in enumerate(of_test_sets)
        for number, of_document in enumerate(of_test_set)
        for which, system in enumerate(SYSTEMS)
    ]
    file = write_csv(folder / "s.csv", "test_set system document possible actual correct partial", rows)
    with create(folder / f"{together}.duckdb") as database:
        load(database, file, "scores")
        yield Session(database)


def recall(rows: Sequence[Counts]) -> Fraction:
    return Fraction(sum(row[2] for row in rows), sum(row[0] for row in rows))


def means(of_test_sets: Sequence[Sequence[Sequence[Counts]]]) -> list[Fraction]:
    """The mean recall of each system, each test set counted once."""
    values = [[recall([row[which] for row in of]) for of in of_test_sets] for which in range(len(SYSTEMS))]
    return [sum(of, Fraction(0)) / len(of) for of in values]


def pooled(of_test_sets: Sequence[Sequence[Sequence[Counts]]]) -> list[Fraction]:
    return [recall([row[which] for of in of_test_sets for row in of]) for which in range(len(SYSTEMS))]


def exchanged(
    of_test_sets: Sequence[Sequence[Sequence[Counts]]],
) -> Iterator[list[list[tuple[Counts, Counts]]]]:
    """The test sets after every exchange of documents."""
    numbers = [len(of) for of in of_test_sets]
    for flips in product((False, True), repeat=sum(numbers)):
        flip = iter(flips)
        yield [[(pair[1], pair[0]) if next(flip) else (pair[0], pair[1]) for pair in of] for of in of_test_sets]


@settings(max_examples=12, deadline=None)
@given(test_sets)
def test_values_and_exact_p_are_those_of_all_exchanges(
    tmp_path_factory: pytest.TempPathFactory, data: list[list[tuple[Counts, Counts]]]
) -> None:
    with opened(tmp_path_factory.mktemp("data"), data) as session:
        for clause, values in (("over test sets", means), ("over test sets pooled", pooled)):
            first, second = values(data)
            [row] = session.run(f"compare recall for A, B {clause} exact").rows
            assert (row["value_a"], row["value_b"]) == (float(first), float(second))
            changed = [values(other) for other in exchanged(data)]
            extreme = sum(abs(a - b) >= abs(first - second) for a, b in changed)
            assert row["p"] == pytest.approx(extreme / len(changed), abs=1e-12)
            scored = {row["system"]: row["recall"] for row in session.run(f"score recall for all {clause}").rows}
            assert scored == pytest.approx({"A": float(first), "B": float(second)}, abs=1e-15)
            grouped = {row["system"]: row["value"] for row in session.run(f"group recall for all {clause}").rows}
            ranked = {row["system"]: row["value"] for row in session.run(f"rank recall for all {clause}").rows}
            assert grouped == ranked == {"A": float(first), "B": float(second)}


@settings(max_examples=12, deadline=None)
@given(test_sets)
def test_what_is_pooled_is_one_test_set_of_all_documents(
    tmp_path_factory: pytest.TempPathFactory, data: list[list[tuple[Counts, Counts]]]
) -> None:
    folder = tmp_path_factory.mktemp("data")
    with opened(folder, data) as apart, opened(folder, data, together=True) as one:
        for measure in ("F", "recall", "mean(recall)", "possible", "error"):
            asked = f"compare {measure} for A, B"
            try:
                [wanted] = one.run(f"{asked} on one exact").rows
            except QueryError:
                continue
            [row] = apart.run(f"{asked} over test sets pooled exact").rows
            for column in ("value_a", "value_b", "difference", "p", "documents", "units", "differing"):
                assert row[column] == wanted[column], (measure, column)
            values = [
                {row["system"]: row[label] for row in rows}
                for rows in (
                    apart.run(f"score {measure} for all over test sets pooled").rows,
                    one.run(f"score {measure} for all on one").rows,
                )
                for label in [next(name for name in rows[0] if name.startswith(measure.split("(")[0]))]
            ]
            assert values[0] == values[1]


@settings(max_examples=6, deadline=None)
@given(test_sets)
def test_the_order_of_test_sets_moves_no_digit(
    tmp_path_factory: pytest.TempPathFactory, data: list[list[tuple[Counts, Counts]]]
) -> None:
    names = [f"t{place}" for place in range(len(data))]
    with opened(tmp_path_factory.mktemp("data"), data) as session:
        for asked, clause in (
            ("compare recall, F for A, B", "over test sets shuffles 99"),
            ("compare recall for A, B", "over test sets pooled shuffles 99"),
            ("score recall for all", "over test sets interval"),
            ("rank recall for all", "over test sets shuffles 99"),
        ):
            answers = [session.run(f"{asked} on {', '.join(order)} {clause}") for order in permutations(names)]
            assert all(answer.rows == answers[0].rows for answer in answers)


VALUES = {("x", "A"): "1101", ("x", "B"): "0100", ("y", "A"): "111111", ("y", "B"): "110000", ("z", "A"): "10"}
"""Right and wrong answers; B lacks z."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("values")
    rows = [(t, s, f"{t}{k}", "accuracy", mark) for (t, s), marks in VALUES.items() for k, mark in enumerate(marks)]
    file = write_csv(folder / "v.csv", "test_set system document measure value", rows)
    with create(folder / "w.duckdb") as database:
        load(database, file, "values")
        yield Session(database)


def test_who_lacks_a_test_set_has_no_average_and_is_named(session: Session) -> None:
    for statement in ("score", "table"):
        result = session.run(f"{statement} accuracy for all over test sets")
        [row] = [row for row in result.rows if row["system"] == "B" and row["test_set"] not in ("x", "y", "z")]
        assert row["accuracy" if statement == "score" else "value"] is None
        assert any("not on z: B" in note for note in result.notes)
        assert [row["left_out"] for row in result.summary] == ["B: z"]
    rows = session.run("score accuracy for all over test sets missing zero").rows
    values = {row["system"]: row["accuracy"] for row in rows}
    assert values == pytest.approx({"A": (3 / 4 + 1 + 1 / 2) / 3, "B": (1 / 4 + 1 / 3) / 3})


def test_intervals_of_means_hold_what_does_not_vary_for_uncertain(session: Session) -> None:
    """A answered all of y right, so that no resample of y varies; its limits still leave room."""
    result = session.run("score accuracy for all on x, y over test sets interval")
    [row] = [row for row in result.rows if row["system"] == "A"]
    assert row["accuracy"] == (3 / 4 + 1) / 2
    low, value, high = (float(row[name] or 0) for name in ("ci_low(accuracy)", "accuracy", "ci_high(accuracy)"))
    assert 0 <= low < value < high <= 1
    [row] = session.run("score accuracy for A on y, z over test sets interval").rows
    assert float(row["ci_low(accuracy)"] or 0) < float(row["accuracy"] or 0)


def test_a_pooled_share_has_the_interval_of_a_share(session: Session) -> None:
    [row] = session.run("score accuracy for A on x, y over test sets pooled interval").rows
    right, items, z = 9, 10, 1.959963984540054
    middle = (right + z * z / 2) / (items + z * z)
    half = z * (right * (items - right) / items + z * z / 4) ** 0.5 / (items + z * z)
    assert (row["ci_low(accuracy)"], row["ci_high(accuracy)"]) == pytest.approx((middle - half, middle + half))


def test_averages_of_a_table_are_tested_as_compare_does(session: Session) -> None:
    for clause in ("over test sets", "over test sets pooled"):
        table = session.run(f"table accuracy for A, B on x, y {clause} against B").rows
        [tested] = [row for row in table if row["system"] == "A" and row["test_set"] in ("average", "pooled")]
        [row] = session.run(f"compare accuracy for A, B on x, y {clause}").rows
        assert (tested["value"], tested["p"], tested["difference"]) == (row["value_a"], row["p"], row["difference"])


def test_expectations_of_means(session: Session) -> None:
    assert session.run("expect score accuracy for A on x, y over test sets at least 80%").outcome == "met"
    assert session.run("expect score accuracy for A on x, y over test sets at least 88%").outcome == "not met"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("score accuracy for all on x over test sets", "needs two test sets"),
        ("score accuracy for all over test sets pooled standardized", "standardized on each test set"),
        ("rank accuracy for all by mean rank", "mean ranks are over test sets"),
        ("rank accuracy for all over test sets pooled by mean rank", "mean ranks are over test sets"),
        ("compare accuracy for A, B on x, y over test sets pooled anytime", "cannot be combined with over test sets"),
    ],
)
def test_what_is_not_taken_together_is_refused(session: Session, asked: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        session.run(asked)


# --- groups -----------------------------------------------------------------------------------------------------------


def harness(folder: Path, weighted: bool) -> Path:
    """Logs of the group `farm` of two tasks, and its figure as pooled or as the mean."""
    marks = {"ada": {"farm_hens": "1010", "farm_cows": "11"}, "bob": {"farm_hens": "0010", "farm_cows": "01"}}
    for model, of_tasks in marks.items():
        home = folder / f"org__{model}"
        home.mkdir(parents=True)
        shares = {task: of.count("1") / len(of) for task, of in of_tasks.items()}
        together = "".join(of_tasks.values())
        figure = together.count("1") / len(together) if weighted else sum(shares.values()) / len(shares)
        results = {task: {"acc,none": share} for task, share in shares.items()} | {"farm": {"acc,none": figure}}
        said = {
            "results": results,
            "groups": {"farm": results["farm"]},
            "group_subtasks": {"farm": list(of_tasks)},
            "higher_is_better": {task: {"acc": True} for task in results},
            "n-samples": {task: {"original": len(of), "effective": len(of)} for task, of in of_tasks.items()},
            "model_name": f"org/{model}",
        }
        (home / "results_2026-01-02T10-00-00.000001.json").write_text(json.dumps(said), encoding="utf-8")
        for task, of in of_tasks.items():
            lines = [
                {
                    "doc_id": number,
                    "doc": {"q": f"{task} {number}"},
                    "target": "x",
                    "arguments": [],
                    "resps": [["x"]],
                    "filtered_resps": ["x"],
                    "filter": "none",
                    "metrics": ["acc"],
                    "doc_hash": f"{task}{number}",
                    "acc": float(mark),
                }
                for number, mark in enumerate(of)
            ]
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (home / f"samples_{task}_2026-01-02T10-00-00.000001.jsonl").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("weighted", [True, False])
def test_a_group_is_taken_together_as_its_printed_figure_says(tmp_path: Path, weighted: bool) -> None:
    clause = "over test sets pooled" if weighted else "over test sets"
    with create(tmp_path / "w.duckdb") as database:
        request = LoadRequest([str(harness(tmp_path / "logs", weighted))], AUTO, {})
        carry_out(database, request, plan(request, database, tmp_path))
        session = Session(database)
        printed = session.run("score accuracy of published for all on farm").rows
        scored = session.run("score accuracy for all on farm").rows
        assert {row["system"]: row["accuracy"] for row in scored} == pytest.approx(
            {row["system"]: row["accuracy"] for row in printed}
        )
        for asked in ("compare accuracy for org/ada, org/bob", "group accuracy for all", "rank accuracy for all"):
            of_group = session.run(f"{asked} on farm").rows
            spelled = session.run(f"{asked} on farm_hens, farm_cows {clause}").rows
            assert [{**row, "test_set": ""} for row in of_group] == [{**row, "test_set": ""} for row in spelled]
            assert {row["test_set"] for row in of_group} == {"farm"}
        over_all = session.run("score accuracy for all on all over test sets")
        assert over_all.rows == session.run("score accuracy for all on farm_hens, farm_cows over test sets").rows
        assert over_all.notes == ()
        table = session.run("table accuracy for all on all over test sets").rows
        averages = {row["system"]: row["value"] for row in table if row["test_set"] == "average"}
        assert averages == {row["system"]: row["accuracy"] for row in over_all.rows}
        shown = {row["test_set"]: row["parts"] for row in session.run("show test sets").rows}
        assert shown == {"farm": "2 test sets: farm_cows, farm_hens", "farm_cows": None, "farm_hens": None}
        tested = session.run("table accuracy for all on farm against org/bob")
        values = {row["system"]: row["value"] for row in tested.rows}
        assert values == {row["system"]: row["accuracy"] for row in scored}
        assert {row["source"] for row in tested.rows} == {"documents"}
        [compared] = session.run("compare accuracy for org/ada, org/bob on farm").rows
        assert tested.rows[0]["p"] == compared["p"]
        assert tested.grid is not None
        assert tested.grid.legend[0] == f"farm: {'pooled' if weighted else 'averaged'} over farm_cows, farm_hens"
        with_parts = session.run("table accuracy for all on farm over test sets").rows
        assert list(dict.fromkeys(row["test_set"] for row in with_parts)) == ["farm_cows", "farm_hens", "farm"]
        assert {row["system"]: row["value"] for row in with_parts if row["test_set"] == "farm"} == averages
        with pytest.raises(QueryError, match="farm is a group") as refused:
            session.run("power accuracy for org/ada, org/bob on farm")
        assert refused.value.hints[0] == "write on farm_cows, farm_hens"


def test_a_printed_figure_stands_beside_no_computed_one(tmp_path: Path) -> None:
    """One that differs is in a note with what both ways give, and so is one of a system without documents."""
    logs = harness(tmp_path / "logs", weighted=True)
    [results] = (logs / "org__ada").glob("results_*.json")
    said = json.loads(results.read_text(encoding="utf-8"))
    figures = {"farm": {"acc,none": 0.5}}
    of_ada = said | {"results": said["results"] | figures, "groups": figures}
    results.write_text(json.dumps(of_ada), encoding="utf-8")
    (logs / "org__cat").mkdir()
    of_cat = said | {"results": figures, "groups": figures, "model_name": "org/cat"}
    (logs / "org__cat" / results.name).write_text(json.dumps(of_cat), encoding="utf-8")
    with create(tmp_path / "w.duckdb") as database:
        request = LoadRequest([str(logs)], AUTO, {})
        carry_out(database, request, plan(request, database, tmp_path))
        session = Session(database)
        for statement, column in (("score", "accuracy"), ("table", "value")):
            result = session.run(f"{statement} accuracy for all on farm")
            assert {row["system"]: row[column] for row in result.rows} == {"org/ada": 4 / 6, "org/bob": 2 / 6}
            assert result.notes[:2] == (
                "farm: neither pooling its test sets nor their mean gives all printed figures: "
                "0.5000 of org/ada (pooled 0.6667, mean 0.7500)",
                "farm: printed of systems without documents on all its test sets, and not beside what is computed: "
                "accuracy of org/cat 0.5000",
            )
        assert len(session.run("score accuracy for org/ada, org/bob on farm").notes) == 1
        printed = session.run("table accuracy of published for all on farm").rows
        values = {row["system"]: row["value"] for row in printed}
        assert values == pytest.approx({"org/ada": 0.5, "org/bob": 1 / 3, "org/cat": 0.5}, abs=1e-9)


ANSWERS = {"cows": {"ada": "1101", "bob": "0101"}, "hens": {"ada": "110111", "bob": "010010"}, "pigs": {"ada": "10"}}
"""By test set, the right and wrong answers of systems; bob lacks pigs."""


def of_values(folder: Path, *test_sets: str) -> list[str]:
    """A table of each test set's values."""
    written = []
    for test_set in test_sets:
        answers = ANSWERS[test_set].items()
        rows = [(test_set, system, k, "accuracy", mark) for system, marks in answers for k, mark in enumerate(marks)]
        file = write_csv(folder / f"{test_set}.csv", "test_set system document measure value", rows)
        written.append(str(file))
    return written


def brought(database: Database, folder: Path, files: Sequence[str], **fields: str) -> CarriedOut:
    request = LoadRequest(files, "values", fields)
    return carry_out(database, request, plan(request, database, folder))


def test_a_setting_brings_a_group_that_is_pooled(tmp_path: Path) -> None:
    with create(tmp_path / "w.duckdb") as database:
        done = brought(database, tmp_path, of_values(tmp_path, "cows", "hens"), group="farm")
        assert done.notes == ("farm is a group of 2 test sets: cows, hens; on farm pools their documents",)
        session = Session(database)
        shown = {row["test_set"]: row["parts"] for row in session.run("show test sets").rows}
        assert shown == {"cows": None, "hens": None, "farm": "2 test sets: cows, hens"}
        together = {
            system: Fraction(sum(map(int, ANSWERS["cows"][system] + ANSWERS["hens"][system])), 10)
            for system in ("ada", "bob")
        }
        scored = session.run("score accuracy for all on farm")
        assert {row["system"]: row["accuracy"] for row in scored.rows} == {
            system: float(value) for system, value in together.items()
        }
        assert "farm: its test sets are pooled" in scored.notes[0]
        for asked in ("compare accuracy for ada, bob", "group accuracy for all", "rank accuracy for all"):
            of_group = session.run(f"{asked} on farm").rows
            spelled = session.run(f"{asked} on cows, hens over test sets pooled").rows
            assert [{**row, "test_set": ""} for row in of_group] == [{**row, "test_set": ""} for row in spelled]
        values = {row["system"]: row["value"] for row in session.run("table accuracy for all on farm").rows}
        assert values == {system: float(value) for system, value in together.items()}
        means = session.run("score accuracy for all on farm over test sets").rows
        assert {row["system"]: row["accuracy"] for row in means} == pytest.approx(
            {"ada": (3 / 4 + 5 / 6) / 2, "bob": (1 / 2 + 1 / 3) / 2}
        )
        # All test sets are these two: a group adds nothing, and leaves nothing out.
        everywhere = session.run("score accuracy for all over test sets")
        assert everywhere.rows == session.run("score accuracy for all on cows, hens over test sets").rows
        assert everywhere.notes == ()
        with pytest.raises(QueryError, match="farm is a group of 2 test sets, which are taken one by one here"):
            session.run("documents accuracy for ada, bob on farm")


def test_a_group_grows_and_who_lacks_a_part_is_named(tmp_path: Path) -> None:
    with create(tmp_path / "w.duckdb") as database:
        [cows, hens, pigs] = of_values(tmp_path, "cows", "hens", "pigs")
        alone = brought(database, tmp_path, [cows], group="farm").notes
        assert alone == ("farm is a group of 1 test set: cows; questions about it need at least two",)
        with pytest.raises(QueryError, match="farm is a group of one test set so far"):
            Session(database).run("score accuracy for all on farm")
        brought(database, tmp_path, [hens], group="farm")
        grown = brought(database, tmp_path, [pigs], group="farm").notes
        assert grown == ("farm is a group of 3 test sets: cows, hens, pigs; on farm pools their documents",)
        session = Session(database)
        for statement, column in (("score", "accuracy"), ("table", "value")):
            result = session.run(f"{statement} accuracy for all on farm")
            assert {row["system"]: row[column] for row in result.rows} == {"ada": 9 / 12, "bob": None}
            assert any("not on pigs: bob" in note for note in result.notes)
            assert [row["left_out"] for row in result.summary] == ["bob: pigs"]
        for statement in ("compare accuracy for ada, bob", "rank accuracy for all", "group accuracy for all"):
            with pytest.raises(QueryError) as refused:
                session.run(f"{statement} on farm")
            assert "not there: bob" in refused.value.hints
        opened = Warehouse(session)
        for answer in (opened.score("accuracy", "all", on="farm"), opened.table("accuracy", "all", on="farm")):
            assert any("not on pigs: bob" in note for note in answer.notes)
            assert [row["left_out"] for row in answer.summary] == ["bob: pigs"]
        forget(database, 3)
        assert [row["system"] for row in Session(database).run("rank accuracy for all on farm").rows] == ["ada", "bob"]


def test_a_name_is_that_of_a_test_set_or_of_a_group(tmp_path: Path) -> None:
    with create(tmp_path / "w.duckdb") as database:
        [cows, hens, pigs] = of_values(tmp_path, "cows", "hens", "pigs")
        brought(database, tmp_path, [cows, hens], group="farm")
        with pytest.raises(DataError, match="cows is a test set with documents, so no group can be called that"):
            brought(database, tmp_path, [pigs], group="cows")
        with pytest.raises(DataError, match="farm is a group of test sets, as --set group of import 1 said"):
            brought(database, tmp_path, [pigs], test_set="farm")
        assert {row["system"] for row in Session(database).run("score accuracy for all on farm").rows} == {"ada", "bob"}


def helm_run(folder: Path, subject: str, model: str, marks: str, groups: Sequence[str] | None) -> Path:
    """A run of HELM on a subject of zoology; with the groups that its description names, if it has one."""
    home = folder / f"zoology:subject={subject},model={model}"
    home.mkdir(parents=True)
    named = {"name": "exact_match", "split": "test"}
    listed = [
        {
            "instance_id": f"id{place}",
            "train_trial_index": 0,
            "stats": [{"name": named, "count": 1, "sum": float(mark)}],
        }
        for place, mark in enumerate(marks)
    ]
    (home / "per_instance_stats.json").write_text(json.dumps(listed), encoding="utf-8")
    if groups is not None:
        spec = {"name": home.name, "adapter_spec": {"model": model}, "groups": groups}
        (home / "run_spec.json").write_text(json.dumps(spec), encoding="utf-8")
    return home


@pytest.mark.parametrize("groups", [None, ["zoology", "science"]])
def test_subjects_of_helm_are_a_group_of_which_the_mean_is_taken(tmp_path: Path, groups: list[str] | None) -> None:
    """So do the tables of HELM: each run counts once, however many instances it has."""
    marks = {"cats": {"ada": "1101", "bob": "0101"}, "owls": {"ada": "10", "bob": "11"}}
    for subject, of in marks.items():
        for model, answers in of.items():
            helm_run(tmp_path / "runs", subject, model, answers, groups)
    with create(tmp_path / "w.duckdb") as database:
        request = LoadRequest([str(tmp_path / "runs")], AUTO, {})
        carry_out(database, request, plan(request, database, tmp_path))
        session = Session(database)
        for group in groups or ["zoology"]:
            scored = session.run(f"score accuracy for all on {group}")
            assert {row["system"]: row["accuracy"] for row in scored.rows} == {"ada": 0.625, "bob": 0.75}
            [note, *_] = scored.notes
            assert note.startswith(f"{group}: the mean over its 2 test sets")
            assert note.endswith("accuracy pooled and as the mean: ada 0.6667 and 0.6250, bob 0.6667 and 0.7500")
        # The groups of runs with one subject are no groups.
        assert len([row for row in session.run("show test sets").rows if row["parts"]]) == len(groups or ["zoology"])

"""Seeds, epochs and repeats of a model are one system, the mean of its runs, in every statement; a single run can be
asked for by its name, and `runs apart` shows each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import evalhouse as eh
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

Answers = Mapping[str, Sequence[Sequence[float]]]
"""The values of each model: run by run, question by question."""

QUESTIONS = 5


def rows_of(answers: Answers, order: Iterable[int] = ()) -> list[dict[str, object]]:
    """A table with one row per answer; the runs of a model come in some order, by their seeds otherwise."""
    rows: list[dict[str, object]] = []
    for model, runs in answers.items():
        for seed in order or range(len(runs)):
            if seed < len(runs):
                rows += [
                    {"model": model, "seed": seed, "question": f"Q{place}", "accuracy": value}
                    for place, value in enumerate(runs[seed])
                ]
    return rows


def values(answered: Iterable[Mapping[str, object]]) -> dict[object, float]:
    return {row["system"]: row["accuracy"] for row in answered}  # type: ignore[misc]


marks = st.lists(st.sampled_from([0.0, 1.0]), min_size=QUESTIONS, max_size=QUESTIONS)
numbers = st.lists(st.integers(-20, 20).map(lambda number: number / 4), min_size=QUESTIONS, max_size=QUESTIONS)
models = st.fixed_dictionaries(
    {name: st.lists(marks | numbers, min_size=1, max_size=4) for name in ("base", "tuned", "solo")}
)


@pytest.mark.long
@settings(max_examples=10, deadline=None)
@given(models)
def test_a_system_is_the_mean_of_its_runs(answers: Answers) -> None:
    several = {model: runs for model, runs in answers.items() if len(runs) > 1}
    shown = values(eh.score(rows_of(answers), "accuracy"))
    assert shown == pytest.approx({model: fmean(map(fmean, runs)) for model, runs in answers.items()})
    apart = values(eh.score(rows_of(answers), "accuracy", runs_apart=True))
    assert set(apart) == {f"{model}#{seed + 1}" for model, runs in several.items() for seed in range(len(runs))} | {
        model for model in answers if model not in several
    }
    for model, runs in several.items():
        assert shown[model] == pytest.approx(fmean(apart[f"{model}#{seed + 1}"] for seed in range(len(runs))))


@pytest.mark.long
@settings(max_examples=10, deadline=None)
@given(models, st.integers(2, 4))
def test_a_run_repeated_is_the_run(answers: Answers, times: int) -> None:
    once = {model: runs[:1] for model, runs in answers.items()}
    again = {model: [*runs[:1]] * times for model, runs in answers.items()}
    assert values(eh.score(rows_of(again), "accuracy")) == pytest.approx(values(eh.score(rows_of(once), "accuracy")))
    first, second = (eh.compare(rows_of(of), "accuracy", "base", "tuned", exact=True).rows for of in (once, again))
    assert [row["p"] for row in first] == [row["p"] for row in second]


@pytest.mark.long
@settings(max_examples=6, deadline=None)
@given(models, st.permutations(range(4)))
def test_the_order_of_runs_changes_nothing(answers: Answers, order: Sequence[int]) -> None:
    in_order, otherwise = rows_of(answers), rows_of(answers, order)
    for measured in ("score", "table", "rank"):
        first, second = (getattr(eh, measured)(rows, "accuracy").rows for rows in (in_order, otherwise))
        assert first == second


@pytest.mark.long
@settings(max_examples=10, deadline=None)
@given(st.fixed_dictionaries({name: st.lists(marks, min_size=2, max_size=3) for name in ("base", "tuned")}))
def test_a_comparison_is_that_of_replicates_by_model_and_by_hand(answers: Answers) -> None:
    rows = rows_of(answers)
    [plain] = eh.compare(rows, "accuracy", "base", "tuned", exact=True).rows
    [asked] = eh.compare(rows, "accuracy", "base", "tuned", exact=True, replicates_by="system.model").rows
    assert plain == asked
    means = [
        [sum(Fraction(run[place]) for run in runs) / len(runs) for place in range(QUESTIONS)]
        for runs in answers.values()
    ]
    apart = [one - other for one, other in zip(*means, strict=True)]
    signs = list(product((1, -1), repeat=QUESTIONS))
    extreme = sum(
        abs(sum(sign * part for sign, part in zip(of, apart, strict=True))) >= abs(sum(apart)) for of in signs
    )
    assert plain["p"] == pytest.approx(extreme / len(signs))


# --- kinds of data ----------------------------------------------------------------------------------------------------


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Three test sets: decisions with confidences of two runs, printed figures of two runs, and lists of two runs."""
    with create(tmp_path / "w.duckdb") as database:
        labels = [("mail", f"m{k}", "relevant" if k % 2 else "nonrelevant") for k in range(6)]
        load(database, write_csv(tmp_path / "key.csv", "test_set document label", labels), "labels")
        decided = [
            ("mail", system, f"m{k}", "yes" if (k + shift) % 3 else "no", ((k * step) % 7) / 7)
            for system, step, shift in (("wren#1", 3, 0), ("wren#2", 5, 1), ("lark", 2, 2))
            for k in range(6)
        ]
        header = "test_set system document decision confidence"
        load(database, write_csv(tmp_path / "d.csv", header, decided), "decisions")
        printed = [
            ("paper", system, "filtering", "recall", value, 0.01)
            for system, value in (("wren#1", 0.5), ("wren#2", 0.8), ("lark", 0.6))
        ]
        header = "test_set system task measure value resolution"
        load(database, write_csv(tmp_path / "p.csv", header, printed), "published")
        runs = [
            (test_set, f"wren#{number}", "wren", f"r{number}", f"2026-01-0{number}")
            for test_set in ("mail", "paper")
            for number in (1, 2)
        ]
        load(database, write_csv(tmp_path / "r.csv", "test_set system model run date", runs), "runs")
    return Session.open(tmp_path / "w.duckdb")


def test_counts_are_averaged_document_by_document(session: Session) -> None:
    with session:
        [row] = session.run("score recall for wren on mail").rows
        apart = session.run("score recall for wren on mail runs apart").rows
        assert row["recall"] == pytest.approx(fmean(one["recall"] for one in apart))  # type: ignore[misc]
        assert row["runs"] == 2
        assert "counts averaged over 1 to 2 runs" in session.run("score F for all on mail").caption


def test_areas_are_averaged_and_not_tested(session: Session) -> None:
    with session:
        [row] = session.run("score auc for wren on mail").rows
        apart = session.run("score auc for wren on mail runs apart").rows
        assert len(apart) == 2
        assert row["auc"] == pytest.approx(fmean(one["auc"] for one in apart))  # type: ignore[misc]
        with pytest.raises(QueryError, match="can be averaged, but not tested together") as refused:
            session.run("compare auc for wren, lark on mail")
        assert refused.value.hints == ("write runs apart for each run by itself", "or name one of them: for wren#1")
        assert session.run("compare auc for wren#1, lark on mail exact").rows


def test_printed_figures_are_averaged_and_audited_apart(session: Session) -> None:
    with session:
        rows = session.run("score recall of published for all on paper").rows
        assert {row["system"]: row["recall"] for row in rows} == {"wren": 0.65, "lark": 0.6}
        [lark, wren] = session.run("score recall of published for wren#2, lark on paper order by system").rows
        assert (wren["system"], wren["recall"], lark["recall"]) == ("wren#2", 0.8, 0.6)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("curve precision for all on mail", "a curve goes through the confidences of one run, but wren has 2 on mail"),
        (
            "project precision for all from mail to generality 0.1",
            "begins with the decisions of one run, but wren has 2",
        ),
        ("score accuracy for wren on mail by system.run", "system.run"),
        ("score recall for wren, wren#1 on mail", "wren#1 is one of the runs that wren is the mean of"),
        ("compare F(optional=bounds) for wren, lark on mail", "so it cannot be averaged over runs"),
        (
            "score recall for all on mail where system.run = 1 or document = m1",
            "must stand alone or be joined by 'and'",
        ),
        ("score recall for all on mail interval bca", "with several runs an interval must be studentized"),
    ],
)
def test_what_has_no_meaning_for_several_runs_is_refused(session: Session, statement: str, message: str) -> None:
    with session, pytest.raises(QueryError, match=message):
        session.run(statement)


@pytest.mark.parametrize(
    ("condition", "systems"),
    [
        ("system.run = 2", {"wren#2"}),
        ("system.run = r1", {"wren#1"}),
        ('system.run = "2026-01-02"', {"wren#2"}),
        ("system.run != 2", {"wren#1"}),
        ("system.run in (1, 2)", {"wren"}),
        ('system.run like "r%"', {"wren"}),
        ("system.run is latest", {"wren#2", "lark"}),
        ("system.run is missing", {"lark"}),
        ('system = "wren"', {"wren"}),
        ('system = "wren#1"', {"wren#1"}),
        ('not system like "wren%"', {"lark"}),
        ("system.run = 2 and document != m1", {"wren#2"}),
    ],
)
def test_conditions_choose_runs(session: Session, condition: str, systems: set[str]) -> None:
    with session:
        rows = session.run(f"score recall for all on mail where {condition}").rows
        assert {row["system"] for row in rows if row["recall"] is not None} == systems
        [*of_runs] = session.run(f"score recall for all on mail runs apart where {condition}").rows
        chosen = {"wren#1", "wren#2"} if systems == {"wren"} and "= " not in condition else systems
        if not condition.startswith(('system = "wren"', "not system")):
            assert {row["system"] for row in of_runs if row["recall"] is not None} == chosen


def test_a_run_that_is_stored_under_the_name_of_its_model_is_its_first(tmp_path: Path) -> None:
    """As where logs are loaded one after another: the first run of a model keeps its name."""
    with create(tmp_path / "w.duckdb") as database:
        rows = [("t", system, "d", "accuracy", value) for system, value in (("wren", 1), ("wren#2", 0), ("lark", 1))]
        load(database, write_csv(tmp_path / "v.csv", "test_set system document measure value", rows), "values")
        runs = [("t", "wren", "wren", "a", None), ("t", "wren#2", "wren", "b", None), ("t", "lark", "lark", "c", None)]
        load(database, write_csv(tmp_path / "r.csv", "test_set system model run date", runs), "runs")
    with Session.open(tmp_path / "w.duckdb") as opened:
        assert values(opened.run("score accuracy").rows) == {"wren": 0.5, "lark": 1}
        assert values(opened.run("score accuracy for wren#1").rows) == {"wren#1": 1}
        assert values(opened.run("score accuracy runs apart").rows) == {"wren#1": 1, "wren#2": 0, "lark": 1}
        assert values(opened.run("score accuracy for lark#1").rows) == {"lark": 1}
        assert values(opened.run("score accuracy for wren runs apart").rows) == {"wren#1": 1, "wren#2": 0}
        assert [row["system"] for row in opened.run("show systems").rows] == ["lark", "wren"]


def test_systems_that_merely_share_a_model_are_no_runs(tmp_path: Path) -> None:
    with create(tmp_path / "w.duckdb") as database:
        rows = [("t", system, "d", "accuracy", 1) for system in ("short", "long")]
        load(database, write_csv(tmp_path / "v.csv", "test_set system document measure value", rows), "values")
        load(database, write_csv(tmp_path / "s.csv", "system model", [("short", "m"), ("long", "m")]), "systems")
    with Session.open(tmp_path / "w.duckdb") as opened:
        assert values(opened.run("score accuracy").rows) == {"short": 1, "long": 1}


def test_systems_that_are_called_replicates_of_one_are_its_runs(tmp_path: Path) -> None:
    with create(tmp_path / "w.duckdb") as database:
        rows = [("t", system, "d", "accuracy", value) for system, value in (("b.1", 1), ("b.2", 0), ("g", 1))]
        load(database, write_csv(tmp_path / "v.csv", "test_set system document measure value", rows), "values")
        load(database, write_csv(tmp_path / "s.csv", "system replicate", [("b.1", "b"), ("b.2", "b")]), "systems")
    with Session.open(tmp_path / "w.duckdb") as opened:
        assert values(opened.run("score accuracy").rows) == {"b": 0.5, "g": 1}
        assert values(opened.run("score accuracy for b.1, g").rows) == {"b.1": 1, "g": 1}


def test_over_test_sets_a_model_is_one_system_whatever_its_runs_are_called(tmp_path: Path) -> None:
    """On one test set it has three runs, on the other one, which is stored under another name."""
    with create(tmp_path / "w.duckdb") as database:
        here = [
            ("one", f"{model}#{seed}", f"d{k}", "accuracy", int((k * seed + shift) % 3 == 0))
            for model, shift in (("wren", 0), ("lark", 1))
            for seed in (1, 2, 3)
            for k in range(6)
        ]
        there = [
            ("two", system, f"d{k}", "accuracy", int((k + shift) % 2))
            for system, shift in (("wren#2", 0), ("lark#3", 1))
            for k in range(6)
        ]
        header = "test_set system document measure value"
        load(database, write_csv(tmp_path / "v.csv", header, [*here, *there]), "values")
        runs = [(row[0], row[1], row[1][:4], row[1], None) for row in (*here, *there)]
        load(database, write_csv(tmp_path / "r.csv", "test_set system model run date", dict.fromkeys(runs)), "runs")
    with Session.open(tmp_path / "w.duckdb") as opened:
        scores = opened.run("score accuracy for all").rows
        means = {
            model: fmean(row["accuracy"] for row in scores if row["system"] == model)  # type: ignore[misc]
            for model in ("wren", "lark")
        }
        [row] = opened.run("compare accuracy for wren, lark over test sets").rows
        assert (row["value_a"], row["value_b"]) == pytest.approx((means["wren"], means["lark"]))
        rank = opened.run("rank accuracy for all over test sets").rows
        assert {row["system"] for row in rank} == {"wren", "lark"}


seeds = st.sets(st.integers(0, 3), max_size=3)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("tu"), seeds, min_size=1), min_size=1, max_size=3))
def test_each_run_has_one_name_and_is_found_by_it(files: list[dict[str, set[int]]]) -> None:
    """Whatever seeds of a model a file brings on which test sets, and in how many files they come: a model with several
    runs is shown as model#1, model#2 and so on, and never by its own name beside these.
    """
    with TemporaryDirectory() as folder, create(Path(folder) / "w.duckdb") as database:
        for number, brought in enumerate(files):
            rows = [
                (test_set, "wren", seed, f"q{k}", (seed * 7 + k + (test_set == "u")) % 5)
                for test_set, of in brought.items()
                for seed in sorted(of)
                for k in range(4)
            ]
            if rows:
                header = "test_set system seed document m"
                load(database, write_csv(Path(folder) / f"{number}.csv", header, rows), "table")
        stored = {(t, seed) for of_file in files for t, of in of_file.items() for seed in of}
        assume(stored)
        session = Session(database)
        found = session.run("score m for all runs apart").rows
        assert len(found) == len(stored)
        several = {test_set for test_set, _ in stored if sum(of == test_set for of, _ in stored) > 1}
        for row in found:
            name = str(row["system"])
            assert name.startswith("wren#") or row["test_set"] not in several
            if name.startswith("wren#"):
                (alone,) = session.run(f"score m for {name} on {row['test_set']}").rows
                assert (alone["system"], alone["m"]) == (name, row["m"])
        assert len({(row["test_set"], row["system"]) for row in found}) == len(found)

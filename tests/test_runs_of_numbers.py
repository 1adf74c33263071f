"""Predicted numbers of several runs: a system is the mean of what its runs have by themselves, as SciPy and
scikit-learn compute it, and two systems exchange what all their runs predict for a document.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import lcm
from pathlib import Path

import numpy as np
import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.sql import Sql
from tests.conftest import write_csv
from tests.readers.test_numbers import MEASURES, row

Runs = tuple[list[float], ...]

TRUTHS = [0.5, 1.5, 2.0, 3.5, 4.0, 4.5, 1.0]
WREN: Runs = (
    [0.7, 1.1, 2.4, 3.1, 4.2, 4.0, 1.6],
    [1.9, 1.3, 2.0, 2.2, 4.9, 3.1, 0.7],
    [0.2, 1.6, 2.9, 3.0, 3.3, 4.4, 1.6],
)
LARK: Runs = (
    [2.7, 1.1, 2.4, 3.9, 3.2, 3.0, 2.6],
    [1.9, 0.8, 2.0, 2.2, 4.9, 3.1, 2.7],
)


def asking(folder: Path, wren: Runs = WREN, lark: Runs = LARK, lacking: Iterable[str] = ()) -> Session:
    """A warehouse with the runs of both systems, without the rows that are `lacking`: wren,1,p3."""
    rows = [
        (f"p{place}", model, seed, truth, run[place])
        for model, runs in (("wren", wren), ("lark", lark))
        for seed, run in enumerate(runs, 1)
        for place, truth in enumerate(TRUTHS)
        if f"{model},{seed},p{place}" not in lacking
    ]
    database = in_memory().__enter__()
    path = write_csv(folder / "sts.csv", "id model seed gold prediction", rows)
    load(database, path, "numbers", fields={"test_set": "sts"})
    return Session(database)


def of_runs(name: str, runs: Iterable[Iterable[float]]) -> float:
    return float(np.mean([MEASURES[name](TRUTHS, run) for run in runs]))


def brute_force(name: str, first: Runs, second: Runs) -> float:
    """The share of all exchanges of documents, in all runs at once, whose difference is at least the observed one. Runs
    stand beside one another in their order, as often as their numbers have a common multiple.
    """
    turns = range(lcm(len(first), len(second)))
    pairs = [(np.array(first[turn % len(first)]), np.array(second[turn % len(second)])) for turn in turns]
    differences = []
    for turned in product((False, True), repeat=len(TRUTHS)):
        mixed = [(np.where(turned, b, a), np.where(turned, a, b)) for a, b in pairs]
        differences.append(abs(of_runs(name, (a for a, _ in mixed)) - of_runs(name, (b for _, b in mixed))))
    return float(np.mean(np.array(differences) >= differences[0] - 1e-9))


@pytest.mark.parametrize("name", MEASURES)
def test_a_system_is_the_mean_of_its_runs(name: str, tmp_path: Path) -> None:
    session = asking(tmp_path)
    for systems, expected in (("wren, lark", {"wren": WREN, "lark": LARK}), ("wren#2", {"wren#2": WREN[1:2]})):
        table = session.run(f"score {name} for {systems} on sts").table
        found = dict(zip(table.column("system"), table.column(name), strict=True))
        assert found == {system: pytest.approx(of_runs(name, runs), abs=1e-12) for system, runs in expected.items()}
    deviation = np.std([MEASURES[name](TRUTHS, run) for run in WREN], ddof=1)
    assert row(session, f"score {name} for wren on sts")[f"sd({name})"] == pytest.approx(deviation, abs=1e-12)
    apart = session.run(f"score {name} for wren on sts runs apart").table
    assert set(apart.column("system")) == {"wren#1", "wren#2", "wren#3"}


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(("wren", "lark"), [(WREN, LARK), (WREN[:2], LARK)])
def test_exact_p_is_that_of_all_exchanges(name: str, wren: Runs, lark: Runs, tmp_path: Path) -> None:
    found = row(asking(tmp_path, wren, lark), f"compare {name} for wren, lark on sts test randomization")
    assert found["value_a"] == pytest.approx(of_runs(name, wren), abs=1e-12)
    assert found["value_b"] == pytest.approx(of_runs(name, lark), abs=1e-12)
    assert found["method"] == "exact"
    assert found["p"] == pytest.approx(brute_force(name, wren, lark), abs=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_runs_that_predict_the_same_are_one(name: str, tmp_path: Path) -> None:
    (tmp_path / "once").mkdir()
    once = row(asking(tmp_path / "once", WREN[:1], LARK[:1]), f"compare {name} for wren, lark on sts")
    thrice = row(asking(tmp_path, WREN[:1] * 3, LARK[:1] * 2), f"compare {name} for wren, lark on sts")
    for column in ("value_a", "value_b", "p", "differing"):
        assert thrice[column] == pytest.approx(once[column], abs=1e-12)
    for column in ("ci_low", "ci_high"):
        assert thrice[column] == pytest.approx(once[column], abs=1e-5)


@pytest.mark.parametrize("name", MEASURES)
def test_the_interval_of_a_system_is_around_its_mean(name: str, tmp_path: Path) -> None:
    found = row(asking(tmp_path), f"score {name} for wren on sts interval")
    assert found[name] == pytest.approx(of_runs(name, WREN), abs=1e-12)
    assert found[f"ci_low({name})"] < found[name] < found[f"ci_high({name})"]  # type: ignore[operator]
    spread = row(asking(tmp_path), f"spread {name} for wren on sts")
    assert (spread["value"], spread["replicates"]) == (pytest.approx(of_runs(name, WREN), abs=1e-12), 3)


@pytest.mark.parametrize("name", MEASURES)
def test_documents_of_several_test_sets_are_put_together_run_by_run(name: str, tmp_path: Path) -> None:
    session = asking(tmp_path)
    path = write_csv(
        tmp_path / "late.csv",
        "id model seed gold prediction",
        [(f"q{n}", model, 1, n, n * n % 7) for model in ("wren", "lark") for n in range(6)],
    )
    load(session.database, path, "numbers", fields={"test_set": "late"})
    found = row(session, f"compare {name} for wren, lark on sts, late over test sets pooled")
    scored = session.run(f"score {name} for wren, lark on sts, late over test sets pooled").table
    by_system = dict(zip(scored.column("system"), scored.column(name), strict=True))
    truths, more = [*TRUTHS, *range(6)], [n * n % 7 for n in range(6)]
    for column, system, runs in (("value_a", "wren", WREN), ("value_b", "lark", LARK)):
        values = [MEASURES[name](truths, [*run, *more]) for run in runs]
        assert (found[column], by_system[system]) == (pytest.approx(np.mean(values), abs=1e-12),) * 2


def test_a_document_that_a_run_lacks_is_missing(tmp_path: Path) -> None:
    session = asking(tmp_path, lacking=["wren,2,p3"])
    with pytest.raises(QueryError, match="some runs lack documents of sts: 1 document of wren"):
        session.run("compare pearson for wren, lark on sts")
    found = row(session, "compare pearson for wren, lark on sts missing drop")
    kept = [place for place in range(len(TRUTHS)) if place != 3]
    values = [MEASURES["pearson"]([TRUTHS[k] for k in kept], [run[k] for k in kept]) for run in WREN]
    assert found["value_a"] == pytest.approx(np.mean(values), abs=1e-12)


def test_too_many_different_numbers_of_runs_are_refused(tmp_path: Path) -> None:
    session = asking(tmp_path, WREN[:1] * 9, LARK[:1] * 11)
    assert row(session, "score pearson for wren on sts")["runs"] == 9
    with pytest.raises(QueryError, match="systems on sts have too many different numbers of runs to be exchanged"):
        session.run("compare pearson for wren, lark on sts")
    assert row(session, "compare pearson for wren, lark on sts where system.run <= 2")["method"] == "exact"


def test_runs_are_told_by_columns_of_many_names(tmp_path: Path) -> None:
    rows = [(f"p{n}", run, truth, truth, run) for run in (1, 2) for n, truth in enumerate(TRUTHS)]
    path = write_csv(tmp_path / "in.csv", "id epoch gold near far", rows)
    with in_memory() as database:
        load(database, path, "numbers")
        found = database.rows(Sql("select system, model, run from runs order by all"))
        seeds = database.rows(Sql("select system, value from system_attributes where attribute = 'epoch' order by all"))
    assert found == [(f"{model}#{run}", model, f"epoch={run}") for model in ("far", "near") for run in (1, 2)]
    assert seeds == [(f"{model}#{run}", str(run)) for model in ("far", "near") for run in (1, 2)]

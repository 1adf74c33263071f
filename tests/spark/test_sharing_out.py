"""Work in blocks, as an engine shares it out, gives the same digits as work in one piece. No Spark is started; the
blocks are computed one after another.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.plans.path import DuckDBEngine, Workforce
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.database import Database
from tests.spark.conftest import fill_annotated, fill_values
from tests.spark.statements import APART, PARTED, REFUSED, SAMPLE, STATEMENTS, answer


def in_blocks(path: Path, statement: str) -> Iterator[str]:
    """The answer computed in one, two and five blocks."""
    for blocks in (1, 2, 5):

        def engine(database: Database, workforce: Workforce, blocks: int = blocks) -> DuckDBEngine:
            return DuckDBEngine(database, replace(workforce, blocks=blocks))

        with Session(open_database(path), path, engine) as session:
            yield answer(session, statement)


@pytest.fixture(scope="module")
def paths(warehouses: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The shared warehouses, one with values of many sizes, and one of annotators."""
    folder = tmp_path_factory.mktemp("more")
    fill_values(folder)
    fill_annotated(folder)
    return {**warehouses, **{name: folder / f"{name}.duckdb" for name in ("values", "annotated")}}


@pytest.mark.long
@pytest.mark.parametrize(("data", "statement"), [*(("sample", statement) for statement in PARTED), *APART])
def test_blocks_of_pairs_give_what_all_pairs_give(paths: dict[str, Path], data: str, statement: str) -> None:
    one, two, five = in_blocks(paths[data], statement)
    assert one == two == five


WHOLE = [
    "compare F for GE, UMASS, SRI on TST3 test tukey shuffles 25000",
    "compare F for GE, UMASS, SRI on TST3 adjust maxt shuffles 25000",
    "compare F for GE, UMASS, SRI on TST3 shuffles 99",
    "compare F for GE, UMASS, SRI on TST3 test tukey shuffles 99",  # its simultaneous intervals
    'compare F for no, "not applicable", yes on TST3 replicates by system.intra_parse exchange by system',
    "power F for GE, UMASS on TST3 detect 10% documents 50, 100",
    "compare F for GE, UMASS, SRI on TST3 test tukey shuffles 99 interval percentile",
    "score F for GE, UMASS, SRI on TST3 interval",
    "spread F for all on TST3 replicates by system.muc3",
    "curve precision of filtering for GE, UMASS on TST3 resamples 99",
    "differ accuracy of filtering for GE, UMASS, SRI on TST3 by label shuffles 99",
]
"""Statements whose long computations must be shared out, so that their test above compares something."""


def times_shared_out(path: Path, statement: str) -> int:
    """How often a statement shares out two tasks or more."""
    pieces: list[int] = []

    def share_out(work: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        pieces.append(len(tasks))
        return [work(task) for task in tasks]

    def engine(database: Database, workforce: Workforce) -> DuckDBEngine:
        return DuckDBEngine(database, replace(workforce, blocks=3, share_out=share_out))

    with Session(open_database(path), path, engine) as session:
        session.run(statement)
    return sum(tasks > 1 for tasks in pieces)


@pytest.mark.long
@pytest.mark.parametrize("statement", WHOLE)
def test_long_computations_are_shared_out(warehouses: dict[str, Path], statement: str) -> None:
    assert times_shared_out(warehouses["sample"], statement)


@pytest.mark.parametrize(
    ("data", "statement", "times"),
    [
        ("imported", "compare auc for bayes, tree, margin on mail", 2),  # the tests, the intervals
        ("imported", "curve precision for bayes, tree, margin on mail resamples 99", 2),  # the curves, tests of areas
        ("replicated", "compare accuracy for all on qa replicates by system.model exchange by system", 2),
        ("values", "compare M for all on t test tukey shuffles 99", 1),  # their intervals; chunks are too few
        ("annotated", "agree on t", 1),
        ("sample", "plot score F for GE, UMASS, SRI on TST3", 1),
        ("sample", "plot group F for GE, UMASS, SRI on TST3 shuffles 99", 2),  # the tests, the lines
        ("sample", "plot compare F, recall for GE, UMASS on TST3 shuffles 99", 1),  # the panels; there is one pair
    ],
)
def test_every_part_of_a_statement_is_shared_out(paths: dict[str, Path], data: str, statement: str, times: int) -> None:
    assert times_shared_out(paths[data], statement) == times


@pytest.mark.long
def test_few_of_the_statements_are_errors(paths: dict[str, Path], tmp_path: Path) -> None:
    # Copies, since some statements define. What is wrong does not depend on the number of shuffles.
    copies = {name: shutil.copy(path, tmp_path) for name, path in paths.items()}
    wrong = []
    parted = [("sample", statement) for statement in PARTED if statement not in SAMPLE]
    for data, statement in [*STATEMENTS, *parted, *APART]:
        with Session.open(copies[data]) as session:
            try:
                list(session.results(re.sub("shuffles [0-9]+", "shuffles 9", statement)))
            except QueryError as error:
                wrong.append((statement, error.message))
    assert [statement for statement, _ in wrong] == REFUSED, wrong

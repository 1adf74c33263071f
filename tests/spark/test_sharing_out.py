"""Work in blocks, as an engine shares it out, gives the same digits as work in one piece. No Spark is started; the
blocks are computed one after another.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grammar.errors import QueryError
from tests.spark.conftest import fill_values
from tests.spark.statements import PARTED, REFUSED, SAMPLE, STATEMENTS, answer
from warehouse.query.engine import DuckDBEngine, Workforce
from warehouse.session import Session
from warehouse.store.database import Database, open_database


def in_blocks(path: Path, statement: str) -> Iterator[str]:
    """The answer computed in one, two and five blocks."""
    for blocks in (1, 2, 5):

        def engine(database: Database, workforce: Workforce, blocks: int = blocks) -> DuckDBEngine:
            return DuckDBEngine(database, replace(workforce, blocks=blocks))

        with Session(open_database(path), path, engine) as session:
            yield answer(session, statement)


@pytest.mark.long
@pytest.mark.parametrize("statement", PARTED)
def test_blocks_of_pairs_give_what_all_pairs_give(warehouses: dict[str, Path], statement: str) -> None:
    one, two, five = in_blocks(warehouses["sample"], statement)
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


@pytest.mark.long
@pytest.mark.parametrize("statement", WHOLE)
def test_long_computations_are_shared_out(warehouses: dict[str, Path], statement: str) -> None:
    pieces: list[int] = []

    def share_out(work: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        pieces.append(len(tasks))
        return [work(task) for task in tasks]

    def engine(database: Database, workforce: Workforce) -> DuckDBEngine:
        return DuckDBEngine(database, replace(workforce, blocks=3, share_out=share_out))

    with Session(open_database(warehouses["sample"]), warehouses["sample"], engine) as session:
        session.run(statement)
    assert max(pieces) > 1


@pytest.mark.long
def test_few_of_the_statements_are_errors(warehouses: dict[str, Path], tmp_path: Path) -> None:
    fill_values(tmp_path)
    # Copies, since some statements define.
    paths = {name: shutil.copy(path, tmp_path) for name, path in warehouses.items()}
    paths["values"] = tmp_path / "values.duckdb"
    wrong = []
    for data, statement in [*STATEMENTS, *(("sample", statement) for statement in PARTED if statement not in SAMPLE)]:
        with Session.open(paths[data]) as session:
            try:
                list(session.results(statement))
            except QueryError as error:
                wrong.append((statement, error.message))
    assert [statement for statement, _ in wrong] == REFUSED, wrong

"""A lake and a file that hold the same give the same answers, cell by cell and digit by digit."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from evalhouse.warehouse.lake.making import make_lake
from evalhouse.warehouse.session.session import Session
from tests.conftest import KINDS
from tests.lakes import everything_in
from tests.spark.statements import STATEMENTS, answer
from tests.test_cases import CASES

ASKED = sorted(
    {(case.data, case.query) for _, case in CASES if " as of " not in case.query and not case.takes}
    | {each for each in STATEMENTS if each[0] in KINDS}
)
"""Every query of a golden and of the tests of engines, but for the past, which only a lake keeps, and for what computes
for seconds after it has read what others read too.
"""

FEW = [each for each in ASKED if each[0] in ("worked", "clustered")][::30]

Pair = tuple[Session, Session]


@pytest.fixture(scope="module")
def pair_of(warehouses: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Pair]]:
    """By the name of a warehouse, a session on a copy of it and a session on a lake that was made of it."""
    folder = tmp_path_factory.mktemp("pairs")
    with ExitStack() as sessions:

        @cache
        def made(name: str) -> Pair:
            file = Path(shutil.copyfile(warehouses[name], folder / f"{name}.duckdb"))
            make_lake(folder / name, "copy", everything_in(file))
            first, second = (sessions.enter_context(Session.open(path)) for path in (file, folder / name))
            return first, second

        yield made


@pytest.mark.parametrize(("data", "query"), FEW)
def test_a_lake_gives_the_numbers_of_the_file(pair_of: Callable[[str], Pair], data: str, query: str) -> None:
    compared(pair_of(data), query)


DATA = pytest.mark.parametrize("data", sorted({data for data, _ in ASKED}))


@pytest.mark.long
@DATA
def test_every_second_case_gives_the_same(pair_of: Callable[[str], Pair], data: str) -> None:
    compare_all(pair_of, data, ASKED[::2])


@pytest.mark.soak
@DATA
def test_every_case_gives_the_same(pair_of: Callable[[str], Pair], data: str) -> None:
    compare_all(pair_of, data, ASKED)


def compare_all(pair_of: Callable[[str], Pair], data: str, asked: list[tuple[str, str]]) -> None:
    for of, query in asked:
        if of == data:
            compared(pair_of(data), query)


def compared(pair: Pair, query: str) -> None:
    """Asks both, whose names differ."""
    file, lake = pair
    of_file = answer(file, query).replace(str(file.path), "HERE")
    assert answer(lake, query).replace(str(lake.path), "HERE") == of_file, query

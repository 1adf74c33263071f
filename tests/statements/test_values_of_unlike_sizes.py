"""Values of one system that are so large that common fixed point would leave those of others too few digits: each pair
has digits of its own, whichever pairs are computed together.
"""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from tests.empty import create
from tests.spark.test_sharing_out import in_blocks
from warehouse.loading.ingest import load
from warehouse.session import Session


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse in which the values of one system are 10^17 times those of three others."""
    folder = tmp_path_factory.mktemp("uneven")
    table, chance = folder / "values.csv", random.Random(7)
    lines = ["test_set,system,document,measure,value"]
    for test_set, document in product("tu", range(60)):
        hard = chance.random()
        for place, system in enumerate(("one", "two", "three", "huge")):
            own = hard + chance.gauss(place / 20, 0.2)
            lines.append(f"{test_set},{system},{document},M,{own * (1e14 if system == 'huge' else 1e-3)!r}")
    table.write_text("\n".join(lines), encoding="utf-8")
    with create(folder / "uneven.duckdb") as database:
        load(database, table, "values")
    return folder / "uneven.duckdb"


@pytest.mark.long
@pytest.mark.parametrize(
    "statement",
    [
        "compare M for all on t interval",
        "compare M for all on t shuffles 99 adjust holm interval bca",
        "compare M for all on t test bootstrap shuffles 99",
        "compare M for all on t test tukey shuffles 99 interval",
        "compare M for all on t test tukey shuffles 99 interval percentile",
        "compare M for all on t, u over test sets test tukey shuffles 99 interval percentile",
        "rank M for all on t shuffles 99",
        "score M for all on t interval",
    ],
)
def test_blocks_without_a_system_of_large_values_have_its_digits(uneven: Path, statement: str) -> None:
    one, two, five = in_blocks(uneven, statement)
    assert one == two == five


def one_and_two(session: Session, systems: str) -> tuple[float, int]:
    """The p of systems one and two, beside others or alone, and its shuffles."""
    [row] = [
        row
        for row in session.run(f"compare M for {systems} on t level 0.2").rows
        if {row["system_a"], row["system_b"]} == {"one", "two"}
    ]
    assert isinstance(row["p"], float)
    assert isinstance(row["shuffles"], int)
    return row["p"], row["shuffles"]


@pytest.mark.long
def test_a_pair_has_its_own_digits_when_it_needs_more_shuffles_than_one_of_large_values(uneven: Path) -> None:
    with Session.open(uneven) as session:
        beside, alone = one_and_two(session, "all"), one_and_two(session, "one, two")
    # After the first look the two are tested without the system of large values. Alone they may stop sooner.
    fewest = min(beside[1], alone[1])
    assert fewest > 10_000
    assert abs(beside[0] - alone[0]) < 4 * (alone[0] * (1 - alone[0]) / fewest) ** 0.5

"""Values of one system that are so large that common fixed point would leave those of others too few digits: each pair
has digits of its own, whichever pairs are computed together.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.empty import create
from tests.spark.test_sharing_out import in_blocks


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
        "compare M for all on t, u over test sets shuffles 99 interval bca",
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


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with two measures of the same values, of which N makes one system 10^14 times as large. Test sets
    have unlike numbers of documents, or in v and w the same.
    """
    folder = tmp_path_factory.mktemp("beside")
    table, chance = folder / "values.csv", random.Random(3)
    lines = ["test_set,system,document,measure,value"]
    for test_set, documents in (("t", 23), ("u", 17), ("v", 12), ("w", 12)):
        for document in range(documents):
            hard = chance.random()
            for place, system in enumerate(("one", "two", "three", "huge")):
                own = hard + chance.gauss(place / 20, 0.2)
                larger = own * (1e14 if system == "huge" else 1.0)
                lines += [
                    f"{test_set},{system},{document},{name},{value!r}" for name, value in (("M", own), ("N", larger))
                ]
    table.write_text("\n".join(lines), encoding="utf-8")
    with create(folder / "beside.duckdb") as database:
        load(database, table, "values")
    return folder / "beside.duckdb"


def of_small_systems(session: Session, statement: str) -> list[Mapping[str, object]]:
    """What is said of N, but for the system of large values."""
    names = ("system", "system_a", "system_b")
    return [
        row
        for row in session.run(statement).rows
        if row.get("measure", "N") == "N" and all(row.get(name) != "huge" for name in names)
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "compare N for {} on t, u over test sets shuffles 999 interval",
        "compare N for {} on t, u over test sets shuffles 999 interval bca",
        "compare N for {} on t, u over test sets shuffles 999 margin 0.1",
        "compare N for {} on t, u over test sets test studentized shuffles 999",
        "compare N for {} on v, w over test sets shuffles 999 interval",
        "compare N for {} on v, w over test sets shuffles 999 margin 0.1",
        "compare N for {} on t test studentized shuffles 999",
        "compare M, N for {} on t shuffles 999",
        "score N for {} on t interval",
        "score N for {} on t interval bca",
    ],
)
def test_a_system_of_large_values_leaves_others_their_digits(beside: Path, statement: str) -> None:
    with Session.open(beside) as session:
        among = of_small_systems(session, statement.format("all"))
        assert among == of_small_systems(session, statement.format("all except huge"))
        assert len(among) == 3


@pytest.mark.parametrize("test", ["randomization", "studentized"])
@pytest.mark.parametrize("where", ["t", "t, u over test sets", "v, w over test sets"])
def test_a_system_of_large_values_leaves_others_their_adjusted_p(beside: Path, test: str, where: str) -> None:
    """Its own pairs differ surely, or are too far from the others to be stepped down to."""
    columns = ("system_a", "system_b", "difference", "p", "p_adjusted")
    statement = f"compare N for {{}} on {where} test {test} shuffles 999 adjust maxt level 0.2"
    with Session.open(beside) as session:
        among, alone = (
            [[row[column] for column in columns] for row in of_small_systems(session, statement.format(systems))]
            for systems in ("all", "all except huge")
        )
    assert among == alone


def test_explain_says_how_an_average_of_unlike_sizes_is_tested(beside: Path) -> None:
    with Session.open(beside) as session:
        for where in ("t, u", "v, w"):
            assert session.run(f"explain compare N for all on {where} over test sets shuffles 99").rows

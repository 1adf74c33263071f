"""The program's answers on the real MUC-4 evaluation, compared with the published results. Skipped if the data are
absent.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.empty import create

SITE = {"system": "site", "document": "message_id"}


@pytest.fixture(scope="module")
def muc4(tmp_path_factory: pytest.TempPathFactory, real_data: Path) -> Session:
    path = tmp_path_factory.mktemp("muc4") / "muc4.duckdb"
    folder = real_data / "muc4"
    with create(path) as database:
        load(database, folder / "score_tuples.csv", "scores", columns=SITE)
        load(database, folder / "decisions.csv", "decisions", columns=SITE)
        load(database, folder / "key_labels.csv", "labels", columns={"document": "message_id"})
    return Session.open(path)


def test_f_on_tst3_is_as_published(muc4: Session) -> None:
    """Chinchor 1992, discussion of figure 9."""
    published = {"GE": 56.01, "GE-CMU": 51.98, "UMASS": 51.61, "SRA": 29.33, "PARAMAX": 29.03, "MDC": 24.33}
    rows = muc4.run("score F for all on TST3").rows
    found = {row["system"]: round(100 * float(row["F(beta=1)"] or 0), 2) for row in rows}
    assert {name: found[name] for name in published} == published


@pytest.mark.parametrize(
    ("pair", "published"), [("GE, GE-CMU", 0.0415), ("GE, UMASS", 0.0994), ("GE-CMU, UMASS", 0.8918)]
)
def test_significance_levels_of_f_on_tst3_are_as_published(muc4: Session, pair: str, published: float) -> None:
    """Chinchor 1992: 9,999 shuffles. The exact level and our own shuffles lie within her sampling error and ours."""
    (exact,) = muc4.run(f"compare F for {pair} on TST3 exact").rows
    (shuffled,) = muc4.run(f"compare F for {pair} on TST3 shuffles 9999").rows
    spread = 4 * (published * (1 - published) / 9999) ** 0.5
    assert float(exact["p"] or 0) == pytest.approx(published, abs=spread)
    assert float(shuffled["p"] or 0) == pytest.approx(float(exact["p"] or 0), abs=spread)


def test_approximate_levels_lie_within_4_standard_errors_of_exact_ones(muc4: Session) -> None:
    measures = "recall, precision, F"
    exact = muc4.run(f"compare {measures} for GE, GE-CMU, UMASS, SRI, NYU on TST3 exact").rows
    shuffled = muc4.run(f"compare {measures} for GE, GE-CMU, UMASS, SRI, NYU on TST3 shuffles 9999").rows
    assert len(exact) == len(shuffled) == 30
    for one, other in zip(exact, shuffled, strict=True):
        p = float(one["p"] or 0)
        assert float(other["p"] or 0) == pytest.approx(p, abs=4 * (p * (1 - p) / 9999) ** 0.5 + 1e-4)


def test_every_decision_falls_into_one_cell(muc4: Session) -> None:
    rows = muc4.run('sql "select a, b, c, d, x, y from contingency"').rows
    assert len(rows) == 34
    for row in rows:
        cells = [int(cell or 0) for cell in row.values()]
        assert min(cells) >= 0
        assert sum(cells) == 100


def test_the_groups_of_the_first_systems_are_chinchors(muc4: Session) -> None:
    """GE differs from GE-CMU at 0.10, is not told from UMASS with confidence 0.99, and GE-CMU and UMASS do not
    differ.
    """
    rows = muc4.run("group F for GE, GE-CMU, UMASS on TST3 shuffles 9999 level 0.10 confidence 0.99").rows
    letters = {row["system"]: set(str(row["letters"]).split()) for row in rows}
    assert not letters["GE"] & letters["GE-CMU"]
    assert letters["GE"] & letters["UMASS"]
    assert letters["GE-CMU"] & letters["UMASS"]

"""In large tables, systems and imports are found without reading all rows, and the answers are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store import catalog
from tests.conftest import write_csv
from tests.empty import create

QUESTIONS = [
    "score F for all on TST3, TST4",
    "score F for ge, UMASS on TST3",
    "score recall of filtering for GE, allrel, random(s=0.5) on all",
    "score F of published for ADS, GE on TST2, TST3",
    "score F for all except GE on TST3",
    "score F for G* on TST3 standardized",
    "compare F for GE, SRI against UMASS on TST3",
    "compare F for all against GE on TST3",
    "score F for GE, UMAS on TST3",
    "score F for ADS on TST3",
    "score recall, F for nobody on all",
    "compare F for GE, UMASS against nobody on TST3",
    "change precision of filtering for GE, SRI from TST3 to TST4",
]


def answer(session: Session, question: str) -> str:
    try:
        return session.run(question).to_json()
    except QueryError as error:
        return f"{error.message}\n{error.hints}"


@pytest.mark.long
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("few", [0, 3, 1000], ids="{} looked up".format)
def test_answers_do_not_depend_on_how_systems_are_found(
    question: str, few: int, monkeypatch: pytest.MonkeyPatch, warehouses: dict[str, Path]
) -> None:
    with Session.open(warehouses["sample"]) as session:
        expected = answer(session, question)
    monkeypatch.setattr(catalog, "_MANY_ROWS", 1)
    monkeypatch.setattr(catalog, "_FEW_SYSTEMS", few)
    with Session.open(warehouses["sample"]) as session:
        assert answer(session, question) == expected


def test_a_fingerprint_names_every_import_of_a_test_set(tmp_path: Path) -> None:
    header = "test_set system document possible actual correct partial"
    with create(tmp_path / "w.duckdb") as database:
        fingerprints = []
        for number, test_set in enumerate("TTUT"):
            rows = [(test_set, f"s{number}", "d1", 3, 3, number, 0)]
            load(database, write_csv(tmp_path / f"{number}.csv", header, rows), "scores")
            known = catalog.Catalog(database)
            [of_t] = [each.id for each in known.test_sets if each.name == "T"]
            fingerprints.append(known.fingerprint("extraction", of_t))
    first, second, another, third = fingerprints
    assert second == another
    assert len({first, second, third}) == 3

"""Averages over test sets, and groups of them, on the pages that are served and published."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from evalhouse.warehouse.loading.ingest import carry_out, load
from evalhouse.warehouse.loading.planning import LoadRequest, plan
from tests.conftest import write_csv
from tests.empty import create
from tests.web.conftest import Visit
from tests.web.test_pages import Page, read
from tests.web.test_site_files import publish

ANSWERS = {"cows": {"ada": "1101", "bob": "0101"}, "hens": {"ada": "1111", "bob": "0001"}}
"""By test set, the right and wrong answers of systems: 75% and 50%, 100% and 25%."""


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The group farm of two test sets; cat was on one of them alone."""
    folder = tmp_path_factory.mktemp("farm")
    rows = [
        (test_set, system, f"{test_set}{k}", "accuracy", mark)
        for test_set, answers in (ANSWERS | {"cows": ANSWERS["cows"] | {"cat": "1111"}}).items()
        for system, marks in answers.items()
        for k, mark in enumerate(marks)
    ]
    file = write_csv(folder / "v.csv", "test_set system document measure value", rows)
    with create(folder / "farm.duckdb") as database:
        request = LoadRequest([str(file)], "values", {"group": "farm"})
        carry_out(database, request, plan(request, database, folder))
    return folder / "farm.duckdb"


def text(page: Page) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", page.html)).split())


def check_averages(home: Page, leaderboard: Page) -> None:
    """Fails unless the averages are those of fractions, and who has none is named."""
    assert "table accuracy for all on all over test sets" in home.statements
    assert ["ada", "0.7500", "1.0000", "0.8750"] in home.rows
    assert ["cat", "1.0000", "–", "–"] in home.rows
    assert "not on hens: cat" in text(home)
    assert ["farm", "2", "cows, hens"] in home.rows
    head, *rows = leaderboard.rows
    averages = {row[head.index("system")]: row[head.index("average")] for row in rows if len(row) == len(head)}
    assert averages == {"ada": "0.8750", "bob": "0.3750", "cat": "–"}
    assert "score accuracy for all on all over test sets" in leaderboard.statements
    assert "not on hens: cat" in text(leaderboard)


def test_served_pages_have_averages(visit: Visit, farm: Path) -> None:
    home = read(visit, "/", farm)
    check_averages(home, read(visit, "/test-set/cows", farm))
    of_group = read(visit, home.links["farm"], farm)
    assert of_group.statements == ["table accuracy for all on farm"]
    assert ["ada", "8", "0.8750"] in of_group.rows


def test_a_subset_of_documents_has_no_average(visit: Visit, farm: Path) -> None:
    page = read(visit, '/test-set/cows?where=document like "c%25"', farm)
    assert "average" not in page.rows[0]


def published(folder: Path, warehouse: Path, *measures: str) -> Path:
    options = ["--measures", ",".join(measures)] if measures else []
    assert publish(folder, warehouse, *options) == 0
    return folder


def test_published_pages_have_averages(farm: Path, tmp_path: Path) -> None:
    site = published(tmp_path / "site", farm)
    check_averages(
        *(Page((site / page).read_text(encoding="utf-8")) for page in ("index.html", "test-sets/cows/index.html"))
    )


LABELS = {"t1": {"A": "xyx", "B": "yyz"}, "t2": {"A": "xxz", "B": "xxx"}}
"""By test set, the answers of systems; the truth is x, y and z."""


def test_measures_that_are_named_are_averaged(tmp_path: Path) -> None:
    """Macro F1 of A: (2/3 + 1 + 0) / 3 on t1, and (2/3 + 0 + 1) / 3 on t2; of B: (0 + 2/3 + 1) / 3 and (1/2) / 3."""
    rows = [
        (test_set, system, k, truth, answer)
        for test_set, answers in LABELS.items()
        for system, said in answers.items()
        for k, (truth, answer) in enumerate(zip("xyz", said, strict=True))
    ]
    file = write_csv(tmp_path / "l.csv", "test_set system id y_true y_pred", rows)
    with create(tmp_path / "w.duckdb") as database:
        load(database, file, "sklearn")
    wanted = {
        "macro(F1)": ["55.56", "55.56", "55.56", "55.56", "16.67", "36.11"],
        "weighted(F1)": ["55.56", "55.56", "55.56", "55.56", "16.67", "36.11"],
        "F1": ["66.67", "66.67", "66.67", "66.67", "33.33", "50.00"],
    }
    for measure, values in wanted.items():
        site = published(tmp_path / measure, tmp_path / "w.duckdb", measure)
        home = Page((site / "index.html").read_text(encoding="utf-8"))
        assert ["A", *values[:3]] in home.rows
        assert ["B", *values[3:]] in home.rows
        leaderboard = Page((site / "test-sets" / "t2" / "index.html").read_text(encoding="utf-8"))
        head, *rows_of = leaderboard.rows
        assert [row[head.index("average")] for row in rows_of[:2]] == [values[2], values[5]]


def test_rankings_are_published_by_map(tmp_path: Path) -> None:
    """Average precision: 1 and 1/2 of `up` and `down` on every topic."""
    judged = write_csv(tmp_path / "j.csv", "test_set document item grade", [(t, "q", "a", 1) for t in ("t1", "t2")])
    ranked = [
        (t, system, "q", item, place)
        for t in ("t1", "t2")
        for system, order in (("up", "ab"), ("down", "ba"))
        for place, item in enumerate(order, start=1)
    ]
    runs = write_csv(tmp_path / "r.csv", "test_set system document item rank", ranked)
    with create(tmp_path / "w.duckdb") as database:
        load(database, judged, "judgments")
        load(database, runs, "rankings")
    site = published(tmp_path / "site", tmp_path / "w.duckdb", "MAP")
    home = Page((site / "index.html").read_text(encoding="utf-8"))
    assert [row[-3:] for row in home.rows if row[0] in ("up", "down") and len(row) == 4] == [
        ["1.0000", "1.0000", "1.0000"],
        ["0.5000", "0.5000", "0.5000"],
    ]

"""TESTS and ADJUSTMENTS: what each member says about itself, and how members are found by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from evalhouse.warehouse.significance.tests import ADJUSTMENTS, DRAWING, OF_ORDERS, TESTS, find_adjustment, find_test


def test_every_member_is_found_by_its_name_and_no_name_is_given_twice() -> None:
    assert [find_test(test.name) for test in TESTS] == list(TESTS)
    names = [name for adjustment in ADJUSTMENTS for name in adjustment.names]
    assert len(set(names)) == len(names)
    assert [find_adjustment(name).name for name in ("bh", "fdr", "none")] == ["bh", "bh", "none"]
    for find in (find_test, find_adjustment):
        with pytest.raises(KeyError):
            find("no such name")


def test_every_test_says_what_runs_it() -> None:
    assert [test.name for test in TESTS if test.exchanges] == ["randomization", "studentized"]
    assert [test.name for test in TESTS if test.exact] == [TESTS[0].name] == ["randomization"]
    ways = [(test.of_pair, test.of_areas, test.of_family, test.exchange) for test in TESTS]
    assert all(sum(way is not None for way in of_test) == 1 for of_test in ways)
    assert DRAWING == ("randomization", "studentized", "tukey", "bootstrap")
    assert all(1 <= test.units <= test.enough for test in TESTS)


def test_the_first_adjustment_changes_nothing_and_the_others_do() -> None:
    assert [adjustment.adjusts for adjustment in ADJUSTMENTS] == [False] + [True] * (len(ADJUSTMENTS) - 1)


def test_what_does_not_go_together_is_said() -> None:
    randomization, tukey, sign = (find_test(name) for name in ("randomization", "tukey", "sign"))
    studentized = find_test("studentized")
    none, holm, maxt = (find_adjustment(name) for name in ("none", "holm", "maxt"))
    assert randomization.conflict(maxt, exact=False) is None
    assert randomization.conflict(maxt, exact=True) == (
        "adjust maxt works only with the shuffles of randomization and studentized",
        "write adjust holm instead",
    )
    assert sign.conflict(holm, exact=False) is None
    assert studentized.conflict(maxt, exact=False) is None
    assert sign.conflict(maxt, exact=False) is not None
    assert tukey.conflict(holm, exact=False) == ("test tukey already adjusts", "leave out adjust")
    assert tukey.conflict(none, exact=False) is None
    assert sign.misfit("F", steady=True) is None
    assert randomization.misfit("F", steady=False) is None
    assert sign.misfit("F", steady=False) is not None
    assert sign.misfit("auc", steady=False, ordered=True) is not None
    assert randomization.misfit("auc", steady=False, ordered=True) is None
    assert OF_ORDERS.misfit("auc", steady=False, ordered=True) is None
    assert OF_ORDERS.misfit("F", steady=False) is not None


def test_the_tables_are_read_without_numpy() -> None:
    code = "import sys, evalhouse.warehouse.significance.tests; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

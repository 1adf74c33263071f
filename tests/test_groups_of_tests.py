"""Tests that share what takes long to start run in one process, if xdist knows their groups."""

from __future__ import annotations

import pytest


@pytest.mark.long  # only the slow tests run in groups
@pytest.mark.xdist_group("together")
def test_xdist_knows_the_groups_of_tests(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("this run has no groups: --dist loadgroup was not given")
    assert request.node.nodeid.endswith("@together")

"""Sessions for the tests of the shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalhouse.warehouse.session.session import Session


@pytest.fixture(scope="module")
def session(warehouses: dict[str, Path]) -> Iterator[Session]:
    with Session.open(warehouses["sample"]) as session:
        yield session


@pytest.fixture(scope="module")
def worked(warehouses: dict[str, Path]) -> Iterator[Session]:
    with Session.open(warehouses["worked"]) as session:
        yield session

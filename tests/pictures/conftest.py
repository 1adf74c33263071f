"""What the tests of pictures share: a session on the sample data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalhouse.warehouse.session.session import Session


@pytest.fixture
def session(warehouses: dict[str, Path]) -> Iterator[Session]:
    with Session.open(warehouses["sample"]) as opened:
        yield opened

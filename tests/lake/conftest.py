"""An empty lake for each test of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalhouse.warehouse.lake.place import LakePlace
from tests.lakes import empty_lake


@pytest.fixture
def lake(tmp_path: Path) -> LakePlace:
    """An empty lake."""
    return empty_lake(tmp_path / "lake")

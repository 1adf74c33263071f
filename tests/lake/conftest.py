"""An empty lake for each test of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lakes import nothing
from warehouse.lake.making import make_lake
from warehouse.lake.place import LakePlace


@pytest.fixture
def lake(tmp_path: Path) -> LakePlace:
    """An empty lake."""
    return make_lake(tmp_path / "lake", "init", nothing)

"""What the tests of the readers share: the fixtures of the store, and the real files if they are present."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.conftest import complaints, database, load_text, untouched

__all__ = ["complaints", "database", "load_text", "real_files", "untouched"]

REAL = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture(scope="session")
def real_files() -> Path:
    """The folder of real files of other tools, which are not part of the project."""
    if not REAL.is_dir():
        pytest.skip("the real files are not beside the checkout (../shared/data)")
    return REAL

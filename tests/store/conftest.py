"""What the tests of the store share: a warehouse in memory, and a way to load a text as if it were a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import Loaded, load
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from tests.store.texts import Complaints, Load


@pytest.fixture
def database() -> Iterator[Database]:
    with in_memory() as database:
        yield database


@pytest.fixture(scope="module")
def untouched() -> Iterator[Database]:
    """A warehouse for files that are refused: no test may store anything in it."""
    with in_memory() as database:
        yield database


@pytest.fixture
def load_text(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Loads a text as a file of some name, in the folder of the test."""
    monkeypatch.chdir(tmp_path)

    def loading(text: str | bytes, reader: str = "scores", file: str = "in.csv", **options: object) -> Loaded:
        Path(file).write_bytes(text if isinstance(text, bytes) else text.encode())
        return load(database, Path(file), reader, **options)  # type: ignore[arg-type]

    return loading


@pytest.fixture
def complaints(untouched: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Complaints:
    """What is said of a text that is refused as a file."""
    monkeypatch.chdir(tmp_path)

    def complaining(text: str | bytes, reader: str = "scores", file: str = "in.csv", **options: object) -> list[str]:
        Path(file).write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(DataError) as caught:
            load(untouched, Path(file), reader, **options)  # type: ignore[arg-type]
        return [str(fault) for fault in caught.value.faults]

    return complaining

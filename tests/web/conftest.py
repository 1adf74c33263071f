"""Pages of warehouses, requested as a browser would, without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evalhouse.warehouse.session.session import Session

pytest.importorskip("starlette", reason="pages need the extra web")
pytest.importorskip("httpx2", reason="pages are asked by httpx2")

if TYPE_CHECKING:
    from starlette.testclient import TestClient

Visit = Callable[..., "TestClient"]


@pytest.fixture(scope="session")
def visit() -> Iterator[Visit]:
    """Serves a warehouse, the sample data where none is named, and gives what asks for its pages. All tests of a
    process share what is served.
    """
    from starlette.testclient import TestClient

    from evalhouse.warehouse.web.server import Pages, application

    served: dict[tuple[Path | None, float, bool], tuple[Pages, TestClient]] = {}

    def begin(path: Path | None = None, timeout: float = 60.0, *, sql: bool = False) -> TestClient:
        key = (path, timeout, sql)
        if key not in served:
            pages = Pages(lambda: Session.open(path), path.name if path else "", timeout, sql=sql)
            app = application(pages, {"127.0.0.1"})
            served[key] = pages, TestClient(app, base_url="http://127.0.0.1")
        return served[key][1]

    yield begin
    for pages, _ in served.values():
        pages.close()

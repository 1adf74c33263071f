"""A site that was written as files, opened in a browser: from a disk, and from a web server without knowledge of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import cli
from tests.browsing import MARKS, followed, prefers, sized
from tests.conftest import write_csv

pytest.importorskip("vl_convert", reason="pictures need the extra plot")
pytestmark = MARKS

SYSTEMS = ("base", "Base", "<b>new</b>", "old & slow")
PAGES = (
    "index.html",
    "systems/Base.html",
    "test-sets/qa/index.html",
    "test-sets/qa/pairs/Base/old-slow-d24faf10.html",
    "test-sets/qa/documents/q07.html",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four systems on thirty questions of two sources."""
    folder = tmp_path_factory.mktemp("site in a browser")
    rows = [
        ("qa", system, f"q{k:02}", "accuracy", int((k * (place + 2)) % 7 < 2 + place))
        for place, system in enumerate(SYSTEMS)
        for k in range(30)
    ]
    values = write_csv(folder / "qa.csv", "test_set system document measure value", rows)
    sources = write_csv(
        folder / "sources.csv",
        "test_set document source",
        [("qa", f"q{k:02}", "radio" if k % 3 else "paper") for k in range(30)],
    )
    db = ["--db", str(folder / "w.duckdb")]
    assert cli.main(["init", db[1]]) == 0
    assert cli.main(["load", str(values), "--as", "values", *db]) == 0
    assert cli.main(["load", str(sources), "--as", "documents", *db]) == 0
    assert cli.main(["publish", str(folder / "my site"), *db]) == 0
    return folder / "my site"


class Quiet(SimpleHTTPRequestHandler):
    """A web server that knows nothing but files."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module", params=["from a disk", "from a web server"])
def site(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """Where the site is, with a slash at the end."""
    if request.param == "from a disk":
        yield folder.as_uri() + "/"
        return
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder.parent))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/my%20site/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_silent_and_loads_only_its_own(page: str, site: str, browser: Any) -> None:
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(site + page)
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    wanted = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert all(url.startswith(site) for url in wanted)
    assert {site + "assets/evalhouse.css", site + "assets/evalhouse.js"} <= set(wanted)
    assert browser.execute_script("return getComputedStyle(document.querySelector('.skip')).position") == "absolute"
    assert browser.find_elements("css selector", "form, textarea") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing(page: str, scheme: str, folder: Path, browser: Any) -> None:
    axe = pytest.importorskip("axe_core_python")
    prefers(browser, prefers_color_scheme=scheme)
    sized(browser, 1100)
    browser.get((folder / page).as_uri())
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.execute_script(files(axe).joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = browser.execute_async_script("const done = arguments[0]; axe.run(document).then(done)")
    assert len(found["passes"]) > 15
    assert [(wrong["id"], [node["html"] for node in wrong["nodes"]]) for wrong in found["violations"]] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_narrow_page_scrolls_its_tables_and_not_itself(page: str, folder: Path, browser: Any) -> None:
    sized(browser, 400)
    browser.get((folder / page).as_uri())
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400


def test_from_the_first_page_to_a_document_and_back(site: str, browser: Any) -> None:
    sized(browser, 1100)
    browser.get(site)
    if site.startswith("file:"):
        # A disk has no page for a folder.
        browser.get(site + "index.html")
    followed(browser, "qa")
    assert browser.title == "qa – evalhouse"
    browser.find_element("xpath", "//th//button[text()='system']").click()
    followed(browser, "compare")
    assert " on qa" in browser.find_element("css selector", "h1").text
    assert browser.find_element("css selector", ".verdict").text
    assert browser.find_element("css selector", ".picture svg").is_displayed()
    followed(browser, "q07")
    assert browser.find_element("css selector", "h1").text == "q07 of qa"
    assert browser.current_url == site + "test-sets/qa/documents/q07.html"
    followed(browser, "<b>new</b>")
    assert browser.find_element("css selector", "h1").text == "<b>new</b>"
    followed(browser, "Evaluations")
    assert browser.current_url == site + "index.html"

"""The site of the documentation as a reader has it in a browser: the search finds a page by its name, everyone reaches
everything, and pictures have the colours of the page.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.browsing import MARKS, prefers, sized

pytest.importorskip("furo", reason="the site needs the extra docs")
pytestmark = MARKS

DOCS = Path(__file__).resolve().parent.parent / "docs"
LANGUAGE = sorted(f"language/{page.stem}" for page in (DOCS / "language").glob("*.md"))
OTHERS = ("readers", "formats", "schema", "gallery", "python", "lakes", "scale", "performance", "reliability")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("documentation")
    command = [sys.executable, "-m", "sphinx", "--quiet", "-d", str(folder / "doctrees"), "-b", "html"]
    subprocess.run([*command, str(DOCS), str(folder / "site")], check=True)
    return folder / "site"


def first_found(browser: Any, site: Path, words: str) -> str:
    """The page that a search lists first."""
    from selenium.webdriver.support.wait import WebDriverWait

    browser.get(f"{(site / 'search.html').as_uri()}?q={quote(words)}")
    found = WebDriverWait(browser, 60).until(lambda page: page.find_elements("css selector", "ul.search li a"))
    address: str = found[0].get_attribute("href").removeprefix(site.as_uri() + "/")
    return address.partition(".html")[0]


@pytest.mark.parametrize("page", [page for page in (*LANGUAGE, *OTHERS) if page != "language/index"])
def test_a_search_finds_the_page_of_that_name_first(page: str, site: Path, browser: Any) -> None:
    assert first_found(browser, site, page.rpartition("/")[2].replace("-", " ")) == page


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("Interval", "language/intervals"),
        ("adjustment", "language/adjustments"),
        ("replicate", "language/replicate"),
        ("replicates", "language/replicates"),
        ("undo a load", "how-to/undo-a-load"),
    ],
)
def test_a_search_takes_a_name_in_other_letters_and_in_the_singular(
    words: str, page: str, site: Path, browser: Any
) -> None:
    assert first_found(browser, site, words) == page


READ = [
    *(("index", scheme, width) for scheme, width in (("light", 1280), ("dark", 390))),
    ("language/compare", "light", 1280),
    ("search", "light", 1280),
    # Colours are those of one style sheet, and more scrolls on a narrow page.
    *((page, "dark", 390) for page in LANGUAGE),
]


@pytest.mark.parametrize(("page", "scheme", "width"), READ)
def test_axe_finds_nothing(page: str, scheme: str, width: int, site: Path, browser: Any) -> None:
    axe = pytest.importorskip("axe_core_python")
    prefers(browser, prefers_color_scheme=scheme)
    sized(browser, width)
    browser.get((site / f"{page}.html").as_uri())
    browser.execute_script(files(axe).joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = browser.execute_async_script(
        "const done = arguments[0]; axe.run(document, { resultTypes: ['violations'] }).then(done)"
    )
    assert len(found["passes"]) > 15
    assert [(wrong["id"], [node["html"] for node in wrong["nodes"]]) for wrong in found["violations"]] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["index", "language/group", "schema"])
def test_a_page_shows_the_picture_in_its_colours(page: str, scheme: str, site: Path, browser: Any) -> None:
    prefers(browser, prefers_color_scheme=scheme)
    sized(browser, 1280)
    browser.get((site / f"{page}.html").as_uri())
    shown = browser.execute_script(
        "return [...document.querySelectorAll('main img, article img')]"
        ".filter(one => one.checkVisibility() && one.naturalWidth > 0).map(one => one.getAttribute('src'))"
    )
    assert shown
    assert all(("-dark." in source) == (scheme == "dark") for source in shown)

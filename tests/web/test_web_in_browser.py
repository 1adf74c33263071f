"""Pages as a person uses them in a browser: open, choose, sort, follow, go back, copy, print, ask; with a mouse, with
the keyboard alone, and without JavaScript.
"""

from __future__ import annotations

import base64
import json
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.web.addresses import Address
from tests.browsing import MARKS, followed, prefers, pressed, reached_by_keyboard, sized, turned
from tests.empty import create
from tests.test_hostile_names import OTHER, QUESTIONS, TEST_SET, UNSAFE, fill_with_hostile_names

pytest.importorskip("vl_convert", reason="pictures need the extra plot")
pytest.importorskip("uvicorn", reason="pages need the extra web")
pytestmark = MARKS

PAGES = (
    "/",
    "/test-set/TST3",
    "/test-set/TST3?of=published",
    "/test-set/TST3?measure=recall&against=GE&adjust=holm",
    "/test-set/TST3/pair/GE/UMASS",
    "/test-set/TST3/document/SIM3-050",
    "/system/GE",
    "/?q=" + quote("plot group F for GE, UMASS, SRI on TST3 exact; show measures"),
    "/?q=" + quote("table recall, F for GE, UMASS, SRI on TST3, TST4 against GE"),
    "/?q=" + quote("compare F for UMAS on TST3"),
    "/nowhere",
)


@contextmanager
def served(path: Path | None = None, **options: Any) -> Iterator[str]:
    """Where the pages of a warehouse are, as long as it is needed."""
    from evalhouse.warehouse.web.server import Server

    server = Server(lambda: Session.open(path), path.name if path else "", port=0, **options)
    server.start()
    try:
        yield server.url.rstrip("/")
    finally:
        server.stop()


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served() as url:
        yield url


Opened = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, site: str) -> Opened:
    """Opens a page of the sample data, in light and 1,100 pixels wide unless it is said otherwise."""

    def open_page(path: str, scheme: str = "light", width: int = 1100) -> Any:
        prefers(browser, prefers_color_scheme=scheme)
        sized(browser, width)
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get(site + path)
        return browser

    return open_page


def cells(browser: Any, place: int, table: int = 0) -> list[str]:
    script = """
        return [...document.querySelectorAll("tbody")[arguments[1]].rows].map(row => row.cells[arguments[0]].innerText)
    """
    return [text.strip() for text in browser.execute_script(script, place, table)]


def path_of(browser: Any, site: str) -> str:
    return str(browser.current_url).removeprefix(site)


def statements(browser: Any) -> list[str]:
    return [found.text for found in browser.find_elements("css selector", "summary .query")]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_silent_and_asks_only_for_its_own(path: str, opened: Opened, site: str) -> None:
    page = opened(path)
    wrong = [entry for entry in page.get_log("browser") if "404" not in entry["message"]]
    assert wrong == []
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    wanted = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert all(
        url.startswith((site + path.partition("?")[0], f"{site}/assets/", f"{site}/favicon.ico")) for url in wanted
    )
    assert page.execute_script("return document.querySelectorAll('img, iframe, object, embed, [style]').length") == 0


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400)])
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing(path: str, scheme: str, width: int, opened: Opened) -> None:
    axe = pytest.importorskip("axe_core_python")
    page = opened(path, scheme, width)
    page.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    page.execute_script(files(axe).joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.execute_async_script("const done = arguments[0]; axe.run(document).then(done)")
    assert len(found["passes"]) > 20
    assert [(wrong["id"], [node["html"] for node in wrong["nodes"]]) for wrong in found["violations"]] == []


@pytest.mark.parametrize("path", PAGES)
def test_a_narrow_page_scrolls_its_tables_and_not_itself(path: str, opened: Opened) -> None:
    page = opened(path, width=400)
    page.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.execute_script("return document.documentElement.scrollWidth") <= 400
    unreachable = """
        return [...document.querySelectorAll("main *")]
          .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === "auto")
          .filter((one) => one.tabIndex < 0 || !one.getAttribute("aria-label"))
          .map((one) => one.outerHTML.slice(0, 90));
    """
    assert page.execute_script(unreachable) == []


def test_from_the_warehouse_to_a_document_and_back(opened: Opened, site: str) -> None:
    page = opened("/")
    followed(page, "TST3")
    assert page.title == "TST3 – evalhouse"
    assert cells(page, 1)[:3] == ["GE", "GE-CMU", "UMASS"]
    turned(page, page.find_elements("link text", "compare")[1])
    assert page.find_element("css selector", "h1").text == "UMASS and GE on TST3"
    assert "not significant at 0.05 (p = 0.0996)" in page.find_element("css selector", ".verdict").text
    followed(page, "SIM3-080")
    assert path_of(page, site) == "/test-set/TST3/document/SIM3-080?beside=UMASS&beside=GE"
    page.back()
    page.back()
    followed(page, "SRI")
    assert page.find_element("css selector", "h1").text == "SRI"
    followed(page, "Evaluations")
    assert path_of(page, site) == "/"


def test_measures_a_baseline_and_a_subset_are_chosen(opened: Opened, site: str) -> None:
    page = opened("/test-set/TST3")
    page.find_element("css selector", "form.choices summary").click()
    for box in page.find_elements("css selector", "input[name=measure]:checked"):
        box.click()
    page.find_element("css selector", "input[name=measure][value=precision]").click()
    page.find_element("css selector", "select[name=against] option[value=UMASS]").click()
    page.find_element("css selector", "select[name=adjust] option[value=holm]").click()
    page.find_element("css selector", "input[name=where]").send_keys('document like "SIM3-0%"')
    turned(page, page.find_element("css selector", "form.choices button[type=submit]"))
    subset = 'where document like "SIM3-0%"'
    assert statements(page) == [
        f"score precision of extraction for all on TST3 {subset} interval studentized",
        f"rank precision of extraction for all on TST3 {subset} shuffles 4999 adjust holm",
        f"group precision of extraction for all on TST3 {subset} shuffles 4999 adjust holm",
        f"compare precision of extraction for all against UMASS on TST3 {subset} shuffles 4999 adjust holm",
    ]
    assert page.find_element("css selector", "input[value=precision]").is_selected()
    address = path_of(page, site)
    assert path_of(opened(address), site) == address
    assert len(statements(page)) == 4


def test_a_leaderboard_is_sorted_by_its_headings(opened: Opened) -> None:
    page = opened("/test-set/TST3")
    head = page.find_element("xpath", "//th//button[text()='precision']")
    head.click()
    values = [float(text) for text in cells(page, 6)]
    assert values == sorted(values, reverse=True)
    assert head.find_element("xpath", "..").get_attribute("aria-sort") == "descending"
    from selenium.webdriver.common.keys import Keys

    pressed(page, Keys.ENTER)
    assert [float(text) for text in cells(page, 6)] == sorted(values)
    pressed(page, Keys.ENTER)
    assert cells(page, 1)[0] == "GE"


def test_documents_are_paged_through(opened: Opened) -> None:
    page = opened("/test-set/TST3/pair/GE/UMASS")
    first = cells(page, 0, 2)
    followed(page, "Next →")
    second = cells(page, 0, 2)
    assert len(first) == len(second) == 25
    assert set(first).isdisjoint(second)
    assert page.execute_script("return document.querySelector('#documents').getBoundingClientRect().top") < 900
    followed(page, "← Previous")
    assert cells(page, 0, 2) == first


def test_j_and_k_go_from_document_to_document_but_not_while_one_types(opened: Opened, site: str) -> None:
    from selenium.webdriver.support.expected_conditions import url_to_be
    from selenium.webdriver.support.wait import WebDriverWait

    page = opened("/test-set/TST3/document/SIM3-050")
    for key, document in (("j", "SIM3-051"), ("k", "SIM3-050")):
        pressed(page, key)
        WebDriverWait(page, 60).until(url_to_be(f"{site}/test-set/TST3/document/{document}"))
    page.find_element("css selector", "textarea").click()
    pressed(page, "j")
    assert path_of(page, site) == "/test-set/TST3/document/SIM3-050"
    assert page.find_element("css selector", "textarea").get_attribute("value") == "j"


def test_j_and_k_step_through_the_documents_of_a_pair(opened: Opened) -> None:
    page = opened("/test-set/TST3/pair/GE/UMASS")
    listed = [link.text for link in page.find_elements("css selector", "[data-steps] tbody th a")]
    assert len(listed) == 25
    for key, place in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        pressed(page, key)
        assert page.switch_to.active_element.text == listed[place]


@pytest.mark.parametrize("width", [400, 1280, 1920])
def test_no_value_of_all_measures_is_out_of_sight(width: int, opened: Opened) -> None:
    page = opened("/test-set/TST3/pair/GE/UMASS", width=width)
    script = """
        const cells = [...document.querySelectorAll(".cards tbody :is(td, th)")];
        const room = document.documentElement.clientWidth;
        const left = cells.filter((cell) => {
            const at = cell.getBoundingClientRect(), box = cell.closest(".table").getBoundingClientRect();
            return at.left < box.left - 1 || at.right > Math.min(room, box.right) + 1;
        });
        return [cells.length, left.map((cell) => cell.innerText)]
    """
    many, out_of_sight = page.execute_script(script)
    assert many > 10
    assert out_of_sight == []


def test_a_statement_is_copied_as_a_command_and_in_python(opened: Opened) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    page = opened("/?q=" + quote("score F for GE on TST3"))
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    page.find_element("css selector", "details.statement summary").click()
    read = "const done = arguments[0]; navigator.clipboard.readText().then(done, (error) => done(String(error)))"
    wanted = (
        "score F for GE on TST3",
        "evalhouse query 'score F for GE on TST3'",
        "evalhouse.open().run('score F for GE on TST3')",
    )
    for button, text in zip(page.find_elements("css selector", "button[data-copies]"), wanted, strict=True):
        button.click()
        WebDriverWait(button, 60).until(lambda one: one.text == "Copied")
        assert page.execute_async_script(read) == text


def test_what_is_not_seen_of_a_statement_is_copied_too(opened: Opened) -> None:
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.wait import WebDriverWait

    statement = 'score F for GE on TST3 where document != "a\u202eb"'
    page = opened("/?" + urlencode({"q": statement}))
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    page.find_element("css selector", "details.statement summary").click()
    read = "const done = arguments[0]; navigator.clipboard.readText().then(done, (error) => done(String(error)))"
    button = page.find_element("css selector", "button[data-copies]")
    button.click()
    WebDriverWait(button, 60).until(lambda one: one.text == "Copied")
    assert page.execute_async_script(read) == statement
    page.execute_script("navigator.clipboard.writeText('')")
    page.execute_script("getSelection().selectAllChildren(document.querySelector('[data-exact]'))")
    page.find_element("css selector", "body").send_keys(Keys.CONTROL, "c")
    assert page.execute_async_script(read) == statement


def test_a_question_is_typed_completed_and_asked(opened: Opened, site: str) -> None:
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.wait import WebDriverWait

    page = opened("/")
    box = page.find_element("css selector", "textarea")
    box.send_keys("compare F for GE, UMAS")
    words = ".offers li b"
    WebDriverWait(page, 60).until(
        lambda _: [word.text for word in page.find_elements("css selector", words)] == ["UMASS"]
    )
    box.send_keys(Keys.ARROW_DOWN, Keys.ENTER, "on TST")
    assert box.get_attribute("value") == "compare F for GE, UMASS on TST"
    WebDriverWait(page, 60).until(lambda _: len(page.find_elements("css selector", words)) == 3)
    box.send_keys(Keys.ESCAPE, "9 ")
    wrong = page.find_element("css selector", ".mistake")
    WebDriverWait(page, 60).until(lambda _: "unknown test set 'TST9'" in wrong.text)
    box.send_keys(Keys.BACKSPACE, Keys.BACKSPACE, "3 ", Keys.ENTER)
    WebDriverWait(page, 60).until(lambda _: "q=" in page.current_url)
    assert path_of(page, site) == "/?" + urlencode({"q": "compare F for GE, UMASS on TST3 "})
    assert "+4.39" in page.find_element("css selector", "main table").text


def test_everything_is_reached_with_the_keyboard(opened: Opened) -> None:
    page = opened("/test-set/TST3/pair/GE/UMASS")
    wanted, reached = reached_by_keyboard(page, "a, button, summary, select, input, textarea")
    assert reached == wanted > 30


def test_everything_but_completion_works_without_scripts(site: str, browser: Any) -> None:
    from selenium.webdriver.support.expected_conditions import text_to_be_present_in_element
    from selenium.webdriver.support.wait import WebDriverWait

    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(site + "/")
        box = browser.find_element("css selector", "textarea")
        box.send_keys("score F for GE, UMASS on TST3")
        turned(browser, browser.find_element("css selector", "form.ask button"))
        WebDriverWait(browser, 60).until(text_to_be_present_in_element(("css selector", "main table"), "56.01"))
        browser.find_element("css selector", "details.statement summary").click()
        assert "evalhouse query" in browser.find_element("css selector", ".copied pre + button, .copied").text + (
            browser.find_element("css selector", "details.statement").text
        )
        assert not any(button.is_displayed() for button in browser.find_elements("css selector", "button[data-copies]"))
        followed(browser, "UMASS")
        WebDriverWait(browser, 60).until(text_to_be_present_in_element(("css selector", "h1"), "UMASS"))
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_page_is_printed_without_what_only_a_screen_needs(opened: Opened) -> None:
    page = opened("/test-set/TST3/pair/GE/UMASS")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    hidden = "return [...document.querySelectorAll('form, nav, .skip')].every(one => !one.checkVisibility())"
    assert page.execute_script(hidden)
    assert page.find_element("css selector", "summary .query").is_displayed()
    pdf = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"])
    assert pdf.startswith(b"%PDF")
    assert 1 <= pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 4


def test_what_takes_long_says_how_far_it_is(browser: Any) -> None:
    with served(timeout=2.0) as url:
        for scripts in (True, False):
            browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
            try:
                browser.get(f"{url}/?q=" + quote(f"compare F for all on TST3 shuffles {80_000_000 + scripts}"))
                assert "stopped after 2 seconds" in browser.find_element("css selector", ".wrong").text
                steps = browser.find_elements("css selector", ".step")
                assert len(steps) > 2
                assert not any(step.is_displayed() for step in steps)
            finally:
                browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


# --- names that would be something else if they could -----------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """Where the pages of a warehouse of hostile names are, and its systems."""
    folder = tmp_path_factory.mktemp("hostile")
    path = folder / "<img src=x onerror=alert(1)>.duckdb"
    with create(path) as database:
        names = fill_with_hostile_names(database, folder)
    with served(path) as url:
        yield url, names


def test_hostile_names_run_nothing_and_break_out_of_nothing(browser: Any, hostile: tuple[str, list[str]]) -> None:
    """Every name is on the page of its test set; the pages of systems, of pairs, of documents and of mistakes are of
    some names each, and not of the same ones.
    """
    url, names = hostile
    prefers(browser, prefers_color_scheme="light")
    sized(browser, 400)
    some = [TEST_SET, OTHER]
    paths = ["/", *(Address("test set", (name,)).path for name in (*some, "documents"))]
    paths += [Address("test set", (TEST_SET,), (("against", name), ("where", name))).path for name in names[4:12:2]]
    paths += [Address("system", (name,)).path for name in names[::4]]
    pairs = zip(names[3::18], names[10::18], strict=False)
    paths += [Address("pair", (TEST_SET, one, other)).path for one, other in pairs]
    paths += [Address("document", ("documents", name)).path for name in names[1::8]]
    paths += ["/?" + urlencode({"q": question}) for question in QUESTIONS if not question.startswith("sql")]
    paths += ["/?" + urlencode({"q": name}) for name in names[2::8]]
    browser.get_log("browser")
    wrong = """
        const odd = [...document.querySelectorAll("img, iframe, object, embed, base, [style], main script, main link")];
        const runs = [...document.querySelectorAll("*")].filter((one) => one.getAttributeNames()
          .some((name) => name.startsWith("on")) || /^(javascript|data):/i.test(one.getAttribute("href") || ""));
        const away = [...document.links].filter((one) => one.origin !== location.origin);
        return [...odd, ...runs, ...away].map((one) => one.outerHTML.slice(0, 120));
    """
    for path in paths:
        browser.get(url + path)
        assert browser.execute_script("return document.querySelector('footer') !== null"), path
        assert browser.execute_script(wrong) == [], path
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 400, path
        shown = browser.execute_script("return document.body.innerText")
        assert not {c for c in shown if c not in "\n\t" and unicodedata.category(c) in UNSAFE}, path
    assert [entry for entry in browser.get_log("browser") if "404" not in entry["message"]] == []


def test_every_hostile_name_leads_to_its_own_page(browser: Any, hostile: tuple[str, list[str]]) -> None:
    url, names = hostile
    browser.get(url + "/")
    links = browser.execute_script(
        "return [...document.links].filter((one) => one.pathname.startsWith('/system/')).map((one) => one.href)"
    )
    assert len(set(links)) == len(names)
    for link in links[::9]:
        browser.get(link)
        assert browser.find_elements("css selector", "main .table"), link

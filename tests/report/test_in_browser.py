"""A page as a browser shows it, if there is one: Chromium with its driver, as Debian packages them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from evalhouse.grammar.study import parts
from evalhouse.warehouse.render import Style
from evalhouse.warehouse.render.data import csv
from evalhouse.warehouse.render.latex import latex
from evalhouse.warehouse.render.report import REPORTS, Report
from evalhouse.warehouse.render.vegalite import DARK
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.session.studies import Study, answers, report
from tests.browsing import MARKS, prefers, pressed, reached_by_keyboard, sized

pytest.importorskip("vl_convert", reason="pictures need the extra plot")
pytestmark = MARKS

PICTURES = """
plot score recall, precision of published for all on TST3;
plot group F for GE, UMASS, SRI on TST3 exact;
audit published for all on TST3;
"""


@pytest.fixture(scope="module")
def pictured(study: Report, warehouses: dict[str, Path]) -> Report:
    """The small study and what pictures it might have."""
    with Session.open(warehouses["sample"]) as session:
        pictures = Study("pictures.study", PICTURES)
        done = list(answers(session, parts(PICTURES)))
        more = report(pictures, done, session, "", {}, "")
    first = len(study.statements)
    renumbered = tuple(replace(statement, number=first + place) for place, statement in enumerate(more.statements))
    return replace(study, sections=study.sections + renumbered)


@pytest.fixture
def page(browser: Any, pictured: Report, tmp_path: Path) -> Any:
    """The browser with the page open, nothing done yet."""
    return opened(browser, pictured, tmp_path)


def opened(browser: Any, described: Report, folder: Path, **media: str) -> Any:
    (content,) = REPORTS[".html"](described, "study.html", Style()).values()
    file = folder / "study.html"
    file.write_bytes(content)
    prefers(browser, **media)
    sized(browser, 1100)
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(file.as_uri())
    return browser


def of_first_table(browser: Any, column: int) -> list[str]:
    script = "return [...document.querySelector('tbody').rows].map(row => row.cells[arguments[0]].textContent)"
    return list(browser.execute_script(script, column))


@pytest.mark.parametrize("which", ["pictured", "hostile"])
def test_a_page_is_silent_and_asks_for_nothing(
    which: str, browser: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    opened(browser, request.getfixturevalue(which), tmp_path)
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"]
    assert asked == [(tmp_path / "study.html").as_uri()]
    assert browser.execute_script("return document.querySelectorAll('img, iframe, object, embed, link').length") == 0


def test_a_table_is_sorted_by_its_headings_with_mouse_and_keyboard(page: Any) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    head = page.find_element("css selector", "th[scope=col] button[data-column='2']")
    cell = head.find_element("xpath", "..")
    assert of_first_table(page, 2) == ["57.83", "46.91"]
    assert cell.get_attribute("aria-sort") is None
    head.click()
    assert cell.get_attribute("aria-sort") == "descending"
    head.click()
    assert (cell.get_attribute("aria-sort"), of_first_table(page, 2)) == ("ascending", ["46.91", "57.83"])
    pressed(page, Keys.ENTER)
    assert (cell.get_attribute("aria-sort"), of_first_table(page, 2)) == (None, ["57.83", "46.91"])
    ActionChains(page).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
    pressed(page, Keys.SPACE, Keys.SPACE)
    assert of_first_table(page, 1) == ["51.61", "56.01"]
    assert len(page.find_elements("css selector", "[aria-sort]")) == 1


def test_numbers_are_sorted_as_numbers_and_what_is_missing_comes_last(page: Any, pictured: Report) -> None:
    table = page.find_element("css selector", f"#result-{pictured.statements[-1].number} table")
    for head in table.find_elements("css selector", "th[scope=col] button"):
        for order in ("descending", "ascending"):
            page.execute_script("arguments[0].click()", head)
            script = "return [...arguments[0].tBodies[0].rows].map(row => row.cells[arguments[1]].textContent)"
            cells = page.execute_script(script, table, int(head.get_attribute("data-column")))
            if "number" in head.find_element("xpath", "..").get_attribute("class"):
                known = [float(cell) for cell in cells if cell != "–"]
                assert known == sorted(known, reverse=order == "descending")
                assert cells[len(known) :] == ["–"] * (len(cells) - len(known))


def test_tables_are_copied_as_csv_and_latex(page: Any, pictured: Report) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    permissions = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    page.execute_cdp_cmd("Browser.grantPermissions", permissions)
    first = pictured.statements[1].result
    assert first is not None
    status = page.find_element("css selector", "#result-1 [role=status]")
    for kind, expected in (("csv", "".join(csv(first, Style()))), ("latex", latex(first, Style()))):
        page.find_element("css selector", f"button[data-copy={kind}][data-of='1']").click()
        WebDriverWait(page, 60).until(lambda _: status.text == "Copied")
        read = "const done = arguments[0]; navigator.clipboard.readText().then(done, (error) => done(String(error)))"
        assert page.execute_async_script(read) == expected
        page.execute_script("arguments[0].textContent = ''", status)


def test_everything_is_reached_with_the_keyboard(page: Any) -> None:
    wanted, reached = reached_by_keyboard(page, "a, button, summary")
    assert reached == wanted > 20


def test_a_screen_reader_finds_names_for_all_it_finds(page: Any) -> None:
    tree = page.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    shown = [node for node in tree if not node.get("ignored")]
    named: dict[str, list[str]] = {}
    for node in shown:
        named.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    for role in ("table", "heading", "button", "link", "image", "region", "navigation", "columnheader", "rowheader"):
        assert named[role], role
        assert all(name.strip() for name in named[role]), role
    assert len(named["image"]) == 2
    assert any("GE" in name for name in named["image"])
    assert {"main", "contentinfo", "banner"} <= set(named)


def test_light_and_dark_and_paper(browser: Any, pictured: Report, tmp_path: Path) -> None:
    colours = "const look = getComputedStyle(document.body); return [look.backgroundColor, look.color]"
    opened(browser, pictured, tmp_path)
    paper, ink = (luminance(each) for each in browser.execute_script(colours))
    assert paper - ink > 0.8
    opened(browser, pictured, tmp_path, prefers_color_scheme="dark")
    paper, ink = (luminance(each) for each in browser.execute_script(colours))
    assert ink - paper > 0.7
    media = {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    assert browser.execute_script(colours) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    hidden = "return [...document.querySelectorAll('nav, .copying, .skip')].every(each => !each.checkVisibility())"
    assert browser.execute_script(hidden)
    # Chromium repeats the head of a table on the next page without the buttons in it.
    heads = "return [...document.querySelectorAll('th button')].map(each => getComputedStyle(each).display)"
    assert set(browser.execute_script(heads)) == {"contents"}
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF")
    assert 3 <= pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 8


def test_pictures_are_dark_where_the_page_is(browser: Any, pictured: Report, tmp_path: Path) -> None:
    fills = """
        const fill = (chosen) => getComputedStyle(document.querySelector(chosen)).fill;
        return [fill(".picture svg > rect"), fill(".picture svg text")];
    """
    opened(browser, pictured, tmp_path)
    paper, ink = (luminance(fill) for fill in browser.execute_script(fills))
    assert paper - ink > 0.8
    opened(browser, pictured, tmp_path, prefers_color_scheme="dark")
    paper, ink = (luminance(fill) for fill in browser.execute_script(fills))
    assert ink - paper > 0.7
    colours = """
        const drawn = [...document.querySelectorAll(".picture svg [fill], .picture svg [stroke]")];
        return drawn.flatMap((part) => [part.getAttribute("fill"), part.getAttribute("stroke")]);
    """
    assert set(browser.execute_script(colours)) - {None, "none"} <= set(DARK)


def luminance(colour: str) -> float:
    """From 0, black, to 1, white."""
    red, green, blue = (int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


def test_words_are_told_from_what_is_behind_them(browser: Any, pictured: Report, tmp_path: Path) -> None:
    """A contrast of 4.5 at least, as WCAG 2 asks for, in both schemes."""
    script = """
        const luminance = (colour) => {
          const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
            const value = part / 255;
            return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
        };
        const behind = (element) => {
          for (let each = element; each; each = each.parentElement) {
            const colour = getComputedStyle(each).backgroundColor;
            if (!colour.startsWith("rgba(0, 0, 0, 0")) return colour;
          }
          return "rgb(255, 255, 255)";
        };
        return [...document.querySelectorAll("body *:not(svg *)")]
          .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
          .filter((each) => !["SCRIPT", "STYLE"].includes(each.tagName))
          .map((each) => {
            const [one, other] = [luminance(getComputedStyle(each).color), luminance(behind(each))];
            return [(Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), each.outerHTML.slice(0, 80)];
          })
          .filter(([contrast]) => contrast < 4.5);
    """
    for scheme in ("light", "dark"):
        opened(browser, pictured, tmp_path, prefers_color_scheme=scheme)
        assert browser.execute_script(script) == []


def test_a_narrow_page_scrolls_its_tables_and_not_itself(page: Any) -> None:
    sized(page, 360)
    wides = "return [...document.querySelectorAll('.picture svg')].map((each) => each.getBoundingClientRect().right)"
    assert 0 < max(page.execute_script(wides)) <= 360
    assert page.execute_script("return document.documentElement.scrollWidth") <= 360
    wide = page.execute_script(
        "return [...document.querySelectorAll('.table')].filter(each => each.scrollWidth > each.clientWidth)"
    )
    assert wide
    assert all(each.get_attribute("tabindex") == "0" and each.get_attribute("aria-label") for each in wide)

"""A browser for the tests, if there is one: Chromium with its driver, as Debian packages them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

MARKS = [
    pytest.mark.browser,
    pytest.mark.skipif(not (BROWSER and DRIVER), reason="chromium and chromedriver are not installed"),
    # Selenium leaves sockets to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
"""What tests in a browser are marked with."""


@contextmanager
def chromium() -> Iterator[Any]:
    """A window that nobody sees."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1100,1000",
    ):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def prefers(browser: Any, **media: str) -> None:
    """What the reader prefers: prefers_color_scheme="dark"."""
    features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})


def sized(browser: Any, width: int) -> None:
    """Makes the page as wide as that, whatever the window is."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def pressed(browser: Any, *keys: str) -> None:
    """Types keys wherever the focus is."""
    from selenium.webdriver import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def followed(browser: Any, label: str) -> None:
    """Follows a link, until the page that it stood on is gone."""
    turned(browser, browser.find_element("link text", label))


def turned(browser: Any, link: Any) -> None:
    """Clicks on what leads to another page, until the page that it stood on is gone: what is found before may be of
    either page.
    """
    from selenium.webdriver.support.expected_conditions import staleness_of
    from selenium.webdriver.support.wait import WebDriverWait

    page = browser.find_element("css selector", "html")
    link.click()
    WebDriverWait(browser, 60).until(staleness_of(page))


def reached_by_keyboard(page: Any, kinds: str) -> tuple[int, int]:
    """How many elements of some kinds a person sees in the main part of a page, and how many of them the key Tab comes
    to one after the other, behind the link that leads there, each with an outline.
    """
    from selenium.webdriver.common.keys import Keys

    pressed(page, Keys.TAB)
    focused = "return document.activeElement"
    assert page.execute_script(focused).get_attribute("class") == "skip"
    pressed(page, Keys.ENTER)
    assert page.execute_script(focused).get_attribute("id") == "content"
    wanted = page.execute_script(
        "return [...document.querySelectorAll(`main :is(${arguments[0]})`)]"
        ".filter(one => one.checkVisibility()).length",
        kinds,
    )
    reached = set()
    for _ in range(wanted):
        pressed(page, Keys.TAB)
        element = page.execute_script(focused)
        assert page.execute_script("return getComputedStyle(arguments[0]).outlineStyle", element) != "none"
        reached.add(element.id)
    return wanted, len(reached)

"""Draws the picture of a page for the documentation: the top of the leaderboard of the sample data, as Chromium
shows it.

    python docs/pictures/leaderboard.py

writes leaderboard.png and leaderboard-dark.png beside this file. It needs chromium, chromedriver, and the extras web
and test.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.web.server import Server
from tests.browsing import chromium, prefers, sized

HEIGHT = 565
"""Down to the line below the seventh system."""


def main() -> None:
    server = Server(lambda: Session.open(None), "", port=0)
    server.start()
    try:
        with chromium() as browser:
            sized(browser, 1100)
            for scheme, name in (("light", "leaderboard.png"), ("dark", "leaderboard-dark.png")):
                prefers(browser, prefers_color_scheme=scheme)
                browser.get(server.url + "test-set/TST3")
                area = {"x": 0, "y": 0, "width": 1100, "height": HEIGHT, "scale": 1}
                drawn = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": area, "captureBeyondViewport": True})
                Path(__file__).with_name(name).write_bytes(base64.b64decode(drawn["data"]))
    finally:
        server.stop()


if __name__ == "__main__":
    main()

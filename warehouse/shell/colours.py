"""The colours of typed text, by theme. If the terminal's background is unknown, the colours are readable on black and
on white.
"""

from __future__ import annotations

from collections.abc import Mapping

from warehouse.render.style import Theme

COLOURS: Mapping[Theme, Mapping[str, str]] = {
    "auto": {
        "blue": "#0c72e6",
        "cyan": "#048290",
        "green": "#0f872d",
        "magenta": "#c431c4",
        "red": "#e62020",
        "grey": "#757575",
    },
    "light": {
        "blue": "#084994",
        "cyan": "#02535c",
        "green": "#0a571d",
        "magenta": "#7e207e",
        "red": "#971111",
        "grey": "#4b4b4b",
    },
    "dark": {
        "blue": "#7fb7f8",
        "cyan": "#06c5db",
        "green": "#17cf45",
        "magenta": "#e699e6",
        "red": "#f49a9a",
        "grey": "#b2b2b2",
    },
}

PLAIN = {"mistake": "underline", "bottom-toolbar": "noreverse"}
"""The styles used without colours."""


def looks(theme: Theme) -> dict[str, str]:
    """The style of each kind of token, in the terms of prompt_toolkit."""
    colours = COLOURS[theme]
    return {
        "keyword": f"bold {colours['blue']}",
        "function": colours["blue"],
        "number": colours["cyan"],
        "text": colours["green"],
        "variable": colours["magenta"],
        "comment": f"italic {colours['grey']}",
        "error": colours["red"],
        "mistake": f"underline {colours['red']}",
        "bottom-toolbar": f"noreverse {colours['red']}",
        "prompt": colours["grey"],
    }

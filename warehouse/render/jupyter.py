"""Support for IPython and Jupyter. If the value of a cell is a result, it is shown as HTML, with its picture above its
table. A line below a slow cell shows its progress.

Nothing here needs widgets, or scripts or styles of the page. If IPython is not running, this module does not import it
and does nothing.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any

from warehouse.render.progress import Waiting, clock
from warehouse.render.style import Style
from warehouse.results import Result


def show_results_as_html() -> None:
    """Tells the running IPython, if there is one, how to show a result."""
    shell = _shell()
    if shell is not None:
        from warehouse.render.web import fragment

        shell.display_formatter.formatters["text/html"].for_type(Result, lambda result: fragment(result, Style()))


def clock_in_notebook() -> AbstractContextManager[Waiting]:
    """Shows the progress in a cell while something runs; does nothing outside notebooks."""
    # IPython on a terminal has no kernel, and its output cannot be changed.
    shown = getattr(_shell(), "kernel", None) is not None
    return clock(shown, OutputLine() if shown else None)


class OutputLine:
    """An output of the running cell. It is plain text, which every notebook shows in the colours of its theme."""

    stops = "interrupting the kernel stops it"

    def __init__(self) -> None:
        self._output: Any = None

    def draw(self, text: str) -> None:
        """Replaces the text."""
        self._show({"text/plain": text})

    def wipe(self) -> None:
        """Removes the text. An empty output is not shown, and a saved notebook contains nothing of it."""
        if self._output is not None:
            self._show({})

    def _show(self, data: dict[str, str]) -> None:
        from IPython.display import display

        if self._output is None:
            self._output = display(data, raw=True, display_id=True)
        else:
            self._output.update(data, raw=True)


def _shell() -> Any:
    """The running IPython; None if there is none."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None

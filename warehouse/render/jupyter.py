"""IPython and Jupyter: a result that is the value of a cell is shown as HTML, its picture over its table, and a line
below a cell that runs for long says how far it is.

Nothing here needs widgets, scripts or styles of the page. IPython is not imported where it does not run; there nothing
happens.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any

from warehouse.render.progress import Waiting, clock
from warehouse.render.style import Style
from warehouse.results import Result


def show_results_as_html() -> None:
    """Tells the IPython that runs, if one does, how to show a result."""
    shell = _shell()
    if shell is not None:
        from warehouse.render.web import fragment

        shell.display_formatter.formatters["text/html"].for_type(Result, lambda result: fragment(result, Style()))


def clock_in_notebook() -> AbstractContextManager[Waiting]:
    """What a cell shows while something runs; nothing where no notebook does."""
    # IPython on a terminal has no kernel, and no output that could be changed.
    shown = getattr(_shell(), "kernel", None) is not None
    return clock(shown, OutputLine() if shown else None)


class OutputLine:
    """An output of the cell that runs. It is plain text, which every notebook shows, in the colours of its theme."""

    stops = "interrupting the kernel stops it"

    def __init__(self) -> None:
        self._output: Any = None

    def draw(self, text: str) -> None:
        """Puts the text in the place of the one before."""
        self._show({"text/plain": text})

    def wipe(self) -> None:
        """Takes the text away: an output that holds nothing is neither shown nor saved with anything in it."""
        if self._output is not None:
            self._show({})

    def _show(self, data: dict[str, str]) -> None:
        from IPython.display import display

        if self._output is None:
            self._output = display(data, raw=True, display_id=True)
        else:
            self._output.update(data, raw=True)


def _shell() -> Any:
    """The IPython that runs; None where none does."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None

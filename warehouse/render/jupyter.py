"""Results in IPython and Jupyter: a result that is the value of a cell is shown as HTML, its picture over its table.

IPython is told so when a session is opened. It is never imported here: where it does not run, nothing happens.
"""

from __future__ import annotations

import sys

from warehouse.render.style import Style
from warehouse.results import Result


def show_results_as_html() -> None:
    """Tells the IPython that runs, if one does, how to show a result."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        from warehouse.render.web import fragment

        shell.display_formatter.formatters["text/html"].for_type(Result, lambda result: fragment(result, Style()))

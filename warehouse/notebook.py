"""IPython and Jupyter: `%load_ext warehouse.notebook` gives `%%evalhouse [FILE]`, whose cell is statements.

All cells share one session, on the file that was named last, or on the sample data. The last result is the value of the
cell; the others are shown above it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from grammar.errors import QueryError
from warehouse.faults import DataError, WarehouseError
from warehouse.render.diagnostics import diagnosis
from warehouse.render.jupyter import show_results_as_html
from warehouse.results import Result
from warehouse.session import Session


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext`, with IPython's shell."""
    show_results_as_html()
    shell.register_magic_function(_Cells().run, magic_kind="line_cell", magic_name="evalhouse")


class _Cells:
    """The session that the cells of a notebook share."""

    def __init__(self) -> None:
        self._session: Session | None = None

    def run(self, line: str, cell: str | None = None) -> Result | None:
        """`%evalhouse STATEMENTS`, or `%%evalhouse [FILE]` over a cell of statements."""
        text = line if cell is None else cell
        try:
            results = list(self._on(line.strip() if cell is not None else "").results(text))
        except (QueryError, DataError, WarehouseError) as error:
            print(diagnosis(error, text), file=sys.stderr)
            return None
        if not results:
            return None
        from IPython.display import display

        for result in results[:-1]:
            display(result)
        return results[-1]

    def _on(self, file: str) -> Session:
        if self._session is None or file:
            session = Session.open(Path(file).expanduser() if file else None)
            if self._session is not None:
                self._session.close()
            self._session = session
        return self._session

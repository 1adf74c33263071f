"""Support for IPython and Jupyter: `%load_ext evalhouse` adds `%%evalhouse [FILE]` for cells of statements, with
completion.

All cells share one warehouse: the file that was named last, or the sample data. The value of a cell is its last result;
earlier results are shown above it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from evalhouse.grammar.errors import EvalhouseError
from evalhouse.warehouse.python.printed_result import PrintedResult
from evalhouse.warehouse.python.warehouse import Warehouse, open_warehouse
from evalhouse.warehouse.render.html import show_results_as_html
from evalhouse.warehouse.shell.offers import candidates

MAGIC = "evalhouse"


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext`, with IPython's shell."""
    show_results_as_html()
    cells = _Cells()
    shell.register_magic_function(cells.run, magic_kind="line_cell", magic_name=MAGIC)
    matchers = shell.Completer.custom_matchers
    matchers[:] = [matcher for matcher in matchers if getattr(matcher, "__qualname__", "") != "_matcher.<locals>.offer"]
    matchers.append(_matcher(cells))


class _Cells:
    """The warehouse that all cells of a notebook share."""

    def __init__(self) -> None:
        self._warehouse: Warehouse | None = None

    def run(self, line: str, cell: str | None = None) -> PrintedResult | None:
        """Runs `%evalhouse STATEMENTS`, or `%%evalhouse [FILE]` above a cell of statements."""
        try:
            warehouse = self.on(line.strip() if cell is not None else "")
            results = list(warehouse.results(line if cell is None else cell))
        except EvalhouseError as error:
            print(f"error: {error}", file=sys.stderr)
            return None
        if not results:
            return None
        from IPython.display import display

        for result in results[:-1]:
            display(result)
        return results[-1]

    def on(self, file: str) -> Warehouse:
        """The warehouse for the cells; if a file is named, it becomes the warehouse. Raises WarehouseError."""
        if self._warehouse is None or file:
            warehouse = open_warehouse(Path(file).expanduser() if file else None, read_only=False)
            if self._warehouse is not None:
                self._warehouse.close()
            self._warehouse = warehouse
        return self._warehouse


def _matcher(cells: _Cells) -> Any:
    """Completes statements in cells, in the form that IPython needs. In other cells it offers nothing."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher()  # type: ignore[untyped-decorator]
    def offer(context: Any) -> dict[str, Any]:
        lines = context.full_text.split("\n")[: context.cursor_line + 1]
        typed = "\n".join([*lines[:-1], lines[-1][: context.cursor_position]])
        first, newline, cell = typed.partition("\n")
        if first.startswith(f"%%{MAGIC}") and newline:
            text = cell
        elif typed.startswith(f"%{MAGIC} "):
            text = typed.removeprefix(f"%{MAGIC} ")
        else:
            return {"completions": [], "suppress": False}
        try:
            # A file named above the cell is opened when the cell is run, and not while it is typed.
            there = candidates(text, cells.on("").session)
        except EvalhouseError:
            there = []
        start = there[0].start if there else len(text)
        return {
            "completions": [SimpleCompletion(text=one.text, type="statement") for one in there if one.start == start],
            "matched_fragment": text[start:],
            "suppress": True,
            "ordered": True,
        }

    return offer

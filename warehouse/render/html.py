"""The format for browsers and notebooks: a table as self-contained HTML.

Every name and every text is escaped. The page loads nothing, and the only script is the few lines that sort a table.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from html import escape
from typing import Any

from evalhouse.warehouse.charts import Chart
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.render.panels import Figure, Rectangle, spans
from evalhouse.warehouse.render.progress import Waiting, clock
from evalhouse.warehouse.render.rectangle import notes_below, unbounded_rectangles
from evalhouse.warehouse.render.style import Style, Theme, clean
from evalhouse.warehouse.results import Result

# === tables and pages =================================================================================================

_LOOKS = """\
.evalhouse { margin: 1em 0; font: 14px/1.4 system-ui, sans-serif; }
.evalhouse figcaption { font-weight: bold; margin-bottom: .4em; }
.evalhouse div { overflow-x: auto; }
.evalhouse table { border-collapse: collapse; border-block: 2px solid; margin: 0 0 .6em; }
.evalhouse thead { border-bottom: 1px solid; }
.evalhouse th, .evalhouse td { padding: .15em .7em; white-space: pre-wrap; }
.evalhouse th:not(.number, .over), .evalhouse td:not(.number) { text-align: left; }
.evalhouse th[scope=row] { font-weight: normal; }
.evalhouse .number { text-align: right; font-variant-numeric: tabular-nums; white-space: pre; }
.evalhouse .letters { font-family: ui-monospace, monospace; white-space: pre; }
.evalhouse .over { text-align: center; }
.evalhouse .room::before { content: attr(data-room); visibility: hidden; }
.evalhouse .mark { position: absolute; }
.evalhouse sup { line-height: 0; }
.evalhouse p { margin: .2em 0; font-size: 90%; }
.evalhouse .foot { opacity: .7; }
.evalhouse button { all: unset; cursor: pointer; }
.evalhouse button:focus-visible { outline: 1px solid; }
.evalhouse [aria-sort=ascending] button::after { content: " ▲"; }
.evalhouse [aria-sort=descending] button::after { content: " ▼"; }
"""

_SCHEMES = """\
:is([data-jp-theme-light=true], .vscode-light, .vscode-high-contrast-light, .light) .evalhouse-picture \
{ color-scheme: light; }
:is([data-jp-theme-light=false], .vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light), .dark) \
.evalhouse-picture { color-scheme: dark; }
"""
"""A picture is dark if the notebook around it is dark: pages of Jupyter, VS Code and marimo declare that. Elsewhere it
follows the reader's system.
"""

SORTING = """\
for (const button of document.querySelectorAll("th button[data-column]")) {
  const head = button.parentElement, body = head.closest("table").tBodies[0], place = Number(button.dataset.column);
  const asItWas = Array.from(body.rows), numeric = head.classList.contains("number");
  const key = (row) => {
    const text = row.cells[place].textContent.trim();
    return numeric ? parseFloat(text.replace(/[,<]/g, "")) : text;
  };
  const missing = (value) => numeric && Number.isNaN(value);
  button.addEventListener("click", () => {
    const next = { descending: "ascending", ascending: null }, before = head.getAttribute("aria-sort");
    const order = before in next ? next[before] : "descending";
    for (const other of head.closest("table").querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    if (order) head.setAttribute("aria-sort", order);
    const rows = asItWas.map((row) => [key(row), row]);
    if (order) rows.sort(([a], [b]) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b);
      const difference = numeric ? a - b : a.localeCompare(b, "en", { numeric: true });
      return order === "descending" ? -difference : difference;
    });
    body.append(...rows.map(([, row]) => row));
  });
}
"""
"""A click on a heading sorts a table: first descending, then ascending, then back to the original order."""


HEADINGS = -1
"""The row under which the links of headings are known."""

NOWHERE: Mapping[tuple[int, int], str] = {}
"""No links: for a table whose cells do not lead to other pages."""

NUMBERS = "Data behind this figure"


def html(result: Result, style: Style) -> str:
    """A page with one result."""
    return page((result,), style)


def page(results: Sequence[Result], style: Style) -> str:
    """A page with one result below the other. A click on a heading sorts a table."""
    title = escape(clean(results[0].caption)) if results else "evalhouse"
    figures = "".join(_figure(result, style, sortable=True) for result in results)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>\n{_LOOKS}</style>\n</head>\n<body>\n{figures}<script>\n{SORTING}</script>\n</body>\n</html>\n"
    )


def fragment(result: Result, style: Style) -> str:
    """A result as a part of a page, for example in a notebook. The data behind a picture are folded. No script runs."""
    shown, looks = _figure(result, style, sortable=False), _LOOKS
    if result.chart is not None:
        looks += _SCHEMES if style.theme == "auto" else ""
        shown = f"{_picture(result.chart, style.theme)}<details>\n<summary>{NUMBERS}</summary>\n{shown}</details>\n"
    return f"<style>\n{looks}</style>\n{shown}"


def _picture(chart: Chart, theme: Theme) -> str:
    """The picture as an image. An image is separate from the page, so the page's styles cannot change it. If pictures
    cannot be drawn, the reason.
    """
    from base64 import b64encode

    from evalhouse.warehouse.render.vegalite import svg_of_page

    try:
        drawn = b64encode(svg_of_page(chart, theme).encode()).decode()
    except WarehouseError as error:
        return f"<p>{text('; '.join((error.message, *error.hints)))}</p>\n"
    shown = f'src="data:image/svg+xml;base64,{drawn}" alt="{text(chart.alternative or chart.title)}"'
    return f'<img {shown} class="evalhouse-picture" style="max-width: 100%; height: auto">\n'


def _figure(result: Result, style: Style, *, sortable: bool) -> str:
    name = f' id="{text(result.grid.label)}"' if result.grid and result.grid.label else ""
    parts = [f'<figure class="evalhouse"{name} title="{text(result.signature)}">']
    if result.headline:
        parts.append(f"<figcaption>{text(result.headline)}</figcaption>")
    for rectangle in unbounded_rectangles(result, style, whole=True):
        if rectangle.title:
            parts.append(f"<p>{text(rectangle.title)}</p>")
        # The numbers of a triangle depend on its order, so it must not be sorted.
        parts += ["<div>" + table(rectangle, sortable=sortable and result.triangle is None) + "</div>"]
    parts += [f"<p>{text(note)}</p>" for note in notes_below(result, whole=True)]
    if result.signed:
        foot = result.signature if style.signature else result.foot
        parts.append(f'<p class="foot">{text(foot)}</p>')
    return "\n".join([*parts, "</figure>\n"])


def table(
    rectangle: Rectangle,
    *,
    sortable: bool,
    caption: str = "",
    links: Mapping[tuple[int, int], str] = NOWHERE,
    cards: str = "",
) -> str:
    """A rectangle as a table. The first column that is not numeric names the rows. Cells may link to other pages, by
    row and column, and headings over columns, in row HEADINGS. If `cards` is the name of the heading that names the
    table, each cell has the heading of its column, for rows that are drawn as cards.
    """
    lines = [f'<table aria-labelledby="{cards}">' if cards else "<table>"]
    if caption:
        lines.append(f"<caption>{text(caption)}</caption>")
    lines.append("<thead>")
    if any("\n" in heading for heading in rectangle.headings):
        over = "".join(
            f'<th class="over" colspan="{len(places)}" scope="colgroup">{_over(head, places, links)}</th>'
            if head
            else "<td></td>"
            for head, places in spans(rectangle.headings)
        )
        lines.append(f"<tr>{over}</tr>")
    cells = "".join(_head(rectangle, place, heading, sortable) for place, heading in enumerate(rectangle.headings))
    lines += [f"<tr>{cells}</tr>", "</thead>", "<tbody>"]
    naming = rectangle.numeric.index(False) if False in rectangle.numeric else -1
    for number, row in enumerate(rectangle.rows):
        cells = "".join(
            _cell(rectangle, number, place, content, place == naming, links, bool(cards))
            for place, content in enumerate(row)
        )
        lines.append(f"<tr>{cells}</tr>")
    return "\n".join([*lines, "</tbody>", "</table>"])


def _over(head: str, places: Sequence[int], links: Mapping[tuple[int, int], str]) -> str:
    """A heading over several columns, with the link that one of them has."""
    address = next((links[HEADINGS, place] for place in places if (HEADINGS, place) in links), "")
    return f'<a href="{text(address)}">{text(head)}</a>' if address else text(head)


def _head(rectangle: Rectangle, place: int, heading: str, sortable: bool) -> str:
    lower = text(heading.split("\n")[-1])
    if not lower.strip():
        return "<td></td>"
    inner = f'<button data-column="{place}">{lower}</button>' if sortable else lower
    return f'<th scope="col"{_class(rectangle, place)}>{inner}</th>'


def _cell(
    rectangle: Rectangle,
    number: int,
    place: int,
    content: str,
    naming: bool,
    links: Mapping[tuple[int, int], str],
    labelled: bool,
) -> str:
    figure = rectangle.figures.get((number, place))
    inner = _mark_figure(figure) if figure and not naming else text(content)
    if address := links.get((number, place), ""):
        inner = f'<a href="{text(address)}">{inner}</a>'
    if naming:
        return f'<th scope="row"{_class(rectangle, place)}>{inner}</th>'
    label = f' data-label="{text(rectangle.headings[place])}"' if labelled else ""
    return f"<td{_class(rectangle, place)}{label}>{inner}</td>"


def _mark_figure(figure: Figure) -> str:
    """A figure with its marks, each aligned with the marks of other figures in the column."""
    value = text(figure.number)
    value = f"<strong>{value}</strong>" if figure.best else f"<u>{value}</u>" if figure.second else value
    parts = [value]
    if figure.mark_room:
        beside = f'<span class="mark">{text(figure.mark)}</span>' if figure.mark else ""
        shown = text(figure.mark) if figure.mark == figure.mark_room else beside + _hidden_marks(figure.mark_room)
        parts.append(f"<sup>{shown}</sup>")
    if figure.half_room:
        lacking = figure.half_room[: len(figure.half_room) - len(figure.half)]
        parts.append(
            f" ±{_hidden_marks(lacking)}{text(figure.half)}" if figure.half else _hidden_marks(f" ±{figure.half_room}")
        )
    if figure.ranks_room:
        lacking = figure.ranks_room[len(figure.ranks) :]
        shown = f" ({text(figure.ranks)})" if figure.ranks else _hidden_marks(" ()")
        parts.append(f"{shown}{_hidden_marks(lacking)}")
    return "".join(parts)


def _hidden_marks(lacking: str) -> str:
    """Empty space for marks that only other figures of the column have. It contains no text, because text would become
    visible where styles are removed, as in notebooks on GitHub.
    """
    return f'<span class="room" data-room="{text(lacking)}"></span>' if lacking else ""


def _class(rectangle: Rectangle, place: int) -> str:
    if place in rectangle.spaced:
        return ' class="letters"'
    return ' class="number"' if rectangle.numeric[place] else ""


def text(plain: str) -> str:
    """A text of one line as HTML. Every character is visible, and none is markup."""
    return escape(clean(plain))


# === IPython and Jupyter ==============================================================================================
# If the value of a cell is a result, it is shown as HTML, with its picture above its table, and a line below a slow
# cell shows its progress. Nothing here needs widgets, or scripts or styles of the page. If IPython is not running, it
# is not imported and nothing happens.


def show_results_as_html() -> None:
    """Tells the running IPython, if there is one, how to show a result."""
    shell = _shell()
    if shell is not None:
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

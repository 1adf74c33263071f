"""The format for browsers and notebooks: a table as HTML that needs nothing but itself. Everything that is a name or a
text is escaped; it loads nothing and runs nothing but the few lines that sort a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from warehouse.render.layout import LEGEND, Sheet, unbounded_sheets
from warehouse.render.markup import spans
from warehouse.render.style import Style, clean
from warehouse.results import Result

_LOOKS = """\
.evalhouse { margin: 1em 0; font: 14px/1.4 system-ui, sans-serif; }
.evalhouse figcaption { font-weight: bold; margin-bottom: .4em; }
.evalhouse div { overflow-x: auto; }
.evalhouse table { border-collapse: collapse; border-block: 2px solid; margin: 0 0 .6em; }
.evalhouse thead { border-bottom: 1px solid; }
.evalhouse th, .evalhouse td { padding: .15em .7em; text-align: left; white-space: pre-wrap; }
.evalhouse .number { text-align: right; font-variant-numeric: tabular-nums; white-space: pre; }
.evalhouse .letters { font-family: ui-monospace, monospace; white-space: pre; }
.evalhouse .over { text-align: center; }
.evalhouse p { margin: .2em 0; font-size: 90%; }
.evalhouse button { all: unset; cursor: pointer; }
.evalhouse button:focus-visible { outline: 1px solid; }
.evalhouse [aria-sort=ascending] button::after { content: " ▲"; }
.evalhouse [aria-sort=descending] button::after { content: " ▼"; }
"""

_SORTING = """\
for (const button of document.querySelectorAll(".evalhouse th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, table = head.closest("table"), place = Number(button.dataset.column);
    const down = head.getAttribute("aria-sort") !== "descending", numeric = head.classList.contains("number");
    for (const other of table.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => {
      const text = row.cells[place].textContent.trim();
      return numeric ? parseFloat(text.replace(/[,<]/g, "")) : text;
    };
    const missing = (value) => numeric && Number.isNaN(value);
    const rows = Array.from(table.tBodies[0].rows, (row) => [key(row), row]);
    rows.sort(([a], [b]) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b);
      const order = numeric ? a - b : a.localeCompare(b);
      return down ? -order : order;
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
  });
}
"""


def html(result: Result, style: Style) -> str:
    """A page with one result."""
    return page((result,), style)


def page(results: Sequence[Result], style: Style) -> str:
    """A page with results one below the other; a click on a heading sorts a table."""
    title = escape(clean(results[0].caption)) if results else "evalhouse"
    figures = "".join(_figure(result, style, sortable=True) for result in results)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>\n{_LOOKS}</style>\n</head>\n<body>\n{figures}<script>\n{_SORTING}</script>\n</body>\n</html>\n"
    )


def fragment(result: Result, style: Style) -> str:
    """A result as a part of a page, such as a notebook shows; nothing in it runs."""
    return f"<style>\n{_LOOKS}</style>\n{_figure(result, style, sortable=False)}"


def _figure(result: Result, style: Style, *, sortable: bool) -> str:
    drawn = unbounded_sheets(result, style)
    parts = [f'<figure class="evalhouse" title="{_text(result.signature)}">']
    if result.caption:
        parts.append(f"<figcaption>{_text(result.caption)}</figcaption>")
    for sheet in drawn:
        if sheet.title and len(drawn) > 1:
            parts.append(f"<p>{_text(sheet.title)}</p>")
        # A triangle has its order in its numbers; sorted, it would be none.
        parts.append(_table(sheet, sortable and result.triangle is None))
    parts += [f"<p>{_text(note)}</p>" for note in ((LEGEND,) if result.triangle else ()) + result.notes]
    return "\n".join([*parts, "</figure>\n"])


def _table(sheet: Sheet, sortable: bool) -> str:
    lines = ["<div><table>", "<thead>"]
    if any("\n" in heading for heading in sheet.headings):
        over = "".join(
            f'<th class="over" colspan="{len(places)}" scope="colgroup">{_text(head)}</th>' if head else "<td></td>"
            for head, places in spans(sheet.headings)
        )
        lines.append(f"<tr>{over}</tr>")
    heads = "".join(_head(sheet, place, heading, sortable) for place, heading in enumerate(sheet.headings))
    lines += [f"<tr>{heads}</tr>", "</thead>", "<tbody>"]
    for row in sheet.rows:
        lines.append(
            f"<tr>{''.join(f'<td{_class(sheet, place)}>{_text(text)}</td>' for place, text in enumerate(row))}</tr>"
        )
    return "\n".join([*lines, "</tbody>", "</table></div>"])


def _head(sheet: Sheet, place: int, heading: str, sortable: bool) -> str:
    text = _text(heading.split("\n")[-1])
    inner = f'<button data-column="{place}">{text}</button>' if sortable else text
    return f'<th scope="col"{_class(sheet, place)}>{inner}</th>'


def _class(sheet: Sheet, place: int) -> str:
    if place in sheet.spaced:
        return ' class="letters"'
    return ' class="number"' if sheet.numeric[place] else ""


def _text(text: str) -> str:
    return escape(clean(text))

"""Draws the pages of the site as HTML.

A page is a beginning, its blocks and an end, so that it can be sent while it is still being computed. Every name and
every text is escaped by `text` or `lines`; no element has an inline script or style.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files as resources

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.render import vegalite
from evalhouse.warehouse.render.html import NUMBERS, SORTING, text
from evalhouse.warehouse.render.site.contents import (
    Explanation,
    Failure,
    Form,
    FormField,
    Headline,
    IntervalBar,
    Judged,
    Link,
    ListCell,
    ListColumn,
    Listing,
    Marked,
    PageBlock,
    PageHeading,
    Pager,
    Paragraphs,
    ShownAnswer,
    Surroundings,
    Texts,
    Tick,
    VerdictSentence,
    Views,
    colour_text,
    lines,
    listed_notes,
    picture,
    pieces_of,
    proof,
    sentence,
    signature,
    tables,
)
from evalhouse.warehouse.render.style import Style, clean_lines

# === the frame of every page ==========================================================================================
# The head, with title and style, and the link that skips to the content.

SKIP = '<a class="skip" href="#content">Skip to the content</a>'
"""The first element that the keyboard reaches."""


def head(title: str, first: Sequence[str], last: Sequence[str]) -> list[str]:
    """The lines before the body. `first` is the policy of what may be loaded, and `last` is the style."""
    return [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        *first,
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{text(title)}</title>",
        *last,
        "</head>",
    ]


def looks() -> str:
    """The style sheet that all pages share."""
    return resource("page.css") + vegalite.rules(".picture svg")


def resource(name: str) -> str:
    """A file of this package."""
    return resources("evalhouse.warehouse.render.site").joinpath(name).read_text(encoding="utf-8")


# === files that all pages share =======================================================================================
# The style sheet, the script and the icon.


@cache
def asset(name: str) -> bytes:
    """A file by its name. Raises KeyError if there is none."""
    return _MADE[name]().encode()


@cache
def version(name: str) -> str:
    """A version that changes when the file changes."""
    return hashlib.sha256(asset(name)).hexdigest()[:12]


def _looks() -> str:
    return looks() + resource("site.css")


def _script() -> str:
    return SORTING + resource("site.js")


def _icon() -> str:
    return resource("icon.svg")


_MADE = {"evalhouse.css": _looks, "evalhouse.js": _script, "evalhouse.svg": _icon}

NAMES = tuple(_MADE)
"""The names of all files."""

MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
"""The media types of the files by their extensions."""


# === blocks of a page =================================================================================================


class Drawing:
    """A page that is drawn piece by piece. `number` distinguishes its answers from one another."""

    def __init__(self, surroundings: Surroundings, style: Style) -> None:
        self.surroundings = surroundings
        self.style = style
        self.number = 0

    def beginning(self, heading: PageHeading) -> str:
        """Everything before the first block."""
        there = self.surroundings
        name = there.home.label if heading.title == there.home.label else f"{heading.title} – {there.home.label}"
        look, script, icon = (text(there.assets[f"evalhouse.{kind}"]) for kind in ("css", "js", "svg"))
        policy = text(there.policy)
        trail = "".join(f"<li>{_link(link)}</li>" for link in heading.trail)
        parts = [
            *head(
                name,
                first=[f'<meta http-equiv="Content-Security-Policy" content="{policy}">'] if policy else [],
                last=[
                    *([f'<link rel="canonical" href="{text(there.canonical)}">'] if there.canonical else []),
                    f'<link rel="icon" type="image/svg+xml" href="{icon}">',
                    f'<link rel="stylesheet" href="{look}">',
                    f'<script src="{script}" defer></script>',
                ],
            ),
            '<body class="site">',
            SKIP,
            "<header>",
            f'<p class="home">{_link(there.home)}</p>',
            self._asking() if heading.asks else "",
            "</header>",
            '<main id="content" tabindex="-1">',
            *([f'<nav class="trail" aria-label="Above this page"><ol>{trail}</ol></nav>'] if trail else []),
            f"<h1>{text(heading.title)}</h1>",
        ]
        return "\n".join(filter(None, parts)) + "\n"

    def block(self, block: PageBlock) -> str:
        return _DRAWN[type(block)](self, block) + "\n"

    def step(self, share: float) -> str:
        """The progress of a computation. Only the last one of an unfinished page is visible."""
        done = f"{100 * share:.0f} %"
        return (
            f'<div class="step"><p>Computing… {done}</p>'
            f'<progress aria-label="Computing" max="100" value="{100 * share:.0f}">{done}</progress></div>\n'
        )

    def end(self) -> str:
        """Everything after the last block."""
        foot = "".join(f"<p>{text(line)}</p>\n" for line in self.surroundings.foot)
        return f"</main>\n<footer>\n{foot}</footer>\n</body>\n</html>\n"

    def _asking(self) -> str:
        """The box for statements, which every page has."""
        if not self.surroundings.ask:
            return ""
        form = Form(
            "", self.surroundings.ask, (FormField("q", "Statement", "statement"),), button="Ask",
            completes=self.surroundings.completes,
        )  # fmt: skip
        return f"<search>{self._form(form, 'ask')}</search>"

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _section(self, section: Headline) -> str:
        name = f' id="{text(section.anchor)}"' if section.anchor else ""
        return f"<h2{name}>{text(section.title)}</h2>"

    def _prose(self, prose: Paragraphs) -> str:
        return "\n".join(f"<p>{text(sentence)}</p>" for sentence in prose.sentences)

    def _verdict(self, verdict: VerdictSentence) -> str:
        return f'<p class="verdict {verdict.sign}">{text(verdict.sentence)}</p>'

    def _failure(self, failure: Failure) -> str:
        return f'<section class="wrong"><h2>{text(failure.title)}</h2>\n<pre>{lines(failure.text)}</pre></section>'

    def _explanation(self, explanation: Explanation) -> str:
        return f'<pre class="help" tabindex="0" role="group" aria-label="Help">{lines(explanation.text)}</pre>'

    def _pager(self, pager: Pager) -> str:
        ways = (("prev", "← Previous", pager.before), ("next", "Next →", pager.after))
        links = [f'<a rel="{way}" href="{text(href)}">{name}</a>' for way, name, href in ways if href]
        said = f"<span>{text(pager.said)}</span> " if pager.said else ""
        return f'<nav class="pager" aria-label="{text(pager.label)}">{said}{" ".join(links)}</nav>'

    def _views(self, views: Views) -> str:
        items = "".join(
            f"<li>{_link(link)}</li>" if link.href else f'<li><span aria-current="page">{text(link.label)}</span></li>'
            for link in views.links
        )
        look = "views" if views.alike else "onward"
        return f'<nav class="{look}" aria-label="{text(views.title)}"><ul>{items}</ul></nav>'

    def _texts(self, texts: Texts) -> str:
        self.number += 1
        shown = []
        for place, (who, worth, written) in enumerate(texts.texts):
            name = f"text-{self.number}-{place}"
            called = who.label if isinstance(who, Link) else who
            heading = f"<h3>{_inline(who)}</h3>" if called else ""
            said = f'<p class="worth">{text(worth)}</p>' if worth else ""
            label = text(f"{texts.title}: {called}" if called else f"{texts.title} {place + 1}")
            inner = _marked(written) if isinstance(written, Marked) else _lines_of(written)
            box = f'<pre tabindex="0" role="group" id="{name}" aria-label="{label}">{inner}</pre>'
            shown.append(f'<article class="written">{heading}{said}{box}</article>')
        return f'<h2>{text(texts.title)}</h2><div class="texts">{"".join(shown)}</div>'

    def _listing(self, listing: Listing) -> str:
        if not listing.rows:
            return f'<p class="quiet">{text(listing.title)}: {text(listing.empty)}</p>'
        headings = "".join(self._head(listing, place) for place in range(len(listing.columns)))
        naming = next((place for place, column in enumerate(listing.columns) if column.kind in ("name", "text")), -1)
        body = [
            "<tr>" + "".join(_cell(column, cell, place == naming) for place, (column, cell) in
                             enumerate(zip(listing.columns, row, strict=True))) + "</tr>"
            for row in listing.rows
        ]  # fmt: skip
        # The title breaks its lines at the edge of the page, not at the edge of the table.
        title = f'<p class="caption" aria-hidden="true">{text(listing.title)}</p>' if listing.titled else ""
        caption = f"<caption>{text(listing.title)}</caption>"
        steps = " data-steps" if listing.stepped else ""
        begins = f'{title}<div class="table"><table{steps}>'
        top = f"<thead><tr>{headings}</tr></thead>"
        drawn = "\n".join([begins, caption, top, "<tbody>", *body, "</tbody></table></div>"])
        if listing.ticked is None:
            return drawn
        send = f'{_hidden(listing.ticked.hidden)}<button type="submit">{text(listing.ticked.button)}</button>'
        return f'<form class="ticked" method="get" action="{text(listing.ticked.action)}">{drawn}{send}</form>'

    def _head(self, listing: Listing, place: int) -> str:
        column = listing.columns[place]
        name = text(column.heading)
        if not name:
            return "<td></td>"
        hint = f' title="{text(column.hint)}"' if column.hint else ""
        # In a form a button would send it.
        kind = f'type="button" data-column="{place}"{hint}'
        inner = name if column.kind == "interval" else f"<button {kind}>{name}</button>"
        order = f' aria-sort="{listing.order[1]}"' if listing.order and listing.order[0] == place else ""
        return f'<th scope="col"{_class(column)}{order}>{inner}</th>'

    def _answer(self, answer: ShownAnswer) -> str:
        self.number += 1
        name, result = f"result-{self.number}", answer.result
        statement = self._statement(answer, name)
        if not answer.drawn:
            return "\n".join([statement, *listed_notes(result, drawn=False)])
        shown = tables(result, answer.title, self.style, answer.linked, cards=f"{name}-title" if answer.cards else "")
        if result.chart is not None:
            try:
                drawn = picture(result.chart, name)
            except WarehouseError as error:
                drawn = f'<p class="quiet">{text("; ".join((error.message, *error.hints)))}</p>'
            numbers = ["<details>", f"<summary>{NUMBERS}</summary>", *shown, "</details>"] if answer.folded else shown
            shown = [drawn, *numbers]
        title = f'<h2 id="{name}-title">{text(answer.title)}</h2>'
        parts = [
            f'<section class="result" id="{name}" aria-labelledby="{name}-title">',
            *(["<details>", f"<summary>{title}</summary>"] if answer.closed else [title]),
            *([f'<p class="caption">{text(answer.caption)}</p>'] if answer.caption else []),
            *sentence(result),
            *shown,
            *proof(result),
            *listed_notes(result),
            statement,
            *(["</details>"] if answer.closed else []),
            "</section>",
        ]
        return "\n".join(parts)

    def _statement(self, answer: ShownAnswer, name: str) -> str:
        """The statement of an answer. It opens to show how the answer can be copied and downloaded."""
        copies = answer.copies
        links = [Link("Ask it again", copies.again)] if copies.again else []
        files = "".join(f"<li>{_link(link)}</li>" for link in (*links, *copies.files))
        elsewhere = "".join(
            f'<p>{text(where)}</p><div class="copied">'
            f'<pre id="{name}-{place}"{_exact(code)}><code>{lines(code)}</code></pre>'
            f'<button type="button" data-copies="{name}-{place}" hidden>Copy</button></div>'
            for place, (where, code) in enumerate((("Statement", answer.result.statement), *copies.elsewhere))
        )
        signed = signature(answer.result) if answer.result.signed else ""
        return (
            f'<details class="statement"><summary><code class="query">{colour_text(pieces_of(answer.result.statement))}'
            f"</code></summary>{elsewhere}{f'<ul>{files}</ul>' if files else ''}{signed}</details>"
        )

    def _form(self, form: Form, look: str = "choices") -> str:
        hidden = _hidden(form.hidden)
        fields = "\n".join(_field(choice, look, form.completes) for choice in form.choices)
        inner = f'{hidden}{fields}\n<button type="submit">{text(form.button)}</button>'
        if form.title:
            inner = f"<details><summary>{text(form.title)}</summary>{inner}</details>"
        return f'<form class="{look}" method="get" action="{text(form.action)}">{inner}</form>'


_DRAWN: Mapping[type, Callable[..., str]] = {
    Headline: Drawing._section,
    Paragraphs: Drawing._prose,
    VerdictSentence: Drawing._verdict,
    ShownAnswer: Drawing._answer,
    Listing: Drawing._listing,
    Form: Drawing._form,
    Pager: Drawing._pager,
    Views: Drawing._views,
    Texts: Drawing._texts,
    Explanation: Drawing._explanation,
    Failure: Drawing._failure,
}
"""The method that draws each kind of block."""


def _field(choice: FormField, look: str, completes: str) -> str:
    """A form field. The value that it sends is only escaped, because an invisible character is part of a name."""
    name, label, hint = text(choice.name), text(choice.label), text(choice.hint)
    chosen = choice.chosen[0] if choice.chosen else ""
    match choice.kind:
        case "boxes":
            boxes = "".join(
                f'<label><input type="checkbox" name="{name}" value="{escape(value)}"'
                f"{' checked' if value in choice.chosen else ''}> {text(called)}</label>"
                for value, called in choice.options
            )
            return f"<fieldset><legend>{label}</legend>{boxes}</fieldset>"
        case "one of":
            options = "".join(
                f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{text(called)}</option>'
                for value, called in choice.options
            )
            return f'<label><span>{label}</span> <select name="{name}">{options}</select></label>'
        case "statement":
            hears = f' data-completes="{text(completes)}"' if completes else ""
            return (
                f'<label><span class="unseen">{label}</span> <textarea name="{name}" rows="{_rows(chosen, look)}" '
                f'spellcheck="false" autocomplete="off" autocapitalize="off" required '
                f'placeholder="a question, such as show test sets"{hears}>\n{escape(chosen)}</textarea></label>'
            )
        case "text":
            written = f'value="{escape(chosen)}" placeholder="{hint}"'
            return f'<label><span>{label}</span> <input name="{name}" {written}></label>'


def _hidden(values: Sequence[tuple[str, str]]) -> str:
    """Values that a form sends without showing them."""
    return "".join(f'<input type="hidden" name="{text(name)}" value="{escape(value)}">' for name, value in values)


def _exact(code: str) -> str:
    """The text to copy from a code block if it differs from the visible text, because an invisible character is part of
    a name.
    """
    return "" if clean_lines(code) == code else f' data-exact="{text(json.dumps(code))}"'


def _lines_of(written: str) -> str:
    """A stored text with its tabs expanded, so that its spaces and line ends look as they were written."""
    return lines(written.replace("\r\n", "\n").expandtabs(4))


def _rows(statement: str, look: str) -> int:
    return 1 if look == "ask" else max(2, min(12, statement.count("\n") + 1 + len(statement) // 90))


def _link(link: Link) -> str:
    return f'<a href="{text(link.href)}">{text(link.label)}</a>'


def _inline(cell: ListCell) -> str:
    if isinstance(cell, Link):
        return _link(cell) if cell.href else text(cell.label)
    if isinstance(cell, Marked):
        return _marked(cell)
    if isinstance(cell, Tick):
        name, label = text(cell.name), text(cell.label)
        return f'<input type="checkbox" name="{name}" value="{escape(cell.value)}" aria-label="{label}">'
    if isinstance(cell, Judged):
        sign, word = ("✓", "right") if cell.right else ("✗", "wrong")
        return f'<span class="{word}" role="img" aria-label="{word}" title="{word}">{sign}</span> {text(cell.text)}'
    return _interval(cell) if isinstance(cell, IntervalBar) else text(cell)


def _marked(marked: Marked) -> str:
    """A text with its marked pieces."""
    return "".join(f"<mark>{_lines_of(piece)}</mark>" if other else _lines_of(piece) for piece, other in marked.pieces)


def _cell(column: ListColumn, cell: ListCell, naming: bool) -> str:
    if naming:
        return f'<th scope="row"{_class(column)}>{_inline(cell)}</th>'
    return f"<td{_class(column)}>{_inline(cell)}</td>"


def _class(column: ListColumn) -> str:
    return f' class="{column.kind}"' if column.kind in ("number", "letters", "interval") else ""


WIDE, TALL = 160, 18
"""The size of an interval, in pixels."""


def _interval(interval: IntervalBar) -> str:
    """A dot with whiskers."""
    if interval.value is None:
        return ""
    span = (interval.most - interval.least) or 1.0

    def at(number: float) -> str:
        return f"{6 + (WIDE - 12) * (number - interval.least) / span:.1f}"

    middle = TALL / 2
    whiskers = ""
    if interval.low is not None and interval.high is not None:
        whiskers = (
            f'<line class="whisker" x1="{at(interval.low)}" x2="{at(interval.high)}" y1="{middle}" y2="{middle}"/>'
        )
    return (
        f'<svg width="{WIDE}" height="{TALL}" viewBox="0 0 {WIDE} {TALL}" aria-hidden="true">{whiskers}'
        f'<circle cx="{at(interval.value)}" cy="{middle}" r="3.5"/></svg> <span>{text(interval.text)}</span>'
    )

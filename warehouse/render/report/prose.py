"""The content of a report, its wording, and its prose in Markdown, HTML or LaTeX.

Everything is kept as it was written or computed. The formats decide how much of it is shown, and how.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.render.latex import typeset
from evalhouse.warehouse.render.markup import escape_markup, longest_run, markdown_word
from evalhouse.warehouse.render.panels import Rectangle
from evalhouse.warehouse.render.shortening import shorten
from evalhouse.warehouse.render.site.contents import Piece
from evalhouse.warehouse.render.style import clean
from evalhouse.warehouse.results import Result

# === a report as data =================================================================================================
# Prose, statements with their results, and the sources of the numbers. Nothing is drawn here.

LONGEST = 1000
"""A report shows no more rows of one table than this."""

LONGEST_TITLE = 80
"""A statement used as a caption is cut after this many characters."""


class Passage(Struct, frozen=True):
    """Prose, in Markdown."""

    text: str


class ReportedStatement(Struct, frozen=True):
    """A statement with its outcome: a result, an error drawn with its caret, or neither if the statement only sets
    something. Statements with something to show are numbered.
    """

    pieces: tuple[Piece, ...]
    number: int | None = None
    result: Result | None = None
    error: str | None = None

    @property
    def text(self) -> str:
        """The statement as it was written."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def title(self) -> str:
        """The title of its result, or a note that it has no result."""
        if self.result is None:
            return "not answered"
        statement = " ".join(self.result.statement.split())
        return self.result.caption or (f"{statement[:LONGEST_TITLE]}…" if len(statement) > LONGEST_TITLE else statement)


Section = Passage | ReportedStatement


class Source(Struct, frozen=True):
    """A file that was loaded into the warehouse. `settings` holds the options for its fields and columns."""

    number: int
    name: str
    reader: str
    rows: int
    simulated: bool
    sha256: str
    version: str
    settings: str


class Report(Struct, frozen=True):
    """A study and its answers.

    `study` is the name of its file, and `sha256` is the digest of its text. `given` holds the variables that were set
    from outside, with their values. `warehouse` describes in words which data were used. `version` and `made` tell
    which version made the report, and when. For the same study, variables, warehouse and version, only `made` changes.
    """

    title: str
    study: str
    sha256: str
    given: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    warehouse: str
    sources: tuple[Source, ...]
    version: str
    made: str

    @property
    def statements(self) -> tuple[ReportedStatement, ...]:
        """The statements, in order."""
        return tuple(section for section in self.sections if isinstance(section, ReportedStatement))

    @property
    def wrong(self) -> int:
        """The number of statements with an error."""
        return sum(section.error is not None for section in self.statements)


PRINTED = "evalhouse query prints them all"


def shorten_report(report: Report, longest: int = LONGEST) -> Report:
    """The report with at most this many rows per table. A note gives the full number."""
    return replace(report, sections=tuple(_shorten_section(section, longest) for section in report.sections))


def _shorten_section(section: Section, longest: int) -> Section:
    if isinstance(section, Passage) or section.result is None:
        return section
    shorter = shorten(section.result, longest, PRINTED)
    table = shorter.table
    if shorter.sections and len(table.rows) > longest:
        # Sections show the first rows of each pair; what is copied is the rows one after the other.
        note = f"copies have the first {longest:,} of {len(table.rows):,} rows; {PRINTED}"
        shorter = replace(shorter, table=replace(table, rows=table.rows[:longest]), notes=(note, *shorter.notes))
    return replace(section, result=shorter)


# === wording of all formats ===========================================================================================
# In plain text: the sentences at the top, the notes, and the sources of the numbers.

SOURCES = "Where the numbers come from"


def above(report: Report) -> list[str]:
    """What readers should know first, one sentence each."""
    sentences = [f"{report.study}, answered from {report.warehouse}."]
    if report.given:
        sentences.append(f"Set from outside: {', '.join(f'${name} = {value}' for name, value in report.given)}.")
    if any(source.simulated for source in report.sources):
        sentences.append("Some rows of this warehouse are simulated data; the captions of results on them say so.")
    if report.wrong:
        count = "1 statement was" if report.wrong == 1 else f"{report.wrong} statements were"
        places = ", ".join(str(statement.number) for statement in report.statements if statement.error is not None)
        sentences.append(f"{count} not answered: {places}.")
    return sentences


def provenance(report: Report) -> list[str]:
    """The text and the files that determine the numbers."""
    files = "1 file" if len(report.sources) == 1 else f"{len(report.sources)} files"
    rows = sum(source.rows for source in report.sources)
    return [
        f"{report.study} has the SHA-256 digest {report.sha256}. {report.warehouse} holds {rows:,} rows from {files}.",
        "Each signature names everything that decides a result; the same signature means the same numbers.",
    ]


def sources_rectangle(sources: Sequence[Source]) -> Rectangle:
    """The files as a table."""
    columns = (
        ("import", [str(source.number) for source in sources]),
        ("file", [source.name for source in sources]),
        ("read as", [source.reader + (f" ({source.settings})" if source.settings else "") for source in sources]),
        ("rows", [f"{source.rows:,}" for source in sources]),
        ("simulated", ["yes" if source.simulated else "no" for source in sources]),
        ("version", [source.version for source in sources]),
        ("SHA-256", [source.sha256 for source in sources]),
    )
    headings = tuple(heading for heading, _ in columns)
    rows = tuple(zip(*(cells for _, cells in columns), strict=True))
    limits = tuple(max(len(heading), *map(len, cells)) for heading, cells in columns)
    return Rectangle(headings, rows, tuple(heading in ("import", "rows") for heading in headings), limits)


def picture_name(report_name: str, number: int | None, suffix: str) -> str:
    """The name of a picture's file, in letters that every program accepts in a path."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", report_name.rpartition(".")[0]).strip(".-") or "report"
    return f"{stem}-{number}{suffix}"


# === prose of a study =================================================================================================
# The prose is Markdown. Anything that is not Markdown is text: markup of other languages is shown as it is written, and
# pictures from elsewhere are named but not loaded.

HIGHEST, DEEPEST = 2, 4
"""The levels that headings of prose may have, below the title of the report."""


class MarkdownText:
    """A parsed passage. Its headings know their levels, which begin at HIGHEST and never skip one."""

    def __init__(self, text: str, level: int = HIGHEST - 1) -> None:
        visible = "\n".join(clean(line.expandtabs(4)) for line in text.split("\n"))
        self._tokens = MarkdownIt("commonmark", {"html": False}).parse(visible)
        self.headings: list[tuple[int, str]] = []
        """Level and text of each heading."""
        for place, token in enumerate(self._tokens):
            token.info = ""
            if token.type == "heading_open":
                level = max(HIGHEST, min(int(token.tag[1:]), level + 1, DEEPEST))
                token.tag = self._tokens[place + 2].tag = f"h{level}"
                self.headings.append((level, _plain(self._tokens[place + 1].children or ())))
        self.level = level
        """The level of the last heading, or the level that was passed in if there is no heading."""

    def html(self, anchors: Sequence[str] = ()) -> str:
        """The passage as HTML. Its headings get these anchors, one each."""
        reader = MarkdownIt("commonmark", {"html": False})
        reader.add_render_rule("image", lambda self, tokens, place, options, env: f"[{escape(tokens[place].content)}]")
        reader.add_render_rule("link_open", _link_open)
        names = iter(anchors)
        for token in self._tokens:
            if token.type == "heading_open":
                name = next(names, None)
                if name:
                    token.attrSet("id", name)
        return str(reader.renderer.render(self._tokens, reader.options, {}))

    def latex(self) -> str:
        """The passage as LaTeX, with an empty line between paragraphs."""
        return _blocks(SyntaxTreeNode(self._tokens), _LATEX)

    def markdown(self) -> str:
        """The passage as Markdown that means the same in every program."""
        return _blocks(SyntaxTreeNode(self._tokens), _MARKDOWN)


def read_sections(report: Report) -> Iterator[tuple[MarkdownText | ReportedStatement, int]]:
    """The sections of a report with their prose parsed, each with the level of the last heading so far."""
    level = HIGHEST - 1
    for section in report.sections:
        if isinstance(section, Passage):
            prose = MarkdownText(section.text, level)
            level = prose.level
            yield prose, level
        else:
            yield section, level


def _plain(children: Sequence[Token]) -> str:
    return "".join(" " if child.type.endswith("break") else child.content for child in children)


def _link_open(self: object, tokens: Sequence[Token], place: int, options: object, env: object) -> str:
    return f'<a href="{escape(str(tokens[place].attrs.get("href", "")))}" rel="noopener noreferrer">'


# --- drawing by the tree ----------------------------------------------------------------------------------------------

_Draw = Callable[[SyntaxTreeNode], str]


def _blocks(node: SyntaxTreeNode, how: Mapping[str, _Draw]) -> str:
    return "\n\n".join(filter(None, (how[child.type](child) for child in node.children)))


def _inline(node: SyntaxTreeNode, how: Mapping[str, _Draw]) -> str:
    return "".join(how[child.type](child) for child in node.children)


def _level(node: SyntaxTreeNode) -> int:
    return int(node.tag[1:])


_COMMANDS = {2: "section", 3: "subsection", 4: "subsubsection"}


def _around(command: str) -> _Draw:
    return lambda node: rf"\{command}{{{_inline(node, _LATEX)}}}"


def _environment(name: str, content: str, start: str = "") -> str:
    return f"\\begin{{{name}}}{start}\n{content}\n\\end{{{name}}}"


def _latex_heading(node: SyntaxTreeNode) -> str:
    # Lists and quotations cannot contain sections.
    command = f"{_COMMANDS[_level(node)]}*" if node.parent and node.parent.is_root else "textbf"
    return rf"\{command}{{{_inline(node.children[0], _LATEX)}}}"


def _latex_list(name: str) -> _Draw:
    def draw(node: SyntaxTreeNode) -> str:
        items = "\n".join(r"\item{} " + _blocks(item, _LATEX) for item in node.children)
        first = str(node.attrs.get("start", ""))
        return _environment(name, items, f"\\setcounter{{enumi}}{{{int(first) - 1}}}" if first else "")

    return draw


def _latex_link(node: SyntaxTreeNode) -> str:
    shown, address = _inline(node, _LATEX), typeset(str(node.attrs.get("href", "")))
    return shown if shown == address else rf"{shown}\footnote{{\texttt{{{address}}}}}"


def latex_lines(text: str) -> str:
    """Lines as they are, in a monospaced font. Long lines are broken."""
    # An empty line still takes space.
    lines = [typeset(line) if line.strip() else r"\strut" for line in text.split("\n")]
    lines = [re.sub("^ +", lambda blanks: "~" * len(blanks[0]), line) for line in lines]
    return "{\\raggedright\\ttfamily\\footnotesize\n" + "\\\\\n".join(lines) + "\n\\par}"


_LATEX: dict[str, _Draw] = {
    "heading": _latex_heading,
    "paragraph": lambda node: _inline(node.children[0], _LATEX),
    "bullet_list": _latex_list("itemize"),
    "ordered_list": _latex_list("enumerate"),
    "blockquote": lambda node: _environment("quote", _blocks(node, _LATEX)),
    "fence": lambda node: latex_lines(node.content.rstrip("\n")),
    "code_block": lambda node: latex_lines(node.content.rstrip("\n")),
    "hr": lambda node: r"\par\noindent\hrulefill\par",
    "text": lambda node: typeset(node.content),
    "softbreak": lambda node: "\n",
    "hardbreak": lambda node: "\\\\{}\n",
    "code_inline": lambda node: rf"\texttt{{{typeset(node.content)}}}",
    "em": _around("emph"),
    "strong": _around("textbf"),
    "link": _latex_link,
    "image": lambda node: f"{{[}}{typeset(node.content)}]",
}


_BEGINS_A_BLOCK = re.compile(r"^(\s*)(?:(\d+)([.)])|([#+=:-]))", re.MULTILINE)


def _markdown_paragraph(node: SyntaxTreeNode) -> str:
    def harmless(start: re.Match[str]) -> str:
        return f"{start[1]}{start[2]}\\{start[3]}" if start[2] else f"{start[1]}\\{start[4]}"

    return _BEGINS_A_BLOCK.sub(harmless, _inline(node.children[0], _MARKDOWN))


def _indent_text(text: str, mark: str) -> str:
    return mark + text.replace("\n", "\n" + " " * len(mark)).replace("\n" + " " * len(mark) + "\n", "\n\n")


def _markdown_list(node: SyntaxTreeNode) -> str:
    first = int(node.attrs.get("start", 1))
    ordered = node.type == "ordered_list"
    marks = (f"{first + place}. " if ordered else "- " for place in range(len(node.children)))
    return "\n".join(
        _indent_text(_blocks(item, _MARKDOWN), mark) for item, mark in zip(node.children, marks, strict=True)
    )


def markdown_code(text: str) -> str:
    """Lines as they are, between fences that none of the lines can close."""
    fence = "`" * max(3, longest_run(text) + 1)
    return "\n".join([fence, text, fence] if text else [fence, fence])


def _markdown_link(node: SyntaxTreeNode) -> str:
    address = str(node.attrs.get("href", "")).replace("<", "%3C").replace(">", "%3E")
    return f"[{_inline(node, _MARKDOWN)}](<{address}>)"


_MARKDOWN: dict[str, _Draw] = {
    "heading": lambda node: f"{'#' * _level(node)} {_inline(node.children[0], _MARKDOWN).replace(chr(10), ' ')}",
    "paragraph": _markdown_paragraph,
    "bullet_list": _markdown_list,
    "ordered_list": _markdown_list,
    "blockquote": lambda node: "\n".join(f"> {line}".rstrip() for line in _blocks(node, _MARKDOWN).split("\n")),
    "fence": lambda node: markdown_code(node.content.rstrip("\n")),
    "code_block": lambda node: markdown_code(node.content.rstrip("\n")),
    "hr": lambda node: "---",
    "text": lambda node: escape_markup(node.content),
    "softbreak": lambda node: "\n",
    "hardbreak": lambda node: "\\\n",
    "code_inline": lambda node: markdown_word(node.content),
    "em": lambda node: f"*{_inline(node, _MARKDOWN)}*",
    "strong": lambda node: f"**{_inline(node, _MARKDOWN)}**",
    "link": _markdown_link,
    "image": lambda node: escape_markup(f"[{node.content}]"),
}

"""Draws the prose of a study, which is Markdown, as HTML, LaTeX or Markdown. Anything that is not Markdown is text:
markup of other languages is shown as it is written, and pictures from elsewhere are named but not loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from warehouse.render.latex import typeset
from warehouse.render.markup import escaped, longest_run, markdown_word
from warehouse.render.report.description import Passage, Report, ReportedStatement
from warehouse.render.style import clean

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


def _indented(text: str, mark: str) -> str:
    return mark + text.replace("\n", "\n" + " " * len(mark)).replace("\n" + " " * len(mark) + "\n", "\n\n")


def _markdown_list(node: SyntaxTreeNode) -> str:
    first = int(node.attrs.get("start", 1))
    ordered = node.type == "ordered_list"
    marks = (f"{first + place}. " if ordered else "- " for place in range(len(node.children)))
    return "\n".join(_indented(_blocks(item, _MARKDOWN), mark) for item, mark in zip(node.children, marks, strict=True))


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
    "text": lambda node: escaped(node.content),
    "softbreak": lambda node: "\n",
    "hardbreak": lambda node: "\\\n",
    "code_inline": lambda node: markdown_word(node.content),
    "em": lambda node: f"*{_inline(node, _MARKDOWN)}*",
    "strong": lambda node: f"**{_inline(node, _MARKDOWN)}**",
    "link": _markdown_link,
    "image": lambda node: escaped(f"[{node.content}]"),
}

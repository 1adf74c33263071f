"""The Sphinx configuration of this site: `make docs` writes it to `build/docs`. The site loads nothing from elsewhere,
and its search works without a server.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String, Text
from sphinx.transforms import SphinxTransform

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evalhouse.grammar.parser import tokens
from evalhouse.warehouse.version import __version__

PAGES = Path(__file__).resolve().parent

project = "evalhouse"
author = "the developers of evalhouse"
version = release = __version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
exclude_patterns = ["examples", "pictures"]
highlight_language = "none"

myst_heading_anchors = 4

html_theme = "furo"
html_title = f"evalhouse {release}"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_search_scorer = str(PAGES / "search_scorer.js")
# Transcripts have 100 columns and must not be cut.
html_theme_options = {"light_css_variables": {"code-font-size": "0.75rem"}}

numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "alphabetical"

man_pages = [
    (
        "command-line",
        "evalhouse",
        "store evaluation results, query them, and test which differences are real",
        author,
        1,
    )
]

ELSEWHERE = {
    "../SECURITY.md": "security.md",
    "../CHANGELOG.md": "changes.md",
    "../sample_data/README.md": "sample-data.md",
}
"""Link targets in the repository, and the page of the site that includes each."""

REACHABLE = {
    # The captions of the contents.
    'role="heading">': 'role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Contents of the site">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="Contents of this page">',
    # What scrolls sideways is reached by keyboard.
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper colwidths-auto docutils container">': (
        '<div class="table-wrapper colwidths-auto docutils container" tabindex="0">'
    ),
    '<div id="search-results"></div>': '<h1>Search</h1>\n<div id="search-results"></div>',
}
"""What Sphinx and the theme write, and what is written instead for those who read by keyboard or by ear."""

_KINDS = {
    "keyword": Keyword,
    "function": Name.Function,
    "name": Name,
    "number": Number,
    "text": String,
    "variable": Name.Variable,
    "comment": Comment,
    "operator": Operator,
    "error": Error,
}


class Statements(Lexer):
    """Colours statements, with the tokens that the shell colours."""

    name = "evalhouse"
    aliases = ("evalhouse",)

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """Each piece of a text with its kind, including spaces."""
        at = 0
        for token in tokens(text):
            if token.span.start > at:
                yield at, Text, text[at : token.span.start]
            yield token.span.start, _KINDS[token.kind], text[token.span.start : token.span.end]
            at = token.span.end
        if at < len(text):
            yield at, Text, text[at:]


class DarkPictures(SphinxTransform):
    """Beside each picture of which there is a dark one, puts that one; a page shows the one in its colours."""

    default_priority = 500  # before Sphinx collects the files

    def apply(self, **options: Any) -> None:
        """The theme hides `only-dark` on a light page, and `only-light` on a dark one."""
        folder = (PAGES / self.env.docname).parent
        for picture in list(self.document.findall(nodes.image)):
            light = Path(picture["uri"])
            dark = light.with_stem(f"{light.stem}-dark")
            if (folder / dark).exists():
                twin = picture.deepcopy()
                twin["uri"] = str(dark)
                picture["classes"].append("only-light")
                twin["classes"].append("only-dark")
                picture.parent.insert(picture.parent.index(picture) + 1, twin)


def _linked(app: Any, name: str, source: list[str]) -> None:
    """Redirects links into the repository to the pages that include the files."""
    for file, page in ELSEWHERE.items():
        source[0] = source[0].replace(f"]({file}", f"]({page}")
    # The grammar in the reference is shown as it is.
    source[0] = re.sub(r"^```lark$", "```none", source[0], flags=re.MULTILINE)


def _make_reachable(app: Any, error: Exception | None) -> None:
    """Puts into the written pages what Sphinx and the theme leave out. A page that was not written again has it."""
    if error is not None or app.builder.name != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for written, instead in REACHABLE.items():
            text = text.replace(instead, written).replace(written, instead)
        page.write_text(text, encoding="utf-8")


def _write_for_models(app: Any, error: Exception | None) -> None:
    """Writes `llms.txt`, a list of all pages with their topics, and `llms-full.txt`, all pages as one text
    (https://llmstxt.org).
    """
    if error is not None or app.builder.name != "html":
        return
    pages = {name: (PAGES / f"{name}.md").read_text(encoding="utf-8") for name in sorted(app.env.found_docs)}
    # Comments say what the tables are made from.
    pages = {name: re.sub(r"^<!-- .*? -->\n", "", text, flags=re.MULTILINE | re.DOTALL) for name, text in pages.items()}
    about = {name: _paragraphs(text) for name, text in pages.items() if "{include}" not in text}
    index = about.pop("index")
    lines = [f"# {project}", "", f"> {index[1]}", "", "## Pages", ""]
    lines += [f"- [{title}]({name}.html): {first}" for name, (title, first) in about.items()]
    folder = Path(app.outdir)
    (folder / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "llms-full.txt").write_text("\n".join(pages[name] for name in about), encoding="utf-8")


def _paragraphs(text: str) -> tuple[str, str]:
    """The title of a page and its first paragraph of prose, without links."""
    title, *others = text.split("\n\n")
    first = next(paragraph for paragraph in others if not paragraph.startswith("```"))
    return title.removeprefix("# ").strip(), re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(first.split()))


def setup(app: Any) -> None:
    """Registers with Sphinx what these pages need."""
    app.add_lexer("evalhouse", Statements)
    app.add_transform(DarkPictures)
    app.connect("source-read", _linked)
    app.connect("build-finished", _make_reachable)
    app.connect("build-finished", _write_for_models)

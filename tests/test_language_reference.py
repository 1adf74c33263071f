"""The language reference agrees with the program: its examples run, its columns are those of the results, and
everything that can be typed is documented. Its tables are made from the program by `make generate`.

`pytest --accept` rewrites the errors after examples.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalhouse.grammar.clauses import CLAUSES, STATEMENTS
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.lexicon import FUNCTIONS
from evalhouse.warehouse.commands.table import COMMANDS
from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.measures import MEASURES
from evalhouse.warehouse.render import FORMATS
from evalhouse.warehouse.render.diagnostics import query_error
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.session.storage import open_warehouse
from evalhouse.warehouse.significance.tests import ADJUSTMENTS, TESTS
from evalhouse.warehouse.statements.pictures import PICTURES

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
INDEX = DOCS / "language" / "index.md"
REFERENCE = [*sorted(INDEX.parent.glob("*.md")), DOCS / "readers.md"]
"""The pages of the language, and that of the readers, which has the table of their columns."""

TEXTS = {page: page.read_text(encoding="utf-8") for page in REFERENCE}
DOCUMENTATION = "\n".join(
    page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
)

EXAMPLE = re.compile(r"^```evalhouse\n(.*?)\n```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(page, query, expected, id=f"{page.stem}: {query[:40]}")
    for page, text in TEXTS.items()
    for query, expected in EXAMPLE.findall(text)
]
CLAUSES_SECTION = TEXTS[INDEX].partition("\n## Clauses\n")[2].partition("\n## ")[0]
STATEMENT_PAGES = {word: TEXTS.get(INDEX.with_name(f"{word}.md"), "") for word in STATEMENTS}


@pytest.fixture
def session(warehouses: dict[str, Path]) -> Iterator[Session]:
    # Without its path the warehouse is not changed: what an example defines does not outlive it.
    with Session(open_warehouse(warehouses["sample"])) as opened:
        yield opened


def error_of(session: Session, query: str) -> str:
    """The error that a query gives, as it is drawn; empty where it is answered."""
    try:
        for _ in session.results(query):
            pass
    except QueryError as error:
        return query_error(error, query) + "\n"
    return ""


# --- pages ------------------------------------------------------------------------------------------------------------


def test_the_index_leads_to_every_page_of_the_language() -> None:
    linked = set(re.findall(r"\]\(([\w-]+)\.md", TEXTS[INDEX])) - {"index"}
    assert linked == {page.stem for page in INDEX.parent.glob("*.md")} - {"index"}


def test_each_clause_has_a_default_or_says_that_there_is_none() -> None:
    rows = re.findall(r"^\| (`.*?`) \| .* \| (.*) \|$", CLAUSES_SECTION, re.MULTILINE)
    assert len(rows) == len(CLAUSES)
    assert [clause for clause, default in rows if not default] == []


# --- examples ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("page", "query", "expected"), EXAMPLES)
def test_an_example_is_answered_or_gives_the_error_that_follows_it(
    session: Session, page: Path, query: str, expected: str, accept: bool
) -> None:
    block = f"```evalhouse\n{query}\n```\n\n```text\n"
    text = page.read_text(encoding="utf-8")
    if accept and block in text:
        page.write_text(text.replace(f"{block}{expected}", f"{block}{error_of(session, query)}"), encoding="utf-8")
        return
    assert error_of(session, query) == expected
    assert bool(expected) == (block in text)


@pytest.mark.parametrize("word", STATEMENTS)
def test_a_statement_has_a_page_that_begins_with_its_syntax_and_has_an_example(word: str) -> None:
    page = STATEMENT_PAGES[word]
    assert page.startswith(f"# {word}\n\n```text\n{word} ")
    used = re.findall(r"^```(?:evalhouse|console)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert any(re.search(rf"\b{word} ", example) for example in used)


REFUSED = {"rank": {"one-sided", "two-sided"}, "power": {"test", "adjust"}}
"""By statement, the clauses of tests that it parses to say why it does not take them."""


@pytest.mark.parametrize("word", STATEMENTS)
def test_the_syntax_of_a_statement_has_all_its_clauses(word: str) -> None:
    syntax = STATEMENT_PAGES[word].split("```")[1]
    clauses = [
        clause for clause in CLAUSES if word in clause.statements and clause.words not in REFUSED.get(word, set())
    ]
    lacking = [
        clause.words
        for clause in clauses
        if not any(re.search(rf"(?<![\w-]){words}(?![\w-])", syntax) for words in (clause.words, *clause.synonyms))
    ]
    assert lacking == []


@pytest.mark.parametrize("word", [word for word in STATEMENTS if "\nColumns:" in STATEMENT_PAGES[word]])
def test_the_columns_of_a_statement_are_those_that_come_back(session: Session, word: str, tmp_path: Path) -> None:
    page = STATEMENT_PAGES[word]
    told = re.sub(r"\([^)]*\)", "", page.partition("\nColumns:")[2].partition(".")[0])
    named = [name for name in re.findall(r"`(\w+)`", told) if name != "by"]
    queries = [query for query, _ in EXAMPLE.findall(page)]
    queries += re.findall(r"""^\$ evalhouse query ["'](.*)["']$""", page, re.MULTILINE)
    # Nothing is written into the project, and the labels that the page loads are not there.
    query = queries[0].replace("tst3.csv", str(tmp_path / "tst3.csv")).replace("on news", "on TST3")
    columns = next(iter(session.results(query))).columns
    assert [name for name in columns if name in named] == named


# --- nothing is left out ----------------------------------------------------------------------------------------------

TYPED: dict[str, list[str]] = {
    "measure": [measure.name for measure in MEASURES],
    "parameter": sorted({parameter.name for measure in MEASURES for parameter in measure.parameters}),
    "kind": list(KINDS),
    "test": [test.name for test in TESTS],
    "adjustment": [adjustment.name for adjustment in ADJUSTMENTS],
    "function": list(FUNCTIONS),
    "reader": list(READERS),
    "format": [each.name for each in FORMATS],
    "statement": list(STATEMENTS),
    "clause": [clause.words for clause in CLAUSES],
}


@pytest.mark.parametrize("word", [pytest.param(word, id=f"{kind} {word}") for kind in TYPED for word in TYPED[kind]])
def test_what_can_be_typed_is_documented(word: str) -> None:
    assert re.search(rf"`{re.escape(word)}(?![\w-])", DOCUMENTATION)


@pytest.mark.parametrize("word", PICTURES)
def test_a_picture_is_documented(word: str) -> None:
    assert re.search(rf"^\| `{word}\b", STATEMENT_PAGES["plot"], re.MULTILINE)


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_a_command_is_documented(command: str) -> None:
    assert re.search(rf"\bevalhouse {command}\b", DOCUMENTATION)


def test_everything_that_can_be_shown_is_documented() -> None:
    language = (ROOT / "grammar" / "language.lark").read_text(encoding="utf-8")
    kinds = re.search(r"^show:\s+SHOW \((.*)\) as_of\?$", language, re.MULTILINE)
    assert kinds
    for kind in kinds[1].split(" | "):
        assert f"`show {kind.lower()}`" in STATEMENT_PAGES["show"]

"""The tables and lists of the documentation that follow from the program: statements, clauses, measures, tests, readers
and the like; and those that benchmarks measured.

Each function returns Markdown. A page names it in a comment, and `make generate` puts what it returns behind the
comment, by cog:

    <!-- [[[cog cog.outl(tables.measures()) ]]] -->
    <!-- [[[end]]] -->

`make lint` fails while a page differs. Nothing here reads or writes a page. Cells that the program cannot know are
written on the page, and kept: they come in as `previous`, what stood there before.

`measured` is of another kind: it returns what a benchmark printed.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from math import sqrt
from pathlib import Path

import duckdb
from drawings import PICTURES, Picture

from evalhouse.grammar.clauses import CLAUSES, QUESTIONS, STATEMENTS
from evalhouse.grammar.lexicon import FUNCTIONS, RESERVED
from evalhouse.grammar.nodes import AROUND_A_MEASURE
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.measures import MEASURES
from evalhouse.warehouse.measures.measure import Parameter, plain
from evalhouse.warehouse.python.generation import of_data
from evalhouse.warehouse.render import FORMATS
from evalhouse.warehouse.shell.commands import COMMANDS
from evalhouse.warehouse.shell.offers import WORD_MEANINGS, statement_usage
from evalhouse.warehouse.significance.bootstrap.interval_kinds import INTERVALS
from evalhouse.warehouse.significance.tests import ADJUSTMENTS, TESTS

ROOT = Path(__file__).resolve().parents[1]

_FIRST_TERMINALS = "\n// --- names, numbers, texts"

_KINDS: Mapping[str, str] = {
    "randomized": "any",
    "matched": "equal denominators in every unit",
    "independent": "shares and means",
    "ordered": "areas under the ROC curve",
}
"""Which measures each kind of test takes."""


def statements() -> str:
    """A row a statement, which leads to its page."""
    usages = {word: usage for word in STATEMENTS if (usage := statement_usage(word))}
    return _table(
        ("statement", "what it does"), ((f"[`{word}`]({word}.md)", usage.meaning) for word, usage in usages.items())
    )


def contents(before: str, after: str) -> str:
    """The table of contents of the language: the pages of the statements, between others."""
    pages = [*before.split(), *STATEMENTS, *after.split()]
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```"])


def questions() -> str:
    """The statements that ask a question, in a sentence."""
    *others, last = map(_code, QUESTIONS)
    return _wrapped(f"These statements ask a question: {', '.join(others)} and {last}.")


def clauses(previous: str) -> str:
    """A row a clause, with the statements that take it. How it is written there, its meaning at length and its default
    are written on the page.
    """
    rows = {}
    for head, meaning, default in re.findall(r"^\| (.*?) \| .*? \| (.*) \| (.*) \|$", previous, re.MULTILINE):
        words = re.match(r"`([a-z-]+(?: [a-z]+)*)", head)
        if words:
            rows[words[1]] = (head, meaning, default)
    table = []
    for clause in CLAUSES:
        head, meaning, default = rows.get(clause.words, (_code(clause.usage), clause.meaning, ""))
        table.append((head, ", ".join(clause.statements), meaning, default))
    return _table(("clause", "of", "meaning", "default"), table)


def reserved() -> str:
    """The words that always need quotes as names."""
    return _wrapped(" ".join(map(_code, sorted(RESERVED))))


def measures() -> str:
    """A row a measure, with its parameters and their defaults."""
    return _table(
        ("measure", "of", "parameters", "what it is", "source"),
        (
            (
                _code(measure.name),
                measure.kind,
                ", ".join(_code(_parameter(each)) for each in measure.parameters),
                measure.meaning,
                measure.source,
            )
            for measure in MEASURES
        ),
    )


def words(previous: str) -> str:
    """A row a word that means something else elsewhere, which is written on the page; what it means here, and where
    that comes from, is what the program says of it.
    """
    here: dict[tuple[str, str], tuple[tuple[str, ...], str, str]] = {}
    here |= {(measure.name, measure.kind): (measure.also, measure.meaning, measure.source) for measure in MEASURES}
    here |= {(word, "around a measure"): ((), WORD_MEANINGS[word], "") for word in AROUND_A_MEASURE}
    here |= {(test.name, "test"): (test.synonyms, test.meaning, test.source) for test in TESTS}
    here |= {(each.name, "adjust"): (each.synonyms, each.meaning, each.source) for each in ADJUSTMENTS}
    written = re.compile(r"^\| `([^`]+)`.*? \| (.*?) \| .*? \| (.*) \| .*? \|$", re.MULTILINE)
    rows = []
    for word, of, elsewhere in written.findall(previous):
        also, meaning, source = here[word, of]
        rows.append((", ".join(map(_code, (word, *also))), of, meaning, elsewhere, source))
    return _table(("word", "of", "here", "elsewhere", "source"), rows)


def parameters() -> str:
    """A row a parameter that any measure has."""
    rows = ((_code(each.name), _range(each), each.meaning) for measure in MEASURES for each in measure.parameters)
    return _table(("parameter", "is", "what it says"), dict.fromkeys(rows))


def tests() -> str:
    """A row a significance test, with the measures it takes."""
    return _table(
        ("`test`", "measures", "what it asks", "source"),
        ((", ".join(map(_code, test.names)), _KINDS[test.kind], test.meaning, test.source) for test in TESTS),
    )


def adjustments() -> str:
    """A row an adjustment."""
    return _table(
        ("`adjust`", "what it does", "source"),
        ((", ".join(map(_code, each.names)), each.meaning, each.source) for each in ADJUSTMENTS),
    )


def intervals() -> str:
    """A row a kind of interval."""
    return _table(
        ("`interval`", "what it is", "source"), ((_code(kind.name), kind.meaning, kind.source) for kind in INTERVALS)
    )


def functions() -> str:
    """A row a function of definitions."""
    return _table(
        ("function", "what it is"), ((_code(function.usage), function.meaning) for function in FUNCTIONS.values())
    )


def readers() -> str:
    """A row a reader; columns that may be left out stand in brackets."""
    return _table(
        ("reader", "reads", "columns"),
        (
            (
                _code(reader.name),
                reader.reads,
                " ".join(_code(field.name) if field.required else f"[{_code(field.name)}]" for field in reader.fields),
            )
            for reader in READERS.values()
        ),
    )


def formats() -> str:
    """A row a format, with the ending of its files."""
    return _table(
        ("format", "what it prints", "files"),
        ((_code(format.name), format.meaning, _code(format.suffix)) for format in FORMATS),
    )


def dot_commands() -> str:
    """A row a command of the shell."""
    return _table(("command", "what it does"), ((_code(command.usage), command.meaning) for command in COMMANDS))


def functions_of_python() -> str:
    """The directives that document the functions about a table in memory."""
    return "\n" + "\n".join(f".. autofunction:: {word}" for word in of_data()) + "\n"


def grammar() -> str:
    """The rules of language.lark without its terminals, as a block of code."""
    language = (ROOT / "grammar" / "language.lark").read_text(encoding="utf-8")
    rules = language.partition(_FIRST_TERMINALS)[0]
    return "```lark\n" + rules[rules.index("\nstart:") :].strip() + "\n```"


def measured(name: str, table: int = 1) -> str:
    """A table that a benchmark printed, as `benchmarks/kept` has it, the command that prints it, and how uncertain a
    share of so many sets is.
    """
    kept = (ROOT / "benchmarks" / "kept" / f"{name}.txt").read_text(encoding="utf-8")
    command, _, printed = kept.partition("\n")
    tables = re.findall(r"(?:^\|.*\n)+", printed, re.MULTILINE)
    source = f"Printed by `{command.removeprefix('$ ')}`"
    if sets := re.search(r"--sets (\d+)", command):
        source += f"; the standard error of a share of 5% or 95% is {100 * sqrt(0.05 * 0.95 / int(sets[1])):.1f} points"
    return f"{tables[table - 1]}\n{source}."


def pictures(*names: str) -> str:
    """Pictures on a page of the language, each below the statement that draws it."""
    found = {picture.name: picture for picture in PICTURES}
    return "\n\n".join(
        f"`{picture.statement}` draws this picture{_source(picture, '../')}:\n\n{_image(picture, '../')}"
        for picture in (found[name] for name in names)
    )


def gallery() -> str:
    """A section a picture, with the statement that draws it."""
    return "\n\n".join(
        f"## {picture.heading}\n\n{picture.shows.removesuffix('.')}{_source(picture)}.\n\n{_image(picture)}\n\n"
        f"```evalhouse\n{picture.statement}\n```"
        for picture in PICTURES
    )


def _image(picture: Picture, up: str = "") -> str:
    return f"![{picture.shows}]({up}pictures/{picture.name}.svg)"


def _source(picture: Picture, up: str = "") -> str:
    """Which data a picture shows, if they are not the sample data."""
    return f" ([{picture.source}]({up}{picture.page}.md))" if picture.source else ""


def schema_tables(previous: str) -> str:
    """A section a table of a warehouse. What each column is, is written on the page."""
    sections = re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", previous, re.MULTILINE | re.DOTALL)
    row = re.compile(r"^\| `(\w+)` \| [^|]* \| (.*) \|$", re.MULTILINE)
    meanings = {(table, column): meaning for table, text in sections for column, meaning in row.findall(text)}
    with _warehouse() as database:
        columns = _columns(database)
        tables = database.execute("select table_name, comment from duckdb_tables() order by table_oid").fetchall()
    return "\n\n".join(
        f"### {table}\n\n{comment}\n\n"
        + _table(
            ("column", "type", "what it is"),
            (
                (_code(column), type, _pointer(column) or meanings.get((table, column), ""))
                for column, type in columns[table]
            ),
        )
        for table, comment in tables
    )


def schema_views() -> str:
    """A row a view of a warehouse."""
    listed = "select view_name, comment from duckdb_views() where not internal order by view_name"
    with _warehouse() as database:
        columns = _columns(database)
        views = database.execute(listed).fetchall()
    return _table(
        ("view", "what it is", "columns"),
        ((_code(view), comment, " ".join(_code(column) for column, _ in columns[view])) for view, comment in views),
    )


def _warehouse() -> duckdb.DuckDBPyConnection:
    """An empty warehouse in memory."""
    database = duckdb.connect(":memory:")
    database.execute((ROOT / "warehouse" / "store" / "schema.sql").read_text(encoding="utf-8"))
    return database


def _columns(database: duckdb.DuckDBPyConnection) -> Mapping[str, list[tuple[str, str]]]:
    """The columns of each table and view, with their types."""
    listed = "select table_name, column_name, data_type, is_nullable from duckdb_columns() where not internal"
    columns: dict[str, list[tuple[str, str]]] = {}
    for table, column, kind, nullable in database.execute(f"{listed} order by table_oid, column_index").fetchall():
        type = "label" if kind.startswith("ENUM") else kind.lower()
        columns.setdefault(table, []).append((column, f"{type} or null" if nullable else type))
    return columns


def _pointer(column: str) -> str:
    target = column.removesuffix("_id")
    return f"points to [{target}](#{target})" if target != column else ""


def _parameter(parameter: Parameter) -> str:
    return parameter.name if parameter.default is None else f"{parameter.name}={plain(parameter.default)}"


def _range(parameter: Parameter) -> str:
    if parameter.choices:
        return ", ".join(_code(choice) for choice in (*parameter.choices, *parameter.several))
    if parameter.lowest is not None and parameter.highest is not None:
        number = "whole number" if parameter.whole else "number"
        return f"a {number} from {parameter.lowest} to {parameter.highest}"
    return "a number" if parameter.above is None else f"a number above {parameter.above}"


def _code(text: str) -> str:
    return f"`{text}`"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 120, break_on_hyphens=False)


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)

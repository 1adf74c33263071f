"""What the shell offers: completions with a line of help, meanings of keywords, and rows one at a time.

It must know nothing of terminals.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from evalhouse.grammar.clauses import CLAUSES, first_word
from evalhouse.grammar.lexicon import FUNCTIONS, is_bare_name, is_bare_word, quote
from evalhouse.grammar.parser import expect_next
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.kinds import COUNTED, IMPORTED, KINDS
from evalhouse.warehouse.kinds.records import BETWEEN
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.measures import MEASURES, Measure
from evalhouse.warehouse.measures.measure import Parameter, plain
from evalhouse.warehouse.plans.path import Usage
from evalhouse.warehouse.plans.user_measures import defined_measure
from evalhouse.warehouse.render import Style, render
from evalhouse.warehouse.render.style import cell, clean, width
from evalhouse.warehouse.results import Cell, Column, Result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.shell.pager import Leaf
from evalhouse.warehouse.significance.tests import ADJUSTMENTS, TESTS
from evalhouse.warehouse.statements import statements

# === rows one at a time ===============================================================================================
# Answers whose rows are read as leaves of the pager: first the table, then each row by itself.

LONG = 60
"""A text longer than this is shown below its heading."""


def leaves(result: Result, style: Style) -> list[Leaf]:
    """The table as `style` draws it, and one leaf per row, whose title is the first name that no other row has."""
    naming = max(
        (column for column in result.table.columns if column.kind == "name"),
        key=lambda column: len(set(result.table.column(column.name))),
    )
    table = Leaf(result.caption, lambda columns: render(result, "table", Style(style.digits, columns, style.colour)))
    return [table, *(_row(row, result.table.columns, naming, style) for row in result.rows)]


def _row(row: Mapping[str, Cell], columns: tuple[Column, ...], naming: Column, style: Style) -> Leaf:
    texts = {column: str(row[column.name]) for column in columns if is_long(row[column.name])}

    def draw(available: int) -> str:
        shown = {
            clean(column.heading or column.name): cell(column.kind, row[column.name], style.digits)
            for column in columns
            if column not in texts and (column.on_screen or row[column.name] is not None)
        }
        longest = max(map(width, shown))
        lines = [f"{label}{' ' * (longest - width(label))}  {text}" for label, text in shown.items()]
        for column, text in texts.items():
            lines += ["", clean(column.heading or column.name)]
            for line in text.split("\n"):
                lines += textwrap.wrap(
                    clean(line), max(20, available - 2), initial_indent="  ", subsequent_indent="  "
                ) or [""]
        return "\n".join(lines)

    return Leaf(clean(str(row[naming.name])), draw)


def is_long(text: Cell) -> bool:
    """Whether a text is shown below its heading rather than beside it."""
    return isinstance(text, str) and (len(text) > LONG or "\n" in text)


# === meanings of keywords =============================================================================================
# In one line each: the help beside completions and the content of `help`. Clauses, functions, measures, tests,
# adjustments, readers and formats define their meanings in their own tables.

_CHANGING: Mapping[str, Usage] = {
    "let": Usage("let $NAME = VALUE, …", "a variable: names, a number or a text", "let $finalists = GE, UMASS, SRI"),
    "define": Usage(
        "define measure NAME = …",
        "define a measure of summed counts and keep it in the warehouse",
        "define measure SER = (missing + spurious + incorrect) / possible",
    ),
    "load": Usage('load "FILE" as READER', "load a file into the warehouse", 'load "scores.csv" as scores'),
    "forget": Usage("forget import N", "undo a load", "forget import 3"),
}
"""The statements that change the session or the warehouse and therefore have no answer. The other statements define
their usage in their own files.
"""

WORD_MEANINGS: Mapping[str, str] = {
    "all": "all of them",
    "except": "without these",
    "mean": "mean(M): document by document, then the average",
    "macro": "macro(M): the mean over units, such as classes or entity types",
    "weighted": "weighted(M): the mean over units, each as often as it has key items",
    "micro": "micro(M): M over all documents together, as without the word",
    "vs": "the system that each is held against, or the second of two",
    "asc": "lowest first",
    "desc": "highest first",
    "and": "both hold",
    "or": "one of them holds",
    "not": "does not hold",
    "in": "one of several values",
    "like": "a text with % for any characters",
    "is": "is missing, is not missing",
    "error": "stop and name the documents that some system lacks; the default",
    "drop": "leave out documents that some system lacks",
    "zero": "counts as nothing found",
    "bounds": "bound the difference over every result that missing documents could have had",
    "as": "which reader",
    "systems": "all systems, and what each has rows for",
    "test sets": "all test sets with their documents",
    "evaluations": "all evaluations",
    "measures": "all measures with their parameters",
    "tests": "all significance tests",
    "imports": "every load, and where it came from",
    "variables": "the variables of this session",
    "attributes": "attributes of systems and documents",
    "texts": "inputs, references and outputs, where they are stored",
    "document": "one row per document",
    "unit": "one row per unit, such as a slot",
    "label": "one row per key label",
    "allrel": "a baseline: every document judged relevant",
    "random": "a baseline: random(s=0.7) judges a share s relevant",
}
"""Words that are neither statements nor clauses."""


def statement_usage(word: str) -> Usage | None:
    """The usage of the statement with this first word; None for any other word."""
    answered = (statement.usage for statement in statements() if statement.word == first_word(word))
    return next(answered, _CHANGING.get(word))


def keyword_meaning(words: str, begins: bool = False) -> str:
    """The text beside a keyword in the completion menu; empty if nothing is known about it. A word may be a clause and,
    where it `begins` something, a statement.
    """
    known = (clause for clause in CLAUSES if words in (clause.words, *clause.synonyms) and not begins)
    clause = next((clause.meaning for clause in known), "")
    statement = statement_usage(words.split()[0])
    return clause or (statement.meaning if statement is not None else WORD_MEANINGS.get(words, ""))


# === completions ======================================================================================================
# The grammar's expectations are filled with the names of the warehouse. A completion never raises an error: if nothing
# fits, nothing is offered.

MOST = 200
"""The maximum number of candidates at once."""


class Candidate(Struct, frozen=True):
    """A text that replaces everything from `start` to the cursor, with its meaning."""

    text: str
    meaning: str
    start: int


_DEFINING = re.compile(r"\bdefine\b[^;]*$", re.IGNORECASE)
"""Matches the text before a name inside a definition."""

Names = Iterator[tuple[str, str]]
"""Names as they are typed, each with its meaning."""


def candidates(text: str, session: Session) -> list[Candidate]:
    """The candidates at the end of a text. Those that begin with the last word come first, then those that
    contain it.
    """
    variable = re.search(r"\$\w*$", text)
    if variable:
        known = expect_next(text[: variable.start()])
        offers = list(_variables(session, text)) if "variable" in known.kinds else []
        start = variable.start()
    else:
        known = expect_next(text)
        start = known.start
        names = (pair for kind in known.kinds if kind in _NAMES for pair in _NAMES[kind](session, text[:start]))
        offers = [*names, *((words, keyword_meaning(words, not known.inside)) for words in known.keywords)]
    return [Candidate(name, meaning, start) for name, meaning in _fitting(text[start:], offers)]


def _fitting(word: str, offers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    wanted = word.strip('"').casefold()
    meanings: dict[str, str] = {}
    for name, meaning in offers:
        meanings.setdefault(name, meaning)
    first = [name for name in meanings if name.strip('"').casefold().startswith(wanted)]
    later = [name for name in meanings if wanted in name.casefold() and name not in first]
    return [(name, meanings[name]) for name in [*first, *later][:MOST]]


# --- names of each kind -----------------------------------------------------------------------------------------------


def _systems(session: Session, before: str) -> Names:
    catalog, task = session.catalog, _task(before)
    if task is not None and KINDS[task].has_key:
        yield "allrel", WORD_MEANINGS["allrel"]
        yield "random(s=", WORD_MEANINGS["random"]
    tasks = (task,) if task else KINDS
    for name in catalog.names_of(catalog.system_names):
        if test_sets := catalog.test_sets_of(catalog.meant_by(name), tasks):
            yield _typed_name(name), f"system on {', '.join(test_sets)}"
    for system, name in catalog.run_names.items():
        if test_sets := catalog.test_sets_of((system,), tasks):
            yield _typed_name(name), f"run of {catalog.models[system]} on {', '.join(test_sets)}"


def _test_sets(session: Session, before: str) -> Names:
    catalog = session.catalog
    for test_set in (one for one in catalog.test_sets if one.id not in catalog.groups):
        of = f" of {test_set.evaluation}" if test_set.evaluation else ""
        yield _typed_name(catalog.short_name(test_set)), f"test set{of}"
    for group in catalog.groups.values():
        yield _typed_name(catalog.short_name(group.test_set)), f"group of {len(group.parts):,} test sets"
    yield "all", "all test sets"


def _measures(session: Session, before: str) -> Names:
    catalog, task = session.catalog, _task(before)
    of: dict[str, list[str]] = {}
    for measure in MEASURES:
        if task in (None, measure.kind):
            of.setdefault(measure.name, []).append(f"{measure.meaning} ({measure.kind})")
    bare = is_bare_word if _DEFINING.search(before) else is_bare_name
    yield from ((_typed_name(name, bare), "; ".join(meanings)) for name, meanings in of.items())
    for name, text in catalog.definitions.items():
        yield _typed_name(name, is_bare_word), text
    for kind in IMPORTED:
        for test_set in catalog.test_sets if task in (None, kind.name) else ():
            for name in catalog.measures_of(kind.name, test_set.id):
                # F(beta=1) is typed as F with a parameter, and F is already offered.
                if name.partition("(")[0] not in of:
                    yield _typed_name(name), kind.offered


def _counts(session: Session, before: str) -> Names:
    for task in COUNTED.values():
        for count in session.catalog.all_counts(task.name):
            if BETWEEN in count:
                continue
            yield _typed_name(count, is_bare_word), f"count of {task.name}" if task.counts else "count"


def _parameters(session: Session, before: str) -> Names:
    call = re.search(r'([\w@.:+/-]+|"[^"]*")\s*\([^()]*$', before)
    name = call[1].strip('"').casefold() if call else ""
    if name == "random":
        yield "s=", "the share that is judged relevant"
    parameters: dict[str, Parameter] = {}
    for measure in _find_measures(name, session):
        for parameter in measure.parameters:
            parameters.setdefault(parameter.name, parameter)
    for parameter in parameters.values():
        usual = "" if parameter.default is None else f"; default {plain(parameter.default)}"
        yield f"{parameter.name}=", parameter.meaning + usual


def _find_measures(name: str, session: Session) -> Iterator[Measure]:
    yield from (measure for measure in MEASURES if measure.name.casefold() == name)
    for task in KINDS.values():
        counts = session.catalog.all_counts(task.name)
        measure = defined_measure(name, task, session.catalog.definitions, counts)
        if measure is not None:
            yield measure


def _values(session: Session, before: str) -> Names:
    """The values of a parameter after `parameter=`, and labels after a comparison of labels."""
    typed = re.search(r"(\w+)\s*=\s*$", before)
    for measure in MEASURES:
        for parameter in measure.parameters:
            if typed and parameter.name == typed[1]:
                yield from ((choice, parameter.meaning) for choice in (*parameter.choices, *parameter.several))
    if re.search(r"label\s*(!?=|in\s*\([^()]*)\s*$", before, re.IGNORECASE):
        yield from ((label, "key label") for label in ("relevant", "optional", "nonrelevant"))


def _attributes(session: Session, before: str) -> Names:
    yield from ((name, WORD_MEANINGS[name]) for name in ("document", "unit", "label"))
    for of, names in session.catalog.attributes.items():
        for name in names:
            yield f"{of}.{name if re.fullmatch(r'[A-Za-z0-9_]+', name) else quote(name)}", f"attribute of {of}s"


def _variables(session: Session, before: str) -> Names:
    for name, items in session.variables.items():
        yield f"${name}", ", ".join(to_text(item) for item in items)


def _same(names: Iterable[tuple[str, str]]) -> Callable[[Session, str], Names]:
    """The names of a table that are the same everywhere."""
    known = tuple(names)
    return lambda session, before: iter(known)


_ANY_READER = ("auto", "whatever the file is found to be")

_NAMES: Mapping[str, Callable[[Session, str], Names]] = {
    "system": _systems,
    "test set": _test_sets,
    "count": _counts,
    "measure": _measures,
    "function": _same((f"{function.name}(", function.meaning) for function in FUNCTIONS.values()),
    "parameter": _parameters,
    "value": _values,
    "attribute": _attributes,
    "variable": _variables,
    "test": _same((test.name, test.meaning) for test in TESTS),
    "adjustment": _same((adjustment.name, adjustment.meaning) for adjustment in ADJUSTMENTS),
    "reader": _same([*((reader.name, reader.reads) for reader in READERS.values()), _ANY_READER]),
    "task": _same((task.name, task.meaning) for task in KINDS.values()),
}
"""By kind in evalhouse.grammar.editing.completion. Numbers, texts and new names are up to the user."""


def _task(before: str) -> str | None:
    """The kind that the statement asks about so far, if it names one."""
    said = re.findall(r"(?<!\bas )\bof\s+(\w+)", before.rpartition(";")[2], re.IGNORECASE)
    return said[-1].casefold() if said and said[-1].casefold() in KINDS else None


def _typed_name(name: str, bare: Callable[[str], bool] = is_bare_name) -> str:
    return name if bare(name) else quote(name)

"""Completions: what may be typed next, each with a line of help. The grammar's expectations are filled with the names
of the warehouse.

It knows nothing of terminals. A completion never raises an error: if nothing fits, nothing is offered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from grammar.arithmetic import FUNCTIONS
from grammar.lexicon import is_bare_name, is_bare_word, quoted
from grammar.parser import expected
from grammar.printer import to_text
from warehouse.loading.readers import READERS
from warehouse.measures import MEASURES, Measure
from warehouse.measures.measure import Parameter, plain
from warehouse.query.resolving.user_measures import defined
from warehouse.session import Session
from warehouse.shell.meanings import WORD_MEANINGS, keyword_meaning
from warehouse.significance.tests import ADJUSTMENTS, TESTS
from warehouse.tasks import COUNTED, IMPORTED, TASKS
from warehouse.tasks.records import BETWEEN

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
        known = expected(text[: variable.start()])
        offers = list(_variables(session, text)) if "variable" in known.kinds else []
        start = variable.start()
    else:
        known = expected(text)
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
    if task is not None and TASKS[task].has_key:
        yield "allrel", WORD_MEANINGS["allrel"]
        yield "random(s=", WORD_MEANINGS["random"]
    tasks = (task,) if task else TASKS
    for name, number in catalog.systems.items():
        test_sets = dict.fromkeys(test_set for task in tasks for test_set in catalog.test_sets_of(number, task))
        if test_sets:
            yield _typed(name), f"system on {', '.join(test_sets)}"


def _test_sets(session: Session, before: str) -> Names:
    catalog = session.catalog
    for test_set in catalog.test_sets:
        of = f" of {test_set.evaluation}" if test_set.evaluation else ""
        yield _typed(catalog.short_name(test_set)), f"test set{of}"
    yield "all", "all test sets"


def _measures(session: Session, before: str) -> Names:
    catalog, task = session.catalog, _task(before)
    of: dict[str, list[str]] = {}
    for measure in MEASURES:
        if task in (None, measure.task):
            of.setdefault(measure.name, []).append(f"{measure.meaning} ({measure.task})")
    bare = is_bare_word if _DEFINING.search(before) else is_bare_name
    yield from ((_typed(name, bare), "; ".join(meanings)) for name, meanings in of.items())
    for name, text in catalog.definitions.items():
        yield _typed(name, is_bare_word), text
    for kind in IMPORTED:
        for test_set in catalog.test_sets if task in (None, kind.name) else ():
            for name in catalog.measures_of(kind.name, test_set.id):
                # F(beta=1) is typed as F with a parameter, and F is already offered.
                if name.partition("(")[0] not in of:
                    yield _typed(name), kind.offered


def _counts(session: Session, before: str) -> Names:
    for task in COUNTED.values():
        for count in session.catalog.all_counts(task.name):
            if BETWEEN in count:
                continue
            yield _typed(count, is_bare_word), f"count of {task.name}" if task.counts else "count"


def _parameters(session: Session, before: str) -> Names:
    call = re.search(r'([\w@.:+/-]+|"[^"]*")\s*\([^()]*$', before)
    name = call[1].strip('"').casefold() if call else ""
    if name == "random":
        yield "s=", "the share that is judged relevant"
    parameters: dict[str, Parameter] = {}
    for measure in _measures_named(name, session):
        for parameter in measure.parameters:
            parameters.setdefault(parameter.name, parameter)
    for parameter in parameters.values():
        usual = "" if parameter.default is None else f"; default {plain(parameter.default)}"
        yield f"{parameter.name}=", parameter.meaning + usual


def _measures_named(name: str, session: Session) -> Iterator[Measure]:
    yield from (measure for measure in MEASURES if measure.name.casefold() == name)
    for task in TASKS.values():
        counts = session.catalog.all_counts(task.name)
        measure = defined(name, task, session.catalog.definitions, counts)
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
            yield f"{of}.{name if re.fullmatch(r'[A-Za-z0-9_]+', name) else quoted(name)}", f"attribute of {of}s"


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
    "task": _same((task.name, task.meaning) for task in TASKS.values()),
}
"""By kind in grammar.editing.completion. Numbers, texts and new names are up to the user."""


def _task(before: str) -> str | None:
    """The kind that the statement asks about so far, if it names one."""
    said = re.findall(r"(?<!\bas )\bof\s+(\w+)", before.rpartition(";")[2], re.IGNORECASE)
    return said[-1].casefold() if said and said[-1].casefold() in TASKS else None


def _typed(name: str, bare: Callable[[str], bool] = is_bare_name) -> str:
    return name if bare(name) else quoted(name)

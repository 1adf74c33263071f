"""What `help` answers: it looks up every word of the language and of the shell in the tables that define them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from evalhouse.grammar.clauses import CALLED, CLAUSES, ELSEWHERE, STATEMENTS, first_word
from evalhouse.grammar.editing.hints import hints
from evalhouse.grammar.lexicon import FUNCTIONS
from evalhouse.warehouse.kinds import IMPORTED, KINDS
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.measures import MEASURES, Measure
from evalhouse.warehouse.measures.measure import plain
from evalhouse.warehouse.render import FORMATS
from evalhouse.warehouse.shell.offers import WORD_MEANINGS, statement_usage
from evalhouse.warehouse.significance.tests import ADJUSTMENTS, TESTS
from evalhouse.warehouse.store.catalog import Catalog


class Explained(Protocol):
    """Anything in a table that has a name and a meaning."""

    @property
    def name(self) -> str: ...
    @property
    def meaning(self) -> str: ...


KEYS = (
    ("Enter", "runs a complete statement, else begins a new line"),
    ("Alt-Enter", "always begins a new line"),
    ("Tab", "completes"),
    ("Up, Ctrl-R", "earlier statements"),
    ("Ctrl-C", "drops what is typed, or stops what is running"),
    ("Ctrl-D", "leaves"),
)


def help_topic(text: str) -> str | None:
    """The word that a text asks help on: `help holm`, `? holm`; empty for `help` alone, None if it does not ask for
    help.
    """
    found = re.fullmatch(r"\s*(?:help\b|\?)(.*?)[\s;]*", text, re.IGNORECASE)
    return found[1].strip().strip('"') if found else None


def overview(commands: Iterable[tuple[str, str]] = ()) -> str:
    """All statements and, in the shell, its commands as (written, meaning), and the keys."""
    commands = list(commands)
    of_shell = ["", *_list_pairs("the shell", commands), "", *_list_pairs("keys", KEYS)] if commands else []
    return "\n".join(
        [
            *_list_pairs("statements", statements()),
            *of_shell,
            "",
            "help WORD explains any word: help compare, help F, help tukey, help shuffles",
        ]
    )


def statements() -> list[tuple[str, str]]:
    """Each statement with its word and its meaning."""
    return [(word, usage.meaning) for word in STATEMENTS if (usage := statement_usage(word))]


def topic(text: str, catalog: Catalog) -> str | None:
    """The help on a word, in all its roles; None if the word is unknown."""
    word = " ".join(text.split()).casefold()
    roles = ["\n".join(lines) for look in _LOOKS if (lines := list(look(word, catalog)))]
    return "\n\n".join(roles) or None


def words(catalog: Catalog) -> list[str]:
    """All words that have help, except the names in the warehouse."""
    clauses = [word for clause in CLAUSES for word in (clause.words, *clause.synonyms)]
    known = [*STATEMENTS, *CALLED, *clauses, *KINDS, *WORD_MEANINGS, *READERS, *FUNCTIONS, *catalog.definitions]
    tables: tuple[Iterable[Explained], ...] = (MEASURES, TESTS, ADJUSTMENTS, FORMATS)
    also = [name for measure in MEASURES for name in measure.also]
    also += [
        word
        for m in MEASURES
        for parameter in m.parameters
        for word in (parameter.name, *parameter.words)
        if len(word) > 1
    ]
    also += [name for table in (TESTS, ADJUSTMENTS) for entry in table for name in entry.synonyms]
    return [*known, *(entry.name for table in tables for entry in table), *also]


NEAREST = {
    **dict.fromkeys(
        ("bayes", "bayesian", "bayes factor", "posterior"),
        "the nearest is anytime, whose e-value is the evidence for a difference: help anytime",
    ),
    **dict.fromkeys(
        ("effect size", "effect", "cohen's d", "cohens d"),
        "the nearest is the difference that compare shows, with its interval: help compare",
    ),
    **dict.fromkeys(
        ("cost", "price", "latency"), "it is a measure if a column has it, such as cost_usd, and lower is better"
    ),
}
"""Words of what is not here by that name, and what is nearest."""


def unknown(word: str, catalog: Catalog) -> str:
    """The message for a word that has no help."""
    if word.casefold() in NEAREST:
        return f"there is no help on {word}; {NEAREST[word.casefold()]}"
    called = ELSEWHERE.get(word.casefold())
    near = (f"did you mean {called}?",) if called else hints(word, words(catalog), "words")
    return f"there is no help on {word}" + (f"; {near[0]}" if near[0].startswith("did you mean") else "")


# --- the roles that a word may have -----------------------------------------------------------------------------------


def _statement(word: str, catalog: Catalog) -> Iterator[str]:
    word = first_word(word)
    first = word.split()[0]
    usage = statement_usage(first)
    if usage is None or word not in (first, " ".join(usage.written.split()[:2]).casefold()):
        return
    clauses = [clause for clause in CLAUSES if first in clause.statements]
    yield f"{usage.written}{' [CLAUSE …]' if clauses else ''}"
    yield f"  {usage.meaning}"
    if synonyms := STATEMENTS[first].synonyms:
        yield f"  also written {' or '.join(synonyms)}"
    if clauses:
        yield ""
        forms = [(clause.usage, clause.meaning) for clause in clauses]
        yield from _list_pairs("clauses, each at most once, in any order", forms)
    yield ""
    yield f"example: {usage.example}"


_NAMES: Mapping[str, tuple[str, Iterable[Explained]]] = {
    "test": ("tests", TESTS),
    "adjustment": ("adjustments", ADJUSTMENTS),
}
"""For a clause that takes names of a kind, help lists this heading and this table."""


def _clause(word: str, catalog: Catalog) -> Iterator[str]:
    for clause in CLAUSES:
        if word in (clause.words, *clause.first_words):
            yield clause.usage
            yield f"  {clause.meaning}"
            if clause.synonyms:
                yield f"  also written {' or '.join(clause.synonyms)}"
            yield f"  of {', '.join(clause.statements)}" + (f"; example: {clause.example}" if clause.example else "")
            if clause.names in _NAMES:
                title, table = _NAMES[clause.names]
                yield from _list_pairs(title, [(entry.name, entry.meaning) for entry in table])


def _function(word: str, catalog: Catalog) -> Iterator[str]:
    function = FUNCTIONS.get(word)
    if function is not None:
        yield f"{function.usage} in `define measure`: {function.meaning}"


def _measure(word: str, catalog: Catalog) -> Iterator[str]:
    for measure in MEASURES:
        if word in map(str.casefold, (measure.name, *measure.also)) or measure.in_name(word):
            yield f"{measure.name} of {measure.kind}: {measure.meaning} ({measure.source})"
            also = [*measure.also, *([f"{measure.name}2 for {measure.behind}=2"] if measure.behind else [])]
            if also:
                yield f"  also written {', '.join(also)}"
            yield from _parameters(measure)
    for name, text in catalog.definitions.items():
        if name.casefold() == word:
            yield text
    for task in IMPORTED:
        on = [
            catalog.short_name(test_set)
            for test_set in catalog.test_sets
            if word in map(str.casefold, catalog.measures_of(task.name, test_set.id))
        ]
        if on:
            yield f"{_spelling(word, catalog, task.name)} of {task.name}: {task.meaning}, on {', '.join(on)}"


def _spelling(word: str, catalog: Catalog, task: str) -> str:
    """An imported measure as it is written."""
    names = (name for test_set in catalog.test_sets for name in catalog.measures_of(task, test_set.id))
    return next(name for name in names if name.casefold() == word)


def _parameters(measure: Measure) -> Iterator[str]:
    for parameter in measure.parameters:
        choices = f": {', '.join((*parameter.choices, *parameter.several))}" if parameter.choices else ""
        usual = "" if parameter.default is None else f"; default {plain(parameter.default)}"
        yield f"  {parameter.name}  {parameter.meaning}{choices}{usual}"


def _parameter(word: str, catalog: Catalog) -> Iterator[str]:
    """A parameter of measures, or a word that a parameter takes."""
    lines: dict[str, list[str]] = {}
    for measure in MEASURES:
        for parameter in measure.parameters:
            if word == parameter.name and len(word) > 1:
                choices = f": {', '.join(parameter.words)}" if parameter.words else ""
                lines.setdefault(f"{parameter.name}, a parameter: {parameter.meaning}{choices}", []).append(
                    measure.name
                )
            elif word in parameter.several:
                lines.setdefault(f"{parameter.name}={word} {parameter.several[word]}", []).append(measure.name)
            elif word in parameter.choices:
                lines.setdefault(f"{parameter.name}={word}: {parameter.meaning}", []).append(measure.name)
    for line, names in lines.items():
        yield line
        yield f"  of {', '.join(names)}"


def _test(word: str, catalog: Catalog) -> Iterator[str]:
    for test in TESTS:
        if word in test.names:
            yield f"test {' or '.join(test.names)}: {test.meaning} ({test.source})"


def _adjustment(word: str, catalog: Catalog) -> Iterator[str]:
    for adjustment in ADJUSTMENTS:
        if word in adjustment.names:
            source = f" ({adjustment.source})" if adjustment.source else ""
            yield f"adjust {' or '.join(adjustment.names)}: {adjustment.meaning}{source}"


def _reader(word: str, catalog: Catalog) -> Iterator[str]:
    reader = READERS.get(word)
    if reader is not None:
        yield f"reader {reader.name}: {reader.reads}"
        yield "  columns: " + " ".join(field.name if field.required else f"[{field.name}]" for field in reader.fields)


def _format(word: str, catalog: Catalog) -> Iterator[str]:
    for format in FORMATS:
        if format.name == word:
            yield f"format {format.name}: {format.meaning}"


def _word(word: str, catalog: Catalog) -> Iterator[str]:
    meaning = KINDS[word].meaning if word in KINDS else WORD_MEANINGS.get(word)
    if meaning:
        yield f"{word}: {meaning}"


def _name(word: str, catalog: Catalog) -> Iterator[str]:
    for test_set in (one for one in catalog.test_sets if one.id not in catalog.groups):
        if word in (test_set.name.casefold(), test_set.full_name.casefold()):
            yield f"{test_set.full_name}: a test set of this warehouse"
    for group in catalog.groups.values():
        if word in (group.test_set.name.casefold(), group.test_set.full_name.casefold()):
            parts = ", ".join(map(catalog.short_name, group.parts))
            yield f"{group.test_set.full_name}: a group of test sets, {parts}"
    for name in catalog.names_of(catalog.system_names):
        if name.casefold() == word:
            meant = catalog.meant_by(name)
            runs = f" of {len(meant)} runs" if len(meant) > 1 else ""
            yield f"{name}: a system{runs}, on {', '.join(catalog.test_sets_of(meant, KINDS))}"
    for system, name in catalog.run_names.items():
        if name.casefold() == word:
            on = catalog.test_sets_of((system,), KINDS)
            yield f"{name}: a run of {catalog.models[system]}, on {', '.join(on)}"


_LOOKS: tuple[Callable[[str, Catalog], Iterator[str]], ...] = (
    _statement,
    _clause,
    _function,
    _measure,
    _parameter,
    _test,
    _adjustment,
    _reader,
    _format,
    _word,
    _name,
)


def _list_pairs(title: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    pairs = list(pairs)
    size = max(len(name) for name, _ in pairs)
    yield f"{title}:"
    yield from (f"  {name:{size}}  {meaning}" for name, meaning in pairs)

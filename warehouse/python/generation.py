"""Writes `methods.py` and `functions.py` from the tables of statements and clauses:

    python -m evalhouse.warehouse.python.generation

They are built, not kept: `hatch_build.py` runs this for every wheel, source distribution and editable install, and
`make` after every change to what they are made from. So it imports none of them, nor any package that
`build-system.requires` of `pyproject.toml` does not name.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalhouse.grammar import nodes as n
from evalhouse.grammar.clauses import QUESTIONS
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.python.text import IMPORT_OR_DATE, KeywordArgument, arguments_of, takes_measures, takes_systems
from evalhouse.warehouse.statements import statement_of

FOLDER = Path(__file__).parent
METHODS, FUNCTIONS = FOLDER / "methods.py", FOLDER / "functions.py"

_HEAD = '''"""{what}

Written by `python -m evalhouse.warehouse.python.generation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

'''

Described = tuple[str, str, str, str]
"""A parameter: its name, its type in the signature, its type in the documentation, and its meaning."""

_SYSTEMS = (
    "*systems",
    "str | Sequence[str]",
    "str",
    "The systems; `all` for every system, `GE*` for those whose names begin with GE.",
)
_EXCEPT = ("except_", "NameOrNames | None", "str or sequence of str, optional", "The systems to leave out.")
_ARRAY: Described = (
    "measures",
    "Any | None",
    "str or sequence of str, or array",
    "Measures as in the language, such as `F1`; without them, the main one. Or the values of a second system, where "
    "`data` are those of a first: arrays, or mappings from documents.",
)
_MEASURES = (
    "measures",
    "NameOrNames | None",
    "str or sequence of str, optional",
    "Measures as in the language, such as `F1`; without them, the main measure of the test sets.",
)

_OF_DATA = (
    (
        "cluster",
        "str | None",
        "str, optional",
        "A column whose value related rows share, such as the questions about one passage. Such rows move together.",
    ),
    ("set", "Mapping[str, str] | None", "mapping of str to str, optional", "Fields with the same value in every row."),
    (
        "map",
        "Mapping[str, str] | None",
        "mapping of str to str, optional",
        "The columns for fields such as `system`, if they have other names.",
    ),
    (
        "lower_is_better",
        "NameOrNames | None",
        "str or sequence of str, optional",
        "Measures whose lower values are better.",
    ),
    (
        "share",
        "NameOrNames | None",
        "str or sequence of str, optional",
        "Measures that are shares, between 0 and 1: 5% of them is 0.05.",
    ),
)

_ROWS = """\
>>> import evalhouse as eh
>>> rows = [
...     {"model": model, "question": f"Q{n}", "subject": ("art", "law")[n % 2], "accuracy": int(n % k > 0)}
...     for model, k in (("base", 3), ("new", 4))
...     for n in range(60)
... ]
"""
"""The table that examples in `Usage.of_rows` use: 60 questions, answered by two models."""

_SKIPPED = "  # doctest: +SKIP"


def methods() -> str:
    """The text of `methods.py`."""
    head = _HEAD.format(
        what="One method for each question of the language, with the clauses of its statement as arguments."
    )
    head += (
        "from evalhouse.warehouse.python.other_words import with_known_arguments\n"
        "from evalhouse.warehouse.python.printed_result import PrintedResult\n"
        "from evalhouse.warehouse.python.text import ImportOrDate, NameOrNames, Numeric\n\n\n"
        "class StatementMethods:\n"
        '    """The questions of the language as methods. A subclass defines how they are asked."""\n\n'
        "    def _ask(self, word: str, given: Mapping[str, Any]) -> PrintedResult:\n"
        "        raise NotImplementedError\n"
    )
    return head + "".join(f"\n{textwrap.indent(_method(word), '    ', _is_filled)}" for word in QUESTIONS)


def functions() -> str:
    """The text of `functions.py`."""
    head = _HEAD.format(what="Questions about a table in memory, without a warehouse: one function for each.")
    head += (
        "from evalhouse.warehouse.python.one_table import answer\n"
        "from evalhouse.warehouse.python.other_words import with_known_arguments\n"
        "from evalhouse.warehouse.python.printed_result import PrintedResult\n"
        "from evalhouse.warehouse.python.text import NameOrNames, Numeric\n"
    )
    return head + "".join(f"\n\n{_function(word)}" for word in of_data())


def of_data() -> tuple[str, ...]:
    """The questions that make sense for a single table: those about measures, of which it has all that they need."""
    return tuple(word for word, node in QUESTIONS.items() if takes_measures(word) and statement_of(node).of_one_table)


def _is_filled(line: str) -> bool:
    return bool(line.strip())


def _method(word: str) -> str:
    listed = _parameters_of(word)
    return (
        _signature(word, ["self"], listed)
        + _doc(
            word,
            listed,
            _examples(word),
            "If a system, test set or measure does not exist; the message suggests similar names.",
        )
        + f'    return self._ask("{word}", locals())\n'
    )


def _function(word: str) -> str:
    data: Described = (
        "data",
        "Any",
        "DataFrame, Arrow table, DuckDB relation, list of dict, or path",
        "One row per sample, with its system, its document and its measures; anything that `Warehouse.load` accepts.",
    )
    # A table in memory has no past.
    listed = [
        _ARRAY if parameter == _MEASURES else parameter
        for parameter in _parameters_of(word)
        if parameter[1] != f"{IMPORT_OR_DATE.hint} | None"
    ]
    of_data = [parameter for parameter in _OF_DATA if parameter[0] not in {name for name, *_ in listed}]
    wrong = "If the data do not contain something that was asked for."
    return (
        _signature(word, [], [data, *listed, *of_data])
        + _doc(
            word,
            [data, *listed, *of_data],
            _examples_of_data(word),
            wrong,
            "LoadError\n    If rows cannot be read.",
        )
        + f'    return answer("{word}", locals())\n'
    )


def _parameters_of(word: str) -> list[Described]:
    parameters: list[Described] = []
    if takes_measures(word):
        parameters.append(_MEASURES)
    parameters.append(_SYSTEMS if takes_systems(word) else ("*", "", "", ""))
    if takes_systems(word):
        parameters.append(_EXCEPT)
    for argument in arguments_of(word):
        parameters.append((argument.name, argument.hint, argument.said, _meaning(argument)))
    return parameters


def _meaning(argument: KeywordArgument) -> str:
    if argument.second:
        return "The other test set."
    meaning = argument.clause.meaning
    example = argument.clause.example
    return f"{meaning[0].upper()}{meaning[1:]}" + (f". In the language: `{example}`." if example else ".")


def _signature(word: str, first: list[str], listed: list[Described]) -> str:
    lines = [f"{name}," for name in first]
    for name, hint, *_ in listed:
        if not hint:
            lines.append("*,")
        else:
            default = " = False" if hint == "bool" else " = None" if hint.endswith("None") else ""
            lines.append(f"{name}: {hint}{default},")
    inner = "".join(f"    {line}\n" for line in lines)
    return f"@with_known_arguments\ndef {word}(\n{inner}) -> PrintedResult:\n"


def _doc(word: str, listed: list[Described], examples: list[str], wrong: str, more_wrong: str = "") -> str:
    usage = statement_of(QUESTIONS[word]).usage
    lines = _wrap(f"{usage.meaning[0].upper()}{usage.meaning[1:]}.")
    lines += ["", f"The statement `{usage.written}` of the language.", "", "Parameters", "----------"]
    for name, hint, said, meaning in listed:
        if hint:
            lines += [f"{name} : {said}", *_wrap(meaning, "    ")]
    lines += ["", "Returns", "-------", "Result", "    The answer, which prints as a table.", "", "Raises", "------"]
    lines += ["QueryError", f"    {wrong}"]
    if more_wrong:
        lines += more_wrong.split("\n")
    if examples:
        lines += ["", "Examples", "--------", *examples]
    first, *rest = lines
    text = "\n".join([f'"""{first}', *rest, '"""'])
    return textwrap.indent(text, "    ", _is_filled) + "\n"


def _wrap(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, 106, initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def _examples(word: str) -> list[str]:
    """The example of the statement as a call, and the statement that the call makes."""
    usage = statement_of(QUESTIONS[word]).usage
    example = usage.example
    if " for all " in example and "shuffles" in {argument.name for argument in arguments_of(word)}:
        # Deciding every pair can take a minute.
        example = f"{example} shuffles 999" if "shuffles" not in example else example
    (statement,) = parse(example)
    skipped = "" if usage.of_sample else _SKIPPED
    return [
        ">>> import evalhouse as eh",
        ">>> w = eh.open()",
        f">>> w.{call(statement)}.statement{skipped}",
        # Numbers in Python have no trailing zeros.
        repr(re.sub(r"(\.\d*[1-9])0+\b", r"\1", to_text(statement))),
    ]


def _examples_of_data(word: str) -> list[str]:
    """The example of the statement about the table of the examples, or else its example as a call about a file."""
    usage = statement_of(QUESTIONS[word]).usage
    if usage.of_rows:
        return [*_ROWS.splitlines(), *usage.of_rows.splitlines()]
    (statement,) = parse(usage.example)
    of_file = call(statement, '"results.csv"')
    return [">>> import evalhouse as eh", f">>> eh.{of_file}{_SKIPPED}"]


def call(statement: n.AnyStatement, *first: str) -> str:
    """A question as a call of its method, or of its function, whose `first` argument is the data."""
    word = statement.words.split()[0]
    given = [*first]
    if isinstance(statement, n.Measured):
        measures = [to_text(measure) for measure in statement.measures]
        given.append(repr(measures[0]) if len(measures) == 1 else repr(measures))
    systems: n.Systems | None = getattr(statement, "systems", None)
    if systems is not None:
        given += [repr(_plain(item)) for item in systems.items]
        if systems.excepted:
            given.append(f"except_={[_plain(item) for item in systems.excepted]!r}")
    for argument in arguments_of(word):
        field = argument.clause.second_field if argument.second else argument.clause.field
        value = getattr(statement, field)
        if value is None or value == () or value is False:
            continue
        if argument.flag and isinstance(value, str) and value != argument.clause.words:
            continue
        given.append(f"{argument.name}={True if argument.flag else _python(value)!r}")
    return f"{word}({', '.join(given)})"


def _python(value: Any) -> Any:
    """The Python value for what a clause holds."""
    if isinstance(value, n.TestSets):
        value = value.items
    if isinstance(value, tuple):
        listed = [_python(one) for one in value]
        return listed[0] if len(listed) == 1 else listed
    if isinstance(value, n.Number):
        whole = value.value == value.value.to_integral_value()
        return int(value.value) if whole else float(value.value)
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    return value.text if isinstance(value, n.Name | n.Pattern | n.Text) else to_text(value)


def parts() -> Iterator[tuple[Path, str]]:
    """The files and their texts."""
    yield METHODS, methods()
    yield FUNCTIONS, functions()


def main() -> None:
    """Writes the files."""
    for path, text in parts():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

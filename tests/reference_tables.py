"""The parts of the language reference that follow from tables: statements, measures, tests, adjustments, intervals,
functions, readers, formats, grammar.

Each is Markdown, placed on a page between `<!-- NAME -->` and `<!-- end -->`. Nothing here reads or writes a page, and
nothing here uses a warehouse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from grammar.arithmetic import ArithmeticFunction
from warehouse.loading.readers import Reader
from warehouse.measures.measure import Measure, Parameter, plain
from warehouse.query.path import Usage
from warehouse.render import Format
from warehouse.significance.bootstrap.interval_kinds import IntervalKind
from warehouse.significance.tests import Adjustment, Test

_BLOCK = re.compile(r"<!-- (\w+) -->\n.*?<!-- end -->", re.DOTALL)
_FIRST_TERMINALS = "\n// --- names, numbers, texts"

_KINDS: Mapping[str, str] = {
    "randomized": "any",
    "matched": "equal denominators in every unit",
    "independent": "shares and means",
    "ordered": "areas under the ROC curve",
}
"""Which measures each kind of test takes."""


def filled(page: str, blocks: Mapping[str, str]) -> str:
    """The page with what stands between the markers replaced. Raises KeyError for a marker that no block has."""
    return _BLOCK.sub(lambda found: f"<!-- {found[1]} -->\n{blocks[found[1]]}\n<!-- end -->", page)


def statements(known: Mapping[str, Usage]) -> str:
    """A row a statement, which leads to its page."""
    return _table(
        ("statement", "what it does"), ((f"[`{word}`]({word}.md)", usage.meaning) for word, usage in known.items())
    )


def measures(known: Iterable[Measure]) -> str:
    """A row a measure, with its parameters and their defaults."""
    return _table(
        ("measure", "of", "parameters", "what it is", "source"),
        (
            (
                _code(measure.name),
                measure.task,
                ", ".join(_code(_parameter(each)) for each in measure.parameters),
                measure.meaning,
                measure.source,
            )
            for measure in known
        ),
    )


def parameters(known: Iterable[Measure]) -> str:
    """A row a parameter that any measure has."""
    rows = ((_code(each.name), _range(each), each.meaning) for measure in known for each in measure.parameters)
    return _table(("parameter", "is", "what it says"), dict.fromkeys(rows))


def tests(known: Iterable[Test]) -> str:
    """A row a significance test, with the measures it takes."""
    return _table(
        ("`test`", "measures", "what it asks", "source"),
        ((", ".join(map(_code, test.names)), _KINDS[test.kind], test.meaning, test.source) for test in known),
    )


def adjustments(known: Iterable[Adjustment]) -> str:
    """A row an adjustment."""
    return _table(
        ("`adjust`", "what it does", "source"),
        ((", ".join(map(_code, each.names)), each.meaning, each.source) for each in known),
    )


def intervals(known: Iterable[IntervalKind]) -> str:
    """A row a kind of interval."""
    return _table(
        ("`interval`", "what it is", "source"), ((_code(kind.name), kind.meaning, kind.source) for kind in known)
    )


def functions(known: Iterable[ArithmeticFunction]) -> str:
    """A row a function of definitions."""
    return _table(("function", "what it is"), ((_code(function.usage), function.meaning) for function in known))


def readers(known: Iterable[Reader]) -> str:
    """A row a reader; columns that may be left out stand in brackets."""
    return _table(
        ("reader", "reads", "columns"),
        (
            (
                _code(reader.name),
                reader.reads,
                " ".join(_code(field.name) if field.required else f"[{_code(field.name)}]" for field in reader.fields),
            )
            for reader in known
        ),
    )


def formats(known: Iterable[Format]) -> str:
    """A row a format."""
    return _table(("format", "what it prints"), ((_code(each.name), each.meaning) for each in known))


def grammar(language: str) -> str:
    """The rules of language.lark without its terminals, as a block of code."""
    rules = language.partition(_FIRST_TERMINALS)[0]
    return "```lark\n" + rules[rules.index("\nstart:") :].strip() + "\n```"


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


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)

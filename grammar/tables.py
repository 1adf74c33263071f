"""Makes language.tables from language.lark: lark computes the parser's tables, so that parsing itself does not need
lark.

`python -m grammar.tables` rewrites the file; run it after every change of language.lark. Nothing that runs for a user
imports this module.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from lark import Lark
from lark.lexer import TerminalDef
from lark.parsers.lalr_analysis import Shift

from grammar.lexicon import GRAMMAR
from grammar.parsing.machine import TABLES


def from_grammar() -> Lark:
    """Lark's own parser of language.lark. It makes trees, not nodes."""
    return Lark(
        GRAMMAR.read_text(encoding="utf-8"),
        parser="lalr",
        lexer="contextual",
        keep_all_tokens=True,
        maybe_placeholders=False,
    )


def text() -> str:
    """The tables of language.lark as they are shipped: JSON, with one line for each terminal, rule, set and state."""
    lark = from_grammar()
    table = lark.parser.parser._parse_table  # lark has no public name for it
    states = _numbered(table.states, table.start_states["start"])
    rules = {rule: number for number, rule in enumerate(sorted(lark.rules, key=str))}
    sets: dict[str, int] = {}
    rows = [_row(table.states[state], states, rules, sets) for state in states]
    terminals = sorted(lark.terminals, key=_turn)
    written: dict[str, Iterable[Any]] = {
        "end": [states[table.end_states["start"]]],
        "terminals": [[terminal.name, terminal.pattern.to_regexp()] for terminal in terminals],
        "rules": [[str(rule.origin.name), len(rule.expansion), rule.options.expand1] for rule in rules],
        "sets": list(sets),
        "states": rows,
    }
    parts = (f'"{name}": [\n{_lines(entries)}\n]' for name, entries in written.items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _turn(terminal: TerminalDef) -> tuple[int, int, int, str]:
    """The order in which lark tries terminals: if two match, the first wins."""
    pattern = terminal.pattern
    return -terminal.priority, -pattern.max_width, -len(pattern.value), terminal.name


def _numbered(states: Mapping[Any, Mapping[str, tuple[Any, Any]]], start: Any) -> dict[Any, int]:
    """Numbers the states in the order in which they are reached from the first, independently of lark's numbers. The
    first is 0.
    """
    numbers = {start: 0}
    waiting = [start]
    while waiting:
        for _, (action, state) in sorted(states[waiting.pop(0)].items()):
            if action is Shift and state not in numbers:
                numbers[state] = len(numbers)
                waiting.append(state)
    return numbers


def _row(
    actions: Mapping[str, tuple[Any, Any]], states: Mapping[Any, int], rules: Mapping[Any, int], sets: dict[str, int]
) -> list[str | int]:
    """A state: the state that each symbol leads to, then each rule that ends here with the set of terminals before
    which it ends.
    """
    shifts = {symbol: states[to] for symbol, (action, to) in sorted(actions.items()) if action is Shift}
    ended: dict[int, list[str]] = defaultdict(list)
    for symbol, (action, rule) in sorted(actions.items()):
        if action is not Shift:
            ended[rules[rule]].append(symbol)
    row: list[str | int] = [" ".join(f"{symbol} {state}" for symbol, state in shifts.items())]
    for number, terminals in sorted(ended.items()):
        row += [number, sets.setdefault(" ".join(terminals), len(sets))]
    return row


def _lines(entries: Iterable[Any]) -> str:
    return ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)


if __name__ == "__main__":
    TABLES.write_text(text(), encoding="utf-8", newline="\n")
